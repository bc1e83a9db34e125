//! How often what a candidate says was asked for: what an agent looks up again
//! and again is worth keeping.
//!
//! One line of JSON for each thing that was returned, appended by whoever
//! returned it. Counting is no reason to make a search wait, so nobody takes a
//! lock for it; a dream puts the lines together, and what is appended in that
//! moment may be lost.

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::store::{DreamLock, Dreams};
use crate::provenance::one_line;
use crate::{Error, Result};

const FILE: &str = "recalls.jsonl";
/// A longer file is put together, and not appended to beyond twice as much.
const MOST_BYTES: u64 = 256 << 10;
/// What is read of it, since one append may be long.
const MOST_READ_BYTES: u64 = 64 << 20;
/// Lines of one search that are counted.
const MOST_LINES: usize = 50;
/// As much of a line as tells it from others.
const MOST_CHARS: usize = 300;
/// Things that are kept when the file is put together: those asked for most.
const MOST_KEPT: usize = 500;

/// Something that was returned by a search.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recalled {
    /// A line of a memory file.
    Line(String),
    /// An entry of a session.
    Entry(String),
}

#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    what: Recalled,
    times: u32,
}

/// How often things were returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recalls {
    times: BTreeMap<Recalled, u32>,
}

impl Recalls {
    /// How often what a candidate says was returned.
    pub fn of(&self, candidate: &Candidate) -> u32 {
        let said: Vec<String> = candidate
            .evidence
            .iter()
            .map(|evidence| plain(&evidence.quote))
            .chain([plain(candidate.wording())])
            .filter(|text| !text.is_empty())
            .collect();
        let is_its = |what: &Recalled| match what {
            Recalled::Line(line) => said.iter().any(|said| line.contains(said.as_str())),
            Recalled::Entry(id) => {
                let mut all = candidate.evidence.iter();
                all.any(|evidence| evidence.entry.as_deref() == Some(id))
            }
        };
        let its = self.times.iter().filter(|(what, _)| is_its(what));
        its.fold(0, |sum, (_, times)| sum.saturating_add(*times))
    }

    fn add(&mut self, what: Recalled, times: u32) {
        let known = self.times.entry(what).or_default();
        *known = known.saturating_add(times);
    }
}

/// Words alone, so that marks of lists and spacing do not matter.
fn plain(text: &str) -> String {
    let line = one_line(text).to_lowercase();
    line.trim_start_matches(['-', '*', '>', '#', ' '])
        .chars()
        .take(MOST_CHARS)
        .collect()
}

/// A line of JSON for each.
fn stored(all: impl Iterator<Item = (Recalled, u32)>) -> String {
    let lines = all.map(|(what, times)| {
        let line = serde_json::to_string(&Stored { what, times });
        line.expect("plain data becomes JSON") + "\n"
    });
    lines.collect()
}

impl Dreams<'_> {
    /// Writes down what a search returned.
    pub fn note_recalled(&self, what: impl IntoIterator<Item = Recalled>) -> Result<()> {
        let what = what.into_iter().take(MOST_LINES).map(|what| match what {
            Recalled::Line(line) => Recalled::Line(plain(&line)),
            entry => entry,
        });
        let says = |what: &Recalled| !matches!(what, Recalled::Line(line) if line.is_empty());
        let text = stored(what.filter(says).map(|what| (what, 1)));
        if text.is_empty() {
            return Ok(());
        }
        longhaul_files::create_folder(self.folder())?;
        let path = self.folder().join(FILE);
        let mut file = longhaul_files::append_or_create(&path)?;
        let bytes = file.metadata().map_err(Error::io("read", &path))?.len();
        if bytes > 2 * MOST_BYTES {
            return Ok(());
        }
        file.write_all(text.as_bytes())
            .map_err(Error::io("write", &path))
    }

    /// How often things were returned so far. A line that a crash has torn is
    /// no line.
    pub fn recalls(&self) -> Result<Recalls> {
        let path = self.folder().join(FILE);
        let bytes = longhaul_files::read(&path, MOST_READ_BYTES);
        let bytes = longhaul_files::optional(bytes)?.unwrap_or_default();
        let mut recalls = Recalls::default();
        for line in String::from_utf8_lossy(&bytes).lines() {
            if let Ok(stored) = serde_json::from_str::<Stored>(line) {
                recalls.add(stored.what, stored.times);
            }
        }
        Ok(recalls)
    }

    /// Puts the lines of a long file together, and forgets what was asked for
    /// least.
    pub(super) fn put_recalls_together(&self, _: &DreamLock) -> Result<()> {
        let path = self.folder().join(FILE);
        if path.metadata().map_or(0, |file| file.len()) <= MOST_BYTES {
            return Ok(());
        }
        let mut all: Vec<(Recalled, u32)> = self.recalls()?.times.into_iter().collect();
        all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        let text = stored(all.into_iter().take(MOST_KEPT));
        Ok(longhaul_files::replace(&path, text.as_bytes())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryFolder;
    use std::fs;

    fn line(text: &str) -> Recalled {
        Recalled::Line(text.to_owned())
    }

    #[test]
    fn counts_add_up_over_processes_and_torn_lines_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let memory = MemoryFolder::open(folder.path(), None).unwrap();
        let state = folder.path().join("state");
        for _ in 0..3 {
            let dreams = Dreams::new(&state, &memory);
            let returned = [line("- Never  push on Fridays."), line("---")];
            dreams.note_recalled(returned).unwrap();
        }
        let dreams = Dreams::new(&state, &memory);
        let path = dreams.folder().join(FILE);
        let torn = fs::read_to_string(&path).unwrap() + "{\"line\":\"nev";
        fs::write(&path, torn).unwrap();
        let recalls = dreams.recalls().unwrap();
        let times: Vec<_> = recalls.times.into_iter().collect();
        assert_eq!(times, [(line("never push on fridays."), 3)]);
    }

    #[test]
    fn a_long_file_is_put_together_without_losing_what_is_asked_for_most() {
        let folder = tempfile::tempdir().unwrap();
        let memory = MemoryFolder::open(folder.path(), None).unwrap();
        let dreams = Dreams::new(&folder.path().join("state"), &memory);
        for at in 0..1_000 {
            let filler = line(&format!("{at} {}", "x".repeat(280)));
            dreams.note_recalled([filler, line("often asked")]).unwrap();
        }
        let lock = dreams.lock().unwrap();
        dreams.put_recalls_together(&lock).unwrap();
        let bytes = fs::metadata(dreams.folder().join(FILE)).unwrap().len();
        assert!(bytes <= MOST_BYTES, "{bytes}");
        let recalls = dreams.recalls().unwrap();
        assert_eq!(recalls.times[&line("often asked")], 1_000);
        assert_eq!(recalls.times.len(), MOST_KEPT);
    }
}
