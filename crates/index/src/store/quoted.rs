//! What is kept and where it was said are one hit.
//!
//! A promotion writes a statement to a page of the memory with the lines of
//! logs that say it, and a pointer to that page into `MEMORY.md`. All three
//! have the same words: as three hits they would keep two others from being
//! found, and as three texts they would make those words look less rare than
//! they are. So a passage of a page that only quotes what is searched itself is
//! left out, and the place where it was said tells where and how it is kept.
//!
//! A statement is searched by itself where that place is not, where the place
//! no longer has the words, or where the statement was worded anew. A page is
//! also found for the lines that a person wrote between the others.

use std::collections::HashMap;
use std::sync::Arc;

use crate::record::Kept;

/// What the pages of an index quote.
#[derive(Debug, Default)]
pub(crate) struct Quoting {
    /// By slot of the place where it was said.
    pub(super) kept: HashMap<u32, Vec<Kept>>,
    /// The passages of pages, by slot.
    pub(super) passages: HashMap<u32, Passage>,
    /// The unit with a statement's beginning, by page and id.
    pub(super) by_id: HashMap<(String, String), u32>,
}

/// A passage of a page.
#[derive(Debug)]
pub(super) struct Passage {
    pub(super) unit: u32,
    pub(super) lines: Vec<Line>,
}

/// What a line of a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// One of a statement that was said in these units.
    Said(Arc<[u32]>),
    /// A pointer to a statement of a page.
    Pointer(String, String),
    /// The heading of a statement.
    Head,
    /// Another heading that promotions write, or nothing.
    Bare,
    /// A line of its own.
    Own,
}

impl Quoting {
    /// Whether all that a line says is found elsewhere.
    fn is_elsewhere(&self, line: &Line, allowed: &[bool]) -> bool {
        match line {
            Line::Head | Line::Bare => true,
            Line::Own => false,
            Line::Said(units) => units.iter().any(|unit| allowed[*unit as usize]),
            Line::Pointer(page, id) => {
                let known = self.by_id.get(&(page.clone(), id.clone()));
                known.is_some_and(|unit| allowed[*unit as usize])
            }
        }
    }

    /// Takes the passages out that say nothing which is not found elsewhere.
    pub(crate) fn leave_out(&self, allowed: &mut [bool]) {
        let says_nothing = |passage: &&Passage| {
            let mut lines = passage.lines.iter();
            lines.all(|line| self.is_elsewhere(line, allowed))
        };
        let passages = self.passages.values().filter(says_nothing);
        let units: Vec<u32> = passages.map(|passage| passage.unit).collect();
        for unit in units {
            allowed[unit as usize] = false;
        }
    }

    /// Whether a slot is a passage of a page with something promoted in it.
    pub(crate) fn was_promoted(&self, slot: u32) -> bool {
        let promoted = |line: &Line| !matches!(line, Line::Bare | Line::Own);
        let passage = self.passages.get(&slot);
        passage.is_some_and(|passage| passage.lines.iter().any(promoted))
    }

    /// The lines of a passage that say what is found nowhere else.
    pub(crate) fn own_lines<'a>(
        &'a self,
        slot: u32,
        text: &'a str,
        allowed: &'a [bool],
    ) -> impl Iterator<Item = &'a str> {
        let lines = self.passages.get(&slot).into_iter();
        let lines = text.lines().zip(lines.flat_map(|passage| &passage.lines));
        let own = lines.filter(|(_, what)| !self.is_elsewhere(what, allowed));
        own.map(|(line, _)| line)
    }

    /// What quotes a slot.
    pub(crate) fn kept(&self, slot: u32) -> Vec<Kept> {
        self.kept.get(&slot).cloned().unwrap_or_default()
    }
}
