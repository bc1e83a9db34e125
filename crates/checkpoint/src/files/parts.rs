//! The state files: four parts of what the present session collects, and what
//! earlier sessions of the same key left, in a fifth.
//!
//! A session that ends without a checkpoint leaves its parts. The next one
//! takes them over, into `carried.json`, before it writes its own; from there
//! every checkpoint of that session has them.

use std::path::PathBuf;

use longhaul_ledger::{
    Capture, DecisionsFile, OpenItemsFile, ResourcesFile, StateFiles, ThreadFile,
};
use longhaul_transcript::{Millis, SessionKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::disk::{self, Disk};
use crate::error::{Error, Flaw, Result};
use crate::state::{self, State};

const MAX_BYTES: u64 = 16 << 20;

const PARTS: [&str; 4] = [
    "decisions.json",
    "thread.json",
    "resources.json",
    "open_items.json",
];
const CARRIED: &str = "carried.json";

/// A file on disk.
#[derive(Debug, Serialize, Deserialize)]
struct Stored<T> {
    session_key: SessionKey,
    session_file: String,
    updated_at: String,
    #[serde(flatten)]
    content: T,
}

/// A file as it was found; of `files` only its own part is filled.
#[derive(Debug)]
struct Found {
    name: &'static str,
    session_file: String,
    updated_at: Millis,
    files: StateFiles,
}

impl Found {
    /// Whether no checkpoint made at `bundled` can hold it.
    fn is_fresh(&self, bundled: Option<Millis>) -> bool {
        bundled.is_none_or(|bundled| self.updated_at > bundled)
    }
}

/// The folder of one session's state.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) folder: PathBuf,
    pub(super) key: &'a SessionKey,
    pub(super) disk: &'a dyn Disk,
    pub(super) capture: Capture,
}

impl Parts<'_> {
    /// The state of the session that wrote last, without what a checkpoint
    /// made at `bundled` holds.
    pub(super) fn state(&self, bundled: Option<Millis>) -> Option<State> {
        let mut found = self.parts();
        found.retain(|part| part.is_fresh(bundled));
        let newest = found.iter().max_by_key(|part| part.updated_at)?;
        let mut state = State {
            session_file: newest.session_file.clone(),
            updated_at: newest.updated_at,
            files: StateFiles::default(),
        };
        for part in found {
            if part.session_file == state.session_file {
                copy(part.name, &part.files, &mut state.files);
            }
        }
        Some(state)
    }

    /// Writes the parts that change.
    pub(super) fn save(
        &self,
        state: &State,
        bundled: impl FnOnce() -> Result<Option<Millis>>,
    ) -> Result<()> {
        self.disk.create_folder(&self.folder)?;
        self.take_over(&state.session_file, state.updated_at, bundled)?;
        let found = self.parts();
        for name in PARTS {
            let mut files = StateFiles::default();
            copy(name, &state.files, &mut files);
            let old = found
                .iter()
                .find(|part| part.name == name && part.session_file == state.session_file);
            let same = match old {
                Some(old) => old.files == files,
                None => files == StateFiles::default(),
            };
            if !same {
                self.store(name, &state.session_file, state.updated_at, &files)?;
            }
        }
        Ok(())
    }

    /// What earlier sessions left for the session of this file. What they left
    /// just now is written down first, so that it is not lost when their parts
    /// are replaced.
    pub(super) fn take_over(
        &self,
        session_file: &str,
        at: Millis,
        bundled: impl FnOnce() -> Result<Option<Millis>>,
    ) -> Result<StateFiles> {
        let mut left = self.parts();
        left.retain(|part| part.session_file != session_file);
        let carried = self.readable(CARRIED);
        if left.is_empty()
            && carried
                .as_ref()
                .is_none_or(|carried| carried.session_file == session_file)
        {
            return Ok(carried.map(|carried| carried.files).unwrap_or_default());
        }
        let bundled = bundled()?;
        left.sort_by_key(|part| std::cmp::Reverse(part.updated_at));
        let mut all = StateFiles::default();
        for part in &left {
            match part.is_fresh(bundled) {
                true => state::carry(&mut all, &part.files, &self.capture),
                false => self.set_aside(part.name)?,
            }
        }
        if let Some(carried) = &carried
            && (carried.session_file == session_file || carried.is_fresh(bundled))
        {
            state::carry(&mut all, &carried.files, &self.capture);
        }
        if all != StateFiles::default() {
            self.store(CARRIED, session_file, at, &all)?;
        } else if carried.is_some() {
            self.set_aside(CARRIED)?;
        }
        Ok(all)
    }

    /// The files that cannot be read, and the parts that a checkpoint made at
    /// `bundled` holds, with the reason.
    pub(super) fn stale(&self, bundled: Option<Millis>) -> Vec<(&'static str, String)> {
        let mut stale = Vec::new();
        for name in PARTS.into_iter().chain([CARRIED]) {
            match self.read(name) {
                Ok(Some(part)) if name != CARRIED && !part.is_fresh(bundled) => stale.push((
                    name,
                    format!(
                        "of {}: not newer than the latest checkpoint",
                        part.updated_at.to_iso()
                    ),
                )),
                Ok(_) => {}
                Err(error) => stale.push((name, error.to_string())),
            }
        }
        stale
    }

    /// Moves a file out of the way; the one set aside before gives way to it.
    pub(super) fn set_aside(&self, name: &str) -> Result<()> {
        let aside = self.folder.join("set-aside");
        self.disk.create_folder(&aside)?;
        self.disk.rename(&self.folder.join(name), &aside.join(name))
    }

    /// Empties the parts: no file is no state.
    pub(super) fn reset(&self) -> Result<()> {
        // Not forced to the disk: a file that comes back after a crash is
        // older than the checkpoint that holds it, and is set aside.
        PARTS
            .iter()
            .try_for_each(|name| self.disk.remove(&self.folder.join(name)))
    }

    /// The parts that can be read.
    fn parts(&self) -> Vec<Found> {
        PARTS
            .into_iter()
            .filter_map(|name| self.readable(name))
            .collect()
    }

    /// A file that cannot be read is nobody's state; recovery sets it aside and
    /// says so.
    fn readable(&self, name: &'static str) -> Option<Found> {
        self.read(name).ok().flatten()
    }

    fn read(&self, name: &'static str) -> Result<Option<Found>> {
        let path = self.folder.join(name);
        let Some(text) = disk::read(&path, MAX_BYTES)? else {
            return Ok(None);
        };
        self.parse(name, &text)
            .map(Some)
            .map_err(|flaw| Error::Damaged {
                path,
                flaw,
                instead: None,
            })
    }

    fn parse(&self, name: &'static str, text: &str) -> Result<Found, Flaw> {
        let mut files = StateFiles::default();
        let (key, session_file, updated_at) = match name {
            "decisions.json" => parse(text, &mut files.decisions)?,
            "thread.json" => parse(text, &mut files.thread)?,
            "resources.json" => parse(text, &mut files.resources)?,
            "open_items.json" => parse(text, &mut files.open_items)?,
            _ => parse(text, &mut files)?,
        };
        if key != *self.key {
            return Err(Flaw::new(format!("it belongs to session {key}")));
        }
        let updated_at =
            Millis::parse_iso(&updated_at).ok_or_else(|| Flaw::new("updated_at is not a time"))?;
        Ok(Found {
            name,
            session_file,
            updated_at,
            files,
        })
    }

    fn store(
        &self,
        name: &'static str,
        session_file: &str,
        at: Millis,
        files: &StateFiles,
    ) -> Result<()> {
        let text = match name {
            "decisions.json" => self.text(session_file, at, &files.decisions),
            "thread.json" => self.text(session_file, at, &files.thread),
            "resources.json" => self.text(session_file, at, &files.resources),
            "open_items.json" => self.text(session_file, at, &files.open_items),
            _ => self.text(session_file, at, files),
        };
        let path = self.folder.join(name);
        let text = text.map_err(|error| longhaul_files::Error::io("write", &path)(error.into()))?;
        self.disk.replace(&path, &text)
    }

    fn text<T: Serialize>(
        &self,
        session_file: &str,
        at: Millis,
        content: &T,
    ) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec_pretty(&Stored {
            session_key: self.key.clone(),
            session_file: session_file.to_owned(),
            updated_at: at.to_iso(),
            content,
        })
    }
}

fn parse<T: DeserializeOwned>(
    text: &str,
    into: &mut T,
) -> Result<(SessionKey, String, String), Flaw> {
    let stored: Stored<T> = serde_json::from_str(text)
        .map_err(|error| Flaw::at(error.line() as u64, error.to_string()))?;
    *into = stored.content;
    Ok((stored.session_key, stored.session_file, stored.updated_at))
}

/// Copies one part.
fn copy(name: &str, from: &StateFiles, to: &mut StateFiles) {
    let StateFiles {
        decisions,
        thread,
        resources,
        open_items,
    } = from;
    match name {
        "decisions.json" => to.decisions = DecisionsFile::clone(decisions),
        "thread.json" => to.thread = ThreadFile::clone(thread),
        "resources.json" => to.resources = ResourcesFile::clone(resources),
        "open_items.json" => to.open_items = OpenItemsFile::clone(open_items),
        _ => *to = from.clone(),
    }
}
