//! Making room in a host's session.

use longhaul_compaction::Layer;
use longhaul_model::CancellationToken;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Body, Boundary};

use super::{Error, Hosted, Result};
use crate::session::{Due, Listener};
use longhaul_compaction::compact::CompactionFailure;

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
            return Ok(self.compaction(Some(reason), before.tokens));
        }
        let mut layers = vec![Layer::Summarize, Layer::Full];
        if before.at_most >= self.session.window().full() {
            layers.remove(0);
        }
        let mut reason = None;
        for layer in layers {
            match self.session.compact(layer, focus, cancel, listener).await {
                Ok(()) => return Ok(self.compaction(None, before.tokens)),
                Err(
                    error @ Error::Compaction(
                        CompactionFailure::NothingToDo | CompactionFailure::Grows { .. },
                    ),
                ) => {
                    reason = Some(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(self.compaction(reason, before.tokens))
    }

    /// What came of it; where there is a reason, nothing did.
    fn compaction(&mut self, reason: Option<String>, before: Tokens) -> Compaction {
        let tokens_after = self.session.size().tokens;
        let loaded = self.session.live().loaded();
        let made = loaded.compaction().filter(|_| reason.is_none());
        let first_kept = made.map(|(entry, compaction)| match &compaction.boundary {
            Boundary::FirstKept(id) => id.to_string(),
            _ => entry.id.to_string(),
        });
        Compaction {
            compacted: reason.is_none(),
            tokens_before: before,
            tokens_after,
            summary: made.map(|(_, compaction)| compaction.summary.clone()),
            first_kept,
            reason,
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
        let session = &mut self.session;
        session.maintain(Due::AfterTurn, cancel, listener).await?;
        session.commit(listener)?;
        session.prewarm(listener);
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
