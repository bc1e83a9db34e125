//! Which sessions belong together.

use std::path::{Path, PathBuf};

use longhaul_transcript::Session;

/// The files of a session's family, itself first: its ancestors, its
/// descendants, and sessions of the same name, as far as they lie in the same
/// folder or are named by path.
pub fn family(session: &Session) -> Vec<PathBuf> {
    let own = canonical(session.path());
    let parent = |session: &Session| {
        let parent = session.header().parent_session.as_deref();
        parent.map(|parent| canonical(Path::new(parent)))
    };
    let folder = own.parent().unwrap_or(Path::new(""));
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.map(|file| file.path());
    let lines = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let opened = lines.filter_map(|path| Some((Session::open(&path).ok()?, canonical(&path))));
    let mut known: Vec<(PathBuf, String, Option<PathBuf>)> = opened
        .map(|(other, path)| (path, other.header().id.clone(), parent(&other)))
        .collect();
    known.sort();
    let mut members: Vec<PathBuf> = [own].into_iter().chain(parent(session)).collect();
    let mut at = 0;
    while let Some(own) = members.get(at).cloned() {
        let member = known.iter().find(|(path, ..)| *path == own);
        let name = member.map(|(_, name, _)| name);
        let above = member.and_then(|(.., above)| above.as_ref());
        let near = known
            .iter()
            .filter(|(_, other, above)| above.as_ref() == Some(&own) || Some(other) == name)
            .map(|(path, ..)| path);
        for path in near.chain(above) {
            if !members.contains(path) {
                members.push(path.clone());
            }
        }
        at += 1;
    }
    members.retain(|path| path.exists());
    members
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
