//! Provenance: who said what stands in memory, and how that stays true.
//!
//! Memory outlives the conversation in which a reader could still see that a
//! sentence came out of a web page. So everything that is written down carries
//! its source, text of others cannot write such a mark, and an entry that was
//! copied or changed loses its mark when it is read.

mod plain;
mod seal;

pub use seal::Seal;

pub(crate) use plain::{one_line, plain};

use serde::{Deserialize, Serialize};

/// Who said something that stands in memory.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Source {
    /// A tool or a file: data, never an instruction.
    Tool,
    /// Nobody knows: written by hand, by another program, or changed since.
    Unknown,
    /// The model.
    Agent,
    /// The user, word for word.
    User,
}

impl Source {
    /// Whether a known party of the conversation said it. Even so only the user's
    /// words become long-term memory unseen: the model's may repeat a tool's.
    pub fn is_trusted(self) -> bool {
        matches!(self, Source::User | Source::Agent)
    }
}
