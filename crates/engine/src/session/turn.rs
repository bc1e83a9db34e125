//! One turn: the user says something, the model answers, with as many rounds
//! of tools as it takes.

use longhaul_model::{
    Answer, CancellationToken, Delta, Error as ModelError, Failure, Model, Stop, ToolCall,
};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, EntryId};
use serde::Serialize;

use super::overflow::Refusals;
use super::wire::{self, End};
use super::{
    Due, Error, Listener, Result, Session, Spent, flush, spent_on, spent_on_failure, tell,
};
use crate::event::Event;
use crate::tools::{Call, Outcome};

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
        self.refresh(listener)?;
        self.close_interrupted()?;
        let request = self.ingest(Draft::user(message, self.now()))?;
        self.writer.end_turn()?;
        self.turn_spent = Spent::default();
        tell(
            listener,
            Event::TurnBegan {
                entry: request.clone(),
            },
        );
        let ended = self.answer(request, cancel, listener).await;
        self.state.spending.last_turn = self.turn_spent;
        // After the answer there is time to make room for the next one.
        let ended = match ended {
            Ok(turn) => match self.maintain(Due::AfterTurn, cancel, listener).await {
                // The answer stands; what failed is tried again before the next request.
                Err(Error::Cancelled) | Ok(()) => Ok(turn),
                Err(error) => {
                    tell(listener, Event::trouble(error.to_string()));
                    Ok(turn)
                }
            },
            Err(error) => Err(error),
        };
        self.mark_turn(listener);
        self.commit(listener)?;
        let outcome = match &ended {
            Ok(turn) => turn.stop.clone(),
            Err(error) => error.kind().to_owned(),
        };
        tell(
            listener,
            Event::TurnEnded {
                outcome,
                spent: self.turn_spent,
            },
        );
        ended.map(|turn| Turn {
            spent: self.turn_spent,
            ..turn
        })
    }

    async fn answer(
        &mut self,
        request: EntryId,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Turn> {
        let model = self.setup.model.clone().ok_or(Error::NoModel)?;
        self.fits_alone(&request)?;
        let mut refusals = Refusals::default();
        let mut rounds = 0;
        loop {
            if rounds >= self.setup.max_rounds {
                return Err(Error::TooManyRounds(rounds));
            }
            rounds += 1;
            let answer = self
                .ask(model.as_ref(), rounds == 1, &mut refusals, cancel, listener)
                .await?;
            let entry = self.keep_answer(&answer, model.as_ref(), End::Whole)?;
            let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
            tell(
                listener,
                Event::Answered {
                    entry: entry.clone(),
                    calls: calls.len(),
                    stop: stop(&answer.stop).to_owned(),
                    spent: spent_on(&answer, model.info()),
                },
            );
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
            self.call_all(&calls, cut, cancel, listener).await?;
            self.save_state(listener);
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
        }
    }

    /// Sends the context, making it smaller for as long as it is refused.
    async fn ask(
        &mut self,
        model: &dyn Model,
        first: bool,
        refusals: &mut Refusals,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Answer> {
        self.maintain(Due::BeforeRequest, cancel, listener).await?;
        loop {
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let size = self.size();
            let prepared = match self.lay_request(size.tokens, first, listener) {
                Err(Error::Assembly(error)) => {
                    self.too_large(error, refusals, cancel, listener).await?;
                    continue;
                }
                prepared => prepared?,
            };
            tell(
                listener,
                Event::Asked {
                    tokens: size.tokens,
                    at_most: size.at_most,
                    window: self.window.size(),
                },
            );
            self.last_request = Some(self.now());
            let asked = {
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
                model.ask(&prepared.request, &mut deltas, cancel).await
            };
            match asked {
                Ok(answer) => {
                    self.account(&answer, model, prepared.counted, listener);
                    if let Some(usage) = &answer.usage {
                        let prompt = usize::try_from(usage.prompt()).unwrap_or(usize::MAX);
                        if let Err(error) = self.answered(Tokens::saturating(prompt), listener) {
                            tell(listener, Event::trouble(error.to_string()));
                        }
                    }
                    return Ok(answer);
                }
                Err(failure) if matches!(failure.error, ModelError::Overflow { .. }) => {
                    self.refused(&failure.error, prepared.counted, refusals, cancel, listener)
                        .await?;
                }
                Err(failure) => return Err(self.broke_off(failure, model, listener)?),
            }
        }
    }

    fn account(
        &mut self,
        answer: &Answer,
        model: &dyn Model,
        counted: Tokens,
        listener: &mut dyn Listener,
    ) {
        self.spend(spent_on(answer, model.info()), listener);
        self.anchored_at = Some(counted);
    }

    /// What was paid is written down at once: a turn may not come to its end.
    fn spend(&mut self, spent: Spent, listener: &mut dyn Listener) {
        if spent.requests == 0 {
            return;
        }
        self.state.spending.turns.add(&spent);
        self.turn_spent.add(&spent);
        self.state.spending.last_turn = self.turn_spent;
        self.remember(listener);
    }

    /// A request failed: what had arrived is kept, and what went wrong.
    fn broke_off(
        &mut self,
        failure: Failure,
        model: &dyn Model,
        listener: &mut dyn Listener,
    ) -> Result<Error> {
        let cancelled = failure.error == ModelError::Cancelled;
        let reason = failure.error.to_string();
        let partial = failure.partial.clone().unwrap_or_default();
        self.spend(spent_on_failure(&failure, model.info()), listener);
        let end = match cancelled {
            true => End::Aborted,
            false => End::Error(&reason),
        };
        let entry = self.keep_answer(&partial, model, end)?;
        tell(
            listener,
            Event::BrokeOff {
                entry,
                reason: reason.clone(),
                remedy: failure.error.remedy(),
                attempts: failure.attempts,
            },
        );
        Ok(Error::from(failure))
    }

    fn keep_answer(&mut self, answer: &Answer, model: &dyn Model, end: End<'_>) -> Result<EntryId> {
        let json = wire::answer_json(answer, model.info(), end, self.now());
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
    async fn call_all(
        &mut self,
        calls: &[ToolCall],
        cut: bool,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        for (at, call) in calls.iter().enumerate() {
            tell(
                listener,
                Event::ToolCalled {
                    id: call.id.clone(),
                    tool: call.name.clone(),
                    arguments: call.arguments.clone(),
                },
            );
            let outcome = if cancel.is_cancelled() {
                Outcome::failed("not run: the user stopped the turn")
            } else if cut && at + 1 == calls.len() && call.parse().is_err() {
                Outcome::failed(
                    "not run: the answer reached its longest length before the call was complete; \
                     make it shorter, or in several calls",
                )
            } else {
                self.call(call, cancel).await
            };
            let json = wire::result_json(call, &outcome, self.now());
            let entry = self.ingest(Draft::Message(json))?;
            self.trim_result(&entry, &outcome.text, listener)?;
            tell(
                listener,
                Event::ToolAnswered {
                    entry,
                    id: call.id.clone(),
                    tool: call.name.clone(),
                    is_error: outcome.is_error,
                    characters: outcome.text.chars().count(),
                    text: outcome.text,
                },
            );
        }
        Ok(())
    }

    /// A result that would fill the window is shown with its middle left out. The
    /// session has all of it.
    fn trim_result(
        &mut self,
        entry: &EntryId,
        text: &str,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let most = Tokens(self.window.size().0 / SHARE_OF_A_RESULT);
        let counter = self.meter.estimator().counter();
        let tokens = counter.tool_result("", text);
        if tokens <= most || self.setup.config.sandbox.read_only {
            return Ok(());
        }
        let share = f64::from(most.0) / f64::from(tokens.0.max(1));
        let chars = (text.chars().count() as f64 * share * 0.9) as usize;
        let how = format!(
            "; read it in parts (offset and limit), or `recall {entry}` brings all of it back"
        );
        let Some(short) = wire::cut(text, chars, &how) else {
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
        self.anchor = anchor.map(|anchor| super::Anchor {
            following: anchor.following - tokens + now,
            ..anchor
        });
        tell(
            listener,
            Event::Pruned {
                results: 1,
                tokens_before: size,
                tokens_after: self.size().tokens,
                reason: "one result would have filled the window".to_owned(),
            },
        );
        Ok(())
    }

    async fn call(&mut self, call: &ToolCall, cancel: &CancellationToken) -> Outcome {
        // Ours, if it was offered and is not the agent's own.
        let has =
            |tools: &[longhaul_assembly::Tool]| tools.iter().any(|tool| tool.name == flush::TOOL);
        let ours = has(self.prompt.tools().all()) && !has(&self.setup.tools.definitions());
        if call.name == flush::TOOL && ours && !self.setup.config.sandbox.read_only {
            let memory = match self.memory() {
                Ok(memory) => memory,
                Err(error) => return Outcome::failed(error.to_string()),
            };
            return match self.memory_call(&memory, call, flush::When::Working) {
                Ok(text) => Outcome::done(text),
                Err(text) => Outcome::failed(text),
            };
        }
        let call = Call {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        };
        let tools = self.setup.tools.clone();
        let run = tools.run(&call, cancel);
        tokio::select! {
            outcome = run => outcome,
            // A tool that does not listen is left behind.
            () = stopped(cancel) => Outcome::failed("stopped by the user before it was done"),
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
