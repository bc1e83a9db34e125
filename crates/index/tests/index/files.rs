//! The files of a workspace in an index.

use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use longhaul_index::{Filters, IndexError, Indexer, Indexing, Waits, WorkspaceFiles};

use super::*;

#[test]
fn the_files_of_a_workspace_come_and_go() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(root, "MEMORY.md", "- pointers");
    write(root, "memory/2026-03-01.md", "chose sqlite");
    write(root, "memories/errors.md", b"broken \xff byte");
    write(root, "memories/huge.md", "x".repeat(3 << 20));
    write(root, "src/main.rs", "not memory");
    let mut index = memory();
    let files = WorkspaceFiles {
        max_bytes: 1 << 20,
        ..WorkspaceFiles::new(root)
    };
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!(synced.progress.written, 3);
    assert_eq!(synced.notes.len(), 2, "{:?}", synced.notes);
    let hits = index.search(&Query::new("sqlite")).unwrap();
    assert_eq!(hits.hits[0].kind, RecordKind::Daily);
    assert_eq!(
        hits.hits[0].time.unwrap().to_iso(),
        "2026-03-01T00:00:00.000Z"
    );
    fs::remove_file(root.join("memory/2026-03-01.md")).unwrap();
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!((synced.progress.written, synced.progress.removed), (0, 1));
    assert!(keys(&mut index, &Query::new("sqlite")).is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_not_followed() {
    let folder = TempDir::new().unwrap();
    let elsewhere = TempDir::new().unwrap();
    write(elsewhere.path(), "secret.md", "elsewhere");
    write(folder.path(), "memories/a.md", "here");
    std::os::unix::fs::symlink(
        elsewhere.path().join("secret.md"),
        folder.path().join("memories/b.md"),
    )
    .unwrap();
    let mut index = memory();
    let synced = WorkspaceFiles::new(folder.path())
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!((synced.progress.written, synced.notes.len()), (1, 1));
}

#[cfg(unix)]
#[test]
fn a_link_to_what_is_no_memory_is_left_out_and_counted() {
    use std::os::unix::fs::symlink;
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(root, ".env", "the walrus");
    write(root, "src/notes.md", "the walrus");
    write(root, "memory/.draft.md", "the walrus");
    write(root, "memory/2026-03-01.md", "the narwhal");
    write(root, "docs/index.md", "the dolphin");
    fs::create_dir(root.join("memories")).unwrap();
    for (target, name) in [
        ("../.env", "memory/env.md"),
        ("../src/notes.md", "memory/2026-03-02.md"),
        ("/etc/hostname", "memory/host.md"),
        (".draft.md", "memory/draft.md"),
        ("../src", "memory/src"),
        ("nowhere.md", "memory/nowhere.md"),
        // Those are memory under another name.
        ("../memory/2026-03-01.md", "memories/first.md"),
        ("docs/index.md", "MEMORY.md"),
        // And this would be a file of another kind.
        (".env", "DREAMS.md"),
    ] {
        symlink(target, root.join(name)).unwrap();
    }
    let mut index = memory();
    let files = WorkspaceFiles::new(root);
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    let left_out = [
        "DREAMS.md",
        "memory/2026-03-02.md",
        "memory/draft.md",
        "memory/env.md",
        "memory/host.md",
        "memory/nowhere.md",
        "memory/src",
    ];
    assert_eq!(files.links_left_out(), left_out);
    assert_eq!(synced.links_left_out, 7);
    assert_eq!(synced.notes.len(), 7, "{:?}", synced.notes);
    for name in left_out {
        assert!(!files.has(name), "{name}");
        assert!(
            synced.notes.iter().any(|note| note.contains(name)),
            "{name}"
        );
    }
    assert_eq!(synced.progress.written, 3);
    for name in ["memory/2026-03-01.md", "memories/first.md", "MEMORY.md"] {
        assert!(files.has(name), "{name}");
    }
    assert!(keys(&mut index, &Query::new("walrus")).is_empty());
    assert_eq!(keys(&mut index, &Query::new("dolphin")).len(), 1);
}

#[test]
fn a_thread_indexes_what_it_is_given_and_what_changes() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write(&root, "memories/errors.md", "old trouble");
    let path = root.join("index/main.sqlite");
    let index = SqliteIndex::open(&path, settings()).unwrap();
    let (send, told) = channel();
    let tell = Box::new(move |told: Indexing| {
        let _ = send.send(matches!(told, Indexing::Idle));
    });
    let mut indexer = Indexer::start(Box::new(index), tell, Waits::default()).unwrap();
    let files = WorkspaceFiles::new(&root);
    indexer.watch(&files).unwrap();
    indexer.files(&files);
    indexer.work(putting(said("s", "a", 1, "left the context")));
    let mut reader = SqliteIndex::open(&path, settings()).unwrap();
    let mut until_found = |query: &str, key: &str| {
        while keys(&mut reader, &Query::new(query))
            .first()
            .map(String::as_str)
            != Some(key)
        {
            told.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    };
    until_found("trouble", "memories/errors.md");
    until_found("context", "s#a");
    write(&root, "memories/errors.md", "brand new surprise");
    until_found("surprise", "memories/errors.md");
    indexer.stop();
}

#[test]
fn folders_that_are_made_later_or_anew_are_noticed() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("index/main.sqlite");
    let index = SqliteIndex::open(&path, settings()).unwrap();
    let (send, told) = channel();
    let tell = Box::new(move |_| {
        let _ = send.send(());
    });
    let mut indexer = Indexer::start(Box::new(index), tell, Waits::default()).unwrap();
    let mut files = WorkspaceFiles::new(&root);
    files.extra.push("docs/notes".into());
    indexer.watch(&files).unwrap();
    let mut reader = SqliteIndex::open(&path, settings()).unwrap();
    let mut until = |query: &str, key: Option<&str>| {
        while keys(&mut reader, &Query::new(query))
            .first()
            .map(String::as_str)
            != key
        {
            told.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    };
    // The first file of a folder comes with it; the second one tells whether
    // the folder is watched.
    for (name, word) in [
        ("memories/errors.md", "first"),
        ("memories/project.md", "second"),
        ("memory/2026/03/a.md", "third"),
        ("memory/2026/03/b.md", "fourth"),
        ("docs/notes/deep/a.md", "fifth"),
        ("docs/notes/deep/b.md", "sixth"),
    ] {
        write(&root, name, format!("the {word} surprise"));
        until(word, Some(name));
    }
    std::fs::remove_dir_all(root.join("memories")).unwrap();
    until("first", None);
    write(&root, "memories/errors.md", "seventh");
    until("seventh", Some("memories/errors.md"));
    write(&root, "memories/errors.md", "eighth");
    until("eighth", Some("memories/errors.md"));
    indexer.stop();
}

const NOON: Millis = Millis(1_773_144_000_000);

fn on_disk_for_files(folder: &TempDir) -> (SqliteIndex, WorkspaceFiles) {
    let root = folder.path().join("workspace");
    write(&root, "memories/a.md", "the lantern is red\n");
    write(&root, "memories/b.md", "the anchor is rusty\n");
    write(&root, "memories/c.md", "the whistle is loud\n");
    (on_disk(folder), WorkspaceFiles::new(root))
}

#[test]
fn a_search_knows_the_files_as_they_are_and_tells_what_it_left() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = on_disk_for_files(&folder);
    let root = files.root.clone();
    let mut search = |words: &str, bytes: u64| {
        let found = index
            .search_current(&Query::new(words), &files, Budget { bytes }, NOON)
            .unwrap();
        let texts = found
            .hits
            .into_iter()
            .map(|hit| hit.text)
            .collect::<String>();
        (texts, found.notes)
    };
    assert_eq!(search("lantern", 1 << 20).0, "the lantern is red\n");
    write(&root, "memories/a.md", "the lantern is green\n");
    fs::remove_file(root.join("memories/b.md")).unwrap();
    assert_eq!(
        search("lantern anchor", 1 << 20),
        (String::from("the lantern is green\n"), Vec::new())
    );
    write(&root, "memories/a.md", "the lantern is blue\n");
    write(&root, "memories/d.md", "the lantern is broken\n");
    let (_, notes) = search("lantern", 1);
    assert!(notes[0].contains("`longhaul memory index`"), "{notes:?}");
}

#[test]
fn an_index_that_another_writes_to_is_searched_as_it_is_and_that_is_told() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = on_disk_for_files(&folder);
    assert_eq!(index.bring_up(&files, Budget::default(), NOON).len(), 0);
    let other = rusqlite::Connection::open(folder.path().join("main.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    write(&files.root, "memories/a.md", "the lantern is green\n");
    let found = index
        .search_current(&Query::new("lantern"), &files, Budget::default(), NOON)
        .unwrap();
    assert_eq!(found.hits[0].text, "the lantern is red\n");
    assert!(found.notes[0].contains("is locked"), "{:?}", found.notes);
    other.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn a_search_that_finds_the_index_damaged_finds_the_files_all_the_same() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = on_disk_for_files(&folder);
    index.bring_up(&files, Budget::default(), NOON);
    // What only a search reads.
    let other = rusqlite::Connection::open(folder.path().join("main.sqlite")).unwrap();
    let spoil = "UPDATE words_data SET block = x'ffffffffffff' WHERE id = 10";
    other.execute_batch(spoil).unwrap();
    drop(other);
    let found = index
        .search_current(&Query::new("anchor"), &files, Budget::default(), NOON)
        .unwrap();
    assert_eq!(found.hits[0].source, "memories/b.md");
    assert!(found.notes[0].contains("was damaged"), "{:?}", found.notes);
    assert!(index.set_aside().unwrap().exists());
}

#[test]
fn how_an_index_stands_is_seen_without_a_change() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let look = |files: &WorkspaceFiles| SqliteIndex::condition(&path, settings(), files, None);
    let nothing = WorkspaceFiles::new(folder.path());
    assert_eq!(look(&nothing).unwrap(), None);
    assert!(!path.exists());

    let (mut index, files) = on_disk_for_files(&folder);
    let stands = look(&files).unwrap().unwrap();
    assert_eq!((stands.current, stands.behind.new), (None, 3));
    index.bring_up(&files, Budget::default(), NOON);
    let stands = look(&files).unwrap().unwrap();
    assert_eq!((stands.current, stands.behind.total()), (Some(NOON), 0));
    assert_eq!(stands.status, index.status().unwrap());

    write(&files.root, "memories/a.md", "the lantern is green\n");
    write(&files.root, "memories/d.md", "the lamp is new\n");
    fs::remove_file(files.root.join("memories/b.md")).unwrap();
    let stands = look(&files).unwrap().unwrap();
    let behind = longhaul_index::Behind {
        new: 1,
        changed: 1,
        gone: 1,
    };
    assert_eq!(stands.behind, behind);

    drop(index);
    let spoilt = "this is no database, and was one a moment ago";
    fs::write(&path, spoilt).unwrap();
    let damaged = look(&files);
    assert!(
        matches!(damaged, Err(IndexError::Damaged { .. })),
        "{damaged:?}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), spoilt);
}

#[test]
fn a_file_whose_name_says_no_day_is_found_by_when_it_was_changed() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = (memory(), WorkspaceFiles::new(folder.path()));
    let root = folder.path();
    write(root, "memory/2026-03-01.md", "the anchor was cast");
    write(root, "memory/notes.md", "the anchor is rusty");
    let day = |day: &str| Millis::parse_iso(&format!("{day}T00:00:00Z")).unwrap();
    let changed = Duration::from_millis(day("2026-03-05").0.unsigned_abs());
    let notes = fs::File::options()
        .write(true)
        .open(root.join("memory/notes.md"))
        .unwrap();
    notes
        .set_modified(SystemTime::UNIX_EPOCH + changed)
        .unwrap();
    let mut found = |since: Option<&str>, until: Option<&str>| {
        let filters = Filters {
            since: since.map(day),
            until: until.map(day),
            ..Filters::default()
        };
        let query = Query {
            filters,
            ..Query::new("anchor")
        };
        let hits = index.search_current(&query, &files, Budget::default(), NOON);
        let hits = hits.unwrap();
        let mut found: Vec<(String, Option<Millis>)> = hits
            .hits
            .into_iter()
            .map(|hit| (hit.source, hit.time))
            .collect();
        found.sort();
        (found, hits.unknown)
    };
    // What it is worth does not depend on when the file was changed.
    let log = ("memory/2026-03-01.md".to_owned(), Some(day("2026-03-01")));
    let notes = ("memory/notes.md".to_owned(), None);
    let both = vec![log.clone(), notes.clone()];
    assert_eq!(found(Some("2026-03-01"), None).0, both);
    assert_eq!(found(Some("2026-03-04"), None).0, vec![notes]);
    assert_eq!(found(None, Some("2026-03-05")).0, vec![log]);
    let (none, told) = found(Some("2026-03-06"), None);
    assert_eq!(none, vec![]);
    assert!(
        told[0].ends_with("the last of 2026-03-05T00:00:00.000Z"),
        "{told:?}"
    );
}

#[test]
fn only_memory_is_a_file_of_the_memory() {
    let folder = TempDir::new().unwrap();
    let (_, files) = on_disk_for_files(&folder);
    let root = files.root.clone();
    for name in [
        ".env",
        "src/a.rs",
        "docs/b.md",
        "memory/.hidden",
        "memory/2026-03-01.md",
    ] {
        write(&root, name, "x");
    }
    let files = WorkspaceFiles {
        extra: vec!["docs".into()],
        ..files
    };
    for name in ["memories/a.md", "docs/b.md", "memory/2026-03-01.md"] {
        assert!(files.has(name), "{name}");
        assert!(files.date_of(name).is_some(), "{name}");
    }
    let day = files.date_of("memory/2026-03-01.md").unwrap();
    assert_eq!(day.to_iso(), "2026-03-01T00:00:00.000Z");
    for name in [
        ".env",
        "src/a.rs",
        "memory/.hidden",
        "memory/../.env",
        "memories/../src/a.rs",
        "/etc/passwd",
        "memories",
        "",
    ] {
        assert!(!files.has(name), "{name}");
    }
}

#[test]
fn where_not_all_may_be_taken_in_small_and_new_files_go_before_a_huge_one() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(
        root,
        "memory/2020-01-01.md",
        "lorem ipsum\n".repeat(100_000),
    );
    write(
        root,
        "memory/2020-01-02.md",
        "the lorem is older than the mocha",
    );
    let older = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let old = fs::File::options()
        .append(true)
        .open(root.join("memory/2020-01-02.md"));
    old.unwrap().set_modified(older).unwrap();
    write(root, "memory/2026-03-01.md", "we test with mocha and jest");
    let files = WorkspaceFiles::new(root);
    let mut index = memory();
    let found = |index: &mut SqliteIndex, bytes: u64| -> Vec<String> {
        let hits = index
            .search_current(&Query::new("mocha lorem"), &files, Budget { bytes }, NOON)
            .unwrap();
        let is_told = hits
            .notes
            .iter()
            .any(|note| note.contains("`longhaul memory index`"));
        assert_eq!(is_told, bytes < 1_000_000, "{:?}", hits.notes);
        let mut found: Vec<String> = hits.hits.into_iter().map(|hit| hit.source).collect();
        found.sort();
        found.dedup();
        found
    };
    assert_eq!(found(&mut index, 40), ["memory/2026-03-01.md"]);
    // What is larger than all that may be taken in is not waited for.
    for _ in 0..2 {
        assert_eq!(
            found(&mut index, 40),
            ["memory/2020-01-02.md", "memory/2026-03-01.md"]
        );
    }
    assert_eq!(found(&mut index, 2_000_000).len(), 3);
}

#[test]
fn an_index_that_was_begun_anew_is_told_to_be_incomplete_until_it_is_filled() {
    let folder = TempDir::new().unwrap();
    let (index, files) = on_disk_for_files(&folder);
    let path = folder.path().join("main.sqlite");
    let unfilled = || {
        let stands = SqliteIndex::condition(&path, settings(), &files, None);
        stands.unwrap().unwrap().unfilled
    };
    assert!(!unfilled());
    drop(index);
    let mut index = SqliteIndex::rebuild(&path, settings()).unwrap();
    assert!(unfilled());
    let mut notes = || {
        let found = index.search_current(&Query::new("anchor"), &files, Budget::default(), NOON);
        found.unwrap().notes
    };
    assert!(notes()[0].starts_with("the index is incomplete"));
    assert!(unfilled());
    index.mark_filling(false).unwrap();
    assert!(!unfilled());
    let found = index
        .search_current(&Query::new("anchor"), &files, Budget::default(), NOON)
        .unwrap();
    assert_eq!(found.notes, [""; 0]);
    assert_eq!(found.hits[0].source, "memories/b.md");
}

#[test]
fn a_binary_file_is_left_out_and_told_each_time() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = on_disk_for_files(&folder);
    write(&files.root, "memories/d.md", b"the lantern\0\x01\x02");
    for _ in 0..2 {
        let found = index
            .search_current(&Query::new("lantern"), &files, Budget::default(), NOON)
            .unwrap();
        assert_eq!(found.hits.len(), 1, "{:?}", found.hits);
        let told = |note: &String| note.contains("d.md has a zero byte at 11");
        assert!(found.notes.iter().any(told), "{:?}", found.notes);
    }
    // What was text is found no more once it is none.
    write(&files.root, "memories/a.md", b"the lantern\0");
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!(synced.notes.len(), 2, "{:?}", synced.notes);
    assert!(keys(&mut index, &Query::new("lantern")).is_empty());
}
