//! Promotions that are taken back: the latest one, or any by its number.
//!
//! Those that changed the same candidates since go first, so that no pointer is
//! put back to what is no longer there. What was edited by hand keeps no undo
//! from being done; it stays and is named.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use longhaul_tokens::ContentKind;

use super::{Change, DreamLock, Dreams, State};
use crate::dream::candidate::Status;
use crate::dream::promote::{PageChange, Standing, Turn};
use crate::dream::run::Settings;
use crate::dream::takeback::{Left, Promotion, taken_back};
use crate::files::MEMORY;
use crate::{Error, Result};

/// A promotion that was made.
#[derive(Debug)]
pub struct Past {
    /// The number of the change.
    pub number: u32,
    /// The change; none where it cannot be read.
    pub change: Option<Change>,
    /// Whether it can be taken back.
    pub undoing: Undoing,
}

/// Whether a promotion can be taken back.
#[derive(Debug)]
pub enum Undoing {
    /// It can. These lines were edited since and stay.
    Possible(Vec<Left>),
    /// It was, by this change.
    Done(u32),
    /// It cannot, and why.
    Refused(Error),
}

/// A promotion was taken back.
#[derive(Debug)]
pub struct Undone {
    /// The change that does so.
    pub change: Change,
    /// Lines that were edited since and stay.
    pub left: Vec<Left>,
}

/// All changes that are written down.
struct Changes {
    /// Promotions by their number; errors where they cannot be read.
    made: BTreeMap<u32, Result<Change>>,
    /// What took promotions back.
    undone: BTreeMap<u32, u32>,
}

impl Changes {
    /// Promotions that stand and changed one of the same candidates later, the
    /// latest first.
    fn upon(&self, change: &Change) -> Vec<u32> {
        let ours = |turn: &Turn| change.turns.iter().any(|own| own.id == turn.id);
        let later = self.made.range(change.number + 1..).rev();
        later
            .filter(|(number, _)| !self.undone.contains_key(number))
            .filter_map(|(number, change)| Some((*number, change.as_ref().ok()?)))
            .filter(|(_, later)| later.turns.iter().any(ours))
            .map(|(number, _)| number)
            .collect()
    }

    /// What promotions that were taken back did to a file.
    fn undone_to(&self, file: &str) -> Vec<&PageChange> {
        let undone = self.undone.keys();
        undone
            .filter_map(|number| self.made.get(number)?.as_ref().ok())
            .flat_map(|change| &change.pages)
            .filter(|page| page.file == file)
            .collect()
    }
}

impl Dreams<'_> {
    /// Every promotion that was made, the latest first.
    pub fn past(&self, settings: &Settings<'_>) -> Result<Vec<Past>> {
        let state = self.state()?;
        let changes = self.changes(&state);
        let mut all = Vec::new();
        for (number, change) in changes.made.iter().rev() {
            let undoing = match (changes.undone.get(number), change) {
                (Some(by), _) => Undoing::Done(*by),
                (None, Err(_)) => match self.change(*number) {
                    Err(error) => Undoing::Refused(error),
                    // Somebody has mended it a moment ago.
                    Ok(_) => continue,
                },
                (None, Ok(change)) => match self.without(&state, &changes, change, settings) {
                    Ok(undo) => Undoing::Possible(undo.left),
                    Err(error) => Undoing::Refused(error),
                },
            };
            all.push(Past {
                number: *number,
                change: change.as_ref().ok().cloned(),
                undoing,
            });
        }
        Ok(all)
    }

    /// Takes a promotion back: the latest that stands, or the one with this
    /// number.
    pub fn undo(
        &self,
        lock: &DreamLock,
        number: Option<u32>,
        at: Timestamp,
        settings: &Settings<'_>,
    ) -> Result<Undone> {
        let state = self.state()?;
        let mut changes = self.changes(&state);
        let number = match number {
            Some(number) => number,
            None => {
                let mut made = changes.made.keys().rev();
                let stands = |number: &&u32| !changes.undone.contains_key(number);
                *made.find(stands).ok_or(Error::NothingToUndo)?
            }
        };
        if let Some(by) = changes.undone.get(&number) {
            return Err(Error::TakenBack { number, by: *by });
        }
        let change = changes.made.remove(&number);
        let change = change.ok_or(Error::NoChange { number })??;
        let undo = self.without(&state, &changes, &change, settings)?;
        let change = Change {
            number: state.last_change + 1,
            at,
            candidate: change.candidate,
            undoes: Some(number),
            pages: undo.pages,
            turns: undo.turns,
        };
        self.make(lock, &change)?;
        Ok(Undone {
            change,
            left: undo.left,
        })
    }

    fn changes(&self, state: &State) -> Changes {
        let mut changes = Changes {
            made: BTreeMap::new(),
            undone: BTreeMap::new(),
        };
        for number in 1..=state.last_change {
            match self.change(number) {
                Ok(None) => {}
                Ok(Some(change)) => match change.undoes {
                    Some(other) => {
                        changes.undone.insert(other, number);
                    }
                    None => {
                        changes.made.insert(number, Ok(change));
                    }
                },
                // One bad file must not keep the others from being undone.
                Err(error) => {
                    changes.made.insert(number, Err(error));
                }
            }
        }
        changes
    }

    /// What taking a promotion back would do.
    fn without(
        &self,
        state: &State,
        changes: &Changes,
        change: &Change,
        settings: &Settings<'_>,
    ) -> Result<Undo> {
        let number = change.number;
        let first = changes.upon(change);
        if !first.is_empty() {
            return Err(Error::BuiltUpon { number, first });
        }
        let is_known = |id: &str| state.candidates.iter().any(|one| one.id == id);
        if !is_known(&change.candidate) {
            let candidate = change.candidate.clone();
            return Err(Error::Forgotten { number, candidate });
        }
        let undo = self.unmade(state, changes, change, &HashSet::new())?;
        let has_room = |undo: &Undo| {
            let pages = undo.pages.iter();
            let memory = pages.filter(|page| page.file == MEMORY);
            let mut texts = memory.filter_map(|page| page.after.as_deref());
            texts.all(|text| {
                settings.counter.count(text, ContentKind::Prose) <= settings.limits.max_tokens
            })
        };
        let made_room = |turn: &&Turn| matches!(turn.after.status, Status::Demoted { .. });
        let made_room: HashSet<&str> = change
            .turns
            .iter()
            .filter(made_room)
            .filter(|turn| turn.id != change.candidate)
            .map(|turn| turn.id.as_str())
            .collect();
        // Later ones have taken the room of what left: that stays without a
        // pointer.
        match made_room.is_empty() || has_room(&undo) {
            true => Ok(undo),
            false => self.unmade(state, changes, change, &made_room),
        }
    }

    /// Where a statement stands that a person moved to another page: there it is
    /// theirs.
    fn moved(&self, page: &PageChange, now: Option<&str>, id: &str) -> Result<Vec<Left>> {
        let heading = format!("### {id}");
        let place = |text: Option<&str>| {
            let mut lines = text.unwrap_or_default().lines();
            lines.position(|line| line.trim_end() == heading)
        };
        let was_made = place(page.before.as_deref()).is_none();
        if !was_made || place(page.after.as_deref()).is_none() || place(now).is_some() {
            return Ok(Vec::new());
        }
        let mut left = Vec::new();
        for file in self.memory.lasting()? {
            // What cannot be read is no reason not to take anything back.
            let text = self.memory.read(&file).ok().flatten();
            if let Some(at) = place(text.as_deref()).filter(|_| file != page.file) {
                left.push(Left {
                    file,
                    line: at + 1,
                    text: heading.clone(),
                });
            }
        }
        Ok(left)
    }

    /// What becomes of the files without a promotion, whatever the state says.
    pub(super) fn unmade_in_files(
        &self,
        change: &Change,
        kept_out: &HashSet<&str>,
    ) -> Result<Undo> {
        let state = self.state()?;
        self.unmade(&state, &self.changes(&state), change, kept_out)
    }

    fn unmade(
        &self,
        state: &State,
        changes: &Changes,
        change: &Change,
        kept_out: &HashSet<&str>,
    ) -> Result<Undo> {
        let mut undo = Undo {
            pages: Vec::new(),
            turns: Vec::new(),
            left: Vec::new(),
        };
        for page in &change.pages {
            let now = self.memory.read_exact(&page.file)?;
            undo.left
                .extend(self.moved(page, now.as_deref(), &change.candidate)?);
            // Whoever took the file away took this with it.
            let Some(now) = now else {
                continue;
            };
            let promotion = Promotion {
                chosen: &change.candidate,
                turns: &change.turns,
                kept_out,
            };
            let undone = changes.undone_to(&page.file);
            let back = taken_back(page, &now, promotion, &undone);
            undo.left.extend(back.left);
            if back.text == now {
                continue;
            }
            // A file that the promotion made goes again, if nothing is in it.
            let is_ours = page.before.is_none() || undone.iter().any(|one| one.before.is_none());
            let goes = is_ours && back.text.trim().is_empty();
            undo.pages.push(PageChange {
                file: page.file.clone(),
                before: Some(now),
                after: (!goes).then_some(back.text),
            });
        }
        for turn in &change.turns {
            let known = state.candidates.iter().find(|one| one.id == turn.id);
            // What has become something else since stays that.
            let stands = known.filter(|now| now.status == turn.after.status);
            if let Some(now) = stands.filter(|_| !kept_out.contains(turn.id.as_str())) {
                undo.turns.push(Turn {
                    id: turn.id.clone(),
                    before: Standing::of(now),
                    after: turn.before.clone(),
                });
            }
        }
        Ok(undo)
    }
}

/// What becomes of files and candidates without a promotion.
pub(super) struct Undo {
    pub(super) pages: Vec<PageChange>,
    turns: Vec<Turn>,
    pub(super) left: Vec<Left>,
}
