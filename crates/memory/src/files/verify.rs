//! `memory verify`: whether what `MEMORY.md` points to is still what it was
//! when the pointer was written.
//!
//! The hashes are kept beside, in `memories/.pointers.json`. A pointer that is
//! new there is taken as true today. Memory files change all the time and count
//! only as there or gone; so do the sections that pointers name.

use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::pointers::{STALE, Target, unmarked};
use super::trouble::Trouble;
use super::{DREAMS, MEMORY, MOST_FILE_BYTES, MemoryFolder, place};
use crate::{Error, Result};

const HASHES: &str = "memories/.pointers.json";
/// Of larger files only the size and the time are compared.
const MOST_HASHED: u64 = 64 * 1024 * 1024;

/// What `verify` may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// Only tell; what is new is remembered.
    Tell,
    /// Only tell, and remember nothing.
    Look,
    /// Mark stale lines in `MEMORY.md`, unmark the others.
    Mark,
    /// Take everything as true today and remove the marks.
    Accept,
}

/// How a pointer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// Its file is as it was.
    Fresh,
    /// Seen for the first time.
    New,
    /// Its file has changed.
    Changed,
    /// Its file is gone.
    Gone,
    /// Its file is there, and the section it points to is not.
    SectionGone,
    /// It leads out of the workspace.
    Outside,
    /// Its file is there and cannot be read, so that nobody knows.
    Unreadable,
}

impl Standing {
    /// Whether the line can no longer be believed.
    pub fn is_stale(self) -> bool {
        match self {
            Standing::Changed
            | Standing::Gone
            | Standing::SectionGone
            | Standing::Outside
            | Standing::Unreadable => true,
            Standing::Fresh | Standing::New => false,
        }
    }
}

/// A pointer and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The line, from 1.
    pub line: usize,
    /// The file it points to.
    pub target: String,
    /// The section of it.
    pub anchor: Option<String>,
    /// How it stands.
    pub standing: Standing,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hashes {
    /// The hash of each target when its pointer was written.
    pub(super) pointers: BTreeMap<String, String>,
}

impl MemoryFolder {
    /// How every pointer of `MEMORY.md` stands.
    pub fn verify(&self, mode: Verify) -> Result<Vec<Verified>> {
        let bytes = place::bytes(self.root(), MEMORY, MOST_FILE_BYTES)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let known = self.hashes()?;
        let mut next = Hashes::default();
        let mut verified = Vec::new();
        for pointer in self.pointers(&text) {
            let wrong = self.wrong(&pointer);
            let target = pointer.target;
            let was = known.pointers.get(&target);
            let (standing, keep) = match (wrong, self.hash(&target)) {
                (Some(Trouble::OutsidePointer { .. }), _) => (Standing::Outside, None),
                (Some(Trouble::DeadPointer { .. }), _) | (_, Ok(None)) => {
                    (Standing::Gone, was.cloned())
                }
                // One file that cannot be read says nothing of the others.
                (_, Err(_)) => (Standing::Unreadable, was.cloned()),
                (wrong, Ok(Some(now))) => {
                    let is_taken = mode == Verify::Accept || was.is_none_or(|was| *was == now);
                    let standing = match was {
                        _ if wrong.is_some() => Standing::SectionGone,
                        None => Standing::New,
                        Some(_) if is_taken => Standing::Fresh,
                        Some(_) => Standing::Changed,
                    };
                    (standing, Some(now).filter(|_| is_taken).or(was.cloned()))
                }
            };
            if let Some(hash) = keep {
                next.pointers.insert(target.clone(), hash);
            }
            verified.push(Verified {
                line: pointer.line,
                target,
                anchor: pointer.anchor,
                standing,
            });
        }
        if next != known && mode != Verify::Look {
            let text = serde_json::to_string_pretty(&next).expect("plain data becomes JSON");
            self.replace(HASHES, &format!("{text}\n"))?;
        }
        if matches!(mode, Verify::Mark | Verify::Accept) {
            let marked = marked(&bytes, &verified, mode);
            if marked != bytes {
                self.replace(MEMORY, &marked)?;
            }
        }
        Ok(verified)
    }

    pub(super) fn hashes(&self) -> Result<Hashes> {
        match self.read(HASHES)? {
            None => Ok(Hashes::default()),
            Some(text) => serde_json::from_str(&text).map_err(|error| Error::Damaged {
                path: self.root().join(HASHES),
                reason: format!("line {}: {error}", error.line()),
            }),
        }
    }

    fn hash(&self, target: &str) -> Result<Option<String>> {
        if self.leads(target) != Target::There {
            return Ok(None);
        }
        let own = ["memory/", "memories/", MEMORY, DREAMS];
        let own = own.iter().any(|own| target.starts_with(own));
        let path = self.root().join(target);
        let meta = fs::metadata(&path).map_err(Error::io("read", &path))?;
        if own || !meta.is_file() {
            return Ok(Some("there".into()));
        }
        if meta.len() > MOST_HASHED {
            let time = meta.modified().map_err(Error::io("read", &path))?;
            let since = time.duration_since(SystemTime::UNIX_EPOCH);
            let nanos = since.map_or(0, |since| since.as_nanos());
            return Ok(Some(format!("{} bytes at {nanos}", meta.len())));
        }
        let Some(real) = place::for_reading(self.root(), target)? else {
            return Ok(None);
        };
        let bytes = longhaul_files::read(&real, MOST_HASHED).map_err(|error| error.at(&path))?;
        Ok(Some(blake3::hash(&bytes).to_hex()[..32].to_owned()))
    }
}

/// A line that is no UTF-8 stays as it is.
fn marked(bytes: &[u8], verified: &[Verified], mode: Verify) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (at, whole) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Ok(whole) = std::str::from_utf8(whole) else {
            out.extend_from_slice(whole);
            continue;
        };
        let line = whole.trim_end_matches(['\n', '\r']);
        let end = &whole[line.len()..];
        // What was accepted is no longer stale; the rest keeps the mark it has.
        let plain = unmarked(line);
        let stale = (mode == Verify::Mark || plain != line)
            && verified
                .iter()
                .any(|one| one.line == at + 1 && one.standing.is_stale());
        out.extend_from_slice(plain.as_bytes());
        if stale {
            out.extend_from_slice(STALE.as_bytes());
        }
        out.extend_from_slice(end.as_bytes());
    }
    out
}
