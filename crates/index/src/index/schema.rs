//! The tables of the index.
//!
//! The index is derived: whatever it holds can be read again from the files
//! and sessions. So a layout that is too old is not converted but made anew.

use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension};

use super::INCREMENTAL;
use crate::text;

/// The layout, in `user_version`.
pub(super) const LAYOUT: i64 = 9;

// Texts and vectors lie in tables that are only ever appended to, in the order
// in which they come: a table kept in the order of a hash has a third of its
// pages empty, and one without row ids puts whatever has over a kilobyte on
// pages of its own. The id of a block is where among all texts it begins. The
// records of a source lie together in rows whose ids say whose they are; see
// `leaf` for how.
//
// Sources are found by a hash of their names, since an index of the names would
// hold them a second time. Roles and models are few and need none.
//
// Of pairs of characters only the chunk is kept: a script without spaces has
// one for each character, and their places would take more room than the text.
// FTS5 keeps no lengths, which we have, and is told the words of what is taken
// out, which it would otherwise note for each chunk that it may be. The words of
// a whole transaction have room in its memory: what it writes before the end of
// one it has to put together again.
const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    hash INTEGER NOT NULL,
    kinds INTEGER NOT NULL,
    stamp INTEGER
);
CREATE INDEX source_of ON source (hash);
CREATE TABLE role (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE leaf (
    id INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    records BLOB NOT NULL
);
CREATE TABLE block (
    id INTEGER PRIMARY KEY,
    bytes INTEGER NOT NULL,
    used INTEGER NOT NULL,
    text BLOB NOT NULL
);
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE vector (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    bits INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    vectors BLOB NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
    tokens, content='', columnsize=0, tokenize='ascii'
);
CREATE VIRTUAL TABLE pairs USING fts5 (
    tokens, content='', columnsize=0, tokenize='ascii', detail=none
);
INSERT INTO words (words, rank) VALUES ('hashsize', 8388608);
";

/// What was found in a file.
pub(super) enum Found {
    /// Tables of this layout.
    Ours,
    /// A layout that is too old, or words prepared in another way.
    Outdated,
    /// A layout that is too new.
    Newer(i64),
    /// Tables that are not ours.
    Foreign,
    /// Nothing.
    Nothing,
}

pub(super) fn found(connection: &Connection) -> rusqlite::Result<Found> {
    let layout: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    // Every layout has had these two; another program numbers its own as well.
    let (tables, ours): (i64, i64) = connection.query_row(
        "SELECT count(*), count(*) FILTER (WHERE type = 'table' AND name IN ('meta', 'words'))
         FROM sqlite_schema",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if tables == 0 && layout <= LAYOUT {
        return Ok(Found::Nothing);
    }
    if ours < 2 {
        return Ok(Found::Foreign);
    }
    if layout > LAYOUT {
        return Ok(Found::Newer(layout));
    }
    if layout < LAYOUT {
        return Ok(Found::Outdated);
    }
    let words: Option<i64> = connection
        .query_row("SELECT value FROM meta WHERE name = 'words'", [], |row| {
            row.get(0)
        })
        .optional()?;
    // Reading one row of each table finds a file whose pages are not what the
    // schema says; a full check would read it all.
    for table in [
        "source",
        "leaf",
        "block",
        "vector",
        "words_data",
        "pairs_data",
    ] {
        connection.query_row(
            &format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)"),
            [],
            |row| row.get::<_, i64>(0),
        )?;
    }
    Ok(if words == Some(text::VERSION) {
        Found::Ours
    } else {
        Found::Outdated
    })
}

/// Makes the tables in an empty file. Says whether it did: another process may
/// have been faster.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<bool> {
    let mut is_made = false;
    at_once(connection, || {
        if matches!(found(connection)?, Found::Ours) {
            return Ok(());
        }
        is_made = true;
        make(connection, 0, 0)
    })?;
    Ok(is_made)
}

/// Empties a file of whatever layout and makes the tables anew.
pub(super) fn renew(connection: &Connection) -> rusqlite::Result<()> {
    at_once(connection, || {
        // Who has the file open knows by these numbers that it changed and where
        // texts are, so they must not begin again. An older layout may not have
        // them.
        let number = |name: &str| {
            connection
                .query_row("SELECT value FROM meta WHERE name = ?1", [name], |row| {
                    row.get::<_, i64>(0)
                })
                .unwrap_or(0)
        };
        let (changes, end) = (number("changes"), number("end"));
        let names: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'words_%' AND name NOT LIKE 'pairs_%'")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for name in names {
            connection.execute_batch(&format!("DROP TABLE \"{}\"", name.replace('"', "\"\"")))?;
        }
        make(connection, changes.wrapping_add(1), end)?;
        // Whoever searches it before it is filled again is told so.
        mark_filling(connection)
    })
}

/// Notes that not everything is in it.
pub(super) fn mark_filling(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .execute("INSERT OR REPLACE INTO meta VALUES ('filling', 1)", [])
        .map(drop)
}

fn make(connection: &Connection, changes: i64, end: i64) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.execute(
        "INSERT INTO meta VALUES ('words', ?1), ('changes', ?2), ('tongues', 1),
         ('end', ?3), ('stored', 0), ('dead', 0), ('left', 0),
         ('chunk', 1)",
        [text::VERSION, changes, end],
    )?;
    connection.execute_batch(&format!("PRAGMA user_version = {LAYOUT}"))
}

/// All of it or nothing.
fn at_once(
    connection: &Connection,
    work: impl FnOnce() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    match work() {
        Ok(()) => connection.execute_batch("COMMIT"),
        Err(error) => {
            let _ = connection.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}

/// A file of fewer pages is not worth the work.
const FEW_PAGES: i64 = 32;

/// Empties the log of what was written, which stays as long as the longest
/// transaction ever was. Where another process is at work, that can wait.
pub(super) fn shorten_log(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.busy_timeout(patience)?;
    match emptied {
        Err(error)
            if !matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull)
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Gives pages back to the disk where more than a fiftieth of them are free.
/// Where another process is at work, or there is no room to do it, it can
/// wait for the next time.
pub(super) fn give_back(connection: &Connection) -> rusqlite::Result<()> {
    let number = |pragma: &str| -> rusqlite::Result<i64> {
        connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
    };
    let (pages, free) = (number("page_count")?, number("freelist_count")?);
    if pages < FEW_PAGES || free * 50 <= pages {
        return Ok(());
    }
    let work = || -> rusqlite::Result<()> {
        if number("auto_vacuum")? == INCREMENTAL {
            // It gives back a page a row.
            let mut statement = connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
        } else {
            // A file from before: this makes it one that can do the above.
            connection.execute_batch("VACUUM")?;
        }
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    };
    match work() {
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull)
            ) =>
        {
            Ok(())
        }
        done => done,
    }
}
