//! Keeping an index true to the memory files: brought up to date before it is
//! asked, and compared with them without changing anything.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_transcript::Millis;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::record::{Budget, Hits, Query, Status};
use super::workspace::WorkspaceFiles;
use super::{IndexError, IndexSettings, MemoryIndex, SqliteIndex, place, schema};
use crate::embed::Encoder;
use crate::megabytes;

/// How long a search waits for another process that writes. What is there can be
/// searched meanwhile.
const SHORT: Duration = Duration::from_secs(1);

/// What whoever searches an index should know that is not filled yet.
const UNFILLED: &str = "the index is incomplete: it was begun anew, or is being filled, or that \
                        was cut short; `longhaul memory index` completes it";

/// How an index stands, seen without changing anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What is in it.
    pub status: Status,
    /// When the memory files were last brought up to date in it.
    pub current: Option<Millis>,
    /// What happened to the memory files since.
    pub behind: Behind,
    /// Whether it was begun anew and is not filled yet, or being filled.
    pub unfilled: bool,
}

/// Memory files that are not in an index as they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behind {
    /// They are not in it.
    pub new: u64,
    /// They are in it as they were.
    pub changed: u64,
    /// They are in it and no longer there.
    pub gone: u64,
}

impl Behind {
    /// How many there are.
    pub fn total(&self) -> u64 {
        self.new + self.changed + self.gone
    }
}

impl SqliteIndex {
    /// Brings the memory files up to date, as far as the budget goes. It costs
    /// nobody their search: what could not be done comes back in words.
    pub fn bring_up(&mut self, files: &WorkspaceFiles, budget: Budget, at: Millis) -> Vec<String> {
        let patience = self.settings.patience;
        self.wait_at_most(SHORT.min(patience));
        let synced = files.sync_changed(self, budget, at);
        let notes = match synced {
            Ok(synced) => {
                let mut notes = synced.notes;
                if synced.progress.exhausted {
                    notes.push(format!(
                        "not all new text was taken in before this (at most {} at a time), and \
                         some memory files may be found as they were; `longhaul memory index` \
                         takes in the rest",
                        megabytes(budget.bytes)
                    ));
                } else {
                    // Where nothing may be written there is nothing to note.
                    let _ = self.mark_current(at);
                }
                notes
            }
            Err(error) => vec![format!(
                "memory files may have changed since they were indexed: {error}"
            )],
        };
        self.wait_at_most(patience);
        notes
    }

    /// Searches, with the memory files brought up to date first. Where the
    /// search finds the index damaged they are indexed again, and searched.
    /// Where it matters when something was said, files whose names say no day
    /// are of the time at which they were changed.
    pub fn search_current(
        &mut self,
        query: &Query,
        files: &WorkspaceFiles,
        budget: Budget,
        at: Millis,
    ) -> Result<Hits, IndexError> {
        let before = (self.identity, self.set_aside().map(Path::to_owned));
        let mut notes = self.bring_up(files, budget, at);
        let mut dated = query.clone();
        if query.filters.ask_for_a_time() {
            dated.filters.dates.extend(files.dates());
        }
        let query = &dated;
        let mut found = self.search(query)?;
        // Another may have set it aside meanwhile, and tells it.
        if self.identity != before.0 {
            if self.set_aside() != before.1.as_deref() {
                notes.append(&mut found.notes);
            }
            notes.extend(self.bring_up(files, budget, at));
            found = self.search(query)?;
        }
        if self.is_unfilled()? {
            notes.push(UNFILLED.to_owned());
        }
        notes.append(&mut found.notes);
        found.notes = notes;
        Ok(found)
    }

    /// Notes that the memory files are in the index as they are at this time.
    pub fn mark_current(&mut self, at: Millis) -> Result<(), IndexError> {
        const MARK: &str = "INSERT OR REPLACE INTO meta VALUES ('current', ?1)";
        self.mending(|index| {
            let marked = index.connection.execute(MARK, [at.0]);
            marked.map(|_| ()).map_err(index.sqlite())
        })
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

    fn wait_at_most(&mut self, patience: Duration) {
        self.settings.patience = patience;
        // It only fails for a time that no number holds.
        let _ = self.connection.busy_timeout(patience);
    }

    /// How an index stands, with the vectors of this encoder. Nothing is made,
    /// mended or set aside; none where there is no index.
    pub fn condition(
        path: &Path,
        settings: IndexSettings,
        files: &WorkspaceFiles,
        encoder: Option<Arc<dyn Encoder>>,
    ) -> Result<Option<Condition>, IndexError> {
        place::require_regular(path)?;
        let there = path.try_exists().map_err(IndexError::io("read", path))?;
        if !there {
            return Ok(None);
        }
        let sqlite = IndexError::sqlite(path);
        let connection = reading(path).map_err(&sqlite)?;
        connection.busy_timeout(SHORT).map_err(&sqlite)?;
        match schema::found(&connection).map_err(&sqlite)? {
            schema::Found::Ours => {}
            schema::Found::Newer(found) => {
                return Err(IndexError::Newer {
                    path: path.to_owned(),
                    found,
                    known: schema::LAYOUT,
                });
            }
            schema::Found::Foreign => return Err(super::foreign(path)),
            // The next command makes it anew.
            schema::Found::Outdated | schema::Found::Nothing => return Ok(None),
        }
        let mut index = SqliteIndex::with(path, connection, settings, place::identity(path));
        index.use_encoder(encoder);
        let status = index.counts()?;
        let current = index
            .connection
            .query_row("SELECT value FROM meta WHERE name = 'current'", [], |row| {
                row.get(0).map(Millis)
            })
            .optional()
            .map_err(&sqlite)?;
        let behind = files.behind(&index).map_err(&sqlite)?;
        let unfilled = index.is_unfilled()?;
        Ok(Some(Condition {
            status,
            current,
            behind,
            unfilled,
        }))
    }
}

/// Opens a file only to be read. Where even the files that its users share
/// cannot be made, nobody is writing to it either.
fn reading(path: &Path) -> rusqlite::Result<Connection> {
    let flags = place::FLAGS | OpenFlags::SQLITE_OPEN_READ_ONLY;
    let open = |behind: &str| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(place::uri(path, behind), flags)?;
        connection.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
        Ok(connection)
    };
    match open("") {
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
            ) =>
        {
            open("?immutable=1")
        }
        // A full disk, which has no room for them.
        Err(error)
            if !place::has_log(path)
                && matches!(
                    error.sqlite_error_code(),
                    Some(rusqlite::ErrorCode::SystemIoFailure | rusqlite::ErrorCode::DiskFull)
                ) =>
        {
            open("?immutable=1")
        }
        opened => opened,
    }
}
