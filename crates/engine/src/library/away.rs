//! An endpoint that was away when it was first asked: asked again until it answers.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};

use longhaul_index::{Encoder, Patience};

use super::endpoint::AwayEndpoint;
use super::{Job, Library, Shared, Told};

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
        let mut waits = self.shared.waits();
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
        let mut awaiting = self.shared.awaiting.lock();
        *awaiting
            .as_deref_mut()
            .unwrap_or_else(|poisoned| poisoned.get_mut()) = Some(here);
    }
}

impl Shared {
    /// Lets everybody work with a model from now on.
    pub(super) fn use_encoder(&self, encoder: &Arc<dyn Encoder>) {
        // Before the others: whoever begins meanwhile begins with it.
        *self.encoder.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(encoder));
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = reader.as_mut() {
            index.use_encoder(Some(Arc::clone(encoder)));
        }
        drop(reader);
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(work) = work.as_ref() {
            let _ = work.jobs.send(Job::Encoder(Arc::clone(encoder)));
        }
        drop(work);
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = files.as_ref() {
            files.use_encoder(Arc::clone(encoder));
        }
    }
}
