//! What must hold at the end, computed from the file without the engine's own
//! ledger, and compared with what the engine would send.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use longhaul_compaction::Layer;
use longhaul_compaction::compact::CompactionFailure;
use longhaul_compaction::summary::ledger_part;
use longhaul_engine::live::Live;
use longhaul_engine::recall::{Query, full_text, message_text, recall};
use longhaul_engine::session::Error;
use longhaul_engine::survey::Keep;
use longhaul_model::CancellationToken;
use longhaul_transcript::{Entry, EntryId, FaultKind, Session as Stored, verify};
use serde_json::Value;

use crate::child;
use crate::story::{Dice, RULES, Story};

/// The truth, from the lines of the file alone.
#[derive(Debug, Default)]
struct Truth {
    /// Files that calls have changed.
    modified: BTreeSet<String>,
    /// Files that calls may have changed: killed before the result was written.
    perhaps: BTreeSet<String>,
    /// The list of what is to do, as it was last set.
    todos: Vec<(String, bool)>,
    said: Vec<String>,
}

impl Truth {
    fn of(path: &Path) -> Truth {
        let text = std::fs::read_to_string(path).unwrap();
        let mut truth = Truth::default();
        let mut calls: HashMap<String, (String, Value)> = HashMap::new();
        for line in text.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            let message = &entry["message"];
            match message["role"].as_str() {
                Some("user") => truth
                    .said
                    .push(message["content"].as_str().unwrap().to_owned()),
                // Ids are the provider's, and come again after a kill.
                Some("assistant") if message["stopReason"] != "error" => {
                    for block in message["content"].as_array().unwrap() {
                        if block["type"] == "toolCall" {
                            let id = block["id"].as_str().unwrap().to_owned();
                            let name = block["name"].as_str().unwrap().to_owned();
                            let open = calls.insert(id, (name, block["arguments"].clone()));
                            truth.cut_short(open);
                        }
                    }
                }
                Some("toolResult") => {
                    let id = message["toolCallId"].as_str().unwrap();
                    let call = calls.remove(id).unwrap();
                    if message["isError"] == false {
                        truth.done(call);
                    }
                }
                _ => {}
            }
        }
        for (_, call) in calls {
            truth.cut_short(Some(call));
        }
        truth
    }

    fn done(&mut self, (name, arguments): (String, Value)) {
        match name.as_str() {
            "write" | "edit" => {
                self.modified
                    .insert(arguments["path"].as_str().unwrap().to_owned());
            }
            "todo" => {
                let todos = arguments["todos"].as_array().unwrap().iter();
                self.todos = todos
                    .map(|todo| {
                        let text = todo["content"].as_str().unwrap().to_owned();
                        (text, todo["status"] == "completed")
                    })
                    .collect();
            }
            _ => {}
        }
    }

    fn cut_short(&mut self, call: Option<(String, Value)>) {
        let Some((name, arguments)) = call else {
            return;
        };
        if let ("write" | "edit", Some(path)) = (name.as_str(), arguments["path"].as_str()) {
            self.perhaps.insert(path.to_owned());
        }
    }
}

pub(crate) fn judge(folder: &Path, story: &Story, kills: u32) {
    let path = child::session_file(folder).unwrap();
    let stored = Stored::open(&path).unwrap();
    let report = verify(&stored).unwrap();
    // A process that is killed while tools run leaves calls without results; the
    // requests that follow answer for them.
    let others = report
        .faults
        .iter()
        .filter(|fault| !matches!(fault.kind, FaultKind::UnansweredCall { .. }));
    let others: Vec<_> = others.collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(
        report.faults.len() <= 3 * kills as usize,
        "{}",
        report.faults.len()
    );
    let truth = Truth::of(&path);
    assert!(
        truth.said.len() > story.turns * 9 / 10,
        "{} messages",
        truth.said.len()
    );

    let live = Live::open(&stored).unwrap();
    eprintln!(
        "the session: {} bytes, {} compactions, {} messages said",
        std::fs::metadata(&path).unwrap().len(),
        live.epoch(),
        truth.said.len()
    );
    assert!(live.epoch() > 5, "only {} compactions", live.epoch());
    context(&live, &truth, story);
    recoverable(&stored, &live);
    growth(folder);

    // And once more after a compaction: nothing finished comes back as open.
    let engine = child::engine(folder, None, child::clock());
    let mut session = engine.open(&path, &mut ()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let cancel = CancellationToken::new();
    let compacted = runtime.block_on(session.compact(Layer::Full, None, &cancel, &mut ()));
    // Where there is little left to say, a summary would be longer than that.
    let grows = |error: &Error| matches!(error, Error::Compaction(CompactionFailure::Grows { .. }));
    assert!(compacted.as_ref().err().is_none_or(grows), "{compacted:?}");
    let live = Live::open(&Stored::open(&path).unwrap()).unwrap();
    context(&live, &truth, story);
    sections(&live, &truth);
    let troubles = std::fs::read_to_string(folder.join("troubles")).unwrap_or_default();
    assert_eq!(troubles, "", "something beside the work went wrong");
}

fn context_text(live: &Live) -> String {
    let messages = live.context().messages;
    let texts: Vec<String> = messages
        .iter()
        .map(|message| message_text(&message.view()))
        .collect();
    texts.join("\n")
}

/// C1, C4, C6: what stands in the context.
fn context(live: &Live, truth: &Truth, story: &Story) {
    let context = context_text(live);
    let missing: Vec<&String> = truth
        .modified
        .iter()
        .filter(|path| !context.contains(path.as_str()))
        .collect();
    assert!(missing.is_empty(), "C1: not in the context: {missing:?}");
    for (at, rule) in RULES {
        let turn = format!("Turn {}: ", story.rule_turn(at));
        if truth.said.iter().any(|said| said.starts_with(&turn)) {
            assert!(context.contains(rule), "C4: {rule}");
        }
    }
    for (item, done) in &truth.todos {
        assert!(*done || context.contains(item.as_str()), "C6: {item}");
    }
}

/// The lines of a section of the ledger's part.
fn section<'t>(summary: &'t str, heading: &str) -> Vec<&'t str> {
    let part = ledger_part(summary).unwrap_or_default();
    let mut inside = false;
    let mut lines = Vec::new();
    for line in part.lines() {
        if line.starts_with("## ") {
            inside = line.starts_with(heading);
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

/// C1 precision and C6: what the ledger says, and nothing but that.
fn sections(live: &Live, truth: &Truth) {
    let summary = live.loaded().compaction().unwrap().1.summary.clone();
    let files = section(&summary, "## Files changed");
    assert!(!files.is_empty());
    for line in files {
        let Some(shown) = line
            .strip_prefix("- ")
            .filter(|line| !line.starts_with('+'))
        else {
            continue;
        };
        let shown = shown.rfind(" (").map_or(shown, |end| &shown[..end]);
        let known = truth.modified.contains(shown) || truth.perhaps.contains(shown);
        assert!(known, "C1: {shown} was never changed");
    }
    let open = section(&summary, "## Open").join("\n");
    for (item, done) in &truth.todos {
        assert_eq!(open.contains(item.as_str()), !done, "C6: {item} in {open}");
    }
}

/// C10: what left the context comes back, by its id and by five of its words.
fn recoverable(stored: &Stored, live: &Live) {
    let shown: HashSet<EntryId> = live
        .context()
        .messages
        .iter()
        .filter(|message| !message.edited)
        .map(|message| message.entry.clone())
        .collect();
    let mut gone: Vec<Entry> = Vec::new();
    stored
        .each(&mut |entry| {
            if entry.message().is_some() && !shown.contains(&entry.id) {
                gone.push(entry.clone());
            }
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    let ids = gone.iter().map(|entry| entry.id.clone()).collect();
    let back: BTreeMap<String, Entry> = recall(stored, &Keep::nowhere(), &Query::Ids(ids), 1)
        .unwrap()
        .into_iter()
        .map(|hit| (hit.entry.id.to_string(), hit.entry))
        .collect();
    for entry in &gone {
        let found = &back[entry.id.as_str()];
        assert_eq!(
            found.message_json(),
            entry.message_json(),
            "C10: {}",
            entry.id
        );
    }
    let all: Vec<String> = gone.iter().map(|entry| spaced(&full_text(entry))).collect();
    let mut dice = Dice::new(5);
    let (mut asked, mut missed) = (0, Vec::new());
    while asked < 100 {
        let entry = dice.pick(&gone);
        let Some(quote) = telling(&full_text(entry), &all, &mut dice) else {
            continue;
        };
        asked += 1;
        let hits = recall(stored, &Keep::nowhere(), &Query::Text(quote.clone()), 5).unwrap();
        if !hits.iter().any(|hit| hit.names(&entry.id)) {
            missed.push(format!("{}: {quote}", entry.id));
        }
    }
    eprintln!(
        "C10: {} of {} entries gone are equal by id; {} of {asked} quotes found",
        gone.len(),
        gone.len(),
        asked - missed.len()
    );
    assert!(missed.len() * 100 <= asked, "C10: {missed:#?}");
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Five words that no more than five entries have: what dozens of them say
/// cannot tell one.
fn telling(text: &str, all: &[String], dice: &mut Dice) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() < 5 {
        return None;
    }
    (0..5).find_map(|_| {
        let from = dice.below(words.len() - 4);
        let quote = words[from..from + 5].join(" ");
        let having = all.iter().filter(|text| text.contains(&quote)).take(6);
        (having.count() <= 5).then_some(quote)
    })
}

/// One turn, as the child has measured it.
#[derive(Debug, Clone, Copy)]
struct Measured {
    pid: u64,
    resident: u64,
    read: u64,
    written: u64,
    micros: u64,
}

/// Memory is flat and the work of a turn does not grow with the session.
fn growth(folder: &Path) {
    let text = std::fs::read_to_string(folder.join("stats")).unwrap();
    let mut compactions = 0;
    let mut emergencies = 0;
    let mut answered = 0;
    let turns: Vec<Measured> = text
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words[at].parse::<u64>().unwrap();
            answered += u64::from(words[2] == "answered");
            compactions += number(7);
            emergencies += number(8);
            Measured {
                pid: number(0),
                resident: number(3),
                read: number(4),
                written: number(5),
                micros: number(6),
            }
        })
        .collect();
    eprintln!(
        "{} turns ended, {answered} answered, {compactions} compactions, {emergencies} emergencies",
        turns.len()
    );
    let quarters = |turns: &[Measured], of: fn(&Measured) -> u64| -> Vec<u64> {
        let size = turns.len().div_ceil(4);
        turns
            .chunks(size)
            .map(|quarter| quarter.iter().map(of).sum::<u64>() / quarter.len() as u64)
            .collect()
    };
    for (name, of) in [
        ("microseconds", (|turn| turn.micros) as fn(&Measured) -> u64),
        ("bytes read", |turn| turn.read),
        ("bytes written", |turn| turn.written),
    ] {
        eprintln!(
            "{name} a turn, by quarters of the run: {:?}",
            quarters(&turns, of)
        );
    }
    // The last process lived longest; its first turns are warming up.
    let last = turns.last().unwrap().pid;
    let alone: Vec<Measured> = turns.into_iter().filter(|turn| turn.pid == last).collect();
    let settled = &alone[alone.len() / 5..];
    let resident = quarters(settled, |turn| turn.resident);
    let read = quarters(settled, |turn| turn.read);
    let written = quarters(settled, |turn| turn.written);
    eprintln!(
        "the last process, {} turns, by quarters: resident {resident:?} kB, read {read:?}, \
         written {written:?}, {:?} microseconds",
        settled.len(),
        quarters(settled, |turn| turn.micros)
    );
    assert!(
        settled.len() >= 60,
        "too few turns to tell: {}",
        settled.len()
    );
    let flat = |quarters: &[u64], room: u64| quarters[3] <= quarters[0] + quarters[0] / 2 + room;
    assert!(flat(&resident, 8_000), "memory grows: {resident:?} kB");
    assert!(flat(&read, 200_000), "what is read grows: {read:?}");
    assert!(
        flat(&written, 200_000),
        "what is written grows: {written:?}"
    );
}
