//! The schema `openclaw/checkpoint`, version 1, key by key.
//!
//! Field names and their order are the keys of the file. Nothing may be added
//! here that the schema does not have: other programs read these files.

use longhaul_transcript::SessionKey;
use serde::{Deserialize, Serialize};

use crate::CheckpointId;
use crate::yaml::style;

/// The structured state of the work at one moment. Made by [`Draft::of`]
/// and numbered by a store; immutable from then on.
///
/// [`Draft::of`]: crate::Draft::of
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checkpoint {
    /// Which checkpoint this is, when and why it was made.
    pub meta: Meta,
    /// What is being done.
    pub working: Working,
    /// Decisions that hold, oldest first.
    pub decisions: Vec<TakenDecision>,
    /// Files and tools.
    pub resources: Resources,
    /// The conversation in short.
    pub thread: Thread,
    /// What is still to be done, and questions without an answer.
    pub open_items: Vec<String>,
    /// What the agent noted as learnt, or as a fact.
    pub learnings: Vec<String>,
}

/// Which checkpoint this is, when and why it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// Its name.
    pub checkpoint_id: CheckpointId,
    /// The session's key.
    #[serde(serialize_with = "style::quoted_key")]
    pub session_key: SessionKey,
    /// The session's file.
    #[serde(serialize_with = "style::quoted")]
    pub session_file: String,
    /// When, in ISO 8601.
    #[serde(serialize_with = "style::quoted")]
    pub created_at: String,
    /// Why.
    pub trigger: Trigger,
    /// Compactions of the session so far.
    pub compaction_count: u32,
    /// How full the context was.
    pub token_usage: TokenUsage,
    /// The checkpoint before this one.
    pub previous_checkpoint: Option<CheckpointId>,
    /// Where the user speaks to the agent.
    #[serde(serialize_with = "style::quoted")]
    pub channel: String,
    /// The agent.
    #[serde(serialize_with = "style::quoted")]
    pub agent_id: String,
}

/// Why a checkpoint was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trigger {
    /// The context reached the checkpoint threshold.
    #[serde(rename = "auto-80pct")]
    Threshold,
    /// A compaction is about to happen.
    #[serde(rename = "compaction")]
    Compaction,
    /// Somebody asked for it.
    #[serde(rename = "manual")]
    Manual,
    /// A session ended; OpenClaw's, read but never written.
    #[serde(rename = "session-end")]
    SessionEnd,
}

/// How full the context was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenUsage {
    /// Tokens in the context.
    pub input_tokens: u64,
    /// Tokens that fit.
    pub context_window: u64,
    /// The one as a share of the other, to two digits.
    pub utilization: f64,
}

/// What is being done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Working {
    /// What it is about.
    #[serde(serialize_with = "style::block")]
    pub topic: String,
    /// Whether it goes on.
    pub status: Status,
    /// Whether a turn was cut in two.
    pub interrupted: bool,
    /// The last tool call, if interrupted.
    pub last_tool_call: Option<LastToolCall>,
    /// The next step, and below it the rest of the re-entry packet, a line
    /// each: what fails, the file in hand, the last command, a question.
    #[serde(serialize_with = "style::block")]
    pub next_action: String,
}

/// Whether the work goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Something is being done.
    InProgress,
    /// Nothing is going on.
    Idle,
    /// The agent asked something.
    WaitingForUser,
}

impl Status {
    /// Every one.
    pub(crate) const ALL: [Status; 3] = [Status::InProgress, Status::Idle, Status::WaitingForUser];

    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Status::InProgress => "in_progress",
            Status::Idle => "idle",
            Status::WaitingForUser => "waiting_for_user",
        }
    }
}

/// The call during which a turn was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastToolCall {
    /// The tool.
    #[serde(serialize_with = "style::quoted")]
    pub name: String,
    /// Its parameters, shortened.
    #[serde(serialize_with = "style::block")]
    pub params_summary: String,
}

/// A decision that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakenDecision {
    /// A letter for where it comes from (`n` was noted, `a` answered, `p` is a plan,
    /// `r` a short reply; `d` in files of earlier versions) and a number.
    #[serde(serialize_with = "style::quoted")]
    pub id: String,
    /// What was decided, with the reason if it was given.
    #[serde(serialize_with = "style::block")]
    pub what: String,
    /// When, in ISO 8601, where it is known.
    #[serde(serialize_with = "style::quoted_or_null")]
    pub when: Option<String>,
}

/// Files and tools.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Files that were only read, the latest last.
    #[serde(serialize_with = "style::quoted_list")]
    pub files_read: Vec<String>,
    /// Files that were changed, the latest last.
    #[serde(serialize_with = "style::quoted_list")]
    pub files_modified: Vec<String>,
    /// Tools that were called.
    #[serde(serialize_with = "style::quoted_list")]
    pub tools_used: Vec<String>,
}

/// The conversation in short.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    /// The first and the last thing the user said.
    #[serde(serialize_with = "style::block")]
    pub summary: String,
    /// Messages that shaped it, oldest first.
    pub key_exchanges: Vec<Exchange>,
}

/// A message that shaped the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Who spoke.
    pub role: Role,
    /// The beginning of what was said.
    #[serde(serialize_with = "style::block")]
    pub gist: String,
}

/// Who spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The agent.
    Agent,
}

impl Checkpoint {
    /// Every free text, for secrets to be taken out.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (working, thread, resources) =
            (&mut self.working, &mut self.thread, &mut self.resources);
        let decisions = self.decisions.iter_mut();
        let exchanges = thread.key_exchanges.iter_mut();
        [
            &mut working.topic,
            &mut working.next_action,
            &mut thread.summary,
        ]
        .into_iter()
        .chain((working.last_tool_call.iter_mut()).map(|call| &mut call.params_summary))
        .chain(decisions.map(|decision| &mut decision.what))
        .chain(exchanges.map(|exchange| &mut exchange.gist))
        .chain(&mut resources.files_read)
        .chain(&mut resources.files_modified)
        .chain(&mut self.open_items)
        .chain(&mut self.learnings)
    }

    /// Whether both say the same about the same stretch of work, whatever
    /// their names, times and sizes.
    pub(crate) fn same_work(&self, other: &Checkpoint) -> bool {
        self.meta.session_file == other.meta.session_file
            && self.meta.compaction_count == other.meta.compaction_count
            && self.working == other.working
            && self.decisions == other.decisions
            && self.resources == other.resources
            && self.thread == other.thread
            && self.open_items == other.open_items
            && self.learnings == other.learnings
    }
}
