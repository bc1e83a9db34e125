//! The catalogue: every session of every agent on this machine, at a glance.
//!
//! Finding is a walk through the agents' standard folders; a glance reads a
//! file's first line and its last kilobytes. Neither reads whole files, so
//! gigabytes of sessions list in well under a second.

mod named;

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_tokens::{Measurement, Tokens};
use longhaul_transcript::import::Listed;
use longhaul_transcript::{
    Body, Context, Epoch, Format, Header, Loaded, Millis, Role, Session, SessionRef, import,
};
use serde::Serialize;

pub use named::{Meant, belongs_to, id_of, listed_id};

use crate::measure::{Meter, Reading, WindowEvidence};

/// Where agents keep their sessions on this machine. The caller looks at the
/// home folder and the environment; this only names what follows from them.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Folders with pi's session files, at any depth.
    pub pi: Vec<PathBuf>,
    /// OpenClaw's state folders (`~/.openclaw`).
    pub openclaw: Vec<PathBuf>,
    /// Claude Code's configuration folders (`~/.claude`).
    pub claude: Vec<PathBuf>,
    /// Codex's home folders (`~/.codex`).
    pub codex: Vec<PathBuf>,
    /// Our own sessions.
    pub own: Vec<PathBuf>,
}

impl Places {
    /// The standard folders below a home folder.
    pub fn below(home: &Path) -> Places {
        Places {
            pi: vec![home.join(".pi/agent/sessions")],
            openclaw: vec![home.join(".openclaw")],
            claude: vec![home.join(".claude"), home.join(".config/claude")],
            codex: vec![home.join(".codex")],
            own: Vec::new(),
        }
    }
}

/// Whose a session is: ours where it lies among our own, else the agent's whose
/// format it has.
pub fn agent(path: &Path, format: Format, state_dir: &Path) -> &'static str {
    match path.starts_with(state_dir.join("sessions")) {
        true => "longhaul",
        false => format.agent(),
    }
}

/// Whose sessions there may be.
pub const AGENTS: [&str; 5] = ["longhaul", "pi", "OpenClaw", "Claude Code", "Codex"];

/// What a search through the places gave.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Sessions, newest first.
    pub sessions: Vec<Listed>,
    /// Folders and stores that could not be read, and why.
    pub problems: Vec<Problem>,
}

/// Something in the places that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// Folders below a place are searched this deep.
const MAX_DEPTH: usize = 6;

/// Looks through all places.
pub fn find(places: &Places) -> Catalog {
    let mut catalog = Catalog::default();
    for (folders, format) in [(&places.own, Format::Pi), (&places.pi, Format::Pi)] {
        for folder in folders {
            catalog.files(folder, format, &|path| has_extension(path, "jsonl"));
        }
    }
    for folder in &places.claude {
        // Files named `agent-…` hold subagents' sidechains.
        catalog.files(&folder.join("projects"), Format::ClaudeCode, &|path| {
            has_extension(path, "jsonl")
                && !file_name(path).starts_with("agent-")
                && !path
                    .components()
                    .any(|part| part.as_os_str() == "subagents")
        });
    }
    for folder in &places.codex {
        for part in ["sessions", "archived_sessions"] {
            catalog.files(&folder.join(part), Format::Codex, &|path| {
                has_extension(path, "jsonl") && file_name(path).starts_with("rollout-")
            });
        }
    }
    for folder in &places.openclaw {
        catalog.openclaw(&folder.join("agents"));
    }
    let mut seen = std::collections::HashSet::new();
    catalog.sessions.retain(|found| {
        seen.insert((
            found.reference.path.clone(),
            found.reference.session.clone(),
        ))
    });
    catalog.sessions.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.reference.path.cmp(&b.reference.path))
    });
    catalog
}

impl Catalog {
    fn files(&mut self, folder: &Path, format: Format, wanted: &dyn Fn(&Path) -> bool) {
        let mut paths = Vec::new();
        self.walk(folder, 0, &mut |path| {
            if wanted(path) {
                paths.push(path.to_owned());
            }
        });
        for path in paths {
            // A file that vanished since is no session any more.
            let Ok(meta) = fs::metadata(&path) else {
                continue;
            };
            let reference = SessionRef {
                path,
                session: None,
                key: None,
                format,
            };
            self.sessions.push(Listed::with(reference, &meta));
        }
    }

    fn walk(&mut self, folder: &Path, depth: usize, visit: &mut dyn FnMut(&Path)) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => {
                self.problems.push(Problem {
                    path: folder.to_owned(),
                    reason: error.to_string(),
                });
                return;
            }
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH {
                self.walk(&path, depth + 1, visit);
            } else if kind.is_file() {
                visit(&path);
            } else if let Some(kind) = longhaul_files::kind_of(&path)
                && path.extension().is_some_and(|ending| ending == "jsonl")
            {
                self.problems.push(Problem {
                    path,
                    reason: format!("it is {kind}"),
                });
            }
        }
    }

    /// An OpenClaw agent has a database; before that it had a store of files.
    fn openclaw(&mut self, agents: &Path) {
        let Ok(entries) = fs::read_dir(agents) else {
            return;
        };
        for agent in entries.flatten().map(|entry| entry.path()) {
            let database = agent.join("agent/openclaw-agent.sqlite");
            let store = agent.join("sessions/sessions.json");
            for (path, format) in [
                (database, Format::OpenClawSqlite),
                (store, Format::OpenClawStore),
            ] {
                if !path.is_file() {
                    continue;
                }
                match import::importer(format).list(&path) {
                    Ok(found) => self.sessions.extend(found),
                    Err(error) => self.problems.push(Problem {
                        path,
                        reason: error.to_string(),
                    }),
                }
            }
        }
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// A session at a glance.
#[derive(Debug, Clone)]
pub struct Glance {
    /// The header.
    pub header: Header,
    /// The format, as the file itself shows it.
    pub format: Format,
    /// Messages of the user.
    pub turns: Count,
    /// Compactions.
    pub compactions: Epoch,
    /// The context's size.
    pub measurement: Option<Measurement>,
    /// The model used last.
    pub model: Option<String>,
    /// What the session says of that model's window.
    pub evidence: WindowEvidence,
    /// All that was read of its size.
    pub reading: Reading,
    /// The session's name, or the last thing the user said.
    pub title: Option<String>,
    /// When the last entry was written.
    pub last: Option<Millis>,
}

/// A number that may be only a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "certainty", content = "count")]
pub enum Count {
    /// So many.
    Exact(u64),
    /// At least so many: the file was not read further back.
    AtLeast(u64),
}

/// The end of a file that a glance reads at first and at most.
const FIRST_LOOK: u64 = 512 * 1024;
const LONGEST_LOOK: u64 = 4 * 1024 * 1024;

/// Reads a session's first line and its end. The end grows until it shows how
/// large the context is, up to a limit.
pub fn glance(reference: &SessionRef, meter: &mut Meter) -> longhaul_transcript::Result<Glance> {
    let session = Session::open_ref(reference)?;
    let mut look = FIRST_LOOK;
    loop {
        let mut tail = session.tail(look)?;
        if is_tree(&session) {
            tail.keep_path();
        }
        let complete = tail.complete;
        let prompts = tail.entries.iter().filter(|entry| is_prompt(entry)).count() as u64;
        let model = tail.entries.iter().rev().find_map(model);
        let title = title(&tail.entries);
        let last = tail.entries.iter().rev().find_map(|entry| entry.time);
        let loaded = Loaded::of_tail(session.header().clone(), tail);
        let reading = meter.context(&loaded, &Context::build(&loaded));
        let enough =
            reading.anchor.is_some() || reading.compacted || complete || look >= LONGEST_LOOK;
        if !enough {
            look *= 4;
            continue;
        }
        return Ok(Glance {
            header: session.header().clone(),
            format: session.format(),
            turns: if complete {
                Count::Exact(prompts)
            } else {
                Count::AtLeast(prompts)
            },
            compactions: loaded.epoch,
            evidence: reading.evidence,
            measurement: (reading.measurement.tokens > Tokens::ZERO).then_some(reading.measurement),
            model,
            title,
            last,
            reading,
        });
    }
}

/// Whether a file's parents are those of pi's tree, so that its end may hold
/// other branches. Importers of other formats follow the path themselves.
fn is_tree(session: &Session) -> bool {
    matches!(
        session.format(),
        Format::Pi | Format::OpenClawSqlite | Format::OpenClawStore
    ) && matches!(session.header().version, 2 | 3)
}

/// Whether an entry is something the user said, rather than what a program
/// says in the user's name.
pub fn is_prompt(entry: &longhaul_transcript::Entry) -> bool {
    entry.role() == Some(&Role::User)
        && entry
            .message()
            .is_some_and(|message| !message.is_programs())
}

fn model(entry: &longhaul_transcript::Entry) -> Option<String> {
    match &entry.body {
        Body::ModelChange { model, .. } => Some(model.clone()),
        Body::Message(_) if entry.role() == Some(&Role::Assistant) => {
            entry.message()?.model().map(|model| model.into_owned())
        }
        _ => None,
    }
    .filter(|model| !model.is_empty())
}

const TITLE_CHARS: usize = 80;

fn title(entries: &[longhaul_transcript::Entry]) -> Option<String> {
    let named = entries.iter().rev().find_map(|entry| match &entry.body {
        Body::SessionInfo { name: Some(name) } if !name.is_empty() => Some(name.clone()),
        _ => None,
    });
    named.or_else(|| {
        let said = entries
            .iter()
            .rev()
            .filter(|entry| is_prompt(entry))
            .find_map(|entry| {
                let text = entry.message()?.text();
                // Records of local commands and interruptions are not what it is about.
                let said = !text.trim().is_empty() && !text.starts_with(['<', '[']);
                said.then_some(text)
            })?;
        let line: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(line.chars().take(TITLE_CHARS).collect())
    })
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::Estimator;
    use longhaul_transcript::Epoch;
    use serde_json::{Value, json};

    use super::*;

    /// Claude Code writes `/compact` and what it printed in the user's name, behind
    /// the summary.
    #[test]
    fn right_after_compact_turns_of_claude_code_are_what_the_user_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let line = |id: u32, kind: &str, more: Value| {
            let mut line = json!({"type": kind, "uuid": format!("u{id}"), "sessionId": "s",
                "parentUuid": (id > 1).then(|| format!("u{}", id - 1)), "cwd": "/w",
                "timestamp": "2026-11-15T12:00:00.000Z", "version": "2.1.0"});
            let fields = more.as_object().unwrap().clone();
            line.as_object_mut().unwrap().extend(fields);
            format!("{line}\n")
        };
        let user = |text: &str| json!({"message": {"role": "user", "content": text}});
        let command = "<command-name>/compact</command-name>\n\
                       <command-message>compact</command-message>\n<command-args></command-args>";
        let mut summary = user("This session is being continued: the parts were read.");
        summary["isCompactSummary"] = json!(true);
        let lines = [
            line(1, "user", user("Read every part.")),
            line(
                2,
                "assistant",
                json!({"message": {"role": "assistant", "id": "m1",
                "model": "claude-opus-4-5", "content": [{"type": "text", "text": "Done."}]}}),
            ),
            line(
                3,
                "system",
                json!({"subtype": "compact_boundary", "parentUuid": null,
                "logicalParentUuid": "u2", "content": "Conversation compacted",
                "compactMetadata": {"trigger": "manual", "preTokens": 155_830}}),
            ),
            line(4, "user", summary),
            line(5, "user", user(command)),
            line(
                6,
                "user",
                user("<local-command-stdout>Compacted</local-command-stdout>"),
            ),
            line(7, "user", user("Go on.")),
        ];
        for (written, turns) in [(6, 1), (7, 2)] {
            std::fs::write(&path, lines[..written].concat()).unwrap();
            let session = Session::open(&path).unwrap();
            let glance = glance(session.reference(), &mut Meter::new(Estimator::default()));
            let glance = glance.unwrap();
            assert_eq!(glance.compactions, Epoch::Exact(1));
            assert_eq!(glance.turns, Count::Exact(turns));
        }
    }
}
