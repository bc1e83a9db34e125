//! The compactor itself: a site, and what every step needs of it.

use longhaul_checkpoint::Trigger as Saved;
use longhaul_ledger::Ledger;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Stamp};

use super::site::{Result, Site};
use crate::checkpoints::{Occasion as Saving, turn};
use crate::event::Event;
use crate::state::SessionState;

/// Compacts a session where it is.
pub struct Compactor<'a, S: Site> {
    pub(super) site: &'a mut S,
    /// What of the state is written down.
    saved: SessionState,
}

impl<'a, S: Site> Compactor<'a, S> {
    /// A compactor at a site.
    pub fn at(site: &'a mut S) -> Compactor<'a, S> {
        let saved = site.bench().state.clone();
        Compactor { site, saved }
    }

    /// Writes the state down; where that fails, the work goes on.
    pub(super) fn remember(&mut self) {
        let state = self.site.bench().state.clone();
        let Some(folder) = self.site.terms().state_dir.filter(|_| state != self.saved) else {
            return;
        };
        match state.save(&folder) {
            Ok(()) => self.saved = state,
            Err(error) => self.site.tell(Event::trouble(error.to_string())),
        }
    }

    /// Writes entries, and takes them in.
    pub(super) fn write(&mut self, drafts: &[(Draft, Stamp)], base: Option<Ledger>) -> Result<()> {
        self.site.write(drafts)?;
        let live = self.site.bench().live;
        let mut base = base;
        for (draft, stamp) in drafts {
            let parent = live.entries().last().map(|entry| entry.id.clone());
            let entry = draft.to_entry(stamp, parent.as_ref());
            match base.take() {
                Some(base) => live.push_compaction(entry, base),
                None => live.push(entry),
            }
        }
        Ok(())
    }

    /// Why and when the work is saved.
    pub(super) fn saving(&mut self, trigger: Saved, tokens: Tokens, splits_turn: bool) -> Saving {
        let at = self.site.now();
        let bench = self.site.bench();
        Saving {
            at,
            trigger,
            tokens,
            window: bench.window.size(),
            turn: turn(bench.live, splits_turn),
        }
    }

    pub(super) fn tell_all(&mut self, events: Vec<Event>) {
        for event in events {
            self.site.tell(event);
        }
    }
}
