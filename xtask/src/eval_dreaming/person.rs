//! One person's days, lived through.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use longhaul_ledger::Ledger;
use longhaul_memory::dream::{Candidate, Cause, DreamLock, Dreams, Settings, Status, waiting};
use longhaul_memory::files::{Body, Limits, MOST_ENTRY_BYTES, Origin};
use longhaul_memory::flush::extractive;
use longhaul_memory::{MemoryFolder, Seal};
use longhaul_tokens::Estimator;
use longhaul_transcript::{Millis, Session};
use serde_json::{Value, json};

use super::Args;
use super::days::{Message, Person, Question, Talk, Voice};
use super::planted::changes;
use super::retrieval::{Recalled, Shelves};
use crate::Result;

/// How often it is told how far it is.
const PROGRESS: Duration = Duration::from_secs(5);

/// The sessions of which something stood where on one evening.
struct Evening {
    /// The number of the latest session so far.
    newest: u64,
    kept: BTreeSet<String>,
    /// Kept or waiting.
    either: BTreeSet<String>,
    /// In a log.
    noted: HashSet<String>,
}

/// What was measured.
#[derive(Default)]
pub(super) struct Figures {
    days: usize,
    notes: usize,
    found: usize,
    kept: usize,
    waits: usize,
    /// Sessions that questions are about, in all, noted in a log, kept or
    /// waiting, kept.
    asked: usize,
    in_logs: usize,
    kept_or_waiting: usize,
    in_memory: usize,
    twice: usize,
    /// Planted changes of mind, and those of which both sides are shown together.
    changes: usize,
    together: usize,
    stale: usize,
    /// Promoted though nobody had looked.
    unseen: usize,
    untrue: usize,
    again: usize,
    recalled: Recalled,
    seconds: f64,
}

impl Figures {
    pub(super) fn add(&mut self, other: &Figures) {
        self.days += other.days;
        self.notes += other.notes;
        self.found += other.found;
        self.kept += other.kept;
        self.waits += other.waits;
        self.asked += other.asked;
        self.in_logs += other.in_logs;
        self.kept_or_waiting += other.kept_or_waiting;
        self.in_memory += other.in_memory;
        self.twice += other.twice;
        self.changes += other.changes;
        self.together += other.together;
        self.stale += other.stale;
        self.unseen += other.unseen;
        self.untrue += other.untrue;
        self.again += other.again;
        self.recalled.add(&other.recalled);
        self.seconds += other.seconds;
    }

    pub(super) fn row(&self, name: &str) -> [String; 20] {
        let share = |part: usize| match self.asked {
            0 => "-".to_owned(),
            all => format!("{:.1} %", 100.0 * part as f64 / all as f64),
        };
        let recalled = self.recalled.percent();
        let percent = |share: Option<f64>| match share {
            Some(share) => format!("{share:.1} %"),
            None => "-".to_owned(),
        };
        [
            name.to_owned(),
            self.days.to_string(),
            self.notes.to_string(),
            self.found.to_string(),
            self.kept.to_string(),
            self.waits.to_string(),
            share(self.in_logs),
            share(self.kept_or_waiting),
            share(self.in_memory),
            self.twice.to_string(),
            self.changes.to_string(),
            self.together.to_string(),
            self.stale.to_string(),
            self.unseen.to_string(),
            self.untrue.to_string(),
            self.again.to_string(),
            percent(recalled.map(|all| all[0])),
            percent(recalled.map(|all| all[1])),
            percent(recalled.map(|all| all[2])),
            format!("{:.1}", self.seconds),
        ]
    }

    /// Nothing untrue, nothing stale, nothing that changes by itself.
    pub(super) fn is_sound(&self) -> bool {
        self.untrue == 0 && self.stale == 0 && self.unseen == 0 && self.again == 0
    }

    /// Candidates that wait for a person.
    #[cfg(test)]
    pub(super) fn waits(&self) -> usize {
        self.waits
    }

    /// What search finds with the logs alone, in percent.
    #[cfg(test)]
    pub(super) fn finds_with_logs(&self) -> f64 {
        self.recalled.percent().map_or(0.0, |[logs, ..]| logs)
    }

    /// Whether search finds no less with what was promoted than without.
    pub(super) fn finds_as_much(&self) -> bool {
        self.recalled
            .percent()
            .is_none_or(|[logs, plain, _]| plain >= logs)
    }
}

/// Lives through a person's days.
pub(super) fn live(
    person: &Person,
    args: &Args,
    keep_a_day: usize,
    scratch: &Path,
) -> Result<(Figures, Vec<Candidate>)> {
    let (work, state) = (scratch.join("work"), scratch.join("state"));
    fs::create_dir_all(&work)?;
    let memory = MemoryFolder::open(&work, Some(Seal::new([1; 32])))?;
    let mut shelves = Shelves::new(&work, &scratch.join("logs"), memory.seal().cloned())?;
    let dreams = Dreams::new(&state, &memory);
    let settings = Settings {
        lookback_days: 7,
        // Without a model nothing is promoted unseen, whatever the score.
        promote_at: Some(0.0),
        limits: Limits::default(),
        counter: &Estimator::Heuristic,
        recalls: &|_: &Candidate| 0,
        meaning: None,
    };
    let planted = if person.is_planted {
        changes()
    } else {
        Vec::new()
    };
    let days: Vec<(&Date, &Vec<Talk>)> = person
        .days
        .iter()
        .take(args.days.unwrap_or(usize::MAX))
        .collect();
    let mut figures = Figures {
        days: days.len(),
        ..Figures::default()
    };
    let mut said: HashMap<String, String> = HashMap::new();
    let mut noted: HashSet<String> = HashSet::new();
    let mut together: BTreeSet<usize> = BTreeSet::new();
    let mut evenings: Vec<Evening> = Vec::new();
    let mut newest = 0;
    let last_of_day: Vec<u64> = days
        .iter()
        .scan(0, |newest, (_, talks)| {
            let orders = talks.iter().map(|talk| talk.order);
            *newest = orders.fold(*newest, u64::max);
            Some(*newest)
        })
        .collect();
    let start = Instant::now();
    let mut searching = 0.0;
    let mut told = Instant::now();
    for (number, (date, talks)) in days.iter().enumerate() {
        if told.elapsed() > PROGRESS {
            told = Instant::now();
            eprintln!("  {}: {number} of {} days", person.name, days.len());
        }
        for talk in talks.iter() {
            let text = said.entry(talk.session.clone()).or_default();
            for message in &talk.messages {
                text.push_str(&message.text);
                text.push('\n');
                if let Voice::Answered(question) = &message.by {
                    text.push_str(question);
                    text.push('\n');
                }
            }
            newest = newest.max(talk.order);
            let notes = note(&memory, **date, &talk.session, &talk.messages, scratch)?;
            figures.notes += notes;
            if notes > 0 {
                noted.insert(talk.session.clone());
            }
        }
        // A change of mind takes a third of the days to come.
        for (at, change) in planted.iter().enumerate() {
            let first = at * days.len() / (2 * planted.len());
            let second = first + days.len() / 3;
            let lines = [(first, &change.before), (second, &change.after)];
            for (_, line) in lines.iter().filter(|(day, _)| *day == number) {
                let session = format!("planted-{at}-{number}");
                said.insert(session.clone(), (*line).clone());
                let line = Message {
                    by: Voice::User,
                    text: (*line).clone(),
                };
                note(&memory, **date, &session, &[line], scratch)?;
            }
        }
        let now = date.at(23, 0, 0, 0).to_zoned(TimeZone::UTC)?;
        let lock = dreams.lock()?;
        let report = dreams.run(&lock, &now, Cause::Schedule, &settings, None)?;
        figures.unseen += report.promoted.len();
        // Before anybody decides what becomes of the two.
        let candidates = dreams.candidates()?;
        for (at, change) in planted.iter().enumerate() {
            let find = |part: &str| candidates.iter().find(|one| one.text.contains(part));
            if let (Some(old), Some(new)) = (find(&change.old), find(&change.new))
                && (new.contradicts.contains(&old.id) || old.contradicts.contains(&new.id))
            {
                together.insert(at);
            }
        }
        figures.stale += keep(&dreams, &lock, &now, &settings, keep_a_day)?;
        let candidates = dreams.candidates()?;
        let of = |wanted: &dyn Fn(&Candidate) -> bool| -> BTreeSet<String> {
            let fits = candidates.iter().filter(|one| wanted(one));
            fits.flat_map(|one| one.sessions.iter().cloned()).collect()
        };
        // What is asked before the next evening is asked now.
        let searched = Instant::now();
        shelves.take(**date)?;
        let until = last_of_day.get(number + 1).copied().unwrap_or(u64::MAX);
        let due: Vec<&Question> = person
            .questions
            .iter()
            .filter(|one| newest < one.as_of && one.as_of <= until && !one.sessions.is_empty())
            .collect();
        let at = Millis(now.timestamp().as_millisecond());
        figures
            .recalled
            .add(&shelves.ask(&due, &candidates, at, args.misses)?);
        searching += searched.elapsed().as_secs_f64();
        let kept = of(&|one| one.status.is_kept());
        let either = of(&|one| one.status.is_kept() || one.status == Status::Staged);
        evenings.push(Evening {
            newest,
            kept,
            either,
            noted: noted.clone(),
        });
    }
    figures.seconds = start.elapsed().as_secs_f64() - searching;
    for question in &person.questions {
        let before = evenings
            .iter()
            .rev()
            .find(|one| one.newest < question.as_of);
        for session in &question.sessions {
            let Some(evening) = before else {
                continue;
            };
            figures.asked += 1;
            figures.in_logs += usize::from(evening.noted.contains(session));
            figures.kept_or_waiting += usize::from(evening.either.contains(session));
            figures.in_memory += usize::from(evening.kept.contains(session));
        }
    }
    let candidates = dreams.candidates()?;
    let kept: Vec<&Candidate> = candidates
        .iter()
        .filter(|one| one.status.is_kept())
        .collect();
    figures.found = candidates.len();
    figures.kept = kept.len();
    let waits = candidates.iter().filter(|one| one.is_waiting());
    figures.waits = waits.count();
    figures.twice = twice(&kept);
    figures.untrue = kept.iter().filter(|one| !was_said(one, &said)).count();
    figures.changes = planted.len();
    figures.together = together.len();
    if let Some((date, _)) = days.last() {
        let before = files(scratch)?;
        let now = date.at(23, 30, 0, 0).to_zoned(TimeZone::UTC)?;
        let lock = dreams.lock()?;
        dreams.run(&lock, &now, Cause::Schedule, &settings, None)?;
        let after = files(scratch)?;
        let changed = after
            .iter()
            .filter(|(path, text)| before.get(*path) != Some(text));
        figures.again = changed.count();
    }
    for one in kept.iter().filter(|one| !was_said(one, &said)) {
        println!("not said: {}", one.text);
    }
    Ok((figures, candidates))
}

/// A person in a hurry: of what waits they keep the first few, and of two that may
/// contradict each other the newer one. Says how often the older one of such a pair
/// stayed part of the memory.
fn keep(
    dreams: &Dreams<'_>,
    lock: &DreamLock,
    now: &Zoned,
    settings: &Settings<'_>,
    most: usize,
) -> Result<usize> {
    let mut kept = Vec::new();
    while kept.len() < most {
        let candidates = dreams.candidates()?;
        let Some(first) = waiting(&candidates).first().map(|one| (*one).clone()) else {
            break;
        };
        let is_there = |id: &&str| {
            let other = candidates.iter().find(|one| one.id == **id);
            other.is_some_and(|other| other.is_waiting() || other.status.is_kept())
        };
        match first.may_contradict().into_iter().find(is_there) {
            Some(other) => {
                dreams.merge(lock, &first.id, other)?;
            }
            None => match dreams.promote(lock, &first.id, now, settings) {
                Ok(_) => kept.push(first.id),
                Err(longhaul_memory::Error::NoRoom { .. }) => break,
                Err(error) => return Err(error.into()),
            },
        }
    }
    let candidates = dreams.candidates()?;
    let find = |id: &String| candidates.iter().find(|one| one.id == *id);
    let replaced = candidates.iter().filter(|one| one.status.is_kept());
    let replaced = replaced.flat_map(|one| &one.replaces).filter_map(find);
    Ok(replaced.filter(|one| one.status.is_kept()).count())
}

/// Writes what a flush finds in a conversation into the day's log.
fn note(
    memory: &MemoryFolder,
    date: Date,
    session: &str,
    messages: &[Message],
    scratch: &Path,
) -> Result<usize> {
    let path = scratch.join("talk.jsonl");
    let time = format!("{date}T12:00:00.000Z");
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": session, "timestamp": time, "cwd": "/w"})
            .to_string(),
    ];
    let mut add = |message: Value| {
        let at = lines.len() - 1;
        let parent = at.checked_sub(1).map(|at| format!("e{at}"));
        let entry = json!({"type": "message", "id": format!("e{at}"), "parentId": parent,
            "timestamp": time, "message": message});
        lines.push(entry.to_string());
    };
    let said = |text: &str| json!([{"type": "text", "text": text}]);
    for (at, Message { by, text }) in messages.iter().enumerate() {
        let call = format!("call-{at}");
        let mut used = |tool: &str, arguments: Value, result: &str, asked: Option<&String>| {
            add(
                json!({"role": "assistant", "stopReason": "toolUse", "content": [
                {"type": "toolCall", "id": call, "name": tool, "arguments": arguments}]}),
            );
            let mut answer = json!({"role": "toolResult", "toolCallId": call, "toolName": tool,
                "isError": false, "content": said(result)});
            if let Some(question) = asked {
                answer["userText"] =
                    json!([{"channel": "answer", "question": question, "text": result}]);
            }
            add(answer);
        };
        match by {
            Voice::User => add(json!({"role": "user", "content": text})),
            Voice::Agent => {
                add(json!({"role": "assistant", "stopReason": "stop", "content": said(text)}));
            }
            Voice::Noted(kind) => {
                used("note", json!({"kind": kind, "text": text}), "noted", None);
            }
            Voice::Answered(question) => {
                let asked = json!({"questions": [{"question": question,
                    "options": [{"label": text}]}]});
                used("AskUserQuestion", asked, text, Some(question));
            }
        }
    }
    fs::write(&path, lines.join("\n") + "\n")?;
    let mut ledger = Ledger::new(Some("/w".into()));
    ledger.observe_all(&Session::open(&path)?.load()?.entries);
    let Some(body) = extractive(&ledger, None) else {
        return Ok(0);
    };
    let origin = Origin {
        session: Some(session),
        epoch: None,
    };
    let appended = memory.append_log(date.at(20, 0, 0, 0), "Flush", origin, &body)?;
    debug_assert!(appended.bytes < 2 * MOST_ENTRY_BYTES);
    Ok(match body {
        Body::Sections(sections) => sections.iter().map(|list| list.notes.len()).sum(),
        Body::Text { .. } => 1,
    })
}

/// Pairs that say the same, by a measure of its own: four fifths of the words.
fn twice(kept: &[&Candidate]) -> usize {
    let words: Vec<BTreeSet<String>> = kept
        .iter()
        .map(|one| {
            let lower = one.text.to_lowercase();
            let words = lower.split(|c: char| !c.is_alphanumeric());
            words
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        })
        .collect();
    let mut pairs = 0;
    for (at, a) in words.iter().enumerate() {
        for (other, b) in words.iter().enumerate().skip(at + 1) {
            let shared = a.intersection(b).count() as f64;
            if shared / a.union(b).count().max(1) as f64 >= 0.8 {
                pairs += 1;
                println!("twice: {}\n       {}", kept[at].text, kept[other].text);
            }
        }
    }
    pairs
}

/// Whether every word of a candidate was said in one of its sessions, in its
/// order: the parts between quotation marks and brackets of ours one by one.
fn was_said(one: &Candidate, said: &HashMap<String, String>) -> bool {
    let plain = |text: &str| -> String {
        let kept: String = text
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { ' ' })
            .collect();
        kept.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
    };
    one.sessions.iter().any(|session| {
        let text = said
            .get(session)
            .map(|text| plain(text))
            .unwrap_or_default();
        let parts = one.text.split(['…', '“', '”', '(', ')', '→', '"']);
        parts
            .map(|part| plain(part.trim_start_matches("because ")))
            .all(|part| text.contains(&part))
    })
}

/// Every file but the note about the last run.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("last_run.json") {
                files.insert(path.clone(), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}
