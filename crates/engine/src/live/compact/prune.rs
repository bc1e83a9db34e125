//! Hiding tool output: from what the settings allow to drafts.

use longhaul_compaction::Counted;
use longhaul_compaction::cost::{Prices, Since, Verdict, decide};
use longhaul_compaction::prune::{Edit, PruneSettings, Pruning, prune, worth_planning};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Role, unasked};
use serde_json::json;

use super::super::Live;
use crate::marks::{PRUNE_MARK, mark};
use crate::measure::Meter;

/// A pruning, ready to be appended.
#[derive(Debug, Clone)]
pub struct Pruned {
    /// The edits, and a mark that records them.
    pub drafts: Vec<Draft>,
    /// How many results are hidden.
    pub results: usize,
    /// What comes free.
    pub freed: Tokens,
    /// What is rewritten behind the first edit.
    pub suffix: Tokens,
}

/// What decides whether a rewrite of the prompt pays.
#[derive(Debug, Clone, Copy)]
pub struct CacheTerms {
    /// What tokens cost.
    pub prices: Prices,
    /// How long ago the last request was.
    pub since: Since,
    /// Requests still to come.
    pub expected_turns: u32,
}

impl CacheTerms {
    /// Whether the provider has forgotten the last prompt.
    pub fn is_cold(&self) -> bool {
        !matches!(self.since, Since::Never) && !self.prices.is_warm(self.since)
    }
}

/// A context, counted.
#[derive(Debug, Clone)]
pub struct Explained {
    /// Our count of every message of the context.
    pub counted: Vec<Counted>,
    /// All of them.
    pub total: Tokens,
}

impl Live {
    /// Counts the context.
    pub fn explain(&self, meter: &mut Meter) -> Explained {
        let unasked = unasked(self.messages());
        let messages = self.messages().iter().enumerate();
        let counted = messages.map(|(at, message)| Counted {
            tokens: match unasked.contains(&at) {
                true => Tokens::ZERO,
                false => meter.message(message),
            },
            message: message.clone(),
        });
        let counted: Vec<Counted> = counted.collect();
        Explained {
            total: counted.iter().map(|counted| counted.tokens).sum(),
            counted,
        }
    }

    /// Layer 1: hides tool output for good, if that frees enough.
    pub fn prune(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        overhead: Tokens,
    ) -> Option<Pruned> {
        let pays = |freed, _| freed >= settings.minimum;
        let (pruning, total) = self.pruning(meter, settings, &pays)?;
        Some(self.pruned(pruning.durable(settings)?, total + overhead))
    }

    /// Hides tool output where the prompt cache makes that cheaper than
    /// leaving it: at once when the cache is cold, else when it pays back.
    pub fn prune_if_cheaper(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        terms: &CacheTerms,
        overhead: Tokens,
    ) -> Option<(Pruned, Verdict)> {
        let CacheTerms {
            prices,
            since,
            expected_turns,
        } = *terms;
        let pays = |freed, suffix| decide(freed, suffix, &prices, since, expected_turns).now;
        let (pruning, total) = self.pruning(meter, settings, &pays)?;
        let (chosen, verdict) = pruning.cheapest(&prices, since, expected_turns);
        let edits: Vec<Edit> = chosen.edits.into_iter().filter(Edit::is_durable).collect();
        if !verdict.now || edits.is_empty() {
            return None;
        }
        Some((self.pruned(edits, total + overhead), verdict))
    }

    /// What may be hidden, and our count of the context; nothing where a plan
    /// could not come to anything, by the sizes of the messages.
    fn pruning(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        pays: &dyn Fn(Tokens, Tokens) -> bool,
    ) -> Option<(Pruning, Tokens)> {
        let messages = self.messages().iter();
        let sizes: Vec<(Tokens, bool)> = messages
            .map(|message| {
                let result = matches!(message.role, Role::ToolResult | Role::BashExecution);
                (meter.message(message), result && !message.edited)
            })
            .collect();
        if !worth_planning(sizes.into_iter(), settings, pays) {
            return None;
        }
        let explained = self.explain(meter);
        let counter = meter.estimator().counter();
        let count = |tool: &str, text: &str| counter.tool_result(tool, text);
        let pruning = prune(&explained.counted, &self.pins(), settings, &count);
        Some((pruning, explained.total))
    }

    /// The drafts of a pruning.
    fn pruned(&self, mut edits: Vec<Edit>, tokens: Tokens) -> Pruned {
        edits.sort_by_key(|edit| edit.at);
        let freed: Tokens = edits.iter().map(Edit::freed).sum();
        let data = json!({
            "targets": edits.iter().map(|edit| edit.entry.as_str()).collect::<Vec<_>>(),
            "freed": freed,
            "tokensBefore": tokens,
            "tokensAfter": tokens - freed,
            "epoch": self.epoch(),
        });
        let mut drafts: Vec<Draft> = edits
            .iter()
            .map(|edit| Draft::ContextEdit {
                target: edit.entry.clone(),
                content: Some(edit.content.clone()),
            })
            .collect();
        drafts.push(mark(PRUNE_MARK, &data));
        Pruned {
            results: edits.len(),
            suffix: edits
                .first()
                .map_or(Tokens::ZERO, |edit| edit.behind - freed),
            freed,
            drafts,
        }
    }
}
