//! The index: everything that can be searched, in one SQLite file.
//!
//! A derived artefact. It can be deleted at any time and is made anew from the
//! files and sessions; a damaged one is set aside and replaced. Several
//! processes may use it: readers never wait, writers take turns in short
//! transactions, so that an update that is interrupted anywhere has done some
//! records wholly and the others not at all, and goes on from there.

mod background;
mod current;
mod error;
mod hash;
mod place;
mod read;
mod record;
mod schema;
mod shape;
mod stamp;
mod vectors;
mod workspace;
mod write;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

pub use self::background::{Indexer, Indexing, Waits};
pub use self::current::{Behind, Condition};
pub use self::error::IndexError;
use self::error::Unwritable;
use self::place::Identity;
pub use self::record::{
    Budget, Filters, Fusion, Hit, Hits, Kept, Mode, Passage, Progress, Query, Record, RecordKind,
    Status, Why,
};
pub(crate) use self::shape::{NOTHING, Shape};
pub use self::stamp::Looks;
pub use self::workspace::{DEPTH, Synced, Unseen, WorkspaceFiles};

pub(crate) use self::vectors::Matrix;
use crate::chunk::ChunkSettings;
use crate::embed::Encoder;
use crate::redaction::Redaction;
use crate::search::SearchSettings;
use crate::text::{self, Stems};

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

    /// Takes these records of a source out; says how many there were.
    fn remove_entries(
        &mut self,
        source: &str,
        entries: &HashSet<String>,
    ) -> Result<u64, IndexError>;

    /// The entries of a source that are in it.
    fn entries(&mut self, source: &str) -> Result<HashSet<String>, IndexError>;

    /// The names of all sources that hold records of these kinds.
    fn sources(&mut self, kinds: &[RecordKind]) -> Result<Vec<String>, IndexError>;

    /// The model that makes vectors from now on; none for words alone.
    fn use_encoder(&mut self, encoder: Option<Arc<dyn Encoder>>);

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
    /// Takes the secrets out that are never written.
    pub redaction: Redaction,
}

impl IndexSettings {
    /// The defaults, with what keeps secrets out.
    pub fn new(redaction: Redaction) -> IndexSettings {
        IndexSettings {
            chunks: ChunkSettings::default(),
            search: SearchSettings::default(),
            patience: Duration::from_secs(10),
            redaction,
        }
    }
}

/// An index in a SQLite file.
pub struct SqliteIndex {
    path: PathBuf,
    connection: Connection,
    settings: IndexSettings,
    identity: Identity,
    encoder: Option<Arc<dyn Encoder>>,
    stems: Stems,
    shape: Option<Arc<Shape>>,
    matrix: Option<Arc<Matrix>>,
    set_aside: Option<PathBuf>,
    /// Why it could only be opened to be read, if so.
    unwritable: Option<Unwritable>,
}

impl SqliteIndex {
    /// Opens or creates an index. A damaged file is set aside beside it; see
    /// [`SqliteIndex::set_aside`].
    pub fn open(path: &Path, settings: IndexSettings) -> Result<SqliteIndex, IndexError> {
        place::create_folder_of(path)?;
        place::require_regular(path)?;
        let (connection, identity) = match opened(path, &settings) {
            Err(IndexError::Damaged { .. }) => {
                let (connection, identity, aside) = replaced(path, &settings, None)?;
                let index = SqliteIndex::with(path, connection, settings, identity);
                return Ok(SqliteIndex {
                    set_aside: aside,
                    ..index
                });
            }
            // What is there can be searched where nothing can be written.
            Err(error) => {
                let Some(unwritable) = Unwritable::by(&error) else {
                    return Err(error);
                };
                let connection = looked_at(path, &settings).ok_or(error)?;
                let index = SqliteIndex::with(path, connection, settings, place::identity(path));
                return Ok(SqliteIndex {
                    unwritable: Some(unwritable),
                    ..index
                });
            }
            Ok(opened) => opened,
        };
        Ok(SqliteIndex::with(path, connection, settings, identity))
    }

    /// An index in memory, which is gone with it.
    pub fn in_memory(settings: IndexSettings) -> Result<SqliteIndex, IndexError> {
        let path = Path::new(IN_MEMORY);
        let connection = Connection::open_in_memory().map_err(IndexError::sqlite(path))?;
        schema::create(&connection).map_err(IndexError::sqlite(path))?;
        Ok(SqliteIndex::with(path, connection, settings, None))
    }

    /// Makes an index anew: what was there is deleted, in the file, so that
    /// others who have it open see the new one. Only a file that cannot even
    /// be emptied is set aside.
    pub fn rebuild(path: &Path, settings: IndexSettings) -> Result<SqliteIndex, IndexError> {
        place::create_folder_of(path)?;
        place::require_regular(path)?;
        let before = place::identity(path);
        let emptied = || -> Result<(), IndexError> {
            let _lock = place::lock_shared(path)?;
            place::private(path)?;
            let sqlite = IndexError::sqlite(path);
            let connection = prepared(path, &settings)?;
            schema::renew(&connection).map_err(&sqlite)?;
            schema::give_back(&connection).map_err(&sqlite)
        };
        match emptied() {
            Ok(()) => SqliteIndex::open(path, settings),
            // Only damage may cost the file: whatever else keeps it from being
            // emptied leaves what is in it to be searched.
            Err(error) if error.is_of_content() => {
                let (connection, identity, aside) = replaced(path, &settings, before)?;
                let index = SqliteIndex::with(path, connection, settings, identity);
                Ok(SqliteIndex {
                    set_aside: aside,
                    ..index
                })
            }
            Err(error) => Err(error),
        }
    }

    fn with(
        path: &Path,
        connection: Connection,
        settings: IndexSettings,
        identity: Identity,
    ) -> SqliteIndex {
        SqliteIndex {
            path: path.to_owned(),
            connection,
            settings,
            identity,
            encoder: None,
            stems: Stems::default(),
            shape: None,
            matrix: None,
            set_aside: None,
            unwritable: None,
        }
    }

    /// Where a damaged index was put, when this one was opened or since. Its
    /// content is to be indexed again.
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

    /// Goes over to the file that has the name now, where another process put
    /// one there.
    fn follow(&mut self) -> Result<(), IndexError> {
        if self.identity.is_none() {
            return Ok(());
        }
        if place::identity(&self.path) != self.identity {
            let fresh = SqliteIndex::open(&self.path, self.settings.clone())?;
            self.set_aside = fresh.set_aside.or(self.set_aside.take());
            self.unwritable = fresh.unwritable;
            self.take_over(fresh.connection, fresh.identity);
        } else if self.unwritable.is_some()
            // There may be room again, and what is only looked at is not told of
            // what others write.
            && let Ok((connection, identity)) = opened(&self.path, &self.settings)
        {
            self.unwritable = None;
            self.take_over(connection, identity);
        }
        Ok(())
    }

    fn take_over(&mut self, connection: Connection, identity: Identity) {
        self.connection = connection;
        self.identity = identity;
        self.shape = None;
        self.matrix = None;
    }

    /// Damage found in use: the file is set aside and an empty one made, so
    /// that it is met once and not for ever. Other errors stay what they are.
    fn mended(&mut self, error: IndexError) -> IndexError {
        let IndexError::Damaged { path, reason } = error else {
            return match (error, &self.unwritable) {
                (IndexError::ReadOnly { path }, Some(unwritable)) => unwritable.error(&path),
                (error, _) => error,
            };
        };
        // What is only looked at may look damaged because another writes to it.
        if path == Path::new(IN_MEMORY) || self.unwritable.is_some() {
            return IndexError::Damaged { path, reason };
        }
        // A file that is open cannot be renamed everywhere.
        match Connection::open_in_memory() {
            Ok(nothing) => self.connection = nothing,
            Err(error) => return self.sqlite()(error),
        }
        match replaced(&path, &self.settings, self.identity) {
            Ok((connection, identity, aside)) => {
                self.take_over(connection, identity);
                self.set_aside = aside.clone().or(self.set_aside.take());
                IndexError::Replaced {
                    path,
                    reason,
                    aside,
                }
            }
            Err(error) => error,
        }
    }

    /// Does something; an index that turns out damaged meanwhile is made anew.
    pub(crate) fn mending<T>(
        &mut self,
        work: impl FnOnce(&mut SqliteIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.follow()?;
        work(self).map_err(|error| self.mended(error))
    }
}

/// The name of an index without a file.
const IN_MEMORY: &str = ":memory:";

impl MemoryIndex for SqliteIndex {
    fn use_encoder(&mut self, encoder: Option<Arc<dyn Encoder>>) {
        SqliteIndex::use_encoder(self, encoder);
    }

    fn update(
        &mut self,
        records: &mut dyn Iterator<Item = Record>,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Progress, IndexError> {
        self.mending(|index| index.write(records, budget, progress))
    }

    fn remove(&mut self, source: &str) -> Result<u64, IndexError> {
        self.mending(|index| index.take_out(source, &|_| true))
    }

    fn remove_entries(
        &mut self,
        source: &str,
        entries: &HashSet<String>,
    ) -> Result<u64, IndexError> {
        self.mending(|index| index.take_out(source, &|entry| entries.contains(entry)))
    }

    fn entries(&mut self, source: &str) -> Result<HashSet<String>, IndexError> {
        self.mending(|index| index.entries_of(source).map_err(index.sqlite()))
    }

    fn sources(&mut self, kinds: &[RecordKind]) -> Result<Vec<String>, IndexError> {
        self.mending(|index| index.names(kinds).map_err(index.sqlite()))
    }

    fn embed(
        &mut self,
        chunks: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, IndexError> {
        self.mending(|index| index.make_vectors(chunks, progress))
    }

    fn search(&mut self, query: &Query) -> Result<Hits, IndexError> {
        let mut hits = match self.mending(|index| index.find(query)) {
            // Nothing is found, which is no failure of who searches.
            Err(error @ IndexError::Replaced { .. }) => Hits {
                hits: Vec::new(),
                model: None,
                unknown: Vec::new(),
                notes: vec![error.to_string()],
            },
            found => found?,
        };
        if let Some(note) = self
            .unwritable
            .as_ref()
            .and_then(|why| why.note(&self.path))
        {
            hits.notes.push(note);
        }
        hits.hits.truncate(query.k);
        hits.hits.retain(says_something);
        drop_strays(&query.text, &mut hits.hits);
        Ok(hits)
    }

    fn get(&mut self, key: &str, lines: Option<(u32, u32)>) -> Result<Option<Passage>, IndexError> {
        self.mending(|index| index.passage(key, lines).map_err(index.sqlite()))
    }

    fn status(&mut self) -> Result<Status, IndexError> {
        self.mending(SqliteIndex::counts)
    }
}

/// Whether a hit has a word of the query, or a score that shows in the three
/// places scores are given in. Others fill a list that nothing else fills.
fn says_something(hit: &Hit) -> bool {
    !hit.why.terms.is_empty() || hit.score >= 0.0005
}

/// Who asks for one word wants what has it. What only has other words of a hit is
/// left out then, unless its meaning is near.
fn drop_strays(query: &str, hits: &mut Vec<Hit>) {
    let has_word = |hit: &Hit| !hit.why.terms.is_empty();
    let one_word = query.split_whitespace().count() == 1 && !text::has_unspaced(query);
    if one_word && hits.iter().any(has_word) {
        hits.retain(|hit| has_word(hit) || hit.why.vector.is_some());
    }
}

/// Opens the file that has the name now.
fn opened(path: &Path, settings: &IndexSettings) -> Result<(Connection, Identity), IndexError> {
    let had_users = place::had_users(path);
    let _lock = place::lock_shared(path)?;
    place::private(path)?;
    let Connected { connection, is_new } = connect(path, settings)?;
    // Somebody deleted or emptied it by hand: what was in it is missing until all
    // is taken in again.
    if is_new && had_users {
        schema::mark_filling(&connection).map_err(IndexError::sqlite(path))?;
    }
    Ok((connection, place::identity(path)))
}

/// Opens the file only to be read, without a lock, which would have to be
/// written; none where there is no index that could be used.
fn looked_at(path: &Path, settings: &IndexSettings) -> Option<Connection> {
    let flags = place::FLAGS | OpenFlags::SQLITE_OPEN_READ_ONLY;
    // With nothing in its log nobody is writing, and SQLite need not make the
    // file that its users share.
    let behind = match place::has_log(path) {
        true => "",
        false => "?immutable=1",
    };
    let uri = place::uri(path, behind);
    let connection = Connection::open_with_flags(uri, flags).ok()?;
    connection.busy_timeout(settings.patience).ok()?;
    connection
        .pragma_update(None, "temp_store", "memory")
        .ok()?;
    let found = schema::found(&connection).ok()?;
    matches!(found, schema::Found::Ours).then_some(connection)
}

/// Sets a damaged file aside and makes another, unless somebody else was
/// faster: then theirs is opened. `damaged` is the file that was found so;
/// without it, whether opening it fails decides.
fn replaced(
    path: &Path,
    settings: &IndexSettings,
    damaged: Identity,
) -> Result<(Connection, Identity, Option<PathBuf>), IndexError> {
    let lock = place::lock_alone(path)?;
    place::private(path)?;
    let now = place::identity(path);
    let mut aside = None;
    let still_there = damaged.is_some() && damaged == now;
    let found = match still_there {
        true => None,
        false => match connect(path, settings) {
            Err(IndexError::Damaged { .. }) => None,
            connected => Some(connected?.connection),
        },
    };
    let connection = match found {
        Some(connection) => connection,
        None => {
            aside = Some(place::set_aside(path, &lock)?);
            place::private(path)?;
            let connection = connect(path, settings)?.connection;
            // What was in the other is missing until all is taken in again.
            schema::mark_filling(&connection).map_err(IndexError::sqlite(path))?;
            connection
        }
    };
    Ok((connection, place::identity(path), aside))
}

/// How SQLite numbers the way in which free pages are given back.
const INCREMENTAL: i64 = 2;

fn prepared(path: &Path, settings: &IndexSettings) -> Result<Connection, IndexError> {
    let sqlite = IndexError::sqlite(path);
    let flags = place::FLAGS | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(place::uri(path, ""), flags).map_err(&sqlite)?;
    let prepare = || -> rusqlite::Result<()> {
        connection.busy_timeout(settings.patience)?;
        // Before anything is written, or it is too late for this file. To say it
        // again takes the lock, for which a reader would have to wait.
        if connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0)) != Ok(INCREMENTAL) {
            connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
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

/// A file that was opened.
struct Connected {
    connection: Connection,
    /// Whether there was nothing in it.
    is_new: bool,
}

fn connect(path: &Path, settings: &IndexSettings) -> Result<Connected, IndexError> {
    let sqlite = IndexError::sqlite(path);
    let connection = prepared(path, settings)?;
    let mut is_new = false;
    match schema::found(&connection).map_err(&sqlite)? {
        schema::Found::Ours => {}
        schema::Found::Newer(found) => {
            return Err(IndexError::Newer {
                path: path.to_owned(),
                found,
                known: schema::LAYOUT,
            });
        }
        // Whoever put it there may miss it: it is set aside, not emptied.
        schema::Found::Foreign => return Err(foreign(path)),
        schema::Found::Outdated => schema::renew(&connection).map_err(&sqlite)?,
        schema::Found::Nothing => is_new = schema::create(&connection).map_err(&sqlite)?,
    }
    Ok(Connected { connection, is_new })
}

/// A database of another program in the place of the index.
fn foreign(path: &Path) -> IndexError {
    IndexError::Damaged {
        path: path.to_owned(),
        reason: String::from("it has the tables of another program"),
    }
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
