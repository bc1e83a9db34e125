//! The end of a round: what is due by the thresholds, as entries for pi.

use longhaul_checkpoint::Trigger as Saved;
use longhaul_compaction::ladder::{self, Block, Limits, Occasion, State, Step};
use longhaul_compaction::{Degradation, Layer, Trigger};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Draft, EntryId, Role};
use serde_json::{Value, json};

use super::carry;
use super::compact::Attempt;
use super::follow::Followed;
use super::{PiHost, PiSession, RESTORE_MARK, Result, TurnEnd};
use crate::event::Event;
use crate::live::Live;
use crate::session::Size;

/// A session as it will be once pi has appended what it is asked to.
pub(super) struct Ahead {
    pub(super) live: Live,
    entries: Vec<Value>,
    notices: Vec<String>,
}

impl Ahead {
    pub(super) fn of(live: &Live) -> Ahead {
        Ahead {
            live: live.clone(),
            entries: Vec::new(),
            notices: Vec::new(),
        }
    }
}

impl PiSession {
    /// A round has ended: takes in what pi wrote, saves the state of the work, and
    /// says what pi should append.
    pub fn turn_end(
        &mut self,
        leaf: Option<&EntryId>,
        host: PiHost,
        sink: &mut dyn FnMut(Event),
    ) -> Result<TurnEnd> {
        let followed = self.follow(leaf)?;
        let window = self.window(host)?;
        let mut ahead = Ahead::of(&self.live);
        if followed == Followed::Anew {
            // What was learnt of the size is of this session all the same.
            sink(Event::trouble(
                "the session went on elsewhere than it was left, and was read anew",
            ));
        }
        self.climb(&mut ahead, &window, host, sink)?;
        // Behind a last answer it would be the last word, and `pi --print` prints that.
        let goes_on = self
            .live
            .messages()
            .last()
            .is_some_and(|last| last.role == Role::ToolResult);
        let restored = match goes_on {
            true => self.restored(&ahead.live, &window, sink),
            false => None,
        };
        if let Some(text) = restored {
            let details = json!({ "epoch": ahead.live.epoch() });
            let entry = carry::message(RESTORE_MARK, &text, details);
            ahead.entries.push(entry);
        }
        self.save_state(&window, sink);
        Ok(TurnEnd {
            entries: ahead.entries,
            notices: ahead.notices,
        })
    }

    /// Climbs the ladder as far as the thresholds ask for it.
    fn climb(
        &mut self,
        ahead: &mut Ahead,
        window: &Window,
        host: PiHost,
        sink: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let mut tried = Vec::new();
        loop {
            let size = self.size(Some(&ahead.live), window);
            let state = self.ladder_state(&ahead.live, size, window, host, &tried);
            let before = tried.len();
            for step in ladder::plan(window, &state) {
                match step {
                    // The gauge goes with the request. What is worth remembering is
                    // pi's and its user's to write into a workspace that is theirs.
                    Step::Gauge | Step::Flush | Step::Notify => {}
                    Step::Checkpoint => {
                        self.checkpoint(&ahead.live, Saved::Threshold, size.tokens, window, sink);
                    }
                    Step::Blocked(block) => self.blocked(block, size, ahead, sink),
                    Step::Compact(Layer::Prune) => {
                        tried.push(Layer::Prune);
                        self.prune(ahead, size, window, sink);
                    }
                    Step::Compact(layer) => {
                        tried.push(layer);
                        let made =
                            self.compact(&ahead.live, layer, Trigger::Auto, None, window, sink)?;
                        if let Attempt::Made(made) = made {
                            ahead.notices.push(made.told());
                            ahead.entries.push(made.entry);
                            ahead.live = made.live;
                        }
                    }
                }
            }
            if tried.len() == before {
                return Ok(());
            }
        }
    }

    fn ladder_state(
        &mut self,
        live: &Live,
        size: Size,
        window: &Window,
        host: PiHost,
        tried: &[Layer],
    ) -> State {
        let config = &self.setup.config;
        let layers = config.layers();
        let settings = config.prune_settings(window);
        let context = size.at_most;
        let look = context >= window.checkpoint() && !tried.contains(&Layer::Prune);
        let (tool_output, prunable) = match look && layers.prune {
            true => {
                let pruned = live.prune(&mut self.meter, &settings, size.overhead);
                let meter = &mut self.meter;
                let messages = live.messages().iter();
                let output = messages
                    .filter(|message| {
                        matches!(message.role, Role::ToolResult | Role::BashExecution)
                    })
                    .map(|message| meter.message(message))
                    .sum();
                (output, pruned.map_or(Tokens::ZERO, |pruned| pruned.freed))
            }
            false => (Tokens::ZERO, Tokens::ZERO),
        };
        let config = &self.setup.config;
        let moved = self.checkpointed.is_none_or(|at| {
            let least = config.checkpoint.minimum_change_percent / 100.0;
            f64::from(context.0.abs_diff(at.0)) >= least * f64::from(window.size().0)
        });
        let compaction = &config.compaction;
        State {
            occasion: Occasion::Threshold,
            context,
            tool_output,
            prunable,
            prune_minimum: settings.minimum,
            epoch: live.epoch(),
            flushed_epoch: Some(live.epoch()),
            checkpointed: !moved || !config.writes_checkpoints(),
            cold: false,
            tried: tried.to_vec(),
            limits: Limits {
                // Who has switched compaction off in pi has switched it off.
                auto_enabled: host.compacts
                    && self.state.autocompact.unwrap_or(compaction.auto_enabled),
                read_only: config.sandbox.read_only,
                subagent: false,
                breaker_open: self.state.breaker.is_open(config.breaker_rules()),
                max_auto: compaction.max_auto_compactions,
                layers,
            },
        }
    }

    fn prune(
        &mut self,
        ahead: &mut Ahead,
        size: Size,
        window: &Window,
        sink: &mut dyn FnMut(Event),
    ) {
        let settings = self.setup.config.prune_settings(window);
        let pruned = ahead.live.prune(&mut self.meter, &settings, size.overhead);
        let Some(pruned) = pruned else {
            return;
        };
        for draft in &pruned.drafts {
            ahead.entries.push(self.append(&mut ahead.live, draft));
        }
        let after = self.size(Some(&ahead.live), window).tokens;
        ahead.notices.push(format!(
            "longhaul hid {} old tool results ({} of {} tokens); `recall` brings them back",
            pruned.results, pruned.freed, size.tokens,
        ));
        sink(Event::Pruned {
            results: pruned.results,
            tokens_before: size.tokens,
            tokens_after: after,
            reason: "tool output above its threshold".to_owned(),
        });
    }

    /// Takes a draft in as if it were written; the words in which pi is told.
    fn append(&self, live: &mut Live, draft: &Draft) -> Value {
        let stamp = self.stamp();
        let parent = live.entries().last().map(|entry| entry.id.clone());
        live.push(draft.to_entry(&stamp, parent.as_ref()));
        carry::for_pi(draft, &stamp)
    }

    /// Saves the state of the work.
    pub(super) fn checkpoint(
        &mut self,
        live: &Live,
        trigger: Saved,
        tokens: Tokens,
        window: &Window,
        sink: &mut dyn FnMut(Event),
    ) {
        self.checkpointed = Some(tokens);
        let occasion = self.occasion(live, trigger, (tokens, window), false);
        if let Err(error) = self.checkpoints().write(live, &occasion, sink) {
            sink(error.event());
        }
    }

    /// Writes down what the next checkpoint will hold, as far as it changed.
    fn save_state(&mut self, window: &Window, sink: &mut dyn FnMut(Event)) {
        if !self.setup.config.writes_checkpoints() {
            return;
        }
        let tokens = self.size(None, window).tokens;
        let occasion = self.occasion(&self.live, Saved::Threshold, (tokens, window), false);
        let saved = self.checkpoints().save_state(&self.live, &occasion, sink);
        if let Err(error) = saved {
            sink(error.event());
        }
    }

    /// Says once in an epoch that something is due and may not happen.
    fn blocked(
        &mut self,
        block: Block,
        size: Size,
        ahead: &mut Ahead,
        sink: &mut dyn FnMut(Event),
    ) {
        if !self.told.insert(block) {
            return;
        }
        sink(Event::Blocked {
            block,
            tokens: size.tokens,
        });
        let said = match block {
            Block::Off | Block::ReadOnly | Block::Layers => return,
            Block::Breaker => format!(
                "longhaul has stopped compacting this session: {}. `longhaul compact \
                 --reset-breaker` lets it try again",
                self.state.breaker.reasons.join("; ")
            ),
            Block::Guard => {
                let risk = self.setup.config.risk_rules();
                Degradation::of(ahead.live.epoch(), None, &risk).recommendation
            }
        };
        ahead.notices.push(said);
    }
}
