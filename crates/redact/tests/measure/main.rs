//! How much is found, and how much is taken for a secret that is none, over sets
//! that are generated from a seed and know nothing of the rules.
//!
//! `cargo test -p longhaul-redact --test measure -- --nocapture` prints the table;
//! `LONGHAUL_SHOW=ROW` every text of a row that is missed or taken wrongly. Each
//! row has a floor in `floors.txt`, below which the test fails.

#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod generate;
mod others;
mod secrets;
mod vendors;

use std::collections::BTreeMap;

use longhaul_redact::Redactor;

/// Texts of a row, and how many of them were changed as they should be.
type Rows = Vec<(String, usize, usize)>;

fn count(rows: &mut Rows, row: &str, right: bool) {
    match rows.iter_mut().find(|(name, ..)| name == row) {
        Some((_, all, found)) => (*all, *found) = (*all + 1, *found + usize::from(right)),
        None => rows.push((row.to_owned(), 1, usize::from(right))),
    }
}

/// Whether nothing is left of a secret by which it could be known.
fn is_gone(text: &str, secret: &str) -> bool {
    const LEFT: usize = 8;
    let letters: Vec<char> = secret.chars().collect();
    let mut pieces = letters.windows(letters.len().min(LEFT));
    !pieces.any(|piece| text.contains(&piece.iter().collect::<String>()))
}

fn show(row: &str, text: &str, redacted: &str) {
    if std::env::var("LONGHAUL_SHOW").is_ok_and(|shown| shown == row) {
        println!("{text:?}\n  {redacted:?}");
    }
}

fn print(title: &str, rows: &Rows) {
    println!("\n{title:<34}{:>7}{:>9}", "texts", "right %");
    for (row, all, right) in rows {
        println!(
            "{row:<34}{all:>7}{:>9.1}",
            100.0 * *right as f64 / *all as f64
        );
    }
    let all: usize = rows.iter().map(|(_, all, _)| all).sum();
    let right: usize = rows.iter().map(|(_, _, right)| right).sum();
    println!(
        "{:<34}{all:>7}{:>9.1}",
        "all",
        100.0 * right as f64 / all as f64
    );
}

/// Every row at its floor, and every floor with its row.
fn assert_floors(rows: &Rows) {
    let floors: BTreeMap<&str, f64> = include_str!("floors.txt")
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(row, floor)| (row.trim(), floor.parse().unwrap()))
        .collect();
    for (row, all, right) in rows {
        let share = 100.0 * *right as f64 / *all as f64;
        let floor = floors.get(row.as_str());
        assert!(
            floor.is_some_and(|floor| share >= *floor),
            "{row}: {share:.1} of {floor:?}"
        );
    }
}

#[test]
fn every_row_of_secrets_is_found_as_often_as_it_was() {
    let redactor = Redactor::default();
    let (mut rows, mut kinds) = (Rows::new(), Rows::new());
    for planted in secrets::planted() {
        let redacted = redactor.redact(&planted.text).text;
        let gone = is_gone(&redacted, &planted.secret);
        count(&mut rows, planted.row, gone);
        count(&mut kinds, &format!("value: {}", planted.kind), gone);
        if !gone {
            show(planted.row, &planted.text, &redacted);
        }
        assert_eq!(
            redactor.redact(&redacted).text,
            redacted,
            "redacting again changes nothing"
        );
    }
    print("secrets in a syntax", &rows);
    print("secrets of a kind", &kinds);
    assert_floors(&rows);
    assert_floors(&kinds);
}

#[test]
fn keys_of_vendors_are_found_by_their_form_alone_as_often_as_they_were() {
    let redactor = Redactor::default();
    let mut rows = Rows::new();
    for planted in vendors::planted() {
        let redacted = redactor.redact(&planted.text).text;
        let gone = is_gone(&redacted, &planted.key);
        count(&mut rows, &format!("key: {}", planted.row), gone);
        if !gone {
            show(planted.row, &planted.text, &redacted);
        }
    }
    print("keys of vendors", &rows);
    assert_floors(&rows);
}

#[test]
fn every_row_of_other_texts_is_left_alone_as_often_as_it_was() {
    let redactor = Redactor::default();
    let mut rows = Rows::new();
    for innocent in others::innocent() {
        let redacted = redactor.redact(&innocent.text).text;
        let kept = redacted == innocent.text;
        count(&mut rows, innocent.row, kept);
        if !kept {
            show(innocent.row, &innocent.text, &redacted);
        }
    }
    print("texts without a secret", &rows);
    assert_floors(&rows);
}
