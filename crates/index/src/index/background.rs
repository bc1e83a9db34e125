//! Indexing beside the work: a thread that takes files, models and other work as
//! they come, and never makes anybody wait.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{
    Receiver, RecvError, RecvTimeoutError, SyncSender, TryRecvError, sync_channel,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{Error, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::MemoryIndex;
use super::workspace::WorkspaceFiles;
use crate::embed::Encoder;
use crate::error::IndexError;
use crate::record::{Budget, Progress};

/// What the thread tells.
#[derive(Debug)]
pub enum Indexing {
    /// Texts are being taken in.
    Texts(Progress),
    /// Vectors are being made: so many of so many.
    Vectors(u64, u64),
    /// Something to know, such as a file that was left out.
    Note(String),
    /// Something failed. The thread goes on with what comes next; vectors that
    /// failed are tried again, which is not told again before some are made.
    Failed(IndexError),
    /// Everything that was asked for is done.
    Idle,
}

/// Something else to be done with the index, on the thread.
pub type Work = Box<dyn FnOnce(&mut dyn MemoryIndex) + Send>;

enum Job {
    Work(Work),
    Files(WorkspaceFiles),
    /// Something of them changed, and perhaps goes on to.
    Changed(WorkspaceFiles),
    Vectors,
    Encoder(Arc<dyn Encoder>),
    Stop,
}

/// How long is waited before what failed is tried again: twice as long each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// The wait that comes next.
    pub next: Duration,
    /// None is longer.
    pub longest: Duration,
}

impl Default for Waits {
    fn default() -> Waits {
        Waits {
            next: Duration::from_secs(5),
            longest: Duration::from_secs(300),
        }
    }
}

impl Waits {
    /// The waits after the next one.
    pub fn longer(self) -> Waits {
        Waits {
            next: self.next.saturating_mul(2).min(self.longest),
            ..self
        }
    }

    /// What is waited after another failure, where there were any before.
    pub fn after_another(self, before: Option<Waits>) -> Waits {
        before.map_or(self, Waits::longer)
    }
}

/// How many jobs may wait.
const WAITING: usize = 256;
/// How many vectors are made before the thread looks for other work.
const VECTORS_AT_ONCE: u64 = 64;
/// How many bytes of files are taken in before it does.
const BYTES_AT_ONCE: u64 = 8 << 20;
/// How long the end waits for what is being done.
const END_PATIENCE: Duration = Duration::from_secs(2);
/// How long a file must be quiet before it is read.
const QUIET: Duration = Duration::from_millis(500);
/// So many times as long as reading them took the files are left alone: a log that
/// grows all day is read whole, and must not be all that is done.
const REST: u32 = 20;

/// What hears of changes. The thread has a part in it: folders that are made
/// later are watched from then on.
type Watcher = Mutex<Option<RecommendedWatcher>>;

fn held(watcher: &Watcher) -> MutexGuard<'_, Option<RecommendedWatcher>> {
    watcher.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that keeps an index up to date.
pub struct Indexer {
    jobs: SyncSender<Job>,
    thread: Option<JoinHandle<()>>,
    /// Hears nothing, and ends with the thread.
    ended: Receiver<()>,
    watcher: Arc<Watcher>,
    /// Whether watched files may have changed since somebody asked.
    changed: Arc<AtomicBool>,
}

impl Indexer {
    /// Starts the thread. `tell` hears what it does, on that thread; vectors that
    /// fail are tried again after `waits`.
    pub fn start(
        mut index: Box<dyn MemoryIndex>,
        mut tell: Box<dyn FnMut(Indexing) + Send>,
        waits: Waits,
    ) -> std::io::Result<Indexer> {
        let (jobs, queue) = sync_channel(WAITING);
        let watcher = Arc::new(Watcher::default());
        let shared = Arc::clone(&watcher);
        let (at_work, ended) = sync_channel(0);
        let thread = thread::Builder::new()
            .name(String::from("longhaul-index"))
            .spawn(move || {
                work(&queue, &shared, &mut *index, &mut *tell, waits);
                drop(index);
                drop(at_work);
            })?;
        Ok(Indexer {
            jobs,
            thread: Some(thread),
            ended,
            watcher,
            changed: Arc::new(AtomicBool::new(true)),
        })
    }

    /// Whether watched files may have changed since this was asked last. Who
    /// searches looks at them then, and not for every question.
    pub fn take_changed(&self) -> bool {
        let watcher = held(&self.watcher);
        // What is not watched may change at any time.
        self.changed.swap(false, Ordering::AcqRel) || watcher.is_none()
    }

    /// Has the next who asks be told that they may have changed.
    pub fn set_changed(&self) {
        self.changed.store(true, Ordering::Release);
    }

    /// Has something done with the index, and the vectors made that are missing
    /// then. Waits where too much is waiting already.
    pub fn work(&self, work: Work) {
        let _ = self.jobs.send(Job::Work(work));
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

    /// Hands over the model that makes vectors from now on, those that are missing
    /// first. Waits where too much is waiting already.
    pub fn use_encoder(&self, encoder: Arc<dyn Encoder>) {
        let _ = self.jobs.send(Job::Encoder(encoder));
    }

    /// Watches the files of a workspace from now on, also those in folders that
    /// are not there yet.
    pub fn watch(&mut self, files: &WorkspaceFiles) -> Result<(), IndexError> {
        let failed =
            |error: Error| IndexError::io("watch", &files.root)(std::io::Error::other(error));
        let (jobs, changed) = (self.jobs.clone(), Arc::clone(&self.changed));
        let watched = files.clone();
        let watcher = notify::recommended_watcher(move |event: Result<Event, Error>| {
            // Errors of the watcher, such as an overflow, mean that something
            // changed as well.
            if event.map_or(true, |event| is_ours(&watched, &event)) {
                changed.store(true, Ordering::Release);
                let _ = jobs.try_send(Job::Changed(watched.clone()));
            }
        })
        .map_err(failed)?;
        let mut kept = held(&self.watcher);
        let watched = watch_places(kept.insert(watcher), files);
        if watched.is_err() {
            *kept = None;
        }
        watched.map_err(failed)
    }

    /// Lets the thread finish what it is at, and ends it; a model that hangs is not
    /// waited for. What was waiting is found again by the next update.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        held(&self.watcher).take();
        let Some(thread) = self.thread.take() else {
            return;
        };
        if self.jobs.send(Job::Stop).is_ok()
            && self.ended.recv_timeout(END_PATIENCE) != Err(RecvTimeoutError::Timeout)
        {
            let _ = thread.join();
        }
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether an event in a watched folder means that memory changed. Reading is
/// none: our own would otherwise be followed by the next, for ever.
fn is_ours(files: &WorkspaceFiles, event: &Event) -> bool {
    let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
    if event.kind.is_access() && event.kind != written {
        return false;
    }
    let places = files.places();
    let about = |path: &Path, place: &Path| path.starts_with(place) || place.starts_with(path);
    let mut paths = event.paths.iter();
    paths.any(|path| places.iter().any(|place| about(path, place)))
}

/// Watches what is there: folders with all in them, and for what is not there
/// yet the folder that it would appear in. Watching again what is watched
/// already changes nothing, except where a folder was removed and made anew.
fn watch_places(watcher: &mut RecommendedWatcher, files: &WorkspaceFiles) -> Result<(), Error> {
    let places = files.places();
    let (folders, others): (Vec<_>, Vec<_>) = places.iter().partition(|place| place.is_dir());
    watcher.watch(&files.root, RecursiveMode::NonRecursive)?;
    for place in others {
        let above = place.ancestors().skip(1).find(|above| above.is_dir());
        let above = above.filter(|above| !folders.iter().any(|one| above.starts_with(one)));
        if let Some(above) = above {
            watcher.watch(above, RecursiveMode::NonRecursive)?;
        }
    }
    for folder in folders {
        watcher.watch(folder, RecursiveMode::Recursive)?;
    }
    Ok(())
}

fn work(
    queue: &Receiver<Job>,
    watcher: &Watcher,
    index: &mut dyn MemoryIndex,
    tell: &mut dyn FnMut(Indexing),
    waits: Waits,
) {
    // What was begun and rests so that others get their turn.
    let mut files: Option<WorkspaceFiles> = None;
    let mut vectors = false;
    // Until vectors that failed are tried again.
    let mut failing: Option<Waits> = None;
    // Files that changed, and when they are read.
    let mut changed: Option<(WorkspaceFiles, Instant)> = None;
    let mut rested = Instant::now();
    loop {
        if let Some((_, due)) = &changed
            && due.elapsed() > Duration::ZERO
        {
            files = changed.take().map(|(files, _)| files);
        }
        let job = if files.is_none() && !vectors {
            let quiet = changed
                .as_ref()
                .map(|(_, due)| due.saturating_duration_since(Instant::now()));
            if quiet.is_none() {
                tell(Indexing::Idle);
            }
            match next_job(queue, quiet.or(failing.map(|waits| waits.next))) {
                Ok(Some(job)) => Some(job),
                Ok(None) => {
                    vectors = quiet.is_none();
                    None
                }
                Err(RecvError) => return,
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
            Some(Job::Work(work)) => {
                work(index);
                vectors = true;
            }
            Some(Job::Files(asked)) => files = Some(asked),
            Some(Job::Changed(asked)) => {
                changed = Some((asked, rested.max(Instant::now() + QUIET)));
            }
            Some(Job::Vectors) => vectors = true,
            Some(Job::Encoder(encoder)) => {
                index.use_encoder(Some(encoder));
                vectors = true;
            }
            None => {
                if let Some(asked) = files.take() {
                    // Before they are read, so that nothing falls in between.
                    let mut watcher = held(watcher);
                    let watched = watcher.as_mut().map(|all| watch_places(all, &asked));
                    if let Some(Err(_)) = &watched {
                        *watcher = None;
                    }
                    drop(watcher);
                    if let Some(Err(error)) = watched {
                        let note = format!("changes of memory files may go unnoticed: {error}");
                        tell(Indexing::Note(note));
                    }
                    let budget = Budget {
                        bytes: BYTES_AT_ONCE,
                    };
                    let begun = Instant::now();
                    let done = asked.sync(index, budget, &mut |progress| {
                        tell(Indexing::Texts(*progress))
                    });
                    rested = Instant::now() + begun.elapsed() * REST;
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
                        Ok(left) => {
                            vectors = left > 0;
                            failing = None;
                        }
                        Err(error) => {
                            vectors = false;
                            let before = failing.take();
                            if error.may_pass() {
                                failing = Some(waits.after_another(before));
                            }
                            if before.is_none() {
                                tell(Indexing::Failed(error));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Waits for the next job, for so long at most where there is a limit.
fn next_job(queue: &Receiver<Job>, most: Option<Duration>) -> Result<Option<Job>, RecvError> {
    let Some(most) = most else {
        return queue.recv().map(Some);
    };
    match queue.recv_timeout(most) {
        Ok(job) => Ok(Some(job)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(RecvError),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_memory_is_no_change_of_it() {
        let files = WorkspaceFiles::new("/work");
        let event = |kind, path: &str| Event::new(kind).add_path(path.into());
        let open = EventKind::Access(AccessKind::Open(AccessMode::Any));
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let changed = EventKind::Modify(notify::event::ModifyKind::Any);
        for (kind, path, ours) in [
            (open, "/work/memory/2026-03-01.md", false),
            (open, "/work/memory", false),
            (written, "/work/memory/2026-03-01.md", true),
            (changed, "/work/memory/2026-03-01.md", true),
            (changed, "/work/MEMORY.md", true),
            (changed, "/work/src/main.rs", false),
        ] {
            assert_eq!(is_ours(&files, &event(kind, path)), ours, "{kind:?} {path}");
        }
    }
}
