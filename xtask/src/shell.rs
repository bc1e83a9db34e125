//! Running other programs.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::Result;
use crate::paths;

/// The cargo that runs us, in the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(paths::root());
    // What cargo tells us about ourselves makes build scripts that look at it run
    // again, and everything above them with them.
    for (name, _) in env::vars_os() {
        let is_ours =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        if name.to_str().is_some_and(is_ours) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs this chore again in a release build; says whether there was need to.
/// What measures thousands of steps is too slow in a debug build.
pub(crate) fn again_in_release() -> Result<bool> {
    if !cfg!(debug_assertions) {
        return Ok(false);
    }
    run(cargo()
        .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
        .args(env::args_os().skip(1)))?;
    Ok(true)
}

/// Our own program, built as the tests build it.
pub(crate) fn program() -> Result<PathBuf> {
    run(cargo().args(["build", "--quiet", "--package", "longhaul"]))?;
    let name = format!("longhaul{}", env::consts::EXE_SUFFIX);
    Ok(paths::target().join("debug").join(name))
}

/// A folder to look for programs in before all others.
pub(crate) fn with_path(command: &mut Command, folder: &Path) -> Result<()> {
    let old = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(env::split_paths(&old));
    command.env("PATH", env::join_paths(folders)?);
    Ok(())
}

/// Whether a program starts and is content.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// What a program prints. When it fails, the end of its complaint is the error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", line(command)))?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said.trim_end().lines().rev().take(12).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(format!(
        "{} failed ({})\n{}",
        line(command),
        output.status,
        last.join("\n")
    )
    .into())
}

/// Runs a program as if the user had typed it; its failure is ours.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command
        .status()
        .map_err(|error| format!("{}: {error}", line(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} failed ({status})", line(command)).into())
    }
}

/// Runs a program, showing and keeping what it prints. Returns whether it was
/// content, and its text without colours.
pub(crate) fn tee(command: &mut Command) -> Result<(bool, String)> {
    announce(command);
    if io::stdout().is_terminal() && io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", line(command)))?;
    let out = child.stdout.take().map(|pipe| copy(pipe, io::stdout()));
    let err = child.stderr.take().map(|pipe| copy(pipe, io::stderr()));
    let mut text = String::new();
    for reader in [out, err].into_iter().flatten() {
        text.push_str(&reader.join().map_err(|_| "an output reader panicked")?);
    }
    Ok((child.wait()?.success(), text))
}

fn copy(
    from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut kept = String::new();
        let mut reader = BufReader::new(from);
        let mut bytes = Vec::new();
        while reader
            .read_until(b'\n', &mut bytes)
            .is_ok_and(|count| count > 0)
        {
            // A closed terminal must not stop the program whose output this is.
            let _ = to.write_all(&bytes).and_then(|()| to.flush());
            kept.push_str(&without_colours(&String::from_utf8_lossy(&bytes)));
            bytes.clear();
        }
        kept
    })
}

/// Removes the escape sequences of terminals (`ESC [ … letter`).
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        rest = match sequence.find(|c: char| c.is_ascii_alphabetic()) {
            Some(end) => &sequence[end + 1..],
            None => "",
        };
    }
    plain.push_str(rest);
    plain
}

/// Says what is run, so that it can be repeated by hand.
fn announce(command: &Command) {
    println!("$ {}", line(command));
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    let words: Vec<OsString> = std::iter::once(program.to_owned())
        .chain(command.get_args().map(OsString::from))
        .collect();
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let line = words.join(" ");
    if line.chars().count() > 160 {
        let cut: String = line.chars().take(160).collect();
        return format!("{cut}…");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out() {
        let text = "\u{1b}[32;1m     Summary\u{1b}[0m 3 tests\u{1b}[K";
        assert_eq!(without_colours(text), "     Summary 3 tests");
    }
}
