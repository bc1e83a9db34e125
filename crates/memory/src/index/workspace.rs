//! The memory files of a workspace, brought into an index.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_transcript::Millis;

use super::current::Behind;
use super::record::{Budget, Progress, Record, RecordKind};
use super::stamp::Stamp;
use super::write::hash_of;
use super::{IndexError, MemoryIndex, SqliteIndex};

/// Which files of a workspace are indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFiles {
    /// The workspace.
    pub root: PathBuf,
    /// Further files and folders in it.
    pub extra: Vec<PathBuf>,
    /// Larger files are left out, and told.
    pub max_bytes: u64,
}

/// Files and folders of memory.
const PLACES: [&str; 4] = ["MEMORY.md", "DREAMS.md", "memory", "memories"];

/// What files are indexed as.
const KINDS: [RecordKind; 3] = [RecordKind::Memory, RecordKind::Daily, RecordKind::Dream];

/// Folders below this depth are not looked at.
const DEPTH: usize = 8;

/// What bringing an index up to date did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    /// The counts.
    pub progress: Progress,
    /// Files that were left out, or read otherwise than they are.
    pub notes: Vec<String>,
}

impl WorkspaceFiles {
    /// The memory files of a workspace, up to 64 MB each.
    pub fn new(root: impl Into<PathBuf>) -> WorkspaceFiles {
        WorkspaceFiles {
            root: root.into(),
            extra: Vec::new(),
            max_bytes: 64 << 20,
        }
    }

    /// The files and folders that hold memory, to be watched.
    pub fn places(&self) -> Vec<PathBuf> {
        let named = PLACES.iter().map(|place| self.root.join(place));
        let extra = self.extra.iter().map(|place| self.root.join(place));
        named.chain(extra).collect()
    }

    /// Brings an index up to date: what is new or has changed goes in, what is
    /// gone goes out. With a budget, a second call goes on where the first
    /// stopped.
    pub fn sync(
        &self,
        index: &mut dyn MemoryIndex,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Synced, IndexError> {
        again(|| self.sync_once(index, budget, progress))
    }

    /// The same, but files that are as they were when they were last read, by
    /// what the file system says of them, are not read again. `at` is the time
    /// it is now.
    pub(super) fn sync_changed(
        &self,
        index: &mut SqliteIndex,
        budget: Budget,
        at: Millis,
    ) -> Result<Synced, IndexError> {
        again(|| self.sync_changed_once(index, budget, at))
    }

    fn sync_changed_once(
        &self,
        index: &mut SqliteIndex,
        budget: Budget,
        at: Millis,
    ) -> Result<Synced, IndexError> {
        let mut notes = Vec::new();
        let files = self.files(&mut notes);
        let settings = index.settings.clone();
        let known = index.stamps()?;
        let mut read = Vec::new();
        let mut unread = 0;
        let mut records = files.iter().filter_map(|path| {
            let name = self.name(path);
            // Before it is read, so that a change meanwhile is seen the next time.
            let stamp = Stamp::of(path, &settings).filter(|stamp| stamp.bytes <= self.max_bytes);
            if stamp
                .as_ref()
                .is_some_and(|stamp| known.get(&name) == Some(&stamp.value))
            {
                unread += 1;
                return None;
            }
            let told = notes.len();
            let record = self.record(path, &mut notes)?;
            // What is told of a file is told every time.
            if let Some(stamp) = stamp.filter(|stamp| stamp.rested(at) && notes.len() == told) {
                read.push((name, stamp.value, hash_of(&record, &settings)));
            }
            Some(record)
        });
        let mut done = index.update(&mut records, budget, &mut |_| {})?;
        drop(records);
        done.seen += unread;
        done.unchanged += unread;
        done.removed += self.take_out_gone(index, &files)?;
        // Where nothing may be written they are read again.
        let _ = index.note_stamps(&read);
        Ok(Synced {
            progress: done,
            notes,
        })
    }

    fn sync_once(
        &self,
        index: &mut dyn MemoryIndex,
        budget: Budget,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Synced, IndexError> {
        let mut notes = Vec::new();
        let files = self.files(&mut notes);
        let mut records = files
            .iter()
            .filter_map(|path| self.record(path, &mut notes));
        let mut done = index.update(&mut records, budget, progress)?;
        drop(records);
        done.removed += self.take_out_gone(index, &files)?;
        Ok(Synced {
            progress: done,
            notes,
        })
    }

    fn take_out_gone(
        &self,
        index: &mut dyn MemoryIndex,
        files: &[PathBuf],
    ) -> Result<u64, IndexError> {
        let there: HashSet<String> = files.iter().map(|path| self.name(path)).collect();
        let mut removed = 0;
        for source in index.sources(&KINDS)? {
            if !there.contains(&source) {
                removed += index.remove(&source)?;
            }
        }
        Ok(removed)
    }

    /// What happened to the files since they were indexed.
    pub(super) fn behind(&self, index: &SqliteIndex) -> rusqlite::Result<Behind> {
        let mut behind = Behind::default();
        let mut notes = Vec::new();
        let files = self.files(&mut notes);
        for record in files
            .iter()
            .filter_map(|path| self.record(path, &mut notes))
        {
            match index.has(&record)? {
                Some(true) => {}
                Some(false) => behind.changed += 1,
                None => behind.new += 1,
            }
        }
        let there: HashSet<String> = files.iter().map(|path| self.name(path)).collect();
        let indexed = index.names(&KINDS)?;
        let gone = indexed.iter().filter(|source| !there.contains(*source));
        behind.gone = gone.count() as u64;
        Ok(behind)
    }

    /// Whether a name is that of a file that is indexed. Nothing else of a
    /// workspace is memory, whatever it is called.
    pub fn has(&self, name: &str) -> bool {
        let files = self.files(&mut Vec::new());
        files.iter().any(|path| self.name(path) == name)
    }

    /// The date of a file: the day that its name says, else when it was changed.
    pub fn date_of(&self, name: &str) -> Option<Millis> {
        let changed = || {
            let changed = fs::metadata(self.root.join(name)).ok()?.modified().ok()?;
            let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
            i64::try_from(since.as_millis()).ok().map(Millis)
        };
        day_of(name).or_else(changed)
    }

    /// The path within the workspace, with `/` between its parts everywhere.
    fn name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let parts = inside
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }

    fn files(&self, notes: &mut Vec<String>) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        for place in self.places() {
            // Whoever configures a workspace may not be its user.
            let outside = fs::canonicalize(&place).is_ok_and(|real| !real.starts_with(&root));
            if outside && !place.is_symlink() {
                notes.push(format!(
                    "{} lies outside of the workspace; it is not indexed",
                    place.display()
                ));
                continue;
            }
            collect(&place, &root, DEPTH, &mut files, notes);
        }
        files.sort();
        files.dedup();
        files
    }

    fn record(&self, path: &Path, notes: &mut Vec<String>) -> Option<Record> {
        let size = fs::metadata(path).map_or(0, |meta| meta.len());
        if size > self.max_bytes {
            notes.push(format!(
                "{} has {} MB and is not indexed; files up to {} MB are",
                path.display(),
                size >> 20,
                self.max_bytes >> 20
            ));
            return None;
        }
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                notes.push(format!(
                    "{} cannot be read and is not indexed: {error}",
                    path.display()
                ));
                return None;
            }
        };
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            notes.push(format!(
                "{} is not UTF-8 from byte {} on; what is not is indexed as \u{fffd}",
                path.display(),
                error.utf8_error().valid_up_to()
            ));
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        let name = self.name(path);
        let day = day_of(&name);
        let kind = match (name.as_str(), day) {
            ("DREAMS.md", _) => RecordKind::Dream,
            (_, Some(_)) => RecordKind::Daily,
            _ => RecordKind::Memory,
        };
        Some(Record {
            time: day,
            ..Record::file(kind, name, text)
        })
    }
}

/// Brings an index up to date, and again where it turns out damaged: the files
/// are all there, so what was in it is made again.
fn again(mut sync: impl FnMut() -> Result<Synced, IndexError>) -> Result<Synced, IndexError> {
    match sync() {
        Err(IndexError::Replaced { reason, aside, .. }) => {
            let mut synced = sync()?;
            let aside = aside.map(|aside| format!(" and lies at {}", aside.display()));
            synced.notes.insert(
                0,
                format!(
                    "the index was damaged ({reason}){}; the memory files were indexed again",
                    aside.unwrap_or_default()
                ),
            );
            Ok(synced)
        }
        synced => synced,
    }
}

/// The day of `memory/2026-03-01.md`, and of `memory/2026-03-01-notes.md`.
fn day_of(name: &str) -> Option<Millis> {
    let day = name
        .strip_prefix("memory/")?
        .rsplit('/')
        .next()?
        .get(..10)?;
    Millis::parse_iso(&format!("{day}T00:00:00Z"))
}

/// Files below a place. A link is followed only to what lies in the workspace.
fn collect(
    place: &Path,
    root: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
    notes: &mut Vec<String>,
) {
    let Ok(meta) = fs::symlink_metadata(place) else {
        return;
    };
    if meta.is_symlink() {
        match fs::canonicalize(place) {
            Ok(target) if target.starts_with(root) && target.is_file() => {
                files.push(place.to_owned())
            }
            _ => notes.push(format!(
                "{} is a link that leads out of the workspace, or to a folder; the link was left out",
                place.display()
            )),
        }
    } else if meta.is_file() {
        files.push(place.to_owned());
    } else if meta.is_dir() && depth > 0 {
        match fs::read_dir(place) {
            Ok(entries) => {
                for entry in entries.flatten() {
                    let hidden = entry.file_name().to_string_lossy().starts_with('.');
                    if !hidden {
                        collect(&entry.path(), root, depth - 1, files, notes);
                    }
                }
            }
            Err(error) => notes.push(format!("{} cannot be read: {error}", place.display())),
        }
    } else {
        notes.push(match meta.is_dir() {
            true => format!("{} lies too deep; it is not indexed", place.display()),
            false => format!("{} is not a plain file; it is not indexed", place.display()),
        });
    }
}
