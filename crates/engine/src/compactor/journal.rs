//! What a compaction means to do, noted down before it begins.
//!
//! Its steps need no journal to be repeated: started again after a crash they
//! find what is already there. The state is written only where it changed, the
//! checkpoint is the one that says the same, what a model said is kept until the
//! entry is written, and what is put back is known by its hash. The note is for
//! people: it says what was meant, so that the next one goes on with that.

use longhaul_compaction::{Layer, Trigger};
use longhaul_transcript::{EntryId, Millis};
use serde::{Deserialize, Serialize};

use super::driver::Compactor;
use super::outcome::Asked;
use super::site::Site;
use crate::checkpoints::{Notebook, Whose, note_of, read_note, write_note};
use crate::event::Event;

/// What a compaction is meant to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// How deep.
    pub layer: Layer,
    /// Why.
    pub trigger: Trigger,
    /// What should be kept above all, in the user's words.
    pub focus: Option<String>,
    /// The leaf that it goes on.
    pub leaf: Option<EntryId>,
    /// When it began: the checkpoint says the same when it is made again.
    pub at: Millis,
}

impl Intent {
    /// What is under way in a session, or was interrupted.
    pub fn of(notebook: &dyn Notebook, whose: &Whose) -> Option<Intent> {
        read_note(notebook, &name(whose)).ok().flatten()
    }
}

fn name(whose: &Whose) -> String {
    note_of("sequence", &whose.session_file)
}

impl<S: Site> Compactor<'_, S> {
    /// Notes down what is meant, and says when that began.
    pub(super) fn begin(&mut self, asked: Asked<'_>) -> Millis {
        let now = self.site.now();
        if !self.site.terms().is_resumed {
            return now;
        }
        let bench = self.site.bench();
        let before = Intent::of(&*bench.notebook, &bench.whose);
        let at = before.as_ref().map_or(now, |before| before.at);
        let mut intent = Intent {
            layer: asked.layer,
            trigger: asked.trigger,
            // The user's words are on disk with it.
            focus: asked.focus.map(bench.checkpoints().redact),
            leaf: bench.live.leaf(),
            at,
        };
        let goes_on = before.as_ref() == Some(&intent);
        if !goes_on {
            intent.at = now;
        }
        let at = intent.at;
        self.saves(|bench, sink| {
            if goes_on {
                sink(Event::SequenceResumed { after: "intent" });
            } else if before.is_some() {
                sink(Event::SequenceSuperseded);
            }
            write_note(&*bench.notebook, &name(&bench.whose), &intent)
        });
        at
    }

    /// Nothing is under way any more.
    pub(super) fn finish(&mut self) {
        if self.site.terms().is_resumed {
            self.saves(|bench, _| bench.notebook.remove(&name(&bench.whose)));
        }
    }

    /// Completes what a crash interrupted after the entry was written, and says
    /// what was interrupted before that and is still to be done.
    pub fn recover(&mut self) -> Option<Intent> {
        let bench = self.site.bench();
        let intent = Intent::of(&*bench.notebook, &bench.whose)?;
        if intent.leaf == bench.live.leaf() {
            return Some(intent);
        }
        let made = bench.live.loaded().compaction();
        if made.is_some_and(|(entry, _)| entry.parent == intent.leaf) {
            let after = "compaction";
            self.site.tell(Event::SequenceResumed { after });
            self.site.put_back();
        } else {
            // The session went on: what was intended is no longer what is due.
            self.site.tell(Event::SequenceSuperseded);
        }
        self.finish();
        None
    }
}
