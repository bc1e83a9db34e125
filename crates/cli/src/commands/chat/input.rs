//! The line that is typed: editing, history, completion of commands.

use std::path::{Path, PathBuf};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use super::{history, slash};
use crate::prelude::*;

/// A line, or why there is none.
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C: the line is cleared.
    Cleared,
    /// Ctrl-D.
    Left,
}

/// The editor at a terminal.
pub(super) struct Prompt {
    editor: Editor<Commands, MemHistory>,
    history: PathBuf,
}

impl Prompt {
    /// An editor with the lines of earlier days. A history that cannot be read
    /// is none.
    pub(super) fn new(file: &Path) -> Result<Prompt> {
        let config = Config::builder()
            .history_ignore_space(true)
            .max_history_size(history::MOST_LINES)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(cannot)?
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).map_err(cannot)?;
        editor.set_helper(Some(Commands));
        for line in history::lines(file).unwrap_or_default() {
            editor.add_history_entry(line).map_err(cannot)?;
        }
        Ok(Prompt {
            editor,
            history: file.to_owned(),
        })
    }

    /// Reads a line. A paste of several lines is one, and so is a line that ends
    /// with a backslash, with the next.
    pub(super) fn read(&mut self) -> Result<Typed> {
        match self.editor.readline("› ") {
            Ok(line) => {
                let is_new = !line.trim().is_empty()
                    && self.editor.add_history_entry(&line).map_err(cannot)?;
                // After every line: a crash must not take the day's with it.
                if is_new {
                    let _ = history::keep(&self.history, &line);
                }
                Ok(Typed::Line(line.replace("\\\n", "\n")))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Cleared),
            Err(ReadlineError::Eof) => Ok(Typed::Left),
            Err(error) => Err(cannot(error)),
        }
    }
}

fn cannot(error: ReadlineError) -> Failure {
    fail!("cannot read from the terminal: {error}")
        .help("pipe the messages in, one a line, or use --print")
}

/// Completes what begins with a slash.
struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, complete(&line[..position])))
    }
}

fn complete(begun: &str) -> Vec<String> {
    if !begun.starts_with('/') || begun.contains(char::is_whitespace) {
        return Vec::new();
    }
    slash::ALL
        .iter()
        .filter(|(name, ..)| name.starts_with(begun))
        .map(|(name, more, _)| match more.is_empty() {
            true => (*name).to_owned(),
            false => format!("{name} "),
        })
        .collect()
}

impl Validator for Commands {
    fn validate(&self, typed: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(match typed.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}

impl Helper for Commands {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_completed_and_paths_are_not() {
        assert_eq!(complete("/co"), ["/compact ", "/context"]);
        assert_eq!(complete("/status"), ["/status"]);
        assert!(complete("/etc").is_empty());
        assert!(complete("co").is_empty());
        assert!(complete("/compact x").is_empty());
    }
}
