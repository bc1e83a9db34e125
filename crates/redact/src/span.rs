//! Where a secret stands in a text.

use super::Kind;

/// A secret's place and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The spans in their order, none of which reaches into another: of those that
/// do, one that has all of them stands there, by the kind that says most.
pub(crate) fn merged(mut found: Vec<Span>) -> Vec<Span> {
    found.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Span> = Vec::new();
    for span in found {
        match merged.last_mut().filter(|last| span.start < last.end) {
            Some(last) => {
                last.end = last.end.max(span.end);
                // A provider's mark says more than a name.
                if last.kind.says_less_than(span.kind) {
                    last.kind = span.kind;
                }
            }
            None => merged.push(span),
        }
    }
    merged
}
