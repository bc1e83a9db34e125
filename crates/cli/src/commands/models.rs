//! Which models are asked, and how.

use std::sync::Arc;

use longhaul_engine::assembled::Surroundings;
use longhaul_engine::compactor::{SummaryChoice, summary_model};
use longhaul_engine::library::Library;
use longhaul_engine::measure::Reading;
use longhaul_engine::session::{Departures, Setup};
use longhaul_engine::tools::NoTools;
use longhaul_model::{Error, Limits, Model, ModelSpec};
use tokio::runtime::{EnterGuard, Runtime};

use super::memory;
use crate::prelude::*;

/// A model, as the configuration and the environment let it be asked.
pub(super) fn connect(
    app: &App,
    spec: &ModelSpec,
    limits: Limits,
) -> Result<Arc<dyn Model>, Error> {
    let catalogue = app.config.catalogue();
    longhaul_model::connect_with(spec, &|name| app.variable(name), limits, &catalogue)
}

/// A model by its name, elsewhere if an address is given.
pub(super) fn spec(name: &str, base_url: Option<&str>) -> Result<ModelSpec, Error> {
    let spec = ModelSpec::parse(name)?;
    Ok(match base_url {
        Some(url) => spec.at(url),
        None => spec,
    })
}

/// Who writes summaries, by its name; one that cannot be asked is told, and done
/// without.
fn summarizer(app: &App, provider: &str, model: &str, limits: Limits) -> Option<Arc<dyn Model>> {
    let base_url = app.config.compaction.model.base_url.as_deref();
    let spec = spec(&format!("{provider}/{model}"), base_url);
    let connected = spec.and_then(|spec| connect(app, &spec, limits));
    let told = connected.inspect_err(|error| {
        let remedy = error.remedy();
        out::note_once(&format!("summaries will be extracted: {error} ({remedy})"));
    });
    told.ok()
}

/// Who writes the summaries of a session that may have a model of its own.
pub(super) fn summaries(
    app: &App,
    has_openrouter: bool,
    own: Option<(&str, &str, &Arc<dyn Model>)>,
    limits: Limits,
) -> Option<Arc<dyn Model>> {
    let named = own.map(|(provider, name, _)| (provider, name));
    match summary_model(&app.config, has_openrouter, named) {
        SummaryChoice::Session => own.map(|(.., model)| Arc::clone(model)),
        SummaryChoice::Extractive => None,
        SummaryChoice::Other { provider, model } => summarizer(app, &provider, &model, limits),
    }
}

/// What sessions here are run with, without a model or tools.
pub(super) fn setup(app: &App, around: Surroundings, library: &Library) -> Setup {
    let departures =
        memory::takes_sessions(app).then(|| Arc::new(library.clone()) as Arc<dyn Departures>);
    Setup {
        config: app.config.clone(),
        state_dir: app.state_dir.clone(),
        workspace: app.workspace.clone(),
        environment: around.environment,
        clock: app.clock(),
        model: None,
        summaries: None,
        tools: Arc::new(NoTools),
        departures,
        subagent: None,
        max_rounds: Setup::MAX_ROUNDS,
    }
}

/// A model that a command waits for.
pub(super) struct Waiting {
    runtime: Runtime,
    model: Arc<dyn Model>,
}

impl Waiting {
    pub(super) fn model(&self) -> Arc<dyn Model> {
        Arc::clone(&self.model)
    }

    /// As it is named.
    pub(super) fn name(&self) -> String {
        let info = self.model.info();
        format!("{}/{}", info.provider, info.name)
    }

    /// Whoever asks it does so from in here.
    pub(super) fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }
}

/// The model that is configured to write summaries. A session's own model and a key
/// in the environment are no leave to send a conversation anywhere: without a
/// configured one, summaries are extracted and nobody is asked.
pub(super) fn waiting(app: &App, reading: Option<&Reading>) -> Result<Option<Waiting>> {
    let stated =
        reading.and_then(|reading| reading.provider.as_deref().zip(reading.model.as_deref()));
    let model = match summary_model(&app.config, false, stated) {
        SummaryChoice::Other { provider, model } => {
            summarizer(app, &provider, &model, app.config.request_limits())
        }
        SummaryChoice::Session | SummaryChoice::Extractive => None,
    };
    let Some(model) = model else {
        return Ok(None);
    };
    let runtime = runtime(1)?;
    Ok(Some(Waiting { runtime, model }))
}

/// A runtime with so many threads.
pub(super) fn runtime(threads: usize) -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
}
