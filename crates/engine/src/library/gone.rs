//! Sessions that are in the index and there no more.
//!
//! Whoever deletes a session wants it gone, so what was deleted goes; a session
//! that was renamed is taken in under its new name. What only cannot be seen
//! stays: a folder that may not be read, a store that cannot be opened, and a
//! folder that is missing as a whole, as where a disk is not mounted.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Places};

/// How sessions stand that an index has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gone {
    /// Their files are there no more.
    pub deleted: Vec<String>,
    /// Nobody can say: the folders they were in are missing, or cannot be read.
    pub out_of_sight: Vec<String>,
}

/// Sorts out which of these sessions, named as in the index, are there no more.
/// `catalog` is what was found in the places.
pub fn gone(sessions: &[String], catalog: &Catalog, places: &Places) -> Gone {
    let listed: HashSet<String> = catalog
        .sessions
        .iter()
        .map(|listed| listed.reference.name())
        .collect();
    let roots = roots(places);
    let mut gone = Gone::default();
    for name in sessions.iter().filter(|name| !listed.contains(*name)) {
        match look(name, catalog, &roots) {
            Sight::There => {}
            Sight::Deleted => gone.deleted.push(name.clone()),
            Sight::Unknown => gone.out_of_sight.push(name.clone()),
        }
    }
    gone
}

/// What can be seen of a session.
enum Sight {
    There,
    Deleted,
    Unknown,
}

fn look(name: &str, catalog: &Catalog, roots: &[PathBuf]) -> Sight {
    let path = Path::new(name);
    match fs::symlink_metadata(path) {
        Ok(_) => return Sight::There,
        Err(error) if error.kind() != ErrorKind::NotFound => return Sight::Unknown,
        Err(_) => {}
    }
    let Some((store, _)) = name.rsplit_once('#') else {
        return missing(path, roots);
    };
    let store = Path::new(store);
    match fs::symlink_metadata(store) {
        // A store that was read to its end would have listed it.
        Ok(_) if was_read(store, catalog, roots) => Sight::Deleted,
        Ok(_) => Sight::Unknown,
        // A file may have a `#` in its name as well.
        Err(error) if error.kind() == ErrorKind::NotFound => missing(path, roots),
        Err(_) => Sight::Unknown,
    }
}

/// Whether the sessions of a store were listed: it lies where agents keep theirs,
/// that folder can be looked through, and nothing in it failed.
fn was_read(store: &Path, catalog: &Catalog, roots: &[PathBuf]) -> bool {
    let root = root_of(store, roots);
    catalog.problems.is_empty() && root.is_some_and(|root| fs::read_dir(root).is_ok())
}

/// A file that is not there was deleted if its folder is there, or another one
/// above that, as far as the agent's, that is not left bare.
fn missing(path: &Path, roots: &[PathBuf]) -> Sight {
    let root = root_of(path, roots).or(path.parent());
    for folder in path.ancestors().skip(1) {
        match fs::read_dir(folder) {
            Ok(mut inside) => {
                let is_own = Some(folder) == path.parent();
                return match is_own || inside.next().is_some() {
                    true => Sight::Deleted,
                    false => Sight::Unknown,
                };
            }
            Err(error) if error.kind() != ErrorKind::NotFound => return Sight::Unknown,
            Err(_) if Some(folder) == root => return Sight::Unknown,
            Err(_) => {}
        }
    }
    Sight::Unknown
}

/// The folders in which agents keep sessions, as the index names them.
fn roots(places: &Places) -> Vec<PathBuf> {
    let below = |folders: &[PathBuf], part: &str| -> Vec<PathBuf> {
        folders.iter().map(|folder| folder.join(part)).collect()
    };
    let all = [
        places.own.clone(),
        places.pi.clone(),
        below(&places.claude, "projects"),
        below(&places.codex, "sessions"),
        below(&places.codex, "archived_sessions"),
        below(&places.openclaw, "agents"),
    ];
    let all = all.concat().into_iter();
    all.map(|folder| folder.canonicalize().unwrap_or(folder))
        .collect()
}

fn root_of<'a>(path: &Path, roots: &'a [PathBuf]) -> Option<&'a Path> {
    let above = roots.iter().filter(|root| path.starts_with(root));
    let deepest = above.max_by_key(|root| root.components().count());
    deepest.map(PathBuf::as_path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Problem;

    #[test]
    fn a_session_of_a_store_is_deleted_only_where_the_store_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("openclaw");
        let store = home.join("agents/main/agent/openclaw-agent.sqlite");
        fs::create_dir_all(store.parent().unwrap()).unwrap();
        fs::write(&store, "").unwrap();
        let places = Places {
            openclaw: vec![home.clone()],
            ..Places::default()
        };
        let session = [format!("{}#one", store.display())];
        let deleted = Gone {
            deleted: session.to_vec(),
            ..Gone::default()
        };
        let out_of_sight = Gone {
            out_of_sight: session.to_vec(),
            ..Gone::default()
        };
        let read = Catalog::default();
        assert_eq!(gone(&session, &read, &places), deleted);
        let failed = Catalog {
            problems: vec![Problem {
                path: store,
                reason: "it is locked".to_owned(),
            }],
            ..Catalog::default()
        };
        assert_eq!(gone(&session, &failed, &places), out_of_sight);
        // Nobody looked there.
        assert_eq!(gone(&session, &read, &Places::default()), out_of_sight);
        fs::remove_dir_all(&home).unwrap();
        assert_eq!(gone(&session, &read, &places), out_of_sight);
    }
}
