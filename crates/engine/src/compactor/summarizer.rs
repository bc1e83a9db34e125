//! Who writes summaries, and how a model is asked for one without the pure core
//! having to wait.
//!
//! A compaction is planned as if the model had answered already. Where it turns
//! out that an answer is missing, that one is asked for, and the plan is made
//! again: it is a matter of milliseconds, and the same input gives the same
//! questions. Answers that the plan could use are kept until the compaction is
//! written, so that one that is cut short does not pay twice; an empty or refused
//! one is not, so that the next attempt asks again.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_compaction::summary::{
    ChunkCache, ChunkKey, ModelFailure, Staged, Summarizer, SummaryRequest, TextModel,
};
use longhaul_compaction::{Layer, Trigger};
use longhaul_model::{
    CancellationToken, Error as ModelError, Message, Model, Request, Stop, SystemBlock,
};
use longhaul_tokens::{Spent, Tokens};
use longhaul_transcript::{EntryId, Stamp};
use serde::{Deserialize, Serialize};

use super::driver::Compactor;
use super::outcome::Asked;
use super::site::Site;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::spending::{spent_on, spent_on_failure};
use longhaul_compaction::compact::{Compacted, CompactionFailure, CompactionRequest};

/// The free model of OpenRouter that is asked where a key of theirs is set and
/// nothing else is configured.
pub const FREE_MODEL: &str = "google/gemini-2.0-flash-exp:free";

/// The provider that is no model: summaries are extracted.
pub const EXTRACTIVE: &str = "extractive";

/// Who is to write summaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryChoice {
    /// A model of its own.
    Other {
        /// Who serves it.
        provider: String,
        /// Its name.
        model: String,
    },
    /// The one that answers.
    Session,
    /// Nobody: they are extracted.
    Extractive,
}

/// Who is to write summaries: what is configured, else OpenRouter's free model
/// where its key is set, else the session's model, else nobody.
pub fn summary_model(
    config: &Config,
    openrouter_key: bool,
    session: Option<(&str, &str)>,
) -> SummaryChoice {
    let other = |provider: &str, model: &str| SummaryChoice::Other {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    let configured = &config.compaction.model;
    let provider = configured.provider.as_deref();
    let model = configured.model_name.as_deref();
    match (provider, model, session) {
        (Some(EXTRACTIVE), ..) => SummaryChoice::Extractive,
        (Some(provider), Some(model), _) => other(provider, model),
        (None, Some(model), Some((provider, _))) => other(provider, model),
        (None, Some(model), None) => match model.split_once('/') {
            Some((provider, model)) => other(provider, model),
            None => SummaryChoice::Extractive,
        },
        (Some("openrouter"), None, _) => other("openrouter", FREE_MODEL),
        (Some(provider), None, Some((own, model))) if own == provider => other(provider, model),
        (Some(_), None, _) => SummaryChoice::Extractive,
        (None, None, _) if openrouter_key => other("openrouter", FREE_MODEL),
        (None, None, Some(_)) => SummaryChoice::Session,
        (None, None, None) => SummaryChoice::Extractive,
    }
}

/// Answers of a model to parts of one compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Answers {
    /// By the hash of what was asked.
    finished: BTreeMap<String, String>,
    /// Those that stand in the file.
    #[serde(skip)]
    stored: BTreeSet<String>,
    #[serde(skip)]
    failed: BTreeMap<String, String>,
}

/// Which answers a plan could use.
#[derive(Debug, Default)]
struct Used(BTreeSet<String>);

impl ChunkCache for Used {
    fn get(&self, _: &ChunkKey) -> Option<String> {
        None
    }

    fn put(&mut self, key: ChunkKey, _: &str) {
        self.0.insert(key.to_hex());
    }
}

const NOTE: &str = "summaries.json";

/// A model that knows what it was asked before, and says what it was not.
struct Known<'a> {
    name: String,
    window: Tokens,
    answers: &'a Answers,
    missing: Option<SummaryRequest>,
}

impl TextModel for Known<'_> {
    fn complete(&mut self, request: &SummaryRequest) -> Result<String, ModelFailure> {
        let key = ChunkKey::new(&self.name, request).to_hex();
        if let Some(answer) = self.answers.finished.get(&key) {
            return Ok(answer.clone());
        }
        if let Some(reason) = self.answers.failed.get(&key) {
            return Err(ModelFailure::Call(reason.clone()));
        }
        self.missing = Some(request.clone());
        Err(ModelFailure::Aborted)
    }

    fn window(&self) -> Tokens {
        self.window
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl<S: Site> Compactor<'_, S> {
    /// Plans until nothing is missing that a model has to say.
    pub(super) async fn summarize(
        &mut self,
        asked: Asked<'_>,
    ) -> Result<Result<Compacted, CompactionFailure>> {
        self.site.look_up()?;
        let terms = self.site.terms();
        // In an emergency nothing is asked that may fail.
        let model = terms.summaries.filter(|_| asked.layer != Layer::Emergency);
        let Some(model) = model else {
            return Ok(self.extract(asked));
        };
        let cancel = terms.cancel;
        let info = model.info();
        let name = format!("{}/{}", info.provider, info.name);
        let mut answers = self.finished_answers();
        loop {
            // What is planned with ends before anybody is waited for: the closures in
            // it stay on their thread.
            let (planned, missing, used) = {
                let mut known = Known {
                    name: name.clone(),
                    window: self.site.summary_window(info),
                    answers: &answers,
                    missing: None,
                };
                let mut used = Used::default();
                let mut staged =
                    Staged::new(&mut known, &mut used).with_chunks_of(terms.model.chunk_percent);
                let planned = self.plan_with(&mut staged, asked);
                (planned, known.missing, used)
            };
            self.keep_answers(&mut answers, used);
            let Some(missing) = missing else {
                return Ok(planned);
            };
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            self.ask(model.as_ref(), &name, &missing, &mut answers, &cancel)
                .await?;
        }
    }

    /// A compaction with prose by whoever is given.
    pub(super) fn plan_with(
        &mut self,
        summarizer: &mut dyn Summarizer,
        asked: Asked<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        let terms = self.site.terms();
        let bench = self.site.bench();
        let stored = bench.stored.as_ref();
        let request = CompactionRequest {
            layer: asked.layer,
            trigger: asked.trigger,
            focus: asked.focus,
            window: &bench.window,
            protect: terms.protected(asked.layer),
            overhead: asked.size.overhead,
            tokens_before: asked.size.tokens,
            rules: terms.rules,
            tail: terms.tail,
            is_stored: &|id| stored.is_some_and(|stored| stored.contains_key(id)),
        };
        let compacted = bench
            .live
            .compact_with(summarizer, &mut bench.meter, &request)?;
        // Above a threshold the breaker judges; a person is spared the detour.
        if asked.trigger == Trigger::Manual {
            let stamp = Stamp {
                id: EntryId::from("preview"),
                time: self.site.now(),
            };
            let before = asked.size.tokens;
            let after = self.foresee(&compacted, &compacted.draft, &stamp);
            if after > before {
                return Err(CompactionFailure::Grows { before, after });
            }
        }
        Ok(compacted)
    }

    /// What was finished of an earlier attempt.
    fn finished_answers(&mut self) -> Answers {
        let text = self.site.bench().notebook.read(NOTE).ok().flatten();
        let mut answers: Answers = text
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        answers.stored = answers.finished.keys().cloned().collect();
        answers
    }

    /// Keeps the answers that a plan could use, for an attempt after this one.
    fn keep_answers(&mut self, answers: &mut Answers, used: Used) {
        if used.0.is_subset(&answers.stored) {
            return;
        }
        answers.stored.extend(used.0);
        let mut kept = answers.clone();
        kept.finished.retain(|key, _| answers.stored.contains(key));
        let text = serde_json::to_string(&kept).unwrap_or_default();
        let bench = self.site.bench();
        let text = bench.live.redactor().document().json(&text).into_owned();
        if let Err(error) = bench.notebook.write(NOTE, &text) {
            self.site.tell(error.event());
        }
    }

    /// The compaction is written: its answers are no longer needed.
    pub(super) fn drop_answers(&mut self) {
        if self.site.terms().summaries.is_some() {
            let _ = self.site.bench().notebook.remove(NOTE);
        }
    }

    /// Asks for one summary.
    async fn ask(
        &mut self,
        model: &dyn Model,
        name: &str,
        asked: &SummaryRequest,
        answers: &mut Answers,
        cancel: &CancellationToken,
    ) -> Result<()> {
        let settings = self.site.terms().model;
        let request = Request {
            system: vec![SystemBlock::new(asked.system.clone())],
            messages: vec![Message::user(asked.prompt.clone())],
            max_output: Some(asked.max_tokens.min(settings.max_tokens).0),
            temperature: Some(settings.temperature),
            ..Request::default()
        };
        let key = ChunkKey::new(name, asked).to_hex();
        match model.ask(&request, &mut |_| {}, cancel).await {
            Ok(answer) => {
                self.spend(spent_on(&answer, model.info()), name);
                let text = answer.text();
                if answer.stop == Stop::Refusal {
                    let why = format!("the model refused: {}", first_line(&text));
                    answers.failed.insert(key, why);
                } else {
                    answers.finished.insert(key, without_pointers(&text));
                }
            }
            Err(failure) => {
                self.spend(spent_on_failure(&failure, model.info()), name);
                if failure.error == ModelError::Cancelled {
                    return Err(Error::Cancelled);
                }
                answers.failed.insert(key, failure.error.to_string());
            }
        }
        Ok(())
    }

    fn spend(&mut self, spent: Spent, model: &str) {
        self.site.bench().state.spending.compactions.add(&spent);
        self.site.spent(&spent);
        self.site.tell(Event::Spent {
            on: "compaction",
            model: model.to_owned(),
            spent,
        });
        self.remember();
    }
}

/// The text of a model without its directions to recall something: it quotes
/// ids wrongly, and those that are right stand in the part that is not its own.
fn without_pointers(text: &str) -> String {
    let is_id = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("recall ") {
        let (before, from) = rest.split_at(at + "recall ".len());
        let id = from.find(|c| !is_id(c)).unwrap_or(from.len());
        kept.push_str(before);
        if id >= 8 {
            kept.push_str("it");
            rest = &from[id..];
        } else {
            rest = from;
        }
    }
    kept.push_str(rest);
    kept
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_points_at_no_entry() {
        let said = "Done (recall 01a1df31-13d6-735a-8ffc-fc78498f67fb: all), recall 01a1df31-8, \
                    and recall a lot.";
        assert_eq!(
            without_pointers(said),
            "Done (recall it: all), recall it, and recall a lot."
        );
        assert_eq!(without_pointers("recall deadbeef"), "recall it");
    }
}
