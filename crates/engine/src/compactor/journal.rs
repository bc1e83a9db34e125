//! The sequence of a compaction: save the state, write the checkpoint, append
//! the entry, put the state back; each step durable before the next.
//!
//! A journal says what is intended before anything is done. Started again after
//! a crash, the same steps are gone through again and find what is already there:
//! the state is written only where it changed, the checkpoint is the one that says
//! the same, the entry is known by the id that the journal chose for it, and what
//! is put back is told by its hash. Once that is recorded, the journal goes; no
//! journal means nothing is under way.

use longhaul_checkpoint::{CheckpointId, CheckpointStore};
use longhaul_compaction::{Layer, Trigger};
use longhaul_redact::Redactor;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, EntryId, Millis};
use serde::{Deserialize, Serialize};

use crate::checkpoints::{
    Checkpoints, Error, Notebook, Occasion, Result, Sink, Whose, note_of, read_note, write_note,
};
use crate::event::Event;
use crate::live::Live;

/// What a compaction is meant to do, written down before it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// The id that the compaction entry will have.
    pub entry: EntryId,
    /// When it began; the entry and the checkpoint bear this time.
    pub at: Millis,
    /// How deep.
    pub layer: Layer,
    /// Why.
    pub trigger: Trigger,
    /// What should be kept above all, in the user's words.
    pub focus: Option<String>,
    /// The leaf that it goes on.
    pub leaf: Option<EntryId>,
}

impl Intent {
    /// Whether both mean the same compaction, whatever they call its entry.
    fn means(&self, other: &Intent) -> bool {
        let Intent { entry, at, .. } = other.clone();
        Intent {
            entry,
            at,
            ..self.clone()
        } == *other
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Journal {
    session_key: String,
    session_file: String,
    intent: Intent,
}

/// The steps of one session's compactions.
#[derive(Clone, Copy)]
pub struct Sequence<'a> {
    /// Its checkpoints.
    pub checkpoints: Checkpoints<'a>,
    /// Where the journal is kept.
    pub notebook: &'a dyn Notebook,
    /// Whether one that was interrupted is gone on with: then a journal is kept.
    pub is_resumed: bool,
    /// Whether a checkpoint is written; `checkpoint.enabled`.
    pub writes_checkpoints: bool,
}

impl<'a> Sequence<'a> {
    /// The steps of a session's compactions, with a journal or without.
    pub fn new(
        store: &'a dyn CheckpointStore,
        whose: &'a Whose,
        notebook: &'a dyn Notebook,
        is_resumed: bool,
        writes_checkpoints: bool,
    ) -> Sequence<'a> {
        Sequence {
            checkpoints: Checkpoints {
                store,
                whose,
                redact: &|text| Redactor::default().redact(text).text,
            },
            notebook,
            is_resumed,
            writes_checkpoints,
        }
    }

    /// Whether something is under way, or was interrupted.
    pub fn is_pending(&self) -> bool {
        // What cannot be read has to be looked at, too.
        !matches!(self.notebook.read(&self.name()), Ok(None))
    }

    /// What was under way when a process ended, and whether its entry is in the
    /// session. What the session has gone past is given up.
    pub(super) fn pending(&self, live: &Live, sink: &mut Sink<'_>) -> Option<(Intent, bool)> {
        let intent = told(self.journal(), sink).flatten()?;
        if live.entries().iter().any(|entry| entry.id == intent.entry) {
            sink(Event::SequenceResumed {
                after: "compaction",
                entry: intent.entry.clone(),
            });
            return Some((intent, true));
        }
        if intent.leaf.as_ref() == live.entries().last().map(|entry| &entry.id) {
            return Some((intent, false));
        }
        // The session went on: what was intended is no longer what is due.
        self.finish(sink);
        sink(Event::SequenceSuperseded {
            entry: intent.entry,
        });
        None
    }

    /// Writes down what is intended, or goes on with what was.
    pub(super) fn begin(&self, intent: Intent, sink: &mut Sink<'_>) -> Intent {
        // The user's words are on disk with it.
        let focus = intent.focus.as_deref().map(self.checkpoints.redact);
        let intent = Intent { focus, ..intent };
        if let Some(before) = told(self.journal(), sink).flatten() {
            if before.means(&intent) {
                sink(Event::SequenceResumed {
                    after: "intent",
                    entry: before.entry.clone(),
                });
                return before;
            }
            sink(Event::SequenceSuperseded {
                entry: before.entry,
            });
        }
        if self.is_resumed {
            let whose = self.checkpoints.whose;
            let journal = Journal {
                session_key: whose.key.to_string(),
                session_file: whose.session_file.clone(),
                intent: intent.clone(),
            };
            told(write_note(self.notebook, &self.name(), &journal), sink);
        }
        intent
    }

    /// Saves the state, then the checkpoint. What cannot be saved is told and
    /// gone without.
    pub(super) fn save(
        &self,
        live: &Live,
        occasion: &Occasion,
        sink: &mut Sink<'_>,
    ) -> Option<CheckpointId> {
        if !self.writes_checkpoints {
            return None;
        }
        told(self.checkpoints.save_state(live, occasion, sink), sink);
        told(self.checkpoints.write(live, occasion, sink), sink)
    }

    /// Nothing is under way any more.
    pub(super) fn finish(&self, sink: &mut Sink<'_>) {
        if self.is_resumed {
            told(self.notebook.remove(&self.name()), sink);
        }
    }

    fn journal(&self) -> Result<Option<Intent>> {
        if !self.is_resumed {
            return Ok(None);
        }
        let journal = read_note::<Journal>(self.notebook, &self.name())?;
        // Another file's: the names of two files have the same hash.
        Ok(journal
            .filter(|it| it.session_file == self.checkpoints.whose.session_file)
            .map(|journal| journal.intent))
    }

    fn name(&self) -> String {
        note_of("sequence", &self.checkpoints.whose.session_file)
    }
}

/// What was done, or an event that says why not.
fn told<T>(result: Result<T>, sink: &mut Sink<'_>) -> Option<T> {
    result.inspect_err(|error: &Error| sink(error.event())).ok()
}

/// The compaction entry, naming its checkpoint and the size that it comes to.
pub(super) fn completed(
    mut draft: Draft,
    checkpoint: Option<CheckpointId>,
    tokens_after: Option<Tokens>,
) -> Draft {
    if let Draft::Compaction { details, .. } = &mut draft {
        let checkpoint = checkpoint.map(|id| format!("\"checkpointId\":\"{id}\""));
        let after = tokens_after.map(|tokens| format!("\"tokensAfter\":{}", tokens.0));
        let rest = details.take().unwrap_or_default();
        let rest = rest
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let rest = rest.filter(|rest| !rest.is_empty()).map(str::to_owned);
        let fields: Vec<String> = checkpoint.into_iter().chain(after).chain(rest).collect();
        *details = Some(format!("{{{}}}", fields.join(",")));
    }
    draft
}
