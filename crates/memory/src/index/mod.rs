//! The index: everything that can be searched, in one SQLite file.
//!
//! A derived artefact. It can be deleted at any time and is made anew from the
//! files and sessions; a damaged one is set aside and replaced. Several
//! processes may use it: readers never wait, writers take turns in short
//! transactions, so that an update that is interrupted anywhere has done some
//! records wholly and the others not at all, and goes on from there.

mod background;
mod error;
mod read;
mod record;
mod schema;
mod shape;
mod vectors;
mod workspace;
mod write;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul_transcript::durable;
use rusqlite::Connection;

pub use self::background::{Indexer, Indexing};
pub use self::error::IndexError;
pub use self::record::{
    Budget, Filters, Fusion, Hit, Hits, Mode, Passage, Progress, Query, Record, RecordKind, Status,
    Why,
};
pub(crate) use self::shape::{NOTHING, Shape};
pub use self::workspace::{Synced, WorkspaceFiles};

pub(crate) use self::vectors::Matrix;
use crate::chunk::ChunkSettings;
use crate::embed::Encoder;
use crate::redact::Redactor;
use crate::search::SearchSettings;
use crate::text::Stems;

/// What every way of keeping an index can do. A store for fleets will come
/// behind the same trait, so nothing here says where it is kept.
pub trait MemoryIndex: Send {
    /// Takes records in. What has not changed is not written again; what is
    /// taken in stays, whatever happens to the rest. `progress` hears of every
    /// transaction.
    fn update(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, IndexError>;

    /// Takes a source out with all its records; says how many there were.
    fn remove(&mut self, source: &str) -> Result<u64, IndexError>;

    /// The names of all sources that hold records of these kinds.
    fn sources(&mut self, kinds: &[RecordKind]) -> Result<Vec<String>, IndexError>;

    /// Makes vectors for chunks that have none of the active model; at most
    /// `chunks` of them. Says how many are still without.
    fn embed(&mut self, chunks: u64, progress: &mut dyn FnMut(u64, u64))
    -> Result<u64, IndexError>;

    /// Searches.
    fn search(&mut self, query: &Query) -> Result<Hits, IndexError>;

    /// A record by its key, whole or the given lines.
    fn get(&mut self, key: &str, lines: Option<(u32, u32)>) -> Result<Option<Passage>, IndexError>;

    /// What is in it.
    fn status(&mut self) -> Result<Status, IndexError>;
}

/// How an index is kept.
#[derive(Debug, Clone)]
pub struct IndexSettings {
    /// How texts are divided.
    pub chunks: ChunkSettings,
    /// How hits are ranked.
    pub search: SearchSettings,
    /// How long to wait for another process.
    pub patience: Duration,
    /// Finds the secrets that are never written.
    pub redactor: Redactor,
}

impl Default for IndexSettings {
    fn default() -> IndexSettings {
        IndexSettings {
            chunks: ChunkSettings::default(),
            search: SearchSettings::default(),
            patience: Duration::from_secs(10),
            redactor: Redactor::default(),
        }
    }
}

/// An index in a SQLite file.
pub struct SqliteIndex {
    path: PathBuf,
    connection: Connection,
    settings: IndexSettings,
    encoder: Option<Arc<dyn Encoder>>,
    stems: Stems,
    shape: Option<Arc<Shape>>,
    matrix: Option<Arc<Matrix>>,
    set_aside: Option<PathBuf>,
}

impl SqliteIndex {
    /// Opens or creates an index. A damaged file is set aside beside it; see
    /// [`SqliteIndex::set_aside`].
    pub fn open(path: &Path, settings: IndexSettings) -> Result<SqliteIndex, IndexError> {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            durable::create_folder(folder).map_err(|error| IndexError::Io {
                action: "create the folder of",
                path: path.to_owned(),
                source: std::io::Error::other(error),
            })?;
        }
        private(path)?;
        match connect(path, &settings) {
            Ok(connection) => Ok(SqliteIndex::with(path, connection, settings, None)),
            Err(IndexError::Damaged { .. }) => {
                let aside = set_aside(path)?;
                private(path)?;
                let connection = connect(path, &settings)?;
                Ok(SqliteIndex::with(path, connection, settings, Some(aside)))
            }
            Err(error) => Err(error),
        }
    }

    /// An index in memory, which is gone with it.
    pub fn in_memory(settings: IndexSettings) -> Result<SqliteIndex, IndexError> {
        let path = Path::new(":memory:");
        let connection = Connection::open_in_memory().map_err(IndexError::sqlite(path))?;
        schema::create(&connection).map_err(IndexError::sqlite(path))?;
        Ok(SqliteIndex::with(path, connection, settings, None))
    }

    /// Makes an index anew: what was there is deleted.
    pub fn rebuild(path: &Path, settings: IndexSettings) -> Result<SqliteIndex, IndexError> {
        for file in files_of(path) {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(IndexError::io("delete", &file)(error));
                }
                _ => {}
            }
        }
        SqliteIndex::open(path, settings)
    }

    fn with(
        path: &Path,
        connection: Connection,
        settings: IndexSettings,
        set_aside: Option<PathBuf>,
    ) -> SqliteIndex {
        SqliteIndex {
            path: path.to_owned(),
            connection,
            settings,
            encoder: None,
            stems: Stems::default(),
            shape: None,
            matrix: None,
            set_aside,
        }
    }

    /// Where a damaged index was put when this one was opened. Its content is
    /// to be indexed again.
    pub fn set_aside(&self) -> Option<&Path> {
        self.set_aside.as_deref()
    }

    /// The model that makes vectors from now on; none for words alone.
    /// Vectors of other models stay in the file but are not used.
    pub fn use_encoder(&mut self, encoder: Option<Arc<dyn Encoder>>) {
        self.encoder = encoder;
        self.matrix = None;
    }

    /// How hits are ranked from now on.
    pub fn use_search(&mut self, settings: SearchSettings) {
        self.settings.search = settings;
    }

    fn sqlite(&self) -> impl Fn(rusqlite::Error) -> IndexError + use<> {
        IndexError::sqlite(&self.path)
    }
}

impl MemoryIndex for SqliteIndex {
    fn update(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, IndexError> {
        self.write(records, budget, progress)
    }

    fn remove(&mut self, source: &str) -> Result<u64, IndexError> {
        self.take_out(source)
    }

    fn sources(&mut self, kinds: &[RecordKind]) -> Result<Vec<String>, IndexError> {
        self.names(kinds).map_err(self.sqlite())
    }

    fn embed(
        &mut self,
        chunks: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, IndexError> {
        self.make_vectors(chunks, progress)
    }

    fn search(&mut self, query: &Query) -> Result<Hits, IndexError> {
        let mut hits = self.find(query)?;
        hits.hits.truncate(query.k);
        hits.hits.retain(says_something);
        Ok(hits)
    }

    fn get(&mut self, key: &str, lines: Option<(u32, u32)>) -> Result<Option<Passage>, IndexError> {
        self.passage(key, lines).map_err(self.sqlite())
    }

    fn status(&mut self) -> Result<Status, IndexError> {
        self.counts().map_err(self.sqlite())
    }
}

/// Whether a hit has a word of the query, or a score that shows in the three
/// places scores are given in. Others fill a list that nothing else fills.
fn says_something(hit: &Hit) -> bool {
    !hit.why.terms.is_empty() || hit.score >= 0.0005
}

fn connect(path: &Path, settings: &IndexSettings) -> Result<Connection, IndexError> {
    let sqlite = IndexError::sqlite(path);
    let connection = Connection::open(path).map_err(&sqlite)?;
    let prepare = || -> rusqlite::Result<schema::Found> {
        connection.busy_timeout(settings.patience)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        // The index can be made again: a power cut may cost the last updates,
        // never the file.
        connection.pragma_update(None, "synchronous", "normal")?;
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "cache_size", -16_000)?;
        connection.set_prepared_statement_cache_capacity(64);
        schema::found(&connection)
    };
    match prepare().map_err(&sqlite)? {
        schema::Found::Ours => {}
        schema::Found::Newer(found) => {
            return Err(IndexError::Newer {
                path: path.to_owned(),
                found,
                known: schema::LAYOUT,
            });
        }
        schema::Found::Outdated => {
            schema::clear(&connection).map_err(&sqlite)?;
            schema::create(&connection).map_err(&sqlite)?;
        }
        schema::Found::Nothing => schema::create(&connection).map_err(&sqlite)?,
    }
    Ok(connection)
}

/// A new file is the user's alone; SQLite gives its other files the same mode.
fn private(path: &Path) -> Result<(), IndexError> {
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
        .open(path)
        .map(drop)
        .map_err(IndexError::io("open", path))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

fn files_of(path: &Path) -> [PathBuf; 3] {
    [
        path.to_owned(),
        with_suffix(path, "-wal"),
        with_suffix(path, "-shm"),
    ]
}

/// Renames a damaged index to the first free `.corrupt-<n>`.
fn set_aside(path: &Path) -> Result<PathBuf, IndexError> {
    let aside = (1..)
        .map(|n| with_suffix(path, &format!(".corrupt-{n}")))
        .find(|aside| !aside.exists())
        .expect("numbers do not end");
    fs::rename(path, &aside).map_err(IndexError::io("set aside", path))?;
    for file in &files_of(path)[1..] {
        let _ = fs::remove_file(file);
    }
    Ok(aside)
}

/// What a search needs of the file.
impl SqliteIndex {
    pub(crate) fn begin(&self) -> Result<(), IndexError> {
        self.connection
            .execute_batch("BEGIN")
            .map_err(self.sqlite())
    }

    pub(crate) fn end(&self) {
        // Nothing was written; a failure to end is seen by the next begin.
        let _ = self.connection.execute_batch("COMMIT");
    }

    pub(crate) fn database(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn failed(&self) -> impl Fn(rusqlite::Error) -> IndexError + use<> {
        self.sqlite()
    }

    pub(crate) fn stems(&mut self) -> &mut Stems {
        &mut self.stems
    }

    pub(crate) fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        self.encoder.clone()
    }

    pub(crate) fn search_settings(&self) -> &SearchSettings {
        &self.settings.search
    }

    /// The shape of the file as it is in the open transaction.
    pub(crate) fn shape_now(&mut self) -> Result<Arc<Shape>, IndexError> {
        let sqlite = self.sqlite();
        let changes: i64 = self
            .connection
            .prepare_cached("SELECT value FROM meta WHERE name = 'changes'")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(&sqlite)?;
        if let Some(shape) = self.shape.as_ref().filter(|shape| shape.changes == changes) {
            return Ok(shape.clone());
        }
        let shape = Arc::new(Shape::load(&self.connection, changes).map_err(&sqlite)?);
        self.shape = Some(shape.clone());
        Ok(shape)
    }
}
