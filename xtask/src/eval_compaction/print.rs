//! Figures for people: a table a window, or one for the book.

use super::score::{Row, Scores};
use crate::table::Table;

/// One row a measure, one column a window.
pub(super) fn markdown(scores: &Scores, sessions: usize) {
    let windows = scores.windows();
    let mut rows: Vec<Row> = windows
        .iter()
        .flat_map(|window| scores.rows(*window).map(|(row, _)| row))
        .collect();
    rows.sort();
    rows.dedup();
    let columns: Vec<String> = windows.iter().map(u32::to_string).collect();
    println!("{sessions} sessions.\n");
    println!("| measure | must reach | {} |", columns.join(" | "));
    println!("|---|---|{}", "---|".repeat(windows.len()));
    for row in rows {
        let mut musts: Vec<String> = windows
            .iter()
            .map(|window| row.show_must(*window))
            .collect();
        musts.dedup();
        let cells: Vec<String> = windows
            .iter()
            .map(|window| {
                let figure = scores.rows(*window).find(|(of, _)| *of == row);
                figure.map_or(String::new(), |(_, figure)| {
                    let value = figure.sum.value();
                    let missed = row.must(*window).is_some_and(|must| value < must);
                    let mark = if missed { " (not reached)" } else { "" };
                    format!("{}{mark}", row.show(value))
                })
            })
            .collect();
        println!(
            "| {} | {} | {} |",
            row.name(),
            musts.join(", "),
            cells.join(" | ")
        );
    }
}

/// A table a window, and what was missed.
pub(super) fn tables(scores: &Scores, misses: usize) {
    for window in scores.windows() {
        let mut table = Table::new([
            &format!("window {window}"),
            "measured",
            "of",
            "must reach",
            "",
            "worst case",
        ]);
        for (row, figure) in scores.rows(window) {
            let share = figure.sum;
            let verdict = match row.must(window) {
                None => "",
                Some(must) if share.value() >= must => "reached",
                Some(_) => "NOT REACHED",
            };
            table.row([
                row.name().to_owned(),
                row.show(share.value()),
                share.all.to_string(),
                row.show_must(window),
                verdict.to_owned(),
                figure.worst().map_or(String::new(), |(case, share)| {
                    format!("{case}: {}/{}", share.good, share.all)
                }),
            ]);
        }
        println!("{table}");
    }
    for (window, row, _) in scores.failed() {
        let Some((_, figure)) = scores.rows(window).find(|(of, _)| *of == row) else {
            continue;
        };
        println!(
            "{} at {window}: {} missed",
            row.name(),
            figure.sum.all - figure.sum.good
        );
        for (case, what) in figure.misses.iter().take(misses) {
            println!("  {case}: {what}");
        }
    }
}
