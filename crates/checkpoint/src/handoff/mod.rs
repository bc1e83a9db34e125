//! Hand-offs: work given to another agent, as XML that is checked on receipt.
//!
//! The document comes from another process, so nothing in it is believed: no
//! document types, no entities but XML's own five, nothing above a size, no
//! element or attribute that the schema does not have.

mod read;
mod reading;
mod write;

use longhaul_tokens::Tokens;
use longhaul_transcript::SessionKey;

use crate::schema::{Checkpoint, Status, TakenDecision};
use crate::text::{clip, one_line};
use crate::{CheckpointId, Flaw};

/// The schema of a hand-off, as an XML Schema document.
pub const HANDOFF_SCHEMA: &str = include_str!("handoff.xsd");

/// Rules and roles for a workspace with several agents, for its `AGENTS.md`.
pub const AGENTS_TEMPLATE: &str = include_str!("AGENTS.md");

/// The largest document that is read.
pub const MAX_HANDOFF_BYTES: usize = 2 << 20;

/// Longest text in a hand-off, so that the largest one is below the limit.
const TEXT_CHARS: usize = 1_000;
/// The task is the one text that is not the ledger's.
const TASK_CHARS: usize = 20_000;
/// Longest constraint; the user's words are within a cap of tokens already.
const CONSTRAINT_CHARS: usize = 16_000;

/// Work given to another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// Who gives it.
    pub from: HandoffFrom,
    /// The agent who takes it.
    pub to: String,
    /// What is to be done.
    pub task: String,
    /// Whether the work was going on.
    pub status: Status,
    /// What it was about.
    pub topic: String,
    /// The re-entry packet: the next step and what was in hand.
    pub next_action: String,
    /// The conversation in short.
    pub summary: String,
    /// What was agreed and noted.
    pub decisions: Vec<TakenDecision>,
    /// Files that were read or changed.
    pub files: Vec<HandoffFile>,
    /// What is still to be done.
    pub open_items: Vec<String>,
    /// The user's words, oldest first, which whoever takes it has to follow.
    pub constraints: Vec<String>,
    /// The most tokens that may be spent on it.
    pub budget: Tokens,
}

/// Who gives work away, and where its state is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffFrom {
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: SessionKey,
    /// The checkpoint that the hand-off was made from.
    pub checkpoint: CheckpointId,
    /// When that was made, in ISO 8601.
    pub created_at: String,
}

/// A file of a hand-off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffFile {
    /// It was changed.
    Modified(String),
    /// It was only read.
    Read(String),
}

/// What a checkpoint does not say: who is to do what, and what the user said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The agent who takes the work.
    pub to: String,
    /// What is to be done.
    pub task: String,
    /// The user's words ([`constraints`](crate::constraints)), and what is asked
    /// beside them.
    pub constraints: Vec<String>,
    /// The most tokens that may be spent.
    pub budget: Tokens,
}

impl Handoff {
    /// The hand-off of the work in a checkpoint.
    pub fn of(checkpoint: &Checkpoint, assignment: &Assignment) -> Handoff {
        let text = |text: &str| clip(&printable(text.trim()), TEXT_CHARS);
        let clipped = |list: &[String], most: usize| -> Vec<String> {
            list.iter()
                .map(|item| clip(&printable(item.trim()), most))
                .filter(|item| !item.is_empty())
                .collect()
        };
        let texts = |list: &[String]| clipped(list, TEXT_CHARS);
        let meta = &checkpoint.meta;
        let resources = &checkpoint.resources;
        Handoff {
            from: HandoffFrom {
                agent: text(&one_line(&meta.agent_id)),
                session: SessionKey::new(printable(&one_line(meta.session_key.as_str()))),
                checkpoint: meta.checkpoint_id,
                created_at: meta.created_at.clone(),
            },
            to: text(&one_line(&assignment.to)),
            task: clip(&printable(assignment.task.trim()), TASK_CHARS),
            status: checkpoint.working.status,
            topic: text(&checkpoint.working.topic),
            next_action: text(&checkpoint.working.next_action),
            summary: text(&checkpoint.thread.summary),
            decisions: checkpoint
                .decisions
                .iter()
                .map(|decision| TakenDecision {
                    id: text(&decision.id),
                    what: text(&decision.what),
                    when: decision.when.as_deref().map(printable),
                })
                .collect(),
            files: texts(&resources.files_modified)
                .into_iter()
                .map(HandoffFile::Modified)
                .chain(
                    texts(&resources.files_read)
                        .into_iter()
                        .map(HandoffFile::Read),
                )
                .collect(),
            open_items: texts(&checkpoint.open_items),
            constraints: clipped(&assignment.constraints, CONSTRAINT_CHARS),
            budget: assignment.budget,
        }
    }

    /// The document.
    pub fn to_xml(&self) -> String {
        write::document(self)
    }

    /// Reads a document and checks it against the schema.
    pub fn from_xml(text: &str) -> Result<Handoff, Flaw> {
        read::document(text)
    }
}

/// The text without the characters that XML has no way to write.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' | '\r' => c,
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            c if c < ' ' => '\u{fffd}',
            c => c,
        })
        .collect()
}
