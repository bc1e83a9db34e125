//! Following a file that another program writes: what was appended is read, what
//! was read is not; and a file that is no longer the same is read anew.

use std::fs::{self, Metadata};
use std::path::Path;

use longhaul_files::Identity;
use longhaul_transcript::{Body, Entry, EntryId, Format, Session as Stored};

use super::{Error, PiHost, PiSession, Result};
use crate::compactor::Bench;
use crate::live::Live;

/// How far a file was read.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    size: u64,
    identity: Identity,
    /// The last entry that was read, and where it stands.
    leaf: Option<(EntryId, u64)>,
}

/// What became of a session since it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    /// Nothing, or more of the same.
    On,
    /// Another branch, or another file: all was read anew.
    Anew,
}

impl Seen {
    /// Opens a file of pi's as it is now.
    pub(super) fn open(path: &Path) -> Result<(Stored, Seen)> {
        // Before it is read: what comes in between is read twice, not never.
        let meta = metadata(path)?;
        let stored = Stored::open(path)?;
        if stored.format() != Format::Pi {
            return Err(Error::NotPi {
                path: path.to_owned(),
                format: stored.format(),
            });
        }
        let seen = Seen {
            size: meta.len(),
            identity: Identity::of(&meta),
            leaf: None,
        };
        Ok((stored, seen))
    }

    /// Notes the entry up to which a session was read.
    pub(super) fn at(&mut self, live: &Live) {
        let leaf = live.entries().last();
        self.leaf = leaf.map(|entry| (entry.id.clone(), entry.place.offset));
    }
}

impl PiSession {
    /// Takes in what pi has written since, up to the entry at which pi is now, and
    /// how large its window is.
    pub(super) fn follow(&mut self, leaf: Option<&EntryId>, host: PiHost) -> Result<Followed> {
        let followed = self.read_on(leaf)?;
        self.bench.window = self.window(host)?;
        Ok(followed)
    }

    fn read_on(&mut self, leaf: Option<&EntryId>) -> Result<Followed> {
        let meta = metadata(&self.path)?;
        let same = Identity::of(&meta) == self.seen.identity && meta.len() >= self.seen.size;
        if same && meta.len() == self.seen.size && self.is_at(leaf) {
            return Ok(Followed::On);
        }
        if same && let Some(new) = self.appended(&meta)? {
            for entry in new {
                self.take(entry);
            }
            self.seen.size = meta.len();
            self.seen.at(&self.bench.live);
            if self.is_at(leaf) {
                return Ok(Followed::On);
            }
        }
        let (stored, seen) = Seen::open(&self.path)?;
        if stored.header().id != self.bench.live.header().id {
            // Another session under the same name: nothing of this one is true of it.
            *self = PiSession::open(&self.setup, &self.path, leaf)?;
            return Ok(Followed::Anew);
        }
        let (config, state_dir) = (&self.setup.config, &self.setup.state_dir);
        self.bench.live = Bench::read(&stored, leaf, config, state_dir)?;
        self.seen = seen;
        self.seen.at(&self.bench.live);
        self.bench.course.begin_epoch();
        Ok(Followed::Anew)
    }

    /// Takes an entry in. What a compaction removes can be made findable now.
    fn take(&mut self, entry: Entry) {
        let departures = match entry.body {
            Body::Compaction(_) => self.setup.departures.as_ref(),
            _ => None,
        };
        let before = departures.map(|_| self.bench.ids());
        self.bench.live.push(entry);
        if let (Some(departures), Some(before)) = (departures, before) {
            departures.left(&self.path, &self.bench.left_of(before));
        }
    }

    fn is_at(&self, leaf: Option<&EntryId>) -> bool {
        let own = self.seen.leaf.as_ref().map(|(id, _)| id);
        leaf.is_none() || leaf == own
    }

    /// What follows the last entry that was read, if all of it does.
    fn appended(&self, meta: &Metadata) -> Result<Option<Vec<Entry>>> {
        let Some((leaf, offset)) = &self.seen.leaf else {
            return Ok(None);
        };
        let stored = Stored::open(&self.path)?;
        if stored.header().id != self.bench.live.header().id || stored.header().version < 2 {
            return Ok(None);
        }
        let mut tail = stored.tail(meta.len().saturating_sub(*offset))?.entries;
        let known = tail
            .iter()
            .position(|entry| entry.id == *leaf && entry.place.offset == *offset);
        let Some(known) = known else {
            return Ok(None);
        };
        tail.drain(..=known);
        let mut parent = Some(leaf);
        for entry in &tail {
            if entry.parent.as_ref() != parent {
                return Ok(None);
            }
            parent = Some(&entry.id);
        }
        Ok(Some(tail))
    }
}

fn metadata(path: &Path) -> Result<Metadata> {
    let meta = fs::metadata(path);
    Ok(meta.map_err(longhaul_files::Error::io("read", path))?)
}
