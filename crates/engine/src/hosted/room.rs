//! Making room in a host's session.

use longhaul_compaction::Layer;
use longhaul_model::CancellationToken;
use longhaul_tokens::Tokens;
use longhaul_transcript::Body;

use super::{Hosted, Result};
use crate::live::CompactionFailure;
use crate::session::{Due, Error as SessionError, Listener};

/// What came of a compaction that a host asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// Whether there is a new summary.
    pub compacted: bool,
    /// Why there is none.
    pub reason: Option<String>,
    /// The context's size before.
    pub tokens_before: Tokens,
    /// And after.
    pub tokens_after: Tokens,
    /// The summary in force.
    pub summary: Option<String>,
    /// The first entry of the mirror that stays as it is.
    pub first_kept: Option<String>,
}

impl Hosted {
    /// Compacts because the host asks for it: at once if it insists, else where
    /// the context is above its threshold.
    pub async fn compact(
        &mut self,
        force: bool,
        focus: Option<&str>,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Compaction> {
        let before = self.session.size();
        if !force && before.at_most < self.session.window().activation() {
            let reason = format!(
                "{} tokens are below the {} at which compaction begins",
                before.tokens,
                self.session.window().activation()
            );
            return Ok(self.compaction(false, Some(reason), before.tokens));
        }
        let mut layers = vec![Layer::Summarize, Layer::Full];
        if before.at_most >= self.session.window().full() {
            layers.remove(0);
        }
        let mut reason = None;
        for layer in layers {
            match self.session.compact(layer, focus, cancel, listener).await {
                Ok(()) => return Ok(self.compaction(true, None, before.tokens)),
                Err(
                    error @ SessionError::Compaction(
                        CompactionFailure::NothingToDo | CompactionFailure::Grows { .. },
                    ),
                ) => {
                    reason = Some(error.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.compaction(false, reason, before.tokens))
    }

    fn compaction(
        &mut self,
        compacted: bool,
        reason: Option<String>,
        before: Tokens,
    ) -> Compaction {
        let live = self.session.live();
        let latest = live.loaded().compaction();
        let (summary, first_kept) = match latest {
            Some((entry, compaction)) => {
                let first = match &compaction.boundary {
                    longhaul_transcript::Boundary::FirstKept(id) => id.to_string(),
                    _ => entry.id.to_string(),
                };
                (Some(compaction.summary.clone()), Some(first))
            }
            None => (None, None),
        };
        Compaction {
            compacted,
            reason,
            tokens_before: before,
            tokens_after: self.session.size().tokens,
            summary: summary.filter(|_| compacted),
            first_kept: first_kept.filter(|_| compacted),
        }
    }

    /// Looks after the session when a turn has ended: checkpoint, pruning,
    /// compaction where it is due, what is remembered beside the file; and reads
    /// ahead, where the settings want it.
    pub async fn maintain(
        &mut self,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        self.session
            .maintain(Due::AfterTurn, cancel, listener)
            .await?;
        self.session.commit(listener)?;
        self.session.prewarm(listener);
        Ok(())
    }

    /// Messages on the path that are no longer in the context.
    pub fn left(&self) -> usize {
        let live = self.session.live().entries();
        let here = live
            .iter()
            .filter(|entry| matches!(entry.body, Body::Message(_)))
            .count();
        self.mirror.messages.len().saturating_sub(here)
    }
}
