//! The durable part: the state, with candidates and changes, and the lock.

mod change;
mod state;
mod undo;

use std::path::PathBuf;
use std::time::Duration;

use jiff::civil::Date;
use longhaul_files::{Fault, Lock, Sharing, Wait};
use longhaul_tokens::Spent;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::undo::{Past, Undoing, Undone};
use super::candidate::{Candidate, Review, Status, waits};
use super::merge::merge;
use super::score::confidence;
use super::trigger::LastRun;
use crate::files::MemoryFolder;
use crate::{Error, Result};

/// How long a decision waits for what another process writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// No state has more.
const MOST_BYTES: u64 = 256 << 20;
const LOCK: &str = ".dreaming";

/// The dreams of one workspace.
#[derive(Debug)]
pub struct Dreams<'a> {
    folder: PathBuf,
    pub(super) memory: &'a MemoryFolder,
}

/// Keeps other processes from dreaming in the same workspace while it lives.
#[derive(Debug)]
pub struct DreamLock {
    _lock: Lock,
    notes: Vec<String>,
}

impl DreamLock {
    /// What the user should know: that the state was damaged, and what that cost; what
    /// an interrupted command had begun, and what became of it now.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl<'a> Dreams<'a> {
    /// The dreams of a workspace, `<stateDir>/dreams/<workspace>/`. Nothing is
    /// made before it is needed.
    pub fn new(state_dir: &std::path::Path, memory: &'a MemoryFolder) -> Dreams<'a> {
        let root = memory.root();
        let name: String = root
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(40)
            .collect();
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        Dreams {
            folder: state_dir
                .join("dreams")
                .join(format!("{name}-{}", &hash[..10])),
            memory,
        }
    }

    pub(super) fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Takes the lock: one dream at a time. Whoever wants to dream while another
    /// does is told so at once, since that one does the same.
    pub fn lock(&self) -> Result<DreamLock> {
        self.lock_within(Wait::Never)
    }

    /// The same for what a person decides: another command may just be writing
    /// down what it was told, so this one waits a little for it.
    pub fn lock_patiently(&self) -> Result<DreamLock> {
        self.lock_within(Wait::For(PATIENCE))
    }

    /// Whether somebody holds the lock at this moment.
    fn is_locked(&self) -> bool {
        let path = self.folder.join(LOCK);
        longhaul_files::open(&path).is_ok_and(|file| {
            let shared = longhaul_files::lock(&file, &path, Sharing::Shared, Wait::Never);
            shared.is_err_and(|error| matches!(error.fault, Fault::Locked))
        })
    }

    fn lock_within(&self, wait: Wait) -> Result<DreamLock> {
        longhaul_files::create_folder(&self.folder)?;
        let taken = longhaul_files::lock_file(&self.folder.join(LOCK), Sharing::Alone, wait);
        let taken = taken.map_err(|error| match error.fault {
            Fault::Locked => Error::Dreaming {
                workspace: self.memory.root().to_owned(),
            },
            _ => error.into(),
        })?;
        let mut lock = DreamLock {
            _lock: taken,
            notes: self.mend()?.into_iter().collect(),
        };
        lock.notes.extend(self.complete(&lock)?);
        Ok(lock)
    }

    /// Every candidate there ever was, in the order found.
    pub fn candidates(&self) -> Result<Vec<Candidate>> {
        Ok(self.state()?.candidates)
    }

    /// What the models of all dreams took.
    pub fn paid(&self) -> Result<Spent> {
        Ok(self.state()?.paid)
    }

    /// The last dream.
    pub fn last_run(&self) -> Result<Option<LastRun>> {
        self.read("last_run.json")
    }

    /// Rejects a staged candidate: it never comes back. What waited before it
    /// and had given way to it waits again.
    pub fn reject(&self, lock: &DreamLock, id: &str, on: Date) -> Result<()> {
        self.reject_all(lock, &[id.to_owned()], on)
    }

    /// Rejects several, one after the other, or none of them.
    pub fn reject_all(&self, lock: &DreamLock, ids: &[String], on: Date) -> Result<()> {
        let mut state = self.state()?;
        // As sure as the next dream would find it.
        let newest = self.newest(on)?;
        let recalls = self.recalls()?;
        for id in ids {
            reject(&mut state.candidates, id, on, &|one| {
                confidence(one, newest, recalls.of(one))
            })?;
        }
        self.save(lock, &mut state)
    }

    /// Puts the newer one of two candidates in the place of the older one: what waited
    /// leaves at once, what is kept when the newer one is promoted. Says which one
    /// stays.
    pub fn merge(&self, lock: &DreamLock, id: &str, other: &str) -> Result<String> {
        let mut state = self.state()?;
        let stays = merge(&mut state.candidates, id, other)?;
        self.save(lock, &mut state)?;
        Ok(stays)
    }

    /// Gives a staged candidate another text, in a person's own words.
    pub fn reword(&self, lock: &DreamLock, id: &str, text: &str) -> Result<()> {
        let mut state = self.state()?;
        waits(&state.candidates, id)?;
        let text = crate::provenance::one_line(&self.memory.redacted(text));
        for candidate in state.candidates.iter_mut().filter(|one| one.id == id) {
            candidate.wording = Some(text.clone());
            candidate.review = Some(Review::Edited);
        }
        self.save(lock, &mut state)
    }

    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.folder.join(name);
        let bytes = match longhaul_files::optional(longhaul_files::read(&path, MOST_BYTES)) {
            Ok(None) => return Ok(None),
            Ok(Some(bytes)) => bytes,
            Err(error) => {
                return Err(match error.fault {
                    Fault::NotAFile(_) => Error::Damaged {
                        path,
                        reason: error.fault.to_string(),
                    },
                    _ => error.into(),
                });
            }
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::Damaged {
                path,
                reason: format!("line {}: {error}", error.line()),
            })
    }

    pub(super) fn write(&self, name: &str, value: &impl Serialize) -> Result<()> {
        longhaul_files::create_folder(&self.folder)?;
        let path = self.folder.join(name);
        let mut text = serde_json::to_string_pretty(value).expect("plain data becomes JSON");
        text.push('\n');
        Ok(longhaul_files::replace(&path, text.as_bytes())?)
    }
}

fn reject(
    candidates: &mut [Candidate],
    id: &str,
    on: Date,
    sure: &dyn Fn(&Candidate) -> f64,
) -> Result<()> {
    waits(candidates, id)?;
    for candidate in candidates {
        if candidate.id == id {
            candidate.status = Status::Rejected { on };
        }
        // Nothing contradicts what nobody wants.
        candidate.contradicts.retain(|other| other != id);
        let gave_way = matches!(&candidate.status, Status::Superseded { by, .. } if by == id);
        if gave_way {
            candidate.status = Status::Staged;
            candidate.confidence = sure(candidate);
        }
    }
    Ok(())
}
