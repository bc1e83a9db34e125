//! Lines of a file as records, with damaged ones recovered.
//!
//! The fast way is one borrowed parse a line. Only when that fails do we look
//! closer: two records joined on one line, a record written into the middle of
//! another, bytes that are not UTF-8. What could be read is handed on, what
//! could not is a [`FaultKind`].

use std::borrow::Cow;
use std::ops::ControlFlow;

use memchr::memmem;
use serde_json::value::RawValue;

use crate::entry::Place;
use crate::fault::{Fault, FaultKind};
use crate::json::Object;

/// One record of a file, borrowed from the read buffer.
#[derive(Debug)]
pub struct Record<'a> {
    /// The JSON text.
    pub text: &'a str,
    /// Its fields.
    pub object: Object<'a>,
    /// Where it stands.
    pub place: Place,
}

/// What a scan calls for every record.
pub(crate) type Visit<'v> = dyn FnMut(Record<'_>) -> ControlFlow<()> + 'v;

/// Longest line that is read; a longer one is reported and skipped.
pub(crate) const MAX_LINE_BYTES: usize = 1 << 30;

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    Newline,
    EndOfFile,
}

/// Which of several records on one line comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Stored,
    Reversed,
}

/// Hands the records of one physical line to `visit`.
pub(crate) fn records_of_line(
    line: &[u8],
    (end, order): (LineEnd, Order),
    place: Place,
    faults: &mut Vec<Fault>,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    let line = trim(line);
    if line.is_empty() {
        return ControlFlow::Continue(());
    }
    if let Ok(text) = std::str::from_utf8(line)
        && let Ok(object) = Object::parse(text)
    {
        return visit(Record {
            text,
            object,
            place,
        });
    }
    recover(line, (end, order), place, faults, visit)
}

/// Whether a line without a newline is more than a torn one: something of it
/// can be read.
pub(crate) fn holds_record(line: &[u8]) -> bool {
    let mut found = false;
    let _ = records_of_line(
        line,
        (LineEnd::EndOfFile, Order::Stored),
        Place::default(),
        &mut Vec::new(),
        &mut |_| {
            found = true;
            ControlFlow::Break(())
        },
    );
    found
}

fn trim(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.trim_ascii()
}

fn recover(
    line: &[u8],
    (end, order): (LineEnd, Order),
    place: Place,
    faults: &mut Vec<Fault>,
    visit: &mut Visit<'_>,
) -> ControlFlow<()> {
    let mut fault = |kind| {
        faults.push(Fault {
            line: place.line,
            offset: place.offset,
            kind,
        });
    };
    let text = String::from_utf8_lossy(line);
    if matches!(text, Cow::Owned(_)) {
        fault(FaultKind::InvalidUtf8);
        if let Ok(object) = Object::parse(&text) {
            return visit(Record {
                text: &text,
                object,
                place,
            });
        }
    }
    let reason = match serde_json::from_str::<&RawValue>(&text) {
        Ok(_) => {
            fault(FaultKind::NotARecord);
            return ControlFlow::Continue(());
        }
        Err(error) => error.to_string(),
    };
    let (mut found, lost) = split(&text);
    if order == Order::Reversed {
        found.reverse();
    }
    fault(match (found.len() as u64, lost as u64) {
        (0, _) if end == LineEnd::EndOfFile => FaultKind::TornTail {
            bytes: line.len() as u64,
        },
        (0, _) => FaultKind::Malformed {
            reason,
            bytes: line.len() as u64,
        },
        (records, 0) => FaultKind::Joined { records },
        (records, lost) => FaultKind::Fragment { lost, records },
    });
    for text in found {
        if let Ok(object) = Object::parse(text) {
            visit(Record {
                text,
                object,
                place,
            })?;
        }
    }
    ControlFlow::Continue(())
}

/// The first keys that the agents' records start with. Nested blocks start
/// with `type` too, so what is found must also pass [`is_record`].
const RECORD_STARTS: [&str; 7] = [
    "{\"type\":",
    "{\"parentUuid\":",
    "{\"timestamp\":",
    "{\"id\":",
    "{\"sessionId\":",
    "{\"uuid\":",
    "{\"isSidechain\":",
];

/// Attempts at finding a record inside a damaged line; bounds the work on
/// hostile input.
const MAX_ATTEMPTS: usize = 256;

/// Finds whole records in a damaged line. Returns them and the bytes that
/// belong to none.
fn split(text: &str) -> (Vec<&str>, usize) {
    let mut found = Vec::new();
    let mut lost = 0;
    let mut at = 0;
    let mut attempts = 0;
    while at < text.len() {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        if let Some(Ok(value)) = stream.next()
            && Object::parse(value.get()).is_ok_and(|object| is_record(&object))
        {
            found.push(value.get());
            at += stream.byte_offset();
            continue;
        }
        attempts += 1;
        let next = (attempts < MAX_ATTEMPTS)
            .then(|| next_start(rest))
            .flatten()
            .unwrap_or(rest.len());
        lost += next;
        at += next;
    }
    (found, lost)
}

fn next_start(rest: &str) -> Option<usize> {
    memmem::find_iter(&rest.as_bytes()[1..], b"{\"")
        .map(|at| at + 1)
        .find(|at| {
            RECORD_STARTS
                .iter()
                .any(|start| rest[*at..].starts_with(start))
        })
}

/// Whether an object found inside a damaged line is a record rather than a
/// block of one.
fn is_record(object: &Object<'_>) -> bool {
    object.str("type").is_some()
        && [
            "parentId",
            "timestamp",
            "uuid",
            "leafUuid",
            "payload",
            "version",
            "snapshot",
        ]
        .iter()
        .any(|key| object.has(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, end: LineEnd) -> (Vec<String>, Vec<FaultKind>) {
        let mut texts = Vec::new();
        let mut faults = Vec::new();
        let _ = records_of_line(
            line.as_bytes(),
            (end, Order::Stored),
            Place::default(),
            &mut faults,
            &mut |record| {
                texts.push(record.text.to_owned());
                ControlFlow::Continue(())
            },
        );
        (texts, faults.into_iter().map(|fault| fault.kind).collect())
    }

    const A: &str = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#;
    const B: &str = r#"{"type":"label","id":"b","parentId":"a","targetId":"a"}"#;

    #[test]
    fn joined_records_are_both_read() {
        let (texts, faults) = read(&format!("{A}{B}"), LineEnd::Newline);
        assert_eq!(texts, [A, B]);
        assert_eq!(faults, [FaultKind::Joined { records: 2 }]);
    }

    #[test]
    fn a_record_inside_a_broken_one_is_read_and_its_blocks_are_not_taken_for_records() {
        let broken = &A[..A.len() - 3];
        let (texts, faults) = read(&format!("{broken}{B}"), LineEnd::Newline);
        assert_eq!(texts, [B]);
        assert_eq!(
            faults,
            [FaultKind::Fragment {
                lost: broken.len() as u64,
                records: 1
            }]
        );
    }

    #[test]
    fn an_incomplete_last_line_is_a_torn_tail() {
        let (texts, faults) = read(&A[..40], LineEnd::EndOfFile);
        assert!(texts.is_empty());
        assert_eq!(faults, [FaultKind::TornTail { bytes: 40 }]);
    }

    #[test]
    fn hostile_lines_take_bounded_work() {
        let line = "{\"type\":".repeat(200_000);
        let (texts, _) = read(&line, LineEnd::Newline);
        assert!(texts.is_empty());
    }
}
