//! Who writes summaries, for every command that compacts.

use std::sync::Arc;

use longhaul_engine::compactor::{SummaryChoice, summary_model};
use longhaul_engine::measure::Reading;
use longhaul_model::{Error, Limits, Model, ModelSpec};
use tokio::runtime::{EnterGuard, Runtime};

use crate::app::App;
use crate::failure::Failure;

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

/// The configured model. A session's own model and a key in the environment are
/// no leave to send a conversation anywhere: without a configured one, summaries
/// are extracted and nobody is asked.
pub(super) fn configured(app: &App, reading: Option<&Reading>) -> Result<Option<Waiting>, Failure> {
    let stated =
        reading.and_then(|reading| reading.provider.as_deref().zip(reading.model.as_deref()));
    let choice = summary_model(&app.config.config, false, stated);
    let SummaryChoice::Other { provider, model } = choice else {
        return Ok(None);
    };
    let limits = app.config.config.request_limits();
    let Some(model) = connect(app, &provider, &model, limits) else {
        return Ok(None);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    Ok(Some(Waiting { runtime, model }))
}

/// A model by its name; one that cannot be asked is told, and done without.
pub(super) fn connect(
    app: &App,
    provider: &str,
    model: &str,
    limits: Limits,
) -> Option<Arc<dyn Model>> {
    let config = &app.config.config;
    let spec = ModelSpec::parse(&format!("{provider}/{model}"));
    let spec = spec.map(|spec| match &config.compaction.model.base_url {
        Some(url) => spec.at(url),
        None => spec,
    });
    let variables = |name: &str| app.variable(name);
    let catalogue = config.catalogue();
    let connected: Result<_, Error> =
        spec.and_then(|spec| longhaul_model::connect_with(&spec, &variables, limits, &catalogue));
    connected
        .inspect_err(|error| {
            app.note_once(&format!(
                "summaries will be extracted: {error} ({})",
                error.remedy()
            ));
        })
        .ok()
}
