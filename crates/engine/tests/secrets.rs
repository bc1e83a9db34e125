//! The secrets that a session's file shows, known for what is written beside it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_engine::config::Config;
use longhaul_engine::live::Live;
use longhaul_engine::survey::Surveys;
use longhaul_ledger::Capture;
use longhaul_transcript::{
    Draft, Durability, EntryId, Millis, Packing, Session, Stamp, Writer, archive,
};

/// Half of a token, which nothing gives away.
const EARLY: &str = "u8mxQ1TLEij4d8xI6D";
const LATE: &str = "w3RnKc0ZpYhB5vGe7T";

struct Desk {
    folder: tempfile::TempDir,
    path: PathBuf,
    lines: i64,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let header = r#"{"type":"session","version":3,"id":"long","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
        fs::write(&path, format!("{header}\n")).unwrap();
        Desk {
            folder,
            path,
            lines: 0,
        }
    }

    fn say(&mut self, text: &str) -> EntryId {
        self.append(&Draft::user(text, Millis(1)))
    }

    fn append(&mut self, draft: &Draft) -> EntryId {
        self.lines += 1;
        let stamp = Stamp {
            id: EntryId::new(format!("{:08x}", self.lines)),
            time: Millis(1_800_000_000_000 + self.lines),
        };
        let mut writer = Writer::open(&self.path, Durability::Os).unwrap();
        writer.append(draft, stamp.clone()).unwrap();
        stamp.id
    }

    /// Enough that it is worth a note, and read in no time.
    fn say_much(&mut self) {
        let text = format!("Look at the next file{}", " ".repeat(1 << 18));
        for _ in 0..9 {
            self.say(&text);
        }
    }

    fn opened(&self, config: &Config) -> Live {
        let session = Session::open(&self.path).unwrap();
        let keep = Surveys::below(self.folder.path(), config).keep(&session);
        Live::open_with(&session, Capture::default(), &keep).unwrap()
    }

    fn survey(&self) -> Option<PathBuf> {
        let folder = fs::read_dir(self.folder.path().join("context/state/long")).ok()?;
        let mut files = folder.map(|file| file.unwrap().path());
        files.find(|path| path.extension().is_some_and(|kind| kind == "sqlite"))
    }

    /// Whether another process knows the pieces.
    fn known(&self) -> [bool; 2] {
        let live = self.opened(&Config::default());
        live.learn_secrets();
        let redactor = live.redactor();
        [EARLY, LATE].map(|piece| redactor.redact(piece).text != piece)
    }

    fn note(&self) -> Option<Vec<u8>> {
        fs::read(self.survey()?).ok()
    }
}

fn token(piece: &str) -> String {
    format!("GITHUB_TOKEN=ghp_{piece}AbCdEfGh12345678XyZw is the token")
}

/// Puts other bytes into the place of some.
fn overwrite(path: &Path, old: &str, new: &str) {
    assert_eq!(old.len(), new.len());
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(old));
    fs::write(path, text.replacen(old, new, 1)).unwrap();
}

#[test]
fn where_secrets_stand_is_noted_and_only_those_lines_and_new_ones_are_read_again() {
    let mut desk = Desk::new();
    // The head of a file tells it from others.
    desk.say(&" ".repeat(8 << 10));
    desk.say(&token(EARLY));
    let blank = "-".repeat(token(LATE).len());
    desk.say(&blank);
    desk.say_much();
    assert_eq!(desk.known(), [true, false]);
    let note = desk.note().unwrap();
    assert_eq!(memchr::memmem::find(&note, EARLY.as_bytes()), None);
    // What was read without a find is not read again; nobody writes there.
    overwrite(&desk.path, &blank, &token(LATE));
    assert_eq!(desk.known(), [true, false]);
    overwrite(&desk.path, &token(LATE), &blank);
    // What comes after it is.
    desk.say(&token(LATE));
    assert_eq!(desk.known(), [true, true]);
    desk.say_much();
    assert_eq!(desk.known(), [true, true]);
    assert_ne!(desk.note().unwrap(), note);
    assert_eq!(desk.known(), [true, true], "by the note alone");
}

#[test]
fn a_note_of_another_file_is_not_gone_by() {
    let mut desk = Desk::new();
    desk.say(&token(EARLY));
    desk.say_much();
    assert_eq!(desk.known(), [true, false]);
    let text = fs::read_to_string(&desk.path).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    // Written anew with a line less and another secret.
    let (_, rest) = rest.split_once('\n').unwrap();
    let rest = rest.replacen("Look at the next file", &token(LATE), 1);
    let rest = rest.replacen(r#""parentId":"00000001""#, r#""parentId":null"#, 1);
    fs::write(&desk.path, format!("{header}\n{rest}")).unwrap();
    assert_eq!(desk.known(), [false, true]);
    for damaged in ["", "damaged", "SQLite format 3\0 and no more"] {
        fs::write(desk.survey().unwrap(), damaged).unwrap();
        assert_eq!(desk.known(), [false, true], "{damaged}");
    }
}

#[test]
fn a_short_session_and_one_that_may_not_write_leave_no_note() {
    let mut desk = Desk::new();
    desk.say(&token(EARLY));
    assert_eq!(desk.known(), [true, false]);
    assert_eq!(desk.note(), None);
    desk.say_much();
    let mut config = Config::default();
    config.sandbox.read_only = true;
    let live = desk.opened(&config);
    assert_ne!(live.redactor().redact(EARLY).text, EARLY);
    assert_eq!(desk.note(), None);
}

#[test]
fn secrets_are_known_that_were_moved_into_an_archive() {
    for packing in [Packing::Plain, Packing::Zstd] {
        let mut desk = Desk::new();
        desk.say(&token(EARLY));
        let kept = desk.say("the work goes on");
        desk.append(&Draft::Compaction {
            summary: "A token was given.".into(),
            first_kept: Some(kept),
            tokens_before: 100,
            details: None,
        });
        archive(&desk.path, packing).unwrap().unwrap();
        assert!(!fs::read_to_string(&desk.path).unwrap().contains(EARLY));
        assert_eq!(desk.known(), [true, false]);
    }
}

#[test]
fn a_file_that_is_gone_leaves_what_is_in_memory() {
    let mut desk = Desk::new();
    desk.say(&token(EARLY));
    let live = Live::open(&Session::open(&desk.path).unwrap()).unwrap();
    fs::remove_file(&desk.path).unwrap();
    assert_ne!(live.redactor().redact(EARLY).text, EARLY);
}
