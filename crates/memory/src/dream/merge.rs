//! Two candidates that are one: the newer takes the place of the older, by the word of
//! a person or of a model.

use super::candidate::{Candidate, Review, Status, waits};
use crate::{Error, Result};

/// Merges a candidate that waits with one that waits or is kept.
pub(super) fn merge(candidates: &mut [Candidate], id: &str, other: &str) -> Result<String> {
    waits(candidates, id)?;
    let place = |id: &str| {
        let at = candidates.iter().position(|one| one.id == id);
        at.ok_or_else(|| Error::NoCandidate { id: id.to_owned() })
    };
    let (a, b) = (place(id)?, place(other)?);
    let status = &candidates[b].status;
    if a == b || !(status.is_kept() || *status == Status::Staged) {
        return Err(Error::NotStaged {
            id: other.to_owned(),
            status: status.to_string(),
        });
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
            until: candidates[newer].valid_from,
            by: stays.clone(),
        };
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
