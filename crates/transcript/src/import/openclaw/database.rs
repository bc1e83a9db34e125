//! OpenClaw's per-agent SQLite database, read and never touched.
//!
//! The database belongs to a gateway that may be running. A connection is
//! therefore opened for each operation and closed after it: no read
//! transaction outlives an operation, which would keep the gateway from
//! checkpointing, and each operation sees whether the gateway has come or gone.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::rows::Rows;
use crate::entry::{Entry, EntryId};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::header::Header;
use crate::import::{Importer, Listed, Probe};
use crate::load::Loaded;
use crate::native::Native;
use crate::session::{Format, SessionRef, Source, Tail};
use crate::time::Millis;
use crate::tree::Tree;

/// Importer of OpenClaw's databases.
pub(crate) struct Databases;

const BUSY: Duration = Duration::from_millis(1500);

const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

impl Importer for Databases {
    fn format(&self) -> Format {
        Format::OpenClawSqlite
    }

    /// Any SQLite file: what is wrong with another one is said when it is
    /// opened, which is more helpful than "binary data".
    fn recognises(&self, probe: &Probe<'_>) -> bool {
        probe.head.starts_with(SQLITE_MAGIC)
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>> {
        let listed = self.list(path)?;
        Ok(listed.into_iter().map(|listed| listed.reference).collect())
    }

    fn list(&self, path: &Path) -> Result<Vec<Listed>> {
        let bytes = std::fs::metadata(path)
            .map_err(Error::io("read", path))?
            .len();
        let connection = connect(path)?;
        let nodes = has_table(&connection, "session_nodes").map_err(database(path))?;
        let keys = if nodes {
            "SELECT current_session_id AS id, session_key AS key, updated_at FROM session_nodes"
        } else {
            "SELECT NULL AS id, NULL AS key, NULL AS updated_at WHERE 0"
        };
        let query = format!(
            "WITH last AS (SELECT session_id, max(seq) AS seq FROM transcript_events \
                 GROUP BY session_id), \
             node AS ({keys}) \
             SELECT last.session_id, node.key, \
                 coalesce(node.updated_at, event.created_at) AS updated FROM last \
             JOIN transcript_events AS event \
                 ON event.session_id = last.session_id AND event.seq = last.seq \
             LEFT JOIN node ON node.id = last.session_id \
             ORDER BY updated DESC, last.session_id, node.key"
        );
        let read = || -> rusqlite::Result<Vec<Listed>> {
            let mut statement = connection.prepare(&query)?;
            let rows = statement.query_map([], |row| {
                Ok(Listed {
                    reference: SessionRef {
                        path: path.to_owned(),
                        session: Some(row.get(0)?),
                        key: row.get(1)?,
                        format: Format::OpenClawSqlite,
                    },
                    modified: row.get::<_, Option<i64>>(2)?.map(Millis),
                    bytes,
                })
            })?;
            rows.collect()
        };
        read().map_err(database(path))
    }

    fn open(&self, at: &SessionRef) -> Result<Box<dyn Source>> {
        let session = match &at.session {
            Some(session) => session.clone(),
            None => self
                .sessions(&at.path)?
                .into_iter()
                .find_map(|listed| listed.session)
                .ok_or_else(|| Error::Empty {
                    path: at.path.clone(),
                })?,
        };
        let rows = Rows::open(&at.path, &session)?;
        let mut native = Native::new(&at.path, rows)?;
        if native.header.version == 0 {
            // Without a header row the file's name stands in as the id.
            native.header.id = session;
        }
        Ok(Box::new(native))
    }
}

impl Source for Native<Rows> {
    fn format(&self) -> Format {
        Format::OpenClawSqlite
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        Native::each(self, visit)
    }

    fn tree(&self) -> Result<Tree> {
        Native::tree(self)
    }

    fn load(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        Native::load(self, leaf)
    }

    fn tail(&self, max_bytes: u64) -> Result<Tail> {
        Native::tail(self, max_bytes)
    }
}

/// Opens a database for one operation.
pub(super) fn connect(path: &Path) -> Result<Connection> {
    for file in ["", "-wal", "-shm", "-journal"] {
        longhaul_files::require_regular(&beside(path, file))?;
    }
    // SQLite refuses links anywhere in a path; those of the folders are the user's.
    let real = longhaul_files::resolve_folder(path)?;
    let connection = open_read_only(&real).map_err(database(path))?;
    if !has_table(&connection, "transcript_events").map_err(database(path))? {
        return Err(Error::UnknownFormat {
            path: path.to_owned(),
            reason: "an SQLite database without OpenClaw's transcript_events".into(),
        });
    }
    Ok(connection)
}

/// While a gateway has its database open there is a `-wal` file, and a read
/// must go through it. Without one nobody has it open, and opening it the
/// usual way would create `-wal` and `-shm` beside it and leave them there
/// when the folder does not let us remove them; `immutable` creates nothing.
/// It would be wrong for a live database, whose pages change under the read.
fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let wal = beside(path, "-wal");
    if !wal.exists() {
        return open_uri(path, "immutable=1");
    }
    match open_uri(path, "mode=ro") {
        // A left-over empty log in a folder that we may not write to: the log
        // index cannot be made, and nothing is in the log.
        Err(_) if std::fs::metadata(&wal).is_ok_and(|meta| meta.len() == 0) => {
            open_uri(path, "immutable=1")
        }
        other => other,
    }
}

fn open_uri(path: &Path, mode: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri(path, mode), flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "query_only", true)?;
    // The first read tells whether the file can be read at all.
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The path as SQLite's URI. Only what cannot be mistaken for a part of the
/// URI stays as it is.
fn uri(path: &Path, mode: &str) -> String {
    let mut uri = String::from("file:");
    let text = path.to_string_lossy();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b':' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push('?');
    uri.push_str(mode);
    uri
}

fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection
        .query_row(
            "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?1",
            [name],
            |_| Ok(()),
        )
        .optional()
        .map(|found| found.is_some())
}

pub(super) fn database(path: &Path) -> impl FnOnce(rusqlite::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Database { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_special_characters_stay_one_path() {
        assert_eq!(
            uri(Path::new("/tmp/a b?mode=rwc#x%20é.sqlite"), "mode=ro"),
            "file:/tmp/a%20b%3Fmode%3Drwc%23x%2520%C3%A9.sqlite?mode=ro"
        );
    }
}
