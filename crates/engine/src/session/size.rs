//! How large the context is: what the provider reported, and what came since.

use longhaul_assembly::notes;
use longhaul_model::Answer;
use longhaul_tokens::{Calibration, CheckpointNote, Fragment, FragmentKind, Sample, Tokens};
use longhaul_transcript::Role;

use super::{Anchor, Session};
use crate::checkpoints::fitting;
use crate::live::Live;
use crate::measure::{self, Size};
use longhaul_compaction::compact::allowance;

impl Session {
    /// The size of the next request.
    pub fn size(&mut self) -> Size {
        let estimator = self.bench.meter.estimator();
        let factor = self.factor();
        let fixed = self.fixed();
        if let Some(anchor) = self.anchor {
            let following = anchor.following.scale(factor);
            let least = Calibration::least(fixed + self.counted());
            let tokens = (anchor.reported + following).max(least);
            // The notes of that request are in the report and will not be sent again.
            let notes = self.notes_at(tokens) - anchor.notes;
            let uncertain = match anchor.by_provider {
                true => following,
                false => tokens,
            };
            return Size {
                tokens,
                at_most: tokens + notes + allowance(&self.bench.window, estimator, uncertain),
                overhead: fixed,
                reported: anchor.by_provider,
            };
        }
        let counted = self.counted();
        let tokens = (fixed + counted).scale(factor);
        // There is room for the gauge in what is fixed.
        let notes = self.notes_at(tokens) - FragmentKind::Gauge.cap();
        let at_most = tokens.max(fixed + counted) + notes;
        Size {
            tokens,
            at_most: at_most + allowance(&self.bench.window, estimator, tokens),
            overhead: fixed,
            reported: false,
        }
    }

    /// What an agent is told about a context of this size, at most: it comes with
    /// the request and is not in the conversation.
    fn notes_at(&self, size: Tokens) -> Tokens {
        if !self.setup.config.gauge.enabled {
            return Tokens::ZERO;
        }
        let notes = notes(size, self.window(), CheckpointNote::Saved, self.counter());
        notes.iter().map(Fragment::tokens).sum()
    }

    /// Our count of the conversation.
    fn counted(&mut self) -> Tokens {
        let bench = &mut self.bench;
        bench.meter.messages(bench.live.messages())
    }

    fn factor(&self) -> f64 {
        self.bench.meter.factor(&self.model_name()).value
    }

    /// What of these fragments still fits beside the conversation.
    pub(super) fn fitting(
        &mut self,
        ahead: Option<&Live>,
        fragments: Vec<Fragment>,
    ) -> Vec<Fragment> {
        let bare = self.size_with(ahead, &[]);
        let window = &self.bench.window;
        let bare = bare + allowance(window, self.bench.meter.estimator(), bare);
        fitting(fragments, window, window.hard() - bare)
    }

    /// The size of the next request, were this the session and this put back.
    pub(super) fn size_with(&mut self, ahead: Option<&Live>, restored: &[Fragment]) -> Tokens {
        let bench = &mut self.bench;
        let live = ahead.unwrap_or(&bench.live);
        let counted = bench.meter.messages(live.messages());
        (self.fixed_with(restored) + counted).scale(self.factor())
    }

    /// Looks at a session that was just opened: its last answer, or its latest
    /// compaction, may still say how large the context is.
    pub(super) fn measure(&mut self) {
        let bench = &mut self.bench;
        let context = bench.live.context();
        let reading = bench.meter.context(bench.live.loaded(), &context);
        let by_provider = reading.anchor.is_some();
        let known = (by_provider || reading.compacted) && !self.hosted;
        self.anchor = known.then(|| Anchor {
            reported: reading.measurement.tokens - reading.following.scale(reading.factor.value),
            following: reading.following,
            // Nobody knows any more; a little too much is counted.
            notes: Tokens::ZERO,
            by_provider,
        });
        let mut entries = self.live().entries().iter();
        let answer = entries.rfind(|entry| entry.role() == Some(&Role::Assistant));
        self.last_request = answer.and_then(|entry| entry.time);
    }

    /// Takes in what a provider reported for the request that was just answered.
    /// `before` is our count of the request.
    pub(super) fn reported(&mut self, answer: &Answer, before: Tokens) {
        let Some(usage) = answer.usage else {
            return;
        };
        let prompt = Tokens::saturating(usize::try_from(usage.prompt()).unwrap_or(usize::MAX));
        if prompt == Tokens::ZERO {
            return;
        }
        let model = self.model_name();
        let bench = &mut self.bench;
        let sample = Sample {
            counted: before,
            reported: prompt,
        };
        bench.meter.observe(&model, sample);
        let provider = longhaul_transcript::ProviderUsage {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            total: 0,
        };
        let last = bench.live.messages().last();
        let last = last.filter(|message| message.role == Role::Assistant);
        let counted = last.map_or(Tokens::ZERO, |message| bench.meter.message(message));
        // Providers disagree on whether thinking counts as output that stays.
        let reported = measure::usage(provider).with_plausible_output(counted);
        self.anchor = Some(Anchor {
            reported: reported.context_tokens(),
            following: Tokens::ZERO,
            notes: self.noted,
            by_provider: true,
        });
    }
}
