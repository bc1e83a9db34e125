//! The host's model, asked through the host.

use longhaul_model::{
    Answer, BoxFuture, CancellationToken, Content, Delta, Error, Failure, Message, Model,
    ModelInfo, Request, Role, Stop, Usage,
};
use serde_json::{Value, json};

use super::peer::{Peer, Unanswered};

/// A model that answers over `llm.complete`.
pub(super) struct HostModel {
    pub(super) peer: Peer,
    pub(super) info: ModelInfo,
    pub(super) session_id: String,
    pub(super) session_key: Option<String>,
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
            let answer = self.peer.call("llm.complete", &params, cancel).await;
            match answer {
                Ok(answer) => read(&answer).ok_or_else(|| {
                    failure(Error::BadAnswer {
                        provider: self.info.provider.clone(),
                        reason: "llm.complete gave no text".to_owned(),
                        excerpt: excerpt(&answer),
                    })
                }),
                Err(Unanswered::Cancelled) => Err(failure(Error::Cancelled)),
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
