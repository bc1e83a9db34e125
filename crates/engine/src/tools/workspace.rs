//! The tools of an agent that works in a folder.
//!
//! Names and parameters are pi's, because the ledger knows them and because
//! sessions go back and forth.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use longhaul_assembly::Tool;
use longhaul_model::ToolCall;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::bash::{self, BashSettings};
use super::confine::{self, Access, Fence, Inside};
use super::edit;
use super::note::Noted;
use super::permission::{Approval, Approver, Ask, Granted, Permissions, Policy};
use super::read::{self, Part, ReadLimits};
use super::remembered::{self, MOST_HITS};
use super::schema;
use super::toolbox::{Outcome, Toolbox, apart, finish};
use crate::library::Notebook;
use crate::recall::Recall;

/// Why a toolbox cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The workspace is no folder that can be opened.
    #[error("the workspace {path} cannot be opened: {source}; name a folder that exists")]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// What a toolbox is made of.
pub struct WorkspaceSettings {
    /// The folder that files are confined to, and in which commands start.
    pub workspace: PathBuf,
    /// Other folders that may be read, such as the one for outputs.
    pub readable: Vec<PathBuf>,
    /// What may be done without asking.
    pub permissions: Permissions,
    /// Who is asked.
    pub approver: Arc<dyn Approver>,
    /// How commands run; without it there is no `bash`.
    pub bash: Option<BashSettings>,
    /// The agent's memory; without it there are no memory tools.
    pub notebook: Option<Arc<dyn Notebook>>,
    /// Where `recall` looks; without it there is none.
    pub recall: Option<Arc<dyn Recall>>,
}

/// `read`, `write`, `edit`, `bash`, `memory_search`, `memory_get`, `recall` and
/// `note` in a folder.
pub struct WorkspaceTools {
    fence: Fence,
    permissions: Permissions,
    approver: Arc<dyn Approver>,
    granted: Mutex<Granted>,
    bash: Option<BashSettings>,
    notebook: Option<Arc<dyn Notebook>>,
    recall: Option<Arc<dyn Recall>>,
    /// Values of secret variables, which no result shows.
    secrets: Vec<String>,
    /// One change of a file at a time: calls of one round may run together, and
    /// an edit must not write back what another has replaced.
    changing: tokio::sync::Mutex<()>,
}

const READ_LIMITS: ReadLimits = ReadLimits {
    lines: 2000,
    bytes: 50 * 1024,
};
/// The largest file that `edit` takes.
const EDIT_BYTES: u64 = 16 << 20;
/// Lines of a new file that are shown to whoever is asked.
const PREVIEW_LINES: usize = 40;

/// What whoever is asked for a command must know.
const NOT_CONFINED: &str =
    "commands are not confined to the workspace: this can do whatever you can";

impl WorkspaceTools {
    /// Makes the toolbox. The workspace must exist.
    pub fn new(settings: WorkspaceSettings) -> Result<WorkspaceTools, Error> {
        let mut readable = settings.readable;
        if let Some(bash) = &settings.bash {
            readable.push(bash.outputs.clone());
        }
        let fence =
            Fence::new(&settings.workspace, &readable).map_err(|source| Error::Workspace {
                path: settings.workspace,
                source,
            })?;
        Ok(WorkspaceTools {
            fence,
            permissions: settings.permissions,
            approver: settings.approver,
            secrets: settings
                .bash
                .as_ref()
                .map(bash::secrets)
                .unwrap_or_default(),
            granted: Mutex::default(),
            bash: settings.bash,
            notebook: settings.notebook,
            recall: settings.recall,
            changing: tokio::sync::Mutex::default(),
        })
    }

    /// The workspace, symlinks resolved.
    pub fn workspace(&self) -> &Path {
        self.fence.workspace()
    }

    fn offers(&self, tool: &str) -> bool {
        let there = match tool {
            "bash" => self.bash.is_some(),
            "recall" => self.recall.is_some(),
            name if name.starts_with("memory_") => self.notebook.is_some(),
            _ => true,
        };
        // A model is not tempted with what it will not get.
        there && self.permissions.policy(tool) != Policy::Deny
    }

    async fn dispatch(
        &self,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<Outcome, String> {
        let schemas: HashMap<&str, &str> = schema::ALL
            .iter()
            .map(|(name, _, schema)| (*name, *schema))
            .collect();
        let name = call.name.as_str();
        let Some(schema) = schemas.get(name).filter(|_| self.offers(name)) else {
            let denied =
                schemas.contains_key(name) && self.permissions.policy(name) == Policy::Deny;
            let names: Vec<String> = self.definitions().into_iter().map(|t| t.name).collect();
            return Err(match denied {
                true => format!("The tool \"{name}\" is not allowed in this session."),
                false => format!(
                    "There is no tool named \"{name}\". There are: {}.",
                    names.join(", ")
                ),
            });
        };
        let arguments = Arguments::parse(call, schema)?;
        let mut outcome = match name {
            "read" => self.read(&arguments, cancel).await?,
            "write" => self.write(&arguments, cancel).await?,
            "edit" => self.edit(&arguments, cancel).await?,
            "bash" => self.bash(&call.id, &arguments, cancel).await?,
            "recall" => match self.recall.clone() {
                Some(source) => remembered::recall(source, &arguments, cancel).await?,
                None => return Err("There is nothing to recall in this session.".into()),
            },
            "note" => {
                let noted = Noted::new(arguments.text("kind")?, arguments.text("text")?)?;
                Outcome::done(noted.receipt())
            }
            _ => self.memory(name, &arguments, cancel).await?,
        };
        if let Some(ignored) = arguments.ignored() {
            outcome.text.push_str("\n\n");
            outcome.text.push_str(&ignored);
        }
        Ok(outcome)
    }

    async fn read(
        &self,
        arguments: &Arguments<'_>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, String> {
        let path = arguments.text("path")?.to_owned();
        let part = Part {
            offset: arguments.number("offset")?,
            limit: arguments.number("limit")?,
        };
        let fence = self.fence.clone();
        let text = apart(cancel, move || {
            let inside = fence.resolve(&path, Access::Read)?;
            let mut file = open(&inside, &path)?;
            read::read(&mut file, &path, part, READ_LIMITS)
        })
        .await?;
        Ok(Outcome::done(text))
    }

    async fn write(
        &self,
        arguments: &Arguments<'_>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, String> {
        let path = arguments.text("path")?;
        let content = arguments.text("content")?;
        let inside = self.fence.resolve(path, Access::Write)?;
        let exists = inside.path().exists();
        let ask = Ask {
            tool: "write".into(),
            what: format!(
                "{} {path} ({} bytes)",
                if exists { "replace" } else { "create" },
                content.len()
            ),
            preview: preview(content),
            caution: None,
            always: "every write and edit in the workspace".into(),
        };
        self.allow(&ask, None, Some(&inside), cancel).await?;
        let _one = self.changing.lock().await;
        let (name, bytes) = (path.to_owned(), content.as_bytes().to_vec());
        let fence = self.fence.clone();
        finish(move || {
            // Again: the answer may have taken minutes.
            let inside = fence.resolve(&name, Access::Write)?;
            confine::write(&inside, &bytes).map_err(|error| cannot("written", &name, &error))
        })
        .await?;
        Ok(Outcome::done(format!(
            "Successfully wrote {} bytes to {path}",
            content.len()
        )))
    }

    async fn edit(
        &self,
        arguments: &Arguments<'_>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, String> {
        let path = arguments.text("path")?.to_owned();
        let edits = edit::edits(arguments)?;
        let apply = {
            let (fence, path, edits) = (self.fence.clone(), path.clone(), edits.clone());
            move || {
                let inside = fence.resolve(&path, Access::Write)?;
                let bytes = whole(&inside, &path)?;
                Ok((edit::apply(&bytes, &edits, &path)?, inside))
            }
        };
        let (planned, inside) = apart(cancel, apply.clone()).await?;
        let ask = Ask {
            tool: "edit".into(),
            what: format!("change {path} in {}", places(edits.len())),
            preview: planned.diff,
            caution: None,
            always: "every write and edit in the workspace".into(),
        };
        self.allow(&ask, None, Some(&inside), cancel).await?;
        let _one = self.changing.lock().await;
        let name = path.clone();
        // Applied again: the file may have changed while the user was thinking.
        let edited = finish(move || {
            let (edited, inside) = apply()?;
            confine::write(&inside, &edited.bytes)
                .map_err(|error| cannot("written", &name, &error))?;
            Ok(edited)
        })
        .await?;
        let text = format!("Successfully replaced {} in {path}.", blocks(edits.len()));
        Ok(Outcome::done(text).with_details(json!({
            "diff": edited.diff,
            "firstChangedLine": edited.first_line,
        })))
    }

    async fn bash(
        &self,
        id: &str,
        arguments: &Arguments<'_>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, String> {
        let Some(settings) = &self.bash else {
            return Err("There is no shell in this session.".into());
        };
        let command = arguments.text("command")?;
        if command.trim().is_empty() {
            return Err(arguments.wrong("command", "is empty"));
        }
        if command.contains('\0') {
            return Err(arguments.wrong("command", "has a NUL character in it"));
        }
        let timeout = arguments.number("timeout")?.map(Duration::from_secs);
        let ask = Ask {
            tool: "bash".into(),
            what: "run a command".into(),
            preview: command.to_owned(),
            caution: Some(NOT_CONFINED.into()),
            always: "this very command".into(),
        };
        if !self.permissions.allows_command(command) {
            self.allow(&ask, Some(command), None, cancel).await?;
        }
        let workspace = self.fence.workspace();
        Ok(bash::run(settings, workspace, id, command, timeout, cancel).await)
    }

    async fn memory(
        &self,
        name: &str,
        arguments: &Arguments<'_>,
        cancel: &CancellationToken,
    ) -> Result<Outcome, String> {
        let Some(notebook) = self.notebook.clone() else {
            return Err("There is no memory in this session.".into());
        };
        let text = match name {
            "memory_search" => {
                let query = arguments.text("query")?.to_owned();
                if query.trim().is_empty() {
                    return Err("Say what to look for: the parameter \"query\" is empty.".into());
                }
                let limit = arguments
                    .number("maxResults")?
                    .map_or(notebook.usual_hits(), |limit| limit.min(MOST_HITS) as usize);
                apart(cancel, move || notebook.search(&query, limit)).await?
            }
            _ => {
                let path = arguments.text("path")?.to_owned();
                let (from, lines) = (arguments.number("from")?, arguments.number("lines")?);
                apart(cancel, move || notebook.get(&path, from, lines)).await?
            }
        };
        Ok(Outcome::done(text))
    }

    /// Asks, if it must be asked.
    async fn allow(
        &self,
        ask: &Ask,
        command: Option<&str>,
        file: Option<&Inside>,
        cancel: &CancellationToken,
    ) -> Result<(), String> {
        // A hook or a setting of git's runs commands, so to write one is to run
        // one: leave to write is not enough.
        let runs =
            file.is_some_and(is_gits_own) && self.permissions.policy("bash") != Policy::Allow;
        let grant = match command {
            Some(_) => ask.tool.as_str(),
            None => "write",
        };
        match self.permissions.policy(&ask.tool) {
            Policy::Allow if !runs => return Ok(()),
            Policy::Deny => {
                return Err(format!(
                    "The tool \"{}\" is not allowed in this session. Nothing was done.",
                    ask.tool
                ));
            }
            _ => {}
        }
        let granted = || self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if !runs && granted().covers(grant, command) {
            return Ok(());
        }
        let cancelled = || Approval::Denied("the turn was cancelled".into());
        let answer = match cancel.is_cancelled() {
            true => cancelled(),
            false => tokio::select! {
                biased;
                () = cancel.cancelled() => cancelled(),
                answer = self.approver.approve(ask) => answer,
            },
        };
        match answer {
            Approval::Once => Ok(()),
            Approval::Always => {
                granted().grant(grant, command);
                Ok(())
            }
            Approval::Denied(reason) => Err(format!(
                "The user did not allow \"{}\" to {}: {reason}. Nothing was done. Do not try the \
                 same again another way; ask what to do instead, or go on without it.",
                ask.tool, ask.what
            )),
        }
    }
}

impl Toolbox for WorkspaceTools {
    fn definitions(&self) -> Vec<Tool> {
        schema::ALL
            .iter()
            .filter(|(name, ..)| self.offers(name))
            .map(|(name, description, parameters)| Tool {
                name: (*name).into(),
                description: (*description).into(),
                parameters: (*parameters).into(),
            })
            .collect()
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let mut outcome = match self.dispatch(call, cancel).await {
                Ok(outcome) => outcome,
                Err(why) => Outcome::failed(why),
            };
            // A command may find the key by which we are paid for, in `/proc` or in a
            // file; it must not get into the session and to the provider by that.
            for secret in &self.secrets {
                if outcome.text.contains(secret.as_str()) {
                    outcome.text = outcome.text.replace(secret.as_str(), "[redacted]");
                }
            }
            outcome
        })
    }
}

fn open(inside: &Inside, name: &str) -> Result<std::fs::File, String> {
    confine::open(inside).map_err(|error| cannot("read", name, &error))
}

fn whole(inside: &Inside, name: &str) -> Result<Vec<u8>, String> {
    let file = open(inside, name)?;
    let mut bytes = Vec::new();
    file.take(EDIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot("read", name, &error))?;
    if bytes.len() as u64 > EDIT_BYTES {
        return Err(format!(
            "\"{name}\" is larger than {} MB, which is too large to edit. Use bash.",
            EDIT_BYTES >> 20
        ));
    }
    Ok(bytes)
}

fn cannot(what: &str, name: &str, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "\"{name}\" does not exist. Paths are relative to the workspace; list a folder to see \
             what is there."
        ),
        std::io::ErrorKind::IsADirectory => {
            format!("\"{name}\" is a folder, and only files can be {what}. List it with bash.")
        }
        _ => format!("\"{name}\" cannot be {what}: {error}."),
    }
}

fn is_gits_own(inside: &Inside) -> bool {
    inside
        .below()
        .components()
        .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

fn preview(content: &str) -> String {
    let lines = content.lines().count();
    let mut shown: String = content
        .lines()
        .take(PREVIEW_LINES)
        .map(|line| format!("+ {line}\n"))
        .collect();
    if lines > PREVIEW_LINES {
        shown.push_str(&format!("… {} more lines\n", lines - PREVIEW_LINES));
    }
    shown
}

fn places(count: usize) -> String {
    match count {
        1 => "1 place".into(),
        count => format!("{count} places"),
    }
}

fn blocks(count: usize) -> String {
    match count {
        1 => "1 block".into(),
        count => format!("{count} blocks"),
    }
}
