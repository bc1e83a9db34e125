//! `config …`: the values in force and where they come from.

use longhaul_engine::config::{Origin, Places, candidates, schema};
use serde_json::{Map, Value, json};

use super::answer;
use crate::app::App;
use crate::args::ConfigCommand;
use crate::failure::Failure;
use crate::out::{self, say};
use crate::paint;
use crate::style::style;
use crate::table::{Table, left};

pub(crate) fn run(app: &App, command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Show { origin, key } => show(app, *origin, key.as_deref()),
        ConfigCommand::Schema => out::json(&schema()),
        ConfigCommand::Path => path(app),
    }
}

fn show(app: &App, origin: bool, prefix: Option<&str>) -> Result<(), Failure> {
    let mut rows = app.config.rows();
    if let Some(prefix) = prefix {
        rows.retain(|row| row.key.as_str().starts_with(prefix));
        if rows.is_empty() {
            return Err(Failure::usage(format!("no key starts with {prefix:?}"))
                .help("`longhaul config show` lists all keys"));
        }
    }
    if app.json {
        let values: Map<String, Value> = rows
            .iter()
            .map(|row| {
                let value = if origin {
                    json!({ "value": row.value, "origin": row.origin })
                } else {
                    row.value.clone()
                };
                (row.key.as_str().to_owned(), value)
            })
            .collect();
        return out::json(&values);
    }
    let mut table = Table::new([
        left("KEY"),
        left("VALUE").cut_to(16),
        left("FROM").cut_to(12),
    ]);
    for row in &rows {
        let set = row.origin != Origin::Default;
        let value = match &row.value {
            Value::Null => style("not set").dim().to_string(),
            Value::String(text) => paint::gist(text, 60),
            other => paint::gist(&other.to_string(), 60),
        };
        let from = match origin {
            false => String::new(),
            true if set => row.origin.to_string(),
            true => style(&row.origin).dim().to_string(),
        };
        let value = if set {
            style(value).bold().to_string()
        } else {
            value
        };
        table.row([row.key.as_str().to_owned(), value, from]);
    }
    table.print(app.columns())?;
    for note in &app.config.notes {
        app.note(&format!("note: {note}"));
    }
    Ok(())
}

fn path(app: &App) -> Result<(), Failure> {
    let variable = std::env::var_os("LONGHAUL_CONFIG").map(std::path::PathBuf::from);
    let places = Places {
        flag: app.config_flag.as_deref(),
        variable: variable.as_deref(),
        workspace: Some(&app.workspace),
        state_dir: Some(&app.state_dir),
    };
    let candidates = candidates(&places);
    let used = candidates.iter().find(|candidate| candidate.path.is_file());
    if app.json {
        return out::json(&json!({
            "path": used.map(|candidate| answer::path(&candidate.path)),
            "candidates": candidates
                .iter()
                .map(|candidate| answer::path(&candidate.path))
                .collect::<Vec<_>>(),
            "stateDir": answer::path(&app.state_dir),
        }));
    }
    match used {
        Some(candidate) => say!("{}", candidate.path.display())?,
        None => {
            say!("no configuration file; the defaults are in force")?;
            app.note("looked for:");
            for candidate in &candidates {
                app.note(&format!("  {}", app.show_path(&candidate.path)));
            }
        }
    }
    Ok(())
}
