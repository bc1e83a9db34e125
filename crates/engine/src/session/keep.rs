//! Writing the session down: nothing happens before what was said is on disk.

use longhaul_model::ToolCall;
use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Conversation, Draft, Entry, EntryId, Millis, Piece, Role, Stamp};
use memchr::memmem;
use serde_json::json;

use super::{AtWork, Listener, Result, Session, wire};
use crate::compactor::Compactor;
use crate::marks::{TURN_MARK, mark};
use crate::tools::Outcome;

/// The beginning of 2000. What a host dates before it, it counts or leaves at
/// zero.
const FIRST_TOLD: Millis = Millis(946_684_800_000);

/// What the details of a result of ours say for a call that has none of its own.
const CLOSING: &str = "interrupted";

/// Whether a message closes a call that a process left open: no host knows it.
pub(crate) fn is_closing(message: &str) -> bool {
    memmem::find(message.as_bytes(), CLOSING.as_bytes()).is_some()
        && Object::parse(message).is_ok_and(|message| {
            message.str("role").as_deref() == Some("toolResult")
                && message
                    .object("details")
                    .is_some_and(|details| details.str("longhaul").as_deref() == Some(CLOSING))
        })
}

impl Session {
    /// Appends a message or another entry of the conversation. It is in the
    /// file when this returns, and on the disk after [`Session::commit`], or at
    /// once where the durability is `always`.
    pub fn ingest(&mut self, draft: Draft) -> Result<EntryId> {
        let mut ids = self.append(&[draft])?;
        Ok(ids.pop().expect("one draft gives one id"))
    }

    /// Appends entries in one write.
    pub(crate) fn append(&mut self, drafts: &[Draft]) -> longhaul_transcript::Result<Vec<EntryId>> {
        let stamped = self.stamped(drafts);
        let ids = self.writer.append_all(&stamped)?;
        let mut parent = self.leaf();
        for (draft, stamp) in &stamped {
            let entry = draft.to_entry(stamp, parent.as_ref());
            parent = Some(stamp.id.clone());
            self.observe(entry);
        }
        self.known_size = self.size_on_disk();
        Ok(ids)
    }

    /// Drafts as they are written: now. Only what a host hands over may have been
    /// said long before, and is dated by that, as far as it can be true.
    pub(super) fn stamped(&self, drafts: &[Draft]) -> Vec<(Draft, Stamp)> {
        let stamped = drafts.iter().map(|draft| {
            let mut stamp = self.setup.stamp();
            let said = draft.said().filter(|_| self.hosted);
            if let Some(said) = said.filter(|said| (FIRST_TOLD..stamp.time).contains(said)) {
                stamp.time = said;
            }
            (draft.clone(), stamp)
        });
        stamped.collect()
    }

    /// Folds an entry in that is in the file, or in a read-only sandbox is only
    /// thought of.
    pub(super) fn observe(&mut self, entry: Entry) {
        let bench = &mut self.bench;
        if let Some(stored) = &mut bench.stored {
            stored.insert(entry.id.clone(), entry.time);
        }
        if matches!(entry.body, Body::ContextEdit(_) | Body::Compaction(_)) {
            self.anchor = None;
        }
        let before = bench.live.messages().len();
        bench.live.push(entry);
        if let Some(anchor) = &mut self.anchor {
            let new = bench.live.messages().iter().skip(before);
            let tokens = new.map(|message| bench.meter.message(message)).sum();
            anchor.following += tokens;
        }
    }

    /// Ends a turn: what was said is on the disk, and what is remembered beside
    /// it too.
    pub fn commit(&mut self, listener: &mut dyn Listener) -> Result<()> {
        self.heard(listener).commit()
    }

    /// Gives every call a result that has none because its process ended. A
    /// provider refuses a conversation that goes on without it.
    pub(crate) fn close_interrupted(&mut self) -> Result<Vec<EntryId>> {
        let messages = self.live().messages();
        let answered = messages.iter().rposition(|m| m.role == Role::Assistant);
        let last = messages[answered.unwrap_or(messages.len())..].to_vec();
        let conversation = Conversation::new(last);
        let Some(Piece::Exchange(exchange)) = conversation.pieces().first() else {
            return Ok(Vec::new());
        };
        if conversation.pieces().len() > 1 || !exchange.answer().view().is_settled() {
            return Ok(Vec::new());
        }
        let open = exchange.calls().iter().filter(|call| call.result.is_none());
        let results: Vec<Draft> = open
            .map(|call| {
                let call = ToolCall {
                    id: call.id.clone(),
                    name: call.tool.clone(),
                    arguments: String::new(),
                };
                let mut outcome = Outcome::failed(
                    "interrupted: the program ended while this ran; what it did is not known",
                );
                outcome.details = Some(json!({ "longhaul": CLOSING }));
                Draft::Message(wire::result_json(&call, &outcome, self.setup.now()))
            })
            .collect();
        match results.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(self.append(&results)?),
        }
    }
}

impl AtWork<'_> {
    /// Writes down what the next checkpoint will hold, as far as it changed.
    pub(super) fn save_state(&mut self) {
        if !self.read_only() && self.setup.config.writes_checkpoints() {
            Compactor::at(self).save_state();
        }
    }

    pub(super) fn commit(&mut self) -> Result<()> {
        self.writer.end_turn()?;
        self.save_state();
        self.remember();
        Ok(())
    }

    /// Marks the end of a turn with the hash of every line before it, by which
    /// `verify` finds what was changed since. Without it the turn stands. In a
    /// sandbox the file holds only what was said.
    pub(super) fn mark_turn(&mut self) {
        if !self.read_only() {
            let marked = self.append(&[mark(TURN_MARK, &json!({ "proof": null }))]);
            self.trouble(marked);
        }
    }

    /// Writes the engine's own state; where that fails the turn goes on.
    pub(super) fn remember(&mut self) {
        let saved = self.bench.state.save(&self.setup.state_dir);
        self.trouble(saved);
    }
}
