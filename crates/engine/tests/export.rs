//! Exports: whole, without secrets, and never believed on sight.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use longhaul_checkpoint::{FileStore, Policy};
use longhaul_compaction::summary::Sizes;
use longhaul_engine::config::Config;
use longhaul_engine::export::{At, Carry, Error, Export, Secrets, Source};
use longhaul_engine::live::Live;
use longhaul_engine::measure::Meter;
use longhaul_ledger::Capture;
use longhaul_memory::Redactor;
use longhaul_tokens::{Estimator, Tokens, Window, WindowSettings};
use longhaul_transcript::sample::{Plan, Size, generate};
use longhaul_transcript::{Context, EntryId, Millis, NewSession, Session};

/// A generated session in a folder of its own.
fn session(folder: &Path, turns: u32) -> Session {
    let mut text = Vec::new();
    let plan = Plan {
        size: Size::Turns(turns),
        ..Plan::default()
    };
    generate(&plan, &mut text).unwrap();
    let path = folder.join("s.jsonl");
    fs::write(&path, text).unwrap();
    Session::open(&path).unwrap()
}

fn export(folder: &Path, session: &Session) -> String {
    let window = Window::new(&WindowSettings::of(Tokens(200_000))).unwrap();
    let at = At {
        time: Millis(1_773_144_000_000),
        key: "s".into(),
        window: &window,
        tokens: Tokens(1_000),
        model: None,
        summary: Sizes::default(),
        capture: Capture::default(),
    };
    let store = FileStore::new(&folder.join("state"), Policy::default());
    let meter = Meter::new(Estimator::default());
    let source = Source::gather(session, &store, &meter, at).unwrap();
    let mut out = Vec::new();
    let report = source
        .write(
            &Config::default(),
            Secrets::Redact(&Redactor::default()),
            &mut out,
        )
        .unwrap();
    assert_eq!(report.bytes, out.len() as u64);
    String::from_utf8(out).unwrap()
}

fn begin(folder: &Path, export: &Export, carry: Carry) -> Session {
    let new = NewSession {
        id: "new".into(),
        time: Millis(1_773_144_000_000),
    };
    let mut count = 0;
    let mut ids = || {
        count += 1;
        EntryId::new(format!("n{count}"))
    };
    let target = folder.join(format!("{carry:?}.jsonl"));
    let counter = Estimator::default().counter();
    export
        .begin(carry, &target, &new, None, &mut ids, counter)
        .unwrap();
    Session::open(&target).unwrap()
}

#[test]
fn the_same_session_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path(), 6);
    assert_eq!(
        export(folder.path(), &session),
        export(folder.path(), &session)
    );
}

#[test]
fn the_whole_path_comes_back_with_the_same_context() {
    let folder = tempfile::tempdir().unwrap();
    let source = session(folder.path(), 6);
    let text = export(folder.path(), &source);
    let read = Export::parse(&text, Path::new("e.json")).unwrap();
    let copy = begin(folder.path(), &read, Carry::Path);
    let context = |session: &Session| Context::build(&session.load().unwrap()).to_json();
    assert_eq!(context(&copy), context(&source));
}

#[test]
fn a_fresh_session_knows_what_the_old_one_knew() {
    let folder = tempfile::tempdir().unwrap();
    let source = session(folder.path(), 8);
    let text = export(folder.path(), &source);
    let read = Export::parse(&text, Path::new("e.json")).unwrap();
    let fresh = begin(folder.path(), &read, Carry::Summary);
    let (old, new) = (Live::open(&source).unwrap(), Live::open(&fresh).unwrap());
    let rules = |live: &Live| -> Vec<String> {
        live.ledger()
            .live_rules()
            .map(|rule| rule.text.clone())
            .collect()
    };
    assert!(!rules(&old).is_empty());
    assert_eq!(rules(&new), rules(&old));
    assert_eq!(
        new.ledger().files.keys().collect::<Vec<_>>(),
        old.ledger().files.keys().collect::<Vec<_>>()
    );
    // What it knows points at an entry that it has.
    let ids: Vec<EntryId> = fresh
        .tree()
        .unwrap()
        .nodes()
        .iter()
        .map(|node| node.id.clone())
        .collect();
    for rule in new.ledger().live_rules() {
        assert!(
            rule.provenance.entries.iter().all(|id| ids.contains(id)),
            "{rule:?}"
        );
    }
    assert_eq!(new.epoch(), 1);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for path in [Path::new("/dev/zero"), &pipe, folder.path()] {
        let refused = Export::read(path).unwrap_err();
        assert!(matches!(refused, Error::NoFile { .. }), "{refused}");
        assert!(refused.remedy().unwrap().contains("to a file first"));
    }
}

#[test]
fn a_file_cut_or_changed_anywhere_is_refused_or_read_but_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let source = session(folder.path(), 1);
    let text = export(folder.path(), &source);
    let file = Path::new("e.json");
    let step = text.len() / 150 + 1;
    for at in (0..text.len())
        .step_by(step)
        .filter(|at| text.is_char_boundary(*at))
    {
        let cut = Export::parse(&text[..at], file).unwrap_err();
        assert!(
            matches!(
                cut,
                Error::CutOff { .. } | Error::NotAnExport { .. } | Error::Invalid { .. }
            ),
            "{at}: {cut}"
        );
        for byte in ["\"", "}", "\u{0}", "9"] {
            let changed = format!("{}{byte}{}", &text[..at], &text[at..]);
            if let Err(error) = Export::parse(&changed, file) {
                assert!(error.remedy().is_some(), "{error}");
            }
        }
    }
}
