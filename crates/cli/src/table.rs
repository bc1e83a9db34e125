//! Tables that fit the terminal.
//!
//! Widths are those of the screen: colours take no room, Chinese takes two
//! columns a character. When a table is too wide, columns that can be missed
//! are left out first; then long texts are cut.

use console::{measure_text_width, truncate_str};

use crate::failure::Result;
use crate::style::style;

/// A column's name and what may become of it on a narrow terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    head: &'static str,
    align: Align,
    /// Left out when there is no room, the highest rank first.
    rank: Option<u8>,
    /// Cut when there is no room, but not below this width.
    least: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

/// A column of words.
pub(crate) fn left(head: &'static str) -> Column {
    Column {
        head,
        align: Align::Left,
        rank: None,
        least: None,
    }
}

/// A column of numbers.
pub(crate) fn right(head: &'static str) -> Column {
    Column {
        align: Align::Right,
        ..left(head)
    }
}

impl Column {
    pub(crate) fn drop_rank(mut self, rank: u8) -> Column {
        self.rank = Some(rank);
        self
    }

    pub(crate) fn cut_to(mut self, least: usize) -> Column {
        self.least = Some(least);
        self
    }
}

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

const GAP: usize = 2;

impl Table {
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Table {
        Table {
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    pub(crate) fn print(&self, width: usize) -> Result {
        for line in self.lines(width) {
            say!("{line}")?;
        }
        Ok(())
    }

    fn lines(&self, width: usize) -> Vec<String> {
        let shown = self.fit(width);
        let heads = self
            .columns
            .iter()
            .map(|column| style(column.head).dim().to_string());
        let rows = std::iter::once(heads.collect()).chain(self.rows.clone());
        rows.map(|cells: Vec<String>| self.line(&cells, &shown))
            .collect()
    }

    /// The columns that are shown, each with its width.
    fn fit(&self, width: usize) -> Vec<(usize, usize)> {
        let natural: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let least = |at: usize| match self.columns[at].least {
            Some(least) => least.min(natural[at]),
            None => natural[at],
        };
        let mut shown: Vec<usize> = (0..natural.len())
            .filter(|at| !self.is_blank(*at))
            .collect();
        let needed = |shown: &[usize]| {
            let cells: usize = shown.iter().map(|at| least(*at)).sum();
            cells + GAP * shown.len().saturating_sub(1)
        };
        while needed(&shown) > width {
            let dropped = shown
                .iter()
                .copied()
                .filter(|at| self.columns[*at].rank.is_some());
            let Some(at) = dropped.max_by_key(|at| self.columns[*at].rank) else {
                break;
            };
            shown.retain(|other| *other != at);
        }
        let mut room = width.saturating_sub(needed(&shown));
        // The last column says most, so it is the first to get what is left.
        let fitted = shown.into_iter().rev().map(|at| {
            let more = room.min(natural[at] - least(at));
            room -= more;
            (at, least(at) + more)
        });
        let mut fitted: Vec<(usize, usize)> = fitted.collect();
        fitted.reverse();
        fitted
    }

    fn natural(&self, at: usize) -> usize {
        let cells = self.rows.iter().map(|row| measure_text_width(&row[at]));
        cells.fold(measure_text_width(self.columns[at].head), usize::max)
    }

    fn is_blank(&self, at: usize) -> bool {
        self.rows
            .iter()
            .all(|row| measure_text_width(&row[at]) == 0)
    }

    fn line(&self, cells: &[String], shown: &[(usize, usize)]) -> String {
        let mut line = String::new();
        for (nth, (at, width)) in shown.iter().enumerate() {
            if nth > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let cell = truncate_str(&cells[*at], *width, "…");
            let blank = " ".repeat(width.saturating_sub(measure_text_width(&cell)));
            let (first, second) = match self.columns[*at].align {
                Align::Left => (&*cell, &*blank),
                Align::Right => (&*blank, &*cell),
            };
            line.extend([first, second]);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([
            left("NAME"),
            right("SIZE").drop_rank(1),
            left("LABEL"),
            left("ABOUT").cut_to(8),
        ]);
        table.row([
            "one".into(),
            "12 kB".into(),
            String::new(),
            "日本語テキスト".into(),
        ]);
        table.row([
            "three".into(),
            "7 B".into(),
            String::new(),
            "plain words here".into(),
        ]);
        table
    }

    #[test]
    fn columns_line_up_by_what_the_screen_shows() {
        assert_eq!(
            table().lines(80),
            [
                "NAME    SIZE  ABOUT",
                "one    12 kB  日本語テキスト",
                "three    7 B  plain words here",
            ]
        );
    }

    #[test]
    fn narrow_tables_lose_columns_before_words() {
        assert_eq!(
            table().lines(16),
            ["NAME   ABOUT", "one    日本語テ…", "three  plain wo…"]
        );
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new([left("A"), left("B")]);
        table.row(["\u{1b}[31mred\u{1b}[0m".into(), "x".into()]);
        table.row(["plain".into(), "y".into()]);
        assert_eq!(
            table.lines(80),
            ["A      B", "\u{1b}[31mred\u{1b}[0m    x", "plain  y"]
        );
    }
}
