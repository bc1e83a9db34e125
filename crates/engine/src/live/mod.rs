//! A session at work: its path since the boundary, and what matters in it.
//!
//! [`Live`] is the session as the engine holds it in memory. It can be opened
//! from any agent's file or grown entry by entry (replay does that); it is
//! compacted the same way in both cases, and nothing in it writes to the session:
//! a compaction comes out as drafts for the caller to append.

mod prune;
mod secrets;
mod stored;
#[cfg(test)]
mod tests;
mod undo;
mod wear;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use longhaul_compaction::Wear;
use longhaul_compaction::audit::{Audit, Source};
use longhaul_compaction::compact::{Compacted, CompactionFailure, CompactionRequest, Work};
use longhaul_compaction::summary::{Extractive, Summarizer};
use longhaul_ledger::{Capture, Ledger};
use longhaul_tokens::Estimator;
use longhaul_transcript::json::Object;
use longhaul_transcript::{
    Body, Boundary, Context, ContextMessage, Dialect, Draft, Entry, EntryId, Epoch, Fault,
    FaultKind, Header, Loaded, Result, Session, Settings, Stamp, is_pin,
};

use crate::changes::Changes;
use crate::marks::{after, detail, fidelity};
use crate::measure::Meter;
use crate::recall::message_text;
use crate::survey::{Keep, Past, Survey};

pub use prune::Pruned;
pub(crate) use stored::redacted;
pub use undo::{Again, UndoFailure};
pub use wear::worn_by;

/// A session in memory.
#[derive(Debug, Clone)]
pub struct Live {
    /// The path from the first kept entry to the leaf.
    loaded: Loaded,
    /// What matters in everything before that.
    base: Ledger,
    /// What matters in all of it.
    full: Ledger,
    labels: HashMap<EntryId, String>,
    /// What its compactions came to.
    wear: Wear,
    /// The context, once it was asked for and until something in it is
    /// rewritten.
    shown: OnceLock<Shown>,
    /// The secrets in it, as far as they were asked for.
    known: secrets::Known,
    /// What an audit looks for, from the entries themselves.
    source: Source,
    /// Whether that is all there is: a session is opened from its boundary on.
    has_whole_source: bool,
    /// Where the survey of its file is kept.
    keep: Keep,
}

/// A context that grows with its session.
#[derive(Debug, Clone)]
struct Shown {
    messages: Vec<ContextMessage>,
    /// Entries that are shown otherwise than they were written.
    edited: HashSet<EntryId>,
}

impl Live {
    /// An empty session.
    pub fn new(header: Header) -> Live {
        Live::new_with(header, Capture::default())
    }

    /// An empty session, of which so much is captured for checkpoints.
    pub fn new_with(header: Header, capture: Capture) -> Live {
        let cwd = header
            .cwd
            .as_ref()
            .map(|cwd| cwd.to_string_lossy().into_owned());
        Live {
            loaded: Loaded {
                header,
                dialect: Dialect::Pi,
                entries: Vec::new(),
                boundary: None,
                epoch: Epoch::Exact(0),
                settings: Settings::default(),
                complete: true,
                faults: Vec::new(),
            },
            base: Ledger::new(cwd.clone()).capturing(capture),
            full: Ledger::new(cwd.clone()).capturing(capture),
            labels: HashMap::new(),
            wear: Wear::default(),
            shown: OnceLock::new(),
            known: secrets::Known::default(),
            source: Source::new(cwd),
            has_whole_source: true,
            keep: Keep::nowhere(),
        }
    }

    /// Opens a stored session. When its latest compaction carries our ledger,
    /// only what follows the boundary is read; else a survey is made of all
    /// before it.
    pub fn open(session: &Session) -> Result<Live> {
        Live::open_with(session, Capture::default(), &Keep::nowhere())
    }

    /// The same, with so much captured for checkpoints, and the survey kept. What
    /// a ledger that is stored with a compaction holds stays as it was captured
    /// then.
    pub fn open_with(session: &Session, capture: Capture, keep: &Keep) -> Result<Live> {
        Live::open_at(session, None, capture, keep)
    }

    /// The same, up to an entry other than the session's own leaf: a program
    /// that runs the session may have gone back without writing that down.
    pub fn open_at(
        session: &Session,
        leaf: Option<&EntryId>,
        capture: Capture,
        keep: &Keep,
    ) -> Result<Live> {
        let mut loaded = match leaf {
            Some(leaf) => session.load_at(leaf)?,
            None => session.load()?,
        };
        let changes = Changes::among(&loaded.entries);
        if !changes.is_empty() {
            let entries = std::mem::take(&mut loaded.entries).into_iter();
            loaded.entries = entries.map(|entry| changes.apply(entry)).collect();
        }
        let mut live = Live::new_with(session.header().clone(), capture);
        live.known = secrets::Known::of(session, &loaded, keep);
        live.keep = keep.clone();
        let is_whole = loaded.complete && loaded.boundary.is_none();
        let carried = match stored_ledger(&loaded) {
            Ok(ledger) => ledger,
            Err(fault) => {
                loaded.faults.push(fault);
                None
            }
        };
        let worn = stored_wear(&loaded);
        let is_told = carried.is_some() && worn.is_some() && loaded.epoch.is_exact();
        if !is_told && !is_whole {
            let past = Past::of(session, &loaded, capture, keep)?;
            live.wear = past.wear;
            live.labels = past.labels.into_iter().collect();
            if !loaded.epoch.is_exact() {
                loaded.epoch = Epoch::Exact(past.epoch.max(loaded.epoch.count()));
            }
            (live.base, live.source) = (past.ledger, past.source);
        }
        if let Some(ledger) = carried {
            live.base = ledger.capturing(capture);
            live.labels = stored_pins(&loaded);
            live.has_whole_source = !is_told;
        }
        live.wear = worn.unwrap_or(live.wear);
        live.full = live.base.clone();
        live.full.observe_all(&loaded.entries);
        for entry in &loaded.entries {
            live.note_label(entry);
            live.source.observe(entry);
        }
        live.loaded = loaded;
        Ok(live)
    }

    /// Reads what an audit looks for, archived entries included, where the session
    /// was opened without it.
    pub fn read_source(&mut self, session: &Session) -> Result<()> {
        if self.has_whole_source {
            return Ok(());
        }
        let mut survey = Survey::of(session, &self.keep)?;
        (_, self.source) = survey.before(session, &self.loaded, self.full.capture())?;
        for entry in &self.loaded.entries {
            self.source.observe(entry);
        }
        self.has_whole_source = true;
        Ok(())
    }

    /// Adds an entry at the leaf.
    pub fn push(&mut self, entry: Entry) {
        self.full.observe(&entry);
        self.source.observe(&entry);
        self.note_label(&entry);
        if matches!(entry.body, Body::Compaction(_)) {
            self.cut_at(entry, None);
            return;
        }
        self.show(&entry);
        self.loaded.entries.push(entry);
    }

    /// Adds the entry of a compaction that [`Live::compact`] has just made, with
    /// the ledger that came with it, so that nothing is folded a second time.
    pub fn push_compaction(&mut self, entry: Entry, base: Ledger) {
        self.full.observe(&entry);
        self.note_label(&entry);
        self.cut_at(entry, Some(base));
    }

    /// Adds what was appended; where it begins with a compaction that was just
    /// made, with the ledger that came with it.
    pub fn push_drafts(&mut self, drafts: &[(Draft, Stamp)], mut base: Option<Ledger>) {
        for (draft, stamp) in drafts {
            let entry = draft.to_entry(stamp, self.leaf().as_ref());
            match base.take() {
                Some(base) => self.push_compaction(entry, base),
                None => self.push(entry),
            }
        }
    }

    /// Carries a context that is known on to the next entry.
    fn show(&mut self, entry: &Entry) {
        let Some(shown) = self.shown.get_mut() else {
            return;
        };
        let rewrites = matches!(entry.body, Body::ContextEdit(_) | Body::Reset { .. })
            || self.loaded.dialect == Dialect::OpenClaw
            || shown.edited.contains(&entry.id);
        if rewrites {
            self.shown.take();
        } else {
            shown.messages.extend(Context::of_entry(entry));
        }
    }

    /// A compaction becomes the boundary: what it does not keep moves from the
    /// path into the base.
    fn cut_at(&mut self, entry: Entry, base: Option<Ledger>) {
        // What leaves may have shown secrets of which the base has pieces. What is
        // in a file is found there.
        if self.known.is_in_memory() {
            self.redactor();
        }
        self.shown.take();
        let first = match &entry.body {
            Body::Compaction(compaction) => match &compaction.boundary {
                Boundary::FirstKept(id) => self
                    .loaded
                    .entries
                    .iter()
                    .position(|kept| kept.id == *id)
                    .unwrap_or(self.loaded.entries.len()),
                _ => self.loaded.entries.len(),
            },
            _ => 0,
        };
        let removed = self.loaded.entries.drain(..first);
        match base {
            Some(base) => {
                drop(removed);
                self.base = base;
            }
            None => removed.for_each(|entry| self.base.observe(&entry)),
        }
        self.wear = after(self.wear, &entry);
        self.loaded.epoch = Epoch::Exact(self.epoch() + 1);
        self.loaded.complete = false;
        self.loaded.entries.push(entry);
        self.loaded.boundary = Some(self.loaded.entries.len() - 1);
        // What was looked up once need not be looked up by every later audit.
        let resolves = |audit: Audit| audit.recallable.kept == audit.recallable.total;
        let made = &self.loaded.entries[self.loaded.entries.len() - 1];
        if fidelity(made).is_some_and(resolves) {
            let mut kept = self.loaded.entries.iter();
            let first = kept.find(|entry| matches!(entry.body, Body::Message(_)));
            self.source.settle(first.map(|entry| &entry.id));
        }
    }

    /// Layers 2, 3 and emergency: replaces the older part by a summary whose
    /// prose is extracted.
    pub fn compact(
        &self,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        self.compact_with(&mut Extractive, meter, request)
    }

    /// The same, with prose by another summarizer.
    pub fn compact_with(
        &self,
        summarizer: &mut dyn Summarizer,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        let pins = self.pins();
        let work = self.work(&pins, meter.estimator());
        work.compact(summarizer, &mut |message| meter.message(message), request)
    }

    /// What a compaction works on.
    pub(crate) fn work<'a>(&'a self, pins: &'a HashSet<EntryId>, estimator: Estimator) -> Work<'a> {
        Work {
            entries: &self.loaded.entries,
            boundary: self.loaded.boundary,
            messages: self.messages(),
            ledger: &self.full,
            base: &self.base,
            source: &self.source,
            pins,
            epoch: self.epoch(),
            wear: self.wear,
            estimator,
            text: &message_text,
            pack: &stored::pack,
        }
    }

    fn note_label(&mut self, entry: &Entry) {
        if let Body::Label { target, label } = &entry.body {
            match label {
                Some(label) => self.labels.insert(target.clone(), label.clone()),
                None => self.labels.remove(target),
            };
        }
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.loaded.header
    }

    /// The path from the first kept entry on.
    pub fn entries(&self) -> &[Entry] {
        &self.loaded.entries
    }

    /// The last entry.
    pub fn leaf(&self) -> Option<EntryId> {
        self.loaded.entries.last().map(|entry| entry.id.clone())
    }

    /// What matters in the whole session.
    pub fn ledger(&self) -> &Ledger {
        &self.full
    }

    /// What matters in everything that is no longer in the context.
    pub fn base(&self) -> &Ledger {
        &self.base
    }

    /// What an audit looks for.
    pub fn audit_source(&self) -> &Source {
        &self.source
    }

    /// Compactions so far.
    pub fn epoch(&self) -> u32 {
        self.loaded.epoch.count()
    }

    /// What they came to.
    pub fn wear(&self) -> &Wear {
        &self.wear
    }

    /// Ids of pinned entries.
    pub fn pins(&self) -> HashSet<EntryId> {
        self.labels
            .iter()
            .filter(|(_, label)| is_pin(label))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// The session as a load gives it.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The context as it is now.
    pub fn context(&self) -> Context {
        Context {
            messages: self.messages().to_vec(),
        }
    }

    /// The messages of the context as it is now. They are built once and grow
    /// with the session.
    pub fn messages(&self) -> &[ContextMessage] {
        let build = || Shown {
            messages: Context::build(&self.loaded).messages,
            edited: self
                .loaded
                .entries
                .iter()
                .filter_map(|entry| match &entry.body {
                    Body::ContextEdit(edit) => Some(edit.target.clone()),
                    _ => None,
                })
                .collect(),
        };
        &self.shown.get_or_init(build).messages
    }
}

/// What our own compaction entries say came of all of them.
fn stored_wear(loaded: &Loaded) -> Option<Wear> {
    detail(loaded.compaction()?.0, "wear")
}

/// The ledger that our own compaction entries carry.
fn stored_ledger(loaded: &Loaded) -> Result<Option<Ledger>, Fault> {
    let compaction = loaded.compaction().map(|(entry, _)| entry);
    let object = compaction.and_then(|entry| Object::of(entry.raw()));
    let details = object.and_then(|object| object.object("details"));
    let (Some(entry), Some(raw)) = (compaction, details.and_then(|of| of.raw("ledger"))) else {
        return Ok(None);
    };
    stored::unpack(raw).map_err(|error| Fault {
        line: 0,
        offset: 0,
        kind: FaultKind::Packed {
            id: entry.id.to_string(),
            reason: error.to_string(),
        },
    })
}

/// What was pinned when the compaction was made: the labels themselves stand
/// before the boundary, where nobody reads them again.
fn stored_pins(loaded: &Loaded) -> HashMap<EntryId, String> {
    let compaction = loaded.compaction().map(|(entry, _)| entry);
    let pins: Option<Vec<EntryId>> = compaction.and_then(|entry| detail(entry, "pins"));
    let pins = pins.into_iter().flatten();
    pins.map(|id| (id, "pin".to_owned())).collect()
}
