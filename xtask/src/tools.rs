//! Programs that chores need and a machine may lack, installed below
//! `target/tools`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::{paths, shell};

/// Fills a folder, unless it was filled for the same wish before: the mark of a
/// finished installation says what was asked for.
pub(crate) fn once(folder: &Path, wanted: &str, fill: impl FnOnce() -> Result<()>) -> Result<()> {
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    println!("installing {} below target/tools", paths::name(folder));
    paths::renew(folder)?;
    fill()?;
    Ok(fs::write(mark, wanted)?)
}

/// The Pythons of this machine that can do this.
pub(crate) fn pythons(with: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    let all = ["python3", "python"].into_iter();
    all.filter(move |python| shell::works(Command::new(python).args(with)))
}

/// The Python of an environment.
pub(crate) fn python_in(folder: &Path) -> PathBuf {
    folder.join(match cfg!(windows) {
        true => "Scripts/python.exe",
        false => "bin/python",
    })
}

/// Makes an environment of its own for packages, and gives its Python.
pub(crate) fn environment(folder: &Path) -> Result<PathBuf> {
    let system = pythons(&["--version"])
        .next()
        .ok_or("there is no Python here; install Python 3.10 or newer with venv and pip")?;
    shell::output(Command::new(system).args(["-m", "venv"]).arg(folder))?;
    Ok(python_in(folder))
}

/// What installs packages for a Python.
pub(crate) fn pip(python: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-input"])
        .arg("--disable-pip-version-check");
    pip
}
