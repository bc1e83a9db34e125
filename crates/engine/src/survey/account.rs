//! What a path held before the latest boundary: the ledger of it, and what the
//! audit looks for.
//!
//! It is kept, also while it is being made: it is folded in along with the pass
//! that finds everything else, as far as each entry follows the one before it.
//! The next compaction leaves behind what stands between two boundaries: only
//! that is read then.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_compaction::Wear;
use longhaul_compaction::audit::Source;
use longhaul_ledger::{Capture, Ledger};
use longhaul_transcript::{
    Entry, EntryId, Loaded, Place, Result, Session, each_archived, has_archive,
};
use serde::{Deserialize, Serialize};

use super::store::Store;
use super::{Keep, STRETCH, Survey, archives, size_of};
use crate::changes::Changes;

const PART: &str = "account";

/// What there is before the kept part of a session.
pub(crate) struct Past {
    pub(crate) epoch: u32,
    pub(crate) wear: Wear,
    pub(crate) labels: BTreeMap<EntryId, String>,
    pub(crate) ledger: Ledger,
    pub(crate) source: Source,
}

impl Past {
    /// That of what was loaded of a session, with so much captured for checkpoints.
    pub(crate) fn of(
        session: &Session,
        loaded: &Loaded,
        capture: Capture,
        keep: &Keep,
    ) -> Result<Past> {
        let wanted = Wanted::new(session, loaded, capture);
        if let Some(past) = wanted.settled(keep) {
            return Ok(past);
        }
        let mut survey = Survey::with(session, keep, Some(wanted))?;
        survey.go_to_leaf(session, loaded)?;
        let (ledger, source) = survey.before(session, loaded, capture)?;
        Ok(Past {
            epoch: survey.epoch(),
            wear: survey.wear(),
            labels: survey.state.labels.clone(),
            ledger,
            source,
        })
    }
}

/// What an account is made for.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    session: &'a Session,
    loaded: &'a Loaded,
    capture: Capture,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(session: &'a Session, loaded: &'a Loaded, capture: Capture) -> Wanted<'a> {
        Wanted {
            session,
            loaded,
            capture,
        }
    }

    fn first(&self) -> Option<&Entry> {
        self.loaded.entries.first()
    }

    fn cwd(&self) -> Option<String> {
        let cwd = self.session.header().cwd.as_ref();
        cwd.map(|cwd| cwd.to_string_lossy().into_owned())
    }

    fn form(&self) -> String {
        let (version, archives) = (Ledger::VERSION, archives(self.session));
        format!(
            "account {version} {:?} {archives} {:?}",
            self.capture,
            self.cwd()
        )
    }

    /// The one that is kept, and up to where its file was read.
    fn kept(&self, store: &Store) -> Option<(u64, Account)> {
        let kept = store
            .kept::<Account>(self.session, PART, &self.form())
            .ok()??;
        let capturing = |account: Account| Account {
            ledger: account.ledger.capturing(self.capture),
            ..account
        };
        Some((kept.0, capturing(kept.1)))
    }

    /// Of a file whose end alone tells its context, what was found of all before
    /// that. It stays as it is, however much is appended.
    fn settled(&self, keep: &Keep) -> Option<Past> {
        let first = self.first()?;
        let (upto, account) = self.kept(&keep.store(self.session)?)?;
        let told = account.told?;
        (account.first.as_ref() == Some(&first.id) && upto == self.settles()?).then_some(Past {
            epoch: told.epoch,
            wear: told.wear,
            labels: told.labels,
            ledger: account.ledger,
            source: account.source,
        })
    }

    /// Where that ends.
    fn settles(&self) -> Option<u64> {
        let apart = self.session.tells_path_at_once() && !self.loaded.complete;
        let first = self.first().filter(|_| apart)?;
        Some(first.place.offset)
    }
}

/// The fold over everything before the kept part of a path, or the beginning of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Account {
    /// The first entry that is kept, once the fold has come there.
    first: Option<EntryId>,
    /// Where the fold goes on.
    place: Place,
    /// The last entry in it.
    last: Option<EntryId>,
    /// Whether it has what the archive holds of the path.
    is_begun: bool,
    /// What a host changed of it after it was said.
    changed: BTreeSet<EntryId>,
    ledger: Ledger,
    source: Source,
    /// What else there was to know, of a file that is not read on.
    told: Option<Told>,
    #[serde(skip)]
    is_astray: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Told {
    epoch: u32,
    wear: Wear,
    labels: BTreeMap<EntryId, String>,
}

impl Account {
    pub(super) fn new(wanted: Wanted<'_>) -> Account {
        let cwd = wanted.cwd();
        Account {
            first: None,
            place: Place { line: 1, offset: 0 },
            last: None,
            is_begun: false,
            changed: BTreeSet::new(),
            ledger: Ledger::new(cwd.clone()).capturing(wanted.capture),
            source: Source::new(cwd),
            told: None,
            is_astray: false,
        }
    }

    /// One that is folded along with a reading from this offset on; none where
    /// nothing is left to fold in then.
    pub(super) fn along(wanted: Wanted<'_>, store: &Store, from: u64) -> Option<Account> {
        let first = wanted.first()?;
        let kept = wanted.kept(store).map(|(_, account)| account);
        let mut account = kept.unwrap_or_else(|| Account::new(wanted));
        account.first = None;
        let comes = from..=first.place.offset;
        let goes_on = account.changed.is_empty() && comes.contains(&account.place.offset);
        goes_on.then_some(account)
    }

    /// Whether there is nothing more to follow.
    fn is_done(&self) -> bool {
        self.first.is_some() || self.is_astray
    }

    /// Takes in the next entry of the file, if it follows the last one.
    pub(super) fn follow(&mut self, entry: &Entry, wanted: Wanted<'_>) -> Result<()> {
        if self.is_done() || entry.place.offset < self.place.offset {
            return Ok(());
        }
        let to = wanted.first().map(|first| first.place.offset);
        self.is_astray = to.is_none_or(|to| to < entry.place.offset);
        self.place = entry.place;
        self.follow_path(entry, wanted)
    }

    /// Takes in the next entry of the path.
    pub(super) fn follow_path(&mut self, entry: &Entry, wanted: Wanted<'_>) -> Result<()> {
        self.is_astray |= self.last.is_some() && entry.parent != self.last;
        if self.is_done() {
            return Ok(());
        }
        self.begin(wanted.session, entry.parent.as_ref())?;
        match wanted.first().filter(|first| first.id == entry.id) {
            Some(first) => self.first = Some(first.id.clone()),
            None => self.fold(entry),
        }
        Ok(())
    }

    /// Keeps it as it is before the entry at a place.
    pub(super) fn note(&mut self, wanted: Wanted<'_>, store: &Store, at: Place) {
        if !self.is_done() && store.is_kept() && at.offset > self.place.offset {
            self.place = at;
            // Without what is kept the next process takes longer, no more.
            let _ = store.keep(wanted.session, PART, &wanted.form(), at.offset, self);
        }
    }

    fn fold(&mut self, entry: &Entry) {
        let message = entry.message();
        self.ledger.observe_read(entry, message.as_ref());
        self.source.observe_read(entry, message.as_ref());
        self.source.settle(None);
        self.last = Some(entry.id.clone());
    }

    /// Folds in what is left up to the first entry that is kept, by the lines of the
    /// file; whether that could be done.
    fn go_on(&mut self, wanted: Wanted<'_>, survey: &Survey) -> Result<bool> {
        let Wanted { session, .. } = wanted;
        let Some(first) = wanted.first() else {
            return Ok(false);
        };
        self.first = None;
        let before = self.clone();
        let (mut failed, mut noted) = (None, self.place.offset);
        session.stretch(self.place, u64::MAX, &mut |entry, _| {
            if entry.place.offset >= noted + STRETCH {
                noted = entry.place.offset;
                self.note(wanted, &survey.store, entry.place);
            }
            failed = self.follow(&entry, wanted).err();
            match failed.is_some() || self.is_done() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if self.first.is_some() {
            return Ok(true);
        }
        // Branches lie between. The places tell which entries are on the path.
        *self = before;
        let mut path = survey.between(self.last.as_ref(), first);
        if path.is_none() {
            *self = Account::new(wanted);
            path = survey.between(None, first);
        }
        let Some((path, above)) = path else {
            return Ok(false);
        };
        self.begin(session, above.as_ref())?;
        let to = survey.place(&first.id).unwrap_or(first.place);
        session.stretch(self.place, to.offset, &mut |entry, _| {
            if path.contains(&entry.id) {
                self.fold(&entry);
            }
            ControlFlow::Continue(())
        })?;
        (self.place, self.first) = (to, Some(first.id.clone()));
        Ok(true)
    }

    /// Folds in everything on the path, archived entries for the audit alone.
    fn fold_all(
        &mut self,
        wanted: Wanted<'_>,
        kept: &HashSet<&EntryId>,
        changes: &Changes,
    ) -> Result<()> {
        let Wanted {
            session, loaded, ..
        } = wanted;
        let tree = session.tree()?;
        let leaf = loaded.entries.last().map(|entry| &entry.id);
        let path = leaf.and_then(|leaf| tree.path_to(leaf));
        let path = path.unwrap_or_else(|| tree.path());
        let nodes = tree.nodes();
        let above = path.first().and_then(|at| nodes[*at].parent.as_ref());
        self.begin(session, above)?;
        let path: HashSet<&EntryId> = path.iter().map(|at| &nodes[*at].id).collect();
        session.each(&mut |entry| {
            if path.contains(&entry.id) && !kept.contains(&entry.id) {
                self.fold(&changes.apply(entry));
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Shows the audit the archived entries that lead to the first one of the file.
    fn begin(&mut self, session: &Session, to: Option<&EntryId>) -> Result<()> {
        let file = session.path();
        let is_begun = std::mem::replace(&mut self.is_begun, true);
        if is_begun || to.is_none() || !has_archive(file) {
            return Ok(());
        }
        let mut parents: HashMap<EntryId, Option<EntryId>> = HashMap::new();
        each_archived(file, &mut |entry| {
            parents.insert(entry.id, entry.parent);
            ControlFlow::Continue(())
        })?;
        let mut path: HashSet<EntryId> = HashSet::new();
        let mut at = to.cloned();
        while let Some(id) = at.filter(|id| parents.contains_key(id) && !path.contains(id)) {
            at = parents.get(&id).cloned().flatten();
            path.insert(id);
        }
        each_archived(file, &mut |entry| {
            if path.contains(&entry.id) {
                self.source.observe(&entry);
                self.source.settle(None);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}

impl Survey {
    /// The ledger and the audit's source of all before what was loaded of a session,
    /// with so much captured for checkpoints.
    pub(crate) fn before(
        &mut self,
        session: &Session,
        loaded: &Loaded,
        capture: Capture,
    ) -> Result<(Ledger, Source)> {
        let wanted = Wanted::new(session, loaded, capture);
        let Some(first) = wanted.first() else {
            let none = Account::new(wanted);
            return Ok((none.ledger, none.source));
        };
        let ids: HashSet<&EntryId> = loaded.entries.iter().map(|entry| &entry.id).collect();
        let changed = self.state.changed.iter().filter(|id| !ids.contains(id));
        let changed: BTreeSet<EntryId> = changed.cloned().collect();
        let is_whole = |account: &Account| {
            account.first.as_ref() == Some(&first.id) && account.changed == changed
        };
        // A file that is read line by line is the same as far as it was folded in.
        let size = size_of(session);
        let holds = |known: u64| self.state.placed || known == size;
        let followed = self.account.take().filter(is_whole);
        let is_new = followed.is_some();
        let kept = || wanted.kept(&self.store).filter(|(known, _)| holds(*known));
        let mut account = match followed.or_else(|| Some(kept()?.1)) {
            Some(account) if is_whole(&account) && !is_new => {
                return Ok((account.ledger, account.source));
            }
            Some(account) => account,
            None => Account::new(wanted),
        };
        if !is_new {
            let is_plain = self.state.placed && self.state.changed.is_empty();
            if !account.changed.is_empty() {
                account = Account::new(wanted);
            }
            if !is_plain || !account.go_on(wanted, self)? {
                account = Account::new(wanted);
                account.fold_all(wanted, &ids, &self.changes(session)?)?;
            }
        }
        (account.first, account.changed) = (Some(first.id.clone()), changed);
        let upto = match self.state.placed {
            true => self.place(&first.id).unwrap_or(first.place).offset,
            false => wanted.settles().unwrap_or(size),
        };
        if wanted.settles().is_some() {
            account.told = Some(Told {
                epoch: self.epoch(),
                wear: self.wear(),
                labels: self.state.labels.clone(),
            });
        }
        if upto > 0 && self.store.is_kept() {
            // Without what is kept the next process takes longer, no more.
            let _ = self
                .store
                .keep(session, PART, &wanted.form(), upto, &account);
        }
        Ok((account.ledger, account.source))
    }

    /// The path from one entry, or its beginning, to what another follows, and what
    /// is above it that is not in the file; none where the one is not above the other.
    fn between(
        &self,
        from: Option<&EntryId>,
        to: &Entry,
    ) -> Option<(HashSet<EntryId>, Option<EntryId>)> {
        let mut path = HashSet::new();
        let mut at = to.parent.clone();
        while at.as_ref() != from {
            let id = at?;
            let Some((_, parent)) = self.store.link(&id).ok()? else {
                return from.is_none().then_some((path, Some(id)));
            };
            if !path.insert(id) {
                return None;
            }
            at = parent;
        }
        Some((path, None))
    }
}
