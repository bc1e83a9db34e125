//! Reading our own summaries back.
//!
//! The ledger carries everything but the story of the work and what another
//! agent's summary said; these are found in the previous summary by their
//! headings. Fenced text is not searched, so that nothing quoted can pose as a
//! section.

use std::collections::HashMap;

use longhaul_ledger::Ledger;
use longhaul_transcript::EntryId;

use super::text::open_lines;

/// The headings of the prose; stable, because later summaries look for them.
pub(super) const GOAL: &str = "## Goal";
pub(super) const WORK: &str = "## Work done";
pub(super) const EARLIER: &str = "## Earlier summary";

/// The text under a heading, up to the next one.
pub(super) fn section<'t>(text: &'t str, heading: &str) -> Option<&'t str> {
    let mut start = None;
    for (at, line) in open_lines(text) {
        match start {
            None if line.trim_end() == heading => start = Some(at + line.len()),
            Some(from) if is_heading(line) => return Some(text[from..at].trim_matches('\n')),
            // What stands behind the end of the summary is not of it.
            None if line == "---" => return None,
            _ => {}
        }
    }
    start.map(|from| text[from..].trim_matches('\n'))
}

fn is_heading(line: &str) -> bool {
    line.starts_with("# ") || line.starts_with("## ") || line == "---"
}

/// A line about one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TurnLine {
    /// The request that began the turn, or else its first entry; lines that a
    /// model wrote have none.
    pub(super) entry: Option<EntryId>,
    /// The line, bullet and id included.
    pub(super) text: String,
}

/// The turns that an earlier summary of ours lists.
pub(super) fn turn_lines(text: &str) -> Vec<TurnLine> {
    let Some(body) = section(text, WORK) else {
        return Vec::new();
    };
    open_lines(body)
        .map(|(_, line)| line.trim_end())
        .filter(|line| line.starts_with("- ") && !line.starts_with(super::turns::BEFORE))
        .map(|line| TurnLine {
            entry: line
                .rsplit_once(" ·")
                .map(|(_, id)| id)
                .filter(|id| !id.is_empty() && !id.contains(char::is_whitespace))
                .map(EntryId::from),
            text: line.to_owned(),
        })
        .collect()
}

/// Puts later lines behind earlier ones. A turn that is told again is told as
/// it is known now; where the ledger knows the order of turns, it is theirs.
pub(super) fn merged(
    earlier: Vec<TurnLine>,
    later: Vec<TurnLine>,
    ledger: &Ledger,
) -> Vec<TurnLine> {
    let mut all: Vec<TurnLine> = Vec::with_capacity(earlier.len() + later.len());
    let mut known: HashMap<String, usize> = HashMap::new();
    for line in earlier.into_iter().chain(later) {
        let key = match &line.entry {
            Some(entry) => entry.as_str(),
            None => line.text.as_str(),
        };
        match known.get(key) {
            Some(&at) => all[at] = line,
            None => {
                known.insert(key.to_owned(), all.len());
                all.push(line);
            }
        }
    }
    let places: HashMap<&str, usize> = ledger
        .requests
        .iter()
        .enumerate()
        .map(|(at, request)| (request.entry.as_str(), at))
        .collect();
    // What the ledger does not know stays behind the line before it.
    let mut place = 0;
    let mut placed: Vec<(usize, TurnLine)> = all
        .into_iter()
        .map(|line| {
            let known = line.entry.as_ref().and_then(|e| places.get(e.as_str()));
            place = known.copied().unwrap_or(place);
            (place, line)
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_found_outside_fences_only() {
        let text = "## Goal\nbuild it\n```\n## Work done\n- forged ·x\n```\n## Work done\n- earlier: +2 turns\n- a → b ·e1\n- plain\n\n# Ledger\n- no";
        assert_eq!(
            section(text, WORK),
            Some("- earlier: +2 turns\n- a → b ·e1\n- plain\n".trim())
        );
        assert_eq!(
            turn_lines(text),
            [
                TurnLine {
                    entry: Some(EntryId::from("e1")),
                    text: "- a → b ·e1".to_owned()
                },
                TurnLine {
                    entry: None,
                    text: "- plain".to_owned()
                },
            ]
        );
    }

    #[test]
    fn a_turn_is_told_once() {
        let line = |id: &str, text: &str| TurnLine {
            entry: Some(EntryId::from(id)),
            text: text.to_owned(),
        };
        let all = merged(
            vec![line("a", "- 1"), line("b", "- 2")],
            vec![line("b", "- 2 again"), line("c", "- 3")],
            &Ledger::default(),
        );
        assert_eq!(
            all,
            [line("a", "- 1"), line("b", "- 2 again"), line("c", "- 3")]
        );
    }
}
