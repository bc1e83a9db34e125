//! What every door over HTTP shares: connections within limits, tokens that are
//! compared without telling how much was right, bodies that end.

mod connections;
mod refusal;

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

pub use connections::HttpLimits;
pub(crate) use connections::{Answering, Connection, serve};
pub use refusal::Refusal;

/// Names of this machine that only programs on it can use.
pub(crate) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A request whose body has come, within the limits; while the other half is held
/// its connection keeps its place.
pub(crate) async fn whole(
    request: Request,
    limits: HttpLimits,
) -> Result<(Request, Option<Answering>), Box<Response>> {
    let (head, body) = request.into_parts();
    let body = tokio::time::timeout(limits.body, to_bytes(body, limits.body_bytes));
    let refused = |status, remedy: String| Err(Box::new((status, remedy).into_response()));
    let body = match body.await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let remedy = format!("send at most {} bytes a request\n", limits.body_bytes);
            return refused(StatusCode::PAYLOAD_TOO_LARGE, remedy);
        }
        Err(_) => {
            let remedy = format!("send the body within {} s\n", limits.body.as_secs());
            return refused(StatusCode::REQUEST_TIMEOUT, remedy);
        }
    };
    let connection = head.extensions.get::<Arc<Connection>>().map(Arc::clone);
    let answering = connection.map(Connection::answering);
    Ok((Request::from_parts(head, Body::from(body)), answering))
}

/// Whether a request carries this token as `Authorization: Bearer …`.
pub(crate) fn carries(headers: &HeaderMap, token: &str) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, given)| given.trim());
    given.is_some_and(|given| is_same(given, token))
}

/// Compares without telling by its time how much was right.
pub(crate) fn is_same(given: &str, wanted: &str) -> bool {
    let differing = given
        .bytes()
        .zip(wanted.bytes())
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
