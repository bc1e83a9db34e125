//! A machine for one test: a home folder of its own, a stopped clock.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

/// What the clock says in all tests.
pub(crate) const NOW: &str = "2026-03-10T12:00:00Z";
const NOW_SECONDS: u64 = 1_773_144_000;

pub(crate) struct Machine {
    folder: TempDir,
}

/// What a command did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// All of it, for a snapshot.
    pub(crate) fn shown(&self) -> String {
        format!(
            "exit {}\n--- out\n{}--- err\n{}",
            self.code, self.out, self.err
        )
    }

    /// The messages of `context show --json` as they were printed, byte for
    /// byte.
    pub(crate) fn messages(&self) -> &str {
        let end = self.out.rfind(",\"tokens\":").unwrap();
        self.out[..end].strip_prefix("{\"messages\":").unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Machine { folder }
    }

    /// Runs a shell's line in a terminal of its own.
    pub(crate) fn in_terminal(&self, line: &str) -> Child {
        Command::new("script")
            .args(["-qec", line, "/dev/null"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm")
            .env("HOME", self.home())
            .env("LONGHAUL_NOW", NOW)
            .current_dir(self.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder commands run in.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Puts a file into the home folder, last written `hours` ago.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>, hours: u64) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        age(&path, hours);
        path
    }

    /// Puts a session where pi keeps them.
    pub(crate) fn put_pi(&self, id: &str, content: impl AsRef<[u8]>, hours: u64) -> PathBuf {
        let name = format!(".pi/agent/sessions/--work--/2026-03-01T10-00-00-000Z_{id}.jsonl");
        self.put(&name, content, hours)
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"));
        command
            .env_clear()
            .env("HOME", self.home())
            .env("LONGHAUL_NOW", NOW)
            .current_dir(self.work());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        self.finish(self.command().args(args))
    }

    /// Runs a line of words.
    pub(crate) fn run_line(&self, line: &str) -> Ran {
        self.run(line.split_whitespace())
    }

    pub(crate) fn finish(&self, command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: self.redact(&output.stdout),
            err: self.redact(&output.stderr),
        }
    }

    /// The temporary folder under a name that is always the same.
    fn redact(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        text.replace(&*self.folder.path().to_string_lossy(), "/tmp/test")
    }

    /// Every file with its bytes and time, to see that nothing changed.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, (Vec<u8>, SystemTime)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if !name.starts_with("survey-") {
            // What is known of a session is kept by whoever reads it.
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            files.insert(path.clone(), (fs::read(&path).unwrap(), time));
        }
    }
}

/// Makes a file look as if it was written so many hours before [`NOW`].
pub(crate) fn age(path: &Path, hours: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW_SECONDS - hours * 3_600);
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}
