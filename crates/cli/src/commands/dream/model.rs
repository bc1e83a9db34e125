//! Who words and merges what a dream found: the model of the command line, else
//! the configured one, else nobody.

use std::sync::Arc;

use longhaul_engine::compactor::EXTRACTIVE;
use longhaul_engine::session::{spent_on, spent_on_failure};
use longhaul_memory::dream::{Ask, Question, Reply};
use longhaul_model::{CancellationToken, Error, Message, Model, Request, SystemBlock};

use super::super::models;
use crate::prelude::*;

/// A line of a pointer, and what a model may think before it.
const MOST_ANSWER_TOKENS: u32 = 4_000;

/// The model to be asked. One of the command line that cannot be asked is a
/// mistake; a configured one is told, and the dream does without, since nobody
/// may be there to mend it.
pub(super) fn chosen(app: &App, base_url: Option<&str>) -> Result<Option<Arc<dyn Model>>> {
    if let Some(name) = &app.model {
        if name == EXTRACTIVE {
            return Ok(None);
        }
        return Ok(Some(connect(app, name, base_url)?));
    }
    let configured = &app.config.dreaming.model;
    match (configured.named(), base_url) {
        (Some(name), _) => without(connect(app, &name, base_url)),
        (None, Some(_)) => Err(Failure::usage("--base-url is the address of no model")
            .help("name one with --model, or `dreaming.model` in the configuration")),
        (None, None) => Ok(None),
    }
}

/// The configured model, for dreams that nobody typed a command for.
pub(super) fn configured(app: &App) -> Option<Arc<dyn Model>> {
    let name = app.config.dreaming.model.named()?;
    match without(connect(app, &name, None)) {
        Ok(model) => model,
        Err(failure) => {
            note!("note: dreaming without a model: {failure}");
            None
        }
    }
}

/// Does without a configured model that cannot be asked; one that cannot even
/// be meant is a mistake of the configuration.
fn without(connected: Result<Arc<dyn Model>, Error>) -> Result<Option<Arc<dyn Model>>> {
    match connected {
        Ok(model) => Ok(Some(model)),
        Err(error @ Error::BadSpec { .. }) => {
            let failure = usage!("`dreaming.model` cannot be used: {error}");
            Err(failure.help(error.remedy()))
        }
        Err(error) => {
            let remedy = error.remedy();
            note!("note: dreaming without a model: {error} ({remedy})");
            Ok(None)
        }
    }
}

fn connect(app: &App, name: &str, base_url: Option<&str>) -> Result<Arc<dyn Model>, Error> {
    let spec = models::spec(name, base_url)?;
    models::connect(app, &spec, app.config.request_limits())
}

/// A model as a dream asks it. One that fails is told, and the dream goes on
/// without it.
pub(super) fn asking(model: Arc<dyn Model>) -> std::io::Result<Box<Ask<'static>>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(Box::new(move |question: &Question| {
        let request = Request {
            system: vec![SystemBlock::new(question.system.clone())],
            messages: vec![Message::user(question.prompt.clone())],
            max_output: Some(MOST_ANSWER_TOKENS),
            ..Request::default()
        };
        let cancel = CancellationToken::new();
        let answer = runtime.block_on(model.ask(&request, &mut |_| {}, &cancel));
        let (text, paid) = match answer {
            Ok(answer) => (Ok(answer.text()), spent_on(&answer, model.info())),
            Err(failure) => (
                Err(failure.error.to_string()),
                spent_on_failure(&failure, model.info()),
            ),
        };
        Reply { text, paid }
    }))
}
