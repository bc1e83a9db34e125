//! The memory files of a workspace, brought into an index.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_transcript::Millis;

use super::MemoryIndex;
use super::stamp::Stamp;
use crate::error::IndexError;
use crate::megabytes;
use crate::record::{Behind, Budget, Progress, Record, RecordKind};
use crate::settings::IndexSettings;
use crate::store::{SqliteIndex, text_hash};

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

/// Folders of memory are looked into so many levels below them.
pub const DEPTH: usize = 7;

/// Why something in the places of memory is not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// A folder that lies deeper than [`DEPTH`].
    TooDeep,
    /// It is neither a file nor a folder.
    NoFile,
    /// A folder that cannot be read, and why.
    Unreadable(String),
}

/// What bringing an index up to date did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    /// The counts.
    pub progress: Progress,
    /// Files that were left out, or read otherwise than they are.
    pub notes: Vec<String>,
    /// Links among the files that were left out, because what they lead to is
    /// no memory.
    pub links_left_out: u64,
}

/// What was found in the places of memory.
#[derive(Default)]
struct Found {
    files: Vec<PathBuf>,
    links: Vec<PathBuf>,
    unseen: Vec<(PathBuf, Unseen)>,
    notes: Vec<String>,
}

/// What files looked like when they were last read, and what became of them now.
struct Stamps {
    known: HashMap<String, i64>,
    settings: IndexSettings,
    budget: Budget,
    at: Millis,
    /// Those that were read: name, stamp, and the hash of the text.
    read: Vec<(String, i64, i64)>,
    /// How many are as they were.
    unread: u64,
    /// Whether one is larger than the budget.
    too_large: bool,
}

impl Stamps {
    fn of(index: &mut SqliteIndex, budget: Budget, at: Millis) -> Result<Stamps, IndexError> {
        Ok(Stamps {
            known: index.stamps()?,
            settings: index.settings.clone(),
            budget,
            at,
            read: Vec::new(),
            unread: 0,
            too_large: false,
        })
    }
}

impl WorkspaceFiles {
    /// The memory files of a workspace, up to 64 MB each.
    pub fn new(root: impl Into<PathBuf>) -> WorkspaceFiles {
        WorkspaceFiles {
            root: root.into(),
            extra: Vec::new(),
            max_bytes: 64_000_000,
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
        again(|| self.take_in(index, budget, None, progress))
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
        again(|| {
            let mut stamps = Stamps::of(index, budget, at)?;
            let mut synced = self.take_in(index, budget, Some(&mut stamps), &mut |_| {})?;
            synced.progress.exhausted |= stamps.too_large;
            synced.progress.seen += stamps.unread;
            synced.progress.unchanged += stamps.unread;
            // Where nothing may be written they are read again.
            let _ = index.note_stamps(&stamps.read);
            Ok(synced)
        })
    }

    fn take_in(
        &self,
        index: &mut dyn MemoryIndex,
        budget: Budget,
        mut stamps: Option<&mut Stamps>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Synced, IndexError> {
        let Found {
            mut files,
            links,
            mut notes,
            ..
        } = self.found();
        // Before a search they are only counted: whoever searches did not ask.
        let told = links.iter().filter(|_| stamps.is_none());
        notes.extend(told.map(|link| {
            format!(
                "{} is a link that leads out of memory, or to a folder; the link was left out",
                link.display()
            )
        }));
        in_turn(&mut files, budget);
        let mut records = files.iter().filter_map(|path| match &mut stamps {
            Some(stamps) => self.changed(path, stamps, &mut notes),
            None => self.record(path, &mut notes),
        });
        let mut done = index.update(&mut records, budget, progress)?;
        drop(records);
        done.removed += self.take_out_gone(index, &files)?;
        Ok(Synced {
            progress: done,
            notes,
            links_left_out: links.len() as u64,
        })
    }

    /// A file that is not as it was when it was last read.
    fn changed(&self, path: &Path, stamps: &mut Stamps, notes: &mut Vec<String>) -> Option<Record> {
        let name = self.name(path);
        // Before it is read, so that a change meanwhile is seen the next time.
        let stamp = Stamp::of(path, &stamps.settings).filter(|one| one.bytes <= self.max_bytes);
        if let Some(stamp) = &stamp {
            if stamps.known.get(&name) == Some(&stamp.value) {
                stamps.unread += 1;
                return None;
            }
            // Whoever searches does not wait for it.
            if stamp.bytes > stamps.budget.bytes {
                stamps.too_large = true;
                return None;
            }
        }
        let told = notes.len();
        let record = self.record(path, notes)?;
        // What is told of a file is told every time.
        if let Some(stamp) = stamp.filter(|one| one.rested(stamps.at) && notes.len() == told) {
            let hash = text_hash(&record.text, stamps.settings.chunks);
            stamps.read.push((name, stamp.value, hash));
        }
        Some(record)
    }

    fn take_out_gone(
        &self,
        index: &mut dyn MemoryIndex,
        files: &[PathBuf],
    ) -> Result<u64, IndexError> {
        let mut removed = 0;
        for source in self.gone(index.sources(&KINDS)?, files) {
            removed += index.remove(&source)?;
        }
        Ok(removed)
    }

    /// Those of the names that none of the files has.
    fn gone(&self, names: Vec<String>, files: &[PathBuf]) -> Vec<String> {
        let there: HashSet<String> = files.iter().map(|path| self.name(path)).collect();
        let gone = names.into_iter().filter(|name| !there.contains(name));
        gone.collect()
    }

    /// What happened to the files since they were indexed.
    pub(super) fn behind(&self, index: &SqliteIndex) -> rusqlite::Result<Behind> {
        let mut behind = Behind::default();
        let Found {
            files, mut notes, ..
        } = self.found();
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
        behind.gone = self.gone(index.names(&KINDS)?, &files).len() as u64;
        Ok(behind)
    }

    /// The files that are indexed, or would be if they could be read: their names
    /// in the workspace.
    pub fn names(&self) -> Vec<String> {
        let files = self.found().files;
        files.iter().map(|path| self.name(path)).collect()
    }

    /// Whether a name is that of a file that is indexed. Nothing else of a
    /// workspace is memory, whatever it is called.
    pub fn has(&self, name: &str) -> bool {
        self.names().iter().any(|file| file == name)
    }

    /// Links among the files that are left out, because what they lead to is no
    /// memory: their names in the workspace.
    pub fn links_left_out(&self) -> Vec<String> {
        let links = self.found().links;
        links.iter().map(|path| self.name(path)).collect()
    }

    /// What else in the places of memory is not looked at, and why: the names in
    /// the workspace.
    pub fn unseen(&self) -> Vec<(String, Unseen)> {
        let unseen = self.found().unseen.into_iter();
        unseen.map(|(path, why)| (self.name(&path), why)).collect()
    }

    /// What is to be said about links that are left out, where what is asked for
    /// may be behind one of them. Of a file that is named, only its own link
    /// counts.
    pub fn links_note(&self, named: Option<&str>) -> Option<String> {
        let mut links = self.links_left_out();
        links.retain(|link| {
            named.is_none_or(|name| {
                let below = name.strip_prefix(link.as_str());
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        });
        match links.as_slice() {
            [] => None,
            [link] => Some(format!(
                "{link} is a link that leads out of memory, or to a folder; the link was left out"
            )),
            links => Some(format!(
                "{} links among the memory files lead out of memory, or to folders, and were left \
                 out; `longhaul memory lint` names them",
                links.len()
            )),
        }
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

    /// The dates of all files that are indexed, by their names.
    pub fn dates(&self) -> BTreeMap<String, Millis> {
        let names = self.names().into_iter();
        names
            .filter_map(|name| self.date_of(&name).map(|date| (name, date)))
            .collect()
    }

    /// The path within the workspace, with `/` between its parts everywhere.
    fn name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let parts = inside
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        parts.collect::<Vec<_>>().join("/")
    }

    fn found(&self) -> Found {
        let mut found = Found::default();
        let root = fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone());
        let places = self.places();
        let real = |place: &PathBuf| fs::canonicalize(place).ok();
        let homes: Vec<PathBuf> = places
            .iter()
            .filter(|place| !place.is_symlink())
            .filter_map(real)
            .filter(|real| real.starts_with(&root))
            .collect();
        for place in &places {
            // Whoever configures a workspace may not be its user.
            let outside = real(place).is_some_and(|real| !real.starts_with(&root));
            if outside && !place.is_symlink() {
                found.notes.push(format!(
                    "{} lies outside of the workspace; it is not indexed",
                    place.display()
                ));
                continue;
            }
            // A file at the top may be kept under another name of its kind.
            let own = real(place).filter(|real| {
                real.starts_with(&root)
                    && real.extension() == place.extension()
                    && !is_hidden(real, &root)
            });
            let homes = match (place.is_symlink(), own) {
                (true, Some(own)) => &vec![own],
                _ => &homes,
            };
            found.collect(place, homes, DEPTH + 1);
        }
        let unseen = found.unseen.iter();
        found.notes.extend(unseen.map(|(path, why)| why.told(path)));
        found.files.sort();
        found.files.dedup();
        found.links.sort();
        found.links.dedup();
        found
    }

    fn record(&self, path: &Path, notes: &mut Vec<String>) -> Option<Record> {
        let size = fs::metadata(path).map_or(0, |meta| meta.len());
        if size > self.max_bytes {
            notes.push(format!(
                "{} has {} and is not indexed; files up to {} are",
                path.display(),
                megabytes(size),
                megabytes(self.max_bytes)
            ));
            return None;
        }
        let read = longhaul_files::resolve(path)
            .and_then(|real| longhaul_files::read(&real, self.max_bytes));
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                notes.push(format!(
                    "{} cannot be read and is not indexed: {}",
                    path.display(),
                    error.into_io()
                ));
                return None;
            }
        };
        // No text has one, and whatever has is no text as a whole. What it said
        // before is found no more.
        let bytes = match memchr::memchr(0, &bytes) {
            None => bytes,
            Some(at) => {
                notes.push(format!(
                    "{} has a zero byte at {at}, as only binary files have, and is not indexed; \
                     take it out of the memory folders, or save it as text",
                    path.display()
                ));
                Vec::new()
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
            // Whoever set it aside tells it.
            if let Some(aside) = aside {
                synced.notes.insert(
                    0,
                    format!(
                        "the index was damaged ({reason}) and lies at {}; the memory files were \
                         indexed again",
                        aside.display()
                    ),
                );
            }
            Ok(synced)
        }
        synced => synced,
    }
}

/// Where not all may be taken in, what is left over must not be what is most
/// likely asked for.
fn in_turn(files: &mut [PathBuf], budget: Budget) {
    if budget != Budget::default() {
        files.sort_by_cached_key(|path| turn(path));
    }
}

/// When a file is taken in where not all may be: small files first, the newest
/// of them before others, then large ones by size. One huge log must not keep
/// all others out.
fn turn(path: &Path) -> (u64, Reverse<Option<SystemTime>>) {
    const SMALL: u64 = 1_000_000;
    let Ok(meta) = fs::metadata(path) else {
        return (0, Reverse(None));
    };
    match meta.len() {
        0..=SMALL => (0, Reverse(meta.modified().ok())),
        large => (large, Reverse(None)),
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

impl Unseen {
    /// What is told of it.
    fn told(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Unseen::TooDeep => format!("{path} lies too deep; it is not indexed"),
            Unseen::NoFile => format!("{path} is not a plain file; it is not indexed"),
            Unseen::Unreadable(reason) => format!("{path} cannot be read: {reason}"),
        }
    }
}

/// Whether a path goes through something hidden, such as `.env`.
fn is_hidden(path: &Path, below: &Path) -> bool {
    let inside = path.strip_prefix(below).unwrap_or(path);
    inside
        .components()
        .any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
}

impl Found {
    /// Files below a place. A link is followed only to a file that is in one of
    /// the homes of memory itself: whatever else it leads to, such as the `.env`
    /// of the workspace, was not written to be remembered.
    fn collect(&mut self, place: &Path, homes: &[PathBuf], depth: usize) {
        let Ok(meta) = fs::symlink_metadata(place) else {
            return;
        };
        if meta.is_symlink() {
            let target = fs::canonicalize(place).ok();
            let is_memory = target.is_some_and(|target| {
                let at_home =
                    |home: &PathBuf| target.starts_with(home) && !is_hidden(&target, home);
                target.is_file() && homes.iter().any(at_home)
            });
            match is_memory {
                true => self.files.push(place.to_owned()),
                false => self.links.push(place.to_owned()),
            }
        } else if meta.is_file() {
            self.files.push(place.to_owned());
        } else if meta.is_dir() && depth > 0 {
            match fs::read_dir(place) {
                Ok(entries) => {
                    for entry in entries.flatten() {
                        let hidden = entry.file_name().to_string_lossy().starts_with('.');
                        if !hidden {
                            self.collect(&entry.path(), homes, depth - 1);
                        }
                    }
                }
                Err(error) => {
                    let why = Unseen::Unreadable(error.to_string());
                    self.unseen.push((place.to_owned(), why));
                }
            }
        } else {
            let why = match meta.is_dir() {
                true => Unseen::TooDeep,
                false => Unseen::NoFile,
            };
            self.unseen.push((place.to_owned(), why));
        }
    }
}
