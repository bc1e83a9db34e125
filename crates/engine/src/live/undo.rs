//! Taking a compaction back, and forward again.
//!
//! Nothing is rewritten. Undoing a compaction leaves it where it is and starts
//! a branch before it, on which everything that came after it is written
//! again; redoing goes back to the old branch the same way. Undoing a pruning
//! gives every hidden result its content back by one more context edit, and
//! redoing it hides them by yet another.

use std::collections::{HashMap, HashSet};

use longhaul_transcript::{Body, Draft, Entry, EntryId, Replacement, Stamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Live;
use crate::marks::{
    PRUNE_MARK, REDO_MARK, UNDO_MARK, copied, detail, is_mark, mark, said, span_of,
};

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

/// What a mark says that is about taking back.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Step {
    /// The pruning that was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    prune: Option<EntryId>,
    /// The compaction that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction: Option<EntryId>,
    /// The undo that was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<EntryId>,
    /// The leaf that was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    leaf: Option<EntryId>,
    /// Copies that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    copied: Option<usize>,
    /// What these were copied from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    originals: Vec<EntryId>,
    /// The results that a pruning hid.
    #[serde(skip_serializing)]
    targets: Vec<EntryId>,
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
        let undone = named_by(entries, UNDO_MARK, |step| step.prune);
        let at = entries
            .iter()
            .rposition(|entry| {
                let pruning = is_mark(entry, PRUNE_MARK) && !undone.contains(&entry.id);
                pruning || matches!(entry.body, Body::Compaction(_))
            })
            .ok_or(UndoFailure::NothingToUndo)?;
        let subject = &entries[at];
        if is_mark(subject, PRUNE_MARK) {
            return unprune(subject, &mut stamp, original);
        }
        // What it shortened in its tail is whole again without it.
        let shortened: Vec<EntryId> = detail(subject, "shortened").unwrap_or_default();
        let belongs = |entry: &&Entry| matches!(&entry.body, Body::ContextEdit(edit) if shortened.contains(&edit.target));
        let own = entries[at + 1..].iter().take_while(belongs).count();
        let later = &entries[at + 1 + own..];
        let step = Step {
            compaction: Some(subject.id.clone()),
            leaf: entries.last().map(|entry| entry.id.clone()),
            copied: Some(later.len()),
            originals: later.iter().map(|entry| entry.id.clone()).collect(),
            ..Step::default()
        };
        let mut drafts = vec![(mark(UNDO_MARK, &step), stamp())];
        drafts.extend(copies(later, HashMap::new(), &mut stamp));
        Ok(Again {
            branch: Some(subject.parent.clone()),
            drafts,
            subject: subject.id.clone(),
        })
    }

    /// Takes the latest undo back that was not taken back yet. What a later
    /// compaction left behind is not taken back.
    pub fn redo(&self, mut stamp: impl FnMut() -> Stamp) -> Result<Again, UndoFailure> {
        let entries = self.entries();
        let redone = named_by(entries, REDO_MARK, |step| step.undo);
        // A mark among copies is older than the mark that they belong to.
        let copied = copied(entries);
        let start = self.loaded.boundary.map_or(0, |at| at + 1);
        let at = (start..entries.len())
            .rev()
            .find(|at| {
                is_mark(&entries[*at], UNDO_MARK)
                    && !redone.contains(&entries[*at].id)
                    && !copied.iter().any(|span| span.contains(at))
            })
            .ok_or(UndoFailure::NothingToRedo)?;
        let done: Step = said(&entries[at], UNDO_MARK).unwrap_or_default();
        if let Some(prune) = done.prune {
            return prune_again(&entries[..at], &prune, &entries[at].id, &mut stamp);
        }
        let (Some(leaf), Some(compaction)) = (done.leaf, done.compaction) else {
            return Err(UndoFailure::NothingToRedo);
        };
        let span = span_of(entries, at);
        let later = &entries[span.end..];
        let step = Step {
            undo: Some(entries[at].id.clone()),
            copied: Some(later.len()),
            ..Step::default()
        };
        // What was said about the copies holds for what they were copied from.
        let renamed = entries[span].iter().map(|entry| entry.id.clone());
        let renamed = renamed.zip(done.originals).collect();
        let mut drafts = vec![(mark(REDO_MARK, &step), stamp())];
        drafts.extend(copies(later, renamed, &mut stamp));
        Ok(Again {
            branch: Some(Some(leaf)),
            drafts,
            subject: compaction,
        })
    }
}

/// What marks of a kind name: the prunings that were taken back already, say.
fn named_by(
    entries: &[Entry],
    kind: &str,
    named: impl Fn(Step) -> Option<EntryId>,
) -> HashSet<EntryId> {
    let steps = entries.iter().filter_map(|entry| said::<Step>(entry, kind));
    steps.filter_map(named).collect()
}

/// Writes entries again, with what points among them following along.
fn copies(
    entries: &[Entry],
    mut renamed: HashMap<EntryId, EntryId>,
    stamp: &mut impl FnMut() -> Stamp,
) -> Vec<(Draft, Stamp)> {
    let mut drafts = Vec::new();
    for entry in entries {
        let new = stamp();
        let target = match &entry.body {
            Body::ContextEdit(edit) => renamed.get(&edit.target).cloned(),
            Body::Label { target, .. } => renamed.get(target).cloned(),
            _ => None,
        };
        let draft = mark_again(entry, &renamed).unwrap_or_else(|| Draft::Again {
            raw: entry.raw().to_owned(),
            target,
        });
        renamed.insert(entry.id.clone(), new.id.clone());
        drafts.push((draft, new));
    }
    drafts
}

/// A mark of ours with the ids that it names renamed; nothing if it is none, or
/// names none of them.
fn mark_again(entry: &Entry, renamed: &HashMap<EntryId, EntryId>) -> Option<Draft> {
    let mut marks = [PRUNE_MARK, UNDO_MARK, REDO_MARK].into_iter();
    let kind = marks.find(|kind| is_mark(entry, kind))?;
    let mut data: Value = said(entry, kind)?;
    let mut changed = false;
    let mut rename = |id: &mut Value| {
        if let Some(new) = id.as_str().and_then(|id| renamed.get(id)) {
            *id = new.as_str().into();
            changed = true;
        }
    };
    for field in ["prune", "undo"] {
        data.get_mut(field).into_iter().for_each(&mut rename);
    }
    let targets = data.get_mut("targets").and_then(Value::as_array_mut);
    targets.into_iter().flatten().for_each(&mut rename);
    changed.then(|| mark(kind, &data))
}

/// Gives pruned results their own content back.
fn unprune(
    pruning: &Entry,
    stamp: &mut impl FnMut() -> Stamp,
    original: &dyn Fn(&EntryId) -> Option<Entry>,
) -> Result<Again, UndoFailure> {
    let mut drafts = Vec::new();
    for target in targets(pruning) {
        let entry = original(&target).ok_or_else(|| UndoFailure::Missing(target.clone()))?;
        let content = entry
            .message()
            .and_then(|message| message.object().raw("content").map(str::to_owned));
        let content = content.or_else(|| Some("[]".into()));
        drafts.push((Draft::ContextEdit { target, content }, stamp()));
    }
    let step = Step {
        prune: Some(pruning.id.clone()),
        ..Step::default()
    };
    drafts.push((mark(UNDO_MARK, &step), stamp()));
    Ok(at_leaf(drafts, pruning))
}

fn at_leaf(drafts: Vec<(Draft, Stamp)>, subject: &Entry) -> Again {
    Again {
        branch: None,
        drafts,
        subject: subject.id.clone(),
    }
}

fn targets(pruning: &Entry) -> Vec<EntryId> {
    said::<Step>(pruning, PRUNE_MARK)
        .unwrap_or_default()
        .targets
}

/// Hides again what a pruning hid, in the same words. The new mark can be
/// undone like the first one.
fn prune_again(
    before: &[Entry],
    prune: &EntryId,
    undo: &EntryId,
    stamp: &mut impl FnMut() -> Stamp,
) -> Result<Again, UndoFailure> {
    let at = before.iter().rposition(|entry| entry.id == *prune);
    let at = at.ok_or(UndoFailure::NothingToRedo)?;
    let pruning = &before[at];
    let mut drafts = Vec::new();
    for target in targets(pruning) {
        let mut edits = before[..at].iter().rev();
        let content = edits.find_map(|entry| match &entry.body {
            Body::ContextEdit(edit) if edit.target == target => Some(&edit.replacement),
            _ => None,
        });
        let Some(Replacement::Content(content)) = content else {
            return Err(UndoFailure::NothingToRedo);
        };
        let content = Some(content.to_string());
        drafts.push((Draft::ContextEdit { target, content }, stamp()));
    }
    let data: Value = said(pruning, PRUNE_MARK).unwrap_or_default();
    drafts.push((mark(PRUNE_MARK, &data), stamp()));
    let step = Step {
        undo: Some(undo.clone()),
        ..Step::default()
    };
    drafts.push((mark(REDO_MARK, &step), stamp()));
    Ok(at_leaf(drafts, pruning))
}
