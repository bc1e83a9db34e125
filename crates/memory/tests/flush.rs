//! What a flush without a model logs of a ledger.

use longhaul_ledger::{
    Agreement, Ledger, Note as Noted, NoteKind, Origin as Whose, TurnState, Utterance,
};
use longhaul_memory::Source;
use longhaul_memory::files::{Body, Note, Section};
use longhaul_memory::flush::{MOST_NOTE_BYTES, Misuse, extractive, tool_text, words_of_the_user};
use longhaul_transcript::{Channel, EntryId};

fn said(ledger: &mut Ledger, text: &str) {
    ledger.heard += 1;
    ledger.utterances.push(Utterance {
        number: ledger.heard,
        entry: EntryId::new(format!("e{}", ledger.heard)),
        time: None,
        channel: Channel::Prompt,
        origin: Whose::User,
        question: None,
        text: text.into(),
        gap: None,
        state: TurnState::Answered,
    });
}

fn sections(body: Option<Body>) -> Vec<Section> {
    match body {
        Some(Body::Sections(sections)) => sections,
        Some(other) => panic!("{other:?}"),
        None => Vec::new(),
    }
}

/// Each line as the log has it, under its title.
fn lines(body: Option<Body>) -> Vec<String> {
    let line = |note: &Note| {
        let entry = note.entry.as_ref().map_or("", |entry| entry.as_str());
        format!("{} <{} {entry}>", note.text, note.source)
    };
    let sections = sections(body);
    let lines = sections.iter().flat_map(|section| {
        let title = std::iter::once(format!("{}:", section.title));
        title.chain(section.notes.iter().map(line))
    });
    lines.collect()
}

fn noted(kind: NoteKind, text: &str) -> Noted {
    Noted {
        kind,
        text: text.into(),
        entry: EntryId::new("n1"),
        time: None,
    }
}

#[test]
fn what_was_said_agreed_and_noted_is_logged_as_it_is() {
    let mut ledger = Ledger::default();
    said(&mut ledger, "Never push to main.");
    said(&mut ledger, "B");
    ledger.utterances[1].channel = Channel::Answer;
    ledger.agreements = vec![
        Agreement::Answer {
            question: "A or B?".into(),
            answer: "B: Postgres".into(),
            option: None,
            entry: EntryId::new("e2"),
            time: None,
        },
        Agreement::Plan {
            text: "1. migrate".into(),
            entry: EntryId::new("p1"),
            time: None,
        },
    ];
    ledger.notes = vec![
        noted(NoteKind::Decision, "pages count from one"),
        noted(NoteKind::Fact, "the queue is in Postgres"),
        noted(NoteKind::Learning, "the build needs clang"),
        noted(NoteKind::OpenItem, "document the page parameter"),
    ];
    let expected = [
        "What the user said:",
        "Never push to main. <user e1>",
        "Decisions:",
        "B: Postgres ← A or B? <agent e2>",
        "Plan approved: 1. migrate <agent p1>",
        "pages count from one <agent n1>",
        "Facts:",
        "the queue is in Postgres <agent n1>",
        "the build needs clang <agent n1>",
        "Task Progress:",
        "document the page parameter <agent n1>",
    ];
    assert_eq!(lines(extractive(&ledger, None)), expected);
    assert_eq!(lines(words_of_the_user(&ledger, None)), expected[..2]);
}

#[test]
fn only_what_is_new_since_the_last_flush_is_logged() {
    let mut before = Ledger::default();
    said(&mut before, "first");
    before.notes = vec![noted(NoteKind::Fact, "known")];
    assert_eq!(extractive(&before, Some(&before)), None);
    let mut now = before.clone();
    said(&mut now, "second");
    now.notes.push(noted(NoteKind::Fact, "new"));
    assert_eq!(
        lines(extractive(&now, Some(&before))),
        [
            "What the user said:",
            "second <user e2>",
            "Facts:",
            "new <agent n1>"
        ]
    );
}

#[test]
fn words_that_are_not_the_users_are_not_logged_as_such() {
    let mut ledger = Ledger::default();
    for origin in [
        Whose::User,
        Whose::Carried,
        Whose::HandedOver,
        Whose::Imported,
        Whose::Agent,
    ] {
        said(&mut ledger, &format!("{origin:?}"));
        ledger.utterances.last_mut().expect("just said").origin = origin;
    }
    assert_eq!(
        lines(extractive(&ledger, None)),
        ["What the user said:", "User <user e1>", "Carried <user e2>"]
    );
}

#[test]
fn a_long_text_stays_as_it_is_and_one_that_the_ledger_cut_shows_it() {
    let mut ledger = Ledger::default();
    said(&mut ledger, &"日".repeat(5_000));
    said(&mut ledger, "head tail");
    ledger.utterances[1].gap = Some(4);
    let notes = sections(extractive(&ledger, None)).remove(0).notes;
    assert_eq!(notes[0].text, "日".repeat(5_000));
    assert_eq!(notes[1].text, "head … tail");
}

#[test]
fn past_the_room_the_newest_words_stay_and_the_others_are_counted() {
    let mut ledger = Ledger::default();
    for at in 0..200 {
        said(&mut ledger, &format!("{at} {}", "word ".repeat(700)));
    }
    let notes = sections(extractive(&ledger, None)).remove(0).notes;
    assert!(notes.len() > 50 && notes.len() < 100, "{}", notes.len());
    let left = 200 - (notes.len() - 1);
    assert_eq!(
        notes[0].text,
        format!("({left} older ones are in the transcript)")
    );
    assert_eq!(notes[0].source, Source::Agent);
    assert!(notes.last().expect("some").text.starts_with("199 "));
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
