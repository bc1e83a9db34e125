//! Links among the memory files: where they lead, for people.

use std::fs;
use std::path::{Path, PathBuf};

/// Why a link is not read, where nobody knows more.
pub(super) const ASTRAY: &str =
    "it is a link that leads out of memory, and is neither read nor indexed";

/// More links than that in a row lead nowhere.
const MOST_LINKS: usize = 40;

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Link {
    /// To a file or folder of the workspace, by its name there.
    Within(PathBuf),
    /// Out of the workspace.
    Outside,
    /// To nothing; what it says.
    Nowhere(PathBuf),
    /// Back to itself.
    Loop,
}

/// Where a name of the workspace leads; nothing if it is no link.
pub(super) fn link(root: &Path, name: &str) -> Option<Link> {
    let path = root.join(name);
    let said = fs::read_link(&path).ok()?;
    Some(match fs::canonicalize(&path) {
        Ok(real) => match real.strip_prefix(root) {
            Ok(within) => Link::Within(within.to_owned()),
            Err(_) => Link::Outside,
        },
        Err(_) if turns_back(&path) => Link::Loop,
        Err(_) => Link::Nowhere(said),
    })
}

/// Whether a link leads back to one that was followed before.
fn turns_back(path: &Path) -> bool {
    let mut seen = vec![path.to_owned()];
    while let Some(last) = seen.last() {
        let Ok(next) = fs::read_link(last) else {
            return false;
        };
        let folder = last.parent().unwrap_or(last);
        // Names that differ only in their way are told apart by the count.
        let next = folder.join(next);
        if seen.contains(&next) || seen.len() > MOST_LINKS {
            return true;
        }
        seen.push(next);
    }
    false
}

/// The folder of the workspace that stands for a folder of memory by a link. What
/// is in it is written and read, but a search follows no link to a folder.
pub(super) fn stand_in(root: &Path, place: &str) -> Option<String> {
    match link(root, place)? {
        Link::Within(real) if root.join(&real).is_dir() => Some(shown(&real)),
        Link::Within(_) | Link::Outside | Link::Nowhere(_) | Link::Loop => None,
    }
}

/// What keeps a folder of memory from being read, where something does.
pub(super) fn unread(root: &Path, place: &str) -> Option<String> {
    let path = root.join(place);
    match stand_in(root, place) {
        Some(_) => None,
        None => told(root, place).or_else(|| {
            let is_other = path.exists() && !path.is_dir();
            is_other.then(|| "it is not a folder".to_owned())
        }),
    }
}

/// What a link that is left out is, in words; nothing if it is no link.
pub(super) fn told(root: &Path, name: &str) -> Option<String> {
    Some(match link(root, name)? {
        Link::Within(real) => {
            let is_folder = root.join(&real).is_dir();
            let shown = shown(&real);
            match (is_folder, is_memory(&real)) {
                (true, true) => format!(
                    "it is a link to {shown}, another folder of memory, whose files are read under \
                     their own names; links to folders are not followed"
                ),
                (true, false) => format!(
                    "it is a link that leads out of memory, to the folder {shown}, and is neither \
                     read nor indexed"
                ),
                (false, _) => format!(
                    "it is a link that leads out of memory, to {shown}, and is neither read nor indexed"
                ),
            }
        }
        Link::Outside => {
            "it is a link that leads out of the workspace, and is neither read nor indexed".into()
        }
        Link::Nowhere(said) => format!("it is a link to {}, which is not there", shown(&said)),
        Link::Loop => "it is a link that leads back to itself".into(),
    })
}

fn is_memory(real: &Path) -> bool {
    let first = real.components().next();
    first.is_some_and(|first| {
        let first = first.as_os_str();
        first == "memory" || first == "memories"
    })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
