//! The ledger: what matters in a session, folded from its entries.
//!
//! This is the only place that *interprets* a transcript. The summary, the
//! checkpoint, the audit, the hand-off and the memory flush are views on it,
//! never second parsers of messages. [`Ledger::observe`] takes one entry after
//! another; the same entries give the same ledger, byte for byte, and a ledger
//! stored in a compaction entry goes on where it stopped.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod anchors;
mod capture;
mod choice;
mod copied;
mod decisions;
mod facts;
mod files;
mod flight;
mod frames;
mod grammar;
mod handed;
mod heard;
mod items;
mod ledger;
mod lifts;
mod moved;
mod norm;
pub mod ours;
mod outcome;
mod outputs;
mod past;
mod pasted;
mod patch;
mod place;
mod plain;
mod questions;
mod quoted;
mod requests;
mod rules;
mod scan;
mod scope;
mod shell;
mod spoken;
mod state;
mod statements;
mod text;
mod thread;
mod told;
mod tools;
mod troubles;
mod unspaced;
mod views;
mod voices;
mod words;
mod working;

pub use capture::Capture;
pub use choice::agrees_or_chooses;
pub use facts::{
    Anchor, AnchorKind, CommandRun, Decision, Exchange, FileChange, FileRecord, InFlight, Item,
    ItemState, Outcome, Provenance, Question, Request, Rule, RuleKind, Sentence, Speaker, Trouble,
};
pub use handed::Handed;
pub use heard::{passes_on, typed};
pub use ledger::Ledger;
pub use lifts::{Taking, takes_back};
pub use norm::reads_as_rule;
pub use patch::FileEdit;
pub use state::{
    DecisionsFile, OpenItemsFile, ResourcesFile, StateDecision, StateError, StateExchange,
    StateFiles, ThreadFile,
};
pub use tools::{ToolUse, classify};
pub use views::{Category, Fact};
pub use voices::is_brought;
