//! `memory model`.

use longhaul_memory::InstalledModel;
use serde_json::json;

use super::{chosen, models};
use crate::app::App;
use crate::args::ModelCommand;
use crate::failure::Failure;
use crate::out::{self, say};
use crate::paint;

pub(crate) fn run(app: &App, command: &ModelCommand) -> Result<(), Failure> {
    match command {
        ModelCommand::Add { from, name } => {
            let model = models(app).add(from, name.as_deref())?;
            if app.json {
                return out::json(&model);
            }
            say!("installed {}", line(&model))?;
            say!("`longhaul memory index` makes its vectors")
        }
        ModelCommand::List => list(app),
        ModelCommand::Remove { name } => {
            if !models(app).remove(name)? {
                return Err(Failure::new(format!("no model is called {name:?}"))
                    .help("`longhaul memory model list` shows them"));
            }
            if app.json {
                return out::json(&json!({ "removed": name }));
            }
            say!("removed {name}")
        }
    }
}

fn list(app: &App) -> Result<(), Failure> {
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
        app.note(&format!("note: {note}"));
    }
    if installed.is_empty() {
        return match &active {
            Some(active) => say!("no model is installed; {active} is active"),
            None => say!("no model is installed: searches go by words alone"),
        };
    }
    for model in &installed {
        let mark = if Some(&model.id) == active.as_ref() {
            "active"
        } else {
            ""
        };
        say!("{}  {mark}", line(model))?;
    }
    Ok(())
}

fn line(model: &InstalledModel) -> String {
    format!(
        "{}  {}  {} dimensions  {}",
        model.id,
        model.kind,
        model.dimensions,
        paint::bytes(model.bytes)
    )
}
