//! `cargo xtask eval`: figures measured on recorded sessions.

mod epochs;
mod recall;
mod retrieval;
mod statistics;
mod tokens;

use crate::Result;

#[derive(clap::Subcommand)]
pub(crate) enum Eval {
    /// How far token counts are from what providers reported
    Tokens(tokens::Args),
    /// What survives compaction, on recorded and generated sessions
    Compaction(crate::eval_compaction::Args),
    /// What search finds, on sets of questions with known answers
    Retrieval(retrieval::Args),
    /// Whether five words of what was said find it again
    Recall(recall::Args),
    /// What dreaming keeps of many days of conversations
    Dreaming(crate::eval_dreaming::Args),
}

pub(crate) fn run(what: &Eval) -> Result<()> {
    match what {
        Eval::Tokens(args) => tokens::run(args),
        Eval::Compaction(args) => crate::eval_compaction::run(args),
        Eval::Retrieval(args) => retrieval::run(args),
        Eval::Recall(args) => recall::run(args),
        Eval::Dreaming(args) => crate::eval_dreaming::run(args),
    }
}
