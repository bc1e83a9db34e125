//! What is put back after a compaction, once an epoch, and what an agent is told
//! beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhaul_checkpoint::{CheckpointStore, Trigger as Why, Turn};
use longhaul_engine::checkpoints::{Checkpoints, News, Occasion, Restoration, Whose};
use longhaul_engine::event::Event;
use longhaul_engine::live::Live;
use longhaul_tokens::{CheckpointNote, FragmentKind, Heuristic, Tokens, Window, WindowSettings};
use longhaul_transcript::{Draft, Durability, EntryId, Header, Millis, Session, Stamp, Writer};

use crate::place::{NOON, Place, manual, never};

#[test]
fn a_note_that_cannot_be_kept_does_not_take_what_is_put_back_with_it() {
    let place = Place::new();
    let before = fs::read(place.session()).unwrap();
    let expected = place.runs(0).carried.unwrap().restored.fragments;
    assert!(!expected.is_empty());
    let folder = place
        .state()
        .join("context/state")
        .join(place.key().folder_name());
    let note = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("/restored-"))
        .unwrap();
    // The same once more, but where the note should be there is a folder.
    fs::remove_dir_all(place.state()).unwrap();
    fs::create_dir_all(note.join("in the way")).unwrap();
    fs::write(place.session(), before).unwrap();
    let saw = place.runs(0);
    let restored = saw.carried.unwrap().restored;
    assert_eq!(restored.fragments, expected);
    let troubles = saw.events.iter().filter(
        |event| matches!(event, Event::CheckpointTrouble { reason, .. } if reason.contains("restored-")),
    );
    assert_eq!(troubles.count(), 2, "{:?}", saw.events);
    // It is new once more, and given as long as it could not be noted down.
    let (again, events) = place.restore(&place.session(), &never);
    assert_eq!((again.news, again.fragments), (News::First, expected));
    assert!(!events.is_empty());
    fs::remove_dir_all(&note).unwrap();
    assert_eq!(place.restore(&place.session(), &never).0.news, News::First);
    assert_eq!(place.restore(&place.session(), &never).0.news, News::Same);
}

#[test]
fn what_changed_is_put_back_again_and_nothing_else() {
    let place = Place::new();
    place.runs(0);
    let path = place.session();
    assert_eq!(place.restore(&path, &never).0.news, News::Same);
    fs::write(place.workspace().join("MEMORY.md"), "- remember that\n").unwrap();
    let (changed, events) = place.restore(&path, &never);
    assert_eq!(changed.news, News::Changed(vec![1]));
    assert_eq!(changed.fresh()[0].kind(), FragmentKind::Memory);
    assert_eq!(changed.fragments.len(), 4);
    assert!(
        matches!(&events[0], Event::Restored { epoch: 1, fragments, .. } if fragments.len() == 1)
    );
    assert_eq!(place.restore(&path, &never).0.news, News::Same);
    // A checkpoint of later in the epoch does not replace the one of its start.
    let (store, whose) = (place.store(), place.whose(&path));
    let checkpoints = checkpoints(&store, &whose);
    assert_eq!(checkpoints.note(None, 1), CheckpointNote::None);
    let id = written(&checkpoints, &path, Why::Threshold, Tokens(24_000));
    assert_eq!(id, "cp_002");
    let latest = checkpoints.latest(&mut |_| {}).unwrap();
    assert_eq!(checkpoints.note(latest.as_ref(), 1), CheckpointNote::Saved);
    assert_eq!(checkpoints.note(latest.as_ref(), 2), CheckpointNote::None);
    assert_eq!(place.restore(&path, &never).0.news, News::Same);
}

fn checkpoints<'a>(store: &'a dyn CheckpointStore, whose: &'a Whose) -> Checkpoints<'a> {
    Checkpoints {
        store,
        whose,
        redact: &str::to_owned,
    }
}

/// Writes a checkpoint of a session as it is later; says how it is called.
fn written(checkpoints: &Checkpoints<'_>, path: &Path, trigger: Why, tokens: Tokens) -> String {
    let live = Live::open(&Session::open(path).unwrap()).unwrap();
    let occasion = Occasion {
        at: Millis(NOON + 20_000_000),
        trigger,
        tokens,
        window: Tokens(30_000),
        turn: Turn::Whole,
    };
    let id = checkpoints.write(&live, &occasion, &mut |_| {}).unwrap();
    id.to_string()
}

/// A session that reads and edits one file of the workspace.
fn with_key_file(place: &Place) -> PathBuf {
    let path = place.folder.path().join("k.jsonl");
    let header = Header {
        id: "k".into(),
        version: 3,
        time: Some(Millis(NOON)),
        cwd: Some(place.workspace()),
        parent_session: None,
    };
    fs::write(place.workspace().join("plan.md"), "the plan\n").unwrap();
    let file = place.workspace().join("plan.md");
    let mut writer = Writer::create(&path, &header, Durability::Os).unwrap();
    let mut add = |id: &str, message: serde_json::Value| {
        let stamp = Stamp {
            id: EntryId::new(id),
            time: Millis(NOON),
        };
        writer
            .append(&Draft::Message(message.to_string()), stamp)
            .unwrap();
    };
    add(
        "u1",
        serde_json::json!({"role": "user", "content": "Read the plan."}),
    );
    add(
        "a1",
        serde_json::json!({"role": "assistant", "content": [{"type": "toolCall", "id": "c1",
            "name": "read", "arguments": {"path": file}}]}),
    );
    add(
        "r1",
        serde_json::json!({"role": "toolResult", "toolCallId": "c1", "toolName": "read",
            "isError": false, "content": [{"type": "text", "text": "the plan"}]}),
    );
    let compaction = Draft::Compaction {
        summary: "The plan was read.".into(),
        first_kept: Some(EntryId::new("u1")),
        tokens_before: 1000,
        details: None,
    };
    let stamp = Stamp {
        id: EntryId::new("c1"),
        time: Millis(NOON),
    };
    writer.append(&compaction, stamp).unwrap();
    path
}

#[test]
fn a_key_file_is_news_when_somebody_else_changed_it() {
    let place = Place::new();
    let path = with_key_file(&place);
    let now = Millis::of_file(SystemTime::now()).unwrap();
    let long_ago = |_: &EntryId| Some(Millis(NOON));
    let in_the_future = |_: &EntryId| Some(Millis(now.0 + 1_000_000));
    let text = |restored: &Restoration| {
        let file = restored
            .fragments
            .iter()
            .find(|f| f.kind() == FragmentKind::KeyFile);
        file.unwrap().text().to_owned()
    };
    let (first, _) = place.restore(&path, &in_the_future);
    assert_eq!(first.news, News::First);
    assert!(text(&first).ends_with("as it is on disk now]\nthe plan\n"));

    // The agent itself wrote it, after what it saw: no news to it.
    let file = place.workspace().join("plan.md");
    fs::write(&file, "the agent's plan\n").unwrap();
    assert_eq!(place.restore(&path, &in_the_future).0.news, News::Same);

    // Somebody else did.
    fs::write(&file, "another plan\n").unwrap();
    let changed = Millis(NOON.max(now.0 + 2_000_000));
    fs::File::options()
        .append(true)
        .open(&file)
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(changed.0 as u64))
        .unwrap();
    let (again, _) = place.restore(&path, &long_ago);
    assert!(
        matches!(&again.news, News::Changed(places) if places.len() == 1),
        "{:?}",
        again.news
    );
    assert!(text(&again).contains("changed since you last saw it]\nanother plan"));
    assert_eq!(place.restore(&path, &long_ago).0.news, News::Same);
}

#[test]
fn a_new_session_of_the_same_key_starts_with_the_checkpoint() {
    let place = Place::new();
    // Its own checkpoint is no news to a session that was never compacted.
    let path = place.folder.path().join("next.jsonl");
    let header = Header {
        id: "next".into(),
        version: 3,
        time: Some(Millis(NOON)),
        cwd: Some(place.workspace()),
        parent_session: None,
    };
    Writer::create(&path, &header, Durability::Os).unwrap();
    assert!(
        place.restore(&path, &never).0.fragments.is_empty(),
        "nothing before it"
    );

    place.runs(0);
    let (restored, _) = place.restore(&path, &never);
    assert_eq!(restored.news, News::First);
    assert_eq!(restored.checkpoint.unwrap().to_string(), "cp_001");
    assert_eq!(restored.fragments[0].kind(), FragmentKind::Checkpoint);
    assert!(restored.fragments[0].tokens() <= Tokens(700));
    // Its own next checkpoint does not take that away again.
    let (store, whose) = (place.store(), place.whose(&path));
    written(
        &checkpoints(&store, &whose),
        &path,
        Why::Manual,
        Tokens(9_000),
    );
    let (later, _) = place.restore(&path, &never);
    assert_eq!(later.news, News::Same);
    assert_eq!(later.checkpoint.unwrap().to_string(), "cp_001");
}

/// A session that was compacted so often, without any checkpoint.
fn compacted(place: &Place, times: u32) -> PathBuf {
    let path = place.folder.path().join(format!("c{times}.jsonl"));
    let header = Header {
        id: "c".into(),
        version: 3,
        time: Some(Millis(NOON)),
        cwd: Some(place.workspace()),
        parent_session: None,
    };
    let mut writer = Writer::create(&path, &header, Durability::Os).unwrap();
    for n in 0..times {
        let stamp = |kind: &str| Stamp {
            id: EntryId::new(format!("{kind}{n}")),
            time: Millis(NOON),
        };
        let user = Draft::user("Go on.", Millis(NOON));
        writer.append(&user, stamp("u")).unwrap();
        let compaction = Draft::Compaction {
            summary: "So far.".into(),
            first_kept: Some(EntryId::new(format!("u{n}"))),
            tokens_before: 1000,
            details: None,
        };
        writer.append(&compaction, stamp("c")).unwrap();
    }
    path
}

#[test]
fn from_the_fourth_compaction_on_the_agent_is_warned_once() {
    let place = Place::new();
    let (third, _) = place.restore(&compacted(&place, 3), &never);
    assert!(
        third
            .fragments
            .iter()
            .all(|f| f.kind() != FragmentKind::Warning)
    );
    let path = compacted(&place, 4);
    let (alone, _) = place.restore(&path, &never);
    assert_eq!(alone.fragments[0].kind(), FragmentKind::Warning);
    assert!(alone.fragments[0].text().contains("compacted 4 times"));

    // With a checkpoint the warning is a part of its text.
    let (store, whose) = (place.store(), place.whose(&path));
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let occasion = manual();
    checkpoints.write(&live, &occasion, &mut |_| {}).unwrap();
    let other = compacted(&place, 5);
    let (with, _) = place.restore(&other, &never);
    assert_eq!(with.fragments[0].kind(), FragmentKind::Checkpoint);
    assert!(
        with.fragments[0]
            .text()
            .contains("Warning: this session was compacted 5 times")
    );
    assert!(
        with.fragments
            .iter()
            .all(|f| f.kind() != FragmentKind::Warning)
    );
}

#[test]
fn the_gauge_comes_last_and_the_advisory_at_the_checkpoint_threshold() {
    let place = Place::new();
    let path = compacted(&place, 1);
    let (store, whose) = (place.store(), place.whose(&path));
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let window = Window::new(&WindowSettings::of(Tokens(200_000))).unwrap();
    let kinds = |tokens: u32| -> Vec<FragmentKind> {
        let notes = checkpoints.notes(Tokens(tokens), &window, &live, &Heuristic, &mut |_| {});
        notes.iter().map(|note| note.kind()).collect()
    };
    assert_eq!(kinds(139_999), []);
    assert_eq!(kinds(140_000), [FragmentKind::Gauge]);
    assert_eq!(
        kinds(160_000),
        [FragmentKind::Advisory, FragmentKind::Gauge]
    );
}
