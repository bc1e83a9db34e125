//! The store: everything that can be searched, in one SQLite file.
//!
//! A derived artefact. It can be deleted at any time and is made anew from the
//! files and sessions; a damaged one is set aside and replaced. Several
//! processes may use it: readers never wait, writers take turns in short
//! transactions, so that an update that is interrupted anywhere has done some
//! records wholly and the others not at all, and goes on from there.

mod hash;
mod opening;
mod place;
mod quoted;
mod quoting;
mod read;
mod schema;
mod shape;
mod vectors;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul_files::Sharing;
use rusqlite::Connection;

pub(crate) use self::hash::{start_of, text_hash};
use self::opening::{looked_at, opened, prepared, replaced};
use self::place::Identity;
pub(crate) use self::shape::{NOTHING, Shape};
pub(crate) use self::vectors::Matrix;
use crate::embed::Encoder;
use crate::error::{IndexError, Unwritable};
use crate::settings::{IndexSettings, SearchSettings};
use crate::text::Stems;

/// An index in a SQLite file.
pub struct SqliteIndex {
    path: PathBuf,
    pub(crate) connection: Connection,
    pub(crate) settings: IndexSettings,
    pub(crate) identity: Identity,
    pub(crate) encoder: Option<Arc<dyn Encoder>>,
    pub(crate) stems: Stems,
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
                let found = looked_at(path, settings.patience).ok().flatten();
                let connection = found.ok_or(error)?;
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

    /// An index that is only looked at: nothing is made, mended or set aside. None
    /// where there is none.
    pub(crate) fn look_at(
        path: &Path,
        settings: IndexSettings,
        patience: Duration,
    ) -> Result<Option<SqliteIndex>, IndexError> {
        place::require_regular(path)?;
        if !path.try_exists().map_err(IndexError::io("read", path))? {
            return Ok(None);
        }
        let found = looked_at(path, patience)?;
        let identity = place::identity(path);
        Ok(found.map(|connection| SqliteIndex::with(path, connection, settings, identity)))
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
            let _lock = place::lock(path, Sharing::Shared)?;
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

    /// What whoever searches should know where nothing can be written.
    pub(crate) fn unwritable_note(&self) -> Option<String> {
        self.unwritable.as_ref()?.note(&self.path)
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

    /// Notes that an index is going to be filled, or that it is: whoever searches
    /// one whose filling was cut short should know.
    pub fn mark_filling(&mut self, filling: bool) -> Result<(), IndexError> {
        const UNMARK: &str = "DELETE FROM meta WHERE name = 'filling'";
        self.mending(|index| {
            let marked = match filling {
                true => schema::mark_filling(&index.connection),
                false => index.connection.execute(UNMARK, []).map(drop),
            };
            marked.map_err(index.sqlite())
        })
    }

    /// Whether there was an index in a place where none is now: its file was
    /// deleted or emptied by hand, or is of an older layout. What was in it is
    /// missing until all is taken in again.
    pub fn was_here(path: &Path) -> bool {
        place::had_users(path)
    }

    /// Whether it was begun anew, or filled, and that did not come to its end.
    pub fn is_unfilled(&self) -> Result<bool, IndexError> {
        let mark = "SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'filling')";
        let marked = self.connection.query_row(mark, [], |row| row.get(0));
        marked.map_err(self.sqlite())
    }

    /// Puts what was written into the file itself and empties the log beside it,
    /// so that its size is what it will be. Where another process is at work,
    /// that can wait.
    pub fn fold(&mut self) -> Result<(), IndexError> {
        let patience = self.settings.patience;
        schema::shorten_log(&self.connection, patience).map_err(self.sqlite())
    }

    pub(crate) fn wait_at_most(&mut self, patience: Duration) {
        self.settings.patience = patience;
        // It only fails for a time that no number holds.
        let _ = self.connection.busy_timeout(patience);
    }

    pub(crate) fn sqlite(&self) -> impl Fn(rusqlite::Error) -> IndexError + use<> {
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

/// The name of an index without a file.
const IN_MEMORY: &str = ":memory:";
