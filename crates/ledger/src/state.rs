//! The state files: `decisions.json`, `thread.json`, `resources.json` and
//! `open_items.json`, from which a checkpoint is made.

use longhaul_transcript::Millis;
use serde::{Deserialize, Serialize};

use crate::facts::{Decision, FileChange, Rule, Speaker};
use crate::handed::Handed;
use crate::ledger::Ledger;
use crate::ours;
use crate::text::first_chars;

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
    /// `d1`, `d2`, …; `a3` is the agent's, `p4` was passed on by the user, and
    /// `r1`, `h1` are rules.
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
    /// What the agent marked as learnt.
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

/// Rules of each kind in a checkpoint, the newest.
const MOST_RULES: usize = 60;

/// The letter before the number of a decision: whose it is.
fn whose(decision: &Decision) -> char {
    match decision.by {
        Speaker::Agent | Speaker::Tool => 'a',
        Speaker::User if decision.pasted => 'p',
        Speaker::User => 'd',
    }
}

impl StateDecision {
    /// Whether it is a rule of this session, and no decision.
    pub fn is_rule(&self) -> bool {
        ours::is_rule(&self.what)
    }
}

impl Ledger {
    /// The state files of a checkpoint.
    pub fn state_files(&self) -> StateFiles {
        StateFiles {
            decisions: self.state_decisions(),
            thread: self.state_thread(),
            resources: self.state_resources(),
            open_items: OpenItemsFile {
                open_items: self
                    .open_items()
                    .map(|item| item.text.clone())
                    .chain(
                        self.questions
                            .iter()
                            .filter(|question| question.answered.is_none())
                            .map(|question| question.text.clone()),
                    )
                    .collect(),
            },
        }
    }

    fn state_decisions(&self) -> DecisionsFile {
        let live: Vec<_> = self.live_decisions().collect();
        let left = live.len().saturating_sub(self.capture.decisions);
        let before = self.working.decisions_left as usize + left;
        DecisionsFile {
            decisions: self
                .state_rules()
                .into_iter()
                .chain(live[left..].iter().enumerate().map(|(at, decision)| {
                    StateDecision {
                        id: format!("{}{}", whose(decision), before + at + 1),
                        what: decision.what.clone(),
                        why: decision.reason.clone(),
                        when: decision.time.map(Millis::to_iso),
                        entries: decision
                            .provenance
                            .entries
                            .iter()
                            .map(ToString::to_string)
                            .collect(),
                    }
                }))
                .collect(),
            left_out: before as u64,
        }
    }

    /// The rules that hold, in the words of a decision: a checkpoint has no other
    /// place for them, and whoever goes on from it has to keep them.
    fn state_rules(&self) -> Vec<StateDecision> {
        let own: Vec<&Rule> = self.own_rules().collect();
        let own = own[own.len().saturating_sub(MOST_RULES)..].iter().copied();
        let own = own.map(|rule| ('r', ours::RULE, rule));
        let handed = self.handed.iter().flat_map(Handed::live_rules);
        let handed = handed
            .take(MOST_RULES)
            .map(|rule| ('h', ours::HANDED_RULE, rule));
        own.chain(handed)
            .enumerate()
            .map(|(at, (kind, label, rule))| StateDecision {
                id: format!("{kind}{}", at + 1),
                what: format!("{label}{}", rule.text),
                why: None,
                when: None,
                entries: rule
                    .provenance
                    .entries
                    .iter()
                    .map(ToString::to_string)
                    .collect(),
            })
            .collect()
    }

    fn state_thread(&self) -> ThreadFile {
        let first = self
            .requests
            .first()
            .map(|request| request.gist.as_str())
            .unwrap_or("");
        let last = self
            .requests
            .last()
            .map(|request| request.gist.as_str())
            .unwrap_or("");
        let summary = match self.requests.len() {
            0 | 1 => first_chars(first, 100).to_owned(),
            _ => format!("{} ... {}", first_chars(first, 100), first_chars(last, 100)),
        };
        let mut errors: Vec<StateError> = self
            .unresolved()
            .take(20)
            .map(|trouble| StateError {
                line: trouble.line.clone(),
                cause: trouble.cause.clone(),
            })
            .collect();
        errors.reverse();
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
            learnings: self.learnings.clone(),
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
