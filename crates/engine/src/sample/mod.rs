//! The built-in sample: a session of a coding agent, for trying things out.
//!
//! What is said and done stands in `story.yaml`; here it is told for as many
//! turns as asked for and laid down as pi would. The same turns give the same
//! bytes.

mod record;
mod story;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use longhaul_transcript::{Entry, Header};
use serde_json::{Value, json};

use record::Recorder;
use story::{Call, Story, Turn};
use text::Words;

#[cfg(test)]
mod tests;

/// A session of so many messages of the user, one at least: its header, and its
/// entries, each following the one before.
///
/// At so many tokens, 24,000 at least, the agent compacts by itself, as pi
/// would; with `None` the context grows without end.
pub fn session(turns: u32, compact_at: Option<u32>) -> (Header, Vec<Entry>) {
    let story = Story::read();
    let mut teller = Teller {
        record: Recorder::new(&story.cwd, &story.provider, &story.model, compact_at),
        words: Words::new(&story.words),
        read: BTreeSet::new(),
        edits: BTreeMap::new(),
        story: &story,
    };
    let whole = story.topics.iter().cycle().flat_map(|topic| {
        let turns = story.turns.iter();
        turns.map(move |turn| (topic, turn))
    });
    let mut topic = &story.topics[0];
    let told = std::iter::once((topic, &story.first)).chain(whole);
    let before_the_last = turns.max(1) as usize - 1;
    for (at, (next, turn)) in told.take(before_the_last).enumerate() {
        topic = next;
        teller.turn(topic, turn, at.saturating_sub(1) / story.turns.len());
    }
    teller.turn(topic, &story.last, 0);
    teller.record.finish()
}

struct Teller<'a> {
    story: &'a Story,
    record: Recorder,
    words: Words<'a>,
    read: BTreeSet<String>,
    /// How often each file was edited.
    edits: BTreeMap<String, u64>,
}

impl Teller<'_> {
    fn turn(&mut self, topic: &BTreeMap<String, String>, turn: &Turn, task: usize) {
        for (name, text) in topic {
            self.words.name(name, text);
        }
        self.words.name("task", (task + 1).to_string());
        self.record.wait(turn.minutes * 60_000);
        let user = self.words.fill(&turn.user[task % turn.user.len()]);
        self.record.user(&user);
        for round in &turn.rounds {
            let say = self.words.fill(&round.say);
            let called: Vec<_> = round.calls.iter().map(|call| self.call(call)).collect();
            let (calls, results): (Vec<_>, Vec<_>) = called.into_iter().unzip();
            self.record.assistant(&say, calls);
            for result in results {
                self.record.result(result);
            }
            self.compact_if_full();
        }
        let answer = self.words.fill(&turn.answer);
        self.record.assistant(&answer, Vec::new());
        self.compact_if_full();
    }

    /// A call as it stands in an answer, and the message with its result.
    fn call(&mut self, call: &Call) -> (Value, Value) {
        let path = call.arguments["path"].as_str();
        let path = path.map(|path| self.words.fill(path));
        let edits = path.as_ref().and_then(|path| self.edits.get(path).copied());
        let edits = edits.unwrap_or(0);
        let mut arguments = call.arguments.clone();
        if let Some(path) = &path {
            let kind = if path.ends_with(".rs") {
                "rust"
            } else {
                "prose"
            };
            let [old, new] = self.words.edit(&self.story.lines[kind], path, edits);
            self.words.name("old", old);
            self.words.name("new", new);
            arguments["path"] = json!(path);
        }
        self.words.fill_all(&mut arguments);
        let result = match &call.prints {
            Some(kind) => {
                let shown = path.clone().unwrap_or_else(|| arguments.to_string());
                let lines = &self.story.lines[kind];
                self.words.text(lines, &shown, call.lines, edits)
            }
            None => self.words.fill(&call.result),
        };
        let result = match call.fails {
            Some(status) => format!("{result}\n\nCommand exited with code {status}"),
            None => result,
        };
        if let Some(path) = path {
            match call.tool.as_str() {
                "read" => _ = self.read.insert(path),
                _ => *self.edits.entry(path).or_default() += 1,
            }
        }
        let id = self.record.call_id();
        (
            json!({ "type": "toolCall", "id": id, "name": call.tool, "arguments": arguments }),
            json!({
                "role": "toolResult", "toolCallId": id, "toolName": call.tool,
                "content": [{ "type": "text", "text": result }],
                "isError": call.fails.is_some(),
            }),
        )
    }

    fn compact_if_full(&mut self) {
        self.record.compact_if_full(|| {
            let modified: Vec<&str> = self.edits.keys().map(String::as_str).collect();
            let read = self.read.iter().map(String::as_str);
            let read: Vec<&str> = read
                .filter(|path| !self.edits.contains_key(*path))
                .collect();
            self.words.name("read", read.join("\n"));
            self.words.name("modified", modified.join("\n"));
            let details = json!({ "readFiles": read, "modifiedFiles": modified });
            (self.words.fill(&self.story.summary), details)
        });
    }
}
