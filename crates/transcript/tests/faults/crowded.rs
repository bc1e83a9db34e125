//! Several at one session at once.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use longhaul_transcript::{
    Durability, Error, Millis, Packing, Session, Stamp, Writer, archive, restore, verify,
};

use crate::roles::Player;
use crate::{context, empty, ids, session, stamp, user};

#[test]
fn writers_in_several_processes_form_one_path_and_lose_nothing() {
    let (_folder, path) = empty();
    let players: Vec<Player> = ["a", "b", "c"]
        .map(|name| Player::start("append a hundred", &path, name))
        .into();
    let mut acknowledged: Vec<String> = players.into_iter().flat_map(Player::finish).collect();
    let mut found = ids(&path);
    let report = verify(&Session::open(&path).unwrap()).unwrap();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!((report.on_path, report.tips), (300, 1));
    found.sort();
    acknowledged.sort();
    assert_eq!(found, acknowledged);
}

/// The file is replaced under the writers again and again; none may write to
/// the one that is gone, and none may be overwritten.
#[test]
fn writers_lose_nothing_while_the_session_is_archived_and_restored() {
    let (_folder, path) = session(30, "text");
    let mut expected = ids(&path);
    let archivers = [(), ()].map(|()| Player::start("archive and restore", &path, ""));
    let writers = ["a", "b"].map(|name| Player::start("append and compact", &path, name));
    for writer in writers {
        let acknowledged = writer.finish();
        assert_eq!(acknowledged.len(), 200);
        expected.extend(acknowledged);
    }
    for archiver in archivers {
        archiver.kill();
    }
    let _ = restore(&path).unwrap();
    let mut found = ids(&path);
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "each entry once");
    let report = verify(&Session::open(&path).unwrap()).unwrap();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!(report.on_path, report.entries);
}

#[test]
fn an_open_writer_follows_the_session_into_its_new_file() {
    let (_folder, path) = session(30, "text");
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    for packing in [Packing::Plain, Packing::Zstd] {
        archive(&path, packing).unwrap().unwrap();
        writer
            .append(&user("archived"), stamp(format!("a {packing:?}")))
            .unwrap();
        restore(&path).unwrap().unwrap();
        writer
            .append(&user("restored"), stamp(format!("r {packing:?}")))
            .unwrap();
    }
    let found = ids(&path);
    assert_eq!(found[31..], ["a Plain", "r Plain", "a Zstd", "r Zstd"]);
    assert!(verify(&Session::open(&path).unwrap()).unwrap().is_sound());
}

#[test]
fn an_open_session_whose_file_was_replaced_says_so() {
    let (_folder, path) = session(30, "text");
    let session = Session::open(&path).unwrap();
    let before = session.context().unwrap().to_json();
    archive(&path, Packing::Plain).unwrap().unwrap();
    assert_eq!(context(&path), before);
    assert!(matches!(session.load(), Err(Error::Changed { .. })));
    assert!(matches!(session.tree(), Err(Error::Changed { .. })));
}

/// Runs `change` over and over while other threads read, and gives every read
/// to `check`.
fn read_while(
    path: &std::path::Path,
    mut change: impl FnMut(usize),
    check: impl Fn(String) + Sync,
) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..2 {
            let (stop, check) = (&stop, &check);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let read = Session::open(path).and_then(|session| {
                        if reader == 0 {
                            verify(&session)?;
                            session.tail(1000)?;
                        }
                        session.context()
                    });
                    match read {
                        Ok(context) => check(context.to_json()),
                        Err(Error::Changed { .. } | Error::Empty { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        for n in 0..200 {
            change(n);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn readers_of_a_growing_session_see_a_beginning_of_it() {
    let (_folder, path) = empty();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    read_while(
        &path,
        |n| {
            // One in three writes arrives in two parts, as other programs write.
            if n % 3 == 0 {
                let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                let parent = writer
                    .parent()
                    .map_or("null".into(), |id| format!("\"{id}\""));
                let line = format!(
                    "{{\"type\":\"message\",\"id\":\"p{n}\",\"parentId\":{parent},\"message\":{{\"role\":\"user\",\"content\":\"n\u{e9}w\"}}}}\n"
                );
                let (a, b) = line.as_bytes().split_at(line.len() - 8);
                file.write_all(a).unwrap();
                std::thread::yield_now();
                file.write_all(b).unwrap();
                writer = Writer::open(&path, Durability::Os).unwrap();
            } else {
                writer
                    .append(&user("grown"), stamp(format!("g{n}")))
                    .unwrap();
            }
        },
        |context| seen.lock().unwrap().push(context),
    );
    let whole = context(&path);
    for context in seen.into_inner().unwrap() {
        assert!(
            whole.starts_with(&context[..context.len() - 1]),
            "{context}"
        );
    }
}

#[test]
fn readers_of_a_session_that_is_cut_and_written_again_see_a_beginning_or_the_change() {
    let (_folder, path) = empty();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    let drafts: Vec<_> = (0..400)
        .map(|n| (user(&"t".repeat(900)), stamp(format!("t{n}"))))
        .collect();
    writer.append_all(&drafts).unwrap();
    drop(writer);
    let bytes = fs::read(&path).unwrap();
    let whole = context(&path);
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    read_while(
        &path,
        |n| {
            let cut = header + n * 7919 % (bytes.len() - header);
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            file.set_len(cut as u64).unwrap();
            std::thread::yield_now();
            file.write_all(&bytes[cut..]).unwrap();
        },
        |context| assert!(whole.starts_with(&context[..context.len() - 1])),
    );
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_clock_that_goes_backwards_changes_no_order() {
    let (_folder, path) = empty();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    for n in 0..20i64 {
        let stamp = Stamp {
            id: format!("c{n}").as_str().into(),
            time: Millis(crate::START - n * 86_400_000),
        };
        writer.append(&user("tick"), stamp).unwrap();
    }
    let expected: Vec<String> = (0..20).map(|n| format!("c{n}")).collect();
    let loaded = Session::open(&path).unwrap().load().unwrap();
    let order: Vec<String> = loaded
        .entries
        .iter()
        .map(|entry| entry.id.to_string())
        .collect();
    assert_eq!(order, expected);
    assert!(verify(&Session::open(&path).unwrap()).unwrap().is_sound());
}
