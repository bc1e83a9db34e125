//! Where a context is divided, and what the part that stays may take.

use longhaul_compaction::cut::{self, CurrentTurn, Cut, Keep};
use longhaul_compaction::tail::Shortened;
use longhaul_compaction::{EmergencyStep, Layer, emergency};
use longhaul_tokens::{Estimator, Tokens, Window};
use longhaul_transcript::{ContextMessage, Conversation, Piece, Role};

use super::super::Live;
use super::request::{CompactionFailure, CompactionRequest};
use crate::measure::Meter;

impl Live {
    /// The conversation with what is shortened in it, and where it is divided.
    pub(super) fn divided(
        &self,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
        room: Tokens,
        shortened: &[Shortened],
    ) -> Result<(Conversation, Cut, Vec<String>), CompactionFailure> {
        let mut messages: Vec<Option<ContextMessage>> =
            self.messages().iter().cloned().map(Some).collect();
        for short in shortened {
            messages[short.at] = short.message.clone();
        }
        let messages = messages.into_iter().flatten().collect();
        let conversation = Conversation::new(messages);
        let sizes: Vec<Tokens> = conversation
            .pieces()
            .iter()
            .map(|piece| piece.messages().iter().map(|m| meter.message(m)).sum())
            .collect();
        match self.cut(&conversation, &sizes, request, room) {
            // All of it is recent: what is shortened is what becomes smaller.
            Err(CompactionFailure::NothingToDo) if !shortened.is_empty() => {
                let is_summary = |piece: &Piece| {
                    let mut messages = piece.messages().iter();
                    messages.all(|message| message.role == Role::CompactionSummary)
                };
                let pieces = conversation.pieces().iter();
                let first_kept = pieces.take_while(|piece| is_summary(piece)).count();
                let kept: Tokens = sizes[first_kept..].iter().copied().sum();
                if kept > room {
                    return Err(CompactionFailure::NothingToDo);
                }
                let cut = Cut {
                    first_kept,
                    splits_turn: false,
                    removed: sizes[..first_kept].iter().copied().sum(),
                    kept,
                };
                Ok((conversation, cut, Vec::new()))
            }
            divided => divided.map(|(cut, notes)| (conversation, cut, notes)),
        }
    }

    fn cut(
        &self,
        conversation: &Conversation,
        sizes: &[Tokens],
        request: &CompactionRequest<'_>,
        room: Tokens,
    ) -> Result<(Cut, Vec<String>), CompactionFailure> {
        if request.layer == Layer::Emergency {
            return match emergency(conversation, sizes, request.rules.emergency_turns) {
                EmergencyStep::KeepFrom { first_kept, kept } => Ok((
                    Cut {
                        first_kept,
                        splits_turn: false,
                        removed: sizes[..first_kept].iter().copied().sum(),
                        kept,
                    },
                    vec![
                        "the oldest turns were dropped because the context did not fit otherwise"
                            .into(),
                    ],
                )),
                EmergencyStep::Exhausted => Err(CompactionFailure::TurnTooLarge {
                    kept: sizes.iter().copied().sum(),
                }),
            };
        }
        let keep = Keep {
            protect: request.protect,
            at_most: room,
            current_turn: match request.layer {
                Layer::Full => CurrentTurn::Whole,
                _ => CurrentTurn::Ordinary,
            },
        };
        let cut = cut::find(conversation, sizes, keep).ok_or(CompactionFailure::NothingToDo)?;
        Ok((cut, Vec::new()))
    }
}

/// What the kept messages may take, so that the context ends well below the
/// threshold it started from.
pub(super) fn room(
    request: &CompactionRequest<'_>,
    summary: Tokens,
    estimator: Estimator,
) -> Tokens {
    let target = request.window.hysteresis_target();
    let room = target - request.overhead - summary;
    let room = room - allowance(request.window, estimator, room);
    // A window too small for its own reserves still keeps something.
    room.max(Tokens(request.window.size().0 / 10))
}

/// What a count may be short of the truth beyond the margin that the window
/// keeps in front of its hard threshold.
pub(crate) fn allowance(window: &Window, estimator: Estimator, counted: Tokens) -> Tokens {
    estimator.uncertainty(counted) - (window.hard() - window.activation())
}
