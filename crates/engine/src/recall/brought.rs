//! Entries that came with an import nobody vouches for.

use std::collections::HashSet;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_ledger::{is_brought, ours};
use longhaul_transcript::{Body, EntryId, EntryType, Session};
use memchr::memmem::Finder;

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

/// Whether a file has these words in it. That takes a fraction of reading it as a
/// session, and hardly any session is an import.
pub(crate) fn mentions(path: &Path, words: &str) -> bool {
    const PART: usize = 1 << 20;
    let Ok(mut file) = longhaul_files::open(path) else {
        return false;
    };
    let finder = Finder::new(words);
    let mut part = vec![0; PART];
    // What the last part ended with, in which the words may have begun.
    let mut kept = 0;
    loop {
        let read = match file.read(&mut part[kept..]) {
            Ok(0) | Err(_) => return false,
            Ok(read) => read,
        };
        let end = kept + read;
        if finder.find(&part[..end]).is_some() {
            return true;
        }
        kept = end.min(words.len() - 1);
        part.copy_within(end - kept..end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_in_a_file_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for at in [0, 7, (1 << 20) - 5, (1 << 20) + 3, 3 << 20] {
            let mut text = vec![b'x'; at];
            text.extend(b"longhaul:import");
            text.extend([b'x'; 9]);
            std::fs::write(&path, &text).unwrap();
            assert!(mentions(&path, "longhaul:import"), "{at}");
            assert!(!mentions(&path, "longhaul:export"), "{at}");
        }
        assert!(!mentions(&folder.path().join("none"), "x"));
    }
}
