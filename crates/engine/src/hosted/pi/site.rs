//! A session of pi's as a site of compactions: what is due is done on paper, and
//! pi is asked to write it down.

use std::path::PathBuf;

use jiff::civil::DateTime;
use longhaul_compaction::ladder::Block;
use longhaul_model::CancellationToken;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Millis, Session, Stamp};
use serde_json::Value;

use super::{Error, PiSession, Result, carry};
use crate::compactor::{Bench, Site, Terms};
use crate::event::Event;
use crate::live::Live;
use crate::measure::Size;
use longhaul_compaction::compact::Tail;

/// A session of pi's that is compacted: the bench has it as it will be once pi
/// has appended what it is asked to.
pub(super) struct OnPaper<'a> {
    session: &'a mut PiSession,
    cancel: &'a CancellationToken,
    sink: &'a mut dyn FnMut(Event),
    /// The session as it is.
    as_it_is: Live,
    /// What pi is asked to append.
    pub(super) entries: Vec<Value>,
    /// What its user should know.
    pub(super) notices: Vec<String>,
    /// The size after the last compaction.
    pub(super) after: Tokens,
    /// Who has switched compaction off in pi has switched it off.
    pub(super) compacts: bool,
    /// What becomes of a recent message that is larger than the tail.
    pub(super) tail: Tail,
}

impl PiSession {
    pub(super) fn on_paper<'a>(
        &'a mut self,
        cancel: &'a CancellationToken,
        sink: &'a mut dyn FnMut(Event),
    ) -> OnPaper<'a> {
        OnPaper {
            as_it_is: self.bench.live.clone(),
            session: self,
            cancel,
            sink,
            entries: Vec::new(),
            notices: Vec::new(),
            after: Tokens::ZERO,
            compacts: true,
            tail: Tail::Shortened,
        }
    }
}

/// What was only on paper is not in the file yet.
impl Drop for OnPaper<'_> {
    fn drop(&mut self) {
        std::mem::swap(&mut self.session.bench.live, &mut self.as_it_is);
    }
}

impl OnPaper<'_> {
    /// Has what the next epoch begins with written, too.
    pub(super) fn restoring(&mut self) {
        let live = self.session.bench.live.clone();
        let restoring = self.session.restoring(&live, self.sink);
        self.entries.extend(restoring);
    }

    /// What stops a compaction is told, and stops nothing else; only a file that
    /// cannot be read does.
    pub(super) fn stopped_by(&mut self, error: Error) -> Result<()> {
        match error {
            Error::Transcript(error) => return Err(Error::Transcript(error)),
            Error::Busy(error) => (self.sink)(error.event()),
            error => (self.sink)(Event::trouble(error.to_string())),
        }
        Ok(())
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
                self.session.bench.state.breaker.reasons.join("; ")
            ),
            Event::Worn { recommendation, .. } => recommendation.clone(),
            _ => return None,
        })
    }
}

impl Site for OnPaper<'_> {
    fn bench(&mut self) -> &mut Bench {
        &mut self.session.bench
    }

    fn terms(&self) -> Terms {
        let (setup, bench) = (&self.session.setup, &self.session.bench);
        let mut terms = Terms::of(&setup.config, &bench.window, &bench.state);
        terms.limits.auto_enabled &= self.compacts;
        terms.tail = self.tail;
        terms.summaries = setup.summaries.clone();
        terms.cancel = self.cancel.clone();
        terms.state_dir = Some(setup.state_dir.clone());
        terms
    }

    fn look_up(&mut self) -> Result<()> {
        let stored = Session::open(&self.session.path)?;
        // pi may have written since.
        self.session.bench.stored = None;
        Ok(self.session.bench.look_up(&stored)?)
    }

    fn size(&mut self) -> Size {
        self.session.size(None)
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        self.after = self.session.size(Some(ahead)).tokens;
        self.after
    }

    fn tell(&mut self, event: Event) {
        self.notices.extend(self.notice(&event));
        (self.sink)(event);
    }

    fn now(&self) -> Millis {
        self.session.setup.now()
    }

    fn stamp(&mut self) -> Stamp {
        self.session.setup.stamp()
    }

    fn workspace(&self) -> Option<(PathBuf, DateTime)> {
        let cwd = self.session.live().header().cwd.clone()?;
        Some((cwd, self.session.setup.clock.now().datetime()))
    }

    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<()> {
        let entries = drafts.iter();
        let entries = entries.map(|(draft, stamp)| carry::for_pi(draft, stamp));
        self.entries.extend(entries);
        Ok(())
    }
}
