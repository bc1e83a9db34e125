//! The whole path for the audit, read once before the first compaction of a
//! process: a session is opened from its boundary on, but what must not get lost
//! may have been said long before.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_compaction::audit::Source;
use longhaul_transcript::{EntryId, Result, Session, each_archived};

use super::Live;
use crate::hosted::Changes;

impl Live {
    /// Reads what an audit looks for, archived entries included.
    pub fn read_source(&mut self, session: &Session) -> Result<()> {
        if self.has_whole_source {
            return Ok(());
        }
        let tree = session.tree()?;
        let leaf = self.entries().last().map(|entry| &entry.id);
        let path = leaf.and_then(|leaf| tree.path_to(leaf));
        let path: Vec<usize> = path.unwrap_or_else(|| tree.path());
        let nodes = tree.nodes();
        let on_path: HashSet<&EntryId> = path.iter().map(|at| &nodes[*at].id).collect();
        let mut source = Source::new(self.full.cwd.clone());
        let begins = path.first().and_then(|at| nodes[*at].parent.clone());
        observe_archived(session, begins, &mut source)?;
        let changes = Changes::of(session)?;
        session.each(&mut |entry| {
            if on_path.contains(&entry.id) {
                source.observe(&changes.apply(entry));
            }
            ControlFlow::Continue(())
        })?;
        self.source = source;
        self.has_whole_source = true;
        Ok(())
    }
}

/// The archived entries that lead to the first one of the file.
fn observe_archived(session: &Session, to: Option<EntryId>, source: &mut Source) -> Result<()> {
    let file = &session.reference().path;
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
    if path.is_empty() {
        return Ok(());
    }
    each_archived(file, &mut |entry| {
        if path.contains(&entry.id) {
            source.observe(&entry);
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}
