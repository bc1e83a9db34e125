//! Where a survey is kept: one small database beside the session's state.
//!
//! Its parts hold what people said, secrets included, so each is sealed with a
//! key that is made from the session's file itself: from its identity, its first
//! bytes and the last 64 KB that were read. Whoever has the file has the words
//! anyway; who has only the survey has nothing, also after the session was
//! deleted. And a part that opens belongs to this file, read up to there.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_files::Identity;
use longhaul_transcript::{EntryId, Place, Session};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The form of what is kept.
const FORM: i64 = 2;
/// Bytes at the beginning of a file, which hold its header.
const HEAD: u64 = 4 * 1024;
/// Bytes before the place up to which a file was read.
const WINDOW: u64 = 64 * 1024;
/// Kilobytes of the database that are held.
const CACHE: i64 = 16_000;
/// Somebody else brings it up to date: then it is not worth waiting for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The key of what was read of a file up to an offset.
pub(super) struct Key([u8; blake3::KEY_LEN]);

impl Key {
    /// None where the file is shorter than that, or cannot be read.
    pub(super) fn of(path: &Path, upto: u64, form: &str) -> Option<Key> {
        let read = || -> io::Result<Option<Key>> {
            let mut file = longhaul_files::open(path).map_err(|error| error.into_io())?;
            let meta = file.metadata()?;
            if meta.len() < upto {
                return Ok(None);
            }
            let mut hasher = blake3::Hasher::new_derive_key("longhaul 2026 survey of a session");
            let identity = Identity::of(&meta);
            hasher.update(format!("{identity:?} {upto} {form}").as_bytes());
            let window = upto.saturating_sub(WINDOW)..upto;
            for part in [0..HEAD.min(upto), window] {
                file.seek(SeekFrom::Start(part.start))?;
                let length = part.end - part.start;
                let read = io::copy(&mut (&mut file).take(length), &mut hasher)?;
                if read < length {
                    return Ok(None);
                }
            }
            Ok(Some(Key(*hasher.finalize().as_bytes())))
        };
        read().ok().flatten()
    }

    /// What shows whose key it is, and opens nothing.
    pub(super) fn mark(&self) -> String {
        blake3::derive_key("longhaul 2026 mark of a session", &self.0)[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// What is sealed: its hash, and the bytes under a stream made from both.
    fn seal(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let hash = blake3::keyed_hash(&self.0, &bytes);
        self.mask(&hash, &mut bytes);
        let mut sealed = hash.as_bytes().to_vec();
        sealed.append(&mut bytes);
        sealed
    }

    fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (hash, bytes) = sealed.split_first_chunk::<{ blake3::OUT_LEN }>()?;
        let hash = blake3::Hash::from_bytes(*hash);
        let mut bytes = bytes.to_vec();
        self.mask(&hash, &mut bytes);
        (blake3::keyed_hash(&self.0, &bytes) == hash).then_some(bytes)
    }

    fn mask(&self, hash: &blake3::Hash, bytes: &mut [u8]) {
        let key = blake3::derive_key("longhaul 2026 stream of a survey", &self.0);
        let mut hasher = blake3::Hasher::new_keyed(&key);
        hasher.update(hash.as_bytes());
        let mut stream = vec![0; bytes.len()];
        hasher.finalize_xof().fill(&mut stream);
        bytes.iter_mut().zip(stream).for_each(|(b, s)| *b ^= s);
    }
}

/// The parts of a survey and the places of a session's entries.
#[derive(Debug)]
pub(super) struct Store {
    connection: Connection,
    file: Option<PathBuf>,
}

impl Store {
    /// One that is gone when it is dropped.
    pub(super) fn in_memory() -> rusqlite::Result<Store> {
        let store = Store {
            connection: Connection::open_in_memory()?,
            file: None,
        };
        store.prepare()?;
        Ok(store)
    }

    /// The one in a file, which is made where there is none.
    pub(super) fn in_file(path: &Path) -> rusqlite::Result<Store> {
        if let Some(folder) = path.parent() {
            longhaul_files::create_folder(folder).map_err(refused)?;
        }
        // Only the user may read it.
        match longhaul_files::create(path, b"") {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(refused(error));
            }
            Err(_) => longhaul_files::require_regular(path).map_err(refused)?,
            Ok(_) => {}
        }
        let mut journal = path.as_os_str().to_owned();
        journal.push("-journal");
        let journal = longhaul_files::require_regular(Path::new(&journal));
        longhaul_files::optional(journal).map_err(refused)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let folder = path.parent().unwrap_or(Path::new("."));
        let whole = folder
            .canonicalize()
            .map_err(|error| refused(longhaul_files::Error::io("open", path)(error)))?;
        let whole = whole.join(path.file_name().unwrap_or_default());
        let connection = Connection::open_with_flags(&whole, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.pragma_update(None, "cache_size", -CACHE)?;
        let store = Store {
            connection,
            file: Some(path.to_owned()),
        };
        let form: i64 = store
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))?;
        if form != FORM {
            store.prepare()?;
        }
        Ok(store)
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             DROP TABLE IF EXISTS part;
             DROP TABLE IF EXISTS place;
             CREATE TABLE part (name TEXT PRIMARY KEY, upto INTEGER, body BLOB) WITHOUT ROWID;
             CREATE TABLE place (id TEXT, parent TEXT, offset INTEGER, line INTEGER);
             PRAGMA user_version = {FORM};
             COMMIT"
        ))
    }

    /// Whether it outlives the process.
    pub(super) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    pub(super) fn begin(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")
    }

    pub(super) fn commit(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("COMMIT")
    }

    pub(super) fn rollback(&self) {
        let _ = self.connection.execute_batch("ROLLBACK");
    }

    /// What is kept of a session, and up to where it was read, if that opens with
    /// the key of what the file has there.
    pub(super) fn kept<T: DeserializeOwned>(
        &self,
        session: &Session,
        name: &str,
        form: &str,
    ) -> rusqlite::Result<Option<(u64, T)>> {
        let found = self.connection.query_row(
            "SELECT upto, body FROM part WHERE name = ?1",
            [name],
            |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, Vec<u8>>(1)?)),
        );
        Ok(found.optional()?.and_then(|(upto, sealed)| {
            let packed = Key::of(session.path(), upto, form)?.open(&sealed)?;
            let text = longhaul_files::unpack(&packed).ok()?;
            Some((upto, serde_json::from_slice(&text).ok()?))
        }))
    }

    /// Keeps a part that was read up to there.
    pub(super) fn keep<T: Serialize>(
        &self,
        session: &Session,
        name: &str,
        form: &str,
        upto: u64,
        part: &T,
    ) -> rusqlite::Result<()> {
        let Some(key) = Key::of(session.path(), upto, form) else {
            return Ok(());
        };
        let failed = |error: io::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
        let text = serde_json::to_vec(part).map_err(|error| failed(error.into()))?;
        let packed = zstd::bulk::compress(&text, 1).map_err(failed)?;
        self.connection.execute(
            "REPLACE INTO part (name, upto, body) VALUES (?1, ?2, ?3)",
            params![name, upto as i64, key.seal(packed)],
        )?;
        Ok(())
    }

    pub(super) fn forget_places(&self) -> rusqlite::Result<()> {
        self.connection
            .execute_batch("DROP INDEX IF EXISTS place_of_id; DELETE FROM place")
    }

    pub(super) fn add(
        &self,
        id: &EntryId,
        parent: Option<&EntryId>,
        place: Place,
    ) -> rusqlite::Result<()> {
        let parent = parent.map(EntryId::as_str);
        self.connection
            .prepare_cached("INSERT INTO place (id, parent, offset, line) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                id.as_str(),
                parent,
                place.offset as i64,
                place.line as i64
            ])?;
        Ok(())
    }

    /// Sorts the places by id, at once, which is faster than one by one. Fails
    /// where an id is there twice.
    pub(super) fn sort(&self) -> rusqlite::Result<()> {
        self.connection
            .execute_batch("CREATE UNIQUE INDEX IF NOT EXISTS place_of_id ON place (id)")
    }

    /// The number of an entry in the order of the file, and where it stands.
    pub(super) fn number(&self, id: &EntryId) -> rusqlite::Result<Option<(u64, Place)>> {
        self.connection
            .prepare_cached("SELECT rowid, offset, line FROM place WHERE id = ?1")?
            .query_row([id.as_str()], numbered)
            .optional()
    }

    /// The number of an entry, and what it follows.
    pub(super) fn link(&self, id: &EntryId) -> rusqlite::Result<Option<(u64, Option<EntryId>)>> {
        self.connection
            .prepare_cached("SELECT rowid, parent FROM place WHERE id = ?1")?
            .query_row([id.as_str()], |row| {
                let parent: Option<String> = row.get(1)?;
                Ok((row.get::<_, i64>(0)? as u64, parent.map(EntryId::new)))
            })
            .optional()
    }

    /// The last entry that begins before an offset, so many before it: its number
    /// and place.
    pub(super) fn before(&self, offset: u64, count: u64) -> rusqlite::Result<Option<(u64, Place)>> {
        let sql = "SELECT rowid, offset, line FROM place WHERE rowid >= ifnull(
            (SELECT rowid FROM place WHERE offset < ?1 ORDER BY rowid DESC LIMIT 1), 0) - ?2
            ORDER BY rowid LIMIT 1";
        self.connection
            .prepare_cached(sql)?
            .query_row(params![offset as i64, count as i64], numbered)
            .optional()
    }

    /// The ids that begin or end so, in any case, in the order of the file.
    pub(super) fn named(&self, part: &str) -> rusqlite::Result<Vec<EntryId>> {
        let sql = "SELECT id FROM place WHERE substr(id, 1, length(?1)) = ?1 COLLATE NOCASE
            OR substr(id, -length(?1)) = ?1 COLLATE NOCASE ORDER BY rowid";
        self.connection
            .prepare_cached(sql)?
            .query_map([part], |row| Ok(EntryId::new(row.get::<_, String>(0)?)))?
            .collect()
    }

    /// The ids next to one in their order.
    pub(super) fn neighbours(&self, id: &str) -> rusqlite::Result<[Option<String>; 2]> {
        let mut found = [None, None];
        for (at, query) in [
            "SELECT id FROM place WHERE id < ?1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM place WHERE id > ?1 ORDER BY id LIMIT 1",
        ]
        .into_iter()
        .enumerate()
        {
            let mut query = self.connection.prepare_cached(query)?;
            found[at] = query.query_row([id], |row| row.get(0)).optional()?;
        }
        Ok(found)
    }
}

fn numbered(row: &rusqlite::Row<'_>) -> rusqlite::Result<(u64, Place)> {
    let place = Place {
        offset: row.get::<_, i64>(1)? as u64,
        line: row.get::<_, i64>(2)? as u64,
    };
    Ok((row.get::<_, i64>(0)? as u64, place))
}

/// Whether a file is no survey, or one that was damaged.
pub(super) fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error {
        rusqlite::Error::SqliteFailure(error, _) => {
            matches!(error.code, DatabaseCorrupt | NotADatabase)
                || error.extended_code == rusqlite::ffi::SQLITE_ERROR
        }
        rusqlite::Error::InvalidColumnType(..) => true,
        _ => false,
    }
}

/// Whether an id is there twice.
pub(super) fn is_twice(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// Takes away what is damaged, so that it is made anew.
pub(super) fn discard(path: &Path) {
    let mut journal = path.as_os_str().to_owned();
    journal.push("-journal");
    let _ = longhaul_files::remove(Path::new(&journal));
    let _ = longhaul_files::remove(path);
}

fn refused(error: longhaul_files::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into_io().into())
}
