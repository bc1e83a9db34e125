//! Promotions that are taken back: the latest one, or any by its number.
//!
//! Those that changed the same candidates since go first, so that no pointer is
//! put back to what is no longer there. What was edited by hand keeps no undo
//! from being done; it stays and is named.

use std::collections::BTreeMap;

use jiff::Timestamp;
use longhaul_tokens::ContentKind;

use super::{DreamLock, Dreams};
use crate::dream::candidate::Status;
use crate::dream::change::{Change, Edit, Left, Standing, Turn};
use crate::dream::pages::Pages;
use crate::dream::settings::Settings;
use crate::dream::state::State;
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

    /// What taking a promotion back takes back: its own edits, and before them the
    /// files and headings that stayed for it when those that made them were taken back.
    fn edits<'a>(&'a self, change: &'a Change) -> impl Iterator<Item = &'a Edit> {
        let undone = self.undone.iter();
        let undone = undone.filter(|(_, by)| **by > change.number);
        let undone = undone.filter_map(|(number, _)| self.made.get(number)?.as_ref().ok());
        let shared = undone.flat_map(|change| &change.edits);
        let shared = shared.filter(|edit| edit.is_shared());
        shared.chain(&change.edits)
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
            edits: undo.edits,
            turns: undo.turns,
            pages: Vec::new(),
        };
        Ok(Undone {
            change: self.make(lock, change)?,
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
        let (before, mut edits) = (self.pages()?, Vec::new());
        edits.extend(changes.edits(change).cloned());
        let undone = |edits: &[Edit]| {
            let mut pages = before.clone();
            pages.undo(edits);
            pages
        };
        let has_room = |pages: &Pages| {
            let text = pages.page(MEMORY).map(|page| page.text());
            let tokens = settings
                .counter
                .count(&text.unwrap_or_default(), ContentKind::Prose);
            tokens <= settings.limits.max_tokens
        };
        let mut pages = undone(&edits);
        // Later ones have taken the room of what left for it: that stays without a
        // pointer.
        let made_room = |turn: &Turn| {
            turn.id != change.candidate && matches!(turn.after.status, Status::Demoted { .. })
        };
        let made_room: Vec<&str> = match has_room(&pages) {
            true => Vec::new(),
            false => {
                let turns = change.turns.iter().filter(|turn| made_room(turn));
                turns.map(|turn| turn.id.as_str()).collect()
            }
        };
        if !made_room.is_empty() {
            edits.retain(|edit| {
                !matches!(edit, Edit::RemovePointer { id, .. } if made_room.contains(&id.as_str()))
            });
            pages = undone(&edits);
        }
        let mut undo = Undo {
            left: self.moved(change, &before)?,
            turns: Vec::new(),
            edits,
        };
        undo.left.extend(pages.left());
        for turn in &change.turns {
            let known = state.candidates.iter().find(|one| one.id == turn.id);
            // What has become something else since stays that.
            let stands = known.filter(|now| now.status == turn.after.status);
            if let Some(now) = stands.filter(|_| !made_room.contains(&turn.id.as_str())) {
                undo.turns.push(Turn {
                    id: turn.id.clone(),
                    before: Standing::of(now),
                    after: turn.before.clone(),
                });
            }
        }
        Ok(undo)
    }

    /// Where a statement stands that a person moved to another page: there it is
    /// theirs.
    fn moved(&self, change: &Change, pages: &Pages) -> Result<Vec<Left>> {
        let heading = format!("### {}", change.candidate);
        let place = |text: &str| text.lines().position(|line| line.trim_end() == heading);
        let home = change.edits.iter().find_map(|edit| match edit {
            Edit::AddStatement { file, .. } => Some(file),
            _ => None,
        });
        let page = home.and_then(|home| pages.page(home));
        if page.is_none_or(|page| place(&page.text()).is_some()) {
            return Ok(Vec::new());
        }
        let mut left = Vec::new();
        for file in self.memory.lasting()? {
            // What cannot be read is no reason not to take anything back.
            let text = self.memory.read(&file).ok().flatten();
            if let Some(at) = text.as_deref().and_then(place) {
                left.push(Left {
                    file,
                    line: at + 1,
                    text: heading.clone(),
                });
            }
        }
        Ok(left)
    }
}

/// What becomes of files and candidates without a promotion.
struct Undo {
    edits: Vec<Edit>,
    turns: Vec<Turn>,
    left: Vec<Left>,
}
