//! Configuration: every number of the specification as a key, read from five
//! places and always able to say where a value came from.
//!
//! Lowest first: the built-in [`Config::default`], an existing `openclaw.json`,
//! the one file `longhaul.yaml` (or `.json5`), `LONGHAUL_*` variables, flags.
//! Nothing here touches the disk, the environment or the home folder: the caller
//! hands all of it in as [`Sources`] and a [`Reader`], and [`resolve`]
//! answers with [`Resolved`] or with everything that is wrong, each with its key,
//! value, place and remedy.
//!
//! The structs are the schema. A key's name, default, range and description stand
//! once, beside each other; the checks, the names of the variables, the suggestions
//! and [`schema`] are derived from them.
//!
//! | question | answer |
//! |---|---|
//! | which file? | [`candidates`], [`find`] |
//! | which values? | [`resolve`], giving a [`Config`] |
//! | from where? | [`Resolved::rows`], [`Origin`] |
//! | which keys are there? | [`schema`], [`key_paths`] |
//! | what is wrong? | [`ConfigError`], a list of [`Problem`]s |
//!
//! Not keys, on purpose: what an estimator *is* (characters a token), the hard caps
//! of injected fragments, and the wording of formats. A setting may lower a cap,
//! never raise it.

mod admit;
mod assembly;
mod capture;
mod catalogue;
mod check;
mod compaction;
mod consistency;
mod context;
mod discover;
mod document;
mod edit;
mod error;
mod key;
mod memory;
mod models;
mod openclaw;
mod origin;
mod resolve;
mod resolved;
mod root;
mod rules;
mod sources;
mod text_value;
mod window;

pub use capture::{Checkpoint, Gauge};
pub use catalogue::{key_paths, schema};
pub use compaction::{
    Compaction, Emergency, FullLayer, LayerRule, MemoryFlush, Prune, Risk, SummaryModel,
};
pub use context::{Prewarm, Prompt, Sandbox, Skills, TokenCounting, ToolPolicy, Transcript};
pub use discover::{
    Candidate, FILE_NAMES, FoundBy, MOST_CONFIG_BYTES, Places, Reader, candidates, find, read,
};
pub use edit::edited;
pub use error::{ConfigError, Problem};
pub use key::KeyPath;
pub use memory::{
    DreamModel, DreamTrigger, Dreaming, Embedding, EmbeddingProvider, Fusion, Memory, MemoryFiles,
    MemoryIndex, MemorySearch, redaction,
};
pub use models::{ModelPrices, ModelRule, Requests};
pub use origin::{Note, Origin};
pub use resolve::resolve;
pub use resolved::{Resolved, Row};
pub use root::Config;
pub use sources::{ConfigFile, Flag, OpenClawFile, Sources};
