//! Taking a compaction back, and forward again.
//!
//! Nothing is rewritten. Undoing a compaction leaves it where it is and starts
//! a branch before it, on which everything that came after it is written
//! again; redoing goes back to the old branch the same way. Undoing a pruning
//! gives every hidden result its content back by one more context edit.

use std::collections::{HashMap, HashSet};

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Draft, Entry, EntryId, Stamp};
use serde_json::json;

use super::{Live, PRUNE_MARK, REDO_MARK, UNDO_MARK};

/// Entries to append so that the session is as it was.
#[derive(Debug, Clone)]
pub struct Again {
    /// The entry to branch from; `None` appends at the leaf.
    pub branch: Option<Option<EntryId>>,
    /// What to append, in order.
    pub drafts: Vec<(Draft, Stamp)>,
    /// What is taken back, or done again.
    pub subject: EntryId,
}

/// Why nothing can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoFailure {
    /// There is no compaction on the path.
    #[error("there is no compaction to undo")]
    NothingToUndo,
    /// The last thing that happened was not an undo.
    #[error("there is no undo to take back")]
    NothingToRedo,
    /// Hidden content is no longer in the file.
    #[error("entry {0} is not in the file any more; restore the archive first")]
    Missing(EntryId),
}

impl Live {
    /// Takes the latest compaction or pruning back. `whole` is the path before
    /// the boundary as well, since the undone context starts there.
    pub fn undo(
        &self,
        mut stamp: impl FnMut() -> Stamp,
        original: &dyn Fn(&EntryId) -> Option<Entry>,
    ) -> Result<Again, UndoFailure> {
        let entries = self.entries();
        let undone = undone_prunings(entries);
        let at = entries
            .iter()
            .rposition(|entry| {
                let pruning = is_mark(entry, PRUNE_MARK) && !undone.contains(entry.id.as_str());
                pruning || matches!(entry.body, Body::Compaction(_))
            })
            .ok_or(UndoFailure::NothingToUndo)?;
        let subject = &entries[at];
        if is_mark(subject, PRUNE_MARK) {
            return unprune(subject, &mut stamp, original);
        }
        let leaf = entries.last().map(|entry| entry.id.clone());
        let mark = Draft::Custom {
            custom_type: UNDO_MARK.into(),
            data: json!({
                "compaction": subject.id.as_str(),
                "leaf": leaf.as_ref().map(EntryId::as_str),
                "copied": entries.len() - at - 1,
            })
            .to_string(),
        };
        let mut drafts = vec![(mark, stamp())];
        drafts.extend(copies(&entries[at + 1..], &mut stamp));
        Ok(Again {
            branch: Some(subject.parent.clone()),
            drafts,
            subject: subject.id.clone(),
        })
    }

    /// Takes the latest undo of a compaction back.
    pub fn redo(&self, mut stamp: impl FnMut() -> Stamp) -> Result<Again, UndoFailure> {
        let entries = self.entries();
        let at = entries
            .iter()
            .rposition(|entry| is_mark(entry, UNDO_MARK))
            .ok_or(UndoFailure::NothingToRedo)?;
        let object = Object::parse(entries[at].raw()).unwrap_or_default();
        let data = object.object("data").unwrap_or_default();
        let (Some(leaf), Some(compaction)) = (data.str("leaf"), data.str("compaction")) else {
            return Err(UndoFailure::NothingToRedo);
        };
        let copied = data.u64("copied").unwrap_or(0) as usize;
        let mark = Draft::Custom {
            custom_type: REDO_MARK.into(),
            data: json!({ "undo": entries[at].id.as_str() }).to_string(),
        };
        let mut drafts = vec![(mark, stamp())];
        let later = entries.get(at + 1 + copied..).unwrap_or_default();
        drafts.extend(copies(later, &mut stamp));
        Ok(Again {
            branch: Some(Some(EntryId::new(leaf.into_owned()))),
            drafts,
            subject: EntryId::new(compaction.into_owned()),
        })
    }
}

/// Prunings that were taken back already.
fn undone_prunings(entries: &[Entry]) -> HashSet<String> {
    entries
        .iter()
        .filter(|entry| is_mark(entry, UNDO_MARK))
        .filter_map(|entry| {
            let object = Object::parse(entry.raw()).ok()?;
            Some(object.object("data")?.str("prune")?.into_owned())
        })
        .collect()
}

fn is_mark(entry: &Entry, name: &str) -> bool {
    matches!(&entry.body, Body::Custom { custom_type } if custom_type == name)
}

/// Writes entries again, with what points among them following along.
fn copies(entries: &[Entry], stamp: &mut impl FnMut() -> Stamp) -> Vec<(Draft, Stamp)> {
    let mut renamed: HashMap<&EntryId, EntryId> = HashMap::new();
    let mut drafts = Vec::new();
    for entry in entries {
        let new = stamp();
        let target = match &entry.body {
            Body::ContextEdit(edit) => renamed.get(&edit.target).cloned(),
            Body::Label { target, .. } => renamed.get(target).cloned(),
            _ => None,
        };
        renamed.insert(&entry.id, new.id.clone());
        drafts.push((
            Draft::Again {
                raw: entry.raw().to_owned(),
                target,
            },
            new,
        ));
    }
    drafts
}

/// Gives pruned results their own content back.
fn unprune(
    mark: &Entry,
    stamp: &mut impl FnMut() -> Stamp,
    original: &dyn Fn(&EntryId) -> Option<Entry>,
) -> Result<Again, UndoFailure> {
    let object = Object::parse(mark.raw()).unwrap_or_default();
    let data = object.object("data").unwrap_or_default();
    let targets: Vec<EntryId> = data
        .array("targets")
        .unwrap_or_default()
        .iter()
        .filter_map(|raw| longhaul_transcript::json::string(raw.get()))
        .map(|id| EntryId::new(id.into_owned()))
        .collect();
    let undo = Draft::Custom {
        custom_type: UNDO_MARK.into(),
        data: json!({ "prune": mark.id.as_str() }).to_string(),
    };
    let mut drafts = Vec::new();
    for target in targets {
        let entry = original(&target).ok_or_else(|| UndoFailure::Missing(target.clone()))?;
        let content = entry
            .message()
            .and_then(|message| message.object().raw("content").map(str::to_owned))
            .unwrap_or_else(|| "[]".into());
        drafts.push((
            Draft::ContextEdit {
                target,
                content: Some(content),
            },
            stamp(),
        ));
    }
    drafts.push((undo, stamp()));
    Ok(Again {
        branch: None,
        drafts,
        subject: mark.id.clone(),
    })
}
