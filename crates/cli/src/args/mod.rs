//! The command line, as people type it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod chat;
mod dream;
mod hook;
mod mcp;
mod memory;
mod memory_files;
mod serve;
mod transfer;
mod work;

pub(crate) use chat::ChatArgs;
pub(crate) use dream::{
    BackfillArgs, DreamCommand, EditArgs, MergeArgs, PromoteArgs, RejectArgs, RunArgs, UndoArgs,
};
pub(crate) use hook::{HookArgs, HookCommand, HookPlaceArgs};
pub(crate) use mcp::McpArgs;
pub(crate) use memory::{MemoryIndexArgs, MemoryIndexCommand, MemorySearchArgs, ModelCommand};
pub(crate) use memory_files::{InitArgs, LintArgs, MemoryFilesCommand, VerifyArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use transfer::{ExportArgs, HandoffArgs, ImportArgs};
pub(crate) use work::{
    AutocompactArgs, CheckpointArgs, CheckpointCommand, CompactArgs, DiffArgs, RecallArgs,
    RedactArgs, ReplayArgs, ReportKind, WindowsArgs,
};

use crate::sizes::parse_tokens;

/// The context engine that keeps an LLM agent working over the long haul.
///
/// Reads the sessions of pi, OpenClaw, Claude Code and Codex where those agents
/// keep them. Reading commands change nothing on disk.
#[derive(Debug, Parser)]
#[command(
    name = "longhaul",
    version,
    about,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 usage, 3 nothing to do, 4 blocked \
    (session in use, locked)."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Configuration file [default: longhaul.yaml in the workspace, then in the state folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Folder for longhaul's own files [default: ~/.longhaul]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "LONGHAUL_STATE_DIR",
        hide_env_values = true
    )]
    pub(crate) state_dir: Option<PathBuf>,

    /// Folder the agent works in [default: the current one]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,

    /// Size of the context window in tokens (200000, 200k, 1m) [default: the model's]
    #[arg(long, global = true, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) window: Option<u32>,

    /// Model to count and judge for [default: the session's]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print only results: no notes, no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Colour the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk to an agent in the terminal, with the engine on
    Chat(Box<ChatArgs>),
    /// Find, read, check and change sessions
    #[command(subcommand, after_help = FRESH)]
    Session(SessionCommand),
    /// See what is in the context, and how full it is
    #[command(subcommand)]
    Context(ContextCommand),
    /// Run a recorded session through the engine and see every decision
    Replay(ReplayArgs),
    /// Compact a session: older turns become a summary, nothing is deleted
    Compact(CompactArgs),
    /// The state of the work, saved and put back
    #[command(subcommand)]
    Checkpoint(CheckpointCommand),
    /// Bring back what left the context, by id, range, text or file
    Recall(RecallArgs),
    /// What outlives a session: files, pointers, daily logs, and their index
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Turn daily logs into long-term memory, with review
    #[command(subcommand)]
    Dream(DreamCommand),
    /// Take the secrets out of a text: a filter for pipes
    Redact(RedactArgs),
    /// Serve a host that runs the model itself: JSON-RPC, one object a line
    Rpc(RpcArgs),
    /// Serve recall, memory, status, checkpoints and hand-offs to any MCP client
    Mcp(McpArgs),
    /// Show in a browser what fills the sessions of every agent, and what left them
    Serve(ServeArgs),
    /// Save and give back an agent's state around its own compactions
    Hook(HookArgs),
    /// Show the configuration and where each value comes from, and set values
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check this installation and say how to mend what is wrong
    Doctor,
    /// Write a realistic sample session, for trying things out
    Sample(SampleArgs),
    /// Ends a command of a chat that was killed
    #[command(name = "__guard", hide = true)]
    Guard {
        /// The mark of the command's processes
        mark: String,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for every command
    #[command(hide = true)]
    Man {
        /// Write the pages into this folder, one for each command
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
}

/// What a command cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// A configuration without errors.
    Config,
    /// Variables that have a meaning: it helps to mend the files.
    Variables,
    /// Nothing: it tells what is wrong itself.
    Nothing,
}

impl Command {
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Command::Doctor => Needs::Nothing,
            Command::Config(
                ConfigCommand::Schema | ConfigCommand::Path | ConfigCommand::Set { .. },
            ) => Needs::Variables,
            // A mistake in the configuration must not stop the agent.
            Command::Hook(args) if args.command.is_event() => Needs::Nothing,
            _ => Needs::Config,
        }
    }
}

/// The ways to go on elsewhere, told in one place.
const FRESH: &str = "Ways into a fresh session:
  longhaul chat --new                        nothing is carried along
  longhaul chat --new --session NAME         the checkpoint and the user's words of the last one of
                                             that name
  longhaul session fork [ENTRY]              the same conversation up to an entry, in a file of its own
  longhaul session import SESSION            a copy of another agent's session that can be written
  longhaul context export, session import    summary and checkpoint (--full: all of it) in one file,
                                             on this machine or another
  longhaul session handoff, --accept         the work as a document, for another agent";

/// Which session a command is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct Which {
    /// Session: a key, an id, the start of an id, a label or a file
    /// [default: the newest one of the workspace]
    #[arg(value_name = "SESSION")]
    pub(crate) positional: Option<OsString>,

    /// The same, as an option
    #[arg(
        long = "session",
        value_name = "SESSION",
        conflicts_with = "positional"
    )]
    pub(crate) option: Option<OsString>,
}

impl Which {
    pub(crate) fn name(&self) -> Option<&OsStr> {
        self.option.as_deref().or(self.positional.as_deref())
    }
}

/// Which session, for commands that take other words.
#[derive(Debug, Clone, Args)]
pub(crate) struct On {
    /// Session: a key, an id, the start of an id, a label or a file
    /// [default: the newest one of the workspace]
    #[arg(long = "session", value_name = "SESSION")]
    pub(crate) session: Option<OsString>,
}

impl On {
    pub(crate) fn name(&self) -> Option<&OsStr> {
        self.session.as_deref()
    }
}

/// Leave for commands that write.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Leave {
    /// Write even if another program seems to be running this session
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// List the sessions of all agents, newest first
    List(ListArgs),
    /// Show the entries of a session
    Show(ShowArgs),
    /// Read a whole session and name everything that is wrong with it
    ///
    /// Entries that were altered, removed, inserted or moved are found by the
    /// hashes that our compactions and turns carry over every line before them.
    Verify {
        #[command(flatten)]
        which: Which,
    },
    /// Begin a session of our own: a copy of any agent's, or from an exported file
    Import(ImportArgs),
    /// Continue from an earlier entry; the present path stays in the file
    Branch(BranchArgs),
    /// Copy the path to an entry into a session of its own
    Fork(ForkArgs),
    /// Move what no context needs any more into `FILE.bak`
    Archive(ArchiveArgs),
    /// Put archived entries back
    Restore(RewriteArgs),
    /// Pin an entry: it is never pruned, summarised away or trimmed
    Pin(PinArgs),
    /// List the pins and what each costs in tokens
    Pins {
        #[command(flatten)]
        which: Which,
    },
    /// Name an entry
    Label(LabelArgs),
    /// Name a session
    Rename(RenameArgs),
    /// Move a session to the trash; `session undelete` brings it back
    Delete(RewriteArgs),
    /// Bring a deleted session back, or list those in the trash
    Undelete {
        /// Its id, or the start of it [default: list them]
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Hand the work over to another agent, or take it over
    Handoff(HandoffArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Show so many sessions
    #[arg(
        long,
        short = 'n',
        default_value_t = 30,
        value_name = "N",
        conflicts_with = "all"
    )]
    pub(crate) limit: usize,

    /// Show all sessions
    #[arg(long, short)]
    pub(crate) all: bool,

    /// Only this agent's sessions (longhaul, pi, openclaw, claude, codex)
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,

    /// Only sessions of the workspace
    #[arg(long)]
    pub(crate) here: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Show every entry of the file, not only the path to the leaf
    #[arg(long, short)]
    pub(crate) all: bool,

    /// Show one entry in full, as it is stored
    #[arg(long, value_name = "ID")]
    pub(crate) entry: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BranchArgs {
    /// The entry to continue from (an id, its start, or a label)
    pub(crate) entry: String,

    /// What the path that is left was about; the agent will be told
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) summary: String,

    #[command(flatten)]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) leave: Leave,
}

#[derive(Debug, Args)]
pub(crate) struct ForkArgs {
    /// The entry to fork at (an id, its start, or a label) [default: the leaf]
    pub(crate) entry: Option<String>,

    /// Where to write it [default: the state folder's sessions]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) on: On,
}

/// A session whose file is moved or rewritten, with leave to.
#[derive(Debug, Args)]
pub(crate) struct RewriteArgs {
    #[command(flatten)]
    pub(crate) which: Which,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) leave: Leave,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// Pack the archive (`FILE.bak.zst`)
    #[arg(long)]
    pub(crate) zstd: bool,

    #[command(flatten)]
    pub(crate) rewrite: RewriteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// The name
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) leave: Leave,
}

#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// The entry (an id, its start, or a label)
    pub(crate) entry: String,

    /// Why
    pub(crate) note: Option<String>,

    /// Remove the pin
    #[arg(long, conflicts_with = "note")]
    pub(crate) remove: bool,

    #[command(flatten)]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) leave: Leave,
}

#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// The entry (an id, its start, or a label)
    pub(crate) entry: String,

    /// The name
    #[arg(required_unless_present = "remove", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,

    /// Remove the name
    #[arg(long, conflicts_with = "name")]
    pub(crate) remove: bool,

    #[command(flatten)]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) leave: Leave,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContextCommand {
    /// How full the context is, how worn the session, what comes next
    Status {
        #[command(flatten)]
        which: Which,
    },
    /// Print exactly what the model would be sent
    Show {
        #[command(flatten)]
        which: Which,
        /// As of this entry instead of the leaf
        #[arg(long, value_name = "ID")]
        at: Option<String>,
        /// With system prompt, workspace files, skills and notes: the whole request
        #[arg(long)]
        assembled: bool,
    },
    /// The budget, what fills it part by part, and the thresholds
    Inspect {
        #[command(flatten)]
        which: Which,
        /// Show so many of the largest messages
        #[arg(long, default_value_t = 10, value_name = "N")]
        top: usize,
    },
    /// Every compaction of the session
    History {
        #[command(flatten)]
        which: Which,
    },
    /// What a compaction took away, what stayed, what is a pointer
    Diff(DiffArgs),
    /// Let thresholds compact this session, or not
    Autocompact(AutocompactArgs),
    /// Windows learnt from servers that refused what did not fit, and how to forget them
    #[command(hide = true)]
    Windows(WindowsArgs),
    /// Write one self-contained file that a fresh session can begin from
    Export(ExportArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    #[command(flatten)]
    Files(MemoryFilesCommand),
    #[command(flatten)]
    Index(MemoryIndexCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the values in force
    Show {
        /// And where each comes from
        #[arg(long)]
        origin: bool,
        /// Only keys that start with this
        key: Option<String>,
    },
    /// Set a value in the configuration file; its comments stay
    Set {
        /// The key, such as compaction.prune.enabled
        key: String,
        /// The value, as it would stand in the file
        value: String,
    },
    /// Print the JSON Schema of the configuration file
    Schema,
    /// Print where the configuration file is, or where it is looked for
    Path,
}

#[derive(Debug, Args)]
pub(crate) struct RpcArgs {
    /// Talk over standard input and output, which is the only way there is
    #[arg(long)]
    pub(crate) stdio: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Where to write the session
    pub(crate) output: PathBuf,

    /// How many turns
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) turns: u32,

    /// Compact whenever the context reaches so many tokens, as pi would
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(crate) compact_at: Option<u32>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
