//! Entries as pi writes them, with the usage that a provider would report.

use std::path::PathBuf;

use longhaul_transcript::{Draft, Entry, EntryId, Header, Millis, Stamp};
use serde_json::{Value, json};

/// System prompt and tools, in tokens; they stay cached when the history changes.
const OVERHEAD: u64 = 12_000;
/// What pi keeps of the past, and the least it is asked to compact at.
const KEEP: u64 = 20_000;
const SMALLEST: u64 = 24_000;
/// A provider forgets a cached prefix after five minutes.
const CACHE_MS: i64 = 300_000;
/// Dollars a million tokens: input, output, cache read, cache write.
const PRICES: [f64; 4] = [3.0, 15.0, 0.3, 3.75];
const BEGIN: i64 = 1_772_442_000_000;

pub(super) struct Recorder {
    provider: String,
    model: String,
    compact_at: Option<u64>,
    header: Header,
    entries: Vec<Entry>,
    /// What the context holds: the entry, its characters, whether a compaction
    /// may keep from here on.
    held: Vec<(EntryId, u64, bool)>,
    /// Characters of the latest summary.
    summary: u64,
    now: i64,
    calls: u64,
    asked: i64,
    cached: u64,
}

impl Recorder {
    pub(super) fn new(cwd: &str, provider: &str, model: &str, compact_at: Option<u32>) -> Recorder {
        let header = Header {
            id: "6f0d5c1e-7a42-4f19-9b3d-2c8e51a7d064".to_owned(),
            version: 3,
            time: Some(Millis(BEGIN)),
            cwd: Some(PathBuf::from(cwd)),
            parent_session: None,
        };
        let mut recorder = Recorder {
            provider: provider.to_owned(),
            model: model.to_owned(),
            compact_at: compact_at.map(|tokens| u64::from(tokens).max(SMALLEST)),
            header,
            entries: Vec::new(),
            held: Vec::new(),
            summary: 0,
            now: BEGIN,
            calls: 0,
            asked: i64::MIN / 2,
            cached: 0,
        };
        recorder.append(&Draft::ModelChange {
            provider: provider.to_owned(),
            model: model.to_owned(),
        });
        recorder.append(&Draft::ThinkingLevelChange("off".to_owned()));
        recorder
    }

    pub(super) fn finish(self) -> (Header, Vec<Entry>) {
        (self.header, self.entries)
    }

    pub(super) fn wait(&mut self, milliseconds: i64) {
        self.now += milliseconds;
    }

    /// A new id for a tool call.
    pub(super) fn call_id(&mut self) -> String {
        self.calls += 1;
        format!("toolu_{:024}", self.calls)
    }

    pub(super) fn user(&mut self, text: &str) {
        self.message(
            json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
            true,
        );
    }

    pub(super) fn result(&mut self, message: Value) {
        self.wait(900);
        self.message(message, false);
    }

    /// An answer that calls tools, or the last one of a turn.
    pub(super) fn assistant(&mut self, text: &str, calls: Vec<Value>) {
        let reason = if calls.is_empty() { "stop" } else { "toolUse" };
        let mut content = Vec::new();
        if !text.is_empty() {
            content.push(json!({ "type": "text", "text": text }));
        }
        content.extend(calls);
        let asked = self.now + 2;
        let output = tokens(Value::from(content.clone()).to_string().chars().count() as u64);
        let usage = self.usage(asked, output);
        self.wait(4_000 + output as i64 * 12);
        let message = json!({
            "role": "assistant", "content": content, "api": "anthropic-messages",
            "provider": self.provider, "model": self.model, "usage": usage,
            "stopReason": reason, "timestamp": asked,
        });
        self.message(message, true);
    }

    /// Compacts as pi does once the context is full.
    pub(super) fn compact_if_full(&mut self, summary: impl FnOnce() -> (String, Value)) {
        let before = self.context();
        let Some(limit) = self.compact_at.filter(|limit| before >= *limit) else {
            return;
        };
        let keep = KEEP.min((limit - OVERHEAD) / 4);
        let mut kept = 0;
        let from = self.held.iter().rposition(|(_, characters, may_begin)| {
            kept += tokens(*characters);
            kept >= keep && *may_begin
        });
        let Some(from) = from.filter(|from| *from > 0) else {
            return;
        };
        self.held.drain(..from);
        let (summary, details) = summary();
        self.summary = summary.chars().count() as u64;
        self.cached = OVERHEAD;
        self.wait(17_000);
        self.append(&Draft::Compaction {
            summary,
            first_kept: Some(self.held[0].0.clone()),
            tokens_before: before,
            details: Some(details.to_string()),
        });
    }

    fn message(&mut self, mut message: Value, may_begin: bool) {
        let characters = message["content"].to_string().chars().count() as u64;
        if message["timestamp"].is_null() {
            message["timestamp"] = json!(self.now);
        }
        let id = self.append(&Draft::Message(message.to_string()));
        self.held.push((id, characters, may_begin));
    }

    fn append(&mut self, draft: &Draft) -> EntryId {
        // Odd, so that no two numbers give the same id.
        let number = (self.entries.len() as u32 + 1).wrapping_mul(0x9e37_79b1);
        let stamp = Stamp {
            id: EntryId::new(format!("{number:08x}")),
            time: Millis(self.now),
        };
        self.now += 1;
        let parent = self.entries.last().map(|entry| entry.id.clone());
        self.entries.push(draft.to_entry(&stamp, parent.as_ref()));
        stamp.id
    }

    /// Tokens of a request made now.
    fn context(&self) -> u64 {
        let held: u64 = self.held.iter().map(|(_, characters, _)| characters).sum();
        OVERHEAD + tokens(self.summary + held)
    }

    fn usage(&mut self, asked: i64, output: u64) -> Value {
        let prompt = self.context();
        let read = match asked - self.asked {
            ..=CACHE_MS => self.cached.min(prompt),
            _ => 0,
        };
        let input = (prompt - read).min(4);
        (self.asked, self.cached) = (asked, prompt);
        let all = [input, output, read, prompt - read - input];
        let cost: [f64; 4] = std::array::from_fn(|at| all[at] as f64 * PRICES[at] / 1e6);
        json!({
            "input": all[0], "output": all[1], "cacheRead": all[2], "cacheWrite": all[3],
            "totalTokens": prompt + output,
            "cost": {
                "input": cost[0], "output": cost[1], "cacheRead": cost[2], "cacheWrite": cost[3],
                "total": cost.iter().sum::<f64>(),
            },
        })
    }
}

/// Providers count about one token for 2.9 characters of such sessions.
fn tokens(characters: u64) -> u64 {
    characters * 10 / 29
}
