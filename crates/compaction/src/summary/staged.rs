//! Prose by a model, in stages.
//!
//! The conversation is cut into chunks that leave the model's window half
//! empty; each is summarised together with the summary so far, so the last
//! answer covers everything. Finished chunks are cached by what they depend on.
//! When the model fails there is no prose, and the outcome says why: the
//! mechanical part stands without it.

use longhaul_tokens::{ContentKind, Tokens};

use super::chunks::chunks;
use super::continuation::{END, FIRST_WORDS};
use super::extractive::Extractive;
use super::model::{
    ChunkCache, ChunkKey, ModelFailure, Outcome, Summarizer, SummaryRequest, Task, TextModel,
};
use super::text::{defused, fenced, open_lines, shortened, within, without_analysis};

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
        match written {
            Ok(text) => Outcome {
                text: demoted(&text),
                summarizer: self.name(),
                fallback: None,
                model_calls,
            },
            Err(failed) => Outcome {
                text: String::new(),
                summarizer: Extractive::NAME.to_owned(),
                fallback: Some(format!(
                    "{} failed at part {} of {}: {}",
                    self.name(),
                    failed.part,
                    failed.parts,
                    failed.failure
                )),
                model_calls,
            },
        }
    }
}

/// A model's headings one level down, so that none is taken for a section of
/// ours, and nothing in it ends the frame.
fn demoted(text: &str) -> String {
    let text = defused(text.trim());
    let lines = text.lines().map(|line| match line.trim() {
        END => "- - -".to_owned(),
        heading if heading.starts_with('#') => {
            format!("### {}", heading.trim_start_matches('#').trim())
        }
        head if head.starts_with(FIRST_WORDS) => head.replacen('[', "(", 1),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
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
    if !open_lines(&text).any(|(_, line)| line.starts_with('#')) {
        return Err(ModelFailure::Unstructured(shortened(&text, 120)));
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
