//! Prune, count, decide, and carry out what was decided, in this order before
//! every request and after every turn.

use longhaul_compaction::cost::{Prices, Since};
use longhaul_model::CancellationToken;

use super::compact::AtWork;
use super::{Listener, Result, Session, cache_prices};
use crate::compactor::Compactor;

/// When a session is looked after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// A request is about to leave. None does above the hard threshold.
    BeforeRequest,
    /// A turn has ended.
    AfterTurn,
}

impl Session {
    /// Makes room where it is due: prunes, counts, decides, carries out.
    pub async fn maintain(
        &mut self,
        due: Due,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let mut site = AtWork {
            session: self,
            cancel,
            listener,
        };
        let mut compactor = Compactor::at(&mut site);
        if due == Due::BeforeRequest {
            compactor.economise()?;
        }
        compactor.climb().await?;
        if due == Due::BeforeRequest {
            self.make_fit(cancel, listener).await?;
        }
        Ok(())
    }

    /// How long ago the last request was.
    pub(super) fn since(&self) -> Since {
        match self.last_request {
            Some(last) => Since::Seconds((self.now().0 - last.0) as f64 / 1000.0),
            None => Since::Never,
        }
    }

    /// What tokens cost, for the cache's arithmetic.
    pub(super) fn prices(&self) -> Prices {
        cache_prices(&self.setup.config, self.model(), &self.model_name())
    }
}
