//! What the configuration says about checkpoints, as the rooms below take it.

use longhaul_checkpoint::Policy;
use longhaul_ledger::Capture;

use crate::config::Config;

impl Config {
    /// Which checkpoints are written and kept.
    pub fn checkpoint_policy(&self) -> Policy {
        Policy {
            minimum_change_percent: self.checkpoint.minimum_change_percent,
            keep: self.checkpoint.keep,
            capture: self.state_capture(),
        }
    }

    /// How much of a session a checkpoint holds.
    pub fn state_capture(&self) -> Capture {
        let state = &self.checkpoint.state;
        let number = |count: u32| count as usize;
        Capture {
            decisions: number(state.decisions),
            exchanges: number(state.exchanges),
            tools: number(state.tools),
            files: number(state.files),
            exchange_chars: number(state.exchange_chars),
            recent_pairs: number(state.recent_pairs),
            short_reply_chars: number(state.short_message_chars),
            long_answer_chars: number(state.long_answer_chars),
        }
    }

    /// Whether compactions and thresholds write checkpoints by themselves.
    pub fn writes_checkpoints(&self) -> bool {
        self.checkpoint.enabled && !self.sandbox.read_only
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_about_the_state_is_what_is_captured() {
        assert_eq!(Config::default().state_capture(), Capture::default());
        assert_eq!(Config::default().checkpoint_policy(), Policy::default());
        let mut config = Config::default();
        let state = &mut config.checkpoint.state;
        state.decisions = 1;
        state.exchanges = 2;
        state.tools = 3;
        state.files = 4;
        state.exchange_chars = 5;
        state.recent_pairs = 6;
        state.short_message_chars = 7;
        state.long_answer_chars = 8;
        let capture = Capture {
            decisions: 1,
            exchanges: 2,
            tools: 3,
            files: 4,
            exchange_chars: 5,
            recent_pairs: 6,
            short_reply_chars: 7,
            long_answer_chars: 8,
        };
        assert_eq!(config.state_capture(), capture);
        assert_eq!(config.checkpoint_policy().capture, capture);
    }
}
