//! Texts with words in braces, and what files and programs show.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

/// Lines that one edit changes.
const EDITED_LINES: u64 = 3;

/// What the words in braces stand for.
pub(super) struct Words<'a> {
    lists: &'a BTreeMap<String, Vec<String>>,
    named: BTreeMap<String, String>,
    draw: Draw,
}

impl<'a> Words<'a> {
    pub(super) fn new(lists: &'a BTreeMap<String, Vec<String>>) -> Words<'a> {
        let draw = Draw::of("tideline");
        let named = BTreeMap::new();
        Words { lists, named, draw }
    }

    pub(super) fn name(&mut self, name: &str, text: impl Into<String>) {
        self.named.insert(name.to_owned(), text.into());
    }

    pub(super) fn fill(&mut self, text: &str) -> String {
        let mut draw = self.draw;
        let filled = self.filled(text, &mut draw);
        self.draw = draw;
        filled
    }

    /// Fills every text inside.
    pub(super) fn fill_all(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.fill(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.fill_all(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.fill_all(value)),
            _ => {}
        }
    }

    /// About so many lines of what `name` shows after so many edits: the same
    /// for the same file, but for what was edited.
    pub(super) fn text(&self, lines: &[String], name: &str, about: u64, edits: u64) -> String {
        let count = about / 2 + Draw::of(name).below(about.max(1));
        let lines = (0..count).map(|at| self.line(lines, name, at, edits));
        lines.collect()
    }

    /// What the next edit replaces, and by what.
    pub(super) fn edit(&self, lines: &[String], name: &str, edits: u64) -> [String; 2] {
        [edits, edits + 1].map(|after| {
            let places = edits * EDITED_LINES..(edits + 1) * EDITED_LINES;
            places.map(|at| self.line(lines, name, at, after)).collect()
        })
    }

    fn line(&self, lines: &[String], name: &str, at: u64, edits: u64) -> String {
        let is_edited = at / EDITED_LINES < edits;
        let mut draw = Draw::of(&format!("{name} {at} {is_edited}"));
        let line = &lines[draw.below(lines.len() as u64) as usize];
        self.filled(line, &mut draw) + "\n"
    }

    fn filled(&self, text: &str, draw: &mut Draw) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (name, further) = after.split_once('}').unwrap_or((after, ""));
            rest = further;
            // Writing to a string cannot fail.
            let _ = match (self.named.get(name), self.lists.get(name), name) {
                (Some(text), ..) => write!(out, "{text}"),
                (_, Some(list), _) => {
                    write!(out, "{}", list[draw.below(list.len() as u64) as usize])
                }
                (.., "n") => write!(out, "{}", 2 + draw.below(998)),
                (.., "hex") => write!(out, "{:08x}", draw.below(1 << 32)),
                // A brace of the text itself.
                _ => {
                    rest = after;
                    write!(out, "{{")
                }
            };
        }
        out.push_str(rest);
        out
    }
}

/// Numbers that follow from a text (SplitMix64), the same on every machine.
#[derive(Clone, Copy)]
struct Draw(u64);

impl Draw {
    fn of(text: &str) -> Draw {
        let hash = blake3::hash(text.as_bytes());
        let first = hash.as_bytes().first_chunk().expect("a hash has 32 bytes");
        Draw(u64::from_le_bytes(*first))
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % most.max(1)
    }
}
