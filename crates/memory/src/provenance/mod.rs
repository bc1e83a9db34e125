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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// Its name in marks.
    pub fn name(self) -> &'static str {
        match self {
            Source::Tool => "tool",
            Source::Unknown => "unknown",
            Source::Agent => "agent",
            Source::User => "user",
        }
    }

    /// The source of that name.
    pub fn named(name: &str) -> Option<Source> {
        [Source::Tool, Source::Unknown, Source::Agent, Source::User]
            .into_iter()
            .find(|source| source.name() == name)
    }

    /// Whether a known party of the conversation said it. Even so only the user's
    /// words become long-term memory unseen: the model's may repeat a tool's.
    pub fn is_trusted(self) -> bool {
        matches!(self, Source::User | Source::Agent)
    }
}

impl From<longhaul_ledger::Speaker> for Source {
    fn from(speaker: longhaul_ledger::Speaker) -> Source {
        match speaker {
            longhaul_ledger::Speaker::User => Source::User,
            longhaul_ledger::Speaker::Agent => Source::Agent,
            longhaul_ledger::Speaker::Tool => Source::Tool,
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
