//! The other process of a test.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use longhaul_transcript::{
    Draft, Durability, Error, Packing, Session, Writer, archive, archive_path, restore, verify,
};

use crate::{compaction, context, ids, names, stamp, user};

const ROLE: &str = "LONGHAUL_FAULT_ROLE";
const FILE: &str = "LONGHAUL_FAULT_FILE";
const NAME: &str = "LONGHAUL_FAULT_NAME";

/// The test that a child process runs: nothing, unless it was given a role.
#[test]
fn a_child_process_plays_its_role() {
    let (Ok(role), Some(file)) = (std::env::var(ROLE), std::env::var_os(FILE)) else {
        return;
    };
    let path = PathBuf::from(file);
    let name = std::env::var(NAME).unwrap_or_default();
    match role.as_str() {
        "append" => append(&path, &name, usize::MAX),
        "append a hundred" => append(&path, &name, 100),
        "append and compact" => append_and_compact(&path, &name),
        "archive and restore" => archive_and_restore(&path),
        "archive once" => drop(archive(&path, Packing::Plain).unwrap()),
        "restore once" => drop(restore(&path).unwrap()),
        "heal once" => append(&path, &name, 1),
        "hold the lock" => hold(&path),
        "fill the disk" => fill(&path),
        "archive on a full disk" => archive_without_room(&path),
        "write to a read-only folder" => refuse(&path),
        other => panic!("no role {other}"),
    }
}

/// This program again, in a role. `wrapper` is what starts it.
pub(crate) fn command(wrapper: &[&str], role: &str, path: &Path, name: &str) -> Command {
    let own = std::env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(&own),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(&own);
            command
        }
    };
    command
        .args([
            "roles::a_child_process_plays_its_role",
            "--exact",
            "--nocapture",
        ])
        .env(ROLE, role)
        .env(FILE, path)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A child and what it acknowledges.
pub(crate) struct Player {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Player {
    pub(crate) fn start(role: &str, path: &Path, name: &str) -> Player {
        let mut child = command(&[], role, path, name)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Player { child, lines }
    }

    /// Waits for the next acknowledgement; `None` when the child is gone.
    pub(crate) fn acknowledged(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            // A line without its newline was cut off by the kill.
            if let Some(text) = line.strip_prefix(MARK)
                && text.ends_with('\n')
            {
                return Some(text.trim_end().to_owned());
            }
        }
    }

    /// Kills the child where it stands. Returns what it had acknowledged.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.acknowledged()).collect()
    }

    /// Lets the child finish.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.acknowledged()).collect();
        assert!(self.child.wait().unwrap().success());
        said
    }
}

const MARK: &str = "done: ";

fn acknowledge(what: &str) {
    let mut out = std::io::stdout().lock();
    // The test harness may have left half a line there.
    out.write_all(format!("\n{MARK}{what}\n").as_bytes())
        .unwrap();
    out.flush().unwrap();
}

fn append(path: &Path, name: &str, entries: usize) {
    let mut writer = Writer::open(path, Durability::Always).unwrap();
    for n in 0..entries {
        // Some entries are long, so that a kill finds them half written.
        let text = "x".repeat(if n % 5 == 4 { 3_000_000 } else { 300 });
        let id = format!("{name}-{n}");
        let text = if entries == 100 { "x" } else { &text };
        writer.append(&user(text), stamp(id.as_str())).unwrap();
        acknowledge(&id);
    }
}

fn append_and_compact(path: &Path, name: &str) {
    let mut writer = Writer::open(path, Durability::Os).unwrap();
    for n in 0..200 {
        let id = format!("{name}-{n}");
        let draft: Draft = if n % 10 == 9 {
            compaction(writer.parent().cloned())
        } else {
            user("y")
        };
        writer.append(&draft, stamp(id.as_str())).unwrap();
        acknowledge(&id);
    }
}

fn archive_and_restore(path: &Path) {
    for n in 0.. {
        let done = if n % 3 == 2 {
            restore(path).map(|done| done.is_some())
        } else {
            archive(path, Packing::Plain).map(|done| done.is_some())
        };
        match done {
            Ok(done) => acknowledge(&format!("{n} {done}")),
            Err(Error::Locked { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn hold(path: &Path) {
    let file = File::open(path).unwrap();
    file.lock().unwrap();
    acknowledge("locked");
    std::thread::sleep(std::time::Duration::from_secs(600));
}

/// Appends until the disk is full, looks at what is left, makes room, goes on.
fn fill(path: &Path) {
    let ballast = path.with_file_name("ballast");
    fs::write(&ballast, vec![b'b'; 20_000]).unwrap();
    let mut writer = Writer::open(path, Durability::Always).unwrap();
    let mut written = ids(path);
    let (error, before) = loop {
        let id = format!("fill-{}", written.len());
        let before = fs::read(path).unwrap();
        match writer.append(&user(&"z".repeat(3000)), stamp(id.as_str())) {
            Ok(_) => written.push(id),
            Err(error) => break (error, before),
        }
        assert!(written.len() < 10_000, "the disk never got full");
    };
    assert!(matches!(error, Error::File(_)), "{error:?}");
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );
    assert_eq!(fs::read(path).unwrap(), before, "the file is as before");
    assert_eq!(ids(path), written);
    assert!(verify(&Session::open(path).unwrap()).unwrap().is_sound());
    // The same writer goes on when there is room: a small entry still fits.
    fs::remove_file(&ballast).unwrap();
    writer.append(&user("small"), stamp("small")).unwrap();
    written.push("small".into());
    assert_eq!(ids(path), written);
    acknowledge(&error.to_string());
}

fn archive_without_room(path: &Path) {
    let before = (fs::read(path).unwrap(), context(path), names(path));
    for packing in [Packing::Plain, Packing::Zstd] {
        let error = archive(path, packing).unwrap_err();
        assert!(matches!(error, Error::File(_)), "{error:?}");
        assert!(!archive_path(path, packing).exists());
        let after = (fs::read(path).unwrap(), context(path), names(path));
        assert_eq!(after, before);
    }
    acknowledge("refused");
}

fn refuse(path: &Path) {
    let before = (fs::read(path).unwrap(), context(path), names(path));
    let refused = |error: Error| {
        assert!(matches!(error, Error::File(_)), "{error:?}");
        assert!(
            error
                .to_string()
                .contains(path.parent().unwrap().to_str().unwrap()),
            "{error}"
        );
    };
    refused(archive(path, Packing::Plain).unwrap_err());
    let new = path.with_file_name("new.jsonl");
    refused(Writer::create(&new, &crate::header(), Durability::Os).unwrap_err());
    let after = (fs::read(path).unwrap(), context(path), names(path));
    assert_eq!(after, before);
    assert!(verify(&Session::open(path).unwrap()).unwrap().is_sound());
    acknowledge("refused");
}
