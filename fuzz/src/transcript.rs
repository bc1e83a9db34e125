//! The parsers of sessions: whatever the bytes, reading them never panics,
//! never writes, and gives the same answer from both ends of the file.

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{
    Body, Boundary, Context, Conversation, Dialect, Draft, Durability, Entry, EntryId, EntryType,
    Error, Format, Loaded, Millis, Packing, Role, Session, Stamp, Writer, archive, import, restore,
    verify,
};

/// A fuzz target: its name and what it does with the bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target of this file.
pub const TARGETS: [Target; 9] = [
    ("native_session", native_session),
    ("native_writer", native_writer),
    ("lines", lines),
    ("claude_code", claude_code),
    ("codex", codex),
    ("openclaw_store", openclaw_store),
    ("sqlite", sqlite),
    ("object", object),
    ("time", time),
];

/// A folder for one input, in memory where the system has such a place.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Scratch {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        Scratch(folder.expect("a folder for the input"))
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).expect("the input is written");
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder is there");
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// pi's and OpenClaw's JSON lines.
pub fn native_session(bytes: &[u8]) {
    read_file("session.jsonl", bytes);
}

/// Claude Code's JSON lines.
pub fn claude_code(bytes: &[u8]) {
    read_file("transcript.jsonl", bytes);
}

/// Codex's rollouts.
pub fn codex(bytes: &[u8]) {
    read_file("rollout-1.jsonl", bytes);
}

/// OpenClaw's database.
pub fn sqlite(bytes: &[u8]) {
    read_file("openclaw-agent.sqlite", bytes);
}

/// OpenClaw's older index, with one session file beside it.
pub fn openclaw_store(bytes: &[u8]) {
    let scratch = Scratch::new();
    scratch.file("s1.jsonl", SESSION.as_bytes());
    let path = scratch.file("sessions.json", bytes);
    read_sessions(&scratch, &path, bytes);
}

const SESSION: &str = concat!(
    "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
    "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hello\",\"timestamp\":1}}\n",
);

fn read_file(name: &str, bytes: &[u8]) {
    let scratch = Scratch::new();
    let path = scratch.file(name, bytes);
    read_sessions(&scratch, &path, bytes);
}

/// Reads every session of a file in every way there is.
fn read_sessions(scratch: &Scratch, path: &Path, bytes: &[u8]) {
    let names = scratch.names();
    if let Ok(importer) = import::detect(path) {
        let _ = importer.list(path);
        for reference in importer.sessions(path).unwrap_or_default() {
            if let Ok(session) = Session::open_ref(&reference) {
                check(&session);
            }
        }
    }
    assert_eq!(
        fs::read(path).expect("the input is there"),
        bytes,
        "reading changed the file"
    );
    assert_eq!(scratch.names(), names, "reading left something behind");
}

fn check(session: &Session) {
    let database = session.format() == Format::OpenClawSqlite;
    let Some(entries) = allowed(entries_of(session), database) else {
        return;
    };
    let Some(tree) = allowed(session.tree(), database) else {
        return;
    };
    let ids: Vec<&EntryId> = entries.iter().map(|entry| &entry.id).collect();
    let nodes: Vec<&EntryId> = tree.nodes().iter().map(|node| &node.id).collect();
    assert_eq!(ids, nodes, "the tree holds other entries than the file");
    let Some(loaded) = allowed(session.load(), database) else {
        return;
    };
    let context = Context::build(&loaded);
    // The index of a damaged database may lead elsewhere than its table, so that
    // its two ends disagree.
    if !database {
        check_whole(session, &loaded, &context, &entries);
    }
    check_pairs(&context);
    check_pairs(&Context {
        messages: context.for_model(),
    });
    let Some(report) = allowed(verify(session), database) else {
        return;
    };
    assert_eq!(report.entries, entries.len() as u64);
    for bytes in [0, 100, u64::MAX] {
        let Some(tail) = allowed(session.tail(bytes), database) else {
            return;
        };
        for entry in &tail.entries {
            let known = tree.get(&entry.id).is_some();
            assert!(
                known || database || cut_short(session, bytes),
                "{} is only at the end",
                entry.id
            );
        }
    }
}

/// A foreign transcript whose start is missing gives its entries other ids.
fn cut_short(session: &Session, bytes: u64) -> bool {
    bytes < u64::MAX && matches!(session.format(), Format::ClaudeCode | Format::Codex)
}

/// What was read. A damaged database may refuse at any page; a file that could
/// be opened must be readable to its end.
fn allowed<T>(result: Result<T, Error>, database: bool) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Database { .. }) if database => None,
        Err(error) => panic!("an open session cannot be read: {error}"),
    }
}

fn entries_of(session: &Session) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    session.each(&mut |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    })?;
    Ok(entries)
}

/// Loading from the end gives what the whole tree gives.
fn check_whole(session: &Session, loaded: &Loaded, context: &Context, entries: &[Entry]) {
    let tree = session.tree().expect("it had a tree before");
    if let Some(at) = loaded.boundary {
        assert!(at < loaded.entries.len());
    }
    let moved = tree
        .nodes()
        .iter()
        .any(|node| matches!(node.kind, EntryType::Reset | EntryType::Leaf));
    let native = matches!(
        session.format(),
        Format::Pi | Format::OpenClaw | Format::OpenClawStore
    );
    match loaded.dialect {
        Dialect::OpenClaw => {
            // The path to a named entry is always taken from the whole tree.
            let Some(leaf) = tree.leaf() else {
                assert!(loaded.entries.is_empty());
                return;
            };
            let whole = session.load_at(&leaf.id).expect("the leaf is in the file");
            assert_eq!(places(&loaded.entries), places(&whole.entries));
            assert_eq!(context.to_json(), Context::build(&whole).to_json());
        }
        // An entry of OpenClaw's far back in another file is not looked for.
        Dialect::Pi | Dialect::Linear if moved => {}
        Dialect::Pi if !is_orderly(session) => {}
        // Another agent's transcript without a conversation still has events.
        Dialect::Pi if !native && loaded.entries.is_empty() => {}
        Dialect::Pi | Dialect::Linear => {
            let path: Vec<Entry> = tree
                .path()
                .into_iter()
                .map(|at| entries[at].clone())
                .collect();
            let boundary = path
                .iter()
                .rposition(|entry| matches!(entry.body, Body::Compaction(_)));
            let first = boundary.map_or(0, |at| first_kept(&path, at));
            let whole = Loaded {
                entries: path[first..].to_vec(),
                boundary: boundary.map(|at| at - first),
                ..loaded.clone()
            };
            assert_eq!(places(&loaded.entries), places(&whole.entries));
            assert_eq!(loaded.boundary, whole.boundary);
            // A record of another agent without a time has that of the one before.
            if native {
                assert_eq!(context.to_json(), Context::build(&whole).to_json());
            }
        }
    }
}

/// Whether Claude Code's records stand as Claude Code writes them: every link
/// leads to one record, which stands before. Only then does the end of a file
/// tell what the whole of it would.
fn is_orderly(session: &Session) -> bool {
    if session.format() != Format::ClaudeCode {
        return true;
    }
    let mut seen = HashSet::new();
    let bytes = fs::read(session.path()).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').all(|line| {
        let Ok(record) = Object::parse_bytes(line.trim_ascii()) else {
            return line.trim_ascii().is_empty();
        };
        let known = record
            .str("parentUuid")
            .is_none_or(|parent| seen.contains(parent.as_ref()));
        known
            && record
                .str("uuid")
                .is_none_or(|uuid| seen.insert(uuid.into_owned()))
    })
}

fn first_kept(path: &[Entry], at: usize) -> usize {
    let Body::Compaction(compaction) = &path[at].body else {
        return at;
    };
    let position = |id: &EntryId| path[..at].iter().position(|entry| entry.id == *id);
    match &compaction.boundary {
        Boundary::FirstKept(id) => position(id).unwrap_or(at),
        Boundary::After(id) => position(id).map_or(at, |found| found + 1),
        Boundary::Index(_) | Boundary::Nothing => at,
    }
}

fn places(entries: &[Entry]) -> Vec<(&str, u64)> {
    entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.place.offset))
        .collect()
}

/// No piece holds a result without its call, and nothing is lost.
fn check_pairs(context: &Context) {
    let conversation = Conversation::new(context.messages.clone());
    for piece in conversation.pieces() {
        let mut open: Vec<String> = Vec::new();
        for message in piece.messages() {
            let view = message.view();
            open.extend(
                view.tool_calls()
                    .into_iter()
                    .map(|call| call.id.into_owned()),
            );
            if message.role == Role::ToolResult {
                let id = view.tool_call_id().unwrap_or_default();
                let at = open.iter().position(|open| *open == id);
                open.remove(at.expect("a result follows its call within its piece"));
            }
        }
    }
    let turns = conversation.turns();
    assert_eq!(
        turns.iter().map(ExactSizeIterator::len).sum::<usize>(),
        conversation.pieces().len()
    );
    let orphans = conversation.orphans().len();
    assert_eq!(
        conversation.into_messages().len() + orphans,
        context.messages.len()
    );
}

/// Damaged lines below a sound header read the same forwards and backwards.
pub fn lines(bytes: &[u8]) {
    let header = SESSION.lines().next().unwrap_or_default();
    let mut text = format!("{header}\n").into_bytes();
    text.extend_from_slice(bytes);
    let scratch = Scratch::new();
    let path = scratch.file("session.jsonl", &text);
    let Ok(session) = Session::open(&path) else {
        // Its lines are another agent's.
        return;
    };
    if session.format() != Format::Pi {
        return;
    }
    let forwards = entries_of(&session).expect("a session is read to its end");
    let backwards = session.tail(u64::MAX).expect("and from it");
    assert!(backwards.complete);
    assert_eq!(places(&forwards), places(&backwards.entries));
    for (a, b) in forwards.iter().zip(&backwards.entries) {
        assert_eq!(a.raw(), b.raw());
    }
}

/// Appending to a damaged session loses nothing that could be read, and an
/// archive can be undone to the byte.
pub fn native_writer(bytes: &[u8]) {
    let scratch = Scratch::new();
    let path = scratch.file("session.jsonl", bytes);
    let Ok(session) = Session::open(&path) else {
        return;
    };
    if !matches!(session.format(), Format::Pi | Format::OpenClaw) {
        return;
    }
    let moved = session.tree().is_ok_and(|tree| {
        tree.dialect() == Dialect::OpenClaw
            || tree
                .nodes()
                .iter()
                .any(|node| matches!(node.kind, EntryType::Reset | EntryType::Leaf))
    });
    let before = entries_of(&session).expect("a session is read to its end");
    let context = session.context().expect("it has a context");
    let leaf = session
        .load()
        .expect("it loads")
        .leaf()
        .map(|entry| entry.id.clone());
    archive_and_back(&scratch.file("copy.jsonl", bytes), bytes);
    let Ok(mut writer) = Writer::open(&path, Durability::Os) else {
        return;
    };
    let stamp = Stamp {
        id: EntryId::from("appended by the fuzz target"),
        time: Millis(1),
    };
    if before.iter().any(|entry| entry.id == stamp.id) {
        return;
    }
    if !moved {
        assert_eq!(
            writer.parent(),
            leaf.as_ref(),
            "the next entry follows another leaf"
        );
    }
    let draft = Draft::user("one more", Millis(1));
    let id = writer.append(&draft, stamp).expect("memory has room");
    drop(writer);
    let session = Session::open(&path).expect("it is still a session");
    let after = entries_of(&session).expect("and still readable");
    assert_eq!(after.len(), before.len() + 1);
    for (a, b) in before.iter().zip(&after) {
        assert_eq!((&a.id, a.raw()), (&b.id, b.raw()));
    }
    assert_eq!(after.last().map(|entry| &entry.id), Some(&id));
    if !moved {
        let grown = session.context().expect("it has a context").to_json();
        let old = context.to_json();
        assert!(
            grown.starts_with(&old[..old.len() - 1]),
            "the context before it changed"
        );
    }
}

fn archive_and_back(path: &Path, bytes: &[u8]) {
    for packing in [Packing::Plain, Packing::Zstd] {
        if let Ok(Some(_)) = archive(path, packing) {
            restore(path)
                .expect("what was archived can be restored")
                .expect("there is an archive");
        }
        // Of a line and its twin on the other side of the boundary one is enough.
        if !has_twins(bytes) {
            assert_eq!(fs::read(path).expect("the session is there"), bytes);
        }
    }
}

fn has_twins(bytes: &[u8]) -> bool {
    let mut seen = HashSet::new();
    bytes
        .split(|byte| *byte == b'\n')
        .any(|line| !seen.insert(line))
}

/// Objects keep the text of their values and agree with `serde_json`.
pub fn object(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        assert!(Object::parse_bytes(bytes).is_err());
        return;
    };
    let value = serde_json::from_str::<serde_json::Value>(text);
    let Ok(object) = Object::parse(text) else {
        assert!(
            !value.is_ok_and(|value| value.is_object()),
            "a sound object was refused"
        );
        return;
    };
    for (key, raw) in object.iter() {
        let _ = (
            object.str(key),
            object.f64(key),
            object.u64(key),
            object.bool(key),
        );
        let _ = (
            object.object(key),
            object.array(key),
            object.str_or_number(key),
        );
        let _ = (json::string(raw), json::array(raw), Millis::parse_json(raw));
        let set = json::with_field(&object, key, "[1]");
        let set = Object::parse(&set).expect("an object stays one");
        assert_eq!(set.raw(key), Some("[1]"));
        let without = json::without_field(&object, key);
        assert!(
            !Object::parse(&without)
                .expect("an object stays one")
                .has(key)
        );
        if let Ok(value) = &value {
            assert_eq!(object.str(key).as_deref(), value[key].as_str());
            assert_eq!(object.bool(key), value[key].as_bool());
        }
    }
}

/// Times are read or refused, and what was read can be written and read again.
pub fn time(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for time in [Millis::parse_iso(&text), Millis::parse_json(&text)] {
        let Some(time) = time else { continue };
        let written = time.to_iso();
        let again = Millis::parse_iso(&written);
        assert!(
            again == Some(time) || again == Some(Millis(0)),
            "{text:?} as {written}"
        );
    }
}
