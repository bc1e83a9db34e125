//! Asking over HTTP: connecting, sending, reading the stream, giving up, trying
//! again.

mod clock;
mod embeddings;
mod http;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clock::Clock;
pub use embeddings::Embeddings;
use futures_util::future::{BoxFuture, FutureExt};
use http::{chain, endpoint, headers, http_client, shown, unreachable};
use reqwest::{Client, Response, Url};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::answer::{Answer, Delta, Failure};
use crate::catalogue::{Catalogue, takes_breakpoints};
use crate::complaint::{Asked, excerpt, is_html, judge, page_excerpt, retry_after_header};
use crate::error::{Error, Phase};
use crate::key::Key;
use crate::limits::Limits;
use crate::model::{Model, ModelInfo};
use crate::request::Request;
use crate::spec::ModelSpec;
use crate::sse::Decoder;
use crate::wire::{Dialect, Progress, Reader, Wrong};

/// Makes a model that can be asked. Nothing is sent yet.
///
/// `keys` is asked for environment variables by name: the one that holds the
/// key, and `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. This library does not
/// read the environment itself.
pub fn connect(
    spec: &ModelSpec,
    keys: &dyn Fn(&str) -> Option<String>,
    limits: Limits,
) -> Result<Arc<dyn Model>, Error> {
    connect_with(spec, keys, limits, &Catalogue::new())
}

/// As [`connect`], with a catalogue of the caller's.
pub fn connect_with(
    spec: &ModelSpec,
    keys: &dyn Fn(&str) -> Option<String>,
    limits: Limits,
    catalogue: &Catalogue,
) -> Result<Arc<dyn Model>, Error> {
    let provider = spec.provider;
    let protocol = spec.protocol();
    let url = endpoint(spec)?;
    let variable = spec.key_variable();
    let key = keys(variable).as_deref().and_then(Key::new);
    if key.is_none() && (provider.needs_key() || spec.key_variable.is_some()) {
        return Err(Error::MissingKey {
            provider: provider.name().to_owned(),
            variable: variable.to_owned(),
        });
    }
    let headers = headers(provider, protocol, key.as_ref()).ok_or_else(|| Error::BadKey {
        provider: provider.name().to_owned(),
        variable: variable.to_owned(),
    })?;
    let shown = shown(&url);
    let client = http_client(&url, headers, keys, limits.connect)
        .map_err(|reason| unreachable(&shown, reason))?;

    let given = spec
        .known
        .clone()
        .or(catalogue.corrections(provider, &spec.name));
    let window_given = given.window.is_some();
    let corrected = given.or(catalogue.look_up(provider, &spec.name));
    let breakpoints = takes_breakpoints(provider, protocol, &spec.name);
    let info = ModelInfo {
        provider: provider.name().to_owned(),
        name: spec.name.clone(),
        protocol: Some(protocol),
        endpoint: Some(url.origin().ascii_serialization()),
        window: corrected.window,
        window_given,
        max_output: corrected.max_output,
        prices: corrected.prices,
        caches: breakpoints,
        cache_ttl: corrected.cache_ttl,
    };
    let asked = Asked {
        provider: provider.name().to_owned(),
        model: spec.name.clone(),
        url: shown,
        variable: key.is_some().then(|| variable.to_owned()),
    };
    let dialect = Dialect {
        provider,
        protocol,
        model: spec.name.clone(),
        max_output: info.max_output,
        breakpoints,
        images: corrected.images.unwrap_or(true),
    };
    Ok(Arc::new(Connected {
        info,
        asked,
        dialect,
        key,
        limits,
        client,
        url,
        asks: AtomicU64::new(0),
    }))
}

/// A model behind HTTP.
struct Connected {
    info: ModelInfo,
    asked: Asked,
    dialect: Dialect,
    key: Option<Key>,
    limits: Limits,
    client: Client,
    url: Url,
    asks: AtomicU64,
}

impl Model for Connected {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        self.ask_until_answered(request, deltas, cancel).boxed()
    }
}

/// One attempt's end.
enum End {
    Answered,
    Failed(Error, Again),
}

/// Whether sending the same request again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Yes,
    No,
}

impl Connected {
    async fn ask_until_answered(
        &self,
        request: &Request,
        deltas: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<Answer, Failure> {
        let fail = |error, partial, attempts| Failure {
            error: self.without_key(error),
            partial,
            attempts,
        };
        let Some(body) = self.dialect.body(request) else {
            let error = Error::BadRequest {
                provider: self.asked.provider.clone(),
                status: 0,
                message: "there is no message in the request".into(),
            };
            return Err(fail(error, None, 0));
        };
        let body = body.to_string();
        let salt = self.asks.fetch_add(1, Ordering::Relaxed);
        let total = Instant::now() + self.limits.total;
        let most = self.limits.attempts.max(1);
        let mut attempt = 1;
        loop {
            if cancel.is_cancelled() {
                return Err(fail(Error::Cancelled, None, attempt - 1));
            }
            let mut reader = self.dialect.reader();
            let end = cancel
                .run_until_cancelled(self.attempt(&body, &mut reader, deltas, cancel, total))
                .await
                .unwrap_or(End::Failed(Error::Cancelled, Again::No));
            let draft = reader.draft();
            let (error, again) = match end {
                End::Answered => return Ok(draft.answer(&self.info.name)),
                End::Failed(error, again) => (error, again),
            };
            let partial =
                (!draft.is_empty() || draft.usage.is_some()).then(|| draft.answer(&self.info.name));
            if draft.said() || again == Again::No || attempt >= most {
                return Err(fail(error, partial, attempt));
            }
            let error = self.without_key(error);
            let wait = match error.retry_after() {
                // A little more than asked for, lest all come back at once.
                Some(asked_for) => asked_for.saturating_add(self.limits.jitter(2, salt) / 10),
                None => self.limits.jitter(attempt + 1, salt),
            };
            // An answer that could only come after the time is up is not waited for.
            if wait >= total.saturating_duration_since(Instant::now()) {
                return Err(fail(error, partial, attempt));
            }
            attempt += 1;
            deltas(Delta::Retrying {
                attempt,
                after: wait,
                reason: error.to_string(),
            });
            if cancel.run_until_cancelled(sleep(wait)).await.is_none() {
                return Err(fail(Error::Cancelled, partial, attempt - 1));
            }
        }
    }

    async fn attempt(
        &self,
        body: &str,
        reader: &mut Reader,
        deltas: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
        total: Instant,
    ) -> End {
        match self.try_once(body, reader, deltas, cancel, total).await {
            Ok(()) => End::Answered,
            Err((error, again)) => End::Failed(error, again),
        }
    }

    async fn try_once(
        &self,
        body: &str,
        reader: &mut Reader,
        deltas: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
        total: Instant,
    ) -> Result<(), (Error, Again)> {
        let clock = Clock::start(&self.limits, total, &self.asked.provider);
        let sent = self
            .client
            .post(self.url.clone())
            .body(body.to_owned())
            .send();
        let mut response = clock
            .within(clock.first_byte(), sent)
            .await?
            .map_err(|error| {
                let error = self.network(&error);
                let again = worth_another(&error);
                (error, again)
            })?;
        let status = response.status().as_u16();
        let content_type = header(&response, "content-type")
            .unwrap_or_default()
            .to_owned();

        if !response.status().is_success() {
            let retry_after = retry_after_header(|name| header(&response, name));
            let advice = header(&response, "x-should-retry").map(str::to_owned);
            let text = self.read_all(&clock, &mut response, MAX_ERROR).await?;
            let error = judge(status, &content_type, &text, retry_after, &self.asked);
            let again = match advice.as_deref() {
                Some("true") => Again::Yes,
                Some("false") => Again::No,
                _ => worth_another(&error),
            };
            return Err((error, again));
        }
        if content_type.starts_with("application/json") || content_type.starts_with("text/html") {
            let text = self.read_all(&clock, &mut response, MAX_WHOLE).await?;
            if is_html(&content_type, &text) {
                return Err((self.not_an_api(status, &text), Again::No));
            }
            return reader
                .whole(&text, deltas)
                .map_err(|wrong| self.wrong(wrong));
        }
        self.read_stream(&clock, &mut response, reader, deltas, cancel)
            .await
    }

    async fn read_stream(
        &self,
        clock: &Clock<'_>,
        response: &mut Response,
        reader: &mut Reader,
        deltas: &mut (dyn FnMut(Delta) + Send),
        cancel: &CancellationToken,
    ) -> Result<(), (Error, Again)> {
        let mut decoder = Decoder::default();
        let mut limit = clock.first_byte();
        // What a stream begins with, should it turn out not to be one.
        let mut beginning = Vec::new();
        let mut any = false;
        loop {
            let piece = clock.within(limit, response.chunk()).await?;
            limit = clock.idle();
            let piece = match piece {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => {
                    let reason = format!("the connection broke ({})", chain(&error));
                    return Err((self.interrupted(reason), Again::Yes));
                }
            };
            if beginning.len() < 512 {
                beginning.extend_from_slice(&piece[..piece.len().min(512)]);
            }
            let events = decoder.push(&piece).map_err(|_| {
                let reason = "a line of it has no end".to_owned();
                (
                    self.bad_answer(reason, String::from_utf8_lossy(&beginning).as_ref()),
                    Again::No,
                )
            })?;
            for event in events {
                if cancel.is_cancelled() {
                    return Err((Error::Cancelled, Again::No));
                }
                any = true;
                match reader
                    .event(&event, deltas)
                    .map_err(|wrong| self.wrong(wrong))?
                {
                    Progress::Done => return Ok(()),
                    Progress::More => {}
                }
            }
        }
        if let Some(event) = decoder.finish() {
            any = true;
            match reader
                .event(&event, deltas)
                .map_err(|wrong| self.wrong(wrong))?
            {
                Progress::Done => return Ok(()),
                Progress::More => {}
            }
        }
        if !any {
            let text = String::from_utf8_lossy(&beginning);
            if is_html("", &text) {
                return Err((self.not_an_api(200, &text), Again::No));
            }
            if text.trim().is_empty() {
                return Err((self.interrupted("it is empty".into()), Again::Yes));
            }
            let reason = "it is neither JSON nor a stream of events".to_owned();
            return Err((self.bad_answer(reason, &text), Again::No));
        }
        reader.finish().map_err(|wrong| self.wrong(wrong))
    }

    async fn read_all(
        &self,
        clock: &Clock<'_>,
        response: &mut Response,
        most: usize,
    ) -> Result<String, (Error, Again)> {
        let mut bytes = Vec::new();
        let mut limit = clock.first_byte();
        loop {
            match clock.within(limit, response.chunk()).await? {
                Ok(Some(piece)) if bytes.len() < most => bytes.extend_from_slice(&piece),
                Ok(Some(_)) | Ok(None) => break,
                // Of an error, what came is enough to know what it is.
                Err(_) if !response.status().is_success() => break,
                Err(error) => {
                    let reason = format!("the connection broke ({})", chain(&error));
                    return Err((self.interrupted(reason), Again::Yes));
                }
            }
            limit = clock.idle();
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn wrong(&self, wrong: Wrong) -> (Error, Again) {
        match wrong {
            Wrong::Complaint(complaint) => {
                let error = complaint.classify(&self.asked);
                let again = worth_another(&error);
                (error, again)
            }
            Wrong::Unreadable { reason, excerpt } => (self.bad_answer(reason, &excerpt), Again::No),
            Wrong::Cut(reason) => (self.interrupted(reason), Again::Yes),
        }
    }

    fn network(&self, error: &reqwest::Error) -> Error {
        if error.is_timeout() {
            return Error::Timeout {
                provider: self.asked.provider.clone(),
                phase: Phase::Connect,
                after: self.limits.connect,
            };
        }
        unreachable(&self.asked.url, chain(error))
    }

    fn not_an_api(&self, status: u16, text: &str) -> Error {
        Error::NotAnApi {
            url: self.asked.url.clone(),
            status,
            excerpt: page_excerpt(text),
        }
    }

    fn bad_answer(&self, reason: String, text: &str) -> Error {
        Error::BadAnswer {
            provider: self.asked.provider.clone(),
            reason,
            excerpt: excerpt(text, 200),
        }
    }

    fn interrupted(&self, reason: String) -> Error {
        Error::Interrupted {
            provider: self.asked.provider.clone(),
            reason,
        }
    }

    /// A provider that repeats the key in its words does not get it into ours.
    fn without_key(&self, mut error: Error) -> Error {
        if let Some(key) = &self.key {
            error.map_words(&|words| key.remove_from(words));
        }
        error
    }
}

/// As much of an error's body as is read.
const MAX_ERROR: usize = 256 << 10;
/// As much of an answer's, from a server that does not stream.
const MAX_WHOLE: usize = 64 << 20;

fn worth_another(error: &Error) -> Again {
    match error {
        // A single request beyond the rate never fits it.
        Error::RateLimited { message, .. } if message.starts_with("Request too large") => Again::No,
        Error::RateLimited { .. }
        | Error::Overloaded { .. }
        | Error::Timeout { .. }
        | Error::Network { .. }
        | Error::Interrupted { .. } => Again::Yes,
        _ => Again::No,
    }
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response
        .headers()
        .get(name)
        .and_then(|value| value.to_str().ok())
}
