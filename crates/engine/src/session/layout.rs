//! The static half of every request, and what is put back after a compaction.

use std::time::SystemTime;

use jiff::Zoned;
use longhaul_assembly::{
    Assembled, Breakdown, Budget, Counted, FileCache, Mode, PartCounts, PartName, Request, Tool,
    Tools, assemble,
};
use longhaul_tokens::{Fragment, Tokens};
use longhaul_transcript::ContextMessage;

use super::{AtWork, Listener, Result, Session, Setup, wire};
use crate::checkpoints::Restoration;
use crate::compactor::{Bench, Restoring};
use crate::event::Event;
use crate::live::Live;
use crate::measure::Meter;
use crate::prompt::{Place, StaticHalf};

/// Reads the workspace and writes the system prompt, as it is on this day.
pub(super) fn lay(
    setup: &Setup,
    bench: &Bench,
    now: &Zoned,
    files: &mut FileCache,
    counts: &mut PartCounts,
) -> Result<StaticHalf> {
    let config = &setup.config;
    let (tools, problems) = Tools::select(offered(setup), &config.tool_policy()?);
    let place = Place {
        config,
        environment: &setup.environment,
        root: &setup.workspace,
        window: &bench.window,
        now,
        mode: &match &setup.subagent {
            Some(subagent) => Mode::Minimal(subagent.clone()),
            None => Mode::Full,
        },
        tools: &tools,
        thinking: bench.live.loaded().settings.thinking_level.clone(),
    };
    let mut laid = place.lay(files, counts)?;
    laid.problems.extend(problems);
    Ok(laid)
}

/// The agent's tools, and the one by which it saves to memory: it is always
/// there, so that a silent turn has the same beginning as every other request.
fn offered(setup: &Setup) -> Vec<Tool> {
    let mut tools = setup.tools.definitions();
    let flushes = setup.config.compaction.memory_flush.enabled
        && setup.subagent.is_none()
        && !setup.config.sandbox.read_only
        && !tools.is_empty();
    if flushes && !tools.iter().any(|tool| tool.name == super::flush::TOOL) {
        tools.push(super::flush::tool());
    }
    tools
}

/// A request, ready to be sent, and its size.
pub(super) struct Prepared {
    /// What is sent.
    pub(super) request: longhaul_model::Request,
    /// How large it is, as counted part by part.
    pub(super) counted: Tokens,
    /// Where its tokens are.
    pub(super) breakdown: Breakdown,
}

impl AtWork<'_> {
    /// Lays the static half out anew: a compaction has rewritten the prompt
    /// anyway, or a new day has begun.
    pub(super) fn lay_out_anew(&mut self) {
        let session = &mut *self.session;
        let (files, counts) = (&mut session.files, &mut session.counts);
        let now = session.setup.clock.now();
        let laid = lay(&session.setup, &session.bench, &now, files, counts);
        // Where that fails, the one before serves on.
        if let Some(laid) = self.trouble(laid) {
            self.workspace = laid.workspace;
            if !self.hosted {
                self.prompt = laid.prompt;
            }
            self.prompt_day = now.date();
        }
    }

    /// Decides what this epoch's contexts carry beside the conversation.
    pub(super) fn restore(&mut self) -> Restoration {
        let mut restoration = self.restoration(None);
        let fragments = std::mem::take(&mut restoration.fragments);
        self.restored = self.fitting(None, fragments);
        restoration
    }

    /// What they would carry, were this the session.
    pub(super) fn restored_ahead(&mut self, ahead: &Live) -> Vec<Fragment> {
        let fragments = self.restoration(Some(ahead)).fragments;
        self.fitting(Some(ahead), fragments)
    }

    fn restoration(&mut self, ahead: Option<&Live>) -> Restoration {
        let session = &mut *self.session;
        let with = Restoring {
            config: &session.setup.config,
            workspace: Some(&session.workspace),
            now: &session.setup.clock.now(),
            files: &mut session.files,
        };
        let listener = &mut *self.listener;
        session.bench.restore(ahead, with, &mut |event| {
            // What is only foreseen is told when it has come about.
            if ahead.is_none() {
                listener.event(&event);
            }
        })
    }

    /// The request as it would leave now. `first` says whether it opens a turn:
    /// then it tells the time.
    pub(super) fn lay_request(&mut self, size: Tokens, first: bool) -> Result<Prepared> {
        let now = self.setup.clock.now();
        if now.date() != self.prompt_day {
            self.lay_out_anew();
        }
        let gauge = self.gauge_notes(size);
        self.noted = gauge.iter().map(Fragment::tokens).sum();
        let session = &mut *self.session;
        let fixed = session.fixed();
        let mut history = history(session.bench.live.messages(), &mut session.bench.meter);
        let uncorrected = correct(&mut history, size - fixed);
        let assembled = session.assembled(&history, &gauge, first.then_some(&now))?;
        let mut request = wire::request(&assembled);
        request.session = Some(session.key().to_owned());
        request.max_output = session.max_output();
        let breakdown = assembled.breakdown().clone();
        Ok(Prepared {
            counted: breakdown.total + uncorrected,
            breakdown,
            request,
        })
    }

    fn gauge_notes(&mut self, size: Tokens) -> Vec<Fragment> {
        let notes = self.notes(size);
        let was_told = std::mem::replace(&mut self.gauged, !notes.is_empty());
        if let Some(gauge) = notes.last().filter(|_| !was_told) {
            let line = gauge.text().to_owned();
            self.tell(Event::Gauge { tokens: size, line });
        }
        notes
    }
}

/// What is sent of some messages, counted.
pub(super) fn history<'m>(messages: &'m [ContextMessage], meter: &mut Meter) -> Vec<Counted<'m>> {
    let unasked = longhaul_transcript::unasked(messages);
    let sent = messages.iter().enumerate();
    let sent = sent.filter(|(at, _)| !unasked.contains(at));
    sent.map(|(_, message)| Counted {
        message,
        tokens: meter.message(message),
    })
    .collect()
}

/// Gives the history the size by which its fate is decided: what the gauge
/// takes for small enough is not refused for our own larger count. Says by how
/// much less that is than we count.
fn correct(history: &mut [Counted<'_>], known: Tokens) -> Tokens {
    let sum = |history: &[Counted<'_>]| history.iter().map(|it| it.tokens).sum::<Tokens>();
    let counted = sum(history);
    if known >= counted {
        return Tokens::ZERO;
    }
    let share = known.share_of(counted);
    for message in history.iter_mut() {
        message.tokens = message.tokens.scale(share);
    }
    counted - sum(history)
}

impl Session {
    /// Reads ahead what the next turn will want, where the settings allow it: for
    /// whoever waits for the user.
    pub fn prewarm(&mut self, listener: &mut dyn Listener) {
        if !self.setup.config.prewarm.enabled {
            return;
        }
        let checkpoints = self.bench.checkpoints();
        let latest = checkpoints.latest(&mut |_| {}).ok().flatten();
        let now = SystemTime::from(self.setup.clock.now().timestamp());
        self.warm.run(
            &self.setup.config.prewarm,
            self.workspace.root(),
            latest.as_ref(),
            now,
            &mut self.files,
            &mut |event| listener.event(&event),
        );
    }

    /// A request laid out within its budget.
    pub(super) fn assembled<'r>(
        &'r self,
        history: &'r [Counted<'r>],
        dynamic: &'r [Fragment],
        now: Option<&'r Zoned>,
    ) -> Result<Assembled<'r>> {
        let request = Request {
            prompt: &self.prompt,
            restored: &self.restored,
            history,
            event: None,
            dynamic,
            now,
        };
        let budget = Budget::new(&self.bench.window, self.setup.config.budget)?;
        let counter = self.counter();
        Ok(assemble(&request, &budget, counter)?)
    }

    /// What an agent is told about a context of this size.
    pub(super) fn notes(&self, size: Tokens) -> Vec<Fragment> {
        let (window, live) = (self.window(), self.live());
        match self.setup.config.gauge.enabled && size >= window.gauge() {
            true => {
                let checkpoints = self.bench.checkpoints();
                checkpoints.notes(size, window, live, self.counter(), &mut |_| {})
            }
            false => Vec::new(),
        }
    }

    /// The answer's share of the window: what is kept free for it.
    pub(super) fn max_output(&self) -> Option<u32> {
        let free = (self.window().size() - self.window().hard()).0;
        let of_model = self.model().and_then(|info| info.max_output);
        Some(of_model.map_or(free, |most| most.min(free)))
    }

    /// Tokens of a request beside the conversation.
    pub(super) fn fixed(&self) -> Tokens {
        self.fixed_with(&self.restored)
    }

    /// The same, were this put back.
    pub(super) fn fixed_with(&self, restored: &[Fragment]) -> Tokens {
        use PartName::{Files, Prompt, Skills, Tools};
        let prompt: Tokens = [Tools, Prompt, Files, Skills]
            .into_iter()
            .map(|part| self.prompt.tokens(part))
            .sum();
        let tokens: Tokens = restored.iter().map(Fragment::tokens).sum();
        // The fences, the time and the gauge.
        prompt + tokens + Tokens(restored.len() as u32 * 12 + 64)
    }
}
