//! OpenClaw's database and its older store.

use std::path::Path;

use longhaul_testkit::recorded;
use longhaul_transcript::{Error, FaultKind, Format, Session, import};
use rusqlite::{Connection, params};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{check, entries, file, outline};

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_corpus_database_gives_openclaws_own_context() {
    let Some(folder) = recorded::folder("pi") else {
        return;
    };
    let golden = std::fs::read_to_string(folder.join("golden_large-session.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
    // A copy without its log: nothing may appear beside it.
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("agent.sqlite");
    std::fs::copy(
        folder.join("openclaw-agent_schema23_large-session.sqlite"),
        &path,
    )
    .unwrap();
    let session = Session::open(&path).unwrap();
    assert_eq!(session.format(), Format::OpenClawSqlite);
    assert_eq!(session.reference().key.as_deref(), Some("agent:main:main"));
    let context = session.context().unwrap();
    assert_eq!(
        sha256(&context.to_json()),
        golden["openclaw"]["messagesSha256"].as_str().unwrap()
    );
    let (all, faults) = entries(&session);
    assert_eq!(all.len(), 1018);
    assert_eq!(faults, []);
    let names: Vec<_> = std::fs::read_dir(scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["agent.sqlite"]);
    // The original stands beside a log.
    let live = folder.join("openclaw-agent_schema23_large-session.sqlite");
    let again = Session::open(&live).unwrap().context().unwrap();
    assert_eq!(again.to_json(), context.to_json());
}

fn schema(path: &Path) -> Connection {
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA user_version = 23; \
             CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, \
                 entry_json TEXT, updated_at INTEGER); \
             CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, \
                 created_at INTEGER, event_zstd BLOB, event_utf8_bytes INTEGER, \
                 PRIMARY KEY (session_id, seq));",
        )
        .unwrap();
    database
}

fn insert(database: &Connection, session: &str, seq: i64, event: &serde_json::Value) {
    database
        .execute(
            "INSERT INTO transcript_events VALUES (?1, ?2, ?3, ?4, NULL, NULL)",
            params![session, seq, event.to_string(), seq],
        )
        .unwrap();
}

fn insert_packed(database: &Connection, session: &str, seq: i64, packed: &[u8], bytes: i64) {
    database
        .execute(
            "INSERT INTO transcript_events VALUES (?1, ?2, NULL, ?3, ?4, ?5)",
            params![session, seq, seq, packed, bytes],
        )
        .unwrap();
}

fn message(id: &str, parent: Option<&str>, text: &str) -> serde_json::Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z",
        "message": {"role": "user", "content": text, "timestamp": 1}})
}

#[test]
fn a_live_database_is_read_through_its_log_and_bad_rows_are_faults() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b?#%.sqlite");
    let database = schema(&path);
    let header = json!({"type": "session", "version": 4, "id": "s1",
        "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"});
    insert(&database, "s1", 0, &header);
    insert(&database, "s1", 1, &message("a", None, "one"));
    let packed = message("b", Some("a"), "two").to_string();
    let frame = zstd::bulk::compress(packed.as_bytes(), 3).unwrap();
    insert_packed(&database, "s1", 2, &frame, packed.len() as i64);
    insert_packed(&database, "s1", 3, &frame, 7);
    insert_packed(&database, "s1", 4, &frame, i64::MAX);
    insert_packed(&database, "s1", 5, b"no frame", 8);
    insert(&database, "s1", 6, &json!("no object"));
    insert(&database, "s2", 0, &header);
    insert(&database, "s2", 100, &message("x", None, "elsewhere"));
    database
        .execute(
            "INSERT INTO session_nodes VALUES ('agent:main:main', 's1', '{}', 50)",
            [],
        )
        .unwrap();

    let listed = import::detect(&path).unwrap().sessions(&path).unwrap();
    let names: Vec<_> = listed
        .iter()
        .map(|at| (at.session.as_deref().unwrap(), at.key.as_deref()))
        .collect();
    assert_eq!(names, [("s2", None), ("s1", Some("agent:main:main"))]);
    let session = Session::open_ref(&listed[1]).unwrap();
    assert_eq!(
        outline(&session.context().unwrap()),
        ["user: one", "user: two"]
    );
    let (_, faults) = entries(&session);
    let rows: Vec<i64> = faults
        .iter()
        .map(|fault| match fault.kind {
            FaultKind::Row { seq, .. } => seq,
            _ => panic!("{fault}"),
        })
        .collect();
    assert_eq!(rows, [3, 4, 5, 6]);
    // The owner goes on writing, and what it wrote since is read next time.
    insert(&database, "s1", 7, &message("c", Some("b"), "three"));
    assert_eq!(session.context().unwrap().messages.len(), 2);
    let session = Session::open_ref(&listed[1]).unwrap();
    assert_eq!(session.context().unwrap().messages.len(), 3);
}

#[test]
fn another_database_and_a_missing_session_are_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.sqlite");
    let database = Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(database);
    assert!(matches!(
        Session::open(&path),
        Err(Error::UnknownFormat { .. })
    ));

    let path = folder.path().join("openclaw-agent.sqlite");
    drop(schema(&path));
    assert!(matches!(Session::open(&path), Err(Error::Empty { .. })));
    let mut reference = longhaul_transcript::SessionRef {
        path,
        session: Some("gone".into()),
        key: None,
        format: Format::OpenClawSqlite,
    };
    assert!(matches!(
        Session::open_ref(&reference),
        Err(Error::NoSuchSession { .. })
    ));
    reference.session = None;
    assert!(matches!(
        Session::open_ref(&reference),
        Err(Error::Empty { .. })
    ));
}

#[test]
fn an_older_store_lists_its_sessions_and_opens_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let header = |id: &str| json!({"type": "session", "version": 3, "id": id, "cwd": "/w"});
    file(
        folder.path(),
        "s1.jsonl",
        &[header("s1"), message("a", None, "first")],
    );
    file(
        folder.path(),
        "own.jsonl",
        &[header("s2"), message("b", None, "second")],
    );
    file(
        folder.path(),
        "moved.jsonl",
        &[header("s3"), message("c", None, "third")],
    );
    let store = folder.path().join("sessions.json");
    let index = json!({
        "agent:main:main": {"sessionId": "s1", "updatedAt": 1_769_178_103_000i64},
        "telegram:1": {"sessionId": "s2", "updatedAt": 1_769_178_104_000i64, "sessionFile": "own.jsonl"},
        "moved": {"sessionId": "s3", "updatedAt": 4, "sessionFile": "/nowhere/at/all/moved.jsonl"},
        "gone": {"sessionId": "s4", "updatedAt": 3},
        "out": {"sessionId": "s5", "updatedAt": 2, "sessionFile": "../out.jsonl"},
        "evil": {"sessionId": "../../etc/passwd", "updatedAt": 1},
        "note": "not a session"
    });
    std::fs::write(&store, serde_json::to_string_pretty(&index).unwrap()).unwrap();

    let session = Session::open(&store).unwrap();
    assert_eq!(session.format(), Format::OpenClawStore);
    assert_eq!(session.reference().key.as_deref(), Some("telegram:1"));
    assert_eq!(outline(&session.context().unwrap()), ["user: second"]);
    check(&session);

    let listed = import::detect(&store).unwrap().sessions(&store).unwrap();
    let open = |key: &str| {
        let at = listed
            .iter()
            .find(|at| at.key.as_deref() == Some(key))
            .unwrap();
        Session::open_ref(at)
    };
    assert_eq!(listed.len(), 6);
    assert_eq!(
        outline(&open("agent:main:main").unwrap().context().unwrap()),
        ["user: first"]
    );
    assert_eq!(
        outline(&open("moved").unwrap().context().unwrap()),
        ["user: third"]
    );
    let gone = open("gone").unwrap_err().to_string();
    assert!(gone.contains("s4.jsonl"), "{gone}");
    assert!(matches!(open("out"), Err(Error::Refused { .. })));
    assert!(matches!(open("evil"), Err(Error::Refused { .. })));
}
