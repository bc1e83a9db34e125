//! A replay as a site of compactions: everything happens in memory.

use std::sync::Arc;

use longhaul_compaction::compact::allowance;
use longhaul_compaction::cost::{CacheTerms, EXPECTED_TURNS};
use longhaul_tokens::{Gauge, Tokens};
use longhaul_transcript::{Draft, Millis, Stamp};

use super::Run;
use crate::compactor::{Bench, Site, Terms};
use crate::error::Result;
use crate::event::Event;
use crate::live::Live;
use crate::measure::Size;

impl Site for Run<'_, '_> {
    fn bench(&mut self) -> &mut Bench {
        &mut self.bench
    }

    /// As large as it may be in truth: what providers were seen to find more
    /// than we count, and what a count may be short of without that.
    fn size(&mut self) -> Size {
        let messages = self.messages().scale(self.factor().max(1.0));
        let allowed = allowance(self.options.window, self.bench.meter.estimator(), messages);
        Size {
            tokens: self.tokens(),
            at_most: self.overhead + messages + allowed,
            overhead: self.overhead,
            reported: false,
        }
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        let messages = ahead.messages().iter();
        let counted: Tokens = messages
            .map(|message| self.bench.meter.message(message))
            .sum();
        self.overhead + counted.scale(self.factor())
    }

    fn terms(&self) -> Terms {
        let options = self.options;
        let mut terms = Terms::of(options.config, options.window, &self.bench.state);
        terms.limits.auto_enabled = true;
        terms.limits.read_only = false;
        terms.limits.max_auto = u32::MAX;
        terms.writes_checkpoints = options.config.checkpoint.enabled;
        if let Some(summaries) = &options.summaries {
            terms.summaries = Some(Arc::clone(&summaries.model));
            terms.cancel = summaries.cancel.clone();
        }
        terms
    }

    fn tell(&mut self, event: Event) {
        self.emit(event);
    }

    fn now(&self) -> Millis {
        self.time.unwrap_or_default()
    }

    fn stamp(&mut self) -> Stamp {
        (self.stamp)(self.time)
    }

    fn milliseconds(&self) -> f64 {
        (self.options.clock)()
    }

    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<()> {
        for (draft, stamp) in drafts {
            let parent = self.written.last().map(|entry| entry.id.clone());
            self.bench
                .stored
                .get_or_insert_default()
                .insert(stamp.id.clone(), Some(stamp.time));
            self.written.push(draft.to_entry(stamp, parent.as_ref()));
        }
        Ok(())
    }

    fn cache(&mut self) -> Option<CacheTerms> {
        Some(CacheTerms {
            prices: self.options.prices,
            since: self.since,
            expected_turns: EXPECTED_TURNS,
        })
    }

    fn gauge(&mut self, tokens: Tokens) {
        if std::mem::replace(&mut self.gauged, true) {
            return;
        }
        let line = Gauge {
            used: tokens,
            window: self.options.window,
            checkpoint: self.kept.note(self.bench.live.epoch()),
        }
        .line();
        if let Some(line) = line {
            self.emit(Event::Gauge { tokens, line });
        }
    }

    fn rewrote(&mut self, suffix: Option<Tokens>) {
        self.recount();
        let unchanged = suffix.map_or(Tokens::ZERO, |suffix| self.messages() - suffix);
        self.shared = Some(
            self.shared
                .map_or(unchanged, |shared| shared.min(unchanged)),
        );
    }
}
