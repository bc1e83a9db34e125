//! Claude Code's transcripts: one record a line, linked by `parentUuid`.
//!
//! A file is read twice: once for the links, which say what the conversation
//! is ([`plan`]), once for the content ([`emit`]). Only ids are held in
//! between. The context needs less: the file is read from its end back to the
//! latest compaction, and only from there on forwards.

mod convert;
mod emit;
mod plan;
mod queue;
mod record;
mod typed;

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use self::emit::Emitter;
use self::plan::{Extent, Plan};
use self::queue::Operation;
use self::record::{Kind, Link};
use crate::entry::{Entry, EntryId};
use crate::error::{Error, Result};
use crate::fault::{Fault, FaultKind};
use crate::header::Header;
use crate::import::lineup::{Emit, Lane};
use crate::import::whole::{cut_path, load_at};
use crate::import::{Importer, Probe};
use crate::json::Object;
use crate::load::{Epoch, Loaded};
use crate::scan;
use crate::session::{Format, SessionRef, Source, Tail, VisitPath};
use crate::time::Millis;

/// Importer of Claude Code's files.
pub(crate) struct ClaudeCodeFiles;

impl Importer for ClaudeCodeFiles {
    fn format(&self) -> Format {
        Format::ClaudeCode
    }

    fn recognises(&self, probe: &Probe<'_>) -> bool {
        probe.lines().any(|line| {
            Object::parse_bytes(line).is_ok_and(|object| {
                let Some(kind) = object.str("type") else {
                    return false;
                };
                let linked = object.has("uuid") && object.has("sessionId");
                match kind.as_ref() {
                    "user" | "assistant" => linked && object.has("message"),
                    "system" | "attachment" | "progress" => linked,
                    "summary" => object.has("leafUuid"),
                    "file-history-snapshot" => object.has("snapshot"),
                    _ => false,
                }
            })
        })
    }

    fn open(&self, at: &SessionRef) -> Result<Box<dyn Source>> {
        Ok(Box::new(ClaudeCode::open(&at.path)?))
    }
}

/// A transcript of Claude Code, up to the size it had when opened.
struct ClaudeCode {
    path: PathBuf,
    size: u64,
    header: Header,
    /// Whether the file is a subagent's own, whose every record is marked as
    /// a sidechain.
    is_sidechain: bool,
}

/// How many records may come before the first one that says whose they are.
const HEADER_RECORDS: usize = 1000;

impl ClaudeCode {
    fn open(path: &Path) -> Result<ClaudeCode> {
        let size = std::fs::metadata(path)
            .map_err(Error::io("read", path))?
            .len();
        let stem = || {
            path.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        let mut header = Header {
            version: 3,
            ..Header::default()
        };
        let mut is_sidechain = is_subagent_path(path);
        let mut met_message = false;
        let mut left = HEADER_RECORDS;
        scan::forward(path, 0..size, &mut Vec::new(), &mut |record| {
            let object = &record.object;
            if header.id.is_empty() {
                header.id = object.str("sessionId").unwrap_or_default().into_owned();
            }
            if header.cwd.is_none() {
                header.cwd = object.str("cwd").map(|cwd| PathBuf::from(cwd.as_ref()));
            }
            if header.time.is_none() {
                header.time = object.raw("timestamp").and_then(Millis::parse_json);
            }
            if !met_message && object.has("message") {
                met_message = true;
                is_sidechain |= object.bool("isSidechain") == Some(true) && object.has("agentId");
            }
            left -= 1;
            let known = met_message
                && !header.id.is_empty()
                && header.cwd.is_some()
                && header.time.is_some();
            if known || left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if is_sidechain {
            header.parent_session = Some(std::mem::replace(&mut header.id, stem()));
        } else if header.id.is_empty() {
            header.id = stem();
        }
        Ok(ClaudeCode {
            path: path.to_owned(),
            size,
            header,
            is_sidechain,
        })
    }

    /// Reads a part of the file twice. `false` when the part is too small.
    fn read(
        &self,
        range: Range<u64>,
        extent: Extent,
        faults: &mut Vec<Fault>,
        emit: &mut Emit<'_>,
    ) -> Result<bool> {
        let mut range = range;
        let (mut links, mut named) = self.links(range.clone(), faults)?;
        if range.start > 0 && !self.is_sidechain && queue::is_unsettled(&links) {
            range.start = self.settled_before(range.start)?;
            (links, named) = self.links(range.clone(), faults)?;
        }
        let Some(plan) = Plan::make(&mut links, extent, self.is_sidechain) else {
            return Ok(false);
        };
        faults.extend(plan.faults.iter().cloned());
        faults.sort_by_key(|fault| fault.offset);
        let mut emitter = Emitter::new(&links, &plan, &self.header.id, named);
        let mut stopped = false;
        scan::forward(&self.path, range, &mut Vec::new(), &mut |record| {
            let flow = emitter.take(&record, emit);
            stopped = flow.is_break();
            flow
        })?;
        if !stopped {
            let _ = emitter.finish(emit);
        }
        Ok(true)
    }

    /// The links of a part, and whether the user named the session in it.
    fn links(&self, range: Range<u64>, faults: &mut Vec<Fault>) -> Result<(Vec<Link>, bool)> {
        faults.clear();
        let mut unknown = Vec::new();
        let mut links = Vec::new();
        let mut named = false;
        scan::forward(&self.path, range, faults, &mut |record| {
            named |= record.object.raw("type") == Some("\"custom-title\"");
            let mut link = Link::read(&record);
            if let Some(kind) = link.unknown.take() {
                unknown.push(Fault {
                    line: link.line,
                    offset: link.offset,
                    kind: FaultKind::UnknownText { kind: kind.into() },
                });
            }
            links.push(link);
            ControlFlow::Continue(())
        })?;
        faults.extend(unknown);
        Ok((links, named))
    }

    /// The latest prompt before a place at which nothing waited in the queue:
    /// one that did not come out of it.
    fn settled_before(&self, start: u64) -> Result<u64> {
        let mut prompt = None;
        scan::backward(&self.path, 0..start, &mut Vec::new(), &mut |record| {
            let link = Link::read(&record);
            if matches!(link.operation, Some(Operation::Dequeue(_))) {
                prompt = None;
            } else if link.is_typed {
                prompt = Some(link.offset);
            } else if prompt.is_some()
                && !link.is_sidechain
                && !matches!(link.kind, Kind::Prompt | Kind::Note | Kind::Other)
            {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(prompt.unwrap_or(0))
    }

    /// Where the latest compaction (or what it kept) starts; `None` when it
    /// has to be found from the start of the file.
    fn boundary(&self) -> Result<Option<u64>> {
        let mut search = Search::Summary;
        let mut found = None;
        scan::backward(&self.path, 0..self.size, &mut Vec::new(), &mut |record| {
            // Until the summary is met nothing else matters, and reading only
            // one field of each record is what makes this fast.
            if matches!(search, Search::Summary)
                && record.object.bool("isCompactSummary") != Some(true)
            {
                return ControlFlow::Continue(());
            }
            let link = Link::read(&record);
            if link.is_sidechain != self.is_sidechain {
                return ControlFlow::Continue(());
            }
            match search.step(&link) {
                Step::On => ControlFlow::Continue(()),
                Step::Found(offset) => {
                    found = Some(offset);
                    ControlFlow::Break(())
                }
                Step::Unknown => ControlFlow::Break(()),
            }
        })?;
        Ok(found)
    }

    fn load_from_boundary(&self) -> Result<Option<Loaded>> {
        let Some(start) = self.boundary()? else {
            return Ok(None);
        };
        let mut faults = Vec::new();
        let mut entries = Vec::new();
        let read = self.read(
            start..self.size,
            Extent::FromBoundary,
            &mut faults,
            &mut on_path(&mut entries),
        )?;
        if !read {
            return Ok(None);
        }
        let mut loaded = cut_path(self.header.clone(), entries, faults);
        if start > 0 {
            loaded.complete = false;
            loaded.epoch = Epoch::AtLeast(loaded.epoch.count());
        }
        Ok(Some(loaded))
    }
}

/// Keeps the entries of the path.
fn on_path(entries: &mut Vec<Entry>) -> impl FnMut(Entry, Lane) -> ControlFlow<()> + '_ {
    |entry, lane| {
        if lane == Lane::Path {
            entries.push(entry);
        }
        ControlFlow::Continue(())
    }
}

fn is_subagent_path(path: &Path) -> bool {
    let starts = |name: Option<&std::ffi::OsStr>, with: &str| {
        name.is_some_and(|name| name.to_string_lossy().starts_with(with))
    };
    starts(path.file_name(), "agent-")
        || path
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|name| name == "subagents")
}

/// The search for the latest compaction, from the end of the file.
enum Search {
    Summary,
    /// The summary was met; its boundary may be before it.
    Boundary {
        summary: u64,
    },
    /// The boundary was met; what it kept starts further back.
    Kept {
        head: Box<str>,
    },
    /// What it kept starts with a block of this answer; if the answer began
    /// earlier, it must be read whole.
    Answer {
        id: Box<str>,
        offset: u64,
    },
}

enum Step {
    On,
    Found(u64),
    Unknown,
}

impl Search {
    fn step(&mut self, link: &Link) -> Step {
        match self {
            Search::Summary => match link.kind {
                Kind::Summary => {
                    *self = Search::Boundary {
                        summary: link.offset,
                    };
                    Step::On
                }
                // A boundary without a summary cuts nothing.
                _ => Step::On,
            },
            Search::Boundary { summary } => match link.kind {
                Kind::Boundary => match &link.kept {
                    None => Step::Found(link.offset),
                    Some(kept) => {
                        *self = Search::Kept {
                            head: kept.head.clone(),
                        };
                        Step::On
                    }
                },
                Kind::Note | Kind::Other => Step::On,
                // Older versions wrote no boundary.
                _ => Step::Found(*summary),
            },
            Search::Kept { head } => {
                if link.uuid.as_ref() != Some(head) {
                    return Step::On;
                }
                match &link.answer {
                    Some(id) => {
                        *self = Search::Answer {
                            id: id.clone(),
                            offset: link.offset,
                        };
                        Step::On
                    }
                    None => Step::Found(link.offset),
                }
            }
            Search::Answer { id, offset } => match link.kind {
                Kind::Answer if link.answer.as_ref() == Some(id) => Step::Unknown,
                Kind::Note | Kind::Other => Step::On,
                _ => Step::Found(*offset),
            },
        }
    }
}

impl Source for ClaudeCode {
    fn format(&self) -> Format {
        Format::ClaudeCode
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        self.each_on_path(&mut |entry, _| visit(entry))
    }

    fn tells_path_at_once(&self) -> bool {
        true
    }

    fn each_on_path(&self, visit: &mut VisitPath<'_>) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        let mut emit = |entry, lane| visit(entry, lane == Lane::Path);
        self.read(0..self.size, Extent::Whole, &mut faults, &mut emit)?;
        Ok(faults)
    }

    fn load(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        if let Some(leaf) = leaf {
            return load_at(self, leaf);
        }
        if let Some(loaded) = self.load_from_boundary()? {
            return Ok(loaded);
        }
        let mut faults = Vec::new();
        let mut entries = Vec::new();
        self.read(
            0..self.size,
            Extent::Whole,
            &mut faults,
            &mut on_path(&mut entries),
        )?;
        Ok(cut_path(self.header.clone(), entries, faults))
    }

    fn tail(&self, max_bytes: u64) -> Result<Tail> {
        let start = scan::tail_start(&self.path, self.size, max_bytes)?;
        let mut entries = Vec::new();
        self.read(
            start..self.size,
            Extent::Whole,
            &mut Vec::new(),
            &mut on_path(&mut entries),
        )?;
        let before = entries
            .iter()
            .take_while(|entry| entry.place.offset < start)
            .count();
        entries.drain(..before);
        Ok(Tail {
            entries,
            complete: start == 0,
        })
    }
}
