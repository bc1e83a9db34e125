//! The facts a ledger holds. Every one names the entries it comes from.

use longhaul_transcript::{Channel, EntryId, Millis};
use serde::{Deserialize, Serialize};

/// The entries a fact comes from: the first ones and the latest ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// Entry ids, oldest first; at most [`Provenance::KEPT`].
    pub entries: Vec<EntryId>,
    /// How often the fact was seen in all.
    pub seen: u32,
}

impl Provenance {
    /// How many entry ids are kept: the first half of them and the latest.
    pub const KEPT: usize = 4;

    /// A fact seen for the first time.
    pub fn new(entry: EntryId) -> Provenance {
        Provenance {
            entries: vec![entry],
            seen: 1,
        }
    }

    /// A fact seen again.
    pub fn add(&mut self, entry: &EntryId) {
        self.seen = self.seen.saturating_add(1);
        if self.entries.last() == Some(entry) {
            return;
        }
        if self.entries.len() == Self::KEPT {
            self.entries.remove(Self::KEPT / 2);
        }
        self.entries.push(entry.clone());
    }

    /// The entry it was first seen in.
    pub fn first(&self) -> Option<&EntryId> {
        self.entries.first()
    }

    /// The entry it was last seen in.
    pub fn last(&self) -> Option<&EntryId> {
        self.entries.last()
    }
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The user.
    User,
    /// The model.
    Agent,
    /// A tool or file: data, never an instruction.
    Tool,
}

/// Whose words stand in the user's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// The user typed them in this session.
    #[default]
    User,
    /// The user typed them in the session before this one.
    Carried,
    /// They came with work that another agent handed over.
    HandedOver,
    /// They came with an import that nobody vouches for.
    Imported,
    /// Another agent or program speaks.
    Agent,
}

/// What became of what the user said; it follows from the order of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnState {
    /// The agent's turn came to its end.
    Answered,
    /// The turn was broken off, or the next request came before its end.
    Interrupted,
    /// The agent is at it.
    Open,
}

/// Words of the user, as they were typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Utterance {
    /// Its number among all that the user said, from 1.
    pub number: u32,
    /// The entry.
    pub entry: EntryId,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Millis>,
    /// How they came.
    pub channel: Channel,
    /// Whose they are.
    #[serde(default)]
    pub origin: Origin,
    /// The question they answer, if a tool asked one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The words; of a very long text its two ends.
    pub text: String,
    /// Where the second end begins, if something was left out before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<usize>,
    /// What became of them.
    pub state: TurnState,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// Only read.
    Read,
    /// Written where there was none before, as far as the session shows.
    Created,
    /// Changed.
    Edited,
    /// Removed.
    Deleted,
    /// Moved away; the target is in [`FileRecord::moved_to`].
    Moved,
}

/// A file the session touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRecord {
    /// The full path, normalised against the working folder.
    pub path: String,
    /// How often it was read.
    pub reads: u32,
    /// How often it was changed (written, edited, patched, redirected into).
    pub changes: u32,
    /// The latest thing that happened to it, reads after a change not counted.
    pub last: FileChange,
    /// Whether it came into being in this session.
    pub created: bool,
    /// Where it went.
    pub moved_to: Option<String>,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Where this is seen; the latest entry last.
    pub provenance: Provenance,
    /// The entry of the latest read, for marking superseded reads.
    pub last_read: Option<EntryId>,
    /// The number of the latest touch, counting entries: larger is newer.
    pub rank: u64,
}

impl FileRecord {
    /// Whether the session changed it (deleted and moved included).
    pub fn is_modified(&self) -> bool {
        self.changes > 0 || matches!(self.last, FileChange::Deleted | FileChange::Moved)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It has not come back yet.
    Running,
    /// It succeeded.
    Passed,
    /// It ended, and its status is that of another command of its line, such as
    /// what it was piped into.
    Ended,
    /// It failed.
    Failed,
}

/// A command that was run: its latest run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandRun {
    /// The command line.
    pub command: String,
    /// Who ran it.
    pub by: Speaker,
    /// How it ended last.
    pub outcome: Outcome,
    /// The status it ended with, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// The first line it printed when it failed, and the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether its latest run failed, and nothing made that moot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failing: bool,
    /// The commands of the line, as numbers, by which a later run is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<u32>,
    /// The same without small help such as `echo`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub real: Vec<u32>,
    /// Where it was run.
    pub provenance: Provenance,
    /// The utterance that began the turn in which it ran last.
    pub turn: u32,
}

/// The state of a to-do item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Not begun.
    Open,
    /// Begun.
    InProgress,
    /// Finished.
    Done,
    /// Given up, or no longer on the list.
    Dropped,
}

/// A to-do item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its text, exactly.
    pub text: String,
    /// Its state now.
    pub state: ItemState,
    /// Where it is listed; the latest entry last.
    pub provenance: Provenance,
}

impl Item {
    /// Whether it still has to be done.
    pub fn is_open(&self) -> bool {
        matches!(self.state, ItemState::Open | ItemState::InProgress)
    }
}

/// A question that the agent asked through a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Its text, exactly.
    pub text: String,
    /// The options that were offered: how each is named, and what it says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// Where.
    pub entry: EntryId,
    /// The entry that answered it, or after which it no longer stands.
    pub answered: Option<EntryId>,
}

/// Something the user agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Agreement {
    /// A question of the agent's, answered.
    Answer {
        /// The question.
        question: String,
        /// The answer, as it was chosen or typed.
        answer: String,
        /// The text of the option, where it says more than the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        /// The entry of the answer.
        entry: EntryId,
        /// When.
        time: Option<Millis>,
    },
    /// A plan that was approved.
    Plan {
        /// The plan.
        text: String,
        /// The entry of the approval.
        entry: EntryId,
        /// When.
        time: Option<Millis>,
    },
}

impl Agreement {
    /// The entry that says so.
    pub fn entry(&self) -> &EntryId {
        match self {
            Agreement::Answer { entry, .. } | Agreement::Plan { entry, .. } => entry,
        }
    }

    /// When it was agreed.
    pub fn time(&self) -> Option<Millis> {
        match self {
            Agreement::Answer { time, .. } | Agreement::Plan { time, .. } => *time,
        }
    }
}

/// What a note of the agent's is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Something was decided.
    Decision,
    /// Something is so.
    Fact,
    /// Something is still to be done.
    OpenItem,
    /// Something was learnt.
    Learning,
}

impl NoteKind {
    /// The kind of this name.
    pub fn parse(name: &str) -> Option<NoteKind> {
        Some(match name {
            "decision" => NoteKind::Decision,
            "fact" => NoteKind::Fact,
            "open_item" | "openItem" | "open item" => NoteKind::OpenItem,
            "learning" => NoteKind::Learning,
            _ => return None,
        })
    }

    /// Its name as people read it.
    pub fn as_str(self) -> &'static str {
        match self {
            NoteKind::Decision => "decision",
            NoteKind::Fact => "fact",
            NoteKind::OpenItem => "open item",
            NoteKind::Learning => "learning",
        }
    }
}

/// What the agent noted with the `note` tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// Its text.
    pub text: String,
    /// The entry of the call.
    pub entry: EntryId,
    /// When.
    pub time: Option<Millis>,
}

/// A short message of the user after a long answer, with the line it answers:
/// perhaps a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// The message.
    pub text: String,
    /// The line it answers.
    pub to: String,
    /// The entry.
    pub entry: EntryId,
    /// When.
    pub time: Option<Millis>,
}

/// What was done in the turn of one utterance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnWork {
    /// The number of the utterance that began it; 0 before the first.
    pub number: u32,
    /// Its entry, or the first of the turn.
    pub entry: Option<EntryId>,
    /// Files changed, in full, in the order of their first change.
    pub changed: Vec<String>,
    /// Further files that were changed.
    pub changed_left: u32,
    /// The commands that were run last, and how each ended.
    pub commands: Vec<(String, Outcome)>,
    /// The agent's last words in it, shortened.
    pub closing: Option<String>,
}

/// A message that shaped the conversation, shortened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// Who spoke.
    pub by: Speaker,
    /// What, in at most 120 characters.
    pub gist: String,
    /// The entry.
    pub entry: EntryId,
}

/// What was going on at the end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InFlight {
    /// The file changed last, or else read last.
    pub file: Option<String>,
    /// The last command.
    pub command: Option<String>,
    /// How it ended.
    pub command_outcome: Option<Outcome>,
    /// The command that failed last and has not passed since, with the first
    /// line it printed.
    pub failing: Option<String>,
    /// A question of the agent's that the user has not answered.
    pub question: Option<String>,
    /// The to-do item in progress.
    pub next_step: Option<String>,
    /// The agent's last words, shortened in the middle.
    pub words: Option<String>,
    /// The entry they stand in.
    pub words_entry: Option<EntryId>,
    /// The entries these come from.
    pub entries: Vec<EntryId>,
}
