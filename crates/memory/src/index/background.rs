//! Indexing beside the work: a thread that takes records, files and models as
//! they come, and never makes anybody wait.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use notify_debouncer_full::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};

use super::record::{Budget, Progress, Record};
use super::workspace::WorkspaceFiles;
use super::{IndexError, MemoryIndex};

/// What the thread tells.
#[derive(Debug)]
pub enum Indexing {
    /// Texts are being taken in.
    Texts(Progress),
    /// Vectors are being made: so many of so many.
    Vectors(u64, u64),
    /// Something to know, such as a file that was left out.
    Note(String),
    /// Something failed. The thread goes on with what comes next.
    Failed(IndexError),
    /// Everything that was asked for is done.
    Idle,
}

enum Job {
    Records(Vec<Record>),
    Files(WorkspaceFiles),
    Vectors,
    Stop,
}

/// How many jobs may wait.
const WAITING: usize = 256;
/// How many vectors are made before the thread looks for other work.
const VECTORS_AT_ONCE: u64 = 64;
/// How many bytes of files are taken in before it does.
const BYTES_AT_ONCE: u64 = 8 << 20;
/// How long a file must be quiet before it is read.
const QUIET: Duration = Duration::from_millis(500);

/// A thread that keeps an index up to date.
pub struct Indexer {
    jobs: SyncSender<Job>,
    thread: Option<JoinHandle<()>>,
    watcher: Option<Debouncer<RecommendedWatcher, RecommendedCache>>,
}

impl Indexer {
    /// Starts the thread. `tell` hears what it does, on that thread.
    pub fn start(
        mut index: Box<dyn MemoryIndex>,
        mut tell: Box<dyn FnMut(Indexing) + Send>,
    ) -> std::io::Result<Indexer> {
        let (jobs, queue) = sync_channel(WAITING);
        let thread = thread::Builder::new()
            .name(String::from("longhaul-index"))
            .spawn(move || work(&queue, &mut *index, &mut *tell))?;
        Ok(Indexer {
            jobs,
            thread: Some(thread),
            watcher: None,
        })
    }

    /// Hands records over, and never waits: where too much is waiting already
    /// they come back, to be handed over again later.
    pub fn records(&self, records: Vec<Record>) -> Result<(), Vec<Record>> {
        self.jobs.try_send(Job::Records(records)).map_err(|error| {
            let (TrySendError::Full(job) | TrySendError::Disconnected(job)) = error;
            match job {
                Job::Records(records) => records,
                Job::Files(_) | Job::Vectors | Job::Stop => Vec::new(),
            }
        })
    }

    /// Asks for the files of a workspace to be brought up to date. Where too
    /// much is waiting already, this is too, or will be asked for again.
    pub fn files(&self, files: &WorkspaceFiles) {
        let _ = self.jobs.try_send(Job::Files(files.clone()));
    }

    /// Asks for the vectors that are missing.
    pub fn vectors(&self) {
        let _ = self.jobs.try_send(Job::Vectors);
    }

    /// Watches the files of a workspace from now on.
    pub fn watch(&mut self, files: &WorkspaceFiles) -> Result<(), IndexError> {
        let failed = |error: notify_debouncer_full::notify::Error| IndexError::Io {
            action: "watch",
            path: files.root.clone(),
            source: std::io::Error::other(error),
        };
        let jobs = self.jobs.clone();
        let watched = files.clone();
        let mut watcher = new_debouncer(QUIET, None, move |events: DebounceEventResult| {
            // Errors of the watcher, such as an overflow, mean that something
            // changed as well.
            let ours = events.map_or(true, |events| {
                let mut paths = events.iter().flat_map(|event| &event.paths);
                paths.any(|path| is_ours(&watched, path))
            });
            if ours {
                let _ = jobs.try_send(Job::Files(watched.clone()));
            }
        })
        .map_err(failed)?;
        // The root for files that are not there yet; folders with all in them.
        watcher
            .watch(&files.root, RecursiveMode::NonRecursive)
            .map_err(failed)?;
        for place in files.places().into_iter().filter(|place| place.is_dir()) {
            watcher
                .watch(&place, RecursiveMode::Recursive)
                .map_err(failed)?;
        }
        self.watcher = Some(watcher);
        Ok(())
    }

    /// Lets the thread finish what it is at, and ends it. What was waiting is
    /// found again by the next update.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.watcher = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        if self.jobs.send(Job::Stop).is_ok() {
            let _ = thread.join();
        }
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a change in a watched folder is about memory.
fn is_ours(files: &WorkspaceFiles, path: &Path) -> bool {
    files.places().iter().any(|place| path.starts_with(place))
}

fn work(queue: &Receiver<Job>, index: &mut dyn MemoryIndex, tell: &mut dyn FnMut(Indexing)) {
    // What was begun and rests so that others get their turn.
    let mut files: Option<WorkspaceFiles> = None;
    let mut vectors = false;
    loop {
        let job = if files.is_none() && !vectors {
            tell(Indexing::Idle);
            match queue.recv() {
                Ok(job) => Some(job),
                Err(_) => return,
            }
        } else {
            match queue.try_recv() {
                Ok(job) => Some(job),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => return,
            }
        };
        match job {
            Some(Job::Stop) => return,
            Some(Job::Records(records)) => {
                let done = index.update(
                    &mut records.into_iter(),
                    Budget::default(),
                    &mut |progress| {
                        tell(Indexing::Texts(*progress));
                    },
                );
                match done {
                    Ok(done) => vectors |= done.written > 0,
                    Err(error) => tell(Indexing::Failed(error)),
                }
            }
            Some(Job::Files(asked)) => files = Some(asked),
            Some(Job::Vectors) => vectors = true,
            None => {
                if let Some(asked) = files.take() {
                    let budget = Budget {
                        bytes: BYTES_AT_ONCE,
                    };
                    let done = asked.sync(index, budget, &mut |progress| {
                        tell(Indexing::Texts(*progress))
                    });
                    match done {
                        Ok(done) => {
                            vectors |= done.progress.written > 0;
                            if done.progress.exhausted {
                                files = Some(asked);
                            } else {
                                done.notes
                                    .into_iter()
                                    .for_each(|note| tell(Indexing::Note(note)));
                            }
                        }
                        Err(error) => tell(Indexing::Failed(error)),
                    }
                } else if vectors {
                    let done = index.embed(VECTORS_AT_ONCE, &mut |done, of| {
                        tell(Indexing::Vectors(done, of))
                    });
                    match done {
                        Ok(left) => vectors = left > 0,
                        Err(error) => {
                            vectors = false;
                            tell(Indexing::Failed(error));
                        }
                    }
                }
            }
        }
    }
}
