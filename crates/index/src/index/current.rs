//! Keeping an index true to the memory files: brought up to date before it is
//! asked, and compared with them without changing anything.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_transcript::Millis;
use rusqlite::OptionalExtension;

use super::MemoryIndex;
use super::workspace::WorkspaceFiles;
use crate::embed::Encoder;
use crate::error::IndexError;
use crate::megabytes;
use crate::record::{Behind, Budget, Hits, Query, Status};
use crate::settings::IndexSettings;
use crate::store::SqliteIndex;

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

    /// How an index stands, with the vectors of this encoder. Nothing is made,
    /// mended or set aside; none where there is no index.
    pub fn condition(
        path: &Path,
        settings: IndexSettings,
        files: &WorkspaceFiles,
        encoder: Option<Arc<dyn Encoder>>,
    ) -> Result<Option<Condition>, IndexError> {
        let Some(mut index) = SqliteIndex::look_at(path, settings, SHORT)? else {
            return Ok(None);
        };
        let sqlite = index.sqlite();
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
