//! Coverage: what a compaction removed and what it keeps meet exactly, and
//! everything it points at can be recalled.

use std::collections::HashSet;

use crate::entry::{Body, Boundary, Entry, EntryId};
use crate::fault::{Fault, FaultKind};
use crate::json::{self, Object};
use crate::tree::OnPath;

/// How our own summaries begin.
const OUR_SUMMARY: &str = "[longhaul summary";
/// What stands before an entry id in them.
const POINTER: char = '·';

/// Checks the compactions and marks of a path, entry by entry.
pub(crate) struct Coverage<'a> {
    path: &'a OnPath<'a>,
    archived: &'a HashSet<String>,
    /// Positions of messages.
    messages: Vec<usize>,
    compactions: Vec<Span>,
    faults: Vec<Fault>,
}

/// What a compaction says about itself.
struct Span {
    id: EntryId,
    line: u64,
    offset: u64,
    last_removed: EntryId,
    first_kept: usize,
}

impl<'a> Coverage<'a> {
    pub(crate) fn new(path: &'a OnPath<'a>, archived: &'a HashSet<String>) -> Coverage<'a> {
        Coverage {
            path,
            archived,
            messages: Vec::new(),
            compactions: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Takes an entry of the path.
    pub(crate) fn observe(&mut self, entry: &Entry) {
        let Some(at) = self.path.position(&entry.id) else {
            return;
        };
        match &entry.body {
            Body::Message(_) => self.messages.push(at),
            Body::Compaction(compaction) => {
                if compaction.summary.starts_with(OUR_SUMMARY) {
                    for id in pointers(&compaction.summary) {
                        self.must_exist(entry, id);
                    }
                }
                let details = Object::of(entry.raw()).and_then(|object| object.object("details"));
                let last = details.and_then(|details| details.str("boundaryMessageId"));
                let first_kept = match &compaction.boundary {
                    Boundary::FirstKept(id) => self.path.position(id),
                    _ => None,
                };
                if let Some(last) = last {
                    self.compactions.push(Span {
                        id: entry.id.clone(),
                        line: entry.place.line,
                        offset: entry.place.offset,
                        last_removed: EntryId::new(last.into_owned()),
                        first_kept: first_kept.unwrap_or(at),
                    });
                }
            }
            Body::Custom { custom_type } if custom_type == "longhaul:prune" => {
                let object = Object::of(entry.raw()).unwrap_or_default();
                let data = object.object("data").unwrap_or_default();
                for raw in data.array("targets").unwrap_or_default() {
                    if let Some(id) = json::string(raw.get()) {
                        self.must_exist(entry, &id);
                    }
                }
            }
            _ => {}
        }
    }

    fn must_exist(&mut self, entry: &Entry, id: &str) {
        if self.path.tree.get(&EntryId::from(id)).is_none() && !self.archived.contains(id) {
            self.faults.push(Fault {
                line: entry.place.line,
                offset: entry.place.offset,
                kind: FaultKind::LostPointer {
                    id: entry.id.to_string(),
                    target: id.to_owned(),
                },
            });
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Fault> {
        self.messages.sort_unstable();
        for span in &self.compactions {
            // What was archived is before everything in the file.
            let Some(last) = self.path.position(&span.last_removed) else {
                continue;
            };
            let kind = if last >= span.first_kept {
                FaultKind::Overlap {
                    id: span.id.to_string(),
                    last: span.last_removed.to_string(),
                }
            } else {
                let after = self.messages.partition_point(|at| *at <= last);
                let until = self.messages.partition_point(|at| *at < span.first_kept);
                if until <= after {
                    continue;
                }
                FaultKind::Gap {
                    id: span.id.to_string(),
                    messages: (until - after) as u64,
                }
            };
            self.faults.push(Fault {
                line: span.line,
                offset: span.offset,
                kind,
            });
        }
        self.faults
    }
}

/// Entry ids that a summary of ours names at the end of its lines.
fn pointers(summary: &str) -> impl Iterator<Item = &str> {
    summary.lines().filter_map(|line| {
        let (_, id) = line.rsplit_once(POINTER)?;
        let whole = !id.is_empty()
            && id
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-:_".contains(c));
        // An id of some length; anything shorter is a bullet in someone's text.
        (whole && id.len() >= 8).then_some(id)
    })
}
