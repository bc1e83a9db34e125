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
use longhaul_transcript::{EntryId, Place, SessionKey};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The form of what is kept.
const FORM: i64 = 1;
/// Bytes at the beginning of a file, which hold its header.
const HEAD: u64 = 4 * 1024;
/// Bytes before the place up to which a file was read.
const WINDOW: u64 = 64 * 1024;
/// Kilobytes of the database that are held.
const CACHE: i64 = 16_000;
/// Somebody else brings it up to date: then it is not worth waiting for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Where the survey of a session's file lies below a state folder.
pub fn place_of(state_dir: &Path, key: &SessionKey, file: &str) -> PathBuf {
    let hash = blake3::hash(file.as_bytes()).to_hex();
    let folder = state_dir.join("context/state").join(key.folder_name());
    folder.join(format!("survey-{}.sqlite", &hash[..10]))
}

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
             CREATE TABLE place (id TEXT, offset INTEGER, line INTEGER);
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

    /// Up to where a part was read.
    pub(super) fn upto(&self, name: &str) -> rusqlite::Result<Option<u64>> {
        let found =
            self.connection
                .query_row("SELECT upto FROM part WHERE name = ?1", [name], |row| {
                    row.get::<_, i64>(0)
                });
        Ok(found.optional()?.map(|upto| upto as u64))
    }

    /// A part, if it opens with the key.
    pub(super) fn part<T: DeserializeOwned>(
        &self,
        name: &str,
        key: &Key,
    ) -> rusqlite::Result<Option<T>> {
        let found =
            self.connection
                .query_row("SELECT body FROM part WHERE name = ?1", [name], |row| {
                    row.get::<_, Vec<u8>>(0)
                });
        Ok(found.optional()?.and_then(|sealed| {
            let packed = key.open(&sealed)?;
            let text = longhaul_files::unpack(&packed).ok()?;
            serde_json::from_slice(&text).ok()
        }))
    }

    pub(super) fn keep<T: Serialize>(
        &self,
        name: &str,
        upto: u64,
        key: &Key,
        part: &T,
    ) -> rusqlite::Result<()> {
        let failed = |error: io::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
        let text = serde_json::to_vec(part).map_err(|error| failed(error.into()))?;
        let packed = zstd::bulk::compress(&text, 1).map_err(failed)?;
        self.connection.execute(
            "REPLACE INTO part (name, upto, body) VALUES (?1, ?2, ?3)",
            params![name, upto as i64, key.seal(packed)],
        )?;
        Ok(())
    }

    /// Forgets all places.
    pub(super) fn forget(&self) -> rusqlite::Result<()> {
        self.connection
            .execute_batch("DROP INDEX IF EXISTS place_of_id; DELETE FROM place; DELETE FROM part")
    }

    pub(super) fn add(&self, id: &EntryId, place: Place) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("INSERT INTO place (id, offset, line) VALUES (?1, ?2, ?3)")?
            .execute(params![id.as_str(), place.offset as i64, place.line as i64])?;
        Ok(())
    }

    /// Sorts the places by id, at once, which is faster than one by one. Fails
    /// where an id is there twice.
    pub(super) fn sort(&self) -> rusqlite::Result<()> {
        self.connection
            .execute_batch("CREATE UNIQUE INDEX IF NOT EXISTS place_of_id ON place (id)")
    }

    /// The number of an entry in the order of the file, and where it stands.
    pub(super) fn number(&self, id: &str) -> rusqlite::Result<Option<(u64, Place)>> {
        self.connection
            .prepare_cached("SELECT rowid, offset, line FROM place WHERE id = ?1")?
            .query_row([id], |row| {
                let place = Place {
                    offset: row.get::<_, i64>(1)? as u64,
                    line: row.get::<_, i64>(2)? as u64,
                };
                Ok((row.get::<_, i64>(0)? as u64, place))
            })
            .optional()
    }

    /// Where an entry stands.
    pub(super) fn place(&self, id: &str) -> rusqlite::Result<Option<Place>> {
        Ok(self.number(id)?.map(|(_, place)| place))
    }

    /// The last entry that begins at or before an offset, so many before it: its
    /// number and place.
    pub(super) fn before(&self, offset: u64, count: u64) -> rusqlite::Result<Option<(u64, Place)>> {
        let mut rows = self
            .connection
            .prepare_cached("SELECT rowid, offset, line FROM place ORDER BY rowid DESC")?;
        let mut rows = rows.query([])?;
        let (mut found, mut left) = (None, count);
        while let Some(row) = rows.next()? {
            let place = Place {
                offset: row.get::<_, i64>(1)? as u64,
                line: row.get::<_, i64>(2)? as u64,
            };
            found = Some((row.get::<_, i64>(0)? as u64, place));
            if place.offset < offset {
                if left == 0 {
                    break;
                }
                left -= 1;
            }
        }
        Ok(found)
    }

    /// The ids that begin so, in the order of the file.
    pub(super) fn begun(&self, start: &str) -> rusqlite::Result<Vec<String>> {
        self.connection
            .prepare_cached("SELECT id FROM place WHERE id >= ?1 AND id < ?2 ORDER BY rowid")?
            .query_map([start, &format!("{start}\u{10ffff}")], |row| row.get(0))?
            .collect()
    }

    /// The ids that end so.
    pub(super) fn ended(&self, end: &str) -> rusqlite::Result<Vec<String>> {
        self.connection
            .prepare_cached(
                "SELECT id FROM place WHERE substr(id, -length(?1)) = ?1 ORDER BY rowid",
            )?
            .query_map([end], |row| row.get(0))?
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
