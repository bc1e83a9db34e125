//! Signals during a dialogue: whoever ends the program while it waits for a key
//! gets the terminal back as it was.
//!
//! The terminal gives single keys only while one is waited for. A signal that
//! nobody listens for ends the program in the middle of that; one that somebody
//! listens for interrupts the wait, which then puts the terminal right.

use crate::failure::Outcome;

/// Listens for as long as it lives.
pub(super) struct Signals {
    ears: Option<Ears>,
}

struct Ears {
    runtime: tokio::runtime::Runtime,
    /// What is listened for, and what each asks for. An interrupted wait raises
    /// the signal of Ctrl-C itself, so that this one comes last: the other
    /// counts where both came.
    heard: [(tokio::signal::unix::Signal, Outcome); 4],
}

impl Signals {
    pub(super) fn listen() -> Signals {
        // Without them the program ends as every other does.
        Signals {
            ears: Ears::new().ok(),
        }
    }

    /// What a signal asked for since it was last looked.
    pub(super) fn came(&mut self) -> Option<Outcome> {
        let Ears { runtime, heard } = self.ears.as_mut()?;
        runtime.block_on(async {
            for (signal, outcome) in heard {
                tokio::select! {
                    biased;
                    _ = signal.recv() => return Some(*outcome),
                    () = tokio::task::yield_now() => {}
                }
            }
            None
        })
    }
}

impl Ears {
    fn new() -> std::io::Result<Ears> {
        use tokio::signal::unix::{SignalKind, signal};
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let inside = runtime.enter();
        let heard = [
            (signal(SignalKind::terminate())?, Outcome::Ended),
            (signal(SignalKind::hangup())?, Outcome::HungUp),
            (signal(SignalKind::quit())?, Outcome::Quit),
            (signal(SignalKind::interrupt())?, Outcome::Stopped),
        ];
        drop(inside);
        Ok(Ears { runtime, heard })
    }
}
