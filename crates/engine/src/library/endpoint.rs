//! An endpoint that makes vectors, asked over the network.

use std::sync::Arc;
use std::time::Duration;

use longhaul_index::{Embed, Encoder, IndexError, Patience, RemoteEncoder, Unmade};
use longhaul_model::{Embeddings, Error, Limits};
use longhaul_redact::Redactor;
use tokio::runtime::Runtime;

use super::reason::{Link, fault};
use crate::config::Embedding;

/// Where OpenAI itself is asked.
const OPENAI: &str = "https://api.openai.com/v1";
/// What OpenAI is asked for, unless another model is named.
const OPENAI_MODEL: &str = "text-embedding-3-small";

/// How long an endpoint may take.
fn limits(patience: Patience) -> Limits {
    match patience {
        Patience::Short => Limits {
            connect: Duration::from_secs(1),
            first_byte: Duration::from_secs(2),
            request: Duration::from_secs(3),
            total: Duration::from_secs(3),
            attempts: 1,
            ..Limits::default()
        },
        Patience::Long => Limits {
            connect: Duration::from_secs(3),
            // The answer begins when all of it is made.
            first_byte: Duration::from_secs(30),
            request: Duration::from_secs(30),
            total: Duration::from_secs(60),
            attempts: 3,
            ..Limits::default()
        },
    }
}

/// Where requests run. Whoever lets go of it may be inside another runtime,
/// where ours cannot be waited for.
struct Running(Option<Runtime>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Running {
    fn start() -> std::io::Result<Running> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Running(Some(runtime)))
    }

    /// Waits on a thread of its own: the caller may be inside a runtime.
    fn wait<T: Send>(&self, work: impl Future<Output = T> + Send) -> Option<T> {
        let runtime = self.0.as_ref()?;
        std::thread::scope(|scope| scope.spawn(|| runtime.block_on(work)).join().ok())
    }
}

/// An endpoint that is named and did not answer when it was first asked.
pub struct AwayEndpoint {
    place: String,
    model: String,
    embed: Arc<Embed>,
    /// Why it is not used yet.
    pub(super) why: String,
}

impl AwayEndpoint {
    /// Its model, if it answers now. How long its vectors are is learnt each time,
    /// so that those of two models are never taken for one another's.
    pub(super) fn connect(&self, patience: Patience) -> Result<Arc<dyn Encoder>, IndexError> {
        let embed = Arc::clone(&self.embed);
        let embed = move |texts: &[&str], patience| embed(texts, patience);
        let encoder = RemoteEncoder::connect(&self.place, &self.model, patience, Box::new(embed))?;
        Ok(Arc::new(encoder))
    }
}

/// What a failed request says of its texts.
fn unmade(error: Error) -> Unmade {
    let reason = error.to_string();
    match error {
        Error::Overflow { .. } | Error::Refused { .. } => Unmade::Refused(reason),
        Error::BadRequest {
            status: 400 | 413 | 422,
            ..
        } => Unmade::Refused(reason),
        Error::Timeout { .. } => Unmade::Late(reason),
        _ => Unmade::Failed(reason),
    }
}

/// The endpoint that is named, if it answers; else it is `away`, where it may answer
/// later.
pub(super) fn endpoint(
    settings: &Embedding,
    patience: Patience,
    variables: &dyn Fn(&str) -> Option<String>,
    away: &mut Option<AwayEndpoint>,
) -> Link {
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
    let why = |reason: String| format!("the endpoint is not used: {reason}");
    let failed = |reason: String| vec![fault(why(reason))];
    let connect = |patience| {
        Embeddings::connect(base, model, variable, variables, limits(patience))
            .map_err(|error| failed(format!("{error}; {}", error.remedy())))
    };
    let (quick, patient) = (connect(Patience::Short)?, connect(Patience::Long)?);
    let place = quick.endpoint().to_owned();
    let running = Running::start().map_err(|error| failed(error.to_string()))?;
    let redactor = Redactor::default();
    let embed = move |texts: &[&str], patience| -> Result<Vec<Vec<f32>>, Unmade> {
        let asked = match patience {
            Patience::Short => &quick,
            Patience::Long => &patient,
        };
        // What is indexed is redacted already; a question is not.
        let texts: Vec<String> = texts
            .iter()
            .map(|text| redactor.redact(text).text)
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let made = running.wait(asked.embed(&texts));
        let ended = || Unmade::Failed("the request ended in a panic".to_owned());
        made.ok_or_else(ended)?.map_err(unmade)
    };
    let mut named = AwayEndpoint {
        place,
        model: model.to_owned(),
        embed: Arc::new(embed),
        why: String::new(),
    };
    match named.connect(patience) {
        Ok(encoder) => Ok((encoder, format!("{} is named and answers", named.place))),
        Err(error) => {
            named.why = why(error.to_string());
            *away = Some(named);
            Err(failed(error.to_string()))
        }
    }
}
