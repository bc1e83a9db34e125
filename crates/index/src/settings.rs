//! How an index is kept and searched. The weights of a search were measured on the
//! sets of the evaluation.

use std::time::Duration;

use crate::chunk::ChunkSettings;
use crate::embed::EncoderKind;
use crate::record::Fusion;
use crate::redaction::Redaction;

/// How hits are ranked. The defaults are what `cargo xtask eval retrieval`
/// measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSettings {
    /// How fast more of the same word stops counting.
    pub k1: f32,
    /// How much the length of a text counts against it, from 0 to 1.
    pub b: f32,
    /// What the texts beside a hit in the same conversation add.
    pub beside: f32,
    /// What a hit leaves the other half of its exchange at least, a message of
    /// the user and the answer to it.
    pub exchange: f32,
    /// How long a pause in milliseconds ends a conversation.
    pub pause: i64,
    /// The part of a score that a text has for how much of the query it has,
    /// so that one word said often is less than all words said once.
    pub coverage: f32,
    /// The part of what a word counts that it has for standing in texts beside each
    /// other, as what they are about does.
    pub topics: f32,
    /// The share of the best sentence of a query against all of it.
    pub sentences: f32,
    /// What the further words of the best texts count, against the query's.
    pub feedback: f32,
    /// What the session or file as a whole adds.
    pub source: f32,
    /// How words and vectors are joined.
    pub fusion: Fusion,
    /// The share of vectors of a transformer or an endpoint.
    pub vectors: f32,
    /// The share of vectors of a static model.
    pub static_vectors: f32,
    /// How much more the user's own words count than others'.
    pub user: f32,
    /// What the result of a tool counts against what somebody said: whoever asks
    /// weeks later asks for what was said of it.
    pub tools: f32,
    /// The share of relevance against novelty in the order of hits (MMR).
    pub lambda: f32,
    /// How many candidates there are for each hit that is wanted: among these
    /// the order of hits avoids repetition.
    pub candidates: u32,
    /// After this many days the part of a score that ages is half gone.
    pub half_life_days: f32,
    /// The part of a daily log's score that ages.
    pub ages: f32,
    /// The part of a session entry's score that ages.
    pub entry_ages: f32,
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings {
            k1: 1.2,
            b: 0.9,
            beside: 0.4,
            exchange: 0.7,
            pause: 60 * 60 * 1000,
            coverage: 0.4,
            topics: 0.5,
            sentences: 0.3,
            feedback: 0.1,
            source: 0.5,
            fusion: Fusion::Scores,
            vectors: 0.2,
            static_vectors: 0.1,
            user: 0.2,
            tools: 0.5,
            lambda: 0.7,
            candidates: 4,
            half_life_days: 30.0,
            ages: 0.5,
            entry_ages: 0.2,
        }
    }
}

/// The texts of more candidates are not read for one search.
const MOST_CANDIDATES: usize = 1_000;

impl SearchSettings {
    /// How many candidates are compared where so many hits are wanted. A few
    /// more where few are, since copies of one text may come first.
    pub(crate) fn pool(&self, wanted: usize) -> usize {
        let (wanted, each) = (wanted.max(1), self.candidates.max(1) as usize);
        let some = wanted.saturating_mul(each).max(wanted + 5 * each.min(200));
        some.min(MOST_CANDIDATES.max(wanted))
    }

    pub(crate) fn share(&self, kind: EncoderKind) -> f32 {
        match kind {
            EncoderKind::Transformer | EncoderKind::Remote => self.vectors,
            EncoderKind::Static => self.static_vectors,
        }
        .clamp(0.0, 1.0)
    }
}

/// How an index is kept.
#[derive(Debug, Clone)]
pub struct IndexSettings {
    /// How texts are divided.
    pub chunks: ChunkSettings,
    /// How hits are ranked.
    pub search: SearchSettings,
    /// How long to wait for another process.
    pub patience: Duration,
    /// Takes the secrets out that are never written.
    pub redaction: Redaction,
}

impl IndexSettings {
    /// The defaults, with what keeps secrets out.
    pub fn new(redaction: Redaction) -> IndexSettings {
        IndexSettings {
            chunks: ChunkSettings::default(),
            search: SearchSettings::default(),
            patience: Duration::from_secs(10),
            redaction,
        }
    }

    /// By what texts are taken in. By other rules the same text is to be taken in
    /// again.
    pub(crate) fn rules(&self) -> String {
        let ChunkSettings { tokens, overlap } = self.chunks;
        let redaction = blake3::hash(self.redaction.fingerprint().as_bytes()).to_hex();
        format!("{tokens}+{overlap} {}", &redaction[..16])
    }
}
