//! The library: memory files and sessions, found through one index.
//!
//! The index belongs to `memory`, sessions to `transcript`; here they meet.
//! What leaves a context is put in by a thread of its own, so that no turn
//! waits for it; a search reads beside it, so that it does not wait either.
//!
//! | question | answer |
//! |---|---|
//! | where is the index? | [`index_path`] |
//! | what is put in, and when? | [`Library::take_session`], and [`take_in`] at once |
//! | what is there for the agent? | [`Library::notebook`], [`Library::recollection`] |
//! | what is a session as texts? | [`session_records`] |
//! | which sessions belong together? | [`family`] |
//! | which are there no more? | [`gone`] |
//! | which model makes the vectors, and why? | [`choose_encoder`] |
//! | and if it is away? | [`Library::await_endpoint`] |

mod away;
mod encoders;
mod endpoint;
mod family;
mod gone;
mod intake;
mod reason;
mod records;
mod remember;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_index::{
    Encoder, Hits, IndexError, IndexSettings, Indexer, Indexing, MemoryIndex, Query, SqliteIndex,
    Waits, WorkspaceFiles,
};
use longhaul_transcript::{EntryId, Millis, Session, SessionKey};

pub use crate::config::redaction;
pub use crate::recall::Scope;
pub use encoders::{ChosenEncoder, choose_encoder};
pub use endpoint::AwayEndpoint;
pub use family::family;
pub use gone::{Gone, gone};
pub use intake::{PutError, take_in};
pub use reason::Reason;
pub use records::session_records;
pub use remember::Recollection;
pub use tools::{MemoryNotebook, Notebook};

use tools::SYNCED;

use crate::survey::Surveys;

/// The index of an agent in a workspace. The paths in it are those of the
/// workspace, so two workspaces never share one.
pub fn index_path(state_dir: &Path, agent: &str, workspace: &Path) -> PathBuf {
    let workspace = workspace
        .canonicalize()
        .unwrap_or_else(|_| workspace.to_owned());
    let hash = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
    let name = SessionKey::new(agent);
    let file = format!("{}-{}.sqlite", name.folder_name(), &hash[..8]);
    state_dir.join("memory").join(file)
}

/// Everything that can be searched.
#[derive(Clone)]
pub struct Library {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    settings: IndexSettings,
    encoder: Mutex<Option<Arc<dyn Encoder>>>,
    /// Ends the thread that asks an endpoint again.
    awaiting: Mutex<Option<Sender<()>>>,
    reader: Mutex<Option<SqliteIndex>>,
    /// Puts things in, and keeps the files of the workspace up to date.
    indexer: Mutex<Option<Indexer>>,
    troubles: Troubles,
    /// Until what failed is tried again.
    waits: Mutex<Waits>,
    /// Where the surveys of sessions are kept.
    surveys: Mutex<Surveys>,
}

/// What a panic left behind is whole all the same.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What went wrong in the background, each in a sentence of its own. A server has
/// nobody who asks, and a person does not see what an agent's search was told; so
/// both are told.
#[derive(Clone, Default)]
struct Troubles(Arc<Mutex<[Vec<String>; 2]>>);

/// Who is told what went wrong.
#[derive(Clone, Copy)]
enum Told {
    WhoAsks,
    NextSearch,
}

/// So many are kept; a folder may have thousands of links.
const MOST_TROUBLES: usize = 8;

impl Troubles {
    /// Adds what went wrong, once.
    fn add(&self, what: &str) {
        self.add_for(Told::WhoAsks, what);
        self.add_for(Told::NextSearch, what);
    }

    fn add_for(&self, told: Told, what: &str) {
        let mut all = locked(&self.0);
        let troubles = &mut all[told as usize];
        if troubles.len() < MOST_TROUBLES && !troubles.iter().any(|known| known == what) {
            troubles.push(what.to_owned());
        }
    }

    /// What left a context and is not findable.
    fn add_left(&self, why: &dyn std::fmt::Display) {
        self.add(&format!("what left the context is not indexed: {why}"));
    }

    /// What the thread beside the work tells.
    fn hear(&self, indexing: Indexing) {
        match indexing {
            Indexing::Note(note) => self.add(&note),
            Indexing::Failed(error @ IndexError::Encoder { .. }) => {
                let told = format!("what is new is found by words alone for now: {error}");
                self.add(&told);
            }
            Indexing::Failed(error) => {
                self.add(&format!("the memory files are not all indexed: {error}"));
            }
            _ => {}
        }
    }

    fn take(&self, told: Told) -> Vec<String> {
        std::mem::take(&mut locked(&self.0)[told as usize])
    }
}

impl Library {
    /// A library over one index. Nothing is opened before it is needed.
    pub fn new(
        path: PathBuf,
        settings: IndexSettings,
        encoder: Option<Arc<dyn Encoder>>,
    ) -> Library {
        Library {
            shared: Arc::new(Shared {
                path,
                settings,
                encoder: Mutex::new(encoder),
                awaiting: Mutex::default(),
                reader: Mutex::default(),
                indexer: Mutex::default(),
                troubles: Troubles::default(),
                waits: Mutex::default(),
                surveys: Mutex::default(),
            }),
        }
    }

    /// Where the surveys of sessions are kept, for what is started from now on:
    /// with them only what is new is read.
    pub fn use_surveys(&self, surveys: Surveys) {
        *locked(&self.shared.surveys) = surveys;
    }

    /// How long is waited before vectors that failed are tried again, for what is
    /// started from now on.
    pub fn use_waits(&self, waits: Waits) {
        *locked(&self.shared.waits) = waits;
    }

    /// Has a model make vectors from now on.
    pub fn use_encoder(&self, encoder: &Arc<dyn Encoder>) {
        self.shared.use_encoder(encoder);
    }

    /// Searches. It does not wait for what is being put in.
    pub fn search(&self, query: &Query) -> Result<Hits, IndexError> {
        self.reading(|index| index.search(query))
    }

    /// Works with the index, for reading.
    pub fn reading<T>(
        &self,
        work: impl FnOnce(&mut SqliteIndex) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let mut reader = locked(&self.shared.reader);
        let mut index = match reader.take() {
            Some(index) => index,
            None => self.shared.open()?,
        };
        let done = work(&mut index);
        // A damaged index is opened anew the next time, and set aside by that.
        if !matches!(done, Err(IndexError::Damaged { .. })) {
            *reader = Some(index);
        }
        done
    }

    /// Brings the files of a workspace up to date in the background, and goes on
    /// doing so when they change. Vectors that are missing are made there too.
    pub fn watch(&self, files: &WorkspaceFiles) -> Result<(), IndexError> {
        self.shared.beside(|indexer| {
            indexer.files(files);
            // Those that an earlier process did not come to.
            indexer.vectors();
            indexer.watch(files)
        })?
    }

    /// Searches with the memory files as they are. Where they are watched, they are
    /// looked at after a change, and not for every question.
    fn search_files(
        &self,
        query: &Query,
        files: &WorkspaceFiles,
        at: Millis,
    ) -> Result<Hits, IndexError> {
        let indexer = &self.shared.indexer;
        let is_current = |indexer: &Indexer| !indexer.take_changed();
        if locked(indexer).as_ref().is_some_and(is_current) {
            return self.search(query);
        }
        let found = self.reading(|index| index.search_current(query, files, SYNCED, at));
        // What is told of them is told until it is so no more.
        let is_told = found.as_ref().map_or(true, |found| !found.notes.is_empty());
        if let (true, Some(indexer)) = (is_told, locked(indexer).as_ref()) {
            indexer.set_changed();
        }
        found
    }

    /// Puts in what is new of a session, in the background.
    pub fn take_session(&self, session: &Path) {
        let troubles = self.shared.troubles.clone();
        let surveys = locked(&self.shared.surveys).clone();
        let path = session.to_owned();
        let take = move |index: &mut dyn MemoryIndex| {
            let taken = Session::open(&path).map_err(|error| error.to_string());
            let taken = taken.and_then(|session| {
                let keep = surveys.keep(&session);
                let taken = take_in(index, &session, &keep, u64::MAX, &mut |_| {});
                taken.map_err(|error| error.to_string())
            });
            if let Err(error) = taken {
                troubles.add_left(&error);
            }
        };
        let asked = self.shared.beside(|indexer| indexer.work(Box::new(take)));
        if let Err(error) = asked {
            self.shared.troubles.add_left(&error);
        }
    }

    /// Waits until everything that was given to it is in the index, for so long
    /// at most. A one-shot program may want this before it ends.
    pub fn settle(&self, patience: std::time::Duration) -> bool {
        let (done, heard) = channel();
        if let Some(indexer) = locked(&self.shared.indexer).as_ref() {
            indexer.work(Box::new(move |_| {
                let _ = done.send(());
            }));
        } else {
            return true;
        }
        heard.recv_timeout(patience).is_ok()
    }

    /// What went wrong in the background since the last time somebody asked,
    /// each in a sentence of its own.
    pub fn troubles(&self) -> Vec<String> {
        self.shared.troubles.take(Told::WhoAsks)
    }

    /// The same since the last search.
    fn troubles_of_search(&self) -> Vec<String> {
        self.shared.troubles.take(Told::NextSearch)
    }
}

/// Is told what left the context, to make it findable. It must not wait: the
/// turn goes on when it returns.
pub trait Departures: Send + Sync {
    /// These entries of a session are no longer in its context.
    fn left(&self, session: &Path, entries: &[EntryId]);
}

impl Departures for Library {
    fn left(&self, session: &Path, entries: &[EntryId]) {
        if !entries.is_empty() {
            self.take_session(session);
        }
    }
}

impl Shared {
    fn open(&self) -> Result<SqliteIndex, IndexError> {
        let mut index = SqliteIndex::open(&self.path, self.settings.clone())?;
        index.use_encoder(locked(&self.encoder).clone());
        if let Some(aside) = index.set_aside() {
            self.troubles.add(&format!(
                "the index was damaged; it lies at {} and a new one is made",
                aside.display()
            ));
        }
        Ok(index)
    }

    /// Has the thread beside the work do something, and starts it where there is
    /// none yet.
    fn beside<T>(&self, ask: impl FnOnce(&mut Indexer) -> T) -> Result<T, IndexError> {
        // Held from here on, so that no model comes in between.
        let mut kept = locked(&self.indexer);
        let indexer = match kept.take() {
            Some(indexer) => indexer,
            None => {
                let index = Box::new(self.open()?);
                let troubles = self.troubles.clone();
                let tell = Box::new(move |indexing| troubles.hear(indexing));
                let failed = longhaul_files::Error::io("start the thread of", &self.path);
                Indexer::start(index, tell, *locked(&self.waits)).map_err(failed)?
            }
        };
        Ok(ask(kept.insert(indexer)))
    }

    /// Lets everybody work with a model from now on.
    fn use_encoder(&self, encoder: &Arc<dyn Encoder>) {
        // Before the others: whoever begins meanwhile begins with it.
        *locked(&self.encoder) = Some(Arc::clone(encoder));
        if let Some(index) = locked(&self.reader).as_mut() {
            index.use_encoder(Some(Arc::clone(encoder)));
        }
        if let Some(indexer) = locked(&self.indexer).as_ref() {
            indexer.use_encoder(Arc::clone(encoder));
        }
    }
}
