//! `config …`: the values in force and where they come from.

use console::style;
use longhaul_engine::config::{Origin, Places, candidates, schema};
use serde_json::{Map, Value, json};

use super::print_json;
use crate::app::App;
use crate::args::ConfigCommand;
use crate::failure::Failure;
use crate::paint;

pub(crate) fn run(app: &App, command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Show { origin, key } => show(app, *origin, key.as_deref()),
        ConfigCommand::Schema => print_json(&schema()),
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
        return print_json(&values);
    }
    let mut table = paint::table(if origin {
        &["KEY", "VALUE", "FROM"]
    } else {
        &["KEY", "VALUE"]
    });
    for row in &rows {
        let set = row.origin != Origin::Default;
        let value = paint::gist(&row.value.to_string(), 60);
        let mut cells = vec![
            row.key.as_str().to_owned(),
            if set { style(value).bold().to_string() } else { value },
        ];
        if origin {
            let from = row.origin.to_string();
            cells.push(if set { from } else { style(from).dim().to_string() });
        }
        table.add_row(cells);
    }
    paint::print_table(&table);
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
        return print_json(&json!({
            "path": used.map(|candidate| &candidate.path),
            "candidates": candidates.iter().map(|candidate| &candidate.path).collect::<Vec<_>>(),
            "stateDir": app.state_dir,
        }));
    }
    match used {
        Some(candidate) => println!("{}", candidate.path.display()),
        None => {
            println!("no configuration file; the defaults are in force");
            app.note("looked for:");
            for candidate in &candidates {
                app.note(&format!("  {}", app.show_path(&candidate.path)));
            }
        }
    }
    Ok(())
}
