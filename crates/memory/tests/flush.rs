//! What a flush without a model logs of a ledger.

use longhaul_ledger::{Ledger, Provenance, Rule, RuleKind};
use longhaul_memory::Source;
use longhaul_memory::files::{Body, Note};
use longhaul_memory::flush::{MOST_NOTE_BYTES, Misuse, extractive, tool_text};
use longhaul_transcript::EntryId;

/// So many rules of the user, and as many that may be another's words.
fn rules(count: usize) -> Ledger {
    let mut ledger = Ledger::default();
    for at in 0..count {
        for (by, pasted) in [("user", false), ("other", true)] {
            ledger.rules.push(Rule {
                text: format!("Never {by} {at}."),
                kind: RuleKind::Constraint,
                provenance: Provenance::new(EntryId::new(format!("{by}{at}"))),
                revoked: None,
                pasted,
                frame: None,
            });
        }
    }
    ledger
}

fn logged(ledger: &Ledger) -> Vec<Note> {
    match extractive(ledger, None) {
        Some(Body::Sections(mut sections)) => sections.remove(0).notes,
        other => panic!("{other:?}"),
    }
}

fn texts(notes: &[Note], source: Source) -> Vec<&str> {
    let notes = notes.iter().filter(|note| note.source == source);
    notes.map(|note| note.text.as_str()).collect()
}

#[test]
fn all_rules_of_the_user_are_logged_whatever_their_number() {
    let notes = logged(&rules(60));
    let users: Vec<String> = (0..60)
        .map(|at| format!("Constraint: Never user {at}."))
        .collect();
    assert_eq!(texts(&notes, Source::User), users);
    assert_eq!(texts(&notes, Source::Unknown), [""; 0]);
    assert_eq!(notes[0].text, "(60 older ones are in the transcript)");
}

#[test]
fn others_words_give_way_before_the_users_the_oldest_first() {
    let notes = logged(&rules(30));
    assert_eq!(texts(&notes, Source::User).len(), 30);
    let newest: Vec<String> = (20..30)
        .map(|at| format!("Constraint: Never other {at}."))
        .collect();
    assert_eq!(texts(&notes, Source::Unknown), newest);
    assert_eq!(notes[0].text, "(20 older ones are in the transcript)");
}

#[test]
fn a_note_that_no_entry_has_room_for_is_refused_and_says_what_to_do() {
    let fits = serde_json::json!({ "text": "y".repeat(MOST_NOTE_BYTES) });
    assert!(tool_text(&fits).is_ok());
    let bytes = MOST_NOTE_BYTES + 1;
    let long = serde_json::json!({ "text": "y".repeat(bytes) });
    let refused = Misuse::TooLong { bytes };
    assert!(refused.to_string().contains("nothing was saved"));
    assert_eq!(tool_text(&long), Err(refused));
}
