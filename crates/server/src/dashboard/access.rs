//! Who may come in: a token always, a host and an origin that are ours, and for
//! every change a second token that no other page can know.
//!
//! A page that a browser shows must not reach the sessions of this machine, whoever
//! wrote it: not by a name that resolves to this machine, not by a form, not by a
//! script in a text that a session quotes.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::pages;
use crate::http::{HttpLimits, LOOPBACK, carries, is_same, whole};

/// The header in which a change carries its token.
pub(super) const CSRF_HEADER: &str = "x-longhaul-csrf";

/// Nothing is loaded from elsewhere, nothing runs that is not ours, and no other
/// page may frame these.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self'; connect-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// What a request is held against.
#[derive(Debug)]
pub struct Access {
    /// What programs send as `Authorization: Bearer …`, and a browser as a cookie.
    token: String,
    /// The one-time token of the address that was printed; gone once it was used.
    once: Mutex<Option<String>>,
    /// Hosts beside those of this machine.
    hosts: Vec<String>,
    limits: HttpLimits,
}

impl Access {
    /// With a token for programs and one for the address that is opened first.
    pub fn new(token: String, once: String, hosts: Vec<String>) -> Access {
        Access {
            token,
            once: Mutex::new(Some(once)),
            hosts,
            limits: HttpLimits::default(),
        }
    }

    /// What one client may take from the others.
    pub fn limits(&self) -> HttpLimits {
        self.limits
    }

    /// What a browser holds: not the token itself, which opens other servers too.
    fn cookie(&self) -> String {
        derived("longhaul 2026 cookie of the dashboard", &self.token)
    }

    /// What every change carries. It follows from the token, so that pages that were
    /// opened before a restart with the same token go on.
    pub(super) fn csrf(&self) -> String {
        derived("longhaul 2026 changes by the dashboard", &self.token)
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let known = |one: &str| one.eq_ignore_ascii_case(name) || one.eq_ignore_ascii_case(host);
        LOOPBACK.into_iter().any(known) || self.hosts.iter().any(|one| known(one))
    }

    /// Takes the one-time token; it opens once.
    fn take_once(&self, given: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        let opens = once.as_ref().is_some_and(|once| is_same(given, once));
        if opens {
            *once = None;
        }
        opens
    }

    fn has_cookie(&self, headers: &HeaderMap, host: &str) -> bool {
        let (name, wanted) = (cookie_name(host), self.cookie());
        let all = headers.get_all(header::COOKIE).into_iter();
        all.filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(found, value)| found == name && is_same(value, &wanted))
    }
}

fn derived(purpose: &str, token: &str) -> String {
    let key = blake3::derive_key(purpose, token.as_bytes());
    blake3::hash(&key).to_hex()[..48].to_owned()
}

/// Ports share their cookies, so the port is in the name.
fn cookie_name(host: &str) -> String {
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    let port: String = port.chars().filter(char::is_ascii_digit).collect();
    format!("longhaul{port}")
}

/// Lets a request in, or says why not.
pub(super) async fn admit(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.unwrap_or_default().to_owned();
    let mut response = match judge(&access, &request, &host) {
        Verdict::Refused(status, why) => pages::refused(status, why),
        Verdict::Opened(target) => opened(&access, &host, &target),
        Verdict::Admitted => match whole(request, access.limits).await {
            Ok((request, _answering)) => next.run(request).await,
            Err(refusal) => *refusal,
        },
    };
    seal(response.headers_mut());
    response
}

enum Verdict {
    Admitted,
    /// The one-time address was opened; the page that it leads to.
    Opened(String),
    Refused(StatusCode, &'static str),
}

fn judge(access: &Access, request: &Request, host: &str) -> Verdict {
    let headers = request.headers();
    if !access.knows_host(host) {
        let why = "This server does not answer under that name. Open the address that \
                   `longhaul serve` printed, or allow the name with --allow-host.";
        return Verdict::Refused(StatusCode::MISDIRECTED_REQUEST, why);
    }
    if is_foreign(headers, host) {
        let why = "Another site sent this request. Open the address in the browser yourself.";
        return Verdict::Refused(StatusCode::FORBIDDEN, why);
    }
    if request.uri().path() == "/open" {
        let given = query_value(request.uri(), "token").unwrap_or_default();
        return match access.take_once(&given) || access.has_cookie(headers, host) {
            true => {
                let target = query_value(request.uri(), "to").unwrap_or_default();
                let is_ours = target.starts_with('/') && !target.starts_with("//");
                Verdict::Opened(if is_ours { target } else { "/".to_owned() })
            }
            false => Verdict::Refused(
                StatusCode::UNAUTHORIZED,
                "This address was opened before, and opens once. Start `longhaul serve` again \
                 for a new one.",
            ),
        };
    }
    if carries(headers, &access.token) {
        return Verdict::Admitted;
    }
    if !access.has_cookie(headers, host) {
        let why = "Open the address that `longhaul serve` printed: it has the token. Programs \
                   send it as Authorization: Bearer TOKEN.";
        return Verdict::Refused(StatusCode::UNAUTHORIZED, why);
    }
    let given = headers
        .get(CSRF_HEADER)
        .and_then(|value| value.to_str().ok());
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && !given.is_some_and(|given| is_same(given, &access.csrf())) {
        let why = "The page that asked for this change is not of this server's making, or too \
                   old. Load it again.";
        return Verdict::Refused(StatusCode::FORBIDDEN, why);
    }
    Verdict::Admitted
}

/// Whether a page of another origin asks.
fn is_foreign(headers: &HeaderMap, host: &str) -> bool {
    let origin = headers.get(header::ORIGIN);
    let of_ours = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        origin == format!("http://{host}") || origin == format!("https://{host}")
    };
    let site = headers.get("sec-fetch-site");
    let crossing = site.is_some_and(|site| site == "cross-site" || site == "same-site");
    origin.is_some_and(|origin| !of_ours(origin)) || crossing
}

fn query_value(uri: &Uri, name: &str) -> Option<String> {
    let pairs = uri.query()?.split('&');
    let (_, value) = pairs
        .filter_map(|pair| pair.split_once('='))
        .find(|(found, _)| *found == name)?;
    let value = percent_encoding::percent_decode_str(value).decode_utf8();
    value.ok().map(|value| value.into_owned())
}

/// Goes on to the page with the cookie, so that the token does not stay in the
/// address and the history.
fn opened(access: &Access, host: &str, target: &str) -> Response {
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/",
        cookie_name(host),
        access.cookie()
    );
    ([(header::SET_COOKIE, cookie)], Redirect::to(target)).into_response()
}

fn seal(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    // What sessions say is not left in the browser's cache.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        Access::new(
            "t".repeat(48),
            "once".into(),
            vec!["box.example:8443".into()],
        )
    }

    #[test]
    fn only_names_of_this_machine_and_those_that_were_allowed_are_known() {
        let access = access();
        for host in ["127.0.0.1:1", "localhost", "[::1]:80", "box.example:8443"] {
            assert!(access.knows_host(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil:80",
        ] {
            assert!(!access.knows_host(host), "{host}");
        }
    }

    #[test]
    fn the_address_that_was_printed_opens_once() {
        let access = access();
        assert!(!access.take_once("other"));
        assert!(access.take_once("once"));
        assert!(!access.take_once("once"));
        assert!(!access.take_once(""));
    }

    #[test]
    fn cookie_and_changes_carry_tokens_of_their_own() {
        let access = access();
        let all = [access.token.clone(), access.cookie(), access.csrf()];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
    }
}
