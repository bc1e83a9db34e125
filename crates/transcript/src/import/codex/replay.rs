//! A rollout replayed: items become messages, one answer of the model each.
//!
//! Codex stores the parts of an answer one by one, and its token count after
//! them, sometimes with the outputs of its calls in between. The answer is
//! therefore open until something shows that the next one has begun.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;

use super::items::{Item, Output, unknown_text};
use crate::entry::{EntryId, Place};
use crate::fault::{Fault, FaultKind};
use crate::import::lineup::{Emit, Imported, Lineup, Parent, Usage, list, made_id};
use crate::json::{Object, ObjectWriter};
use crate::lines::Record;
use crate::message::MessageView;
use crate::time::Millis;
use crate::user_text::{Channel, UserText, field};

/// What Codex keeps of the user's messages when a compaction does not say
/// what it kept: the latest ones, 20,000 tokens of four bytes.
const KEPT_PROMPT_BYTES: usize = 80_000;

/// An answer that may go on.
struct Answer {
    origin: Origin,
    blocks: Vec<String>,
    calls: bool,
    usage: Option<Usage>,
    outputs: Vec<Imported>,
}

#[derive(Clone)]
pub(super) struct Origin {
    pub(super) id: EntryId,
    pub(super) timestamp: Option<Box<str>>,
    pub(super) place: Place,
}

impl Origin {
    fn time_json(&self) -> String {
        let time = self.timestamp.as_deref().and_then(Millis::parse_json);
        time.unwrap_or_default().0.to_string()
    }

    fn message(&self, message: &str) -> Imported {
        Imported::message(
            self.id.clone(),
            self.timestamp.as_deref(),
            self.place,
            message,
        )
    }

    pub(super) fn custom(&self, custom_type: &str, data: &str) -> Imported {
        Imported::custom(
            self.id.clone(),
            self.timestamp.as_deref(),
            self.place,
            custom_type,
            data,
        )
    }
}

/// Turns records into entries.
pub(super) struct Replay<'s> {
    session: &'s str,
    provider: String,
    model: String,
    pub(super) lineup: Lineup,
    answer: Option<Answer>,
    tools: HashMap<String, String>,
    /// Calls that ask the user, with their arguments.
    asked: HashMap<String, String>,
    /// Whether the running turn has its prompt; `None` between turns.
    prompted: Option<bool>,
    /// Texts that were typed so far; `None` when the file is not read from
    /// its start.
    typed: Option<HashSet<String>>,
    /// Whether what a compaction kept is being read.
    pub(super) repeats: bool,
    pub(super) faults: Vec<Fault>,
    /// Calls without an id that wait for their output.
    unnamed: VecDeque<(String, String)>,
    /// For every turn what came before it.
    pub(super) turns: Vec<Option<EntryId>>,
    pub(super) prompts: VecDeque<String>,
    pub(super) prompt_bytes: usize,
    last_total: Option<Box<str>>,
    pub(super) tokens: u64,
    /// Entries made from the current record.
    made: usize,
    offset: u64,
    timestamp: Option<Box<str>>,
}

impl<'s> Replay<'s> {
    pub(super) fn new(session: &'s str, provider: &str, whole: bool) -> Self {
        Replay {
            session,
            provider: provider.to_owned(),
            model: String::new(),
            lineup: Lineup::default(),
            answer: None,
            tools: HashMap::new(),
            asked: HashMap::new(),
            prompted: None,
            typed: whole.then(HashSet::new),
            repeats: false,
            faults: Vec::new(),
            unnamed: VecDeque::new(),
            turns: Vec::new(),
            prompts: VecDeque::new(),
            prompt_bytes: 0,
            last_total: None,
            tokens: 0,
            made: 0,
            offset: u64::MAX,
            timestamp: None,
        }
    }

    /// The next record.
    pub(super) fn take(&mut self, record: &Record<'_>, emit: &mut Emit<'_>) -> ControlFlow<()> {
        // Two records can stand on one damaged line.
        if self.offset != record.place.offset {
            self.offset = record.place.offset;
            self.made = 0;
        }
        let object = &record.object;
        if let Some(time) = object.raw("timestamp").or_else(|| object.raw("created_at")) {
            self.timestamp = Some(time.into());
        }
        let payload = object.object("payload");
        let kind = object.str("type").unwrap_or_default();
        match (kind.as_ref(), &payload) {
            ("response_item", Some(item)) => {
                let raw = object.raw("payload").unwrap_or("{}");
                self.item(item, raw, record, emit)
            }
            ("compacted", Some(payload)) => self.compacted(payload, record, emit),
            ("event_msg", Some(event)) => self.event(event, record, emit),
            ("turn_context", Some(context)) => {
                if let Some(model) = context.str("model") {
                    self.model = model.into_owned();
                }
                self.aside("turn_context", record, emit)
            }
            (kind, Some(_)) => self.aside(kind, record, emit),
            // The older format: items without an envelope.
            (_, None) if object.has("type") || object.has("role") => {
                if let Some(model) = object.str("model") {
                    self.model = model.into_owned();
                }
                self.item(object, record.text, record, emit)
            }
            _ => self.aside("record", record, emit),
        }
    }

    pub(super) fn finish(&mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        self.close(emit)?;
        self.lineup.finish(emit)
    }

    pub(super) fn origin(&mut self, place: Place) -> Origin {
        let id = made_id(self.session, place, self.made);
        self.made += 1;
        Origin {
            id,
            timestamp: self.timestamp.clone(),
            place,
        }
    }

    fn aside(&mut self, kind: &str, record: &Record<'_>, emit: &mut Emit<'_>) -> ControlFlow<()> {
        let origin = self.origin(record.place);
        let draft = origin.custom(&format!("codex:{kind}"), record.text);
        self.lineup.beside(draft, Parent::Tip, emit)
    }

    pub(super) fn item(
        &mut self,
        item: &Object<'_>,
        raw: &str,
        record: &Record<'_>,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        match Item::read(item, raw, record.place) {
            Item::User { content, typed } => {
                self.close(emit)?;
                self.user(&content, &typed, record.place, emit)
            }
            Item::Shell {
                command,
                output,
                exit,
            } => {
                self.close(emit)?;
                let origin = self.origin(record.place);
                let exit = exit.map(|code| code.to_string());
                let message = ObjectWriter::new()
                    .str("role", "bashExecution")
                    .str("command", &command)
                    .str("output", &output)
                    .raw_opt("exitCode", exit.as_deref())
                    .raw("cancelled", "false")
                    .raw("truncated", "false")
                    .raw("timestamp", &origin.time_json())
                    .finish();
                self.lineup.follow(origin.message(&message), emit)
            }
            Item::Note {
                custom_type,
                content,
            } => {
                self.close(emit)?;
                let origin = self.origin(record.place);
                let fields = ObjectWriter::new()
                    .str("customType", &custom_type)
                    .raw("content", &content)
                    .raw("display", "false");
                let draft = Imported::new(
                    "custom_message",
                    origin.id,
                    origin.timestamp.as_deref(),
                    origin.place,
                    fields,
                );
                self.lineup.follow(draft, emit)
            }
            Item::Block { json, call } => {
                let ended = self
                    .answer
                    .as_ref()
                    .is_some_and(|answer| answer.usage.is_some() || !answer.outputs.is_empty());
                if ended {
                    self.close(emit)?;
                }
                if self.answer.is_none() {
                    let origin = self.origin(record.place);
                    self.answer = Some(Answer {
                        origin,
                        blocks: Vec::new(),
                        calls: false,
                        usage: None,
                        outputs: Vec::new(),
                    });
                }
                if let Some(answer) = &mut self.answer {
                    answer.blocks.push(json);
                    answer.calls |= call.is_some();
                }
                if let Some(call) = call {
                    if !item.has("call_id") {
                        self.unnamed.push_back((call.id.clone(), call.name.clone()));
                    }
                    if call.name == "request_user_input" {
                        self.asked.insert(call.id.clone(), call.arguments);
                    }
                    self.tools.insert(call.id, call.name);
                }
                ControlFlow::Continue(())
            }
            Item::Output(output) => self.output(output, record.place, emit),
            Item::Other => {
                let kind = item.str("type").unwrap_or_default().into_owned();
                if unknown_text(&kind, item) {
                    self.faults.push(Fault {
                        line: record.place.line,
                        offset: record.place.offset,
                        kind: FaultKind::UnknownText { kind: kind.clone() },
                    });
                }
                self.aside(&kind, record, emit)
            }
        }
    }

    /// A message in the user's name. What nobody typed begins no turn.
    pub(super) fn user(
        &mut self,
        content: &str,
        typed: &str,
        place: Place,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        let shown = format!("{{\"content\":{content}}}");
        let shown = MessageView::parse(&shown).text();
        let is_context = typed.is_empty() && !shown.trim().is_empty();
        if !is_context {
            self.turns.push(self.lineup.tip().cloned());
            self.remember(content);
        }
        let known = match &mut self.typed {
            Some(seen) => !seen.insert(typed.to_owned()),
            None => true,
        };
        let channel = match &mut self.prompted {
            Some(prompted) if !is_context && !self.repeats => {
                if std::mem::replace(prompted, true) {
                    Channel::Queued
                } else {
                    Channel::Prompt
                }
            }
            _ => Channel::Prompt,
        };
        let texts = if is_context {
            None
        } else if self.repeats && known {
            Some(field(&[]))
        } else {
            (!typed.is_empty() && (channel != Channel::Prompt || typed != shown))
                .then(|| field(&[UserText::new(channel, typed)]))
        };
        let origin = self.origin(place);
        let message = ObjectWriter::new()
            .str("role", "user")
            .raw("content", content)
            .raw("timestamp", &origin.time_json())
            .raw_opt("isMeta", is_context.then_some("true"))
            .raw_opt("userText", texts.as_deref());
        self.lineup.follow(origin.message(&message.finish()), emit)
    }

    pub(super) fn remember(&mut self, content: &str) {
        self.prompt_bytes += content.len();
        self.prompts.push_back(content.to_owned());
        while self.prompt_bytes > KEPT_PROMPT_BYTES && self.prompts.len() > 1 {
            let dropped = self.prompts.pop_front().unwrap_or_default();
            self.prompt_bytes -= dropped.len();
        }
    }

    fn output(&mut self, output: Output, place: Place, emit: &mut Emit<'_>) -> ControlFlow<()> {
        let rejected = output.is_rejected();
        let call = output.call.clone().unwrap_or_else(|| {
            let waiting = self
                .unnamed
                .iter()
                .position(|(_, name)| output.name.as_ref().is_none_or(|wanted| wanted == name));
            waiting
                .and_then(|at| self.unnamed.remove(at))
                .map(|(id, _)| id)
                .unwrap_or_default()
        });
        let asked = self.asked.remove(&call);
        let answers = asked.map_or_else(Vec::new, |asked| output.answers(&asked));
        let answers = (!answers.is_empty()).then(|| field(&answers));
        let name = self.tools.get(&call).cloned().or(output.name);
        let origin = self.origin(place);
        let message = ObjectWriter::new()
            .str("role", "toolResult")
            .str("toolCallId", &call)
            .str("toolName", name.as_deref().unwrap_or_default())
            .raw("content", &output.content)
            .raw("isError", if output.is_error { "true" } else { "false" })
            .raw("timestamp", &origin.time_json())
            .raw_opt("rejected", rejected.then_some("true"))
            .raw_opt("userText", answers.as_deref())
            .finish();
        let draft = origin.message(&message);
        match &mut self.answer {
            Some(answer) => {
                answer.outputs.push(draft);
                ControlFlow::Continue(())
            }
            None => self.lineup.follow(draft, emit),
        }
    }

    fn event(
        &mut self,
        event: &Object<'_>,
        record: &Record<'_>,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        let kind = event.str("type").unwrap_or_default();
        match kind.as_ref() {
            "token_count" => self.count(event),
            "task_started" | "turn_started" => self.prompted = Some(false),
            "task_complete" | "turn_complete" | "turn_aborted" => self.prompted = None,
            "thread_rolled_back" => return self.roll_back(event, record, emit),
            "thread_name_updated" => {
                if let Some(name) = event.raw("thread_name").filter(|raw| raw.starts_with('"')) {
                    let origin = self.origin(record.place);
                    let fields = ObjectWriter::new().raw("name", name);
                    let draft = Imported::new(
                        "session_info",
                        origin.id,
                        origin.timestamp.as_deref(),
                        origin.place,
                        fields,
                    );
                    return self.lineup.beside(draft, Parent::Tip, emit);
                }
            }
            _ => {}
        }
        // The other events repeat what the items say, for showing.
        self.aside(&format!("event_msg:{kind}"), record, emit)
    }

    /// A count belongs to the answer before it, unless it only repeats the
    /// last one (Codex does that to tell about rate limits).
    fn count(&mut self, event: &Object<'_>) {
        let info = event.object("info").unwrap_or_default();
        let total = info.raw("total_token_usage");
        if total.is_none() || total == self.last_total.as_deref() {
            return;
        }
        self.last_total = total.map(Into::into);
        let Some(last) = info.object("last_token_usage") else {
            return;
        };
        let number = |key: &str| last.u64(key).unwrap_or(0);
        let cache_read = number("cached_input_tokens");
        let cache_write = number("cache_write_input_tokens");
        let input = number("input_tokens");
        let output = number("output_tokens");
        let usage = Usage {
            input: input.saturating_sub(cache_read + cache_write),
            output,
            cache_read,
            cache_write,
            total: match number("total_tokens") {
                0 => input + output,
                total => total,
            },
            window: info
                .u64("model_context_window")
                .filter(|window| *window > 0),
        };
        self.tokens = usage.total;
        if let Some(answer) = &mut self.answer {
            answer.usage.get_or_insert(usage);
        }
    }

    fn roll_back(
        &mut self,
        event: &Object<'_>,
        record: &Record<'_>,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        self.close(emit)?;
        let turns = event.u64("num_turns").unwrap_or(0) as usize;
        let at = self.turns.len().saturating_sub(turns);
        if let Some(before) = self.turns.get(at).cloned() {
            self.turns.truncate(at);
            self.lineup.go_back(before, emit)?;
        }
        // On the path, so that the leaf is right even when nothing follows.
        let draft = self
            .origin(record.place)
            .custom("codex:event_msg:thread_rolled_back", record.text);
        self.lineup.follow(draft, emit)
    }

    /// Ends the open answer.
    pub(super) fn close(&mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        let Some(answer) = self.answer.take() else {
            return ControlFlow::Continue(());
        };
        let message = ObjectWriter::new()
            .str("role", "assistant")
            .raw("content", &list(&answer.blocks))
            .str("api", "openai-responses")
            .str("provider", &self.provider)
            .str("model", &self.model)
            .raw("usage", &answer.usage.unwrap_or_default().to_json())
            .str("stopReason", if answer.calls { "toolUse" } else { "stop" })
            .raw("timestamp", &answer.origin.time_json())
            .finish();
        self.lineup.follow(answer.origin.message(&message), emit)?;
        for output in answer.outputs {
            self.lineup.follow(output, emit)?;
        }
        ControlFlow::Continue(())
    }
}
