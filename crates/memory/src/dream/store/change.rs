//! Changes of the memory: promotions, and what takes them back.
//!
//! A change touches several files. It is written down as a whole before the
//! first of them is touched, and counts as done when the state says so; what a
//! crash leaves in between is completed by whoever comes next.

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{DreamLock, Dreams};
use crate::dream::candidate::Review;
use crate::dream::promote::{PageChange, Pages, Planned, Turn};
use crate::dream::takeback::Left;
use crate::files::{DECISIONS, MEMORY, PROJECT};
use crate::{Error, Result};

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

impl Change {
    /// What it is, in words.
    fn what(&self) -> String {
        match self.undoes {
            None => format!("the promotion of {}", self.candidate),
            Some(_) => format!("the undoing of {}", self.candidate),
        }
    }
}

impl Dreams<'_> {
    pub(in crate::dream) fn pages(&self) -> Result<Pages> {
        Ok(Pages {
            memory: self.memory.read_exact(MEMORY)?,
            project: self.memory.read_exact(PROJECT)?,
            decisions: self.memory.read_exact(DECISIONS)?,
        })
    }

    /// Carries out a planned promotion.
    pub(in crate::dream) fn carry_out(
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

    pub(super) fn make(&self, lock: &DreamLock, change: &Change) -> Result<()> {
        for page in &change.pages {
            if self.memory.read_exact(&page.file)? != page.before {
                return Err(Error::ChangedSince {
                    path: self.memory.root().join(&page.file),
                    candidate: change.candidate.clone(),
                });
            }
        }
        let folder = self.folder.join("changes");
        longhaul_files::create_folder(&folder)?;
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

    /// Takes back what was made of a change, and the change with it. What others
    /// have written to the files meanwhile stays; lines of ours that they edited
    /// are named.
    fn forget(&self, change: &Change) -> Result<Vec<Left>> {
        let mut left = Vec::new();
        let mut edited = Vec::new();
        for page in &change.pages {
            let now = self.memory.read_exact(&page.file)?;
            if now == page.after {
                self.put(page, &page.before)?;
            } else if now != page.before {
                edited.push(page.clone());
            }
        }
        // Where an undo was begun, what it took out cannot be told from what
        // others did.
        if change.undoes.is_none() && !edited.is_empty() {
            let ours = Change {
                pages: edited,
                ..change.clone()
            };
            let back = self.unmade_in_files(&ours, &HashSet::new())?;
            for page in &back.pages {
                self.put(page, &page.after)?;
            }
            left = back.left;
        }
        let path = self.folder.join(name(change.number));
        longhaul_files::remove(&path)?;
        Ok(left)
    }

    /// Does the rest of an undo that was interrupted, in files that others have
    /// written to since: what is taken back already stays so.
    fn undo_again(&self, lock: &DreamLock, begun: &Change, made: &Change) -> Result<Vec<Left>> {
        let comes_back = |turn: &&Turn| begun.turns.iter().any(|own| own.id == turn.id);
        let turns = made.turns.iter();
        let kept_out = turns.filter(|turn| !comes_back(turn));
        let kept_out: HashSet<&str> = kept_out.map(|turn| turn.id.as_str()).collect();
        let back = self.unmade_in_files(made, &kept_out)?;
        let rest = Change {
            pages: back.pages,
            ..begun.clone()
        };
        self.write(&name(rest.number), &rest)?;
        self.finish(lock, &rest)?;
        Ok(back.left)
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
        let what = change.what();
        let mut foreign = None;
        for page in &change.pages {
            let now = self.memory.read_exact(&page.file)?;
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
        // Somebody has written since.
        let made = change.undoes.map(|number| self.change(number));
        let (became, left) = match made {
            Some(Ok(Some(made))) => ("completed;", self.undo_again(lock, &change, &made)?),
            _ => ("given up:", self.forget(&change)?),
        };
        let mut told =
            format!("{what}, which had been interrupted, was {became} {foreign} was changed since");
        for line in left {
            told.push_str(&format!(
                "; {}:{} was edited by hand and stays",
                line.file, line.line
            ));
        }
        Ok(Some(told))
    }

    fn finish(&self, lock: &DreamLock, change: &Change) -> Result<()> {
        for page in &change.pages {
            if self.memory.read_exact(&page.file)? != page.after {
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
            Some(text) => self.memory.replace_exact(&page.file, text),
            None => self.memory.remove(&page.file),
        }
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
