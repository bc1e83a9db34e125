//! What a provider says when it does not answer, and what it means.

mod overflow;
mod retry_after;
mod template;

use std::time::Duration;

use serde_json::Value;

use crate::Error;
pub(crate) use retry_after::from_headers as retry_after_header;

/// Who was asked, for the errors to name.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) url: String,
    pub(crate) variable: Option<String>,
}

/// An error as a provider words it, from whichever of their shapes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Complaint {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) limit: Option<u64>,
    pub(crate) requested: Option<u64>,
    pub(crate) retry_after: Option<Duration>,
}

/// As much of a provider's words as an error carries.
const MAX_MESSAGE: usize = 600;

impl Complaint {
    /// Reads an error body, or an error inside a stream. `None` if the value is
    /// no error at all.
    pub(crate) fn read(status: u16, body: &Value) -> Option<Self> {
        // Google wraps its errors in an array.
        let body = match body {
            Value::Array(list) => list.first()?,
            other => other,
        };
        let mut complaint = Self {
            status,
            ..Self::default()
        };
        match body.get("error") {
            Some(Value::String(text)) => {
                complaint.message = text.clone();
                complaint.code = text_of(body.get("code"));
            }
            Some(error @ Value::Object(_)) => complaint.read_object(error),
            _ => match body.get("detail") {
                // FastAPI: a text, or a list of what is wrong with which field.
                Some(Value::String(text)) => complaint.message = text.clone(),
                Some(detail @ Value::Array(_)) => complaint.message = detail.to_string(),
                _ if body.get("message").is_some() => complaint.read_object(body),
                _ => return None,
            },
        }
        if complaint.kind.is_empty() {
            complaint.kind = text_of(body.get("type")).replace("error", "");
        }
        // Inside a stream the HTTP status was 200; the error has its own.
        if status == 200
            && let Ok(own) = complaint.code.parse::<u16>()
            && (400..600).contains(&own)
        {
            complaint.status = own;
        }
        complaint.retry_after = retry_after::from_words(&complaint.message)
            .or_else(|| retry_after::from_words(&body.to_string()));
        Some(complaint)
    }

    fn read_object(&mut self, error: &Value) {
        self.kind = text_of(error.get("type"));
        if self.kind.is_empty() {
            self.kind = text_of(error.get("status"));
        }
        self.code = text_of(error.get("code"));
        self.message = text_of(error.get("message"));
        // llama.cpp gives the sizes as fields.
        self.limit = error.get("n_ctx").and_then(Value::as_u64);
        self.requested = error.get("n_prompt_tokens").and_then(Value::as_u64);
        // OpenRouter says "Provider returned error" and hides the reason, which
        // is what the provider answered, as text or as JSON within the text.
        if let Some(raw) = error
            .get("metadata")
            .and_then(|metadata| metadata.get("raw"))
        {
            let inner = match raw {
                Value::String(text) => {
                    serde_json::from_str(text).unwrap_or(Value::String(text.clone()))
                }
                other => other.clone(),
            };
            let inner = match Self::read(self.status, &inner) {
                Some(inner) => {
                    if self.limit.is_none() {
                        (self.limit, self.requested) = (inner.limit, inner.requested);
                    }
                    if self.kind.is_empty() {
                        self.kind = inner.kind;
                    }
                    inner.message
                }
                None => text_of(Some(&inner)),
            };
            if !inner.is_empty() {
                self.message = format!("{}: {inner}", self.message);
            }
        }
    }

    /// What it means.
    pub(crate) fn classify(self, asked: &Asked) -> Error {
        let provider = asked.provider.clone();
        let words = self.message.to_lowercase();
        let kind = format!("{} {}", self.kind, self.code).to_lowercase();
        let says = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
        let is = |needles: &[&str]| needles.iter().any(|needle| kind.contains(needle));
        let status = self.status;
        let message = excerpt(
            if self.message.trim().is_empty() {
                "it gives no reason"
            } else {
                &self.message
            },
            MAX_MESSAGE,
        );
        let retry_after = self.retry_after;

        let sizes = overflow::recognise(&self.message);
        let named = is(&[
            "context_length_exceeded",
            "exceed_context_size",
            "context_window_exceeded",
            "model_max_prompt_tokens_exceeded",
        ]);
        let of_rate = status == 429 || says(&["tokens per min", "(tpm)", "rate limit"]);
        if named
            || (sizes.is_some() && !of_rate)
            || (!of_rate && (status == 413 || is(&["request_too_large"])))
        {
            let sizes = sizes.unwrap_or_default();
            return Error::Overflow {
                message,
                limit: self.limit.or(sizes.limit),
                requested: self.requested.or(sizes.requested),
            };
        }
        if status == 402
            || is(&[
                "insufficient_quota",
                "billing",
                "insufficient_credits",
                "payment",
            ])
            || says(&[
                "credit balance is too low",
                "insufficient credits",
                "insufficient balance",
                "exceeded your current quota, please check your plan",
                "requires more credits",
            ])
        {
            return Error::Quota { provider, message };
        }
        if is(&[
            "content_filter",
            "content_policy",
            "moderation",
            "invalid_prompt",
            "safety",
        ]) || (status == 403 && says(&["flagged", "moderation"]))
            || (status == 400 && says(&["content management policy", "usage policy"]))
        {
            return Error::Refused { provider, message };
        }
        if matches!(status, 401 | 403)
            || is(&[
                "authentication",
                "permission",
                "invalid_api_key",
                "unauthorized",
            ])
            || says(&["api key not valid", "invalid api key", "incorrect api key"])
        {
            return Error::Unauthorized {
                provider,
                status,
                message,
                variable: asked.variable.clone(),
            };
        }
        let no_such_model = is(&["model_not_found"])
            || (words.contains("model")
                && says(&[
                    "not found",
                    "does not exist",
                    "not exist",
                    "not a valid model",
                    "unknown model",
                    "no such model",
                    "try pulling",
                ]))
            || says(&["no endpoints found for"])
            || (status == 404 && is(&["not_found_error"]));
        if no_such_model && status < 500 && status != 429 {
            return Error::UnknownModel {
                provider,
                model: asked.model.clone(),
                message,
            };
        }
        if matches!(status, 404 | 405) {
            return Error::NotAnApi {
                url: asked.url.clone(),
                status,
                excerpt: message,
            };
        }
        if of_rate
            || is(&[
                "rate_limit",
                "resource_exhausted",
                "throttl",
                "too_many_requests",
            ])
            || says(&["too many requests", "throttl"])
        {
            return Error::RateLimited {
                provider,
                message,
                retry_after,
            };
        }
        let of_server = status >= 500
            || matches!(status, 408 | 409 | 425)
            || is(&[
                "overloaded",
                "api_error",
                "server_error",
                "timeout",
                "unavailable",
                "internal",
            ])
            || says(&["overloaded"])
            || (status == 200 && !is(&["invalid_request"]));
        if of_server {
            return Error::Overloaded {
                provider,
                status,
                message,
                retry_after,
            };
        }
        Error::BadRequest {
            provider,
            status,
            message,
        }
    }
}

/// What an answer means whose status is an error, whatever its body is.
pub(crate) fn judge(
    status: u16,
    content_type: &str,
    body: &str,
    retry_after: Option<Duration>,
    asked: &Asked,
) -> Error {
    let not_an_api = || Error::NotAnApi {
        url: asked.url.clone(),
        status,
        excerpt: page_excerpt(body),
    };
    // No interface of a model redirects, whatever the redirect says of itself.
    if (300..400).contains(&status) {
        return not_an_api();
    }
    let mut complaint = match serde_json::from_str::<Value>(body) {
        Ok(value) => Complaint::read(status, &value).unwrap_or_else(|| Complaint {
            status,
            message: body.trim().to_owned(),
            ..Complaint::default()
        }),
        Err(_) => {
            let page = is_html(content_type, body);
            // A gateway's error page is still an error of the gateway's kind;
            // any other page means that this is not the place to ask.
            if (page || matches!(status, 404 | 405))
                && status < 500
                && status != 429
                && status != 413
            {
                return not_an_api();
            }
            let message = if page {
                page_excerpt(body)
            } else {
                body.trim().to_owned()
            };
            Complaint {
                status,
                message,
                ..Complaint::default()
            }
        }
    };
    complaint.retry_after = retry_after.or(complaint.retry_after);
    complaint.classify(asked)
}

/// Whether a body is a page for people.
pub(crate) fn is_html(content_type: &str, body: &str) -> bool {
    let start: String = body
        .trim_start()
        .chars()
        .take(15)
        .collect::<String>()
        .to_lowercase();
    content_type.starts_with("text/html")
        || start.starts_with("<!doctype")
        || start.starts_with("<html")
}

/// The title of a page, or its beginning.
pub(crate) fn page_excerpt(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|start| {
        let from = start + lower[start..].find('>')? + 1;
        let to = from + lower[from..].find("</title")?;
        Some(excerpt(&body[from..to], 120))
    });
    match title.filter(|title| !title.is_empty()) {
        Some(title) => format!("a web page, \"{title}\""),
        None if body.trim().is_empty() => "an empty answer".to_owned(),
        None => excerpt(body, 120),
    }
}

/// At most so many characters, on one line.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= max {
                line.push('…');
                return line;
            }
            if !character.is_control() {
                line.push(character);
                count += 1;
            }
        }
    }
    line
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
