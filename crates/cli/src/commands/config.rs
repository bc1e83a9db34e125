//! `config …`: the values in force, where they come from, and new ones.

use std::path::Path;

use longhaul_engine::config::{self, Origin, Places, candidates, schema};
use serde_json::Map;

use crate::app::{config_failure, folder_in};
use crate::args::ConfigCommand;
use crate::prelude::*;

pub(crate) fn run(app: &App, command: &ConfigCommand) -> Result {
    match command {
        ConfigCommand::Show { origin, key } => show(app, *origin, key.as_deref()),
        ConfigCommand::Set { key, value } => set(app, key, value),
        ConfigCommand::Schema => out::json(&schema()),
        ConfigCommand::Path => path(app),
    }
}

fn show(app: &App, origin: bool, prefix: Option<&str>) -> Result {
    let mut rows = app.resolved.rows();
    if let Some(prefix) = prefix {
        rows.retain(|row| row.key.as_str().starts_with(prefix));
        if rows.is_empty() {
            return Err(usage!("no key starts with {prefix:?}")
                .help("`longhaul config show` lists all keys"));
        }
    }
    if app.json {
        let values = rows.iter().map(|row| {
            let value = match origin {
                true => json!({ "value": row.value, "origin": row.origin }),
                false => row.value.clone(),
            };
            (row.key.as_str().to_owned(), value)
        });
        let values: Map<String, Value> = values.collect();
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
        let value = match set {
            true => style(value).bold().to_string(),
            false => value,
        };
        table.row([row.key.as_str().to_owned(), value, from]);
    }
    table.print(app.columns())?;
    for note in &app.resolved.notes {
        note!("note: {note}");
    }
    Ok(())
}

/// Puts a value into the file that counts, or into a new one in the state folder.
fn set(app: &App, key: &str, value: &str) -> Result {
    let variable = folder_in("LONGHAUL_CONFIG");
    let found = config::find(&places(app, variable.as_deref()), &config::read);
    let new = || {
        let flag = app.config_flag.clone().or(variable.clone());
        config::ConfigFile {
            path: flag.unwrap_or_else(|| app.state_dir.join("longhaul.yaml")),
            text: String::new(),
            found_by: config::FoundBy::StateDir,
        }
    };
    let file = found
        .map_err(|error| config_failure(&error))?
        .unwrap_or_else(new);
    let resolve = |file, flags| {
        let sources = config::Sources {
            file,
            flags,
            ..config::Sources::default()
        };
        config::resolve(&sources).map_err(|error| config_failure(&error))
    };
    let flag = config::Flag {
        name: "config set".into(),
        key: key.into(),
        value: value.into(),
    };
    let mut rows = resolve(None, vec![flag])?.rows().into_iter();
    let Some(row) = rows.find(|row| row.origin != Origin::Default) else {
        return Err(usage!("{key} cannot be set by itself"));
    };
    let path = app.show_path(&file.path);
    let Some(text) = config::edited(&file, &row.key, &row.value) else {
        let what = format!("{path} cannot be changed without touching more than {key}");
        let by_hand = format!("write `{key}: {}` into it by hand", row.value);
        return Err(Failure::new(what).help(by_hand));
    };
    // What is refused would keep every other command from working.
    let mut changed = file.clone();
    changed.text.clone_from(&text);
    resolve(Some(changed), Vec::new())?;
    if let Some(folder) = file.path.parent() {
        longhaul_files::create_folder(folder)?;
    }
    let target = longhaul_files::resolve(&file.path).unwrap_or_else(|_| file.path.clone());
    longhaul_files::replace(&target, text.as_bytes())?;
    let (key, value, file) = (row.key.as_str(), &row.value, answer::path(&file.path));
    let answer = json!({ "path": file, "key": key, "value": value });
    app.answer(&answer, format!("{key} is {value} now, in {path}"))
}

fn places<'a>(app: &'a App, variable: Option<&'a Path>) -> Places<'a> {
    Places {
        flag: app.config_flag.as_deref(),
        variable,
        workspace: Some(&app.workspace),
        state_dir: Some(&app.state_dir),
    }
}

fn path(app: &App) -> Result {
    let variable = folder_in("LONGHAUL_CONFIG");
    let candidates = candidates(&places(app, variable.as_deref()));
    let used = candidates.iter().find(|candidate| candidate.path.is_file());
    if app.json {
        let looked = candidates
            .iter()
            .map(|candidate| answer::path(&candidate.path));
        return out::json(&json!({
            "path": used.map(|candidate| answer::path(&candidate.path)),
            "candidates": looked.collect::<Vec<_>>(),
            "stateDir": answer::path(&app.state_dir),
        }));
    }
    match used {
        Some(candidate) => say!("{}", candidate.path.display())?,
        None => {
            say!("no configuration file; the defaults are in force")?;
            out::note("looked for:");
            for candidate in &candidates {
                note!("  {}", app.show_path(&candidate.path));
            }
        }
    }
    Ok(())
}
