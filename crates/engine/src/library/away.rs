//! An endpoint that was away when it was first asked: asked again until it answers.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};

use longhaul_index::Patience;

use super::endpoint::AwayEndpoint;
use super::{Library, Told, locked};

impl Library {
    /// Asks an endpoint again, each time after a longer wait, until it answers or
    /// the library is let go of; from then on its model makes the vectors. Until
    /// then searches go by words alone, and the next one tells why.
    pub fn await_endpoint(&self, away: AwayEndpoint) {
        let why = &away.why;
        let told = format!("found by words alone for now: {why}");
        self.shared.troubles.add_for(Told::NextSearch, &told);
        let (here, end) = channel();
        let shared = Arc::downgrade(&self.shared);
        let mut waits = *locked(&self.shared.waits);
        let ask = move || {
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(waits.next) {
                if let Ok(encoder) = away.connect(Patience::Long) {
                    if let Some(shared) = shared.upgrade() {
                        shared.use_encoder(&encoder);
                    }
                    return;
                }
                waits = waits.longer();
            }
        };
        let name = "longhaul-endpoint".to_owned();
        if let Err(error) = std::thread::Builder::new().name(name).spawn(ask) {
            let told = format!("the endpoint is not asked again: {error}");
            self.shared.troubles.add(&told);
        }
        *locked(&self.shared.awaiting) = Some(here);
    }
}
