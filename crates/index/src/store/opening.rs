//! Opening the file of an index: to be written, to be read, or another in its place.

use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_files::Sharing;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::place::{self, Identity};
use super::schema;
use crate::error::IndexError;
use crate::settings::IndexSettings;

/// Opens the file that has the name now.
pub(super) fn opened(
    path: &Path,
    settings: &IndexSettings,
) -> Result<(Connection, Identity), IndexError> {
    let had_users = place::had_users(path);
    let _lock = place::lock(path, Sharing::Shared)?;
    place::private(path)?;
    let (connection, is_new) = connect(path, settings)?;
    // Somebody deleted or emptied it by hand: what was in it is missing until all
    // is taken in again.
    if is_new && had_users {
        schema::mark_filling(&connection).map_err(IndexError::sqlite(path))?;
    }
    Ok((connection, place::identity(path)))
}

/// Opens the file only to be read, without a lock, which would have to be written;
/// none where there is no index that could be used.
pub(super) fn looked_at(path: &Path, patience: Duration) -> Result<Option<Connection>, IndexError> {
    let sqlite = IndexError::sqlite(path);
    let connection = reading(path).map_err(&sqlite)?;
    connection.busy_timeout(patience).map_err(&sqlite)?;
    connection
        .pragma_update(None, "temp_store", "memory")
        .map_err(&sqlite)?;
    match found(path, &connection)? {
        schema::Found::Ours => Ok(Some(connection)),
        // Whoever writes next makes it anew.
        _ => Ok(None),
    }
}

/// Where even the files that its users share cannot be made, nobody is writing to
/// it either.
fn reading(path: &Path) -> rusqlite::Result<Connection> {
    use ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    let flags = place::FLAGS | OpenFlags::SQLITE_OPEN_READ_ONLY;
    let open = |behind: &str| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(place::uri(path, behind), flags)?;
        connection.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
        Ok(connection)
    };
    open("").or_else(|error| match error.sqlite_error_code() {
        Some(CannotOpen | ReadOnly) => open("?immutable=1"),
        // A full disk, which has no room for them.
        Some(SystemIoFailure | DiskFull) if !place::has_log(path) => open("?immutable=1"),
        _ => Err(error),
    })
}

/// What is in a file that may be used.
fn found(path: &Path, connection: &Connection) -> Result<schema::Found, IndexError> {
    match schema::found(connection).map_err(IndexError::sqlite(path))? {
        schema::Found::Newer(found) => Err(IndexError::Newer {
            path: path.to_owned(),
            found,
            known: schema::LAYOUT,
        }),
        // Whoever put it there may miss it: it is set aside, not emptied.
        schema::Found::Foreign => Err(IndexError::Damaged {
            path: path.to_owned(),
            reason: String::from("it has the tables of another program"),
        }),
        found => Ok(found),
    }
}

/// Sets a damaged file aside and makes another, unless somebody else was
/// faster: then theirs is opened. `damaged` is the file that was found so;
/// without it, whether opening it fails decides.
pub(super) fn replaced(
    path: &Path,
    settings: &IndexSettings,
    damaged: Identity,
) -> Result<(Connection, Identity, Option<PathBuf>), IndexError> {
    let lock = place::lock(path, Sharing::Alone)?;
    place::private(path)?;
    let now = place::identity(path);
    let mut aside = None;
    let still_there = damaged.is_some() && damaged == now;
    let found = match still_there {
        true => None,
        false => match connect(path, settings) {
            Err(IndexError::Damaged { .. }) => None,
            connected => Some(connected?.0),
        },
    };
    let connection = match found {
        Some(connection) => connection,
        None => {
            aside = Some(place::set_aside(path, &lock)?);
            place::private(path)?;
            let (connection, _) = connect(path, settings)?;
            // What was in the other is missing until all is taken in again.
            schema::mark_filling(&connection).map_err(IndexError::sqlite(path))?;
            connection
        }
    };
    Ok((connection, place::identity(path), aside))
}

pub(super) fn prepared(path: &Path, settings: &IndexSettings) -> Result<Connection, IndexError> {
    let sqlite = IndexError::sqlite(path);
    let flags = place::FLAGS | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(place::uri(path, ""), flags).map_err(&sqlite)?;
    let prepare = || -> rusqlite::Result<()> {
        connection.busy_timeout(settings.patience)?;
        // Before anything is written, or it is too late for this file. To say it
        // again takes the lock, for which a reader would have to wait.
        if connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0))
            != Ok(schema::INCREMENTAL)
        {
            connection.pragma_update(None, "auto_vacuum", schema::INCREMENTAL)?;
        }
        connection.pragma_update(None, "journal_mode", "wal")?;
        // The index can be made again: a power cut may cost the last updates,
        // never the file.
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "cache_size", -64_000)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    prepare().map_err(&sqlite)?;
    Ok(connection)
}

/// A file that was opened, and whether there was nothing in it.
fn connect(path: &Path, settings: &IndexSettings) -> Result<(Connection, bool), IndexError> {
    let sqlite = IndexError::sqlite(path);
    let connection = prepared(path, settings)?;
    let mut is_new = false;
    match found(path, &connection)? {
        schema::Found::Outdated => schema::renew(&connection).map_err(&sqlite)?,
        schema::Found::Nothing => is_new = schema::create(&connection).map_err(&sqlite)?,
        _ => {}
    }
    Ok((connection, is_new))
}
