//! Settings of memory files, the index, search, embeddings and dreaming.

use std::path::{Path, PathBuf};

use longhaul_index::{RecordKind, WorkspaceFiles};
pub use longhaul_memory::dream::Trigger as DreamTrigger;
use longhaul_redact::{Redactor, rules_version};
use longhaul_tokens::{Tokens, settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

settings! {
    /// What outlives a session.
    pub struct Memory {
        /// Limits of the memory files.
        files: MemoryFiles = MemoryFiles::default(),
        /// What is indexed, and how.
        index: MemoryIndex = MemoryIndex::default(),
        /// How hits are found and ranked.
        search: MemorySearch = MemorySearch::default(),
        /// Where vectors come from.
        embedding: Embedding = Embedding::default(),
    }
}

settings! {
    /// Limits of `MEMORY.md`, which holds pointers and not content.
    pub struct MemoryFiles {
        /// Characters of a line.
        line_chars: u32 [min = 1] = 150,
        /// Tokens of the whole file.
        max_tokens: Tokens [min = 1] = Tokens(800),
    }
}

settings! {
    /// The index, a derived file that can be deleted at any time.
    pub struct MemoryIndex {
        /// Keep an index at all.
        enabled: bool = true,
        /// Tokens of a chunk.
        chunk_tokens: Tokens [min = 1] = Tokens(400),
        /// Tokens that neighbouring chunks share.
        chunk_overlap_tokens: Tokens [min = 0] = Tokens(80),
        /// Watch the workspace and update on changes.
        watch: bool = true,
        /// Index what compaction removed from contexts.
        transcripts: bool = true,
        /// Recall from `DREAMS.md` too, which nobody has reviewed.
        dreams: bool = false,
        /// Further files and folders of the workspace to index.
        extra_paths: Vec<String> = Vec::new(),
    }
}

/// How the two rankings become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fusion {
    /// Normalised scores, by their weights.
    #[default]
    Weighted,
    /// Reciprocal ranks.
    ReciprocalRank,
}

settings! {
    /// How hits are found and ranked.
    pub struct MemorySearch {
        /// Search at all.
        enabled: bool = true,
        /// Hits returned, by a search and by an agent's `memory_search` that names no number.
        max_results: u32 [min = 1] = 6,
        /// Hits below this score are left out; 0 keeps all.
        minimum_score: f64 [min = 0, max = 1] = 0.0,
        /// Candidates for each hit returned, among which hits that repeat others are passed over.
        candidate_multiplier: u32 [min = 1] = 4,
        /// How vector and text rankings become one.
        fusion: Fusion = Fusion::default(),
        /// Weight of the vector score.
        vector_weight: f64 [min = 0, max = 1] = 0.2,
        /// Weight of the text score.
        text_weight: f64 [min = 0, max = 1] = 0.8,
        /// Relevance against diversity: 1 is relevance alone.
        mmr_lambda: f64 [min = 0, max = 1] = 0.7,
        /// Days after which a dated file counts half.
        #[schemars(extend("exclusiveMinimum" = 0))]
        half_life_days: f64 = 30.0,
    }
}

/// Where vectors come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmbeddingProvider {
    /// The best there is: local, endpoint, static, none.
    #[default]
    Auto,
    /// An installed encoder.
    Local,
    /// An endpoint that speaks OpenAI's `/v1/embeddings`.
    OpenaiCompatible,
    /// A table of word vectors, at low weight.
    Static,
    /// No vectors: text search only.
    None,
}

settings! {
    /// Where vectors come from.
    pub struct Embedding {
        /// The source; `auto` takes the best there is.
        provider: EmbeddingProvider = EmbeddingProvider::default(),
        /// The model; unset, the source's own choice.
        model: Option<String> = None,
        /// Folder or file of the local encoder.
        model_path: Option<String> = None,
        /// Address of the endpoint, such as `https://api.openai.com/v1`.
        base_url: Option<String> = None,
        /// Name of the environment variable that holds the endpoint's key; never the key itself.
        api_key_env: Option<String> = None,
    }
}

settings! {
    /// Background consolidation of daily logs into long-term memory.
    pub struct Dreaming {
        /// Dream by itself; when false, only by hand.
        enabled: bool = true,
        /// What starts a dream.
        triggers: Vec<DreamTrigger> = vec![
            DreamTrigger::Schedule { cron: "0 3 * * *".to_owned() },
            DreamTrigger::SessionIdle { idle_minutes: 30 },
            DreamTrigger::DailyLogSize { threshold_kb: 50 },
        ],
        /// Days of daily logs read.
        lookback_days: u32 [min = 1] = 7,
        /// Promote without review from this confidence on; unset, everything is reviewed.
        promote_at_confidence: Option<f64> [min = 0, max = 1] = None,
        /// The model that words and merges what was found.
        model: DreamModel = DreamModel::default(),
    }
}

settings! {
    /// The model that words and merges what a dream found; without one it is done extractively.
    pub struct DreamModel {
        /// Provider, such as `anthropic`; unset, no model is asked.
        provider: Option<String> = None,
        /// Model, such as `claude-haiku-4-5`; unset, no model is asked.
        model_name: Option<String> = None,
        /// Address of its server, if not where the provider usually is.
        base_url: Option<String> = None,
    }
}

impl DreamModel {
    /// The model as it is named on a command line, if one is configured.
    pub fn named(&self) -> Option<String> {
        let (provider, name) = (self.provider.as_deref()?, self.model_name.as_deref()?);
        Some(match &self.base_url {
            Some(url) => format!("{provider}/{name}@{url}"),
            None => format!("{provider}/{name}"),
        })
    }
}

impl super::Config {
    /// Which files of a workspace are indexed.
    pub fn workspace_files(&self, root: &Path) -> WorkspaceFiles {
        let extra = self.memory.index.extra_paths.iter().map(PathBuf::from);
        WorkspaceFiles {
            extra: extra.collect(),
            ..WorkspaceFiles::new(root)
        }
    }

    /// What is searched where nothing else is asked for: memory files, and dreams
    /// that nobody has reviewed only where they are wanted.
    pub fn memory_kinds(&self) -> Vec<RecordKind> {
        let mut kinds = vec![RecordKind::Memory, RecordKind::Daily];
        if self.memory.index.dreams {
            kinds.push(RecordKind::Dream);
        }
        kinds
    }

    /// The limits of the memory files.
    pub fn memory_limits(&self) -> longhaul_memory::files::Limits {
        longhaul_memory::files::Limits {
            line_chars: self.memory.files.line_chars as usize,
            max_tokens: self.memory.files.max_tokens,
        }
    }

    /// How dreams are to be, and how often candidates were asked for.
    pub fn dream_settings<'a>(
        &'a self,
        recalls: &'a dyn Fn(&longhaul_memory::dream::Candidate) -> u32,
    ) -> longhaul_memory::dream::Settings<'a> {
        longhaul_memory::dream::Settings {
            lookback_days: self.dreaming.lookback_days,
            promote_at: self.dreaming.promote_at_confidence,
            limits: self.memory_limits(),
            counter: &self.tokens.estimator,
            recalls,
            meaning: None,
        }
    }

    /// How the index is kept and searched.
    pub fn index_settings(&self) -> longhaul_index::IndexSettings {
        use longhaul_index::{ChunkSettings, IndexSettings, SearchSettings};
        let (index, search) = (&self.memory.index, &self.memory.search);
        let weights = search.vector_weight + search.text_weight;
        let share = match weights > 0.0 {
            true => (search.vector_weight / weights) as f32,
            false => 0.0,
        };
        let defaults = SearchSettings::default();
        IndexSettings {
            chunks: ChunkSettings {
                tokens: index.chunk_tokens.0,
                overlap: index.chunk_overlap_tokens.0,
            },
            search: SearchSettings {
                fusion: match search.fusion {
                    Fusion::Weighted => longhaul_index::Fusion::Scores,
                    Fusion::ReciprocalRank => longhaul_index::Fusion::Ranks,
                },
                vectors: share,
                static_vectors: defaults.static_vectors.min(share),
                lambda: search.mmr_lambda as f32,
                candidates: search.candidate_multiplier,
                half_life_days: search.half_life_days as f32,
                ..defaults
            },
            ..IndexSettings::new(redaction())
        }
    }
}

/// What keeps secrets out of the index.
pub fn redaction() -> longhaul_index::Redaction {
    let redactor = Redactor::default();
    longhaul_index::Redaction::new(&rules_version(), move |text| {
        let redacted = redactor.redact(text);
        (redacted.text, redacted.found.len() as u64)
    })
}
