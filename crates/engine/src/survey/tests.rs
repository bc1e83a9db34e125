//! A survey that is not given the time to read all of a session.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs::File;
use std::io::Write;
use std::path::Path;

use longhaul_ledger::Capture;
use serde_json::json;

use super::*;
use crate::live::Live;

/// A session of large entries, compacted near its end; `back` has one of them
/// follow an earlier one than the last.
fn session(path: &Path, back: Option<usize>) -> Session {
    let mut file = File::create(path).unwrap();
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "/w"});
    writeln!(file, "{header}").unwrap();
    for at in 0..90usize {
        let before = if back == Some(at) { at / 2 } else { at };
        let message = match at % 2 {
            0 => json!({"role": "user", "content": format!("do {at}")}),
            _ => json!({"role": "assistant", "content": "x".repeat(80_000)}),
        };
        let mut entry = json!({"type": "message", "message": message, "id": format!("e{at}"),
            "parentId": before.checked_sub(1).map(|before| format!("e{before}"))});
        if at == 84 {
            entry["type"] = json!("compaction");
            entry["summary"] = json!("so far");
            entry["firstKeptEntryId"] = json!("e80");
        }
        writeln!(file, "{entry}").unwrap();
    }
    Session::open(path).unwrap()
}

#[test]
fn what_was_read_before_the_time_was_up_is_not_read_again() {
    for back in [None, Some(60)] {
        let folder = tempfile::tempdir().unwrap();
        let session = session(&folder.path().join("s.jsonl"), back);
        let keep = Keep::at(folder.path().join("survey.sqlite"));
        let loaded = session.load().unwrap();
        let expected = Past::of(&session, &loaded, Capture::default(), &Keep::nowhere()).unwrap();
        let wanted = Wanted::new(&session, &loaded, Capture::default());
        let size = size_of(&session);
        let mut came = 0;
        for part in [1, 2] {
            // What is not committed is gone, as when the process ends.
            let store = Store::in_file(&folder.path().join("survey.sqlite")).unwrap();
            let mut survey = Survey {
                state: State::default(),
                store,
                account: None,
            };
            let form = form_of(&session);
            let kept = survey.store.kept::<State>(&session, PART, &form).unwrap();
            let from = kept.as_ref().map_or(0, |(upto, _)| *upto);
            assert!(from >= came + (part - 1) * STRETCH / 2, "{from} of {size}");
            came = from;
            survey.state = kept.map_or_else(State::of_lines, |(_, state)| state);
            survey.account = Account::along(wanted, &survey.store, from);
            survey.store.begin().unwrap();
            let to = from + STRETCH + STRETCH / 4;
            let end = survey.read(&session, from..to, Some(wanted));
            assert!(end.is_ok());
        }
        let past = Past::of(&session, &loaded, Capture::default(), &keep).unwrap();
        assert_eq!(past.ledger, expected.ledger);
        assert_eq!(past.source, expected.source);
        assert_eq!((past.epoch, past.wear), (expected.epoch, expected.wear));
        let again = Live::open_with(&session, Capture::default(), &keep).unwrap();
        assert_eq!(*again.base(), expected.ledger);
    }
}
