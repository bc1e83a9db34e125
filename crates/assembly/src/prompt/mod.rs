//! The system prompt: the static half of every request.
//!
//! Everything in it is the same from request to request, so that a provider's
//! prompt cache holds: no time finer than the day, no sizes, no state. What
//! changes goes behind the history.

mod sections;
mod subagent;

pub use sections::{Hints, Runtime};
pub use subagent::{Subagent, SubagentLimits};

use std::collections::HashMap;
use std::sync::Arc;

use jiff::civil::Date;
use longhaul_tokens::{ContentKind, Counter, Tokens};

use crate::fence;
use crate::{PartName, Skills, Tools, Workspace};

/// Whose prompt it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// The agent the user talks to.
    Full,
    /// A subagent: no identity, no heartbeat, no proactive hints; its role, task
    /// and limits instead.
    Minimal(Subagent),
}

/// What a system prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct PromptSource<'a> {
    /// Whose prompt it is.
    pub mode: &'a Mode,
    /// Where and on what the agent runs.
    pub runtime: &'a Runtime,
    /// Today, where the user is; the finest time a static half may hold.
    pub today: Date,
    /// The user's time zone, by name.
    pub time_zone: &'a str,
    /// The workspace and its files.
    pub workspace: &'a Workspace,
    /// The skills.
    pub skills: &'a Skills,
    /// The tools.
    pub tools: &'a Tools,
    /// How to behave.
    pub hints: &'a Hints,
    /// What configuration or a hook adds.
    pub extra: Option<&'a str>,
}

/// A section of the prompt.
struct Section {
    name: &'static str,
    part: PartName,
    body: String,
}

/// A finished system prompt with the tools that go with it, counted.
#[derive(Debug, Clone)]
pub struct SystemPrompt {
    text: Arc<str>,
    tools: Tools,
    tools_json: Arc<str>,
    tokens: Vec<(PartName, Tokens)>,
    fingerprint: String,
}

impl SystemPrompt {
    /// Writes the prompt. `counts` remembers what its sections cost, so that an
    /// unchanged one is not counted again.
    pub fn build(
        source: &PromptSource<'_>,
        counter: &dyn Counter,
        counts: &mut PartCounts,
    ) -> SystemPrompt {
        let mut text = String::new();
        let mut tokens = vec![(PartName::Prompt, counter.message_overhead())];
        for section in sections::all(source) {
            let start = text.len();
            fence::open(&mut text, "section", &[("name", section.name)]);
            text.push_str(&section.body);
            if !section.body.ends_with('\n') {
                text.push('\n');
            }
            fence::close(&mut text, "section");
            text.push('\n');
            let cost = counts.count(&text[start..], ContentKind::Prose, counter);
            match tokens.iter_mut().find(|(part, _)| *part == section.part) {
                Some((_, sum)) => *sum += cost,
                None => tokens.push((section.part, cost)),
            }
        }
        let tools_json = source.tools.to_json();
        let cost = match source.tools.all() {
            [] => Tokens::ZERO,
            _ => counts.count(&tools_json, ContentKind::Json, counter),
        };
        tokens.push((PartName::Tools, cost));
        let mut hasher = blake3::Hasher::new();
        hasher.update(tools_json.as_bytes());
        hasher.update(&[0]);
        hasher.update(text.as_bytes());
        SystemPrompt {
            text: text.into(),
            tools: source.tools.clone(),
            tools_json: tools_json.into(),
            tokens,
            fingerprint: hasher.finalize().to_hex().to_string(),
        }
    }

    /// No prompt at all: another program writes its own.
    pub fn none() -> SystemPrompt {
        let tools = Tools::default();
        let tools_json = tools.to_json();
        SystemPrompt {
            text: "".into(),
            tools,
            tools_json: tools_json.into(),
            tokens: Vec::new(),
            fingerprint: String::new(),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The tools that are sent with it.
    pub fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Changes whenever a byte of text or tools does, and with it the provider's
    /// prompt cache.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What a part of it costs.
    pub fn tokens(&self, part: PartName) -> Tokens {
        let known = self.tokens.iter().find(|(name, _)| *name == part);
        known.map_or(Tokens::ZERO, |(_, tokens)| *tokens)
    }

    pub(crate) fn tools_json(&self) -> &str {
        &self.tools_json
    }
}

/// Counts of sections made before, by the hash of their text.
#[derive(Debug, Default)]
pub struct PartCounts {
    known: HashMap<(blake3::Hash, ContentKind, &'static str), Tokens>,
    made: u64,
}

impl PartCounts {
    /// More sections than any run of prompts has; a bound, not a policy.
    const MOST: usize = 1_024;

    /// Nothing counted yet.
    pub fn new() -> PartCounts {
        PartCounts::default()
    }

    /// How many counts had to be made so far.
    pub fn made(&self) -> u64 {
        self.made
    }

    fn count(&mut self, text: &str, kind: ContentKind, counter: &dyn Counter) -> Tokens {
        if self.known.len() >= PartCounts::MOST {
            self.known.clear();
        }
        let key = (blake3::hash(text.as_bytes()), kind, counter.name());
        let made = &mut self.made;
        *self.known.entry(key).or_insert_with(|| {
            *made += 1;
            counter.count(text, kind)
        })
    }
}
