//! A memory to begin with.

use jiff::civil::DateTime;

use super::{CONTEXT, DECISIONS, DREAMS, ERRORS, LOGS, MEMORY, MemoryFolder, PROJECT, place};
use crate::Result;
use crate::provenance::one_line;

pub(super) const ERRORS_TEMPLATE: &str = include_str!("templates/errors.md");

/// The file of roles and rules.
const AGENTS: &str = "AGENTS.md";
/// What is read in its place where there is none.
const CLAUDE: &str = "CLAUDE.md";

/// A file that `init` looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The file, in the workspace.
    pub file: String,
    /// What became of it; what was there is left alone.
    pub outcome: Outcome,
}

/// What `init` did about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Made,
    /// It was there.
    Kept,
    /// It was not made: prompts carry `CLAUDE.md` only where there is no
    /// `AGENTS.md`, so that one would take the other's place.
    LeftToClaude,
}

/// Whether `init` makes an `AGENTS.md`, the roles and rules of those who work
/// here, and with what text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentsFile<'a> {
    /// Unless there is a `CLAUDE.md`.
    Usual(&'a str),
    /// In any case.
    Wanted(&'a str),
    /// Not at all.
    Unwanted,
}

impl MemoryFolder {
    /// Creates the files that are not there yet.
    pub fn init(
        &self,
        at: DateTime,
        project: &str,
        agents: AgentsFile<'_>,
    ) -> Result<Vec<Created>> {
        let name = one_line(project);
        let name: String = name.chars().take(60).collect();
        let memory = include_str!("templates/memory.md")
            .replace("{date}", &at.strftime("%Y-%m-%d %H:%M").to_string())
            .replace("{name}", &name);
        let mut files = vec![
            (MEMORY, memory.as_str()),
            (PROJECT, include_str!("templates/project.md")),
            (DECISIONS, include_str!("templates/decisions.md")),
            (ERRORS, ERRORS_TEMPLATE),
            (CONTEXT, include_str!("templates/context.md")),
            (DREAMS, include_str!("templates/dreams.md")),
        ];
        match agents {
            AgentsFile::Usual(text) | AgentsFile::Wanted(text) => files.push((AGENTS, text)),
            AgentsFile::Unwanted => {}
        }
        let yields = matches!(agents, AgentsFile::Usual(_));
        let mut created = Vec::new();
        for (file, text) in files {
            let is_there = |file: &str| -> Result<bool> {
                Ok(place::for_reading(self.root(), file)?.is_some())
            };
            let outcome = if is_there(file)? {
                Outcome::Kept
            } else if file == AGENTS && yields && is_there(CLAUDE)? {
                Outcome::LeftToClaude
            } else {
                self.replace(file, text)?;
                Outcome::Made
            };
            created.push(Created {
                file: file.to_owned(),
                outcome,
            });
        }
        let is_new = place::folder(self.root(), LOGS)?;
        created.push(Created {
            file: format!("{LOGS}/"),
            outcome: if is_new { Outcome::Made } else { Outcome::Kept },
        });
        Ok(created)
    }
}
