//! The ledger: what happened in a session, folded from its entries.
//!
//! This is the only place that *interprets* a transcript, and it reads nothing
//! but structure: who spoke through which channel, which tool ran with which
//! arguments, how it ended, in what order. It never decides what a sentence
//! means. The summary, the checkpoint, the hand-off and the memory flush are
//! views on it, never second parsers of messages. [`Ledger::observe`] takes one
//! entry after another; the same entries give the same ledger, byte for byte,
//! and a ledger stored in a compaction entry goes on where it stopped.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod agreed;
mod capture;
mod commands;
mod facts;
mod files;
mod flight;
mod handed;
mod items;
mod ledger;
pub mod ours;
mod outcome;
mod patch;
mod shell;
mod state;
mod text;
mod thread;
mod tools;
mod turns;
mod utterances;
mod views;
mod working;

pub use capture::Capture;
pub use facts::{
    Agreement, CommandRun, Exchange, FileChange, FileRecord, InFlight, Item, ItemState, Note,
    NoteKind, Origin, Outcome, Provenance, Question, Reply, Speaker, TurnState, TurnWork,
    Utterance,
};
pub use handed::Handed;
pub use ledger::Ledger;
pub use patch::FileEdit;
pub use shell::means_no;
pub use state::{
    DecisionsFile, OpenItemsFile, ResourcesFile, StateDecision, StateError, StateExchange,
    StateFiles, ThreadFile,
};
pub use tools::{ToolUse, classify};
pub use utterances::is_brought;
