//! Signals during a dialogue: whoever ends the program while it waits for a key
//! gets the terminal back as it was.
//!
//! The terminal gives single keys only while one is waited for. A signal that
//! nobody listens for ends the program in the middle of that; one that somebody
//! listens for interrupts the wait, which then puts the terminal right.

use crate::failure::Outcome;

/// Listens for as long as it lives.
pub(super) struct Signals {
    #[cfg(unix)]
    ears: Option<Ears>,
}

#[cfg(unix)]
struct Ears {
    runtime: tokio::runtime::Runtime,
    ended: tokio::signal::unix::Signal,
    stopped: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> Signals {
        // Without them the program ends as every other does.
        Signals {
            ears: Ears::new().ok(),
        }
    }

    /// What a signal asked for since it was last looked.
    pub(super) fn came(&mut self) -> Option<Outcome> {
        let Ears {
            runtime,
            ended,
            stopped,
        } = self.ears.as_mut()?;
        // An interrupted wait raises the signal of Ctrl-C itself, so that the
        // other counts where both came.
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = ended.recv() => Some(Outcome::Ended),
                _ = stopped.recv() => Some(Outcome::Stopped),
                () = tokio::task::yield_now() => None,
            }
        })
    }
}

#[cfg(unix)]
impl Ears {
    fn new() -> std::io::Result<Ears> {
        use tokio::signal::unix::{SignalKind, signal};
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let inside = runtime.enter();
        let (ended, stopped) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        drop(inside);
        Ok(Ears {
            runtime,
            ended,
            stopped,
        })
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(super) fn listen() -> Signals {
        Signals {}
    }

    pub(super) fn came(&mut self) -> Option<Outcome> {
        None
    }
}
