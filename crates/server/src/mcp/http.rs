//! The door over HTTP: who may come in, and what of a request is waited for.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connections::{self, Connection, HttpLimits};
use super::desk::Desk;
use super::door::Door;

/// Who may come in.
#[derive(Debug, Clone)]
pub struct Gate {
    /// What every request must carry as `Authorization: Bearer …`.
    pub token: String,
    /// Names in the `Host` header that are accepted beside the loopback ones.
    pub hosts: Vec<String>,
    /// Origins of web pages that may ask; a request without one is no page's.
    pub origins: Vec<String>,
    /// What one client may take from the others.
    pub limits: HttpLimits,
}

/// What a request is held against.
#[derive(Clone)]
struct Admission {
    token: Arc<str>,
    limits: HttpLimits,
}

/// Serves clients at `/mcp` of a listener, until `cancel` is called. Requests
/// without the token, for another host or from a web page are refused: a page
/// that a browser shows must not reach the sessions of this machine. Clients that
/// are slow, or say nothing, keep nobody out.
pub async fn serve_http(
    listener: TcpListener,
    desk: Arc<Desk>,
    gate: Gate,
    cancel: CancellationToken,
) {
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let config = StreamableHttpServerConfig::default()
        // Every request stands for itself: nothing to keep for clients that are gone.
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(loopback.into_iter().chain(gate.hosts))
        .with_allowed_origins(gate.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(gate.limits.body_bytes)
        .with_cancellation_token(cancel.child_token());
    let service = StreamableHttpService::new(
        move || Ok(Door::to(Arc::clone(&desk))),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let admission = Admission {
        token: gate.token.into(),
        limits: gate.limits,
    };
    let router = Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(admission, admit));
    connections::serve(listener, router, gate.limits, cancel).await;
}

async fn admit(
    State(Admission { token, limits }): State<Admission>,
    Extension(connection): Extension<Arc<Connection>>,
    request: Request,
    next: Next,
) -> Response {
    if !carries(request.headers(), &token) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        let remedy = "send the token that `longhaul mcp --http` printed when it started, as \
                      Authorization: Bearer TOKEN\n";
        return (StatusCode::UNAUTHORIZED, challenge, remedy).into_response();
    }
    let (head, body) = request.into_parts();
    let body = tokio::time::timeout(limits.body, to_bytes(body, limits.body_bytes));
    let body = match body.await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let remedy = format!("send at most {} bytes a request\n", limits.body_bytes);
            return (StatusCode::PAYLOAD_TOO_LARGE, remedy).into_response();
        }
        Err(_) => {
            let remedy = format!("send the body within {} s\n", limits.body.as_secs());
            return (StatusCode::REQUEST_TIMEOUT, remedy).into_response();
        }
    };
    let _answering = connection.answering();
    let is_json = says_json(&head.headers);
    let response = next.run(Request::from_parts(head, Body::from(body))).await;
    // The media type was right, so it is what the body says that was not.
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => unreadable(),
        _ => response,
    }
}

fn says_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/json"))
}

/// The answer to a body that cannot be read, as JSON-RPC has it.
fn unreadable() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let message = "the body is not JSON, or no message of the protocol; send one JSON-RPC \
                   message a request";
    let body = serde_json::json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": { "code": -32700, "message": message },
    });
    (StatusCode::BAD_REQUEST, kind, body.to_string()).into_response()
}

fn carries(headers: &HeaderMap, token: &str) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, given)| given.trim());
    given.is_some_and(|given| is_same(given.as_bytes(), token.as_bytes()))
}

/// Compares without telling by its time how much was right.
fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differing = given
        .iter()
        .zip(wanted)
        .fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == wanted.len() && differing == 0 && !wanted.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let headers = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            headers
        };
        assert!(carries(&headers("Bearer abc"), "abc"));
        assert!(carries(&headers("bearer  abc "), "abc"));
        for wrong in [
            "Bearer ab",
            "Bearer abcd",
            "Basic abc",
            "abc",
            "Bearer",
            "Bearer ",
        ] {
            assert!(!carries(&headers(wrong), "abc"), "{wrong}");
        }
        assert!(!carries(&HeaderMap::new(), "abc"));
        assert!(!carries(&headers("Bearer "), ""));
    }
}
