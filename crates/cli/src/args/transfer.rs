//! What is typed to carry a session's context elsewhere.

use std::path::PathBuf;

use clap::Args;

use super::Which;
use crate::sizes::parse_tokens;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Where to write it; `-` is standard output [default: context-ID.json here]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Leave secrets in; the file is as private as the session
    #[arg(long)]
    pub(crate) no_redact: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Of an exported file, carry every entry of the path, not only summary and checkpoint
    #[arg(long)]
    pub(crate) full: bool,

    /// Where to write the session [default: the state folder's sessions]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HandoffArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// The agent who takes the work
    #[arg(long, value_name = "AGENT", default_value = "any")]
    pub(crate) to: String,

    /// What is to be done [default: what comes next]
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) task: String,

    /// A rule to keep, beside those that hold in the session; may be repeated
    #[arg(long = "rule", value_name = "TEXT")]
    pub(crate) rules: Vec<String>,

    /// The most tokens that may be spent [default: the window]
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) budget: Option<u32>,

    /// Where to write the document, or with --accept the session
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Leave secrets in
    #[arg(long)]
    pub(crate) no_redact: bool,

    /// Check a document that was handed over
    #[arg(long, value_name = "FILE", conflicts_with_all = ["accept", "template", "schema", "output"])]
    pub(crate) check: Option<PathBuf>,

    /// Begin a fresh session with the work that was handed over
    #[arg(long, value_name = "FILE", conflicts_with_all = ["template", "schema"])]
    pub(crate) accept: Option<PathBuf>,

    /// Print an AGENTS.md for a workspace with several agents
    #[arg(long, conflicts_with = "schema")]
    pub(crate) template: bool,

    /// Print the XML Schema of a hand-off
    #[arg(long)]
    pub(crate) schema: bool,
}
