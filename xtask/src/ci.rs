//! `cargo xtask ci`: the script that continuous integration runs.

use std::process::Command;

use crate::Result;
use crate::{paths, shell};

pub(crate) fn run() -> Result<()> {
    shell::run(
        Command::new("bash")
            .arg(".ci/run")
            .current_dir(paths::root()),
    )
}
