//! What is on the disk when, and what a second process makes of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use longhaul_engine::event::Event;
use longhaul_engine::session::{Engine, Session};
use longhaul_model::{CancellationToken, Prices, Request, Role};
use longhaul_transcript::{Draft, Durability, EntryId, Millis, Stamp, Writer};

use crate::support::{
    Echo, Heard, Place, Purpose, Rig, Said, Scripted, lines, plainly, prose, purpose, run, sound,
    words,
};

#[test]
fn the_message_is_in_the_file_before_the_first_request_leaves() {
    let path: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let found: Arc<Mutex<Vec<String>>> = Arc::default();
    let (place, looked) = (Arc::clone(&path), Arc::clone(&found));
    let mut rig = Rig::new(
        32_000,
        |_| {},
        move |request| {
            let path = place.lock().unwrap().clone().unwrap();
            looked
                .lock()
                .unwrap()
                .push(std::fs::read_to_string(path).unwrap());
            plainly(request)
        },
    );
    *path.lock().unwrap() = Some(rig.session.path().to_owned());
    rig.say("Is this durable?").unwrap();
    let seen = found.lock().unwrap();
    assert!(seen[0].contains("Is this durable?"));
    assert!(seen[0].ends_with('\n'));
}

#[test]
fn the_message_is_in_the_file_before_a_compaction_begins() {
    let path: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let said = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (place, now) = (Arc::clone(&path), Arc::clone(&said));
    let missing = Arc::new(Mutex::new(Vec::new()));
    let misses = Arc::clone(&missing);
    let mut rig = Rig::new(
        12_000,
        |_| {},
        move |request| {
            let path = place.lock().unwrap().clone().unwrap();
            if purpose(request) == Purpose::Flush {
                let text = std::fs::read_to_string(path).unwrap();
                let at = now.load(std::sync::atomic::Ordering::Relaxed);
                if !text.contains(&format!("Note {at}:")) {
                    misses.lock().unwrap().push(at);
                }
            }
            plainly(request)
        },
    );
    *path.lock().unwrap() = Some(rig.session.path().to_owned());
    for at in 0..40 {
        said.store(at, std::sync::atomic::Ordering::Relaxed);
        rig.say(&prose(at, 400)).unwrap();
    }
    assert!(rig.compactions() >= 1);
    assert!(missing.lock().unwrap().is_empty());
}

#[test]
fn what_another_process_appends_is_in_the_next_request() {
    let mut rig = Rig::new(32_000, |_| {}, plainly);
    rig.say("Hello.").unwrap();
    let mut other = Writer::open(rig.session.path(), Durability::Always).unwrap();
    let stamp = Stamp {
        id: EntryId::new("other-process-1"),
        time: Millis(1_790_000_100_000),
    };
    other
        .append(&Draft::user("Said elsewhere.", stamp.time), stamp)
        .unwrap();
    drop(other);
    rig.say("What did I say elsewhere?").unwrap();
    let request = rig.model.requests().pop().unwrap();
    assert!(words(&request).contains("Said elsewhere."));
    sound(&rig.session);
    // In one line: nobody branched off.
    let lines = lines(rig.session.path());
    for pair in lines[1..].windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
    }
}

#[test]
fn two_processes_that_take_turns_see_each_others_answers() {
    let place = Place::new();
    let model = Scripted::new(32_000, plainly);
    let mut setup = place.setup(32_000, Some(model.clone()));
    setup.tools = Arc::new(Echo);
    let engine = Engine::new(setup);
    let mut first = engine.create(Some("shared"), &mut ()).unwrap();
    let mut second = engine.open(first.path(), &mut ()).unwrap();
    for at in 0..3 {
        let session = if at % 2 == 0 { &mut first } else { &mut second };
        let message = format!("Message number {at}.");
        run(session.turn(&message, &CancellationToken::new(), &mut ())).unwrap();
    }
    let last = words(&model.requests().pop().unwrap());
    for at in 0..3 {
        assert!(last.contains(&format!("Message number {at}.")), "{at}");
    }
    sound(&first);
}

#[test]
fn a_restart_at_any_point_goes_on_with_the_same_context() {
    let mut rig = Rig::new(
        12_000,
        |_| {},
        |request| match (purpose(request), request.messages.last().unwrap().role) {
            (Purpose::Turn, Role::User) => Said::call("read", r#"{"path":"a"}"#),
            _ => plainly(request),
        },
    );
    for at in 0..30 {
        rig.say(&prose(at, 120)).unwrap();
        let before = rig.conversation();
        let state = rig.session.status();
        rig.restart();
        assert_eq!(rig.conversation(), before, "after turn {at}");
        let now = rig.session.status();
        assert_eq!(
            (now.leaf, now.flushed_epoch),
            (state.leaf, state.flushed_epoch)
        );
        assert_eq!(now.spending, state.spending);
    }
    assert!(rig.compactions() >= 1);
}

#[test]
fn the_same_script_gives_the_same_requests_and_the_same_file() {
    let play = || {
        let summaries = Scripted::named("summaries", 32_000, None, plainly);
        let chosen = summaries.clone();
        let mut rig = Rig::new(
            12_000,
            move |setup| {
                setup.summaries = Some(chosen.clone());
                // The place of a test is another one every time.
                setup.environment = Default::default();
            },
            |request| match (purpose(request), request.messages.last().unwrap().role) {
                (Purpose::Turn, Role::User) => Said::call("read", r#"{"path":"a"}"#),
                _ => plainly(request),
            },
        );
        for at in 0..30 {
            rig.say(&prose(at, 120)).unwrap();
        }
        assert!(rig.compactions() >= 1);
        let work = rig.place.workspace().to_string_lossy().into_owned();
        let mut requests = rig.model.requests();
        requests.extend(summaries.requests());
        let sent = serde_json::to_string(&requests)
            .unwrap()
            .replace(&work, "WORK");
        let file = unpacked(&without_hashes(&rig.file()));
        (sent, file.replace(&work, "WORK"))
    };
    let (first, second) = (play(), play());
    assert!(
        first.1 == second.1,
        "the files differ: {}",
        difference(&first.1, &second.1)
    );
    assert!(
        first.0 == second.0,
        "the requests differ: {}",
        difference(&first.0, &second.0)
    );
}

/// The file without the hashes in its marks: the paths are in them.
fn without_hashes(file: &str) -> String {
    let mut parts = file.split(r#""proof":{"session":"test","hash":""#);
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + &part[64..])
}

/// The file with the ledgers of its compactions unpacked: they hold paths.
fn unpacked(file: &str) -> String {
    use base64::Engine as _;
    let mut parts = file.split("\"zstd:");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (packed, rest) = part.split_once('"').unwrap();
        let packed = base64::engine::general_purpose::STANDARD
            .decode(packed)
            .unwrap();
        let plain = zstd::bulk::decompress(&packed, 1 << 26).unwrap();
        text.push_str(std::str::from_utf8(&plain).unwrap());
        text.push_str(rest);
    }
    text
}

fn difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let from = at.saturating_sub(200);
    format!(
        "{}\nagainst\n{}",
        String::from_utf8_lossy(&a.as_bytes()[from..(at + 200).min(a.len())]),
        String::from_utf8_lossy(&b.as_bytes()[from..(at + 200).min(b.len())])
    )
}

#[test]
fn a_session_of_pis_is_gone_on_with() {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../transcript/tests/golden/compaction-several.jsonl"
    );
    let mut rig = Rig::new(64_000, |_| {}, plainly);
    let copy = rig.place.folder.path().join("state/sessions/copied.jsonl");
    std::fs::copy(sample, &copy).unwrap();
    let before = std::fs::read_to_string(&copy).unwrap();
    rig.session = rig.engine.open(&copy, &mut rig.heard).unwrap();
    rig.say("Where were we?").unwrap();
    let after = rig.file();
    assert!(after.starts_with(&before), "what pi wrote was changed");
    assert!(after.len() > before.len());
    assert_eq!(rig.model.requests().len(), 1);
    rig.restart();
    rig.say("And then?").unwrap();
    sound(&rig.session);
}

#[test]
fn costs_of_turns_flushes_and_summaries_add_up_each_by_itself() {
    let prices = Prices {
        input: 3.0,
        output: 15.0,
        cache_read: 0.3,
        cache_write: 3.75,
    };
    let model = Scripted::named("dear", 12_000, Some(prices), plainly);
    let writer = Scripted::named(
        "cheap",
        64_000,
        Some(Prices {
            input: 0.1,
            output: 0.4,
            ..prices
        }),
        plainly,
    );
    let (asked, writes) = (model.clone(), writer.clone());
    let mut rig = Rig::new(
        12_000,
        move |setup| {
            setup.model = Some(asked.clone());
            setup.summaries = Some(writes.clone());
        },
        plainly,
    );
    let mut dollars = 0.0;
    let mut requests = 0;
    for at in 0..40 {
        let turn = rig.say(&prose(at, 300)).unwrap();
        dollars += turn.spent.dollars;
        requests += turn.spent.requests;
        assert_eq!(rig.session.status().spending.last_turn, turn.spent);
    }
    assert!(rig.compactions() >= 1);
    let spending = rig.session.status().spending;
    let count = |requests: Vec<Request>| requests.len() as u64;
    assert_eq!(spending.turns.requests, count(model.asked(Purpose::Turn)));
    assert_eq!(
        spending.flushes.requests,
        count(model.asked(Purpose::Flush))
    );
    assert_eq!(spending.compactions.requests, count(writer.requests()));
    assert!(spending.flushes.requests > 0 && spending.compactions.requests > 0);
    assert_eq!(spending.total().requests, requests);
    assert!((spending.total().dollars - dollars).abs() < 1e-9);
    assert_eq!(spending.total().unpriced, 0);
    let by_hand =
        spending.turns.input as f64 * 3.0 / 1e6 + spending.turns.output as f64 * 15.0 / 1e6;
    assert!((spending.turns.dollars - by_hand).abs() < 1e-9);
    // A restart does not forget it.
    rig.restart();
    let kept = rig.session.status().spending.total();
    assert_eq!(kept.requests, spending.total().requests);
    assert_eq!(kept.input, spending.total().input);
    assert!((kept.dollars - dollars).abs() < 1e-9);
}

#[test]
fn a_full_disk_of_memory_does_not_stop_a_turn() {
    // A file stands where the folder of the logs would be.
    let place = Place::new();
    std::fs::write(place.workspace().join("memory"), "in the way").unwrap();
    let mut rig = Rig::at(
        place,
        12_000,
        |_| {},
        |request| match purpose(request) {
            Purpose::Flush => Said::call("memory_append", r#"{"text":"a note"}"#),
            _ => plainly(request),
        },
    );
    for at in 0..40 {
        rig.say(&prose(at, 300)).unwrap();
    }
    assert!(rig.compactions() >= 1);
    assert_eq!(rig.work("memory"), "in the way");
}

#[test]
fn a_file_that_is_no_session_is_refused_with_its_name() {
    let rig = Rig::new(12_000, |_| {}, plainly);
    let path = rig.place.folder.path().join("notes.jsonl");
    std::fs::write(&path, "these are my notes\n").unwrap();
    let opened: Result<Session, _> = rig.engine.open(&path, &mut ());
    let Err(error) = opened else {
        panic!("it was opened");
    };
    assert!(error.to_string().contains("notes.jsonl"), "{error}");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "these are my notes\n"
    );
}

#[test]
fn every_decision_of_a_turn_is_told_between_its_beginning_and_its_end() {
    let mut rig = Rig::new(12_000, |_| {}, plainly);
    for at in 0..30 {
        rig.say(&prose(at, 300)).unwrap();
    }
    let mut inside = false;
    let heard: &Heard = &rig.heard;
    for event in &heard.0 {
        match event {
            Event::TurnBegan { .. } => {
                assert!(!inside);
                inside = true;
            }
            Event::TurnEnded { .. } => inside = false,
            Event::Compacted(_) | Event::Asked { .. } | Event::FlushBegan { .. } => assert!(inside),
            _ => {}
        }
    }
    assert!(!inside);
}
