//! `longhaul man`: the manual pages, from the same words as `--help`.

use std::fs;
use std::path::Path;

use crate::failure::Failure;
use crate::out;

pub(crate) fn run(command: clap::Command, dir: Option<&Path>) -> Result<(), Failure> {
    match dir {
        Some(dir) => fs::create_dir_all(dir)
            .and_then(|()| clap_mangen::generate_to(command, dir))
            .map_err(|error| Failure::new(format!("{}: {error}", dir.display()))),
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command)
                .render(&mut page)
                .map_err(Failure::output)?;
            out::bytes(&page)
        }
    }
}
