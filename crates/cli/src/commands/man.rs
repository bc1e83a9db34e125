//! `longhaul man`: the manual pages, from the same words as `--help`.

use std::path::Path;

use clap_mangen::Man;

use crate::prelude::*;

pub(crate) fn run(command: clap::Command, dir: Option<&Path>) -> Result {
    match dir {
        Some(dir) => {
            let mut command = command.disable_help_subcommand(true);
            command.build();
            // What is missing of the folder is made with the first page.
            let there = dir.ancestors().find(|above| above.is_dir());
            let there = there.unwrap_or(Path::new(""));
            let missing = dir.strip_prefix(there).unwrap_or(dir);
            let root = longhaul_files::resolve(&Path::new(".").join(there))?;
            pages(command, &root, missing)
        }
        None => out::whole(&page(&Man::new(command))?),
    }
}

/// The pages of a command and of all below it.
fn pages(command: clap::Command, root: &Path, below: &Path) -> Result {
    let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
    for one in shown.cloned() {
        pages(one, root, below)?;
    }
    let man = Man::new(command);
    let name = man.get_filename();
    // As readable as other pages of the system.
    let new = longhaul_files::NewFile::AsUsual;
    longhaul_files::replace_beneath(root, &below.join(name), new, &page(&man)?)?;
    Ok(())
}

fn page(man: &Man) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render(&mut page).map_err(Failure::output)?;
    Ok(page)
}
