//! What others read from a ledger.

use crate::commands::takes_away;
use crate::facts::{FileRecord, Item, Note, NoteKind, Origin, Question, TurnState, Utterance};
use crate::ledger::Ledger;

impl Ledger {
    /// Items that still have to be done.
    pub fn open_items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.is_open())
    }

    /// Questions that wait for an answer.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        let open = |question: &&Question| question.answered.is_none();
        self.questions.iter().filter(open)
    }

    /// The newest request, while the agent is at it.
    pub fn open_request(&self) -> Option<&Utterance> {
        let newest = self.utterances.last()?;
        (newest.state == TurnState::Open).then_some(newest)
    }

    /// What the user typed here or in the session before, and nobody else.
    pub fn own_words(&self) -> impl Iterator<Item = &Utterance> {
        let own =
            |utterance: &&Utterance| matches!(utterance.origin, Origin::User | Origin::Carried);
        self.utterances.iter().filter(own)
    }

    /// Whether an agent orders the work and no user does: a subagent's session.
    pub fn is_ordered(&self) -> bool {
        let said = &self.utterances;
        said.iter().any(|said| said.origin == Origin::Agent) && self.own_words().next().is_none()
    }

    /// Notes of one kind, oldest first.
    pub fn noted(&self, kind: NoteKind) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(move |note| note.kind == kind)
    }

    /// Files that were changed, the latest first.
    pub fn modified_files(&self) -> Vec<&FileRecord> {
        self.newest(FileRecord::is_modified)
    }

    /// Files that were only read (or looked for in vain: `reads` is 0), the
    /// latest first.
    pub fn read_files(&self) -> Vec<&FileRecord> {
        self.newest(|file| !file.is_modified())
    }

    /// The files most worth having at hand again: still there, the newest changed
    /// first, then the newest read.
    pub fn key_files(&self, most: usize) -> Vec<&FileRecord> {
        let there =
            |file: &&FileRecord| !takes_away(file.last) && (file.reads > 0 || file.changes > 0);
        let files = self.modified_files().into_iter().chain(self.read_files());
        files.filter(there).take(most).collect()
    }

    fn newest(&self, wanted: impl Fn(&FileRecord) -> bool) -> Vec<&FileRecord> {
        let mut files: Vec<&FileRecord> = self.files.values().filter(|file| wanted(file)).collect();
        files.sort_by(|a, b| b.rank.cmp(&a.rank).then_with(|| a.path.cmp(&b.path)));
        files
    }
}
