//! `longhaul man`: the manual pages, from the same words as `--help`.

use std::path::Path;

use clap_mangen::Man;

use crate::failure::Failure;
use crate::out;

pub(crate) fn run(command: clap::Command, dir: Option<&Path>) -> Result<(), Failure> {
    match dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)
                .map_err(|error| Failure::new(format!("{}: {error}", dir.display())))?;
            let mut command = command.disable_help_subcommand(true);
            command.build();
            pages(command, dir)
        }
        None => out::bytes(&page(&Man::new(command))?),
    }
}

/// The pages of a command and of all below it.
fn pages(command: clap::Command, dir: &Path) -> Result<(), Failure> {
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    for below in shown.cloned() {
        pages(below, dir)?;
    }
    let man = Man::new(command);
    let name = man.get_filename();
    // As readable as other pages of the system.
    let new = longhaul_files::NewFile::AsUsual;
    let dir = &longhaul_files::resolve(dir)?;
    longhaul_files::replace_beneath(dir, Path::new(&name), new, &page(&man)?)?;
    Ok(())
}

fn page(man: &Man) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    man.render(&mut page).map_err(Failure::output)?;
    Ok(page)
}
