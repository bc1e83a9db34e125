//! Which model makes the vectors: an installed encoder, then an endpoint that
//! the user has named, then a static model, then none.
//!
//! Whatever is chosen, why the better ones were not is told. Nothing is sent
//! anywhere that the configuration does not name: a key in the environment
//! alone is no leave.

use std::path::Path;
use std::sync::Arc;

use longhaul_index::{
    Encoder, EncoderKind, IndexError, InstalledModel, Models, Patience, open_model,
};

use super::endpoint::{AwayEndpoint, endpoint};
use super::reason::{Link, Reason, absence, fault};
use crate::config::{Embedding, EmbeddingProvider};

/// The model that makes vectors, and why it is that one.
pub struct ChosenEncoder {
    /// The model; none for words alone.
    pub encoder: Option<Arc<dyn Encoder>>,
    /// Why it is this one and none of those that could be used as well.
    pub why: Option<String>,
    /// Why the better ones are not used, the best first.
    pub reasons: Vec<Reason>,
    /// The endpoint that would make the vectors if it answered, where nothing else
    /// does: [`Library::await_endpoint`](super::Library::await_endpoint).
    pub away: Option<AwayEndpoint>,
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

/// An installed model that somebody named.
struct Choice {
    name: String,
    /// Where it was named.
    by: &'static str,
}

/// Chooses the model that the configuration asks for, or the best there is.
///
/// `variables` is asked for the key and for proxies; `threads` and `models` are
/// for installed ones; `patience` is for an endpoint, which is asked once to see
/// whether it answers.
pub fn choose_encoder(
    settings: &Embedding,
    models: &Models,
    threads: usize,
    patience: Patience,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<ChosenEncoder, IndexError> {
    let (found, broken) = models.list()?;
    let mut reasons = Vec::new();
    let choice = choice(settings, models, &found, &mut reasons)?;
    let installed = |kind: EncoderKind| -> Link {
        if let (Some(path), EncoderKind::Transformer) = (&settings.model_path, kind) {
            return at_path(Path::new(path), threads);
        }
        let named = choice.as_ref().filter(|choice| {
            // What was chosen for another kind says nothing of this.
            let other = found.iter().find(|model| model.is_called(&choice.name));
            choice.by == CONFIGURED || other.is_none_or(|model| model.kind == word(kind))
        });
        installed(models, settings, &found, &broken, kind, named)
    };
    let kinds: &[EncoderKind] = match settings.provider {
        EmbeddingProvider::None => {
            reasons.push(absence("`memory.embedding.provider` is none"));
            &[]
        }
        EmbeddingProvider::Local => &[EncoderKind::Transformer],
        EmbeddingProvider::OpenaiCompatible => &[EncoderKind::Remote],
        EmbeddingProvider::Static => &[EncoderKind::Static],
        EmbeddingProvider::Auto => BEST_FIRST,
    };
    let is_auto = settings.provider == EmbeddingProvider::Auto;
    let mut away = None;
    let mut link = |kind: EncoderKind| match (kind, &choice) {
        (_, Some(choice)) if is_auto => chosen(models, &found, choice),
        (EncoderKind::Remote, _) if is_auto && !is_named(settings) => Err(vec![absence(
            "no endpoint: neither `memory.embedding.baseUrl` nor `apiKeyEnv` is set",
        )]),
        (EncoderKind::Remote, _) => endpoint(settings, patience, variables, &mut away),
        (kind, _) => installed(kind),
    };
    let mut best = None;
    for kind in kinds {
        match link(*kind) {
            Ok(found) => best = Some(found),
            Err(why) => reasons.extend(why),
        }
        // Nothing else takes the place of one that somebody chose.
        if best.is_some() || is_auto && choice.is_some() {
            break;
        }
    }
    let (encoder, why) = best.unzip();
    Ok(ChosenEncoder {
        // Vectors of two models are never mixed: what was chosen instead stays.
        away: away.filter(|_| encoder.is_none()),
        encoder,
        why,
        reasons,
    })
}

/// Which kind of model is taken before another.
const BEST_FIRST: &[EncoderKind] = &[
    EncoderKind::Transformer,
    EncoderKind::Remote,
    EncoderKind::Static,
];

const CONFIGURED: &str = "`memory.embedding.model` names it";
const USED: &str = "`longhaul memory model use` chose it";

/// Which installed model somebody named: in the configuration, else on this
/// machine. A folder that is named goes before both.
fn choice(
    settings: &Embedding,
    models: &Models,
    found: &[InstalledModel],
    reasons: &mut Vec<Reason>,
) -> Result<Option<Choice>, IndexError> {
    let provider = settings.provider;
    let by_path = settings.model_path.is_some() && provider != EmbeddingProvider::Static;
    if by_path {
        return Ok(None);
    }
    let configured = settings.model.as_deref().filter(|name| match provider {
        EmbeddingProvider::Local | EmbeddingProvider::Static => true,
        // It may be meant for an endpoint, and then nothing here has its name.
        EmbeddingProvider::Auto => {
            let is_here = found.iter().any(|model| model.is_called(name));
            if !is_here && !is_named(settings) {
                reasons.push(absence(format!(
                    "no installed model is called {name:?}, which `memory.embedding.model` names"
                )));
            }
            is_here
        }
        EmbeddingProvider::OpenaiCompatible | EmbeddingProvider::None => false,
    });
    Ok(match configured {
        Some(name) => Some(Choice {
            name: name.to_owned(),
            by: CONFIGURED,
        }),
        None => models.chosen()?.map(|name| Choice { name, by: USED }),
    })
}

/// The model that was chosen, of whatever kind; never another in its place.
fn chosen(models: &Models, found: &[InstalledModel], choice: &Choice) -> Link {
    let Choice { name, by } = choice;
    let why = match found.iter().find(|model| model.is_called(name)) {
        None => format!("no model is called {name:?} any more, and {by}"),
        Some(model) => match models.open(&model.name) {
            Ok(encoder) => return Ok((encoder, (*by).to_owned())),
            Err(error) => format!("the model {} is not used: {error}", model.name),
        },
    };
    Err(vec![fault(format!(
        "{why}; `longhaul memory model use --auto` goes back to the best there is"
    ))])
}

fn word(kind: EncoderKind) -> &'static str {
    match kind {
        EncoderKind::Transformer => "transformer",
        EncoderKind::Static => "static",
        EncoderKind::Remote => "remote",
    }
}

/// Whether the user has named an endpoint. That alone is leave to send texts.
fn is_named(settings: &Embedding) -> bool {
    settings.base_url.is_some() || settings.api_key_env.is_some()
}

fn at_path(path: &Path, threads: usize) -> Link {
    match open_model(path, threads) {
        Ok(encoder) => Ok((encoder, "`memory.embedding.modelPath` names it".to_owned())),
        Err(error) => Err(vec![fault(format!("no local encoder: {error}"))]),
    }
}

/// The first installed model of a kind; of a name, where one is named.
fn installed(
    models: &Models,
    settings: &Embedding,
    found: &[InstalledModel],
    broken: &[IndexError],
    kind: EncoderKind,
    choice: Option<&Choice>,
) -> Link {
    let what = match kind {
        EncoderKind::Transformer => "local encoder",
        _ => "static model",
    };
    let local = matches!(
        settings.provider,
        EmbeddingProvider::Local | EmbeddingProvider::Static
    );
    let name = choice.map(|choice| choice.name.as_str());
    let mut reasons: Vec<Reason> = Vec::new();
    // A folder that is no model may have been either kind; it is told once.
    if kind == EncoderKind::Transformer || local {
        reasons.extend(broken.iter().map(|error| fault(error.to_string())));
    }
    let of_kind = || found.iter().filter(|model| model.kind == word(kind));
    for model in of_kind() {
        if name.is_some_and(|name| !model.is_called(name)) {
            continue;
        }
        match models.open(&model.name) {
            Ok(encoder) => {
                let why = match (choice, of_kind().count()) {
                    (Some(choice), _) => choice.by.to_owned(),
                    (None, 1) => format!("the only {what} installed"),
                    (None, some) => format!(
                        "the first by name of {some} of its kind; `longhaul memory model use` \
                         chooses another"
                    ),
                };
                return Ok((encoder, why));
            }
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
    Err(reasons)
}
