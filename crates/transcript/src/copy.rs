//! New sessions from old ones: forks of a path, native copies of foreign files.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use crate::chain::Chain;
use crate::context::kept_by_reset;
use crate::entry::{Body, Boundary, Entry, EntryId};
use crate::error::{Error, Result};
use crate::header::Header;
use crate::json::{Object, ObjectWriter, quote};
use crate::session::Session;
use crate::time::Millis;

/// What the caller gives a new session, since the core has no clock and no
/// source of ids.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its id.
    pub id: String,
    /// When it is made.
    pub time: Millis,
}

/// What a copy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Copied {
    /// Entries written.
    pub entries: u64,
    /// Faults of the source that the copy does not have.
    pub faults: u64,
    /// Those of them by which something of the source is missing.
    pub lost: u64,
}

/// Copies the path from the root to `leaf` (or the session's leaf) into a new
/// file. The source is not touched.
pub fn fork(
    session: &Session,
    leaf: Option<&EntryId>,
    target: &Path,
    new: &NewSession,
) -> Result<Copied> {
    let tree = session.tree()?;
    let path = match leaf {
        Some(leaf) => tree.path_to(leaf).ok_or_else(|| Error::NoSuchEntry {
            path: session.path().to_owned(),
            id: leaf.clone(),
        })?,
        None => tree.path(),
    };
    let ids: HashSet<EntryId> = path.iter().map(|&at| tree.nodes()[at].id.clone()).collect();
    copy(session, target, new, &|id| ids.contains(id), leaf)
}

/// Writes a native copy of a whole session of any format.
pub fn import(session: &Session, target: &Path, new: &NewSession) -> Result<Copied> {
    copy(session, target, new, &|_| true, None)
}

/// Writes entries as a session of their own, in the order given, each following
/// the one before it.
pub fn write_path(target: &Path, header: &Header, entries: &[Entry]) -> Result<Copied> {
    if target.symlink_metadata().is_ok() {
        return Err(exists(target));
    }
    longhaul_files::create_whole(target, &mut |out| {
        writeln!(out, "{}", header.to_line())?;
        let mut parent = None;
        let mut chain = Chain::of(&header.id);
        for entry in entries {
            writeln!(out, "{}", chain.copy(native_line(entry, parent)))?;
            parent = Some(&entry.id);
        }
        Ok(())
    })?;
    Ok(Copied {
        entries: entries.len() as u64,
        faults: 0,
        lost: 0,
    })
}

fn exists(target: &Path) -> Error {
    Error::refused(
        "write",
        target,
        "the file exists already; choose another name or remove it",
    )
}

fn copy(
    session: &Session,
    target: &Path,
    new: &NewSession,
    wanted: &dyn Fn(&EntryId) -> bool,
    leaf: Option<&EntryId>,
) -> Result<Copied> {
    if target.symlink_metadata().is_ok() {
        return Err(exists(target));
    }
    if let Some(folder) = target.parent().filter(|f| !f.as_os_str().is_empty()) {
        longhaul_files::create_folder(folder)?;
    }
    let header = Header {
        id: new.id.clone(),
        version: 3,
        time: Some(new.time),
        cwd: session.header().cwd.clone(),
        parent_session: Some(session.path().to_string_lossy().into_owned()),
    };
    let plan = Plan::of(session, leaf)?;
    let mut copied = Copied::default();
    let mut failure = None;
    longhaul_files::create_whole(target, &mut |out| {
        writeln!(out, "{}", header.to_line())?;
        let mut write_error = None;
        let result = lines(
            session,
            Chain::of(&header.id),
            &plan,
            wanted,
            &mut |line| match writeln!(out, "{line}") {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    write_error = Some(error);
                    ControlFlow::Break(())
                }
            },
        );
        if let Some(error) = write_error {
            return Err(error);
        }
        match result {
            Ok(all) => copied = all,
            Err(error) => {
                failure = Some(error);
                return Err(io::Error::other("the source could not be read"));
            }
        }
        Ok(())
    })
    .map_err(|error| failure.take().unwrap_or_else(|| error.into()))?;
    Ok(copied)
}

/// The lines that a fork of the session's path would have below its header, in
/// their order, without writing them anywhere.
pub fn each_line_of_path(
    session: &Session,
    visit: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<Copied> {
    let tree = session.tree()?;
    let nodes = tree.nodes();
    let ids: HashSet<&EntryId> = tree.path().into_iter().map(|at| &nodes[at].id).collect();
    let plan = Plan::of(session, None)?;
    let chain = Chain::of(&session.header().id);
    lines(session, chain, &plan, &|id| ids.contains(id), visit)
}

fn lines(
    session: &Session,
    mut chain: Chain,
    plan: &Plan,
    wanted: &dyn Fn(&EntryId) -> bool,
    visit: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<Copied> {
    let mut copied = Copied::default();
    let mut last: Vec<(usize, Entry)> = Vec::new();
    let mut stopped = false;
    let faults = session.each(&mut |entry| {
        if !wanted(&entry.id) {
            return ControlFlow::Continue(());
        }
        copied.entries += 1;
        if let Some(at) = plan.held.iter().position(|id| *id == entry.id) {
            last.push((at, entry));
            return ControlFlow::Continue(());
        }
        let flow = visit(&chain.copy(plan.line(entry)));
        stopped = flow.is_break();
        flow
    })?;
    copied.faults = faults.len() as u64;
    copied.lost = faults.iter().filter(|fault| fault.kind.is_loss()).count() as u64;
    last.sort_by_key(|(at, _)| *at);
    for (_, entry) in last {
        if stopped || visit(&chain.copy(plan.line(entry))).is_break() {
            break;
        }
    }
    Ok(copied)
}

/// How a copy differs from its source so that pi, which knows neither
/// OpenClaw's `reset` and `leaf` nor its side entries, sees the same context.
struct Plan {
    /// Entries that must come last, in this order, so that the leaf is the leaf.
    held: Vec<EntryId>,
    /// Entries whose parent is another one than they state.
    parents: HashMap<EntryId, Option<EntryId>>,
    /// A compaction that names its boundary by the entry before it, and the
    /// first entry it keeps.
    kept: Option<(EntryId, EntryId)>,
}

impl Plan {
    fn of(session: &Session, leaf: Option<&EntryId>) -> Result<Plan> {
        let loaded = match leaf {
            Some(leaf) => session.load_at(leaf)?,
            None => session.load()?,
        };
        let mut plan = Plan {
            held: loaded
                .leaf()
                .map(|entry| entry.id.clone())
                .into_iter()
                .collect(),
            parents: Default::default(),
            kept: None,
        };
        if let Some(first) = loaded.entries.first().filter(|_| loaded.boundary.is_none()) {
            plan.parents.insert(first.id.clone(), None);
        }
        for pair in loaded.entries.windows(2) {
            plan.parents
                .insert(pair[1].id.clone(), Some(pair[0].id.clone()));
        }
        if let Some((entry, compaction)) = loaded.compaction()
            && let Boundary::After(_) = compaction.boundary
            && loaded.boundary > Some(0)
        {
            plan.kept = Some((entry.id.clone(), loaded.entries[0].id.clone()));
        }
        if let Some(at) = loaded.boundary
            && let Body::Reset { .. } = loaded.entries[at].body
        {
            // Cut the path where the reset cuts it: what it does not keep is
            // left hanging beside, what it keeps starts a root of its own.
            let kept: Vec<&EntryId> = kept_by_reset(&loaded.entries[..at])
                .into_iter()
                .map(|entry| &entry.id)
                .collect();
            let mut previous: Option<EntryId> = None;
            for entry in &loaded.entries {
                let stays = kept.contains(&&entry.id)
                    || loaded.entries[at..]
                        .iter()
                        .any(|other| other.id == entry.id);
                plan.parents.insert(entry.id.clone(), previous.clone());
                if stays {
                    previous = Some(entry.id.clone());
                }
            }
        }
        Ok(plan)
    }

    fn line(&self, mut entry: Entry) -> String {
        if let Some((compaction, first)) = &self.kept
            && *compaction == entry.id
            && let Body::Compaction(compaction) = &mut entry.body
        {
            compaction.boundary = Boundary::FirstKept(first.clone());
        }
        native_line(&entry, self.parent(&entry))
    }

    fn parent<'a>(&'a self, entry: &'a Entry) -> Option<&'a EntryId> {
        match self.parents.get(&entry.id) {
            Some(parent) => parent.as_ref(),
            None => entry.parent.as_ref(),
        }
    }
}

/// A movement of the leaf, kept as a record of what happened.
fn moved_line(entry: &Entry, parent: Option<&EntryId>, kind: &str) -> String {
    ObjectWriter::new()
        .str("type", "custom")
        .str("id", entry.id.as_str())
        .raw(
            "parentId",
            &parent.map_or_else(|| "null".into(), |parent| quote(parent.as_str())),
        )
        .str("timestamp", &entry.time.unwrap_or_default().to_iso())
        .str("customType", &format!("openclaw:{kind}"))
        .raw("data", entry.raw())
        .finish()
}

/// The entry as a current line. Stored bytes are kept when they already say
/// all of it; older layouts are rebuilt.
pub(crate) fn native_line(entry: &Entry, parent: Option<&EntryId>) -> String {
    let object = Object::of(entry.raw()).unwrap_or_default();
    let same_parent = match parent {
        Some(parent) => object.str("parentId").as_deref() == Some(parent.as_str()),
        None => object.raw("parentId") == Some("null"),
    };
    let flat = object.has("role") && !object.has("message");
    let old = object.has("firstKeptEntryIndex") || object.has("boundaryMessageId");
    let rebuilt = entry.message_json() != object.raw("message");
    let moves = matches!(entry.body, Body::Reset { .. } | Body::Leaf { .. });
    let known = object.str("id").as_deref() == Some(entry.id.as_str()) && same_parent;
    if known && !flat && !old && !rebuilt && !moves {
        return entry.raw().to_owned();
    }
    let kind = entry.kind();
    if moves {
        // The copy's path says it all; told twice, only some readers would obey.
        return moved_line(entry, parent, kind.as_str());
    }
    let mut writer = ObjectWriter::new()
        .str("type", kind.as_str())
        .str("id", entry.id.as_str())
        .raw(
            "parentId",
            &parent.map_or_else(|| "null".into(), |parent| quote(parent.as_str())),
        );
    writer = match (object.raw("timestamp"), entry.time) {
        (Some(raw), _) if raw.starts_with('"') => writer.raw("timestamp", raw),
        (_, Some(time)) => writer.str("timestamp", &time.to_iso()),
        (Some(raw), None) => writer.raw("timestamp", raw),
        (None, None) => writer,
    };
    if let Some(json) = entry.message_json() {
        writer = writer.raw("message", json);
    }
    for (key, raw) in object.iter() {
        let placed = matches!(key, "type" | "id" | "parentId" | "timestamp" | "message");
        let moved = flat && !matches!(key, "api" | "source");
        if !placed && !moved && key != "firstKeptEntryIndex" {
            writer = writer.raw(key, raw);
        }
    }
    if let Body::Compaction(compaction) = &entry.body
        && !object.has("firstKeptEntryId")
    {
        let kept = match &compaction.boundary {
            Boundary::FirstKept(id) => id,
            _ => &entry.id,
        };
        writer = writer.str("firstKeptEntryId", kept.as_str());
        if !object.has("tokensBefore") {
            writer = writer.num("tokensBefore", compaction.tokens_before.unwrap_or(0));
        }
    }
    writer.finish()
}
