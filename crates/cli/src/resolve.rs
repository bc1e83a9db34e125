//! From what a person types to the session that is meant.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use longhaul_engine::catalog::{self, Catalog, Meant};
pub(crate) use longhaul_engine::catalog::{belongs_to, id_of};
use longhaul_engine::survey::Survey;
use longhaul_transcript::import::{self, Listed};
use longhaul_transcript::{EntryId, Session, SessionRef, Tree};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::{out, paint};

/// Opens the session a command is about; without a name, the newest one of the
/// workspace, which is then named.
pub(crate) fn session(app: &App, name: Option<&OsStr>) -> Result<Session> {
    open(app, name, Elsewhere::Taken)
}

/// The same for a command that writes. It never falls back to another
/// workspace: nobody should change a session they did not mean.
pub(crate) fn session_to_write(app: &App, name: Option<&OsStr>) -> Result<Session> {
    open(app, name, Elsewhere::Refused)
}

fn open(app: &App, name: Option<&OsStr>, elsewhere: Elsewhere) -> Result<Session> {
    let reference = match name {
        Some(name) => named(app, name)?,
        None => newest(app, elsewhere)?,
    };
    Ok(Session::open_ref(&reference)?)
}

/// What a session of another workspace is good for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elsewhere {
    Taken,
    Refused,
}

fn named(app: &App, name: &OsStr) -> Result<SessionRef> {
    if let Some(path) = as_path(app, name) {
        return at_path(app, &path);
    }
    let name = &*name.to_string_lossy();
    let catalog = catalog::find(&app.places());
    match catalog.meant(name) {
        Meant::One(found, 1) => Ok(found.reference.clone()),
        Meant::One(found, several) => {
            let (name, path) = (paint::quoted(name), app.show_path(&found.reference.path));
            let told =
                format!("note: {several} sessions are called {name}; the newest is taken, {path}");
            out::note_once(&told);
            Ok(found.reference.clone())
        }
        Meant::Nobody => Err(unknown(&catalog, name)),
        Meant::Several(several) => Err(ambiguous(app, name, &several)),
    }
}

/// A name that is a file, or could only be one.
pub(crate) fn as_path(app: &App, name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    let expanded = match (path.strip_prefix("~"), &app.home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    };
    let name = name.to_string_lossy();
    let looks_like_one = name.contains(['/', '\\'])
        || [".jsonl", ".json", ".sqlite"]
            .iter()
            .any(|ending| name.ends_with(ending));
    // What is there and no file is named by its path too, and refused by its kind.
    let is_there = expanded.metadata().is_ok_and(|meta| !meta.is_dir());
    (is_there || (looks_like_one && !name.contains(':'))).then_some(expanded)
}

/// The session in a file; of a store that holds several, the newest.
fn at_path(app: &App, path: &Path) -> Result<SessionRef> {
    // Whoever names a link means what it leads to.
    let path = &match longhaul_files::kind_of(path) {
        Some(longhaul_files::FileKind::Link) => longhaul_files::resolve(path)?,
        _ => path.to_owned(),
    };
    let first = import::detect(path)?.sessions(path)?.into_iter().next();
    first.ok_or_else(|| {
        fail!("{} holds no session", app.show_path(path))
            .help("`longhaul session list` shows the sessions found here")
    })
}

fn newest(app: &App, elsewhere: Elsewhere) -> Result<SessionRef> {
    let catalog = catalog::find(&app.places());
    if catalog.sessions.is_empty() {
        return Err(
            Failure::new("no session of any agent was found on this machine")
                .help("name a file, or make one to try things out: `longhaul sample demo.jsonl`"),
        );
    }
    let found = match catalog.newest_in(&app.workspace) {
        Some(found) => found,
        None if elsewhere == Elsewhere::Refused => {
            let workspace = app.show_path(&app.workspace);
            return Err(fail!("no session of {workspace} was found")
                .help("name one with --session; `longhaul session list` shows what is there"));
        }
        None => {
            let workspace = app.show_path(&app.workspace);
            note!("no session of {workspace} yet; taking the newest of all");
            &catalog.sessions[0]
        }
    };
    note!(
        "session {} ({})",
        id_of(&found.reference),
        found.reference.format
    );
    Ok(found.reference.clone())
}

/// For each session the start of its id that names it and no other.
pub(crate) fn short_ids(sessions: &[Listed]) -> Vec<String> {
    let ids: Vec<String> = sessions
        .iter()
        .map(|found| id_of(&found.reference))
        .collect();
    let keys = sessions
        .iter()
        .filter_map(|found| found.reference.key.clone());
    unique_starts(&ids, &ids.iter().cloned().chain(keys).collect::<Vec<_>>())
}

/// So much of a name is enough to recognise it.
const ENOUGH: usize = 8;

/// The same of entries of a session.
pub(crate) fn id_starts(session: &Session, survey: &Survey, ids: &[String]) -> Result<Vec<String>> {
    if let Some(starts) = survey.starts(ids, ENOUGH) {
        return Ok(starts);
    }
    let tree = session.tree()?;
    let all: Vec<String> = tree
        .nodes()
        .iter()
        .map(|node| node.id.to_string())
        .collect();
    Ok(unique_starts(ids, &all))
}

/// The shortest start of each name that no other name has, but enough of it
/// to be recognised.
pub(crate) fn unique_starts(names: &[String], all: &[String]) -> Vec<String> {
    let mut sorted: Vec<&str> = all.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    names
        .iter()
        .map(|name| {
            let at = sorted.partition_point(|other| *other < name.as_str());
            let before = at.checked_sub(1).map(|before| sorted[before]);
            let neighbours = before.into_iter().chain(sorted.get(at + 1).copied());
            let common = neighbours
                .map(|other| shared(name, other))
                .max()
                .unwrap_or(0);
            name.chars().take(ENOUGH.max(common + 1)).collect()
        })
        .collect()
}

fn unknown(catalog: &Catalog, name: &str) -> Failure {
    const WORTH_A_GUESS: usize = 3;
    let names = catalog.sessions.iter().map(|found| {
        let key = found.reference.key.clone();
        key.unwrap_or_else(|| id_of(&found.reference))
    });
    let is_long = name.chars().count() >= WORTH_A_GUESS;
    let near = names.filter(|_| is_long).find(|id| id.contains(name));
    let failure = fail!("no session is called {}", paint::quoted(name));
    match near {
        Some(near) => failure.help(format!("did you mean {near}?")),
        None => {
            let all = "`longhaul session list --all` shows every session";
            failure.help(format!("{all}; a file can be named by its path"))
        }
    }
}

fn ambiguous(app: &App, name: &str, several: &[&Listed]) -> Failure {
    const SHOWN: usize = 5;
    let (name, count) = (paint::quoted(name), several.len());
    let mut failure = fail!("{name} could be any of {count} sessions");
    for found in several.iter().take(SHOWN) {
        let (id, path) = (
            id_of(&found.reference),
            app.show_path(&found.reference.path),
        );
        failure = failure.detail(format!("{id}  {path}"));
    }
    if several.len() > SHOWN {
        failure = failure.detail(format!("and {} more", several.len() - SHOWN));
    }
    failure.help("use more of the id, or the file's path")
}

/// Finds an entry by id, by the start of its id, or by its label.
pub(crate) fn entry(tree: &Tree, session: &Session, name: &str) -> Result<EntryId> {
    let exact = EntryId::from(name);
    if tree.get(&exact).is_some() {
        return Ok(exact);
    }
    let labelled = tree.labels().iter().filter(|(_, label)| *label == name);
    let mut found: Vec<EntryId> = labelled.map(|(id, _)| id.clone()).collect();
    if found.is_empty() && !name.is_empty() {
        let begun = tree.with_prefix(name);
        found = begun.iter().map(|node| node.id.clone()).collect();
        found.dedup();
    }
    let name = paint::quoted(name);
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(fail!("no entry {name} in {}", session.path().display())
            .help("`longhaul session show` lists the entries with their ids")),
        several => {
            Err(fail!("{name} could be any of {} entries", several.len())
                .help("use more of the id"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_as_long_as_they_must_be() {
        let names: Vec<String> = [
            "0190aaaa-1",
            "0190aaaa-2",
            "c",
            "feedbeef-0000",
            "日本語日本語日本語",
        ]
        .map(String::from)
        .to_vec();
        assert_eq!(
            unique_starts(&names, &names),
            [
                "0190aaaa-1",
                "0190aaaa-2",
                "c",
                "feedbeef",
                "日本語日本語日本"
            ]
        );
    }

    #[test]
    fn a_name_that_starts_another_is_shown_whole() {
        let names = vec![String::from("session-a"), String::from("session-ab")];
        assert_eq!(unique_starts(&names, &names), ["session-a", "session-ab"]);
    }
}
