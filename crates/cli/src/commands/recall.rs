//! `recall`: what left the context, brought back.

use std::ffi::OsStr;

use longhaul_engine::catalog::listed_id;
use longhaul_engine::library::{Recollection, Scope};
use longhaul_engine::recall::{
    Found, Hit, Meaning, Others, Query, Quoting, Same, begins, full_text, plain_id,
};
use longhaul_engine::tools::InSight;
use longhaul_redact::Redactor;
use longhaul_transcript::{Entry, EntryId, Session};

use super::{memory, quotation};
use crate::args::RecallArgs;
use crate::prelude::*;

/// Where an id may be looked up.
const LISTED: &str = "`longhaul session show --all` lists every entry with its id";

/// Ids that are shown of those a hit stands for; `--json` has more.
const NAMED: usize = 20;

pub(crate) fn run(app: &App, args: &RecallArgs) -> Result {
    let said = args.what.join(" ");
    let (named, what) = match keyed(app, &said) {
        Some((session, id)) => (Some(session), id),
        None => (None, said.as_str()),
    };
    let mut wanted = wanted(args, what)?;
    let session = match (args.on.name(), named) {
        (None, Some(session)) => session,
        (name, _) => resolve::session(app, name)?,
    };
    let scope = Scope::named(&args.scope).unwrap_or(Scope::Session);
    let mut past = Recollection::of(session.reference(), scope)
        .with_others(memory::sessions_of(app))
        .with_surveys(app.surveys());
    // Its model is opened only where it is needed.
    let library = memory::is_searched(app).then(|| memory::library_with(app, None));
    // What is to be exact may be a part of a word, which no index has.
    if let (Some(library), Some(_)) = (&library, &wanted.words) {
        past = past.with_library(library.clone());
    }
    let limit = args.limit.max(1);
    let mut found = past.look(&wanted.query, limit).map_err(Failure::new)?;
    // What is no id may still be a word.
    let asked = !what.is_empty();
    let no_id = (asked && found.hits.is_empty() && wanted.words.is_none()).then_some(what);
    if no_id.is_some() {
        wanted = about(what);
        found = past.look(&wanted.query, limit).map_err(Failure::new)?;
    }
    if let Some(id) = no_id.filter(|what| looks_like_id(what)) {
        let id = paint::quoted(id);
        let note = format!("no entry's id begins with {id}; looked for as words");
        found.notes.insert(0, note);
    }
    let query = &wanted.query;
    if let (Query::Range(from, to), Some(last)) = (query, found.hits.last())
        && !begins(&last.entry.id, to)
    {
        let (to, from) = (paint::quoted(to), paint::quoted(from));
        return Err(fail!("no entry {to} comes after {from}").help(LISTED));
    }
    let mut embedding = None;
    let found = match (&wanted.words, library) {
        (Some(words), Some(library)) if found.hits.len() < limit || in_sight(&found.hits) => {
            let chosen = memory::chosen_and_told(app)?;
            embedding = Some(memory::embedding(&chosen));
            if let Some(encoder) = &chosen.encoder {
                library.use_encoder(encoder);
            }
            past.with_library(library)
                .by_meaning(words, found, limit)
                .map_err(Failure::new)?
        }
        _ => found,
    };
    for note in found.notes.iter().filter(|_| !app.json) {
        note!("note: {note}");
    }
    let redactor = Redactor::default();
    let mut shown = match args.no_redact {
        true => Shown::AsStored,
        false => {
            let mut quoting = Quoting::new(&redactor).with_surveys(app.surveys());
            quoting.learn(&found.hits)?;
            Shown::Redacted(Box::new(quoting))
        }
    };
    if app.json {
        let hits = found.hits.iter().map(|hit| hit_json(hit, &mut shown));
        let hits: Vec<Value> = hits.collect();
        let seen = found.in_sight.iter().map(still_there);
        let notes = found.notes.iter().cloned().chain(seen);
        let notes: Vec<String> = notes.map(|note| shown.note(&note)).collect();
        out::json(&json!({
            "session": answer::session(app, &session),
            "scope": args.scope,
            "model": found.model,
            "embedding": embedding,
            "notes": notes,
            "redacted": shown.redacted(),
            "hits": hits,
        }))?;
    }
    if found.hits.is_empty() {
        return Err(match &found.in_sight {
            Some(in_sight) => all_in_sight(&session, in_sight),
            None => nothing(&wanted, no_id, scope),
        });
    }
    if app.json {
        return Ok(());
    }
    let whole = matches!(query, Query::Id(_) | Query::Range(..)) || args.full;
    for hit in &found.hits {
        print(hit, whole, &listed_id(&session), &mut shown)?;
    }
    match shown.redacted() {
        Some(true) => out::note("secrets are left out; --no-redact shows them"),
        None => out::note("secrets were left in: keep it as private as the session"),
        Some(false) => {}
    }
    Ok(())
}

/// That nothing was found, and what may find it.
fn nothing(wanted: &Wanted, no_id: Option<&str>, scope: Scope) -> Failure {
    let failure = Failure::new("nothing was found");
    let failure = match no_id.map(paint::quoted) {
        Some(id) => failure.detail(format!(
            "no entry's id begins with {id}, and none has it as words"
        )),
        None => failure,
    };
    failure.help(match (&wanted.query, &wanted.words) {
        _ if no_id.is_some_and(|what| what.contains("..")) => LISTED,
        (Query::Id(_) | Query::Ids(_) | Query::Range(..), _) => LISTED,
        (Query::Text(_), Some(_)) if scope == Scope::All => {
            "other words may find it; `longhaul memory search` also looks through memory files"
        }
        (Query::Text(_), Some(_)) => "other words may find it; --scope all looks further",
        (Query::Text(_), None) => {
            "fewer words find more; case, spacing and punctuation do not matter"
        }
        (Query::Path(_), _) => "part of the path is enough",
    })
}

/// That nothing was found because it never left.
fn all_in_sight(session: &Session, in_sight: &InSight) -> Failure {
    let name = resolve::id_of(session.reference());
    let entry = in_sight.entries.first().map_or("ID", EntryId::as_str);
    Failure::new("nothing was found outside the context of the session")
        .detail(in_sight.to_string())
        .help(format!(
            "`longhaul recall --session {name} {entry}` shows it"
        ))
}

/// What is in sight, as a note for programs.
fn still_there(in_sight: &InSight) -> String {
    format!(
        "nothing was found outside the context of session {}; {in_sight}",
        in_sight.session
    )
}

/// How entries are shown.
enum Shown<'a> {
    AsStored,
    Redacted(Box<Quoting<'a>>),
}

impl<'a> Shown<'a> {
    /// What is shown, or what is stored.
    fn either(
        &mut self,
        shown: impl FnOnce(&mut Quoting<'a>) -> String,
        stored: impl FnOnce() -> String,
    ) -> String {
        match self {
            Shown::AsStored => stored(),
            Shown::Redacted(quoting) => shown(quoting),
        }
    }

    fn text(&mut self, entry: &Entry) -> String {
        self.either(|quoting| quoting.text(entry), || full_text(entry))
    }

    fn excerpt(&mut self, hit: &Hit) -> String {
        self.either(|quoting| quoting.excerpt(hit), || hit.excerpt.clone())
    }

    fn raw(&mut self, entry: &Entry) -> String {
        self.either(|quoting| quoting.raw(entry), || entry.raw().to_owned())
    }

    fn note(&mut self, note: &str) -> String {
        self.either(|quoting| quoting.note(note), || note.to_owned())
    }

    /// Whether secrets were left out; none where they were not to be.
    fn redacted(&self) -> Option<bool> {
        match self {
            Shown::AsStored => None,
            Shown::Redacted(quoting) => Some(quoting.has_left_out()),
        }
    }
}

/// Whether some of these need not be recalled.
fn in_sight(hits: &[Hit]) -> bool {
    hits.iter().any(|hit| hit.in_context)
}

/// What is asked for.
struct Wanted {
    query: Query,
    /// Words that may also be found in another order, or by meaning.
    words: Option<String>,
}

/// Words, as they stand or by what they mean.
fn about(words: &str) -> Wanted {
    Wanted {
        query: Query::Text(words.to_owned()),
        words: Some(words.to_owned()),
    }
}

/// Whether this is more likely an id than a word: six hexadecimal digits or more,
/// some of them figures, as in a UUID or its beginning.
fn looks_like_id(what: &str) -> bool {
    let ids: Vec<&str> = what.split("..").map(plain_id).collect();
    let is_id = |id: &&str| {
        let is_part = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        id.len() >= 6 && id.bytes().any(|byte| byte.is_ascii_digit()) && id.bytes().all(is_part)
    };
    ids.iter().all(is_id)
}

/// The session and the entry of a key that a search printed: `FILE#7f34aa1c`.
fn keyed<'k>(app: &App, key: &'k str) -> Option<(Session, &'k str)> {
    let (name, id) = key.rsplit_once('#')?;
    if name.is_empty() || id.is_empty() || id.contains(char::is_whitespace) {
        return None;
    }
    let session = resolve::session(app, Some(OsStr::new(name))).ok()?;
    Some((session, id))
}

fn wanted(args: &RecallArgs, what: &str) -> Result<Wanted> {
    let said = [&args.text, &args.path, &args.query].into_iter().flatten();
    let mut said = said.map(String::as_str).chain([what]);
    if said.all(|words| words.trim().is_empty()) {
        return Err(Failure::usage("say what to recall")
            .help("an entry id, a range FROM..TO, words, --text WORDS or --path FILE"));
    }
    let exactly = |query| Wanted { query, words: None };
    if let Some(text) = &args.text {
        return Ok(exactly(Query::Text(text.clone())));
    }
    if let Some(path) = &args.path {
        return Ok(exactly(Query::Path(path.clone())));
    }
    if let Some(words) = &args.query {
        return Ok(about(words));
    }
    let ends = what
        .split_once("..")
        .map(|(from, to)| (plain_id(from), plain_id(to)));
    Ok(match ends {
        Some((from, to)) if looks_like_id(from) && looks_like_id(to) => {
            exactly(Query::Range(from.to_owned(), to.to_owned()))
        }
        Some((id, "") | ("", id)) if looks_like_id(id) => {
            return Err(Failure::usage("a range has two ends")
                .help("FROM..TO, two ids of entries; one id alone is that entry"));
        }
        _ if what.contains(char::is_whitespace) => about(what),
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            exactly(Query::Range(from.to_owned(), to.to_owned()))
        }
        _ => exactly(Query::Id(what.to_owned())),
    })
}

/// What comes back is quoted data: fenced, dated and attributed.
fn print(hit: &Hit, whole: bool, own: &str, shown: &mut Shown<'_>) -> Result {
    let entry = &hit.entry;
    let who = hit.who();
    let when = entry.time.map(|time| time.to_iso()).unwrap_or_default();
    let from = match hit.session == own {
        true => String::new(),
        false => format!(" · session {}", hit.session),
    };
    let heading = format!("recalled {}{from} · {who} · {when}", entry.id);
    let text = match whole {
        true => shown.text(entry),
        false => shown.excerpt(hit),
    };
    let others = Some(&hit.others).filter(|others| others.count > 0);
    let about: Vec<String> = others.map(also).into_iter().collect();
    quotation::print(&heading, &text, &about, entry.id.as_str())?;
    match &hit.why {
        Found::Meaning(why) => say!("{}", by_meaning(why)),
        _ => Ok(()),
    }
}

/// Why something is a hit that does not have the words as they were given.
fn by_meaning(why: &Meaning) -> String {
    let near = why
        .vector
        .map_or(String::new(), |near| format!(" · vector {near:.2}"));
    let terms = match why.terms.is_empty() {
        true => "none of the words".to_owned(),
        false => why.terms.join(", "),
    };
    format!(
        "why: score {:.3} · words {:.2}{near} · has {terms}",
        why.score, why.words
    )
}

/// The other entries that a hit stands for.
fn also(others: &Others) -> String {
    let more = paint::plural_of(others.count as u64, "more entry", "more entries");
    let named: Vec<&str> = others.ids.iter().take(NAMED).map(EntryId::as_str).collect();
    let rest = match others.count > named.len() {
        true => ", …",
        false => "",
    };
    let named = named.join(", ");
    match others.same {
        Same::Beginning => format!("and {more} whose ids begin so: {named}{rest}"),
        same => format!("and the same {} in {more}: {named}{rest}", same.as_str()),
    }
}

fn hit_json(hit: &Hit, shown: &mut Shown<'_>) -> Value {
    let meaning = match &hit.why {
        Found::Meaning(why) => Some(why),
        _ => None,
    };
    json!({
        "entry": hit.entry.id.as_str(),
        "session": hit.session,
        "parentId": hit.entry.parent.as_ref().map(EntryId::as_str),
        "kind": hit.entry.role().map_or_else(|| hit.entry.kind().as_str().to_owned(), |role| role.to_string()),
        "unvouched": hit.brought,
        "time": hit.entry.time.map(|time| time.to_iso()),
        "excerpt": paint::gist(&shown.excerpt(hit), 400),
        "alsoIn": {
            "count": hit.others.count,
            "same": hit.others.same.as_str(),
            "entries": hit.others.ids.iter().map(EntryId::as_str).collect::<Vec<_>>(),
        },
        "why": {
            "found": hit.why.as_str(),
            "score": meaning.map(|why| why.score),
            "words": meaning.map(|why| why.words),
            "vector": meaning.and_then(|why| why.vector),
            "terms": meaning.map_or(&[][..], |why| &why.terms),
        },
        "raw": shown.raw(&hit.entry),
    })
}
