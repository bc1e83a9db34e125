//! Taking a compaction back, and forward again.
//!
//! Nothing is rewritten. Undoing a compaction leaves it where it is and starts
//! a branch before it, on which everything that came after it is written
//! again; redoing goes back to the old branch the same way. Undoing a pruning
//! gives every hidden result its content back by one more context edit, and
//! redoing it hides them by yet another.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Draft, Entry, EntryId, Replacement, Stamp};
use serde_json::{Value, json};

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
        let undone = named_by(entries, UNDO_MARK, "prune");
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
        // What it shortened in its tail is whole again without it.
        let shortened = shortened(subject);
        let belongs = |entry: &&Entry| matches!(&entry.body, Body::ContextEdit(edit) if shortened.contains(&edit.target));
        let own = entries[at + 1..].iter().take_while(belongs).count();
        let later = &entries[at + 1 + own..];
        let originals: Vec<&str> = later.iter().map(|entry| entry.id.as_str()).collect();
        let mark = Draft::Custom {
            custom_type: UNDO_MARK.into(),
            data: json!({
                "compaction": subject.id.as_str(),
                "leaf": leaf.as_ref().map(EntryId::as_str),
                "copied": later.len(),
                "originals": originals,
            })
            .to_string(),
        };
        let mut drafts = vec![(mark, stamp())];
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
        let redone = named_by(entries, REDO_MARK, "undo");
        // A mark among copies is older than the mark that they belong to.
        let copied = copied(entries);
        let start = self.loaded.boundary.map_or(0, |at| at + 1);
        let at = (start..entries.len())
            .rev()
            .find(|at| {
                is_mark(&entries[*at], UNDO_MARK)
                    && !redone.contains(entries[*at].id.as_str())
                    && !copied.iter().any(|span| span.contains(at))
            })
            .ok_or(UndoFailure::NothingToRedo)?;
        let object = Object::parse(entries[at].raw()).unwrap_or_default();
        let data = object.object("data").unwrap_or_default();
        if let Some(prune) = data.str("prune") {
            return prune_again(&entries[..at], &prune, &entries[at].id, &mut stamp);
        }
        let (Some(leaf), Some(compaction)) = (data.str("leaf"), data.str("compaction")) else {
            return Err(UndoFailure::NothingToRedo);
        };
        let span = span_of(entries, at);
        let later = &entries[span.end..];
        let mark = Draft::Custom {
            custom_type: REDO_MARK.into(),
            data: json!({
                "undo": entries[at].id.as_str(),
                "copied": later.len(),
            })
            .to_string(),
        };
        // What was said about the copies holds for what they were copied from.
        let originals = ids(&data, "originals");
        let renamed = entries[span].iter().map(|entry| entry.id.clone());
        let mut drafts = vec![(mark, stamp())];
        drafts.extend(copies(later, renamed.zip(originals).collect(), &mut stamp));
        Ok(Again {
            branch: Some(Some(EntryId::new(leaf.into_owned()))),
            drafts,
            subject: EntryId::new(compaction.into_owned()),
        })
    }
}

/// The entries that a compaction shows shortened.
fn shortened(compaction: &Entry) -> Vec<EntryId> {
    let object = Object::parse(compaction.raw()).unwrap_or_default();
    let details = object.object("details").unwrap_or_default();
    ids(&details, "shortened")
}

/// What marks of a kind name: the prunings that were taken back already, say.
fn named_by(entries: &[Entry], mark: &str, field: &str) -> HashSet<String> {
    entries
        .iter()
        .filter(|entry| is_mark(entry, mark))
        .filter_map(|entry| {
            let object = Object::parse(entry.raw()).ok()?;
            Some(object.object("data")?.str(field)?.into_owned())
        })
        .collect()
}

fn is_mark(entry: &Entry, name: &str) -> bool {
    matches!(&entry.body, Body::Custom { custom_type } if custom_type == name)
}

/// Where a path has entries that were written again when a compaction was
/// taken back or forward. The answers among them were given to another context.
pub(crate) fn copied(entries: &[Entry]) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let within = spans.last().is_some_and(|span| at < span.end);
        if !within && (is_mark(entry, UNDO_MARK) || is_mark(entry, REDO_MARK)) {
            spans.push(span_of(entries, at));
        }
    }
    spans
}

/// The copies that a mark says follow it.
fn span_of(entries: &[Entry], mark: usize) -> Range<usize> {
    let object = Object::parse(entries[mark].raw()).unwrap_or_default();
    let copied = object.object("data").and_then(|data| data.u64("copied"));
    let copied = usize::try_from(copied.unwrap_or(0)).unwrap_or(usize::MAX);
    let start = mark + 1;
    start..start.saturating_add(copied).min(entries.len())
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
    let custom_type = [PRUNE_MARK, UNDO_MARK, REDO_MARK]
        .into_iter()
        .find(|name| is_mark(entry, name))?;
    let object = Object::parse(entry.raw()).ok()?;
    let mut data: Value = serde_json::from_str(object.raw("data")?).ok()?;
    let mut changed = false;
    let mut rename = |id: &mut Value| {
        let new = id.as_str().and_then(|id| renamed.get(&EntryId::new(id)));
        if let Some(new) = new {
            *id = new.as_str().into();
            changed = true;
        }
    };
    for field in ["prune", "undo"] {
        data.get_mut(field).into_iter().for_each(&mut rename);
    }
    let targets = data.get_mut("targets").and_then(Value::as_array_mut);
    targets.into_iter().flatten().for_each(&mut rename);
    changed.then(|| Draft::Custom {
        custom_type: custom_type.into(),
        data: data.to_string(),
    })
}

/// Gives pruned results their own content back.
fn unprune(
    mark: &Entry,
    stamp: &mut impl FnMut() -> Stamp,
    original: &dyn Fn(&EntryId) -> Option<Entry>,
) -> Result<Again, UndoFailure> {
    let undo = Draft::Custom {
        custom_type: UNDO_MARK.into(),
        data: json!({ "prune": mark.id.as_str() }).to_string(),
    };
    let mut drafts = Vec::new();
    for target in targets(mark) {
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

/// The results that a pruning hid.
fn targets(mark: &Entry) -> Vec<EntryId> {
    let object = Object::parse(mark.raw()).unwrap_or_default();
    ids(&object.object("data").unwrap_or_default(), "targets")
}

fn ids(data: &Object<'_>, field: &str) -> Vec<EntryId> {
    data.array(field)
        .unwrap_or_default()
        .iter()
        .filter_map(|raw| longhaul_transcript::json::string(raw.get()))
        .map(|id| EntryId::new(id.into_owned()))
        .collect()
}

/// Hides again what a pruning hid, in the same words. The new mark can be
/// undone like the first one.
fn prune_again(
    before: &[Entry],
    prune: &str,
    undo: &EntryId,
    stamp: &mut impl FnMut() -> Stamp,
) -> Result<Again, UndoFailure> {
    let at = before
        .iter()
        .rposition(|entry| entry.id.as_str() == prune)
        .ok_or(UndoFailure::NothingToRedo)?;
    let mark = &before[at];
    let mut drafts = Vec::new();
    for target in targets(mark) {
        let content = before[..at]
            .iter()
            .rev()
            .find_map(|entry| match &entry.body {
                Body::ContextEdit(edit) if edit.target == target => Some(&edit.replacement),
                _ => None,
            });
        let Some(Replacement::Content(content)) = content else {
            return Err(UndoFailure::NothingToRedo);
        };
        let content = Some(content.to_string());
        drafts.push((Draft::ContextEdit { target, content }, stamp()));
    }
    let data = Object::parse(mark.raw()).unwrap_or_default();
    let marks = [
        (PRUNE_MARK, data.raw("data").unwrap_or("{}").to_owned()),
        (REDO_MARK, json!({ "undo": undo.as_str() }).to_string()),
    ];
    for (custom_type, data) in marks {
        let custom_type = custom_type.into();
        drafts.push((Draft::Custom { custom_type, data }, stamp()));
    }
    Ok(Again {
        branch: None,
        drafts,
        subject: mark.id.clone(),
    })
}
