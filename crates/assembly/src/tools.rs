//! Tools: what an agent may call, and who says so.

use std::collections::HashSet;
use std::sync::Arc;

use globset::GlobSet;
use longhaul_transcript::json::{Object, ObjectWriter};
use serde::Serialize;

use crate::fence::{neutral, neutral_json};
use crate::globs;
use crate::{Problem, Result};

/// A tool as the provider is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Its parameters, as a JSON Schema in JSON text.
    pub parameters: String,
}

impl Tool {
    /// The definition as one line of JSON.
    pub fn to_json(&self) -> String {
        ObjectWriter::new()
            .str("name", &self.name)
            .str("description", &self.description)
            .raw("parameters", &self.parameters)
            .finish()
    }
}

/// Which tools are given, by globs over their names. Case does not matter, and
/// what is denied is denied whatever else is allowed.
#[derive(Debug, Clone)]
pub struct ToolPolicy {
    allow: GlobSet,
    deny: GlobSet,
}

impl ToolPolicy {
    /// Reads the globs; one that makes no sense is an error, because a rule must
    /// not be lost.
    pub fn new(allow: &[String], deny: &[String]) -> Result<ToolPolicy> {
        Ok(ToolPolicy {
            allow: globs::names("tools.allow", allow)?,
            deny: globs::names("tools.deny", deny)?,
        })
    }

    /// Whether a tool may be given.
    pub fn admits(&self, tool: &str) -> bool {
        self.allow.is_match(tool) && !self.deny.is_match(tool)
    }
}

/// The tools of a request, sorted by name: the order in which they were
/// registered must not cost the prompt cache.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    all: Arc<[Tool]>,
}

impl Tools {
    /// Those of `offered` that the policy admits. Their texts may come from any
    /// server, so they are made neutral here.
    pub fn select(
        offered: impl IntoIterator<Item = Tool>,
        policy: &ToolPolicy,
    ) -> (Tools, Vec<Problem>) {
        let (mut tools, mut problems) = (Vec::new(), Vec::new());
        let mut names = HashSet::new();
        for tool in offered {
            if !policy.admits(&tool.name) {
                continue;
            }
            let name = neutral(&tool.name).into_owned();
            if Object::parse(&tool.parameters).is_err() {
                problems.push(Problem::BrokenTool { name });
            } else if !names.insert(name.clone()) {
                problems.push(Problem::SameTool { name });
            } else {
                tools.push(Tool {
                    name,
                    description: neutral(&tool.description).into_owned(),
                    parameters: neutral_json(&tool.parameters).0.into_owned(),
                });
            }
        }
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        (Tools { all: tools.into() }, problems)
    }

    /// The tools, by name.
    pub fn all(&self) -> &[Tool] {
        &self.all
    }

    /// The definitions as a JSON array.
    pub fn to_json(&self) -> String {
        let definitions: Vec<String> = self.all.iter().map(Tool::to_json).collect();
        format!("[{}]", definitions.join(","))
    }
}
