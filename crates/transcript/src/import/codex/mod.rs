//! Codex's rollouts: one item or event a line, in the order it happened.

mod compacted;
mod items;
mod replay;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use self::replay::Replay;
use crate::entry::{Body, Entry, EntryId};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::header::Header;
use crate::import::lineup::Lane;
use crate::import::whole::{cut_path, load_at};
use crate::import::{Importer, Probe};
use crate::json::Object;
use crate::load::{Epoch, Loaded};
use crate::scan;
use crate::session::{Format, SessionRef, Source, Tail};
use crate::time::Millis;

/// Importer of Codex's rollouts.
pub(crate) struct Rollouts;

impl Importer for Rollouts {
    fn format(&self) -> Format {
        Format::Codex
    }

    fn recognises(&self, probe: &Probe<'_>) -> bool {
        let mut lines = probe
            .lines()
            .filter_map(|line| Object::parse_bytes(line).ok());
        let Some(first) = lines.next() else {
            return false;
        };
        if first.str("type").is_none() && is_old_header(&first) {
            return true;
        }
        std::iter::once(first).chain(lines).any(|line| {
            line.object("payload").is_some()
                && (line.has("timestamp") || line.has("ordinal"))
                && matches!(
                    line.str("type").unwrap_or_default().as_ref(),
                    "session_meta"
                        | "response_item"
                        | "event_msg"
                        | "turn_context"
                        | "compacted"
                        | "world_state"
                )
        })
    }

    fn open(&self, at: &SessionRef) -> Result<Box<dyn Source>> {
        Ok(Box::new(Rollout::open(&at.path)?))
    }
}

/// Before it had envelopes, a rollout began with the session's description.
fn is_old_header(line: &Object<'_>) -> bool {
    line.str("id").is_some()
        && line.str("timestamp").is_some()
        && (line.has("instructions") || line.has("git"))
}

/// A rollout, up to the size it had when opened.
struct Rollout {
    path: PathBuf,
    size: u64,
    header: Header,
    provider: String,
}

/// How many records may come before the session's description.
const HEADER_RECORDS: usize = 64;

impl Rollout {
    fn open(path: &Path) -> Result<Rollout> {
        let size = std::fs::metadata(path)
            .map_err(Error::io("read", path))?
            .len();
        let mut header = Header {
            version: 3,
            ..Header::default()
        };
        let mut provider = None;
        let mut left = HEADER_RECORDS;
        scan::forward(path, 0..size, &mut Vec::new(), &mut |record| {
            let object = &record.object;
            let meta = match object.str("type").as_deref() {
                Some("session_meta") => object.object("payload"),
                None if is_old_header(object) => Some(object.clone()),
                _ => None,
            };
            let time = |object: &Object<'_>| {
                object
                    .raw("timestamp")
                    .or_else(|| object.raw("created_at"))
                    .and_then(Millis::parse_json)
            };
            header.time = header.time.or_else(|| time(object));
            left -= 1;
            if let Some(meta) = meta {
                header.id = meta.str("id").unwrap_or_default().into_owned();
                header.time = time(&meta).or(header.time);
                header.cwd = meta.str("cwd").map(|cwd| PathBuf::from(cwd.as_ref()));
                header.parent_session = ["forked_from_id", "parent_thread_id"]
                    .into_iter()
                    .find_map(|key| meta.str(key))
                    .map(|id| id.into_owned());
                provider = meta.str("model_provider").map(|name| name.into_owned());
                return ControlFlow::Break(());
            }
            if left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if header.id.is_empty() {
            header.id = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default();
        }
        Ok(Rollout {
            path: path.to_owned(),
            size,
            header,
            provider: provider.unwrap_or_else(|| String::from("openai")),
        })
    }

    fn read(&self, emit: &mut dyn FnMut(Entry, Lane) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        self.read_from(0, emit)
    }

    fn read_from(
        &self,
        start: u64,
        emit: &mut dyn FnMut(Entry, Lane) -> ControlFlow<()>,
    ) -> Result<Vec<Fault>> {
        let mut faults = Vec::new();
        let mut replay = Replay::new(&self.header.id, &self.provider, start == 0);
        let mut stopped = false;
        scan::forward(&self.path, start..self.size, &mut faults, &mut |record| {
            let flow = replay.take(&record, emit);
            stopped = flow.is_break();
            flow
        })?;
        if !stopped {
            let _ = replay.finish(emit);
        }
        faults.append(&mut replay.faults);
        faults.sort_by_key(|fault| fault.offset);
        Ok(faults)
    }
}

impl Source for Rollout {
    fn format(&self) -> Format {
        Format::Codex
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        self.read(&mut |entry, _| visit(entry))
    }

    fn load(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        match leaf {
            Some(leaf) => load_at(self, leaf),
            None => self.load_newest(),
        }
    }

    fn tail(&self, max_bytes: u64) -> Result<Tail> {
        let start = scan::tail_start(&self.path, self.size, max_bytes)?;
        let mut entries = Vec::new();
        self.read_from(start, &mut |entry, lane| {
            if lane == Lane::Path {
                entries.push(entry);
            }
            ControlFlow::Continue(())
        })?;
        Ok(Tail {
            entries,
            complete: start == 0,
        })
    }
}

impl Rollout {
    /// Holds the path since the latest compaction, and no more.
    fn load_newest(&self) -> Result<Loaded> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut compactions = 0;
        let faults = self.read(&mut |entry, lane| {
            if lane == Lane::Path {
                push_after_parent(&mut entries, entry, &mut compactions);
            }
            ControlFlow::Continue(())
        })?;
        let mut loaded = cut_path(self.header.clone(), entries, faults);
        loaded.epoch = Epoch::Exact(compactions);
        Ok(loaded)
    }
}

/// Adds an entry to the path; what does not lead to it was rolled back.
fn push_after_parent(entries: &mut Vec<Entry>, entry: Entry, compactions: &mut u32) {
    if matches!(entry.body, Body::Compaction(_)) {
        *compactions += 1;
        entries.clear();
    } else {
        let keep = match &entry.parent {
            Some(parent) => entries
                .iter()
                .rposition(|before| before.id == *parent)
                .map_or(entries.len(), |at| at + 1),
            None => 0,
        };
        entries.truncate(keep);
    }
    entries.push(entry);
}
