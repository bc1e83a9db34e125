//! What the engine said while it worked: events, as the program prints them
//! with `--json` and as the library hands them out.

use longhaul_engine::event::Event;
use longhaul_engine::session::{Listener, Spent};
use longhaul_model::Delta;
use longhaul_tokens::{Tokens, Window, WindowSettings};
use serde_json::{Value, json};

use crate::Result;

/// A request and what the provider counted for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    /// Its size by our count.
    pub(super) tokens: u64,
    /// Its size at most, by our count.
    pub(super) at_most: u64,
    /// What none may exceed.
    pub(super) hard: u64,
    /// Its size by the provider's count, once it was answered.
    pub(super) reported: Option<u64>,
}

/// What came of a turn.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    /// `stop`, `length`, or the kind of error.
    pub(super) outcome: String,
    /// What it says, for people.
    pub(super) error: Option<String>,
    /// Pieces of text that arrived.
    pub(super) pieces: usize,
    /// Tokens of the last answer to the user, by the provider's count.
    pub(super) output: u64,
}

/// A compaction.
#[derive(Debug, Clone)]
pub(super) struct Compacted {
    /// Its number.
    pub(super) epoch: u64,
    /// Who wrote the summary.
    pub(super) summarizer: String,
    /// Facts that are in no context and can be had back by nothing.
    pub(super) lost: usize,
    /// Requests that had been made by then.
    pub(super) after: usize,
}

/// A flush.
#[derive(Debug, Clone)]
pub(super) struct Flushed {
    pub(super) epoch: u64,
    pub(super) notes: u64,
}

/// What the provider said when it refused.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    pub(super) message: String,
    pub(super) limit: Option<u64>,
    pub(super) requested: Option<u64>,
}

/// All of it, in order.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) asked: Vec<Asked>,
    pub(super) turns: Vec<Ended>,
    pub(super) compactions: Vec<Compacted>,
    /// Why a summary was extracted and not written by the model.
    pub(super) fallbacks: Vec<String>,
    pub(super) flushes: Vec<Flushed>,
    /// What was asked of the model beside the conversation, and for what.
    pub(super) silent: Vec<(String, Spent)>,
    pub(super) refused: Vec<Refused>,
    /// Windows that were learnt from refusals.
    pub(super) learnt: Vec<u64>,
    /// What else went wrong, by the engine's own word.
    pub(super) troubles: Vec<String>,
    /// What all requests took.
    pub(super) spent: Spent,
    /// Everything, for whoever looks into it.
    pub(super) log: Vec<String>,
    /// What could not be understood.
    pub(super) strange: Vec<String>,
    pieces: usize,
    output: u64,
}

impl Heard {
    /// A turn ended without an answer.
    pub(super) fn failed(&mut self, error: &str) {
        if let Some(last) = self.turns.last_mut() {
            last.error = Some(error.to_owned());
        }
    }

    /// Notes that flushes wrote.
    pub(super) fn notes(&self) -> u64 {
        self.flushes.iter().map(|flushed| flushed.notes).sum()
    }

    /// Takes in one event.
    pub(super) fn take(&mut self, event: &Value) {
        self.log.push(event.to_string());
        if let Err(error) = self.understand(event) {
            self.strange.push(format!("{error}: {event}"));
        }
    }

    fn understand(&mut self, event: &Value) -> Result<()> {
        match text(event, "event")?.as_str() {
            "turnBegan" => (self.pieces, self.output) = (0, 0),
            "text" => self.pieces += 1,
            "asked" => self.asked.push(Asked {
                tokens: number(event, "tokens")?,
                at_most: number(event, "atMost")?,
                hard: hard(number(event, "window")?)?,
                reported: None,
            }),
            "answered" => {
                let spent = spent(event)?;
                if let Some(asked) = self.asked.last_mut() {
                    asked.reported = Some(prompt(&spent));
                }
                self.output = spent.output;
            }
            "turnEnded" => {
                self.spent.add(&spent(event)?);
                self.turns.push(Ended {
                    outcome: text(event, "outcome")?,
                    error: None,
                    pieces: self.pieces,
                    output: self.output,
                });
            }
            "compacted" => self.compactions.push(Compacted {
                epoch: number(event, "epoch")?,
                summarizer: text(event, "summarizer")?,
                lost: event["fidelity"]["lost"].as_array().map_or(0, Vec::len),
                after: self.asked.len(),
            }),
            "summaryFallback" => self.fallbacks.push(text(event, "reason")?),
            "flushed" => self.flushes.push(Flushed {
                epoch: number(event, "epoch")?,
                notes: number(event, "notes")?,
            }),
            "spent" => self.silent.push((text(event, "on")?, spent(event)?)),
            "overflowed" => self.refused.push(Refused {
                message: text(event, "message")?,
                limit: event["limit"].as_u64(),
                requested: event["requested"].as_u64(),
            }),
            "windowLearnt" => self.learnt.push(number(event, "window")?),
            "brokeOff" | "trouble" | "failed" | "checkpointTrouble" => {
                self.troubles.push(text(event, "reason")?);
            }
            "breakerOpened" => self.troubles.push(event["reasons"].to_string()),
            // The last word of the program about a turn.
            "result" => {
                if let Some(error) = event["error"]["message"].as_str() {
                    self.failed(error);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Listener for Heard {
    fn event(&mut self, event: &Event) {
        match serde_json::to_value(event) {
            Ok(event) => self.take(&event),
            Err(error) => self.strange.push(error.to_string()),
        }
    }

    fn delta(&mut self, delta: &Delta) {
        if let Delta::Text(text) = delta {
            self.take(&json!({ "event": "text", "text": text }));
        }
    }
}

/// Every token of the prompt, by the provider's count.
pub(super) fn prompt(spent: &Spent) -> u64 {
    spent.input + spent.cache_read + spent.cache_write
}

/// What no request exceeds at a window; the chats leave all settings as they are.
fn hard(window: u64) -> Result<u64> {
    let settings = WindowSettings::of(Tokens(u32::try_from(window)?));
    Ok(u64::from(Window::new(&settings)?.hard().0))
}

fn spent(event: &Value) -> Result<Spent> {
    Ok(serde_json::from_value(event["spent"].clone())?)
}

fn number(event: &Value, key: &str) -> Result<u64> {
    let number = event[key].as_u64();
    number.ok_or_else(|| format!("no number {key:?}").into())
}

fn text(event: &Value, key: &str) -> Result<String> {
    let text = event[key].as_str();
    text.map(str::to_owned)
        .ok_or_else(|| format!("no text {key:?}").into())
}

#[cfg(test)]
mod tests {
    use longhaul_engine::session::Spent;

    use super::*;

    #[test]
    fn events_of_the_library_are_understood() {
        let mut heard = Heard::default();
        let spent = Spent {
            requests: 1,
            input: 10,
            cache_read: 90,
            output: 5,
            ..Spent::default()
        };
        heard.event(&Event::Asked {
            tokens: Tokens(99),
            at_most: Tokens(110),
            window: Tokens(2048),
        });
        heard.delta(&Delta::Text("a".into()));
        heard.event(&Event::Answered {
            entry: longhaul_transcript::EntryId::new("e1"),
            calls: 0,
            stop: "stop".into(),
            spent,
        });
        heard.event(&Event::TurnEnded {
            outcome: "stop".into(),
            spent,
        });
        assert_eq!(heard.strange, Vec::<String>::new());
        let asked = heard.asked[0];
        assert_eq!(
            (asked.at_most, asked.hard, asked.reported),
            (110, 1536, Some(100))
        );
        assert_eq!((heard.turns[0].pieces, heard.turns[0].output), (1, 5));
    }

    #[test]
    fn an_event_without_its_numbers_is_strange() {
        let mut heard = Heard::default();
        heard.take(&json!({ "event": "windowLearnt" }));
        assert_eq!(heard.strange.len(), 1);
    }
}
