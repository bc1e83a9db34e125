//! Compacting a session: from what is asked to the entries that can be appended.
//!
//! | question | answer |
//! |---|---|
//! | what is compacted? | a [`Work`], the session as its caller holds it |
//! | what is asked, what comes of it? | [`CompactionRequest`], [`Compacted`], [`CompactionFailure`] |
//! | which part stays? | `divide` |
//! | what is carried on? | `carry`: pins, the summary before, the ledger |

mod carry;
mod divide;
mod request;
mod work;
mod write;

pub use divide::allowance;
pub use request::{Compacted, CompactionFailure, CompactionRequest, Removed, Tail};
pub use work::{Work, unasked_note};
