//! Committing turns: whole or not at all, and once.
//!
//! A turn is one write: a mark that names its key, counts its messages and
//! carries their hash, and then the messages. When the process dies in between,
//! the mark does not fit what follows it, and the turn is left on a branch of its
//! own when the mirror is next opened. The host commits it again, since nobody
//! told it that this was done.

use longhaul_transcript::Draft;

use super::align::{Seen, is_apart};
use super::mirror::turn_mark;
use super::{Hosted, Result};
use crate::session::Listener;

/// What came of committing a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// It is on the disk now.
    Now,
    /// It was before.
    Before,
}

/// How much of a turn is at the end of the path already.
struct Overlap {
    /// So many of its messages are there.
    there: usize,
    /// Where they end on the path.
    end: usize,
}

impl Hosted {
    /// Commits a turn under a key. The messages and the key are durable when this
    /// returns; a second time the same key changes nothing.
    pub fn commit_turn(
        &mut self,
        key: &str,
        messages: &[&str],
        listener: &mut dyn Listener,
    ) -> Result<Committed> {
        if self.mirror.keys.contains(key) {
            return Ok(Committed::Before);
        }
        let seen: Vec<Seen> = messages.iter().map(|text| Seen::of(text)).collect();
        let overlap = self.overlap(&seen);
        let new = &messages[overlap.there..];
        let claimed = match new.is_empty() {
            true => overlap.end.max(self.mirror.claimed),
            false => overlap.end + new.len(),
        };
        let mut drafts = vec![turn_mark(Some(key), new, claimed)];
        drafts.extend(new.iter().map(|text| Draft::Message((*text).to_owned())));
        match self.beyond.take() {
            Some(beyond) if !new.is_empty() => {
                self.leave(beyond, drafts)?;
                self.session.make_durable()?;
            }
            beyond => {
                self.beyond = beyond;
                self.write(&drafts)?;
                self.session.make_durable()?;
                self.mirror.claimed = claimed;
                self.mirror.keys.insert(key.to_owned());
            }
        }
        self.session.note_answer();
        self.pass_on(listener);
        Ok(Committed::Now)
    }

    /// Keeps a message that came by itself; whether it was new. One that is
    /// there already, said at the same time, is not; and of those without a time,
    /// the last one said again is taken for the same.
    pub fn ingest(&mut self, message: &str, listener: &mut dyn Listener) -> Result<bool> {
        let seen = Seen::of(message);
        let mut placed = self.mirror.messages.iter().rev();
        let known = match seen.time {
            Some(_) => placed.any(|placed| placed.kept.seen == seen),
            None => placed
                .next()
                .is_some_and(|placed| placed.kept.seen.print == seen.print),
        };
        if known {
            return Ok(false);
        }
        match self.beyond.take() {
            Some(beyond) => self.leave(beyond, vec![Draft::Message(message.to_owned())])?,
            None => self.keep(std::iter::once(message.to_owned()))?,
        }
        self.pass_on(listener);
        Ok(true)
    }

    /// What of a turn came before it was committed: with a list, or message by
    /// message. Only what no other turn has claimed is looked at.
    fn overlap(&self, turn: &[Seen]) -> Overlap {
        let end = self.beyond.unwrap_or(self.mirror.messages.len());
        let from = self.mirror.claimed.min(end);
        let open = &self.mirror.messages[from..end];
        let places: Vec<usize> = (0..open.len())
            .filter(|&at| !open[at].kept.removed)
            .collect();
        // The same words, at the same time where both tell it.
        let is = |(&place, seen): (&usize, &Seen)| {
            let other = &open[place].kept.seen;
            other.print == seen.print && !is_apart(other, seen)
        };
        let is_at = |start: usize, turn: &[Seen]| places[start..].iter().zip(turn).all(is);
        let starts = 0..(places.len() + 1).saturating_sub(turn.len());
        let whole = starts.into_iter().find(|&start| is_at(start, turn));
        if let Some(start) = whole.filter(|_| !turn.is_empty()) {
            return Overlap {
                there: turn.len(),
                end: from + places[start + turn.len() - 1] + 1,
            };
        }
        let mut counts = (1..=turn.len().min(places.len())).rev();
        let there = counts.find(|&count| is_at(places.len() - count, &turn[..count]));
        Overlap {
            there: there.unwrap_or(0),
            end,
        }
    }
}
