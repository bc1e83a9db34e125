//! Which model makes the vectors: an installed encoder, then an endpoint that
//! the user has named, then a static model, then none.
//!
//! Whatever is chosen, why the better ones were not is told. Nothing is sent
//! anywhere that the configuration does not name: a key in the environment
//! alone is no leave.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use longhaul_memory::{
    Encoder, EncoderKind, IndexError, Models, Redactor, RemoteEncoder, open_model,
};
use longhaul_model::{Embeddings, Limits};

use crate::config::{Embedding, EmbeddingProvider};

/// Where OpenAI itself is asked.
const OPENAI: &str = "https://api.openai.com/v1";
/// What OpenAI is asked for, unless another model is named.
const OPENAI_MODEL: &str = "text-embedding-3-small";
/// Texts in one request.
const TEXTS_AT_ONCE: usize = 64;

/// The model that makes vectors, and why it is that one.
pub struct ChosenEncoder {
    /// The model; none for words alone.
    pub encoder: Option<Arc<dyn Encoder>>,
    /// Why the better ones are not used, the best first.
    pub reasons: Vec<Reason>,
}

/// Why a model is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// In words.
    pub text: String,
    /// Whether it is there, or was asked for, and cannot be used. Otherwise
    /// there simply is none.
    pub is_fault: bool,
}

impl ChosenEncoder {
    /// What is there, or was asked for, and cannot be used.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        let faults = self.reasons.iter().filter(|reason| reason.is_fault);
        faults.map(|reason| reason.text.as_str())
    }

    /// The kind of model in one word.
    pub fn kind(&self) -> &'static str {
        match self.encoder.as_ref().map(|encoder| encoder.kind()) {
            Some(EncoderKind::Transformer) => "local",
            Some(EncoderKind::Remote) => "openai-compatible",
            Some(EncoderKind::Static) => "static",
            None => "none",
        }
    }
}

/// A link of the chain: a model, or why there is none.
type Link = Result<Arc<dyn Encoder>, Vec<Reason>>;

fn fault(text: String) -> Reason {
    Reason {
        text,
        is_fault: true,
    }
}

fn absence(text: impl Into<String>) -> Reason {
    Reason {
        text: text.into(),
        is_fault: false,
    }
}

/// Chooses the model that the configuration asks for, or the best there is.
///
/// `variables` is asked for the key and for proxies; `threads` and `models` are
/// for installed ones.
pub fn choose_encoder(
    settings: &Embedding,
    models: &Models,
    threads: usize,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<ChosenEncoder, IndexError> {
    let installed = |kind: EncoderKind| -> Result<Link, IndexError> {
        let path = settings.model_path.as_deref();
        match (path, kind) {
            (Some(path), EncoderKind::Transformer) => Ok(at_path(Path::new(path), threads)),
            _ => self::installed(models, settings, kind),
        }
    };
    let remote = || endpoint(settings, variables);
    let mut reasons = Vec::new();
    let mut encoder = None;
    let mut link = |link: Link| match link {
        Ok(found) => {
            encoder = Some(found);
            true
        }
        Err(why) => {
            reasons.extend(why);
            false
        }
    };
    match settings.provider {
        EmbeddingProvider::None => {
            reasons.push(absence("`memory.embedding.provider` is none"));
        }
        EmbeddingProvider::Local => {
            link(installed(EncoderKind::Transformer)?);
        }
        EmbeddingProvider::OpenaiCompatible => {
            link(remote());
        }
        EmbeddingProvider::Static => {
            link(installed(EncoderKind::Static)?);
        }
        EmbeddingProvider::Auto => {
            let _ = link(installed(EncoderKind::Transformer)?)
                || link(match is_named(settings) {
                    true => remote(),
                    false => Err(vec![absence(
                        "no endpoint: neither `memory.embedding.baseUrl` nor `apiKeyEnv` is set",
                    )]),
                })
                || link(installed(EncoderKind::Static)?);
        }
    }
    Ok(ChosenEncoder { encoder, reasons })
}

/// Whether the user has named an endpoint. That alone is leave to send texts.
fn is_named(settings: &Embedding) -> bool {
    settings.base_url.is_some() || settings.api_key_env.is_some()
}

fn at_path(path: &Path, threads: usize) -> Link {
    open_model(path, threads).map_err(|error| vec![fault(format!("no local encoder: {error}"))])
}

/// The best installed model of a kind; of a name, where one is set for models
/// of this machine.
fn installed(models: &Models, settings: &Embedding, kind: EncoderKind) -> Result<Link, IndexError> {
    let (word, what) = match kind {
        EncoderKind::Transformer => ("transformer", "local encoder"),
        _ => ("static", "static model"),
    };
    let local = matches!(
        settings.provider,
        EmbeddingProvider::Local | EmbeddingProvider::Static
    );
    let name = settings.model.as_deref().filter(|_| local);
    let (found, faults) = models.list()?;
    let mut reasons: Vec<Reason> = Vec::new();
    // A folder that is no model may have been either kind; it is told once.
    if kind == EncoderKind::Transformer || local {
        reasons.extend(faults.iter().map(|error| fault(error.to_string())));
    }
    for model in found.iter().filter(|model| model.kind == word) {
        if name.is_some_and(|name| name != model.name && name != model.id) {
            continue;
        }
        match models.open(&model.name) {
            Ok(encoder) => return Ok(Ok(encoder)),
            Err(error) => reasons.push(fault(format!(
                "the {what} {} is not used: {error}",
                model.name
            ))),
        }
    }
    if reasons.is_empty() {
        let text = match name {
            Some(name) => format!("no {what} is called {name:?}; `longhaul memory model list`"),
            None => format!("no {what} is installed; `longhaul memory model add` does that"),
        };
        reasons.push(Reason {
            text,
            is_fault: local,
        });
    }
    Ok(Err(reasons))
}

/// How long an endpoint may take: a search waits for it.
fn limits() -> Limits {
    Limits {
        connect: Duration::from_secs(3),
        first_byte: Duration::from_secs(10),
        request: Duration::from_secs(30),
        total: Duration::from_secs(60),
        attempts: 3,
        ..Limits::default()
    }
}

/// The endpoint that is named, if it answers.
fn endpoint(settings: &Embedding, variables: &dyn Fn(&str) -> Option<String>) -> Link {
    let base = settings.base_url.as_deref().unwrap_or(OPENAI);
    let model = match (settings.model.as_deref(), settings.base_url.is_none()) {
        (Some(model), _) => model,
        (None, true) => OPENAI_MODEL,
        (None, false) => {
            return Err(vec![fault(format!(
                "no endpoint: {base} is named, but no model of it in `memory.embedding.model`"
            ))]);
        }
    };
    // OpenAI itself wants a key; another endpoint may do without.
    let variable = match (settings.api_key_env.as_deref(), settings.base_url.is_none()) {
        (None, true) => Some("OPENAI_API_KEY"),
        (named, _) => named,
    };
    let failed = |reason: String| vec![fault(format!("the endpoint is not used: {reason}"))];
    let asked = Embeddings::connect(base, model, variable, variables, limits())
        .map_err(|error| failed(format!("{error}; {}", error.remedy())))?;
    let place = asked.endpoint().to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed(error.to_string()))?;
    let redactor = Redactor::default();
    let embed = move |texts: &[&str]| -> Result<Vec<Vec<f32>>, String> {
        // What is indexed is redacted already; a question is not.
        let texts: Vec<String> = texts
            .iter()
            .map(|text| redactor.redact(text).text)
            .collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for some in texts.chunks(TEXTS_AT_ONCE) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            // On a thread of its own: the caller may be inside a runtime.
            let made = std::thread::scope(|scope| {
                let asking = scope.spawn(|| runtime.block_on(asked.embed(&some)));
                asking.join()
            });
            match made {
                Ok(Ok(made)) => vectors.extend(made),
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_) => return Err("the request ended in a panic".to_owned()),
            }
        }
        Ok(vectors)
    };
    match RemoteEncoder::connect(&place, model, Box::new(embed)) {
        Ok(encoder) => Ok(Arc::new(encoder)),
        Err(error) => Err(failed(error.to_string())),
    }
}
