//! A compaction that pi writes: at the end of a round by our thresholds, or when
//! pi asks by its own.

use futures::executor::block_on;
use longhaul_compaction::{Layer, Trigger};
use longhaul_model::CancellationToken;
use longhaul_tokens::Tokens;
use longhaul_transcript::EntryId;
use serde::Serialize;
use serde_json::Value;

use super::{PiHost, PiSession, Result};
use crate::compactor::{Compactor, Outcome, Site};
use crate::event::Event;
use longhaul_compaction::compact::Tail;

/// Why pi is about to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its user asked for it.
    Manual,
    /// The context is above its threshold.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
}

/// A compaction in pi's words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PiCompaction {
    /// What stands for all that leaves.
    pub summary: String,
    /// The first entry that stays.
    pub first_kept_entry_id: Option<String>,
    /// Tokens before.
    pub tokens_before: u64,
    /// What our own compactions carry besides.
    pub details: Value,
}

/// What pi is offered when it is about to compact.
#[derive(Debug, Clone, PartialEq)]
pub enum Offer {
    /// The compaction that it should write in place of its own.
    Compaction(Box<PiCompaction>),
    /// Nothing would come free. What pi would do by itself asks a model to
    /// summarise our summary, which loses what that keeps exactly.
    Nothing,
    /// It did not come about, and pi should do what it would do without us.
    Own,
}

impl PiSession {
    /// pi is about to compact, by its own thresholds or because its user says so.
    pub fn before_compact(
        &mut self,
        leaf: Option<&EntryId>,
        reason: Reason,
        focus: Option<&str>,
        host: PiHost,
        cancel: &CancellationToken,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Offer> {
        self.follow(leaf, host)?;
        let window = self.bench.window;
        if self.setup.config.sandbox.read_only {
            return Ok(Offer::Own);
        }
        let rules = self.setup.config.compaction.breaker;
        let (trigger, layers): (_, &[Layer]) = match reason {
            Reason::Manual => (Trigger::Manual, &[Layer::Summarize, Layer::Full]),
            Reason::Threshold if self.bench.state.breaker.is_open(rules) => return Ok(Offer::Own),
            Reason::Threshold => (Trigger::Auto, &[Layer::Summarize, Layer::Full]),
            Reason::Overflow => (
                Trigger::Overflow,
                &[Layer::Summarize, Layer::Full, Layer::Emergency],
            ),
        };
        let mut best: Option<(Tokens, Vec<Value>)> = None;
        let mut failed = false;
        for layer in layers {
            let mut paper = self.on_paper(cancel, sink);
            // Of what we draft pi takes the compaction here, and nothing else.
            paper.tail = Tail::Whole;
            let size = paper.size();
            let mut compactor = Compactor::at(&mut paper);
            match block_on(compactor.layer(*layer, trigger, focus, size)) {
                Ok(Outcome::Made(_)) => {}
                Ok(outcome) => {
                    failed |= matches!(outcome, Outcome::Failed(_));
                    continue;
                }
                Err(error) => {
                    failed = true;
                    paper.stopped_by(error)?;
                    continue;
                }
            }
            let after = paper.after;
            if best.as_ref().is_none_or(|(best, _)| after < *best) {
                best = Some((after, std::mem::take(&mut paper.entries)));
            }
            let enough = match reason {
                Reason::Manual => true,
                Reason::Threshold => after < window.hysteresis_target(),
                // An emergency ends as soon as it fits.
                Reason::Overflow => window.admits(after),
            };
            if enough {
                break;
            }
        }
        let compaction = best.and_then(|(_, entries)| PiCompaction::of(entries.first()?));
        Ok(match compaction {
            Some(compaction) => Offer::Compaction(Box::new(compaction)),
            // Above a threshold something has to be done, and pi still can.
            None if failed || reason != Reason::Manual => Offer::Own,
            None => Offer::Nothing,
        })
    }
}

impl PiCompaction {
    /// The answer to `session_before_compact`, from the entry of a round's end.
    fn of(entry: &Value) -> Option<PiCompaction> {
        Some(PiCompaction {
            summary: entry.get("summary")?.as_str()?.to_owned(),
            first_kept_entry_id: entry
                .get("firstKeptEntryId")
                .and_then(Value::as_str)
                .map(str::to_owned),
            tokens_before: entry.get("tokensBefore")?.as_u64()?,
            details: entry.get("details").cloned().unwrap_or_default(),
        })
    }
}
