//! Faults: what is wrong with a file that can still be read.
//!
//! A damaged line never stops a read and is never dropped in silence. Each one
//! becomes a [`Fault`] with its place, so that a command can count and show it.

use std::fmt;

use serde::Serialize;

/// Something wrong at one place of a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Line number, from 1. Zero when only the offset is known.
    pub line: u64,
    /// Byte offset of the line.
    pub offset: u64,
    /// What is wrong.
    pub kind: FaultKind,
}

/// The kinds of damage a reader can meet and survive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "fault")]
#[non_exhaustive]
pub enum FaultKind {
    /// The line is not a JSON object and nothing in it could be recovered.
    Malformed {
        /// The parser's reason.
        reason: String,
        /// How many bytes the line has.
        bytes: u64,
    },
    /// Several records stand on one line; all of them were read.
    Joined {
        /// How many records were found.
        records: u64,
    },
    /// Part of the line was lost, but records in it were recovered.
    Fragment {
        /// How many bytes could not be read.
        lost: u64,
        /// How many records were found.
        records: u64,
    },
    /// The last line has no newline and is not complete.
    TornTail {
        /// How many bytes the half line has.
        bytes: u64,
    },
    /// Bytes that are not UTF-8; they are shown as U+FFFD.
    InvalidUtf8,
    /// The first record is not a session header.
    NoHeader,
    /// A record that is valid JSON but has no type or is not an object.
    NotARecord,
    /// Two entries have the same id; the later one counts, as in pi.
    DuplicateId {
        /// The id.
        id: String,
    },
    /// An entry names a parent that is not in the file.
    MissingParent {
        /// The entry.
        id: String,
        /// The parent it names.
        parent: String,
    },
    /// Following parents comes back to the same entry.
    Cycle {
        /// An entry of the cycle.
        id: String,
    },
    /// An entry points at another one (boundary, edit, label, leaf) that is not in the file.
    DanglingPointer {
        /// The entry.
        id: String,
        /// Which field.
        field: String,
        /// What it names.
        target: String,
    },
    /// A compaction whose removed and kept parts do not meet.
    Gap {
        /// The compaction.
        id: String,
        /// Messages between the last removed and the first kept entry.
        messages: u64,
    },
    /// A compaction that keeps what it also says it removed.
    Overlap {
        /// The compaction.
        id: String,
        /// The last entry it says it removed.
        last: String,
    },
    /// A summary or mark names an entry that is neither in the file nor in its
    /// archive.
    LostPointer {
        /// The entry that names it.
        id: String,
        /// What it names.
        target: String,
    },
    /// A tool result whose call is not before it in the context.
    OrphanResult {
        /// The entry.
        id: String,
        /// The call it answers.
        call: String,
    },
    /// A tool call that was never answered although the conversation went on.
    UnansweredCall {
        /// The entry.
        id: String,
        /// The call.
        call: String,
    },
    /// A record of a kind that is not known, with text in it.
    UnknownText {
        /// What it calls itself.
        kind: String,
    },
    /// Lines are not what they were when a mark was written behind them: an
    /// entry was altered, taken out, put in or moved.
    Altered {
        /// The mark up to which all is as it was; none at the start.
        after: Option<String>,
        /// The mark whose hash does not fit.
        mark: String,
        /// The line of that mark.
        mark_line: u64,
        /// Whether the lines are those of the archive.
        archived: bool,
    },
    /// A line longer than the reader takes.
    TooLong {
        /// How many bytes the line has.
        bytes: u64,
    },
    /// What an entry of ours carries packed cannot be unpacked; it is made anew.
    Packed {
        /// The entry.
        id: String,
        /// Why.
        reason: String,
    },
    /// A row of a database that could not be decoded.
    Row {
        /// Its sequence number.
        seq: i64,
        /// Why.
        reason: String,
    },
}

impl FaultKind {
    /// Whether content was lost to the reader, rather than merely being odd.
    pub fn is_loss(&self) -> bool {
        matches!(
            self,
            FaultKind::Malformed { .. }
                | FaultKind::Fragment { .. }
                | FaultKind::TornTail { .. }
                | FaultKind::TooLong { .. }
                | FaultKind::Row { .. }
        )
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Malformed { reason, bytes } => {
                write!(f, "not JSON, {bytes} bytes skipped ({reason})")
            }
            FaultKind::Joined { records } => {
                write!(f, "{records} records on one line, all recovered")
            }
            FaultKind::Fragment { lost, records } => {
                write!(f, "{lost} bytes unreadable, {records} records recovered")
            }
            FaultKind::TornTail { bytes } => {
                write!(
                    f,
                    "last line is incomplete ({bytes} bytes without a newline)"
                )
            }
            FaultKind::InvalidUtf8 => f.write_str("not UTF-8, shown with replacement characters"),
            FaultKind::NoHeader => f.write_str("no session header on the first line"),
            FaultKind::NotARecord => f.write_str("JSON, but not a record with a type; skipped"),
            FaultKind::DuplicateId { id } => {
                write!(f, "id {id} occurs twice; the later entry counts")
            }
            FaultKind::MissingParent { id, parent } => {
                write!(
                    f,
                    "entry {id} names a parent {parent} that is not in the file"
                )
            }
            FaultKind::Cycle { id } => write!(f, "the parents of entry {id} form a circle"),
            FaultKind::DanglingPointer { id, field, target } => {
                write!(
                    f,
                    "{field} of entry {id} names {target}, which is not in the file"
                )
            }
            FaultKind::Gap { id, messages } => write!(
                f,
                "compaction {id} leaves {messages} messages out of both its summary and what it keeps"
            ),
            FaultKind::Overlap { id, last } => {
                write!(
                    f,
                    "compaction {id} keeps entry {last}, which it says it removed"
                )
            }
            FaultKind::LostPointer { id, target } => {
                write!(f, "entry {id} points at {target}, which cannot be recalled")
            }
            FaultKind::OrphanResult { id, call } => {
                write!(
                    f,
                    "tool result {id} answers call {call}, which is not before it"
                )
            }
            FaultKind::UnansweredCall { id, call } => {
                write!(f, "tool call {call} of entry {id} was never answered")
            }
            FaultKind::UnknownText { kind } => {
                write!(
                    f,
                    "{kind:?} is not known; its text is not in the conversation"
                )
            }
            FaultKind::Altered {
                after,
                mark,
                mark_line,
                archived,
            } => {
                let place = if *archived { " of the archive" } else { "" };
                let after = match after {
                    Some(after) => format!("mark {after}"),
                    None => "the start".into(),
                };
                write!(
                    f,
                    "from this line on{place} to mark {mark} in line {mark_line}, an entry was \
                     altered, removed, inserted or moved; up to {after} nothing was"
                )
            }
            FaultKind::TooLong { bytes } => write!(f, "line of {bytes} bytes is too long; skipped"),
            FaultKind::Packed { id, reason } => {
                write!(f, "what {id} carries packed is made anew ({reason})")
            }
            FaultKind::Row { seq, reason } => write!(f, "row {seq} cannot be decoded ({reason})"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: {}", self.line, self.kind)
        } else {
            write!(f, "byte {}: {}", self.offset, self.kind)
        }
    }
}
