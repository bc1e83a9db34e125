//! Cut points: where a compaction may divide a conversation.
//!
//! A cut keeps whole exchanges: a tool call never loses its result, because a
//! provider answers such a request with an error for ever after. When one turn
//! alone outgrows what may be kept we cut inside it, between rounds, and say so.

use longhaul_tokens::Tokens;
use longhaul_transcript::{Conversation, Piece};

/// How much a cut keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// The end of the conversation that stays verbatim.
    pub protect: Tokens,
    /// What may stay at the most, so that the context fits afterwards.
    pub at_most: Tokens,
    /// Whether the current turn should stay whole if it fits.
    pub current_turn: CurrentTurn,
}

/// What a cut does with the turn that is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurrentTurn {
    /// It is a turn like the others.
    Ordinary,
    /// It stays whole if it fits.
    Whole,
}

/// A place to divide a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Index of the first piece that stays; the number of pieces if none does.
    pub first_kept: usize,
    /// Whether a turn is divided.
    pub splits_turn: bool,
    /// Tokens before the cut.
    pub removed: Tokens,
    /// Tokens after it.
    pub kept: Tokens,
}

/// Finds the cut: as little as protects the tail, at a turn's start if that
/// still fits, else between two pieces. `None` when there is nothing to remove.
pub fn find(conversation: &Conversation, sizes: &[Tokens], keep: Keep) -> Option<Cut> {
    let pieces = conversation.pieces();
    let turns = conversation.turns();
    let tail = |from: usize| -> Tokens { sizes[from..].iter().copied().sum() };
    let mut first = protected_start(sizes, keep);
    if keep.current_turn == CurrentTurn::Whole
        && let Some(turn) = turns.last()
        && turn.start < first
        && tail(turn.start) <= keep.at_most
    {
        first = turn.start;
    }
    if let Some(turn) = turns.iter().find(|turn| turn.contains(&first))
        && turn.start < first
    {
        // Keeping the whole turn is better than dividing it, but not at the price
        // of a context that is larger after one compaction than after another.
        let slack = Tokens(keep.protect.0.saturating_add(keep.protect.0 / 8));
        let whole = tail(turn.start);
        if whole <= keep.at_most && whole <= slack.max(keep.protect) {
            first = turn.start;
        }
    }
    if first == 0 || is_only_summary(&pieces[..first]) {
        return None;
    }
    let at_turn_start = first == pieces.len() || turns.iter().any(|turn| turn.start == first);
    Some(Cut {
        first_kept: first,
        splits_turn: !at_turn_start,
        removed: sizes[..first].iter().copied().sum(),
        kept: tail(first),
    })
}

/// The start of the shortest tail that holds the protected tokens, moved on as
/// far as needed for the tail to fit at all.
fn protected_start(sizes: &[Tokens], keep: Keep) -> usize {
    let mut first = sizes.len();
    let mut kept = Tokens::ZERO;
    while first > 0 && kept < keep.protect {
        let next = kept + sizes[first - 1];
        if next > keep.at_most {
            break;
        }
        first -= 1;
        kept = next;
    }
    first
}

/// A summary alone is nothing to summarise again.
fn is_only_summary(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| match piece {
        Piece::Message(message) => matches!(
            message.role,
            longhaul_transcript::Role::CompactionSummary | longhaul_transcript::Role::System
        ),
        Piece::Exchange(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::{ContextMessage, EntryId};
    use proptest::prelude::*;

    use super::*;

    fn user(n: usize) -> ContextMessage {
        ContextMessage::new(
            EntryId::new(format!("u{n}")),
            format!("{{\"role\":\"user\",\"content\":\"{n}\"}}"),
        )
    }

    fn call(n: usize) -> [ContextMessage; 2] {
        [
            ContextMessage::new(
                EntryId::new(format!("a{n}")),
                format!(
                    "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"toolCall\",\"id\":\"c{n}\",\"name\":\"bash\",\"arguments\":{{}}}}]}}"
                ),
            ),
            ContextMessage::new(
                EntryId::new(format!("r{n}")),
                format!(
                    "{{\"role\":\"toolResult\",\"toolCallId\":\"c{n}\",\"toolName\":\"bash\",\"content\":[],\"isError\":false}}"
                ),
            ),
        ]
    }

    /// `shape` is one number a turn: how many exchanges it has.
    fn conversation(shape: &[usize]) -> Conversation {
        let mut messages = Vec::new();
        let mut n = 0;
        for exchanges in shape {
            messages.push(user(n));
            for _ in 0..*exchanges {
                n += 1;
                messages.extend(call(n));
            }
            n += 1;
        }
        Conversation::new(messages)
    }

    fn keep(protect: u32, at_most: u32) -> Keep {
        Keep {
            protect: Tokens(protect),
            at_most: Tokens(at_most),
            current_turn: CurrentTurn::Ordinary,
        }
    }

    fn sizes(conversation: &Conversation, each: u32) -> Vec<Tokens> {
        vec![Tokens(each); conversation.pieces().len()]
    }

    #[test]
    fn the_cut_is_at_a_turn_start_when_the_turn_is_not_much_larger_than_the_tail() {
        let conversation = conversation(&[10, 10, 10]);
        let sizes = sizes(&conversation, 10);
        let cut = find(&conversation, &sizes, keep(100, 1000)).unwrap();
        assert_eq!((cut.first_kept, cut.splits_turn), (22, false));
        assert_eq!((cut.removed, cut.kept), (Tokens(220), Tokens(110)));
        let cut = find(&conversation, &sizes, keep(90, 1000)).unwrap();
        assert_eq!((cut.first_kept, cut.splits_turn), (24, true));
    }

    #[test]
    fn one_long_turn_is_divided_between_rounds_and_says_so() {
        let conversation = conversation(&[20]);
        let cut = find(&conversation, &sizes(&conversation, 10), keep(50, 1000)).unwrap();
        assert_eq!((cut.first_kept, cut.splits_turn), (16, true));
    }

    #[test]
    fn the_current_turn_stays_whole_if_it_fits() {
        let conversation = conversation(&[5, 10]);
        let whole = Keep {
            current_turn: CurrentTurn::Whole,
            ..keep(20, 200)
        };
        let cut = find(&conversation, &sizes(&conversation, 10), whole).unwrap();
        assert_eq!((cut.first_kept, cut.splits_turn), (6, false));
    }

    #[test]
    fn a_piece_larger_than_all_that_fits_is_removed_whole() {
        let conversation = conversation(&[1, 1]);
        let cut = find(
            &conversation,
            &[Tokens(5), Tokens(5), Tokens(5), Tokens(900)],
            keep(20, 100),
        );
        assert_eq!(cut.map(|cut| cut.first_kept), Some(4));
    }

    #[test]
    fn nothing_is_cut_when_all_of_it_is_protected() {
        let conversation = conversation(&[2]);
        assert_eq!(
            find(&conversation, &sizes(&conversation, 1), keep(100, 1000)),
            None
        );
    }

    proptest! {
        #[test]
        fn what_is_kept_fits_and_holds_the_protected_tail_if_it_can(
            shape in prop::collection::vec(0usize..6, 1..12),
            each in prop::collection::vec(1u32..500, 80),
            protect in 1u32..2000,
            at_most in 1u32..4000,
        ) {
            let conversation = conversation(&shape);
            let sizes: Vec<Tokens> = each.iter().take(conversation.pieces().len()).map(|n| Tokens(*n)).collect();
            prop_assume!(sizes.len() == conversation.pieces().len());
            let total: Tokens = sizes.iter().copied().sum();
            if let Some(cut) = find(&conversation, &sizes, keep(protect, at_most)) {
                prop_assert!(cut.kept <= Tokens(at_most));
                prop_assert_eq!(cut.kept + cut.removed, total);
                prop_assert!(cut.first_kept > 0);
                // One piece more would not fit, or the tail is protected.
                prop_assert!(cut.kept >= Tokens(protect.min(at_most)).min(total)
                    || cut.kept + sizes[cut.first_kept - 1] > Tokens(at_most));
            }
        }
    }
}
