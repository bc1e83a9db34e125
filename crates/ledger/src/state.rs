//! The state files: `decisions.json`, `thread.json`, `resources.json` and
//! `open_items.json`, from which a checkpoint is made.

use longhaul_transcript::Millis;
use serde::{Deserialize, Serialize};

use crate::facts::{Agreement, FileChange, NoteKind, Origin, Speaker, Utterance};
use crate::ledger::Ledger;
use crate::ours;
use crate::text::{first_chars, gist};

/// The four files together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StateFiles {
    /// `decisions.json`.
    pub decisions: DecisionsFile,
    /// `thread.json`.
    pub thread: ThreadFile,
    /// `resources.json`.
    pub resources: ResourcesFile,
    /// `open_items.json`.
    pub open_items: OpenItemsFile,
}

/// Decisions as they happened.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionsFile {
    /// The newest decisions that still hold, oldest first.
    pub decisions: Vec<StateDecision>,
    /// Older ones that were left out.
    pub left_out: u64,
}

/// One decision of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateDecision {
    /// `n1` was noted by the agent, `a2` is an answer that was chosen, `p3` a plan
    /// that was approved, `r4` a short reply with the line it answers.
    pub id: String,
    /// What was decided.
    pub what: String,
    /// Why, if it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When, in ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Entries it comes from.
    pub entries: Vec<String>,
}

/// Where the conversation is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadFile {
    /// The gist of the last user message.
    pub topic: String,
    /// The first and the last user message, shortened.
    pub summary: String,
    /// Messages that shaped the conversation.
    pub key_exchanges: Vec<StateExchange>,
    /// Failures that still stand, newest last.
    pub errors: Vec<StateError>,
    /// What the agent noted as learnt, or as a fact.
    pub learnings: Vec<String>,
}

/// One exchange of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateExchange {
    /// `user` or `agent`.
    pub role: String,
    /// The beginning of the message.
    pub gist: String,
}

/// One failure of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateError {
    /// The line that says what went wrong.
    pub line: String,
    /// What gave it.
    pub cause: String,
}

/// Files and tools.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourcesFile {
    /// Files that were only read, the latest last.
    pub files_read: Vec<String>,
    /// Files that were changed, the latest last.
    pub files_modified: Vec<String>,
    /// Tools that were called.
    pub tools_used: Vec<String>,
    /// Older files and further tools that were left out.
    pub left_out: u64,
}

/// What is still to be done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenItemsFile {
    /// Items and unanswered questions.
    pub open_items: Vec<String>,
}

/// Characters of a plan in a checkpoint.
const PLAN: usize = 1_000;

impl Ledger {
    /// The state files of a checkpoint.
    pub fn state_files(&self) -> StateFiles {
        StateFiles {
            decisions: self.state_decisions(),
            thread: self.state_thread(),
            resources: self.state_resources(),
            open_items: OpenItemsFile {
                open_items: self.state_open_items(),
            },
        }
    }

    fn state_open_items(&self) -> Vec<String> {
        let items = self.open_items().map(|item| item.text.clone());
        let asked = self.open_questions().map(|question| question.text.clone());
        let noted = self.noted(NoteKind::OpenItem).map(|note| note.text.clone());
        let mut all: Vec<String> = Vec::new();
        for text in items.chain(asked).chain(noted) {
            if !all.contains(&text) {
                all.push(text);
            }
        }
        all
    }

    /// What was noted as a decision, chosen and approved, and short replies with
    /// the line they answer; in the order of time.
    fn state_decisions(&self) -> DecisionsFile {
        let decision =
            |id: String, what, when: Option<Millis>, entry: &longhaul_transcript::EntryId| {
                (
                    when,
                    StateDecision {
                        id,
                        what,
                        why: None,
                        when: when.map(Millis::to_iso),
                        entries: vec![entry.to_string()],
                    },
                )
            };
        let notes = self
            .noted(NoteKind::Decision)
            .enumerate()
            .map(|(at, note)| {
                let id = format!("n{}", at + 1);
                decision(id, note.text.clone(), note.time, &note.entry)
            });
        let agreed = self.agreements.iter().enumerate().map(|(at, agreement)| {
            let number = self.agreements_left as usize + at + 1;
            let (id, what) = match agreement {
                Agreement::Answer {
                    question,
                    answer,
                    option,
                    ..
                } => {
                    let answer = option.as_ref().unwrap_or(answer);
                    (format!("a{number}"), format!("{answer} ← {question}"))
                }
                Agreement::Plan { text, .. } => {
                    let plan = gist(text, PLAN);
                    (format!("p{number}"), format!("Plan approved: {plan}"))
                }
            };
            decision(id, what, agreement.time(), agreement.entry())
        });
        let replies = self.replies.iter().enumerate().map(|(at, reply)| {
            let id = format!("r{}", self.replies_left as usize + at + 1);
            let what = format!("{} ← {}", reply.text, reply.to);
            decision(id, what, reply.time, &reply.entry)
        });
        let mut all: Vec<_> = notes.chain(agreed).chain(replies).collect();
        all.sort_by_key(|(when, _)| *when);
        let left = all.len().saturating_sub(self.capture.decisions);
        let before = self.notes_left + self.agreements_left + self.replies_left;
        DecisionsFile {
            decisions: all
                .into_iter()
                .skip(left)
                .map(|(_, decision)| decision)
                .collect(),
            left_out: before + left as u64,
        }
    }

    fn state_thread(&self) -> ThreadFile {
        let says = |said: &Utterance| {
            let mark = match said.origin {
                Origin::Imported => ours::BROUGHT,
                _ => "",
            };
            format!("{mark}{}", first_chars(&gist(&said.text, 101), 100))
        };
        let first = self.utterances.first().map(says).unwrap_or_default();
        let summary = match &self.utterances[..] {
            [] | [_] => first,
            [.., last] => format!("{first} ... {}", says(last)),
        };
        let mut errors: Vec<StateError> = self
            .failing()
            .take(20)
            .map(|run| StateError {
                line: run.error.clone().unwrap_or_default(),
                cause: run.command.clone(),
            })
            .collect();
        errors.reverse();
        let learnt = self.notes.iter();
        let learnt = learnt.filter(|note| matches!(note.kind, NoteKind::Learning | NoteKind::Fact));
        ThreadFile {
            topic: self.topic.clone().unwrap_or_default(),
            summary,
            key_exchanges: self
                .exchanges
                .iter()
                .skip(self.exchanges.len().saturating_sub(self.capture.exchanges))
                .map(|exchange| StateExchange {
                    role: match exchange.by {
                        Speaker::User => String::from("user"),
                        Speaker::Agent | Speaker::Tool => String::from("agent"),
                    },
                    gist: exchange.gist.clone(),
                })
                .collect(),
            errors,
            learnings: learnt.map(|note| note.text.clone()).collect(),
        }
    }

    fn state_resources(&self) -> ResourcesFile {
        let mut left_out = 0;
        let mut newest = |wanted: &dyn Fn(&crate::FileRecord) -> bool| {
            let mut files: Vec<_> = self.files.values().filter(|file| wanted(file)).collect();
            files.sort_by_key(|file| (file.rank, &file.path));
            let left = files.len().saturating_sub(self.capture.files);
            left_out += left as u64;
            files[left..]
                .iter()
                .map(|file| file.path.clone())
                .collect::<Vec<_>>()
        };
        let files_modified = newest(&|file| file.is_modified());
        let files_read = newest(&|file| !file.is_modified() && file.last == FileChange::Read);
        left_out += self.tools.len().saturating_sub(self.capture.tools) as u64;
        ResourcesFile {
            files_read,
            files_modified,
            tools_used: self
                .tools
                .keys()
                .take(self.capture.tools)
                .cloned()
                .collect(),
            left_out,
        }
    }
}
