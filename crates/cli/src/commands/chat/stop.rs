//! Ctrl-C: stops the answer and not the program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_model::CancellationToken;
use tokio::runtime::Runtime;

use super::Way;
use crate::failure::Outcome;

/// What Ctrl-C stops: the turn at work, if there is one.
#[derive(Clone, Default)]
pub(super) struct Stopper(Arc<Mutex<Option<CancellationToken>>>);

impl Stopper {
    fn lock(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens for as long as the runtime lives. Between turns a person at a
    /// terminal types Ctrl-C into the editor; a script means us.
    pub(super) fn listen(&self, runtime: &Runtime, way: Way) {
        let stopper = self.clone();
        runtime.spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                match stopper.lock().as_ref() {
                    Some(turn) => turn.cancel(),
                    None if way == Way::Terminal => {}
                    None => std::process::exit(Outcome::STOPPED),
                }
            }
        });
    }

    /// Runs something that Ctrl-C stops.
    pub(super) fn run<T>(
        &self,
        runtime: &Runtime,
        work: impl AsyncFnOnce(CancellationToken) -> T,
    ) -> T {
        let cancel = CancellationToken::new();
        *self.lock() = Some(cancel.clone());
        let done = runtime.block_on(work(cancel));
        *self.lock() = None;
        done
    }
}
