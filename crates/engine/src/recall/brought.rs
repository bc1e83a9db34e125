//! Entries that came with an import nobody vouches for.

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_ledger::{is_brought, ours};
use longhaul_transcript::{Body, EntryId, EntryType, Session};

use crate::changes::mentions;

/// What stands behind who is said to have said it.
pub const UNVOUCHED: &str = " (imported; nobody vouches for it)";

/// The entries of a session that were there before its import, if it is one that
/// nobody vouches for, and those that the import began it with. A file that cannot be read to its end is told by whoever
/// reads it for what is in it.
pub(crate) fn brought(session: &Session) -> HashSet<EntryId> {
    let mut brought = HashSet::new();
    if !mentions(session.path(), ours::IMPORT) {
        return brought;
    }
    let mut before = Vec::new();
    let mut begins = false;
    let _ = super::each_stored(session, &mut |entry| {
        if is_brought(&entry) {
            brought.extend(before.drain(..));
            begins = true;
        }
        begins &= !matches!(entry.body, Body::Message(_));
        if begins
            && matches!(
                entry.kind(),
                EntryType::Compaction | EntryType::CustomMessage
            )
        {
            brought.insert(entry.id.clone());
        }
        before.push(entry.id);
        ControlFlow::Continue(())
    });
    brought
}

/// Whose an entry is by the role that the index has of it, and whether nobody
/// vouches for that.
pub fn told_apart(role: Option<&str>) -> (Option<&str>, bool) {
    match role.and_then(|role| role.strip_suffix(UNVOUCHED)) {
        Some(role) => (Some(role), true),
        None => (role, false),
    }
}
