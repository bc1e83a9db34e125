//! The seam between whoever recalls and where that is looked for.

use std::fmt;
use std::sync::Arc;

use longhaul_transcript::EntryId;

use super::hit::{Hit, Query};

/// How far a search looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// This session.
    #[default]
    Session,
    /// And those it came from, those that came from it, and those of its name.
    Family,
    /// Every session that is indexed.
    All,
}

impl Scope {
    /// The scope of that name.
    pub fn named(name: &str) -> Option<Scope> {
        match name {
            "session" => Some(Scope::Session),
            "family" => Some(Scope::Family),
            "all" => Some(Scope::All),
            _ => None,
        }
    }
}

/// Where `recall` looks.
pub trait Recall: Send + Sync {
    /// Finds entries.
    fn recall(&self, query: &Query, limit: usize) -> Result<Vec<Hit>, String>;

    /// Finds entries for words in any order, with an index where there is one, and
    /// says what found them. Without one, the words must stand as they are given.
    fn find(&self, words: &str, limit: usize) -> Result<Findings, String> {
        Ok(Findings {
            hits: self.recall(&Query::Text(words.to_owned()), limit)?,
            ..Findings::default()
        })
    }

    /// The same place seen more narrowly or more widely, where it can be.
    fn within(&self, scope: Scope) -> Option<Arc<dyn Recall>> {
        let _ = scope;
        None
    }
}

/// What was found for words, and with what.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// What stands there word for word first, then what is about the same.
    pub hits: Vec<Hit>,
    /// The model whose vectors were used; none for words alone.
    pub model: Option<String>,
    /// What the reader should know, such as an index that could not be used.
    pub notes: Vec<String>,
    /// Where an index was asked: what it could not take in.
    pub(crate) not_indexed: Option<Vec<String>>,
    /// Where nothing was found: what need not be, since it never left.
    pub in_sight: Option<InSight>,
}

/// Entries that have words of a query and are still in the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InSight {
    /// The session whose context it is, by its id.
    pub session: String,
    /// The best of them first.
    pub entries: Vec<EntryId>,
    /// The words that they have.
    pub terms: Vec<String>,
}

impl fmt::Display for InSight {
    /// Which they are, without the session.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<&str> = self.entries.iter().map(EntryId::as_str).collect();
        write!(
            f,
            "what has {} is still in it: {}",
            self.terms.join(", "),
            entries.join(", ")
        )
    }
}
