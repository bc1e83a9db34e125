//! One connection from its first line to its last.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_transcript::SessionKey;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::frame::{
    self, BAD_PARAMS, Fault, Frame, INVALID, Id, NOT_INITIALIZED, UNKNOWN_METHOD, WRONG_PROTOCOL,
};
use super::line::{self, Line};
use super::params::{self, Initialize, Spawn, Whose};
use super::peer::Peer;
use super::worker::{Job, Lodger, Worker};
use super::{Guest, PROTOCOL, Place, Surroundings, life, pi};

/// Sessions that are held open at once. One that is closed for another's sake is
/// read again when it is next asked for.
const MOST_OPEN: usize = 64;

/// Serves a host until its input ends or it says `shutdown`. What was begun by
/// then is finished, summaries excepted.
pub async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    surroundings: Arc<dyn Surroundings>,
) -> io::Result<()> {
    let (peer, lines) = Peer::new();
    let writer = tokio::spawn(write(output, lines));
    let mut connection = Connection {
        surroundings,
        peer: peer.clone(),
        host: None,
        workers: HashMap::new(),
        running: Arc::default(),
        used: 0,
        ending: Vec::new(),
        children: HashMap::new(),
        pi: None,
    };
    let ended = connection
        .run(BufReader::with_capacity(1 << 16, input))
        .await;
    connection.end().await;
    drop((connection, peer));
    // The last answers are written when everybody who could give one is gone.
    let written = writer
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)));
    match ended {
        Err(error) => Err(error),
        // A host that no longer listens has gone.
        Ok(()) => match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        },
    }
}

async fn write(
    output: impl AsyncWrite + Unpin,
    mut lines: mpsc::UnboundedReceiver<String>,
) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 16, output);
    while let Some(line) = lines.recv().await {
        output.write_all(line.as_bytes()).await?;
        output.write_all(b"\n").await?;
        if lines.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}

/// What `initialize` has settled.
struct Settled {
    guest: Guest,
    place: Arc<dyn Place>,
    llm: bool,
}

/// Requests that are not answered yet, with their numbers: a host may use an id
/// again.
pub(super) type Running = Arc<Mutex<HashMap<Id, (u64, CancellationToken)>>>;

struct Open {
    jobs: mpsc::UnboundedSender<Job>,
    task: JoinHandle<()>,
    used: u64,
}

struct Connection {
    surroundings: Arc<dyn Surroundings>,
    peer: Peer,
    host: Option<Settled>,
    workers: HashMap<String, Open>,
    running: Running,
    /// Requests so far.
    used: u64,
    /// Workers that have been let go and may still have something to do.
    ending: Vec<JoinHandle<()>>,
    /// Sessions that others are about to start, by their keys: the mirror of the
    /// one that does.
    children: HashMap<String, Option<PathBuf>>,
    /// Where pi is served, once it has asked for something.
    pi: Option<pi::Desk>,
}

impl Connection {
    async fn run(&mut self, mut input: BufReader<impl AsyncRead + Unpin>) -> io::Result<()> {
        loop {
            let line = match line::next(&mut input, line::LONGEST).await? {
                Line::End => return Ok(()),
                Line::TooLong => {
                    let most = line::LONGEST >> 20;
                    let fault = Fault::new(INVALID, format!("a line has more than {most} MB"));
                    self.peer.complain(None, &fault);
                    continue;
                }
                Line::Text(line) => line,
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match frame::read(&line) {
                Err((id, fault)) => self.peer.complain(id.as_ref(), &fault),
                Ok(Frame::Answer { id, outcome }) => {
                    if !self.peer.heard(&id, outcome) {
                        self.peer
                            .log("debug", &format!("nobody waits for the answer {id:?}"));
                    }
                }
                Ok(Frame::Call { id, method, params }) => {
                    drop(line);
                    if method == "shutdown" {
                        self.peer.answer(id.as_ref(), &Ok("{}".to_owned()));
                        return Ok(());
                    }
                    self.call(id, &method, params);
                }
            }
        }
    }

    /// Lets everything that was begun come to its end.
    async fn end(&mut self) {
        // Whoever waits for the host waits no longer.
        self.peer.hang_up();
        self.let_go_of_all();
        for task in self.ending.drain(..) {
            // A worker that has failed has said so.
            let _ = task.await;
        }
        if let Some(desk) = self.pi.take() {
            desk.close().await;
        }
    }

    fn let_go_of_all(&mut self) {
        let open = self.workers.drain().map(|(_, open)| open.task);
        self.ending.extend(open);
    }

    /// A worker ends when it has done what it was given.
    fn let_go(&mut self, session: &str) {
        self.ending.retain(|task| !task.is_finished());
        let open = self.workers.remove(session);
        self.ending.extend(open.map(|open| open.task));
    }

    fn call(&mut self, id: Option<Id>, method: &str, params: Box<RawValue>) {
        let answer = match method {
            "initialize" => Some(self.initialize(&params)),
            "ping" => Some(Ok("{}".to_owned())),
            "cancel" => {
                self.cancel(&params);
                Some(Ok("{}".to_owned()))
            }
            _ if self.host.is_none() => Some(Err(Fault::new(
                NOT_INITIALIZED,
                "say `initialize` first, with `protocol`: 1",
            ))),
            "tools/list" => Some(self.tools()),
            "prepareSubagentSpawn" => Some(self.spawning(&params)),
            "rollbackSubagentSpawn" | "onSubagentEnded" => Some(self.spawned(&params)),
            "dispose" => self.dispose(&params),
            _ if pi::METHODS.contains(&method) => {
                self.hand_to_pi(&id, method, params);
                None
            }
            _ if life::METHODS.contains(&method) => match self.hand_on(&id, method, params) {
                Ok(()) => None,
                Err(fault) => Some(Err(fault)),
            },
            _ => Some(Err(Fault::new(
                UNKNOWN_METHOD,
                format!("there is no method {method:?}"),
            )
            .with(json!({ "methods": methods() })))),
        };
        if let Some(answer) = answer {
            self.peer.answer(id.as_ref(), &answer);
        }
    }

    fn initialize(&mut self, params: &RawValue) -> Result<String, Fault> {
        let asked: Initialize = params::read(params)?;
        let protocol = asked.protocol.as_ref().and_then(Value::as_u64);
        if protocol != Some(PROTOCOL) {
            let named = asked.protocol.unwrap_or_default();
            return Err(Fault::new(
                WRONG_PROTOCOL,
                format!("protocol {named} is not spoken here, only {PROTOCOL}"),
            )
            .with(json!({ "supported": [PROTOCOL] })));
        }
        let guest = Guest {
            name: match asked.host.name.trim() {
                "" => "host".to_owned(),
                name => name.to_owned(),
            },
            version: asked.host.version,
            workspace: asked.workspace_dir.map(PathBuf::from),
            agent_dir: asked.agent_dir.map(PathBuf::from),
            agent: asked.agent_id,
            state_dir: asked.state_dir.map(PathBuf::from),
            settings: asked.config.as_ref().map(params::flat).unwrap_or_default(),
        };
        let place = self
            .surroundings
            .place(&guest)
            .map_err(|reason| Fault::new(BAD_PARAMS, reason))?;
        // A host that introduces itself again begins anew.
        self.let_go_of_all();
        self.pi = None;
        self.host = Some(Settled {
            guest,
            place,
            llm: asked.llm,
        });
        let version = env!("CARGO_PKG_VERSION");
        Ok(json!({
            "protocol": PROTOCOL,
            "name": "longhaul",
            "version": version,
            "info": {
                "id": "longhaul",
                "name": "longhaul",
                "version": version,
                "ownsCompaction": true,
                "acceptedHostParams": [
                    "sessionKey", "prompt", "runtimeSettings", "sessionTarget", "runtimeContext",
                    "abortSignal",
                ],
                "turnMaintenanceMode": "background",
                "transcriptSemantics": {
                    "currentTurnFence": "before-current-turn-entry-v1",
                    "turnAdvancementIdempotency": "atomic-idempotent-v1",
                },
            },
            "methods": methods(),
        })
        .to_string())
    }

    fn cancel(&self, params: &RawValue) {
        #[derive(serde::Deserialize)]
        struct Named<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
        }
        let Ok(named) = serde_json::from_str::<Named<'_>>(params.get()) else {
            self.peer.log("warn", "cancel names no id");
            return;
        };
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // What was answered meanwhile cannot be cancelled any more.
        if let Some((_, cancel)) = running.get(&Id::new(named.id.get())) {
            cancel.cancel();
        }
    }

    fn tools(&self) -> Result<String, Fault> {
        let Some(host) = &self.host else {
            return Ok("[]".to_owned());
        };
        let tools = host.place.tools(&self.mirror(&Whose::default(), "none"));
        Ok(life::offered(tools.as_ref()).to_string())
    }

    /// Where the mirror of a session is.
    fn mirror(&self, whose: &Whose, session: &str) -> PathBuf {
        let Some(host) = &self.host else {
            return PathBuf::new();
        };
        let of_key = whose
            .session_key
            .as_deref()
            .and_then(|key| key.strip_prefix("agent:"))
            .and_then(|rest| rest.split(':').next())
            .filter(|agent| !agent.is_empty());
        let agent = whose
            .agent_id
            .as_deref()
            .or(of_key)
            .or(host.guest.agent.as_deref())
            .unwrap_or("main");
        let name = |text: &str| SessionKey::new(text).folder_name();
        let sessions = host.place.state_dir().join("sessions");
        sessions
            .join(name(&host.guest.name))
            .join(name(agent))
            .join(format!("{}.jsonl", name(session)))
    }

    /// Gives a request to the worker of its session.
    fn hand_on(
        &mut self,
        id: &Option<Id>,
        method: &str,
        params: Box<RawValue>,
    ) -> Result<(), Fault> {
        let whose: Whose = params::read(&params)?;
        let session = params::wanted(whose.session_id.clone(), "sessionId")?;
        if session.is_empty() {
            return Err(Fault::new(BAD_PARAMS, "`sessionId` is empty"));
        }
        self.used += 1;
        let used = self.used;
        let cancel = CancellationToken::new();
        if let Some(id) = id {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.insert(id.clone(), (used, cancel.clone()));
        }
        let job = Job {
            id: id.clone(),
            number: used,
            method: method.to_owned(),
            params,
            cancel,
            timeout: whose.timeout(),
        };
        // A worker that has ended is replaced.
        let job = match self.workers.get_mut(&session) {
            Some(open) => {
                open.used = used;
                match open.jobs.send(job) {
                    Ok(()) => return Ok(()),
                    Err(unsent) => unsent.0,
                }
            }
            None => job,
        };
        let open = self.open(&session, &whose);
        // It has only just been started, and ends with its sender.
        let _ = open.jobs.send(job);
        self.workers.insert(session, Open { used, ..open });
        self.close_oldest();
        Ok(())
    }

    /// Gives a request of pi's to its desk.
    fn hand_to_pi(&mut self, id: &Option<Id>, method: &str, params: Box<RawValue>) {
        let host = self.host.as_ref().expect("it was initialized before");
        self.used += 1;
        let number = self.used;
        let cancel = CancellationToken::new();
        if let Some(id) = id {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.insert(id.clone(), (number, cancel.clone()));
        }
        let open = || pi::Desk::open(&host.place, &self.peer, &self.running);
        let job = Job {
            id: id.clone(),
            number,
            method: method.to_owned(),
            params,
            cancel,
            // Nothing of pi's asks a model.
            timeout: None,
        };
        self.pi.get_or_insert_with(open).take(job);
    }

    fn open(&mut self, session: &str, whose: &Whose) -> Open {
        let host = self.host.as_ref().expect("it was initialized before");
        let key = whose.session_key.as_deref();
        let parent = key.and_then(|key| self.children.get(key));
        let lodger = Lodger {
            session_id: session.to_owned(),
            session_key: whose.session_key.clone(),
            mirror: self.mirror(whose, session),
            is_child: parent.is_some() || key.is_some_and(|key| key.contains(":subagent:")),
            parent: parent.cloned().flatten(),
            llm: host.llm,
            host: host.guest.name.clone(),
        };
        let (jobs, taken) = mpsc::unbounded_channel();
        let worker = Worker::new(
            lodger,
            Arc::clone(&host.place),
            self.peer.clone(),
            Arc::clone(&self.running),
        );
        Open {
            jobs,
            task: tokio::spawn(worker.run(taken)),
            used: 0,
        }
    }

    fn close_oldest(&mut self) {
        if self.workers.len() <= MOST_OPEN {
            return;
        }
        let oldest = self.workers.iter().min_by_key(|(_, open)| open.used);
        if let Some(oldest) = oldest.map(|(name, _)| name.clone()) {
            self.let_go(&oldest);
        }
    }

    /// Lets go of a session, or of nothing: the host's engine has no more than
    /// its sessions.
    fn dispose(&mut self, params: &RawValue) -> Option<Result<String, Fault>> {
        let whose: Whose = match params::read(params) {
            Ok(whose) => whose,
            Err(fault) => return Some(Err(fault)),
        };
        if let Some(session) = whose.session_id {
            self.let_go(&session);
        }
        Some(Ok("{}".to_owned()))
    }

    fn spawning(&mut self, params: &RawValue) -> Result<String, Fault> {
        let spawn: Spawn = params::read(params)?;
        let child = params::wanted(spawn.child_session_key, "childSessionKey")?;
        let parent = spawn.parent_session_id.map(|session| {
            let whose = Whose {
                session_key: spawn.parent_session_key,
                ..Whose::default()
            };
            self.mirror(&whose, &session)
        });
        self.children.insert(child, parent);
        Ok(json!({ "prepared": true }).to_string())
    }

    fn spawned(&mut self, params: &RawValue) -> Result<String, Fault> {
        let spawn: Spawn = params::read(params)?;
        let child = params::wanted(spawn.child_session_key, "childSessionKey")?;
        self.children.remove(&child);
        Ok("{}".to_owned())
    }
}

fn methods() -> Vec<&'static str> {
    let mut methods = vec![
        "initialize",
        "shutdown",
        "ping",
        "cancel",
        "tools/list",
        "prepareSubagentSpawn",
        "rollbackSubagentSpawn",
        "onSubagentEnded",
        "dispose",
    ];
    methods.extend(life::METHODS);
    methods.extend(pi::METHODS);
    methods
}
