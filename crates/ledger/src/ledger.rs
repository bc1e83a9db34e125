//! The ledger itself: state, and the fold.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_transcript::{Block, Body, Entry, EntryId, MessageView, Millis, Role};
use serde::{Deserialize, Serialize};

use crate::capture::Capture;
use crate::facts::{
    Anchor, CommandRun, Decision, Exchange, FileRecord, InFlight, Item, Outcome, Question, Request,
    Rule, Sentence, Speaker, Trouble,
};
use crate::handed::Handed;
use crate::heard::{Heard, Said};
use crate::outcome::Ended;
use crate::requests::said;
use crate::tools::{ToolUse, classify};
use crate::voices::{is_brought, is_others};
use crate::working::{Call, Working};

/// What matters in a session so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ledger {
    /// The working folder, for normalising paths.
    pub cwd: Option<String>,
    /// Entries folded in.
    pub entries: u64,
    /// The last of them.
    pub last_entry: Option<EntryId>,
    /// When the last of them was written.
    pub last_time: Option<Millis>,
    /// What the user asked for, oldest first.
    pub requests: Vec<Request>,
    /// Older requests that are no longer listed here, only in the transcript.
    pub requests_left: u64,
    /// Entries in the user's name that the user did not type, as far as facts
    /// name them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub others: BTreeSet<EntryId>,
    /// Standing rules, oldest first, revoked ones marked.
    pub rules: Vec<Rule>,
    /// The work that was handed over to this session, if it began so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed: Option<Handed>,
    /// Permissions and rules taken back that no rule here answers to, oldest
    /// first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lifts: Vec<Sentence>,
    /// What the user said is so, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Sentence>,
    /// Decisions, oldest first, replaced ones marked.
    pub decisions: Vec<Decision>,
    /// Files by full path.
    pub files: BTreeMap<String, FileRecord>,
    /// Commands, least recently run first.
    pub commands: Vec<CommandRun>,
    /// Errors, oldest first.
    pub troubles: Vec<Trouble>,
    /// To-do items in the order they were listed.
    pub items: Vec<Item>,
    /// Questions, oldest first.
    pub questions: Vec<Question>,
    /// Exact identifiers.
    pub anchors: BTreeMap<String, Anchor>,
    /// Tools used, and how often.
    pub tools: BTreeMap<String, u32>,
    /// Messages that shaped the conversation.
    pub exchanges: Vec<Exchange>,
    /// What the agent marked as learnt.
    pub learnings: Vec<String>,
    /// What the conversation is about now.
    pub topic: Option<String>,
    /// What is going on now.
    pub in_flight: InFlight,
    /// What the fold remembers between entries.
    pub(crate) working: Working,
    /// How much is captured. It belongs to the reader, not to the session, and
    /// is not stored with it.
    #[serde(skip)]
    pub(crate) capture: Capture,
}

/// The entry being folded in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) entry: &'a EntryId,
    pub(crate) time: Option<Millis>,
    /// Its number: larger is newer.
    pub(crate) rank: u64,
}

impl Ledger {
    /// An empty ledger for a session in a folder.
    pub fn new(cwd: Option<String>) -> Ledger {
        Ledger {
            cwd,
            ..Ledger::default()
        }
    }

    /// The same ledger, capturing so much from here on.
    #[must_use]
    pub fn capturing(self, capture: Capture) -> Ledger {
        Ledger { capture, ..self }
    }

    /// Folds one entry in. Entries come in the order of the path.
    pub fn observe(&mut self, entry: &Entry) {
        self.entries += 1;
        self.last_entry = Some(entry.id.clone());
        self.last_time = entry.time.or(self.last_time);
        let at = At {
            entry: &entry.id,
            time: entry.time,
            rank: self.entries,
        };
        if let Some(handed) = Handed::of(entry) {
            self.handed = Some(handed);
        }
        if is_brought(entry) {
            self.disown();
        }
        if let Body::Message(_) = &entry.body
            && let Some(view) = entry.message()
        {
            match view.role {
                Role::User => self.on_user(at, &view),
                Role::Assistant => self.on_assistant(at, &view),
                Role::ToolResult => self.on_result(at, &view),
                Role::BashExecution => self.on_bash(at, &view),
                // Notes of programs are neither wishes nor work.
                Role::System
                | Role::Custom
                | Role::BranchSummary
                | Role::CompactionSummary
                | Role::Other(_) => return,
            }
            self.refresh_flight();
        }
    }

    /// Folds many entries in.
    pub fn observe_all<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) {
        for entry in entries {
            self.observe(entry);
        }
    }

    fn on_user(&mut self, at: At<'_>, view: &MessageView<'_>) {
        let Some(text) = said(view) else {
            return;
        };
        let is_others = is_others(view);
        if is_others {
            self.hear_another(at.entry);
        }
        self.answer_questions(at);
        self.working.next = None;
        if !text.starts_with("<command-") {
            let heard = match is_others {
                true => Heard::of_others(&text),
                false => Heard::of(&text),
            };
            let said = heard.said();
            let replied = self.note_reply(at, &heard.text);
            self.note_rules(at, &said);
            if !replied {
                self.note_decisions(at, Speaker::User, &said);
            }
            self.note_statements(at, &said);
            self.note_anchors(at, Speaker::User, &said);
            self.note_checklist(at, &heard.text);
            self.note_output(at, &heard.attached);
            self.thread_user(at, &text);
        }
        self.add_request(at, text);
        self.working.answer = Default::default();
    }

    fn on_assistant(&mut self, at: At<'_>, view: &MessageView<'_>) {
        let settled = view.is_settled();
        let mut text = String::new();
        let mut calls = Vec::new();
        for block in view.blocks() {
            match block {
                Block::Text(part) if settled => {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&part);
                }
                Block::ToolCall(call) => calls.push(call),
                Block::Text(_) | Block::Image { .. } | Block::Thinking { .. } | Block::Other(_) => {
                }
            }
        }
        let text = without_analysis(&text);
        if !text.trim().is_empty() {
            let said = Said::new(text);
            self.note_decisions(at, Speaker::Agent, &said);
            self.note_anchors(at, Speaker::Agent, &said);
            self.note_checklist(at, text);
            self.note_learnings(text);
            if calls.is_empty() {
                // The answer that ends a turn says itself what comes next.
                self.working.next = None;
            }
            self.note_next(at, text, &said.ranges, &said.parts);
            let question = match calls.is_empty() {
                true => self.note_question(at, text, &said.ranges),
                false => None,
            };
            self.thread_agent(at, text);
            self.note_answer(at, text, question);
        }
        for call in calls {
            let does = classify(&call.name, call.arguments);
            self.count_tool(&call.name);
            match &does {
                ToolUse::Shell { command, .. } => self.start_command(at, command),
                ToolUse::Ask { question } => self.ask(at, question),
                _ => {}
            }
            self.working.call(Call {
                id: call.id.into_owned(),
                tool: call.name.into_owned(),
                entry: at.entry.clone(),
                does,
            });
        }
    }

    fn on_result(&mut self, at: At<'_>, view: &MessageView<'_>) {
        let (id, tool) = (view.tool_call_id(), view.tool_name());
        let Some(call) = self.working.answered(id.as_deref(), tool.as_deref()) else {
            return;
        };
        let ended = Ended::read(view, &call);
        match &call.does {
            ToolUse::Shell { command, dir } => {
                self.finish_command(at, command, ended.outcome());
                self.settle(at, crate::shell::runs(command), command, &ended);
                if ended.passed() {
                    self.apply_shell(at, &call, command, dir.as_deref(), &ended);
                }
                self.note_output(at, ended.text());
            }
            ToolUse::Todo { .. } | ToolUse::TodoAdd { .. } | ToolUse::TodoSet { .. } => {
                if ended.passed() {
                    self.apply_list(at, &call.does, view, &ended);
                }
            }
            ToolUse::Ask { .. } => self.answer_questions(at),
            does => {
                self.apply_files(at, does, &ended);
                let target = does.target().unwrap_or_default();
                let key = format!("\u{1}{}\u{1}{}", call.tool, self.place(target));
                let cause = format!("{} {target}", call.tool);
                self.settle(at, vec![key], cause.trim_end(), &ended);
            }
        }
    }

    /// A command that the user ran by hand.
    fn on_bash(&mut self, at: At<'_>, view: &MessageView<'_>) {
        let object = view.object();
        let Some(command) = object.str("command") else {
            return;
        };
        let call = Call {
            id: String::new(),
            tool: String::from("bash"),
            entry: at.entry.clone(),
            does: ToolUse::Other,
        };
        let ended = Ended::of_execution(object);
        self.start_command(at, &command);
        self.finish_command(at, &command, ended.outcome());
        self.settle(at, crate::shell::runs(&command), &command, &ended);
        if ended.passed() {
            self.apply_shell(at, &call, &command, None, &ended);
        }
        self.note_output(at, ended.text());
    }

    fn count_tool(&mut self, name: &str) {
        const MOST_TOOLS: usize = 300;
        if name.is_empty() {
            return;
        }
        if let Some(count) = self.tools.get_mut(name) {
            *count = count.saturating_add(1);
        } else if self.tools.len() < MOST_TOOLS {
            self.tools
                .insert(crate::text::clip(name, 120).to_owned(), 1);
        }
    }

    fn start_command(&mut self, at: At<'_>, command: &str) {
        const MOST: usize = 200;
        let text = crate::text::first_chars(command.trim(), 300);
        if text.is_empty() {
            return;
        }
        let mut run = match self.commands.iter().rposition(|run| run.command == text) {
            Some(known) => self.commands.remove(known),
            None => {
                if self.commands.len() >= MOST {
                    self.commands.remove(0);
                }
                CommandRun {
                    command: text.to_owned(),
                    outcome: Outcome::Running,
                    provenance: Default::default(),
                }
            }
        };
        run.outcome = Outcome::Running;
        run.provenance.add(at.entry);
        self.working.last_command = Some((run.command.clone(), at.entry.clone()));
        self.commands.push(run);
    }

    fn finish_command(&mut self, at: At<'_>, command: &str, outcome: Outcome) {
        let text = crate::text::first_chars(command.trim(), 300);
        if let Some(run) = self
            .commands
            .iter_mut()
            .rev()
            .find(|run| run.command == text)
        {
            run.outcome = outcome;
            if run.provenance.last() != Some(at.entry) && run.provenance.entries.len() < 2 {
                run.provenance.entries.push(at.entry.clone());
            }
        }
    }
}

/// What some models write before a summary is no part of the conversation.
fn without_analysis(text: &str) -> &str {
    match (
        text.trim_start().starts_with("<analysis>"),
        text.find("</analysis>"),
    ) {
        (true, Some(end)) => &text[end + "</analysis>".len()..],
        _ => text,
    }
}
