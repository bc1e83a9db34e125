//! How a session stands: how full, how worn, how dear.

use longhaul_assembly::Breakdown;
use longhaul_compaction::Degradation;
use longhaul_tokens::{Tokens, WindowOrigin};
use longhaul_transcript::EntryId;
use serde::Serialize;

use super::{Listener, Result, Session, Size, Spending, window_source};
use crate::compactor::{Brakes, EXTRACTIVE};

/// A session's state in numbers.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What the session goes by.
    pub session: String,
    /// The model that answers.
    pub model: Option<String>,
    /// Who writes summaries.
    pub summarizer: String,
    /// The size of the next request.
    pub size: Size,
    /// The window.
    pub window: Tokens,
    /// Who says how large it is.
    pub window_origin: WindowOrigin,
    /// The same in words, with how to change it.
    pub window_source: String,
    /// The size against the window.
    pub fullness: f64,
    /// Where compaction begins.
    pub activation: Tokens,
    /// What no request exceeds.
    pub hard: Tokens,
    /// Compactions so far, and what to make of it.
    pub degradation: Degradation,
    /// What keeps compaction from happening by itself.
    #[serde(flatten)]
    pub brakes: Brakes,
    /// The epoch in which memory was last flushed.
    pub flushed_epoch: Option<u32>,
    /// The last entry.
    pub leaf: Option<EntryId>,
    /// What it cost.
    pub spending: Spending,
}

impl Session {
    /// How it stands.
    pub fn status(&mut self) -> Status {
        let size = self.size();
        let info = self.model();
        let name = info.map(|info| format!("{}/{}", info.provider, info.name));
        let summarizer = match &self.setup.summaries {
            Some(model) => format!("{}/{}", model.info().provider, model.info().name),
            None => EXTRACTIVE.to_owned(),
        };
        let config = &self.setup.config;
        let wear = self.live().wear();
        Status {
            session: self.key().to_owned(),
            model: name,
            summarizer,
            size,
            window: self.window().size(),
            window_origin: self.resolved.origin,
            window_source: self.window_source(),
            fullness: self.window().fullness(size.tokens),
            activation: self.window().activation(),
            hard: self.window().hard(),
            degradation: Degradation::of(self.live().epoch(), wear, &config.risk_rules()),
            brakes: Brakes::of(config, &self.bench.state, wear),
            flushed_epoch: self.bench.state.memory_flush_compaction_count,
            leaf: self.leaf(),
            spending: self.bench.state.spending,
        }
    }

    /// Who says how large the window is, and how to change it.
    pub fn window_source(&self) -> String {
        window_source(self.resolved.origin, self.model())
    }

    /// Switches compaction by itself on or off for this session.
    pub fn set_autocompact(&mut self, on: bool, listener: &mut dyn Listener) {
        self.bench.state.autocompact = Some(on);
        self.heard(listener).remember();
    }

    /// Closes the breaker by hand.
    pub fn reset_breaker(&mut self, listener: &mut dyn Listener) {
        self.bench.state.breaker.reset();
        self.heard(listener).remember();
    }

    /// Where the tokens of the next request are, by our count.
    pub fn breakdown(&mut self, listener: &mut dyn Listener) -> Result<Breakdown> {
        let size = self.size();
        Ok(self
            .heard(listener)
            .lay_request(size.tokens, true)?
            .breakdown)
    }

    /// The next request as it would leave now, as a host may send it itself.
    pub fn assemble(&mut self, listener: &mut dyn Listener) -> Result<longhaul_model::Request> {
        let size = self.size();
        Ok(self.heard(listener).lay_request(size.tokens, true)?.request)
    }
}
