//! The tables of the index.
//!
//! The index is derived: whatever it holds can be read again from the files
//! and sessions. So a layout that is too old is not converted but made anew.

use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension};

use crate::text;

/// How SQLite numbers the way in which free pages are given back.
pub(super) const INCREMENTAL: i64 = 2;

/// The layout, in `user_version`.
pub(super) const LAYOUT: i64 = 12;

// Texts lie apart from what every search reads of a chunk. The chunks of a record
// have numbers one behind the other. FTS5 keeps no text; pairs of characters, of
// which a script without spaces has one for each character, have no places, which
// would take more room than the text.
const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, stamp INTEGER, note TEXT);
CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    entry TEXT NOT NULL,
    kind INTEGER NOT NULL,
    role TEXT,
    time INTEGER,
    position INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    first INTEGER NOT NULL,
    chunks INTEGER NOT NULL
);
CREATE UNIQUE INDEX record_of ON record (source, entry);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    start INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    line INTEGER NOT NULL,
    last INTEGER NOT NULL,
    words INTEGER NOT NULL,
    hash INTEGER NOT NULL
);
CREATE TABLE text (id INTEGER PRIMARY KEY, text NOT NULL);
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE vector (
    model INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    scale REAL NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, hash)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    tokens, content='', contentless_delete=1, tokenize='ascii'
);
CREATE VIRTUAL TABLE pairs USING fts5 (
    tokens, content='', contentless_delete=1, tokenize='ascii', detail=none
);
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
        "record",
        "chunk",
        "text",
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
        make(connection, 0)
    })?;
    Ok(is_made)
}

/// Empties a file of whatever layout and makes the tables anew.
pub(super) fn renew(connection: &Connection) -> rusqlite::Result<()> {
    at_once(connection, || {
        // Who has the file open knows by this number that it changed, so it must not
        // begin again. An older layout may not have it.
        let changes: i64 = connection
            .query_row("SELECT value FROM meta WHERE name = 'changes'", [], |row| {
                row.get(0)
            })
            .unwrap_or(0);
        let names: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'words_%' AND name NOT LIKE 'pairs_%'")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for name in names {
            connection.execute_batch(&format!("DROP TABLE \"{}\"", name.replace('"', "\"\"")))?;
        }
        make(connection, changes.wrapping_add(1))?;
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

fn make(connection: &Connection, changes: i64) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.execute(
        "INSERT INTO meta VALUES ('words', ?1), ('changes', ?2), ('languages', 1)",
        [text::VERSION, changes],
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
