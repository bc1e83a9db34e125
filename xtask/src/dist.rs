//! `cargo xtask dist`: what a release consists of, below `target/dist`.
//!
//! An archive with the program, its completions and its manual pages; a package
//! of npm that carries the program for one platform; and the packages of the
//! two shims, which name those of all platforms as optional. None of them runs
//! a script when it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::Result;
use crate::{paths, shell};

/// Platforms that are released: what Rust and what Node call them.
const PLATFORMS: [(&str, &str, &str); 4] = [
    ("x86_64-unknown-linux-gnu", "linux", "x64"),
    ("aarch64-unknown-linux-gnu", "linux", "arm64"),
    ("x86_64-apple-darwin", "darwin", "x64"),
    ("aarch64-apple-darwin", "darwin", "arm64"),
];

/// The shims and the folders they lie in.
const SHIMS: [&str; 2] = ["openclaw", "pi"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Build for this target of Rust [default: this machine's]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Install the packages into an empty folder and run what is in them
    #[arg(long)]
    check: bool,
    /// Only print the version
    #[arg(long)]
    print_version: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let version = version();
    if args.print_version {
        println!("{version}");
        return Ok(());
    }
    let host = host()?;
    let target = args.target.clone().unwrap_or_else(|| host.clone());
    let Some(platform) = PLATFORMS.iter().find(|(triple, ..)| *triple == target) else {
        let known: Vec<&str> = PLATFORMS.iter().map(|(triple, ..)| *triple).collect();
        return Err(format!("{target} is not released; known are {}", known.join(", ")).into());
    };
    let dist = paths::target().join("dist");
    paths::renew(&dist)?;
    fs::create_dir_all(dist.join("npm"))?;

    let mut build = shell::cargo();
    build.args(["build", "--release", "--locked", "--package", "longhaul"]);
    let mut built = paths::target();
    if target != host {
        build.args(["--target", &target]);
        built = built.join(&target);
    }
    shell::run(&mut build)?;
    let binary = built.join("release/longhaul");

    archive(&dist, &binary, &version, &target)?;
    let mut packages = vec![binary_package(&dist, &binary, &version, platform)?];
    for shim in SHIMS {
        packages.push(shim_package(&dist, shim, &version)?);
    }
    for file in paths::files(&dist, |name| name.contains('.'))? {
        println!("{}", file.display());
    }
    for file in &packages {
        println!("{}", file.display());
    }
    if args.check {
        if target != host {
            println!("skipped: running {target} on {host}");
            return Ok(());
        }
        check(&packages, &version)?;
    }
    Ok(())
}

fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// This machine, in Rust's words.
fn host() -> Result<String> {
    let told = shell::output(Command::new("rustc").arg("-vV"))?;
    told.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc does not say what it runs on".into())
}

/// The archive and its checksum.
fn archive(dist: &Path, binary: &Path, version: &str, target: &str) -> Result<()> {
    let name = format!("longhaul-{version}-{target}");
    let folder = paths::scratch("dist")?.join(&name);
    fs::create_dir_all(folder.join("completions"))?;
    fs::create_dir_all(folder.join("man"))?;
    fs::copy(binary, folder.join("longhaul"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(paths::root().join(file), folder.join(file))?;
    }
    for (shell_name, file) in [
        ("bash", "longhaul.bash"),
        ("zsh", "_longhaul"),
        ("fish", "longhaul.fish"),
    ] {
        let script = shell::output(Command::new(binary).args(["completions", shell_name]))?;
        fs::write(folder.join("completions").join(file), script)?;
    }
    shell::output(
        Command::new(binary)
            .args(["man", "--dir"])
            .arg(folder.join("man")),
    )?;
    let file = format!("{name}.tar.gz");
    shell::output(
        Command::new("tar")
            .arg("-czf")
            .arg(dist.join(&file))
            .arg("-C")
            .arg(folder.parent().unwrap_or(&folder))
            .arg(&name),
    )?;
    let sum = sha256(&dist.join(&file))?;
    fs::write(
        dist.join(format!("{file}.sha256")),
        format!("{sum}  {file}\n"),
    )?;
    Ok(())
}

fn sha256(file: &Path) -> Result<String> {
    use sha2::Digest;
    let digest = sha2::Sha256::digest(fs::read(file)?);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn binary_name(os: &str, cpu: &str) -> String {
    format!("@longhaul/cli-{os}-{cpu}")
}

/// The package that carries the program for one platform.
fn binary_package(
    dist: &Path,
    binary: &Path,
    version: &str,
    (_, os, cpu): &(&str, &str, &str),
) -> Result<PathBuf> {
    let folder = paths::scratch("dist-npm")?.join(format!("cli-{os}-{cpu}"));
    fs::create_dir_all(folder.join("bin"))?;
    fs::copy(binary, folder.join("bin/longhaul"))?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(paths::root().join(file), folder.join(file))?;
    }
    let name = binary_name(os, cpu);
    fs::write(
        folder.join("README.md"),
        format!(
            "# {name}\n\nThe `longhaul` program for {os} on {cpu}. It is installed by \
             `@longhaul/openclaw` and `@longhaul/pi`; there is no need to install it by hand.\n"
        ),
    )?;
    let mut manifest = json!({
        "name": name,
        "version": version,
        "description": format!("The longhaul program for {os} on {cpu}"),
        "license": "MIT OR Apache-2.0",
        "repository": env!("CARGO_PKG_REPOSITORY"),
        "os": [os],
        "cpu": [cpu],
        "files": ["bin", "LICENSE-MIT", "LICENSE-APACHE"],
        "preferUnplugged": true,
    });
    if *os == "linux" {
        manifest["libc"] = json!(["glibc"]);
    }
    write_json(&folder.join("package.json"), &manifest)?;
    pack(&folder, dist)
}

/// The package of a shim, with this version, and the programs of all platforms
/// as what it may have.
fn shim_package(dist: &Path, shim: &str, version: &str) -> Result<PathBuf> {
    let source = paths::root().join("integrations").join(shim);
    let folder = paths::scratch(&format!("dist-{shim}"))?.join(shim);
    copy_tree(&source, &folder)?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(paths::root().join(file), folder.join(file))?;
    }
    let path = folder.join("package.json");
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
    if let Some(scripts) = manifest.get("scripts").and_then(Value::as_object) {
        for forbidden in ["preinstall", "install", "postinstall", "prepare"] {
            if scripts.contains_key(forbidden) {
                return Err(format!("{}: has a script {forbidden}", path.display()).into());
            }
        }
    }
    manifest["version"] = json!(version);
    let programs: serde_json::Map<String, Value> = PLATFORMS
        .iter()
        .map(|(_, os, cpu)| (binary_name(os, cpu), json!(version)))
        .collect();
    manifest["optionalDependencies"] = Value::Object(programs);
    write_json(&path, &manifest)?;
    pack(&folder, dist)
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    fs::write(path, serde_json::to_string_pretty(value)? + "\n")?;
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if name == "node_modules" || name == "test" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &to.join(name))?;
        } else {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

fn npm() -> Command {
    Command::new("npm")
}

fn pack(folder: &Path, dist: &Path) -> Result<PathBuf> {
    let told = shell::output(
        npm()
            .args(["pack", "--json", "--ignore-scripts", "--pack-destination"])
            .arg(dist.join("npm"))
            .current_dir(folder),
    )?;
    let told: Value = serde_json::from_str(&told)?;
    // An array up to npm 11, an object of packages after it.
    let first = match &told {
        Value::Array(packed) => packed.first(),
        Value::Object(packed) => packed.values().next(),
        _ => None,
    };
    let file = first
        .and_then(|packed| packed["filename"].as_str())
        .ok_or("npm does not say what it packed")?;
    Ok(dist
        .join("npm")
        .join(file.replace('/', "-").replace('@', "")))
}

/// Installs the packages as npm would from the registry, without scripts, and
/// asks the shims for their program.
fn check(packages: &[PathBuf], version: &str) -> Result<()> {
    let home = paths::scratch("dist-check")?;
    write_json(&home.join("package.json"), &json!({"private": true}))?;
    // The other platforms' packages are not published here: they are left out
    // as npm leaves out what does not fit the machine.
    shell::output(
        npm()
            .args(["install", "--ignore-scripts", "--offline", "--no-audit"])
            .args(["--no-fund", "--loglevel=error", "--omit=peer"])
            .args(packages)
            .current_dir(&home),
    )?;
    for shim in SHIMS {
        let script = format!(
            "import('@longhaul/{shim}/binary').then(async ({{ findBinary }}) => \
             console.log(JSON.stringify(await findBinary({{ env: {{}} }}))))"
        );
        let told = shell::output(
            Command::new("node")
                .args(["--input-type=module", "--eval", &script])
                .current_dir(&home),
        )?;
        let found: Value = serde_json::from_str(told.trim())?;
        let path = found["path"]
            .as_str()
            .ok_or_else(|| format!("@longhaul/{shim} finds no program: {told}"))?;
        if !path.contains("node_modules") {
            return Err(format!("@longhaul/{shim} takes {path}, not its own package's").into());
        }
        let said = shell::output(Command::new(path).arg("--version"))?;
        if said.trim() != format!("longhaul {version}") {
            return Err(format!("{path} says {said}").into());
        }
        println!("@longhaul/{shim} finds longhaul {version} in {path}");
    }
    Ok(())
}
