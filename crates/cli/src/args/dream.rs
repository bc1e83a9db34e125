//! What is typed for dreaming.

use std::ffi::OsString;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum DreamCommand {
    /// Read the last days' logs and stage what may be worth keeping in DREAMS.md
    Run(RunArgs),
    /// When it last ran, when it is due, what waits
    Status,
    /// Go through what waits, one by one
    Review,
    /// Make candidates part of the memory
    Promote(PromoteArgs),
    /// Throw candidates away; they never come back
    Reject(RejectArgs),
    /// Put the newer one of two candidates in the place of the older one
    Merge(MergeArgs),
    /// Give a candidate other words; what its source said stays beside them
    Edit(EditArgs),
    /// Stage what is worth keeping in old sessions of any agent
    Backfill(BackfillArgs),
    /// Take a promotion back, the latest or another
    Undo(UndoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Only if a trigger of the configuration asks for it now
    #[arg(long)]
    pub(crate) if_due: bool,

    /// Days of logs to read [default: dreaming.lookbackDays]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) days: Option<u32>,

    /// Ask the model (of --model, else dreaming.model) at this address
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PromoteArgs {
    /// Candidates (ids, or their starts)
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// Candidates (ids, or their starts)
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// A candidate that waits (an id, or the start of one)
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// One that waits or is kept
    #[arg(value_name = "ID")]
    pub(crate) other: String,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The candidate (an id, or the start of one)
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// What it is to say
    #[arg(value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The promotion: the number of its change, or its candidate (an id, or the
    /// start of one) [default: the latest]
    #[arg(value_name = "ID", conflicts_with = "list")]
    pub(crate) id: Option<String>,

    /// List the promotions and whether each can be taken back
    #[arg(long)]
    pub(crate) list: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackfillArgs {
    /// Sessions: keys, ids, starts of ids, labels or files
    /// [default: those of the workspace]
    #[arg(value_name = "SESSION", conflicts_with = "all")]
    pub(crate) sessions: Vec<OsString>,

    /// The sessions of all workspaces
    #[arg(long)]
    pub(crate) all: bool,
}
