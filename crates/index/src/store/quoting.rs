//! Reading what the pages of an index quote.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::quoted::{Line, Passage, Quoting};
use super::{Shape, SqliteIndex};
use crate::error::IndexError;
use crate::page::{self, Place, Quote, Statement};
use crate::record::{Kept, RecordKind};

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
