//! A memory to begin with.

use jiff::civil::DateTime;

use super::{CONTEXT, DECISIONS, DREAMS, ERRORS, LOGS, MEMORY, MemoryFolder, PROJECT, place};
use crate::Result;
use crate::provenance::one_line;

pub(super) const ERRORS_TEMPLATE: &str = include_str!("templates/errors.md");

/// A file that `init` looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The file, in the workspace.
    pub file: String,
    /// Whether it is new; what was there is left alone.
    pub is_new: bool,
}

impl MemoryFolder {
    /// Creates the files that are not there yet. With `agents`, an `AGENTS.md`
    /// with roles and rules too.
    pub fn init(&self, at: DateTime, project: &str, agents: bool) -> Result<Vec<Created>> {
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
        if agents {
            files.push(("AGENTS.md", include_str!("templates/agents.md")));
        }
        let mut created = Vec::new();
        for (file, text) in files {
            let is_new = place::for_reading(self.root(), file)?.is_none();
            if is_new {
                self.replace(file, text)?;
            }
            created.push(Created {
                file: file.to_owned(),
                is_new,
            });
        }
        let logs = place::folder(self.root(), LOGS)?;
        created.push(Created {
            file: format!("{LOGS}/"),
            is_new: logs,
        });
        Ok(created)
    }
}
