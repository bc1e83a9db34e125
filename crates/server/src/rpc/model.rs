//! The host's model, asked through the host.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longhaul_model::{
    Answer, BoxFuture, CancellationToken, Content, Delta, Error, Failure, Message, Model,
    ModelInfo, Phase, Request, Role, Stop, Usage,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::peer::{Peer, Unanswered};

/// How long a host's model may take where the request says nothing of time.
const LONGEST: Duration = Duration::from_secs(180);
/// What of a request's time is kept for the work after the model, at most.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// Until when the request that runs may ask the model. The worker sets it, and
/// the model of its session looks at it.
#[derive(Debug, Clone, Default)]
pub(super) struct Patience(Arc<Mutex<Option<Instant>>>);

impl Patience {
    /// A request begins, and its host waits so long for it.
    pub(super) fn begin(&self, timeout: Option<Duration>) {
        let until = timeout.and_then(|timeout| {
            let model = timeout.saturating_sub(AFTERWARDS.min(timeout / 10));
            Instant::now().checked_add(model)
        });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    fn left(&self) -> Duration {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.map_or(LONGEST, |until| until.duration_since(Instant::now()))
    }
}

/// A model that answers over `llm.complete`.
pub(super) struct HostModel {
    pub(super) peer: Peer,
    pub(super) info: ModelInfo,
    pub(super) session_id: String,
    pub(super) session_key: Option<String>,
    pub(super) patience: Patience,
}

impl Model for HostModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        Box::pin(async move {
            let system: Vec<&str> = request.system.iter().map(|s| s.text.as_str()).collect();
            let params = json!({
                "sessionId": self.session_id,
                "sessionKey": self.session_key,
                "purpose": "compaction",
                "systemPrompt": system.join("\n\n"),
                "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
                "maxTokens": request.max_output,
            });
            let limit = self.patience.left();
            let answer = self.peer.call("llm.complete", &params, limit, cancel).await;
            match answer {
                Ok(answer) => read(&answer).ok_or_else(|| {
                    failure(Error::BadAnswer {
                        provider: self.info.provider.clone(),
                        reason: "llm.complete gave no text".to_owned(),
                        excerpt: excerpt(&answer),
                    })
                }),
                Err(Unanswered::Cancelled) => Err(failure(Error::Cancelled)),
                Err(Unanswered::Late) => {
                    let message = format!(
                        "{}: llm.complete was not answered within {limit:.1?}; the summary is \
                         made without a model",
                        self.session_id
                    );
                    self.peer.log("warn", &message);
                    Err(failure(Error::Timeout {
                        provider: self.info.provider.clone(),
                        phase: Phase::Request,
                        after: limit,
                    }))
                }
                Err(Unanswered::Gone) => Err(failure(Error::Cancelled)),
                Err(Unanswered::Refused(reason)) => Err(failure(Error::BadAnswer {
                    provider: self.info.provider.clone(),
                    reason: "llm.complete failed".to_owned(),
                    excerpt: reason,
                })),
            }
        })
    }
}

fn excerpt(answer: &Value) -> String {
    answer.to_string().chars().take(120).collect()
}

fn failure(error: Error) -> Failure {
    Failure {
        error,
        partial: None,
        attempts: 1,
    }
}

fn message(message: &Message) -> Value {
    let text: Vec<&str> = message
        .content
        .iter()
        .filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let role = match message.role {
        Role::Assistant => "assistant",
        _ => "user",
    };
    json!({ "role": role, "content": text.join("\n") })
}

fn read(answer: &Value) -> Option<Answer> {
    let text = answer.get("text")?.as_str()?;
    if text.trim().is_empty() {
        return None;
    }
    let usage = answer.get("usage");
    let number = |names: &[&str]| {
        let found = names.iter().find_map(|name| usage?.get(name)?.as_u64());
        found.unwrap_or(0)
    };
    let usage = Usage {
        input: number(&["input", "inputTokens", "promptTokens"]),
        output: number(&["output", "outputTokens", "completionTokens"]),
        cache_read: number(&["cacheRead", "cacheReadTokens"]),
        cache_write: number(&["cacheWrite", "cacheWriteTokens"]),
    };
    Some(Answer {
        content: vec![Content::Text(text.to_owned())],
        stop: Stop::End,
        usage: (usage != Usage::default()).then_some(usage),
        cost: None,
        model: answer
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        id: None,
    })
}
