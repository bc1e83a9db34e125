//! P: random lines of each section with their sources, for a reader.

use std::collections::BTreeMap;

use longhaul_transcript::EntryId;

use super::drive::{Running, shown};
use super::kept::{Kept, plain};
use super::sections::{Item, Section};
use super::source::Source;

/// A line of a summary and where it comes from.
#[derive(Debug, Clone)]
struct Line {
    session: String,
    text: String,
    /// Entries that it names or quotes, with what they show of it.
    sources: Vec<(String, String)>,
}

/// Lines by section.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<Section, Vec<Line>>);

/// Sources shown for a line.
const SOURCES: usize = 2;
/// Characters of a source around what was found.
const AROUND: usize = 160;

impl Lines {
    pub(super) fn of(source: &Source, session: &Running, kept: &Kept) -> Lines {
        let mut lines: BTreeMap<Section, Vec<Line>> = BTreeMap::new();
        let texts: Vec<(EntryId, String)> = session
            .file
            .iter()
            .filter(|entry| entry.message().is_some())
            .map(|entry| (entry.id.clone(), plain(&shown(entry))))
            .collect();
        for section in Section::ALL {
            for item in kept.sections.items(section) {
                if item.is_rest() || item.line.starts_with('(') {
                    continue;
                }
                lines.entry(section).or_default().push(Line {
                    session: source.name.clone(),
                    sources: sources(item, &texts),
                    text: item.text(),
                });
            }
        }
        Lines(lines)
    }

    pub(super) fn add(&mut self, other: Lines) {
        for (section, lines) in other.0 {
            let mine = self.0.entry(section).or_default();
            for line in lines {
                // One session says the same at several windows.
                let known =
                    |other: &Line| (&other.session, &other.text) == (&line.session, &line.text);
                if !mine.iter().any(known) {
                    mine.push(line);
                }
            }
        }
    }

    /// Prints so many lines of each section; all, if there are fewer.
    pub(super) fn print(&self, count: usize, seed: u64) {
        for (section, lines) in &self.0 {
            let mut order: Vec<usize> = (0..lines.len()).collect();
            let key = |at: &usize| blake3::hash(format!("{seed}/{at}").as_bytes()).to_hex();
            order.sort_by_cached_key(key);
            order.truncate(count);
            order.sort_unstable();
            println!(
                "\n{} ({} of {} lines)",
                section.heading(),
                order.len(),
                lines.len()
            );
            for (number, at) in order.into_iter().enumerate() {
                let line = &lines[at];
                println!("\n[{}] {}: {}", number + 1, line.session, line.text);
                for (entry, excerpt) in &line.sources {
                    println!("    {entry}: {excerpt}");
                }
                if line.sources.is_empty() {
                    println!("    no source found");
                }
            }
        }
    }
}

/// The entry that an item names by its id, else those that have its longest
/// piece of text.
fn sources(item: &Item, texts: &[(EntryId, String)]) -> Vec<(String, String)> {
    let text = plain(&item.text());
    let mut pieces: Vec<&str> = text
        .split(['`', '"', '“', '”', '(', ')', '·', '→', '←', '…'])
        .flat_map(|piece| piece.split(": "))
        .map(|piece| piece.trim_matches(|c: char| c.is_whitespace() || "-:;,[]#×".contains(c)))
        .filter(|piece| piece.chars().count() >= 4)
        .collect();
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.len()));
    let id = text
        .split_once('·')
        .and_then(|(_, rest)| rest.split_whitespace().next());
    let named = texts
        .iter()
        .filter(|(entry, _)| id.is_some_and(|id| entry.as_str().starts_with(id)));
    let excerpt = |text: &str| {
        let at = pieces
            .iter()
            .find_map(|piece| text.find(*piece))
            .unwrap_or(0);
        let from = text[..at].chars().count().saturating_sub(AROUND / 4);
        text.chars().skip(from).take(AROUND).collect::<String>()
    };
    let mut found: Vec<(String, String)> = named
        .take(1)
        .map(|(entry, text)| (entry.to_string(), excerpt(text)))
        .collect();
    for piece in pieces.iter().take(3) {
        // The newest entry that has it tells how it ended.
        let having = texts.iter().rev().filter(|(_, text)| text.contains(piece));
        for (entry, text) in having {
            if found.len() >= SOURCES {
                return found;
            }
            let id = entry.to_string();
            if found.iter().all(|(known, _)| *known != id) {
                found.push((id, excerpt(text)));
            }
        }
    }
    found
}
