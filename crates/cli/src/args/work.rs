//! What is typed for compaction, replay and recall.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use longhaul_checkpoint::CheckpointId;
use longhaul_compaction::Layer;

use super::{Leave, On, Which};

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// What the summary should attend to above all
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,

    /// Show what would go, what would stay and what it costs; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// How deep
    #[arg(long, value_name = "LAYER")]
    pub(crate) layer: Option<LayerName>,

    /// Take the latest compaction or pruning back
    #[arg(long, conflicts_with_all = ["redo", "dry_run", "layer", "focus"])]
    pub(crate) undo: bool,

    /// Take the latest undo back
    #[arg(long, conflicts_with_all = ["dry_run", "layer", "focus"])]
    pub(crate) redo: bool,

    /// Let compaction be tried again after three failures
    #[arg(long, conflicts_with_all = ["undo", "redo", "dry_run", "layer", "focus"])]
    pub(crate) reset_breaker: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) leave: Leave,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayerName {
    /// Hide old tool output
    Prune,
    /// Older turns become a summary
    Summarize,
    /// The whole conversation becomes a summary
    Full,
}

impl From<LayerName> for Layer {
    fn from(name: LayerName) -> Layer {
        match name {
            LayerName::Prune => Layer::Prune,
            LayerName::Summarize => Layer::Summarize,
            LayerName::Full => Layer::Full,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum CheckpointCommand {
    /// List the checkpoints of a session, newest first
    List {
        #[command(flatten)]
        which: Which,
    },
    /// Print a checkpoint as it is stored
    Show(CheckpointArgs),
    /// Write a checkpoint now, unless the last one says the same
    Create {
        #[command(flatten)]
        which: Which,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// The checkpoint, as cp_003 [default: the newest that can be read]
    #[arg(value_name = "CHECKPOINT", value_parser = checkpoint_id)]
    pub(crate) checkpoint: Option<CheckpointId>,

    /// As the text that gives an agent its work back
    #[arg(long)]
    pub(crate) as_restored: bool,

    #[command(flatten)]
    pub(crate) on: On,
}

fn checkpoint_id(text: &str) -> Result<CheckpointId, String> {
    text.parse()
        .map_err(|flaw: longhaul_checkpoint::Flaw| flaw.to_string())
}

#[derive(Debug, Args)]
pub(crate) struct RedactArgs {
    /// The files, one after the other as one text; without one, what comes in
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// List the ids of the rules, by which the configuration switches them off
    #[arg(long, conflicts_with = "files")]
    pub(crate) rules: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// An entry id or its start, a range FROM..TO, or else one word or more: what
    /// has them as they stand comes first, then what is about the same
    pub(crate) what: Vec<String>,

    /// What it was about, in any words and any order
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["what", "text", "path"])]
    pub(crate) query: Option<String>,

    /// Find entries that contain these words in this order
    #[arg(long, value_name = "WORDS", conflicts_with = "what")]
    pub(crate) text: Option<String>,

    /// Find entries that read, changed or name a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["what", "text"])]
    pub(crate) path: Option<String>,

    /// Bring back so many of the best hits
    #[arg(long, short = 'n', default_value_t = 5, value_name = "N")]
    pub(crate) limit: usize,

    /// Show hits in full instead of the place that was found
    #[arg(long)]
    pub(crate) full: bool,

    /// Leave secrets in: what is shown is what is stored, to the byte
    #[arg(long)]
    pub(crate) no_redact: bool,

    /// How far to look: the session, those it came from and that came from it,
    /// or all of the workspace
    #[arg(long, default_value = "session", value_parser = ["session", "family", "all"])]
    pub(crate) scope: String,

    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The compaction: its number, or the start of its id [default: the latest]
    pub(crate) compaction: Option<String>,

    /// Show so many of the messages that left
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,

    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct AutocompactArgs {
    /// Whether thresholds may compact this session
    #[arg(value_parser = ["on", "off"])]
    pub(crate) switch: String,

    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Session: a key, an id, the start of an id, a label or a file
    /// [default: the newest one on this machine, else a built-in sample]
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<OsString>,

    /// Write the report as one self-contained page
    #[arg(long, value_name = "KIND")]
    pub(crate) report: Option<ReportKind>,

    /// Where the report goes
    #[arg(
        long,
        value_name = "FILE",
        default_value = "longhaul-replay.html",
        requires = "report"
    )]
    pub(crate) report_file: PathBuf,

    /// Keep the result as a session file that pi can open
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

impl ReplayArgs {
    pub(crate) fn name(&self) -> Option<&OsStr> {
        self.session.as_deref()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportKind {
    /// A page with the context over time as a picture
    Html,
}

#[derive(Debug, Args)]
pub(crate) struct WindowsArgs {
    /// Only of this model, as `provider/name` or a name alone
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// Forget them; the next error of the server may teach it again
    #[arg(long)]
    pub(crate) forget: bool,
}
