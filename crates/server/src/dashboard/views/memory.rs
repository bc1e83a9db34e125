//! What outlives the sessions of a workspace: its memory files.

use longhaul_memory::MemoryFolder;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Dreaming, DreamsView, Promotions, Shown};
use crate::desk::Desk;

/// The newest daily logs that are shown.
const LOGS: usize = 7;

/// A memory file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryFile {
    /// Its name in the workspace.
    pub name: String,
    /// What it says; none where there is no such file.
    pub text: Option<String>,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// The memory of the workspace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryView {
    /// The workspace.
    pub workspace: String,
    /// Its files, the pointers first, then what they point to, then the newest logs.
    pub files: Vec<MemoryFile>,
}

fn dreaming<'a>(desk: &'a Desk, memory: &'a MemoryFolder) -> Dreaming<'a> {
    Dreaming {
        memory,
        config: &desk.config,
        state_dir: &desk.state_dir,
    }
}

fn folder(desk: &Desk) -> Shown<MemoryFolder> {
    Ok(MemoryFolder::open(&desk.workspace, None)?)
}

impl MemoryView {
    /// The memory of the desk's workspace.
    pub fn of(desk: &Desk) -> Shown<MemoryView> {
        let memory = folder(desk)?;
        let mut names: Vec<String> = [
            "MEMORY.md",
            "memories/project.md",
            "memories/decisions.md",
            "memories/errors.md",
            "memories/context.md",
            "DREAMS.md",
        ]
        .map(str::to_owned)
        .to_vec();
        let mut logs = memory.logs()?;
        logs.sort_by_key(|(day, _)| std::cmp::Reverse(*day));
        let newest = logs.iter().take(LOGS);
        names.extend(newest.map(|(day, _)| MemoryFolder::log_name(*day)));
        let files = names.into_iter().map(|name| match memory.read(&name) {
            Ok(text) => MemoryFile {
                name,
                text,
                error: None,
            },
            Err(error) => MemoryFile {
                name,
                text: None,
                error: Some(error.to_string()),
            },
        });
        Ok(MemoryView {
            workspace: desk.workspace.to_string_lossy().into_owned(),
            files: files.collect(),
        })
    }
}

impl DreamsView {
    /// What waits in the desk's workspace.
    pub fn of(desk: &Desk) -> Shown<DreamsView> {
        let memory = folder(desk)?;
        Ok(dreaming(desk, &memory).waiting(&(desk.clock)())?)
    }
}

impl Promotions {
    /// What was promoted in the desk's workspace.
    pub fn of(desk: &Desk) -> Shown<Promotions> {
        let memory = folder(desk)?;
        Ok(dreaming(desk, &memory).promotions()?)
    }
}
