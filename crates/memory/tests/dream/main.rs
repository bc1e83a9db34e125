//! Dreaming, from logs to memory and back.

#![allow(clippy::unwrap_used)]

mod asking;
mod bytes;
mod changing;
mod denying;
mod diary;
mod excepting;
mod halves;
mod holding;
mod lasting;
mod moving;
mod noticing;
mod order;
mod promoting;
mod qualifying;
mod reading;
mod replaying;
mod reversing;
mod roles;
mod searching;
mod trusting;
mod undoing;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use jiff::civil::{Date, date};
use longhaul_memory::dream::{
    Candidate, Cause, DreamLock, Dreams, Question, Reply, Report, Settings,
};
use longhaul_memory::files::{AgentsFile, Body, Limits, Note, Origin, Section};
use longhaul_memory::{Error, MemoryFolder, Seal, Source};
use longhaul_tokens::{Estimator, Spent};
use longhaul_transcript::{EntryId, Format, SessionRef};
use serde_json::json;

pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) memory: MemoryFolder,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let seal = Some(Seal::new([7; 32]));
        let memory = MemoryFolder::open(&folder.path().join("work"), seal).unwrap();
        Place { folder, memory }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn dreams(&self) -> Dreams<'_> {
        Dreams::new(&self.state(), &self.memory)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.memory.root().join(name)).unwrap_or_default()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.memory.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Logs one line as the flush without a model would.
    pub(crate) fn log(&self, day: Date, section: &str, text: &str, source: Source) {
        let body = Body::Sections(vec![Section {
            title: section.into(),
            notes: vec![Note {
                text: text.into(),
                source,
                entry: Some(EntryId::new("e1")),
                said: None,
                first: None,
            }],
        }]);
        let session = format!("s{day}");
        let origin = Origin {
            session: Some(&session),
            epoch: None,
        };
        self.memory
            .append_log(day.at(10, 0, 0, 0), "Flush", origin, &body)
            .unwrap();
    }

    pub(crate) fn rule(&self, day: Date, text: &str) {
        self.log(
            day,
            "User Preferences",
            &format!("Constraint: {text}"),
            Source::User,
        );
    }

    /// Logs that the user takes something back or allows it.
    pub(crate) fn change(&self, day: Date, text: &str) {
        let text = format!("Change: {text}");
        self.log(day, "User Preferences", &text, Source::User);
    }

    pub(crate) fn dream(&self, settings: &Settings<'_>) -> Report {
        let dreams = self.dreams();
        let lock = dreams.lock().unwrap();
        dreams
            .run(&lock, &now(), Cause::Manual, settings, None)
            .unwrap()
    }

    /// Dreams with a model that answers so.
    pub(crate) fn dream_with(&self, settings: &Settings<'_>, model: &mut Answers<'_>) -> Report {
        let dreams = self.dreams();
        let lock = dreams.lock().unwrap();
        dream_asking(&dreams, &lock, settings, model)
    }

    /// One where two facts were said on two days and dreamt of.
    pub(crate) fn told(older: &str, newer: &str) -> Place {
        let place = Place::new();
        for (back, text) in [(3, older), (1, newer)] {
            place.log(day(back), "Facts", text, Source::User);
            place.dream(&settings());
        }
        place
    }

    /// One whose memory was begun today.
    pub(crate) fn begun() -> Place {
        let place = Place::new();
        place
            .memory
            .init(TODAY.at(8, 0, 0, 0), "Tides", AgentsFile::Unwanted)
            .unwrap();
        place
    }

    /// One in which the user said these rules the day before yesterday, and they
    /// were dreamt of.
    pub(crate) fn dreamt(rules: &[&str]) -> Place {
        Place::new().with_rules(rules)
    }

    /// The same where the memory was begun.
    pub(crate) fn begun_and_dreamt(rules: &[&str]) -> Place {
        Place::begun().with_rules(rules)
    }

    fn with_rules(self, rules: &[&str]) -> Place {
        for rule in rules {
            self.rule(day(2), rule);
        }
        self.dream(&settings());
        self
    }

    pub(crate) fn promote(&self, text: &str) -> String {
        let id = self.id(text);
        let dreams = self.dreams();
        let lock = dreams.lock().unwrap();
        dreams.promote(&lock, &id, &now(), &settings()).unwrap();
        id
    }

    pub(crate) fn undo(&self) -> Result<(), Error> {
        let dreams = self.dreams();
        let lock = dreams.lock().unwrap();
        dreams
            .undo(&lock, None, now().timestamp(), &settings())
            .map(|_| ())
    }

    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        self.dreams().candidates().unwrap()
    }

    pub(crate) fn find(&self, text: &str) -> Candidate {
        let all = self.candidates();
        let found = all.iter().rev().find(|one| one.text.contains(text));
        found
            .unwrap_or_else(|| panic!("no {text:?} in {all:#?}"))
            .clone()
    }

    /// The newer one of two takes the place of the older one, and of nothing else.
    pub(crate) fn has_replaced(&self, older: &str, newer: &str) {
        let replaced = self.find(newer).replaces;
        assert_eq!(replaced, [self.id(older)], "{older} / {newer}");
    }

    pub(crate) fn id(&self, text: &str) -> String {
        self.find(text).id
    }

    /// Every file but the note about the last run and the lock.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
        fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => collect(&path, files),
                    false => {
                        files.insert(path.clone(), fs::read_to_string(&path).unwrap());
                    }
                }
            }
        }
        let mut files = BTreeMap::new();
        collect(self.folder.path(), &mut files);
        files.retain(|path, _| !path.ends_with("last_run.json") && !path.ends_with(".dreaming"));
        files
    }
}

/// How a model answers, or why it fails.
pub(crate) type Answers<'a> = dyn FnMut(&Question) -> Result<String, String> + 'a;

/// Dreams with a model each of whose answers takes ten tokens and a cent.
pub(crate) fn dream_asking(
    dreams: &Dreams<'_>,
    lock: &DreamLock,
    settings: &Settings<'_>,
    model: &mut Answers<'_>,
) -> Report {
    let mut ask = |question: &Question| {
        let text = model(question);
        let answered = u64::from(text.is_ok());
        let paid = Spent {
            requests: answered,
            input: 8 * answered,
            output: 2 * answered,
            dollars: 0.01 * answered as f64,
            ..Spent::default()
        };
        Reply { text, paid }
    };
    dreams
        .run(lock, &now(), Cause::Manual, settings, Some(&mut ask))
        .unwrap()
}

pub(crate) const TODAY: Date = date(2026, 11, 15);

pub(crate) fn day(back: i8) -> Date {
    date(2026, 11, 15 - back)
}

pub(crate) fn now() -> Zoned {
    "2026-11-15T20:00[Europe/Berlin]".parse().unwrap()
}

pub(crate) fn settings() -> Settings<'static> {
    Settings {
        lookback_days: 7,
        promote_at: None,
        limits: Limits::default(),
        counter: &Estimator::Heuristic,
        recalls: &|_| 0,
    }
}

/// A session of pi in a file.
pub(crate) fn pi_session(path: PathBuf) -> SessionRef {
    SessionRef {
        path,
        session: None,
        key: None,
        format: Format::Pi,
    }
}

/// A session of one message whose entry has an id that no other has.
pub(crate) fn session_of(place: &Place, name: &str, message: serde_json::Value) -> SessionRef {
    let path = place.folder.path().join(format!("{name}.jsonl"));
    let header = json!({"type": "session", "version": 3, "id": name, "timestamp": "2026-10-01T10:00:00.000Z", "cwd": "/w"});
    let line = json!({"type": "message", "id": "0b8f5a52-7f3e-4a43-9d0c-3a5a3c1f7e10", "parentId": null, "timestamp": "2026-10-02T10:00:00.000Z", "message": message});
    fs::write(&path, format!("{header}\n{line}\n")).unwrap();
    pi_session(path)
}

pub(crate) fn backfill(place: &Place, sessions: &[SessionRef]) {
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let done = dreams
        .backfill(&lock, sessions, &now(), &settings(), &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(done.problems, Vec::<String>::new());
}

/// Settings with which everything that may go unseen does.
pub(crate) fn policy() -> Settings<'static> {
    Settings {
        promote_at: Some(0.0),
        ..settings()
    }
}

/// A session of one day whose user says these things.
pub(crate) fn said_on(place: &Place, on: &str, texts: &[&str]) -> SessionRef {
    let path = place.folder.path().join(format!("{on}.jsonl"));
    let mut text = json!({"type": "session", "version": 3, "id": on, "timestamp": format!("{on}T10:00:00.000Z"), "cwd": "/w"}).to_string();
    let mut parent = None;
    for (at, said) in texts.iter().enumerate() {
        for (role, said) in [("user", *said), ("assistant", "Understood.")] {
            let id = format!("{on}-{at}-{role}");
            let line = json!({"type": "message", "id": id, "parentId": parent, "timestamp": format!("{on}T10:00:{at:02}.000Z"),
                "message": {"role": role, "stopReason": "stop", "content": [{"type": "text", "text": said}]}});
            text.push_str(&format!("\n{line}"));
            parent = Some(id);
        }
    }
    fs::write(&path, text + "\n").unwrap();
    pi_session(path)
}
