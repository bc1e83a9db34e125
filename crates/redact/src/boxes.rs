//! Secrets in tables that are drawn with the lines of a terminal: `│ token │ x │`.

use super::Redactor;
use super::markdown::{line, lone_word, trimmed, whole};
use super::names::Promise;
use super::value::Span;

/// The bars between the cells of a row.
const BARS: [&str; 3] = ["│", "┃", "║"];
/// No more of a table is read from its names.
const REACH: usize = 8_192;

impl Redactor {
    /// The secrets of the row whose first bar is at `at`, and of all rows below
    /// it if it stands at the top of a table.
    pub(super) fn boxed(&self, bytes: &[u8], at: usize) -> Vec<Span> {
        let is_bar = BARS
            .iter()
            .any(|bar| bytes[at..].starts_with(bar.as_bytes()));
        if !is_bar || !begins_line(bytes, at) {
            return Vec::new();
        }
        let head = line(bytes, at);
        let names = cells(bytes, at, head);
        let promise = |(start, end): &(usize, usize)| self.words(trimmed(&bytes[*start..*end]));
        let promises: Vec<Option<Promise>> = names.iter().map(promise).collect();
        if promises.iter().all(Option::is_none) {
            return Vec::new();
        }
        let next = at + head.len() + 1;
        let under = line(bytes, next);
        let tops = is_rule(under) && !closes(under) && is_first(bytes, at);
        let columns = match tops {
            true => below(bytes, next, &promises),
            false => Vec::new(),
        };
        if !columns.is_empty() {
            return columns;
        }
        let pairs = names.iter().skip(1).zip(&promises);
        let found = pairs.filter_map(|(cell, promise)| match tops {
            // A word may be the name of a column.
            true => whole(bytes, cell.0, cell.1, (*promise)?),
            false => secret(bytes, *cell, (*promise)?),
        });
        found.collect()
    }
}

/// The secrets in the rows below the line at `from`, by the names of their
/// columns.
fn below(bytes: &[u8], from: usize, promises: &[Option<Promise>]) -> Vec<Span> {
    let bytes = &bytes[..bytes.len().min(from + REACH)];
    let mut found = Vec::new();
    let mut next = from;
    while next < bytes.len() {
        let row = line(bytes, next);
        let cells = cells(bytes, next, row);
        if !is_rule(row) && cells.len() != promises.len() {
            break;
        }
        let named = cells.into_iter().zip(promises);
        found.extend(named.filter_map(|(cell, promise)| secret(bytes, cell, (*promise)?)));
        next += row.len() + 1;
    }
    found
}

/// The cell, if it is what its name promises.
fn secret(bytes: &[u8], cell: (usize, usize), promise: Promise) -> Option<Span> {
    let (start, end) = cell;
    whole(bytes, start, end, promise).or_else(|| match promise {
        Promise::Password => lone_word(bytes, start, end),
        Promise::Random | Promise::Perhaps => None,
    })
}

/// Whether nothing but blanks stands before `at` on its line.
fn begins_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().take(64);
    let mut before = before.skip_while(|b| matches!(b, b' ' | b'\t'));
    before.next().is_none_or(|b| *b == b'\n')
}

/// Whether no row and no line between rows stands above the row at `at`: only the
/// first one names the columns.
fn is_first(bytes: &[u8], at: usize) -> bool {
    const WIDEST: usize = 1_024;
    let floor = at.saturating_sub(WIDEST);
    let Some(end) = memchr::memrchr(b'\n', &bytes[floor..at]).map(|place| floor + place) else {
        return true;
    };
    let start = memchr::memrchr(b'\n', &bytes[floor..end]).map_or(floor, |place| floor + place + 1);
    let above = bytes[start..end].trim_ascii();
    let opens = ["┌", "╭", "╔", "┏"];
    let is_drawn = |signs: &[&str]| signs.iter().any(|sign| above.starts_with(sign.as_bytes()));
    is_drawn(&opens) || !(is_drawn(&BARS) || is_rule(above))
}

/// Whether a line is drawn between the rows of a table: `├───┼───┤`.
fn is_rule(line: &[u8]) -> bool {
    let text = std::str::from_utf8(line).unwrap_or_default().trim();
    let drawn = |c: char| matches!(c, '\u{2500}'..='\u{257f}') && !"│┃║".contains(c);
    text.chars().count() > 2 && text.chars().all(drawn)
}

/// Whether a line is drawn below the last row of a table.
fn closes(rule: &[u8]) -> bool {
    let rule = rule.trim_ascii_start();
    ["└", "╰", "╚", "┗"]
        .iter()
        .any(|corner| rule.starts_with(corner.as_bytes()))
}

/// Where the cells of a row begin and end, without the blanks around them.
fn cells(bytes: &[u8], at: usize, row: &[u8]) -> Vec<(usize, usize)> {
    let bars = memchr::memchr_iter(0xe2, row).filter(|place| {
        BARS.iter()
            .any(|bar| row[*place..].starts_with(bar.as_bytes()))
    });
    let bars: Vec<usize> = bars.map(|place| at + place).collect();
    let cell = |pair: &[usize]| {
        let from = pair[0] + BARS[0].len();
        let text = &bytes[from..pair[1]];
        let start = from + text.len() - text.trim_ascii_start().len();
        (start, start + text.trim_ascii().len())
    };
    bars.windows(2).map(cell).collect()
}
