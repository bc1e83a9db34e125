//! When a context is too large: by our own count before it is sent, or by the
//! provider's word. Compaction first, then the oldest turns, then the truth.

use longhaul_assembly::PartName;
use longhaul_compaction::Layer;
use longhaul_tokens::{Sample, Tokens, WindowOrigin};
use longhaul_transcript::EntryId;

use super::{AtWork, Error, Result, Session, Size};
use crate::compactor::Compactor;
use crate::event::Event;

impl AtWork<'_> {
    /// No request leaves above the hard threshold: whatever forbids a
    /// compaction, here it is done, or the turn ends.
    pub(super) async fn make_fit(&mut self) -> Result<()> {
        let mut tried = Vec::new();
        loop {
            let size = self.size();
            if self.window().admits(size.at_most) {
                return Ok(());
            }
            if self.drop_restored() {
                continue;
            }
            if self.read_only() {
                let reason = "nothing may be written here, so it cannot be compacted";
                return Err(self.does_not_fit(size, reason.into()));
            }
            self.shrink(&mut tried).await?;
        }
    }

    /// The provider refused the request as too long.
    pub(super) async fn refused(
        &mut self,
        error: &longhaul_model::Error,
        sent: Tokens,
        tried: &mut Vec<Layer>,
    ) -> Result<()> {
        let longhaul_model::Error::Overflow {
            message,
            limit,
            requested,
        } = error
        else {
            return Ok(());
        };
        let tokens = |count: u64| Tokens::saturating(usize::try_from(count).unwrap_or(usize::MAX));
        self.tell(Event::Overflowed {
            message: message.clone(),
            tokens: sent,
            limit: limit.map(tokens),
            requested: requested.map(tokens),
        });
        if self.read_only() {
            let size = self.size();
            let reason = format!("the provider refused it ({message}), and nothing may be written");
            return Err(self.does_not_fit(size, reason));
        }
        if let Some(requested) = requested {
            // The provider has counted for us.
            let model = self.model_name();
            let sample = Sample {
                counted: sent,
                reported: tokens(*requested),
            };
            self.bench.meter.observe(&model, sample);
        }
        // What was reported for an earlier request did not foresee this.
        self.anchor = None;
        if let Some(limit) = limit {
            self.learn_window(tokens(*limit))?;
        }
        match self.shrink(tried).await {
            // Our own numbers say that it fits; the provider's words are the reason.
            Err(mut error) => {
                if let Error::ContextOverflow { reason, .. } = &mut error {
                    *reason = format!("the provider refused it ({message}); {reason}");
                }
                Err(error)
            }
            Ok(()) => self.make_fit().await,
        }
    }

    /// Laid out, the context is larger than it was thought to be. It is made
    /// smaller as if the provider had refused it.
    pub(super) async fn too_large(
        &mut self,
        error: longhaul_assembly::Error,
        tried: &mut Vec<Layer>,
    ) -> Result<()> {
        let longhaul_assembly::Error::OverBudget {
            part: PartName::Restored | PartName::History,
            ..
        } = error
        else {
            return Err(error.into());
        };
        if self.drop_restored() {
            return Ok(());
        }
        if self.read_only() {
            return Err(error.into());
        }
        self.shrink(tried).await?;
        self.make_fit().await
    }

    /// Makes it smaller; at the end the truth.
    async fn shrink(&mut self, tried: &mut Vec<Layer>) -> Result<()> {
        if Compactor::at(self).shrink(tried).await? {
            return Ok(());
        }
        let (size, fixed) = (self.size(), self.fixed());
        let reason = format!(
            "only the present turn is left; prompt, tools and files of the workspace take {fixed}"
        );
        Err(self.does_not_fit(size, reason))
    }
}

impl Session {
    /// What was put back is for comfort; the conversation is not.
    fn drop_restored(&mut self) -> bool {
        let dropped = !self.restored.is_empty();
        if dropped {
            self.restored.clear();
            self.anchor = None;
        }
        dropped
    }

    /// A message that does not fit even alone is refused before anything is spent
    /// on it. It stays in the session, and leaves the context with the next turn.
    pub(super) fn fits_alone(&mut self, entry: &EntryId) -> Result<()> {
        let bench = &mut self.bench;
        let mut messages = bench.live.messages().iter();
        let Some(message) = messages.rfind(|message| message.entry == *entry) else {
            return Ok(());
        };
        let own = bench.meter.message(message);
        let fixed = self.fixed();
        if self.window().admits(own + fixed) {
            return Ok(());
        }
        let size = Size {
            at_most: own + fixed,
            ..self.size()
        };
        let reason = format!("the message alone has {own}, prompt and tools {fixed}");
        Err(self.does_not_fit(size, reason))
    }

    /// Not even the beginning of the conversation fits beside the prompt.
    pub(super) fn nothing_fits(&self, size: Size) -> Error {
        self.does_not_fit(size, "no message fits beside the prompt".into())
    }

    fn does_not_fit(&self, size: Size, mut reason: String) -> Error {
        if self.resolved.origin == WindowOrigin::ProviderError {
            reason = format!("{reason}; the window was {}", self.window_source());
        }
        Error::ContextOverflow {
            tokens: size.at_most,
            hard: self.window().hard(),
            window: self.window().size(),
            reason,
        }
    }
}
