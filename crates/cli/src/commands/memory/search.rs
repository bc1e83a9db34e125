//! `memory search` and `memory get`.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use longhaul_engine::catalog;
use longhaul_engine::library::{ChosenEncoder, Reason};
use longhaul_engine::recall::told_apart;
use longhaul_index::{
    Budget, Filters, Hit, Hits, MemoryIndex, Mode, Query, RecordKind, SqliteIndex, WorkspaceFiles,
};
use longhaul_transcript::{Millis, Session};

use super::super::quotation;
use super::{chosen_and_told, embedding, open, refuse_without_index};
use crate::args::MemorySearchArgs;
use crate::prelude::*;
use crate::resolve::{self, id_of};

/// New text of memory files that is taken in before a search. The rest is told;
/// `memory index` takes in everything.
pub(crate) const SYNCED: Budget = Budget { bytes: 32_000_000 };

pub(crate) fn run(app: &App, args: &MemorySearchArgs) -> Result {
    let text = args.query.join(" ");
    if text.trim().is_empty() {
        return Err(Failure::usage("say what to look for"));
    }
    if let (Some(since), Some(until)) = (args.since, args.until)
        && since >= until
    {
        let failure = Failure::usage("no time is after --since and before --until");
        return Err(failure.help("the earlier of the two is --since"));
    }
    refuse_without_index(app)?;
    let config = &app.config.memory;
    let mut index = open(app)?;
    let chosen = match args.words {
        true => ChosenEncoder {
            encoder: None,
            why: None,
            reasons: vec![Reason {
                text: "words alone were asked for".to_owned(),
                is_fault: false,
            }],
            away: None,
        },
        false => chosen_and_told(app)?,
    };
    index.use_encoder(chosen.encoder.clone());
    let mut kinds = Vec::new();
    if args.dreams || config.index.dreams {
        use RecordKind::{Daily, Dream, Memory, Transcript};
        kinds = vec![Memory, Daily, Dream, Transcript];
    }
    let mut paths: Vec<String> = args.path.iter().map(|path| inside(app, path)).collect();
    if paths.iter().any(String::is_empty) {
        // The workspace itself: every file, and no session.
        paths.clear();
        if kinds.is_empty() {
            kinds = vec![RecordKind::Memory, RecordKind::Daily];
        }
        kinds.retain(|kind| *kind != RecordKind::Transcript);
    }
    let sessions = args.session.iter();
    let query = Query {
        k: args.k.unwrap_or(config.search.max_results).max(1) as usize,
        mode: match args.words {
            true => Mode::Words,
            false => Mode::Hybrid,
        },
        now: Some(app.now()),
        filters: Filters {
            since: args.since,
            until: args.until,
            sessions: sessions.flat_map(|name| as_indexed(app, name)).collect(),
            roles: args.role.clone(),
            paths,
            kinds,
            ..Filters::default()
        },
        ..Query::new(text)
    };
    let files = app.config.workspace_files(&app.workspace);
    let mut hits = index.search_current(&query, &files, SYNCED, app.now())?;
    for hit in &mut hits.hits {
        hit.time = date(&files, hit.kind, &hit.source, hit.time);
    }
    let least = config.search.minimum_score as f32;
    hits.hits.retain(|hit| hit.score >= least);
    if hits.hits.is_empty() {
        let empty = index.status()?.records == 0;
        let mut failure = Failure::new("nothing was found");
        let links = files.links_note(None);
        // A program learns from it as well by what it was sought, and why not.
        if app.json {
            out::json(&answer(&query, &hits, &chosen))?;
        }
        let told = hits.unknown.iter().filter(|_| !empty).chain(&hits.notes);
        for told in told.chain(&links) {
            failure = failure.detail(told);
        }
        if let Some((session, entry)) = in_sight(&mut index, &query)? {
            let help = format!(
                "`longhaul recall --session {session} {entry}` shows it; a search finds what has \
                 left the context"
            );
            let where_it_is = format!("it is still in the context of session {session}");
            return Err(failure.detail(where_it_is).help(help));
        }
        let is_known = hits.unknown.is_empty();
        return Err(failure.help(match args.role.is_empty() {
            _ if empty => {
                "the index is empty: there are no memory files; `longhaul memory index` takes in sessions"
            }
            _ if is_known => {
                "other words may find it; `longhaul memory index` takes in what sessions have new"
            }
            true => "name one of those; `longhaul memory index` takes in what sessions have new",
            false => {
                "a role is who said an entry of a session: user, assistant, toolResult, \
                 bashExecution, custom; `longhaul memory index` takes sessions in"
            }
        }));
    }
    if app.json {
        return out::json(&answer(&query, &hits, &chosen));
    }
    for note in hits.unknown.iter().chain(&hits.notes) {
        note!("note: {note}");
    }
    for hit in &hits.hits {
        print(hit, args.explain)?;
    }
    if args.explain {
        let model = hits.model.as_deref().unwrap_or("none, words alone");
        say!("model: {model}")?;
        if let Some(why) = &chosen.why {
            say!("  {why}")?;
        }
        for reason in &chosen.reasons {
            say!("  {}", reason.text)?;
        }
    }
    Ok(())
}

/// A session as the index names it, or all that have the id in their headers; what
/// names none is looked for as it is.
fn as_indexed(app: &App, name: &str) -> Vec<String> {
    if let Ok(session) = resolve::session(app, Some(OsStr::new(name))) {
        return vec![session.reference().name()];
    }
    let catalog = catalog::find(&app.places());
    let headed = catalog.headed(name).into_iter();
    let opened = headed.filter_map(|found| Session::open_ref(&found.reference).ok());
    let names: Vec<String> = opened.map(|session| session.reference().name()).collect();
    match names.is_empty() {
        true => vec![name.to_owned()],
        false => names,
    }
}

/// The session and the entry that a search would find if it had left the
/// context already.
fn in_sight(index: &mut SqliteIndex, query: &Query) -> Result<Option<(String, String)>> {
    let files = !query.filters.paths.is_empty();
    let of_files =
        !query.filters.kinds.is_empty() && !query.filters.kinds.contains(&RecordKind::Transcript);
    if files || of_files {
        return Ok(None);
    }
    let mut present = query.clone();
    present.filters.kinds = vec![RecordKind::Present];
    let hits = index.search(&present)?.hits;
    let hit = hits.into_iter().find(|hit| !hit.why.terms.is_empty());
    Ok(hit.map(|hit| {
        let session = Session::open(Path::new(&hit.source));
        let name = session.map_or(hit.source, |session| id_of(session.reference()));
        (name, hit.entry)
    }))
}

/// When a text was said or written; of a file that says no day, when it was
/// changed.
fn date(
    files: &WorkspaceFiles,
    kind: RecordKind,
    of: &str,
    time: Option<Millis>,
) -> Option<Millis> {
    match kind {
        RecordKind::Transcript | RecordKind::Present | RecordKind::Summary => time,
        RecordKind::Memory | RecordKind::Daily | RecordKind::Dream => {
            time.or_else(|| files.date_of(of))
        }
    }
}

/// A path as the index has it: from the workspace on, with `/` between its
/// parts; empty for the workspace itself. A relative one is meant from the
/// workspace, or from the current folder where only that has it.
fn inside(app: &App, path: &str) -> String {
    let given = Path::new(path);
    let here = || std::path::absolute(given).ok().filter(|own| own.exists());
    let named = lexical(&app.workspace.join(given));
    let named = match named.exists() {
        true => named,
        false => here().map_or(named, |own| lexical(&own)),
    };
    let workspace = lexical(&app.workspace);
    let relative = match named.strip_prefix(&workspace) {
        Ok(relative) => relative.to_owned(),
        // One of the two may be named by way of a link.
        Err(_) => match (named.canonicalize(), workspace.canonicalize()) {
            (Ok(real), Ok(root)) => real.strip_prefix(root).map_or(named, Path::to_owned),
            _ => named,
        },
    };
    let parts = relative.iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("/").replace("//", "/")
}

/// A path without `.` and `..`, whether or not it is there.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// What comes back is quoted data: fenced, dated and attributed.
fn print(hit: &Hit, explain: bool) -> Result {
    let key = hit.key();
    let place = format!("{}:{}-{}", &key, hit.lines.0, hit.lines.1);
    let who = hit.role.as_deref().unwrap_or(hit.kind.as_str());
    let when = hit.time.map(|time| format!(" · {}", time.to_iso()));
    let heading = format!("found {place} · {}{}", who, when.unwrap_or_default());
    let mut about = Vec::new();
    for kept in &hit.kept {
        let (from, to) = kept.lines;
        let (text, standing, source) = (&kept.text, &kept.standing, &kept.source);
        about.push(format!("kept: {text} ({standing}) · {source}:{from}-{to}"));
    }
    if explain {
        let why = &hit.why;
        let vector = why
            .vector
            .map_or(String::from("none"), |near| format!("{near:.2}"));
        about.push(format!(
            "why: score {:.3} · words {:.2} · beside {:.2} · source {:.2} · vector {vector} · \
             age keeps {:.2} · repeats {:.2} · has {}",
            hit.score,
            why.words,
            why.beside,
            why.source,
            why.decay,
            why.repeats,
            why.terms.join(", ")
        ));
    }
    quotation::print(&heading, hit.text.trim_end(), &about, &key)
}

fn answer(query: &Query, hits: &Hits, chosen: &ChosenEncoder) -> Value {
    json!({
        "query": out::redacted(&query.text),
        "model": hits.model,
        "embedding": embedding(chosen),
        "notes": hits.unknown.iter().chain(&hits.notes).collect::<Vec<_>>(),
        "hits": hits.hits.iter().map(hit_json).collect::<Vec<_>>(),
    })
}

fn hit_json(hit: &Hit) -> Value {
    let (role, unvouched) = told_apart(hit.role.as_deref());
    json!({
        "key": hit.key(),
        "kind": hit.kind.as_str(),
        "source": hit.source,
        "entry": Some(&hit.entry).filter(|entry| !entry.is_empty()),
        "role": role,
        "unvouched": unvouched,
        "time": hit.time.map(|time| time.to_iso()),
        "lines": [hit.lines.0, hit.lines.1],
        "score": hit.score,
        "why": hit.why,
        "text": hit.text,
        "kept": hit.kept,
    })
}

/// `memory/x.md:1-19` as the key and its lines.
fn with_lines(key: &str) -> Option<(&str, (u32, u32))> {
    let (name, lines) = key.rsplit_once(':')?;
    let (from, to) = lines.split_once('-')?;
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    (from <= to).then_some((name, (from, to)))
}

pub(crate) fn get(app: &App, key: &str, lines: Option<(u32, u32)>) -> Result {
    refuse_without_index(app)?;
    let mut index = open(app)?;
    let files = app.config.workspace_files(&app.workspace);
    let notes = index.bring_up(&files, SYNCED, app.now());
    let (mut key, mut lines) = (key, lines);
    let mut found = index.get(key, lines)?;
    // As a search prints it, with the lines behind the name.
    if let (None, None, Some((name, printed))) = (&found, lines, with_lines(key)) {
        (key, lines) = (name, Some(printed));
        found = index.get(key, lines)?;
    }
    // As people write paths.
    let plain = inside(app, key);
    if found.is_none() && !plain.is_empty() && plain != key {
        found = index.get(&plain, lines)?;
        key = if found.is_some() { &plain } else { key };
    }
    let Some(passage) = found else {
        let mut failure = fail!("nothing is indexed as {}", paint::quoted(key));
        for note in notes.iter().chain(&files.links_note(Some(&plain))) {
            failure = failure.detail(note);
        }
        // Files have an ending or a folder; what has neither may be an entry.
        let entry = !key.contains(['/', '.']);
        return Err(failure.help(match entry {
            true => "`longhaul memory search` shows the keys of what it finds; `longhaul recall` takes the id of an entry",
            false => "`longhaul memory search` shows the keys of what it finds",
        }));
    };
    let time = date(&files, passage.kind, &passage.source, passage.time);
    // What is no text is in the index as an empty one.
    let is_binary = || {
        const MOST_BYTES: u64 = 64 << 20;
        let file = longhaul_files::read_named(&app.workspace.join(&passage.source), MOST_BYTES);
        file.is_ok_and(|bytes| bytes.contains(&0))
    };
    if passage.of == 0 && passage.entry.is_empty() && is_binary() {
        let key = paint::quoted(key);
        let what = format!("{key} has a zero byte, as only binary files have, and is not indexed");
        return Err(
            Failure::new(what).help("take it out of the memory folders, or save it as text")
        );
    }
    if let Some((from, _)) = lines.filter(|(from, _)| *from > passage.of) {
        let of = paint::plural(u64::from(passage.of), "line");
        return Err(fail!("{key} has {of}; line {from} is none of them"));
    }
    if app.json {
        let (role, unvouched) = told_apart(passage.role.as_deref());
        return out::json(&json!({
            "key": key,
            "kind": passage.kind.as_str(),
            "source": passage.source,
            "entry": Some(&passage.entry).filter(|entry| !entry.is_empty()),
            "role": role,
            "unvouched": unvouched,
            "time": time.map(|time| time.to_iso()),
            "lines": [passage.lines.0, passage.lines.1],
            "of": passage.of,
            "text": passage.text,
            "notes": notes,
        }));
    }
    for note in &notes {
        note!("note: {note}");
    }
    let (from, to) = passage.lines;
    let who = passage.role.as_deref().unwrap_or(passage.kind.as_str());
    let when = time.map(|time| format!(" · {}", time.to_iso()));
    let heading = format!(
        "{}:{from}-{to} of {} · {}{}",
        key,
        paint::plural(u64::from(passage.of), "line"),
        who,
        when.unwrap_or_default()
    );
    quotation::print(&heading, passage.text.trim_end_matches('\n'), &[], key)
}
