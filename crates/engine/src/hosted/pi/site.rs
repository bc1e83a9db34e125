//! A session of pi's as a site of compactions: what is due is done on paper, and
//! pi is asked to write it down.

use std::sync::Arc;

use longhaul_compaction::ladder::Block;
use longhaul_ledger::Ledger;
use longhaul_model::{CancellationToken, Model};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Draft, Millis, Stamp};
use serde_json::Value;

use super::{PiSession, Result, carry};
use crate::compactor::{Bench, Course, Error as CompactorError, Sequence, Site, Terms};
use crate::event::Event;
use crate::live::Live;
use crate::measure::Size;
use crate::state::SessionState;

/// A session as it will be once pi has appended what it is asked to.
pub(super) struct Ahead {
    pub(super) live: Live,
    /// What pi is asked to append.
    pub(super) entries: Vec<Value>,
    /// What its user should know.
    pub(super) notices: Vec<String>,
    /// The size after the last compaction.
    pub(super) size: Tokens,
    cancel: CancellationToken,
}

impl Ahead {
    pub(super) fn of(live: &Live, cancel: &CancellationToken) -> Ahead {
        Ahead {
            live: live.clone(),
            entries: Vec::new(),
            notices: Vec::new(),
            size: Tokens::ZERO,
            cancel: cancel.clone(),
        }
    }
}

/// A session of pi's that is compacted.
pub(super) struct OnPaper<'a> {
    session: &'a mut PiSession,
    ahead: &'a mut Ahead,
    window: &'a Window,
    sink: &'a mut dyn FnMut(Event),
    /// Who has switched compaction off in pi has switched it off.
    pub(super) compacts: bool,
}

impl PiSession {
    pub(super) fn site<'a>(
        &'a mut self,
        ahead: &'a mut Ahead,
        window: &'a Window,
        sink: &'a mut dyn FnMut(Event),
    ) -> OnPaper<'a> {
        OnPaper {
            session: self,
            ahead,
            window,
            sink,
            compacts: true,
        }
    }
}

/// What stops a compaction is told, and stops nothing else; only a file that
/// cannot be read does.
pub(super) fn told(error: CompactorError, sink: &mut dyn FnMut(Event)) -> Result<()> {
    match error {
        CompactorError::Transcript(error) => return Err(error.into()),
        CompactorError::Busy(error) => sink(error.event()),
        error => sink(Event::trouble(error.to_string())),
    }
    Ok(())
}

impl OnPaper<'_> {
    fn take(&mut self, draft: &Draft, stamp: &Stamp, base: Option<Ledger>) {
        let live = &mut self.ahead.live;
        let parent = live.entries().last().map(|entry| entry.id.clone());
        let entry = draft.to_entry(stamp, parent.as_ref());
        match base {
            Some(base) => live.push_compaction(entry, base),
            None => live.push(entry),
        }
        self.ahead.entries.push(carry::for_pi(draft, stamp));
    }

    /// An event in a sentence for pi's user.
    fn notice(&self, event: &Event) -> Option<String> {
        Some(match event {
            Event::Pruned {
                results,
                tokens_before,
                tokens_after,
                ..
            } => format!(
                "longhaul hid {results} old tool results ({} of {tokens_before} tokens); \
                 `recall` brings them back",
                *tokens_before - *tokens_after,
            ),
            Event::Compacted(made) => format!(
                "longhaul compacted {} messages: {} → {} tokens; `recall` brings back what left",
                made.messages_compacted, made.tokens_before, made.tokens_after,
            ),
            Event::SummaryFallback { reason } => {
                format!(
                    "longhaul extracted the summary, since its model did not write it: {reason}"
                )
            }
            Event::Blocked {
                block: Block::Breaker,
                ..
            } => format!(
                "longhaul has stopped compacting this session: {}. `longhaul compact \
                 --reset-breaker` lets it try again",
                self.session.state.breaker.reasons.join("; ")
            ),
            Event::Worn { recommendation, .. } => recommendation.clone(),
            _ => return None,
        })
    }
}

impl Site for OnPaper<'_> {
    fn live(&self) -> &Live {
        &self.ahead.live
    }

    fn bench(&mut self) -> Bench<'_> {
        let known = &self.session.known;
        Bench {
            live: &self.ahead.live,
            meter: &mut self.session.meter,
            window: self.window,
            is_stored: Box::new(|id| known.contains(id)),
        }
    }

    fn look_up(&mut self) -> Result<(), CompactorError> {
        self.session.known = self.session.stored_entries()?;
        Ok(())
    }

    fn size(&mut self) -> Size {
        self.session.size(Some(&self.ahead.live), self.window)
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        self.ahead.size = self.session.size(Some(ahead), self.window).tokens;
        self.ahead.size
    }

    fn terms(&self) -> Terms {
        let config = &self.session.setup.config;
        let mut terms = Terms::of(config, self.window, &self.session.state);
        terms.limits.auto_enabled &= self.compacts;
        terms
    }

    fn course(&mut self) -> &mut Course {
        &mut self.session.course
    }

    fn state(&mut self) -> &mut SessionState {
        &mut self.session.state
    }

    fn remember(&mut self) {
        self.session.remember(self.sink);
    }

    fn tell(&mut self, event: Event) {
        self.ahead.notices.extend(self.notice(&event));
        (self.sink)(event);
    }

    /// What pi has not written is nothing to go on with after a crash.
    fn sequence(&self) -> Sequence<'_> {
        Sequence {
            checkpoints: self.session.checkpoints(),
            notebook: &self.session.notebook,
            is_resumed: false,
            writes_checkpoints: self.session.setup.config.writes_checkpoints(),
        }
    }

    fn now(&self) -> Millis {
        self.session.now()
    }

    fn stamp(&mut self) -> Stamp {
        self.session.stamp()
    }

    fn milliseconds(&self) -> f64 {
        let now = self.session.setup.clock.now().timestamp();
        now.as_microsecond() as f64 / 1000.0
    }

    fn append(&mut self, drafts: &[Draft]) -> Result<(), CompactorError> {
        for draft in drafts {
            let stamp = self.session.stamp();
            self.take(draft, &stamp, None);
        }
        Ok(())
    }

    fn write(&mut self, draft: &Draft, stamp: Stamp, base: Ledger) -> Result<(), CompactorError> {
        self.take(draft, &stamp, Some(base));
        Ok(())
    }

    fn summaries(&self) -> Option<Arc<dyn Model>> {
        self.session.setup.summaries.clone()
    }

    fn cancel(&self) -> CancellationToken {
        self.ahead.cancel.clone()
    }
}
