//! Changes of the memory, carried out.
//!
//! A change touches several files. It is written down as a whole before the
//! first of them is touched, and counts as done when the state says so; what a
//! crash leaves in between is completed by whoever comes next. Its edits find their
//! places by themselves, so that completing is doing all of it again.

use super::{DreamLock, Dreams};
use crate::dream::candidate::Review;
use crate::dream::change::{Change, PageChange};
use crate::dream::pages::Pages;
use crate::dream::state::State;
use crate::files::MEMORY;
use crate::{Error, Result};

impl Dreams<'_> {
    pub(in crate::dream) fn pages(&self) -> Result<Pages> {
        Pages::read(|file| self.memory.read_exact(file))
    }

    /// Carries a change out; one that fails has not happened.
    pub(in crate::dream) fn make(
        &self,
        lock: &DreamLock,
        mut state: State,
        change: Change,
    ) -> Result<Change> {
        state.changes.push(change.clone());
        state.unfinished = true;
        self.note(&state)?;
        let mut written = Vec::new();
        let Err(error) = self.finish(lock, &mut state, &change, &mut written) else {
            return Ok(Change {
                pages: written,
                ..change
            });
        };
        // Whoever is told that it failed must not find it done later.
        let is_gone = self.put_back(&written).is_ok() && self.forget_begun().is_ok();
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
        state: &mut State,
        change: &Change,
        written: &mut Vec<PageChange>,
    ) -> Result<()> {
        let mut pages = self.pages()?;
        pages.apply(&change.edits);
        for page in pages.changes() {
            self.put(&page.file, &page.after)?;
            written.push(page);
        }
        for one in &mut state.candidates {
            if let Some(turn) = change.turns.iter().find(|turn| turn.id == one.id) {
                one.status = turn.after.clone();
            }
            // Whoever took it back would be surprised to find it again.
            if change.undoes.is_some() && one.id == change.candidate {
                one.review = Some(Review::TakenBack);
            }
        }
        state.unfinished = false;
        self.save(lock, state)
    }

    /// Forgets a change that was begun and put back.
    fn forget_begun(&self) -> Result<()> {
        let mut state = self.state()?;
        if std::mem::take(&mut state.unfinished) {
            state.changes.pop();
        }
        self.note(&state)
    }

    pub(super) fn put(&self, file: &str, text: &Option<String>) -> Result<()> {
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
        let begun = || Ok::<_, Error>(self.state()?.begun().map(Change::what));
        // Whoever holds the lock is about to complete it. The state is read
        // again, since that may have been done meanwhile.
        if begun()?.is_none() || self.is_locked() {
            return Ok(None);
        }
        Ok(begun()?.map(|what| {
            format!(
                "{what} was interrupted, and {MEMORY} and the files in memories/ may have half of \
                 it; `longhaul dream run` completes it, as does every other `longhaul dream` \
                 command that writes"
            )
        }))
    }

    /// Completes what a crash left, and says so.
    pub(super) fn complete(&self, lock: &DreamLock) -> Result<Option<String>> {
        let mut state = self.state()?;
        let Some(change) = state.begun().cloned() else {
            return Ok(None);
        };
        self.finish(lock, &mut state, &change, &mut Vec::new())?;
        let what = change.what();
        Ok(Some(format!(
            "{what}, which had been interrupted, was completed"
        )))
    }
}
