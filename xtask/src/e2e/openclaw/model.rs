//! The model that the gateway talks to: it does what the user's last words ask
//! for, counts tokens as characters, and refuses what does not fit its window.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use longhaul_model::Usage;
use longhaul_testkit::loopback::{Fault, Loopback, Recorded, Reply, Said};
use serde_json::{Value, json};

use crate::Result;
use crate::shell;

/// What it says of itself; small, so that many windows pass in minutes.
pub(super) const WINDOW: u64 = 24_000;
/// Characters of a request that count as one token.
const CHARACTERS: u64 = 4;
/// What the gateway adds to the user's words by itself.
const INTERNAL: &str = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";

/// What it says to whoever asks without tools: us, for a summary.
pub(super) const SUMMARY: &str =
    "## Work done\n- The work went on as planned; one file after the other was read.";

/// The running model.
pub(super) struct Model {
    server: Loopback,
    control: Arc<Control>,
}

struct Control {
    refusals: AtomicU64,
    calls: AtomicU64,
    victim: Mutex<Option<u32>>,
    pause: Mutex<Duration>,
}

/// A request that reached it.
pub(super) struct Request {
    pub(super) body: Value,
    pub(super) tokens: u64,
}

impl Model {
    pub(super) fn start() -> Result<Model> {
        let control = Arc::new(Control {
            refusals: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            victim: Mutex::new(None),
            pause: Mutex::default(),
        });
        let script = Arc::clone(&control);
        let server = Loopback::start(move |request| script.answer(request))?;
        Ok(Model { server, control })
    }

    /// Where it listens.
    pub(super) fn url(&self) -> String {
        format!("{}/v1", self.server.url())
    }

    /// It refuses the agent's next request, as if its window were smaller than it
    /// says: other tokenizers than the host's guess are often the reason.
    pub(super) fn refuse(&self) {
        self.control.refusals.store(1, Ordering::SeqCst);
    }

    /// With the next request it ends this process before it answers.
    pub(super) fn kills(&self, process: u32) {
        *self
            .control
            .victim
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(process);
    }

    /// It thinks so long about the agent's next request.
    pub(super) fn pauses(&self, pause: Duration) {
        *self
            .control
            .pause
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = pause;
    }

    /// How many requests it has had.
    pub(super) fn count(&self) -> usize {
        self.server.requests().len()
    }

    /// The requests of an agent since the given number: those with tools.
    pub(super) fn since(&self, number: usize) -> Vec<Request> {
        let all = self.server.requests();
        let new = all.get(number..).unwrap_or_default();
        new.iter()
            .filter(|request| request.path.ends_with("/chat/completions"))
            .map(|request| Request {
                tokens: tokens(request),
                body: request.json(),
            })
            .filter(|request| request.body["tools"].is_array())
            .collect()
    }
}

fn tokens(request: &Recorded) -> u64 {
    (request.body.len() as u64).div_ceil(CHARACTERS)
}

impl Control {
    fn answer(&self, request: &Recorded) -> Reply {
        if let Some(process) = self
            .victim
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            kill(process);
        }
        let requested = tokens(request);
        let body = request.json();
        if body["tools"].is_array() {
            let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
            thread::sleep(std::mem::take(&mut *pause));
        }
        let refused = body["tools"].is_array() && self.refusals.swap(0, Ordering::SeqCst) > 0;
        if refused || requested > WINDOW {
            let limit = WINDOW.min(requested - 1);
            return Fault::Overflow { limit, requested }.reply(request);
        }
        let said = self.say(&body);
        let usage = Usage {
            input: requested,
            output: 20,
            cache_read: 0,
            cache_write: 0,
        };
        said.usage(Some(usage)).reply(request)
    }

    fn say(&self, body: &Value) -> Said {
        if !body["tools"].is_array() {
            return Said::text(SUMMARY);
        }
        let Some(words) = asked(body) else {
            return Said::text("Noted.");
        };
        let id = format!("call_{}", self.calls.fetch_add(1, Ordering::SeqCst));
        if let Some(file) = after(&words, "Read the file ") {
            return Said::call(&id, "read", &json!({ "path": file }).to_string());
        }
        if let Some(text) = after(&words, "Recall the words ") {
            return Said::call(&id, "recall", &json!({ "text": text }).to_string());
        }
        if let Some(query) = after(&words, "Search the memory for ") {
            return Said::call(&id, "memory_search", &json!({ "query": query }).to_string());
        }
        Said::text("Understood.")
    }
}

/// The user's last words, if nothing has been done about them yet.
fn asked(body: &Value) -> Option<String> {
    for message in body["messages"].as_array()?.iter().rev() {
        let words = text(message);
        match message["role"].as_str()? {
            "user" if !words.contains(INTERNAL) => return Some(words),
            "user" => {}
            _ => return None,
        }
    }
    None
}

/// A message's text, whatever form it has.
pub(super) fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// What follows a phrase, up to the full stop at the end of its line.
fn after(words: &str, phrase: &str) -> Option<String> {
    let (_, rest) = words.split_once(phrase)?;
    let line = rest.lines().next()?;
    Some(line.trim().trim_end_matches('.').to_owned())
}

/// Ends a process of ours at once, as a lack of memory would.
pub(super) fn kill(process: u32) {
    // One that has ended already is as dead as was wanted.
    let _ = Command::new("kill")
        .args(["-9", &process.to_string()])
        .status();
}

/// Whether a process is there.
pub(super) fn lives(process: u32) -> bool {
    shell::works(Command::new("kill").args(["-0", &process.to_string()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_the_users_and_not_the_gateways() {
        let user = |text: &str| json!({"role": "user", "content": text});
        let internal = format!("{INTERNAL} x");
        let body =
            json!({"messages": [user("one"), user("Read the file a.txt."), user(&internal)]});
        let words = asked(&body).unwrap();
        assert_eq!(after(&words, "Read the file ").as_deref(), Some("a.txt"));
        let done = json!({"messages": [user("one"), {"role": "tool", "content": "x"}]});
        assert_eq!(asked(&done), None);
    }
}
