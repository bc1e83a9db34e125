//! The tables of the index.
//!
//! The index is derived: whatever it holds can be read again from the files
//! and sessions. So a layout that is too old is not converted but made anew.

use rusqlite::Connection;

use crate::text;

/// The layout, in `user_version`.
pub(super) const LAYOUT: i64 = 2;

const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE role (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    entry TEXT NOT NULL,
    kind INTEGER NOT NULL,
    role INTEGER,
    time INTEGER,
    position INTEGER NOT NULL,
    tongue INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (source, entry)
);
CREATE TABLE piece (
    record INTEGER NOT NULL,
    start INTEGER NOT NULL,
    line INTEGER NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (record, start)
) WITHOUT ROWID;
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    record INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    line INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    words INTEGER NOT NULL,
    hash INTEGER NOT NULL
);
CREATE INDEX chunk_of ON chunk (record);
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE vector (
    model INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (model, hash)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    tokens, content='', contentless_delete=1, tokenize='ascii'
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
    /// Nothing.
    Nothing,
}

pub(super) fn found(connection: &Connection) -> rusqlite::Result<Found> {
    let layout: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if layout > LAYOUT {
        return Ok(Found::Newer(layout));
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(Found::Nothing);
    }
    if layout < LAYOUT {
        return Ok(Found::Outdated);
    }
    let words = connection.query_row("SELECT value FROM meta WHERE name = 'words'", [], |row| {
        row.get::<_, i64>(0)
    })?;
    // Reading one row of each table finds a file whose pages are not what the
    // schema says; a full check would read it all.
    for table in ["source", "record", "piece", "chunk", "vector", "words_data"] {
        connection.query_row(
            &format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)"),
            [],
            |row| row.get::<_, i64>(0),
        )?;
    }
    Ok(if words == text::VERSION {
        Found::Ours
    } else {
        Found::Outdated
    })
}

pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let make = || -> rusqlite::Result<()> {
        // Another process may have been faster.
        if matches!(found(connection)?, Found::Ours) {
            return Ok(());
        }
        connection.execute_batch(TABLES)?;
        connection.execute(
            "INSERT INTO meta VALUES ('words', ?1), ('changes', 0), ('tongues', 1)",
            [text::VERSION],
        )?;
        connection.execute_batch(&format!("PRAGMA user_version = {LAYOUT}"))
    };
    match make() {
        Ok(()) => connection.execute_batch("COMMIT"),
        Err(error) => {
            let _ = connection.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}

/// Empties a file of an older layout.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let drop_all = || -> rusqlite::Result<()> {
        let names: Vec<String> = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'words_%'")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        for name in names {
            connection.execute_batch(&format!("DROP TABLE \"{}\"", name.replace('"', "\"\"")))?;
        }
        connection.execute_batch("PRAGMA user_version = 0")
    };
    match drop_all() {
        Ok(()) => connection.execute_batch("COMMIT"),
        Err(error) => {
            let _ = connection.execute_batch("ROLLBACK");
            Err(error)
        }
    }
}
