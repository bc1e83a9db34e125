//! What the compactions of a session came to, as their entries say.

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_compaction::Wear;
use longhaul_compaction::audit::Audit;
use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Entry, EntryId, Loaded, Result, Session};

/// A file so large that nobody would wait for its compactions to be counted.
const COUNTED_UP_TO: u64 = 256 * 1024 * 1024;

/// What one of our own compactions says about what it kept.
pub fn fidelity(entry: &Entry) -> Option<Audit> {
    detail(entry, "fidelity")
}

/// The compactions on the path, oldest first. Reads the whole file.
pub fn compactions(session: &Session, leaf: Option<&EntryId>) -> Result<Vec<Entry>> {
    let tree = session.tree()?;
    let path = leaf.and_then(|leaf| tree.path_to(leaf));
    let path: HashSet<EntryId> = path
        .unwrap_or_else(|| tree.path())
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let mut found = Vec::new();
    session.each(&mut |entry| {
        if matches!(entry.body, Body::Compaction(_)) && path.contains(&entry.id) {
            found.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Whether the compactions of a session can be counted through its file.
pub(crate) fn is_countable(session: &Session) -> bool {
    std::fs::metadata(session.path()).map_or(0, |meta| meta.len()) <= COUNTED_UP_TO
}

/// What came of all compactions on the path. The latest of ours carries that;
/// where it is another agent's, the file is gone through.
pub(crate) fn wear(session: &Session, loaded: &Loaded, leaf: Option<&EntryId>) -> Result<Wear> {
    let Some((entry, _)) = loaded.compaction() else {
        return Ok(Wear::default());
    };
    if let Some(wear) = detail(entry, "wear") {
        return Ok(wear);
    }
    if !is_countable(session) {
        return Ok(Wear {
            unaudited: loaded.epoch.count(),
            ..Wear::default()
        });
    }
    let all = compactions(session, leaf)?;
    Ok(all.iter().fold(Wear::default(), after))
}

/// The same with one more compaction.
pub(super) fn after(wear: Wear, entry: &Entry) -> Wear {
    detail(entry, "wear").unwrap_or_else(|| wear.after(fidelity(entry).as_ref()))
}

fn detail<T: serde::de::DeserializeOwned>(entry: &Entry, name: &str) -> Option<T> {
    let object = Object::parse(entry.raw()).ok()?;
    serde_json::from_str(object.object("details")?.raw(name)?).ok()
}
