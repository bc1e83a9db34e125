//! A session of any supported agent, opened for reading.

use std::fmt;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::archive::{each_archived, has_archive};
use crate::context::Context;
use crate::entry::{Body, Entry, EntryId, Place};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::header::Header;
use crate::import::{self, Importer};
use crate::layout::Dialect;
use crate::lines::Record;
use crate::load::{Loaded, cut_at_boundary};
use crate::scan;
use crate::tree::{Tree, TreeBuilder};

/// The file formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// pi's JSON lines, which are also our own.
    Pi,
    /// OpenClaw's JSON lines (version 4).
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// A session of OpenClaw's SQLite store.
    #[serde(rename = "openclaw-sqlite")]
    OpenClawSqlite,
    /// A session of OpenClaw's older `sessions.json` store.
    #[serde(rename = "openclaw-store")]
    OpenClawStore,
    /// Claude Code's JSON lines.
    ClaudeCode,
    /// A rollout of Codex.
    Codex,
}

impl Format {
    /// The agent's name, as people write it.
    pub fn agent(self) -> &'static str {
        match self {
            Format::Pi => "pi",
            Format::OpenClaw | Format::OpenClawSqlite | Format::OpenClawStore => "OpenClaw",
            Format::ClaudeCode => "Claude Code",
            Format::Codex => "Codex",
        }
    }

    /// Whether the session can be appended to.
    pub fn is_writable(self) -> bool {
        matches!(self, Format::Pi | Format::OpenClaw)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.agent())
    }
}

/// Where a session is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRef {
    /// The file, or the store that holds several sessions.
    pub path: PathBuf,
    /// Which session of a store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The session key, where the store knows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The format.
    pub format: Format,
}

impl SessionRef {
    /// A name that no other session has: its file, however that is reached, and of
    /// a store the session in it.
    pub fn name(&self) -> String {
        let path = self.path.canonicalize();
        let path = path.as_ref().unwrap_or(&self.path).to_string_lossy();
        match &self.session {
            Some(id) => format!("{path}#{id}"),
            None => path.into_owned(),
        }
    }
}

/// How an entry hangs on the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linked {
    /// By the parent that it states, and it is the leaf once it is written.
    ByParent,
    /// In a way that takes the whole file to tell.
    Otherwise,
}

/// What a read of a stretch calls for every entry.
pub type VisitLined<'v> = dyn FnMut(Entry, Linked) -> ControlFlow<()> + 'v;

/// What a read calls for every entry, with whether it is on the path.
pub type VisitPath<'v> = dyn FnMut(Entry, bool) -> ControlFlow<()> + 'v;

/// What every format offers, in terms of native entries.
pub trait Source: Send {
    /// The format.
    fn format(&self) -> Format;

    /// The file or store.
    fn path(&self) -> &Path;

    /// The header, made up from what the format has.
    fn header(&self) -> &Header;

    /// Every entry in stored order, in one pass. Returns what was wrong.
    fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>>;

    /// Whether [`each_on_path`](Source::each_on_path) can be asked.
    fn tells_path_at_once(&self) -> bool {
        false
    }

    /// The same, each with whether it is on the path to the leaf, of a format that
    /// knows that when it reads an entry.
    fn each_on_path(&self, visit: &mut VisitPath<'_>) -> Result<Vec<Fault>> {
        self.each(&mut |entry| visit(entry, false))
    }

    /// The tree of the whole session.
    fn tree(&self) -> Result<Tree> {
        let mut builder = TreeBuilder::new(Dialect::of(self.header()));
        let faults = self.each(&mut |entry| {
            builder.add_entry(&entry);
            ControlFlow::Continue(())
        })?;
        Ok(builder.finish(faults))
    }

    /// The path from the boundary to `leaf`, or to the session's own leaf.
    fn load(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        let mut builder = TreeBuilder::new(Dialect::of(self.header()));
        let mut entries = Vec::new();
        let faults = self.each(&mut |entry| {
            builder.add_entry(&entry);
            entries.push(Some(entry));
            ControlFlow::Continue(())
        })?;
        let tree = builder.finish(faults);
        let path = match leaf {
            Some(leaf) => tree.path_to(leaf).ok_or_else(|| Error::NoSuchEntry {
                path: self.path().to_owned(),
                id: leaf.clone(),
            })?,
            None => tree.path(),
        };
        let entries = path
            .into_iter()
            .filter_map(|at| entries[at].take())
            .collect();
        Ok(cut_at_boundary(
            self.header().clone(),
            tree.dialect(),
            tree.resets(),
            entries,
            tree.into_faults(),
        ))
    }

    /// Where the last whole line of the file ends, if it is one that is only
    /// ever appended to, so that a reader can go on there another time.
    fn lines_end(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// The entries from the line at a place up to an offset, if there is a
    /// [`lines_end`](Source::lines_end); those past the end of the last line are
    /// not whole yet.
    fn stretch(&self, from: Place, to: u64, visit: &mut VisitLined<'_>) -> Result<Place> {
        let _ = (to, visit);
        Ok(from)
    }

    /// The newest entries, from about the last `max_bytes` of the file. A
    /// glance at many sessions must not read them all.
    fn tail(&self, max_bytes: u64) -> Result<Tail> {
        let _ = max_bytes;
        let loaded = self.load(None)?;
        Ok(Tail {
            complete: loaded.complete && loaded.boundary.is_none(),
            entries: loaded.entries,
        })
    }
}

/// The newest entries of a session, read without the rest.
#[derive(Debug, Clone)]
pub struct Tail {
    /// Entries at the end of the file, oldest first.
    pub entries: Vec<Entry>,
    /// Whether they are all there are.
    pub complete: bool,
}

impl Tail {
    /// Leaves out what is on other branches than the last entry. Names and
    /// labels hold for the whole file, wherever they were written. Where
    /// entries move the leaf, all stays: the path cannot be told from the end.
    pub fn keep_path(&mut self) {
        let moves = |entry: &Entry| matches!(entry.body, Body::Leaf { .. } | Body::Reset { .. });
        if self.entries.iter().any(moves) {
            return;
        }
        let mut wanted = self.entries.last().map(|entry| entry.id.clone());
        let mut kept: Vec<bool> = self
            .entries
            .iter()
            .rev()
            .map(|entry| {
                let on_path = wanted.as_ref() == Some(&entry.id);
                if on_path {
                    wanted = entry.parent.clone();
                }
                on_path || matches!(entry.body, Body::Label { .. } | Body::SessionInfo { .. })
            })
            .collect();
        self.entries.retain(|_| kept.pop().unwrap_or(true));
    }
}

/// A session of any supported agent.
pub struct Session {
    source: Box<dyn Source>,
    reference: SessionRef,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.reference).finish()
    }
}

impl Session {
    /// Opens a file of any supported format; of a store, its newest session.
    pub fn open(path: &Path) -> Result<Session> {
        let importer = import::detect(path)?;
        let reference =
            importer
                .sessions(path)?
                .into_iter()
                .next()
                .ok_or_else(|| Error::Empty {
                    path: path.to_owned(),
                })?;
        Session::open_with(importer, reference)
    }

    /// Opens a session that was listed before.
    pub fn open_ref(reference: &SessionRef) -> Result<Session> {
        Session::open_with(import::importer(reference.format), reference.clone())
    }

    fn open_with(importer: &'static dyn Importer, reference: SessionRef) -> Result<Session> {
        let source = importer.open(&reference)?;
        let reference = SessionRef {
            format: source.format(),
            ..reference
        };
        Ok(Session { source, reference })
    }

    /// Where it is stored.
    pub fn reference(&self) -> &SessionRef {
        &self.reference
    }

    /// Its key; its id where its agent gives it none.
    pub fn key(&self) -> &str {
        let key = self.reference.key.as_deref();
        key.unwrap_or(&self.header().id)
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.source.format()
    }

    /// The file or store.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// The header.
    pub fn header(&self) -> &Header {
        self.source.header()
    }

    /// Every entry in stored order, in one pass. Returns what was wrong.
    pub fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        self.source.each(visit)
    }

    /// Whether it can be told of each entry as it is read whether it is on the path.
    /// The end of such a file, from its latest compaction on, tells the context alone.
    pub fn tells_path_at_once(&self) -> bool {
        self.source.tells_path_at_once()
    }

    /// Every entry in stored order with whether it is on the path, of a session that
    /// [tells so at once](Session::tells_path_at_once).
    pub fn each_on_path(&self, visit: &mut VisitPath<'_>) -> Result<Vec<Fault>> {
        self.source.each_on_path(visit)
    }

    /// The same of the archive and then of the file, until `visit` has enough.
    pub fn each_ever(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        let mut flow = ControlFlow::Continue(());
        let mut faults = each_archived(self.path(), &mut |entry| {
            flow = visit(entry);
            flow
        })?;
        if flow.is_continue() {
            faults.extend(self.each(visit)?);
        }
        Ok(faults)
    }

    /// Whether the lines of one file are all there is of it. A store holds
    /// several sessions, and an archive has what was taken out of the file.
    pub fn is_one_file(&self) -> bool {
        self.is_lines() && !has_archive(self.path())
    }

    /// Whether it is the lines of a file of its own.
    pub fn is_lines(&self) -> bool {
        let lines = match self.format() {
            Format::Pi | Format::OpenClaw | Format::ClaudeCode | Format::Codex => true,
            Format::OpenClawSqlite | Format::OpenClawStore => false,
        };
        lines && self.reference.session.is_none()
    }

    /// The records of its file from the line at `offset` on, as they are stored.
    /// What cannot be read is passed over: [`Session::each`] says what that is.
    pub fn records_from(
        &self,
        offset: u64,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let path = self.path();
        let size = fs::metadata(path).map_err(Error::io("read", path))?.len();
        scan::forward(path, offset..size.max(offset), &mut Vec::new(), visit)
    }

    /// Where the last whole line of its file ends, if the file is only ever
    /// appended to and its entries can be read from any line on.
    pub fn lines_end(&self) -> Result<Option<u64>> {
        self.source.lines_end()
    }

    /// The entries from a line up to an offset, of a session that has a
    /// [`lines_end`](Session::lines_end). Says where the next line begins.
    pub fn stretch(&self, from: Place, to: u64, visit: &mut VisitLined<'_>) -> Result<Place> {
        self.source.stretch(from, to, visit)
    }

    /// The tree of the whole session.
    pub fn tree(&self) -> Result<Tree> {
        self.source.tree()
    }

    /// The path from the boundary to the leaf.
    pub fn load(&self) -> Result<Loaded> {
        self.source.load(None)
    }

    /// The path from the boundary to another entry.
    pub fn load_at(&self, leaf: &EntryId) -> Result<Loaded> {
        self.source.load(Some(leaf))
    }

    /// The newest entries, from about the last `max_bytes` of the file.
    pub fn tail(&self, max_bytes: u64) -> Result<Tail> {
        self.source.tail(max_bytes)
    }

    /// Loads and builds the context.
    pub fn context(&self) -> Result<Context> {
        Ok(Context::build(&self.load()?))
    }

    /// The entry with this id, if the session has it.
    pub fn entry(&self, id: &EntryId) -> Result<Entry> {
        let mut found = None;
        self.each(&mut |entry| {
            if entry.id == *id {
                found = Some(entry);
            }
            ControlFlow::Continue(())
        })?;
        found.ok_or_else(|| Error::NoSuchEntry {
            path: self.path().to_owned(),
            id: id.clone(),
        })
    }
}
