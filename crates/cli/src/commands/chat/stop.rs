//! Signals: Ctrl-C stops the answer and not the program; whoever asks the
//! program to end gets what had arrived of the answer kept first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_model::CancellationToken;
use tokio::runtime::Runtime;

use super::Way;
use crate::failure::Outcome;

/// What a signal stops: the turn at work, if there is one.
#[derive(Clone, Default)]
pub(super) struct Stopper {
    turn: Arc<Mutex<Option<CancellationToken>>>,
    ending: Arc<AtomicBool>,
}

impl Stopper {
    fn lock(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the program was asked to end.
    pub(super) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
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
        self.listen_for_the_end(runtime);
    }

    fn listen_for_the_end(&self, runtime: &Runtime) {
        use tokio::signal::unix::{SignalKind, signal};
        let stopper = self.clone();
        runtime.spawn(async move {
            // Without it the program ends as every other does.
            let Ok(mut asked) = signal(SignalKind::terminate()) else {
                return;
            };
            while asked.recv().await.is_some() {
                // The second time it is meant.
                let again = stopper.ending.swap(true, Ordering::SeqCst);
                match stopper.lock().as_ref() {
                    Some(turn) if !again => turn.cancel(),
                    _ => std::process::exit(Outcome::ENDED),
                }
            }
        });
    }

    /// Runs something that a signal stops.
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
