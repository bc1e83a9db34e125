//! Vectors of texts, from an endpoint that speaks OpenAI's `/v1/embeddings`.

use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::{Client, Url};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use super::http::{chain, headers, http_client, shown, unreachable};
use super::worth_another;
use crate::complaint::{Asked, excerpt, is_html, judge, page_excerpt, retry_after_header};
use crate::error::{Error, Phase};
use crate::key::Key;
use crate::limits::Limits;
use crate::provider::{Protocol, Provider};

/// An answer larger than this is none: 2,048 vectors of 4,096 numbers fit.
const MOST_BYTES: usize = 256 << 20;

/// A model that makes vectors, somewhere else.
pub struct Embeddings {
    asked: Asked,
    key: Option<Key>,
    limits: Limits,
    client: Client,
    url: Url,
    asks: AtomicU64,
}

impl Embeddings {
    /// Makes a model that can be asked. Nothing is sent yet.
    ///
    /// `base_url` may be given with or without the version. `variable` names the
    /// environment variable that holds the key, where there is one; `keys` is
    /// asked for it and for those of a proxy. The environment itself is not read.
    pub fn connect(
        base_url: &str,
        model: &str,
        variable: Option<&str>,
        keys: &dyn Fn(&str) -> Option<String>,
        limits: Limits,
    ) -> Result<Embeddings, Error> {
        let url = endpoint(base_url, model)?;
        let shown = shown(&url);
        let provider = url.host_str().unwrap_or("the endpoint").to_owned();
        let key = variable.and_then(keys).as_deref().and_then(Key::new);
        if let (Some(variable), None) = (variable, &key) {
            return Err(Error::MissingKey {
                provider,
                variable: variable.to_owned(),
            });
        }
        let headers = headers(Provider::OpenAi, Protocol::Chat, key.as_ref()).ok_or_else(|| {
            Error::BadKey {
                provider: provider.clone(),
                variable: variable.unwrap_or_default().to_owned(),
            }
        })?;
        let client = http_client(&url, headers, keys, limits.connect)
            .map_err(|reason| unreachable(&shown, reason))?;
        Ok(Embeddings {
            asked: Asked {
                provider,
                model: model.to_owned(),
                url: shown,
                variable: variable.map(str::to_owned),
            },
            key,
            limits,
            client,
            url,
            asks: AtomicU64::new(0),
        })
    }

    /// Where it is asked, without what may be secret in the address.
    pub fn endpoint(&self) -> &str {
        &self.asked.url
    }

    /// The vectors of texts, one each, in order.
    pub async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let body = json!({
            "model": self.asked.model,
            "input": texts,
            "encoding_format": "float",
        })
        .to_string();
        let salt = self.asks.fetch_add(1, Ordering::Relaxed);
        let end = Instant::now() + self.limits.total;
        let mut attempt = 1;
        loop {
            let error = match self.once(&body, texts.len(), end).await {
                Ok(vectors) => return Ok(vectors),
                Err(error) => error,
            };
            attempt += 1;
            let wait = match &error {
                Error::RateLimited {
                    retry_after: Some(wait),
                    ..
                } => *wait,
                _ => self.limits.jitter(attempt, salt),
            };
            let again = worth_another(&error) == super::Again::Yes;
            if !again || attempt > self.limits.attempts || Instant::now() + wait >= end {
                return Err(self.without_key(error));
            }
            sleep(wait).await;
        }
    }

    async fn once(&self, body: &str, wanted: usize, end: Instant) -> Result<Vec<Vec<f32>>, Error> {
        let late = |phase, after| Error::Timeout {
            provider: self.asked.provider.clone(),
            phase,
            after,
        };
        let deadline = end.min(Instant::now() + self.limits.request);
        let first = deadline.min(Instant::now() + self.limits.first_byte);
        let sent = self.client.post(self.url.clone()).body(body.to_owned());
        let mut response = timeout_at(first, sent.send())
            .await
            .map_err(|_| late(Phase::FirstByte, self.limits.first_byte))?
            .map_err(|error| unreachable(&self.asked.url, chain(&error)))?;
        let status = response.status();
        let named = |name: &str| -> Option<&str> { response.headers().get(name)?.to_str().ok() };
        let content_type = named("content-type").unwrap_or_default().to_owned();
        let retry_after = retry_after_header(named);
        let mut bytes = Vec::new();
        loop {
            let piece = timeout_at(deadline, response.chunk())
                .await
                .map_err(|_| late(Phase::Idle, self.limits.request))?;
            match piece {
                Ok(Some(piece)) => bytes.extend_from_slice(&piece),
                Ok(None) => break,
                Err(error) => {
                    return Err(Error::Interrupted {
                        provider: self.asked.provider.clone(),
                        reason: chain(&error),
                    });
                }
            }
            if bytes.len() > MOST_BYTES {
                return Err(self.unreadable("it is too long", ""));
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if !status.is_success() {
            let status = status.as_u16();
            return Err(judge(
                status,
                &content_type,
                &text,
                retry_after,
                &self.asked,
            ));
        }
        if is_html(&content_type, &text) {
            return Err(Error::NotAnApi {
                url: self.asked.url.clone(),
                status: status.as_u16(),
                excerpt: page_excerpt(&text),
            });
        }
        vectors(&text, wanted).map_err(|reason| self.unreadable(&reason, &text))
    }

    fn unreadable(&self, reason: &str, text: &str) -> Error {
        Error::BadAnswer {
            provider: self.asked.provider.clone(),
            reason: reason.to_owned(),
            excerpt: excerpt(text, 120),
        }
    }

    /// A provider or a proxy may have put the key into its words.
    fn without_key(&self, mut error: Error) -> Error {
        if let Some(key) = &self.key {
            error.map_words(&|words| key.remove_from(words));
        }
        error
    }
}

/// A base URL may be given with or without the version, as people copy it.
fn endpoint(base: &str, model: &str) -> Result<Url, Error> {
    let bad = |reason: String| Error::BadSpec {
        spec: model.to_owned(),
        reason,
    };
    let mut url =
        Url::parse(base).map_err(|error| bad(format!("its base URL is none: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad(
            "its base URL must begin with http:// or https://".into()
        ));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&match path.as_str() {
        "" => "/v1/embeddings".to_owned(),
        path if path.ends_with("/embeddings") => path.to_owned(),
        path => format!("{path}/embeddings"),
    });
    Ok(url)
}

/// The vectors in an answer, in the order of the texts.
fn vectors(text: &str, wanted: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let data = answer.get("data").and_then(Value::as_array);
    let data = data.ok_or("it has no data")?;
    if data.len() != wanted {
        return Err(format!("it has {} vectors for {wanted} texts", data.len()));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; wanted];
    for (at, one) in data.iter().enumerate() {
        let index = one.get("index").and_then(Value::as_u64);
        let index = index.map_or(at, |index| usize::try_from(index).unwrap_or(usize::MAX));
        let numbers = one.get("embedding").and_then(Value::as_array);
        let numbers = numbers.ok_or("a vector is missing")?;
        let vector: Option<Vec<f32>> = numbers
            .iter()
            .map(|number| Some(number.as_f64()? as f32).filter(|number| number.is_finite()))
            .collect();
        let vector = vector.filter(|vector| !vector.is_empty());
        let vector = vector.ok_or("a vector is none")?;
        match vectors.get_mut(index) {
            Some(place @ None) => *place = Some(vector),
            _ => return Err("its vectors belong to no text".to_owned()),
        }
    }
    let vectors: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
    let vectors = vectors.ok_or("a vector is missing")?;
    match vectors.iter().all(|one| one.len() == vectors[0].len()) {
        true => Ok(vectors),
        false => Err("its vectors differ in length".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use longhaul_testkit::loopback::{Loopback, Reply};

    fn limits() -> Limits {
        Limits {
            backoff: Duration::from_millis(1),
            ..Limits::default()
        }
    }

    fn ask(server: &Loopback, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let keys = |name: &str| (name == "EMBED_KEY").then(|| "sk-very-secret-1".to_owned());
        let model =
            Embeddings::connect(&server.url(), "small", Some("EMBED_KEY"), &keys, limits())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(model.embed(texts))
    }

    #[test]
    fn texts_are_sent_as_openai_wants_them_and_vectors_come_in_their_order() {
        let server = Loopback::start(|_| {
            Reply::json(
                200,
                &json!({"data": [
                    {"index": 1, "embedding": [0.0, 1.0]},
                    {"index": 0, "embedding": [1.0, 0.5]},
                ]}),
            )
        })
        .unwrap();
        let vectors = ask(&server, &["one", "two"]).unwrap();
        assert_eq!(vectors, [vec![1.0, 0.5], vec![0.0, 1.0]]);
        let asked = server.requests();
        assert_eq!(asked[0].path, "/v1/embeddings");
        assert_eq!(
            asked[0].header("authorization"),
            Some("Bearer sk-very-secret-1")
        );
        assert_eq!(asked[0].json()["input"], json!(["one", "two"]));
        assert_eq!(asked[0].json()["model"], "small");
    }

    #[test]
    fn what_passes_is_asked_again_and_what_does_not_is_told_without_the_key() {
        let server = Loopback::start(|request| match request.number {
            0 => Reply::json(503, &json!({"error": {"message": "busy"}})),
            _ => Reply::json(200, &json!({"data": [{"embedding": [1.0]}]})),
        })
        .unwrap();
        assert_eq!(ask(&server, &["one"]).unwrap(), [vec![1.0]]);
        let server = Loopback::start(|_| {
            let message = "the key sk-very-secret-1 is wrong";
            Reply::json(401, &json!({"error": {"message": message}}))
        })
        .unwrap();
        let error = ask(&server, &["one"]).unwrap_err().to_string();
        assert!(error.contains("[key]"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }

    #[test]
    fn an_answer_that_does_not_fit_the_texts_is_none() {
        for answer in [
            json!({"data": []}),
            json!({"data": [{"embedding": [1.0]}, {"embedding": [1.0]}]}),
            json!({"data": [{"embedding": []}]}),
            json!({"data": [{"embedding": ["x"]}]}),
            json!({"data": [{"index": 7, "embedding": [1.0]}]}),
            json!({"vectors": []}),
        ] {
            let shown = answer.to_string();
            let server = Loopback::start(move |_| Reply::json(200, &answer)).unwrap();
            let error = ask(&server, &["one"]).unwrap_err();
            assert!(matches!(error, Error::BadAnswer { .. }), "{shown}: {error}");
        }
    }

    #[test]
    fn a_key_that_is_named_must_be_there() {
        let none = |_: &str| None;
        let made = Embeddings::connect("http://127.0.0.1:9", "m", Some("NONE"), &none, limits());
        assert!(matches!(made.err(), Some(Error::MissingKey { .. })));
        let made = Embeddings::connect("nowhere", "m", None, &none, limits());
        assert!(matches!(made.err(), Some(Error::BadSpec { .. })));
    }
}
