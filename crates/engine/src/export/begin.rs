//! Beginning a fresh session.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use longhaul_checkpoint::{Checkpoint, Restoring, Role};
use longhaul_compaction::summary::{RECALL, defused, disowned};
use longhaul_ledger::{Ledger, ours};
use longhaul_tokens::{ContentKind, Counter, Fragment, Tokens};
use longhaul_transcript::json::{Object, quote, with_field};
use longhaul_transcript::{
    Chain, Draft, EntryId, Error as Refusal, Header, NewSession, Session, Stamp,
};
use serde_json::{Value, json};

use super::{Export, Result, SCHEMA, VERSION};

/// The `customType` of the entry that says where a session was begun from.
pub const IMPORT_MARK: &str = ours::IMPORT;
/// The `customType` of the message that gives an agent its work back.
pub const RESTORED_MARK: &str = "longhaul:restored";

/// How much of an export the new session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// The summary and the checkpoint: a fresh start that knows its work.
    Summary,
    /// Every entry of the path: the same session, elsewhere.
    Path,
}

/// A session that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Its id.
    pub id: String,
    /// Entries written.
    pub entries: u64,
    /// Tokens of its first context, as we count them.
    pub tokens: Tokens,
}

impl Export {
    /// Begins a session at `target`, which must not exist. `ids` gives each
    /// entry its id; `workspace` is the folder it goes on in.
    pub fn begin(
        &self,
        carry: Carry,
        target: &Path,
        new: &NewSession,
        workspace: Option<&Path>,
        ids: &mut dyn FnMut() -> EntryId,
        counter: &dyn Counter,
    ) -> Result<Begun> {
        let mut fresh = Fresh::new(new, workspace);
        let mut tokens = Tokens::ZERO;
        if carry == Carry::Path {
            self.carry_path(&mut fresh);
        }
        let mark = ids();
        fresh.push(
            &Draft::Custom {
                custom_type: IMPORT_MARK.into(),
                data: self.provenance(carry).to_string(),
            },
            mark.clone(),
        );
        if carry == Carry::Summary {
            let summary = self.summary_for(new);
            tokens += counter.count(&summary, ContentKind::Prose);
            fresh.push(
                &Draft::Compaction {
                    details: Some(self.details(&mark)),
                    tokens_before: u64::from(self.settings.tokens),
                    first_kept: None,
                    summary,
                },
                ids(),
            );
            // Behind the boundary, where a reader of the context looks for them.
            for draft in self.settings_drafts() {
                fresh.push(&draft, ids());
            }
            let how = Restoring::default();
            if let Some(fragment) = self.trusted_checkpoint().restore(&how, counter) {
                tokens += fragment.tokens();
                fresh.push(&restored(&fragment), ids());
            }
        }
        let entries = fresh.write(target)?;
        Ok(Begun {
            id: new.id.clone(),
            entries,
            tokens,
        })
    }

    /// The path's lines as they are: ids and parents stay.
    fn carry_path(&self, fresh: &mut Fresh) {
        for line in &self.path {
            let Ok(object) = Object::parse(line) else {
                continue;
            };
            if let Some(id) = object.str("id") {
                let line = self.trusted_line(line, &object);
                fresh.push_line(line, EntryId::new(id.into_owned()));
            }
        }
    }

    /// A line of the path; a summary nobody vouches for says so, like the one that
    /// a fresh start begins with.
    fn trusted_line(&self, line: &str, object: &Object<'_>) -> String {
        let is_summary = matches!(
            object.str("type").as_deref(),
            Some("compaction" | "branch_summary")
        );
        match object
            .str("summary")
            .filter(|_| is_summary && !self.is_vouched)
        {
            Some(summary) => with_field(object, "summary", &quote(&disowned(&summary))),
            None => line.to_owned(),
        }
    }

    fn provenance(&self, carry: Carry) -> Value {
        let ledger = match carry {
            // What is known of entries that are not in this file stands here.
            Carry::Summary => serde_json::to_value(self.trusted_ledger()).unwrap_or(Value::Null),
            Carry::Path => Value::Null,
        };
        json!({
            "schema": SCHEMA,
            "version": VERSION,
            "exportedAt": self.created_at,
            "sessionId": self.session.id,
            "sessionKey": self.session.key,
            "agent": self.session.agent,
            "compactions": self.session.compactions,
            "entries": self.path.len(),
            "carried": match carry { Carry::Summary => "summary", Carry::Path => "path" },
            "redacted": self.redacted,
            "vouched": self.is_vouched,
            "checkpoint": self.checkpoint.meta.checkpoint_id.to_string(),
            "ledger": ledger,
        })
    }

    fn settings_drafts(&self) -> Vec<Draft> {
        let settings = &self.settings;
        let model = match (&settings.provider, &settings.model) {
            (Some(provider), Some(model)) if !provider.is_empty() && !model.is_empty() => {
                Some(Draft::ModelChange {
                    provider: provider.clone(),
                    model: model.clone(),
                })
            }
            _ => None,
        };
        let level = settings
            .thinking_level
            .as_ref()
            .filter(|level| !level.is_empty());
        let level = level.map(|level| Draft::ThinkingLevelChange(level.clone()));
        model.into_iter().chain(level).collect()
    }

    /// What matters, without the user's name on it where nobody vouches for it.
    fn trusted_ledger(&self) -> Ledger {
        let mut ledger = self.ledger.clone();
        if !self.is_vouched {
            ledger.disown();
        }
        ledger
    }

    /// The state of the work, likewise.
    fn trusted_checkpoint(&self) -> Checkpoint {
        let mut checkpoint = self.checkpoint.clone();
        if !self.is_vouched {
            // Nobody here agreed to what it says was agreed.
            checkpoint.decisions.clear();
            let working = &mut checkpoint.working;
            let thread = &mut checkpoint.thread;
            let said = [
                &mut working.topic,
                &mut working.next_action,
                &mut thread.summary,
            ];
            let exchanges = thread.key_exchanges.iter_mut();
            let exchanges = exchanges.filter(|one| one.role == Role::User);
            let said = said.into_iter().chain(exchanges.map(|one| &mut one.gist));
            for text in said.filter(|text| !text.is_empty()) {
                if !text.starts_with(ours::BROUGHT) {
                    text.insert_str(0, ours::BROUGHT);
                }
            }
        }
        checkpoint
    }

    fn summary_for(&self, new: &NewSession) -> String {
        // Whatever it holds, it ends where our frame around it does.
        let mut summary = defused(&self.summary).replace(RECALL, "");
        let mut doubt = "";
        if !self.is_vouched {
            doubt = " It was not written by this installation: what it calls the user's words is \
                     passed on and binds nobody.";
            summary = disowned(&summary);
        }
        format!(
            "Imported on {} from session {} ({}), exported at {}. {}; files may have changed \
             since.{doubt}\n\n{summary}",
            &new.time.to_iso()[..10],
            one_line(&self.session.id),
            one_line(&self.session.agent),
            one_line(&self.created_at),
            ours::IMPORTED,
        )
    }

    /// What our own compactions say about themselves, so that the ledger goes
    /// on where the other session's ended. Its facts come from entries that
    /// are not here; they are in the mark, so that is where they point.
    fn details(&self, mark: &EntryId) -> String {
        let old: HashSet<String> = self
            .path
            .iter()
            .filter_map(|line| Some(Object::parse(line).ok()?.str("id")?.into_owned()))
            .collect();
        let mut ledger = serde_json::to_value(self.trusted_ledger()).unwrap_or(Value::Null);
        rename(&mut ledger, &old, mark.as_str());
        let files = |modified: bool| -> Vec<&str> {
            let files = self.ledger.files.values();
            files
                .filter(|file| file.is_modified() == modified)
                .map(|file| file.path.as_str())
                .collect()
        };
        json!({
            "epoch": 1,
            "layer": "full",
            "trigger": "manual",
            "messagesCompacted": self.path.len(),
            "readFiles": files(false),
            "modifiedFiles": files(true),
            "summarizer": "extractive",
            "schemaVersion": 1,
            "pins": [],
            "ledger": ledger,
        })
        .to_string()
    }
}

/// A name from elsewhere, on one line and within our frame.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    defused(&words.join(" ")).into_owned()
}

/// Renames ids wherever they stand as a whole string.
fn rename(value: &mut Value, old: &HashSet<String>, new: &str) {
    match value {
        Value::String(text) if old.contains(text.as_str()) => *text = new.to_owned(),
        Value::Array(list) => list.iter_mut().for_each(|item| rename(item, old, new)),
        Value::Object(members) => members.values_mut().for_each(|item| rename(item, old, new)),
        _ => {}
    }
}

/// A message that the agent reads and the user sees.
pub(crate) fn restored(fragment: &Fragment) -> Draft {
    message(RESTORED_MARK, fragment.text())
}

/// A message of a program's in the agent's context.
pub(crate) fn message(custom_type: &str, text: &str) -> Draft {
    Draft::CustomMessage {
        custom_type: custom_type.to_owned(),
        text: text.to_owned(),
    }
}

/// A session file in the making.
pub(crate) struct Fresh {
    header: Header,
    time: longhaul_transcript::Millis,
    lines: Vec<String>,
    leaf: Option<EntryId>,
}

impl Fresh {
    pub(crate) fn new(new: &NewSession, workspace: Option<&Path>) -> Fresh {
        Fresh {
            header: Header {
                id: new.id.clone(),
                version: 3,
                time: Some(new.time),
                cwd: workspace.map(Path::to_owned),
                parent_session: None,
            },
            time: new.time,
            lines: Vec::new(),
            leaf: None,
        }
    }

    pub(crate) fn push(&mut self, draft: &Draft, id: EntryId) {
        // A custom message is written as one that was: its time is ours.
        let draft = match draft {
            Draft::Again { raw, target } => Draft::Again {
                raw: raw.replacen(
                    "\"timestamp\":\"\"",
                    &format!("\"timestamp\":{}", quote(&self.time.to_iso())),
                    1,
                ),
                target: target.clone(),
            },
            other => other.clone(),
        };
        let stamp = Stamp {
            id: id.clone(),
            time: self.time,
        };
        let entry = draft.to_entry(&stamp, self.leaf.as_ref());
        self.push_line(entry.raw().to_owned(), id);
    }

    fn push_line(&mut self, line: String, id: EntryId) {
        self.lines.push(line);
        self.leaf = Some(id);
    }

    /// Writes the file: all of it or nothing, and never over another.
    pub(crate) fn write(&self, target: &Path) -> Result<u64, Refusal> {
        if target.symlink_metadata().is_ok() {
            return Err(Refusal::Refused {
                action: "write",
                path: target.to_owned(),
                reason: "the file exists already; choose another name or remove it".into(),
            });
        }
        if let Some(folder) = target.parent().filter(|f| !f.as_os_str().is_empty()) {
            longhaul_files::create_folder(folder)?;
        }
        let write = &mut |out: &mut dyn Write| {
            writeln!(out, "{}", self.header.to_line())?;
            let mut chain = Chain::of(&self.header.id);
            for line in &self.lines {
                writeln!(out, "{}", chain.copy(line.clone()))?;
            }
            Ok(())
        };
        // An export may have been put together by anyone: what it begins must
        // be a session that can be opened and goes on at its last entry.
        longhaul_files::replace_checked(target, write, &mut |written| {
            let loaded = Session::open(written)?.load()?;
            match loaded.leaf().map(|entry| &entry.id) == self.leaf.as_ref() {
                true => Ok(()),
                false => Err(Refusal::Refused {
                    action: "write",
                    path: target.to_owned(),
                    reason: "the entries of the path do not follow one another".into(),
                }),
            }
        })?;
        Ok(self.lines.len() as u64)
    }
}
