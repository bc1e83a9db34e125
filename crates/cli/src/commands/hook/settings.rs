//! `hook install` and `hook uninstall`: the hooks in Claude Code's settings.

use std::path::{Path, PathBuf};

use longhaul_server::hook::{Settings, Wanted};

use crate::args::HookPlaceArgs;
use crate::prelude::*;

pub(super) fn install(app: &App, args: &HookPlaceArgs) -> Result {
    let program = program(app, args);
    change(app, args, Wanted::Installed(&program), "installed in")
}

pub(super) fn uninstall(app: &App, args: &HookPlaceArgs) -> Result {
    change(app, args, Wanted::Removed, "removed from")
}

fn path(app: &App, args: &HookPlaceArgs) -> Result<PathBuf> {
    if args.project {
        return Ok(app.workspace.join(".claude/settings.json"));
    }
    let folder = match app.variable("CLAUDE_CONFIG_DIR").filter(|v| !v.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => app.home.as_ref().map(|home| home.join(".claude")),
    };
    let folder = folder.ok_or_else(|| {
        Failure::new("there is no home folder")
            .help("use --project, or set CLAUDE_CONFIG_DIR to the folder of Claude Code")
    })?;
    Ok(folder.join("settings.json"))
}

/// The program as the hooks call it: by its name where others share the file or
/// the search path has it, else by its path.
fn program(app: &App, args: &HookPlaceArgs) -> String {
    const NAME: &str = "longhaul";
    let found = |own: &Path| {
        let paths = app.variable("PATH").unwrap_or_default();
        std::env::split_paths(&paths).any(|folder| {
            let there = folder.join(own.file_name().unwrap_or_default());
            there.canonicalize().is_ok_and(|there| there == own)
        })
    };
    match app.own_program() {
        Some(own) if !args.project && !found(&own) => {
            format!("'{}'", own.to_string_lossy().replace('\'', "'\\''"))
        }
        _ => NAME.to_owned(),
    }
}

fn change(app: &App, args: &HookPlaceArgs, wanted: Wanted<'_>, done: &str) -> Result {
    let path = path(app, args)?;
    let shown = app.show_path(&path);
    let settings = Settings::planned(&path, wanted)?;
    let changed = settings.changed;
    let mut value = json!({ "path": answer::path(&path), "changed": changed });
    if args.dry_run {
        value["settings"] = json!(settings.after);
        if app.json {
            return out::json(&value);
        }
        match changed {
            true => note!("{shown} would become:"),
            false => note!("{shown} would stay as it is:"),
        }
        return out::whole(&settings.text());
    }
    let backup = settings.write()?;
    if app.json {
        value["backup"] = json!(backup.as_deref().map(answer::path));
        return out::json(&value);
    }
    if !changed {
        return Err(nothing!("Nothing to do: {shown} is as it should be."));
    }
    say!("hooks {done} {shown}")?;
    if let Some(backup) = &backup {
        note!("the old version is kept as {}", app.show_path(backup));
    }
    out::note("Claude Code reads its settings when it starts; /hooks shows them");
    Ok(())
}
