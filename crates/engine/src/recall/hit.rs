//! What is asked for, and what was found.

use longhaul_transcript::{Body, Entry, EntryId, SessionRef};

use super::wording::start_of;

/// Ids that a hit names; of more, only the number is told.
pub(crate) const NAMED: usize = 200;

/// What stands behind who is said to have said it.
pub const UNVOUCHED: &str = " (imported; nobody vouches for it)";

/// Whose an entry is by the role that the index has of it, and whether nobody
/// vouches for that.
pub fn told_apart(role: Option<&str>) -> (Option<&str>, bool) {
    match role.and_then(|role| role.strip_suffix(UNVOUCHED)) {
        Some(role) => (Some(role), true),
        None => (role, false),
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// The entry with this id; without one, those whose ids start so. Case and
    /// what summaries and people put around an id do not matter.
    Id(String),
    /// The entries with these ids, as many as there are.
    Ids(Vec<EntryId>),
    /// The entries from one to another, in stored order.
    Range(String, String),
    /// Entries that contain these words in this order; case, spacing and
    /// punctuation aside.
    Text(String),
    /// Entries that read, changed or name a file.
    Path(String),
}

/// Something found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The entry.
    pub entry: Entry,
    /// The text around what was asked for; the start of the text otherwise.
    pub excerpt: String,
    /// Other entries that it stands for.
    pub others: Others,
    /// The id of the session it is from, as lists of sessions have it.
    pub session: String,
    /// Where that session is stored; none where no session was searched.
    pub place: Option<SessionRef>,
    /// How it was found.
    pub why: Found,
    /// Whether the session has it in its context, where it was found by words.
    pub in_context: bool,
    /// Whether it came with an import nobody vouches for: then whoever is said to
    /// have said it perhaps did not.
    pub brought: bool,
}

/// How a hit was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// It was asked for by its id.
    Id,
    /// The words stand there as they were given.
    Words,
    /// It reads, changes or names the file.
    File,
    /// The index takes it to be about the same thing.
    Meaning(Meaning),
}

/// What the index goes by. Scores compare within one search only.
#[derive(Debug, Clone, PartialEq)]
pub struct Meaning {
    /// All of it together.
    pub score: f32,
    /// How well its own words match, the best hit being 1.
    pub words: f32,
    /// How near its meaning is, from 0 to 1; none without a vector.
    pub vector: Option<f32>,
    /// The words of the question that it has.
    pub terms: Vec<String>,
}

impl Found {
    /// Its name.
    pub fn as_str(&self) -> &'static str {
        match self {
            Found::Id => "id",
            Found::Words => "words",
            Found::File => "file",
            Found::Meaning(_) => "meaning",
        }
    }
}

/// Entries that say what a hit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Others {
    /// 200 of them at most.
    pub ids: Vec<EntryId>,
    /// How many there are.
    pub count: usize,
    /// What all of them have in common with the hit.
    pub same: Same,
}

/// How much of a hit another entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Same {
    /// All of it, from beginning to end.
    Text,
    /// The passage in which the words were found.
    Passage,
    /// The words themselves. Only the last hit of a search names such entries:
    /// those that found no place among the hits.
    Words,
    /// The beginning of the id by which they were asked for. Only the last hit
    /// names such entries as well.
    Beginning,
}

impl Same {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Same::Text => "text",
            Same::Passage => "passage",
            Same::Words => "words",
            Same::Beginning => "beginning",
        }
    }
}

impl Hit {
    pub(super) fn alone(entry: Entry, excerpt: String) -> Hit {
        Hit {
            entry,
            excerpt,
            others: Others {
                ids: Vec::new(),
                count: 0,
                same: Same::Text,
            },
            session: String::new(),
            place: None,
            why: Found::Id,
            in_context: false,
            brought: false,
        }
    }

    /// An entry that was asked for itself.
    pub(super) fn whole(entry: Entry) -> Hit {
        let start = start_of(&entry);
        Hit::alone(entry, start)
    }

    /// Who said it, as far as that is known.
    pub fn who(&self) -> String {
        let role = self.entry.role().map(ToString::to_string);
        let who = role.unwrap_or_else(|| self.entry.kind().as_str().to_owned());
        match self.brought {
            true => who + UNVOUCHED,
            false => who,
        }
    }

    /// Whether it repeats what other entries say.
    pub fn is_summary(&self) -> bool {
        matches!(
            self.entry.body,
            Body::Compaction(_) | Body::BranchSummary { .. }
        )
    }

    /// Whether it is this entry, or names it among those it stands for.
    pub fn names(&self, id: &EntryId) -> bool {
        self.entry.id == *id || self.others.ids.contains(id)
    }
}
