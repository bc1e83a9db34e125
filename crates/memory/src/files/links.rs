//! Links among the memory files: where they lead, for people.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::trouble::Trouble;

/// The folder of the workspace that stands for a folder of memory by a link. What
/// is in it is written and read, but a search follows no link to a folder.
fn stand_in(root: &Path, place: &str) -> Option<String> {
    let path = root.join(place);
    let real = path.is_symlink().then(|| fs::canonicalize(&path).ok())??;
    let within = real.strip_prefix(root).ok().filter(|_| real.is_dir())?;
    Some(within.display().to_string())
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

/// What is to be known of a folder of memory that is none, or a link.
pub(super) fn trouble(root: &Path, place: &str) -> Option<Trouble> {
    match stand_in(root, place) {
        Some(target) => Some(Trouble::LinkedFolder { target }),
        None => unread(root, place).map(|reason| Trouble::Unreadable { reason }),
    }
}

/// What a link that is left out is, in words; nothing if it is no link.
pub(super) fn told(root: &Path, name: &str) -> Option<String> {
    let path = root.join(name);
    let said = fs::read_link(&path).ok()?;
    let real = match fs::canonicalize(&path) {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let said = said.display();
            return Some(format!("it is a link to {said}, which is not there"));
        }
        Err(error) => return Some(format!("it is a link that cannot be followed ({error})")),
    };
    let leads = match real.strip_prefix(root) {
        Err(_) => "out of the workspace".to_owned(),
        Ok(within) if !real.is_dir() => format!("out of memory, to {}", within.display()),
        Ok(within) if within.starts_with("memory") || within.starts_with("memories") => {
            return Some(format!(
                "it is a link to {}, another folder of memory, whose files are read under their \
                 own names; links to folders are not followed",
                within.display()
            ));
        }
        Ok(within) => format!("out of memory, to the folder {}", within.display()),
    };
    Some(format!(
        "it is a link that leads {leads}, and is neither read nor indexed"
    ))
}
