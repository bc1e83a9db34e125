//! Two candidates that are one: the newer takes the place of the older, by the word of
//! a person or of a model.

use super::candidate::{Candidate, Review, Status};
use crate::{Error, Result};

/// Merges a candidate that waits with one that waits or is kept.
pub(super) fn merge(candidates: &mut [Candidate], id: &str, other: &str) -> Result<String> {
    let place = |id: &str| {
        let at = candidates.iter().position(|one| one.id == id);
        at.ok_or_else(|| Error::NoCandidate { id: id.to_owned() })
    };
    let (a, b) = (place(id)?, place(other)?);
    let refused = |at: usize| Error::NotStaged {
        id: candidates[at].id.clone(),
        status: candidates[at].status.name(),
    };
    if a == b || !candidates[a].is_waiting() {
        return Err(refused(a));
    }
    let is_kept = candidates[b].status.is_kept();
    if !is_kept && !candidates[b].is_waiting() {
        return Err(refused(b));
    }
    let last = |at: usize| {
        let one: &Candidate = &candidates[at];
        let line = one.evidence.last().and_then(|evidence| evidence.line);
        (one.last_day(), line)
    };
    let (newer, older) = match last(a) >= last(b) {
        true => (a, b),
        false => (b, a),
    };
    let (stays, leaves) = (candidates[newer].id.clone(), candidates[older].id.clone());
    let on = candidates[newer].last_day();
    if candidates[older].is_waiting() {
        candidates[older].status = Status::Superseded {
            on,
            by: stays.clone(),
        };
        candidates[older].valid_until = Some(candidates[newer].valid_from);
    }
    if candidates[newer].is_waiting() {
        candidates[newer].replaces.push(leaves.clone());
        candidates[newer].review = Some(Review::Merged);
    }
    for one in candidates {
        let is_older = one.id == leaves;
        one.contradicts.retain(|id| match is_older {
            true => *id != stays,
            false => *id != leaves,
        });
    }
    Ok(stays)
}
