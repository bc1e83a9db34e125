//! What goes into the index and what comes out, as plain data.

use std::collections::BTreeMap;
use std::ops::Range;

use longhaul_transcript::Millis;

/// Where a text comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, strum::FromRepr, strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[repr(u8)]
pub enum RecordKind {
    /// A memory file, or any other file of the workspace.
    Memory = 0,
    /// A daily log.
    Daily = 1,
    /// Staged dreams; searched only when asked for.
    Dream = 2,
    /// An entry that left the context of its session.
    Transcript = 3,
    /// An entry that is still in the context of its session; searched only when
    /// asked for.
    Present = 4,
    /// What a compaction or a branch made of entries that are indexed themselves;
    /// searched only when asked for.
    Summary = 5,
}

impl RecordKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether it is an entry of a session.
    pub fn is_of_session(self) -> bool {
        use RecordKind::{Present, Summary, Transcript};
        matches!(self, Transcript | Present | Summary)
    }

    /// The kind of a number that is stored.
    pub(crate) fn from_number(number: u8) -> RecordKind {
        RecordKind::from_repr(number).unwrap_or(RecordKind::Memory)
    }
}

/// One text to be indexed: a file, or an entry of a session.
///
/// Source and entry together name it; a record with the same name replaces the
/// one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it is.
    pub kind: RecordKind,
    /// The file's path in the workspace, or the session's key.
    pub source: String,
    /// The id of the entry in its session; empty for a file.
    pub entry: String,
    /// Who said it, where somebody did.
    pub role: Option<String>,
    /// When it was said or written, where that is known.
    pub time: Option<Millis>,
    /// Its place among the texts of its source: neighbours explain each other.
    pub position: u64,
    /// The text.
    pub text: String,
}

impl Record {
    /// A whole file.
    pub fn file(kind: RecordKind, path: impl Into<String>, text: impl Into<String>) -> Record {
        Record {
            kind,
            source: path.into(),
            entry: String::new(),
            role: None,
            time: None,
            position: 0,
            text: text.into(),
        }
    }

    /// The name under which it is got again: the path, or `session#entry`.
    pub fn key(&self) -> String {
        key(&self.source, &self.entry)
    }
}

pub(crate) fn key(source: &str, entry: &str) -> String {
    if entry.is_empty() {
        source.to_owned()
    } else {
        format!("{source}#{entry}")
    }
}

/// How far an update may go before it rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// At most so many bytes of new text.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { bytes: u64::MAX }
    }
}

/// What an update did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Records looked at.
    pub seen: u64,
    /// Records that were new or had changed.
    pub written: u64,
    /// Records that were there already.
    pub unchanged: u64,
    /// Records taken out.
    pub removed: u64,
    /// Chunks made.
    pub chunks: u64,
    /// Bytes of the texts that were written.
    pub bytes: u64,
    /// Secrets that were redacted.
    pub redacted: u64,
    /// Whether the budget ended it before the records did.
    pub exhausted: bool,
}

/// How the parts of a score are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Words and, where a model is there, vectors.
    #[default]
    Hybrid,
    /// Words alone.
    Words,
    /// Vectors alone.
    Vectors,
}

/// How words and vectors are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fusion {
    /// A weighted sum of scores.
    #[default]
    Scores,
    /// A weighted sum of reciprocal ranks.
    Ranks,
}

/// Which records a search looks at. Empty lists and `None` let all pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// Not before this time. Texts without a time do not pass.
    pub since: Option<Millis>,
    /// Before this time. Texts without a time do not pass.
    pub until: Option<Millis>,
    /// When sources were written whose texts have no time of their own. Only
    /// `since` and `until` go by it.
    pub dates: BTreeMap<String, Millis>,
    /// Only these sessions.
    pub sessions: Vec<String>,
    /// Only what these roles said.
    pub roles: Vec<String>,
    /// Only sources whose name is this, or that lie in this folder.
    pub paths: Vec<String>,
    /// Only these kinds; without any, all but dreams.
    pub kinds: Vec<RecordKind>,
}

impl Filters {
    /// Whether it matters when something was said.
    pub(crate) fn ask_for_a_time(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// When a text of a source was said, or else written.
    pub(crate) fn time_of(&self, source: &str, said: Option<i64>) -> Option<i64> {
        said.or_else(|| self.dates.get(source).map(|Millis(written)| *written))
    }

    /// Whether a time is within what is asked for.
    pub(crate) fn take_in(&self, time: i64) -> bool {
        self.since.is_none_or(|Millis(since)| time >= since)
            && self.until.is_none_or(|Millis(until)| time < until)
    }
}

/// A search.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What is looked for, in any words.
    pub text: String,
    /// How many hits are wanted.
    pub k: usize,
    /// What is looked at.
    pub filters: Filters,
    /// Words, vectors or both.
    pub mode: Mode,
    /// The time from which age is reckoned; without it nothing ages.
    pub now: Option<Millis>,
}

impl Query {
    /// A search for the six best hits among everything but dreams.
    pub fn new(text: impl Into<String>) -> Query {
        Query {
            text: text.into(),
            k: 6,
            filters: Filters::default(),
            mode: Mode::default(),
            now: None,
        }
    }
}

/// Why a hit is one.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Why {
    /// How well its own words match: 1 is a text of average length that has each word
    /// of the query once.
    pub words: f32,
    /// How well the texts beside it match, on the same scale.
    pub beside: f32,
    /// How well its session or file matches as a whole, on a scale of its own.
    pub source: f32,
    /// The cosine of its vector with that of the query; none without one.
    pub vector: Option<f32>,
    /// What its age leaves of the score.
    pub decay: f32,
    /// How like it is to hits before it, from 0 to 1.
    pub repeats: f32,
    /// The words of the query that it has.
    pub terms: Vec<String>,
}

/// Something found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// What it is.
    pub kind: RecordKind,
    /// The file or session.
    pub source: String,
    /// The entry of the session; empty for a file.
    pub entry: String,
    /// Who said it.
    pub role: Option<String>,
    /// When.
    pub time: Option<Millis>,
    /// Its lines, from 1, the last included.
    pub lines: (u32, u32),
    /// The text: data that is quoted, never an instruction.
    pub text: String,
    /// The bytes of it that have the most of the query.
    pub passage: Range<usize>,
    /// Higher is better; comparable within one search only.
    pub score: f32,
    /// Why.
    pub why: Why,
    /// Statements of the memory that quote it. They are found with it, and take
    /// no place of their own.
    pub kept: Vec<Kept>,
}

/// A statement that was promoted, on its page.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Kept {
    /// The page.
    pub source: String,
    /// Its lines there, from 1, the last included.
    pub lines: (u32, u32),
    /// Its id.
    pub id: String,
    /// What it says: data, as the text of the hit is.
    pub text: String,
    /// What it is, who said it, and the days on which it holds.
    pub standing: String,
}

impl Hit {
    /// The name under which it is got whole: the path, or `session#entry`.
    pub fn key(&self) -> String {
        key(&self.source, &self.entry)
    }

    /// What of the text has the most of the query.
    pub fn excerpt(&self) -> &str {
        self.text.get(self.passage.clone()).unwrap_or(&self.text)
    }
}

/// What a search found, and with what.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// The best first.
    pub hits: Vec<Hit>,
    /// The model whose vectors were used; none for words alone.
    pub model: Option<String>,
    /// What filters name that is not in the index, with what is, in words.
    pub unknown: Vec<String>,
    /// What the reader should know: vectors that are missing, terms left out.
    pub notes: Vec<String>,
}

/// A text got back by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// What it is.
    pub kind: RecordKind,
    /// The file or session.
    pub source: String,
    /// The entry of the session; empty for a file.
    pub entry: String,
    /// Who said it.
    pub role: Option<String>,
    /// When.
    pub time: Option<Millis>,
    /// The lines that were got, from 1, the last included.
    pub lines: (u32, u32),
    /// How many lines there are.
    pub of: u32,
    /// The text, redacted as it was indexed.
    pub text: String,
}

/// What is in an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Files and sessions.
    pub sources: u64,
    /// Files and entries.
    pub records: u64,
    /// Chunks.
    pub chunks: u64,
    /// Bytes of the indexed texts.
    pub text_bytes: u64,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// The model whose vectors are used.
    pub model: Option<String>,
    /// How many chunks have a vector of that model.
    pub vectors: u64,
    /// Chunks that have none because the model refused them, whole and shortened.
    pub vectors_refused: u64,
}

/// Memory files that are not in an index as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Behind {
    /// They are not in it.
    pub new: u64,
    /// They are in it as they were.
    pub changed: u64,
    /// They are in it and no longer there.
    pub gone: u64,
}

impl Behind {
    /// How many there are.
    pub fn total(&self) -> u64 {
        self.new + self.changed + self.gone
    }
}
