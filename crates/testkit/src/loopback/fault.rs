//! The providers' faults, in their own words.
use longhaul_model::Protocol;
use serde_json::json;

use super::server::{Recorded, Reply};

/// Something that goes wrong at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The request does not fit the window.
    Overflow {
        /// The window.
        limit: u64,
        /// The size of the request.
        requested: u64,
    },
    /// A wrong key.
    Unauthorized,
    /// A model that is not served.
    UnknownModel,
    /// Too many requests.
    RateLimited {
        /// The `retry-after` header, if there is one.
        retry_after: Option<String>,
    },
    /// No credit left.
    Quota,
    /// Overloaded: 529 at Anthropic, 503 elsewhere.
    Overloaded,
    /// An internal error.
    Internal,
    /// A page for people.
    Html,
}

impl Fault {
    /// The fault in the format of the request's path.
    pub fn reply(&self, request: &Recorded) -> Reply {
        let model = request.model();
        if request.protocol() == Some(Protocol::Messages) {
            return self.of_anthropic(&model);
        }
        let (status, message, kind, code) = match self {
            Self::Overflow { limit, requested } => (
                400,
                format!(
                    "This model's maximum context length is {limit} tokens. However, your messages resulted in {requested} tokens. Please reduce the length of the messages."
                ),
                "invalid_request_error",
                "context_length_exceeded",
            ),
            Self::Unauthorized => (
                401,
                "Incorrect API key provided: sk-no***pe. You can find your API key at https://platform.openai.com/account/api-keys.".into(),
                "invalid_request_error",
                "invalid_api_key",
            ),
            Self::UnknownModel => (
                404,
                format!("The model `{model}` does not exist or you do not have access to it."),
                "invalid_request_error",
                "model_not_found",
            ),
            Self::RateLimited { .. } => (
                429,
                format!("Rate limit reached for {model} in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1."),
                "requests",
                "rate_limit_exceeded",
            ),
            Self::Quota => (
                429,
                "You exceeded your current quota, please check your plan and billing details.".into(),
                "insufficient_quota",
                "insufficient_quota",
            ),
            Self::Overloaded => (
                503,
                "The engine is currently overloaded, please try again later".into(),
                "service_unavailable",
                "overloaded",
            ),
            Self::Internal => (
                500,
                "The server had an error while processing your request. Sorry about that!".into(),
                "server_error",
                "server_error",
            ),
            Self::Html => return page(),
        };
        let body =
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
        self.with_headers(Reply::json(status, &body))
    }

    fn of_anthropic(&self, model: &str) -> Reply {
        let (status, kind, message) = match self {
            Self::Overflow { limit, requested } => (
                400,
                "invalid_request_error",
                format!("prompt is too long: {requested} tokens > {limit} maximum"),
            ),
            Self::Unauthorized => (401, "authentication_error", "invalid x-api-key".into()),
            Self::UnknownModel => (404, "not_found_error", format!("model: {model}")),
            Self::RateLimited { .. } => (
                429,
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 50 requests per minute".into(),
            ),
            Self::Quota => (
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.".into(),
            ),
            Self::Overloaded => (529, "overloaded_error", "Overloaded".into()),
            Self::Internal => (500, "api_error", "Internal server error".into()),
            Self::Html => return page(),
        };
        let body = json!({
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
        });
        self.with_headers(Reply::json(status, &body))
    }

    fn with_headers(&self, reply: Reply) -> Reply {
        match self {
            Self::RateLimited {
                retry_after: Some(wait),
            } => reply.header("retry-after", wait.clone()),
            _ => reply,
        }
    }
}

fn page() -> Reply {
    Reply::new(
        200,
        "text/html; charset=utf-8",
        "<!DOCTYPE html>\n<html><head><title>Sign in to the network</title></head><body><h1>Welcome</h1></body></html>",
    )
}
