//! Compactions with a checkpoint: stopped after every write and run again, and
//! never stopped by what is wrong with a checkpoint.

use std::fs;

use longhaul_checkpoint::CheckpointStore;
use longhaul_engine::checkpoints::{Checkpoints, Error, News, Notebook};
use longhaul_engine::event::Event;
use longhaul_tokens::FragmentKind;
use longhaul_transcript::{Draft, Durability, EntryId, Millis, Stamp, Writer};

use crate::place::{NOON, Place, never};

#[test]
fn a_compaction_saves_its_work_first_and_names_the_checkpoint() {
    let place = Place::new();
    let saw = place.runs(0);
    let carried = saw.carried.unwrap();
    assert_eq!(
        place.compactions(),
        [(EntryId::new("compaction-0"), Some("cp_001".into()))]
    );
    assert_eq!(carried.event.checkpoint, "cp_001");
    assert_eq!(carried.restored.news, News::First);
    let kinds: Vec<FragmentKind> = carried
        .restored
        .fragments
        .iter()
        .map(|fragment| fragment.kind())
        .collect();
    assert_eq!(
        kinds,
        [
            FragmentKind::Checkpoint,
            FragmentKind::Memory,
            FragmentKind::ContextNotes,
            FragmentKind::AgentsSection
        ]
    );
    assert_eq!(place.notes(), ["restored"], "the journal is gone");
    let names: Vec<&str> = saw.events.iter().map(name).collect();
    assert_eq!(
        names,
        ["stateSaved", "checkpointWritten", "restored", "compacted"]
    );
    assert!(place.runs(1).events.is_empty(), "nothing is done twice");
}

/// The name of an event as programs see it.
fn name(event: &Event) -> &'static str {
    match event {
        Event::StateSaved { .. } => "stateSaved",
        Event::CheckpointWritten(_) => "checkpointWritten",
        Event::CheckpointUnchanged { .. } => "checkpointUnchanged",
        Event::CheckpointTrouble { .. } => "checkpointTrouble",
        Event::CheckpointsRecovered { .. } => "checkpointsRecovered",
        Event::SequenceResumed { .. } => "sequenceResumed",
        Event::SequenceSuperseded => "sequenceSuperseded",
        Event::Restored { .. } => "restored",
        Event::Compacted(_) => "compacted",
        _ => "other",
    }
}

/// What must hold in the end, wherever it was stopped.
fn check_complete(place: &Place, at: &str) {
    let compactions = place.compactions();
    assert_eq!(compactions.len(), 1, "{at}: {compactions:?}");
    assert_eq!(compactions[0].1.as_deref(), Some("cp_001"), "{at}");
    assert_eq!(place.checkpoint_ids(), ["cp_001"], "{at}");
    assert_eq!(place.notes(), ["restored"], "{at}");
    let (again, events) = place.restore(&place.session(), &never);
    assert_eq!((again.news, events.len()), (News::Same, 0), "{at}");
}

#[test]
fn stopped_after_any_write_it_is_completed_when_started_again() {
    let mut writes = 0;
    loop {
        let place = Place::new();
        let (killed, mut events) = place.killed_after(0, writes);
        let at = format!("stopped after {writes} writes");
        // Hours later: the work rests by then, and the checkpoint is the same.
        let saw = place.runs(5);
        check_complete(&place, &at);
        events.extend(saw.events);
        let count = |wanted: &str| events.iter().filter(|event| name(event) == wanted).count();
        assert!(count("checkpointWritten") <= 1, "{at}: {events:?}");
        assert!(count("checkpointTrouble") == 0, "{at}: {events:?}");
        assert!(count("sequenceSuperseded") == 0, "{at}: {events:?}");
        if !killed {
            break;
        }
        writes += 1;
    }
    // Journal, state, checkpoint, what was put back, journal removed: before and
    // after each. The entry is written between two of them.
    assert_eq!(writes, 10);
}

#[test]
fn stopped_again_while_it_is_completed_nothing_is_doubled_or_lost() {
    for first in (0..10).step_by(2) {
        let mut second = 0;
        loop {
            let place = Place::new();
            assert!(place.killed_after(0, first).0);
            let (killed, _) = place.killed_after(3, second);
            place.runs(7);
            check_complete(
                &place,
                &format!("stopped after {first}, then after {second}"),
            );
            if !killed {
                break;
            }
            second += 1;
        }
    }
}

#[test]
fn a_session_that_went_on_is_compacted_anew() {
    let place = Place::new();
    // Killed after the checkpoint, before the entry.
    assert!(place.killed_after(0, 5).0);
    assert!(place.compactions().is_empty());
    let mut writer = Writer::open(&place.session(), Durability::Os).unwrap();
    let stamp = Stamp {
        id: EntryId::new("later"),
        time: Millis(NOON + 1),
    };
    let draft = Draft::user("Also never touch the billing folder.", stamp.time);
    writer.append(&draft, stamp).unwrap();
    let saw = place.runs(1);
    assert_eq!(name(&saw.events[0]), "sequenceSuperseded");
    // The work moved on, so the checkpoint of before is not the one of now.
    assert_eq!(
        place.compactions(),
        [(EntryId::new("compaction-1"), Some("cp_002".into()))]
    );
    assert_eq!(place.notes(), ["restored"]);
}

#[test]
fn a_store_that_refuses_does_not_stop_the_compaction() {
    let place = Place::new();
    // Where the folder should be there is a file.
    fs::create_dir_all(place.state().join("context")).unwrap();
    fs::write(place.state().join("context/checkpoints"), "in the way").unwrap();
    let saw = place.runs(0);
    assert_eq!(place.compactions(), [(EntryId::new("compaction-0"), None)]);
    let trouble = saw.events.iter().find_map(|event| match event {
        Event::CheckpointTrouble { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    assert!(
        trouble.unwrap().contains("context/checkpoints"),
        "{trouble:?}"
    );
    assert!(saw.carried.is_some());
}

#[test]
fn a_checkpoint_edited_into_nonsense_is_passed_over_and_told() {
    let place = Place::new();
    place.runs(0);
    let store = place.store();
    let before = store.latest(&place.key()).unwrap().checkpoint.unwrap();
    let folder = place
        .state()
        .join("context/checkpoints")
        .join(place.key().folder_name());
    fs::write(
        folder.join("cp_002.yaml"),
        "meta: [this is\nno: checkpoint\n",
    )
    .unwrap();
    let whose = place.whose(&place.session());
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let mut events = Vec::new();
    let latest = checkpoints.latest(&mut |event| events.push(event)).unwrap();
    assert_eq!(latest, Some(before));
    let Event::CheckpointTrouble { reason, remedy } = &events[0] else {
        panic!("{events:?}");
    };
    assert!(
        reason.contains("cp_002.yaml") && reason.contains("line"),
        "{reason}"
    );
    assert!(
        remedy
            .as_deref()
            .unwrap()
            .contains("the checkpoint before it is used")
    );
}

#[test]
fn a_damaged_journal_is_nothing_to_go_on_with() {
    let place = Place::new();
    assert!(place.killed_after(0, 2).0);
    let folder = place
        .state()
        .join("context/state")
        .join(place.key().folder_name());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("sequence") {
            fs::write(&path, "{ half").unwrap();
        }
    }
    place.runs(1);
    assert_eq!(place.compactions().len(), 1);
}

#[cfg(unix)]
#[test]
fn sessions_whose_keys_look_alike_do_not_meet() {
    let shared = tempfile::tempdir().unwrap();
    let keys = ["a:b", "a_b", "A_b", "a/b"];
    std::thread::scope(|scope| {
        for key in keys {
            let state = shared.path().to_owned();
            scope.spawn(move || {
                let place = Place::of(key);
                std::os::unix::fs::symlink(&state, place.state()).unwrap();
                place.runs(0);
                assert_eq!(place.checkpoint_ids(), ["cp_001"]);
                let checkpoint = place.store().latest(&place.key()).unwrap().checkpoint;
                assert_eq!(checkpoint.unwrap().meta.session_key, place.key());
                assert_eq!(place.notes(), ["restored"]);
            });
        }
    });
}

#[test]
fn one_process_compacts_a_session_at_a_time() {
    let place = Place::new();
    let lock = place.notebook().lock().unwrap();
    let error = place.notebook().lock().unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert!(error.remedy().is_some());
    drop(lock);
    place.notebook().lock().unwrap();
}
