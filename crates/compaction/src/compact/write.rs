//! Replacing the older part of a context by a summary.

use std::collections::{BTreeSet, HashSet};

use longhaul_tokens::ContentKind;
use longhaul_transcript::{ContextMessage, Draft, EntryId, Piece, Role};
use serde_json::json;

use super::carry::pinned_text;
use super::divide::{Size, room};
use super::request::{Compacted, CompactionFailure, CompactionRequest, Removed};
use super::work::{Work, said, unasked_note};
use crate::audit::audit;
use crate::cut::Cut;
use crate::summary::{Limits, Material, Split, Summarizer, summarize};
use crate::terms::Layer;

impl Work<'_> {
    /// Layers 2, 3 and emergency: replaces the older part by a summary. `size`
    /// counts a message.
    pub fn compact(
        &self,
        summarizer: &mut dyn Summarizer,
        size: &mut Size<'_>,
        request: &CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        let counter = self.estimator.counter();
        let limits = Limits::new(request.window, request.layer, &request.rules.summary);
        let room = room(request, limits.total, self.estimator);
        let divided = self.divided(size, request, room)?;
        let (conversation, cut) = (divided.conversation, divided.cut);
        let mut notes = Vec::new();
        if request.layer == Layer::Emergency {
            let why = "the oldest turns were dropped because the context did not fit otherwise";
            notes.push(why.to_owned());
        }
        let orphans = conversation.orphans().len();
        notes.extend((orphans > 0).then(|| unasked_note(orphans)));

        let (removed, kept) = conversation.pieces().split_at(cut.first_kept);
        let removed: Vec<ContextMessage> = flatten(removed);
        let kept: Vec<ContextMessage> = flatten(kept);
        let first_kept = kept.first().map(|message| message.entry.clone());
        let pins = self.pins_to_carry(&kept);
        let pinned = pinned_text(pins.clone(), counter, room)?;
        let staying: HashSet<&EntryId> = kept.iter().map(|message| &message.entry).collect();
        let mut messages = self.messages.iter().map(|message| &message.entry);
        let from = messages.position(|entry| Some(entry) == first_kept.as_ref());
        let shortened = divided.shortened.into_iter();
        let shortened = shortened.filter(|short| from.is_some_and(|from| short.at >= from));
        let (shortened, edits): (Vec<EntryId>, Vec<Draft>) = shortened
            .map(|short| {
                let edit = Draft::ContextEdit {
                    target: short.entry.clone(),
                    content: short.content,
                };
                (short.entry, edit)
            })
            .unzip();

        let ids = said(&removed);
        // The span names everything that has left so far, this time included.
        let before = match self.epoch {
            0 => 0,
            _ => self.base.entries,
        };
        let split = split_request(&removed, &cut);
        let material = Material {
            ledger: self.ledger,
            removed: &removed,
            kept: &kept,
            previous: self.previous(),
            focus: request.focus,
            span: self.span(&ids, before),
            split: match &split {
                Some(request) => Split::InsideTurn { request },
                None => Split::BetweenTurns,
            },
            epoch: self.epoch + 1,
        };
        let written = summarize(summarizer, &material, &limits, counter);
        notes.extend(written.notes.iter().map(ToString::to_string));
        notes.extend(written.outcome.fallback.clone());
        let fallback = written.outcome.fallback;
        let summarizer = written.outcome.summarizer;
        let mut text = written.text;
        text.push_str(&pinned);
        let summary_tokens = counter.count(&text, ContentKind::Prose) + counter.message_overhead();

        let base = self.base_after(first_kept.as_ref());
        let is_kept = |id: &EntryId| staying.contains(id);
        let context = self.context_text(&text, &kept);
        let fidelity = audit(self.source, &context, &is_kept, &pins, request.is_stored);
        let files = |modified: bool| -> Vec<&str> {
            let files = self.ledger.files.values();
            let files = files.filter(|file| file.is_modified() == modified);
            files.map(|file| file.path.as_str()).collect()
        };
        // In a fixed order: the same session gives the same bytes.
        let pinned: BTreeSet<&EntryId> = self.pins.iter().collect();
        let details = json!({
            "epoch": self.epoch + 1,
            "layer": request.layer,
            "trigger": request.trigger,
            "messagesCompacted": ids.len(),
            "boundaryMessageId": ids.last(),
            "customInstruction": request.focus,
            "readFiles": files(false),
            "modifiedFiles": files(true),
            "summarizer": summarizer,
            "fidelity": fidelity,
            "shortened": shortened,
            "wear": self.wear.after(Some(&fidelity)),
            "schemaVersion": 1,
            "pins": pinned,
            "ledger": (self.pack)(&base),
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
            tokens_after: request.overhead + summary_tokens + cut.kept,
            fidelity,
            summarizer,
            fallback,
            splits_turn: cut.splits_turn,
            notes,
            base,
        })
    }

    /// A context as the model reads it.
    fn context_text(&self, summary: &str, kept: &[ContextMessage]) -> String {
        let mut text = summary.to_owned();
        for message in kept {
            text.push('\n');
            text.push_str(&(self.text)(&message.view()));
        }
        text
    }
}

fn flatten(pieces: &[Piece]) -> Vec<ContextMessage> {
    let messages = pieces.iter().flat_map(|piece| piece.messages());
    messages.cloned().collect()
}

/// The request of the turn that a cut divides.
fn split_request(removed: &[ContextMessage], cut: &Cut) -> Option<EntryId> {
    let mut removed = removed.iter().filter(|_| cut.splits_turn);
    let request = removed.rfind(|message| message.role == Role::User)?;
    Some(request.entry.clone())
}
