//! What stays whatever leaves the context: what the agent noted, and what the
//! user said in the session before.

use std::sync::Arc;

use longhaul_checkpoint::{CheckpointStore, FileStore};
use longhaul_compaction::Layer;
use longhaul_engine::checkpoints::Whose;
use longhaul_engine::event::Event;
use longhaul_engine::tools::{NobodyToAsk, Permissions, WorkspaceSettings, WorkspaceTools};
use longhaul_ledger::{NoteKind, Origin};
use longhaul_model::{CancellationToken, Request};
use longhaul_transcript::Session as Stored;
use serde_json::json;

use crate::support::{Purpose, Rig, Said, lines, plainly, prose, purpose, run, words};

const WINDOW: u32 = 24_000;

fn context(rig: &mut Rig) -> String {
    words(&rig.session.assemble(&mut ()).unwrap())
}

fn compact(rig: &mut Rig) {
    let cancel = CancellationToken::new();
    let before = rig.compactions();
    let compacted = run(rig
        .session
        .compact(Layer::Summarize, None, &cancel, &mut rig.heard));
    // It may have been compacted just now.
    assert!(compacted.is_ok() || before > 0, "{compacted:?}");
}

/// Notes what it is told to, once.
fn notes(request: &Request) -> Said {
    let last = request.messages.last().map(|message| message.role);
    let asked = words(request).lines().rev().find_map(|line| {
        let (kind, text) = line.strip_prefix("note ")?.split_once(": ")?;
        Some(json!({ "kind": kind, "text": text }).to_string())
    });
    match (purpose(request), asked) {
        (Purpose::Turn, Some(note)) if last == Some(longhaul_model::Role::User) => {
            Said::call("note", &note)
        }
        _ => plainly(request),
    }
}

#[test]
fn a_note_stands_in_every_summary_and_checkpoint_after_it() {
    let mut rig = Rig::new(
        WINDOW,
        |setup| {
            let tools = WorkspaceTools::new(WorkspaceSettings {
                workspace: setup.workspace.clone(),
                readable: Vec::new(),
                permissions: Permissions::default(),
                approver: Arc::new(NobodyToAsk),
                bash: None,
                notebook: None,
                recall: None,
            });
            setup.tools = Arc::new(tools.unwrap());
        },
        notes,
    );
    let noted = [
        ("decision", "SQLite, since it needs no server"),
        ("fact", "staging listens on 5433"),
        ("open_item", "rotate the logs"),
        ("learning", "the linter needs Node 22"),
    ];
    for (kind, text) in noted {
        rig.say(&format!("note {kind}: {text}")).unwrap();
    }
    // What is refused is no note.
    let long = "x".repeat(2_001);
    rig.say(&format!("note fact: {long}")).unwrap();
    let ledger = rig.session.live().ledger();
    let texts: Vec<&str> = ledger.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(texts, noted.map(|(_, text)| text));
    assert_eq!(ledger.noted(NoteKind::OpenItem).count(), 1);

    for round in 0..2 {
        for at in 0..10 {
            rig.say(&prose(round * 10 + at, 400)).unwrap();
        }
        compact(&mut rig);
        let context = context(&mut rig);
        let (_, agreed) = context.split_once("## What was agreed\n").unwrap();
        for line in [
            "- decision: SQLite, since it needs no server",
            "- fact: staging listens on 5433",
            "- open item: rotate the logs",
            "- learning: the linter needs Node 22",
        ] {
            assert!(agreed.contains(line), "{round}: {line}\n{context}");
        }
    }
    let setup = rig.engine.setup();
    let store = FileStore::new(&setup.state_dir, setup.config.checkpoint_policy());
    let whose = Whose::of(&Stored::open(rig.session.path()).unwrap());
    let checkpoint = store.latest(&whose.key).unwrap().checkpoint.unwrap();
    let has = |texts: String, text: &str| assert!(texts.contains(text), "{text}: {texts}");
    has(format!("{:?}", checkpoint.decisions), noted[0].1);
    has(format!("{:?}", checkpoint.open_items), noted[2].1);
    has(format!("{:?}", checkpoint.learnings), noted[3].1);
}

/// The lines with some words, beside the gist of the thread in a checkpoint.
fn lines_with<'a>(context: &'a str, words: &str) -> Vec<&'a str> {
    let lines = context.lines().filter(|line| line.contains(words));
    lines.filter(|line| !line.starts_with("Thread: ")).collect()
}

/// A new session of the same name.
fn begin_again(rig: &mut Rig) {
    rig.session = rig.engine.create(Some("test"), &mut rig.heard).unwrap();
}

const FIRST: &str = "Use tabs.\nNever touch deploy.lock.";
const SECOND: &str = "No, spaces after all.";

#[test]
fn a_new_session_of_a_name_has_what_the_user_said_in_the_one_before() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    assert!(!rig.file().contains("longhaul:carried"));
    for said in [
        FIRST,
        SECOND,
        "The token is ghp_a7Bq2Zx9Lm4Tn8Vwa7Bq2Zx9Lm4Tn8Vwa7Bq",
    ] {
        rig.say(said).unwrap();
    }
    begin_again(&mut rig);
    let entries = lines(rig.session.path());
    let carried: Vec<_> = entries
        .iter()
        .filter(|entry| entry["customType"] == "longhaul:carried")
        .collect();
    assert_eq!(carried.len(), 1, "{entries:?}");
    assert_eq!(carried[0]["data"]["session"], "test");
    assert_eq!(carried[0]["data"]["texts"][0], FIRST);
    assert!(!rig.file().contains("ghp_a7Bq"), "{}", rig.file());
    let restored = |rig: &Rig| {
        rig.heard.count(|event| {
            matches!(event, Event::Restored { fragments, .. }
                if fragments.iter().any(|one| format!("{one:?}").contains("Carried")))
        })
    };
    assert_eq!(restored(&rig), 1, "{:?}", rig.heard.0);

    // In the next contexts, in order, and after a restart.
    for _ in 0..2 {
        let context = context(&mut rig);
        let (before, after) = context.split_once(FIRST).unwrap();
        assert!(before.contains("What the user said in the session before this one"));
        assert!(after.contains(SECOND), "{context}");
        rig.restart();
    }
    rig.say("Go on.").unwrap();
    assert_eq!(
        context(&mut rig)
            .matches("Never touch deploy.lock.")
            .count(),
        1
    );
    assert_eq!(restored(&rig), 1);

    // Its own compactions carry them on, and do not count them as its own.
    for round in 0..2 {
        for at in 0..24 {
            rig.say(&prose(round * 24 + at, 400)).unwrap();
        }
        compact(&mut rig);
        let context = context(&mut rig);
        assert!(context.contains("[from the session before]:"), "{context}");
        for words in ["Never touch deploy.lock.", SECOND] {
            assert_eq!(lines_with(&context, words).len(), 1, "{context}");
        }
        assert!(!context.contains("What the user said in the session before this one"));
    }
    let ledger = rig.session.live().ledger();
    let own = ledger
        .utterances
        .iter()
        .filter(|said| said.origin == Origin::User);
    let audit = rig.heard.0.iter().rev().find_map(|event| match event {
        Event::Compacted(made) => Some(made.fidelity.clone()),
        _ => None,
    });
    let audit = audit.unwrap();
    let tally = &audit.user_text;
    let audited = tally.whole + tally.shortened + tally.recallable + tally.nowhere;
    assert_eq!(audited as usize, own.count(), "{audit:?}");

    // And so does the session after it.
    begin_again(&mut rig);
    let context = context(&mut rig);
    assert_eq!(
        lines_with(&context, "Never touch deploy.lock.").len(),
        1,
        "{context}"
    );
}

#[test]
fn words_that_are_too_many_leave_the_first_and_the_newest() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    rig.say(FIRST).unwrap();
    for at in 0..60 {
        rig.say(&format!("Number {at} of many things to do."))
            .unwrap();
    }
    begin_again(&mut rig);
    let context = context(&mut rig);
    assert!(
        context.contains(FIRST) && context.contains("Number 59 of"),
        "{context}"
    );
    assert!(!context.contains("Number 3 of"), "{context}");
    // 2,000 tokens at a window of 200,000.
    let said = context.matches("of many things to do.").count();
    assert!((10..40).contains(&said), "{said}");
}

#[test]
fn another_name_or_none_carries_nothing() {
    let mut rig = Rig::new(WINDOW, |_| {}, plainly);
    rig.say(FIRST).unwrap();
    for name in [Some("test2"), Some("tes"), None] {
        let mut other = rig.engine.create(name, &mut ()).unwrap();
        let context = words(&other.assemble(&mut ()).unwrap());
        assert!(!context.contains("deploy.lock"), "{name:?}");
    }
    // A session without a word gives none, and does no harm.
    let empty = rig.engine.create(Some("empty"), &mut ()).unwrap();
    let again = rig.engine.create(Some("empty"), &mut ()).unwrap();
    assert_ne!(empty.path(), again.path());
    assert!(
        !std::fs::read_to_string(again.path())
            .unwrap()
            .contains("carried")
    );
}
