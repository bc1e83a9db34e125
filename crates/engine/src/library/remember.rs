//! What left the contexts, found again: word for word first, then by meaning.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_index::{Filters, Hit as Indexed, Query as Search, RecordKind};
use longhaul_transcript::{EntryId, Session, SessionRef};

use super::family::family;
use super::intake::{PutError, take_in};
use super::records::{THOUGHT, entry_of};
use super::{Library, locked};
use crate::catalog::listed_id;
use crate::recall::{
    Findings, Found, Hit, InSight, Indexed as InIndex, Meaning, NAMED, Query, Recall, Same, Scope,
    THINKING, full_text, recall, recall_within,
};
use crate::survey::Surveys;

/// Bytes of session files that are brought up to date before one search. The
/// rest is told; `memory index` takes in everything.
const REFRESHED: u64 = 32_000_000;

/// Entries of one session that are looked at for words that all of them have; the
/// newest.
const LOOKED_AT: usize = NAMED;

/// `recall`: one session first, its family and others where they are wanted.
#[derive(Clone)]
pub struct Recollection {
    library: Option<Library>,
    session: Start,
    scope: Scope,
    others: Others,
    surveys: Surveys,
}

/// The sessions that are looked through where all are wanted, as there are when
/// they are.
type Others = Arc<dyn Fn() -> Vec<SessionRef> + Send + Sync>;

/// The session from which is looked.
#[derive(Clone)]
enum Start {
    File(PathBuf),
    Known(SessionRef),
}

impl Start {
    fn open(&self) -> longhaul_transcript::Result<Session> {
        match self {
            Start::File(path) => Session::open(path),
            Start::Known(reference) => Session::open_ref(reference),
        }
    }
}

impl Library {
    /// What left the contexts of a session, or of others.
    pub fn recollection(&self, session: &Path, scope: Scope) -> Recollection {
        Recollection {
            library: Some(self.clone()),
            surveys: locked(&self.shared.surveys).clone(),
            ..Recollection::plain(session, scope)
        }
    }
}

impl Recollection {
    /// Without an index: words must stand as they are given.
    pub fn plain(session: &Path, scope: Scope) -> Recollection {
        Recollection::from(Start::File(session.to_owned()), scope)
    }

    /// The same for a session of any format, a session of a store included.
    pub fn of(session: &SessionRef, scope: Scope) -> Recollection {
        Recollection::from(Start::Known(session.clone()), scope)
    }

    fn from(session: Start, scope: Scope) -> Recollection {
        Recollection {
            library: None,
            session,
            scope,
            others: Arc::new(Vec::new),
            surveys: Surveys::default(),
        }
    }

    /// With surveys, entries are found at their places.
    #[must_use]
    pub fn with_surveys(self, surveys: Surveys) -> Recollection {
        Recollection { surveys, ..self }
    }

    /// With an index, words are also found in any order, and by meaning where
    /// it has a model.
    pub fn with_library(self, library: Library) -> Recollection {
        Recollection {
            library: Some(library),
            ..self
        }
    }

    /// Sessions that are looked through as well where all are wanted, besides those
    /// that the index knows. They are listed every time: what goes on for long must
    /// know of those that are begun meanwhile.
    pub fn with_others(
        self,
        list: impl Fn() -> Vec<SessionRef> + Send + Sync + 'static,
    ) -> Recollection {
        let others: Others = Arc::new(list);
        Recollection { others, ..self }
    }

    /// The sessions in scope, this one first. One that cannot be read is told.
    fn members(&self, notes: &mut Vec<String>) -> Result<Vec<Session>, String> {
        let own = self.session.open().map_err(|error| error.to_string())?;
        if self.scope == Scope::Session {
            return Ok(vec![own]);
        }
        let kin = family(&own).into_iter().skip(1);
        let mut opened: Vec<_> = kin.map(|path| Session::open(&path)).collect();
        if self.scope == Scope::All {
            opened.extend((self.others)().iter().map(Session::open_ref));
        }
        let mut seen = HashSet::from([own.reference().name()]);
        let mut members = vec![own];
        for session in opened {
            match session {
                Ok(session) if seen.insert(session.reference().name()) => members.push(session),
                Ok(_) => {}
                Err(error) => notes.push(format!("a session was left out: {error}")),
            }
        }
        Ok(members)
    }

    /// What stands in the sessions as it is asked for: by id, range, file or
    /// word for word. With an index, words are looked for in what it names and what
    /// it has not seen; a part of a word is in none, and wants a recollection without.
    /// A session beside this one that cannot be read is told.
    pub fn look(&self, query: &Query, limit: usize) -> Result<Findings, String> {
        let limit = limit.max(1);
        // A range has as many as it has.
        let most = match query {
            Query::Range(..) | Query::Ids(_) => usize::MAX,
            Query::Id(_) | Query::Text(_) | Query::Path(_) => limit,
        };
        let mut notes = Vec::new();
        let mut hits: Vec<Hit> = Vec::new();
        // Behind all else: what is in sight anyway, and what repeats others.
        let mut behind: Vec<Hit> = Vec::new();
        // A fork has the entries of the session it comes from.
        let mut known = HashSet::new();
        // What finds no place.
        let mut unsaid: Vec<Hit> = Vec::new();
        let members = self.members(&mut notes)?;
        let index = match (&self.library, query) {
            (Some(library), Query::Text(words)) => {
                Some((library, words, refresh(library, &members)))
            }
            _ => None,
        };
        for (at, session) in members.iter().enumerate() {
            // As many more as may be known already.
            let keep = self.surveys.keep(session);
            let wanted = limit - hits.len() + known.len();
            let indexed = index.as_ref().and_then(|(library, words, refreshed)| {
                let name = session.reference().name();
                let upto = *refreshed.upto.get(&name)?;
                Some(may_say(library, words, &name, upto))
            });
            let found = recall_within(session, &keep, query, wanted, indexed);
            match found {
                Ok(found) => {
                    let new = found.into_iter().filter(|hit| known.insert(print_of(hit)));
                    let new = new.map(|hit| Hit {
                        // What others have in their contexts cannot be seen from here.
                        in_context: hit.in_context && at == 0,
                        ..hit
                    });
                    let is_behind = |hit: &Hit| {
                        matches!(query, Query::Text(_)) && (hit.in_context || hit.is_summary())
                    };
                    let (last, mut new): (Vec<Hit>, Vec<Hit>) = new.partition(is_behind);
                    behind.extend(last);
                    let room = most - hits.len();
                    if let Query::Id(_) = query {
                        // The newest come last.
                        unsaid.extend(new.drain(..new.len().saturating_sub(room)));
                    }
                    hits.extend(new.drain(..room.min(new.len())));
                    unsaid.extend(new);
                }
                Err(error) if at == 0 => return Err(error.to_string()),
                Err(error) => notes.push(format!("a session was left out: {error}")),
            }
            if hits.len() >= limit && at + 1 < members.len() {
                let rest = members.len() - at - 1;
                notes.push(format!(
                    "{rest} more sessions were not looked through, since so many were to be found"
                ));
                break;
            }
        }
        behind.sort_by_key(Hit::is_summary);
        hits.extend(behind);
        if let Query::Text(_) = query {
            drop_summaries(&mut hits);
        }
        unsaid.extend(hits.drain(most.min(hits.len())..));
        let same = match query {
            Query::Id(_) => Same::Beginning,
            _ => Same::Words,
        };
        name(&mut hits, unsaid, same);
        Ok(Findings {
            hits,
            notes,
            not_indexed: index.map(|(_, _, refreshed)| refreshed.notes),
            ..Findings::default()
        })
    }

    /// Adds what the index finds to hits that stand there word for word, up to
    /// `limit`. The sessions in scope are brought up to date in it first.
    ///
    /// An index that cannot be used costs what it would have found, and is told.
    pub fn by_meaning(
        &self,
        words: &str,
        mut found: Findings,
        limit: usize,
    ) -> Result<Findings, String> {
        let Some(library) = self.library.as_ref() else {
            return Ok(found);
        };
        // Of what is in sight anyway only the best takes anything's place: somebody
        // may quote it.
        // What has the same text as a hit was named with it.
        let prints = found.hits.iter().flat_map(|hit| {
            let (id, hash) = print_of(hit);
            let named = hit.others.ids.iter().cloned();
            [id].into_iter().chain(named).map(move |id| (id, hash))
        });
        let known: HashSet<_> = prints.collect();
        let (mut left, mut in_sight): (Vec<Hit>, Vec<Hit>) =
            found.hits.into_iter().partition(|hit| !hit.in_context);
        if !in_sight.is_empty() {
            let place = left.partition_point(|hit| !hit.is_summary());
            left.insert(place, in_sight.remove(0));
        }
        found.hits = left;
        if found.hits.len() < limit {
            found = self.by_index(library, words, found, known, limit)?;
        }
        found.hits.extend(in_sight);
        drop_summaries(&mut found.hits);
        if found.hits.is_empty() {
            found.in_sight = self.in_sight(library, words, limit);
        }
        let unsaid = found.hits.drain(limit.min(found.hits.len())..).collect();
        name(&mut found.hits, unsaid, Same::Words);
        Ok(found)
    }

    /// What is still in the context of this session and has the most of the words,
    /// as far as the index knows it.
    fn in_sight(&self, library: &Library, words: &str, limit: usize) -> Option<InSight> {
        let own = self.session.open().ok()?;
        let search = Search {
            k: limit,
            filters: Filters {
                sessions: vec![own.reference().name()],
                kinds: vec![RecordKind::Present],
                ..Filters::default()
            },
            ..Search::new(words)
        };
        let mut hits = library.search(&search).ok()?.hits;
        let most = hits.iter().map(|hit| hit.why.terms.len()).max()?;
        hits.retain(|hit| hit.why.terms.len() == most);
        let terms = hits.first()?.why.terms.clone();
        hits.retain(|hit| hit.why.terms == terms);
        (!terms.is_empty()).then(|| InSight {
            session: listed_id(&own),
            entries: entries_of(hits.iter().map(|hit| hit.entry.as_str())),
            terms,
        })
    }

    /// Adds what the index finds and is not known yet.
    fn by_index(
        &self,
        library: &Library,
        words: &str,
        mut found: Findings,
        mut known: HashSet<(EntryId, [u8; 32])>,
        limit: usize,
    ) -> Result<Findings, String> {
        // What cannot be opened was told with the first look.
        let members = self.members(&mut Vec::new())?;
        let not_indexed = found.not_indexed.take();
        found
            .notes
            .extend(not_indexed.unwrap_or_else(|| refresh(library, &members).notes));
        let own = members[0].reference().name();
        let members: HashMap<String, Session> = members
            .into_iter()
            .map(|session| (session.reference().name(), session))
            .collect();
        let sessions = match self.scope {
            Scope::All => Vec::new(),
            _ => members.keys().cloned().collect(),
        };
        // Of this session what has left the context is wanted, of others
        // everything: nothing of theirs can be seen from here.
        let mut kinds = vec![RecordKind::Transcript];
        if self.scope != Scope::Session {
            kinds.push(RecordKind::Present);
        }
        let mut search = Search {
            k: limit * 2,
            filters: Filters {
                sessions,
                kinds,
                ..Filters::default()
            },
            ..Search::new(words)
        };
        let in_sight = |one: &Indexed| one.kind == RecordKind::Present && one.source == own;
        let mut answer = loop {
            let mut answer = match library.search(&search) {
                Ok(answer) => answer,
                Err(error) => {
                    let note = format!("only what stands there word for word: {error}");
                    found.notes.push(note);
                    return Ok(found);
                }
            };
            let all = answer.hits.len() < search.k;
            answer.hits.retain(|one| !in_sight(one));
            if all || answer.hits.len() >= limit * 2 {
                break answer;
            }
            // What is in sight took the places of others.
            search.k *= 4;
        };
        found.model = answer.model;
        found.notes.extend(answer.notes);
        // Where the words stand somewhere, what has none of them is noise; where
        // they stand nowhere, only what is near by its meaning may have none.
        let stands = !known.is_empty();
        let named = answer.hits.iter().any(|one| !one.why.terms.is_empty());
        let is_noise = |one: &Indexed| {
            one.why.terms.is_empty() && (stands || named && one.why.vector.is_none())
        };
        answer.hits.retain(|one| !is_noise(one));
        let mut gone = 0;
        for one in answer.hits {
            if found.hits.len() >= limit {
                break;
            }
            let id = entry_of(&one.entry);
            let elsewhere;
            let session = match members.get(&one.source) {
                Some(session) => session,
                None => match Session::open(Path::new(&one.source)) {
                    Ok(session) => {
                        elsewhere = session;
                        &elsewhere
                    }
                    Err(_) => {
                        gone += 1;
                        continue;
                    }
                },
            };
            let keep = self.surveys.keep(session);
            let whole = recall(session, &keep, &Query::Ids(vec![id]), 1);
            for hit in whole.map_err(|error| error.to_string())? {
                if !known.insert(print_of(&hit)) {
                    continue;
                }
                let thought = match one.role.as_deref() {
                    Some(THOUGHT) => THINKING,
                    _ => "",
                };
                found.hits.push(Hit {
                    excerpt: format!("{thought}{}", one.excerpt()),
                    why: Found::Meaning(Meaning {
                        score: one.score,
                        words: one.why.words,
                        vector: one.why.vector,
                        terms: one.why.terms.clone(),
                    }),
                    ..hit
                });
            }
        }
        if gone > 0 {
            found.notes.push(format!(
                "{gone} more in sessions that cannot be opened any more; `longhaul memory search` \
                 shows them as they were indexed"
            ));
        }
        Ok(found)
    }
}

impl Recall for Recollection {
    /// Exactly what is asked for, from the sessions themselves: an index has no parts
    /// of words.
    fn recall(&self, query: &Query, limit: usize) -> Result<Vec<Hit>, String> {
        let exact = Recollection {
            library: None,
            ..self.clone()
        };
        exact.look(query, limit).map(|found| found.hits)
    }

    /// What stands there word for word comes first; then what the index finds.
    fn find(&self, words: &str, limit: usize) -> Result<Findings, String> {
        let found = self.look(&Query::Text(words.to_owned()), limit)?;
        self.by_meaning(words, found, limit)
    }

    fn within(&self, scope: Scope) -> Option<Arc<dyn Recall>> {
        Some(Arc::new(Recollection {
            scope,
            ..self.clone()
        }))
    }
}

/// Names what found no place with the last hit that has as much: what is only near
/// by its meaning is no such thing.
fn name(hits: &mut [Hit], unsaid: Vec<Hit>, same: Same) {
    let is_named = |hit: &Hit| !matches!(hit.why, Found::Meaning(_) | Found::File);
    let mut unsaid = unsaid.into_iter().filter(is_named).peekable();
    let Some(last) = hits.iter_mut().rev().find(|hit| is_named(hit)) else {
        return;
    };
    if unsaid.peek().is_some() {
        last.others.same = same;
    }
    for hit in unsaid {
        last.others.count += 1 + hit.others.count;
        let room = NAMED.saturating_sub(last.others.ids.len());
        let ids = [hit.entry.id].into_iter().chain(hit.others.ids);
        last.others.ids.extend(ids.take(room));
    }
}

/// A summary is no hit where anything else is: what it summarises is there to be
/// found. Of one that came with an import it is not.
fn drop_summaries(hits: &mut Vec<Hit>) {
    if !hits.iter().all(Hit::is_summary) {
        hits.retain(|hit| !hit.is_summary() || hit.brought);
    }
}

/// What tells an entry from others: forks share ids and texts.
fn print_of(hit: &Hit) -> (EntryId, [u8; 32]) {
    let hash = blake3::hash(full_text(&hit.entry).as_bytes());
    (hit.entry.id.clone(), *hash.as_bytes())
}

/// What the index has of sessions.
struct Refreshed {
    /// Up to where it has seen each one's file, by their names.
    upto: HashMap<String, u64>,
    /// What it could not take in.
    notes: Vec<String>,
}

/// Brings sessions up to date in the index, as far as the budget goes.
fn refresh(library: &Library, members: &[Session]) -> Refreshed {
    let mut left = REFRESHED;
    let mut late = 0;
    let mut upto = HashMap::new();
    let mut notes = Vec::new();
    for session in members {
        let name = session.reference().name();
        let keep = locked(&library.shared.surveys).keep(session);
        let taken = library.reading(|index| Ok(take_in(index, session, &keep, left, &mut |_| {})));
        match taken.map_err(PutError::from).and_then(|taken| taken) {
            Ok(Some(taken)) => {
                left = left.saturating_sub(taken.bytes());
                late += usize::from(!taken.is_all());
                upto.insert(name, taken.upto);
            }
            Ok(None) => late += 1,
            // What the index has is searched all the same; where it cannot be
            // opened at all, the search says so.
            Err(PutError::Index(error)) => {
                notes.push(format!("the index is not up to date: {error}"));
                return Refreshed { upto, notes };
            }
            Err(error) => notes.push(error.to_string()),
        }
    }
    if late > 0 {
        notes.push(format!(
            "{late} of {} sessions may not be in the index as they are now; `longhaul memory \
             index` takes them in",
            members.len()
        ));
    }
    Refreshed { upto, notes }
}

/// The entries of a session that may have words as they stand there, by what the
/// index has seen of it. Where it cannot tell, its ranking is all the answer.
fn may_say(library: &Library, words: &str, session: &str, upto: u64) -> InIndex {
    let found = library.reading(|index| index.may_say(words, session));
    let found = found.ok().flatten().unwrap_or_default();
    let mut entries = entries_of(found.iter().map(String::as_str));
    let more = entries.len().saturating_sub(LOOKED_AT);
    InIndex {
        entries: entries.split_off(more),
        more,
        upto,
    }
}

/// The entries of records, each once.
fn entries_of<'a>(names: impl Iterator<Item = &'a str>) -> Vec<EntryId> {
    let mut entries: Vec<EntryId> = names.map(entry_of).collect();
    let mut seen = HashSet::new();
    entries.retain(|id| seen.insert(id.clone()));
    entries
}
