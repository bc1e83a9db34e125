//! Promotions that are taken back: the latest one, or any by its number.
//!
//! Those that changed the same candidates since go first, so that no pointer is
//! put back to what is no longer there. What was edited by hand keeps no undo
//! from being done; it stays and is named.

use jiff::Timestamp;
use longhaul_tokens::ContentKind;

use super::{DreamLock, Dreams};
use crate::dream::change::{Change, Edit, Left, Part, Turn};
use crate::dream::pages::Pages;
use crate::dream::settings::Settings;
use crate::dream::state::State;
use crate::files::MEMORY;
use crate::{Error, Result};

/// A promotion that was made.
#[derive(Debug)]
pub struct Past {
    /// The change.
    pub change: Change,
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

impl State {
    /// Promotions that stand and changed one of the same candidates later, the
    /// latest first.
    fn upon(&self, change: &Change) -> Vec<u32> {
        let ours = |turn: &Turn| change.turns.iter().any(|own| own.id == turn.id);
        let later = self.promotions();
        later
            .take_while(|later| later.number > change.number)
            .filter(|later| self.undone_by(later.number).is_none())
            .filter(|later| later.turns.iter().any(ours))
            .map(|later| later.number)
            .collect()
    }

    /// What takes a promotion back: its own edits reversed, and then the files and
    /// headings that stayed for it when those that made them were taken back.
    fn reversed(&self, change: &Change) -> Vec<Edit> {
        // What was made later stands below what was made before it, and goes first.
        let undone = self.changes.iter().filter(|one| {
            let by = self.undone_by(one.number);
            by.is_some_and(|by| by > change.number)
        });
        let shared = undone.flat_map(|undone| &undone.edits);
        let shared = shared.filter(|edit| edit.is_shared());
        let edits: Vec<&Edit> = shared.chain(&change.edits).collect();
        edits.into_iter().rev().map(Edit::reversed).collect()
    }
}

impl Dreams<'_> {
    /// Every promotion that was made, the latest first.
    pub fn past(&self, settings: &Settings<'_>) -> Result<Vec<Past>> {
        let state = self.state()?;
        let past = state.promotions().map(|change| Past {
            change: change.clone(),
            undoing: match state.undone_by(change.number) {
                Some(by) => Undoing::Done(by),
                None => match self.without(&state, change, settings, change.at) {
                    Ok(undone) => Undoing::Possible(undone.left),
                    Err(error) => Undoing::Refused(error),
                },
            },
        });
        Ok(past.collect())
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
        let is_meant = |one: &&Change| match number {
            Some(number) => one.number == number,
            None => state.undone_by(one.number).is_none(),
        };
        let change = state.promotions().find(is_meant);
        let change = change.ok_or(match number {
            Some(number) => Error::NoChange { number },
            None => Error::NothingToUndo,
        })?;
        let number = change.number;
        if let Some(by) = state.undone_by(number) {
            return Err(Error::TakenBack { number, by });
        }
        let undone = self.without(&state, change, settings, at)?;
        Ok(Undone {
            change: self.make(lock, state, undone.change)?,
            left: undone.left,
        })
    }

    /// What taking a promotion back would do.
    fn without(
        &self,
        state: &State,
        change: &Change,
        settings: &Settings<'_>,
        at: Timestamp,
    ) -> Result<Undone> {
        let first = state.upon(change);
        if !first.is_empty() {
            let number = change.number;
            return Err(Error::BuiltUpon { number, first });
        }
        let before = self.pages()?;
        let done = |edits: &[Edit]| {
            let mut pages = before.clone();
            pages.apply(edits);
            pages
        };
        let mut edits = state.reversed(change);
        let mut pages = done(&edits);
        let text = pages.page(MEMORY).text();
        let tokens = settings.counter.count(&text, ContentKind::Prose);
        // Later ones have taken the room of what left for it: that stays without a
        // pointer.
        let made_room: Vec<&str> = match tokens <= settings.limits.max_tokens {
            true => Vec::new(),
            false => change.demoted().collect(),
        };
        if !made_room.is_empty() {
            edits.retain(|edit| {
                !matches!(&edit.part, Part::Pointer { id, .. } if made_room.contains(&id.as_str()))
            });
            pages = done(&edits);
        }
        let mut turns = Vec::new();
        for turn in &change.turns {
            let known = state.candidates.iter().find(|one| one.id == turn.id);
            // What has become something else since stays that.
            let stands = known.filter(|now| now.status == turn.after);
            if let Some(now) = stands.filter(|_| !made_room.contains(&turn.id.as_str())) {
                turns.push(Turn::of(now, turn.before.clone()));
            }
        }
        let mut left = self.moved(change, &before)?;
        left.extend(pages.left());
        let change = Change {
            number: state.next_change(),
            at,
            candidate: change.candidate.clone(),
            undoes: Some(change.number),
            pages: pages.changes(),
            edits,
            turns,
        };
        Ok(Undone { change, left })
    }

    /// Where a statement stands that a person moved to another page: there it is
    /// theirs.
    fn moved(&self, change: &Change, pages: &Pages) -> Result<Vec<Left>> {
        let heading = format!("### {}", change.candidate);
        let place = |text: &str| text.lines().position(|line| line.trim_end() == heading);
        let home = change.edits.iter().find_map(|edit| match &edit.part {
            Part::Statement { file, .. } => Some(file),
            _ => None,
        });
        if home.is_none_or(|home| place(&pages.page(home).text()).is_some()) {
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
