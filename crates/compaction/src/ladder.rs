//! The ladder: what is due at this size of context, in one readable function.
//!
//! [`plan`] is the whole policy. It is asked before every request and after
//! every turn, its first compaction step is carried out, the context is counted
//! again, and it is asked anew; so layers are climbed one at a time and the
//! climb ends as soon as the context is small enough.
//!
//! | context | what happens |
//! |---|---|
//! | from `gauge` | the agent is shown the gauge |
//! | from `checkpoint` | a checkpoint is written; with much tool output, layer 1 |
//! | from `gauge`, the cache cold and a compaction to be expected | layer 2, which costs nothing extra now |
//! | from `activation` | flush once per epoch, checkpoint, layer 2, then 3 |
//! | from `full` | layer 3 at once, the user is told |

use longhaul_tokens::{Level, Tokens, Window};
use serde::Serialize;

use crate::terms::Layer;

/// What the plan looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Why the plan is asked.
    pub occasion: Occasion,
    /// The context's size.
    pub context: Tokens,
    /// How much of it is tool output.
    pub tool_output: Tokens,
    /// What durable pruning would free.
    pub prunable: Tokens,
    /// The least that is worth a durable pruning.
    pub prune_minimum: Tokens,
    /// Compactions so far.
    pub epoch: u32,
    /// Those that lost something, or of which nobody knows.
    pub lossy: u32,
    /// The epoch in which memory was last flushed; absent at first.
    pub flushed_epoch: Option<u32>,
    /// Whether a checkpoint of the present state exists.
    pub checkpointed: bool,
    /// Whether a compaction is to be expected and the prompt cache has expired,
    /// so that the whole prompt is written anew whatever is done.
    pub cold: bool,
    /// Layers carried out since the climb began.
    pub tried: Vec<Layer>,
    /// What forbids what.
    pub limits: Limits,
}

/// Why the plan is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// A request is about to leave, or a turn has ended.
    Threshold,
    /// The provider refused a request as too long.
    Overflow,
    /// A person asked for this layer.
    Manual(Layer),
}

/// What forbids compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Whether thresholds may start a compaction at all.
    pub auto_enabled: bool,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Whether this is a subagent, which has no memory to flush.
    pub subagent: bool,
    /// Whether failures in a row have stopped compaction.
    pub breaker_open: bool,
    /// After so many compactions that lost something none happens by itself.
    pub max_auto: u32,
    /// The layers in use.
    pub layers: Layers,
}

/// The layers that may be carried out by themselves. A person may ask for any,
/// and an emergency has to be answered whatever is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers {
    /// Hiding tool output.
    pub prune: bool,
    /// Summarising older turns.
    pub summarize: bool,
    /// Summarising the whole conversation.
    pub full: bool,
}

impl Layers {
    /// Every layer.
    pub const ALL: Layers = Layers {
        prune: true,
        summarize: true,
        full: true,
    };

    /// Whether a layer is in use.
    pub fn allow(self, layer: Layer) -> bool {
        match layer {
            Layer::Prune => self.prune,
            Layer::Summarize => self.summarize,
            Layer::Full => self.full,
            Layer::Emergency => true,
        }
    }

    /// Whether a conversation may become a summary at all.
    fn summaries(self) -> bool {
        self.summarize || self.full
    }
}

impl Default for Layers {
    fn default() -> Layers {
        Layers::ALL
    }
}

/// One thing to do, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// Show the gauge.
    Gauge,
    /// Let the agent write down what it wants to remember.
    Flush,
    /// Write a checkpoint.
    Checkpoint,
    /// Compact.
    Compact(Layer),
    /// Tell the user that the whole conversation is being summarised.
    Notify,
    /// Compaction is due but may not happen.
    Blocked(Block),
}

/// Why compaction may not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Block {
    /// `autoEnabled` is off.
    Off,
    /// Nothing may be written.
    ReadOnly,
    /// The breaker is open.
    Breaker,
    /// The guard: so many compactions lost something that a fresh session is
    /// better.
    Guard,
    /// No layer that summarises is in use.
    Layers,
}

/// What is due now.
pub fn plan(window: &Window, state: &State) -> Vec<Step> {
    let mut steps = Vec::new();
    if state.context >= window.gauge() {
        steps.push(Step::Gauge);
    }
    if state.limits.read_only {
        if due(window, state) {
            steps.push(Step::Blocked(Block::ReadOnly));
        }
        return steps;
    }
    if state.context >= window.checkpoint() && !state.checkpointed {
        steps.push(Step::Checkpoint);
    }
    if let Some(layer) = next_layer(window, state) {
        if let Some(block) = blocked(state, layer) {
            steps.push(Step::Blocked(block));
            // Hiding tool output goes on whatever forbids a summary, unless a
            // person switched everything off.
            if block != Block::Off && prunes(window, state) {
                steps.push(Step::Compact(Layer::Prune));
            }
            return steps;
        }
        compact(&mut steps, state, layer);
    } else if unserved(window, state) {
        let block = match state.limits.auto_enabled {
            true => Block::Layers,
            false => Block::Off,
        };
        steps.push(Step::Blocked(block));
    }
    steps
}

/// Whether a summary is due that no layer in use would make.
fn unserved(window: &Window, state: &State) -> bool {
    state.occasion == Occasion::Threshold
        && !state.limits.layers.summaries()
        && state.context >= window.activation()
}

/// The next layer to carry out, if one is due.
fn next_layer(window: &Window, state: &State) -> Option<Layer> {
    let tried = |layer| state.tried.contains(&layer);
    let layers = state.limits.layers;
    match state.occasion {
        Occasion::Manual(layer) => (!tried(layer)).then_some(layer),
        Occasion::Overflow => [Layer::Summarize, Layer::Full, Layer::Emergency]
            .into_iter()
            .find(|layer| *layer == Layer::Emergency || layers.allow(*layer) && !tried(*layer)),
        Occasion::Threshold
            if prunes(window, state)
                && !at_full(window, state)
                && !at_no_extra_cost(window, state) =>
        {
            Some(Layer::Prune)
        }
        Occasion::Threshold if due(window, state) => {
            if at_full(window, state) && !tried(Layer::Full) {
                return Some(Layer::Full);
            }
            [Layer::Summarize, Layer::Full]
                .into_iter()
                .find(|layer| layers.allow(*layer) && !tried(*layer) && !tried(Layer::Full))
        }
        Occasion::Threshold => None,
    }
}

/// Whether a summary is due. A climb that has begun goes on a little further
/// than where it began, so that it does not begin again with the next message.
fn due(window: &Window, state: &State) -> bool {
    let climbing = state.tried.iter().any(|layer| *layer > Layer::Prune);
    if climbing {
        state.context >= window.hysteresis_target()
    } else {
        state.context >= window.activation() || at_no_extra_cost(window, state)
    }
}

/// A compaction that is to be expected comes cheapest while the cache is cold:
/// the next request writes its whole prompt, and a short one costs less to
/// write. Below the gauge it would come too early: what is in the context is
/// worth more there than money.
fn at_no_extra_cost(window: &Window, state: &State) -> bool {
    state.cold
        && state.limits.layers.summaries()
        && state.context >= window.gauge()
        && state.tried.is_empty()
}

/// Whether layer 3 comes before all others.
fn at_full(window: &Window, state: &State) -> bool {
    state.limits.layers.full && window.level(state.context) == Level::Full
}

/// Whether layer 1 is due and worth it.
fn prunes(window: &Window, state: &State) -> bool {
    state.limits.layers.prune
        && window.prunes(state.context, state.tool_output)
        && state.prunable >= state.prune_minimum
        && state.prunable > Tokens::ZERO
        && !state.tried.contains(&Layer::Prune)
}

fn blocked(state: &State, layer: Layer) -> Option<Block> {
    let Limits {
        auto_enabled,
        breaker_open,
        max_auto,
        ..
    } = state.limits;
    match state.occasion {
        // A person may always try, and an overflow must be answered; but a
        // breaker that is open stops attempts that spend, on every path, and a
        // worn session is only trimmed.
        Occasion::Manual(_) => None,
        Occasion::Overflow if layer == Layer::Emergency => None,
        Occasion::Overflow if breaker_open => Some(Block::Breaker),
        Occasion::Overflow if state.lossy >= max_auto => Some(Block::Guard),
        Occasion::Overflow => None,
        Occasion::Threshold if !auto_enabled => Some(Block::Off),
        Occasion::Threshold if layer == Layer::Prune => None,
        Occasion::Threshold if breaker_open => Some(Block::Breaker),
        Occasion::Threshold if state.lossy >= max_auto => Some(Block::Guard),
        Occasion::Threshold => None,
    }
}

fn compact(steps: &mut Vec<Step>, state: &State, layer: Layer) {
    if layer != Layer::Prune {
        let flushed = state.flushed_epoch == Some(state.epoch);
        if !flushed && !state.limits.subagent {
            steps.push(Step::Flush);
        }
        if !state.checkpointed && !steps.contains(&Step::Checkpoint) {
            steps.push(Step::Checkpoint);
        }
    }
    if layer == Layer::Full {
        steps.push(Step::Notify);
    }
    steps.push(Step::Compact(layer));
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::WindowSettings;
    use proptest::prelude::*;

    use super::*;

    fn window() -> Window {
        Window::new(&WindowSettings::of(Tokens(200_000))).unwrap()
    }

    fn state(context: u32) -> State {
        State {
            occasion: Occasion::Threshold,
            context: Tokens(context),
            tool_output: Tokens(0),
            prunable: Tokens(0),
            prune_minimum: Tokens(20_000),
            epoch: 0,
            lossy: 0,
            flushed_epoch: None,
            checkpointed: false,
            cold: false,
            tried: Vec::new(),
            limits: Limits {
                auto_enabled: true,
                read_only: false,
                subagent: false,
                breaker_open: false,
                max_auto: 5,
                layers: Layers::ALL,
            },
        }
    }

    fn with_output(context: u32) -> State {
        State {
            tool_output: Tokens(80_000),
            prunable: Tokens(30_000),
            ..state(context)
        }
    }

    #[test]
    fn the_plan_reads_like_the_table() {
        use Step::{Checkpoint, Compact, Flush, Gauge, Notify};
        let table: [(State, &[Step]); 7] = [
            (state(139_999), &[]),
            (state(140_000), &[Gauge]),
            (state(160_000), &[Gauge, Checkpoint]),
            (
                with_output(160_000),
                &[Gauge, Checkpoint, Compact(Layer::Prune)],
            ),
            (
                state(176_000),
                &[Gauge, Checkpoint, Flush, Compact(Layer::Summarize)],
            ),
            (
                State {
                    checkpointed: true,
                    flushed_epoch: Some(0),
                    ..state(180_001)
                },
                &[Gauge, Compact(Layer::Summarize)],
            ),
            (
                with_output(190_000),
                &[Gauge, Checkpoint, Flush, Notify, Compact(Layer::Full)],
            ),
        ];
        for (state, expected) in table {
            assert_eq!(plan(&window(), &state), expected, "at {}", state.context);
        }
    }

    #[test]
    fn a_cold_cache_is_the_moment_for_a_summary_that_is_to_be_expected() {
        let cold = |context| State {
            cold: true,
            checkpointed: true,
            flushed_epoch: Some(0),
            ..with_output(context)
        };
        assert_eq!(plan(&window(), &cold(139_999)), []);
        for context in [140_000, 165_000] {
            let steps = plan(&window(), &cold(context));
            assert!(
                steps.contains(&Step::Compact(Layer::Summarize)),
                "{context}"
            );
            assert!(!steps.contains(&Step::Compact(Layer::Prune)), "{context}");
        }
        // It is tried once: what is left is left to the thresholds.
        let tried = State {
            tried: vec![Layer::Summarize],
            ..cold(120_000)
        };
        assert_eq!(plan(&window(), &tried), []);
    }

    #[test]
    fn pruning_that_was_enough_ends_the_climb_and_one_that_was_not_goes_on() {
        let pruned = State {
            tried: vec![Layer::Prune],
            checkpointed: true,
            ..with_output(170_000)
        };
        assert_eq!(plan(&window(), &pruned), [Step::Gauge]);
        let still = State {
            context: Tokens(177_000),
            ..pruned
        };
        assert!(plan(&window(), &still).contains(&Step::Compact(Layer::Summarize)));
    }

    #[test]
    fn a_climb_goes_on_below_activation_until_the_hysteresis_target() {
        let after = State {
            tried: vec![Layer::Summarize],
            epoch: 1,
            checkpointed: true,
            flushed_epoch: Some(1),
            ..state(170_000)
        };
        assert_eq!(
            plan(&window(), &after),
            [Step::Gauge, Step::Notify, Step::Compact(Layer::Full)]
        );
        let low = State {
            context: Tokens(165_999),
            ..after
        };
        assert_eq!(plan(&window(), &low), [Step::Gauge]);
    }

    #[test]
    fn what_forbids_summaries_does_not_forbid_pruning() {
        let forbidden: [(Limits, Block); 2] = [
            (
                Limits {
                    breaker_open: true,
                    ..state(0).limits
                },
                Block::Breaker,
            ),
            (
                Limits {
                    max_auto: 0,
                    ..state(0).limits
                },
                Block::Guard,
            ),
        ];
        for (limits, block) in forbidden {
            let state = State {
                limits,
                checkpointed: true,
                tried: vec![],
                prunable: Tokens(30_000),
                tool_output: Tokens(80_000),
                ..state(177_000)
            };
            // Layer 1 comes first; once it was tried the block shows.
            assert!(plan(&window(), &state).contains(&Step::Compact(Layer::Prune)));
            let tried = State {
                tried: vec![Layer::Prune],
                ..state
            };
            assert!(plan(&window(), &tried).contains(&Step::Blocked(block)));
        }
    }

    #[test]
    fn only_compactions_that_lost_something_count_for_the_guard() {
        let often = State {
            epoch: 40,
            flushed_epoch: Some(40),
            lossy: 4,
            ..state(177_000)
        };
        assert!(plan(&window(), &often).contains(&Step::Compact(Layer::Summarize)));
        let worn = State { lossy: 5, ..often };
        assert!(plan(&window(), &worn).contains(&Step::Blocked(Block::Guard)));
    }

    #[test]
    fn off_means_off_except_for_overflow_and_people() {
        let off = State {
            limits: Limits {
                auto_enabled: false,
                ..state(0).limits
            },
            ..with_output(195_000)
        };
        assert!(plan(&window(), &off).contains(&Step::Blocked(Block::Off)));
        assert!(
            !plan(&window(), &off)
                .iter()
                .any(|s| matches!(s, Step::Compact(_)))
        );
        let overflow = State {
            occasion: Occasion::Overflow,
            ..off.clone()
        };
        assert!(plan(&window(), &overflow).contains(&Step::Compact(Layer::Summarize)));
        let manual = State {
            occasion: Occasion::Manual(Layer::Summarize),
            context: Tokens(10),
            ..off
        };
        assert!(plan(&window(), &manual).contains(&Step::Compact(Layer::Summarize)));
    }

    #[test]
    fn a_read_only_sandbox_writes_nothing() {
        let state = State {
            limits: Limits {
                read_only: true,
                ..state(0).limits
            },
            ..with_output(199_000)
        };
        assert_eq!(
            plan(&window(), &state),
            [Step::Gauge, Step::Blocked(Block::ReadOnly)]
        );
    }

    fn in_use(prune: bool, summarize: bool, full: bool) -> Limits {
        Limits {
            layers: Layers {
                prune,
                summarize,
                full,
            },
            ..state(0).limits
        }
    }

    #[test]
    fn the_layers_in_use_take_the_place_of_those_left_out() {
        use Step::{Blocked, Checkpoint, Compact, Flush, Gauge, Notify};
        let table: [(Limits, State, &[Step]); 6] = [
            // Without layer 1, layer 2 comes first.
            (
                in_use(false, true, true),
                with_output(177_000),
                &[Gauge, Checkpoint, Flush, Compact(Layer::Summarize)],
            ),
            (
                in_use(false, true, true),
                with_output(160_000),
                &[Gauge, Checkpoint],
            ),
            // Without layer 2, layer 3 begins where it would have begun.
            (
                in_use(true, false, true),
                state(177_000),
                &[Gauge, Checkpoint, Flush, Notify, Compact(Layer::Full)],
            ),
            // Without layer 3, the others do what they can.
            (
                in_use(true, true, false),
                with_output(195_000),
                &[Gauge, Checkpoint, Compact(Layer::Prune)],
            ),
            // Without any summary, tool output is hidden and it is said.
            (
                in_use(true, false, false),
                with_output(195_000),
                &[Gauge, Checkpoint, Compact(Layer::Prune)],
            ),
            (
                in_use(false, false, false),
                with_output(195_000),
                &[Gauge, Checkpoint, Blocked(Block::Layers)],
            ),
        ];
        for (limits, at, expected) in table {
            let state = State { limits, ..at };
            assert_eq!(plan(&window(), &state), expected, "{:?}", limits.layers);
        }
    }

    #[test]
    fn with_no_layer_in_use_an_overflow_is_trimmed_and_a_person_is_obeyed() {
        let state = State {
            limits: in_use(false, false, false),
            occasion: Occasion::Overflow,
            checkpointed: true,
            flushed_epoch: Some(0),
            ..state(199_000)
        };
        assert_eq!(
            plan(&window(), &state),
            [Step::Gauge, Step::Compact(Layer::Emergency)]
        );
        let asked = State {
            occasion: Occasion::Manual(Layer::Summarize),
            ..state
        };
        assert_eq!(
            plan(&window(), &asked),
            [Step::Gauge, Step::Compact(Layer::Summarize)]
        );
    }

    proptest! {
        #[test]
        fn a_layer_left_out_is_never_carried_out(
            context in 0u32..300_000,
            (output, prunable) in (0u32..200_000, 0u32..100_000),
            (prune, summarize, full) in any::<(bool, bool, bool)>(),
            (overflow, cold, auto_enabled, breaker_open) in any::<(bool, bool, bool, bool)>(),
            (epoch, lossy) in (0u32..7, 0u32..7),
            tried in proptest::sample::subsequence(vec![Layer::Prune, Layer::Summarize, Layer::Full], 0..=3),
        ) {
            let limits = Limits { auto_enabled, breaker_open, ..in_use(prune, summarize, full) };
            let state = State {
                occasion: if overflow { Occasion::Overflow } else { Occasion::Threshold },
                tool_output: Tokens(output),
                prunable: Tokens(prunable),
                cold,
                epoch,
                lossy,
                tried,
                limits,
                ..state(context)
            };
            let steps = plan(&window(), &state);
            for step in &steps {
                if let Step::Compact(layer) = step {
                    prop_assert!(limits.layers.allow(*layer), "{layer} of {:?}", limits.layers);
                }
            }
            // An overflow never goes unanswered.
            if overflow {
                let answered = |step: &Step| matches!(step, Step::Compact(_) | Step::Blocked(_));
                prop_assert!(steps.iter().any(answered), "{steps:?}");
            }
        }

        #[test]
        fn every_climb_ends(
            context in 0u32..300_000,
            output in 0u32..200_000,
            prunable in 0u32..100_000,
            stuck in any::<bool>(),
            (prune, summarize, full) in any::<(bool, bool, bool)>(),
        ) {
            let limits = in_use(prune, summarize, full);
            let mut state = State { tool_output: Tokens(output), prunable: Tokens(prunable), limits, ..state(context) };
            let mut compactions = 0;
            loop {
                let steps = plan(&window(), &state);
                let Some(Step::Compact(layer)) = steps.iter().find(|s| matches!(s, Step::Compact(_))) else { break };
                compactions += 1;
                prop_assert!(compactions <= 3, "{:?}", state.tried);
                prop_assert!(steps.iter().filter(|s| **s == Step::Flush).count() <= 1);
                state.tried.push(*layer);
                if *layer == Layer::Prune {
                    state.context -= state.prunable;
                    state.prunable = Tokens::ZERO;
                } else {
                    state.epoch += 1;
                    if !stuck { state.context = Tokens(state.context.0 / 2); }
                }
            }
        }
    }
}
