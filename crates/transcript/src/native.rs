//! Native sessions: pi's and OpenClaw's own records, from a file or a database.
//!
//! Opening costs what the context costs: the path is followed from the end of
//! the file until the boundary of the latest compaction is complete. Only
//! files whose order cannot be told from the end (version 1, moved leaves,
//! children before their parents) are read whole.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_files::Identity;

use crate::archive::has_archive;
use crate::entry::{Body, Boundary, Entry, EntryId, Place};
use crate::error::{Error, Result};
use crate::fault::{Fault, FaultKind};
use crate::header::Header;
use crate::layout::{Dialect, LinearReader, id_of, stated, tree_entry};
use crate::lines::{Record, Visit};
use crate::load::{Epoch, Loaded, Settings, cut_at_boundary};
use crate::scan;
use crate::session::{Linked, Tail, VisitLined};
use crate::tree::{Tree, TreeBuilder};

/// Stored records that can be read from both ends.
pub(crate) trait Records {
    fn forward(&self, faults: &mut Vec<Fault>, visit: &mut Visit<'_>) -> Result<()>;
    fn backward(&self, faults: &mut Vec<Fault>, visit: &mut Visit<'_>) -> Result<()>;
    /// Visits the records at one place until one is taken.
    fn fetch(&self, place: Place, visit: &mut dyn FnMut(Record<'_>) -> bool) -> Result<bool>;
}

/// The records of a JSON-lines file, up to the size it had when opened.
///
/// No handle is kept, because an open handle tells other programs that the
/// session is in use. A file that was replaced in between is recognised and
/// refused: places in the old one mean nothing in the new.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    size: u64,
    identity: Identity,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Lines> {
        let meta = std::fs::metadata(path).map_err(Error::io("read", path))?;
        Ok(Lines {
            path: path.to_owned(),
            size: meta.len(),
            identity: Identity::of(&meta),
        })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    fn file(&self) -> Result<File> {
        let file = longhaul_files::open(&self.path)?;
        let meta = file.metadata().map_err(Error::io("read", &self.path))?;
        if Identity::of(&meta) == self.identity {
            Ok(file)
        } else {
            Err(Error::Changed {
                path: self.path.clone(),
            })
        }
    }
}

impl Records for Lines {
    fn forward(&self, faults: &mut Vec<Fault>, visit: &mut Visit<'_>) -> Result<()> {
        scan::forward_in(self.file()?, &self.path, 0..self.size, faults, visit)
    }

    fn backward(&self, faults: &mut Vec<Fault>, visit: &mut Visit<'_>) -> Result<()> {
        scan::backward_in(self.file()?, &self.path, 0..self.size, faults, visit)
    }

    fn fetch(&self, place: Place, visit: &mut dyn FnMut(Record<'_>) -> bool) -> Result<bool> {
        scan::record_at(self.file()?, &self.path, place.offset, self.size, visit)
    }
}

/// A native session, opened for reading.
pub(crate) struct Native<R> {
    pub(crate) path: PathBuf,
    pub(crate) header: Header,
    pub(crate) records: R,
}

impl Native<Lines> {
    /// Opens a session file and reads its header.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let records = Lines::open(path)?;
        if records.size() == 0 {
            return Err(Error::Empty {
                path: path.to_owned(),
            });
        }
        Native::new(path, records)
    }
}

impl Native<Lines> {
    /// Where the last whole line ends; nothing where an entry's id follows from
    /// all before it.
    pub(crate) fn lines_end(&self) -> Result<Option<u64>> {
        if Dialect::of(&self.header) == Dialect::Linear {
            return Ok(None);
        }
        let end = scan::lines_end(&mut self.records.file()?, self.records.size);
        Ok(Some(end.map_err(scan::cut_short(&self.path))?))
    }

    /// The entries of a part of the file, if there is a
    /// [`lines_end`](Native::lines_end).
    pub(crate) fn stretch(
        &self,
        from: Place,
        to: u64,
        visit: &mut VisitLined<'_>,
    ) -> Result<Place> {
        let openclaw = match Dialect::of(&self.header) {
            Dialect::Linear => return Ok(from),
            dialect => dialect == Dialect::OpenClaw,
        };
        let to = to.min(self.records.size);
        let stretch = scan::Stretch { from, to };
        let file = self.records.file()?;
        scan::forward_from(file, &self.path, stretch, &mut Vec::new(), &mut |record| {
            if is_header(&record) {
                return ControlFlow::Continue(());
            }
            let kind = record.object.str("type");
            let moves = matches!(kind.as_deref(), Some("reset" | "leaf"));
            // As when the path is followed from the end of OpenClaw's file.
            let beside = openclaw
                && (!record.object.has("parentId")
                    || record.object.has("appendMode")
                    || kind.as_deref() == Some("label")
                    || !crate::tree::is_canonical(&record.object));
            let linked = match moves || beside {
                true => Linked::Otherwise,
                false => Linked::ByParent,
            };
            visit(tree_entry(&record, &self.header), linked)
        })
    }
}

impl<R: Records> Native<R> {
    pub(crate) fn new(path: &Path, records: R) -> Result<Self> {
        let mut header = None;
        records.forward(&mut Vec::new(), &mut |record| {
            header = Some(if record.object.str("type").as_deref() == Some("session") {
                Header::read(&record.object)
            } else {
                Header {
                    version: 0,
                    ..Header::default()
                }
            });
            ControlFlow::Break(())
        })?;
        let mut header = header.ok_or_else(|| Error::UnknownFormat {
            path: path.to_owned(),
            reason: "no line of it is a JSON object".into(),
        })?;
        if header.id.is_empty() {
            header.id = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default();
        }
        Ok(Native {
            path: path.to_owned(),
            header,
            records,
        })
    }

    /// Every entry in stored order.
    pub(crate) fn each(
        &self,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Vec<Fault>> {
        let mut faults = self.header_faults();
        let linear = Dialect::of(&self.header) == Dialect::Linear;
        let mut reader = LinearReader::new(&self.header);
        let mut unknown = Vec::new();
        self.records.forward(&mut faults, &mut |record| {
            if is_header(&record) {
                reader.skip_header();
                return ControlFlow::Continue(());
            }
            let entry = if linear {
                reader.read(&record)
            } else {
                tree_entry(&record, &self.header)
            };
            unknown.extend(unknown_text(&entry, &record));
            visit(entry)
        })?;
        faults.extend(unknown);
        faults.sort_by_key(|fault| fault.offset);
        Ok(faults)
    }

    fn header_faults(&self) -> Vec<Fault> {
        if self.header.version > 0 {
            return Vec::new();
        }
        vec![Fault {
            line: 1,
            offset: 0,
            kind: FaultKind::NoHeader,
        }]
    }

    /// The tree of the whole session.
    pub(crate) fn tree(&self) -> Result<Tree> {
        let mut builder = TreeBuilder::new(Dialect::of(&self.header));
        let mut faults = self.header_faults();
        let linear = Dialect::of(&self.header) == Dialect::Linear;
        let mut reader = LinearReader::new(&self.header);
        self.records.forward(&mut faults, &mut |record| {
            if is_header(&record) {
                reader.skip_header();
            } else if linear {
                let entry = reader.read(&record);
                builder.add_linear(&record, entry.id, entry.parent);
            } else {
                builder.add(&record, &self.header);
            }
            ControlFlow::Continue(())
        })?;
        Ok(builder.finish(faults))
    }

    /// What the context needs: the path from the boundary to the leaf.
    pub(crate) fn load(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        let walked = match Dialect::of(&self.header) {
            Dialect::Linear => None,
            Dialect::Pi => self.walk_pi(leaf)?,
            Dialect::OpenClaw if leaf.is_none() => self.walk_straight()?,
            Dialect::OpenClaw => None,
        };
        match walked {
            Some(loaded) => Ok(loaded),
            None => self.load_whole(leaf),
        }
    }

    /// Follows parents from the end of the file, as pi does from its index:
    /// of two entries with one id the later counts. `None` when the file turns
    /// out to be OpenClaw's, or a parent is not before its child.
    fn walk_pi(&self, leaf: Option<&EntryId>) -> Result<Option<Loaded>> {
        let mut walk = Walk::new(leaf);
        let mut faults = Vec::new();
        let mut foreign = false;
        self.records.backward(&mut faults, &mut |record| {
            if is_header(&record) {
                return ControlFlow::Continue(());
            }
            let kind = record.object.str("type");
            if matches!(kind.as_deref(), Some("reset" | "leaf")) {
                foreign = true;
                return ControlFlow::Break(());
            }
            let id = id_of(&record, &self.header);
            if !walk.wants(&id) {
                walk.passed.entry(id).or_insert(record.place);
                return ControlFlow::Continue(());
            }
            walk.take(tree_entry(&record, &self.header));
            // A parent that was already passed stands after its child.
            while let Some(place) = walk.passed_parent() {
                let wanted = walk.wanted.clone();
                let found = self.records.fetch(place, &mut |record| {
                    let matches = wanted == Some(id_of(&record, &self.header));
                    if matches {
                        walk.take(tree_entry(&record, &self.header));
                    }
                    matches
                });
                if !matches!(found, Ok(true)) {
                    foreign = true;
                    return ControlFlow::Break(());
                }
            }
            if walk.done || walk.root {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if foreign {
            return Ok(None);
        }
        if walk.entries.is_empty()
            && let Some(leaf) = leaf
        {
            return Err(Error::NoSuchEntry {
                path: self.path.clone(),
                id: leaf.clone(),
            });
        }
        if !walk.done
            && !has_archive(&self.path)
            && let (Some(parent), Some(child)) = (&walk.wanted, walk.entries.last())
        {
            faults.push(Fault {
                line: child.place.line,
                offset: child.place.offset,
                kind: FaultKind::MissingParent {
                    id: child.id.to_string(),
                    parent: parent.to_string(),
                },
            });
        }
        Ok(Some(walk.finish(self, Dialect::Pi, faults)))
    }

    /// OpenClaw's leaf rules need the whole file only when something moved the
    /// leaf. When every record follows the one before it, back to the
    /// boundary, the end of the file is enough.
    fn walk_straight(&self) -> Result<Option<Loaded>> {
        let mut walk = Walk::new(None);
        let mut faults = Vec::new();
        let mut straight = true;
        let mut expected: Option<Option<EntryId>> = None;
        self.records.backward(&mut faults, &mut |record| {
            if is_header(&record) {
                return ControlFlow::Continue(());
            }
            let (id, parent) = stated(&record);
            let follows = match (&expected, &id) {
                (None, Some(_)) => true,
                (Some(Some(expected)), Some(id)) => expected == id,
                _ => false,
            };
            if !follows
                || !record.object.has("parentId")
                || record.object.has("appendMode")
                || !crate::tree::is_canonical(&record.object)
                || record.object.str("type").as_deref() == Some("label")
            {
                straight = false;
                return ControlFlow::Break(());
            }
            expected = Some(parent);
            walk.take(tree_entry(&record, &self.header));
            if walk.done {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if !straight || (!walk.done && walk.wanted.is_some()) {
            return Ok(None);
        }
        Ok(Some(walk.finish(self, Dialect::OpenClaw, faults)))
    }

    /// The newest entries in stored order, from about `max_bytes` of records.
    pub(crate) fn tail(&self, max_bytes: u64) -> Result<Tail> {
        if Dialect::of(&self.header) == Dialect::Linear {
            let loaded = self.load_whole(None)?;
            return Ok(Tail {
                complete: loaded.boundary.is_none(),
                entries: loaded.entries,
            });
        }
        let mut entries = Vec::new();
        let mut bytes = 0;
        let mut complete = true;
        self.records.backward(&mut Vec::new(), &mut |record| {
            if is_header(&record) {
                return ControlFlow::Continue(());
            }
            if bytes >= max_bytes {
                complete = false;
                return ControlFlow::Break(());
            }
            bytes += record.text.len() as u64;
            entries.push(tree_entry(&record, &self.header));
            ControlFlow::Continue(())
        })?;
        entries.reverse();
        Ok(Tail { entries, complete })
    }

    /// The current leaf, from the end of the file where that is enough.
    pub(crate) fn leaf(&self) -> Result<Option<EntryId>> {
        let mut last = None;
        let mut plain = Dialect::of(&self.header) == Dialect::Pi;
        if plain {
            self.records.backward(&mut Vec::new(), &mut |record| {
                if is_header(&record) {
                    return ControlFlow::Continue(());
                }
                let kind = record.object.str("type");
                plain = !matches!(kind.as_deref(), Some("reset" | "leaf"))
                    && !record.object.has("appendMode");
                last = Some(tree_entry(&record, &self.header).id);
                ControlFlow::Break(())
            })?;
        }
        if plain {
            return Ok(last);
        }
        Ok(self.tree()?.leaf().map(|node| node.id.clone()))
    }

    fn load_whole(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        let tree = self.tree()?;
        let path = match leaf {
            Some(leaf) => tree.path_to(leaf).ok_or_else(|| Error::NoSuchEntry {
                path: self.path.clone(),
                id: leaf.clone(),
            })?,
            None => tree.path(),
        };
        let mut wanted: HashMap<(u64, EntryId), usize> = path
            .iter()
            .enumerate()
            .map(|(at, &node)| {
                let node = &tree.nodes()[node];
                ((node.place.offset, node.id.clone()), at)
            })
            .collect();
        let mut entries: Vec<Option<Entry>> = path.iter().map(|_| None).collect();
        self.each(&mut |entry| {
            if let Some(at) = wanted.remove(&(entry.place.offset, entry.id.clone())) {
                entries[at] = Some(entry);
            }
            if wanted.is_empty() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if !wanted.is_empty() {
            return Err(Error::Changed {
                path: self.path.clone(),
            });
        }
        let mut entries: Vec<Entry> = entries.into_iter().flatten().collect();
        for (entry, &node) in entries.iter_mut().zip(&path) {
            entry.parent = tree.nodes()[node].effective_parent().cloned();
            if let Some(kept) = entry.first_kept_mut()
                && let Some(resolved) = tree.resolve_kept(kept, &path)
            {
                *kept = resolved;
            }
        }
        Ok(cut_at_boundary(
            self.header.clone(),
            tree.dialect(),
            tree.resets(),
            entries,
            tree.into_faults(),
        ))
    }
}

/// An entry of a type that is not known, with text in it.
fn unknown_text(entry: &Entry, record: &Record<'_>) -> Option<Fault> {
    let Body::Unknown(kind) = &entry.body else {
        return None;
    };
    let object = &record.object;
    let keys = ["content", "text", "prompt"];
    let message = object.object("message").unwrap_or_default();
    (object.has_text(&keys) || message.has_text(&keys)).then(|| Fault {
        line: record.place.line,
        offset: record.place.offset,
        kind: FaultKind::UnknownText {
            kind: kind.as_str().into(),
        },
    })
}

pub(crate) fn is_header(record: &Record<'_>) -> bool {
    record.object.raw("type") == Some("\"session\"")
}

/// A path being collected from leaf to boundary.
struct Walk {
    entries: Vec<Entry>,
    seen: HashSet<EntryId>,
    passed: HashMap<EntryId, Place>,
    wanted: Option<EntryId>,
    from_end: bool,
    /// The compaction or reset met first, and where its kept part starts.
    boundary: Option<(usize, Boundary)>,
    kept: Option<usize>,
    done: bool,
    root: bool,
}

impl Walk {
    fn new(leaf: Option<&EntryId>) -> Walk {
        Walk {
            entries: Vec::new(),
            seen: HashSet::new(),
            passed: HashMap::new(),
            wanted: leaf.cloned(),
            from_end: leaf.is_none(),
            boundary: None,
            kept: None,
            done: false,
            root: false,
        }
    }

    fn wants(&self, id: &EntryId) -> bool {
        if self.from_end {
            return true;
        }
        !self.done && self.wanted.as_ref() == Some(id)
    }

    fn passed_parent(&mut self) -> Option<Place> {
        if self.done {
            return None;
        }
        self.passed.remove(self.wanted.as_ref()?)
    }

    fn take(&mut self, entry: Entry) {
        self.from_end = false;
        self.wanted = entry.parent.clone();
        if !self.seen.insert(entry.id.clone()) {
            // A circle of parents: stop where it closes.
            self.done = true;
            return;
        }
        if let Some((_, Boundary::After(last))) = &self.boundary
            && *last == entry.id
        {
            self.done = true;
            self.kept = Some(self.entries.len().saturating_sub(1));
            return;
        }
        let at = self.entries.len();
        match &self.boundary {
            None => {
                let boundary = match &entry.body {
                    Body::Compaction(compaction) => Some(compaction.boundary.clone()),
                    Body::Reset { first_kept, .. } => Some(match first_kept {
                        Some(kept) if *kept != entry.id => Boundary::FirstKept(kept.clone()),
                        _ => Boundary::Nothing,
                    }),
                    _ => None,
                };
                if let Some(boundary) = boundary {
                    self.done = boundary == Boundary::Nothing;
                    self.boundary = Some((at, boundary));
                }
            }
            Some((_, Boundary::FirstKept(kept))) if *kept == entry.id => {
                self.kept = Some(at);
                self.done = true;
            }
            Some(_) => {}
        }
        self.root = entry.parent.is_none();
        self.entries.push(entry);
    }

    fn finish<R: Records>(
        mut self,
        session: &Native<R>,
        dialect: Dialect,
        faults: Vec<Fault>,
    ) -> Loaded {
        // Not stopped by a boundary: the root, or a parent that is missing.
        // One that was archived is not missing, but the path goes on there.
        let complete = self.root || (!self.done && !has_archive(&session.path));
        let epoch = Epoch::of_walk(&self.entries, complete);
        let settings = Settings::of_walk(&self.entries);
        if let Some((at, _)) = self.boundary {
            // Nothing before a boundary whose first kept entry is not on the path.
            self.entries.truncate(self.kept.unwrap_or(at).max(at) + 1);
        }
        self.entries.reverse();
        let boundary = self.boundary.map(|(at, _)| self.entries.len() - 1 - at);
        Loaded {
            header: session.header.clone(),
            dialect,
            entries: self.entries,
            boundary,
            epoch,
            settings,
            complete,
            faults,
        }
    }
}
