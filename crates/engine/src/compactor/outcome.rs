//! What a layer is asked to do, and what came of it.

use longhaul_compaction::{Layer, Trigger};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, EntryId};

use crate::checkpoints::Restoration;
use crate::event::CompactedEvent;
use crate::live::Pruned;
use crate::measure::Size;
use longhaul_compaction::compact::{Compacted, CompactionFailure, Removed};

/// What came of a layer.
#[derive(Debug)]
pub enum Outcome {
    /// The entry is written.
    Made(Box<Made>),
    /// Tool output is hidden.
    Pruned(Pruned),
    /// There was nothing to do.
    Nothing,
    /// It was asked for, and would have made the context grow.
    Refused(CompactionFailure),
    /// It failed; the session is as it was.
    Failed(String),
}

/// A compaction that was made.
#[derive(Debug)]
pub struct Made {
    /// Its numbers, as they were told.
    pub event: CompactedEvent,
    /// What left the context.
    pub removed: Removed,
    /// The summary.
    pub summary: String,
    /// What the next context carries.
    pub restored: Restoration,
}

impl Made {
    pub(super) fn of(
        asked: Asked<'_>,
        compacted: Compacted,
        entry: EntryId,
        epoch: u32,
        tokens_after: Tokens,
    ) -> Made {
        Made {
            event: CompactedEvent {
                entry,
                epoch,
                layer: asked.layer,
                trigger: asked.trigger,
                checkpoint: String::new(),
                tokens_before: asked.size.tokens,
                tokens_after,
                messages_compacted: compacted.removed.messages,
                messages_kept: compacted.kept_messages,
                summarizer: compacted.summarizer,
                milliseconds: 0.0,
                splits_turn: compacted.splits_turn,
                fidelity: compacted.fidelity,
                notes: compacted.notes,
            },
            removed: compacted.removed,
            summary: match compacted.draft {
                Draft::Compaction { summary, .. } => summary,
                _ => String::new(),
            },
            restored: Restoration::default(),
        }
    }
}

/// What a layer is asked to do.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) layer: Layer,
    pub(super) trigger: Trigger,
    pub(super) focus: Option<&'a str>,
    pub(super) size: Size,
}
