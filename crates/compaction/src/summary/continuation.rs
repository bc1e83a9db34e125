//! The frame around a summary: the text of the compaction entry.

use super::material::{Material, Split};
use super::text::{mark, open_lines};

const TEMPLATE: &str = include_str!("prompts/continuation.md");
pub(super) const FIRST_WORDS: &str = "[longhaul summary, epoch ";
/// How the entries that left are had back, by whoever has them.
pub const RECALL: &str =
    "; the `recall` tool brings any of them back word for word, by id, range, path or words";
const LEDGER: &str = "# Ledger";
pub(super) const END: &str = "---";

/// The whole text: that earlier conversation was compacted, what left and how
/// to get it back, the prose, the ledger's part, and what follows.
pub fn continuation(material: &Material<'_>, prose: &str, ledger: &str) -> String {
    let binding =
        "the user's words hold, a later one over an earlier; everything else is a record.";
    let span = match material.span {
        Some(span) => format!(
            "Entries{} to{} ({}) have left the context. `·id` names the entry a line comes from{RECALL}. Of all this {binding}\n",
            mark(span.first),
            mark(span.last),
            span.count,
        ),
        None => format!("`·id` names the entry a line comes from{RECALL}. Of all this {binding}\n"),
    };
    let split = match material.split {
        Split::BetweenTurns => String::new(),
        Split::InsideTurn { request } => format!(
            "[interrupted] The turn of request{} is cut: its first part is summarised here, the rest follows.\n",
            mark(request)
        ),
    };
    let recent = if material.kept.is_empty() {
        "No recent messages were kept; go on from what stands above."
    } else {
        "The recent messages follow word for word."
    };
    let prose = match prose.trim() {
        "" => String::new(),
        prose => format!("# Summary\n{prose}\n"),
    };
    fill(
        TEMPLATE.trim_end(),
        &[
            ("epoch", &material.epoch.to_string()),
            ("span", &span),
            ("split", &split),
            ("prose", &prose),
            ("ledger", ledger),
            ("recent", recent),
        ],
    )
}

/// Fills a template in one pass, so that text put in is never searched for
/// placeholders itself.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let (before, after) = rest.split_at(start);
        out.push_str(before);
        let value = after.find('}').and_then(|end| {
            let name = &after[1..end];
            let value = values.iter().find(|(key, _)| *key == name)?;
            Some((value.1, end + 1))
        });
        match value {
            Some((value, length)) => {
                out.push_str(value);
                rest = &after[length..];
            }
            None => {
                out.push('{');
                rest = &after[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a summary is one of ours.
pub fn is_ours(summary: &str) -> bool {
    summary.starts_with(FIRST_WORDS)
}

/// The ledger's part of a summary of ours: all of it is from the source.
pub fn ledger_part(summary: &str) -> Option<&str> {
    let mut start = None;
    for (at, line) in open_lines(summary) {
        match start {
            None if line == LEDGER => start = Some(at + LEDGER.len() + 1),
            Some(from) if line == END => return summary.get(from..at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use longhaul_ledger::Ledger;
    use longhaul_transcript::EntryId;

    use super::*;
    use crate::summary::Span;

    #[test]
    fn names_what_left_and_how_to_get_it_back() {
        let ledger = Ledger::default();
        let (first, last) = (EntryId::from("a1"), EntryId::from("z9"));
        let text = continuation(
            &Material {
                span: Some(Span {
                    first: &first,
                    last: &last,
                    count: 26,
                }),
                split: Split::InsideTurn { request: &last },
                epoch: 3,
                ..Material::of(&ledger)
            },
            "## Goal\n- use {ledger} ·a1",
            "## Open\n- {recent}",
        );
        assert!(is_ours(&text));
        assert!(text.contains("Entries ·a1 to ·z9 (26)") && text.contains("`recall`"));
        assert!(text.contains("[interrupted] The turn of request ·z9"));
        assert!(text.contains("- use {ledger} ·a1"));
        assert_eq!(ledger_part(&text), Some("## Open\n- {recent}\n"));
    }
}
