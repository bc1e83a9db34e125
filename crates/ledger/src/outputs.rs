//! What tools print that nobody repeats: the address of a preview, the commit
//! of a build, the id of a request.
//!
//! A result is mostly at the end of what a tool printed, on a line of its own,
//! behind words that say what it is. Lines that look alike are a listing, and
//! a listing can be had again. What is kept weighs little until somebody
//! speaks of it.

use crate::anchors::{about, label};
use crate::facts::{Anchor, AnchorKind, Provenance, Speaker};
use crate::ledger::{At, Ledger};
use crate::scan::{Found, scan};
use crate::words::choices::UPDATES;
use crate::words::{Words, shared};

/// Lines looked at, counted from the end.
const LINES: usize = 12;
const LONGEST: usize = 200;

impl Ledger {
    pub(crate) fn note_output(&mut self, at: At<'_>, text: &str) {
        let mut told: Vec<(&str, Found<'_>)> = Vec::new();
        for line in text.lines().rev().take(LINES) {
            told.extend(telling(line.trim()).map(|found| (line.trim(), found)));
        }
        for (index, (line, found)) in told.iter().enumerate().rev() {
            let alike = told
                .iter()
                .enumerate()
                .any(|(other, (line_of, other_found))| {
                    other != index && other_found.kind == found.kind && begins_alike(line, line_of)
                });
            if !alike {
                self.note_printed(at, line, *found);
            }
        }
    }

    fn note_printed(&mut self, at: At<'_>, line: &str, found: Found<'_>) {
        if let Some(known) = self.anchors.get_mut(found.text) {
            // What people said is not theirs to count.
            if known.by == Speaker::Tool {
                known.provenance.add(at.entry);
                known.rank = at.rank;
            }
            return;
        }
        self.make_room_for_anchor();
        if UPDATES.hits(&Words::new(line)).iter().any(|hit| hit.tag) {
            self.supersede(at, Speaker::Tool, line, &[found]);
        } else {
            self.supersede_printed(at, line, found);
        }
        self.anchors.insert(
            found.text.to_owned(),
            Anchor {
                text: found.text.to_owned(),
                kind: found.kind,
                about: about(line, found.at, found.text.len()),
                by: Speaker::Tool,
                provenance: Provenance::new(at.entry.clone()),
                rank: at.rank,
                superseded: None,
                pasted: false,
            },
        );
    }

    /// The same line with another value: the newer one holds.
    fn supersede_printed(&mut self, at: At<'_>, line: &str, found: Found<'_>) {
        let words = label(line, found.text);
        let Some(first) = line.split_whitespace().next() else {
            return;
        };
        let older = self
            .anchors
            .values()
            .filter(|anchor| {
                anchor.by == Speaker::Tool
                    && anchor.kind == found.kind
                    && anchor.superseded.is_none()
                    && anchor.about.starts_with(first)
                    && anchor.provenance.last() != Some(at.entry)
            })
            .filter(|anchor| {
                let said = label(&anchor.about, &anchor.text);
                let common = shared(&words, &said);
                common >= 2 && common * 3 >= words.len().max(said.len()) * 2
            })
            .max_by_key(|anchor| anchor.rank)
            .map(|anchor| anchor.text.clone());
        if let Some(anchor) = older.and_then(|text| self.anchors.get_mut(&text)) {
            anchor.superseded = Some(at.entry.clone());
        }
    }
}

/// The one exact value of a line whose words before it say what it is.
fn telling(line: &str) -> Option<Found<'_>> {
    if line.len() > LONGEST
        || !line.starts_with(|c: char| c.is_alphabetic())
        || line.contains(|c: char| c.is_control() || matches!(c, '{' | '}' | ';' | '`'))
        || !line.bytes().any(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let mut values = scan(line)
        .into_iter()
        .filter(|found| !matches!(found.kind, AnchorKind::Name | AnchorKind::Path));
    let found = values.next()?;
    let before = &line[..found.at];
    let named = before
        .split_whitespace()
        .filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 2)
        .count();
    let fits = match found.kind {
        AnchorKind::Url | AnchorKind::Hash | AnchorKind::Id => named >= 2,
        AnchorKind::Number => named >= 2 && before.trim_end().ends_with([':', '=', '：']),
        AnchorKind::Version | AnchorKind::Path | AnchorKind::Name => false,
    };
    (fits && values.next().is_none()).then_some(found)
}

fn begins_alike(one: &str, other: &str) -> bool {
    let words = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        (words.next(), words.next())
    };
    words(one) == words(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_transcript::EntryId;

    fn fold(outputs: &[&str]) -> Ledger {
        let mut ledger = Ledger::new(None);
        for (number, text) in outputs.iter().enumerate() {
            let entry = EntryId::new(format!("e{number}"));
            let at = At {
                entry: &entry,
                time: None,
                rank: number as u64,
            };
            ledger.note_output(at, text);
        }
        ledger
    }

    #[test]
    fn results_are_kept_and_listings_are_not() {
        for (output, kept) in [
            (
                "Uploading…\nDeployed to https://x.example.app/a1",
                &["https://x.example.app/a1"][..],
            ),
            ("created request req_8f2c1a77", &["req_8f2c1a77"]),
            ("rows that violate the rule: 57286", &["57286"]),
            ("commit 9f3c2ab\ncommit 8e2b1cd", &[]),
            ("building image 9f3c2ab\nbuilding image 8e2b1cd", &[]),
            ("a5295127 weight: exact cursor", &[]),
            ("2026-01-02 started job req_8f2c1a77", &[]),
            ("took 8454 ms", &[]),
        ] {
            let ledger = fold(&[output]);
            let found: Vec<&str> = ledger.anchors.keys().map(String::as_str).collect();
            assert_eq!(found, kept, "{output}");
        }
    }

    #[test]
    fn the_same_result_with_another_value_replaces_it() {
        for (old, new) in [
            (
                "release candidate built from commit 9f3c2ab",
                "release candidate rebuilt from commit 8e2b1cd",
            ),
            (
                "preview deployed to https://preview-1.example.app",
                "preview redeployed, it moved to https://preview-2.example.app",
            ),
        ] {
            let ledger = fold(&[old, "signed in as user u-4711", new]);
            let marks: Vec<(&str, bool)> = ledger
                .anchors
                .values()
                .map(|anchor| (anchor.text.as_str(), anchor.superseded.is_some()))
                .filter(|(_, marked)| *marked)
                .collect();
            let last = |line: &str| line.rsplit(' ').next().unwrap().to_owned();
            assert_eq!(marks, [(last(old).as_str(), true)], "{new}");
        }
    }
}
