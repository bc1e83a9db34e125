//! A replay as a site of compactions: everything happens in memory.

use std::sync::Arc;

use longhaul_compaction::Layer;
use longhaul_ledger::Ledger;
use longhaul_model::{CancellationToken, Model};
use longhaul_tokens::{Gauge, Tokens};
use longhaul_transcript::{Draft, Millis, Stamp};

use super::Run;
use crate::checkpoints::{Checkpoints, Nowhere};
use crate::compactor::{Bench, Cache, Course, Result, Sequence, Site, Terms};
use crate::config::Config;
use crate::event::Event;
use crate::live::{Live, allowance};
use crate::measure::Size;
use crate::state::SessionState;

impl Site for Run<'_, '_> {
    fn live(&self) -> &Live {
        &self.live
    }

    fn bench(&mut self) -> Bench<'_> {
        let stored = &self.stored;
        Bench {
            live: &self.live,
            meter: &mut self.meter,
            window: self.options.window,
            is_stored: Box::new(|id| stored.contains(id)),
        }
    }

    /// As large as it may be in truth: what providers were seen to find more
    /// than we count, and what a count may be short of without that.
    fn size(&mut self) -> Size {
        let messages = self.messages().scale(self.factor().max(1.0));
        let allowed = allowance(self.options.window, self.options.estimator, messages);
        Size {
            tokens: self.tokens(),
            at_most: self.overhead + messages + allowed,
            overhead: self.overhead,
            reported: false,
        }
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        let messages = ahead.messages().iter();
        let counted: Tokens = messages.map(|message| self.meter.message(message)).sum();
        self.overhead + counted.scale(self.factor())
    }

    fn terms(&self) -> Terms {
        let options = self.options;
        let state = SessionState {
            breaker: self.state.breaker.clone(),
            ..SessionState::default()
        };
        let mut terms = Terms::of(&Config::default(), options.window, &state);
        terms.limits.breaker_open = state.breaker.is_open(options.breaker);
        terms.limits.max_auto = options.max_auto;
        terms.limits.layers = options.layers;
        terms.protect = (options.protect)(Layer::Summarize);
        terms.protect_full = (options.protect)(Layer::Full);
        terms.prune = options.prune.clone();
        terms.rules = options.rules;
        terms.breaker = options.breaker;
        if let Some(summaries) = &self.summaries {
            terms.model = summaries.settings.clone();
        }
        terms
    }

    fn course(&mut self) -> &mut Course {
        &mut self.course
    }

    fn state(&mut self) -> &mut SessionState {
        &mut self.state
    }

    fn remember(&mut self) {}

    fn tell(&mut self, event: Event) {
        self.emit(event);
    }

    /// Whoever asked for the replay may keep its checkpoints.
    fn sequence(&self) -> Sequence<'_> {
        Sequence {
            checkpoints: Checkpoints {
                store: &self.kept,
                whose: &self.whose,
                redact: &str::to_owned,
            },
            notebook: &Nowhere,
            is_resumed: false,
            writes_checkpoints: true,
        }
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

    fn append(&mut self, drafts: &[Draft]) -> Result<()> {
        for draft in drafts {
            let stamp = self.stamp();
            let entry = self.entry(draft, &stamp);
            self.keep(entry);
        }
        self.recount();
        Ok(())
    }

    fn write(&mut self, draft: &Draft, stamp: Stamp, base: Ledger) -> Result<()> {
        let entry = self.entry(draft, &stamp);
        self.stored.insert(entry.id.clone());
        self.written.push(entry.clone());
        self.live.push_compaction(entry, base);
        self.recount();
        Ok(())
    }

    fn summaries(&self) -> Option<Arc<dyn Model>> {
        let summaries = self.summaries.as_ref()?;
        Some(Arc::clone(&summaries.model))
    }

    fn cancel(&self) -> CancellationToken {
        let cancel = self.summaries.as_ref();
        cancel.map_or_else(CancellationToken::new, |summaries| summaries.cancel.clone())
    }

    fn cache(&mut self) -> Option<Cache> {
        Some(Cache {
            prices: self.options.prices,
            since: self.since,
            expected_turns: self.options.expected_turns,
            weighs_pruning: true,
            growth: self.bills.said(),
        })
    }

    fn gauge(&mut self, tokens: Tokens) {
        if std::mem::replace(&mut self.gauged, true) {
            return;
        }
        let line = Gauge {
            used: tokens,
            window: self.options.window,
            checkpoint: self.kept.note(self.live.epoch()),
        }
        .line();
        if let Some(line) = line {
            self.emit(Event::Gauge { tokens, line });
        }
    }

    fn rewrote(&mut self, suffix: Option<Tokens>) {
        let unchanged = suffix.map_or(Tokens::ZERO, |suffix| self.messages() - suffix);
        self.shared = Some(
            self.shared
                .map_or(unchanged, |shared| shared.min(unchanged)),
        );
    }
}
