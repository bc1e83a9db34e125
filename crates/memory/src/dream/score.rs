//! Scores: in which order candidates are shown to whoever decides.
//!
//! A score says how a line came about and how often, never what it means.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;

use super::candidate::{Candidate, Topic, Verdict};
use super::similar::size;
use crate::Source;

/// Days after which a candidate's recency counts half.
const HALF_LIFE: f64 = 14.0;
/// Longer lines tell a story.
const LONG: usize = 200;
/// Lines of fewer words that mean something hardly say it.
const FEW: usize = 3;

/// The score of a candidate when `newest` is the latest day that was looked at. It
/// depends on what was said, not on when it is asked.
///
/// | part | weight | what |
/// |---|---|---|
/// | kind | 0.40 | noted or agreed 1, the user's words 0.5, another line 0.25; of nobody known half, a tool's a quarter of it |
/// | recurrence | 0.20 | 1 − 0.5ⁿ for n mentions beyond the first |
/// | diversity | 0.15 | the same for days or sessions, whichever are more |
/// | recency | 0.10 | halves every 14 days |
/// | recalled | 0.15 | 1 − 0.5ⁿ for n recalls |
///
/// A question counts half, what is long or short three quarters. What a model found
/// worth keeping stands above all else, what it did not below.
pub(super) fn confidence(candidate: &Candidate, newest: Date, recalls: u32) -> f64 {
    let kind = match candidate.topic {
        Topic::Decision | Topic::Fact | Topic::Preference | Topic::Lesson => 1.0,
        Topic::Said => 0.5,
        Topic::Note => 0.25,
    };
    let source = match candidate.source {
        Source::User | Source::Agent => 1.0,
        Source::Unknown => 0.5,
        Source::Tool => 0.25,
    };
    let growing = |count: usize| 1.0 - 0.5_f64.powi(count.min(30) as i32);
    let age = newest
        .since(candidate.last_day())
        .map_or(0, |span| span.get_days());
    let recency = 0.5_f64.powf(f64::from(age.max(0)) / HALF_LIFE);
    let places = candidate.days.len().max(candidate.sessions.len());
    let sum = 0.40 * kind * source
        + 0.20 * growing(candidate.mentions().saturating_sub(1))
        + 0.15 * growing(places.saturating_sub(1))
        + 0.10 * recency
        + 0.15 * growing(recalls as usize);
    let text = candidate.wording();
    // An answer stands before its question.
    let may_ask = matches!(candidate.topic, Topic::Said | Topic::Note);
    let asks = may_ask && text.trim_end().ends_with(['?', '？']);
    let odd = text.chars().count() > LONG || size(text) < FEW;
    let shape = if asks { 0.5 } else { 1.0 } * if odd { 0.75 } else { 1.0 };
    let judged = match candidate.verdict {
        Some(Verdict::Keep) => 0.5 + 0.5 * sum * shape,
        Some(Verdict::Leave) => 0.25 * sum * shape,
        None => sum * shape,
    };
    // Two decimals are what anybody can tell apart, and all that is stored.
    (judged * 100.0).round() / 100.0
}

/// The candidates in the order in which they are reviewed: those of the highest score
/// first, and behind each what may contradict it, the newest first.
pub fn waiting(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut sorted: Vec<&Candidate> = candidates.iter().filter(|one| one.is_waiting()).collect();
    sorted.sort_by(|a, b| {
        b.confidence
            .total_cmp(&a.confidence)
            .then_with(|| a.topic.cmp(&b.topic))
            .then_with(|| b.last_day().cmp(&a.last_day()))
            .then_with(|| a.id.cmp(&b.id))
    });
    let by_id: HashMap<&str, &Candidate> =
        sorted.iter().map(|one| (one.id.as_str(), *one)).collect();
    let mut taken: HashSet<&str> = HashSet::new();
    let mut waiting = Vec::with_capacity(sorted.len());
    for one in sorted {
        let others = one.contradicts.iter();
        let mut group: Vec<&Candidate> = others
            .filter_map(|id| by_id.get(id.as_str()).copied())
            .collect();
        group.sort_by(|a, b| {
            let days = b.last_day().cmp(&a.last_day());
            days.then_with(|| a.id.cmp(&b.id))
        });
        if taken.contains(one.id.as_str()) {
            continue;
        }
        let fresh = std::iter::once(one).chain(group);
        waiting.extend(fresh.filter(|one| taken.insert(&one.id)));
    }
    waiting
}
