//! The wire formats, over real connections: every provider's stream as it is, in
//! awkward pieces, broken, slow, silent; and what is sent to them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod failures;
mod keys;
mod peculiar;
mod requests;
mod retries;
mod streams;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_model::{
    Answer, CancellationToken, Delta, Failure, Limits, Message, Model, ModelSpec, Request, connect,
};
use longhaul_testkit::loopback::{Loopback, Recorded, Reply};

/// One of every kind.
pub(crate) const SPECS: [&str; 8] = [
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5.1",
    "openai+chat/gpt-4.1",
    "openrouter/anthropic/claude-opus-4.6",
    "ollama/llama3.1:8b",
    "llamacpp/local",
    "vllm/qwen3",
    "openai-compatible+messages/local",
];

/// A key that would be found wherever it leaked to.
pub(crate) const KEY: &str = "sk-test-0123456789-SECRET";

/// Short enough for a test to wait for, long enough for a busy machine.
pub(crate) fn limits() -> Limits {
    Limits {
        connect: Duration::from_secs(10),
        first_byte: Duration::from_secs(20),
        idle: Duration::from_secs(20),
        request: Duration::from_secs(30),
        total: Duration::from_secs(60),
        attempts: 3,
        backoff: Duration::from_millis(2),
        backoff_max: Duration::from_millis(5),
        seed: 1,
    }
}

pub(crate) fn serve(script: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> Loopback {
    Loopback::start(script).unwrap()
}

pub(crate) fn model_with(spec: &str, server: &Loopback, limits: Limits) -> Arc<dyn Model> {
    let spec = ModelSpec::parse(spec)
        .unwrap()
        .at(format!("{}/v1", server.url()));
    connect(
        &spec,
        &|name| name.ends_with("_API_KEY").then(|| KEY.to_owned()),
        limits,
    )
    .unwrap()
}

pub(crate) fn hello() -> Request {
    Request {
        messages: vec![Message::user("hello")],
        ..Request::default()
    }
}

/// What came of a request, and every delta on the way.
pub(crate) struct Outcome {
    pub(crate) result: Result<Answer, Failure>,
    pub(crate) deltas: Vec<Delta>,
}

impl Outcome {
    pub(crate) fn answer(&self) -> &Answer {
        self.result.as_ref().unwrap()
    }

    pub(crate) fn failure(&self) -> &Failure {
        self.result.as_ref().unwrap_err()
    }

    /// All texts of the deltas.
    pub(crate) fn text(&self) -> String {
        self.deltas
            .iter()
            .filter_map(|delta| match delta {
                Delta::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

pub(crate) async fn ask(model: &dyn Model, request: &Request) -> Outcome {
    ask_until(model, request, &CancellationToken::new(), |_| {}).await
}

pub(crate) async fn ask_until(
    model: &dyn Model,
    request: &Request,
    cancel: &CancellationToken,
    mut seen: impl FnMut(&Delta) + Send,
) -> Outcome {
    let deltas = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&deltas);
    let mut sink = move |delta: Delta| {
        seen(&delta);
        log.lock().unwrap().push(delta);
    };
    let result = model.ask(request, &mut sink, cancel).await;
    let deltas = deltas.lock().unwrap().clone();
    Outcome { result, deltas }
}
