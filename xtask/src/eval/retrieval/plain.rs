//! Plain BM25: FTS5 as it comes, with its own stemmer and its own order, asked for
//! any word of the question. What ranks with more care has to do better.

use std::collections::HashMap;
use std::time::Instant;

use rusqlite::Connection;

use super::score::{Scores, Sums};
use super::{DEPTH, distinct};
use crate::Result;
use crate::sets::{Group, Question};

pub(super) fn measured(groups: &[Group]) -> Result<Scores> {
    let mut sums = Sums::default();
    for group in groups {
        let plain = Connection::open_in_memory()?;
        plain.execute_batch(
            "CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61'); BEGIN",
        )?;
        for (at, record) in (0i64..).zip(&group.records) {
            let sql = "INSERT INTO t (rowid, text) VALUES (?1, ?2)";
            plain
                .prepare_cached(sql)?
                .execute(rusqlite::params![at, record.text])?;
        }
        plain.execute_batch("COMMIT")?;
        for question in group.asked() {
            let start = Instant::now();
            let hits = found(&plain, group, question)?;
            sums.took(start.elapsed());
            let hits: Vec<(&str, &str)> = hits
                .iter()
                .map(|at| {
                    let record = &group.records[*at];
                    (
                        question.name_of(&record.source, &record.entry),
                        &*record.text,
                    )
                })
                .collect();
            sums.add(
                &distinct(hits.iter().map(|(name, _)| *name)),
                question,
                &hits,
            );
        }
    }
    Ok(sums.finish())
}

/// The records that have a word of the question, the best first.
fn found(plain: &Connection, group: &Group, question: &Question) -> Result<Vec<usize>> {
    let words = question.text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    let any: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    if any.is_empty() {
        return Ok(Vec::new());
    }
    let order: HashMap<&str, u64> = group
        .order
        .iter()
        .map(|(session, at)| (session.as_str(), *at))
        .collect();
    let was_there = |at: &usize| {
        let session = group.records[*at].source.as_str();
        question
            .as_of
            .is_none_or(|as_of| order.get(session).is_some_and(|at| *at < as_of))
    };
    let sql = "SELECT rowid FROM t WHERE t MATCH ?1 ORDER BY rank, rowid";
    let mut statement = plain.prepare_cached(sql)?;
    let rows = statement.query_map([any.join(" OR ")], |row| row.get::<_, i64>(0))?;
    let rows: Vec<i64> = rows.collect::<rusqlite::Result<_>>()?;
    let rows = rows.into_iter().map(|row| row as usize);
    Ok(rows.filter(was_there).take(DEPTH).collect())
}
