//! A checkpoint before it has a number: made from a ledger, by arithmetic.

use longhaul_ledger::{Capture, InFlight, Ledger, StateFiles};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Millis, SessionKey};

use crate::schema::{
    Checkpoint, Exchange, LastToolCall, Meta, Resources, Role, Status, TakenDecision, Thread,
    TokenUsage, Trigger, Working,
};
use crate::state::{self, State};
use crate::text::{clip, one_line, short_line};
use crate::{CheckpointId, Policy};

/// Work that nothing was added to for so long rests.
const IDLE_AFTER_MS: i64 = 30 * 60 * 1000;
/// Longest free text; the ledger's own are far shorter.
const TEXT_CHARS: usize = 2_000;
/// Longest line of the re-entry packet.
const PACKET_CHARS: usize = 300;
/// Most open items.
const OPEN_ITEMS: usize = 100;

/// What a ledger does not know: which session, when, why, how full.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The session's key.
    pub session_key: SessionKey,
    /// The session's file, as it should be found again.
    pub session_file: String,
    /// The time now.
    pub at: Millis,
    /// Why a checkpoint is made.
    pub trigger: Trigger,
    /// Compactions of the session so far.
    pub compactions: u32,
    /// Tokens in the context.
    pub input_tokens: Tokens,
    /// Tokens that fit.
    pub context_window: Tokens,
    /// Where the user speaks to the agent.
    pub channel: String,
    /// The agent.
    pub agent_id: String,
    /// Whether the present turn is cut in two.
    pub turn: Turn,
}

/// Whether a compaction cuts the present turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// It does not.
    Whole,
    /// It does, after this tool call if one is known.
    Interrupted(Option<LastToolCall>),
}

/// A checkpoint without a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    moment: Moment,
    working: Working,
    state: StateFiles,
}

impl Draft {
    /// The work that a ledger tells of, at a moment. The same arguments give
    /// the same draft.
    pub fn of(ledger: &Ledger, moment: Moment) -> Draft {
        let state = ledger.state_files();
        let (interrupted, last_tool_call) = match &moment.turn {
            Turn::Whole => (false, None),
            Turn::Interrupted(call) => (true, call.clone()),
        };
        let working = Working {
            topic: short_line(&state.thread.topic, TEXT_CHARS),
            status: status(ledger, &moment),
            interrupted,
            last_tool_call: last_tool_call.map(|call| LastToolCall {
                name: one_line(&call.name),
                params_summary: short_line(&call.params_summary, PACKET_CHARS),
            }),
            next_action: packet(&ledger.in_flight, &state),
        };
        Draft {
            moment,
            working,
            state,
        }
    }

    /// The session it was made of.
    pub fn session_key(&self) -> &SessionKey {
        &self.moment.session_key
    }

    /// The session file it was made of.
    pub fn session_file(&self) -> &str {
        &self.moment.session_file
    }

    /// When it was made.
    pub(crate) fn at(&self) -> Millis {
        self.moment.at
    }

    /// The incremental state at the same moment.
    pub fn state(&self) -> State {
        State {
            session_file: self.moment.session_file.clone(),
            updated_at: self.moment.at,
            files: self.state.clone(),
        }
    }

    /// Every free text, for secrets to be taken out.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let (working, state) = (&mut self.working, &mut self.state);
        let thread = &mut state.thread;
        let mut texts = vec![&mut working.topic, &mut working.next_action];
        let call = working.last_tool_call.iter_mut();
        texts.extend(call.map(|call| &mut call.params_summary));
        for decision in &mut state.decisions.decisions {
            texts.push(&mut decision.what);
            texts.extend(&mut decision.why);
        }
        texts.extend([&mut thread.topic, &mut thread.summary]);
        let exchanges = thread.key_exchanges.iter_mut();
        texts.extend(exchanges.map(|exchange| &mut exchange.gist));
        for error in &mut thread.errors {
            texts.extend([&mut error.line, &mut error.cause]);
        }
        texts.extend(&mut thread.learnings);
        texts.extend(&mut state.resources.files_read);
        texts.extend(&mut state.resources.files_modified);
        texts.extend(&mut state.open_items.open_items);
        texts
    }

    /// Takes over what an earlier session of the same key left behind.
    pub fn carry(&mut self, older: &StateFiles, caps: &Capture) {
        state::carry(&mut self.state, older, caps);
    }

    /// The checkpoint of this name, linked to the one before it.
    pub fn numbered(&self, id: CheckpointId, previous: Option<CheckpointId>) -> Checkpoint {
        let (moment, state) = (&self.moment, &self.state);
        let lines = |list: &[String]| -> Vec<String> {
            list.iter()
                .map(|text| clip(text.trim(), TEXT_CHARS))
                .filter(|text| !text.is_empty())
                .collect()
        };
        let mut open_items = lines(&state.open_items.open_items);
        open_items.truncate(OPEN_ITEMS);
        Checkpoint {
            meta: Meta {
                checkpoint_id: id,
                session_key: moment.session_key.clone(),
                session_file: moment.session_file.clone(),
                created_at: moment.at.to_iso(),
                trigger: moment.trigger,
                compaction_count: moment.compactions,
                token_usage: usage(moment.input_tokens, moment.context_window),
                previous_checkpoint: previous,
                channel: moment.channel.clone(),
                agent_id: moment.agent_id.clone(),
            },
            working: self.working.clone(),
            decisions: state
                .decisions
                .decisions
                .iter()
                .map(|decision| TakenDecision {
                    id: decision.id.clone(),
                    what: with_reason(&decision.what, decision.why.as_deref()),
                    when: decision.when.clone(),
                })
                .collect(),
            resources: Resources {
                files_read: state.resources.files_read.clone(),
                files_modified: state.resources.files_modified.clone(),
                tools_used: state.resources.tools_used.clone(),
            },
            thread: Thread {
                summary: clip(state.thread.summary.trim(), TEXT_CHARS),
                key_exchanges: state
                    .thread
                    .key_exchanges
                    .iter()
                    .map(|exchange| Exchange {
                        role: match exchange.role.as_str() {
                            "user" => Role::User,
                            _ => Role::Agent,
                        },
                        gist: clip(exchange.gist.trim(), TEXT_CHARS),
                    })
                    .collect(),
            },
            open_items,
            learnings: lines(&state.thread.learnings),
        }
    }

    /// Whether a checkpoint would say nothing that `last` does not: the same
    /// work, and token use that moved by less than the policy's share.
    pub fn repeats(&self, last: &Checkpoint, policy: &Policy) -> bool {
        let now = self.numbered(last.meta.checkpoint_id, last.meta.previous_checkpoint);
        let before = last.meta.token_usage.input_tokens as f64;
        let moved = (now.meta.token_usage.input_tokens as f64 - before).abs();
        let little = moved * 100.0 < before * policy.minimum_change_percent || moved == 0.0;
        little && now.same_work(last)
    }
}

fn usage(input: Tokens, window: Tokens) -> TokenUsage {
    let share = f64::from(input.0) / f64::from(window.0.max(1));
    TokenUsage {
        input_tokens: u64::from(input.0),
        context_window: u64::from(window.0),
        utilization: (share * 100.0).round() / 100.0,
    }
}

fn status(ledger: &Ledger, moment: &Moment) -> Status {
    if moment.turn != Turn::Whole {
        return Status::InProgress;
    }
    if ledger.in_flight.question.is_some() {
        return Status::WaitingForUser;
    }
    let resting = ledger
        .last_time
        .is_some_and(|last| moment.at.0.saturating_sub(last.0) >= IDLE_AFTER_MS);
    match ledger.entries == 0 || resting {
        true => Status::Idle,
        false => Status::InProgress,
    }
}

/// The re-entry packet: the next step first, then what was in hand. The schema
/// has one field for it, so it is the lines of that field.
fn packet(flight: &InFlight, state: &StateFiles) -> String {
    let next = match (&flight.next_step, state.open_items.open_items.first()) {
        (Some(step), _) => step.clone(),
        (None, Some(item)) => item.clone(),
        (None, None) => state.thread.topic.clone(),
    };
    let line = |label: &str, text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        (label.to_owned(), text.to_owned())
    };
    let lines = [
        (String::new(), next),
        line("failing: ", &flight.failing),
        line("file in hand: ", &flight.file),
        line("last command: ", &flight.command),
        line("question waiting for the user: ", &flight.question),
    ];
    let lines: Vec<String> = lines
        .into_iter()
        .filter_map(|(label, text)| {
            let text = short_line(&text, PACKET_CHARS);
            (!text.is_empty()).then(|| label + &text)
        })
        .collect();
    lines.join("\n")
}

/// What was decided, and why where the sentence does not say it itself.
fn with_reason(what: &str, why: Option<&str>) -> String {
    let what = what.trim();
    let text = match why.map(str::trim) {
        Some(why) if !why.is_empty() && !what.contains(why) => format!("{what} (why: {why})"),
        _ => what.to_owned(),
    };
    clip(&text, TEXT_CHARS)
}
