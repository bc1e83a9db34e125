//! From what a person types to the session that is meant.

use std::path::{Path, PathBuf};

use longhaul_engine::catalog::{self, Catalog, Found};
use longhaul_transcript::{EntryId, Session, SessionRef, Tree, import};

use crate::app::App;
use crate::failure::Failure;

/// Opens the session a command is about; without a name, the newest one of the
/// workspace, which is then named.
pub(crate) fn session(app: &App, name: Option<&str>) -> Result<Session, Failure> {
    let reference = match name {
        Some(name) => named(app, name)?,
        None => newest(app)?,
    };
    Session::open_ref(&reference).map_err(Failure::from)
}

fn named(app: &App, name: &str) -> Result<SessionRef, Failure> {
    if let Some(path) = as_path(app, name) {
        return at_path(&path);
    }
    let catalog = catalog::find(&app.places());
    let mut matches = exact(&catalog, name);
    if matches.is_empty() {
        matches = by_prefix(&catalog, name);
    }
    if matches.is_empty() {
        matches = by_label(&catalog, name);
    }
    match matches.as_slice() {
        [only] => Ok(only.reference.clone()),
        [] => Err(unknown(&catalog, name)),
        several => Err(ambiguous(app, name, several)),
    }
}

/// A name that is a file, or could only be one.
fn as_path(app: &App, name: &str) -> Option<PathBuf> {
    let expanded = match (name.strip_prefix("~/"), &app.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(name),
    };
    let looks_like_one = name.contains(['/', '\\'])
        || [".jsonl", ".json", ".sqlite"]
            .iter()
            .any(|ending| name.ends_with(ending));
    (expanded.is_file() || (looks_like_one && !name.contains(':'))).then_some(expanded)
}

/// The session in a file; of a store that holds several, the newest.
fn at_path(path: &Path) -> Result<SessionRef, Failure> {
    import::detect(path)?
        .sessions(path)?
        .into_iter()
        .next()
        .ok_or_else(|| Failure::new(format!("{} holds no session", path.display())))
}

fn newest(app: &App) -> Result<SessionRef, Failure> {
    let catalog = catalog::find(&app.places());
    if catalog.sessions.is_empty() {
        return Err(Failure::new("no session of any agent was found on this machine")
            .help("name a file, or make one to try things out: `longhaul sample demo.jsonl`"));
    }
    let here = catalog
        .sessions
        .iter()
        .find(|found| belongs_to(&found.reference, &app.workspace));
    let found = match here {
        Some(found) => found,
        None => {
            app.note(&format!(
                "no session of {} yet; taking the newest of all",
                app.show_path(&app.workspace)
            ));
            &catalog.sessions[0]
        }
    };
    app.note(&format!(
        "session {} ({})",
        id_of(&found.reference),
        found.reference.format
    ));
    Ok(found.reference.clone())
}

/// Whether a session ran in a folder, by its header.
pub(crate) fn belongs_to(reference: &SessionRef, workspace: &Path) -> bool {
    Session::open_ref(reference)
        .is_ok_and(|session| session.header().cwd.as_deref() == Some(workspace))
}

/// The id a session goes by in lists: the store's, or the one in its file name.
pub(crate) fn id_of(reference: &SessionRef) -> String {
    if let Some(session) = &reference.session {
        return session.clone();
    }
    let stem = reference
        .path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    // pi: <time>_<id>; Codex: rollout-<time>-<uuid>.
    if let Some((time, id)) = stem.split_once('_')
        && is_file_time(time)
    {
        return id.to_owned();
    }
    if let Some(rest) = stem.strip_prefix("rollout-")
        && let Some(at) = rest.len().checked_sub(36)
        && rest.is_char_boundary(at)
    {
        return rest[at..].to_owned();
    }
    stem
}

/// A time as pi writes it into file names: `2026-11-15T01-17-46-156Z`.
fn is_file_time(text: &str) -> bool {
    text.len() >= 19
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"-TZ".contains(&byte))
        && text.as_bytes().get(10) == Some(&b'T')
}

fn exact<'a>(catalog: &'a Catalog, name: &str) -> Vec<&'a Found> {
    catalog
        .sessions
        .iter()
        .filter(|found| {
            found.reference.key.as_deref() == Some(name) || id_of(&found.reference) == name
        })
        .collect()
}

fn by_prefix<'a>(catalog: &'a Catalog, name: &str) -> Vec<&'a Found> {
    if name.is_empty() {
        return Vec::new();
    }
    catalog
        .sessions
        .iter()
        .filter(|found| {
            id_of(&found.reference).starts_with(name)
                || found
                    .reference
                    .key
                    .as_deref()
                    .is_some_and(|key| key.starts_with(name))
        })
        .collect()
}

/// Labels and session names stand inside the files, so this reads the end of
/// each; it is asked last.
fn by_label<'a>(catalog: &'a Catalog, name: &str) -> Vec<&'a Found> {
    const LOOK: u64 = 256 * 1024;
    catalog
        .sessions
        .iter()
        .filter(|found| {
            Session::open_ref(&found.reference)
                .and_then(|session| session.tail(LOOK))
                .is_ok_and(|tail| {
                    tail.entries.iter().any(|entry| match &entry.body {
                        longhaul_transcript::Body::SessionInfo { name: Some(found) } => {
                            found == name
                        }
                        longhaul_transcript::Body::Label {
                            label: Some(found), ..
                        } => found == name,
                        _ => false,
                    })
                })
        })
        .collect()
}

fn unknown(catalog: &Catalog, name: &str) -> Failure {
    let near = catalog
        .sessions
        .iter()
        .map(|found| found.reference.key.clone().unwrap_or_else(|| id_of(&found.reference)))
        .find(|id| id.contains(name));
    let failure = Failure::new(format!("no session is called {name:?}"));
    match near {
        Some(near) => failure.help(format!("did you mean {near}?")),
        None => failure.help("`longhaul session list --all` shows every session; a file can be named by its path"),
    }
}

fn ambiguous(app: &App, name: &str, several: &[&Found]) -> Failure {
    const SHOWN: usize = 5;
    let mut failure = Failure::new(format!("{} sessions are called {name:?}", several.len()));
    for found in several.iter().take(SHOWN) {
        failure = failure.detail(format!(
            "{}  {}",
            id_of(&found.reference),
            app.show_path(&found.reference.path)
        ));
    }
    if several.len() > SHOWN {
        failure = failure.detail(format!("and {} more", several.len() - SHOWN));
    }
    failure.help("use more of the id, or the file's path")
}

/// Finds an entry by id, by the start of its id, or by its label.
pub(crate) fn entry(tree: &Tree, session: &Session, name: &str) -> Result<EntryId, Failure> {
    let exact = EntryId::from(name);
    if tree.get(&exact).is_some() {
        return Ok(exact);
    }
    let mut found: Vec<EntryId> = tree
        .labels()
        .iter()
        .filter(|(_, label)| *label == name)
        .map(|(id, _)| id.clone())
        .collect();
    if found.is_empty() && !name.is_empty() {
        found = tree
            .with_prefix(name)
            .iter()
            .map(|node| node.id.clone())
            .collect();
        found.dedup();
    }
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Failure::new(format!(
            "no entry {name:?} in {}",
            session.path().display()
        ))
        .help("`longhaul session show` lists the entries with their ids")),
        several => Err(Failure::new(format!(
            "{} entries are called {name:?}",
            several.len()
        ))
        .help("use more of the id")),
    }
}
