//! What a user can set about the window, and what no window can be made from.

use serde::{Deserialize, Serialize};

use crate::{DEFAULT_WINDOW, Tokens};

/// Below this no conversation fits beside its own system prompt.
pub const SMALLEST_WINDOW: Tokens = Tokens(1_024);

/// Everything the thresholds depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WindowSettings {
    /// *W*: the model's window.
    pub window: Tokens,
    /// Kept free for the answer.
    pub reserve_tokens: Tokens,
    /// The reserve is never below this; both are capped at a quarter of *W*.
    pub reserve_floor: Tokens,
    /// *S*: activation comes this much before hard. For 200,000; scaled.
    pub soft_margin: Tokens,
    /// Tool output above which pruning pays. For 200,000; scaled.
    pub prune_tool_output: Tokens,
    /// Gauge threshold as a share of *W*.
    pub gauge_fraction: f64,
    /// The gauge comes at least this share of *W* before the checkpoint.
    pub gauge_lead: f64,
    /// Checkpoint threshold as a share of *W*.
    pub checkpoint_fraction: f64,
    /// The checkpoint comes at least this share of *W* before activation.
    pub checkpoint_lead: f64,
    /// Where layer 3 begins, as a share of *W*.
    pub full_fraction: f64,
    /// A ladder stops this share of *W* below activation.
    pub hysteresis: f64,
    /// Activation as a percentage of *W*, in place of *W* − *R* − *S*.
    pub auto_threshold_percent: Option<f64>,
    /// Activation in tokens, in place of *W* − *R* − *S*. Where a percentage is
    /// set too, the smaller counts.
    pub trigger_tokens: Option<Tokens>,
}

impl WindowSettings {
    /// The defaults for a window of this size.
    pub fn of(window: Tokens) -> WindowSettings {
        WindowSettings {
            window,
            ..WindowSettings::default()
        }
    }

    pub(crate) fn check(&self) -> Result<(), WindowError> {
        if self.window < SMALLEST_WINDOW {
            return Err(WindowError::TooSmall {
                window: self.window,
            });
        }
        let shares = [
            ("gaugeFraction", self.gauge_fraction),
            ("gaugeLead", self.gauge_lead),
            ("checkpointFraction", self.checkpoint_fraction),
            ("checkpointLead", self.checkpoint_lead),
            ("fullFraction", self.full_fraction),
            ("hysteresis", self.hysteresis),
        ];
        for (name, value) in shares {
            if !(0.0..=1.0).contains(&value) {
                return Err(WindowError::NotAShare { name, value });
            }
        }
        match self.auto_threshold_percent {
            Some(percent) if !(percent > 0.0 && percent <= 100.0) => {
                Err(WindowError::NotAPercentage { percent })
            }
            _ if self.trigger_tokens == Some(Tokens::ZERO) => Err(WindowError::ZeroTrigger),
            _ => Ok(()),
        }
    }

    /// The user's own activation threshold, if there is one.
    pub(crate) fn activation_override(&self) -> Option<Tokens> {
        let by_percent = self
            .auto_threshold_percent
            .map(|p| self.window.scale(p / 100.0));
        [by_percent, self.trigger_tokens]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Default for WindowSettings {
    fn default() -> WindowSettings {
        WindowSettings {
            window: DEFAULT_WINDOW,
            reserve_tokens: Tokens(16_384),
            reserve_floor: Tokens(20_000),
            soft_margin: Tokens(4_000),
            prune_tool_output: Tokens(50_000),
            gauge_fraction: 0.70,
            gauge_lead: 0.10,
            checkpoint_fraction: 0.80,
            checkpoint_lead: 0.05,
            full_fraction: 0.95,
            hysteresis: 0.05,
            auto_threshold_percent: None,
            trigger_tokens: None,
        }
    }
}

/// Settings that no window can be made from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WindowError {
    /// Nothing useful fits.
    #[error(
        "a context window of {window} tokens is too small; \
         set it to what the model accepts, at least 1,024"
    )]
    TooSmall {
        /// What was set.
        window: Tokens,
    },
    /// A share of the window outside of it.
    #[error("{name} is a share of the window, between 0 and 1; {value} is not")]
    NotAShare {
        /// The setting.
        name: &'static str,
        /// What was set.
        value: f64,
    },
    /// An activation threshold outside the window.
    #[error("autoThresholdPercent is above 0 and at most 100; {percent} is not")]
    NotAPercentage {
        /// What was set.
        percent: f64,
    },
    /// Every request would compact.
    #[error(
        "triggerTokens is 0, which would compact before every request; \
         unset it to use the default, or set autoEnabled to false to switch compaction off"
    )]
    ZeroTrigger,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Window;

    #[test]
    fn impossible_settings_are_refused_with_advice() {
        let refused = |settings: WindowSettings| Window::new(&settings).unwrap_err().to_string();
        assert_eq!(
            refused(WindowSettings::of(Tokens(0))),
            "a context window of 0 tokens is too small; \
             set it to what the model accepts, at least 1,024"
        );
        assert!(Window::new(&WindowSettings::of(SMALLEST_WINDOW)).is_ok());
        for percent in [0.0, -1.0, 100.1, f64::NAN, f64::INFINITY] {
            let auto_threshold_percent = Some(percent);
            let settings = WindowSettings {
                auto_threshold_percent,
                ..Default::default()
            };
            assert!(refused(settings).starts_with("autoThresholdPercent"));
        }
        let settings = WindowSettings {
            gauge_fraction: 70.0,
            ..Default::default()
        };
        assert_eq!(
            refused(settings),
            "gaugeFraction is a share of the window, between 0 and 1; 70 is not"
        );
        let settings = WindowSettings {
            trigger_tokens: Some(Tokens(0)),
            ..Default::default()
        };
        assert!(refused(settings).starts_with("triggerTokens is 0"));
    }
}
