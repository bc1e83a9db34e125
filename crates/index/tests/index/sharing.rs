//! Damage, locks and several processes.

use std::time::Duration;

use longhaul_index::{IndexError, WorkspaceFiles};

use super::*;

#[test]
fn a_damaged_index_is_set_aside_and_made_anew() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    fs::write(
        &path,
        b"this is no database, but it is long enough to be looked at as one",
    )
    .unwrap();
    let mut index = on_disk(&folder);
    let aside = index.set_aside().unwrap().to_owned();
    assert!(aside.ends_with("main.sqlite.corrupt-1"));
    assert!(fs::read(aside).unwrap().starts_with(b"this is no"));
    fill(&mut index, &[said("s", "a", 1, "one")]);
    assert_eq!(keys(&mut index, &Query::new("one")), ["s#a"]);
}

#[test]
fn a_database_of_another_program_is_set_aside_with_all_that_is_in_it() {
    for version in [0, 3, 900] {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("main.sqlite");
        let other = rusqlite::Connection::open(&path).unwrap();
        let made = format!(
            "CREATE TABLE users (name); INSERT INTO users VALUES ('precious');
             PRAGMA user_version = {version}"
        );
        other.execute_batch(&made).unwrap();
        drop(other);
        let files = WorkspaceFiles::new(folder.path());
        let told = SqliteIndex::condition(&path, settings(), &files, None);
        let told = told.err().unwrap().to_string();
        assert!(told.contains("another program"), "{told}");
        let mut index = on_disk(&folder);
        let aside = index.set_aside().unwrap().to_owned();
        fill(&mut index, &[said("s", "a", 1, "one")]);
        assert_eq!(keys(&mut index, &Query::new("one")), ["s#a"]);
        let other = rusqlite::Connection::open(aside).unwrap();
        let name: String = other
            .query_row("SELECT name FROM users", [], |row| row.get(0))
            .unwrap();
        assert_eq!(name, "precious");
    }
}

/// Texts that do not repeat each other, some 400 bytes each.
fn many(count: u64) -> Vec<Record> {
    let text = |at: u64| {
        let word = |n: u64| format!("w{:x}", (at * 64 + n).wrapping_mul(0x9e37_79b9) >> 12);
        let words: Vec<String> = (0..48).map(word).collect();
        format!("text number {at} says {}", words.join(" "))
    };
    (0..count)
        .map(|at| said("s", &at.to_string(), at, &text(at)))
        .collect()
}

#[test]
fn pages_overwritten_are_met_once_and_the_index_is_made_anew() {
    let folder = TempDir::new().unwrap();
    let whole = folder.path().join("whole.sqlite");
    let records = many(1_000);
    let mut index = SqliteIndex::open(&whole, settings()).unwrap();
    fill(&mut index, &records);
    drop(index);
    let whole = fs::read(&whole).unwrap();
    assert!(whole.len() > 500_000, "{}", whole.len());
    let mut mended = 0;
    for at in (50_000..whole.len() - 96_000).step_by(90_000) {
        let path = folder.path().join(format!("{at}.sqlite"));
        let mut bytes = whole.clone();
        for (n, byte) in bytes[at..at + 96_000].iter_mut().enumerate() {
            *byte = (n * 31 % 251) as u8;
        }
        fs::write(&path, bytes).unwrap();
        let mut index = SqliteIndex::open(&path, settings()).unwrap();
        let hits = index.search(&Query::new("text number 700 says")).unwrap();
        let told = hits.notes.iter().any(|note| note.contains("was damaged"));
        let mut update =
            || index.update(&mut records.iter().cloned(), Budget::default(), &mut |_| {});
        match update() {
            Err(IndexError::Replaced { aside, .. }) => {
                assert!(aside.is_some_and(|aside| aside.exists()));
                update().unwrap();
            }
            done => drop(done.unwrap()),
        }
        if let Some(aside) = index.set_aside() {
            mended += 1;
            assert!(aside.ends_with(format!("{at}.sqlite.corrupt-1")), "{at}");
            assert_eq!(index.status().unwrap().records, 1_000, "{at}");
            let found = keys(&mut index, &Query::new(&records[700].text[..60]));
            assert_eq!(found[0], "s#700", "{at}");
        } else {
            assert!(!told, "{at}");
        }
        drop(index);
        let second = SqliteIndex::open(&path, settings()).unwrap();
        assert_eq!(second.set_aside(), None, "{at}");
    }
    assert!(mended > 3, "{mended}");
}

#[test]
fn files_are_indexed_in_one_go_where_the_index_turns_out_damaged() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let root = folder.path().join("workspace");
    for (at, record) in many(600).iter().enumerate() {
        write(&root, &format!("memory/{at}.md"), &record.text);
    }
    let files = WorkspaceFiles::new(&root);
    let mut index = on_disk(&folder);
    files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    // Every page but the first, under an index that is open.
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    drop((other, index));
    let mut index = on_disk(&folder);
    let mut bytes = fs::read(&path).unwrap();
    bytes[2_048..].fill(0xa5);
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
        .unwrap();
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!(synced.progress.written, 600);
    assert!(synced.notes[0].contains("was damaged"), "{synced:?}");
    assert!(index.set_aside().unwrap().exists());
    assert_eq!(index.status().unwrap().records, 600);
}

#[test]
fn an_index_that_lacks_a_table_is_set_aside_and_made_anew() {
    for table in ["record", "chunk", "text", "source", "vector"] {
        let folder = TempDir::new().unwrap();
        fill(&mut on_disk(&folder), &[said("s", "a", 1, "one")]);
        let other = rusqlite::Connection::open(folder.path().join("main.sqlite")).unwrap();
        let gone = format!("DROP TABLE {table}");
        other.execute_batch(&gone).unwrap();
        drop(other);
        let mut index = on_disk(&folder);
        let _ = index.search(&Query::new("one")).unwrap();
        fill(&mut index, &[said("s", "a", 1, "one")]);
        assert!(index.set_aside().is_some(), "{table}");
        assert_eq!(keys(&mut index, &Query::new("one")), ["s#a"]);
    }
}

#[test]
fn a_damaged_index_that_two_use_is_set_aside_once_and_both_go_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let records = many(300);
    let mut one = on_disk(&folder);
    fill(&mut one, &records);
    drop(one);
    let mut one = on_disk(&folder);
    let mut two = on_disk(&folder);
    let mut bytes = fs::read(&path).unwrap();
    bytes[2_048..].fill(0xa5);
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
        .unwrap();
    let hits = one.search(&Query::new("text")).unwrap();
    assert!(hits.notes[0].contains("was damaged"), "{hits:?}");
    fill(&mut one, &records);
    let found = keys(&mut two, &Query::new("text number 17 says"));
    assert_eq!(found.len(), 6);
    fill(&mut two, &[said("t", "new", 1, "a pelican")]);
    assert_eq!(keys(&mut one, &Query::new("pelican"))[0], "t#new");
    assert!(!folder.path().join("main.sqlite.corrupt-2").exists());
}

#[test]
fn a_newer_layout_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    drop(on_disk(&folder));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = SqliteIndex::open(&path, settings()).err().unwrap();
    assert!(
        matches!(error, IndexError::Newer { found: 99, .. }),
        "{error}"
    );
    assert!(path.exists());
}

#[test]
fn a_locked_index_is_told_and_still_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let settings = IndexSettings {
        patience: Duration::from_millis(50),
        ..settings()
    };
    let mut index = SqliteIndex::open(&path, settings).unwrap();
    fill(&mut index, &[said("s", "a", 1, "one")]);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = index.update(
        &mut [said("s", "b", 2, "two")].into_iter(),
        Budget::default(),
        &mut |_| {},
    );
    assert!(matches!(refused, Err(IndexError::Busy { .. })));
    assert_eq!(keys(&mut index, &Query::new("one")), ["s#a"]);
    other.execute_batch("ROLLBACK").unwrap();
    fill(&mut index, &[said("s", "b", 2, "two")]);
    assert_eq!(keys(&mut index, &Query::new("two"))[0], "s#b");
}

#[test]
fn two_writers_lose_nothing_and_a_reader_sees_both() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let mut reader = on_disk(&folder);
    std::thread::scope(|scope| {
        for session in ["left", "right"] {
            let path = &path;
            scope.spawn(move || {
                let mut index = SqliteIndex::open(path, settings()).unwrap();
                for at in 0..40 {
                    fill(
                        &mut index,
                        &[said(
                            session,
                            &at.to_string(),
                            at,
                            &format!("{session} says {at}"),
                        )],
                    );
                }
            });
        }
    });
    assert_eq!(reader.status().unwrap().records, 80);
    assert_eq!(keys(&mut reader, &Query::new("left 17"))[0], "left#17");
    assert_eq!(keys(&mut reader, &Query::new("right 39"))[0], "right#39");
}

#[test]
fn who_has_an_index_open_sees_it_made_anew() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let mut open = on_disk(&folder);
    fill(&mut open, &[said("s", "a", 1, "one")]);
    assert_eq!(keys(&mut open, &Query::new("one")), ["s#a"]);
    let mut fresh = SqliteIndex::rebuild(&path, settings()).unwrap();
    assert_eq!(fresh.set_aside(), None);
    fill(&mut fresh, &[said("t", "b", 1, "two")]);
    assert!(keys(&mut open, &Query::new("one")).is_empty());
    assert_eq!(keys(&mut open, &Query::new("two")), ["t#b"]);
    fill(&mut open, &[said("s", "c", 2, "three")]);
    assert_eq!(keys(&mut fresh, &Query::new("three")), ["s#c"]);
}

#[test]
fn what_is_taken_out_or_rebuilt_gives_its_room_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let free = || -> (i64, i64) {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let number = |pragma: &str| {
            connection
                .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
                .unwrap()
        };
        (number("freelist_count"), number("page_count"))
    };
    let records = many(600);
    let mut index = on_disk(&folder);
    fill(&mut index, &records);
    let mut half = records.clone();
    for record in &mut half[..400] {
        record.source = String::from("t");
    }
    fill(&mut index, &half[..400]);
    let (_, full) = free();
    index.remove("s").unwrap();
    let (unused, left) = free();
    assert!(unused * 5 <= left && left < full, "{unused} {left} {full}");
    let found = keys(&mut index, &Query::new(&records[17].text[..60]));
    assert_eq!(found[0], "t#17");
    drop(SqliteIndex::rebuild(&path, settings()).unwrap());
    let (unused, left) = free();
    assert!(unused * 5 <= left.max(64) && left < 64, "{unused} {left}");
}

#[test]
fn rebuilds_beside_writers_leave_one_whole_index() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    drop(on_disk(&folder));
    std::thread::scope(|scope| {
        for session in ["left", "right"] {
            let path = &path;
            scope.spawn(move || {
                for at in 0..10 {
                    drop(SqliteIndex::rebuild(path, settings()).unwrap());
                    let mut index = SqliteIndex::open(path, settings()).unwrap();
                    fill(&mut index, &[said(session, "a", at, "something said")]);
                    index.search(&Query::new("said")).unwrap();
                }
            });
        }
    });
    let mut index = on_disk(&folder);
    fill(&mut index, &[said("last", "a", 1, "the last word")]);
    assert_eq!(keys(&mut index, &Query::new("last word"))[0], "last#a");
    let checked: String = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(checked, "ok");
    let names = fs::read_dir(folder.path()).unwrap();
    let aside = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().contains("corrupt")
    });
    assert_eq!(aside.count(), 0);
}

#[test]
fn an_index_deleted_or_emptied_by_hand_is_incomplete_until_it_is_filled() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    // The first one of all lacks nothing, and neither does it when it is opened
    // again with nothing in it.
    for _ in 0..2 {
        assert!(!on_disk(&folder).is_unfilled().unwrap());
    }
    fill(&mut on_disk(&folder), &[said("s", "a", 1, "one")]);
    for spoil in [
        (|path: &Path| fs::remove_file(path).unwrap()) as fn(&Path),
        |path| fs::write(path, b"").unwrap(),
    ] {
        spoil(&path);
        let mut index = on_disk(&folder);
        assert!(index.is_unfilled().unwrap());
        fill(&mut index, &[said("s", "a", 1, "one")]);
        assert!(on_disk(&folder).is_unfilled().unwrap());
        index.mark_filling(false).unwrap();
        drop(index);
        assert!(!on_disk(&folder).is_unfilled().unwrap());
    }
}
