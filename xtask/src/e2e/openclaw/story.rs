//! The conversation, from the first word to the last.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::gateway::{Gateway, Home, Slot, TOOLS, Tools};
use super::model::{self, Model, Request};
use super::report::Report;
use super::trail;
use crate::Result;

/// Whose conversation it is.
const SESSION: &str = "agent:main:e2e";
/// What is said at the beginning and must never be lost.
const RULE: &str = "Never change the file deploy.lock";
const FACT: &str = "The staging port is 48231";
/// What is typed while the agent works.
const QUEUED: &str = "By the way: the port of the tests is 48999";
/// How long the model thinks meanwhile.
const PAUSE: Duration = Duration::from_secs(30);
/// OpenClaw's tool profiles.
const PROFILES: [&str; 4] = ["minimal", "coding", "messaging", "full"];
/// Lines of a file: together about an eighth of the window.
const LINES: u32 = 160;
/// How long the log may lag behind.
const LAG: Duration = Duration::from_secs(20);
/// What the log must not say while our engine serves.
const FORBIDDEN: [&str; 4] = [
    "degraded to",
    "quarantin",
    "goes on with the host's own messages",
    "longhaul does not run",
];

pub(super) struct Story<'a> {
    home: &'a Home,
    model: &'a Model,
    report: &'a mut Report,
    turn: u32,
    /// Turns that another engine served, or may have served.
    others: Vec<u32>,
}

impl<'a> Story<'a> {
    pub(super) fn new(home: &'a Home, model: &'a Model, report: &'a mut Report) -> Story<'a> {
        Story {
            home,
            model,
            report,
            turn: 0,
            others: Vec::new(),
        }
    }

    pub(super) fn tell(mut self, turns: u32) -> Result<()> {
        self.home.select(Slot::Longhaul, self.home.program())?;
        self.long(turns)?;
        self.restarted()?;
        self.switched()?;
        self.without_a_program()?;
        self.profiles()?;
        self.reinstalled()
    }

    /// What left the context can be had back whichever tools the agent has.
    fn profiles(&mut self) -> Result<()> {
        for profile in PROFILES {
            self.begin(&format!("recall under the profile {profile}"));
            self.home.offer(Tools::Profile(profile))?;
            let asked = self.model.count();
            let said = self
                .home
                .once(&format!("agent:main:{profile}"), "Hello there.");
            self.report
                .check(said.is_ok(), format!("it went wrong: {said:?}"));
            let requests = self.model.since(asked);
            let offered = |request: &Request| {
                let tools = request.body["tools"].as_array().into_iter().flatten();
                tools
                    .filter(|tool| tool["function"]["name"] == "recall")
                    .count()
                    == 1
            };
            self.report.check(
                !requests.is_empty() && requests.iter().all(offered),
                format!("recall is not in all of {} requests", requests.len()),
            );
        }
        self.home.offer(TOOLS)
    }

    /// The plugin is taken away and comes back.
    fn reinstalled(&mut self) -> Result<()> {
        self.begin("reinstalled");
        self.home.reinstall_plugin()?;
        self.home.select(Slot::Longhaul, self.home.program())?;
        let mut gateway = self.home.start()?;
        self.read(&mut gateway)?;
        self.quiet(&mut gateway, 0)?;
        gateway.stop()
    }

    /// The model's own words stand in the newest summary of the conversation.
    fn summarised(&mut self) -> Result<()> {
        let mut files = Vec::new();
        find(&self.home.state(), &mut files)?;
        let mut summaries: Vec<(String, String)> = Vec::new();
        for file in files {
            for line in fs::read_to_string(file)?.lines() {
                let entry: Value = serde_json::from_str(line)?;
                if entry["type"] == "compaction" {
                    let field = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
                    summaries.push((field("timestamp"), field("summary")));
                }
            }
        }
        summaries.sort();
        let written = |summary: &str| summary.contains(model::SUMMARY);
        let all = summaries.len();
        let by_model = summaries.iter().filter(|(_, it)| written(it)).count();
        println!("{by_model} of {all} summaries are the model's");
        self.report.check(
            summaries.last().is_some_and(|(_, it)| written(it)),
            format!("the newest of {all} summaries is not the model's, {by_model} are"),
        );
        Ok(())
    }

    /// Many windows, a command, an overflow.
    fn long(&mut self, turns: u32) -> Result<()> {
        let mut gateway = self.home.start()?;
        self.begin("many windows");
        self.served(
            &mut gateway,
            &format!("Rules for all of this work: {RULE}. {FACT}."),
        )?;
        self.interrupted(&mut gateway)?;
        for _ in 1..turns {
            self.read(&mut gateway)?;
        }
        let asked = self.read(&mut gateway)?;
        let whole: String = asked.iter().flat_map(messages).map(model::text).collect();
        self.report.check(
            whole.contains(QUEUED),
            "what was typed while the agent worked has left the context",
        );
        let compactions = count(&mut gateway, "compacted")?;
        self.report.compactions += compactions;
        self.report.check(
            compactions >= 3,
            format!("{compactions} compactions in {turns} turns, three at least were expected"),
        );

        self.begin("recall");
        self.recalled(&mut gateway, "line 7 of part 3", "line 7 of part 3:")?;

        self.begin("/compact");
        let from = gateway.trail.lines()?.len();
        gateway.type_in(SESSION, "/compact keep the port numbers", "compact")?;
        let compacted = gateway.trail.wait(from, LAG, |line| {
            trail::served(line).is_some_and(|served| served.method == "compact")
        })?;
        self.report
            .check(compacted.is_some(), "/compact did not reach our engine");
        self.summarised()?;
        self.read(&mut gateway)?;

        self.begin("overflow");
        for _ in 0..2 {
            self.read(&mut gateway)?;
        }
        let from = gateway.trail.lines()?.len();
        self.model.refuse();
        let asked = self.read(&mut gateway)?;
        let sizes: Vec<u64> = asked.iter().map(|request| request.tokens).collect();
        self.report.check(
            sizes.get(1) < sizes.first(),
            format!("what was refused was sent again in these sizes: {sizes:?}"),
        );
        let answered = gateway.trail.wait(from, Duration::ZERO, |line| {
            trail::served(line).is_some_and(|served| served.method == "compact")
        })?;
        self.report.check(
            answered.is_some(),
            "an overflow did not reach our engine as a compaction",
        );

        self.begin("sidecar killed between turns");
        if let Some(process) = gateway.trail.process()? {
            model::kill(process);
        }
        self.read(&mut gateway)?;

        self.begin("sidecar killed within a turn");
        if let Some(process) = gateway.trail.process()? {
            self.model.kills(process);
        }
        self.read(&mut gateway)?;
        let now = gateway.trail.process()?;
        self.read(&mut gateway)?;
        self.report.check(
            gateway.trail.process()? == now,
            "the sidecar was started once more without need",
        );
        self.quiet(&mut gateway, 0)?;
        self.timings(&mut gateway)?;
        gateway.stop()
    }

    /// A second message comes while the first is being answered.
    fn interrupted(&mut self, gateway: &mut Gateway<'_>) -> Result<()> {
        self.begin("typed while the agent works");
        let asked = self.model.count();
        let words = self.next_file()?;
        self.model.pauses(PAUSE);
        gateway.type_in(SESSION, &words, "first")?;
        gateway.type_in(SESSION, QUEUED, "queued")?;
        let begun = Instant::now();
        let heard = || {
            let requests = self.model.since(asked);
            let mut texts = requests.iter().flat_map(messages).map(model::text);
            texts.any(|text| text.contains(QUEUED))
        };
        while !heard() && begun.elapsed() < 2 * PAUSE {
            thread::sleep(Duration::from_millis(200));
        }
        let heard = heard();
        self.report
            .check(heard, "what was typed did not reach the model");
        // What comes next must not be queued as well.
        thread::sleep(Duration::from_secs(5));
        Ok(())
    }

    /// The gateway is another process; the session is the same.
    fn restarted(&mut self) -> Result<()> {
        self.begin("gateway restarted");
        let mut gateway = self.home.start()?;
        for _ in 0..2 {
            self.read(&mut gateway)?;
        }
        self.recalled(&mut gateway, "staging port", FACT)?;
        self.quiet(&mut gateway, 0)?;
        self.timings(&mut gateway)?;
        gateway.stop()
    }

    /// The built-in engine serves for a while.
    fn switched(&mut self) -> Result<()> {
        self.begin("built-in engine");
        self.home.select(Slot::Legacy, self.home.program())?;
        let mut gateway = self.home.start()?;
        for _ in 0..2 {
            let words = self.next_file()?;
            self.others.push(self.turn);
            self.answered(&gateway, &words);
        }
        let lines = gateway.trail.lines()?;
        let ours = lines.iter().filter_map(|line| trail::served(line)).count();
        self.report
            .check(ours == 0, "our engine served what was not its turn");
        gateway.stop()
    }

    /// Back in the slot, with a program that is missing, comes, is too old, and
    /// is there again.
    fn without_a_program(&mut self) -> Result<()> {
        let place = self.home.elsewhere();
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        self.home.select(Slot::Longhaul, &place)?;
        let mut gateway = self.home.start()?;
        self.begin("program missing");
        for _ in 0..2 {
            let words = self.next_file()?;
            self.others.push(self.turn);
            self.answered(&gateway, &words);
        }
        let said = gateway.trail.wait(0, LAG, |line| {
            line.contains("longhaul does not run") && line.contains("is not there")
        })?;
        self.report.check(
            said.is_some(),
            "the log does not say that the program is missing",
        );

        self.begin("program there again");
        symlink(self.home.program(), &place)?;
        let back = gateway.trail.lines()?.len();
        for _ in 0..2 {
            self.read(&mut gateway)?;
        }
        self.quiet(&mut gateway, back)?;

        self.begin("program too old");
        let old = gateway.trail.lines()?.len();
        fs::remove_file(&place)?;
        fs::write(
            &place,
            "#!/bin/sh\necho \"error: unrecognized subcommand '$1'\" >&2\nexit 2\n",
        )?;
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
        if let Some(process) = gateway.trail.process()? {
            model::kill(process);
        }
        let words = self.next_file()?;
        self.others.push(self.turn);
        self.answered(&gateway, &words);
        let said = gateway
            .trail
            .wait(old, LAG, |line| line.contains("too old for this plugin"))?;
        self.report.check(
            said.is_some(),
            "the log does not say that the program is too old",
        );

        self.begin("nothing doubled");
        fs::remove_file(&place)?;
        symlink(self.home.program(), &place)?;
        let new = gateway.trail.lines()?.len();
        self.read(&mut gateway)?;
        let last = self.read(&mut gateway)?;
        self.quiet(&mut gateway, new)?;
        if let Some(request) = last.last() {
            self.once(request);
        }
        self.timings(&mut gateway)?;
        let process = gateway.trail.process()?;
        gateway.stop()?;
        self.report.check(
            !process.is_some_and(model::lives),
            "the sidecar outlived the gateway",
        );
        self.mirror()?;
        self.one_shot()
    }

    /// A command that runs one turn by itself must end with it, and not before.
    fn one_shot(&mut self) -> Result<()> {
        self.begin("one turn without a gateway");
        let said = self.home.once("agent:main:once", "Hello there.");
        let fine = said.as_ref().is_ok_and(|said| {
            said.contains("Understood.") && said.contains("longhaul served commitTurn")
        });
        self.report.check(fine, format!("it went wrong: {said:?}"));
        Ok(())
    }

    fn begin(&mut self, part: &str) {
        println!("{part}");
        self.report.begin(part);
    }

    /// Makes another file and asks for it.
    fn next_file(&mut self) -> Result<String> {
        self.turn += 1;
        let part = self.turn;
        let lines = (0..LINES).map(|line| {
            let number = u64::from(part) * 7919 + u64::from(line) * 104_729;
            format!("line {line} of part {part}: the reading of gauge {number} was noted\n")
        });
        let file = format!("part-{part:02}.txt");
        fs::write(self.home.workspace().join(&file), lines.collect::<String>())?;
        Ok(format!("Turn {part}. Read the file {file}."))
    }

    /// A turn that reads a file, served by our engine.
    fn read(&mut self, gateway: &mut Gateway<'_>) -> Result<Vec<Request>> {
        let words = self.next_file()?;
        self.served(gateway, &words)
    }

    /// A turn in which the agent asks for words that were said before.
    fn recalled(&mut self, gateway: &mut Gateway<'_>, words: &str, found: &str) -> Result<()> {
        let requests = self.served(gateway, &format!("Recall the words {words}."))?;
        let brought = requests.iter().any(|request| {
            let results = messages(request).filter(|message| message["role"] == "tool");
            results.map(model::text).any(|text| text.contains(found))
        });
        self.report
            .check(brought, format!("recall did not bring back {found:?}"));
        Ok(())
    }

    /// A turn that ends with an answer, whoever served it.
    fn answered(&mut self, gateway: &Gateway<'_>, words: &str) {
        self.report.turns += 1;
        let answer = gateway.say(SESSION, words);
        let fine = answer
            .as_ref()
            .is_ok_and(|answer| matches!(answer.as_str(), "Noted." | "Understood."));
        self.report
            .check(fine, format!("{words:?} was answered with {answer:?}"));
    }

    /// A turn that our engine must have served, and the requests it made.
    fn served(&mut self, gateway: &mut Gateway<'_>, words: &str) -> Result<Vec<Request>> {
        let from = gateway.trail.lines()?.len();
        let asked = self.model.count();
        self.answered(gateway, words);
        let committed = gateway.trail.wait(from, LAG, |line| {
            trail::served(line)
                .is_some_and(|served| served.method == "commitTurn" && served.how == "committed")
        })?;
        self.report
            .check(committed.is_some(), format!("{words:?} was not committed"));
        let lines = gateway.trail.lines()?.get(from..).unwrap_or_default();
        let assembled = lines
            .iter()
            .filter_map(|line| trail::served(line))
            .filter(|served| served.method == "assemble" && served.session == SESSION)
            .count();
        let requests = self.model.since(asked);
        self.report.check(
            assembled > requests.len(),
            format!(
                "{words:?}: {assembled} lists were assembled for {} requests",
                requests.len()
            ),
        );
        for request in &requests {
            self.sound(request);
        }
        Ok(requests)
    }

    /// What holds of every request: the rule is there, and every call has its
    /// result. The fact may be left out where room is short, if recall finds it.
    fn sound(&mut self, request: &Request) {
        self.report.requests += 1;
        self.report.largest = self.report.largest.max(request.tokens);
        let whole: String = messages(request).map(model::text).collect();
        let holds = whole.contains(RULE);
        self.report
            .check(holds, format!("a request did not hold {RULE:?}"));
        if !holds {
            // The first of them is enough to see why.
            self.home.keep("request.json", &request.body.to_string());
        }
        if !whole.contains(FACT) {
            self.report.without_fact += 1;
        }
        let mut open: HashMap<&str, u32> = HashMap::new();
        for message in messages(request) {
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                *open
                    .entry(call["id"].as_str().unwrap_or_default())
                    .or_default() += 1;
            }
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let had = open.remove(id);
                self.report.check(
                    had.is_some(),
                    format!("a request held a result without its call {id}"),
                );
            }
        }
        self.report.check(
            open.is_empty(),
            format!("a request held calls without results: {open:?}"),
        );
    }

    /// No user message is in a request twice.
    fn once(&mut self, request: &Request) {
        for turn in 1..=self.turn {
            let words = format!("Turn {turn}. Read the file");
            let users = messages(request).filter(|message| message["role"] == "user");
            let times = users
                .filter(|message| model::text(message).starts_with(&words))
                .count();
            self.report
                .check(times <= 1, format!("{words:?} was sent {times} times"));
        }
    }

    /// The log says nothing of trouble since a line.
    fn quiet(&mut self, gateway: &mut Gateway<'_>, from: usize) -> Result<()> {
        let lines = gateway.trail.lines()?.get(from..).unwrap_or_default();
        for word in FORBIDDEN {
            if let Some(line) = lines.iter().find(|line| line.contains(word)) {
                self.report.failed(format!("the log says: {line}"));
            }
        }
        Ok(())
    }

    fn timings(&mut self, gateway: &mut Gateway<'_>) -> Result<()> {
        let lines = gateway.trail.lines()?;
        let served = lines.iter().filter_map(|line| trail::served(line));
        self.report.served.extend(served);
        Ok(())
    }

    /// What our program has kept of the session: each turn once, and every turn
    /// that our engine served. What the built-in engine served comes to us as far
    /// as it did not compact it away itself.
    fn mirror(&mut self) -> Result<()> {
        let mut files = Vec::new();
        find(&self.home.state(), &mut files)?;
        let mut kept: HashMap<u32, u32> = HashMap::new();
        for file in &files {
            for words in users(&fs::read_to_string(file)?)? {
                let number = words
                    .strip_prefix("Turn ")
                    .and_then(|rest| rest.split('.').next())
                    .and_then(|number| number.parse().ok());
                if let Some(number) = number {
                    *kept.entry(number).or_default() += 1;
                }
            }
        }
        for turn in 1..=self.turn {
            let times = kept.get(&turn).copied().unwrap_or(0);
            let least = u32::from(!self.others.contains(&turn));
            self.report.check(
                (least..=1).contains(&times),
                format!("turn {turn} is kept {times} times"),
            );
        }
        Ok(())
    }
}

/// The user's words on the path that a session file ends with.
fn users(file: &str) -> Result<Vec<String>> {
    let entries: Vec<Value> = file
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let places: HashMap<&str, &Value> = entries
        .iter()
        .filter_map(|entry| Some((entry["id"].as_str()?, entry)))
        .collect();
    let mut words = Vec::new();
    let mut next = entries.last();
    while let Some(entry) = next {
        if entry["message"]["role"] == "user" {
            words.push(model::text(&entry["message"]));
        }
        next = entry["parentId"]
            .as_str()
            .and_then(|parent| places.get(parent).copied());
    }
    Ok(words)
}

/// Session files below a folder.
fn find(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, found)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            found.push(path);
        }
    }
    Ok(())
}

fn messages(request: &Request) -> impl Iterator<Item = &Value> {
    request.body["messages"].as_array().into_iter().flatten()
}

/// How many events of a kind the log holds.
fn count(gateway: &mut Gateway<'_>, kind: &str) -> Result<usize> {
    let lines = gateway.trail.lines()?;
    let events = lines.iter().filter_map(|line| trail::event(line));
    Ok(events.filter(|event| event == kind).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_that_a_session_ends_with_counts() {
        let message = |id: &str, parent: &str, words: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"{words}"}}}}"#
            )
        };
        let file = [
            r#"{"type":"session","id":"s"}"#.to_owned(),
            message("a", "", "one"),
            message("b", "a", "left"),
            message("c", "a", "two"),
        ];
        assert_eq!(users(&file.join("\n")).unwrap(), ["two", "one"]);
    }
}
