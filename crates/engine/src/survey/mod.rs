//! The survey: what commands ask of a long session, kept beside its state.
//!
//! Where the compactions of a path are, what they came to, which labels there
//! are, where each entry stands, the ledger and the audit's source of all that
//! left the context, which lines show secrets: all of it follows from the
//! session's file, and is found by one streaming pass. It is kept, and brought up
//! to date by reading what was appended. Whatever does not fit the file any more
//! is made anew; nothing kept here ever changes an answer.
//!
//! | question | answer |
//! |---|---|
//! | how is one had? | [`Survey::of`], with what is [`Wanted`] of it |
//! | where is it kept? | [`Keep`]: one small database a session, sealed |
//! | what when the file was rewritten, cut short, exchanged? | the key does not fit: made anew |
//! | what when a branch goes back before the boundary? | made anew along the tree |
//! | what of formats that are not read line by line? | kept while their file stays as it is |

mod account;
mod archived;
mod path;
mod secrets;
mod store;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use longhaul_compaction::Wear;
use longhaul_compaction::audit::Source;
use longhaul_ledger::{Capture, Ledger, is_brought};
use longhaul_transcript::{
    Body, Entry, EntryId, Error, Format, Linked, Loaded, Packing, Place, Result, Session,
    archive_path, has_archive,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::account::{Account, Taken};
use self::path::{Path, Step};
use self::store::{Key, Store, discard, is_damaged, is_twice};
use crate::changes::{Changing, changed_by};
use crate::checkpoints::Whose;
use crate::config::Config;
use crate::marks::after;

pub(crate) use self::secrets::{redactor, teach};
pub use self::store::place_of;

/// A file smaller than this is read in no time.
const SMALL: u64 = 256 << 10;
/// What stands no farther from an entry is read on to, not looked up.
const NEAR: u64 = 64 << 10;
/// Stops of the path that are remembered without an account.
const STOPS: usize = 16_384;

/// Where a survey is kept.
#[derive(Debug, Clone, Default)]
pub struct Keep {
    file: Option<PathBuf>,
    least: u64,
}

impl Keep {
    /// Nowhere: it is made in one pass and forgotten.
    pub fn nowhere() -> Keep {
        Keep::default()
    }

    /// Beside the state of a session, where the configuration has anything
    /// written there.
    pub fn of(session: &Session, config: &Config, state_dir: &std::path::Path) -> Keep {
        Surveys::below(state_dir, config).keep(session)
    }

    /// In this file, which [`place_of`] names.
    pub fn at(file: PathBuf) -> Keep {
        let file = Some(file);
        Keep { file, least: SMALL }
    }

    /// The same for sessions of any size.
    #[must_use]
    pub fn whatever_size(self) -> Keep {
        Keep { least: 0, ..self }
    }

    /// The file for a session whose file has this size.
    fn for_size(&self, session: &Session, size: u64) -> Option<&PathBuf> {
        let lines = matches!(
            session.format(),
            Format::Pi | Format::OpenClaw | Format::ClaudeCode | Format::Codex
        );
        let wanted = lines && session.reference().session.is_none() && size >= self.least;
        self.file.as_ref().filter(|_| wanted)
    }
}

/// Where the surveys of all sessions are kept.
#[derive(Debug, Clone, Default)]
pub struct Surveys {
    state_dir: Option<PathBuf>,
}

impl Surveys {
    /// Below a state folder, where the configuration has anything written there;
    /// else nowhere.
    pub fn below(state_dir: &std::path::Path, config: &Config) -> Surveys {
        let state_dir = config.writes_checkpoints().then(|| state_dir.to_owned());
        Surveys { state_dir }
    }

    /// Where that of a session is.
    pub fn keep(&self, session: &Session) -> Keep {
        let whose = Whose::of(session);
        let file = self.state_dir.as_ref();
        file.map_or_else(Keep::nowhere, |state_dir| {
            Keep::at(place_of(state_dir, &whose.key, &whose.session_file))
        })
    }
}

/// What was noted of something that was done with a session's file, and up to
/// where.
pub(crate) fn noted<T: DeserializeOwned>(
    session: &Session,
    keep: &Keep,
    what: &str,
) -> Option<(u64, T)> {
    let size = std::fs::metadata(session.path()).ok()?.len();
    let store = Store::in_file(keep.for_size(session, size)?).ok()?;
    let upto = store.upto(what).ok()??;
    let key = Key::of(session.path(), upto, &form(session, Wanted::Path))?;
    Some((upto, store.part(what, &key).ok()??))
}

/// Notes that something was done with the file up to there. Without the note it
/// is done again, no more.
pub(crate) fn note<T: Serialize>(session: &Session, keep: &Keep, upto: u64, what: &str, noted: &T) {
    let note = || {
        let size = std::fs::metadata(session.path()).ok()?.len();
        let store = Store::in_file(keep.for_size(session, size)?).ok()?;
        let key = Key::of(session.path(), upto, &form(session, Wanted::Path))?;
        store.keep(what, upto, &key, noted).ok()
    };
    let _ = note();
}

/// What is wanted of a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Compactions, labels and places.
    Path,
    /// Also the ledger and the audit's source of what left the context, with so
    /// much captured for checkpoints.
    Account(Capture),
}

/// What is known of a session without its entries.
#[derive(Debug)]
pub struct Survey {
    state: State,
    account: Option<Account>,
    store: Store,
    /// How far the two were read before; what follows is new to them.
    known: [u64; 2],
}

/// What is known of the path.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct State {
    path: Path,
    compactions: Vec<Compacted>,
    labels: BTreeMap<EntryId, String>,
    entries: u64,
    /// The line that comes next.
    line: u64,
    /// Whether a mark of an import stands in it.
    imported: bool,
    /// The entries that a host has changed.
    changed: BTreeSet<EntryId>,
    /// Whether each entry has to follow the one before it.
    straight: bool,
    /// Whether it can be gone on with when the file has grown.
    resumable: bool,
    /// Whether every entry has a place.
    placed: bool,
}

/// A compaction on the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Compacted {
    id: EntryId,
    place: Place,
    /// What it and those before it came to.
    wear: Wear,
}

/// Why a survey could not be made where it was tried.
enum Failure {
    Session(Error),
    Store(rusqlite::Error),
    /// The path goes back to where it cannot be followed.
    Astray,
    /// The path does not go by the parents that entries state.
    Moved,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Session(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        match is_twice(&error) {
            true => Failure::Astray,
            false => Failure::Store(error),
        }
    }
}

const PATH: &str = "path";
const ACCOUNT: &str = "account";

impl Survey {
    /// The survey of a session as its file is now.
    pub fn of(session: &Session, keep: &Keep, wanted: Wanted) -> Result<Survey> {
        let size = std::fs::metadata(session.path()).map_or(0, |meta| meta.len());
        if let Some(file) = keep.for_size(session, size) {
            for _ in 0..2 {
                match Survey::made(session, Store::in_file(file), wanted, size) {
                    Ok(survey) => return Ok(survey),
                    Err(Failure::Session(error)) => return Err(error),
                    Err(Failure::Store(error)) if is_damaged(&error) => discard(file),
                    Err(_) => break,
                }
            }
        }
        Survey::made(session, Store::in_memory(), wanted, size).map_err(|failure| match failure {
            Failure::Session(error) => error,
            Failure::Store(_) | Failure::Astray | Failure::Moved => Error::Changed {
                path: session.path().to_owned(),
            },
        })
    }

    /// The survey of all before what was loaded of a session. What was kept holds
    /// for as long as the same compaction keeps the same entries, however much has
    /// come since: then not even that is read.
    pub(crate) fn before(
        session: &Session,
        loaded: &Loaded,
        keep: &Keep,
        capture: Capture,
    ) -> Result<Survey> {
        let ends = [loaded.entries.first(), loaded.entries.last()];
        let [first, last] = ends.map(|entry| entry.map(|entry| &entry.id));
        if let Some(survey) = Survey::settled(session, loaded, keep, capture) {
            return Ok(survey);
        }
        let survey = Survey::of(session, keep, Wanted::Account(capture))?;
        match last {
            // The file has grown, or another path of it is meant.
            Some(leaf) if survey.leaf() != last || survey.start() != first => {
                Survey::at(session, leaf, capture)
            }
            _ => Ok(survey),
        }
    }

    /// What was kept of all before the compaction in force, if that is the one.
    fn settled(
        session: &Session,
        loaded: &Loaded,
        keep: &Keep,
        capture: Capture,
    ) -> Option<Survey> {
        let (compaction, _) = loaded.compaction()?;
        let first = loaded.entries.first()?;
        let size = std::fs::metadata(session.path()).ok()?.len();
        let store = Store::in_file(keep.for_size(session, size)?).ok()?;
        let (path, account) = (Wanted::Path, Wanted::Account(capture));
        let key = |upto, wanted| Key::of(session.path(), upto, &form(session, wanted));
        let upto = store.upto(PATH).ok()??;
        let state: State = store.part(PATH, &key(upto, path)?).ok()??;
        let upto = store.upto(ACCOUNT).ok()??;
        let account: Account = store.part(ACCOUNT, &key(upto, account)?).ok()??;
        let is_of_it = state.compactions.last()?.id == compaction.id
            && account.start() == Some(&first.id)
            && account.compaction() == Some(&compaction.id);
        // A host may have changed since what was folded in.
        let ids: HashSet<&EntryId> = loaded.entries.iter().map(|entry| &entry.id).collect();
        let mut changed = loaded.entries.iter().filter_map(changed_by);
        (is_of_it && changed.all(|id| ids.contains(&id))).then(|| Survey {
            state,
            account: Some(account.capturing(capture)),
            store,
            known: [0; 2],
        })
    }

    /// What left the context on the path to another entry than the session's own
    /// leaf. Nothing of it is kept.
    pub(crate) fn at(session: &Session, leaf: &EntryId, capture: Capture) -> Result<Survey> {
        let failed = |_| Error::Changed {
            path: session.path().to_owned(),
        };
        let mut survey = Survey {
            state: State::default(),
            account: None,
            store: Store::in_memory().map_err(failed)?,
            known: [0; 2],
        };
        survey.along_tree(session, Wanted::Account(capture), Some(leaf))?;
        Ok(survey)
    }

    /// The entry at the end of the path.
    pub(crate) fn leaf(&self) -> Option<&EntryId> {
        self.state.path.stops.last().map(|stop| &stop.id)
    }

    fn made(
        session: &Session,
        store: rusqlite::Result<Store>,
        wanted: Wanted,
        size: u64,
    ) -> Result<Survey, Failure> {
        let mut survey = Survey {
            state: State::default(),
            account: None,
            store: store?,
            known: [0; 2],
        };
        let made = survey.bring_up_to_date(session, wanted, size);
        if made.is_err() {
            survey.store.rollback();
        }
        made.map(|()| survey)
    }

    fn bring_up_to_date(
        &mut self,
        session: &Session,
        wanted: Wanted,
        size: u64,
    ) -> Result<(), Failure> {
        let end = session.lines_end()?;
        let to = end.unwrap_or(size);
        let is_known = self.take_up(session, wanted, to)?;
        if !is_known {
            self.store.begin()?;
            match self.read(session, wanted, end) {
                Err(failure @ (Failure::Astray | Failure::Moved)) => {
                    self.store.rollback();
                    self.store.begin()?;
                    self.store.forget()?;
                    self.along_tree(session, wanted, None)?;
                    let goes_on = matches!(failure, Failure::Astray) && end == Some(size);
                    self.place_all(session, end.filter(|_| goes_on))?;
                }
                read => read?,
            }
            self.keep(session, wanted, to)?;
            self.store.commit()?;
        }
        if end.is_some() && to < size {
            let from = Place {
                line: self.state.line,
                offset: to,
            };
            self.read_rest(session, from)?;
        }
        Ok(())
    }

    /// Takes up what was kept, as far as it is of this file; whether that is all.
    fn take_up(&mut self, session: &Session, wanted: Wanted, to: u64) -> Result<bool, Failure> {
        let key = |upto: u64, wanted| Key::of(session.path(), upto, &form(session, wanted));
        if !self.store.is_kept() {
            return Ok(false);
        }
        if let Some(upto) = self.store.upto(PATH)?
            && let Some(key) = key(upto, Wanted::Path)
            && let Some(state) = self.store.part::<State>(PATH, &key)?
            && (upto == to || upto < to && state.resumable)
        {
            self.state = state;
            self.known[0] = upto;
        } else {
            return Ok(false);
        }
        let Wanted::Account(capture) = wanted else {
            return Ok(self.known[0] == to);
        };
        if let Some(upto) = self.store.upto(ACCOUNT)?
            && let Some(key) = key(upto, wanted)
            && let Some(account) = self.store.part::<Account>(ACCOUNT, &key)?
            && (upto == to || upto < to && self.state.resumable)
        {
            self.account = Some(account.capturing(capture));
            self.known[1] = upto;
        }
        Ok(self.known == [to; 2])
    }

    /// Reads what is not known yet.
    fn read(&mut self, session: &Session, wanted: Wanted, end: Option<u64>) -> Result<(), Failure> {
        let begins = self.known[0] == 0;
        if begins {
            self.store.forget()?;
            self.known[1] = 0;
            self.account = None;
            self.state = State {
                line: 1,
                straight: session.format() == Format::OpenClaw,
                resumable: end.is_some(),
                placed: end.is_some(),
                ..State::default()
            };
        }
        let mut from = self.known[0];
        if let Wanted::Account(capture) = wanted {
            if self.account.is_none() {
                self.account = Some(Account::new(session, capture));
            }
            from = from.min(self.known[1]);
        }
        let mut failed = None;
        let mut visit = |survey: &mut Survey, entry: Entry, linked| {
            let taken = match linked {
                Linked::ByParent => survey.take(session, entry),
                Linked::Otherwise => Err(Failure::Moved),
            };
            match taken {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    failed = Some(failure);
                    ControlFlow::Break(())
                }
            }
        };
        match end {
            Some(to) => {
                // The account may lag behind; lines are numbered for the path.
                let known = self.known[0];
                let line = self.state.line;
                let parts = [(from, 1, known), (known, line, to)];
                for (offset, line, to) in parts.into_iter().filter(|(from, _, to)| from < to) {
                    let from = Place { line, offset };
                    let at = session
                        .stretch(from, to, &mut |entry, linked| visit(self, entry, linked))?;
                    self.state.line = self.state.line.max(at.line);
                }
                self.store.sort()?;
            }
            None => {
                session.each(&mut |entry| visit(self, entry, Linked::ByParent))?;
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Takes in the next entry of the file.
    fn take(&mut self, session: &Session, entry: Entry) -> Result<(), Failure> {
        let offset = entry.place.offset;
        if offset >= self.known[0] {
            if self.state.placed {
                self.store.add(&entry.id, entry.place)?;
            }
            self.state.take(&entry)?;
        }
        let changed = self.is_changed();
        if offset >= self.known[1]
            && let Some(account) = &mut self.account
            && account.take(session, entry, changed)? == Taken::Astray
        {
            return Err(Failure::Astray);
        }
        Ok(())
    }

    /// The whole of it where the path goes back and forth: along the tree, whose
    /// path is known only at its end.
    fn along_tree(
        &mut self,
        session: &Session,
        wanted: Wanted,
        leaf: Option<&EntryId>,
    ) -> Result<()> {
        let tree = session.tree()?;
        let path = leaf.and_then(|leaf| tree.path_to(leaf));
        let path = path.unwrap_or_else(|| tree.path());
        let nodes = tree.nodes();
        let first = path.first().and_then(|at| nodes[*at].parent.clone());
        let on_path: HashSet<&EntryId> = path.iter().map(|at| &nodes[*at].id).collect();
        let loaded = match leaf {
            Some(leaf) => session.load_at(leaf)?,
            None => session.load()?,
        };
        let kept: HashSet<&EntryId> = loaded.entries.iter().map(|entry| &entry.id).collect();
        self.account = None;
        self.known = [0; 2];
        self.state = State {
            labels: tree.labels().clone().into_iter().collect(),
            ..State::default()
        };
        let mut changing = Changing::default();
        session.each(&mut |entry| {
            self.state.note(&entry);
            changing.take(&entry);
            if on_path.contains(&entry.id) && matches!(entry.body, Body::Compaction(_)) {
                self.state.compacted(&entry);
            }
            ControlFlow::Continue(())
        })?;
        let path = Path::of(&loaded);
        if let Wanted::Account(capture) = wanted {
            let changes = changing.done();
            let mut account = Account::new(session, capture);
            archived::observe(session, first, &mut account.source)?;
            session.each(&mut |entry| {
                if on_path.contains(&entry.id) && !kept.contains(&entry.id) {
                    account.fold_known(&changes.apply(entry));
                }
                ControlFlow::Continue(())
            })?;
            account.path = path.clone();
            self.account = Some(account);
        }
        self.state.path = path;
        Ok(())
    }

    /// Notes where the entries of a file stand, and whether it can be gone on with
    /// from the end of its lines.
    fn place_all(&mut self, session: &Session, end: Option<u64>) -> Result<(), Failure> {
        let Some(end) = end else {
            return Ok(());
        };
        let mut failed = None;
        let start = Place { line: 1, offset: 0 };
        let at = session.stretch(start, end, &mut |entry, linked| {
            let placed = match linked {
                Linked::ByParent => self
                    .store
                    .add(&entry.id, entry.place)
                    .map_err(Failure::from),
                Linked::Otherwise => Err(Failure::Moved),
            };
            match placed {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    failed = Some(failure);
                    ControlFlow::Break(())
                }
            }
        })?;
        let sorted = failed.map_or_else(|| Ok(self.store.sort()?), Err);
        match sorted {
            Ok(()) => {
                self.state.line = at.line;
                self.state.placed = true;
                self.state.resumable = session.format() == Format::Pi;
            }
            Err(Failure::Store(error)) => return Err(Failure::Store(error)),
            Err(_) => self.store.forget()?,
        }
        Ok(())
    }

    /// Keeps what was read up to an offset.
    fn keep(&self, session: &Session, wanted: Wanted, upto: u64) -> Result<(), Failure> {
        if !self.store.is_kept() {
            return Ok(());
        }
        let key = |wanted| Key::of(session.path(), upto, &form(session, wanted));
        if let Some(key) = key(Wanted::Path) {
            self.store.keep(PATH, upto, &key, &self.state)?;
        }
        if let Some(account) = &self.account
            && let Some(key) = key(wanted)
        {
            self.store.keep(ACCOUNT, upto, &key, account)?;
        }
        Ok(())
    }

    /// Takes in a last line that is not ended yet: it may still change, so it is
    /// read every time.
    fn read_rest(&mut self, session: &Session, from: Place) -> Result<(), Failure> {
        let mut rest = Vec::new();
        session.stretch(from, u64::MAX, &mut |entry, linked| {
            rest.push((entry, linked));
            ControlFlow::Continue(())
        })?;
        // What was appended since the session was opened is none of it.
        if rest.is_empty() {
            return Ok(());
        }
        self.state.placed = false;
        self.known = [from.offset; 2];
        for (entry, linked) in rest {
            match linked {
                Linked::ByParent => self.take(session, entry)?,
                Linked::Otherwise => return Err(Failure::Moved),
            }
        }
        Ok(())
    }

    /// The compactions on the path, oldest first.
    pub fn compactions(&self, session: &Session) -> Result<Vec<Entry>> {
        let places = self.state.compactions.iter();
        let mut found = Vec::with_capacity(self.state.compactions.len());
        for compacted in places {
            found.push(entry_at(session, &compacted.id, compacted.place)?);
        }
        Ok(found)
    }

    /// How many they are.
    pub fn epoch(&self) -> u32 {
        u32::try_from(self.state.compactions.len()).unwrap_or(u32::MAX)
    }

    /// What they came to.
    pub fn wear(&self) -> Wear {
        let last = self.state.compactions.last();
        last.map_or_else(Wear::default, |compacted| compacted.wear)
    }

    /// Labels by the entry that they name.
    pub fn labels(&self) -> HashMap<EntryId, String> {
        self.state.labels.clone().into_iter().collect()
    }

    /// Entries in the file.
    pub fn entries(&self) -> u64 {
        self.state.entries
    }

    /// Whether an import that nobody vouches for may have begun it.
    pub(crate) fn is_imported(&self) -> bool {
        self.state.imported
    }

    /// Whether a host changed what it had said.
    pub(crate) fn is_changed(&self) -> bool {
        !self.state.changed.is_empty()
    }

    /// Whether this is what it changed.
    pub(crate) fn is_rewritten(&self, id: &EntryId) -> bool {
        self.state.changed.contains(id)
    }

    /// The ledger and the audit's source of all before the kept part.
    pub(crate) fn account(self) -> Option<(Ledger, Source)> {
        let account = self.account?;
        Some((account.ledger, account.source))
    }

    /// The first entry that the account has not taken in.
    pub(crate) fn start(&self) -> Option<&EntryId> {
        self.account.as_ref()?.start()
    }

    /// Whether every entry of the file has a place.
    pub fn is_placed(&self) -> bool {
        self.state.placed
    }

    /// The entries with these ids in the order of the file, each with its number
    /// there, where nothing beside the file says what is in them.
    pub(crate) fn pick(
        &self,
        session: &Session,
        ids: &HashSet<EntryId>,
        visit: &mut dyn FnMut(u64, Entry) -> ControlFlow<()>,
    ) -> Result<bool> {
        let state = &self.state;
        let rewritten = ids.iter().any(|id| state.changed.contains(id));
        if !state.placed || rewritten || state.imported || has_archive(session.path()) {
            return Ok(false);
        }
        let numbered = ids.iter().map(|id| (self.store.number(id.as_str()), id));
        let mut found: Vec<_> = numbered
            .filter_map(|(number, id)| Some((number.ok()??, id)))
            .collect();
        found.sort_by_key(|((number, _), _)| *number);
        let mut left = found.as_slice();
        while let [((number, place), id), rest @ ..] = left {
            let before = left.len();
            let mut stopped = false;
            session.stretch(*place, u64::MAX, &mut |entry, _| {
                let [((number, place), id), rest @ ..] = left else {
                    return ControlFlow::Break(());
                };
                if entry.id == **id {
                    left = rest;
                    stopped = visit(*number, entry).is_break();
                } else if place.offset > entry.place.offset + NEAR {
                    return ControlFlow::Break(());
                }
                match stopped || left.is_empty() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            if left.len() == before {
                // A place is only a hint: the entry itself says whose it is.
                left = rest;
                stopped = visit(*number, session.entry(id)?).is_break();
            }
            if stopped {
                break;
            }
        }
        Ok(true)
    }

    /// Whether all that there is of a session stands in its file as it was said.
    pub(crate) fn is_plain(&self, session: &Session) -> bool {
        let state = &self.state;
        state.placed && !state.imported && !self.is_changed() && !has_archive(session.path())
    }

    /// The last entry that begins before an offset, so many before it: its number
    /// in the order of the file, and its place.
    pub(crate) fn before_offset(&self, offset: u64, count: u64) -> Option<(u64, Place)> {
        self.store.before(offset, count).ok()?
    }

    /// The entries whose ids begin so, in any case, in the order of the file; none
    /// where that takes the whole session.
    pub(crate) fn begun(&self, session: &Session, start: &str) -> Option<Vec<EntryId>> {
        self.named(session, start, Store::begun)
    }

    /// The same of those whose ids end so.
    pub(crate) fn ended(&self, session: &Session, end: &str) -> Option<Vec<EntryId>> {
        self.named(session, end, Store::ended)
    }

    fn named(
        &self,
        session: &Session,
        part: &str,
        find: impl Fn(&Store, &str) -> rusqlite::Result<Vec<String>>,
    ) -> Option<Vec<EntryId>> {
        if !self.state.placed || part.is_empty() || has_archive(session.path()) {
            return None;
        }
        let mut found: Vec<String> = Vec::new();
        let mut cases = vec![part.to_ascii_lowercase(), part.to_ascii_uppercase()];
        cases.push(part.to_owned());
        cases.sort();
        cases.dedup();
        for case in cases {
            found.extend(find(&self.store, &case).ok()?);
        }
        Some(found.into_iter().map(EntryId::new).collect())
    }

    /// Where an entry stands; none where its place is not known.
    pub(crate) fn place(&self, id: &EntryId) -> Option<Place> {
        self.store.place(id.as_str()).ok()?
    }

    /// Whether the file has an entry, where each has a place.
    pub fn has(&self, id: &EntryId) -> bool {
        matches!(self.store.place(id.as_str()), Ok(Some(_)))
    }

    /// An entry by its id; none where its place is not known.
    pub fn entry(&self, session: &Session, id: &EntryId) -> Result<Option<Entry>> {
        let place = self.store.place(id.as_str()).ok().flatten();
        // A place is only a hint: the entry itself says whose it is.
        place.map_or(Ok(None), |place| entry_at(session, id, place).map(Some))
    }

    /// The shortest start of each id that no other entry's has, but so much of it
    /// at least; none where that takes the whole session.
    pub fn starts(&self, ids: &[String], least: usize) -> Option<Vec<String>> {
        if !self.state.placed {
            return None;
        }
        let shared =
            |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        let start = |id: &String| {
            let near = self.store.neighbours(id).ok()?;
            let common = near.iter().flatten().map(|other| shared(id, other)).max();
            Some(
                id.chars()
                    .take(least.max(common.unwrap_or(0) + 1))
                    .collect(),
            )
        };
        ids.iter().map(start).collect()
    }
}

impl State {
    /// Follows an entry of the file.
    fn take(&mut self, entry: &Entry) -> Result<(), Failure> {
        self.note(entry);
        if let Body::Label { target, label } = &entry.body {
            match label {
                Some(label) => self.labels.insert(target.clone(), label.clone()),
                None => self.labels.remove(target),
            };
        }
        match self.path.follow(entry).ok_or(Failure::Astray)? {
            Step::On => {}
            Step::Back(_) | Step::Anew if self.straight => return Err(Failure::Moved),
            Step::Back(_) => {}
            Step::Anew => self.compactions.clear(),
        }
        match self.path.boundary(entry) {
            Some(Some(first)) => {
                self.compacted(entry);
                self.path.cut(first);
            }
            Some(None) => return Err(Failure::Astray),
            None if self.path.stops.len() > 2 * STOPS => self.path.settle(STOPS),
            None => {}
        }
        Ok(())
    }

    fn compacted(&mut self, entry: &Entry) {
        let wear = self.compactions.last().map(|last| last.wear);
        self.compactions.push(Compacted {
            id: entry.id.clone(),
            place: entry.place,
            wear: after(wear.unwrap_or_default(), entry),
        });
    }

    /// What holds wherever an entry stands.
    fn note(&mut self, entry: &Entry) {
        self.entries += 1;
        self.imported |= is_brought(entry);
        self.changed.extend(changed_by(entry));
    }
}

/// An entry at its place.
fn entry_at(session: &Session, id: &EntryId, place: Place) -> Result<Entry> {
    let mut found = None;
    session.stretch(place, u64::MAX, &mut |entry, _| {
        if entry.place.offset == place.offset && entry.id != *id {
            return ControlFlow::Continue(());
        }
        found = (entry.id == *id).then_some(entry);
        ControlFlow::Break(())
    })?;
    match found {
        Some(entry) => Ok(entry),
        None => session.entry(id),
    }
}

/// What beside the file decides about what is kept.
fn form(session: &Session, wanted: Wanted) -> String {
    let archived = [Packing::Plain, Packing::Zstd].map(|packing| {
        let path = archive_path(session.path(), packing);
        std::fs::symlink_metadata(path).map(|meta| meta.len()).ok()
    });
    let header = session.header();
    match wanted {
        Wanted::Path => format!("path {archived:?}"),
        Wanted::Account(capture) => format!(
            "account {} {capture:?} {archived:?} {:?}",
            Ledger::VERSION,
            header.cwd
        ),
    }
}
