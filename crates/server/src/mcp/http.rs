//! The door over HTTP: who may come in, and what of a request is waited for.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::door::Door;
use crate::desk::Desk;
use crate::http::{self, HttpLimits, LOOPBACK, carries, whole};

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
    let loopback = LOOPBACK.map(str::to_owned);
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
    http::serve(listener, router, gate.limits, cancel).await;
}

async fn admit(
    State(Admission { token, limits }): State<Admission>,
    request: Request,
    next: Next,
) -> Response {
    if !carries(request.headers(), &token) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        let remedy = "send the token that `longhaul mcp --http` printed when it started, as \
                      Authorization: Bearer TOKEN\n";
        return (StatusCode::UNAUTHORIZED, challenge, remedy).into_response();
    }
    let (request, _answering) = match whole(request, limits).await {
        Ok(whole) => whole,
        Err(refusal) => return *refusal,
    };
    let is_json = says_json(request.headers());
    let response = next.run(request).await;
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
