//! Replacing the older part of a context by a summary.

use std::collections::{BTreeSet, HashSet};

use longhaul_compaction::audit::audit;
use longhaul_compaction::cut::Cut;
use longhaul_compaction::summary::{
    Extractive, Limits, Material, Previous, Span, Split, Summarizer, summarize,
};
use longhaul_compaction::tail::shorten;
use longhaul_tokens::{ContentKind, Tokens};
use longhaul_transcript::{ContextMessage, Draft, EntryId, Piece, Role};
use serde_json::json;

use super::super::{Live, pack};
use super::carry::{pinned_text, previous};
use super::divide::room;
use super::request::{Compacted, CompactionFailure, CompactionRequest, Removed, Tail};
use crate::measure::{Meter, unasked_note};
use crate::recall::message_text;

impl Live {
    /// Layers 2, 3 and emergency: replaces the older part by a summary whose
    /// prose is extracted.
    pub fn compact(
        &self,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        self.compact_with(&mut Extractive, meter, request)
    }

    /// The same, with prose by another summarizer.
    pub fn compact_with(
        &self,
        summarizer: &mut dyn Summarizer,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        let counter = meter.estimator().counter();
        let limits = Limits::new(request.window, request.layer, &request.rules.summary);
        let room = room(request, limits.total, meter.estimator());
        let shortened = match request.tail {
            Tail::Shortened => {
                let tail = request.protect.min(room);
                let mut size = |message: &ContextMessage| meter.message(message);
                shorten(self.messages(), tail, counter, &mut size)
            }
            Tail::Whole => Vec::new(),
        };
        let divided = self.divided(meter, request, room, &shortened);
        let (divided, shortened) = match divided {
            // All of it is recent, and too much even so: less of it stays.
            Err(CompactionFailure::NothingToDo) if !shortened.is_empty() => {
                let less = [2, 4, 8].into_iter().find_map(|share| {
                    let protect = Tokens(request.protect.0 / share);
                    let request = CompactionRequest {
                        protect,
                        ..*request
                    };
                    self.divided(meter, &request, room, &shortened).ok()
                });
                match less {
                    Some(divided) => (divided, shortened),
                    None => (self.divided(meter, request, room, &[])?, Vec::new()),
                }
            }
            divided => (divided?, shortened),
        };
        let (conversation, cut, mut notes) = divided;
        let orphans = conversation.orphans().len();
        notes.extend((orphans > 0).then(|| unasked_note(orphans)));

        let (removed, kept) = conversation.pieces().split_at(cut.first_kept);
        let removed: Vec<ContextMessage> = flatten(removed);
        let kept: Vec<ContextMessage> = flatten(kept);
        let first_kept = kept.first().map(|message| message.entry.clone());
        let pins = self.pins_to_carry(&kept);
        let pinned = pinned_text(pins.clone(), counter, room)?;
        let staying: HashSet<&EntryId> = kept.iter().map(|message| &message.entry).collect();
        let from = self.messages().iter();
        let from = from
            .map(|message| &message.entry)
            .position(|entry| Some(entry) == first_kept.as_ref());
        let edits: Vec<Draft> = shortened
            .iter()
            .filter(|short| from.is_some_and(|from| short.at >= from))
            .map(|short| Draft::ContextEdit {
                target: short.entry.clone(),
                content: short.content.clone(),
            })
            .collect();
        let previous = previous(&self.loaded.entries, self.loaded.boundary);
        let ids: Vec<&EntryId> = removed
            .iter()
            .filter(|message| message.role != Role::CompactionSummary)
            .map(|message| &message.entry)
            .collect();
        // The span names everything that has left so far, this time included.
        let start = self.full.utterances.first().map(|said| &said.entry);
        let before = if self.epoch() > 0 {
            self.base.entries
        } else {
            0
        };
        let span = match (start.or(ids.first().copied()), ids.last()) {
            (Some(first), Some(last)) => Some(Span {
                first,
                last,
                count: before + ids.len() as u64,
            }),
            _ => None,
        };
        let request_entry = split_request(&removed, &cut);
        let material = Material {
            ledger: &self.full,
            removed: &removed,
            kept: &kept,
            previous: previous
                .as_ref()
                .map(|(text, maker)| Previous { text, maker }),
            focus: request.focus,
            span,
            split: match &request_entry {
                Some(request) => Split::InsideTurn { request },
                None => Split::BetweenTurns,
            },
            epoch: self.epoch() + 1,
        };
        let written = summarize(summarizer, &material, &limits, counter);
        notes.extend(written.notes.iter().map(ToString::to_string));
        notes.extend(written.outcome.fallback.clone());
        let fallback = written.outcome.fallback;
        let summarizer = written.outcome.summarizer;
        let mut text = written.text;
        text.push_str(&pinned);

        let summary_tokens = counter.count(&text, ContentKind::Prose) + counter.message_overhead();
        let tokens_after = request.overhead + summary_tokens + cut.kept;
        let base = self.base_after(first_kept.as_ref());
        let is_kept = |id: &EntryId| staying.contains(id);
        let context = context_text(&text, &kept);
        let fidelity = audit(&self.source, &context, &is_kept, &pins, request.is_stored);
        let files = |modified: bool| -> Vec<&str> {
            let files = self.full.files.values();
            let files = files.filter(|file| file.is_modified() == modified);
            files.map(|file| file.path.as_str()).collect()
        };
        let shortened = edits.iter().filter_map(|edit| match edit {
            Draft::ContextEdit { target, .. } => Some(target),
            _ => None,
        });
        // In a fixed order: the same session gives the same bytes.
        let pinned: BTreeSet<EntryId> = self.pins().into_iter().collect();
        let details = json!({
            "epoch": self.epoch() + 1,
            "layer": request.layer,
            "trigger": request.trigger,
            "messagesCompacted": ids.len(),
            "boundaryMessageId": ids.last(),
            "customInstruction": request.focus,
            "readFiles": files(false),
            "modifiedFiles": files(true),
            "summarizer": summarizer,
            "fidelity": fidelity,
            "shortened": shortened.collect::<Vec<_>>(),
            "wear": self.wear.after(Some(&fidelity)),
            "schemaVersion": 1,
            "pins": pinned,
            "ledger": pack(&base),
        });
        Ok(Compacted {
            removed: Removed {
                messages: ids.len(),
                tokens: cut.removed,
                span: match (ids.first(), ids.last()) {
                    (Some(first), Some(last)) => Some(((*first).clone(), (*last).clone())),
                    _ => None,
                },
            },
            kept_messages: kept.len(),
            draft: Draft::Compaction {
                summary: text,
                first_kept,
                tokens_before: u64::from(request.tokens_before.0),
                details: Some(details.to_string()),
            },
            edits,
            tokens_after,
            fidelity,
            summarizer,
            fallback,
            splits_turn: cut.splits_turn,
            notes,
            base,
        })
    }
}

fn flatten(pieces: &[Piece]) -> Vec<ContextMessage> {
    pieces
        .iter()
        .flat_map(|piece| piece.messages().iter().cloned())
        .collect()
}

/// The request of the turn that a cut divides.
fn split_request(removed: &[ContextMessage], cut: &Cut) -> Option<EntryId> {
    if !cut.splits_turn {
        return None;
    }
    removed
        .iter()
        .rev()
        .find(|message| message.role == Role::User)
        .map(|message| message.entry.clone())
}

/// A context as the model reads it.
fn context_text(summary: &str, kept: &[ContextMessage]) -> String {
    let mut text = summary.to_owned();
    for message in kept {
        text.push('\n');
        text.push_str(&message_text(&message.view()));
    }
    text
}
