//! Confidence: how sure it is that a candidate belongs into the memory.

use jiff::civil::Date;

use super::candidate::Candidate;
use crate::Source;

/// Days after which a candidate's recency counts half.
const HALF_LIFE: f64 = 14.0;

/// The confidence of a candidate when `newest` is the latest day that was
/// looked at. It depends on what was said, not on when it is asked.
///
/// | part | weight | what |
/// |---|---|---|
/// | source | 0.35 | user 1, agent 0.7, unknown 0.4, tool 0.2 |
/// | recurrence | 0.25 | 1 − 0.5ⁿ for n mentions |
/// | recency | 0.15 | halves every 14 days |
/// | diversity | 0.15 | 1 − 0.5ⁿ for n days or sessions, whichever are more |
/// | recalled | 0.10 | 1 − 0.5ⁿ for n recalls |
pub(super) fn confidence(candidate: &Candidate, newest: Date, recalls: u32) -> f64 {
    let source = match candidate.source {
        Source::User => 1.0,
        Source::Agent => 0.7,
        Source::Unknown => 0.4,
        Source::Tool => 0.2,
    };
    let growing = |count: usize| 1.0 - 0.5_f64.powi(count.min(30) as i32);
    let age = newest
        .since(candidate.last_day())
        .map_or(0, |span| span.get_days());
    let recency = 0.5_f64.powf(f64::from(age.max(0)) / HALF_LIFE);
    let places = candidate.days.len().max(candidate.sessions.len());
    let sum = 0.35 * source
        + 0.25 * growing(candidate.mentions())
        + 0.15 * recency
        + 0.15 * growing(places)
        + 0.10 * growing(recalls as usize);
    // Two decimals are what anybody can tell apart, and all that is stored.
    (sum * 100.0).round() / 100.0
}
