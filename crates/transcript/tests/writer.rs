//! Appending, forking, archiving: nothing is lost, whatever happens in between.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_transcript::{
    Body, Context, Draft, Durability, EntryId, Error, Header, Millis, NewSession, Packing, Role,
    Session, Stamp, Writer, archive, archive_path, fork, import, restore, torn_path, verify,
};

const START: i64 = 1_790_000_000_000;

fn stamp(n: u64) -> Stamp {
    Stamp {
        id: EntryId::new(format!("{n:08x}")),
        time: Millis(START + n as i64 * 1000),
    }
}

fn header() -> Header {
    Header {
        id: "s-1".into(),
        version: 3,
        time: Some(Millis(START)),
        cwd: Some("/home/dev/shop".into()),
        parent_session: None,
    }
}

fn text(role: &str, text: &str) -> Draft {
    Draft::Message(format!(
        "{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"timestamp\":1}}"
    ))
}

/// A folder with a session of `turns` turns, compacted after half of them.
fn session(turns: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut writer = Writer::create(&path, &header(), Durability::Os).unwrap();
    for turn in 0..turns {
        writer
            .append(
                &Draft::user(&format!("question {turn}"), Millis(1)),
                stamp(turn * 10),
            )
            .unwrap();
        writer
            .append(
                &text("assistant", &format!("answer {turn}")),
                stamp(turn * 10 + 1),
            )
            .unwrap();
        if turn == turns / 2 {
            let compaction = Draft::Compaction {
                summary: "what was said".into(),
                first_kept: Some(stamp(turn * 10).id),
                tokens_before: 1000,
                details: Some("{\"epoch\":1,\"layer\":\"summarize\"}".into()),
            };
            writer.append(&compaction, stamp(turn * 10 + 2)).unwrap();
        }
    }
    (folder, path)
}

fn context(path: &Path) -> String {
    Session::open(path).unwrap().context().unwrap().to_json()
}

#[test]
fn what_is_appended_is_read_back_in_order() {
    let (_folder, path) = session(4);
    let session = Session::open(&path).unwrap();
    let loaded = session.load().unwrap();
    let roles: Vec<Role> = Context::build(&loaded)
        .messages
        .iter()
        .map(|message| message.role.clone())
        .collect();
    assert_eq!(
        roles,
        [
            Role::CompactionSummary,
            Role::User,
            Role::Assistant,
            Role::User,
            Role::Assistant
        ]
    );
    assert_eq!(loaded.epoch.count(), 1);
    assert!(loaded.epoch.is_exact());
    assert_eq!(loaded.summary(), Some("what was said"));
    assert!(verify(&session).unwrap().is_sound());
}

#[test]
fn two_writers_see_each_others_entries_and_form_one_path() {
    let (_folder, path) = session(1);
    let mut a = Writer::open(&path, Durability::Os).unwrap();
    let mut b = Writer::open(&path, Durability::Os).unwrap();
    for n in 0..20 {
        let writer = if n % 3 == 0 { &mut a } else { &mut b };
        writer.append(&text("user", "x"), stamp(100 + n)).unwrap();
    }
    let report = verify(&Session::open(&path).unwrap()).unwrap();
    assert!(report.is_sound());
    assert_eq!(report.on_path, report.entries);
    assert_eq!(report.tips, 1);
}

#[test]
fn writers_in_parallel_threads_lose_nothing() {
    let (_folder, path) = session(1);
    let before = verify(&Session::open(&path).unwrap()).unwrap().entries;
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let path = &path;
            scope.spawn(move || {
                let mut writer = Writer::open(path, Durability::Os).unwrap();
                for n in 0..50 {
                    writer
                        .append(&text("user", "y"), stamp(1000 + thread * 100 + n))
                        .unwrap();
                }
            });
        }
    });
    let report = verify(&Session::open(&path).unwrap()).unwrap();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!(report.entries, before + 200);
    assert_eq!(report.on_path, before + 200);
}

#[test]
fn a_session_cut_at_any_byte_opens_heals_and_loses_only_the_cut_line() {
    let (folder, path) = session(3);
    let bytes = fs::read(&path).unwrap();
    let header_end = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in header_end..=bytes.len() {
        let part = folder.path().join("part.jsonl");
        fs::write(&part, &bytes[..cut]).unwrap();
        let _ = fs::remove_file(torn_path(&part));
        let whole = bytes[..cut].iter().filter(|byte| **byte == b'\n').count() as u64 - 1;
        let tail = &bytes[..cut][bytes[..cut].iter().rposition(|b| *b == b'\n').unwrap() + 1..];
        let complete_tail = serde_json::from_slice::<serde_json::Value>(tail).is_ok();

        let mut writer = Writer::open(&part, Durability::Os).unwrap();
        writer
            .append(&text("user", "after the crash"), stamp(900))
            .unwrap();

        let report = verify(&Session::open(&part).unwrap()).unwrap();
        assert!(report.is_sound(), "cut at {cut}: {:?}", report.faults);
        assert_eq!(
            report.entries,
            whole + u64::from(complete_tail) + 1,
            "cut at {cut}"
        );
        if !tail.is_empty() && !complete_tail {
            let mut kept = fs::read(torn_path(&part)).unwrap();
            assert_eq!(kept.pop(), Some(b'\n'));
            assert_eq!(kept, tail);
        } else {
            assert!(!torn_path(&part).exists());
        }
    }
}

#[test]
fn reading_a_cut_session_changes_nothing_on_disk() {
    let (folder, path) = session(3);
    let bytes = fs::read(&path).unwrap();
    for cut in 0..=bytes.len() {
        let part = folder.path().join("part.jsonl");
        fs::write(&part, &bytes[..cut]).unwrap();
        if let Ok(session) = Session::open(&part) {
            let _ = session.context();
            let _ = verify(&session);
        }
        assert_eq!(fs::read(&part).unwrap(), &bytes[..cut]);
    }
}

#[test]
fn a_branch_leaves_the_old_path_in_the_file() {
    let (_folder, path) = session(3);
    let mut writer = Writer::open(&path, Durability::Turn).unwrap();
    let left = writer.parent().cloned().unwrap();
    writer.branch(Some(stamp(11).id));
    writer
        .append(
            &Draft::BranchSummary {
                from: left.clone(),
                summary: "tried the other way".into(),
            },
            stamp(500),
        )
        .unwrap();
    writer.end_turn().unwrap();
    let session = Session::open(&path).unwrap();
    assert_eq!(session.load().unwrap().leaf().unwrap().id, stamp(500).id);
    let tree = session.tree().unwrap();
    assert!(tree.get(&left).is_some());
    assert_eq!(tree.tips(), 2);
    // The old path can be had back at any time.
    assert_eq!(session.load_at(&left).unwrap().leaf().unwrap().id, left);
}

#[test]
fn labels_and_pins_are_entries() {
    let (_folder, path) = session(2);
    let mut writer = Writer::open(&path, Durability::Turn).unwrap();
    writer
        .append(&Draft::pin(stamp(0).id, Some("goal")), stamp(600))
        .unwrap();
    writer
        .append(
            &Draft::Label {
                target: stamp(1).id,
                label: Some("start".into()),
            },
            stamp(601),
        )
        .unwrap();
    writer
        .append(
            &Draft::Label {
                target: stamp(1).id,
                label: None,
            },
            stamp(602),
        )
        .unwrap();
    let tree = Session::open(&path).unwrap().tree().unwrap();
    assert_eq!(
        tree.labels().get(&stamp(0).id).map(String::as_str),
        Some("pin:goal")
    );
    assert_eq!(tree.labels().get(&stamp(1).id), None);
}

#[test]
fn a_fork_has_the_same_context_and_names_its_parent() {
    let (folder, path) = session(5);
    let target = folder.path().join("fork.jsonl");
    let new = NewSession {
        id: "s-2".into(),
        time: Millis(START),
    };
    fork(&Session::open(&path).unwrap(), None, &target, &new).unwrap();
    assert_eq!(context(&path), context(&target));
    let session = Session::open(&target).unwrap();
    assert_eq!(
        session.header().parent_session.as_deref(),
        Some(path.to_str().unwrap())
    );
    assert!(matches!(
        fork(&session, None, &target, &new),
        Err(Error::Refused { .. })
    ));
}

#[test]
fn archive_and_restore_keep_the_context_and_the_bytes() {
    for packing in [Packing::Plain, Packing::Zstd] {
        let (_folder, path) = session(8);
        let bytes = fs::read(&path).unwrap();
        let before = context(&path);
        let moved = archive(&path, packing).unwrap().unwrap();
        assert!(moved.live_after < moved.live_before);
        assert_eq!(context(&path), before);
        let report = verify(&Session::open(&path).unwrap()).unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        assert!(report.archived > 0);
        assert!(archive(&path, packing).unwrap().is_none());
        Writer::open(&path, Durability::Os)
            .unwrap()
            .append(&text("user", "later"), stamp(900))
            .unwrap();
        let later = context(&path);
        restore(&path).unwrap().unwrap();
        assert_eq!(context(&path), later);
        assert!(fs::read(&path).unwrap().starts_with(&bytes));
        assert!(!archive_path(&path, packing).exists());
        assert!(restore(&path).unwrap().is_none());
    }
}

#[test]
fn an_archive_interrupted_before_the_live_file_changed_is_not_doubled() {
    let (folder, path) = session(8);
    let copy = folder.path().join("copy.jsonl");
    fs::copy(&path, &copy).unwrap();
    archive(&path, Packing::Plain).unwrap().unwrap();
    // As if the rename of the live file had not happened.
    fs::rename(&copy, &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    archive(&path, Packing::Plain).unwrap().unwrap();
    restore(&path).unwrap().unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn only_the_archive_of_this_session_is_taken_back() {
    for packing in [Packing::Plain, Packing::Zstd] {
        let (_one, own) = session(8);
        let (_two, other) = session(12);
        for path in [&own, &other] {
            archive(path, packing).unwrap().unwrap();
        }
        let bak = |path: &Path| fs::read(archive_path(path, packing)).unwrap();
        let (live, kept) = (fs::read(&own).unwrap(), bak(&own));
        let refused = |what: &str| {
            let error = restore(&own).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
            assert!(archive(&own, packing).is_err() || archive(&own, packing).unwrap().is_none());
            assert_eq!(fs::read(&own).unwrap(), live);
        };
        // Another session's entries under the name of ours.
        fs::write(archive_path(&own, packing), bak(&other)).unwrap();
        refused("not what was taken out");
        assert_eq!(bak(&own), bak(&other), "it stays");
        // Ours, but nobody says so.
        fs::write(archive_path(&own, packing), &kept).unwrap();
        let record = own.with_file_name("s.jsonl.bak.json");
        let text = fs::read_to_string(&record).unwrap();
        fs::remove_file(&record).unwrap();
        refused("has no record");
        // The record of another session.
        fs::write(&record, text.replace("s-1", "s-2")).unwrap();
        refused("another session");
        fs::write(&record, "{").unwrap();
        refused("no record of an archive");
        assert_eq!(bak(&own), kept, "it stays");
        // All as it was.
        fs::write(&record, text).unwrap();
        restore(&own).unwrap().unwrap();
        assert!(!record.exists() && !archive_path(&own, packing).exists());
    }
}

#[test]
fn an_archive_that_unpacks_without_end_is_refused_and_stays() {
    let (_folder, path) = session(8);
    archive(&path, Packing::Zstd).unwrap().unwrap();
    let live = fs::read(&path).unwrap();
    // Half a gigabyte of nothing in some kilobytes, several times over.
    let frame = zstd::encode_all(std::io::repeat(b' ').take(512 << 20), 1).unwrap();
    let bomb = frame.repeat(5);
    let bak = archive_path(&path, Packing::Zstd);
    fs::write(&bak, &bomb).unwrap();
    for result in [
        restore(&path).map(drop),
        longhaul_transcript::each_archived(&path, &mut |_| ControlFlow::Continue(())).map(drop),
    ] {
        let error = result.unwrap_err();
        assert!(error.to_string().contains("unpacks to more"), "{error}");
        assert!(error.remedy().is_some());
    }
    assert_eq!(fs::read(&path).unwrap(), live);
    assert_eq!(fs::read(&bak).unwrap(), bomb);
}

#[test]
fn a_locked_session_is_neither_archived_nor_reported_free() {
    let (_folder, path) = session(4);
    let holder = fs::File::open(&path).unwrap();
    holder.lock().unwrap();
    assert!(matches!(
        archive(&path, Packing::Plain),
        Err(Error::Locked { .. })
    ));
    let evidence = longhaul_transcript::liveness::in_use(&path, None).unwrap();
    assert_eq!(
        evidence,
        Some(longhaul_transcript::liveness::Evidence::Locked)
    );
    holder.unlock().unwrap();
}

#[cfg(unix)]
#[test]
fn a_read_only_file_refuses_with_its_name_and_stays_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = session(2);
    let bytes = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().append(true).open(&path).is_ok() {
        return; // root may write anywhere
    }
    let error = Writer::open(&path, Durability::Os).unwrap_err();
    assert!(error.to_string().contains(path.to_str().unwrap()));
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn old_and_flat_layouts_become_current_files_with_the_same_context() {
    let folder = tempfile::tempdir().unwrap();
    let flat = folder.path().join("flat.jsonl");
    fs::write(
        &flat,
        concat!(
            "{\"id\":\"msg-001\",\"type\":\"message\",\"role\":\"user\",\"content\":\"Help me\",\"timestamp\":1707820000}\n",
            "{\"id\":\"msg-002\",\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Sure\",\"timestamp\":1707820001}\n",
            "{\"id\":\"msg-003\",\"type\":\"message\",\"role\":\"user\",\"content\":\"And?\",\"timestamp\":1707820002}\n",
            "{\"id\":\"compact-001\",\"type\":\"compaction\",\"summary\":\"We talked.\",\"messagesCompacted\":2,\"tokensBeforeCompaction\":187450,\"tokensAfterCompaction\":48320,\"trigger\":\"auto\",\"layer\":\"summarize\",\"boundaryMessageId\":\"msg-002\",\"timestamp\":1707825600}\n",
            "{\"id\":\"msg-143\",\"type\":\"message\",\"role\":\"user\",\"content\":\"Now tests\",\"timestamp\":1707825700}\n",
        ),
    )
    .unwrap();
    let session = Session::open(&flat).unwrap();
    let loaded = session.load().unwrap();
    let (entry, compaction) = loaded.compaction().unwrap();
    assert_eq!(entry.id.as_str(), "compact-001");
    assert_eq!(compaction.tokens_before, Some(187_450));
    assert_eq!(compaction.tokens_after, Some(48_320));
    let texts: Vec<String> = Context::build(&loaded)
        .messages
        .iter()
        .map(|message| message.view().text())
        .collect();
    assert_eq!(texts, ["We talked.", "And?", "Now tests"]);

    let target = folder.path().join("native.jsonl");
    import(
        &session,
        &target,
        &NewSession {
            id: "n".into(),
            time: Millis(START),
        },
    )
    .unwrap();
    let copy = Session::open(&target).unwrap();
    let copied: Vec<String> = copy
        .context()
        .unwrap()
        .messages
        .iter()
        .map(|message| message.view().text())
        .collect();
    assert_eq!(copied, texts);
    assert!(verify(&copy).unwrap().is_sound());
    let kinds: Vec<bool> = copy
        .load()
        .unwrap()
        .entries
        .iter()
        .map(|entry| matches!(entry.body, Body::Message(_)))
        .collect();
    assert_eq!(kinds, [true, false, true]);
}
