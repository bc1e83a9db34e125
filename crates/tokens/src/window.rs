//! The window and its thresholds: when what happens.
//!
//! [`Window::new`] is the table of the specification, line by line. Token sizes
//! given for a window of 200,000 shrink in proportion on smaller ones and do not
//! grow on larger ones ([`Window::scaled`]).

use serde::{Deserialize, Serialize};

use crate::{Tokens, WindowError, WindowSettings};

/// The window that token sizes in settings are given for.
pub const REFERENCE_WINDOW: Tokens = Tokens(200_000);

/// How full a context is. A level begins *at* its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing to do, nothing to say.
    Calm,
    /// The gauge line is shown.
    Gauge,
    /// A checkpoint is written and tool output may be pruned.
    Checkpoint,
    /// Flush, then compaction.
    Activation,
    /// No request leaves without compaction.
    Hard,
    /// Compaction begins with layer 3 and the user is told.
    Full,
}

/// A window and its thresholds, in this order for every size and setting:
/// gauge ≤ checkpoint ≤ activation ≤ hard ≤ size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    size: Tokens,
    gauge: Tokens,
    checkpoint: Tokens,
    prune_tool_output: Tokens,
    activation: Tokens,
    hysteresis_target: Tokens,
    hard: Tokens,
    full: Tokens,
}

impl Window {
    /// The thresholds. An activation of the user's own that lies above hard is
    /// taken as hard: no request leaves above it in any case.
    pub fn new(settings: &WindowSettings) -> Result<Window, WindowError> {
        settings.check()?;
        let w = settings.window;
        let share = |fraction: f64| w.scale(fraction);
        let r = settings
            .reserve_tokens
            .max(settings.reserve_floor)
            .min(Tokens(w.0 / 4));
        let s = scaled(settings.soft_margin, w);

        let hard = w - r;
        let activation = settings
            .activation_override()
            .unwrap_or(w - r - s)
            .min(hard);
        let checkpoint =
            share(settings.checkpoint_fraction).min(activation - share(settings.checkpoint_lead));
        let gauge = share(settings.gauge_fraction).min(checkpoint - share(settings.gauge_lead));
        let full = share(settings.full_fraction);

        Ok(Window {
            size: w,
            gauge,
            checkpoint,
            prune_tool_output: scaled(settings.prune_tool_output, w),
            activation,
            hysteresis_target: activation - share(settings.hysteresis),
            hard,
            full,
        })
    }

    /// *W* itself.
    pub fn size(&self) -> Tokens {
        self.size
    }

    /// From here on the gauge line is shown.
    pub fn gauge(&self) -> Tokens {
        self.gauge
    }

    /// From here on a checkpoint is due.
    pub fn checkpoint(&self) -> Tokens {
        self.checkpoint
    }

    /// From here on durable pruning is due, if there is tool output enough; the
    /// same as [`Window::checkpoint`].
    pub fn prune(&self) -> Tokens {
        self.checkpoint
    }

    /// How much tool output must be there for pruning: more than this.
    pub fn prune_tool_output(&self) -> Tokens {
        self.prune_tool_output
    }

    /// From here on the context is compacted.
    pub fn activation(&self) -> Tokens {
        self.activation
    }

    /// A ladder stops once the context is below this, so that the next message
    /// does not start it again.
    pub fn hysteresis_target(&self) -> Tokens {
        self.hysteresis_target
    }

    /// No request leaves above this.
    pub fn hard(&self) -> Tokens {
        self.hard
    }

    /// The share of the window at which layer 3 begins. Above 400,000 tokens it
    /// lies below hard, where it would always shadow layer 2; [`Level::Full`]
    /// therefore begins at the larger of the two.
    pub fn full(&self) -> Tokens {
        self.full
    }

    /// Whether a context may leave as a request.
    pub fn admits(&self, context: Tokens) -> bool {
        context <= self.hard
    }

    /// Whether durable pruning is due.
    pub fn prunes(&self, context: Tokens, tool_output: Tokens) -> bool {
        context >= self.prune() && tool_output > self.prune_tool_output
    }

    /// The share of the window in use; above 1 when it overflows.
    pub fn fullness(&self, context: Tokens) -> f64 {
        context.share_of(self.size)
    }

    /// The highest threshold a context has reached.
    pub fn level(&self, context: Tokens) -> Level {
        let thresholds = [
            (Level::Full, self.full.max(self.hard)),
            (Level::Hard, self.hard),
            (Level::Activation, self.activation),
            (Level::Checkpoint, self.checkpoint),
            (Level::Gauge, self.gauge),
        ];
        thresholds
            .into_iter()
            .find(|(_, threshold)| context >= *threshold)
            .map_or(Level::Calm, |(level, _)| level)
    }

    /// A token size given for a window of 200,000, for this window: smaller in
    /// proportion, never larger.
    pub fn scaled(&self, at_reference: Tokens) -> Tokens {
        scaled(at_reference, self.size)
    }
}

fn scaled(at_reference: Tokens, window: Tokens) -> Tokens {
    let proportional =
        u64::from(at_reference.0) * u64::from(window.0) / u64::from(REFERENCE_WINDOW.0);
    at_reference.min(Tokens(u32::try_from(proportional).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn window(size: u32) -> Window {
        Window::new(&WindowSettings::of(Tokens(size))).unwrap()
    }

    #[test]
    fn thresholds_are_those_of_the_table() {
        #[rustfmt::skip]
        let table = [
            //        W,    gauge, checkpoint, prune >, activation,  target,    hard,    full
            (    8_192,    4_752,      5_571,   2_048,      5_981,   5_571,   6_144,   7_782),
            (   32_768,   19_006,     22_283,   8_192,     23_921,  22_283,  24_576,  31_130),
            (  128_000,   86_240,     99_040,  32_000,    105_440,  99_040, 108_000, 121_600),
            (  200_000,  140_000,    160_000,  50_000,    176_000, 166_000, 180_000, 190_000),
            (1_000_000,  700_000,    800_000,  50_000,    976_000, 926_000, 980_000, 950_000),
        ];
        for (size, gauge, checkpoint, prune, activation, target, hard, full) in table {
            let expected = Window {
                size: Tokens(size),
                gauge: Tokens(gauge),
                checkpoint: Tokens(checkpoint),
                prune_tool_output: Tokens(prune),
                activation: Tokens(activation),
                hysteresis_target: Tokens(target),
                hard: Tokens(hard),
                full: Tokens(full),
            };
            assert_eq!(window(size), expected);
        }
    }

    #[test]
    fn activation_can_be_set_by_percentage_or_tokens() {
        let activation = |percent, tokens: Option<u32>| {
            let settings = WindowSettings {
                auto_threshold_percent: percent,
                trigger_tokens: tokens.map(Tokens),
                ..WindowSettings::default()
            };
            let window = Window::new(&settings).unwrap();
            (
                window.activation().0,
                window.checkpoint().0,
                window.gauge().0,
            )
        };
        assert_eq!(activation(Some(88.0), None), (176_000, 160_000, 140_000));
        assert_eq!(activation(None, Some(150_000)), (150_000, 140_000, 120_000));
        assert_eq!(
            activation(Some(88.0), Some(150_000)),
            (150_000, 140_000, 120_000)
        );
        assert_eq!(activation(Some(99.0), None), (180_000, 160_000, 140_000));
        assert_eq!(activation(None, Some(5_000)), (5_000, 0, 0));
    }

    #[test]
    fn levels_begin_at_their_thresholds() {
        let window = window(200_000);
        let cases = [
            (0, Level::Calm),
            (139_999, Level::Calm),
            (140_000, Level::Gauge),
            (160_000, Level::Checkpoint),
            (176_000, Level::Activation),
            (180_000, Level::Hard),
            (190_000, Level::Full),
            (u32::MAX, Level::Full),
        ];
        for (context, level) in cases {
            assert_eq!(window.level(Tokens(context)), level, "{context}");
        }
        assert_eq!(window.fullness(Tokens(162_000)), 0.81);
        assert!(window.admits(Tokens(180_000)) && !window.admits(Tokens(180_001)));
        assert!(window.prunes(Tokens(160_000), Tokens(50_001)));
        assert!(!window.prunes(Tokens(160_000), Tokens(50_000)));
    }

    #[test]
    fn layer_two_is_not_shadowed_on_large_windows() {
        let window = window(1_000_000);
        assert_eq!(window.level(Tokens(960_000)), Level::Checkpoint);
        assert_eq!(window.level(Tokens(976_000)), Level::Activation);
        assert_eq!(window.level(Tokens(980_000)), Level::Full);
    }

    #[test]
    fn sizes_shrink_with_the_window_but_do_not_grow() {
        assert_eq!(window(100_000).scaled(Tokens(40_000)), Tokens(20_000));
        assert_eq!(window(1_000_000).scaled(Tokens(40_000)), Tokens(40_000));
        assert_eq!(window(1_000_000).scaled(Tokens::MAX), Tokens::MAX);
    }

    fn fraction() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0]
    }

    prop_compose! {
        fn settings()(
            window in 1_024..=u32::MAX,
            reserves in any::<(u32, u32, u32, u32)>(),
            fractions in proptest::array::uniform6(fraction()),
            auto_threshold_percent in proptest::option::of(0.001..=100.0),
            trigger_tokens in proptest::option::of(1..=u32::MAX),
        ) -> WindowSettings {
            WindowSettings {
                window: Tokens(window),
                reserve_tokens: Tokens(reserves.0),
                reserve_floor: Tokens(reserves.1),
                soft_margin: Tokens(reserves.2),
                prune_tool_output: Tokens(reserves.3),
                gauge_fraction: fractions[0],
                gauge_lead: fractions[1],
                checkpoint_fraction: fractions[2],
                checkpoint_lead: fractions[3],
                full_fraction: fractions[4],
                hysteresis: fractions[5],
                auto_threshold_percent,
                trigger_tokens: trigger_tokens.map(Tokens),
            }
        }
    }

    fn in_order(window: &Window) -> bool {
        window.gauge <= window.checkpoint
            && window.checkpoint <= window.activation
            && window.hysteresis_target <= window.activation
            && window.activation <= window.hard
            && window.hard <= window.size
            && window.full <= window.size
    }

    proptest! {
        #[test]
        fn thresholds_are_in_order_for_every_setting(settings in settings()) {
            prop_assert!(in_order(&Window::new(&settings).unwrap()));
        }

        #[test]
        fn thresholds_are_in_order_for_every_size(size in 1_024..=4_000_000_u32) {
            let window = window(size);
            prop_assert!(in_order(&window));
            prop_assert!(window.gauge > Tokens::ZERO);
        }

        #[test]
        fn a_larger_context_is_never_on_a_lower_level(
            settings in settings(),
            contexts in any::<(u32, u32)>(),
        ) {
            let window = Window::new(&settings).unwrap();
            let (a, b) = (contexts.0.min(contexts.1), contexts.0.max(contexts.1));
            prop_assert!(window.level(Tokens(a)) <= window.level(Tokens(b)));
        }
    }
}
