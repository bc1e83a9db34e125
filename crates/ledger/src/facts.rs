//! The facts a ledger holds. Every one names the entries it comes from.

use std::borrow::Cow;

use longhaul_transcript::{EntryId, Millis};
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

    /// A fact seen again that holds only from here on.
    pub(crate) fn begin(&mut self, entry: &EntryId) {
        self.seen = self.seen.saturating_add(1);
        self.entries = vec![entry.clone()];
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

/// Something the user asked for, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The entry.
    pub entry: EntryId,
    /// When.
    pub time: Option<Millis>,
    /// The exact text; `None` once it is old and only its gist is kept here
    /// (the text itself is in the transcript).
    pub text: Option<String>,
    /// Its first line, shortened.
    pub gist: String,
}

/// What a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// Something that must or must not be done.
    Constraint,
    /// A wish about how things are done.
    Preference,
}

/// A standing rule of the user's, verbatim, in force until revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The exact sentence or paragraph.
    pub text: String,
    /// Constraint or preference.
    pub kind: RuleKind,
    /// Where it was said.
    pub provenance: Provenance,
    /// The entry that took it back, if one did.
    pub revoked: Option<EntryId>,
    /// It stood in something that looks pasted, or tells what another says: the
    /// user's message has it, but perhaps not the user's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pasted: bool,
    /// What it stands behind and makes it another's, where that is no part of
    /// the text: "Slack message from Bob".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

impl Rule {
    /// The rule with what it stands behind, as one can read it by itself.
    pub fn in_frame(&self) -> Cow<'_, str> {
        match &self.frame {
            Some(frame) => Cow::Owned(format!("{frame}: … {}", self.text)),
            None => Cow::Borrowed(&self.text),
        }
    }
}

/// A sentence of the user's, word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sentence {
    /// The exact sentence.
    pub text: String,
    /// Where it was said.
    pub provenance: Provenance,
    /// It stood in something that looks pasted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pasted: bool,
}

/// Something that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What was decided, verbatim where it was said in words; for a short
    /// reply after a long answer, the reply with the gist of the answer.
    pub what: String,
    /// The reason, if it was given.
    pub reason: Option<String>,
    /// Who said it.
    pub by: Speaker,
    /// When.
    pub time: Option<Millis>,
    /// Where.
    pub provenance: Provenance,
    /// The entry of the later decision that replaced it.
    pub superseded: Option<EntryId>,
    /// It stood in something that looks pasted, or tells what another says: the
    /// user's message has it, but perhaps not the user's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pasted: bool,
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
    /// It failed.
    Failed,
}

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandRun {
    /// The command line.
    pub command: String,
    /// How it ended last.
    pub outcome: Outcome,
    /// How often it was run.
    pub provenance: Provenance,
}

/// An error, and whether it is still there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// The first line that says what went wrong, exactly.
    pub line: String,
    /// The command or tool call that gave it, exactly (first line).
    pub cause: String,
    /// Where.
    pub provenance: Provenance,
    /// The entry in which the same command succeeded later.
    pub resolved: Option<EntryId>,
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

/// A question that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Its text, exactly.
    pub text: String,
    /// Who asked.
    pub by: Speaker,
    /// Where.
    pub provenance: Provenance,
    /// The entry that answered it, or after which it no longer stands.
    pub answered: Option<EntryId>,
}

/// What kind of thing an anchor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnchorKind {
    /// A web address.
    Url,
    /// A commit, digest or UUID.
    Hash,
    /// A ticket, job or other id.
    Id,
    /// A version.
    Version,
    /// A number that means something: a port, an amount with its unit.
    Number,
    /// A path.
    Path,
    /// Anything else that was written as code.
    Name,
}

/// An exact identifier worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Anchor {
    /// The identifier, exactly.
    pub text: String,
    /// What it is.
    pub kind: AnchorKind,
    /// The words around it where it was first said by a person or the model
    /// (one line, shortened), so that it means something by itself.
    pub about: String,
    /// Who said it first.
    pub by: Speaker,
    /// Where.
    pub provenance: Provenance,
    /// The number of the latest use, counting entries: larger is newer.
    pub rank: u64,
    /// A later value said to replace this one.
    pub superseded: Option<EntryId>,
    /// It stood in something that looks pasted, or tells what another says: the
    /// user's message has it, but perhaps not the user's word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pasted: bool,
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
    /// The file changed or read last.
    pub file: Option<String>,
    /// The last command.
    pub command: Option<String>,
    /// The last test or command that failed and has not passed since, with
    /// the first line of its error.
    pub failing: Option<String>,
    /// A question of the agent's that the user has not answered.
    pub question: Option<String>,
    /// What the agent said it would do next, or the item in progress.
    pub next_step: Option<String>,
    /// The entries these come from.
    pub entries: Vec<EntryId>,
}
