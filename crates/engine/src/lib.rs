//! The engine: where the rooms below meet.
//!
//! | module | what it does |
//! |---|---|
//! | [`catalog`] | finds the sessions of every agent on a machine |
//! | [`assembled`] | lays out the whole request that a model would be sent |
//! | [`aftermath`] | says where everything is that a session holds, after a compaction |
//! | [`prompt`] | writes the static half of every request |
//! | [`measure`] | says how large a context is, and with what |
//! | [`standing`] | says how a session stands, and what to do next |
//! | [`live`] | holds a session at work: prunes, compacts, takes back |
//! | [`marks`] | what we leave in a session beside its messages |
//! | [`checkpoints`] | saves the state of the work, and puts it back |
//! | [`compactor`] | compacts a session, wherever it is run and kept |
//! | [`hosted`] | keeps a session whose messages a host has and whose model it runs |
//! | [`session`] | runs a session with a model: the turn, and all that keeps it going |
//! | [`replay`] | runs a recorded session through all of it |
//! | [`sample`] | tells the built-in session, for trying things out |
//! | [`recall`] | brings back what left a context |
//! | [`tools`] | what an agent may call during a turn, and who allows it |
//! | [`library`] | makes memory files and sessions findable, for people and agents |
//! | [`survey`] | knows a long session without reading it again |
//! | [`timeline`] | says what filled each request of a session |
//! | [`subagent`] | starts a session for a part of the work |
//! | [`prewarm`] | reads ahead what the next turn will want |
//! | [`export`] | puts a session into one file, and begins one from it |
//! | [`handoff`] | gives a session's work to another agent, and takes it |
//! | [`event`] | every decision, with its numbers |
//! | [`state`] | what is remembered about a session beside its transcript |
//! | [`config`] | every number that can be set, and where it came from |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

pub mod aftermath;
pub mod assembled;
pub mod catalog;
mod changes;
pub mod checkpoints;
pub mod compactor;
pub mod config;
mod error;
pub mod event;
pub mod export;
pub mod handoff;
pub mod hosted;
pub mod library;
pub mod live;
pub mod marks;
pub mod measure;
pub mod prewarm;
pub mod prompt;
pub mod recall;
pub mod replay;
pub mod sample;
pub mod session;
mod spending;
pub mod standing;
pub mod state;
pub mod subagent;
pub mod survey;
pub mod timeline;
pub mod tools;

pub use error::{Error, Result};
pub use longhaul_ledger::ours;
