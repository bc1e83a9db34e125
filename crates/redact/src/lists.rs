//! Secrets in rows: the lists of YAML, the columns of tables. What stands at
//! the top is the name of everything below it.

use super::markdown::{cell_name, in_bold, is_rule, line, lone_word, trimmed, whole};
use super::names::{Promise, plain_name};
use super::promised::is_word_of_programs;
use super::shape::{Shape, is_example};
use super::value::{Span, blanks};
use super::words::is_ordinary;
use super::{Kind, Redactor};

/// No more of a list or table is read from its name.
const REACH: usize = 4_096;

impl Redactor {
    /// The items of the list of YAML below the `:` at `at`, those that are what
    /// its name promises.
    pub(super) fn items(&self, bytes: &[u8], at: usize, name: &[u8]) -> Vec<Span> {
        let mut next = at + 1 + blanks(bytes, at + 1);
        next += usize::from(bytes.get(next) == Some(&b'\r'));
        if bytes.get(next) != Some(&b'\n') {
            return Vec::new();
        }
        let Some(promise) = self.promise(name).filter(|one| *one != Promise::Perhaps) else {
            return Vec::new();
        };
        // A `password` may have rules below it, such as `required`.
        let plural = is_plural(name);
        let most = bytes.len().min(at + REACH);
        let mut indent = None;
        let mut found = Vec::new();
        next += 1;
        while next < most {
            let own = blanks(bytes, next);
            let row = line(&bytes[..most], next);
            if *indent.get_or_insert(own) != own || !row[own.min(row.len())..].starts_with(b"- ") {
                break;
            }
            let start = next + own + 2;
            let start = start + blanks(bytes, start);
            let end = next + row.trim_ascii_end().len();
            let text = bytes.get(start..end).unwrap_or_default();
            // A name of its own.
            if text.ends_with(b":") {
                break;
            }
            let item = whole(bytes, start, end, promise);
            found.extend(item.or_else(|| (plural && is_item(text)).then(|| unquoted(start, text))));
            next += row.len() + 1;
        }
        found
    }

    /// The cells below the name of a secret at the top of a table, whose bar is
    /// at `at`. The first such name of a row speaks for all of them.
    pub(super) fn columns(&self, bytes: &[u8], at: usize) -> Vec<Span> {
        if cell_name(bytes, at)
            .and_then(|name| self.words(name))
            .is_none()
        {
            return Vec::new();
        }
        let before = &bytes[at.saturating_sub(REACH)..at];
        let begin = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
        let top = at - (before.len() - begin);
        let head = line(bytes, top);
        let mut next = top + head.len() + 1;
        let rule = line(bytes, next.min(bytes.len()));
        if !is_rule(rule) {
            return Vec::new();
        }
        let names = cells(bytes, top, head);
        let promises: Vec<Option<Promise>> = names
            .iter()
            .map(|(start, end)| self.words(trimmed(&bytes[*start..*end])))
            .collect();
        let first = promises.iter().position(Option::is_some);
        let is_first = first.is_some_and(|first| {
            let gap = bytes.get(names[first].1..at);
            gap.is_some_and(|gap| gap.trim_ascii().is_empty())
        });
        if !is_first {
            return Vec::new();
        }
        next += rule.len() + 1;
        let most = bytes.len().min(top + REACH);
        let mut found = Vec::new();
        while next < most {
            let row = line(&bytes[..most], next);
            // A second rule means another table, which has a name of its own;
            // so no row is read from many names.
            if !row.contains(&b'|') || is_rule(row) {
                break;
            }
            for ((start, end), promise) in cells(bytes, next, row).into_iter().zip(&promises) {
                let Some(promise) = *promise else { continue };
                let secret = in_bold(&bytes[..end], start, promise)
                    .or_else(|| whole(bytes, start, end, promise));
                found.extend(secret.or_else(|| match promise {
                    Promise::Password => lone_word(bytes, start, end),
                    Promise::Random | Promise::Perhaps => None,
                }));
            }
            next += row.len() + 1;
        }
        found
    }
}

/// Whether a name is that of several passwords, and so of a list of them.
pub(super) fn is_plural(name: &[u8]) -> bool {
    plain_name(name).ends_with("passwords")
}

/// Where the cells of a row begin and end, without the spaces around them.
fn cells(bytes: &[u8], at: usize, row: &[u8]) -> Vec<(usize, usize)> {
    let inner = row.trim_ascii();
    let mut from = at + blanks(bytes, at);
    let inner = match inner.strip_prefix(b"|") {
        Some(inner) => {
            from += 1;
            inner
        }
        None => inner,
    };
    let inner = inner.strip_suffix(b"|").unwrap_or(inner);
    let mut found = Vec::new();
    for cell in inner.split(|b| *b == b'|') {
        let start = from + cell.len() - cell.trim_ascii_start().len();
        let end = from + cell.trim_ascii_end().len();
        found.push((start.min(end), end));
        from += cell.len() + 1;
    }
    found
}

/// Whether an item of a list of passwords is one: a single word of any kind
/// that refers to nothing and is no example.
fn is_item(text: &[u8]) -> bool {
    let bare = bare(text);
    let Some(first) = bare.first() else {
        return false;
    };
    let refers = !(first.is_ascii_alphanumeric() || matches!(first, b'!' | b'#' | b'_' | b'-'));
    let one = bare
        .iter()
        .all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`' | b':' | b'{' | b'}'));
    let nothing = [&b"none"[..], b"null", b"true", b"false", b"any", b"all"]
        .iter()
        .any(|word| bare.eq_ignore_ascii_case(word));
    (3..=128).contains(&bare.len())
        && one
        && !refers
        && !nothing
        && Shape::of(bare).distinct > 2
        && !(bare.len() > 5 && is_example(bare))
        && !is_ordinary(bare)
        && !is_word_of_programs(bare)
}

fn bare(text: &[u8]) -> &[u8] {
    match text {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner,
        _ => text,
    }
}

fn unquoted(start: usize, text: &[u8]) -> Span {
    let inner = bare(text);
    let start = start + usize::from(inner.len() < text.len());
    Span {
        kind: Kind::Password,
        start,
        end: start + inner.len(),
    }
}
