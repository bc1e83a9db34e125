//! Summaries: what takes the place of the messages that left a context.
//!
//! A summary has two parts. The **ledger's part** is mechanical, exact and
//! always there, whichever summarizer ran, because models are known to drop
//! what it holds: rules, requests, files, decisions, open items, errors, exact
//! values, and where the work stands. The **prose** says how it came to this;
//! it is [extractive](Extractive) by default, or written by a model in stages
//! ([`Staged`]) and repaired from the extractive one. A frame around both tells
//! the agent to resume and how to get details back.
//!
//! Everything is rendered anew from the ledger at each compaction, so nothing
//! is carried twice and N compactions of the same content have the same size.
//! Only the work done in earlier epochs, which no ledger holds, is read back
//! from the previous summary and condensed.
//!
//! | question | answer |
//! |---|---|
//! | what is a summary made from? | [`Material`] |
//! | how large may it be? | [`Limits`], from [`Sizes`] |
//! | the whole of it | [`summarize`] → [`Summary`] |
//! | its parts | [`mechanical`], [`extractive`], [`continuation`] |
//! | a model writes the prose | [`Staged`] over a [`TextModel`], with a [`ChunkCache`] |

mod attributed;
mod block;
mod chunks;
mod compose;
mod continuation;
mod extractive;
mod limits;
mod lists;
mod material;
mod mechanical;
mod model;
mod paths;
mod pending;
mod previous;
mod repair;
pub(crate) mod requests;
mod staged;
mod text;
mod turns;
mod voices;

pub use compose::{Summary, summarize};
pub use continuation::{RECALL, continuation, is_ours, ledger_part};
pub use extractive::{Extractive, extractive};
pub use limits::{Limits, Sizes};
pub use material::{Kept, Material, Previous, Span, Split};
pub use mechanical::{Mechanical, Note, mechanical};
pub use model::{
    ChunkCache, ChunkKey, MemoryCache, ModelFailure, Outcome, PROMPT_VERSION, Summarizer,
    SummaryRequest, Task, TextModel,
};
pub use paths::PathNames;
pub use staged::Staged;
pub use text::defused;
