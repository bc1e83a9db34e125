//! What goes with a request and is not in the file: the gauge at the very end,
//! and what is put back after a compaction until pi has written that.

use longhaul_assembly::fenced;
use longhaul_transcript::{Body, EntryId};
use serde::Serialize;
use serde_json::{Value, json};

use super::{PiHost, PiSession, RESTORE_MARK, Result, carry};
use crate::checkpoints::fitting;
use crate::compactor::Restoring;
use crate::event::Event;
use crate::live::Live;

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
        self.follow(leaf, host)?;
        let live = self.bench.live.clone();
        Ok(self.restoring(&live, sink))
    }

    /// What an epoch begins with, as a message for pi to write.
    pub(super) fn restoring(&mut self, live: &Live, sink: &mut dyn FnMut(Event)) -> Option<Value> {
        let text = self.restored(live, sink)?;
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
        self.follow(leaf, host)?;
        let live = self.bench.live.clone();
        let restored = self.restored(&live, sink);
        let size = self.size(None);
        let bench = &self.bench;
        let append = match self.setup.config.gauge.enabled && size.tokens >= bench.window.gauge() {
            true => {
                let counter = bench.meter.estimator().counter();
                let checkpoints = bench.checkpoints();
                let notes = checkpoints.notes(size.tokens, &bench.window, &live, counter, sink);
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

    /// What an epoch begins with, unless it is in the file already. That it was
    /// given is known by the file, so that no note is needed.
    fn restored(&mut self, live: &Live, sink: &mut dyn FnMut(Event)) -> Option<String> {
        if !is_due(live) {
            return None;
        }
        let (config, bench) = (&self.setup.config, &self.bench);
        let with = Restoring {
            config,
            workspace: None,
            now: &self.setup.clock.now(),
            files: &mut self.files,
        };
        let root = live.header().cwd.as_deref();
        let fragments = bench.restore_in(root, Some(live), with, sink).fragments;
        let fragments = fitting(fragments, &bench.window, bench.window.size());
        let text = fenced(&fragments, bench.meter.estimator().counter())?;
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
