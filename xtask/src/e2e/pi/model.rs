//! The model that pi works with: it does what it was told before it was asked, and
//! counts what it is sent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_model::Usage;
use longhaul_testkit::loopback::{Fault, Loopback, Recorded, Reply, Said};
use serde_json::Value;

use crate::Result;

/// What it says to whoever asks without tools: pi, for a summary of its own.
pub(super) const OWN_SUMMARY: &str = "A summary that pi asked its own model for.";

/// One answer.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Call(&'static str, Value),
    Text(String),
}

/// The model, and everything it was sent.
pub(super) struct Scripted {
    server: Loopback,
    script: Arc<Mutex<VecDeque<Answer>>>,
}

impl Scripted {
    pub(super) fn start(window: u32) -> Result<Scripted> {
        let script = Arc::new(Mutex::new(VecDeque::new()));
        let queue = Arc::clone(&script);
        let server = Loopback::start(move |request| answer(request, &queue, window))?;
        Ok(Scripted { server, script })
    }

    pub(super) fn url(&self) -> String {
        format!("{}/v1", self.server.url().trim_end_matches("/v1"))
    }

    /// What it says next.
    pub(super) fn will(&self, answers: impl IntoIterator<Item = Answer>) {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.clear();
        script.extend(answers);
    }

    /// How much of that it has not said yet.
    pub(super) fn left(&self) -> usize {
        let script = self.script.lock();
        script.unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The bodies of all requests of the conversation so far.
    pub(super) fn requests(&self) -> Vec<Value> {
        let requests = self.server.requests().into_iter();
        requests
            .map(|request| request.json())
            .filter(has_tools)
            .collect()
    }

    /// How often pi asked for a summary.
    pub(super) fn summaries(&self) -> usize {
        let requests = self.server.requests();
        requests
            .iter()
            .filter(|request| !has_tools(&request.json()))
            .count()
    }
}

fn has_tools(request: &Value) -> bool {
    request["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty())
}

/// What a request takes, by the only rule that a model made of paper can have.
pub(super) fn tokens(request: &Value) -> u64 {
    let text = request["messages"].to_string().len() + request["tools"].to_string().len();
    text as u64 * 2 / 7
}

fn answer(request: &Recorded, script: &Mutex<VecDeque<Answer>>, window: u32) -> Reply {
    let body = request.json();
    let input = tokens(&body);
    if input > u64::from(window) {
        let limit = u64::from(window);
        return Fault::Overflow {
            limit,
            requested: input,
        }
        .reply(request);
    }
    let next = match has_tools(&body) {
        true => {
            let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
            script.pop_front()
        }
        false => Some(Answer::Text(OWN_SUMMARY.to_owned())),
    };
    let said = match next {
        Some(Answer::Call(name, arguments)) => Said::call(
            &format!("call-{}", request.number),
            name,
            &arguments.to_string(),
        ),
        Some(Answer::Text(text)) => Said::text(text),
        None => Said::text("There is nothing more to say."),
    };
    said.usage(Some(Usage {
        input,
        output: 40,
        cache_read: 0,
        cache_write: 0,
    }))
    .reply(request)
}
