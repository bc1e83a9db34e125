//! What of a path lies in the archive beside its file.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_compaction::audit::Source;
use longhaul_transcript::{EntryId, Result, Session, each_archived, has_archive};

/// Shows an audit the archived entries that lead to the first one of the file.
pub(super) fn observe(session: &Session, to: Option<EntryId>, source: &mut Source) -> Result<()> {
    let file = session.path();
    if to.is_none() || !has_archive(file) {
        return Ok(());
    }
    let mut parents: HashMap<EntryId, Option<EntryId>> = HashMap::new();
    each_archived(file, &mut |entry| {
        parents.insert(entry.id, entry.parent);
        ControlFlow::Continue(())
    })?;
    let mut path: HashSet<EntryId> = HashSet::new();
    let mut at = to;
    while let Some(id) = at.filter(|id| parents.contains_key(id) && !path.contains(id)) {
        at = parents.get(&id).cloned().flatten();
        path.insert(id);
    }
    each_archived(file, &mut |entry| {
        if path.contains(&entry.id) {
            source.observe(&entry);
            source.settle(None);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
