//! Values whose name stands at the top of their column or in the first cell of
//! their row: tables of Markdown and of databases, separated and aligned values,
//! and what a statement inserts. The grammar reads on from a name; here other
//! names and values stand between it and its own.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::Redactor;
use super::judge::{Evidence, is_secret};
use super::names::{self, Promise};
use super::span::Span;

/// Rows of a table that are read, and cells of one.
const ROWS: usize = 10_000;
const CELLS: usize = 64;
/// No line with the heads of columns is longer.
const LINE: usize = 2_000;

/// What parts the cells of a box.
const BARS: [char; 3] = ['│', '┃', '║'];

/// A cell's place in the text, without blanks, marks and quotes around it.
type Cell = (usize, usize);

/// What parts the cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parted {
    By(char),
    /// The lines of a box.
    Bars,
    /// Two blanks and more.
    Blanks,
}

impl Parted {
    fn of(line: &str) -> Option<Parted> {
        let sign = ['|', '\t', ';', ',']
            .into_iter()
            .find(|sign| line.contains(*sign));
        match sign {
            _ if line.contains(BARS) => Some(Parted::Bars),
            // In a sentence a blank stands behind it.
            Some(sign @ (',' | ';'))
                if line.contains([sign, ' '].iter().collect::<String>().as_str()) =>
            {
                None
            }
            Some(sign) => Some(Parted::By(sign)),
            None => line.trim().contains("  ").then_some(Parted::Blanks),
        }
    }

    /// The cells of the line that begins at `start`.
    fn cells(self, line: &str, start: usize) -> Vec<Cell> {
        let mut cells = Vec::new();
        let mut push = |from: usize, to: usize| {
            let text = &line[from..to];
            let around = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\'');
            let lead = text.len() - text.trim_start_matches(around).len();
            let inner = text.trim_matches(around);
            cells.push((start + from + lead, start + from + lead + inner.len()));
        };
        match self {
            Parted::By(_) | Parted::Bars => {
                let parts = |c: char| match self {
                    Parted::By(sign) => c == sign,
                    _ => BARS.contains(&c),
                };
                let mut from = 0;
                for part in line.split(parts).take(CELLS) {
                    push(from, from + part.len());
                    from += part.len();
                    from += line[from..].chars().next().map_or(0, char::len_utf8);
                }
            }
            Parted::Blanks => {
                let mut from = line.len() - line.trim_start().len();
                while from < line.len() && cells_left(from, line) {
                    let to = line[from..].find("  ").map_or(line.len(), |at| from + at);
                    push(from, to);
                    from = to + (line[to..].len() - line[to..].trim_start().len());
                    if from == to {
                        break;
                    }
                }
            }
        }
        cells
    }
}

fn cells_left(from: usize, line: &str) -> bool {
    !line[from..].trim().is_empty()
}

impl Redactor {
    /// Every value of a column or a row whose name announces one.
    pub(crate) fn columns(&self, text: &str, found: &mut Vec<Span>) {
        let mut at = 0;
        while let Some(hit) = STEMS.find(&text[at..]) {
            let start = text[at..at + hit.start()]
                .rfind('\n')
                .map_or(at, |end| at + end + 1);
            let line = text[start..]
                .split_inclusive('\n')
                .next()
                .unwrap_or_default();
            at = start + line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            if line.len() > LINE {
                continue;
            }
            let Some(parted) = Parted::of(line) else {
                continue;
            };
            let cells = parted.cells(line, start);
            let framed = line.trim_start().starts_with(['|', '│', '┃', '║']);
            if parted == Parted::Blanks && is_inner_line(text, start, cells.len()) {
                continue;
            }
            let mut end = at;
            for (column, cell) in cells.iter().enumerate() {
                let Some(promise) = self.heads(text, *cell) else {
                    continue;
                };
                let before = found.len();
                end = end.max(self.below(
                    text,
                    at,
                    parted,
                    (column, *cell, cells.len()),
                    promise,
                    found,
                ));
                if found.len() == before && framed {
                    beside(text, &cells, column, promise, found);
                }
            }
            // No row of a table is the head of another one.
            at = end;
        }
    }

    /// What a cell promises if it is a name and nothing more.
    fn heads(&self, text: &str, (start, end): Cell) -> Option<Promise> {
        const LONGEST: usize = 40;
        let name = text.get(start..end)?;
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
        // Tests `pass`.
        let other = name.is_empty() || name.eq_ignore_ascii_case("pass");
        if name.len() > LONGEST || other || !name.chars().all(part) {
            return None;
        }
        names::promise(&name.replace(' ', "_"), &self.names)
    }

    /// Reads the lines below a head, and gives where they end.
    fn below(
        &self,
        text: &str,
        at: usize,
        parted: Parted,
        (column, head, count): (usize, Cell, usize),
        promise: Promise,
        found: &mut Vec<Span>,
    ) -> usize {
        let (mut at, mut any, mut end) = (at, false, at);
        let head_line = text[..head.0].rfind('\n').map_or(0, |place| place + 1);
        let offset = text[head_line..head.0].chars().count();
        for line in text[at..].split_inclusive('\n').take(ROWS) {
            let start = at;
            at += line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            let rule =
                !line.trim().is_empty() && line.chars().all(|c| " |+-=:│├┼┤─┃╠╬╣═┡╇┩━".contains(c));
            if rule {
                any = true;
                end = at;
                continue;
            }
            // `password | sha256sum` is a command.
            if parted == Parted::By('|')
                && !any
                && line.contains(" | ")
                && !line.trim_start().starts_with('|')
            {
                break;
            }
            let cells = parted.cells(line, start);
            let cell = match parted {
                Parted::By(_) | Parted::Bars if cells.len() == count && count > 1 => cells[column],
                // By where it stands, since a cell may be empty.
                Parted::Blanks if cells.len() > 1 || count == 1 => {
                    let place = |cell: &&Cell| text[start..cell.0].chars().count() == offset;
                    match cells.iter().find(place) {
                        Some(cell) => *cell,
                        None if cells.len() == count => cells[column],
                        None => break,
                    }
                }
                _ => break,
            };
            let value = &text[cell.0..cell.1];
            let evidence = match parted {
                Parted::Blanks => Evidence::Line,
                Parted::By(_) | Parted::Bars => Evidence::Quoted,
            };
            if self.heads(text, cell).is_some() && !any {
                break;
            }
            any = true;
            end = at;
            if !value.contains(' ') && is_secret(value, promise, evidence) {
                found.push(Span {
                    kind: promise.kind(),
                    start: cell.0,
                    end: cell.1,
                });
            }
        }
        end
    }

    /// What a statement inserts into the columns whose names announce one.
    pub(crate) fn inserted(&self, text: &str, found: &mut Vec<Span>) {
        static INSERT: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?is)\binsert\s+into\s+[^\s(]+\s*\(([^()]{1,600})\)\s*values\s*")
                .expect("it is valid")
        });
        static ROW: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?s)^[\s,]*\(((?:[^()']|'[^']*'|\([^()]*\)){0,2000})\)")
                .expect("it is valid")
        });
        static STRING: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^\s*N?'([^']*)'\s*$").expect("it is valid"));
        for insert in INSERT.captures_iter(text) {
            let (Some(whole), Some(columns)) = (insert.get(0), insert.get(1)) else {
                continue;
            };
            let promises: Vec<Option<Promise>> = columns
                .as_str()
                .split(',')
                .map(|name| {
                    names::promise(
                        name.trim_matches(|c: char| !c.is_alphanumeric()),
                        &self.names,
                    )
                })
                .collect();
            let mut at = whole.end();
            while let Some(row) = ROW.captures(&text[at..]).and_then(|groups| groups.get(1)) {
                let mut from = at + row.start();
                for (promise, value) in promises.iter().zip(row.as_str().split(',')) {
                    if let (Some(promise), Some(string)) =
                        (promise, STRING.captures(value).and_then(|g| g.get(1)))
                        && is_secret(string.as_str(), *promise, Evidence::Quoted)
                    {
                        let start = from + string.start();
                        found.push(Span {
                            kind: promise.kind(),
                            start,
                            end: from + string.end(),
                        });
                    }
                    from += value.len() + 1;
                }
                at += row.end() + 1;
            }
        }
    }
}

/// The value in the cell behind its name: `| password | x |`.
fn beside(text: &str, cells: &[Cell], column: usize, promise: Promise, found: &mut Vec<Span>) {
    let first = cells[..column].iter().all(|cell| cell.0 == cell.1);
    let Some((start, end)) = cells.get(column + 1).filter(|_| first) else {
        return;
    };
    let value = &text[*start..*end];
    if !value.contains(' ') && is_secret(value, promise, Evidence::Quoted) {
        found.push(Span {
            kind: promise.kind(),
            start: *start,
            end: *end,
        });
    }
}

/// Whether the line before has as many cells, so that this one is not the first.
fn is_inner_line(text: &str, start: usize, count: usize) -> bool {
    let before = text[..start].trim_end_matches(['\n', '\r']);
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    start > before.len()
        && start - before.len() <= 2
        && Parted::Blanks.cells(line, 0).len() == count
}

/// Where the head of a column may stand.
static STEMS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(["pass", "pwd", "secret", "token", "key", "cred"])
        .expect("the stems are few")
});
