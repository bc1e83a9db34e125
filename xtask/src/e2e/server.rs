//! A model server on loopback that never outlives us.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::install::Installed;
use crate::Result;
use crate::paths;

/// How much of everything a server has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// Tokens of a prompt and its answer.
    pub(super) window: u32,
    /// Tokens of an answer, where the request does not say.
    pub(super) answer: u32,
    /// Threads that it computes with.
    pub(super) threads: usize,
}

/// A running server. It ends when this is dropped; and when this process ends
/// in any other way, because its input ends then.
pub(super) struct Server {
    child: Child,
    /// Where it listens: `http://127.0.0.1:PORT`.
    pub(super) address: String,
    /// What it says of itself.
    pub(super) log: PathBuf,
}

impl Server {
    /// Starts one and waits until the model is loaded.
    pub(super) fn start(installed: &Installed, size: Size, folder: &Path) -> Result<Server> {
        let log = folder.join("server.log");
        let mut child = Command::new(&installed.python)
            .arg(paths::root().join("xtask/e2e/serve.py"))
            .arg(&installed.model)
            .arg(size.window.to_string())
            .arg(size.answer.to_string())
            .arg(size.threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log)?)
            .spawn()
            .map_err(|error| format!("{}: {error}", installed.python.display()))?;
        let out = child.stdout.take();
        let mut server = Server {
            child,
            address: String::new(),
            log,
        };
        let mut lines = BufReader::new(out.ok_or("the server's output is piped")?);
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                return Err(format!("the server did not start:\n{}", server.last_words()).into());
            }
            if line.starts_with("http://") {
                server.address = line.trim().to_owned();
                break;
            }
        }
        // Nobody reads what else it may print, and it must not wait for that.
        std::thread::spawn(move || {
            let _ = lines.read_to_end(&mut Vec::new());
        });
        Ok(server)
    }

    /// The end of its log.
    pub(super) fn last_words(&self) -> String {
        let said = fs::read(&self.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.trim_end().lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
