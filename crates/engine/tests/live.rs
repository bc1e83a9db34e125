//! A session compacted, taken back and compacted again, on a real file.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};

use longhaul_compaction::CompactionRules;
use longhaul_compaction::compact::{Compacted, CompactionFailure, CompactionRequest};
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::live::Live;
use longhaul_engine::measure::Meter;
use longhaul_engine::recall::{Query, recall};
use longhaul_engine::survey::Keep;
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_tokens::{Estimator, Tokens, Window, WindowSettings};
use longhaul_transcript::{
    Context, Conversation, Draft, Durability, Entry, EntryId, Millis, Session, Stamp, Writer,
    verify,
};

fn sample(seed: u64, turns: u32) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let plan = Plan {
        seed,
        size: Size::Turns(turns),
        ..Plan::default()
    };
    let mut file = std::fs::File::create(&path).unwrap();
    generate(&plan, &mut file).unwrap();
    (folder, path)
}

fn window(size: u32) -> Window {
    Window::new(&WindowSettings::of(Tokens(size))).unwrap()
}

fn stamps() -> impl FnMut() -> Stamp {
    let mut n = 0;
    move || {
        n += 1;
        Stamp {
            id: EntryId::new(format!("new-{n:04}")),
            time: Millis(1_800_000_000_000 + n),
        }
    }
}

fn compact(live: &Live, window: &Window, layer: Layer) -> Result<Compacted, CompactionFailure> {
    compact_by(live, window, layer, CompactionRules::default())
}

fn compact_by(
    live: &Live,
    window: &Window,
    layer: Layer,
    rules: CompactionRules,
) -> Result<Compacted, CompactionFailure> {
    let mut meter = Meter::new(Estimator::default());
    let tokens_before = meter.messages(live.messages());
    live.compact(
        &mut meter,
        &CompactionRequest {
            layer,
            trigger: Trigger::Manual,
            focus: None,
            window,
            protect: window.scaled(Tokens(25_000)),
            overhead: Tokens::ZERO,
            tokens_before,
            rules,
            tail: Default::default(),
            is_stored: &|id| live.entries().iter().any(|entry| entry.id == *id) || live.epoch() > 0,
        },
    )
}

fn append(path: &Path, draft: &Draft, stamp: Stamp) {
    Writer::open(path, Durability::Os)
        .unwrap()
        .append(draft, stamp)
        .unwrap();
}

fn context(path: &Path) -> String {
    Session::open(path).unwrap().context().unwrap().to_json()
}

#[test]
fn a_compacted_session_loads_the_same_from_memory_and_from_disk() {
    let (_folder, path) = sample(3, 40);
    let window = window(60_000);
    let mut stamp = stamps();
    let mut live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let done = compact(&live, &window, Layer::Summarize).unwrap();
    let new = stamp();
    append(&path, &done.draft, new.clone());
    let parent = live.entries().last().map(|entry| entry.id.clone());
    live.push(done.draft.to_entry(&new, parent.as_ref()));

    assert_eq!(live.context().to_json(), context(&path));
    let reopened = Live::open(&Session::open(&path).unwrap()).unwrap();
    assert_eq!(reopened.epoch(), 1);
    assert_eq!(reopened.ledger(), live.ledger());
    assert!(!done.fidelity.lost_something());
    assert!(verify(&Session::open(&path).unwrap()).unwrap().is_sound());
}

#[test]
fn compacting_again_with_nothing_new_changes_nothing() {
    let (_folder, path) = sample(4, 30);
    let window = window(60_000);
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let first = compact(&live, &window, Layer::Summarize).unwrap();
    let again = compact(&live, &window, Layer::Summarize).unwrap();
    assert_eq!(first.draft, again.draft);
    append(&path, &first.draft, stamps()());
    let compacted = Live::open(&Session::open(&path).unwrap()).unwrap();
    assert_eq!(
        compact(&compacted, &window, Layer::Summarize).unwrap_err(),
        CompactionFailure::NothingToDo
    );
}

#[test]
fn an_emergency_drops_as_many_turns_as_was_set() {
    let (_folder, path) = sample(5, 30);
    let window = window(60_000);
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let dropped = |emergency_turns| {
        let rules = CompactionRules {
            emergency_turns,
            ..CompactionRules::default()
        };
        let done = compact_by(&live, &window, Layer::Emergency, rules).unwrap();
        done.removed.messages
    };
    let usual = compact(&live, &window, Layer::Emergency).unwrap();
    assert_eq!(dropped(2), usual.removed.messages);
    assert!(dropped(1) < dropped(2) && dropped(2) < dropped(9));
}

#[test]
fn undo_brings_the_old_context_back_and_redo_the_new_one() {
    let (_folder, path) = sample(5, 30);
    let window = window(60_000);
    let mut stamp = stamps();
    let before = context(&path);
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let done = compact(&live, &window, Layer::Summarize).unwrap();
    append(&path, &done.draft, stamp());
    let compacted = context(&path);
    assert_ne!(before, compacted);
    append(&path, &Draft::user("and now?", Millis(1)), stamp());

    let session = Session::open(&path).unwrap();
    let live = Live::open(&session).unwrap();
    let undo = live.undo(&mut stamp, &|_| None).unwrap();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.branch(undo.branch.unwrap());
    writer.append_all(&undo.drafts).unwrap();
    drop(writer);
    let undone = context(&path);
    assert!(undone.starts_with(before.trim_end_matches(']')));
    assert!(undone.contains("and now?"));

    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let redo = live.redo(&mut stamp).unwrap();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.branch(redo.branch.unwrap());
    writer.append_all(&redo.drafts).unwrap();
    drop(writer);
    let redone = context(&path);
    assert!(redone.starts_with(compacted.trim_end_matches(']')));
    assert!(redone.contains("and now?"));
    assert!(verify(&Session::open(&path).unwrap()).unwrap().is_sound());
}

#[test]
fn thirty_compactions_give_contexts_of_constant_size() {
    let (_folder, path) = sample(6, 40);
    let window = window(60_000);
    let mut stamp = stamps();
    let mut live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let mut sizes = Vec::new();
    for round in 0..30u32 {
        for text in ["go on", "please"] {
            let draft = Draft::user(&format!("{text} {round}"), Millis(i64::from(round)));
            push(&mut live, &draft, stamp());
        }
        match compact(&live, &window, Layer::Full) {
            Ok(done) => {
                assert!(!done.fidelity.lost_something());
                push(&mut live, &done.draft, stamp());
                sizes.push(done.tokens_after.0);
            }
            Err(CompactionFailure::NothingToDo) => {}
            Err(failure) => panic!("{failure}"),
        }
    }
    let (least, most) = (
        *sizes.iter().skip(1).min().unwrap_or(&0),
        *sizes.iter().skip(1).max().unwrap_or(&0),
    );
    assert!(most <= least + least / 10, "{sizes:?}");
}

#[test]
fn secrets_are_known_as_the_session_grows_and_after_what_said_them_has_left() {
    let (_folder, path) = sample(3, 40);
    let mut live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let mut stamp = stamps();
    let pieces = ["u8mxQ1TLEij4d8xI6D", "w3RnKc0ZpYhB5vGe7T"];
    let known = |live: &Live| pieces.map(|piece| live.redactor().redact(piece).text != piece);
    assert_eq!(known(&live), [false, false]);
    for (piece, now_known) in pieces.iter().zip([[true, false], [true, true]]) {
        let said = format!("GITHUB_TOKEN=ghp_{piece}AbCdEfGh12345678XyZw is the token");
        push(&mut live, &Draft::user(&said, Millis(1)), stamp());
        assert_eq!(known(&live), now_known);
        assert_eq!(known(&live.clone()), now_known);
    }
    // What said them leaves, and what is made of it stays.
    for _ in 0..200 {
        let said = "Look at the next file, please, and tell me about it. ".repeat(20);
        push(&mut live, &Draft::user(&said, Millis(2)), stamp());
    }
    let done = compact(&live, &window(60_000), Layer::Summarize).unwrap();
    let Draft::Compaction { first_kept, .. } = &done.draft else {
        panic!("no compaction");
    };
    assert!(first_kept.as_ref().unwrap().as_str() > "new-0002");
    push(&mut live, &done.draft, stamp());
    assert_eq!(known(&live), [true, true]);
}

fn push(live: &mut Live, draft: &Draft, stamp: Stamp) {
    let parent = live.entries().last().map(|entry| entry.id.clone());
    live.push(draft.to_entry(&stamp, parent.as_ref()));
}

#[test]
fn pinned_messages_survive_word_for_word() {
    let (_folder, path) = sample(7, 30);
    let window = window(60_000);
    let mut stamp = stamps();
    let session = Session::open(&path).unwrap();
    let pinned: Entry = session
        .load()
        .unwrap()
        .entries
        .iter()
        .find(|entry| entry.role() == Some(&longhaul_transcript::Role::User))
        .unwrap()
        .clone();
    append(&path, &Draft::pin(pinned.id.clone(), None), stamp());
    let text = pinned.message().unwrap().text();
    for round in 0..4 {
        let more = format!("more of it, number {round}: {}", "words ".repeat(9_000));
        append(&path, &Draft::user(&more, Millis(1)), stamp());
        let mut live = Live::open(&Session::open(&path).unwrap()).unwrap();
        let done = compact(&live, &window, Layer::Full).unwrap();
        let new = stamp();
        append(&path, &done.draft, new.clone());
        push(&mut live, &done.draft, new);
        let all: String = live
            .context()
            .messages
            .iter()
            .map(|message| message.view().text())
            .collect();
        assert!(all.contains(&text));
    }
}

#[test]
fn every_context_after_a_compaction_is_paired() {
    let (_folder, path) = sample(8, 40);
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    for size in [24_000, 60_000, 200_000] {
        if let Ok(done) = compact(&live, &window(size), Layer::Summarize) {
            let mut live = live.clone();
            push(&mut live, &done.draft, stamps()());
            let conversation = Conversation::new(Context::build(live.loaded()).messages);
            assert!(conversation.orphans().is_empty());
        }
    }
}

#[test]
fn what_left_is_recalled_by_id_and_by_five_words() {
    let (_folder, path) = sample(9, 20);
    let session = Session::open(&path).unwrap();
    let wanted = session
        .load()
        .unwrap()
        .entries
        .iter()
        .filter(|entry| entry.role() == Some(&longhaul_transcript::Role::User))
        .nth(3)
        .unwrap()
        .clone();
    let by_id = recall(
        &session,
        &Keep::nowhere(),
        &Query::Id(wanted.id.to_string()),
        5,
    )
    .unwrap();
    assert_eq!(by_id[0].entry.raw(), wanted.raw());
    let text = wanted.message().unwrap().text();
    let quote: Vec<&str> = text.split_whitespace().take(5).collect();
    let hits = recall(
        &session,
        &Keep::nowhere(),
        &Query::Text(quote.join("  ").to_uppercase()),
        5,
    )
    .unwrap();
    assert!(hits.iter().any(|hit| hit.entry.id == wanted.id));
}

fn answer(total: u64) -> Draft {
    Draft::Message(format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":"Done."}}],"model":"claude-x","stopReason":"stop","usage":{{"input":{total},"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":{total}}}}}"#
    ))
}

fn boundary(first_kept: Option<EntryId>) -> Draft {
    Draft::Compaction {
        summary: "What was done.".into(),
        first_kept,
        tokens_before: 0,
        details: None,
    }
}

fn say(path: &Path, text: &str, total: u64, stamp: &mut impl FnMut() -> Stamp) -> EntryId {
    append(path, &Draft::user(text, Millis(1)), stamp());
    let new = stamp();
    append(path, &answer(total), new.clone());
    new.id
}

fn open(path: &Path) -> Live {
    Live::open(&Session::open(path).unwrap()).unwrap()
}

fn carry_out(path: &Path, plan: &longhaul_engine::live::Again) {
    let mut writer = Writer::open(path, Durability::Os).unwrap();
    if let Some(branch) = &plan.branch {
        writer.branch(branch.clone());
    }
    writer.append_all(&plan.drafts).unwrap();
}

fn undo(path: &Path, stamp: &mut impl FnMut() -> Stamp) -> EntryId {
    let session = Session::open(path).unwrap();
    let find = |id: &EntryId| {
        let mut found = None;
        let _ = session.each(&mut |entry| {
            if entry.id == *id {
                found = Some(entry);
            }
            std::ops::ControlFlow::Continue(())
        });
        found
    };
    let plan = Live::open(&session).unwrap().undo(stamp, &find).unwrap();
    carry_out(path, &plan);
    plan.subject
}

fn redo(path: &Path, stamp: &mut impl FnMut() -> Stamp) -> EntryId {
    let plan = open(path).redo(stamp).unwrap();
    carry_out(path, &plan);
    plan.subject
}

/// The measured size in thousands, and the answer that it is known from.
fn measured(path: &Path) -> (u32, Option<EntryId>) {
    let live = open(path);
    let reading = Meter::new(Estimator::default()).context(live.loaded(), &live.context());
    (reading.measurement.tokens.0 / 1000, reading.anchor)
}

#[test]
fn usage_of_another_context_is_not_believed_after_undo_and_redo() {
    let (_folder, path) = sample(7, 2);
    let mut stamp = stamps();
    let large = say(&path, "Read it all.", 740_000, &mut stamp);
    append(&path, &boundary(None), stamp());
    let small = say(&path, "Go on.", 30_000, &mut stamp);
    assert_eq!(measured(&path), (30, Some(small.clone())));

    undo(&path, &mut stamp);
    assert_eq!(measured(&path), (740, Some(large)));
    let whole = say(&path, "And now?", 742_000, &mut stamp);
    assert_eq!(measured(&path), (742, Some(whole)));

    redo(&path, &mut stamp);
    assert_eq!(measured(&path), (30, Some(small)));
}

/// Hides an entry as a pruning does.
fn prune(path: &Path, target: &EntryId, stamp: &mut impl FnMut() -> Stamp) {
    let edit = Draft::ContextEdit {
        target: target.clone(),
        content: Some(r#"[{"type":"text","text":"(hidden)"}]"#.into()),
    };
    append(path, &edit, stamp());
    let mark = Draft::Custom {
        custom_type: longhaul_engine::marks::PRUNE_MARK.into(),
        data: format!(r#"{{"targets":["{target}"]}}"#),
    };
    append(path, &mark, stamp());
}

#[test]
fn undos_are_taken_back_one_by_one_in_the_opposite_order() {
    for between in [false, true] {
        let (_folder, path) = sample(8, 2);
        let mut stamp = stamps();
        let mut said = Vec::new();
        say(&path, "first", 10, &mut stamp);
        append(&path, &boundary(None), stamp());
        let hidden = say(&path, "second", 10, &mut stamp);
        prune(&path, &hidden, &mut stamp);
        let kept = say(&path, "third", 10, &mut stamp);
        append(&path, &boundary(Some(hidden)), stamp());
        let hidden = say(&path, "fourth", 10, &mut stamp);
        append(&path, &boundary(Some(kept)), stamp());
        say(&path, "fifth", 10, &mut stamp);
        prune(&path, &hidden, &mut stamp);

        // Pruning, #3, #2, pruning, #1.
        let mut before = Vec::new();
        for step in 0..5 {
            before.push(context(&path));
            undo(&path, &mut stamp);
            assert_ne!(context(&path), *before.last().unwrap());
            if between {
                let text = format!("between {step}");
                say(&path, &text, 10, &mut stamp);
                said.push(text);
            }
        }
        assert!(open(&path).undo(&mut stamp, &|_| None).is_err());
        for (step, before) in before.iter().enumerate().rev() {
            redo(&path, &mut stamp);
            let now = context(&path);
            if between {
                let start = before.trim_end_matches(']');
                assert!(now.starts_with(start), "step {step}:\n{before}\n{now}");
                assert!(said.iter().all(|text| now.contains(text)), "{now}");
            } else {
                assert_eq!(now, *before, "step {step}");
            }
        }
        assert!(open(&path).redo(&mut stamp).is_err());
        assert!(verify(&Session::open(&path).unwrap()).unwrap().is_sound());
    }
}

#[test]
fn what_is_hidden_after_an_undo_stays_hidden_after_the_redo() {
    let (_folder, path) = sample(9, 2);
    let mut stamp = stamps();
    append(&path, &boundary(None), stamp());
    say(&path, "Go on.", 10, &mut stamp);
    undo(&path, &mut stamp);
    let copy = open(&path).entries().last().unwrap().id.clone();
    prune(&path, &copy, &mut stamp);
    redo(&path, &mut stamp);
    assert!(context(&path).contains("(hidden)"));
    undo(&path, &mut stamp);
    assert!(!context(&path).contains("(hidden)"));
}
