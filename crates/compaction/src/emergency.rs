//! Emergency: when even a compacted context is too long for the provider.
//!
//! The oldest turns, two at a time by default, leave the context, again and
//! again, until it fits or only the current turn is left. Nothing is deleted: each step is a
//! compaction entry of layer `emergency`, and what left can be recalled.

use longhaul_tokens::Tokens;
use longhaul_transcript::{Conversation, Role};

/// One step of an emergency trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmergencyStep {
    /// Keep from this piece on.
    KeepFrom {
        /// Index of the first piece that stays.
        first_kept: usize,
        /// What stays.
        kept: Tokens,
    },
    /// Nothing is left to drop: the current turn alone is too large.
    Exhausted,
}

/// Turns dropped in one step, where nobody says otherwise.
pub const EMERGENCY_TURNS: u32 = 2;

/// The next step: drop so many of the oldest turns that are not a summary. When
/// one turn is left, drop the older half of its pieces; when one piece is left,
/// give up.
pub fn emergency(conversation: &Conversation, sizes: &[Tokens], turns: u32) -> EmergencyStep {
    let at_once = usize::try_from(turns.max(1)).unwrap_or(usize::MAX);
    let pieces = conversation.pieces();
    let start = pieces
        .iter()
        .position(|piece| {
            piece
                .messages()
                .iter()
                .any(|message| message.role != Role::CompactionSummary)
        })
        .unwrap_or(pieces.len());
    let turns: Vec<usize> = conversation
        .turns()
        .into_iter()
        .filter(|turn| turn.end > start)
        .map(|turn| turn.start.max(start))
        .collect();
    let left = pieces.len() - start;
    let first_kept = match turns.len() {
        0 => return EmergencyStep::Exhausted,
        1 if left <= 1 => return EmergencyStep::Exhausted,
        1 => start + left.div_ceil(2),
        n => turns[at_once.min(n - 1)],
    };
    if first_kept <= start {
        return EmergencyStep::Exhausted;
    }
    EmergencyStep::KeepFrom {
        first_kept,
        kept: sizes[first_kept..].iter().copied().sum(),
    }
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::{ContextMessage, EntryId};

    use super::*;

    fn conversation(roles: &[&str]) -> Conversation {
        Conversation::new(
            roles
                .iter()
                .map(|role| {
                    ContextMessage::new(
                        EntryId::from("x"),
                        format!("{{\"role\":\"{role}\",\"content\":\"t\",\"summary\":\"s\"}}"),
                    )
                })
                .collect(),
        )
    }

    /// Messages left after each step from five turns on.
    fn steps(turns: u32) -> Vec<usize> {
        let mut roles = vec!["compactionSummary"];
        for _ in 0..5 {
            roles.extend(["user", "assistant"]);
        }
        let mut kept = Vec::new();
        let mut rest = roles.clone();
        loop {
            let conversation = conversation(&rest);
            let sizes = vec![Tokens(10); rest.len()];
            match emergency(&conversation, &sizes, turns) {
                EmergencyStep::KeepFrom { first_kept, .. } => {
                    let tail = rest.split_off(first_kept);
                    rest = vec!["compactionSummary"];
                    rest.extend(tail);
                    kept.push(rest.len() - 1);
                }
                EmergencyStep::Exhausted => break,
            }
        }
        kept
    }

    #[test]
    fn two_oldest_turns_go_first_and_the_current_turn_last() {
        assert_eq!(steps(EMERGENCY_TURNS), [6, 2, 1]);
    }

    #[test]
    fn more_turns_in_a_step_make_fewer_steps() {
        assert_eq!(steps(1), [8, 6, 4, 2, 1]);
        assert_eq!(steps(u32::MAX), [2, 1]);
    }
}
