//! Summaries: what takes the place of the messages that left a context.
//!
//! The **mechanical part** is exact, bounded and always there, whichever
//! summarizer ran: the user's words in order, what was agreed, the work by turn,
//! files, what fails, what is open, where the work stands. All of it is a view on
//! the ledger, so it says what the structure of the session says and claims
//! nothing about what sentences mean. The **prose**, where a model wrote one
//! ([`Staged`]), stands before it and never replaces it. A frame around both
//! tells the agent to resume and how to get details back.
//!
//! Everything is rendered anew from the ledger at each compaction, so nothing is
//! carried twice and N compactions of the same content have the same size.
//!
//! | question | answer |
//! |---|---|
//! | what is a summary made from? | [`Material`] |
//! | how large may it be? | [`Limits`], from [`Sizes`] |
//! | the whole of it | [`summarize`] → [`Summary`] |
//! | its sections | [`heading`] |
//! | a model writes the prose | [`Staged`] over a [`TextModel`], with a [`ChunkCache`] |

mod block;
mod chunks;
mod compose;
mod continuation;
mod disowned;
mod extractive;
pub mod heading;
mod limits;
mod material;
mod mechanical;
mod model;
mod paths;
mod pending;
mod sections;
mod staged;
mod text;
mod words;

pub use compose::{Summary, summarize};
pub use continuation::{RECALL, continuation, is_ours, ledger_part};
pub use disowned::disowned;
pub use extractive::Extractive;
pub use limits::{Limits, Sizes};
pub use material::{Kept, Material, Previous, Span, Split};
pub use mechanical::{Mechanical, Note, mechanical};
pub use model::{
    ChunkCache, ChunkKey, MemoryCache, ModelFailure, Outcome, PROMPT_VERSION, Summarizer,
    SummaryRequest, Task, TextModel,
};
pub use paths::PathNames;
pub use staged::Staged;
pub(crate) use text::abbreviated;
pub use text::{defused, within};
