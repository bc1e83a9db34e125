//! Who says that a tool may change something.
//!
//! Reading inside the workspace is free; writing and running commands ask,
//! unless the user has allowed them beforehand. Nothing here decides for the
//! user: where nobody can be asked, the answer is no.

use std::collections::{BTreeMap, HashSet};

use futures::future::BoxFuture;

/// What happens when a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The user is asked.
    #[default]
    Ask,
    /// It runs.
    Allow,
    /// It is refused.
    Deny,
}

/// What may be done without asking.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    /// By the name of the tool. A tool that is not named here asks if it can
    /// change something, and runs if it cannot.
    pub tools: BTreeMap<String, Policy>,
    /// Commands that run without asking, by their first words: `cargo test`
    /// allows `cargo test -p x`. A `*` stands for one word. Only a plain command
    /// is allowed so, never one with pipes, redirections, substitutions or more
    /// than one command.
    pub commands: Vec<String>,
}

impl Permissions {
    /// The policy for a tool.
    pub fn policy(&self, tool: &str) -> Policy {
        match self.tools.get(tool) {
            Some(policy) => *policy,
            None if CHANGING.contains(&tool) => Policy::Ask,
            None => Policy::Allow,
        }
    }

    /// Whether a command line is one of those that need no asking.
    pub fn allows_command(&self, command: &str) -> bool {
        let Some(words) = plain_words(command) else {
            return false;
        };
        self.commands.iter().any(|pattern| {
            let pattern: Vec<&str> = pattern.split_whitespace().collect();
            !pattern.is_empty()
                && pattern.len() <= words.len()
                && pattern
                    .iter()
                    .zip(&words)
                    .all(|(wanted, word)| *wanted == "*" || wanted == word)
        })
    }
}

/// Tools that change something.
const CHANGING: &[&str] = &["write", "edit", "bash"];

/// The words of a command line that is one plain command. Anything that a shell
/// would read as more than words makes it none, quotes included: to read them as
/// a shell does is where such lists have gone wrong.
fn plain_words(command: &str) -> Option<Vec<&str>> {
    let harmless = |c: char| {
        c.is_alphanumeric()
            || matches!(
                c,
                ' ' | '\t' | '_' | '-' | '.' | '/' | ':' | '=' | ',' | '+' | '@' | '%'
            )
    };
    if !command.chars().all(harmless) {
        return None;
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    // `A=b command` sets a variable, which may be all that an attack needs.
    let first = words.first()?;
    (!first.contains('=')).then_some(words)
}

/// What somebody is asked to allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The tool.
    pub tool: String,
    /// What it is about to do, in one line.
    pub what: String,
    /// What there is to look at: the command, the new text, the changed lines.
    pub preview: String,
    /// What the user must know beforehand.
    pub caution: Option<String>,
    /// What [`Approval::Always`] would allow.
    pub always: String,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// This time.
    Once,
    /// This time, and whatever [`Ask::always`] says for as long as the toolbox
    /// lives.
    Always,
    /// No, and why; the model is told the reason.
    Denied(String),
}

/// Somebody who can be asked.
pub trait Approver: Send + Sync {
    /// Asks. Dropping the future takes the question back.
    fn approve<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Approval>;
}

/// Nobody is there: whatever is asked is denied.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn approve<'a>(&'a self, _: &'a Ask) -> BoxFuture<'a, Approval> {
        let reason = "nobody is there to be asked, and it was not allowed beforehand";
        Box::pin(std::future::ready(Approval::Denied(reason.into())))
    }
}

/// What was allowed for as long as the toolbox lives.
#[derive(Debug, Default)]
pub(super) struct Granted {
    tools: HashSet<String>,
    commands: HashSet<String>,
}

impl Granted {
    pub(super) fn covers(&self, tool: &str, command: Option<&str>) -> bool {
        match command {
            Some(command) => self.commands.contains(command),
            None => self.tools.contains(tool),
        }
    }

    pub(super) fn grant(&mut self, tool: &str, command: Option<&str>) {
        match command {
            Some(command) => self.commands.insert(command.to_owned()),
            None => self.tools.insert(tool.to_owned()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permissions(commands: &[&str]) -> Permissions {
        Permissions {
            commands: commands.iter().map(|&c| c.to_owned()).collect(),
            ..Permissions::default()
        }
    }

    #[test]
    fn first_words_allow_a_plain_command_and_its_arguments() {
        let permissions = permissions(&["cargo test", "git * --stat"]);
        assert!(permissions.allows_command("cargo test"));
        assert!(permissions.allows_command("  cargo   test -p a::b "));
        assert!(permissions.allows_command("git diff --stat"));
        assert!(!permissions.allows_command("cargo"));
        assert!(!permissions.allows_command("cargo testing"));
        assert!(!permissions.allows_command("git diff"));
    }

    #[test]
    fn nothing_that_a_shell_reads_as_more_than_words_is_allowed() {
        let permissions = permissions(&["cargo test", "*"]);
        for command in [
            "cargo test; rm -rf x",
            "cargo test && rm x",
            "cargo test | sh",
            "cargo test > /etc/passwd",
            "cargo test $(rm x)",
            "cargo test `rm x`",
            "cargo test\nrm x",
            "cargo test \"$HOME\"",
            "cargo test 'x'",
            "cargo test \\; rm",
            "cargo test ~/x",
            "cargo test {a,b}",
            "cargo test *",
            "cargo test #x",
            "cargo test &",
            "! cargo test",
            "PATH=/tmp cargo test",
            "",
        ] {
            assert!(!permissions.allows_command(command), "{command}");
        }
        assert!(permissions.allows_command("ls"));
    }

    #[test]
    fn an_empty_pattern_allows_nothing() {
        assert!(!permissions(&["", "  "]).allows_command("ls"));
    }

    #[test]
    fn what_changes_something_asks_and_what_reads_runs() {
        let permissions = Permissions::default();
        assert_eq!(permissions.policy("bash"), Policy::Ask);
        assert_eq!(permissions.policy("write"), Policy::Ask);
        assert_eq!(permissions.policy("edit"), Policy::Ask);
        assert_eq!(permissions.policy("read"), Policy::Allow);
    }
}
