//! The plan: which results are pruned, and what that frees.

use std::collections::{HashMap, HashSet};

use longhaul_tokens::Tokens;
use longhaul_transcript::EntryId;
use serde::Serialize;

use super::edit::{Edit, Reason, content_of};
use super::placeholder::{Extract, placeholder};
use super::record::{Record, records, repeated, superseded};
use super::settings::PruneSettings;
use super::trim::trimmed;
use crate::cost::{CacheTerms, Verdict, decide};
use crate::terms::Counted;

/// What could be pruned.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pruning {
    /// The edits, the most dispensable results first, then by position.
    pub edits: Vec<Edit>,
    /// What they free together.
    pub freed: Tokens,
    /// What follows the first of them once all are applied: what a warm cache
    /// would have to write anew.
    pub suffix: Tokens,
    /// The results that stay, and why.
    pub kept: Kept,
}

/// Results that are not pruned, by the first reason that keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// Edited before.
    pub edited: usize,
    /// In the protected tail, or not read by a model yet.
    pub tail: usize,
    /// Pinned.
    pub pinned: usize,
    /// Among the most recent records.
    pub recent: usize,
    /// Neither superseded nor repeated, old or long.
    pub useful: usize,
    /// A placeholder would hardly be shorter.
    pub small: usize,
}

/// Why a result is not pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stays {
    Edited,
    Tail,
    Pinned,
    Recent,
    Useful,
    Small,
}

impl Kept {
    fn add(&mut self, stays: Stays) {
        *match stays {
            Stays::Edited => &mut self.edited,
            Stays::Tail => &mut self.tail,
            Stays::Pinned => &mut self.pinned,
            Stays::Recent => &mut self.recent,
            Stays::Useful => &mut self.useful,
            Stays::Small => &mut self.small,
        } += 1;
    }
}

impl Pruning {
    /// Whether there is nothing to prune.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Number of edits and tokens freed, by reason.
    pub fn by_reason(&self) -> [(Reason, usize, Tokens); 4] {
        Reason::ALL.map(|reason| {
            let of_reason = || self.edits.iter().filter(|edit| edit.reason == reason);
            (
                reason,
                of_reason().count(),
                of_reason().map(Edit::freed).sum(),
            )
        })
    }

    /// The edits worth writing into the transcript, by position; `None` unless
    /// they free the minimum.
    pub fn durable(&self, settings: &PruneSettings) -> Option<Vec<Edit>> {
        let durable = self.edits.iter().filter(|edit| edit.is_durable());
        let mut edits: Vec<Edit> = durable.cloned().collect();
        edits.sort_by_key(|edit| edit.at);
        let freed: Tokens = edits.iter().map(Edit::freed).sum();
        (!edits.is_empty() && freed >= settings.minimum).then_some(edits)
    }

    /// Only the edits at or behind a position, which leave the cache in front of
    /// it alone.
    pub fn starting_at(&self, at: usize) -> Pruning {
        let edits = self.edits.iter().filter(|edit| edit.at >= at).cloned();
        Pruning::of(edits.collect(), self.kept)
    }

    /// The edits that save most over the turns expected, and whether to apply
    /// them now. Rewriting a warm cache from further back frees more and costs
    /// more; when no start saves anything, the verdict on all edits says so.
    pub fn cheapest(&self, terms: &CacheTerms) -> (Pruning, Verdict) {
        let judge = |freed, suffix| decide(freed, suffix, terms);
        let mut by_position: Vec<&Edit> = self.edits.iter().collect();
        by_position.sort_by_key(|edit| edit.at);
        let mut best: Option<(usize, f64)> = None;
        let mut freed = Tokens::ZERO;
        for edit in by_position.iter().rev() {
            freed += edit.freed();
            let verdict = judge(freed, edit.behind - freed);
            let saved = verdict.numbers.saved();
            // On a tie the earlier start frees more.
            if verdict.now && best.is_none_or(|(_, most)| saved >= most) {
                best = Some((edit.at, saved));
            }
        }
        let chosen = match best {
            Some((at, _)) => self.starting_at(at),
            None => self.clone(),
        };
        let verdict = judge(chosen.freed, chosen.suffix);
        (chosen, verdict)
    }

    fn of(edits: Vec<Edit>, kept: Kept) -> Pruning {
        let freed: Tokens = edits.iter().map(Edit::freed).sum();
        let behind = edits
            .iter()
            .min_by_key(|edit| edit.at)
            .map_or(Tokens::ZERO, |edit| edit.behind);
        Pruning {
            edits,
            freed,
            suffix: behind - freed,
            kept,
        }
    }
}

/// Plans the pruning of a conversation. `count` says what the result of a tool
/// costs, by the tool's name and the text; it must be the count by which
/// `conversation` was sized.
///
/// The protected tail is what keeps the current turn: a turn smaller than the
/// tail is inside it, and of a larger one, as headless runs have them, only the
/// tail is protected.
pub fn prune(
    conversation: &[Counted],
    pins: &HashSet<EntryId>,
    settings: &PruneSettings,
    count: &dyn Fn(&str, &str) -> Tokens,
) -> Pruning {
    let behind = tokens_from(conversation);
    let records = records(conversation);
    let candidates = Candidates {
        settings,
        pins,
        tail: tail_start(conversation, settings.protect_tail),
        recent: records
            .len()
            .saturating_sub(settings.arrival.whole_records as usize),
        shared: shared_entries(conversation),
        superseded: superseded(&records),
        repeated: repeated(&records),
    };
    let mut kept = Kept::default();
    let mut edits = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let tokens = conversation[record.at].tokens;
        let shorter = |reason, shown: &str| {
            let after = record.resized(tokens, shown, count);
            // A placeholder of half the size saves nothing worth a look-up.
            (after + after <= tokens).then(|| Edit {
                entry: record.entry.clone(),
                at: record.at,
                surface: record.surface,
                content: content_of(shown),
                reason,
                before: tokens,
                after,
                behind: behind[record.at],
            })
        };
        match candidates.judge(index, record, &shorter) {
            Ok(edit) => edits.push(edit),
            Err(stays) => kept.add(stays),
        }
    }
    edits.sort_by_key(|edit| (edit.reason, edit.at));
    Pruning::of(edits, kept)
}

/// Whether a plan could come to anything, judged by sizes alone: as if every
/// result in front of the protected tail that was not edited yet came free
/// whole. `sizes` has each message's tokens and whether it is such a result;
/// `pays` is asked with what comes free and what stays behind its start. Far
/// cheaper than a plan, and mostly the answer is no.
pub fn worth_planning(
    sizes: impl DoubleEndedIterator<Item = (Tokens, bool)>,
    settings: &PruneSettings,
    pays: &dyn Fn(Tokens, Tokens) -> bool,
) -> bool {
    let mut behind = Tokens::ZERO;
    let mut free = Tokens::ZERO;
    for (tokens, result) in sizes.rev() {
        let before_tail = behind >= settings.protect_tail;
        behind += tokens;
        if before_tail && result {
            free += tokens;
            if pays(free, behind - free) {
                return true;
            }
        }
    }
    false
}

/// What decides over one record after another.
struct Candidates<'a> {
    settings: &'a PruneSettings,
    pins: &'a HashSet<EntryId>,
    /// The first protected message.
    tail: usize,
    /// The first of the most recent records.
    recent: usize,
    /// Entries with more than one message, which no edit can tell apart.
    shared: HashSet<&'a EntryId>,
    superseded: HashSet<usize>,
    repeated: HashSet<usize>,
}

impl Candidates<'_> {
    /// The edit of a record, or why it stays.
    fn judge(
        &self,
        index: usize,
        record: &Record<'_>,
        shorter: &dyn Fn(Reason, &str) -> Option<Edit>,
    ) -> Result<Edit, Stays> {
        if record.edited {
            return Err(Stays::Edited);
        }
        if record.at >= self.tail || record.age == 0 {
            return Err(Stays::Tail);
        }
        if self.pins.contains(record.entry) || self.shared.contains(record.entry) {
            return Err(Stays::Pinned);
        }
        if index >= self.recent {
            return Err(Stays::Recent);
        }
        let text = record.extract();
        let mut stays = Stays::Useful;
        for reason in self.reasons(index, record) {
            if let Some(shown) = self.shown(record, &text, reason) {
                match shorter(reason, &shown) {
                    Some(edit) => return Ok(edit),
                    None => stays = Stays::Small,
                }
            }
        }
        Err(stays)
    }

    /// Why a record should go, the best reason first. All of them are tried,
    /// because the words for one may be too long where those for another fit;
    /// else a second run would find what the first had missed.
    fn reasons(&self, index: usize, record: &Record<'_>) -> impl Iterator<Item = Reason> + use<> {
        let patience = if record.failed { 2 } else { 1 };
        let holds = [
            self.superseded.contains(&index),
            self.repeated.contains(&index),
            record.age > self.settings.after_rounds.saturating_mul(patience),
            self.settings.arrival.enabled,
        ];
        Reason::ALL
            .into_iter()
            .zip(holds)
            .filter_map(|(reason, holds)| holds.then_some(reason))
    }

    /// What a record shows instead; `None` if it is not too long after all.
    fn shown(&self, record: &Record<'_>, text: &Extract, reason: Reason) -> Option<String> {
        match reason {
            Reason::Arrival => trimmed(record, text, &self.settings.arrival),
            Reason::Superseded | Reason::Repeated | Reason::Age => {
                Some(placeholder(record, text, reason))
            }
        }
    }
}

/// Tokens from each message to the end.
fn tokens_from(conversation: &[Counted]) -> Vec<Tokens> {
    let mut sums = vec![Tokens::ZERO; conversation.len()];
    let mut sum = Tokens::ZERO;
    for (at, counted) in conversation.iter().enumerate().rev() {
        sum += counted.tokens;
        sums[at] = sum;
    }
    sums
}

/// The first message of the protected tail: the last `protect` tokens, and the
/// whole of the message in which they begin.
fn tail_start(conversation: &[Counted], protect: Tokens) -> usize {
    let mut sum = Tokens::ZERO;
    for (at, counted) in conversation.iter().enumerate().rev() {
        if sum >= protect {
            return at + 1;
        }
        sum += counted.tokens;
    }
    0
}

fn shared_entries(conversation: &[Counted]) -> HashSet<&EntryId> {
    let mut seen: HashMap<&EntryId, usize> = HashMap::new();
    for counted in conversation {
        *seen.entry(&counted.message.entry).or_default() += 1;
    }
    seen.into_iter()
        .filter(|(_, count)| *count > 1)
        .map(|(entry, _)| entry)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_in_front_of_the_tail_are_worth_a_plan() {
        let settings = PruneSettings {
            protect_tail: Tokens(50),
            ..PruneSettings::default()
        };
        let most = |sizes: &[(u32, bool)]| {
            (0..400).rev().find(|wanted| {
                let sizes = sizes.iter().map(|(size, result)| (Tokens(*size), *result));
                worth_planning(sizes, &settings, &|freed, _| freed >= Tokens(*wanted))
            })
        };
        assert_eq!(most(&[(100, true), (30, true)]), None);
        assert_eq!(most(&[(100, true), (60, true)]), Some(100));
        assert_eq!(
            most(&[(100, true), (70, false), (10, true), (60, false)]),
            Some(110)
        );
        let behind = |suffix| {
            let sizes = [(100, true), (70, false), (60, true)];
            let sizes = sizes.iter().map(|(size, result)| (Tokens(*size), *result));
            worth_planning(sizes, &settings, &|_, behind| behind == Tokens(suffix))
        };
        assert!(behind(130) && !behind(230));
    }
}
