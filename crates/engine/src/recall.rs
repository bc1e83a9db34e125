//! Recall: what left the context, brought back by id, range, text or path.
//!
//! Every entry that ever was in a context is in the file or its archive, so
//! recall is a pass over both. What comes back is the stored entry; the caller
//! fences and attributes it, and shows it through [`Quoting`], which leaves the
//! secrets out.

mod brought;
mod path;
mod quoting;
mod said;
mod text;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_ledger::ours;
use longhaul_transcript::json::Object;
use longhaul_transcript::{
    Body, Context, Entry, EntryId, Linked, MessageView, Place, Result, Session, SessionRef,
    ToolCall, each_archived, has_archive,
};

pub(crate) use self::brought::brought;
pub use self::brought::{UNVOUCHED, told_apart};
use self::path::Files;
pub use self::quoting::Quoting;
use self::said::Asking;
pub use self::said::looks_back;
pub(crate) use self::said::{Part, Said};
use self::text::Words;
use crate::catalog::listed_id;
use crate::survey::{Keep, Survey, Wanted};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// The entry with this id; without one, those whose ids start so. Case and
    /// what summaries and people put around an id do not matter.
    Id(String),
    /// The entries with these ids, as many as there are.
    Ids(Vec<EntryId>),
    /// The entries from one to another, in stored order.
    Range(String, String),
    /// Entries that contain these words in this order; case, spacing and
    /// punctuation aside.
    Text(String),
    /// Entries that read, changed or name a file.
    Path(String),
}

/// Something found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The entry.
    pub entry: Entry,
    /// The text around what was asked for; the start of the text otherwise.
    pub excerpt: String,
    /// Other entries that it stands for.
    pub others: Others,
    /// The id of the session it is from, as lists of sessions have it.
    pub session: String,
    /// Where that session is stored; none where no session was searched.
    pub place: Option<SessionRef>,
    /// How it was found.
    pub why: Found,
    /// Whether the session has it in its context, where it was found by words.
    pub in_context: bool,
    /// Whether it came with an import nobody vouches for: then whoever is said to
    /// have said it perhaps did not.
    pub brought: bool,
}

/// How a hit was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// It was asked for by its id.
    Id,
    /// The words stand there as they were given.
    Words,
    /// It reads, changes or names the file.
    File,
    /// The index takes it to be about the same thing.
    Meaning(Meaning),
}

/// What the index goes by. Scores compare within one search only.
#[derive(Debug, Clone, PartialEq)]
pub struct Meaning {
    /// All of it together.
    pub score: f32,
    /// How well its own words match, the best hit being 1.
    pub words: f32,
    /// How near its meaning is, from 0 to 1; none without a vector.
    pub vector: Option<f32>,
    /// The words of the question that it has.
    pub terms: Vec<String>,
}

impl Found {
    /// Its name.
    pub fn as_str(&self) -> &'static str {
        match self {
            Found::Id => "id",
            Found::Words => "words",
            Found::File => "file",
            Found::Meaning(_) => "meaning",
        }
    }
}

/// Entries that say what a hit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Others {
    /// 200 of them at most.
    pub ids: Vec<EntryId>,
    /// How many there are.
    pub count: usize,
    /// What all of them have in common with the hit.
    pub same: Same,
}

/// How much of a hit another entry has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Same {
    /// All of it, from beginning to end.
    Text,
    /// The passage in which the words were found.
    Passage,
    /// The words themselves. Only the last hit of a search names such entries:
    /// those that found no place among the hits.
    Words,
    /// The beginning of the id by which they were asked for. Only the last hit
    /// names such entries as well.
    Beginning,
}

impl Same {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Same::Text => "text",
            Same::Passage => "passage",
            Same::Words => "words",
            Same::Beginning => "beginning",
        }
    }
}

impl Hit {
    fn alone(entry: Entry, excerpt: String) -> Hit {
        Hit {
            entry,
            excerpt,
            others: Others {
                ids: Vec::new(),
                count: 0,
                same: Same::Text,
            },
            session: String::new(),
            place: None,
            why: Found::Id,
            in_context: false,
            brought: false,
        }
    }

    /// Who said it, as far as that is known.
    pub fn who(&self) -> String {
        let role = self.entry.role().map(ToString::to_string);
        let who = role.unwrap_or_else(|| self.entry.kind().as_str().to_owned());
        match self.brought {
            true => who + UNVOUCHED,
            false => who,
        }
    }

    /// Whether it repeats what other entries say.
    pub fn is_summary(&self) -> bool {
        matches!(
            self.entry.body,
            Body::Compaction(_) | Body::BranchSummary { .. }
        )
    }

    /// Whether it is this entry, or names it among those it stands for.
    pub fn names(&self, id: &EntryId) -> bool {
        self.entry.id == *id || self.others.ids.contains(id)
    }
}

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
        survey: Survey::of(session, keep, Wanted::Path)?,
        indexed,
    };
    let mut hits = look_up(&past, query, limit)?;
    let brought = match hits.is_empty() || !past.survey.is_imported() {
        true => HashSet::new(),
        false => brought(session),
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
    /// Every entry of the archive, then of the file, until `visit` has enough;
    /// what a host rewrote, as it has it now.
    fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<()> {
        match self.survey.is_changed() {
            true => each(self.session, visit),
            false => each_stored(self.session, visit),
        }
    }

    /// The entries that are meant by an id or its beginning, in stored order.
    fn called(&self, name: &str) -> Result<Vec<EntryId>> {
        let plain = plain_id(name);
        let mut ids = self.survey.begun(self.session, plain);
        if plain.len() == SHOWN && ids.as_ref().is_some_and(Vec::is_empty) {
            ids = self.survey.ended(self.session, plain);
        }
        let mut ids = match ids {
            Some(ids) => ids,
            None => {
                let mut ids = Vec::new();
                self.each(&mut |entry| {
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
            _ => self.each(visit),
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
            return self.each(&mut |entry| asking.take(&mut said, entry, visit));
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
        self.each(&mut |entry| {
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
            Ok(entries.map(whole).collect())
        }
        Query::Range(from, to) => range(past, from, to),
    }
}

/// Every entry of the archive, then of the file, until `visit` has enough; what
/// a host rewrote, as it has it now.
pub(crate) fn each(
    session: &Session,
    visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<()> {
    let changes = crate::changes::Changes::of(session)?;
    each_stored(session, &mut |entry| visit(changes.apply(entry)))
}

/// The same as it is stored.
pub(crate) fn each_stored(
    session: &Session,
    visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<()> {
    let mut enough = false;
    let mut look = |entry: Entry| {
        let flow = visit(entry);
        enough = flow.is_break();
        flow
    };
    each_archived(session.path(), &mut look)?;
    if !enough {
        session.each(&mut |entry| visit(entry))?;
    }
    Ok(())
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
        return Ok(vec![whole(entry)]);
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
    let mut hits: Vec<Hit> = newest.map(whole).collect();
    if let Some(last) = hits.last_mut().filter(|_| !older.is_empty()) {
        last.others = Others {
            ids: older.iter().rev().take(NAMED).cloned().collect(),
            count: older.len(),
            same: Same::Beginning,
        };
    }
    Ok(hits)
}

/// So much of an id is shown in summaries.
const SHOWN: usize = 8;

/// Ids that a hit names; of more, only the number is told.
pub(crate) const NAMED: usize = 200;

/// What the index calls the parts of an entry behind its id, beside what it says.
pub(crate) const PARTS: [&str; 2] = ["calls", "thinking"];

/// An id without what stands around it in summaries, in what a search prints and
/// in what people copy: `·7f34aa1c`, `"7f34aa1c…"`, `7f34aa1c:1-12`.
pub fn plain_id(name: &str) -> &str {
    let around = |c: char| c.is_whitespace() || "·\"'`“”«»()[]<>,;…".contains(c);
    let name = name.trim_matches(around);
    let lines = |lines: &str| {
        let number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        lines
            .split_once('-')
            .is_some_and(|(from, to)| number(from) && number(to))
    };
    match name.rsplit_once(':') {
        Some((id, rest)) if lines(rest) || PARTS.contains(&rest) => id,
        _ => name,
    }
}

/// Whether an entry has this id, whatever its case and what stands around it.
fn is_called(id: &EntryId, name: &str) -> bool {
    id.as_str() == name || id.as_str().eq_ignore_ascii_case(plain_id(name))
}

/// Whether an entry's id begins so, whatever its case and what stands around
/// it.
pub fn begins(id: &EntryId, name: &str) -> bool {
    let plain = plain_id(name).as_bytes();
    let head = id.as_str().as_bytes().get(..plain.len());
    let folded = head.is_some_and(|head| head.eq_ignore_ascii_case(plain));
    !name.is_empty() && id.as_str().starts_with(name)
        || !plain.is_empty() && folded
        || ends(id.as_str().as_bytes(), plain)
}

/// Whether an id that begins with the time is meant by its end, as summaries show
/// it: all that were given in one moment begin alike.
fn ends(id: &[u8], name: &[u8]) -> bool {
    let is_timed = id.len() == 36 && id[14] == b'7' && name.len() == SHOWN;
    is_timed && id[id.len() - SHOWN..].eq_ignore_ascii_case(name)
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
            hits.push(whole(entry));
        }
        match last {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(hits)
}

const EXCERPT_CHARS: usize = 300;

fn whole(entry: Entry) -> Hit {
    let start = start_of(&entry);
    Hit::alone(entry, start)
}

fn start_of(entry: &Entry) -> String {
    full_text(entry).chars().take(EXCERPT_CHARS).collect()
}

/// A text between two marks that carry its hash: no text can contain its own,
/// so none can end its own quotation.
pub fn fenced(word: &str, what: &str, text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let hash = &hash[..12];
    let opening = ours::opening(&format!("{word} {hash} · {what}"));
    format!("\n{opening}\n{text}\n{}\n", ours::ending(hash))
}

/// Whether a text has something between such marks.
fn has_fence(text: &str) -> bool {
    const HASH: usize = 12;
    let marks = || text.lines().filter_map(|line| line.strip_prefix("── "));
    marks().any(|mark| {
        let hash = mark
            .split_once(' ')
            .and_then(|(_, rest)| rest.split_once(" · "))
            .map(|(hash, _)| hash)
            .filter(|hash| hash.len() == HASH && hash.bytes().all(|b| b.is_ascii_hexdigit()));
        let ends = |hash: &str| marks().any(|mark| mark == format!("end {hash} ──"));
        hash.is_some_and(ends)
    })
}

/// Everything an entry says: text, tool calls and their arguments, summaries, and
/// what the model thought.
pub fn full_text(entry: &Entry) -> String {
    match entry.message() {
        Some(message) => with_thinking(message_text(&message), &message),
        None => match &entry.body {
            Body::Compaction(compaction) => compaction.summary.clone(),
            Body::BranchSummary { summary, .. } => summary.clone(),
            Body::CustomMessage { .. } => MessageView::parse(entry.raw()).text(),
            Body::Custom { custom_type, .. } if custom_type == crate::marks::ASIDE_MARK => {
                aside_text(entry).unwrap_or_default()
            }
            _ => String::new(),
        },
    }
}

/// A message that a host put beside its conversation.
fn aside_text(entry: &Entry) -> Option<String> {
    let object = Object::parse(entry.raw()).ok()?;
    let data = object.object("data")?;
    Some(message_text(&MessageView::parse(data.raw("message")?)))
}

/// What stands before what the model thought.
pub(crate) const THINKING: &str = "[thinking]\n";

/// A message's text and below it what the model thought.
fn with_thinking(mut text: String, message: &MessageView<'_>) -> String {
    let thinking = message.thinking();
    if !thinking.is_empty() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(THINKING);
        text.push_str(&thinking);
    }
    text
}

/// Everything a message says, what the model thought aside.
pub fn message_text(message: &MessageView<'_>) -> String {
    text_with(message, |_| true, |arguments| Cow::Borrowed(arguments))
}

/// The same with some of its calls, and their arguments as they are to be.
fn text_with(
    message: &MessageView<'_>,
    wanted: impl Fn(&ToolCall<'_>) -> bool,
    given: impl FnMut(&str) -> Cow<'_, str>,
) -> String {
    let mut text = message.text();
    text.push_str(&calls_text(message, wanted, given));
    text
}

/// The calls of a message, each on a line of its own and below it its arguments.
fn calls_text(
    message: &MessageView<'_>,
    wanted: impl Fn(&ToolCall<'_>) -> bool,
    mut given: impl FnMut(&str) -> Cow<'_, str>,
) -> String {
    let mut text = String::new();
    for call in message.tool_calls().iter().filter(|call| wanted(call)) {
        text.push('\n');
        text.push_str(&call.name);
        text.push(' ');
        push_strings(&mut text, &given(call.arguments));
    }
    text
}

/// Appends the strings inside a JSON value, decoded, in order.
fn push_strings(text: &mut String, raw: &str) {
    fn walk(text: &mut String, value: &serde_json::Value) {
        match value {
            serde_json::Value::String(string) => {
                text.push_str(string);
                text.push('\n');
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| walk(text, item)),
            serde_json::Value::Object(fields) => fields.values().for_each(|item| walk(text, item)),
            serde_json::Value::Number(number) => {
                text.push_str(&number.to_string());
                text.push('\n');
            }
            _ => {}
        }
    }
    match serde_json::from_str(raw) {
        Ok(value) => walk(text, &value),
        Err(_) => text.push_str(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_begins_with_the_time_is_known_by_its_end() {
        let id = EntryId::from("01a1ec43-ed10-728f-8982-189d895c05f3");
        for name in ["895c05f3", "·895C05F3", "01a1ec43"] {
            assert!(begins(&id, name), "{name}");
        }
        let random = EntryId::from("3e88f9c7-ed10-428f-8982-189d895c05f3");
        assert!(!begins(&random, "895c05f3") && begins(&random, "3e88f9c7"));
    }
}
