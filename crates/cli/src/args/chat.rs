//! What is typed for `chat`.

use clap::Args;

use super::Leave;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// What to say first; with --print, all there is to say
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: Option<String>,

    /// Go on with the session of this name, or begin it
    /// [default: the newest one of the workspace]
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,

    /// Begin a new session; with --session, a new one of that name
    /// (`longhaul session --help` has the other ways into a fresh one)
    #[arg(long)]
    pub(crate) new: bool,

    /// Answer one message, print the answer and nothing else; what is piped in is
    /// the message, or follows MESSAGE
    #[arg(long, short)]
    pub(crate) print: bool,

    /// Let tools write and run commands without asking
    #[arg(long, short, conflicts_with_all = ["allow", "no_tools"])]
    pub(crate) yes: bool,

    /// Let one tool work without asking: write, edit, bash, or commands by their
    /// first words, such as 'bash:cargo test'. May be given more than once
    #[arg(long, value_name = "TOOL", conflicts_with = "no_tools")]
    pub(crate) allow: Vec<String>,

    /// Give the model no tools: neither those that ask nor those that do not (reading,
    /// recall, and memory_append, which adds to today's log in memory/)
    #[arg(long)]
    pub(crate) no_tools: bool,

    /// Where the model is served, if not where its provider usually is
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// Give up when a model says nothing for so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: Option<u64>,

    #[command(flatten)]
    pub(crate) leave: Leave,
}
