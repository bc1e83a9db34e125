//! C1, C2: files, by their paths.

use super::super::kept::Kept;
use super::super::score::{Row, Sheet};
use super::super::sections::{Item, Section};
use super::super::source::Source;
use super::super::truth::Truth;

/// Whether a text names a file: in full, or relative and unambiguous.
pub(in super::super) fn names_file(text: &str, path: &str, cwd: &str, truth: &Truth) -> bool {
    if contains_path(text, path) {
        return true;
    }
    let relative = relative(path, cwd);
    if relative == path {
        return false;
    }
    let ending = format!("/{relative}");
    let mut all = truth.changed.iter().chain(&truth.read);
    let ambiguous = all.any(|other| other != path && other.ends_with(&ending));
    !ambiguous && contains_path(text, relative)
}

fn relative<'p>(path: &'p str, cwd: &str) -> &'p str {
    match path
        .strip_prefix(cwd)
        .and_then(|rest| rest.strip_prefix('/'))
    {
        Some(rest) if !cwd.is_empty() && !rest.is_empty() => rest,
        _ => path,
    }
}

/// Whether a path stands there and not as a part of a longer one.
fn contains_path(text: &str, path: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-');
    text.match_indices(path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + path.len()..].chars();
        let next = after.next();
        let joined = next == Some('.') && after.next().is_some_and(char::is_alphanumeric);
        !before.is_some_and(|c| part(c) || c == '.') && !next.is_some_and(part) && !joined
    })
}

/// The path of an item, made absolute.
fn path_of(item: &Item, cwd: &str) -> Option<String> {
    let shown = item.line.strip_prefix("- ").filter(|_| !item.is_rest())?;
    let shown = shown.rfind(" (").map_or(shown, |end| &shown[..end]);
    let shown = shown.trim_matches('`');
    let joined = shown
        .strip_prefix("in ")
        .and_then(|rest| rest.split_once(": "));
    let joined = joined.map(|(folder, name)| format!("{folder}/{name}"));
    let shown = joined.as_deref().unwrap_or(shown);
    Some(match shown.starts_with(['/', '~']) || cwd.is_empty() {
        true => shown.to_owned(),
        false => format!("{cwd}/{shown}"),
    })
}

pub(super) fn files(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept) {
    let truth = &source.truth;
    let names = |path: &str| names_file(&kept.text, path, &source.cwd, truth);
    for path in &truth.changed {
        sheet.note(Row::ModifiedRecall, names(path), || path.clone());
    }
    // What a shell wrote is no call of a tool that changes files; its command
    // must name the file.
    let in_a_command = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        truth.runs.iter().any(|run| run.command.contains(name))
    };
    for path in paths(kept, Section::Changed, &source.cwd) {
        let known = truth.changed.contains(&path) || in_a_command(&path);
        sheet.note(Row::ModifiedPrecision, known, || path.clone());
    }
    for path in paths(kept, Section::Read, &source.cwd) {
        // Folders stand there with counts.
        let folder = path.ends_with('/') && truth.read.iter().any(|read| read.starts_with(&path));
        let looked_at = truth.read.contains(&path) || truth.named.contains(&path);
        let known = folder || looked_at || in_a_command(&path);
        sheet.note(Row::PreciseRead, known, || path.clone());
    }
    let pointed = |path: &str| {
        let mut items = kept.sections.items(Section::Read);
        items.any(|item| {
            let listed = path_of(item, &source.cwd);
            item.is_rest()
                || listed.is_some_and(|folder| folder.ends_with('/') && path.starts_with(&folder))
        })
    };
    for path in &truth.read {
        let listed = names(path);
        sheet.note(Row::ReadOnlyListed, listed, || path.clone());
        sheet.note(Row::ReadOnly, listed || pointed(path), || path.clone());
    }
}

fn paths(kept: &Kept, section: Section, cwd: &str) -> Vec<String> {
    let items = kept.sections.items(section);
    items.filter_map(|item| path_of(item, cwd)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_longer_path_is_another_file() {
        assert!(contains_path("- src/a.rs (edited)", "src/a.rs"));
        assert!(contains_path("see src/a.rs.", "src/a.rs"));
        assert!(!contains_path("lib/src/a.rs", "src/a.rs"));
        assert!(!contains_path("src/a.rs.bak", "src/a.rs"));
        let mut truth = Truth::default();
        truth.changed.insert("/w/a.rs".into());
        assert!(names_file("- a.rs", "/w/a.rs", "/w", &truth));
        truth.read.insert("/w/sub/a.rs".into());
        assert!(!names_file("- a.rs", "/w/a.rs", "/w", &truth));
    }
}
