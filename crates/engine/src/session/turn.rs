//! One turn: the user says something, the model answers, with as many rounds
//! of tools as it takes.

use longhaul_compaction::Layer;
use longhaul_model::{
    Answer, CancellationToken, Delta, Error as ModelError, Failure, Model, Stop, ToolCall,
};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, EntryId};
use serde::Serialize;

use super::wire::{self, End};
use super::{
    Anchor, AtWork, Due, Error, Listener, Result, Session, Spent, flush, spent_on, spent_on_failure,
};
use crate::event::Event;
use crate::tools::Outcome;

/// One tool result takes at most one part in so many of the window.
const SHARE_OF_A_RESULT: u32 = 4;

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The user's message.
    pub request: EntryId,
    /// The last answer.
    pub answer: Option<EntryId>,
    /// What it says.
    pub text: String,
    /// Why it ended; `stop`, `length` or `refusal`, or what the provider says.
    pub stop: String,
    /// Requests it took.
    pub rounds: u32,
    /// What they took, silent ones included.
    pub spent: Spent,
}

impl Session {
    /// Answers a message. The message is durable before anything else happens;
    /// whatever fails, it and all that was answered stay in the session.
    pub async fn turn(
        &mut self,
        message: &str,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Turn> {
        self.at_work(cancel, listener).turn(message).await
    }
}

impl AtWork<'_> {
    async fn turn(&mut self, message: &str) -> Result<Turn> {
        self.refresh()?;
        self.close_interrupted()?;
        let now = self.setup.now();
        let request = self.ingest(Draft::user(message, now))?;
        self.writer.end_turn()?;
        self.turn_spent = Spent::default();
        self.tell(Event::TurnBegan {
            entry: request.clone(),
        });
        let ended = self.answer(request).await;
        self.bench.state.spending.last_turn = self.turn_spent;
        if ended.is_ok() {
            // After the answer there is time to make room for the next one. The answer
            // stands; what failed is tried again before the next request.
            let maintained = self.maintain(Due::AfterTurn).await;
            if !matches!(maintained, Err(Error::Cancelled)) {
                self.trouble(maintained);
            }
        }
        self.mark_turn();
        self.commit()?;
        let outcome = match &ended {
            Ok(turn) => turn.stop.clone(),
            Err(error) => error.kind().to_owned(),
        };
        let spent = self.turn_spent;
        self.tell(Event::TurnEnded { outcome, spent });
        ended.map(|turn| Turn { spent, ..turn })
    }

    async fn answer(&mut self, request: EntryId) -> Result<Turn> {
        let model = self.setup.model.clone().ok_or(Error::NoModel)?;
        self.fits_alone(&request)?;
        let mut tried = Vec::new();
        let mut rounds = 0;
        loop {
            if rounds >= self.setup.max_rounds {
                return Err(Error::TooManyRounds(rounds));
            }
            rounds += 1;
            let asked = self.ask(model.as_ref(), rounds == 1, &mut tried);
            let answer = asked.await?;
            let entry = self.keep_answer(&answer, model.as_ref(), End::Whole)?;
            let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
            self.tell(Event::Answered {
                entry: entry.clone(),
                calls: calls.len(),
                stop: stop(&answer.stop).to_owned(),
                spent: spent_on(&answer, model.info()),
            });
            if calls.is_empty() {
                return Ok(Turn {
                    request,
                    answer: Some(entry),
                    text: answer.text(),
                    stop: stop(&answer.stop).to_owned(),
                    rounds,
                    spent: Spent::default(),
                });
            }
            let cut = answer.stop == Stop::Length;
            self.call_all(&calls, cut).await?;
            self.save_state();
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
        }
    }

    /// Sends the context, making it smaller for as long as it is refused.
    async fn ask(
        &mut self,
        model: &dyn Model,
        first: bool,
        tried: &mut Vec<Layer>,
    ) -> Result<Answer> {
        self.maintain(Due::BeforeRequest).await?;
        loop {
            if self.cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let size = self.size();
            let prepared = match self.lay_request(size.tokens, first) {
                Err(Error::Assembly(error)) => {
                    self.too_large(error, tried).await?;
                    continue;
                }
                prepared => prepared?,
            };
            let window = self.window().size();
            self.tell(Event::Asked {
                tokens: size.tokens,
                at_most: size.at_most,
                window,
            });
            self.last_request = Some(self.setup.now());
            let asked = {
                let listener = &mut *self.listener;
                let mut deltas = |delta: Delta| match delta {
                    Delta::Retrying {
                        attempt,
                        after,
                        reason,
                    } => listener.event(&Event::Retrying {
                        attempt,
                        milliseconds: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
                        reason,
                    }),
                    delta => listener.delta(&delta),
                };
                model
                    .ask(&prepared.request, &mut deltas, &self.cancel)
                    .await
            };
            match asked {
                Ok(answer) => {
                    self.spend(spent_on(&answer, model.info()));
                    self.anchored_at = Some(prepared.counted);
                    if let Some(usage) = &answer.usage {
                        let prompt = usize::try_from(usage.prompt()).unwrap_or(usize::MAX);
                        let AtWork {
                            session, listener, ..
                        } = self;
                        let taken = session.answered(Tokens::saturating(prompt), *listener);
                        self.trouble(taken);
                    }
                    return Ok(answer);
                }
                Err(failure) if matches!(failure.error, ModelError::Overflow { .. }) => {
                    self.refused(&failure.error, prepared.counted, tried)
                        .await?;
                }
                Err(failure) => return Err(self.broke_off(failure, model)?),
            }
        }
    }

    /// What was paid is written down at once: a turn may not come to its end.
    fn spend(&mut self, spent: Spent) {
        if spent.requests == 0 {
            return;
        }
        self.turn_spent.add(&spent);
        let last_turn = self.turn_spent;
        let spending = &mut self.bench.state.spending;
        spending.turns.add(&spent);
        spending.last_turn = last_turn;
        self.remember();
    }

    /// A request failed: what had arrived is kept, and what went wrong.
    fn broke_off(&mut self, failure: Failure, model: &dyn Model) -> Result<Error> {
        let cancelled = failure.error == ModelError::Cancelled;
        let reason = failure.error.to_string();
        let partial = failure.partial.clone().unwrap_or_default();
        self.spend(spent_on_failure(&failure, model.info()));
        let end = match cancelled {
            true => End::Aborted,
            false => End::Error(&reason),
        };
        let entry = self.keep_answer(&partial, model, end)?;
        self.tell(Event::BrokeOff {
            entry,
            reason: reason.clone(),
            remedy: failure.error.remedy(),
            attempts: failure.attempts,
        });
        Ok(Error::from(failure))
    }

    fn keep_answer(&mut self, answer: &Answer, model: &dyn Model, end: End<'_>) -> Result<EntryId> {
        let json = wire::answer_json(answer, model.info(), end, self.setup.now());
        let entry = self.ingest(Draft::Message(json))?;
        if end == End::Whole
            && let Some(counted) = self.anchored_at.take()
        {
            self.reported(answer, counted);
        }
        Ok(entry)
    }

    /// Runs what the model asked for, in its order. Every call gets a result,
    /// also when the user stops it half way.
    async fn call_all(&mut self, calls: &[ToolCall], cut: bool) -> Result<()> {
        for (at, call) in calls.iter().enumerate() {
            self.tell(Event::ToolCalled {
                id: call.id.clone(),
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
            });
            let outcome = if self.cancel.is_cancelled() {
                Outcome::failed("not run: the user stopped the turn")
            } else if cut && at + 1 == calls.len() && call.parse().is_err() {
                Outcome::failed(
                    "not run: the answer reached its longest length before the call was complete; \
                     make it shorter, or in several calls",
                )
            } else {
                self.call(call).await
            };
            let json = wire::result_json(call, &outcome, self.setup.now());
            let entry = self.ingest(Draft::Message(json))?;
            self.trim_result(&entry, &outcome.text)?;
            self.tell(Event::ToolAnswered {
                entry,
                id: call.id.clone(),
                tool: call.name.clone(),
                is_error: outcome.is_error,
                characters: outcome.text.chars().count(),
                text: outcome.text,
            });
        }
        Ok(())
    }

    /// A result that would fill the window is shown with its middle left out. The
    /// session has all of it.
    fn trim_result(&mut self, entry: &EntryId, text: &str) -> Result<()> {
        let most = Tokens(self.window().size().0 / SHARE_OF_A_RESULT);
        let counter = self.counter();
        let tokens = counter.tool_result("", text);
        if tokens <= most || self.read_only() {
            return Ok(());
        }
        let share = f64::from(most.0) / f64::from(tokens.0.max(1));
        let chars = (text.chars().count() as f64 * share * 0.9) as usize;
        let short = wire::cut(text, chars, |_| {
            format!(
                "; read it in parts (offset and limit), or `recall {entry}` brings all of it back"
            )
        });
        let Some(short) = short else {
            return Ok(());
        };
        let size = self.size().tokens;
        // What was reported before is still true: the result came after it.
        let anchor = self.anchor;
        self.append(&[Draft::ContextEdit {
            target: entry.clone(),
            content: Some(wire::text_content(&short)),
        }])?;
        let now = counter.tool_result("", &short);
        self.anchor = anchor.map(|anchor| Anchor {
            following: anchor.following - tokens + now,
            ..anchor
        });
        let tokens_after = self.size().tokens;
        self.tell(Event::Pruned {
            results: 1,
            tokens_before: size,
            tokens_after,
            reason: "one result would have filled the window".to_owned(),
        });
        Ok(())
    }

    async fn call(&mut self, call: &ToolCall) -> Outcome {
        // Ours, if it was offered and is not the agent's own.
        let has =
            |tools: &[longhaul_assembly::Tool]| tools.iter().any(|tool| tool.name == flush::TOOL);
        let ours = has(self.prompt.tools().all()) && !has(&self.setup.tools.definitions());
        if call.name == flush::TOOL && ours && !self.read_only() {
            return match self.memory() {
                Ok(memory) => self.memory_call(&memory, call, flush::When::Working),
                Err(error) => Outcome::failed(error.to_string()),
            };
        }
        let tools = self.setup.tools.clone();
        let run = tools.run(call, &self.cancel);
        tokio::select! {
            outcome = run => outcome,
            // A tool that does not listen is left behind.
            () = stopped(&self.cancel) => Outcome::failed("stopped by the user before it was done"),
        }
    }
}

/// Waits until somebody stops it, and then a while longer for tools to end by
/// themselves.
async fn stopped(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
}

fn stop(stop: &Stop) -> &str {
    match stop {
        Stop::End | Stop::ToolUse => "stop",
        Stop::Length => "length",
        Stop::Refusal => "refusal",
        Stop::Other(reason) => reason,
    }
}
