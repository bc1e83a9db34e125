//! The audit: counted from the entries, and able to fail.

use std::collections::HashSet;

use longhaul_compaction::audit::{Audit, Kept, UserTextTally, audit};
use longhaul_transcript::EntryId;
use serde_json::json;

use crate::compacted;
use crate::story::{Story, Told};

fn session() -> Told {
    Story::default()
        .user("Port the parser.\n  Keep the API.")
        .call("read", json!({"path":"src/old.rs"}), "fn old() {}", json!({}))
        .edit("src/parser.rs")
        .call("note", json!({"kind":"fact","text":"the API is public"}), "noted", json!({}))
        .call("todowrite", json!({"todos":[{"content":"write docs","status":"pending"},{"content":"port it","status":"completed"}]}), "ok", json!({}))
        .call("bash", json!({"command":"git push"}), "no", json!({"isError":true,"rejected":true,"userText":[{"channel":"rejection","text":"never push"}]}))
        .agent("Done.")
        .done()
}

fn of(told: &Told, context: &str, gone: &[&str]) -> Audit {
    let stored: HashSet<&EntryId> = told.entries.iter().map(|entry| &entry.id).collect();
    let is_stored = |id: &EntryId| stored.contains(id) && !gone.contains(&id.as_str());
    audit(&told.source, context, &|_| false, &[], &is_stored)
}

#[test]
fn a_summary_of_ours_keeps_all_there_is_to_keep() {
    let told = session();
    let made = of(&told, &compacted(&told, 0, 200_000).text, &[]);
    assert_eq!(
        made.to_string(),
        "user's words 2/2 · files changed 1/1 · read 1/1 · to-dos 1/1 · notes 1/1 · recallable 12/12"
    );
    assert!(!made.lost_something() && made.is_whole() && made.loss_percent() == 0);
    assert_eq!(
        serde_json::from_str::<Audit>(&serde_json::to_string(&made).unwrap()).unwrap(),
        made
    );
}

#[test]
fn a_summary_without_them_loses_files_items_and_notes_but_not_what_recall_brings_back() {
    let made = of(&session(), "Nothing much happened.", &[]);
    assert_eq!(
        made.user_text,
        UserTextTally {
            total: 2,
            recallable: 2,
            ..UserTextTally::default()
        }
    );
    assert_eq!(made.losses(), 3);
    assert_eq!(made.files_changed, Kept { total: 1, kept: 0 });
    let what: Vec<&str> = made
        .lost
        .iter()
        .map(|missing| missing.what.as_str())
        .collect();
    assert_eq!(what, ["file changed", "to-do", "note"]);
    assert_eq!(made.reduced.len(), 2);
    assert!(made.to_string().ends_with("· LOST 3"), "{made}");
}

#[test]
fn what_is_neither_in_the_context_nor_stored_is_nowhere() {
    let told = session();
    let first = told.entries[0].id.to_string();
    let made = of(
        &told,
        "src/parser.rs write docs the API is public never push",
        &[&first],
    );
    assert_eq!(
        made.user_text,
        UserTextTally {
            total: 2,
            whole: 1,
            nowhere: 1,
            ..UserTextTally::default()
        }
    );
    assert_eq!(
        made.recallable,
        Kept {
            total: 12,
            kept: 11
        }
    );
    let what: Vec<&str> = made
        .lost
        .iter()
        .map(|missing| missing.what.as_str())
        .collect();
    assert_eq!(what, ["user text", "entry"]);
    assert!(made.lost_something());
}

#[test]
fn a_text_of_which_only_the_beginning_stands_there_is_shortened() {
    let long = format!(
        "Begin with this, which is a line of some sixty characters or more: {}",
        "x ".repeat(50)
    );
    let told = Story::default().user(&long).agent("ok").done();
    let context = &long[..80];
    let made = of(&told, context, &[]);
    assert_eq!(made.user_text.shortened, 1);
    assert!(!made.is_whole() && !made.lost_something());
}

#[test]
fn a_pin_that_is_gone_is_a_loss() {
    let told = session();
    let pins = [(told.entries[0].id.clone(), "Port the parser.".to_owned())];
    let made = audit(&told.source, "nothing", &|_| true, &pins, &|_| true);
    assert_eq!(made.pins, Kept { total: 1, kept: 0 });
    assert!(made.lost.iter().any(|missing| missing.what == "pin"));
}
