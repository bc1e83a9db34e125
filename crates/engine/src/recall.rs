//! Recall: what left the context, brought back by id, range, text or path.
//!
//! Every entry that ever was in a context is in the file or its archive, so
//! recall is a pass over both. What comes back is the stored entry; the caller
//! fences and attributes it, and shows it through [`Quoting`], which leaves the
//! secrets out.

mod hit;
mod name;
mod path;
mod quoting;
mod said;
mod seam;
mod text;
mod wording;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_transcript::{Context, Entry, EntryId, Linked, Place, Result, Session, has_archive};

pub(crate) use self::hit::NAMED;
pub use self::hit::{Found, Hit, Meaning, Others, Query, Same, UNVOUCHED, told_apart};
use self::name::is_called;
pub use self::name::{begins, plain_id};
use self::path::Files;
pub use self::quoting::Quoting;
use self::said::Asking;
pub use self::said::looks_back;
pub(crate) use self::said::{Part, Said};
pub use self::seam::{Findings, InSight, Recall, Scope};
use self::text::Words;
pub(crate) use self::wording::{PARTS, THINKING};
pub use self::wording::{fenced, full_text, message_text};
use crate::catalog::listed_id;
use crate::survey::{Keep, Survey};

/// Searches a session, its archive first.
///
/// Ids and ranges come in stored order; `limit` counts for the start of an id
/// only, of which the newest are kept; the last of them names the others. Words and files come with the best hit
/// first. Of words, an entry that has left the context comes before one that
/// has not, whole words before parts, the same case before another, a rare
/// passage before a frequent one, a short text before a long one, a new one
/// before an old one; those whose punctuation is another come last. Entries with
/// the same passage are one hit; the last hit names those that found no place.
/// Calls that look back and what they brought are found by their ids alone: they
/// repeat what is looked for, or what others said.
pub fn recall(session: &Session, keep: &Keep, query: &Query, limit: usize) -> Result<Vec<Hit>> {
    recall_within(session, keep, query, limit, None)
}

/// What an index says of a session and a query.
pub(crate) struct Indexed {
    /// The entries that may have the words.
    pub(crate) entries: Vec<EntryId>,
    /// How many more of them there are.
    pub(crate) more: usize,
    /// It has seen the session's file up to there.
    pub(crate) upto: u64,
}

/// The same with an index: only what it names is looked at, and what it has not
/// seen.
pub(crate) fn recall_within(
    session: &Session,
    keep: &Keep,
    query: &Query,
    limit: usize,
    indexed: Option<Indexed>,
) -> Result<Vec<Hit>> {
    let limit = limit.max(1);
    let past = Past {
        session,
        survey: Survey::of(session, keep)?,
        indexed,
    };
    let mut hits = look_up(&past, query, limit)?;
    let brought = match hits.is_empty() {
        true => HashSet::new(),
        false => past.survey.brought(session),
    };
    for hit in &mut hits {
        hit.brought = brought.contains(&hit.entry.id);
        hit.session = listed_id(session);
        hit.place = Some(session.reference().clone());
        hit.why = match query {
            Query::Id(_) | Query::Ids(_) | Query::Range(..) => Found::Id,
            Query::Text(_) => Found::Words,
            Query::Path(_) => Found::File,
        };
    }
    Ok(hits)
}

/// A session that is searched.
struct Past<'a> {
    session: &'a Session,
    survey: Survey,
    indexed: Option<Indexed>,
}

impl Past<'_> {
    /// The entries that are meant by an id or its beginning, in stored order.
    fn called(&self, name: &str) -> Result<Vec<EntryId>> {
        let plain = plain_id(name);
        let mut ids = match self.survey.named(self.session, plain) {
            Some(ids) => ids,
            None => {
                let mut ids = Vec::new();
                self.survey.each(self.session, &mut |entry| {
                    ids.push(entry.id);
                    ControlFlow::Continue(())
                })?;
                ids
            }
        };
        // A copy written by an undo is the same entry.
        let mut seen = HashSet::new();
        ids.reverse();
        ids.retain(|id| (is_called(id, name) || begins(id, name)) && seen.insert(id.clone()));
        ids.reverse();
        Ok(ids)
    }

    /// Every entry from the first one on that is meant.
    fn each_from(&self, name: &str, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<()> {
        let ids = self.called(name)?;
        let mut places = ids.iter().filter_map(|id| self.survey.place(id));
        match places.next() {
            Some(place) if !self.survey.is_changed() && !has_archive(self.session.path()) => {
                let visit = &mut |entry, _: Linked| visit(entry);
                self.session.stretch(place, u64::MAX, visit).map(drop)
            }
            _ if ids.is_empty() => Ok(()),
            _ => self.survey.each(self.session, visit).map(drop),
        }
    }

    /// Every entry that may be looked for, with those that were heard before it. What
    /// only asks is left out.
    fn each_said(
        &self,
        kept: impl FnOnce() -> Vec<Entry>,
        visit: &mut dyn FnMut(&Said, Entry),
    ) -> Result<()> {
        let (mut said, mut asking) = (Said::default(), Asking::default());
        let Some(indexed) = &self.indexed else {
            let look = &mut |entry| asking.take(&mut said, entry, visit);
            return self.survey.each(self.session, look).map(drop);
        };
        let unanswered = unanswered(kept());
        let mut found = self.by_ids(indexed.entries.iter().collect())?;
        let found = indexed.entries.iter().filter_map(|id| found.remove(id));
        found
            .filter(|entry| Some(&entry.id) != unanswered.as_ref())
            .for_each(|entry| visit(&said, entry));
        let from = Place {
            line: 1,
            offset: indexed.upto,
        };
        self.session.stretch(from, u64::MAX, &mut |entry, _| {
            asking.take(&mut said, entry, visit)
        })?;
        Ok(())
    }

    /// The entry with this id at its place, where that is known.
    fn by_place(&self, id: &EntryId) -> Result<Option<Entry>> {
        match self.survey.is_rewritten(id) {
            true => Ok(None),
            false => self.survey.entry(self.session, id),
        }
    }

    /// The entries with these ids, at their places where those are known.
    fn by_ids(&self, mut wanted: HashSet<&EntryId>) -> Result<HashMap<EntryId, Entry>> {
        let mut found = HashMap::new();
        for id in std::mem::take(&mut wanted) {
            match self.by_place(id)? {
                Some(entry) => drop(found.insert(id.clone(), entry)),
                None => drop(wanted.insert(id)),
            }
        }
        if wanted.is_empty() {
            return Ok(found);
        }
        self.survey.each(self.session, &mut |entry| {
            if wanted.remove(&entry.id) {
                found.insert(entry.id.clone(), entry);
            }
            match wanted.is_empty() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(found)
    }
}

fn look_up(past: &Past<'_>, query: &Query, limit: usize) -> Result<Vec<Hit>> {
    match query {
        Query::Text(words) => by_words(past, words, limit),
        Query::Path(path) => {
            let cwd = past
                .session
                .header()
                .cwd
                .as_ref()
                .map(|cwd| cwd.to_string_lossy());
            let mut files = Files::new(path, cwd.as_deref(), limit);
            let kept = || past.session.load().map(|loaded| loaded.entries);
            past.each_said(|| kept().unwrap_or_default(), &mut |said, entry| {
                files.take(said, entry);
            })?;
            Ok(files
                .finish()
                .map(|(entry, excerpt)| Hit::alone(entry, excerpt))
                .collect())
        }
        Query::Id(id) => by_id(past, id, limit),
        Query::Ids(ids) => {
            let mut found = past.by_ids(ids.iter().collect())?;
            let entries = ids.iter().filter_map(|id| found.remove(id));
            Ok(entries.map(Hit::whole).collect())
        }
        Query::Range(from, to) => range(past, from, to),
    }
}

fn by_words(past: &Past<'_>, words: &str, limit: usize) -> Result<Vec<Hit>> {
    // A damaged file may have no context; it can be searched all the same.
    let loaded = past.session.load().ok();
    let context = loaded.as_ref().map(Context::build).unwrap_or_default();
    let shown: HashSet<EntryId> = context
        .messages
        .into_iter()
        .filter(|message| !message.edited)
        .map(|message| message.entry)
        .collect();
    let mut words = Words::new(words, shown);
    let kept = || loaded.map(|loaded| loaded.entries).unwrap_or_default();
    past.each_said(kept, &mut |said, entry| words.take(said, entry))?;
    let more = past.indexed.as_ref().map_or(0, |indexed| indexed.more);
    let found = words.finish(limit, more);
    let large = found.iter().filter(|found| found.entry.is_none());
    let mut large = past.by_ids(large.map(|found| &found.id).collect())?;
    Ok(found
        .into_iter()
        .filter_map(|found| {
            let entry = found.entry.or_else(|| large.remove(&found.id))?;
            Some(Hit {
                others: found.others,
                in_context: found.shown,
                ..Hit::alone(entry, found.excerpt)
            })
        })
        .collect())
}

/// The entry at the end that looks back and has no answer yet.
fn unanswered(kept: Vec<Entry>) -> Option<EntryId> {
    let (mut said, mut asking) = (Said::default(), Asking::default());
    for entry in kept {
        let _ = asking.take(&mut said, entry, &mut |_, _| {});
    }
    asking.held()
}

fn by_id(past: &Past<'_>, name: &str, limit: usize) -> Result<Vec<Hit>> {
    if let Some(entry) = past.by_place(&EntryId::from(name))? {
        return Ok(vec![Hit::whole(entry)]);
    }
    let ids = past.called(name)?;
    let is_exact = |id: &&EntryId| id.as_str() == name;
    let is_meant = |id: &&EntryId| is_called(id, name);
    let meant = ids
        .iter()
        .find(is_exact)
        .or_else(|| ids.iter().rfind(is_meant));
    let (older, newest) = match meant {
        Some(id) => (&[][..], std::slice::from_ref(id)),
        None => ids.split_at(ids.len().saturating_sub(limit)),
    };
    let mut found = past.by_ids(newest.iter().collect())?;
    let newest = newest.iter().filter_map(|id| found.remove(id));
    let mut hits: Vec<Hit> = newest.map(Hit::whole).collect();
    if let Some(last) = hits.last_mut().filter(|_| !older.is_empty()) {
        last.others = Others {
            ids: older.iter().rev().take(NAMED).cloned().collect(),
            count: older.len(),
            same: Same::Beginning,
        };
    }
    Ok(hits)
}

fn range(past: &Past<'_>, from: &str, to: &str) -> Result<Vec<Hit>> {
    let is = |id: &EntryId, name: &str| {
        is_called(id, name) || plain_id(name).len() >= 4 && begins(id, name)
    };
    let mut inside = false;
    let mut seen: HashSet<EntryId> = HashSet::new();
    let mut hits = Vec::new();
    past.each_from(from, &mut |entry| {
        inside |= is(&entry.id, from);
        let last = inside && is(&entry.id, to);
        // A copy written by an undo is the same thing said once.
        if inside && seen.insert(entry.id.clone()) {
            hits.push(Hit::whole(entry));
        }
        match last {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(hits)
}
