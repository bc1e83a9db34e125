//! Globs: which files and which tools a setting names.

use std::fs;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use crate::{Error, Problem, Result};

/// How many entries of folders one pattern may look at.
const MOST_ENTRIES: usize = 10_000;
/// Folders that `**` does not enter.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// Names that match one of `patterns`, whatever their case: a rule against
/// `bash` holds for `Bash`.
pub(crate) fn names(setting: &'static str, patterns: &[String]) -> Result<GlobSet> {
    let error = |pattern: &str, error: &globset::Error| Error::Pattern {
        setting,
        pattern: pattern.to_owned(),
        reason: error.kind().to_string(),
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).case_insensitive(true).build();
        set.add(glob.map_err(|e| error(pattern, &e))?);
    }
    set.build().map_err(|e| error(&patterns.join(", "), &e))
}

/// The files below `root` that `pattern` names, sorted. Folder by folder, so
/// that `docs/*.md` looks at one folder only.
pub(crate) fn expand(
    setting: &'static str,
    root: &Path,
    pattern: &str,
    problems: &mut Vec<Problem>,
) -> Vec<PathBuf> {
    let outside = Path::new(pattern).components().any(|part| {
        !matches!(
            part,
            std::path::Component::Normal(_) | std::path::Component::CurDir
        )
    });
    if outside {
        problems.push(Problem::Outside {
            path: root.join(pattern),
            target: PathBuf::from(pattern),
        });
        return Vec::new();
    }
    let mut looked_at = 0;
    let mut found = vec![root.to_owned()];
    for part in pattern.split('/').filter(|part| !matches!(*part, "" | ".")) {
        found = match step(part, &found, &mut looked_at) {
            Ok(next) => next,
            Err(error) => {
                problems.push(Problem::BadPattern {
                    setting,
                    pattern: pattern.to_owned(),
                    reason: error.kind().to_string(),
                });
                return Vec::new();
            }
        };
    }
    if looked_at >= MOST_ENTRIES {
        problems.push(Problem::TooMany {
            path: root.join(pattern),
            looked_at,
        });
    }
    if has_wildcard(pattern) {
        found.retain(|path| !path.is_dir());
    }
    found.sort();
    found.dedup();
    found
}

fn step(
    part: &str,
    folders: &[PathBuf],
    looked_at: &mut usize,
) -> std::result::Result<Vec<PathBuf>, globset::Error> {
    if !has_wildcard(part) {
        return Ok(folders.iter().map(|folder| folder.join(part)).collect());
    }
    if part == "**" {
        let mut all = folders.to_vec();
        let mut at = 0;
        while at < all.len() {
            let below = entries(&all[at], looked_at, |name, is_folder| {
                is_folder && !name.starts_with('.') && !SKIPPED.contains(&name)
            });
            all.extend(below);
            at += 1;
        }
        return Ok(all);
    }
    let glob: GlobMatcher = GlobBuilder::new(part)
        .literal_separator(true)
        .build()?
        .compile_matcher();
    let hidden = part.starts_with('.');
    Ok(folders
        .iter()
        .flat_map(|folder| {
            entries(folder, looked_at, |name, _| {
                (hidden || !name.starts_with('.')) && glob.is_match(name)
            })
        })
        .collect())
}

fn entries(
    folder: &Path,
    looked_at: &mut usize,
    wanted: impl Fn(&str, bool) -> bool,
) -> Vec<PathBuf> {
    let Ok(listing) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in listing.flatten() {
        if *looked_at >= MOST_ENTRIES {
            break;
        }
        *looked_at += 1;
        // A link is not a folder here, so no circle can be walked.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| wanted(name, is_folder)) {
            found.push(entry.path());
        }
    }
    found
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{'])
}
