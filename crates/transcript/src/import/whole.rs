//! Loading a foreign session from all of its entries.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::entry::{Entry, EntryId};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::header::Header;
use crate::layout::Dialect;
use crate::load::{Loaded, Resets, cut_at_boundary};
use crate::session::Source;

/// The path to one entry. Reads twice, first for the tree and then for the
/// entries, so that only those of the path are held.
pub(super) fn load_at(source: &dyn Source, leaf: &EntryId) -> Result<Loaded> {
    let tree = source.tree()?;
    let path = tree.path_to(leaf).ok_or_else(|| Error::NoSuchEntry {
        path: source.path().to_owned(),
        id: leaf.clone(),
    })?;
    let mut wanted: HashMap<EntryId, usize> = path
        .iter()
        .enumerate()
        .map(|(at, &node)| (tree.nodes()[node].id.clone(), at))
        .collect();
    let mut entries: Vec<Option<Entry>> = path.iter().map(|_| None).collect();
    source.each(&mut |entry| {
        if let Some(at) = wanted.remove(&entry.id) {
            entries[at] = Some(entry);
        }
        if wanted.is_empty() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(cut_path(
        source.header().clone(),
        entries.into_iter().flatten().collect(),
        tree.into_faults(),
    ))
}

/// Cuts a path of imported entries, which never hold OpenClaw's resets.
pub(super) fn cut_path(header: Header, entries: Vec<Entry>, faults: Vec<Fault>) -> Loaded {
    cut_at_boundary(header, Dialect::Pi, Resets::Ignored, entries, faults)
}
