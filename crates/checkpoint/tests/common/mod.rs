//! What the tests share.
#![allow(dead_code, clippy::disallowed_methods, clippy::unwrap_used)]

use longhaul_checkpoint::{
    Checkpoint, CheckpointId, Draft, FileStore, Moment, Policy, Seal, Trigger, Turn,
};
use longhaul_ledger::{Ledger, Note, NoteKind};
use longhaul_tokens::Tokens;
use longhaul_transcript::{EntryId, Millis, SessionKey};

/// A time on which all tests build.
pub(crate) const START: i64 = 1_790_000_000_000;

/// S0's own example, word for word.
pub(crate) const EXAMPLE: &str = include_str!("../data/s0-example.yaml");

pub(crate) fn example() -> Checkpoint {
    Checkpoint::from_yaml(EXAMPLE, Seal::Optional).unwrap()
}

pub(crate) fn key() -> SessionKey {
    SessionKey::new("telegram:user123")
}

pub(crate) fn id(number: u32) -> CheckpointId {
    format!("cp_{number:03}").parse().unwrap()
}

/// A folder with a store in it.
pub(crate) fn store() -> (tempfile::TempDir, FileStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path(), Policy::default());
    (folder, store)
}

/// A moment so many seconds after the start.
pub(crate) fn moment(key: &SessionKey, seconds: i64) -> Moment {
    Moment {
        session_key: key.clone(),
        session_file: "sessions/a.jsonl".into(),
        at: Millis(START + seconds * 1000),
        trigger: Trigger::Manual,
        compactions: 0,
        input_tokens: Tokens(160_000),
        context_window: Tokens(200_000),
        channel: "cli".into(),
        agent_id: "main".into(),
        turn: Turn::Whole,
    }
}

/// A ledger of somebody who works on something.
pub(crate) fn ledger(topic: &str) -> Ledger {
    let mut ledger = Ledger::new(Some("/work".into()));
    ledger.entries = 1;
    ledger.last_time = Some(Millis(START));
    ledger.topic = Some(topic.into());
    ledger.notes = vec![Note {
        kind: NoteKind::Learning,
        text: format!("learnt from {topic}"),
        entry: EntryId::new("n1"),
        time: None,
    }];
    ledger.in_flight.next_step = Some(format!("finish {topic}"));
    ledger.in_flight.command = Some("cargo test".into());
    ledger.in_flight.failing = Some("cargo test: 1 failed".into());
    ledger
}

pub(crate) fn draft(topic: &str, seconds: i64) -> Draft {
    Draft::of(&ledger(topic), moment(&key(), seconds))
}
