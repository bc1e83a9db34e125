//! Measuring: how many tokens a session's context has, and where they are.
//!
//! The transcript knows messages and the token counters know text; this is the
//! one place that says which part of a message is counted as what.

use std::collections::HashSet;

use base64::Engine as _;
use longhaul_compaction::compact::unasked_note;
use longhaul_tokens::{
    Calibration, ContentKind, CountCache, CountKey, Counter, Estimator, Measurement, Sample,
    Tokens, Usage, document_tokens,
};
use longhaul_transcript::{
    Block, Body, Context, ContextMessage, Entry, EntryId, Loaded, MessageView, ProviderUsage, Role,
    unasked,
};
use serde::{Serialize, Serializer};

use crate::marks::{PRUNE_MARK, copied};

/// What tokens of a context are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// System messages in the transcript.
    System,
    /// Summaries of compactions and of left branches.
    Summaries,
    /// What the user wrote, extensions' messages among it.
    User,
    /// What the model wrote.
    Assistant,
    /// The model's reasoning.
    Thinking,
    ToolCalls,
    /// Output of tools and shell commands.
    ToolResults,
    Images,
    /// Documents, by their pages.
    Documents,
}

/// The parts as they are called, in programs and in tables.
const PARTS: [(&str, &str); 9] = [
    ("system", "system messages"),
    ("summaries", "summaries"),
    ("user", "user"),
    ("assistant", "assistant"),
    ("thinking", "thinking"),
    ("toolCalls", "tool calls"),
    ("toolResults", "tool results"),
    ("images", "images"),
    ("documents", "documents"),
];

/// Tokens of a context by what they are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts([Tokens; PARTS.len()]);

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(PARTS.iter().map(|(key, _)| key).zip(&self.0))
    }
}

impl Parts {
    /// All of it.
    pub fn total(&self) -> Tokens {
        self.0.iter().copied().sum()
    }

    /// Names and tokens, for tables.
    pub fn rows(&self) -> [(&'static str, Tokens); PARTS.len()] {
        std::array::from_fn(|at| (PARTS[at].1, self.0[at]))
    }

    /// One of them.
    pub(crate) fn of(&self, part: Part) -> Tokens {
        self.0[part as usize]
    }

    fn add(&mut self, part: Part, tokens: Tokens) {
        self.0[part as usize] += tokens;
    }
}

/// The size of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// As it is known.
    pub tokens: Tokens,
    /// As it may be at most: counts are short of the truth now and then.
    pub at_most: Tokens,
    /// What of it is not the conversation: prompt, tools, restored state.
    pub overhead: Tokens,
    /// Whether a provider's report stands behind it.
    pub reported: bool,
}

/// The measured context of a session.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The size of the context, and how it is known.
    pub measurement: Measurement,
    /// Our own count, message by message; nothing for what is never sent.
    pub per_message: Vec<Tokens>,
    /// Tool results that answer no call, which are never sent.
    pub unasked: usize,
    /// The answer whose reported usage was believed.
    pub anchor: Option<EntryId>,
    /// Where there is none, whether the latest compaction says how large the
    /// context was after it.
    pub compacted: bool,
    /// Our count of what came since that was known.
    pub following: Tokens,
    /// The model that is counted for.
    pub model: Option<String>,
    /// Who serves it.
    pub provider: Option<String>,
    /// The learnt correction for that model, and from how many samples.
    pub factor: Factor,
    /// What the session says of the window of that model.
    pub evidence: WindowEvidence,
}

/// What a session itself shows of the window that its model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowEvidence {
    /// The window that the agent says it worked with.
    pub named: Option<Tokens>,
    /// The largest prompt that the provider answered, by its own count.
    pub answered: Option<Tokens>,
}

/// A learnt correction of our counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Factor {
    /// Provider tokens per counted token.
    pub value: f64,
    /// How many answers it was learnt from.
    pub samples: u64,
}

/// Counts messages, remembering what it has counted and learning from what
/// providers report.
#[derive(Debug)]
pub struct Meter {
    estimator: Estimator,
    cache: CountCache,
    calibration: Calibration,
}

impl Reading {
    /// What is to be said about results that are never sent.
    pub fn unasked_note(&self) -> Option<String> {
        (self.unasked > 0).then(|| unasked_note(self.unasked))
    }
}

impl Meter {
    /// A meter with nothing learnt yet.
    pub fn new(estimator: Estimator) -> Meter {
        Meter {
            estimator,
            cache: CountCache::default(),
            calibration: Calibration::default(),
        }
    }

    /// The estimator in use.
    pub fn estimator(&self) -> Estimator {
        self.estimator
    }

    /// The correction of our counts that was learnt for a model.
    pub fn factor(&self, model: &str) -> Factor {
        let model = tabulated(model);
        Factor {
            value: self.calibration.factor(model, self.estimator),
            samples: self.calibration.samples(model, self.estimator),
        }
    }

    /// Takes in what a provider reported for content that was counted here.
    pub fn observe(&mut self, model: &str, sample: Sample) {
        let model = tabulated(model);
        self.calibration.observe(model, self.estimator, sample);
    }

    /// Our count of one message. An edited message is counted anew.
    pub fn message(&mut self, message: &ContextMessage) -> Tokens {
        let estimator = self.estimator;
        self.cache.get_or_insert_with(
            CountKey {
                entry: message.entry.as_str(),
                revision: revision(message),
                estimator,
            },
            || count(message, estimator.counter()).total(),
        )
    }

    /// Measures the context of a loaded session.
    pub fn context(&mut self, loaded: &Loaded, context: &Context) -> Reading {
        let unasked = unasked(&context.messages);
        let per_message: Vec<Tokens> = context
            .messages
            .iter()
            .enumerate()
            .map(|(at, message)| match unasked.contains(&at) {
                true => Tokens::ZERO,
                false => self.message(message),
            })
            .collect();
        let copies = copies(loaded);
        let used = loaded.settings.model.as_ref();
        let provider = used.map(|model| model.provider.clone());
        let model = used.map(|model| model.model_id.clone());
        let name = model.as_deref().unwrap_or_default();
        let evidence = self.learn(context, &per_message, &copies, name);
        let anchor = anchor(loaded, context, &copies);
        let counted: Tokens = per_message.iter().copied().sum();
        let then = match anchor {
            Some(_) => Tokens::ZERO,
            None => self.at_boundary(loaded),
        };
        let factor = self.factor(name);
        let corrected = |tokens: Tokens| tokens.scale(factor.value);
        let compacted = match anchor {
            Some(_) => None,
            None => compacted(loaded),
        };
        let (measurement, following) = match (anchor, compacted) {
            (Some((at, usage)), _) => {
                let following = per_message[at + 1..].iter().copied().sum();
                let usage = usage.with_plausible_output(per_message[at]);
                let measured = Measurement::anchored(&usage, corrected(following))
                    .at_least(Calibration::least(counted));
                (measured, following)
            }
            (None, Some(after)) => {
                let grown = corrected(counted - then);
                // Since then something may have been hidden.
                let now = after + grown - corrected(then - counted);
                let now = now.max(Calibration::least(counted));
                let measured = Measurement::unanchored(self.estimator, now);
                (measured, counted - then)
            }
            (None, None) => {
                let measured = Measurement::unanchored(self.estimator, corrected(counted));
                (measured, counted)
            }
        };
        Reading {
            measurement,
            anchor: anchor.map(|(at, _)| context.messages[at].entry.clone()),
            compacted: compacted.is_some(),
            following,
            factor,
            per_message,
            unasked: unasked.len(),
            model,
            provider: provider.filter(|provider| !provider.is_empty()),
            evidence,
        }
    }

    /// Our count of all messages that are sent.
    pub fn messages(&mut self, messages: &[ContextMessage]) -> Tokens {
        let unasked = unasked(messages);
        let sent = messages.iter().enumerate();
        sent.filter(|(at, _)| !unasked.contains(at))
            .map(|(_, message)| self.message(message))
            .sum()
    }

    /// Our count of the context as the latest compaction left it.
    fn at_boundary(&mut self, loaded: &Loaded) -> Tokens {
        let Some(boundary) = loaded.boundary else {
            return Tokens::ZERO;
        };
        let behind = &loaded.entries[boundary + 1..];
        let edits = behind
            .iter()
            .take_while(|entry| matches!(entry.body, Body::ContextEdit(_)))
            .count();
        // What the compaction shortened stands right behind it; what a pruning hid,
        // before its mark.
        let own = match behind.get(edits).map(|entry| &entry.body) {
            Some(Body::Custom { custom_type }) if custom_type == PRUNE_MARK => 0,
            _ => edits,
        };
        let then = Loaded {
            entries: loaded.entries[..=boundary + own].to_vec(),
            ..loaded.clone()
        };
        self.messages(&Context::build(&then).messages)
    }

    /// Our own count of a context, part by part, before any correction.
    pub fn parts(&self, context: &Context) -> Parts {
        let mut parts = Parts::default();
        let unasked = unasked(&context.messages);
        for (at, message) in context.messages.iter().enumerate() {
            if unasked.contains(&at) {
                continue;
            }
            let counted = count(message, self.estimator.counter());
            let rows = parts.0.iter_mut().zip(counted.0);
            rows.for_each(|(all, one)| *all += one);
        }
        parts
    }

    /// Learns from consecutive answers: what the prompt grew by, as reported,
    /// against our count of what was added. What they show of the window of the
    /// model `used` comes back.
    fn learn(
        &mut self,
        context: &Context,
        per_message: &[Tokens],
        copies: &HashSet<&EntryId>,
        used: &str,
    ) -> WindowEvidence {
        let mut evidence = WindowEvidence::default();
        let mut last: Option<(usize, Usage)> = None;
        for (at, message) in context.messages.iter().enumerate() {
            if message.role != Role::Assistant || copies.contains(&message.entry) {
                continue;
            }
            let view = message.view();
            let Some(usage) = believable(&view) else {
                continue;
            };
            let model = view.model().unwrap_or_default();
            if model == used {
                let named = view.context_window().map(tokens);
                evidence.named = named.or(evidence.named);
                evidence.answered = evidence.answered.max(Some(usage.prompt_tokens()));
            }
            if let Some((before, earlier)) = last {
                let grown = usage.prompt_tokens() - earlier.prompt_tokens();
                if grown > Tokens::ZERO {
                    let sample = Sample {
                        counted: per_message[before..at].iter().copied().sum(),
                        reported: grown,
                    };
                    self.observe(&model, sample);
                }
            }
            last = Some((at, usage));
        }
        evidence
    }
}

/// One name for all spellings of a model, so that what was learnt of one holds for
/// the others.
fn tabulated(model: &str) -> &str {
    longhaul_model::listed(model).map_or(model, |row| row.name)
}

/// The usage of an answer, if it ended by itself and reports one.
fn believable(view: &MessageView<'_>) -> Option<Usage> {
    view.is_settled().then(|| view.usage().map(usage)).flatten()
}

/// Entries written again when a compaction was taken back or forward: what was
/// reported for their answers describes the context of the other branch.
fn copies(loaded: &Loaded) -> HashSet<&EntryId> {
    copied(&loaded.entries)
        .into_iter()
        .flat_map(|span| &loaded.entries[span])
        .map(|entry| &entry.id)
        .collect()
}

/// The last answer whose usage still describes the context: it was given to
/// this one, and nothing before it was compacted or edited since.
fn anchor(
    loaded: &Loaded,
    context: &Context,
    copies: &HashSet<&EntryId>,
) -> Option<(usize, Usage)> {
    let after_boundary = &loaded.entries[loaded.boundary.map_or(0, |at| at + 1)..];
    let after_edits = match after_boundary.iter().rposition(is_edit) {
        Some(at) => &after_boundary[at + 1..],
        None => after_boundary,
    };
    let entry = after_edits.iter().rev().find(|entry| {
        entry.role() == Some(&Role::Assistant)
            && !copies.contains(&entry.id)
            && entry
                .message()
                .is_some_and(|message| believable(&message).is_some())
    })?;
    let at = context
        .messages
        .iter()
        .rposition(|message| message.entry == entry.id)?;
    let usage = believable(&entry.message()?)?;
    Some((at, usage))
}

/// What one of our own compactions says of the size of the context after it.
pub(crate) fn compacted(loaded: &Loaded) -> Option<Tokens> {
    let (_, compaction) = loaded.compaction()?;
    let after = compaction
        .tokens_after
        .filter(|_| compaction.summarizer.is_some())?;
    Some(tokens(after))
}

fn is_edit(entry: &Entry) -> bool {
    matches!(entry.body, Body::ContextEdit(_))
}

/// A provider's usage in the counters' own terms.
pub fn usage(reported: ProviderUsage) -> Usage {
    Usage {
        input: tokens(reported.input),
        output: tokens(reported.output),
        cache_read: tokens(reported.cache_read),
        cache_write: tokens(reported.cache_write),
        total: (reported.total > 0).then(|| tokens(reported.total)),
    }
}

pub(crate) fn tokens(count: u64) -> Tokens {
    Tokens::saturating(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Edits change a message under its id, so its length and edit mark tell
/// versions apart.
fn revision(message: &ContextMessage) -> u64 {
    (message.json().len() as u64) << 1 | u64::from(message.edited)
}

/// What a message is counted as that says no more of itself; none for what is never
/// sent.
fn part_of(role: &Role) -> Option<Part> {
    Some(match role {
        Role::System => Part::System,
        Role::CompactionSummary | Role::BranchSummary => Part::Summaries,
        Role::User | Role::Custom => Part::User,
        Role::Assistant => Part::Assistant,
        Role::ToolResult | Role::BashExecution => Part::ToolResults,
        Role::Other(_) => return None,
    })
}

/// Counts one message, part by part.
pub fn count(message: &ContextMessage, counter: &dyn Counter) -> Parts {
    let view = message.view();
    let mut parts = Parts::default();
    let Some(own) = part_of(&message.role) else {
        return parts;
    };
    let prose = |text: &str| counter.count(text, ContentKind::Prose);
    match own {
        Part::Summaries => parts.add(own, prose(&view.text())),
        Part::System => {
            let sections = view.object().raw("sections").unwrap_or_default();
            parts.add(own, prose(&view.text()) + prose(sections));
        }
        Part::ToolResults if message.role == Role::BashExecution => {
            if view.object().bool("excludeFromContext") != Some(true) {
                parts.add(own, counter.tool_result("bash", &view.text()));
            }
        }
        _ => count_blocks(&view, own, counter, &mut parts),
    }
    if message.role != Role::ToolResult {
        parts.add(own, counter.message_overhead());
    }
    parts
}

/// A document by its pages. Base64 that cannot be read has the size it would have.
fn document(base64: &str) -> Tokens {
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64);
    document_tokens(&bytes.unwrap_or_else(|_| vec![0; base64.len() / 4 * 3]))
}

fn count_blocks(view: &MessageView<'_>, own: Part, counter: &dyn Counter, parts: &mut Parts) {
    // What a tool brought is counted as one text, by what the tool is.
    let is_result = own == Part::ToolResults;
    let mut output = String::new();
    // Only Anthropic's signatures hold the reasoning itself.
    let sealed = view.model().is_some_and(|model| model.contains("claude"));
    for block in view.blocks() {
        match block {
            Block::Image { .. } => parts.add(Part::Images, counter.image()),
            Block::Document { base64, .. } => parts.add(Part::Documents, document(&base64)),
            Block::Text(text) if is_result => output.push_str(&text),
            Block::Other(raw) if is_result => output.push_str(raw),
            Block::Thinking { .. } | Block::ToolCall(_) if is_result => {}
            Block::Text(text) => parts.add(own, counter.count(&text, ContentKind::Prose)),
            Block::Other(raw) => parts.add(own, counter.count(raw, ContentKind::Json)),
            Block::Thinking { text, signature } => {
                let signature = if sealed { signature.as_ref() } else { "" };
                parts.add(Part::Thinking, counter.thinking(&text, signature));
            }
            Block::ToolCall(call) => {
                let tokens = counter.tool_call(&call.name, call.arguments);
                parts.add(Part::ToolCalls, tokens);
            }
        }
    }
    if is_result {
        let tool = view.tool_name().unwrap_or_default();
        parts.add(own, counter.tool_result(&tool, &output));
    }
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::{Draft, Header, Millis, ModelName, Stamp};
    use serde_json::{Value, json};

    use super::*;
    use crate::live::Live;

    fn reading(messages: &[Value]) -> Reading {
        let mut live = Live::new(Header::default());
        for (at, message) in messages.iter().enumerate() {
            let stamp = Stamp {
                id: EntryId::new(format!("e{at}")),
                time: Millis(1),
            };
            let parent = live.entries().last().map(|entry| entry.id.clone());
            let draft = Draft::Message(message.to_string());
            live.push(draft.to_entry(&stamp, parent.as_ref()));
        }
        let mut loaded = live.loaded().clone();
        loaded.settings.model = Some(ModelName {
            provider: "openai".into(),
            model_id: "gpt-5.6-sol".into(),
        });
        Meter::new(Estimator::Heuristic).context(&loaded, &live.context())
    }

    fn answer(model: &str, usage: Value) -> Value {
        json!({"role": "assistant", "provider": "openai", "model": model, "stopReason": "stop",
            "content": [{"type": "text", "text": "done"}], "usage": usage, "timestamp": 1})
    }

    #[test]
    fn a_session_shows_what_its_own_model_took_and_which_window_was_named() {
        let reading = reading(&[
            json!({"role": "user", "content": "go on", "timestamp": 1}),
            answer("gpt-5.5", json!({"input": 900_000, "output": 1})),
            answer(
                "gpt-5.6-sol",
                json!({"input": 60_000, "cacheRead": 40_000, "output": 9, "contextWindow": 258_400}),
            ),
            answer("gpt-5.6-sol", json!({"input": 50_000, "output": 9})),
        ]);
        let expected = WindowEvidence {
            named: Some(Tokens(258_400)),
            answered: Some(Tokens(100_000)),
        };
        assert_eq!(reading.evidence, expected);
    }

    #[test]
    fn a_document_is_counted_by_its_pages_and_not_by_its_base64() {
        let pages = "<< /Type /Page /Contents 9 0 R >>\nendobj\n".repeat(10);
        let padding = "x".repeat(250_000);
        let data = base64::engine::general_purpose::STANDARD.encode(pages + &padding);
        let block = json!({"type": "document", "source":
            {"type": "base64", "media_type": "application/pdf", "data": data}});
        let said = json!({"role": "user", "content": [block], "timestamp": 1});
        let overhead = Estimator::Heuristic.counter().message_overhead();
        assert_eq!(
            reading(&[said]).measurement.tokens,
            Tokens(20_000) + overhead
        );
    }
}
