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
use longhaul_transcript::{Draft, EntryId, Millis, Stamp};
use serde::{Deserialize, Serialize};

use super::notebook::note_of;
use super::restore::{Putting, Restoration};
use super::{Checkpoints, Error, Notebook, Occasion, Result, Sink};
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
struct Journal {
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
    /// Whether a checkpoint is written; `checkpoint.enabled`.
    pub writes_checkpoints: bool,
}

/// A compaction that is ready to be carried out.
pub struct Job<'a> {
    /// The compaction entry, as [`Live::compact`] drafted it.
    pub draft: &'a Draft,
    /// When, why, how full.
    pub occasion: Occasion,
    /// Appends to the session's file; durable when it returns.
    pub append: &'a mut dyn FnMut(&Draft, Stamp) -> longhaul_transcript::Result<EntryId>,
}

/// A compaction that was carried out.
#[derive(Debug)]
pub struct Carried {
    /// The compaction entry.
    pub entry: EntryId,
    /// The checkpoint that it names.
    pub checkpoint: Option<CheckpointId>,
    /// What the next context carries.
    pub restored: Restoration,
}

impl Sequence<'_> {
    /// Whether something is under way, or was interrupted.
    pub fn is_pending(&self) -> bool {
        // What cannot be read has to be looked at, too.
        !matches!(self.notebook.read(&self.name()), Ok(None))
    }

    /// Completes what a crash interrupted after the entry was written, and says
    /// which compaction was interrupted before that. `is_written` tells whether
    /// the session has an entry.
    pub fn recover(
        &self,
        live: &Live,
        is_written: &dyn Fn(&EntryId) -> bool,
        putting: &mut Putting<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Option<Intent>> {
        let Some(journal) = self.journal(sink)? else {
            return Ok(None);
        };
        let intent = journal.intent;
        if is_written(&intent.entry) {
            sink(Event::SequenceResumed {
                after: "compaction",
                entry: intent.entry,
            });
            let restored = self
                .checkpoints
                .restore(self.notebook, live, putting, sink)?;
            if !restored.unrecorded {
                self.notebook.remove(&self.name())?;
            }
            return Ok(None);
        }
        let leaf = live.entries().last().map(|entry| entry.id.clone());
        if intent.leaf != leaf {
            // The session went on: what was intended is no longer what is due.
            self.notebook.remove(&self.name())?;
            sink(Event::SequenceSuperseded {
                entry: intent.entry,
            });
            return Ok(None);
        }
        Ok(Some(intent))
    }

    /// Carries a compaction out, from wherever an earlier attempt at the same
    /// one stopped. `live` has the new entry afterwards.
    ///
    /// A checkpoint or journal that cannot be written is told and gone without;
    /// only the session itself can fail it.
    pub fn carry_out(
        &self,
        live: &mut Live,
        intent: Intent,
        job: Job<'_>,
        putting: &mut Putting<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Carried> {
        let mut journal = self.begin(intent, sink);
        let occasion = Occasion {
            at: journal.intent.at,
            ..job.occasion
        };
        let checkpoint = match journal.stage {
            Stage::Checkpointed { checkpoint } | Stage::Compacted { checkpoint } => checkpoint,
            Stage::Begun | Stage::StateSaved => self.save(live, &mut journal, &occasion, sink),
        };
        let draft = with_checkpoint(job.draft.clone(), checkpoint);
        let stamp = Stamp {
            id: journal.intent.entry.clone(),
            time: journal.intent.at,
        };
        let entry = (job.append)(&draft, stamp.clone())?;
        live.push(draft.to_entry(&stamp, journal.intent.leaf.as_ref()));
        self.reach(&mut journal, Stage::Compacted { checkpoint }, sink);
        // The entry is written: whatever fails now is made good later.
        let restored = self.checkpoints.restore(self.notebook, live, putting, sink);
        let recorded = restored.as_ref().is_ok_and(|it| !it.unrecorded);
        let restored = told(restored, sink).unwrap_or_default();
        if recorded {
            told(self.notebook.remove(&self.name()), sink);
        }
        Ok(Carried {
            entry,
            checkpoint,
            restored,
        })
    }

    /// Saves the state, then the checkpoint.
    fn save(
        &self,
        live: &Live,
        journal: &mut Journal,
        occasion: &Occasion,
        sink: &mut Sink<'_>,
    ) -> Option<CheckpointId> {
        if journal.stage == Stage::Begun {
            if self.writes_checkpoints {
                let saved = self.checkpoints.save_state(live, occasion, sink);
                told(saved, sink);
            }
            self.reach(journal, Stage::StateSaved, sink);
        }
        let checkpoint = match self.writes_checkpoints {
            true => told(self.checkpoints.write(live, occasion, sink), sink),
            false => None,
        };
        self.reach(journal, Stage::Checkpointed { checkpoint }, sink);
        checkpoint
    }

    /// Writes down what is intended, or goes on with what was.
    fn begin(&self, intent: Intent, sink: &mut Sink<'_>) -> Journal {
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
        let text = serde_json::to_string_pretty(journal).unwrap_or_default();
        told(self.notebook.write(&self.name(), &text), sink);
    }

    fn journal(&self, sink: &mut Sink<'_>) -> Result<Option<Journal>> {
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

/// The compaction entry, naming its checkpoint.
pub(crate) fn with_checkpoint(mut draft: Draft, checkpoint: Option<CheckpointId>) -> Draft {
    if let (Draft::Compaction { details, .. }, Some(id)) = (&mut draft, checkpoint) {
        let field = format!("\"checkpointId\":\"{id}\"");
        let rest = details.as_deref().and_then(|text| text.strip_prefix('{'));
        *details = Some(match rest {
            Some(rest) if rest != "}" => format!("{{{field},{rest}"),
            _ => format!("{{{field}}}"),
        });
    }
    draft
}
