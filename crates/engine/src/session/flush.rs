//! The flush: once in an epoch, before a compaction, the agent may write down
//! what it wants to remember. Nothing of it reaches the user or the history;
//! what it cost does.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use longhaul_assembly::Tool;
use longhaul_compaction::Trigger;
use longhaul_memory::files::{Body, Origin};
use longhaul_memory::flush::{self as pieces, BoundLog};
use longhaul_memory::{MemoryFolder, Seal, Source};
use longhaul_model::{
    Content, Error as ModelError, Message, Model, Request, Role, ToolCall, ToolResult,
};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, EntryId, Millis};

use super::{AtWork, Error, Result, Session, Spent, spent_on, spent_on_failure};
use crate::event::Event;
use crate::marks::FLUSH_USAGE;
use crate::spending::to_json;
use crate::tools::Outcome;

pub(super) use longhaul_memory::flush::TOOL;

/// Characters of a tool's output in a silent turn whose context does not fit.
const LONGEST_RESULT: usize = 1_200;

/// Requests of one silent turn at most.
const MOST_ROUNDS: u32 = 4;

/// When the agent calls the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// In the silent turn before a compaction.
    Flushing,
    /// In any other.
    Working,
}

/// The one tool of a silent turn.
pub(super) fn tool() -> Tool {
    Tool {
        name: TOOL.to_owned(),
        description: pieces::TOOL_DESCRIPTION.to_owned(),
        parameters: pieces::tool_schema().to_string(),
    }
}

/// What came of asking the agent.
struct Asked {
    notes: usize,
    trouble: Option<String>,
}

impl AtWork<'_> {
    /// Saves to memory, unless that was done in this epoch.
    pub(super) async fn flush(&mut self, trigger: Trigger) -> Result<()> {
        let epoch = self.live().epoch();
        if self.bench.state.memory_flush_compaction_count == Some(epoch) {
            return Ok(());
        }
        // A climb from layer to layer begins epoch after epoch, and nobody says
        // anything in between: that was saved already. The epoch's own flush is
        // still to come.
        let newest = self.newest_message();
        if newest.is_some() && self.flushed_up_to == newest {
            return Ok(());
        }
        let memory = self.memory();
        let Some(memory) = self.trouble(memory) else {
            self.flushed(epoch);
            return Ok(());
        };
        // A flush that a crash cut short is not paid for twice: what the ledger
        // has is written instead.
        let interrupted = self.bench.state.flush_begun == Some(epoch);
        self.bench.state.flush_begun = Some(epoch);
        self.remember();
        self.tell(Event::FlushBegan { epoch });
        let model = self.setup.model.clone().filter(|_| !interrupted);
        let spent_before = self.bench.state.spending.flushes;
        let asked = match model {
            Some(model) => {
                let asked = self.ask_to_flush(model.as_ref(), &memory, trigger).await?;
                (Some(asked.notes), asked.trouble)
            }
            None => (
                None,
                interrupted.then(|| "an earlier one was cut short".to_owned()),
            ),
        };
        let ledger = self.live().ledger();
        let since = Some(self.live().base());
        let (by, notes, texts, fallback) = match asked {
            (Some(notes), None) => {
                // The agent's account of what was said is not what was said.
                let words = pieces::words_of_the_user(ledger, since);
                ("agent", notes, self.append_body(&memory, words), None)
            }
            (notes, fallback) => {
                // What the ledger has found since the last time.
                let found = pieces::extractive(ledger, since);
                let notes = notes.unwrap_or(0);
                let by = match notes {
                    0 => "ledger",
                    _ => "agent and ledger",
                };
                (by, notes + self.append_body(&memory, found), 0, fallback)
            }
        };
        self.flushed(epoch);
        let spent = self.bench.state.spending.flushes.since(&spent_before);
        if spent.requests > 0
            && let Some(info) = self.model().cloned()
        {
            self.append(&[Draft::Usage {
                kind: FLUSH_USAGE.to_owned(),
                provider: info.provider,
                model: info.name,
                usage: to_json(&spent).to_string(),
                note: Some(format!("silent turn before compaction {}", epoch + 1)),
            }])?;
        }
        self.tell(Event::Flushed {
            epoch,
            by,
            notes,
            texts,
            fallback,
            spent,
        });
        Ok(())
    }

    fn flushed(&mut self, epoch: u32) {
        self.bench.state.memory_flush_compaction_count = Some(epoch);
        self.bench.state.flush_begun = None;
        self.flushed_up_to = self.newest_message();
        self.remember();
    }

    /// Writes down what was found; how many notes that are.
    fn append_body(&mut self, memory: &MemoryFolder, body: Option<Body>) -> usize {
        let Some(mut body) = body else {
            return 0;
        };
        let now = self.setup.clock.now();
        self.date_notes(&mut body, now.time_zone());
        let notes = match &body {
            Body::Sections(sections) => {
                let notes = sections.iter().flat_map(|section| &section.notes);
                // A line that counts what was left out names no entry.
                notes.filter(|note| note.entry.is_some()).count()
            }
            Body::Text { .. } => 1,
        };
        let written = memory.append_log(now.datetime(), pieces::HEADING, self.origin(), &body);
        self.trouble(written).map_or(0, |_| notes)
    }

    /// A silent turn of the agent. What goes wrong is no reason to stop.
    async fn ask_to_flush(
        &mut self,
        model: &dyn Model,
        memory: &MemoryFolder,
        trigger: Trigger,
    ) -> Result<Asked> {
        let failed = |notes, trouble: String| Asked {
            notes,
            trouble: Some(trouble),
        };
        let mut notes = 0;
        let mut request = match self.flush_request(trigger) {
            Ok(request) => request,
            Err(error) => return Ok(failed(notes, error.to_string())),
        };
        for _ in 0..MOST_ROUNDS {
            let answer = match model.ask(&request, &mut |_| {}, &self.cancel).await {
                Ok(answer) => answer,
                Err(failure) => {
                    self.spend_on_flush(spent_on_failure(&failure, model.info()), model);
                    if failure.error == ModelError::Cancelled {
                        return Err(Error::Cancelled);
                    }
                    return Ok(failed(notes, failure.error.to_string()));
                }
            };
            self.spend_on_flush(spent_on(&answer, model.info()), model);
            let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
            if calls.is_empty() {
                let text = answer.text();
                if notes == 0 && !pieces::said_nothing(&text) {
                    // Without tools its words are what it would have appended. With
                    // them, it did not do what it was asked.
                    if !request.tools.is_empty() {
                        let trouble = format!("the model answered without calling {TOOL}");
                        return Ok(failed(notes, trouble));
                    }
                    let appended = self.append_note(memory, &text, When::Flushing);
                    notes += usize::from(appended.is_ok());
                }
                break;
            }
            let said = Message::new(Role::Assistant, answer.content.clone());
            request.messages.push(said);
            for call in calls {
                let outcome = self.flush_call(memory, &call);
                notes += usize::from(!outcome.is_error);
                request.messages.push(Message::tool(ToolResult {
                    call: call.id,
                    name: call.name,
                    content: vec![Content::Text(outcome.text)],
                    is_error: outcome.is_error,
                }));
            }
        }
        Ok(Asked {
            notes,
            trouble: None,
        })
    }

    /// The present context with the question behind it. Where the provider has
    /// refused it as too long, its older half is left out of this one request.
    fn flush_request(&mut self, trigger: Trigger) -> Result<Request> {
        let size = self.size();
        let settings = &self.setup.config.compaction.memory_flush;
        let prompt = settings.prompt.as_deref().unwrap_or(pieces::PROMPT);
        let system = settings.system_prompt.as_deref().unwrap_or(pieces::SYSTEM);
        let question = format!("{}\n\n{}", system.trim(), prompt.trim());
        let counter = self.counter();
        let asks = counter.count(&question, longhaul_tokens::ContentKind::Prose)
            + counter.message_overhead();
        let refused = trigger == Trigger::Overflow;
        let fits = !refused && self.window().admits(size.at_most + asks.scale(1.3));
        let whole = match fits.then(|| self.lay_request(size.tokens, false)) {
            // Laid out it is larger than it was thought to be.
            None | Some(Err(Error::Assembly(_))) => None,
            Some(laid) => Some(laid?.request),
        };
        let mut request = match whole {
            Some(request) => request,
            None => {
                // Where the provider has refused more, our counts are not to be trusted.
                let share = if refused { 0.5 } else { 0.85 };
                self.short_request(self.window().hard().scale(share) - asks)
                    .ok_or_else(|| self.nothing_fits(size))?
            }
        };
        request.messages.push(Message::user(question));
        Ok(request)
    }

    fn spend_on_flush(&mut self, spent: Spent, model: &dyn Model) {
        if spent.requests == 0 {
            return;
        }
        self.bench.state.spending.flushes.add(&spent);
        self.turn_spent.add(&spent);
        let info = model.info();
        self.tell(Event::Spent {
            on: "flush",
            model: format!("{}/{}", info.provider, info.name),
            spent,
        });
        self.remember();
    }

    /// Why compaction is given up, for whoever looks into it.
    pub(super) fn save_error(&mut self, reasons: &[String]) {
        if self.read_only() {
            return;
        }
        let at = self.setup.clock.now().datetime();
        let tried = format!("compacting session {}", self.key());
        let written = self
            .memory()
            .and_then(|memory| memory.append_error(at, &tried, &reasons.join("; "), Source::Agent));
        if written.is_err() && !std::mem::replace(&mut self.told_unwritten, true) {
            self.trouble(written);
        }
    }
}

impl Session {
    /// The memory of the workspace, where no piece of a secret of this session
    /// is written.
    pub(super) fn memory(&self) -> longhaul_memory::Result<MemoryFolder> {
        let clock = &self.setup.clock;
        let fresh = blake3::hash(format!("{} {}", clock.new_id(), clock.new_id()).as_bytes());
        // Without a seal what is written can still be read, only not vouched for.
        let seal = Seal::of_state_dir(&self.setup.state_dir, fresh.as_bytes()).ok();
        let folder = MemoryFolder::open(&self.setup.workspace, seal)?;
        Ok(folder.with_redactor(self.live().redactor()))
    }

    /// Where what is saved now comes from.
    fn origin(&self) -> Origin<'_> {
        Origin {
            session: Some(self.key()),
            epoch: Some(self.live().epoch()),
        }
    }

    fn newest_message(&self) -> Option<EntryId> {
        let mut entries = self.live().entries().iter();
        let newest = entries.rfind(|entry| entry.message().is_some())?;
        Some(newest.id.clone())
    }

    /// Says of each note on which day it was said: a host may hand over a year at
    /// once, and a turn may last past midnight.
    fn date_notes(&self, body: &mut Body, zone: &TimeZone) {
        let Body::Sections(sections) = body else {
            return;
        };
        let entries = self.live().entries().iter();
        let times = entries.filter_map(|entry| Some((&entry.id, entry.time?)));
        let times: HashMap<&EntryId, Millis> = times.collect();
        let day = |entry: &EntryId| -> Option<Date> {
            let time = Timestamp::from_millisecond(times.get(entry)?.0).ok()?;
            Some(time.to_zoned(zone.clone()).date())
        };
        for note in sections.iter_mut().flat_map(|list| &mut list.notes) {
            note.said = note.entry.as_ref().and_then(day);
        }
    }

    /// What is about to leave, as a request of its own: the oldest messages that
    /// fit, with long tool output cut. What is newest stays in the context anyway.
    fn short_request(&self, most: Tokens) -> Option<Request> {
        let most = most - self.fixed();
        let counter = self.counter();
        let mut taken = Tokens::ZERO;
        let mut messages = Vec::new();
        for message in self.live().messages() {
            let message = match super::wire::shortened(message, LONGEST_RESULT) {
                Some(short) => short,
                None => message.clone(),
            };
            taken += crate::measure::count(&message, counter).total();
            if taken > most {
                break;
            }
            messages.push(message);
        }
        let mut request = super::wire::plain_request(&self.prompt, messages);
        request.max_output = self.max_output();
        (!request.messages.is_empty()).then_some(request)
    }

    /// The tool of a silent turn; every other is refused.
    fn flush_call(&self, memory: &MemoryFolder, call: &ToolCall) -> Outcome {
        match call.name == TOOL {
            true => self.memory_call(memory, call, When::Flushing),
            false => Outcome::failed(format!(
                "only {TOOL} can be called now; answer NOTHING_TO_FLUSH when there is nothing to \
                 save"
            )),
        }
    }

    /// Appends to today's log, in a silent turn or in any other.
    pub(super) fn memory_call(
        &self,
        memory: &MemoryFolder,
        call: &ToolCall,
        when: When,
    ) -> Outcome {
        let parsed = call.parse().map_err(|broken| broken.to_string());
        let noted = parsed.and_then(|arguments| {
            let arguments = serde_json::Value::Object(arguments);
            let text = pieces::tool_text(&arguments).map_err(|misuse| misuse.to_string())?;
            let noted = self.append_note(memory, text, when);
            noted.map_err(|error| error.to_string())
        });
        noted.map_or_else(Outcome::failed, Outcome::done)
    }

    fn append_note(
        &self,
        memory: &MemoryFolder,
        text: &str,
        when: When,
    ) -> longhaul_memory::Result<String> {
        let at = self.setup.clock.now().datetime();
        let log = BoundLog::new(memory, at, self.origin());
        let appended = match when {
            When::Flushing => log.append(text)?,
            When::Working => log.at_work().append(text)?,
        };
        Ok(format!(
            "saved {} bytes to {}",
            appended.bytes, appended.file
        ))
    }
}
