//! Places that give a secret away: the rows of `places.txt`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use super::judge::{Evidence, is_path, is_secret};
use super::names::Promise;
use super::shape::{Shape, decoded, is_example};
use super::span::Span;
use super::value::floor;
use super::{Kind, Redactor};

/// How the value of a row is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judged {
    As(Promise, Evidence),
    Token,
    Login,
    Any,
}

/// Where a row's pattern is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Here,
    Line,
}

struct Place {
    id: &'static str,
    kind: Kind,
    judged: Judged,
    scope: Scope,
    keywords: Vec<String>,
    pattern: Regex,
}

impl Place {
    fn read(line: &'static str) -> Option<Place> {
        let mut rest = line;
        let mut column = || {
            let (column, behind) = rest.split_once(' ')?;
            rest = behind.trim_start();
            Some(column)
        };
        let (id, kind) = (column()?, Kind::named(column()?)?);
        let judged = match column()? {
            "password" => Judged::As(Promise::Password, Evidence::Quoted),
            "bare" => Judged::As(Promise::Password, Evidence::Bare),
            "prose" => Judged::As(Promise::Password, Evidence::Prose),
            "key" => Judged::As(Promise::Key, Evidence::Quoted),
            "token" => Judged::Token,
            "login" => Judged::Login,
            "any" => Judged::Any,
            _ => return None,
        };
        let scope = match column()? {
            "here" => Scope::Here,
            "line" => Scope::Line,
            _ => return None,
        };
        let keywords = column()?
            .split('|')
            .map(|word| word.replace('_', " "))
            .collect();
        let pattern = match scope {
            Scope::Here => format!("^(?:{rest})"),
            Scope::Line => rest.to_owned(),
        };
        let pattern = RegexBuilder::new(&pattern).unicode(false).build().ok()?;
        Some(Place {
            id,
            kind,
            judged,
            scope,
            keywords,
            pattern,
        })
    }

    fn takes(&self, text: &str) -> bool {
        if text.contains("[redacted:") {
            return false;
        }
        match self.judged {
            Judged::As(promise, evidence) => is_secret(text, promise, evidence),
            Judged::Token => is_token(text.as_bytes()),
            Judged::Login => is_login(text.as_bytes()),
            Judged::Any => !is_example(text.as_bytes()) || self.kind == Kind::SeedPhrase,
        }
    }
}

/// Whether a text behind a header's scheme is a token, and no word of a sentence.
fn is_token(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    let mixed =
        shape.letters() > 0 && (shape.digits > 0 || shape.is_cased() && bytes.ends_with(b"="));
    let uncased = shape.digits > 1 || shape.is_cased();
    mixed && uncased && shape.distinct >= 8 && !is_example(bytes) && !is_path(bytes)
}

/// Whether a text is a user and a password in base64, as Docker and npm keep
/// them.
fn is_login(bytes: &[u8]) -> bool {
    let Some(text) = decoded(bytes) else {
        return false;
    };
    let colon = memchr::memchr(b':', &text);
    let parted = colon.is_some_and(|colon| colon > 0 && colon + 1 < text.len());
    parted && text.iter().all(u8::is_ascii_graphic)
}

struct Places {
    rows: Vec<Place>,
    keywords: AhoCorasick,
    /// The row of each keyword.
    owners: Vec<usize>,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let lines = include_str!("places.txt").lines();
    let rows: Vec<Place> = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(Place::read)
        .collect();
    let of_row = |(at, row): (usize, &'_ Place)| vec![at; row.keywords.len()];
    let owners = rows.iter().enumerate().flat_map(of_row).collect();
    let keywords = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(rows.iter().flat_map(|row| &row.keywords))
        .expect("the keywords are few");
    Places {
        rows,
        keywords,
        owners,
    }
});

/// The ids of the rows.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    PLACES.rows.iter().map(|row| row.id)
}

impl Redactor {
    /// Every value whose place gives it away.
    pub(crate) fn placed_values(&self, text: &str, found: &mut Vec<Span>) {
        /// How far around a keyword its line is read.
        const REACH: usize = 512;
        const AHEAD: usize = 8_192;
        let Places {
            rows,
            keywords,
            owners,
        } = &*PLACES;
        let mut read = vec![0; rows.len()];
        for hit in keywords.find_overlapping_iter(text) {
            let owner = owners[hit.pattern().as_usize()];
            let (row, done) = (&rows[owner], &mut read[owner]);
            if hit.start() < *done || self.off.contains(row.id) {
                continue;
            }
            let (from, to) = match row.scope {
                Scope::Here => {
                    let before = hit.start().checked_sub(1).map(|at| text.as_bytes()[at]);
                    let goes_on = before.is_some_and(|b| b.is_ascii_alphanumeric());
                    let word = text.as_bytes()[hit.start()].is_ascii_alphanumeric();
                    if goes_on && word && !is_escape(text, hit.start()) {
                        continue;
                    }
                    (hit.start(), floor(text, hit.start() + AHEAD))
                }
                Scope::Line => {
                    let from = floor(text, hit.start().saturating_sub(REACH));
                    let line = text[from..hit.start()]
                        .rfind('\n')
                        .map_or(from, |at| from + at + 1);
                    (line, floor(text, hit.start() + REACH))
                }
            };
            for groups in row.pattern.captures_iter(&text.as_bytes()[from..to]) {
                let Some(value) = groups.get(1) else { continue };
                let start = from + value.start();
                let Some(inner) = text.get(start..from + value.end()) else {
                    continue;
                };
                // A full stop ends the sentence.
                let inner = match row.judged {
                    Judged::As(_, Evidence::Prose | Evidence::Bare) => {
                        inner.trim_end_matches(['.', ':', '?'])
                    }
                    _ => inner,
                };
                if row.takes(inner) {
                    found.push(Span {
                        kind: row.kind,
                        start,
                        end: start + inner.len(),
                    });
                }
            }
            if row.scope == Scope::Line {
                *done = (*done).max(hit.start() + REACH / 2);
            }
        }
    }
}

/// Whether what stands before a word is the letter of an escape: `\n`, `%3D`.
pub(crate) fn is_escape(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let colour = || {
        let rest = before.strip_suffix(b"m").unwrap_or_default();
        let digits = rest
            .iter()
            .rev()
            .take(20)
            .take_while(|b| b.is_ascii_digit() || **b == b';');
        let digits = digits.count();
        rest[..rest.len() - digits].ends_with(b"[")
    };
    let hex = |length: usize| {
        before.len() > length
            && before[before.len() - length..]
                .iter()
                .all(u8::is_ascii_hexdigit)
    };
    matches!(before, [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f'])
        || hex(2) && before[before.len() - 3] == b'%'
        || hex(4) && before[..before.len() - 4].ends_with(b"\\u")
        || colour()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let lines = include_str!("places.txt").lines();
        for line in lines.filter(|line| !line.starts_with('#')) {
            let row = Place::read(line);
            assert!(
                row.is_some_and(|row| row.pattern.captures_len() == 2),
                "{line}"
            );
        }
    }
}
