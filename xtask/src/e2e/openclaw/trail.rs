//! What the gateway's log says of our engine.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Result;

/// A log that is read as it grows.
pub(super) struct Trail {
    file: PathBuf,
    at: u64,
    lines: Vec<String>,
    rest: String,
}

/// A call that our engine answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Served {
    pub(super) method: String,
    pub(super) session: String,
    pub(super) milliseconds: f64,
    /// Messages in and out, or how a turn was committed.
    pub(super) how: String,
}

impl Trail {
    pub(super) fn of(file: &Path) -> Trail {
        Trail {
            file: file.to_owned(),
            at: 0,
            lines: Vec::new(),
            rest: String::new(),
        }
    }

    /// All lines so far.
    pub(super) fn lines(&mut self) -> Result<&[String]> {
        let mut file = File::open(&self.file)?;
        file.seek(SeekFrom::Start(self.at))?;
        let mut new = Vec::new();
        self.at += file.read_to_end(&mut new)? as u64;
        self.rest.push_str(&String::from_utf8_lossy(&new));
        while let Some((line, rest)) = self.rest.split_once('\n') {
            self.lines.push(line.to_owned());
            self.rest = rest.to_owned();
        }
        Ok(&self.lines)
    }

    /// Waits until a line after the given number passes.
    pub(super) fn wait(
        &mut self,
        from: usize,
        patience: Duration,
        passes: impl Fn(&str) -> bool,
    ) -> Result<Option<String>> {
        let until = Instant::now() + patience;
        loop {
            let lines = self.lines()?;
            let new = lines.get(from..).unwrap_or_default();
            if let Some(line) = new.iter().find(|line| passes(line)) {
                return Ok(Some(line.clone()));
            }
            if Instant::now() > until {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The id of the latest process of ours.
    pub(super) fn process(&mut self) -> Result<Option<u32>> {
        let lines = self.lines()?.iter().rev();
        Ok(lines.filter_map(|line| process(line)).next())
    }
}

/// `… longhaul 0.1.0 runs (/x/longhaul, from PATH, process 4711)`
fn process(line: &str) -> Option<u32> {
    let (head, id) = line.rsplit_once(", process ")?;
    head.contains("longhaul ").then_some(())?;
    id.split(')').next()?.parse().ok()
}

/// `… longhaul served assemble of agent:main:x in 3.1 ms, 12 to 9`
pub(super) fn served(line: &str) -> Option<Served> {
    let (_, rest) = line.split_once("longhaul served ")?;
    let (method, rest) = rest.split_once(" of ")?;
    let (session, rest) = rest.split_once(" in ")?;
    let (milliseconds, how) = rest.split_once(" ms")?;
    Some(Served {
        method: method.to_owned(),
        session: session.to_owned(),
        milliseconds: milliseconds.parse().ok()?,
        how: how.trim_start_matches(", ").trim_end().to_owned(),
    })
}

/// The kind of an event of ours: `… longhaul event: {"event":{"event":"compacted"…`
pub(super) fn event(line: &str) -> Option<String> {
    let (_, json) = line.split_once("longhaul event: ")?;
    let event: Value = serde_json::Deserializer::from_str(json)
        .into_iter()
        .next()?
        .ok()?;
    Some(event["event"]["event"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_plugin_are_read() {
        let line = "12:00 [plugins] longhaul served assemble of agent:main:x in 3.5 ms, 12 to 9";
        let expected = Served {
            method: "assemble".into(),
            session: "agent:main:x".into(),
            milliseconds: 3.5,
            how: "12 to 9".into(),
        };
        assert_eq!(served(line), Some(expected));
        assert_eq!(served("12:00 [plugins] something else"), None);
        let line = "x longhaul 0.1.0 is back (/a/longhaul, from PATH, process 4711)";
        assert_eq!(process(line), Some(4711));
        let line = r#"x longhaul event: {"sessionId":"s","event":{"event":"compacted","n":1}} "#;
        assert_eq!(event(line).as_deref(), Some("compacted"));
    }
}
