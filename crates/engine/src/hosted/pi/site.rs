//! A session of pi's as a site of compactions: what is due is done on paper, and
//! pi is asked to write it down.

use std::path::PathBuf;

use jiff::civil::DateTime;
use longhaul_compaction::ladder::Block;
use longhaul_model::CancellationToken;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Draft, Millis, Session, Stamp};
use serde_json::Value;

use super::{PiSession, Result, carry};
use crate::compactor::{Bench, Error as CompactorError, Sequence, Site, Stored, Terms};
use crate::event::Event;
use crate::live::{Live, Tail};
use crate::measure::Size;

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
    /// What becomes of a recent message that is larger than the tail.
    pub(super) tail: Tail,
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
            tail: Tail::Shortened,
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
    /// What pi has not written is nothing to go on with after a crash: there is
    /// no journal.
    fn bench(&mut self) -> Bench<'_> {
        let session = &mut *self.session;
        let writes = session.setup.config.writes_checkpoints();
        Bench {
            live: &mut self.ahead.live,
            meter: &mut session.meter,
            window: self.window,
            state: &mut session.state,
            course: &mut session.course,
            sequence: Sequence::new(
                &session.store,
                &session.whose,
                &session.notebook,
                false,
                writes,
            ),
            stored: Stored::Ids(&session.known),
        }
    }

    fn terms(&self) -> Terms {
        let setup = &self.session.setup;
        let mut terms = Terms::of(&setup.config, self.window, &self.session.state);
        terms.limits.auto_enabled &= self.compacts;
        terms.tail = self.tail;
        terms.summaries = setup.summaries.clone();
        terms.cancel = self.ahead.cancel.clone();
        terms.state_dir = Some(setup.state_dir.clone());
        terms
    }

    fn look_up(&mut self) -> Result<(), CompactorError> {
        self.session.known = self.session.stored_entries()?;
        self.ahead
            .live
            .read_source(&Session::open(&self.session.path)?)?;
        Ok(())
    }

    fn size(&mut self) -> Size {
        self.session.size(Some(&self.ahead.live), self.window)
    }

    fn foresee(&mut self, ahead: &Live) -> Tokens {
        self.ahead.size = self.session.size(Some(ahead), self.window).tokens;
        self.ahead.size
    }

    fn tell(&mut self, event: Event) {
        self.ahead.notices.extend(self.notice(&event));
        (self.sink)(event);
    }

    fn now(&self) -> Millis {
        self.session.now()
    }

    fn stamp(&mut self) -> Stamp {
        self.session.stamp()
    }

    fn workspace(&self) -> Option<(PathBuf, DateTime)> {
        let cwd = self.ahead.live.header().cwd.clone()?;
        Some((cwd, self.session.setup.clock.now().datetime()))
    }

    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<(), CompactorError> {
        let entries = drafts.iter();
        let entries = entries.map(|(draft, stamp)| carry::for_pi(draft, stamp));
        self.ahead.entries.extend(entries);
        Ok(())
    }
}
