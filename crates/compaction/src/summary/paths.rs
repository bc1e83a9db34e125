//! How paths are written: short where the short form can mean only one file.

use std::collections::HashMap;

use longhaul_ledger::Ledger;

use super::text::one_line;

/// Writes paths relative to the working folder where that is unambiguous.
#[derive(Debug)]
pub struct PathNames<'a> {
    ledger: &'a Ledger,
    folder: Option<&'a str>,
    /// How many known paths end with a given relative path.
    endings: HashMap<&'a str, u32>,
}

impl<'a> PathNames<'a> {
    /// The names of a ledger's files.
    pub fn new(ledger: &'a Ledger) -> PathNames<'a> {
        let folder = ledger
            .cwd
            .as_deref()
            .map(|cwd| cwd.trim_end_matches(['/', '\\']))
            .filter(|cwd| !cwd.is_empty());
        let mut endings = HashMap::new();
        if folder.is_some() {
            for path in ledger.files.keys() {
                for (at, _) in path.match_indices(['/', '\\']) {
                    *endings.entry(&path[at + 1..]).or_insert(0) += 1;
                }
            }
        }
        PathNames {
            ledger,
            folder,
            endings,
        }
    }

    /// The working folder, if paths are written relative to it.
    pub(super) fn folder(&self) -> Option<&'a str> {
        self.folder
    }

    /// The path relative to the working folder, if it lies there.
    pub(crate) fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        let inside = path.strip_prefix(self.folder?)?;
        inside
            .strip_prefix(['/', '\\'])
            .filter(|rest| !rest.is_empty())
    }

    /// The path as it is shown. A relative path that another known file also
    /// ends with is shown in full. A path that stands nowhere in full is shown
    /// by the folder and the name that were written.
    pub fn show(&self, path: &str) -> String {
        let relative = self.relative(path);
        let alone = |rest: &&str| self.endings.get(rest).copied().unwrap_or(0) <= 1;
        let Some(name) = self.ledger.as_written(path) else {
            return one_line(relative.filter(alone).unwrap_or(path));
        };
        match relative {
            Some(rest) if rest.len() <= name.len() && alone(&rest) => one_line(rest),
            Some(rest) if rest.len() <= name.len() => one_line(&format!("./{rest}")),
            _ => {
                let folder = path[..path.len() - name.len()].trim_end_matches('/');
                let folder = self.relative(folder).unwrap_or(folder);
                one_line(&format!("in {folder}: {name}"))
            }
        }
    }

    /// A folder as it is shown.
    pub(super) fn show_folder(&self, folder: &str) -> String {
        one_line(self.relative(folder).unwrap_or(folder))
    }
}
