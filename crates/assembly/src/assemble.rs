//! Laying out a context: static half, restored state, history, event, notes.
//!
//! ```text
//! tools, system prompt        the same bytes in every request        breakpoint
//! summary, restored state     the same for an epoch                  breakpoint
//! history, event              grows at its end                       breakpoint
//! time, hooks, recall, gauge  new in every request
//! ```
//!
//! The dynamic half is one message of its own behind everything else. The next
//! request drops it and goes on where the event ended, so all that stood before
//! it is read from the provider's cache.

use std::borrow::Cow;

use jiff::Zoned;
use longhaul_tokens::{ContentKind, Counter, Fragment, FragmentKind, Tokens};
use longhaul_transcript::json::ObjectWriter;
use longhaul_transcript::{Context, ContextMessage, EntryId, Role};
use serde::Serialize;

use crate::fence::{self, TOKENS_PER_ESCAPE, neutral, neutral_json};
use crate::{Breakdown, Budget, Event, PartName, Result, SystemPrompt, Tool};

/// What a provider's frame around a summary or a shell run adds to its text.
const FRAME_TOKENS: Tokens = Tokens(32);

/// A message of the history and what it costs, as counted before.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    /// The message, as the context was built or pruned.
    pub message: &'a ContextMessage,
    /// Its tokens.
    pub tokens: Tokens,
}

/// Everything a context is laid out from.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The static half.
    pub prompt: &'a SystemPrompt,
    /// What is put back after a compaction; the same for the whole epoch.
    pub restored: &'a [Fragment],
    /// The conversation from the boundary on.
    pub history: &'a [Counted<'a>],
    /// The new message; none inside a turn, or where it is history already.
    pub event: Option<&'a Event>,
    /// What is true for this request only: hooks' context, recalled memory,
    /// advisory, gauge. The gauge is put last whatever its place here.
    pub dynamic: &'a [Fragment],
    /// The exact time; none leaves it out.
    pub now: Option<&'a Zoned>,
}

/// A place up to which a provider should cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Breakpoint {
    /// After tools and system prompt.
    Static,
    /// After the message at this index.
    Message(usize),
}

/// A context within its budget; [`assemble`] is the only way to get one.
#[derive(Debug, Clone)]
pub struct Assembled<'a> {
    prompt: &'a SystemPrompt,
    messages: Vec<Cow<'a, ContextMessage>>,
    dynamic_from: usize,
    breakpoints: Vec<Breakpoint>,
    breakdown: Breakdown,
}

impl<'a> Assembled<'a> {
    /// The definitions of tools: the beginning of the static half.
    pub fn tools(&self) -> &[Tool] {
        self.prompt.tools().all()
    }

    /// The system prompt: the rest of the static half.
    pub fn system(&self) -> &str {
        self.prompt.text()
    }

    /// All messages, as a provider is sent them.
    pub fn messages(&self) -> &[Cow<'a, ContextMessage>] {
        &self.messages
    }

    /// All messages, when the rest has served; those of the history are borrowed
    /// unless they had to change.
    pub fn into_messages(self) -> Vec<Cow<'a, ContextMessage>> {
        self.messages
    }

    /// The messages that the next request will begin with too.
    pub fn lasting(&self) -> &[Cow<'a, ContextMessage>] {
        &self.messages[..self.dynamic_from]
    }

    /// The message that belongs to this request only, if there is one.
    pub fn dynamic(&self) -> Option<&ContextMessage> {
        self.messages.get(self.dynamic_from).map(|m| m.as_ref())
    }

    /// Where a provider should cache, in order; at most three.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// Where the tokens are.
    pub fn breakdown(&self) -> &Breakdown {
        &self.breakdown
    }

    /// The static half as JSON: with this every request of the session begins.
    pub fn static_json(&self) -> String {
        let system = longhaul_transcript::json::quote(self.system());
        format!(
            "{{\"tools\":{},\"system\":{system},\"messages\":[",
            self.prompt.tools_json()
        )
    }

    /// The whole context as JSON, for people and tests.
    pub fn to_json(&self) -> String {
        let mut text = self.static_json();
        for (at, message) in self.messages.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            text.push_str(message.json());
        }
        text.push_str("]}");
        text
    }
}

/// Lays the context out, or says which part of it does not fit.
pub fn assemble<'a>(
    request: &Request<'a>,
    budget: &Budget,
    counter: &dyn Counter,
) -> Result<Assembled<'a>> {
    let mut messages = Vec::with_capacity(request.history.len() + 3);
    let mut breakpoints = vec![Breakpoint::Static];
    let mut history = Tokens::ZERO;
    let (before, after) = request.history.split_at(summaries(request.history));

    push_history(&mut messages, &mut history, before);
    let restored = block(request.restored, counter);
    if let Some((text, _)) = &restored {
        messages.push(Cow::Owned(own_message("longhaul:restored", text)));
    }
    if let Some(last) = messages.len().checked_sub(1) {
        breakpoints.push(Breakpoint::Message(last));
    }
    push_history(&mut messages, &mut history, after);
    let event = request.event.map_or(Tokens::ZERO, |event| {
        let mut tokens = event.tokens(counter);
        let (message, more) = safe(Cow::Owned(event.to_message()));
        tokens += more;
        messages.push(message);
        tokens
    });
    let dynamic_from = messages.len();
    if let Some(last) = dynamic_from.checked_sub(1)
        && breakpoints.last() != Some(&Breakpoint::Message(last))
    {
        breakpoints.push(Breakpoint::Message(last));
    }
    let dynamic = dynamic(request, counter);
    if let Some((text, _)) = &dynamic {
        messages.push(Cow::Owned(own_message("longhaul:dynamic", text)));
    }

    let size = |block: &Option<(String, Tokens)>| block.as_ref().map_or(Tokens::ZERO, |b| b.1);
    let breakdown = budget.divide(|part| match part {
        PartName::Tools | PartName::Prompt | PartName::Files | PartName::Skills => {
            request.prompt.tokens(part)
        }
        PartName::Event => event,
        PartName::Dynamic => size(&dynamic),
        PartName::Restored => size(&restored),
        PartName::History => history,
    })?;
    Ok(Assembled {
        prompt: request.prompt,
        messages,
        dynamic_from,
        breakpoints,
        breakdown,
    })
}

/// How many messages at the beginning stand for what a compaction removed.
fn summaries(history: &[Counted<'_>]) -> usize {
    let others = |counted: &Counted<'_>| {
        !matches!(counted.message.role, Role::CompactionSummary | Role::System)
    };
    let leading = history.iter().position(others).unwrap_or(history.len());
    let is_summary = |counted: &Counted<'_>| counted.message.role == Role::CompactionSummary;
    history[..leading]
        .iter()
        .rposition(is_summary)
        .map_or(0, |at| at + 1)
}

fn push_history<'a>(
    messages: &mut Vec<Cow<'a, ContextMessage>>,
    tokens: &mut Tokens,
    history: &[Counted<'a>],
) {
    for counted in history {
        let Some((message, frame)) = for_model(counted.message) else {
            continue;
        };
        let (message, more) = safe(message);
        *tokens += counted.tokens + frame + more;
        messages.push(message);
    }
}

/// The message as a provider takes it, and what its frame adds.
fn for_model(message: &ContextMessage) -> Option<(Cow<'_, ContextMessage>, Tokens)> {
    match message.role {
        Role::System | Role::User | Role::Assistant | Role::ToolResult => {
            Some((Cow::Borrowed(message), Tokens::ZERO))
        }
        _ => {
            let single = Context {
                messages: vec![message.clone()],
            };
            let framed = single.for_model().pop()?;
            Some((Cow::Owned(framed), FRAME_TOKENS))
        }
    }
}

/// The message without would-be marks of ours, and what that adds. An answer of
/// the model stays as it is: it speaks for itself, and the signatures of its
/// thinking cover every byte.
fn safe(message: Cow<'_, ContextMessage>) -> (Cow<'_, ContextMessage>, Tokens) {
    if message.role == Role::Assistant {
        return (message, Tokens::ZERO);
    }
    let (json, escapes) = match neutral_json(message.json()) {
        (Cow::Borrowed(_), _) => return (message, Tokens::ZERO),
        (Cow::Owned(json), escapes) => (json, escapes),
    };
    let mut safe = ContextMessage::new(message.entry.clone(), json);
    safe.edited = message.edited;
    let more = Tokens(escapes.saturating_mul(TOKENS_PER_ESCAPE));
    (Cow::Owned(safe), more)
}

/// The dynamic half: a fence with time and fragments, then the gauge.
fn dynamic(request: &Request<'_>, counter: &dyn Counter) -> Option<(String, Tokens)> {
    let is_gauge = |fragment: &&Fragment| fragment.kind() == FragmentKind::Gauge;
    let (gauges, others): (Vec<_>, Vec<_>) = request.dynamic.iter().partition(is_gauge);
    let mut text = String::new();
    let mut tokens = Tokens::ZERO;
    if let Some(now) = request.now {
        let line = format!("<longhaul:time>{now}</longhaul:time>\n");
        tokens += counter.count(&line, ContentKind::Prose);
        text.push_str(&line);
    }
    push_fragments(&mut text, &mut tokens, others.into_iter(), counter);
    if !text.is_empty() {
        let (before, after) = ("<longhaul:dynamic>\n", "</longhaul:dynamic>\n");
        tokens += counter.count(before, ContentKind::Prose);
        tokens += counter.count(after, ContentKind::Prose);
        text = format!("{before}{text}{after}");
    }
    if let Some(gauge) = gauges.last() {
        text.push_str(gauge.text());
        tokens += gauge.tokens();
    }
    (!text.is_empty()).then_some((text, tokens + counter.message_overhead()))
}

/// Fragments as one text, each in its fence, for a host that lays its requests
/// out itself.
pub fn fenced(fragments: &[Fragment], counter: &dyn Counter) -> Option<String> {
    block(fragments, counter).map(|(text, _)| text)
}

/// Fragments as one text, each in its fence.
fn block(fragments: &[Fragment], counter: &dyn Counter) -> Option<(String, Tokens)> {
    let (mut text, mut tokens) = (String::new(), Tokens::ZERO);
    push_fragments(&mut text, &mut tokens, fragments.iter(), counter);
    (!text.is_empty()).then_some((text, tokens + counter.message_overhead()))
}

fn push_fragments<'f>(
    text: &mut String,
    tokens: &mut Tokens,
    fragments: impl Iterator<Item = &'f Fragment>,
    counter: &dyn Counter,
) {
    for fragment in fragments.filter(|fragment| !fragment.text().is_empty()) {
        let kind = fragment.kind();
        // Escaping may lengthen a fragment; its cap holds all the same.
        let safe = match neutral(fragment.text()) {
            Cow::Borrowed(_) => Cow::Borrowed(fragment),
            Cow::Owned(text) => Cow::Owned(Fragment::new(kind, text, counter)),
        };
        fence::fenced(text, tag(kind), &[], safe.text());
        let mut around = String::new();
        fence::fenced(&mut around, tag(kind), &[], "");
        *tokens += safe.tokens() + counter.count(&around, ContentKind::Prose);
    }
}

fn tag(kind: FragmentKind) -> &'static str {
    match kind {
        FragmentKind::Gauge => "gauge",
        FragmentKind::Advisory => "advisory",
        FragmentKind::Checkpoint => "checkpoint",
        FragmentKind::Memory => "memory",
        FragmentKind::ContextNotes => "context-notes",
        FragmentKind::DailyLogs => "daily-logs",
        FragmentKind::KeyFile => "key-file",
        FragmentKind::AgentsSection => "agents-section",
        FragmentKind::Warning => "warning",
        FragmentKind::Carried => "carried",
        FragmentKind::Continuation => "continuation",
        FragmentKind::Placeholder => "placeholder",
        FragmentKind::Recall => "recall",
        FragmentKind::Hook => "hook",
    }
}

/// A message of ours; it has no time of its own, so that its bytes depend on
/// its text alone.
fn own_message(id: &str, text: &str) -> ContextMessage {
    let block = ObjectWriter::new().str("type", "text").str("text", text);
    let json = ObjectWriter::new()
        .str("role", "user")
        .raw("content", &format!("[{}]", block.finish()))
        .finish();
    ContextMessage::new(EntryId::from(id), json)
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::Estimator;

    use super::*;

    #[test]
    fn frames_cost_no_more_than_is_charged_for_them() {
        let framed = [
            r#"{"role":"compactionSummary","summary":"S"}"#,
            r#"{"role":"branchSummary","summary":"S"}"#,
            r#"{"role":"bashExecution","command":"c","output":"S","exitCode":1}"#,
            r#"{"role":"custom","content":"S"}"#,
        ];
        for json in framed {
            let message = ContextMessage::new(EntryId::from("e"), json);
            let (framed, charged) = for_model(&message).unwrap();
            for estimator in Estimator::ALL {
                let count =
                    |m: &ContextMessage| estimator.count(&m.view().text(), ContentKind::Prose);
                let (with, without) = (count(&framed), count(&message));
                assert!(with <= without + charged, "{json} by {estimator}: {with}");
            }
        }
    }
}
