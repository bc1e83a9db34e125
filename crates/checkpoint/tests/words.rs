//! What a session's structure gives a checkpoint, and the user's words for who
//! goes on without it.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use common::{id, key, moment};
use longhaul_checkpoint::{
    Assignment, Checkpoint, Draft, Handoff, Restoring, Seal, USER_WORDS, constraints, user_words,
};
use longhaul_ledger::{
    Agreement, Handed, Item, ItemState, Ledger, Note, NoteKind, Origin, Provenance, Question,
    Reply, TurnState, Utterance,
};
use longhaul_tokens::{Bpe, ContentKind, Counter, Tokens};
use longhaul_transcript::{Channel, EntryId, Millis};
use proptest::prelude::*;

fn said(number: u32, text: &str) -> Utterance {
    Utterance {
        number,
        entry: EntryId::new(format!("e{number}")),
        time: None,
        channel: Channel::Prompt,
        origin: Origin::User,
        question: None,
        text: text.into(),
        gap: None,
        state: TurnState::Answered,
    }
}

fn ledger(texts: &[&str]) -> Ledger {
    let mut ledger = Ledger::new(None);
    let texts = texts.iter().enumerate();
    ledger.utterances = texts.map(|(at, text)| said(at as u32 + 1, text)).collect();
    ledger
}

fn words(ledger: &Ledger, limit: u32) -> Vec<String> {
    user_words(ledger, Tokens(limit), &Bpe::o200k())
}

fn tokens(texts: &[String]) -> u32 {
    let count = |text: &String| Bpe::o200k().count(text, ContentKind::Prose).0;
    texts.iter().map(count).sum()
}

#[test]
fn what_was_agreed_noted_and_left_open_is_in_a_checkpoint() {
    let entry = EntryId::new("e1");
    let at = |minute: i64| Some(Millis(common::START + minute * 60_000));
    let note = |kind, text: &str, minute| Note {
        kind,
        text: text.into(),
        entry: entry.clone(),
        time: at(minute),
    };
    let mut ledger = ledger(&["go"]);
    ledger.agreements = vec![
        Agreement::Answer {
            question: "Which database?".into(),
            answer: "Postgres".into(),
            option: None,
            entry: entry.clone(),
            time: at(2),
        },
        Agreement::Plan {
            text: "1. migrate\n2. test".into(),
            entry: entry.clone(),
            time: at(3),
        },
    ];
    ledger.replies = vec![Reply {
        text: "A.".into(),
        to: "Which timing model do you want? A. wall clock".into(),
        entry: entry.clone(),
        time: at(4),
    }];
    ledger.notes = vec![
        note(NoteKind::Decision, "pages count from one", 1),
        note(NoteKind::Fact, "the queue is in Postgres", 1),
        note(NoteKind::Learning, "the build needs clang", 1),
        note(NoteKind::OpenItem, "document the page parameter", 1),
    ];
    ledger.items = vec![Item {
        text: "fix page_count".into(),
        state: ItemState::Open,
        provenance: Provenance::new(entry.clone()),
    }];
    ledger.questions = vec![Question {
        text: "Deploy today?".into(),
        options: Vec::new(),
        entry,
        answered: None,
    }];
    let checkpoint = Draft::of(&ledger, moment(&key(), 0)).numbered(id(1), None);
    let decisions: Vec<(&str, &str)> = checkpoint
        .decisions
        .iter()
        .map(|decision| (decision.id.as_str(), decision.what.as_str()))
        .collect();
    assert_eq!(
        decisions,
        [
            ("n1", "pages count from one"),
            ("a1", "Postgres ← Which database?"),
            ("p2", "Plan approved: 1. migrate 2. test"),
            ("r1", "A. ← Which timing model do you want? A. wall clock"),
        ]
    );
    assert_eq!(
        checkpoint.learnings,
        ["the queue is in Postgres", "the build needs clang"]
    );
    assert_eq!(
        checkpoint.open_items,
        [
            "fix page_count",
            "Deploy today?",
            "document the page parameter"
        ]
    );
    let restored = checkpoint.restore(&Restoring::default(), &Bpe::o200k());
    let restored = restored.unwrap();
    for line in [
        "- pages count from one (noted, ",
        "- Postgres ← Which database? (",
        "- A. ← Which timing",
    ] {
        assert!(restored.text().contains(line), "{}", restored.text());
    }
}

#[test]
fn a_rule_in_an_earlier_checkpoint_is_a_decision_like_others() {
    let old = common::EXAMPLE.replace(
        "User prefers budget options over luxury",
        "Rule of the user: Never book without asking.",
    );
    let checkpoint = Checkpoint::from_yaml(&old, Seal::Optional).unwrap();
    let restored = checkpoint.restore(&Restoring::default(), &Bpe::o200k());
    let expected = "Decisions made:\n- Rule of the user: Never book without asking. (14:15)\n";
    assert!(restored.unwrap().text().contains(expected));
    let assignment = Assignment {
        to: "worker".into(),
        task: "go on".into(),
        constraints: Vec::new(),
        budget: Tokens(1),
    };
    assert_eq!(Handoff::of(&checkpoint, &assignment).decisions.len(), 2);
}

#[test]
fn words_that_fit_are_all_there_as_they_were_typed() {
    let mut ledger = ledger(&["first\n  with two lines", "second", "third"]);
    ledger.utterances[1].origin = Origin::Carried;
    assert_eq!(
        words(&ledger, 2_000),
        ["first\n  with two lines", "second", "third"]
    );
    assert_eq!(words(&Ledger::default(), 2_000), [""; 0]);
}

#[test]
fn words_of_others_and_answers_that_are_listed_as_agreed_are_not_repeated() {
    let mut ledger = ledger(&["mine", "an agent's", "imported", "B", "typed when asked"]);
    ledger.utterances[1].origin = Origin::Agent;
    ledger.utterances[2].origin = Origin::Imported;
    ledger.utterances[3].channel = Channel::Answer;
    ledger.utterances[4].channel = Channel::Answer;
    ledger.agreements = vec![Agreement::Answer {
        question: "A or B?".into(),
        answer: "B: two pages".into(),
        option: None,
        entry: EntryId::new("e4"),
        time: None,
    }];
    assert_eq!(words(&ledger, 2_000), ["mine", "typed when asked"]);
}

#[test]
fn past_the_cap_long_texts_keep_their_ends_and_the_first_and_newest_stay() {
    let paste = format!(
        "look at this: {} and fix it",
        "line of a log\n".repeat(2_000)
    );
    let middle = "word ".repeat(30);
    let mut texts = vec!["the first wish", paste.as_str()];
    texts.extend(vec![middle.as_str(); 40]);
    texts.push("the newest wish");
    let given = words(&ledger(&texts), 400);
    assert!(tokens(&given) <= 400, "{}", tokens(&given));
    assert_eq!(given[0], "the first wish");
    assert_eq!(given.last().unwrap(), "the newest wish");
    assert!(given.len() > 8);

    let given = words(&ledger(&["the first wish", &paste, "the newest wish"]), 400);
    assert_eq!(given.len(), 3);
    assert!(given[1].starts_with("look at this: line of a log"));
    assert!(given[1].contains(" [… whole in entry e2 …] "));
    assert!(given[1].ends_with("line of a log\n and fix it"));
}

#[test]
fn a_text_of_which_the_ledger_has_two_ends_is_never_shown_as_whole() {
    let mut ledger = ledger(&["head tail"]);
    ledger.utterances[0].gap = Some(4);
    assert_eq!(words(&ledger, 2_000), ["head [… whole in entry e1 …] tail"]);
}

#[test]
fn a_hand_off_passes_on_what_it_was_given_and_the_users_words() {
    let mut ledger = ledger(&["Never change the public API.", "Make the test pass."]);
    let given = constraints(&ledger, USER_WORDS, &Bpe::o200k());
    assert_eq!(given, words(&ledger, USER_WORDS.0));
    ledger.handed = Some(Handed {
        agent: "main".into(),
        session: "s".into(),
        task: "the task".into(),
        constraints: vec!["Keep it short.".into()],
        entry: EntryId::new("h"),
    });
    assert_eq!(
        constraints(&ledger, USER_WORDS, &Bpe::o200k()),
        [
            "Keep it short.",
            "Never change the public API.",
            "Make the test pass."
        ]
    );
    assert!(!words(&ledger, USER_WORDS.0).contains(&"Keep it short.".into()));
}

proptest! {
    #[test]
    fn the_words_stay_within_every_cap_and_in_order(
        texts in prop::collection::vec("(?s)([a-z 日\n]|.){1,300}", 0..12),
        limit in 40u32..600,
    ) {
        let texts: Vec<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        let given = words(&ledger(&texts), limit);
        prop_assert!(tokens(&given) <= limit);
        prop_assert_eq!(given.is_empty(), texts.is_empty());
        let mut left = texts.iter();
        for text in given.iter().filter(|text| !text.contains("[… whole in entry")) {
            prop_assert!(left.any(|known| known == text));
        }
    }
}
