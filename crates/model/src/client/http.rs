//! Where requests go, and what they carry.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, NoProxy, Proxy, Url};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::Error;
use crate::key::Key;
use crate::provider::{Protocol, Provider};
use crate::spec::ModelSpec;

/// Where requests go. A base URL may be given with or without the version, as
/// people copy it from one place or the other.
pub(super) fn endpoint(spec: &ModelSpec) -> Result<Url, Error> {
    let bad = |reason: String| Error::BadSpec {
        spec: spec.to_string(),
        reason,
    };
    let base = spec
        .base_url
        .as_deref()
        .or(spec.provider.base_url())
        .ok_or_else(|| bad("its base URL is missing: append @https://…".into()))?;
    let mut url =
        Url::parse(base).map_err(|error| bad(format!("its base URL is none: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad(
            "its base URL must begin with http:// or https://".into()
        ));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let suffix = spec.protocol().path();
    let whole = if path.ends_with(suffix) {
        path
    } else if path.is_empty() || (spec.protocol() == Protocol::Messages && !path.ends_with("/v1")) {
        format!("{path}/v1{suffix}")
    } else {
        format!("{path}{suffix}")
    };
    url.set_path(&whole);
    Ok(url)
}

/// The address as errors show it: without what may be secret in it.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // These fail only for addresses without a host, of which there are none here.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// `None` if the key has characters that no header may hold.
pub(super) fn headers(
    provider: Provider,
    protocol: Protocol,
    key: Option<&Key>,
) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        "accept",
        HeaderValue::from_static("text/event-stream, application/json"),
    );
    if let Some(key) = key {
        let (name, value) = match protocol {
            Protocol::Messages => ("x-api-key", key.expose().to_owned()),
            Protocol::Chat | Protocol::Responses => {
                ("authorization", format!("Bearer {}", key.expose()))
            }
        };
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if protocol == Protocol::Messages {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if provider == Provider::OpenRouter {
        headers.insert("x-title", HeaderValue::from_static("longhaul"));
        headers.insert(
            "http-referer",
            HeaderValue::from_static("https://github.com/longhaul-dev/longhaul"),
        );
    }
    Some(headers)
}

pub(super) fn http_client(
    url: &Url,
    headers: HeaderMap,
    variables: &dyn Fn(&str) -> Option<String>,
    connect: Duration,
) -> Result<Client, String> {
    let secure = url.scheme() == "https";
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let tls = if secure {
        tls.with_platform_verifier()
            .map_err(|error| format!("the system's certificates cannot be read: {error}"))?
            .with_no_client_auth()
    } else {
        // A local server must work on a machine without any certificates.
        tls.with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth()
    };
    let mut client = Client::builder()
        .tls_backend_preconfigured(tls)
        .default_headers(headers)
        .user_agent(concat!("longhaul/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        // A redirect would carry the key to wherever it points.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    let either = |name: &str| {
        variables(name)
            .or_else(|| variables(&name.to_lowercase()))
            .filter(|value| !value.trim().is_empty())
    };
    if let Some(address) = either(if secure { "HTTPS_PROXY" } else { "HTTP_PROXY" })
        && !is_loopback(url)
    {
        let proxy = Proxy::all(&address)
            // The address may hold a password, and the error the address.
            .map_err(|_| "the address of the proxy cannot be read".to_owned())?
            .no_proxy(either("NO_PROXY").as_deref().and_then(NoProxy::from_string));
        client = client.proxy(proxy);
    }
    client.build().map_err(|error| chain(&error))
}

fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// A provider that cannot be reached, or not be trusted: the latter does not
/// pass, and wants another remedy. The layers below tell the two apart only in
/// words.
pub(super) fn unreachable(url: &str, reason: String) -> Error {
    let url = url.to_owned();
    if reason.to_lowercase().contains("certificate") {
        return Error::Certificate { url, reason };
    }
    Error::Network { url, reason }
}

/// The reasons of an error, without the address, which may hold a secret.
pub(super) fn chain(error: &reqwest::Error) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let text = error.to_string();
        if !reasons.iter().any(|known| known.contains(&text)) {
            reasons.push(text);
        }
        source = error.source();
    }
    if reasons.is_empty() {
        "no reason is given".to_owned()
    } else {
        reasons.join(": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_where_the_base_url_says_in_whichever_form_it_is_given() {
        let cases = [
            ("anthropic/m", "https://api.anthropic.com/v1/messages"),
            ("openai/m", "https://api.openai.com/v1/responses"),
            (
                "openai+chat/m",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "openrouter/a/b",
                "https://openrouter.ai/api/v1/chat/completions",
            ),
            (
                "ollama/m@http://host:1",
                "http://host:1/v1/chat/completions",
            ),
            (
                "ollama/m@http://host:1/",
                "http://host:1/v1/chat/completions",
            ),
            (
                "ollama/m@http://host:1/v1/",
                "http://host:1/v1/chat/completions",
            ),
            (
                "anthropic/m@https://gw/anthropic",
                "https://gw/anthropic/v1/messages",
            ),
            ("anthropic/m@https://gw/v1", "https://gw/v1/messages"),
            (
                "openai-compatible/m@https://gw/openai/deployments/x?api-version=1",
                "https://gw/openai/deployments/x/chat/completions?api-version=1",
            ),
            (
                "openai-compatible/m@https://gw/v1/chat/completions",
                "https://gw/v1/chat/completions",
            ),
            (
                "gemini/m",
                "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
            ),
        ];
        for (spec, url) in cases {
            let spec = ModelSpec::parse(spec).unwrap();
            assert_eq!(endpoint(&spec).unwrap().as_str(), url);
        }
        for spec in ["openai-compatible/m", "ollama/m@http://"] {
            let spec = ModelSpec::parse(spec).unwrap();
            assert!(
                matches!(endpoint(&spec), Err(Error::BadSpec { .. })),
                "{spec}"
            );
        }
    }

    #[test]
    fn addresses_are_shown_without_what_may_be_secret() {
        let url = Url::parse("https://me:hunter2@host/v1/x?key=s3cret#f").unwrap();
        assert_eq!(shown(&url), "https://host/v1/x");
    }

    #[test]
    fn a_provider_that_cannot_be_trusted_is_not_merely_unreachable() {
        let kind =
            |reason: &str| matches!(unreachable("u", reason.into()), Error::Certificate { .. });
        assert!(kind(
            "client error (Connect): invalid peer certificate: UnknownIssuer"
        ));
        assert!(kind(
            "the system's certificates cannot be read: No CA certificates were loaded"
        ));
        assert!(!kind(
            "client error (Connect): tcp connect error: Connection refused"
        ));
    }
}
