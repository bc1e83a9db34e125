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
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::{Shape, SqliteIndex};
use crate::error::IndexError;
use crate::page::{self, Place, Quote, Statement};
use crate::record::{Kept, RecordKind};

/// What the pages of an index quote.
#[derive(Debug, Default)]
pub(crate) struct Quoting {
    /// By slot of the place where it was said.
    kept: HashMap<u32, Vec<Kept>>,
    /// The passages of pages, by slot.
    passages: HashMap<u32, Passage>,
    /// The unit with a statement's beginning, by page and id.
    by_id: HashMap<(String, String), u32>,
}

/// A passage of a page.
#[derive(Debug)]
struct Passage {
    unit: u32,
    lines: Vec<Line>,
}

/// What a line of a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
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

impl SqliteIndex {
    /// What the pages quote; read once for each state of the index.
    pub(crate) fn quoting<'a>(&self, shape: &'a Shape) -> Result<&'a Quoting, IndexError> {
        if let Some(known) = shape.quoting.get() {
            return Ok(known);
        }
        let read = self.read_quoting(shape)?;
        Ok(shape.quoting.get_or_init(|| read))
    }

    fn read_quoting(&self, shape: &Shape) -> Result<Quoting, IndexError> {
        let mut quoting = Quoting::default();
        let pages = shape.sources.iter();
        let pages: Vec<_> = pages.filter(|source| page::is_page(&source.name)).collect();
        if pages.is_empty() {
            return Ok(quoting);
        }
        let mut places = Places::new(shape);
        for source in pages {
            for unit in source.units.clone() {
                let place = &shape.units[unit as usize];
                if place.kind != RecordKind::Memory as u8 {
                    continue;
                }
                for slot in place.slots.clone() {
                    let text = self.text_of(shape, slot)?;
                    let first = shape.extents[slot as usize].lines.0;
                    let mut lines: Vec<Line> = text.lines().map(Line::of).collect();
                    for statement in page::statements(&text, first) {
                        let mut said = Vec::new();
                        for quote in &statement.quotes {
                            if let Some(at) = places.of(self, quote)? {
                                said.push((at, quote));
                            }
                        }
                        let name = (source.name.clone(), statement.id.clone());
                        if !statement.id.is_empty() {
                            quoting.by_id.insert(name, unit);
                        }
                        mark(&mut lines, first, &text, &statement, &said);
                        quoting.keep(&source.name, &statement, &said);
                    }
                    quoting.passages.insert(slot, Passage { unit, lines });
                }
            }
        }
        Ok(quoting)
    }
}

/// A unit and its slot.
type At = (u32, u32);

impl Quoting {
    fn keep(&mut self, page: &str, statement: &Statement, said: &[(At, &Quote)]) {
        if statement.id.is_empty() {
            return;
        }
        let kept = Kept {
            source: page.to_owned(),
            lines: statement.lines,
            id: statement.id.clone(),
            text: statement.said.clone(),
            standing: statement.standing.clone(),
        };
        for ((_, slot), _) in said {
            let all = self.kept.entry(*slot).or_default();
            if all.last() != Some(&kept) {
                all.push(kept.clone());
            }
        }
    }
}

impl Line {
    fn of(line: &str) -> Line {
        let bare = line.trim();
        match page::pointed(line) {
            Some((page, id)) => Line::Pointer(page.to_owned(), id.to_owned()),
            None if page::begins(bare) => Line::Head,
            None if bare.is_empty() || page::is_title(bare) => Line::Bare,
            None => Line::Own,
        }
    }
}

/// Marks the lines of a statement that say only what was said elsewhere.
fn mark(lines: &mut [Line], first: u32, text: &str, statement: &Statement, said: &[(At, &Quote)]) {
    if said.is_empty() {
        return;
    }
    let units: Arc<[u32]> = said.iter().map(|((unit, _), _)| *unit).collect();
    let is_quoted = said
        .iter()
        .any(|(_, quote)| covers(&quote.words, &statement.said));
    for ((line, text), number) in lines.iter_mut().zip(text.lines()).zip(first..) {
        let quote = said.iter().any(|(_, quote)| quote.line == number);
        if quote || (is_quoted && statement.has(text, number)) {
            *line = Line::Said(Arc::clone(&units));
        }
    }
}

/// Whether a quote has all the words of a statement.
fn covers(quote: &str, said: &str) -> bool {
    let quote = words(quote);
    words(said)
        .split_whitespace()
        .all(|word| quote.contains(&format!(" {word} ")))
}

/// The words of a text, each between blanks: a page has its quotes on one line,
/// and what could be taken for a mark written otherwise.
fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.fold(String::from(" "), |mut all, word| {
        all.push_str(&word.to_lowercase());
        all.push(' ');
        all
    })
}

/// Where things were said.
struct Places<'a> {
    shape: &'a Shape,
    sources: HashMap<&'a str, usize>,
    entries: Option<HashMap<&'a str, Vec<u32>>>,
    /// Texts that were read.
    texts: HashMap<u32, String>,
}

impl<'a> Places<'a> {
    fn new(shape: &'a Shape) -> Places<'a> {
        let named = shape.sources.iter().enumerate();
        let named = named.map(|(at, source)| (source.name.as_str(), at));
        Places {
            shape,
            sources: named.collect(),
            entries: None,
            texts: HashMap::new(),
        }
    }

    /// The unit and slot that have the words of a quote, where it says.
    fn of(&mut self, index: &SqliteIndex, quote: &Quote) -> Result<Option<At>, IndexError> {
        let shape = self.shape;
        let units: Vec<u32> = match &quote.place {
            Place::Line(file, _) => match self.sources.get(file.as_str()) {
                Some(at) => shape.sources[*at].units.clone().collect(),
                None => Vec::new(),
            },
            Place::Entry(entry) => self.units_of(entry),
        };
        for unit in units {
            for slot in shape.units[unit as usize].slots.clone() {
                let (begin, end) = shape.extents[slot as usize].lines;
                let line = match &quote.place {
                    Place::Line(_, line) if !(begin..=end).contains(line) => continue,
                    Place::Line(_, line) => Some((line - begin) as usize),
                    Place::Entry(_) => None,
                };
                let text = match self.texts.entry(slot) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => place.insert(index.text_of(shape, slot)?),
                };
                let said = match line {
                    Some(at) => text.lines().nth(at).unwrap_or_default(),
                    None => text,
                };
                if words(said).contains(&words(&quote.words)) {
                    return Ok(Some((unit, slot)));
                }
            }
        }
        Ok(None)
    }

    fn units_of(&mut self, entry: &str) -> Vec<u32> {
        let shape = self.shape;
        let all = self.entries.get_or_insert_with(|| {
            let mut all: HashMap<&str, Vec<u32>> = HashMap::new();
            for (unit, place) in (0u32..).zip(&shape.units) {
                if !place.entry.is_empty() {
                    all.entry(&place.entry).or_default().push(unit);
                }
            }
            all
        });
        all.get(entry).cloned().unwrap_or_default()
    }
}
