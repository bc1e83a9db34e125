//! Sessions to measure on: recorded, generated, or chats, with what was planted.
use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_testkit::plants::{self, Plant, Planted};
use longhaul_testkit::recorded;
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_transcript::{Body, Draft, Entry, EntryId, Header, Millis, Role, Session, Stamp};
use serde_json::Value;

use super::drive::shown;
use super::event::{Event, Placed};
use super::truth::Truth;
use super::{claude, native};
use crate::Result;
use crate::paths;

/// Whose session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Agent,
    /// Nothing but messages.
    Chat,
}

/// A session to measure on.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) header: Header,
    /// The path, with what was planted.
    pub(super) entries: Vec<Entry>,
    /// The path as it was recorded.
    pub(super) recorded: Vec<Entry>,
    /// What happened in the recording.
    pub(super) recorded_events: Vec<Placed>,
    /// What there is to keep.
    pub(super) truth: Truth,
    pub(super) planted: Planted,
    /// Texts of the truth file that the source does not have, with all of them.
    pub(super) unread: Vec<String>,
    pub(super) listed: usize,
    /// What each entry shows.
    pub(super) texts: Vec<(EntryId, String)>,
    pub(super) cwd: String,
    /// Windows it is measured at; all if there are none.
    pub(super) windows: Vec<u32>,
    pub(super) recorded_by_an_agent: bool,
}

impl Source {
    pub(super) fn new(
        name: String,
        kind: Kind,
        header: Header,
        recorded: Vec<Entry>,
        entries: Vec<Entry>,
        events: &[Placed],
    ) -> Source {
        let cwd = header.cwd.as_ref().map(|cwd| cwd.to_string_lossy());
        let cwd = cwd.unwrap_or_default().trim_end_matches('/').to_owned();
        Source {
            truth: Truth::of(events, &cwd),
            texts: entries
                .iter()
                .map(|entry| (entry.id.clone(), shown(entry)))
                .collect(),
            recorded_events: native::read(&recorded),
            name,
            kind,
            header,
            entries,
            recorded,
            planted: Planted::default(),
            unread: Vec::new(),
            listed: 0,
            cwd,
            windows: Vec::new(),
            recorded_by_an_agent: kind == Kind::Agent,
        }
    }
}

/// Recorded sessions of the corpus: the shortest first, if not all are wanted.
pub(super) fn corpus(folder: &Path, scratch: &Path, most: usize) -> Result<Vec<Source>> {
    let mut files = paths::files(&folder.join("transcripts"), |name| {
        name.starts_with("cc-entire-") && name.ends_with(".jsonl.gz") && !name.contains("CORRUPT")
    })?;
    if most < files.len() {
        files.sort_by_key(|file| fs::metadata(file).map_or(0, |file| file.len()));
        files.truncate(most);
    } else {
        files.extend(paths::files(&folder.join("pi"), |name| {
            name.starts_with("pi-mono_") && name.ends_with("by-pi1.5.0.jsonl")
        })?);
    }
    files
        .iter()
        .enumerate()
        .map(|(number, file)| {
            let truth = file.with_extension("").with_extension("truth.json");
            recorded(file, Some(&truth), scratch, number)
        })
        .collect()
}

/// One file, with a truth file beside it if there is one.
pub(super) fn recorded(
    file: &Path,
    truth: Option<&Path>,
    scratch: &Path,
    number: usize,
) -> Result<Source> {
    let name = paths::name(file);
    let short = name.trim_end_matches(".gz").trim_end_matches(".jsonl");
    let short = short.trim_start_matches("cc-entire-").to_owned();
    let plain = recorded::unpacked(file, scratch);
    let session = Session::open(&plain)?;
    let recorded = path_of(&session)?;
    let header = session.header().clone();
    let text = fs::read_to_string(&plain).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut source = if claude::is_claude(&lines) {
        let before = claude::read(&lines);
        let kind = kind_of(&before);
        let (plants, planted) = match kind {
            Kind::Chat => plants::for_chat(number),
            Kind::Agent => plants::for_agent(number, has_todos(&before)),
        };
        let path = scratch.join(format!("planted-{short}.jsonl"));
        let written = plants::into_claude(&lines, &claude::places(&lines), &plants);
        fs::write(&path, written.join("\n") + "\n")?;
        let written: Vec<&str> = written.iter().map(String::as_str).collect();
        let entries = path_of(&Session::open(&path)?)?;
        let events = claude::read(&written);
        let mut source = Source::new(short, kind, header, recorded, entries, &events);
        source.recorded_events = before;
        source.planted = planted;
        source
    } else {
        let kind = kind_of(&native::read(&recorded));
        from_native(short, kind, header, recorded, number)
    };
    if let Some(truth) = truth.filter(|path| path.is_file()) {
        compare(&mut source, truth)?;
    }
    Ok(source)
}

/// A native session with plants for its kind.
pub(super) fn from_native(
    name: String,
    kind: Kind,
    header: Header,
    recorded: Vec<Entry>,
    number: usize,
) -> Source {
    let before = native::read(&recorded);
    let (plants, planted): (Vec<Plant>, Planted) = match kind {
        Kind::Agent => plants::for_agent(number, has_todos(&before)),
        Kind::Chat => plants::for_chat(number),
    };
    let entries = plants::into_native(recorded.clone(), &plants);
    let events = native::read(&entries);
    let mut source = Source::new(name, kind, header, recorded, entries, &events);
    source.planted = planted;
    source
}

/// A generated session of a seed.
pub(super) fn generated(seed: u64, turns: u32, scratch: &Path) -> Result<Source> {
    let path: PathBuf = scratch.join(format!("seed-{seed}.jsonl"));
    let mut file = Vec::new();
    let plan = Plan {
        seed,
        size: Size::Turns(turns),
        ..Plan::default()
    };
    generate(&plan, &mut file)?;
    fs::write(&path, &file)?;
    let session = Session::open(&path)?;
    let recorded = path_of(&session)?;
    let name = format!("seed-{seed}");
    let header = session.header().clone();
    let mut source = from_native(name, Kind::Agent, header, recorded, seed as usize);
    source.recorded_by_an_agent = false;
    Ok(source)
}

/// In a chat nobody ever calls a tool.
fn kind_of(events: &[Placed]) -> Kind {
    let called = |placed: &Placed| matches!(placed.event, Event::Call { .. });
    match events.iter().any(called) {
        true => Kind::Agent,
        false => Kind::Chat,
    }
}

fn has_todos(events: &[Placed]) -> bool {
    events.iter().any(|placed| {
        matches!(&placed.event, Event::Call { name, .. }
            if matches!(name.as_str(), "TodoWrite" | "TaskCreate" | "todo" | "todo_write"))
    })
}

/// Texts of a truth file that stand at their line: truth files cut them.
fn compare(source: &mut Source, truth: &Path) -> Result<()> {
    let truth: Value = serde_json::from_str(&fs::read_to_string(truth)?)
        .map_err(|error| format!("{}: {error}", truth.display()))?;
    let said = Truth::of(&source.recorded_events, &source.cwd).said;
    let listed = ["user_prompts", "other_user_texts"]
        .into_iter()
        .flat_map(|key| truth[key].as_array().into_iter().flatten())
        .filter(|text| text["channel"] != "notification");
    for text in listed {
        let line = text["line"].as_u64().unwrap_or(0);
        let words = text["text"].as_str().unwrap_or_default().trim();
        let whole = text["channel"] != "answer";
        let read = said
            .iter()
            .any(|said| said.line == line && (!whole || said.said.text.starts_with(words)));
        source.listed += 1;
        if !read {
            source.unread.push(format!("line {line}: {words}"));
        }
    }
    Ok(())
}

fn path_of(session: &Session) -> Result<Vec<Entry>> {
    let tree = session.tree()?;
    let on_path: HashSet<EntryId> = tree
        .path()
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let mut entries = Vec::new();
    session.each(&mut |entry| {
        if on_path.contains(&entry.id) {
            entries.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    Ok(entries)
}

/// The same path without the usage that providers reported.
pub(super) fn without_usage(entries: &[Entry]) -> Vec<Entry> {
    entries
        .iter()
        .map(|entry| {
            let json = entry.message_json().filter(|_| {
                matches!(&entry.body, Body::Message(message) if message.role == Role::Assistant)
            });
            let Some(Value::Object(mut message)) =
                json.and_then(|json| serde_json::from_str(json).ok())
            else {
                return entry.clone();
            };
            if message.remove("usage").is_none() {
                return entry.clone();
            }
            let stamp = Stamp {
                id: entry.id.clone(),
                time: entry.time.unwrap_or(Millis(0)),
            };
            let json = Value::Object(message).to_string();
            Draft::Message(json).to_entry(&stamp, entry.parent.as_ref())
        })
        .collect()
}
