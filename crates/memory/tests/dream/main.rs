//! Dreaming, from logs to memory and back.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod bytes;
mod judging;
mod lasting;
mod merging;
mod promoting;
mod reading;
mod replaying;
mod searching;
mod staying;
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
        self.log(day, "User Preferences", text, Source::User);
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

    /// Dreams with a model that finds everything worth keeping, so that the policy
    /// promotes what may go unseen.
    pub(crate) fn dream_judged(&self, settings: &Settings<'_>) -> Report {
        self.dream_with(settings, &mut |question| Ok(keeps_all(question)))
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

    /// Puts the newer one of two in the place of the older one, as a person would.
    pub(crate) fn merge(&self, one: &str, other: &str) {
        let (one, other) = (self.id(one), self.id(other));
        let dreams = self.dreams();
        let lock = dreams.lock().unwrap();
        dreams.merge(&lock, &one, &other).unwrap();
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

/// The notes that a question shows, in their order.
pub(crate) fn notes(question: &Question) -> Vec<String> {
    let notes = question.prompt.split("<note ").skip(1);
    notes
        .map(|note| note.split_once('>').unwrap().1)
        .map(|note| note.split_once("</note>").unwrap().0.to_owned())
        .collect()
}

/// Keeps every note, and says nothing of pairs.
pub(crate) fn keeps_all(question: &Question) -> String {
    if question.prompt.contains("<pair ") {
        return String::new();
    }
    let judged = notes(question).into_iter().zip(1..);
    judged
        .map(|(note, number)| json!({"note": number, "keep": true, "quote": note}).to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

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
        meaning: None,
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
