//! The sequence of a compaction: save the state, write the checkpoint, append
//! the entry, put the state back; each step durable before the next.
//!
//! A journal says what was intended before anything is done, and after every
//! step how far it came. Started again after a crash, the same steps are gone
//! through again and find what is already there: the state is written only
//! where it changed, the checkpoint is the one that the journal names or that
//! says the same, the entry is known by the id that the journal chose for it,
//! and what is put back is told by its hash. Once that is recorded, the journal
//! goes; no journal means nothing is under way.

use longhaul_checkpoint::CheckpointId;
use longhaul_compaction::{Layer, Trigger};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, EntryId, Millis, Stamp};
use serde::{Deserialize, Serialize};

use crate::checkpoints::{Checkpoints, Error, Notebook, Occasion, Result, Sink, note_of};
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
        self.layer == other.layer
            && self.trigger == other.trigger
            && self.focus == other.focus
            && self.leaf == other.leaf
    }
}

/// How far a sequence came. What comes after the last stage is no journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "step")]
pub enum Stage {
    /// It is written down what is intended.
    Begun,
    /// What the checkpoint will hold is saved.
    StateSaved,
    /// The checkpoint is written, unless it could or should not be.
    Checkpointed {
        /// Its name.
        checkpoint: Option<CheckpointId>,
    },
    /// The compaction entry is in the session.
    Compacted {
        /// The checkpoint that it names.
        checkpoint: Option<CheckpointId>,
    },
}

impl Journal {
    /// The name and the time of the entry.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            id: self.intent.entry.clone(),
            time: self.intent.at,
        }
    }
}

impl Stage {
    /// The last step that was done, in words.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Begun => "intent",
            Stage::StateSaved => "state",
            Stage::Checkpointed { .. } => "checkpoint",
            Stage::Compacted { .. } => "compaction",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Journal {
    session_key: String,
    session_file: String,
    intent: Intent,
    stage: Stage,
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

impl Sequence<'_> {
    /// Whether something is under way, or was interrupted.
    pub fn is_pending(&self) -> bool {
        // What cannot be read has to be looked at, too.
        !matches!(self.notebook.read(&self.name()), Ok(None))
    }

    /// What was under way when a process ended: its entry is in the session, and
    /// only what follows it is missing; or it was interrupted before that. What
    /// the session has gone past is given up.
    pub(super) fn pending(&self, live: &Live, sink: &mut Sink<'_>) -> Option<Intent> {
        let intent = told(self.journal(sink), sink).flatten()?.intent;
        if live.entries().iter().any(|entry| entry.id == intent.entry) {
            sink(Event::SequenceResumed {
                after: "compaction",
                entry: intent.entry.clone(),
            });
            return Some(intent);
        }
        let leaf = live.entries().last().map(|entry| &entry.id);
        if intent.leaf.as_ref() != leaf {
            // The session went on: what was intended is no longer what is due.
            self.finish(sink);
            sink(Event::SequenceSuperseded {
                entry: intent.entry,
            });
            return None;
        }
        Some(intent)
    }

    /// The entry is in the session.
    pub(super) fn written(
        &self,
        journal: &mut Journal,
        checkpoint: Option<CheckpointId>,
        sink: &mut Sink<'_>,
    ) {
        self.reach(journal, Stage::Compacted { checkpoint }, sink);
    }

    /// Nothing is under way any more.
    pub(super) fn finish(&self, sink: &mut Sink<'_>) {
        if self.is_resumed {
            told(self.notebook.remove(&self.name()), sink);
        }
    }

    /// Saves the state, then the checkpoint, from wherever an earlier attempt at
    /// the same compaction stopped. What cannot be saved is told and gone without.
    pub(super) fn save(
        &self,
        live: &Live,
        journal: &mut Journal,
        occasion: Occasion,
        sink: &mut Sink<'_>,
    ) -> Option<CheckpointId> {
        if let Stage::Checkpointed { checkpoint } | Stage::Compacted { checkpoint } = journal.stage
        {
            return checkpoint;
        }
        let occasion = Occasion {
            at: journal.intent.at,
            ..occasion
        };
        if journal.stage == Stage::Begun {
            if self.writes_checkpoints {
                let saved = self.checkpoints.save_state(live, &occasion, sink);
                told(saved, sink);
            }
            self.reach(journal, Stage::StateSaved, sink);
        }
        let checkpoint = match self.writes_checkpoints {
            true => told(self.checkpoints.write(live, &occasion, sink), sink),
            false => None,
        };
        self.reach(journal, Stage::Checkpointed { checkpoint }, sink);
        checkpoint
    }

    /// Writes down what is intended, or goes on with what was.
    pub(super) fn begin(&self, intent: Intent, sink: &mut Sink<'_>) -> Journal {
        // The user's words are on disk with it.
        let focus = intent.focus.as_deref().map(self.checkpoints.redact);
        let intent = Intent { focus, ..intent };
        let before = self.journal(sink);
        if let Some(mut journal) = told(before, sink).flatten() {
            if journal.intent.means(&intent) {
                if let Stage::Checkpointed { checkpoint } = journal.stage
                    && !self.has(checkpoint)
                {
                    journal.stage = Stage::StateSaved;
                }
                sink(Event::SequenceResumed {
                    after: journal.stage.name(),
                    entry: journal.intent.entry.clone(),
                });
                return journal;
            }
            if !matches!(journal.stage, Stage::Compacted { .. }) {
                sink(Event::SequenceSuperseded {
                    entry: journal.intent.entry,
                });
            }
        }
        let whose = self.checkpoints.whose;
        let mut journal = Journal {
            session_key: whose.key.to_string(),
            session_file: whose.session_file.clone(),
            intent,
            stage: Stage::Begun,
        };
        self.reach(&mut journal, Stage::Begun, sink);
        journal
    }

    /// Whether the checkpoint that a journal names can still be read; where it
    /// names none, one is tried again.
    fn has(&self, checkpoint: Option<CheckpointId>) -> bool {
        match checkpoint {
            Some(id) => {
                let key = &self.checkpoints.whose.key;
                self.checkpoints.store.get(key, id).is_ok()
            }
            None => !self.writes_checkpoints,
        }
    }

    fn reach(&self, journal: &mut Journal, stage: Stage, sink: &mut Sink<'_>) {
        journal.stage = stage;
        if !self.is_resumed {
            return;
        }
        let text = serde_json::to_string_pretty(journal).unwrap_or_default();
        told(self.notebook.write(&self.name(), &text), sink);
    }

    fn journal(&self, sink: &mut Sink<'_>) -> Result<Option<Journal>> {
        if !self.is_resumed {
            return Ok(None);
        }
        let name = self.name();
        let Some(text) = self.notebook.read(&name)? else {
            return Ok(None);
        };
        match serde_json::from_str::<Journal>(&text) {
            Ok(journal) if journal.session_file == self.checkpoints.whose.session_file => {
                Ok(Some(journal))
            }
            // Another file's: the names of two files have the same hash.
            Ok(_) => Ok(None),
            Err(error) => {
                let kept = self.notebook.set_aside(&name)?;
                sink(Event::CheckpointTrouble {
                    reason: format!("the journal of a compaction is damaged ({error})"),
                    remedy: Some(format!("it is kept as {kept}; compact again")),
                });
                Ok(None)
            }
        }
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
