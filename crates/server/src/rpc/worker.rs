//! One session of a host: its requests, one after the other.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use longhaul_engine::Result;
use longhaul_engine::event::Event;
use longhaul_engine::hosted::{Asking, Birth, Hosted};
use longhaul_engine::session::{Engine, Listener};
use longhaul_engine::tools::Toolbox;
use longhaul_model::{Model, ModelInfo};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::connection::Running;
use super::frame::{Fault, Id};
use super::model::{HostModel, Patience};
use super::peer::Peer;
use super::{Place, life};

/// A request about a session.
pub(super) struct Job {
    pub(super) id: Option<Id>,
    pub(super) number: u64,
    pub(super) method: String,
    pub(super) params: Box<RawValue>,
    pub(super) cancel: CancellationToken,
    /// How long the host waits for the answer.
    pub(super) timeout: Option<Duration>,
}

/// Whose session it is, and where it is kept.
#[derive(Debug, Clone)]
pub(super) struct Lodger {
    pub(super) session_id: String,
    pub(super) session_key: Option<String>,
    pub(super) mirror: PathBuf,
    /// It does a part of another session's work.
    pub(super) is_child: bool,
    pub(super) parent: Option<PathBuf>,
    pub(super) llm: bool,
    pub(super) host: String,
}

/// Hears what the engine does, and tells the host.
pub(super) struct Told {
    peer: Peer,
    session_id: String,
}

impl Listener for Told {
    fn event(&mut self, event: &Event) {
        self.peer.tell(&self.session_id, event);
    }
}

/// Looks after one session.
pub(super) struct Worker {
    pub(super) lodger: Lodger,
    place: Arc<dyn Place>,
    pub(super) peer: Peer,
    running: Running,
    hosted: Option<Hosted>,
    patience: Patience,
    /// That the host's lists hold what is no message was said.
    pub(super) said_odd: bool,
    /// The turns that were committed here, each with a hash of its messages.
    pub(super) turns: HashMap<String, u64>,
}

impl Worker {
    pub(super) fn new(
        lodger: Lodger,
        place: Arc<dyn Place>,
        peer: Peer,
        running: Running,
    ) -> Worker {
        Worker {
            lodger,
            place,
            peer,
            running,
            hosted: None,
            patience: Patience::default(),
            said_odd: false,
            turns: HashMap::new(),
        }
    }

    /// Answers requests until there are no more.
    pub(super) async fn run(self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let mut worker = Some(self);
        while let Some(job) = jobs.recv().await {
            let Some(mut at_work) = worker.take() else {
                return;
            };
            let (peer, running) = (at_work.peer.clone(), Arc::clone(&at_work.running));
            let again = at_work.anew();
            let (id, number, method) = (job.id.clone(), job.number, job.method.clone());
            // In a task of its own, so that a bug in one request is not the end of all.
            let done = tokio::spawn(async move {
                let answer = match job.cancel.is_cancelled() {
                    true => Err(Fault::cancelled()),
                    false => {
                        at_work.patience.begin(job.timeout);
                        life::answer(&mut at_work, &job).await
                    }
                };
                (at_work, answer)
            });
            let answer = match done.await {
                Ok((at_work, answer)) => {
                    worker = Some(at_work);
                    answer
                }
                Err(error) => {
                    worker = Some(again);
                    let reason = format!("{method} failed: {error}");
                    peer.log("error", &reason);
                    life::without_us(&method, &reason)
                }
            };
            if let Some(id) = &id {
                let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
                if running.get(id).is_some_and(|(other, _)| *other == number) {
                    running.remove(id);
                }
            }
            peer.answer(id.as_ref(), &answer);
        }
    }

    /// The same worker with its session still to be opened.
    fn anew(&self) -> Worker {
        Worker::new(
            self.lodger.clone(),
            Arc::clone(&self.place),
            self.peer.clone(),
            Arc::clone(&self.running),
        )
    }

    pub(super) fn listener(&self) -> Told {
        Told {
            peer: self.peer.clone(),
            session_id: self.lodger.session_id.clone(),
        }
    }

    /// The session, opened where it is not, and opened again where somebody else
    /// wrote into its mirror.
    pub(super) fn hosted(&mut self) -> Result<&mut Hosted> {
        if self
            .hosted
            .as_ref()
            .is_some_and(|open| !open.is_untouched())
        {
            self.hosted = None;
        }
        let hosted = match self.hosted.take() {
            Some(hosted) => hosted,
            None => self.open()?,
        };
        Ok(self.hosted.insert(hosted))
    }

    fn open(&self) -> Result<Hosted> {
        let lodger = &self.lodger;
        let summaries = lodger.llm.then(|| -> Arc<dyn Model> {
            Arc::new(HostModel {
                peer: self.peer.clone(),
                info: ModelInfo {
                    provider: lodger.host.clone(),
                    name: "llm.complete".to_owned(),
                    ..ModelInfo::default()
                },
                session_id: lodger.session_id.clone(),
                session_key: lodger.session_key.clone(),
                patience: self.patience.clone(),
            })
        });
        let mut setup = self.place.setup(summaries);
        if lodger.is_child {
            setup.config.compaction.memory_flush.enabled = false;
        }
        let birth = Birth {
            id: lodger.session_id.clone(),
            key: lodger.session_key.clone(),
            parent: lodger
                .parent
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned()),
            speaker: match lodger.is_child {
                true => Asking::Agent,
                false => Asking::User,
            },
        };
        let engine = Engine::new(setup);
        Hosted::open(&engine, &lodger.mirror, &birth, &mut self.listener())
    }

    /// Forgets the session, so that it is read again: something is not as it
    /// should be.
    pub(super) fn close(&mut self) {
        self.hosted = None;
    }

    pub(super) fn tools(&self) -> Arc<dyn Toolbox> {
        self.place.tools(&self.lodger.mirror)
    }
}
