//! Which sessions belong together.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use longhaul_transcript::Session;

/// How far a search looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// This session.
    #[default]
    Session,
    /// And those it came from, those that came from it, and those of its name.
    Family,
    /// Every session that is indexed.
    All,
}

impl Scope {
    /// The scope of that name.
    pub fn named(name: &str) -> Option<Scope> {
        match name {
            "session" => Some(Scope::Session),
            "family" => Some(Scope::Family),
            "all" => Some(Scope::All),
            _ => None,
        }
    }
}

/// The files of a session's family, itself first: its ancestors, its
/// descendants, and sessions of the same name, as far as they lie in the same
/// folder or are named by path.
pub fn family(session: &Session) -> Vec<PathBuf> {
    let own = canonical(session.path());
    let folder = own.parent().map(Path::to_owned).unwrap_or_default();
    let mut known: Vec<(PathBuf, String, Option<PathBuf>)> = Vec::new();
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    for file in files {
        let path = file.path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        if let Ok(other) = Session::open(&path) {
            let header = other.header();
            let parent = header.parent_session.as_deref().map(Path::new);
            let parent = parent.map(canonical);
            known.push((canonical(&path), header.id.clone(), parent));
        }
    }
    known.sort();
    let mut members = vec![own.clone()];
    let mut seen: HashSet<PathBuf> = members.iter().cloned().collect();
    let mut add = |path: PathBuf, members: &mut Vec<PathBuf>| {
        if seen.insert(path.clone()) {
            members.push(path);
        }
    };
    if let Some(parent) = session.header().parent_session.as_deref() {
        add(canonical(Path::new(parent)), &mut members);
    }
    let mut at = 0;
    while at < members.len() {
        let member = known.iter().find(|(path, ..)| *path == members[at]);
        let (name, above) = match member {
            Some((_, name, above)) => (Some(name), above.clone()),
            None => (None, None),
        };
        let own = members[at].clone();
        for (path, other, parent) in &known {
            if parent.as_ref() == Some(&own) || Some(other) == name {
                add(path.clone(), &mut members);
            }
        }
        if let Some(above) = above {
            add(above, &mut members);
        }
        at += 1;
    }
    members.retain(|path| path.exists());
    members
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
