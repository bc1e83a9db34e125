//! Changes of the memory, carried out.
//!
//! A change touches several files. It is written down as a whole before the
//! first of them is touched, and counts as done when the state says so; what a
//! crash leaves in between is completed by whoever comes next. Its edits find their
//! places by themselves, so that completing is doing all of it again.

use std::path::Path;

use super::{DreamLock, Dreams};
use crate::dream::candidate::Review;
use crate::dream::change::{Change, PageChange};
use crate::dream::pages::Pages;
use crate::files::{DECISIONS, MEMORY, PROJECT};
use crate::{Error, Result};

impl Dreams<'_> {
    pub(in crate::dream) fn pages(&self) -> Result<Pages> {
        Pages::read(|file| self.memory.read_exact(file))
    }

    /// Carries a change out; one that fails has not happened.
    pub(in crate::dream) fn make(&self, lock: &DreamLock, change: Change) -> Result<Change> {
        let name = name(change.number);
        longhaul_files::create_folder(&self.folder.join("changes"))?;
        self.write(&name, &change)?;
        let mut written = Vec::new();
        let error = match self.finish(lock, &change, &mut written) {
            Ok(()) => {
                return Ok(Change {
                    pages: written,
                    ..change
                });
            }
            Err(error) => error,
        };
        // Whoever is told that it failed must not find it done later.
        let state = self.state();
        let is_done = state.is_ok_and(|state| state.last_change >= change.number);
        let is_gone = !is_done
            && self.put_back(&written).is_ok()
            && longhaul_files::remove(&self.folder.join(name)).is_ok();
        Err(match is_gone {
            true => error,
            false => Error::Unfinished {
                candidate: change.candidate,
                reason: error.to_string(),
            },
        })
    }

    /// Does what a change does, as far as it is not done.
    fn finish(
        &self,
        lock: &DreamLock,
        change: &Change,
        written: &mut Vec<PageChange>,
    ) -> Result<()> {
        let mut pages = self.pages()?;
        match change.undoes {
            None => pages.apply(&change.edits),
            Some(_) => pages.undo(&change.edits),
        }
        for page in pages.changes() {
            self.put(&page.file, &page.after)?;
            written.push(page);
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
            let undone = state.candidates.iter_mut();
            for one in undone.filter(|one| one.id == change.candidate) {
                one.review = Some(Review::TakenBack);
            }
        }
        state.last_change = change.number;
        self.save(lock, &mut state)
    }

    fn put(&self, file: &str, text: &Option<String>) -> Result<()> {
        match text {
            Some(text) => self.memory.replace_exact(file, text),
            None => self.memory.remove(file),
        }
    }

    /// Leaves the files as they were read, but for what others wrote since.
    fn put_back(&self, written: &[PageChange]) -> Result<()> {
        for page in written {
            if self.memory.read_exact(&page.file)? == page.after {
                self.put(&page.file, &page.before)?;
            }
        }
        Ok(())
    }

    /// What a crash left half done, and which command completes it, for those
    /// who only read: what they see may be half of a change. Nothing is changed.
    pub fn unfinished(&self) -> Result<Option<String>> {
        let number = self.state()?.last_change + 1;
        let what = match self.change(number) {
            Ok(None) => return Ok(None),
            Ok(Some(change)) => change.what(),
            Err(_) => "a change that cannot be read".to_owned(),
        };
        // Whoever holds the lock is about to complete it. The state is read
        // again, since that may have been done meanwhile.
        if self.is_locked() || self.state()?.last_change >= number {
            return Ok(None);
        }
        Ok(Some(format!(
            "{what} was interrupted, and {MEMORY} and the files in memories/ may have half of it; \
             `longhaul dream run` completes it, as does every other `longhaul dream` command that \
             writes"
        )))
    }

    /// Completes what a crash left, and says so.
    pub(super) fn complete(&self, lock: &DreamLock) -> Result<Option<String>> {
        let number = self.state()?.last_change + 1;
        let change = match self.change(number) {
            Err(Error::DamagedChange { path, reason, .. }) => {
                return self.give_up(&path, &reason).map(Some);
            }
            change => change?,
        };
        let Some(change) = change else {
            return Ok(None);
        };
        self.finish(lock, &change, &mut Vec::new())?;
        let what = change.what();
        Ok(Some(format!(
            "{what}, which had been interrupted, was completed"
        )))
    }

    /// Sets a change aside that was interrupted and of which nobody can read what
    /// it was to be, so that it is not in the way of all others.
    fn give_up(&self, path: &Path, reason: &str) -> Result<String> {
        let aside = self.aside(path);
        longhaul_files::rename(path, &aside)?;
        Ok(format!(
            "a change that had been interrupted cannot be read ({reason}) and lies at {}; it was \
             not completed: look whether {MEMORY}, {PROJECT} and {DECISIONS} are as they should be",
            aside.display()
        ))
    }

    /// A change that is written down.
    pub(super) fn change(&self, number: u32) -> Result<Option<Change>> {
        match self.read(&name(number)) {
            Err(Error::Damaged { path, reason }) => Err(Error::DamagedChange {
                path,
                number,
                reason,
            }),
            change => change,
        }
    }
}

fn name(number: u32) -> String {
    format!("changes/{number:06}.json")
}
