//! Prose by a model, in stages.
//!
//! The conversation is cut into chunks that leave the model's window half
//! empty; each is summarised together with the summary so far, so the last
//! answer covers everything. Finished chunks are cached by what they depend on.
//! The result is audited: a fact that the extractive prose has and the model
//! dropped is put back. When the model fails, the extractive prose takes its
//! place, and the outcome says why.

use longhaul_tokens::{ContentKind, Tokens};

use super::chunks::chunks;
use super::extractive::{Extractive, extractive};
use super::model::{
    ChunkCache, ChunkKey, ModelFailure, Outcome, Summarizer, SummaryRequest, Task, TextModel,
};
use super::repair::repaired;
use super::text::{fenced, sentences, shortened, within, without_analysis};

const SYSTEM: &str = include_str!("prompts/system.md");
const CHUNK: &str = include_str!("prompts/chunk.md");

/// Summaries by a model.
pub struct Staged<'a> {
    model: &'a mut dyn TextModel,
    cache: &'a mut dyn ChunkCache,
    chunk_percent: f64,
}

impl<'a> Staged<'a> {
    /// The largest chunk as a percentage of the model's window, where nobody
    /// says otherwise.
    pub const CHUNK_PERCENT: f64 = 40.0;

    /// A summarizer over a model, with the chunks that were finished earlier.
    pub fn new(model: &'a mut dyn TextModel, cache: &'a mut dyn ChunkCache) -> Staged<'a> {
        Staged {
            model,
            cache,
            chunk_percent: Staged::CHUNK_PERCENT,
        }
    }

    /// The same, with chunks of at most this percentage of the model's window.
    #[must_use]
    pub fn with_chunks_of(self, percent: f64) -> Staged<'a> {
        Staged {
            chunk_percent: percent,
            ..self
        }
    }

    /// The largest chunk: its share of the window, less a fifth of that because
    /// tokens are only estimated.
    fn chunk_cap(&self) -> Tokens {
        self.model.window().scale(self.chunk_percent / 100.0 * 0.8)
    }

    fn write(&mut self, task: &Task<'_>, calls: &mut u32) -> Result<String, Failed> {
        let previous = task.material.previous.map(|previous| previous.text);
        let cap = self.chunk_cap();
        let before = previous.and_then(|text| within(text, Tokens(cap.0 / 3), task.counter));
        let mut summary = before.unwrap_or_default();
        let chunks = chunks(task.material.removed, cap, task.counter);
        let parts = chunks.len();
        for (at, chunk) in chunks.iter().enumerate() {
            let request = request(task, chunk, &summary, at + 1, parts);
            let key = ChunkKey::new(&self.model.name(), &request);
            summary = match self.cache.get(&key) {
                Some(done) => done,
                None => {
                    *calls += 1;
                    let source = task.counter.count(chunk, ContentKind::Prose)
                        + task.counter.count(&summary, ContentKind::Prose);
                    let done = self
                        .model
                        .complete(&request)
                        .and_then(|answer| checked(&answer, source, task))
                        .map_err(|failure| Failed {
                            part: at + 1,
                            parts,
                            failure,
                        })?;
                    self.cache.put(key, &done);
                    done
                }
            };
        }
        if parts == 0 {
            return Err(Failed {
                part: 0,
                parts,
                failure: ModelFailure::Call("there is nothing to summarise".to_owned()),
            });
        }
        Ok(summary)
    }
}

/// Where a model failed.
struct Failed {
    part: usize,
    parts: usize,
    failure: ModelFailure,
}

impl Summarizer for Staged<'_> {
    fn name(&self) -> String {
        self.model.name()
    }

    fn prose(&mut self, task: &Task<'_>) -> Outcome {
        let mut model_calls = 0;
        let written = self.write(task, &mut model_calls);
        let extracted = extractive(task.material, task.budget, task.limits, task.counter);
        match written {
            Ok(text) => {
                let (text, repaired) = repaired(&text, &extracted, task);
                Outcome {
                    text,
                    summarizer: self.name(),
                    fallback: None,
                    model_calls,
                    repaired,
                }
            }
            Err(failed) => Outcome {
                text: extracted,
                summarizer: Extractive::NAME.to_owned(),
                fallback: Some(format!(
                    "{} failed at part {} of {}: {}",
                    self.name(),
                    failed.part,
                    failed.parts,
                    failed.failure
                )),
                model_calls,
                repaired: 0,
            },
        }
    }
}

fn request(
    task: &Task<'_>,
    chunk: &str,
    previous: &str,
    part: usize,
    parts: usize,
) -> SummaryRequest {
    let focus = match task.material.focus {
        Some(focus) => format!(
            "\nThe user asks that the summary attend to this above all:\n\n{}\n",
            fenced(focus)
        ),
        None => String::new(),
    };
    let words = (task.budget.0 / 3 * 2).to_string();
    let (part, parts) = (part.to_string(), parts.to_string());
    let previous = fenced(previous);
    SummaryRequest {
        system: SYSTEM.to_owned(),
        prompt: super::continuation::fill(
            CHUNK,
            &[
                ("part", &part),
                ("parts", &parts),
                ("previous", &previous),
                ("chunk", chunk),
                ("focus", &focus),
                ("words", &words),
            ],
        ),
        max_tokens: task.budget,
    }
}

/// An answer that can be used as a summary.
fn checked(answer: &str, source: Tokens, task: &Task<'_>) -> Result<String, ModelFailure> {
    let text = without_analysis(answer).trim().to_owned();
    if text.is_empty() {
        return Err(ModelFailure::Empty);
    }
    if refuses(&text) {
        return Err(ModelFailure::Refused(shortened(&text, 120)));
    }
    let size = task.counter.count(&text, ContentKind::Prose);
    if size > source {
        return Err(ModelFailure::TooLong {
            answer: size,
            source_size: source,
        });
    }
    Ok(text)
}

/// A refusal opens with one and has no section of a summary.
fn refuses(text: &str) -> bool {
    const OPENINGS: [&str; 14] = [
        "i'm sorry",
        "i’m sorry",
        "i am sorry",
        "sorry,",
        "i can't",
        "i can’t",
        "i cannot",
        "i won't",
        "i am unable",
        "i'm unable",
        "as an ai",
        "抱歉",
        "对不起",
        "申し訳",
    ];
    if text.lines().any(|line| line.starts_with("## ")) {
        return false;
    }
    let first = sentences(text).first().map(|s| s.to_lowercase());
    first.is_some_and(|first| OPENINGS.iter().any(|opening| first.starts_with(opening)))
}
