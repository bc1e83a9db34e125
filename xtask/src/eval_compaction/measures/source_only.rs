//! C12: nothing in the mechanical part that the source does not have.

use std::collections::BTreeSet;

use super::super::drive::Running;
use super::super::kept::Kept;
use super::super::score::{Row, Sheet};
use super::super::source::Source;

/// What stands between words.
const BETWEEN: &str = "`\"'(),“”…|[]{}<>;*=←→";
/// Ids that this program gives.
const OURS: [&str; 3] = ["round-", "forced-", "longhaul-"];

/// Every path, id and number of the mechanical part must stand in the source.
pub(super) fn fabrication(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept, session: &Running) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for line in kept.sections.mechanical.lines() {
        // How many more there are is counted, not quoted.
        if line.starts_with("- +") || line.starts_with("(relative to") {
            continue;
        }
        for token in line.split(|c: char| c.is_whitespace() || BETWEEN.contains(c)) {
            let token =
                token.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '-' | '\\'));
            let exact = token.len() >= 3
                && token.chars().any(|c| c.is_ascii_digit() || c == '/')
                && token.chars().any(char::is_alphanumeric);
            // `×3`, `+12` and `#4` are counts, not quoted.
            let is_count = token.contains('×') || token.starts_with(['#', '+']);
            if exact && !is_count {
                seen.insert(token);
            }
        }
    }
    for token in seen {
        let stands = match token.strip_prefix('·') {
            Some(id) => session
                .file
                .iter()
                .any(|entry| entry.id.as_str().contains(id)),
            None => {
                source
                    .texts
                    .iter()
                    .any(|(id, text)| text.contains(token) || id.as_str() == token)
                    || source.cwd.contains(token)
                    || OURS.iter().any(|kind| token.starts_with(kind))
                    || is_joined(source, token)
            }
        };
        sheet.note(Row::Fabrication, stands, || token.to_owned());
    }
}

/// A path put together from the working folder, or one a command went to, and
/// what was named there.
fn is_joined(source: &Source, token: &str) -> bool {
    let stands = |part: &str| source.texts.iter().any(|(_, text)| text.contains(part));
    token.match_indices('/').any(|(at, _)| {
        let (folder, name) = (&token[..at], &token[at + 1..]);
        let known = source.cwd.contains(folder) || stands(folder);
        !folder.is_empty() && !name.is_empty() && known && stands(name)
    })
}
