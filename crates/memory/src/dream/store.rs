//! The durable part: candidates, changes, the lock.
//!
//! A change of the memory touches several files. It is written down as a whole
//! before the first of them is touched, and counts as done when the state says
//! so; what a crash leaves in between is completed by whoever comes next.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::civil::Date;
use longhaul_transcript::durable;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, Review, Status};
use super::diff::taken_back;
use super::promote::{PageChange, Pages, Planned, Standing, Turn, find, updated, with_updated};
use super::staging;
use super::trigger::LastRun;
use crate::files::{DECISIONS, DREAMS, MEMORY, MemoryFolder, PROJECT};
use crate::{Error, Result};

/// The dreams of one workspace.
#[derive(Debug)]
pub struct Dreams<'a> {
    folder: PathBuf,
    pub(super) memory: &'a MemoryFolder,
}

/// Keeps other processes from dreaming in the same workspace while it lives.
#[derive(Debug)]
pub struct DreamLock {
    _file: File,
    told: Option<String>,
    completed: Option<String>,
}

impl DreamLock {
    /// What the user should know: that the state was damaged, and what that cost.
    pub fn told(&self) -> Option<&str> {
        self.told.as_deref()
    }

    /// What an interrupted command had begun, and what became of it now.
    pub fn completed(&self) -> Option<&str> {
        self.completed.as_deref()
    }
}

/// What is known about candidates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    version: u32,
    /// The number of the last change that is complete.
    last_change: u32,
    pub(super) candidates: Vec<Candidate>,
    /// The last line of each log that a model was shown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) shown: BTreeMap<Date, usize>,
}

/// One change of the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Its number, from 1.
    pub number: u32,
    /// When.
    pub at: Timestamp,
    /// The candidate that was promoted, or whose promotion was taken back.
    pub candidate: String,
    /// The change that this one takes back.
    pub undoes: Option<u32>,
    /// The files.
    pub pages: Vec<PageChange>,
    /// The candidates.
    pub turns: Vec<Turn>,
}

const VERSION: u32 = 1;

const STATE: &str = "state.json";
/// The same once more, for when the first is damaged.
const COPY: &str = "state.copy.json";

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

    /// Takes the lock: one dream at a time.
    pub fn lock(&self) -> Result<DreamLock> {
        durable::create_folder(&self.folder).map_err(Error::write)?;
        let path = self.folder.join(".dreaming");
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(&path).map_err(Error::io("lock", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Dreaming {
                    workspace: self.memory.root().to_owned(),
                });
            }
            // A file system without locks: refusing would make it useless.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
        let told = self.mend()?;
        let mut lock = DreamLock {
            _file: file,
            told,
            completed: None,
        };
        lock.completed = self.complete(&lock)?;
        Ok(lock)
    }

    /// Every candidate there ever was, in the order found.
    pub fn candidates(&self) -> Result<Vec<Candidate>> {
        Ok(self.state()?.candidates)
    }

    /// The last dream.
    pub fn last_run(&self) -> Result<Option<LastRun>> {
        self.read("last_run.json")
    }

    /// The state: of a damaged one its copy, until it is mended.
    pub(super) fn state(&self) -> Result<State> {
        let state: State = match self.read(STATE) {
            Err(Error::Damaged { path, reason }) => match self.read(COPY) {
                Ok(Some(copy)) => copy,
                _ => {
                    let reason = format!(
                        "{reason}; there is no copy: without it nobody knows what was rejected"
                    );
                    return Err(Error::Damaged { path, reason });
                }
            },
            Ok(Some(state)) => state,
            // Whoever took it away has not taken the changes back.
            Ok(None) => State {
                last_change: self.newest_change()?,
                ..State::default()
            },
            Err(error) => return Err(error),
        };
        if state.version > VERSION {
            return Err(Error::Damaged {
                path: self.folder.join(STATE),
                reason: format!(
                    "it is of version {}, newer than this program",
                    state.version
                ),
            });
        }
        Ok(state)
    }

    /// Shows the candidates in `DREAMS.md` and writes them down. What is as it
    /// was is not written again. The page comes first, since it is made from the
    /// state and counts for nothing: where one of them cannot be written, nothing
    /// has changed.
    pub(super) fn save(&self, _: &DreamLock, state: &mut State) -> Result<()> {
        state.version = VERSION;
        let is_new = self.state()? != *state;
        let file = self.memory.read(DREAMS)?;
        let mut shown = false;
        if file.is_some() || !state.candidates.is_empty() {
            let part = staging::render(&state.candidates);
            let text =
                staging::spliced(file.as_deref(), &part).map_err(|reason| Error::Damaged {
                    path: self.memory.root().join(DREAMS),
                    reason,
                })?;
            if file.as_deref() != Some(text.as_str()) {
                self.memory.replace(DREAMS, &text)?;
                shown = true;
            }
        }
        if !is_new {
            self.keep_copy(state);
            return Ok(());
        }
        let written = self.write(STATE, state);
        if written.is_err() && shown {
            // If this fails too, the next command shows what is so.
            let _ = match &file {
                Some(text) => self.memory.replace(DREAMS, text),
                None => self.memory.remove(DREAMS),
            };
        }
        if written.is_ok() {
            self.keep_copy(state);
        }
        written
    }

    /// Keeps a copy of the state. What is written down is so without one; an
    /// older one would bring back what is no longer so.
    fn keep_copy(&self, state: &State) {
        let is_kept = matches!(self.read::<State>(COPY), Ok(Some(copy)) if copy == *state);
        if !is_kept && self.write(COPY, state).is_err() {
            let _ = fs::remove_file(self.folder.join(COPY));
        }
    }

    /// Sets a damaged state aside and puts its copy in its place. Without one it
    /// begins again: what was promoted stands in the memory, what was rejected
    /// is forgotten.
    fn mend(&self) -> Result<Option<String>> {
        let Err(Error::Damaged { path, reason }) = self.read::<State>(STATE) else {
            return Ok(None);
        };
        let aside = (1..)
            .map(|number| self.folder.join(format!("{STATE}.damaged-{number}")))
            .find(|aside| !aside.exists())
            .expect("some number is free");
        // It stays where it is until there is something in its place.
        fs::copy(&path, &aside).map_err(Error::io("copy", &path))?;
        let (state, came) = match self.read::<State>(COPY) {
            Ok(Some(copy)) => (copy, "its copy took its place, and nothing is forgotten"),
            _ => (
                State {
                    version: VERSION,
                    last_change: self.newest_change()?,
                    ..State::default()
                },
                "there is no copy: what was rejected is forgotten and may be staged again, what \
                 was promoted stands in the memory and can no longer be undone here",
            ),
        };
        self.write(STATE, &state)?;
        Ok(Some(format!(
            "{} was damaged ({reason}) and lies at {}; {came}",
            path.display(),
            aside.display()
        )))
    }

    /// The number of the newest change that is written down.
    fn newest_change(&self) -> Result<u32> {
        let folder = self.folder.join("changes");
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(Error::io("read", &folder))?,
        };
        let number = |entry: fs::DirEntry| -> Option<u32> {
            let name = entry.file_name();
            name.to_str()?.strip_suffix(".json")?.parse().ok()
        };
        Ok(entries.flatten().filter_map(number).max().unwrap_or(0))
    }

    pub(super) fn pages(&self) -> Result<Pages> {
        Ok(Pages {
            memory: self.memory.read(MEMORY)?,
            project: self.memory.read(PROJECT)?,
            decisions: self.memory.read(DECISIONS)?,
        })
    }

    /// Carries out a planned promotion.
    pub(super) fn carry_out(
        &self,
        lock: &DreamLock,
        planned: Planned,
        candidate: &str,
        at: Timestamp,
    ) -> Result<Change> {
        let state = self.state()?;
        let change = Change {
            number: state.last_change + 1,
            at,
            candidate: candidate.to_owned(),
            undoes: None,
            pages: planned.pages,
            turns: planned.turns,
        };
        self.make(lock, &change)?;
        Ok(change)
    }

    /// Takes the latest promotion back that was not taken back yet.
    pub fn undo(&self, lock: &DreamLock, at: Timestamp) -> Result<Change> {
        let state = self.state()?;
        let latest = self
            .to_undo(state.last_change)?
            .ok_or(Error::NothingToUndo)?;
        let mut pages = Vec::new();
        for page in &latest.pages {
            let now = self.memory.read(&page.file)?;
            let was = page.before.as_deref().unwrap_or_default();
            let made = page.after.as_deref().unwrap_or_default();
            let back = match now.as_deref() {
                None => None,
                // A time that somebody else has set since stays as it is.
                Some(now) => match updated(now) {
                    Some(time) if updated(made) != Some(time) => {
                        taken_back(&with_updated(was, time), &with_updated(made, time), now)
                    }
                    _ => taken_back(was, made, now),
                },
            };
            let Some(back) = back else {
                return Err(Error::ChangedSince {
                    path: self.memory.root().join(&page.file),
                    candidate: latest.candidate,
                });
            };
            // A file that the promotion made goes again, if nothing is in it.
            let goes = page.before.is_none() && back.trim().is_empty();
            pages.push(PageChange {
                file: page.file.clone(),
                before: now,
                after: (!goes).then_some(back),
            });
        }
        let mut turns = Vec::new();
        for turn in &latest.turns {
            let now = find(&state.candidates, &turn.id)?;
            turns.push(Turn {
                id: turn.id.clone(),
                before: Standing {
                    status: now.status.clone(),
                    valid_until: now.valid_until,
                },
                after: turn.before.clone(),
            });
        }
        let change = Change {
            number: state.last_change + 1,
            at,
            candidate: latest.candidate,
            undoes: Some(latest.number),
            pages,
            turns,
        };
        self.make(lock, &change)?;
        Ok(change)
    }

    /// The latest promotion that stands.
    fn to_undo(&self, last: u32) -> Result<Option<Change>> {
        let mut undone = Vec::new();
        for number in (1..=last).rev() {
            let Some(change) = self.change(number)? else {
                continue;
            };
            match change.undoes {
                Some(other) => undone.push(other),
                None if undone.contains(&number) => {}
                None => return Ok(Some(change)),
            }
        }
        Ok(None)
    }

    /// Rejects a staged candidate: it never comes back. What waited before it
    /// and had given way to it waits again.
    pub fn reject(&self, lock: &DreamLock, id: &str, on: Date) -> Result<()> {
        let mut state = self.state()?;
        let rejected = find(&state.candidates, id)?.clone();
        if rejected.status != Status::Staged {
            return Err(Error::NotStaged {
                id: id.to_owned(),
                status: rejected.status.name(),
            });
        }
        for candidate in &mut state.candidates {
            if candidate.id == id {
                candidate.status = Status::Rejected { on };
            }
            // Nothing contradicts what nobody wants.
            candidate.contradicts.retain(|other| other != id);
            let gave_way = match &candidate.status {
                Status::Superseded { by: Some(by), .. } => by == id,
                Status::Superseded { by: None, .. } => {
                    let ended = candidate.ended.as_ref();
                    rejected.replaces.contains(&candidate.id)
                        && ended.is_some()
                        && ended == rejected.evidence.first()
                }
                _ => false,
            };
            if gave_way {
                candidate.status = Status::Staged;
                candidate.valid_until = None;
                candidate.ended = None;
            }
        }
        self.save(lock, &mut state)
    }

    /// Gives a staged candidate another text, in a person's own words.
    pub fn reword(&self, lock: &DreamLock, id: &str, text: &str) -> Result<()> {
        let mut state = self.state()?;
        let status = find(&state.candidates, id)?.status.clone();
        if status != Status::Staged {
            return Err(Error::NotStaged {
                id: id.to_owned(),
                status: status.name(),
            });
        }
        let text = crate::provenance::one_line(&self.memory.redacted(text));
        for candidate in state.candidates.iter_mut().filter(|one| one.id == id) {
            candidate.wording = Some(text.clone());
            candidate.review = Some(Review::Edited);
        }
        self.save(lock, &mut state)
    }

    fn make(&self, lock: &DreamLock, change: &Change) -> Result<()> {
        for page in &change.pages {
            if self.memory.read(&page.file)? != page.before {
                return Err(Error::ChangedSince {
                    path: self.memory.root().join(&page.file),
                    candidate: change.candidate.clone(),
                });
            }
        }
        let folder = self.folder.join("changes");
        durable::create_folder(&folder).map_err(Error::write)?;
        self.write(&name(change.number), change)?;
        let Err(error) = self.finish(lock, change) else {
            return Ok(());
        };
        // Whoever is told that it failed must not find it done later.
        let is_done = self
            .state()
            .is_ok_and(|state| state.last_change >= change.number);
        match is_done || self.forget(change).is_err() {
            true => Err(Error::Unfinished {
                candidate: change.candidate.clone(),
                reason: error.to_string(),
            }),
            false => Err(error),
        }
    }

    /// Takes back what was made of a change, and the change with it.
    fn forget(&self, change: &Change) -> Result<()> {
        for page in &change.pages {
            if self.memory.read(&page.file)? == page.after {
                self.put(page, &page.before)?;
            }
        }
        let path = self.folder.join(name(change.number));
        fs::remove_file(&path).map_err(Error::io("remove", &path))
    }

    /// Completes what a crash left, and says so.
    fn complete(&self, lock: &DreamLock) -> Result<Option<String>> {
        let state = self.state()?;
        let Some(change) = self.change(state.last_change + 1)? else {
            return Ok(None);
        };
        let what = match change.undoes {
            None => format!("the promotion of {}", change.candidate),
            Some(_) => format!("the undoing of {}", change.candidate),
        };
        let mut foreign = None;
        for page in &change.pages {
            let now = self.memory.read(&page.file)?;
            if now != page.before && now != page.after {
                foreign = Some(page.file.clone());
            }
        }
        let Some(foreign) = foreign else {
            self.finish(lock, &change)?;
            return Ok(Some(format!(
                "{what}, which had been interrupted, was completed"
            )));
        };
        // Somebody has written since: what was made of it is taken back where
        // that is possible, and the change is forgotten.
        self.forget(&change)?;
        Ok(Some(format!(
            "{what}, which had been interrupted, was given up: {foreign} was changed since"
        )))
    }

    fn finish(&self, lock: &DreamLock, change: &Change) -> Result<()> {
        for page in &change.pages {
            if self.memory.read(&page.file)? != page.after {
                self.put(page, &page.after)?;
            }
        }
        let mut state = self.state()?;
        for turn in &change.turns {
            for candidate in state.candidates.iter_mut().filter(|one| one.id == turn.id) {
                candidate.status = turn.after.status.clone();
                candidate.valid_until = turn.after.valid_until;
            }
        }
        if change.undoes.is_some() {
            // Whoever took it back would be surprised to find it again.
            let taken = state.candidates.iter_mut();
            for one in taken.filter(|one| one.id == change.candidate) {
                one.review = Some(Review::TakenBack);
            }
        }
        state.last_change = change.number;
        self.save(lock, &mut state)
    }

    fn put(&self, page: &PageChange, text: &Option<String>) -> Result<()> {
        match text {
            Some(text) => self.memory.replace(&page.file, text),
            None => self.memory.remove(&page.file),
        }
    }

    fn change(&self, number: u32) -> Result<Option<Change>> {
        self.read(&name(number))
    }

    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.folder.join(name);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(Error::io("read", &path))?,
        };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| Error::Damaged {
                path,
                reason: format!("line {}: {error}", error.line()),
            })
    }

    pub(super) fn write(&self, name: &str, value: &impl Serialize) -> Result<()> {
        durable::create_folder(&self.folder).map_err(Error::write)?;
        let path = self.folder.join(name);
        let mut text = serde_json::to_string_pretty(value).map_err(|error| Error::Damaged {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        text.push('\n');
        durable::replace(&path, &mut |out| out.write_all(text.as_bytes())).map_err(Error::write)
    }
}

fn name(number: u32) -> String {
    format!("changes/{number:06}.json")
}
