//! Finding or making a Python that reads YAML, beside which ours is compared.

use std::path::PathBuf;
use std::process::Command;

use crate::{paths, shell};

/// The variable that names it to the tests.
pub(crate) const VARIABLE: &str = "LONGHAUL_PYTHON";

/// A Python with PyYAML: the system's, or one in `target/tools` that has it
/// from the configured registry. None is no failure of ours; the tests say
/// what they could not do.
pub(crate) fn with_yaml() -> Option<PathBuf> {
    let system: Vec<&str> = ["python3", "python"]
        .into_iter()
        .filter(|python| shell::works(Command::new(python).arg("--version")))
        .collect();
    if system.is_empty() {
        println!("SKIPPED: there is no Python here; checkpoints are not read by its YAML parser");
        return None;
    }
    if let Some(python) = system.iter().find(|python| reads_yaml(python)) {
        return Some(PathBuf::from(python));
    }
    let folder = paths::tools().join("python");
    let ours = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    if reads_yaml(&ours) {
        return Some(ours);
    }
    println!("Python has no PyYAML; installing it into target/tools");
    for python in system {
        let made = shell::works(
            Command::new(python)
                .args(["-m", "venv", "--clear"])
                .arg(&folder),
        );
        let mut pip = Command::new(&ours);
        pip.args(["-m", "pip", "install", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "pyyaml"]);
        if made && shell::works(&mut pip) && reads_yaml(&ours) {
            return Some(ours);
        }
    }
    println!("PyYAML cannot be installed here (no venv, or no network): that test will fail");
    None
}

fn reads_yaml(python: impl AsRef<std::ffi::OsStr>) -> bool {
    shell::works(Command::new(python).args(["-c", "import yaml"]))
}
