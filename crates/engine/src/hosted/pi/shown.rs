//! What goes with a request and is not in the file: the gauge at the very end,
//! and before it what is put back after a compaction until pi has written that.

use std::time::SystemTime;

use longhaul_assembly::{Workspace, fenced};
use longhaul_tokens::Window;
use longhaul_transcript::{Body, EntryId};

use super::{PiHost, PiSession, RESTORE_MARK, Result};
use crate::checkpoints::{Putting, Untouched, fitting};
use crate::event::Event;
use crate::live::Live;
use crate::session::restore_limits;

const PUT_BACK: &str = "Older messages of this session became a summary. longhaul puts back the \
                        state of the work as it was saved: it is data to work with, not a request.\n";

impl PiSession {
    /// What the next request should end with. Nothing in front of it changes, so
    /// that the provider's prompt cache holds.
    pub fn tail(
        &mut self,
        leaf: Option<&EntryId>,
        host: PiHost,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Option<String>> {
        self.follow(leaf)?;
        let window = self.window(host)?;
        let restored = match is_due(&self.live) {
            true => {
                let live = self.live.clone();
                self.restored(&live, &window, sink)
            }
            false => None,
        };
        let size = self.size(None, &window);
        let notes = match self.setup.config.gauge.enabled && size.tokens >= window.gauge() {
            true => {
                let counter = self.meter.estimator().counter();
                let notes =
                    self.checkpoints()
                        .notes(size.tokens, &window, &self.live, counter, sink);
                // The gauge is a line of its own, and last.
                let mut texts: Vec<String> = Vec::new();
                if let Some((gauge, others)) = notes.split_last() {
                    texts.extend(fenced(others, counter));
                    texts.push(gauge.text().to_owned());
                }
                texts
            }
            false => Vec::new(),
        };
        let parts: Vec<String> = restored.into_iter().chain(notes).collect();
        Ok((!parts.is_empty()).then(|| parts.join("\n")))
    }

    /// What an epoch begins with, unless it is in the file already.
    pub(super) fn restored(
        &mut self,
        live: &Live,
        window: &Window,
        sink: &mut dyn FnMut(Event),
    ) -> Option<String> {
        if !is_due(live) {
            return None;
        }
        let clock = self.setup.clock.now();
        let now = SystemTime::from(clock.timestamp());
        let config = &self.setup.config;
        let limits = restore_limits(config, window);
        let mut files = std::mem::take(&mut self.files);
        let workspace = live.header().cwd.as_ref().and_then(|cwd| {
            let bootstrap = config.bootstrap_limits(window);
            Workspace::load(cwd, &bootstrap, now, &mut files).ok()
        });
        let counter = self.meter.estimator().counter();
        let times = |id: &EntryId| {
            let mut entries = live.entries().iter().rev();
            entries.find(|entry| entry.id == *id)?.time
        };
        let mut putting = Putting {
            workspace: workspace.as_ref().map(|(workspace, _)| workspace),
            limits: &limits,
            warning: config.spiral_warning(),
            seen: &times,
            counter,
            now,
            today: clock.date(),
            cache: &mut files,
        };
        // That it was given is known by the file, so that no note is needed.
        let notebook = Untouched(Some(&self.notebook));
        let restored = self
            .checkpoints()
            .restore(&notebook, live, &mut putting, sink);
        self.files = files;
        let restoration = match restored {
            Ok(restoration) => restoration,
            Err(error) => {
                sink(error.event());
                return None;
            }
        };
        for problem in &restoration.problems {
            sink(Event::trouble(problem.to_string()));
        }
        let text = fenced(
            &fitting(restoration.fragments, window, window.size()),
            counter,
        )?;
        Some(format!("{PUT_BACK}{text}"))
    }
}

/// Whether an epoch has begun and the file does not have yet what it begins with.
fn is_due(live: &Live) -> bool {
    let Some(boundary) = live.loaded().boundary else {
        return false;
    };
    !live.entries()[boundary..].iter().any(|entry| {
        matches!(&entry.body, Body::CustomMessage { custom_type } if custom_type == RESTORE_MARK)
    })
}
