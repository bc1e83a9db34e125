//! The ledger itself: state, and the fold.

use std::collections::BTreeMap;

use longhaul_transcript::{
    Block, Body, Channel, Entry, EntryId, MessageView, Millis, Role, UserText,
};
use serde::{Deserialize, Serialize};

use crate::capture::Capture;
use crate::facts::{
    Agreement, CommandRun, Exchange, FileRecord, InFlight, Item, Note, Origin, Question, Reply,
    Speaker, TurnState, TurnWork, Utterance,
};
use crate::handed::Handed;
use crate::outcome::Ended;
use crate::tools::{ToolUse, classify};
use crate::utterances::{is_brought, origin};
use crate::working::{Call, Working};

/// What happened in a session so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ledger {
    /// The form it is stored in; see [`Ledger::VERSION`].
    pub version: u32,
    /// The working folder, for normalising paths.
    pub cwd: Option<String>,
    /// Entries folded in.
    pub entries: u64,
    /// The last of them.
    pub last_entry: Option<EntryId>,
    /// When the last of them was written.
    pub last_time: Option<Millis>,
    /// How often the user said something.
    pub heard: u32,
    /// What the user said, oldest first.
    pub utterances: Vec<Utterance>,
    /// Older ones that are no longer listed here, only in the transcript.
    pub utterances_left: u64,
    /// The work that was handed over to this session, if it began so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed: Option<Handed>,
    /// What was agreed, oldest first.
    pub agreements: Vec<Agreement>,
    /// Older ones that are no longer listed here.
    pub agreements_left: u64,
    /// What the agent noted, oldest first.
    pub notes: Vec<Note>,
    /// Older ones that are no longer listed here.
    pub notes_left: u64,
    /// Short messages after long answers, oldest first.
    pub replies: Vec<Reply>,
    /// Older ones that are no longer listed here.
    pub replies_left: u64,
    /// Work by turn, oldest first.
    pub turns: Vec<TurnWork>,
    /// Older turns that are no longer listed here.
    pub turns_left: u64,
    /// Files by full path.
    pub files: BTreeMap<String, FileRecord>,
    /// Commands, least recently run first.
    pub commands: Vec<CommandRun>,
    /// To-do items in the order they were listed.
    pub items: Vec<Item>,
    /// Questions asked through a tool, oldest first.
    pub questions: Vec<Question>,
    /// Tools used, and how often.
    pub tools: BTreeMap<String, u32>,
    /// Messages that shaped the conversation.
    pub exchanges: Vec<Exchange>,
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
    /// The form in which ledgers are stored now. One of another form is not read
    /// but folded anew from the entries.
    pub const VERSION: u32 = 5;

    /// An empty ledger for a session in a folder.
    pub fn new(cwd: Option<String>) -> Ledger {
        Ledger {
            version: Ledger::VERSION,
            cwd,
            ..Ledger::default()
        }
    }

    /// The same ledger, capturing so much from here on.
    #[must_use]
    pub fn capturing(self, capture: Capture) -> Ledger {
        Ledger { capture, ..self }
    }

    /// How much it captures.
    pub fn capture(&self) -> Capture {
        self.capture
    }

    /// Folds one entry in. Entries come in the order of the path.
    pub fn observe(&mut self, entry: &Entry) {
        self.observe_read(entry, entry.message().as_ref());
    }

    /// The same with its message, which was read before.
    pub fn observe_read(&mut self, entry: &Entry, message: Option<&MessageView<'_>>) {
        self.version = Ledger::VERSION;
        self.entries += 1;
        self.last_entry = Some(entry.id.clone());
        self.last_time = entry.time.or(self.last_time);
        let at = At {
            entry: &entry.id,
            time: entry.time,
            rank: self.entries,
        };
        match &entry.body {
            Body::Custom { .. } => self.on_mark(at, entry),
            Body::Message(_) => {
                let Some(view) = message else {
                    return;
                };
                if matches!(view.role, Role::Assistant | Role::ToolResult) {
                    self.working.acted = view.time().max(self.working.acted);
                }
                match view.role {
                    Role::User => self.on_user(at, view),
                    Role::Assistant => self.on_assistant(at, view),
                    Role::ToolResult => self.on_result(at, view),
                    Role::BashExecution => self.on_bash(at, view),
                    // Notes of programs are neither wishes nor work.
                    Role::System
                    | Role::Custom
                    | Role::BranchSummary
                    | Role::CompactionSummary
                    | Role::Other(_) => return,
                }
                self.refresh_flight();
            }
            _ => {}
        }
    }

    /// Folds many entries in.
    pub fn observe_all<'a>(&mut self, entries: impl IntoIterator<Item = &'a Entry>) {
        for entry in entries {
            self.observe(entry);
        }
    }

    /// An entry of our own that says where a session comes from.
    fn on_mark(&mut self, at: At<'_>, entry: &Entry) {
        if let Some(handed) = Handed::of(entry) {
            for text in std::iter::once(&handed.task).chain(&handed.constraints) {
                self.carry_words(at, text, Origin::HandedOver);
            }
            self.handed = Some(handed);
        }
        self.carry_session(at, entry);
        if is_brought(entry) {
            self.disown();
        }
    }

    fn on_user(&mut self, at: At<'_>, view: &MessageView<'_>) {
        let origin = origin(view);
        let mut texts = view.user_text();
        if texts.is_empty() && origin == Origin::Agent {
            // Nobody typed it, but it is all that a subagent was asked.
            texts.push(UserText::new(Channel::Prompt, view.text()));
        }
        let waited = self.has_waited(at, view);
        for mut said in texts {
            if said.text.trim().is_empty() {
                continue;
            }
            if waited && said.channel == Channel::Prompt {
                said.channel = Channel::Queued;
            }
            self.close_questions(at);
            let joins = said.channel != Channel::Prompt;
            if !joins {
                self.interrupt_open();
            }
            if origin == Origin::User {
                self.note_reply(at, &said.text);
            }
            self.hear(at, &said, origin);
            self.thread_user(at, &said.text);
            if !joins {
                self.begin_turn(at);
            }
            self.working.answer = Default::default();
        }
    }

    /// Whether a message was typed while the agent worked, and delivered later: it
    /// is older than what the agent did before it, and its entry is not. (pi writes
    /// both times, and says nothing else of steering and follow-ups.)
    fn has_waited(&self, at: At<'_>, view: &MessageView<'_>) -> bool {
        match (view.time(), self.working.acted, at.time) {
            (Some(typed), Some(acted), Some(delivered)) => typed < acted && acted <= delivered,
            _ => false,
        }
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
                Block::Text(_)
                | Block::Image { .. }
                | Block::Document { .. }
                | Block::Thinking { .. }
                | Block::Other(_) => {}
            }
        }
        let text = without_analysis(&text);
        if !text.trim().is_empty() {
            self.thread_agent(at, text);
            self.turn_said(at, text);
            self.note_words(at, text);
        }
        if settled && calls.is_empty() {
            self.settle_open(TurnState::Answered);
        }
        for call in calls {
            let does = classify(&call.name, call.arguments);
            self.count_tool(&call.name);
            match &does {
                ToolUse::Shell { command, .. } => self.start_command(at, command, Speaker::Agent),
                ToolUse::Ask { question, options } => self.ask(at, question, options),
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
        let said = view.user_text();
        let (id, tool) = (view.tool_call_id(), view.tool_name());
        if let Some(call) = self.working.answered(id.as_deref(), tool.as_deref()) {
            let ended = Ended::read(view, &call);
            match &call.does {
                ToolUse::Shell { command, dir } => {
                    self.finish_command(at, command, &ended);
                    if ended.passed() {
                        self.apply_shell(at, &call, command, dir.as_deref(), &ended);
                    }
                }
                ToolUse::Todo { .. } | ToolUse::TodoAdd { .. } | ToolUse::TodoSet { .. } => {
                    if ended.passed() {
                        self.apply_list(at, &call.does, view, &ended);
                    }
                }
                ToolUse::Ask { .. } => self.answered(at, &said),
                ToolUse::Plan { text } if ended.passed() => self.approve_plan(at, text, view),
                ToolUse::Note { kind, text } if ended.passed() => self.note(at, *kind, text),
                does => self.apply_files(at, does, &ended),
            }
            if ended.rejected() && said.is_empty() {
                self.interrupt_open();
            }
        }
        for said in &said {
            self.hear(at, said, Origin::User);
            self.thread_user(at, &said.text);
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
        self.start_command(at, &command, Speaker::User);
        self.finish_command(at, &command, &ended);
        if ended.passed() {
            self.apply_shell(at, &call, &command, None, &ended);
        }
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
