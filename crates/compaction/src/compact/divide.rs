//! Where a context is divided, and what the part that stays may take.

use longhaul_tokens::{Estimator, Tokens, Window};
use longhaul_transcript::{ContextMessage, Conversation, Piece, Role};

use super::request::{CompactionFailure, CompactionRequest, Tail};
use super::work::Work;
use crate::cut::{self, CurrentTurn, Cut, Keep};
use crate::emergency::{EmergencyStep, emergency};
use crate::tail::{Shortened, shorten};
use crate::terms::Layer;

/// Counts a message.
pub(super) type Size<'a> = dyn FnMut(&ContextMessage) -> Tokens + 'a;

/// A conversation and where it is divided.
pub(super) struct Divided {
    pub(super) conversation: Conversation,
    pub(super) cut: Cut,
    /// What of its end is shortened.
    pub(super) shortened: Vec<Shortened>,
}

impl Work<'_> {
    /// The conversation, divided, so that what stays fits into `room`.
    pub(super) fn divided(
        &self,
        size: &mut Size<'_>,
        request: &CompactionRequest<'_>,
        room: Tokens,
    ) -> Result<Divided, CompactionFailure> {
        let shortened = match request.tail {
            Tail::Shortened => {
                let tail = request.protect.min(room);
                shorten(self.messages, tail, self.estimator.counter(), size)
            }
            Tail::Whole => Vec::new(),
        };
        // Where all of it is recent, and too much even so, less of it stays.
        let shares: &[u32] = match shortened.is_empty() {
            true => &[1],
            false => &[1, 2, 4, 8],
        };
        for share in shares {
            let protect = Tokens(request.protect.0 / share);
            match self.divided_at(size, request, protect, room, &shortened) {
                Ok((conversation, cut)) => {
                    return Ok(Divided {
                        conversation,
                        cut,
                        shortened,
                    });
                }
                Err(failure) if *share == 1 && failure != CompactionFailure::NothingToDo => {
                    return Err(failure);
                }
                Err(_) => {}
            }
        }
        let (conversation, cut) = self.divided_at(size, request, request.protect, room, &[])?;
        Ok(Divided {
            conversation,
            cut,
            shortened: Vec::new(),
        })
    }

    /// The conversation with what is shortened in it, and where it is divided.
    fn divided_at(
        &self,
        size: &mut Size<'_>,
        request: &CompactionRequest<'_>,
        protect: Tokens,
        room: Tokens,
        shortened: &[Shortened],
    ) -> Result<(Conversation, Cut), CompactionFailure> {
        let mut messages: Vec<Option<ContextMessage>> =
            self.messages.iter().cloned().map(Some).collect();
        for short in shortened {
            messages[short.at] = short.message.clone();
        }
        let conversation = Conversation::new(messages.into_iter().flatten().collect());
        let pieces = conversation.pieces();
        let sizes: Vec<Tokens> = pieces
            .iter()
            .map(|piece| piece.messages().iter().map(&mut *size).sum())
            .collect();
        let at = |first_kept: usize| Cut {
            first_kept,
            splits_turn: false,
            removed: sizes[..first_kept].iter().copied().sum(),
            kept: sizes[first_kept..].iter().copied().sum(),
        };
        if request.layer == Layer::Emergency {
            return match emergency(&conversation, &sizes, request.rules.emergency_turns) {
                EmergencyStep::KeepFrom { first_kept, .. } => {
                    let cut = at(first_kept);
                    Ok((conversation, cut))
                }
                EmergencyStep::Exhausted => Err(CompactionFailure::TurnTooLarge {
                    kept: sizes.iter().copied().sum(),
                }),
            };
        }
        let keep = Keep {
            protect,
            at_most: room,
            current_turn: match request.layer {
                Layer::Full => CurrentTurn::Whole,
                _ => CurrentTurn::Ordinary,
            },
        };
        let cut = cut::find(&conversation, &sizes, keep).or_else(|| {
            // All of it is recent: what is shortened is what becomes smaller.
            let is_summary = |piece: &&Piece| {
                let mut messages = piece.messages().iter();
                messages.all(|message| message.role == Role::CompactionSummary)
            };
            let cut = at(pieces.iter().take_while(is_summary).count());
            (!shortened.is_empty() && cut.kept <= room).then_some(cut)
        });
        Ok((conversation, cut.ok_or(CompactionFailure::NothingToDo)?))
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
pub fn allowance(window: &Window, estimator: Estimator, counted: Tokens) -> Tokens {
    estimator.uncertainty(counted) - (window.hard() - window.activation())
}
