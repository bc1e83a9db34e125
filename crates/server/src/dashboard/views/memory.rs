//! What outlives the sessions of a workspace: its memory files, and the candidates
//! that wait for a decision.

use longhaul_memory::MemoryFolder;
use longhaul_memory::dream::{Candidate, Dreams, waiting};
use schemars::JsonSchema;
use serde::Serialize;

use super::Shown;
use crate::desk::Desk;
use crate::http::Refusal;

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

/// Where a candidate was said.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceRow {
    /// Who said it.
    pub who: String,
    /// File and line, or session and entry.
    pub place: String,
    /// The words.
    pub quote: String,
}

/// A candidate that may contradict another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Beside {
    /// Its id.
    pub id: String,
    /// What it says.
    pub text: String,
    /// When it was last said.
    pub last_said: String,
}

/// Something that might become long-term memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CandidateRow {
    /// Its id.
    pub id: String,
    /// What kind of thing it is.
    pub topic: String,
    /// What it says.
    pub text: String,
    /// How sure its place in the order is.
    pub confidence: f64,
    /// How often it was said.
    pub mentions: usize,
    /// When it was last said.
    pub last_said: String,
    /// Where.
    pub evidence: Vec<EvidenceRow>,
    /// What it may contradict.
    pub beside: Vec<Beside>,
}

/// What waits for a decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DreamsView {
    /// The workspace.
    pub workspace: String,
    /// In the order in which a review shows them.
    pub candidates: Vec<CandidateRow>,
}

fn folder(desk: &Desk) -> Shown<MemoryFolder> {
    MemoryFolder::open(&desk.workspace, None)
        .map_err(|error| Refusal::failed(&error, error.remedy()))
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
        let logs = memory.logs();
        let mut logs = logs.map_err(|error| Refusal::failed(&error, error.remedy()))?;
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
        let dreams = Dreams::new(&desk.state_dir, &memory);
        let candidates = dreams.candidates();
        let all = candidates.map_err(|error| Refusal::failed(&error, error.remedy()))?;
        let rows = waiting(&all).into_iter().map(|one| row(one, &all));
        Ok(DreamsView {
            workspace: desk.workspace.to_string_lossy().into_owned(),
            candidates: rows.collect(),
        })
    }
}

fn row(one: &Candidate, all: &[Candidate]) -> CandidateRow {
    let others = one.may_contradict().into_iter();
    let others = others.filter_map(|id| all.iter().find(|other| other.id == id));
    CandidateRow {
        id: one.id.clone(),
        topic: one.topic.to_string(),
        text: one.wording().to_owned(),
        confidence: one.confidence,
        mentions: one.mentions(),
        last_said: one.last_day().to_string(),
        evidence: one
            .evidence
            .iter()
            .map(|evidence| EvidenceRow {
                who: evidence.source.to_string(),
                place: evidence.place(),
                quote: evidence.quote.clone(),
            })
            .collect(),
        beside: others
            .map(|other| Beside {
                id: other.id.clone(),
                text: other.wording().to_owned(),
                last_said: other.last_day().to_string(),
            })
            .collect(),
    }
}
