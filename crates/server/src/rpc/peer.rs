//! The host at the other end: what it is told, and what it is asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longhaul_engine::event::Event;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::frame::{self, Fault, Id, OURS};

/// Why a call to the host came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The host says no.
    Refused(String),
    /// It was cancelled here.
    Cancelled,
    /// The host took too long.
    Late,
    /// The host is gone.
    Gone,
}

type Waiting = HashMap<String, oneshot::Sender<Result<Value, String>>>;

/// The host.
#[derive(Clone)]
pub(super) struct Peer {
    lines: mpsc::UnboundedSender<String>,
    waiting: Arc<Mutex<Option<Waiting>>>,
    calls: Arc<AtomicU64>,
}

impl Peer {
    /// A host, and the lines that are to be written to it.
    pub(super) fn new() -> (Peer, mpsc::UnboundedReceiver<String>) {
        let (lines, written) = mpsc::unbounded_channel();
        let peer = Peer {
            lines,
            waiting: Arc::new(Mutex::new(Some(HashMap::new()))),
            calls: Arc::default(),
        };
        (peer, written)
    }

    fn send(&self, line: String) {
        // A host that is gone hears nothing; the connection ends by itself.
        let _ = self.lines.send(line);
    }

    /// Answers a request. Notifications have no answer.
    pub(super) fn answer(&self, id: Option<&Id>, outcome: &Result<String, Fault>) {
        match (id, outcome) {
            (Some(id), Ok(result)) => self.send(frame::result(id, result)),
            (Some(id), Err(fault)) => self.send(frame::error(Some(id), fault)),
            (None, Err(fault)) => self.log("warn", &fault.message),
            (None, Ok(_)) => {}
        }
    }

    /// Says what was wrong with a line that was no request.
    pub(super) fn complain(&self, id: Option<&Id>, fault: &Fault) {
        self.send(frame::error(id, fault));
    }

    /// Tells something that wants no answer.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.send(frame::call(None, method, params));
    }

    /// Tells what happened to a session.
    pub(super) fn tell(&self, session_id: &str, event: &Event) {
        let event = match event.told() {
            Ok(event) => event,
            Err(error) => json!({ "event": "trouble", "reason": error.to_string() }),
        };
        self.notify("event", &json!({ "sessionId": session_id, "event": event }));
    }

    /// Tells something for people.
    pub(super) fn log(&self, level: &str, message: &str) {
        // Hosts keep what they are told in logs of their own.
        let message = frame::safe(message);
        self.notify("log", &json!({ "level": level, "message": message }));
    }

    /// Asks the host something, and waits no longer than a limit.
    pub(super) async fn call(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, Unanswered> {
        let id = format!("{OURS}{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1);
        let (heard, answer) = oneshot::channel();
        {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(waiting) = waiting.as_mut() else {
                return Err(Unanswered::Gone);
            };
            waiting.insert(id.clone(), heard);
        }
        self.send(frame::call(Some(&id), method, params));
        tokio::select! {
            answer = answer => match answer {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(reason)) => Err(Unanswered::Refused(reason)),
                Err(_) => Err(Unanswered::Gone),
            },
            () = cancel.cancelled() => {
                self.forget(&id);
                self.notify("cancel", &json!({ "id": id }));
                Err(Unanswered::Cancelled)
            }
            () = tokio::time::sleep(limit) => {
                self.forget(&id);
                self.notify("cancel", &json!({ "id": id }));
                Err(Unanswered::Late)
            }
        }
    }

    fn forget(&self, id: &str) -> Option<oneshot::Sender<Result<Value, String>>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_mut()?.remove(id)
    }

    /// Takes an answer of the host's in; whether anybody waited for it.
    pub(super) fn heard(&self, id: &str, outcome: Result<Value, String>) -> bool {
        match self.forget(id) {
            Some(waiting) => waiting.send(outcome).is_ok(),
            None => false,
        }
    }

    /// The host answers nothing any more.
    pub(super) fn hang_up(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_of_nothing_with_a_secret_in_it() {
        let key = format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0);
        let (peer, mut lines) = Peer::new();
        let quoted = format!("the provider says that {key} is wrong");
        peer.log("warn", &quoted);
        peer.tell("s", &Event::trouble(&quoted));
        peer.answer(None, &Err(Fault::new(1, &quoted)));
        peer.answer(Some(&Id::new("1")), &Err(Fault::new(1, &quoted)));
        peer.complain(None, &Fault::new(1, &quoted));
        let told = "the provider says that [redacted:github-token#1] is wrong";
        for _ in 0..5 {
            let line = lines.try_recv().unwrap();
            assert!(line.contains(told), "{line}");
            assert!(!line.contains(&key), "{line}");
        }
        assert!(lines.try_recv().is_err());
    }
}
