//! Hiding tool output: from what the settings allow to drafts.

use longhaul_compaction::Counted;
use longhaul_compaction::cost::{Prices, Since, Verdict, decide};
use longhaul_compaction::prune::{Edit, PruneSettings, prune, worth_planning};
use longhaul_tokens::Tokens;
use longhaul_transcript::{ContextMessage, Draft, Role, unasked};
use serde_json::json;

use super::super::{Live, PRUNE_MARK};
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

/// Numbers of a session before anything is decided.
#[derive(Debug, Clone)]
pub struct Explained {
    /// Our count of every message of the context.
    pub counted: Vec<Counted>,
    /// All of them.
    pub total: Tokens,
    /// How much of it is tool output.
    pub tool_output: Tokens,
}

impl Live {
    /// Counts the context.
    pub fn explain(&self, meter: &mut Meter) -> Explained {
        explain(self.messages(), meter)
    }

    /// Layer 1: hides tool output for good, if that frees enough.
    pub fn prune(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        overhead: Tokens,
    ) -> Option<Pruned> {
        if !self.worth_planning(meter, settings, &|freed, _| freed >= settings.minimum) {
            return None;
        }
        let explained = self.explain(meter);
        let counter = meter.estimator().counter();
        let pruning = prune(&explained.counted, &self.pins(), settings, &|tool, text| {
            counter.tool_result(tool, text)
        });
        let edits = pruning.durable(settings)?;
        Some(self.pruned(edits, explained.total + overhead))
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
        if !self.worth_planning(meter, settings, &pays) {
            return None;
        }
        let explained = self.explain(meter);
        let counter = meter.estimator().counter();
        let pruning = prune(&explained.counted, &self.pins(), settings, &|tool, text| {
            counter.tool_result(tool, text)
        });
        let (chosen, verdict) = pruning.cheapest(&prices, since, expected_turns);
        let edits: Vec<Edit> = chosen.edits.into_iter().filter(Edit::is_durable).collect();
        if !verdict.now || edits.is_empty() {
            return None;
        }
        Some((self.pruned(edits, explained.total + overhead), verdict))
    }

    /// Whether a plan could come to anything, by the sizes of the messages.
    fn worth_planning(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        pays: &dyn Fn(Tokens, Tokens) -> bool,
    ) -> bool {
        let sizes: Vec<(Tokens, bool)> = self
            .messages()
            .iter()
            .map(|message| {
                let result = matches!(message.role, Role::ToolResult | Role::BashExecution);
                (meter.message(message), result && !message.edited)
            })
            .collect();
        worth_planning(sizes.into_iter(), settings, pays)
    }

    /// The drafts of a pruning.
    fn pruned(&self, mut edits: Vec<Edit>, tokens: Tokens) -> Pruned {
        edits.sort_by_key(|edit| edit.at);
        let freed: Tokens = edits.iter().map(Edit::freed).sum();
        let mark = json!({
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
        drafts.push(Draft::Custom {
            custom_type: PRUNE_MARK.into(),
            data: mark.to_string(),
        });
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

/// Counts a context, message by message.
pub(crate) fn explain(messages: &[ContextMessage], meter: &mut Meter) -> Explained {
    let unasked = unasked(messages);
    let counted: Vec<Counted> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| Counted {
            tokens: match unasked.contains(&at) {
                true => Tokens::ZERO,
                false => meter.message(message),
            },
            message: message.clone(),
        })
        .collect();
    let sum = |wanted: &dyn Fn(&Role) -> bool| -> Tokens {
        counted
            .iter()
            .filter(|counted| wanted(&counted.message.role))
            .map(|counted| counted.tokens)
            .sum()
    };
    Explained {
        total: sum(&|_| true),
        tool_output: sum(&|role| matches!(role, Role::ToolResult | Role::BashExecution)),
        counted,
    }
}
