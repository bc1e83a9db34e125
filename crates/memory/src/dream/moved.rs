//! Notes that moved: somebody wrote above them in the log of a day.
//!
//! Evidence names its line. A note that stands on another line by now is still
//! the one that was read before: it gets its new line and counts once.

use std::collections::{BTreeSet, HashMap};

use super::candidate::{Candidate, Evidence};
use super::remark::Remark;

/// A note of a log, wherever it stands there.
#[derive(PartialEq, Eq, Hash)]
struct Note<'a> {
    file: &'a str,
    entry: Option<&'a str>,
    quote: &'a str,
}

impl Note<'_> {
    fn of(evidence: &Evidence) -> Note<'_> {
        Note {
            file: &evidence.file,
            entry: evidence.entry.as_deref(),
            quote: &evidence.quote,
        }
    }
}

/// The lines on which each note stands.
fn lines<'a>(all: impl Iterator<Item = &'a Evidence>) -> HashMap<Note<'a>, BTreeSet<usize>> {
    let mut lines: HashMap<Note<'_>, BTreeSet<usize>> = HashMap::new();
    for one in all {
        if let Some(line) = one.line {
            lines.entry(Note::of(one)).or_default().insert(line);
        }
    }
    lines
}

/// Gives evidence the lines on which its notes stand in the logs as they are
/// read now.
pub(super) fn follow(candidates: &mut [Candidate], remarks: &[Remark]) {
    let moved = moved(candidates, remarks);
    if moved.is_empty() {
        return;
    }
    for candidate in candidates {
        let mut renamed: HashMap<String, String> = HashMap::new();
        for one in &mut candidate.evidence {
            let (key, place) = (one.key(), one.line_key());
            if let Some(line) = moved.get(&key) {
                one.line = Some(*line);
                renamed.insert(key, one.key());
                renamed.extend(place.zip(one.line_key()));
            }
        }
        for key in candidate.seen.iter_mut().chain(&mut candidate.uttered) {
            if let Some(new) = renamed.get(key) {
                key.clone_from(new);
            }
        }
    }
}

fn evidence(candidates: &[Candidate]) -> impl Iterator<Item = &Evidence> {
    candidates.iter().flat_map(|one| &one.evidence)
}

/// The new line of what has moved, by the key of its evidence.
fn moved(candidates: &[Candidate], remarks: &[Remark]) -> HashMap<String, usize> {
    let (was, now) = (
        lines(evidence(candidates)),
        lines(remarks.iter().map(|remark| &remark.evidence)),
    );
    let mut moved = HashMap::new();
    for one in evidence(candidates) {
        let note = Note::of(one);
        let (Some(was), Some(now)) = (was.get(&note), now.get(&note)) else {
            continue;
        };
        // Where all stand as they did, another of the same words is a new one.
        if was.is_subset(now) {
            continue;
        }
        // Of several with the same words the first is still the first.
        let at = was.iter().position(|line| Some(*line) == one.line);
        if let Some(line) = at.and_then(|at| now.iter().nth(at)) {
            moved.insert(one.key(), *line);
        }
    }
    moved
}
