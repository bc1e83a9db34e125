//! pi: a host that has a session file of its own, and is the only one to write it.
//!
//! Its requests name the file and the entry at which pi is. They are answered one
//! after the other; a pi has one session at a time. What goes wrong here is told
//! in `degraded`, and pi goes on as if nothing had been asked.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use longhaul_engine::Error;
use longhaul_engine::event::Event;
use longhaul_engine::hosted::pi::{Offer, PiHost, PiSession, Reason};
use longhaul_engine::session::Setup;
use longhaul_engine::tools::Outcome;
use longhaul_tokens::Tokens;
use longhaul_transcript::EntryId;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Place;
use super::connection::Running;
use super::frame::{BAD_PARAMS, Fault, safe};
use super::life::answer_of;
use super::params;
use super::peer::Peer;
use super::worker::Job;

/// What pi asks.
pub(super) const METHODS: [&str; 7] = [
    "pi/turnEnd",
    "pi/beforeCompact",
    "pi/beforeRun",
    "pi/context",
    "pi/toolResult",
    "pi/tool",
    "pi/status",
];

/// Sessions that are held open at once.
const MOST_OPEN: usize = 8;

/// An answer, as JSON.
type Answer = Result<String, Fault>;

/// Where pi is, which everything it asks says.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct At {
    session_file: Option<PathBuf>,
    leaf_id: Option<String>,
    context_window: Option<Value>,
    reserve_tokens: Option<Value>,
    auto_compaction: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Compaction {
    custom_instructions: Option<String>,
    reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToolResult {
    tool_call_id: String,
    tool_name: String,
    content: Vec<Value>,
    is_error: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToolCall<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// A number of tokens that can be one.
fn tokens(value: Option<&Value>) -> Option<Tokens> {
    let number = value?.as_f64()?;
    (number >= 1.0 && number <= f64::from(u32::MAX)).then_some(Tokens(number as u32))
}

impl At {
    fn host(&self) -> PiHost {
        PiHost {
            window: tokens(self.context_window.as_ref()),
            reserve: tokens(self.reserve_tokens.as_ref()),
            compacts: self.auto_compaction.unwrap_or(true),
        }
    }

    fn leaf(&self) -> Option<EntryId> {
        self.leaf_id.as_deref().map(EntryId::from)
    }
}

/// Where pi's requests are taken and answered in order.
pub(super) struct Desk {
    jobs: mpsc::UnboundedSender<Job>,
    task: JoinHandle<()>,
}

impl Desk {
    pub(super) fn open(place: &Arc<dyn Place>, peer: &Peer, running: &Running) -> Desk {
        let (jobs, taken) = mpsc::unbounded_channel();
        let clerk = Clerk {
            place: Arc::clone(place),
            peer: peer.clone(),
            running: Arc::clone(running),
        };
        Desk {
            jobs,
            task: tokio::spawn(clerk.run(taken)),
        }
    }

    pub(super) fn take(&self, job: Job) {
        // It ends with its sender only.
        let _ = self.jobs.send(job);
    }

    /// Waits until everything that was asked is answered.
    pub(super) async fn close(self) {
        drop(self.jobs);
        let _ = self.task.await;
    }
}

struct Clerk {
    place: Arc<dyn Place>,
    peer: Peer,
    running: Running,
}

impl Clerk {
    async fn run(self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let setup = Arc::new(self.place.setup(None));
        let mut sessions = Some(Sessions::new(&setup, &self.peer));
        while let Some(job) = jobs.recv().await {
            let id = job.id.clone();
            let mut at_work = sessions
                .take()
                .unwrap_or_else(|| Sessions::new(&setup, &self.peer));
            let answer = match job.method.as_str() {
                _ if job.cancel.is_cancelled() => {
                    sessions = Some(at_work);
                    Err(Fault::cancelled())
                }
                "pi/tool" => {
                    let results = at_work.results(&job.params);
                    sessions = Some(at_work);
                    match results {
                        Ok(places) => self.tool(&job, &places).await,
                        Err(fault) => Err(fault),
                    }
                }
                _ => {
                    // Files are read and a window is counted: nothing for the threads that
                    // read and write the connection. And a bug in one request is not the end
                    // of all.
                    let done = tokio::task::spawn_blocking(move || {
                        let answer = at_work.answer(&job);
                        (at_work, answer)
                    });
                    match done.await {
                        Ok((at_work, answer)) => {
                            sessions = Some(at_work);
                            answer
                        }
                        Err(error) => degraded(&self.peer, &format!("a request failed: {error}")),
                    }
                }
            };
            if let Some(id) = &id {
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                running.remove(id);
            }
            self.peer.answer(id.as_ref(), &answer);
        }
    }

    /// Calls a tool: on the session, and where that finds nothing on the results
    /// that the session shows in part.
    async fn tool(&self, job: &Job, places: &[PathBuf]) -> Answer {
        let asked: ToolCall<'_> = params::read(&job.params)?;
        let call = longhaul_model::ToolCall {
            id: String::new(),
            name: asked.name,
            arguments: asked.arguments.map_or("{}", RawValue::get).to_owned(),
        };
        let mut outcome: Option<Outcome> = None;
        for place in places {
            let tools = self.place.tools(place);
            let found = tools.run(&call, &job.cancel).await;
            if job.cancel.is_cancelled() {
                return Err(Fault::cancelled());
            }
            // What was found is named in the details.
            let enough = found.details.is_some() || call.name != "recall";
            if enough || outcome.is_none() {
                outcome = Some(found);
            }
            if enough {
                break;
            }
        }
        let outcome = outcome.unwrap_or_else(|| Outcome::failed("there is no session"));
        Ok(answer_of(&outcome))
    }
}

fn degraded(peer: &Peer, reason: &str) -> Answer {
    peer.log("error", reason);
    Ok(json!({ "degraded": safe(reason) }).to_string())
}

/// The sessions that pi has asked about.
struct Sessions {
    setup: Arc<Setup>,
    peer: Peer,
    open: HashMap<PathBuf, (u64, PiSession)>,
    used: u64,
}

impl Sessions {
    fn new(setup: &Arc<Setup>, peer: &Peer) -> Sessions {
        Sessions {
            setup: Arc::clone(setup),
            peer: peer.clone(),
            open: HashMap::new(),
            used: 0,
        }
    }

    /// The session that a request names, opened where it is not.
    fn session(&mut self, path: &PathBuf, at: &At) -> Result<&mut PiSession, Error> {
        self.used += 1;
        let used = self.used;
        if !self.open.contains_key(path) {
            let session = PiSession::open(&self.setup, path, at.leaf().as_ref())?;
            if self.open.len() >= MOST_OPEN {
                let oldest = self.open.iter().min_by_key(|(_, (used, _))| *used);
                if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                    self.open.remove(&oldest);
                }
            }
            self.open.insert(path.clone(), (used, session));
        }
        let (last, session) = self.open.get_mut(path).expect("it was opened just now");
        *last = used;
        Ok(session)
    }

    fn answer(&mut self, job: &Job) -> Answer {
        let at: At = params::read(&job.params)?;
        let path = params::wanted(at.session_file.clone(), "sessionFile")?;
        match self.ask(job, &path, &at)? {
            Ok(answer) => Ok(answer.to_string()),
            Err(error) => {
                // It is read again the next time.
                self.open.remove(&path);
                let remedy = error.remedy().map(|remedy| format!("; {remedy}"));
                let reason = format!("{error}{}", remedy.unwrap_or_default());
                degraded(&self.peer, &reason)
            }
        }
    }

    /// A request that can be read, and what came of it.
    fn ask(&mut self, job: &Job, path: &PathBuf, at: &At) -> Result<Result<Value, Error>, Fault> {
        let (method, params) = (job.method.as_str(), &*job.params);
        let compaction: Compaction = params::read(params)?;
        let reason = match compaction.reason.as_deref() {
            Some("manual") => Reason::Manual,
            Some("overflow") => Reason::Overflow,
            Some("threshold") | None => Reason::Threshold,
            Some(other) => {
                return Err(Fault::new(
                    BAD_PARAMS,
                    format!("`reason` is manual, threshold or overflow, not {other:?}"),
                ));
            }
        };
        let focus = compaction.custom_instructions.as_deref();
        let focus = focus.filter(|focus| !focus.trim().is_empty());
        let result: ToolResult = match method {
            "pi/toolResult" => params::read(params)?,
            _ => ToolResult::default(),
        };
        let peer = self.peer.clone();
        let session = match self.session(path, at) {
            Ok(session) => session,
            Err(error) => return Ok(Err(error)),
        };
        let key = session.key().to_owned();
        let mut sink = |event: Event| {
            peer.tell(&key, &event);
        };
        let (leaf, host) = (at.leaf(), at.host());
        let leaf = leaf.as_ref();
        Ok(match method {
            "pi/turnEnd" => session
                .turn_end(leaf, host, &job.cancel, &mut sink)
                .map(|end| json!(end)),
            "pi/beforeCompact" => session
                .before_compact(leaf, reason, focus, host, &job.cancel, &mut sink)
                .map(|offer| match offer {
                    Offer::Compaction(compaction) => json!({ "compaction": compaction }),
                    Offer::Nothing => json!({ "nothing": true }),
                    Offer::Own => json!({}),
                }),
            "pi/beforeRun" => session
                .before_run(leaf, host, &mut sink)
                .map(|message| message.map_or_else(|| json!({}), |it| json!({ "message": it }))),
            "pi/context" => session
                .shown(leaf, host, &mut sink)
                .map(|shown| json!(shown)),
            "pi/toolResult" => session
                .tool_result(
                    &result.tool_call_id,
                    &result.tool_name,
                    &result.content,
                    result.is_error,
                    host,
                )
                .map(|shown| shown.map_or_else(|| json!({}), |shown| json!(shown))),
            _ => session.status(leaf, host).map(|status| json!(status)),
        })
    }

    /// Where a tool looks: in the session's file, then in what it shows in part.
    fn results(&mut self, params: &RawValue) -> Result<Vec<PathBuf>, Fault> {
        let at: At = params::read(params)?;
        let path = params::wanted(at.session_file.clone(), "sessionFile")?;
        let results = self.session(&path, &at).ok().and_then(|it| it.results());
        Ok(std::iter::once(path).chain(results).collect())
    }
}
