//! What is collected between two checkpoints, and how what one session left
//! behind is taken over by the next.

use longhaul_ledger::{Capture, StateFiles};
use longhaul_transcript::Millis;

/// Most open items, and most learnings.
const LINES: usize = 100;

/// The incremental state of a session: what its next checkpoint will hold.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The session file it was collected from.
    pub session_file: String,
    /// When it last changed.
    pub updated_at: Millis,
    /// `decisions.json`, `thread.json`, `resources.json`, `open_items.json`.
    pub files: StateFiles,
}

/// Puts what an earlier session of the same key left behind before what is
/// there. What the earlier one talked about is over; what it decided, touched,
/// learnt and left open is not.
pub(crate) fn carry(into: &mut StateFiles, older: &StateFiles, caps: &Capture) {
    carry_decisions(&mut into.decisions, &older.decisions, caps.decisions);
    carry_resources(&mut into.resources, &older.resources, caps);
    let learnings = &mut into.thread.learnings;
    let fresh = unknown(&older.thread.learnings, &[learnings]);
    put_before(learnings, fresh, LINES);
    // What is open is read from the top, so what was left open comes last.
    let items = &mut into.open_items.open_items;
    items.extend(unknown(&older.open_items.open_items, &[items]));
    items.truncate(LINES);
}

/// Those of a list that none of the others has.
fn unknown(list: &[String], others: &[&[String]]) -> Vec<String> {
    list.iter()
        .filter(|text| !others.iter().any(|known| known.contains(text)))
        .cloned()
        .collect()
}

fn carry_decisions(
    into: &mut longhaul_ledger::DecisionsFile,
    older: &longhaul_ledger::DecisionsFile,
    most: usize,
) {
    let known = |what: &str| into.decisions.iter().any(|decision| decision.what == what);
    let mut all: Vec<_> = older
        .decisions
        .iter()
        .filter(|decision| !known(&decision.what))
        .cloned()
        .collect();
    if all.is_empty() {
        return;
    }
    all.append(&mut into.decisions);
    let left = all.len().saturating_sub(most);
    into.left_out += older.left_out + left as u64;
    all.drain(..left);
    // Both sessions counted from one; the letter says where it comes from.
    for (at, decision) in all.iter_mut().enumerate() {
        let from = decision.id.chars().next().unwrap_or('d');
        decision.id = format!("{from}{}", into.left_out + at as u64 + 1);
    }
    into.decisions = all;
}

fn carry_resources(
    into: &mut longhaul_ledger::ResourcesFile,
    older: &longhaul_ledger::ResourcesFile,
    caps: &Capture,
) {
    let modified = unknown(&older.files_modified, &[&into.files_modified]);
    into.files_read.retain(|path| !modified.contains(path));
    let read = unknown(
        &older.files_read,
        &[&into.files_read, &into.files_modified, &modified],
    );
    let tools = unknown(&older.tools_used, &[&into.tools_used]);
    into.left_out += older.left_out;
    into.left_out += put_before(&mut into.files_modified, modified, caps.files);
    into.left_out += put_before(&mut into.files_read, read, caps.files);
    into.left_out += put_before(&mut into.tools_used, tools, caps.tools);
}

/// Puts `older` first; the oldest leave, and are counted.
fn put_before(into: &mut Vec<String>, mut older: Vec<String>, most: usize) -> u64 {
    older.append(into);
    let left = older.len().saturating_sub(most);
    older.drain(..left);
    *into = older;
    left as u64
}

#[cfg(test)]
mod tests {
    use longhaul_ledger::{DecisionsFile, StateDecision};

    use super::*;

    fn decision(id: &str, what: &str) -> StateDecision {
        StateDecision {
            id: id.into(),
            what: what.into(),
            why: None,
            when: None,
            entries: Vec::new(),
        }
    }

    fn decisions(whats: &[&str]) -> DecisionsFile {
        DecisionsFile {
            decisions: whats
                .iter()
                .enumerate()
                .map(|(at, what)| decision(&format!("d{}", at + 1), what))
                .collect(),
            left_out: 0,
        }
    }

    #[test]
    fn what_an_earlier_session_left_comes_first_and_once() {
        let mut into = StateFiles {
            decisions: decisions(&["b", "c"]),
            ..StateFiles::default()
        };
        into.thread.topic = "now".into();
        into.resources.files_read = vec!["r".into(), "m".into()];
        into.open_items.open_items = vec!["y".into()];
        let mut older = StateFiles {
            decisions: decisions(&["a", "b"]),
            ..StateFiles::default()
        };
        older.thread.topic = "then".into();
        older.resources.files_modified = vec!["m".into()];
        older.resources.files_read = vec!["q".into(), "r".into()];
        older.open_items.open_items = vec!["x".into(), "y".into()];

        let mut expected = StateFiles {
            decisions: decisions(&["a", "b", "c"]),
            ..StateFiles::default()
        };
        expected.thread.topic = "now".into();
        expected.resources.files_modified = vec!["m".into()];
        expected.resources.files_read = vec!["q".into(), "r".into()];
        expected.open_items.open_items = vec!["y".into(), "x".into()];
        let caps = Capture::default();
        carry(&mut into, &older, &caps);
        assert_eq!(into, expected);
        carry(&mut into, &older, &caps);
        assert_eq!(into, expected, "carrying twice changes nothing");
    }

    #[test]
    fn caps_hold_and_what_leaves_is_counted() {
        let many: Vec<String> = (0..60).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut into = StateFiles {
            decisions: decisions(&many[30..]),
            ..StateFiles::default()
        };
        let older = StateFiles {
            decisions: decisions(&many[..30]),
            ..StateFiles::default()
        };
        let few = Capture {
            decisions: 4,
            ..Capture::default()
        };
        let mut short = into.clone();
        carry(&mut short, &older, &few);
        assert_eq!(short.decisions.decisions.len(), 4);
        assert_eq!(short.decisions.left_out, 56);
        carry(&mut into, &older, &Capture::default());
        assert_eq!(into.decisions.decisions.len(), 50);
        assert_eq!(into.decisions.left_out, 10);
        assert_eq!(into.decisions.decisions[0], decision("d11", "10"));
    }
}
