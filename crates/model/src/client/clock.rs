//! How long an attempt may still take.

use std::future::Future;

use tokio::time::{Instant, timeout_at};

use super::Again;
use crate::error::{Error, Phase};
use crate::limits::Limits;

/// The limits of one attempt, as points in time.
pub(super) struct Clock<'a> {
    limits: &'a Limits,
    provider: &'a str,
    first_byte: Instant,
    request: Instant,
    total: Instant,
}

impl<'a> Clock<'a> {
    pub(super) fn start(limits: &'a Limits, total: Instant, provider: &'a str) -> Self {
        let now = Instant::now();
        Self {
            limits,
            provider,
            first_byte: now + limits.first_byte,
            request: now + limits.request,
            total,
        }
    }

    pub(super) fn first_byte(&self) -> (Instant, Phase) {
        (self.first_byte, Phase::FirstByte)
    }

    pub(super) fn idle(&self) -> (Instant, Phase) {
        (Instant::now() + self.limits.idle, Phase::Idle)
    }

    /// Waits for it, as long as every limit allows.
    pub(super) async fn within<T>(
        &self,
        limit: (Instant, Phase),
        work: impl Future<Output = T>,
    ) -> Result<T, (Error, Again)> {
        let (deadline, phase) = [
            limit,
            (self.request, Phase::Request),
            (self.total, Phase::Total),
        ]
        .into_iter()
        .min_by_key(|(deadline, _)| *deadline)
        .unwrap_or(limit);
        timeout_at(deadline, work).await.map_err(|_| {
            let after = match phase {
                Phase::Connect => self.limits.connect,
                Phase::FirstByte => self.limits.first_byte,
                Phase::Idle => self.limits.idle,
                Phase::Request => self.limits.request,
                Phase::Total => self.limits.total,
            };
            let again = if phase == Phase::Total {
                Again::No
            } else {
                Again::Yes
            };
            (
                Error::Timeout {
                    provider: self.provider.to_owned(),
                    phase,
                    after,
                },
                again,
            )
        })
    }
}
