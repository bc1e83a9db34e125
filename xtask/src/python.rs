//! Finding or making a Python that reads YAML, beside which ours is compared.

use std::path::PathBuf;
use std::process::Command;

use crate::{paths, shell, tools};

/// The variable that names it to the tests.
pub(crate) const VARIABLE: &str = "LONGHAUL_PYTHON";

/// A Python with PyYAML: the system's, or one in `target/tools` that has it
/// from the configured registry. None is no failure of ours; the tests say
/// what they could not do.
pub(crate) fn with_yaml() -> Option<PathBuf> {
    let system: Vec<&str> = tools::pythons(&["--version"]).collect();
    if system.is_empty() {
        println!("SKIPPED: there is no Python here; checkpoints are not read by its YAML parser");
        return None;
    }
    if let Some(python) = system.iter().find(|python| reads_yaml(python)) {
        return Some(PathBuf::from(python));
    }
    let folder = paths::tools().join("python");
    let made = tools::once(&folder, "pyyaml", || {
        let python = tools::environment(&folder)?;
        shell::output(tools::pip(python).arg("pyyaml")).map(drop)
    });
    match made {
        Ok(()) => Some(tools::python_in(&folder)),
        Err(error) => {
            println!("PyYAML cannot be installed here, so that test will fail: {error}");
            None
        }
    }
}

fn reads_yaml(python: impl AsRef<std::ffi::OsStr>) -> bool {
    shell::works(Command::new(python).args(["-c", "import yaml"]))
}
