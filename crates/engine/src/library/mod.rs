//! The library: memory files and sessions, found through one index.
//!
//! The index belongs to `memory`, sessions to `transcript`; here they meet.
//! What leaves a context is put in by a thread of its own, so that no turn
//! waits for it; a search reads beside it, so that it does not wait either.
//!
//! | question | answer |
//! |---|---|
//! | where is the index? | [`index_path`] |
//! | what is put in, and when? | [`Library::left`](crate::session::Departures::left), [`Library::take_session`] |
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
mod records;
mod remember;
mod tools;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_index::{
    Budget, Encoder, Hits, IndexError, IndexSettings, Indexer, Indexing, MemoryIndex, Progress,
    Query, Record, Redaction, SqliteIndex, Waits, WorkspaceFiles,
};
use longhaul_redact::{Redactor, rules_version};
use longhaul_transcript::{EntryId, Format, Millis, Packing, Session, archive_path, each_archived};

pub use encoders::{ChosenEncoder, Reason, choose_encoder};
pub use endpoint::AwayEndpoint;
pub use family::{Scope, family};
pub use gone::{Gone, gone};
pub use records::{session_name, session_records};
pub use remember::Recollection;
pub use tools::MemoryNotebook;

use records::{Which, records_of};
use tools::SYNCED;

use crate::session::Departures;
use crate::survey::{Keep, Surveys};

/// Entries are handed over in lots of so many bytes, so that a session of any
/// length fits.
const LOT_BYTES: usize = 4 << 20;

/// What keeps secrets out of the index.
pub fn redaction() -> Redaction {
    let redactor = Redactor::default();
    Redaction::new(&rules_version(), move |text| {
        let redacted = redactor.redact(text);
        (redacted.text, redacted.found.len() as u64)
    })
}

/// Why a session is not in the index, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The index refused.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The session could not be read to its end; what was read is in.
    #[error("the session is indexed as far as it can be read: {0}")]
    Session(#[from] longhaul_transcript::Error),
}

/// Puts a session into an index, each entry by whether it has left the context.
/// What the index has of it and the session has no more is taken out.
pub fn put_in(
    index: &mut dyn MemoryIndex,
    session: &Session,
    keep: &Keep,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), PutError> {
    put_in_which(index, session, keep, Which::All, progress)?;
    Ok(())
}

/// The same of some of its entries; says how many secrets were known.
fn put_in_which(
    index: &mut dyn MemoryIndex,
    session: &Session,
    keep: &Keep,
    which: Which<'_>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<u64, PutError> {
    let source = session_name(session);
    // Before it is read: what another process puts in meanwhile may be newer.
    let mut stale = match which {
        Which::All => index.entries(&source)?,
        Which::These(..) => HashSet::new(),
    };
    let learnt = put_records(index, progress, |take| {
        records_of(session, keep, which, &mut |record| {
            stale.remove(&record.entry);
            take(record)
        })
    })?;
    if stale.is_empty() || !keep_what_is_there(session, keep, &mut stale)? {
        return Ok(learnt);
    }
    let removed = index.remove_entries(&source, &stale)?;
    progress(&Progress {
        removed,
        ..Progress::default()
    });
    Ok(learnt)
}

/// Puts in what is read, in lots.
fn put_records<T>(
    index: &mut dyn MemoryIndex,
    progress: &mut dyn FnMut(&Progress),
    read: impl FnOnce(&mut dyn FnMut(Record) -> ControlFlow<()>) -> longhaul_transcript::Result<T>,
) -> Result<T, PutError> {
    let mut lot: Vec<Record> = Vec::new();
    let mut bytes = 0;
    let mut failed: Option<IndexError> = None;
    let mut hand_over = |lot: &mut Vec<Record>| -> Result<(), IndexError> {
        let lot = std::mem::take(lot);
        let done = index.update(&mut lot.into_iter(), Budget::default(), &mut |_| {})?;
        progress(&done);
        Ok(())
    };
    let done = read(&mut |record| {
        bytes += record.text.len();
        lot.push(record);
        if bytes >= LOT_BYTES {
            bytes = 0;
            failed = hand_over(&mut lot).err();
        }
        match failed {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    hand_over(&mut lot)?;
    Ok(done?)
}

/// Puts a whole session into an index, unless its files look as they did when it
/// was last put in: to read it for the secrets that any of its entries gives away
/// takes most of the time. `at` is the time it is now.
pub fn put_in_changed(
    index: &mut SqliteIndex,
    session: &Session,
    keep: &Keep,
    at: Millis,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), PutError> {
    let source = session_name(session);
    let path = session.path();
    let archives = [Packing::Plain, Packing::Zstd].map(|packing| archive_path(path, packing));
    // A database may have something new in its log, which changes no file's time.
    let is_file = match session.format() {
        Format::Pi | Format::OpenClaw | Format::ClaudeCode | Format::Codex => true,
        Format::OpenClawSqlite | Format::OpenClawStore => false,
    };
    // Before it is read, so that a change meanwhile is seen the next time.
    let looks = match is_file {
        true => index.looks(&[path, &archives[0], &archives[1]], at),
        false => None,
    };
    if let Some(looks) = looks
        && index.is_as_noted(&source, looks)?
    {
        let unchanged = index.entries(&source)?.len() as u64;
        progress(&Progress {
            seen: unchanged,
            unchanged,
            ..Progress::default()
        });
        return Ok(());
    }
    put_in(index, session, keep, progress)?;
    if let Some(looks) = looks {
        index.note_looks(&source, looks)?;
    }
    Ok(())
}

/// Looks once more for entries that a session does not seem to have, and keeps
/// those that are there after all: its file may have been replaced while it was
/// read. Says whether it could be read without a loss; what cannot be read may
/// be any of them.
fn keep_what_is_there(
    session: &Session,
    keep: &Keep,
    stale: &mut HashSet<String>,
) -> Result<bool, longhaul_transcript::Error> {
    let session = Session::open_ref(session.reference())?;
    let go_on = &mut |_| ControlFlow::Continue(());
    let mut faults = each_archived(session.path(), go_on)?;
    faults.extend(session.each(go_on)?);
    records_of(&session, keep, Which::All, &mut |record| {
        stale.remove(&record.entry);
        ControlFlow::Continue(())
    })?;
    Ok(!faults.iter().any(|fault| fault.kind.is_loss()))
}

/// The index of an agent in a workspace. The paths in it are those of the
/// workspace, so two workspaces never share one.
pub fn index_path(state_dir: &Path, agent: &str, workspace: &Path) -> PathBuf {
    let workspace = workspace
        .canonicalize()
        .unwrap_or_else(|_| workspace.to_owned());
    let hash = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
    let name = longhaul_transcript::SessionKey::new(agent);
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
    work: Mutex<Option<Work>>,
    /// Keeps the files of the workspace up to date.
    files: Mutex<Option<Indexer>>,
    /// Sessions that are in, as their files were then, and up to where.
    current: Mutex<HashMap<String, (remember::Stamp, u64)>>,
    troubles: Troubles,
    /// Until what failed is tried again.
    waits: Mutex<Waits>,
    /// Where the surveys of sessions are kept.
    surveys: Mutex<Surveys>,
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
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let troubles = &mut all[told as usize];
        if troubles.len() < MOST_TROUBLES && !troubles.iter().any(|known| known == what) {
            troubles.push(what.to_owned());
        }
    }

    /// Adds that there is no vector of what is new.
    fn add_without_vectors(&self, why: &str) {
        self.add(&format!(
            "what is new is found by words alone for now: {why}"
        ));
    }

    fn take(&self, told: Told) -> Vec<String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut all[told as usize])
    }
}

/// The thread that puts things in.
struct Work {
    jobs: Sender<Job>,
    /// Hears nothing, and ends with the thread.
    ended: Receiver<()>,
}

/// How long the end of the library waits for what is being put in. What does not
/// come in is found missing by the next update.
const END_PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// A database is put in order by whoever closes it last; so nobody may still
/// have it open when the process ends.
impl Drop for Shared {
    fn drop(&mut self) {
        let files = self.files.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(files.take());
        let reader = self.reader.get_mut();
        drop(reader.unwrap_or_else(PoisonError::into_inner).take());
        let work = self.work.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(Work { jobs, ended }) = work.take() {
            drop(jobs);
            let _ = ended.recv_timeout(END_PATIENCE);
        }
    }
}

/// Something to be put in.
enum Job {
    Entries {
        session: PathBuf,
        ids: HashSet<EntryId>,
    },
    /// Everything of a session.
    Session(PathBuf),
    /// The model that makes vectors from now on.
    Encoder(Arc<dyn Encoder>),
    /// Says when all before it is done.
    Done(Sender<()>),
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
                work: Mutex::default(),
                files: Mutex::default(),
                current: Mutex::default(),
                troubles: Troubles::default(),
                waits: Mutex::default(),
                surveys: Mutex::default(),
            }),
        }
    }

    /// Where the surveys of sessions are kept, for what is started from now on:
    /// with them only what is new is read.
    pub fn use_surveys(&self, surveys: Surveys) {
        let own = self.shared.surveys.lock();
        *own.unwrap_or_else(PoisonError::into_inner) = surveys;
    }

    /// How long is waited before vectors that failed are tried again, for what is
    /// started from now on.
    pub fn use_waits(&self, waits: Waits) {
        let mut own = self.shared.waits.lock();
        *own.as_deref_mut()
            .unwrap_or_else(|poisoned| poisoned.get_mut()) = waits;
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
        let shared = &self.shared;
        let mut reader = shared.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = match reader.take() {
            Some(index) => index,
            None => shared.open()?,
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
        // Held from here on, so that no model comes in between.
        let mut kept = self
            .shared
            .files
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let index = Box::new(self.shared.open()?);
        let troubles = self.shared.troubles.clone();
        let tell = Box::new(move |indexing: Indexing| match indexing {
            Indexing::Note(note) => troubles.add(&note),
            Indexing::Failed(error @ IndexError::Encoder { .. }) => {
                troubles.add_without_vectors(&error.to_string());
            }
            Indexing::Failed(error) => {
                troubles.add(&format!("the memory files are not all indexed: {error}"));
            }
            _ => {}
        });
        let started = Indexer::start(index, tell, self.shared.waits());
        let failed = longhaul_files::Error::io("start the thread of", &self.shared.path);
        let mut indexer = started.map_err(failed)?;
        indexer.files(files);
        // Those that an earlier process did not come to.
        indexer.vectors();
        let watched = indexer.watch(files);
        *kept = Some(indexer);
        watched
    }

    /// Searches with the memory files as they are. Where they are watched, they are
    /// looked at after a change, and not for every question.
    fn search_files(
        &self,
        query: &Query,
        files: &WorkspaceFiles,
        at: Millis,
    ) -> Result<Hits, IndexError> {
        let indexer = || {
            self.shared
                .files
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let is_current = |indexer: &Indexer| !indexer.take_changed();
        if indexer().as_ref().is_some_and(is_current) {
            return self.search(query);
        }
        let found = self.reading(|index| index.search_current(query, files, SYNCED, at));
        // What is told of them is told until it is so no more.
        let is_told = found.as_ref().map_or(true, |found| !found.notes.is_empty());
        if let (true, Some(indexer)) = (is_told, indexer().as_ref()) {
            indexer.set_changed();
        }
        found
    }

    /// Puts in what an earlier process did not come to.
    pub fn take_session(&self, session: &Path) {
        self.send(Job::Session(session.to_owned()));
    }

    /// Waits until everything that was given to it is in the index, for so long
    /// at most. A one-shot program may want this before it ends.
    pub fn settle(&self, patience: std::time::Duration) -> bool {
        let (done, heard) = channel();
        self.send(Job::Done(done));
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

    fn send(&self, job: Job) {
        let mut work = self
            .shared
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let work = work.get_or_insert_with(|| self.shared.start());
        // The thread ends only after the sender does.
        let _ = work.jobs.send(job);
    }
}

impl Departures for Library {
    fn left(&self, session: &Path, entries: &[EntryId]) {
        if entries.is_empty() {
            return;
        }
        self.send(Job::Entries {
            session: session.to_owned(),
            ids: entries.iter().cloned().collect(),
        });
    }
}

impl Shared {
    fn open(&self) -> Result<SqliteIndex, IndexError> {
        let mut index = SqliteIndex::open(&self.path, self.settings.clone())?;
        index.use_encoder(self.encoder());
        if let Some(aside) = index.set_aside() {
            self.troubles.add(&format!(
                "the index was damaged; it lies at {} and a new one is made",
                aside.display()
            ));
        }
        Ok(index)
    }

    fn encoder(&self) -> Option<Arc<dyn Encoder>> {
        let encoder = self.encoder.lock();
        encoder.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn surveys(&self) -> Surveys {
        let surveys = self.surveys.lock();
        surveys.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn waits(&self) -> Waits {
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread that puts things in.
    fn start(&self) -> Work {
        let (sender, jobs) = channel();
        let (at_work, ended) = channel();
        let worker = Worker {
            path: self.path.clone(),
            settings: self.settings.clone(),
            encoder: self.encoder(),
            index: None,
            troubles: self.troubles.clone(),
            waits: self.waits(),
            surveys: self.surveys(),
            learnt: HashMap::new(),
            failing: None,
        };
        let name = "longhaul-index".to_owned();
        let spawned = std::thread::Builder::new().name(name).spawn(move || {
            worker.run(&jobs);
            drop(at_work);
        });
        if let Err(error) = spawned {
            self.troubles.add(&format!("nothing is indexed: {error}"));
        }
        Work {
            jobs: sender,
            ended,
        }
    }
}

struct Worker {
    path: PathBuf,
    settings: IndexSettings,
    encoder: Option<Arc<dyn Encoder>>,
    index: Option<SqliteIndex>,
    troubles: Troubles,
    waits: Waits,
    surveys: Surveys,
    /// How many secrets were known of a session when it was last put in.
    learnt: HashMap<PathBuf, u64>,
    /// Until vectors that failed are tried again.
    failing: Option<Waits>,
}

/// Chunks that get their vectors in one go, between two jobs.
const EMBED_AT_ONCE: u64 = 64;

impl Worker {
    fn run(mut self, jobs: &Receiver<Job>) {
        let mut idle = false;
        loop {
            // While there is nothing else to do, vectors are made.
            let job = match (idle, self.failing) {
                (true, None) => jobs.recv().map_err(RecvTimeoutError::from),
                (true, Some(waits)) => jobs.recv_timeout(waits.next),
                (false, _) => jobs.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                }),
            };
            let job = match job {
                Ok(job) => job,
                Err(RecvTimeoutError::Timeout) => {
                    idle = self.embed();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            idle = false;
            let done = match job {
                Job::Entries { session, ids } => self.take(&session, Some(&ids)),
                Job::Session(session) => self.take(&session, None),
                Job::Encoder(encoder) => {
                    self.encoder = Some(Arc::clone(&encoder));
                    if let Some(index) = &mut self.index {
                        index.use_encoder(Some(encoder));
                    }
                    Ok(())
                }
                Job::Done(done) => {
                    let _ = done.send(());
                    Ok(())
                }
            };
            if let Err(reason) = done {
                let told = format!("what left the context is not indexed: {reason}");
                self.troubles.add(&told);
            }
        }
    }

    fn index(&mut self) -> Result<&mut SqliteIndex, String> {
        if self.index.is_none() {
            let mut index = SqliteIndex::open(&self.path, self.settings.clone())
                .map_err(|error| error.to_string())?;
            index.use_encoder(self.encoder.clone());
            self.index = Some(index);
        }
        Ok(self.index.as_mut().expect("it was just opened"))
    }

    fn take(&mut self, path: &Path, ids: Option<&HashSet<EntryId>>) -> Result<(), String> {
        let session = Session::open(path).map_err(|error| error.to_string())?;
        let keep = self.surveys.keep(&session);
        let known = self.learnt.get(path).copied();
        let which = ids.map_or(Which::All, |ids| Which::These(ids, known));
        let index = self.index()?;
        let learnt = put_in_which(index, &session, &keep, which, &mut |_| {})
            .map_err(|error| error.to_string())?;
        self.learnt.insert(path.to_owned(), learnt);
        Ok(())
    }

    /// Makes some vectors; says whether there is nothing left to make.
    fn embed(&mut self) -> bool {
        if self.encoder.is_none() {
            return true;
        }
        let Ok(index) = self.index() else {
            return true;
        };
        match index.embed(EMBED_AT_ONCE, &mut |_, _| {}) {
            Ok(left) => {
                self.failing = None;
                left == 0
            }
            Err(error) => {
                let before = self.failing.take();
                if error.may_pass() {
                    self.failing = Some(self.waits.after_another(before));
                }
                if before.is_none() {
                    self.troubles.add_without_vectors(&error.to_string());
                }
                true
            }
        }
    }
}
