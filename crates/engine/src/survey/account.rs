//! What a path held before the latest boundary: the ledger of it, and what the
//! audit looks for.
//!
//! It is kept for the compaction that set the boundary. The next one leaves behind
//! what stands between the two: only that is read then.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_compaction::audit::Source;
use longhaul_ledger::{Capture, Ledger};
use longhaul_transcript::{
    Entry, EntryId, Loaded, Place, Result, Session, each_archived, has_archive,
};
use serde::{Deserialize, Serialize};

use super::{Survey, archives, size_of};
use crate::changes::Changes;

const PART: &str = "account";

/// The fold over everything before the kept part of a path.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Account {
    /// The entry that set the boundary.
    boundary: Option<EntryId>,
    /// The first one that it keeps.
    first: EntryId,
    place: Place,
    /// What a host changed of it after it was said.
    changed: BTreeSet<EntryId>,
    ledger: Ledger,
    source: Source,
}

impl Survey {
    /// The ledger and the audit's source of all before what was loaded of a session,
    /// with so much captured for checkpoints.
    pub(crate) fn before(
        &self,
        session: &Session,
        loaded: &Loaded,
        capture: Capture,
    ) -> Result<(Ledger, Source)> {
        let cwd = session.header().cwd.as_ref();
        let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
        let ledger = Ledger::new(cwd.clone()).capturing(capture);
        let source = Source::new(cwd);
        let Some(first) = loaded.entries.first() else {
            return Ok((ledger, source));
        };
        let kept: HashSet<&EntryId> = loaded.entries.iter().map(|entry| &entry.id).collect();
        let changed = self.state.changed.iter().filter(|id| !kept.contains(id));
        let mut account = Account {
            boundary: loaded.compaction().map(|(entry, _)| entry.id.clone()),
            first: first.id.clone(),
            place: self.place(&first.id).unwrap_or(first.place),
            changed: changed.cloned().collect(),
            ledger,
            source,
        };
        let (version, archives) = (Ledger::VERSION, archives(session));
        let form = format!(
            "account {version} {capture:?} {archives} {:?}",
            account.ledger.cwd
        );
        // A file that is read line by line is the same as far as it was folded in.
        let upto = match self.state.placed {
            true => account.place.offset,
            false => size_of(session),
        };
        let before = self.store.kept::<Account>(session, PART, &form).ok();
        let before = before.flatten();
        let before = before.filter(|(known, _)| self.state.placed || *known == upto);
        let before = before.map(|(_, account)| account);
        if let Some(before) = &before
            && before.boundary == account.boundary
            && before.first == account.first
            && before.changed == account.changed
        {
            return Ok((
                before.ledger.clone().capturing(capture),
                before.source.clone(),
            ));
        }
        let is_plain = self.state.placed && self.state.changed.is_empty();
        let before = before.filter(|before| is_plain && before.changed.is_empty());
        let between = before.and_then(|before| {
            let path = self.between(&before.first, first)?;
            Some((before, path))
        });
        match between {
            Some((before, path)) => {
                account.ledger = before.ledger.capturing(capture);
                account.source = before.source;
                session.stretch(before.place, account.place.offset, &mut |entry, _| {
                    if path.contains(&entry.id) {
                        account.fold(&entry);
                    }
                    ControlFlow::Continue(())
                })?;
            }
            None => account.fold_all(session, loaded, &kept, &self.changes(session)?)?,
        }
        if upto > 0 && self.store.is_kept() {
            // Without what is kept the next process takes longer, no more.
            let _ = self.store.keep(session, PART, &form, upto, &account);
        }
        Ok((account.ledger, account.source))
    }

    /// The path from one entry to what another follows; none where the one is not
    /// above the other.
    fn between(&self, from: &EntryId, to: &Entry) -> Option<HashSet<EntryId>> {
        let mut path = HashSet::new();
        let mut at = to.id.clone();
        while at != *from {
            let (_, parent) = self.store.link(&at).ok()??;
            at = parent?;
            if !path.insert(at.clone()) {
                return None;
            }
        }
        Some(path)
    }
}

impl Account {
    fn fold(&mut self, entry: &Entry) {
        self.ledger.observe(entry);
        self.source.observe(entry);
        self.source.settle(None);
    }

    /// Folds in everything on the path, archived entries for the audit alone.
    fn fold_all(
        &mut self,
        session: &Session,
        loaded: &Loaded,
        kept: &HashSet<&EntryId>,
        changes: &Changes,
    ) -> Result<()> {
        let tree = session.tree()?;
        let leaf = loaded.entries.last().map(|entry| &entry.id);
        let path = leaf.and_then(|leaf| tree.path_to(leaf));
        let path = path.unwrap_or_else(|| tree.path());
        let nodes = tree.nodes();
        let before = path.first().and_then(|at| nodes[*at].parent.clone());
        self.observe_archived(session, before)?;
        let path: HashSet<&EntryId> = path.iter().map(|at| &nodes[*at].id).collect();
        session.each(&mut |entry| {
            if path.contains(&entry.id) && !kept.contains(&entry.id) {
                self.fold(&changes.apply(entry));
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Shows the audit the archived entries that lead to the first one of the file.
    fn observe_archived(&mut self, session: &Session, to: Option<EntryId>) -> Result<()> {
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
                self.source.observe(&entry);
                self.source.settle(None);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}
