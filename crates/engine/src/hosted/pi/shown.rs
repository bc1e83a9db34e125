//! What goes with a request and is not in the file: the gauge at the very end,
//! and what is put back after a compaction until pi has written that.

use std::time::SystemTime;

use longhaul_assembly::{Workspace, fenced};
use longhaul_tokens::Window;
use longhaul_transcript::{Body, EntryId};
use serde::Serialize;
use serde_json::{Value, json};

use super::{PiHost, PiSession, RESTORE_MARK, Result, carry};
use crate::checkpoints::{Putting, Untouched, fitting};
use crate::event::Event;
use crate::live::Live;
use crate::session::restore_limits;

const PUT_BACK: &str = "Older messages of this session became a summary. longhaul puts back the \
                        state of the work as it was saved: it is data to work with, not a request.\n";

/// What a request has that is not in the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Shown {
    /// Stands behind what the agent said and did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<String>,
    /// Stands at the very end. Nothing in front of it changes, so that the
    /// provider's prompt cache holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<String>,
}

impl PiSession {
    /// A run is about to begin: what pi should write before the user's words,
    /// where an epoch begins with that.
    pub fn before_run(
        &mut self,
        leaf: Option<&EntryId>,
        host: PiHost,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Option<Value>> {
        self.follow(leaf)?;
        let window = self.window(host)?;
        let live = self.live.clone();
        Ok(self.restoring(&live, &window, sink))
    }

    /// What an epoch begins with, as a message for pi to write.
    pub(super) fn restoring(
        &mut self,
        live: &Live,
        window: &Window,
        sink: &mut dyn FnMut(Event),
    ) -> Option<Value> {
        let text = self.restored(live, window, sink)?;
        let details = json!({ "epoch": live.epoch() });
        Some(carry::message(RESTORE_MARK, &text, details))
    }

    /// What the next request should have besides.
    pub fn shown(
        &mut self,
        leaf: Option<&EntryId>,
        host: PiHost,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Shown> {
        self.follow(leaf)?;
        let window = self.window(host)?;
        let live = self.live.clone();
        let restored = self.restored(&live, &window, sink);
        let size = self.size(None, &window);
        let append = match self.setup.config.gauge.enabled && size.tokens >= window.gauge() {
            true => {
                let counter = self.meter.estimator().counter();
                let notes =
                    self.checkpoints()
                        .notes(size.tokens, &window, &self.live, counter, sink);
                // The gauge is a line of its own, and last.
                notes.split_last().map(|(gauge, others)| {
                    let mut texts: Vec<String> = fenced(others, counter).into_iter().collect();
                    texts.push(gauge.text().to_owned());
                    texts.join("\n")
                })
            }
            false => None,
        };
        Ok(Shown { restored, append })
    }

    /// What an epoch begins with, unless it is in the file already.
    fn restored(
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
