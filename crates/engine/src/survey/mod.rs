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
//! | how is one had? | [`Survey::of`] |
//! | where is it kept? | [`Keep`]: one small database a session, sealed |
//! | what when the file was rewritten, cut short, exchanged? | the key does not fit: made anew |
//! | what when there is no time for all of it? | what was read is kept; the next one goes on there |
//! | what of formats that are not read line by line? | made along the tree, kept while their file stays as it is |

mod account;
mod keep;
mod secrets;
mod state;
mod store;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};

use longhaul_compaction::Wear;
use longhaul_ledger::is_brought;
use longhaul_transcript::{
    Body, Entry, EntryId, EntryType, Error, Fault, Format, Linked, Loaded, Packing, Place, Result,
    Session, archive_path, has_archive,
};

pub(crate) use self::account::Past;
use self::account::{Account, Wanted};
pub use self::keep::{Keep, Surveys, place_of};
pub(crate) use self::secrets::{redactor, teach};
use self::state::State;
use self::store::{Key, Store, discard, is_damaged, is_twice};
use crate::changes::Changes;

/// What stands no farther from an entry is read on to, not looked up.
const NEAR: u64 = 64 << 10;

/// After every so many bytes it is kept how far a file was read, for a process that
/// is not given the time to read all of it.
const STRETCH: u64 = if cfg!(test) { 1 << 20 } else { 16 << 20 };

const PART: &str = "path";

/// What is known of a session without its entries.
#[derive(Debug)]
pub struct Survey {
    state: State,
    store: Store,
    /// What is before the kept part, as far as it was asked for and followed.
    account: Option<Account>,
}

/// Why a survey could not be made where it was tried.
enum Failure {
    Session(Error),
    Store(rusqlite::Error),
    /// Entries do not say by themselves what they follow.
    Astray,
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

impl Survey {
    /// The survey of a session as its file is now.
    pub fn of(session: &Session, keep: &Keep) -> Result<Survey> {
        Survey::with(session, keep, None)
    }

    /// The same, with the account of what is before the kept part made on the way.
    fn with(session: &Session, keep: &Keep, wanted: Option<Wanted<'_>>) -> Result<Survey> {
        let size = size_of(session);
        if let Some(file) = keep.for_size(session, size) {
            for _ in 0..2 {
                match Survey::made(session, Store::in_file(file), size, wanted) {
                    Ok(survey) => return Ok(survey),
                    Err(Failure::Session(error)) => return Err(error),
                    Err(Failure::Store(error)) if is_damaged(&error) => discard(file),
                    Err(_) => break,
                }
            }
        }
        let made = Survey::made(session, Store::in_memory(), size, wanted);
        made.map_err(|failure| match failure {
            Failure::Session(error) => error,
            Failure::Store(_) | Failure::Astray => Error::Changed {
                path: session.path().to_owned(),
            },
        })
    }

    /// Follows the path that was loaded, which may be another one.
    fn go_to_leaf(&mut self, session: &Session, loaded: &Loaded) -> Result<()> {
        let Survey { state, store, .. } = self;
        let leaf = loaded.entries.last().map(|entry| &entry.id);
        if state.leaf.as_ref() != leaf && (!state.placed || state.go_to(leaf, store).is_err()) {
            *state = State::of_tree(session, leaf)?;
        }
        Ok(())
    }

    fn made(
        session: &Session,
        store: rusqlite::Result<Store>,
        size: u64,
        wanted: Option<Wanted<'_>>,
    ) -> Result<Survey, Failure> {
        let mut survey = Survey {
            state: State::default(),
            store: store?,
            account: None,
        };
        let made = survey.bring_up_to_date(session, size, wanted);
        if made.is_err() {
            survey.store.rollback();
        }
        made.map(|()| survey)
    }

    fn bring_up_to_date(
        &mut self,
        session: &Session,
        size: u64,
        wanted: Option<Wanted<'_>>,
    ) -> Result<(), Failure> {
        let end = session.lines_end()?;
        let to = end.unwrap_or(size);
        let form = form_of(session);
        let kept = self.store.kept::<State>(session, PART, &form)?;
        let kept = kept.filter(|(upto, state)| *upto == to || *upto < to && state.placed);
        let from = kept.as_ref().map(|(upto, _)| *upto);
        self.state = kept.map_or_else(State::of_lines, |(_, state)| state);
        if from != Some(to) {
            let offset = from.unwrap_or(0);
            self.account = wanted.and_then(|wanted| Account::along(wanted, &self.store, offset));
            self.store.begin()?;
            if from.is_none() {
                self.store.forget_places()?;
            }
            let read = match end {
                Some(_) => self.read(session, offset..to, wanted),
                None => Err(Failure::Astray),
            };
            match read {
                Err(Failure::Astray) => {
                    self.store.forget_places()?;
                    self.read_whole(session, wanted)?;
                }
                read => self.state.line = read?.line,
            }
            self.store.sort()?;
            if self.store.is_kept() {
                self.store.keep(session, PART, &form, to, &self.state)?;
            }
            self.store.commit()?;
        }
        if end.is_some() && to < size {
            self.read_rest(session, to)?;
        }
        Ok(())
    }

    /// Reads a part of the file, and says where it ends.
    fn read(
        &mut self,
        session: &Session,
        part: Range<u64>,
        wanted: Option<Wanted<'_>>,
    ) -> Result<Place, Failure> {
        let from = Place {
            line: self.state.line,
            offset: part.start,
        };
        let straight = session.format() == Format::OpenClaw;
        let (mut failed, mut noted, mut last) = (None, part.start, part.start);
        let end = session.stretch(from, part.end, &mut |entry, linked| {
            let follows = self.state.leaf.is_none() || entry.parent == self.state.leaf;
            let offset = entry.place.offset;
            let mut taken = Ok(());
            if offset >= noted + STRETCH && offset > last {
                noted = offset;
                taken = self.note(session, entry.place, wanted);
            }
            last = offset;
            let taken = taken.and_then(|()| match linked {
                Linked::ByParent if follows || !straight => self.take(&entry, wanted),
                _ => Err(Failure::Astray),
            });
            match taken {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => {
                    failed = Some(failure);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(end), Err)
    }

    /// Keeps what was found before the entry at a place.
    fn note(
        &mut self,
        session: &Session,
        at: Place,
        wanted: Option<Wanted<'_>>,
    ) -> Result<(), Failure> {
        if !self.store.is_kept() || !self.state.placed {
            return Ok(());
        }
        self.state.line = at.line;
        let form = form_of(session);
        self.store
            .keep(session, PART, &form, at.offset, &self.state)?;
        if let (Some(account), Some(wanted)) = (&mut self.account, wanted) {
            account.note(wanted, &self.store, at);
        }
        self.store.commit()?;
        self.store.begin()?;
        Ok(())
    }

    fn take(&mut self, entry: &Entry, wanted: Option<Wanted<'_>>) -> Result<(), Failure> {
        if self.state.placed {
            let parent = entry.parent.as_ref();
            self.store.add(&entry.id, parent, entry.place)?;
        }
        if let (Some(account), Some(wanted)) = (&mut self.account, wanted) {
            account.follow(entry, wanted)?;
        }
        self.state.take(entry, &self.store)
    }

    /// Reads a file whose entries do not say by themselves what they follow.
    fn read_whole(&mut self, session: &Session, wanted: Option<Wanted<'_>>) -> Result<()> {
        self.account = None;
        if !session.tells_path_at_once() {
            self.state = State::of_tree(session, None)?;
            return Ok(());
        }
        self.state = State::default();
        self.account = wanted.map(Account::new);
        let mut failed = None;
        session.each_on_path(&mut |entry, is_on_path| {
            self.state.take_whole(&entry, is_on_path);
            if let (Some(account), Some(wanted), true) = (&mut self.account, wanted, is_on_path) {
                failed = account.follow_path(&entry, wanted).err();
            }
            match failed {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Takes in a last line that is not ended yet: it may still change, so it is
    /// read every time.
    fn read_rest(&mut self, session: &Session, offset: u64) -> Result<(), Failure> {
        let before = self.state.entries;
        let placed = std::mem::replace(&mut self.state.placed, false);
        match self.read(session, offset..u64::MAX, None) {
            Err(Failure::Astray) => self.state = State::of_tree(session, None)?,
            read => drop(read?),
        }
        // What was appended since the session was opened is none of it.
        self.state.placed = placed && self.state.entries == before;
        Ok(())
    }

    /// The compactions on the path, oldest first.
    pub fn compactions(&self, session: &Session) -> Result<Vec<Entry>> {
        let compactions = self.state.on_path().into_iter();
        if !self.state.placed {
            let ids: HashSet<&EntryId> = compactions.map(|compacted| &compacted.id).collect();
            let mut found = Vec::new();
            session.each(&mut |entry| {
                found.extend(ids.contains(&entry.id).then_some(entry));
                ControlFlow::Continue(())
            })?;
            return Ok(found);
        }
        compactions
            .map(|compacted| entry_in(session, &compacted.id, compacted.place, compacted.end))
            .collect()
    }

    /// How many they are.
    pub fn epoch(&self) -> u32 {
        u32::try_from(self.state.on_path().len()).unwrap_or(u32::MAX)
    }

    /// What they came to.
    pub fn wear(&self) -> Wear {
        self.state.wear()
    }

    /// Labels by the entry that they name.
    pub fn labels(&self) -> HashMap<EntryId, String> {
        self.state.labels.clone().into_iter().collect()
    }

    /// Entries in the file.
    pub fn entries(&self) -> u64 {
        self.state.entries
    }

    /// Whether a host changed what it had said.
    pub(crate) fn is_changed(&self) -> bool {
        !self.state.changed.is_empty()
    }

    /// What it has in its place.
    fn changes(&self, session: &Session) -> Result<Changes> {
        match self.is_changed() {
            true => Changes::of(session),
            false => Ok(Changes::default()),
        }
    }

    /// Every entry of the archive, then of the file, until `visit` has enough; what
    /// a host changed, as it has it now.
    pub(crate) fn each(
        &self,
        session: &Session,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Vec<Fault>> {
        let changes = self.changes(session)?;
        session.each_ever(&mut |entry| visit(changes.apply(entry)))
    }

    /// The entries that were there before its import, if it is one that nobody
    /// vouches for, and those that the import began it with. A file that cannot be
    /// read to its end is told by whoever reads it for what is in it.
    pub(crate) fn brought(&self, session: &Session) -> HashSet<EntryId> {
        let mut brought = HashSet::new();
        if !self.state.imported {
            return brought;
        }
        let mut before = Vec::new();
        let mut begins = false;
        let _ = session.each_ever(&mut |entry| {
            if is_brought(&entry) {
                brought.extend(before.drain(..));
                begins = true;
            }
            begins &= !matches!(entry.body, Body::Message(_));
            let kind = entry.kind();
            if begins && matches!(kind, EntryType::Compaction | EntryType::CustomMessage) {
                brought.insert(entry.id.clone());
            }
            before.push(entry.id);
            ControlFlow::Continue(())
        });
        brought
    }

    /// Whether this is what it changed.
    pub(crate) fn is_rewritten(&self, id: &EntryId) -> bool {
        self.state.changed.contains(id)
    }

    /// Whether every entry of the file has a place.
    pub fn is_placed(&self) -> bool {
        self.state.placed
    }

    /// Whether all that there is of a session stands in its file as it was said.
    pub(crate) fn is_plain(&self, session: &Session) -> bool {
        let state = &self.state;
        state.placed && !state.imported && !self.is_changed() && !has_archive(session.path())
    }

    /// The entries with these ids in the order of the file, each with its number
    /// there.
    pub(crate) fn pick(
        &self,
        session: &Session,
        ids: &HashSet<EntryId>,
        visit: &mut dyn FnMut(u64, Entry) -> ControlFlow<()>,
    ) -> Result<()> {
        let numbered = ids.iter().map(|id| (self.store.number(id), id));
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
        Ok(())
    }

    /// The last entry that begins before an offset, so many before it: its number
    /// in the order of the file, and its place.
    pub(crate) fn before_offset(&self, offset: u64, count: u64) -> Option<(u64, Place)> {
        self.store.before(offset, count).ok()?
    }

    /// The entries whose ids begin or end so, in any case, in the order of the file;
    /// none where that takes the whole session.
    pub(crate) fn named(&self, session: &Session, part: &str) -> Option<Vec<EntryId>> {
        if !self.state.placed || part.is_empty() || has_archive(session.path()) {
            return None;
        }
        self.store.named(part).ok()
    }

    /// Where an entry stands; none where its place is not known.
    pub(crate) fn place(&self, id: &EntryId) -> Option<Place> {
        let (_, place) = self.store.number(id).ok()??;
        Some(place)
    }

    /// Whether the file has an entry, where each has a place.
    pub fn has(&self, id: &EntryId) -> bool {
        self.place(id).is_some()
    }

    /// An entry by its id; none where its place is not known.
    pub fn entry(&self, session: &Session, id: &EntryId) -> Result<Option<Entry>> {
        let place = self.place(id);
        // A place is only a hint: the entry itself says whose it is.
        place.map_or(Ok(None), |place| {
            entry_in(session, id, place, u64::MAX).map(Some)
        })
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
            let wanted = least.max(common.unwrap_or(0) + 1);
            Some(id.chars().take(wanted).collect())
        };
        ids.iter().map(start).collect()
    }
}

/// What a session's file is like up to an offset: of another file, or of one that
/// says something else there, it is another. None of what is not the lines of a file.
pub(crate) fn mark(session: &Session, upto: u64) -> Option<String> {
    let form = form_of(session);
    let key = || Key::of(session.path(), upto, &form);
    session.is_lines().then(key).flatten().map(|key| key.mark())
}

fn form_of(session: &Session) -> String {
    format!("path {}", archives(session))
}

fn size_of(session: &Session) -> u64 {
    std::fs::metadata(session.path()).map_or(0, |meta| meta.len())
}

/// An entry at its place, if its text ends before an offset; else wherever it is.
fn entry_in(session: &Session, id: &EntryId, place: Place, end: u64) -> Result<Entry> {
    let mut found = None;
    session.stretch(place, end, &mut |entry, _| {
        if entry.place.offset == place.offset && entry.id != *id {
            return ControlFlow::Continue(());
        }
        found = (entry.id == *id).then_some(entry);
        ControlFlow::Break(())
    })?;
    match found {
        Some(entry) => Ok(entry),
        // What stands before it on its line was not counted.
        None if end < u64::MAX => entry_in(session, id, place, u64::MAX),
        None => session.entry(id),
    }
}

/// What of the archives decides about what is kept.
fn archives(session: &Session) -> String {
    let archived = [Packing::Plain, Packing::Zstd].map(|packing| {
        let path = archive_path(session.path(), packing);
        std::fs::symlink_metadata(path).map(|meta| meta.len()).ok()
    });
    format!("{archived:?}")
}
