//! Hiding tool output: from what the settings allow to drafts.

use longhaul_compaction::Counted;
use longhaul_compaction::cost::{CacheTerms, Verdict, decide};
use longhaul_compaction::prune::{Edit, PruneSettings, Pruning, prune, worth_planning};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Role, unasked};
use serde_json::json;

use super::Live;
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

impl Live {
    /// Layer 1: hides tool output for good, if that frees enough.
    pub fn prune(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        overhead: Tokens,
    ) -> Option<Pruned> {
        let pays = |freed, _| freed >= settings.minimum;
        let pruning = self.worth_pruning(meter, settings, &pays)?;
        Some(self.pruned(meter, pruning.durable(settings)?, overhead))
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
        let pays = |freed, suffix| decide(freed, suffix, terms).now;
        let pruning = self.worth_pruning(meter, settings, &pays)?;
        let (chosen, verdict) = pruning.cheapest(terms);
        let edits: Vec<Edit> = chosen.edits.into_iter().filter(Edit::is_durable).collect();
        if !verdict.now || edits.is_empty() {
            return None;
        }
        Some((self.pruned(meter, edits, overhead), verdict))
    }

    /// What may be hidden; nothing where a plan could not come to anything, by the
    /// sizes of the messages.
    fn worth_pruning(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        pays: &dyn Fn(Tokens, Tokens) -> bool,
    ) -> Option<Pruning> {
        let messages = self.messages().iter();
        let sizes: Vec<(Tokens, bool)> = messages
            .map(|message| {
                let result = matches!(message.role, Role::ToolResult | Role::BashExecution);
                (meter.message(message), result && !message.edited)
            })
            .collect();
        worth_planning(sizes.into_iter(), settings, pays).then(|| self.pruning(meter, settings))
    }

    /// What may be hidden.
    pub(crate) fn pruning(&self, meter: &mut Meter, settings: &PruneSettings) -> Pruning {
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
        let counter = meter.estimator().counter();
        let count = |tool: &str, text: &str| counter.tool_result(tool, text);
        prune(&counted, &self.pins(), settings, &count)
    }

    /// The drafts of a pruning.
    fn pruned(&self, meter: &mut Meter, mut edits: Vec<Edit>, overhead: Tokens) -> Pruned {
        edits.sort_by_key(|edit| edit.at);
        let tokens = meter.messages(self.messages()) + overhead;
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
        let first = edits.first();
        Pruned {
            results: edits.len(),
            suffix: first.map_or(Tokens::ZERO, |edit| edit.behind - freed),
            freed,
            drafts,
        }
    }
}
