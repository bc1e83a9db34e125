//! The compactor itself: a site, and what every step needs of it.

use longhaul_checkpoint::{CheckpointId, Trigger as Saved};
use longhaul_ledger::Ledger;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Millis, Stamp};

use super::bench::Bench;
use super::site::Site;
use crate::checkpoints::{Occasion as Saving, Result as Saves, Sink, turn};
use crate::error::Result;
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
        self.site.bench().live.push_drafts(drafts, base);
        Ok(())
    }

    /// Works on checkpoints, and tells what there is to say. What goes wrong with
    /// them is told as well, and gone without.
    pub(super) fn saves<T>(
        &mut self,
        work: impl FnOnce(&mut Bench, &mut Sink<'_>) -> Saves<T>,
    ) -> Option<T> {
        let mut events = Vec::new();
        let done = work(self.site.bench(), &mut |event| events.push(event));
        events.extend(done.as_ref().err().map(|error| error.event()));
        events.into_iter().for_each(|event| self.site.tell(event));
        done.ok()
    }

    /// Writes down what the next checkpoint will hold, as far as it changed.
    pub fn save_state(&mut self) {
        let tokens = self.site.size().tokens;
        let saving = self.saving(self.site.now(), Saved::Threshold, tokens, false);
        self.saves(|bench, sink| bench.checkpoints().save_state(&bench.live, &saving, sink));
    }

    /// Saves the state of the work.
    pub fn checkpoint(&mut self, trigger: Saved, tokens: Tokens) -> Option<CheckpointId> {
        let saving = self.saving(self.site.now(), trigger, tokens, false);
        self.site.bench().course.checkpointed = Some(tokens);
        self.saves(|bench, sink| bench.checkpoints().write(&bench.live, &saving, sink))
    }

    /// The same before a compaction, which may cut the present turn.
    pub(super) fn save_before(
        &mut self,
        at: Millis,
        tokens: Tokens,
        splits_turn: bool,
    ) -> Option<CheckpointId> {
        if !self.site.terms().writes_checkpoints {
            return None;
        }
        let saving = self.saving(at, Saved::Compaction, tokens, splits_turn);
        self.saves(|bench, sink| bench.checkpoints().save_state(&bench.live, &saving, sink));
        self.saves(|bench, sink| bench.checkpoints().write(&bench.live, &saving, sink))
    }

    /// Why and when the work is saved.
    fn saving(&mut self, at: Millis, trigger: Saved, tokens: Tokens, splits_turn: bool) -> Saving {
        let bench = self.site.bench();
        Saving {
            at,
            trigger,
            tokens,
            window: bench.window.size(),
            turn: turn(&bench.live, splits_turn),
        }
    }
}
