//! Events: every decision of the engine, with its numbers.
//!
//! The terminal, the report, the log and the tests read the same stream. If
//! something happened and no event says so, that is a bug.

use longhaul_checkpoint::Checkpoint;
use longhaul_compaction::audit::Audit;
use longhaul_compaction::ladder::Block;
use longhaul_compaction::{Layer, Trigger};
use longhaul_redact::Redactor;
use longhaul_tokens::{Fragment, FragmentKind, Spent, Tokens};
use longhaul_transcript::EntryId;
use serde::Serialize;
use serde_json::Value;

/// Something the engine decided or did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "event")]
pub enum Event {
    /// The gauge line was put into the context.
    Gauge {
        /// Tokens in the context.
        tokens: Tokens,
        /// The line.
        line: String,
    },
    /// What the next checkpoint will hold is on the disk.
    #[serde(rename_all = "camelCase")]
    StateSaved {
        /// Decisions in it.
        decisions: usize,
        /// Files read or changed.
        files: usize,
        /// What is still to be done.
        open_items: usize,
    },
    /// The state of the work was saved.
    CheckpointWritten(Box<CheckpointEvent>),
    /// The last checkpoint says the same; none was written.
    CheckpointUnchanged {
        /// The last one.
        checkpoint: String,
        /// Tokens in the context.
        tokens: Tokens,
    },
    /// Something about checkpoints went wrong; the work goes on without it.
    CheckpointTrouble {
        /// What, with the file it is about.
        reason: String,
        /// What can be done about it.
        remedy: Option<String>,
    },
    /// What a crash left half done in the checkpoint store was completed.
    #[serde(rename_all = "camelCase")]
    CheckpointsRecovered {
        /// Half-written leftovers removed.
        swept: u32,
        /// The checkpoint that the pointer names now, if it was wrong.
        pointer_moved: Option<String>,
        /// Parts of the state that belong to no coming checkpoint, and why.
        set_aside: Vec<String>,
    },
    /// Checkpoints older than those kept were removed.
    CheckpointsRetired {
        /// Their names.
        checkpoints: Vec<String>,
    },
    /// A compaction that was interrupted goes on where it stopped.
    SequenceResumed {
        /// The last step that was done.
        after: &'static str,
    },
    /// A compaction that was interrupted is given up: the session went on, or
    /// another one was asked for. Nothing of it was written into the session.
    SequenceSuperseded,
    /// State was put back into the context.
    #[serde(rename_all = "camelCase")]
    Restored {
        /// Compactions so far.
        epoch: u32,
        /// The checkpoint among it.
        checkpoint: Option<String>,
        /// What is new since the last time: all of it, at first.
        fragments: Vec<RestoredFragment>,
        /// Their tokens.
        tokens: Tokens,
    },
    /// Files were read ahead.
    Prewarmed {
        /// Files read.
        files: usize,
        /// Those that changed since they were last read ahead.
        changed: usize,
        /// Those that are not there.
        missing: usize,
        /// Those that lead out of the workspace or cannot be read.
        refused: usize,
    },
    /// A session for a part of the work began.
    SubagentStarted {
        /// Its key.
        session: String,
        /// The session that started it.
        parent: String,
        /// Its own window.
        window: Tokens,
    },
    /// Tool output was hidden.
    #[serde(rename_all = "camelCase")]
    Pruned {
        /// Results hidden.
        results: usize,
        /// Tokens before.
        tokens_before: Tokens,
        /// Tokens after.
        tokens_after: Tokens,
        /// Why now.
        reason: String,
    },
    /// The conversation was compacted.
    Compacted(Box<CompactedEvent>),
    /// A compaction did not happen.
    Blocked {
        /// Why.
        block: Block,
        /// Tokens in the context.
        tokens: Tokens,
    },
    /// A compaction was tried and failed.
    Failed {
        /// Why.
        reason: String,
    },
    /// Three failures in a row: no further attempts.
    BreakerOpened {
        /// The last reasons.
        reasons: Vec<String>,
    },
    /// A turn began: the user's message is on the disk.
    TurnBegan {
        /// It.
        entry: EntryId,
    },
    /// A request leaves.
    #[serde(rename_all = "camelCase")]
    Asked {
        /// Its size, as it is known.
        tokens: Tokens,
        /// Its size at most.
        at_most: Tokens,
        /// The window.
        window: Tokens,
    },
    /// The model answered.
    Answered {
        /// The answer.
        entry: EntryId,
        /// Tools that it calls.
        calls: usize,
        /// Why it ended.
        stop: String,
        /// What it took.
        spent: Spent,
    },
    /// A request did not end with an answer; what had arrived is kept.
    BrokeOff {
        /// What had arrived.
        entry: EntryId,
        /// What went wrong.
        reason: String,
        /// What can be done about it.
        remedy: String,
        /// How often it was sent.
        attempts: u32,
    },
    /// A request failed before anything had arrived, and is sent again.
    Retrying {
        /// The number of the attempt that comes next.
        attempt: u32,
        /// How long it waits.
        milliseconds: u64,
        /// Why the last one failed.
        reason: String,
    },
    /// The model calls a tool.
    ToolCalled {
        /// The provider's id of the call.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments, as the model wrote them.
        arguments: String,
    },
    /// A tool answered.
    #[serde(rename_all = "camelCase")]
    ToolAnswered {
        /// The result.
        entry: EntryId,
        /// The provider's id of the call.
        id: String,
        /// The tool.
        tool: String,
        /// Whether it failed.
        is_error: bool,
        /// How much it said.
        characters: usize,
        /// What it said; not for programs, who find it in the session.
        #[serde(skip)]
        text: String,
    },
    /// A turn ended.
    TurnEnded {
        /// `stop`, `length`, `refusal`, or the kind of error.
        outcome: String,
        /// What it took, silent requests included.
        spent: Spent,
    },
    /// Something was asked of a model beside the conversation.
    Spent {
        /// `flush` or `compaction`.
        on: &'static str,
        /// The model.
        model: String,
        /// What it took.
        spent: Spent,
    },
    /// A compaction is about to happen by itself.
    CompactionDue {
        /// How deep.
        layer: Layer,
        /// Tokens in the context.
        tokens: Tokens,
    },
    /// A compaction was due, and everything is protected.
    NothingToCompact {
        /// How deep it would have gone.
        layer: Layer,
        /// Tokens in the context.
        tokens: Tokens,
    },
    /// The agent is asked, in silence, what it wants to remember.
    FlushBegan {
        /// Compactions so far.
        epoch: u32,
    },
    /// Memory was flushed.
    Flushed {
        /// Compactions so far.
        epoch: u32,
        /// Who wrote: the agent, or the ledger in its place.
        by: &'static str,
        /// Notes written.
        notes: usize,
        /// Texts of the user that were logged beside them, word for word.
        texts: usize,
        /// Why it was not the agent, where there is one.
        fallback: Option<String>,
        /// What it took.
        spent: Spent,
    },
    /// A model was to write the summary and did not; it was extracted.
    SummaryFallback {
        /// Why.
        reason: String,
    },
    /// The provider refused a request as too long.
    Overflowed {
        /// The provider's words.
        message: String,
        /// The size by our count.
        tokens: Tokens,
        /// The window, if the provider names it.
        limit: Option<Tokens>,
        /// The size by the provider's count, if it names it.
        requested: Option<Tokens>,
    },
    /// A provider's error told how large a window really is.
    WindowLearnt {
        /// The model.
        model: String,
        /// The window.
        window: Tokens,
    },
    /// In a read-only sandbox the context is large and cannot be compacted.
    ReadOnlyPressure {
        /// Tokens in the context.
        tokens: Tokens,
        /// Where the warning begins.
        threshold: Tokens,
    },
    /// So many compactions that a fresh session is better.
    Worn {
        /// Compactions so far.
        compactions: u32,
        /// What to do.
        recommendation: String,
    },
    /// Something beside the work went wrong; it goes on without.
    Trouble {
        /// What.
        reason: String,
    },
    /// The recorded session was compacted here by its own agent.
    #[serde(rename_all = "camelCase")]
    NativeCompaction {
        /// The recorded entry.
        entry: EntryId,
        /// Tokens before, as recorded.
        tokens_before: Option<u64>,
    },
}

impl Event {
    /// Something beside the work went wrong.
    pub fn trouble(reason: impl Into<String>) -> Event {
        Event::Trouble {
            reason: reason.into(),
        }
    }

    /// The event for programs, who keep what they are told in logs of their
    /// own: a provider may quote the key it was sent, so that what went wrong is
    /// told without secrets.
    pub fn told(&self) -> serde_json::Result<Value> {
        let mut value = serde_json::to_value(self)?;
        let redactor = Redactor::default();
        let mut document = redactor.document();
        let fields = value.as_object_mut().into_iter().flatten();
        for (_, text) in fields.filter(|(name, _)| TOLD.contains(&name.as_str())) {
            match text {
                Value::String(text) => *text = document.text(text).into_owned(),
                Value::Array(texts) => {
                    for text in texts {
                        if let Value::String(text) = text {
                            *text = document.text(text).into_owned();
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(value)
    }
}

/// The fields of events that have the words of others.
const TOLD: [&str; 9] = [
    "reason",
    "reasons",
    "remedy",
    "message",
    "fallback",
    "notes",
    "topic",
    "setAside",
    "recommendation",
];

/// A compaction and its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactedEvent {
    /// The new entry.
    pub entry: EntryId,
    /// Its number.
    pub epoch: u32,
    /// How deep.
    pub layer: Layer,
    /// Why.
    pub trigger: Trigger,
    /// The checkpoint that holds the work as it was before.
    pub checkpoint: String,
    /// Tokens before.
    pub tokens_before: Tokens,
    /// Tokens after.
    pub tokens_after: Tokens,
    /// Messages that left the context.
    pub messages_compacted: usize,
    /// Messages that stayed.
    pub messages_kept: usize,
    /// What wrote the summary.
    pub summarizer: String,
    /// How long it took, by the caller's clock.
    pub milliseconds: f64,
    /// Whether a turn was divided.
    pub splits_turn: bool,
    /// What was kept and what was not.
    pub fidelity: Audit,
    /// What should be known about it.
    pub notes: Vec<String>,
}

/// A checkpoint and its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointEvent {
    /// Its name.
    pub checkpoint: String,
    /// Why it was made.
    pub trigger: longhaul_checkpoint::Trigger,
    /// Tokens in the context.
    pub tokens: Tokens,
    /// Compactions so far.
    pub epoch: u32,
    /// The checkpoint before it.
    pub previous: Option<String>,
    /// What the work is about.
    pub topic: String,
    /// Decisions in it.
    pub decisions: usize,
    /// Files changed.
    pub files_modified: usize,
    /// Files only read.
    pub files_read: usize,
    /// What is still to be done.
    pub open_items: usize,
}

impl CheckpointEvent {
    /// The numbers of a checkpoint.
    pub fn of(checkpoint: &Checkpoint) -> CheckpointEvent {
        let meta = &checkpoint.meta;
        let tokens = usize::try_from(meta.token_usage.input_tokens).unwrap_or(usize::MAX);
        CheckpointEvent {
            checkpoint: meta.checkpoint_id.to_string(),
            trigger: meta.trigger,
            tokens: Tokens::saturating(tokens),
            epoch: meta.compaction_count,
            previous: meta.previous_checkpoint.map(|id| id.to_string()),
            topic: checkpoint.working.topic.clone(),
            decisions: checkpoint.decisions.len(),
            files_modified: checkpoint.resources.files_modified.len(),
            files_read: checkpoint.resources.files_read.len(),
            open_items: checkpoint.open_items.len(),
        }
    }
}

/// A fragment that was put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoredFragment {
    /// What it is.
    pub kind: FragmentKind,
    /// Its tokens.
    pub tokens: Tokens,
    /// Whether it had to be cut to its cap.
    pub truncated: bool,
}

impl RestoredFragment {
    /// The numbers of a fragment.
    pub fn of(fragment: &Fragment) -> RestoredFragment {
        RestoredFragment {
            kind: fragment.kind(),
            tokens: fragment.tokens(),
            truncated: fragment.is_truncated(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_is_told_without_secrets_and_the_rest_as_it_is() {
        let key = format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0);
        let quoted = format!("the key {key} is wrong");
        for event in [
            Event::trouble(&quoted),
            Event::CheckpointTrouble {
                reason: quoted.clone(),
                remedy: Some(quoted.clone()),
            },
            Event::Failed {
                reason: quoted.clone(),
            },
            Event::BreakerOpened {
                reasons: vec!["full".into(), quoted.clone()],
            },
            Event::Retrying {
                attempt: 2,
                milliseconds: 5,
                reason: quoted.clone(),
            },
            Event::BrokeOff {
                entry: EntryId::from("a"),
                reason: quoted.clone(),
                remedy: quoted.clone(),
                attempts: 1,
            },
            Event::SummaryFallback {
                reason: quoted.clone(),
            },
            Event::Overflowed {
                message: quoted.clone(),
                tokens: Tokens(1),
                limit: None,
                requested: None,
            },
            Event::Flushed {
                epoch: 1,
                by: "ledger",
                notes: 2,
                texts: 0,
                fallback: Some(quoted.clone()),
                spent: Spent::default(),
            },
        ] {
            let as_it_is = serde_json::to_string(&event).unwrap();
            let told = event.told().unwrap().to_string();
            assert_eq!(told, as_it_is.replace(&key, "[redacted:github-token#1]"));
            assert_ne!(told, as_it_is);
        }
        // What the model asks for is the work itself.
        let call = Event::ToolCalled {
            id: "1".into(),
            tool: "bash".into(),
            arguments: quoted,
        };
        assert_eq!(call.told().unwrap(), serde_json::to_value(&call).unwrap());
    }
}
