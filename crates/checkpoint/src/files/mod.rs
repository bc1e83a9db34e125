//! Checkpoints as files: `context/checkpoints/<session>/cp_NNN.yaml`, the
//! pointer `_latest.json` beside them, and `context/state/<session>/*.json`.
//!
//! A checkpoint is stored in steps, each durable before the next: the file,
//! the pointer, the reset of the state it bundles, the removal of those too
//! old to keep. The folder alone says how far it came: the newest file that
//! can be read *is* the latest checkpoint, and state that is not newer than it
//! is in it. So every step can be repeated, and a crash after any of them is
//! made good by going through them again.

mod disk;
mod parts;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul_files::{Fault, Lock, Sharing, Wait};
use longhaul_transcript::{Millis, SessionKey};
use serde::{Deserialize, Serialize};

use self::disk::{Disk, Durable};
use self::parts::Parts;
use crate::error::{Error, Flaw, Result};
use crate::store::{CheckpointStore, Latest, Listed, Outcome, Policy, Recovery, SetAside, Written};
use crate::yaml::{MAX_BYTES, Seal};
use crate::{Checkpoint, CheckpointId, Draft, State};

const POINTER: &str = "_latest.json";
const LOCK: &str = ".lock";
/// How long one process waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checkpoints in a folder of the local file system.
#[derive(Debug, Clone)]
pub struct FileStore {
    root: PathBuf,
    policy: Policy,
    disk: Arc<dyn Disk>,
}

/// `_latest.json`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Pointer {
    checkpoint_id: CheckpointId,
    path: String,
}

impl FileStore {
    /// The store below a state folder. Nothing is created before it is needed.
    pub fn new(state_dir: &Path, policy: Policy) -> FileStore {
        FileStore {
            root: state_dir.join("context"),
            policy,
            disk: Arc::new(Durable),
        }
    }

    #[cfg(test)]
    fn on(self, disk: Arc<dyn Disk>) -> FileStore {
        FileStore { disk, ..self }
    }

    fn folder(&self, key: &SessionKey) -> PathBuf {
        self.root.join("checkpoints").join(key.folder_name())
    }

    fn parts<'a>(&'a self, key: &'a SessionKey) -> Parts<'a> {
        Parts {
            folder: self.root.join("state").join(key.folder_name()),
            key,
            disk: &*self.disk,
            capture: self.policy.capture,
        }
    }

    /// Keeps other processes and threads out until it is dropped.
    fn lock(&self, key: &SessionKey) -> Result<Lock> {
        let folder = self.folder(key);
        self.disk.create_folder(&folder)?;
        let wait = Wait::For(PATIENCE);
        let taken = longhaul_files::lock_file(&folder.join(LOCK), Sharing::Alone, wait);
        taken.map_err(|error| match error.fault {
            Fault::Locked => Error::Locked { key: key.clone() },
            _ => error.into(),
        })
    }

    /// The names of the files there, newest first, readable or not.
    fn ids(&self, key: &SessionKey) -> Result<Vec<CheckpointId>> {
        let mut ids: Vec<CheckpointId> = longhaul_files::names(&self.folder(key))?
            .iter()
            .filter_map(|name| name.strip_suffix(".yaml")?.parse().ok())
            .collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    /// One file; nothing if it is not there.
    fn read(&self, key: &SessionKey, id: CheckpointId) -> Result<Option<Checkpoint>> {
        let path = self.folder(key).join(file_name(id));
        let Some(text) = disk::read(&path, MAX_BYTES)? else {
            return Ok(None);
        };
        let damaged = |flaw| Error::Damaged {
            path: path.clone(),
            flaw,
            instead: None,
        };
        let checkpoint = Checkpoint::from_yaml(&text, Seal::Required).map_err(damaged)?;
        let meta = &checkpoint.meta;
        if meta.checkpoint_id != id {
            return Err(damaged(Flaw::new(format!(
                "it is a copy of {}",
                meta.checkpoint_id
            ))));
        }
        if meta.session_key != *key {
            return Err(damaged(Flaw::new(format!(
                "it belongs to session {}",
                meta.session_key
            ))));
        }
        Ok(Some(checkpoint))
    }

    fn newest(&self, key: &SessionKey) -> Result<Latest> {
        let mut latest = Latest::default();
        for id in self.ids(key)? {
            match self.read(key, id) {
                Ok(Some(checkpoint)) => {
                    latest.checkpoint = Some(checkpoint);
                    break;
                }
                // Retired by another process since we looked.
                Ok(None) => {}
                // Whether it is nonsense or the disk refuses it: one file that
                // cannot be read does not take the others with it.
                Err(error) => latest.passed_over.push(error),
            }
        }
        let used = latest.checkpoint.as_ref();
        let used = used.map(|checkpoint| checkpoint.meta.checkpoint_id);
        for error in &mut latest.passed_over {
            if let Error::Damaged { instead, .. } = error {
                *instead = used;
            }
        }
        Ok(latest)
    }

    /// What the pointer says, if it can be read.
    fn pointer(&self, key: &SessionKey) -> Option<Pointer> {
        let text = disk::read(&self.folder(key).join(POINTER), MAX_BYTES).ok()??;
        serde_json::from_str(&text).ok()
    }

    fn point(&self, key: &SessionKey, id: CheckpointId) -> Result<()> {
        let path = self.folder(key).join(POINTER);
        let text = serde_json::to_vec(&pointer_to(id))
            .map_err(|error| longhaul_files::Error::io("write", &path)(error.into()))?;
        self.disk.replace(&path, &text)
    }

    /// Completes what was interrupted. The lock is held.
    fn complete(&self, key: &SessionKey) -> Result<(Recovery, Option<Checkpoint>)> {
        let mut recovery = Recovery {
            swept: self.sweep(key)?,
            ..Recovery::default()
        };
        let latest = self.newest(key)?;
        recovery.passed_over = latest.passed_over;
        if let Some(newest) = &latest.checkpoint {
            let id = newest.meta.checkpoint_id;
            if self.pointer(key) != Some(pointer_to(id)) {
                self.point(key, id)?;
                recovery.pointer_moved = Some(id);
            }
        }
        let parts = self.parts(key);
        for (part, reason) in parts.stale(created(latest.checkpoint.as_ref())) {
            parts.set_aside(part)?;
            recovery.set_aside.push(SetAside { part, reason });
        }
        recovery.retired = self.retire(key)?;
        Ok((recovery, latest.checkpoint))
    }

    /// Removes what interrupted writes left.
    fn sweep(&self, key: &SessionKey) -> Result<u32> {
        let checkpoints = self.disk.sweep(&self.folder(key))?;
        Ok(checkpoints + self.disk.sweep(&self.parts(key).folder)?)
    }

    /// Removes checkpoints older than those kept. Only those that can be read
    /// count. Of damaged ones as many again are kept, and all that are newer
    /// than the oldest good one: somebody may still mend them.
    fn retire(&self, key: &SessionKey) -> Result<Vec<CheckpointId>> {
        let keep = self.policy.keep.max(1) as usize;
        let ids = self.ids(key)?;
        let mut retired = Vec::new();
        if ids.len() <= keep {
            return Ok(retired);
        }
        let (mut good, mut damaged) = (0, 0);
        for id in ids {
            let surplus = match self.read(key, id) {
                Ok(Some(_)) => {
                    good += 1;
                    good > keep
                }
                Err(Error::Damaged { .. }) => {
                    damaged += 1;
                    damaged > keep && good >= keep
                }
                // Gone, or the disk refuses it: what it holds is not known.
                Ok(None) | Err(_) => false,
            };
            if surplus {
                retired.push(id);
            }
        }
        let folder = self.folder(key);
        for id in retired.iter().rev() {
            self.disk.remove(&folder.join(file_name(*id)))?;
        }
        Ok(retired)
    }
}

impl CheckpointStore for FileStore {
    fn recover(&self, key: &SessionKey) -> Result<Recovery> {
        // A session without a trace needs no folder.
        if !self.folder(key).is_dir() && !self.parts(key).folder.is_dir() {
            return Ok(Recovery::default());
        }
        let _lock = self.lock(key)?;
        Ok(self.complete(key)?.0)
    }

    fn state(&self, key: &SessionKey) -> Result<Option<State>> {
        let bundled = created(self.newest(key)?.checkpoint.as_ref());
        Ok(self.parts(key).state(bundled))
    }

    fn save_state(&self, key: &SessionKey, state: &State) -> Result<()> {
        let _lock = self.lock(key)?;
        self.parts(key)
            .save(state, || Ok(created(self.newest(key)?.checkpoint.as_ref())))
    }

    fn write(&self, key: &SessionKey, mut draft: Draft) -> Result<Written> {
        if draft.session_key() != key {
            return Err(Error::OtherSession {
                of: draft.session_key().clone(),
                key: key.clone(),
            });
        }
        let _lock = self.lock(key)?;
        // Also the name of one that was deleted since is not used again:
        // entries of the session may refer to it.
        let named = self.pointer(key).map(|pointer| pointer.checkpoint_id);
        let (mut recovery, last) = self.complete(key)?;
        let parts = self.parts(key);
        let bundled = created(last.as_ref());
        let older = parts.take_over(draft.session_file(), draft.at(), || Ok(bundled))?;
        draft.carry(&older, &self.policy.capture);
        if let Some(last) = &last
            && draft.repeats(last, &self.policy)
        {
            return Ok(Written {
                outcome: Outcome::Unchanged(last.meta.checkpoint_id),
                recovery,
            });
        }

        let highest = self.ids(key)?.first().copied().max(named);
        let id = highest.map_or(CheckpointId::FIRST, CheckpointId::next);
        let previous = last.map(|last| last.meta.checkpoint_id);
        let checkpoint = draft.numbered(id, previous);
        let path = self.folder(key).join(file_name(id));
        self.disk.replace(&path, checkpoint.to_yaml().as_bytes())?;
        self.point(key, id)?;
        parts.reset()?;
        recovery.retired.extend(self.retire(key)?);
        Ok(Written {
            outcome: Outcome::Stored(Box::new(checkpoint)),
            recovery,
        })
    }

    fn latest(&self, key: &SessionKey) -> Result<Latest> {
        self.newest(key)
    }

    fn list(&self, key: &SessionKey) -> Result<Vec<Listed>> {
        let mut list = Vec::new();
        for id in self.ids(key)? {
            match self.read(key, id) {
                Ok(None) => {}
                Ok(Some(checkpoint)) => list.push(Listed {
                    id,
                    checkpoint: Ok(checkpoint),
                }),
                Err(error) => list.push(Listed {
                    id,
                    checkpoint: Err(error),
                }),
            }
        }
        Ok(list)
    }

    fn get(&self, key: &SessionKey, id: CheckpointId) -> Result<Checkpoint> {
        self.read(key, id)?.ok_or_else(|| Error::NoSuchCheckpoint {
            key: key.clone(),
            id,
        })
    }
}

fn file_name(id: CheckpointId) -> String {
    format!("{id}.yaml")
}

fn pointer_to(id: CheckpointId) -> Pointer {
    Pointer {
        checkpoint_id: id,
        path: file_name(id),
    }
}

/// When the checkpoint was made.
fn created(checkpoint: Option<&Checkpoint>) -> Option<Millis> {
    checkpoint.and_then(|checkpoint| Millis::parse_iso(&checkpoint.meta.created_at))
}
