//! `doctor`: is everything in order, and if not, how is it mended?

mod deployment;

use std::fs;
use std::path::Path;

use longhaul_engine::catalog;
use longhaul_engine::config::Origin;
use longhaul_transcript::SessionRef;
use longhaul_transcript::import::Listed;
use serde::Serialize;

use crate::prelude::*;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    name: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Good,
    Note,
    Bad,
}

impl Check {
    pub(super) fn good(name: &'static str, found: impl Into<String>) -> Check {
        Check {
            name,
            state: State::Good,
            found: found.into(),
            remedy: None,
        }
    }

    pub(super) fn with(mut self, state: State, remedy: impl Into<String>) -> Check {
        self.state = state;
        self.remedy = Some(remedy.into());
        self
    }
}

pub(crate) fn run(app: &App) -> Result {
    let mut checks = vec![
        Check::good("version", env!("CARGO_PKG_VERSION")),
        config(app),
        state_folder(app),
        locks(app),
    ];
    checks.extend(deployment::checks(app));
    checks.extend(agents(app));
    let bad = checks
        .iter()
        .filter(|check| check.state == State::Bad)
        .count();
    if app.json {
        out::json(&json!({ "checks": checks, "sound": bad == 0 }))?;
    } else {
        for check in &checks {
            let mark = match check.state {
                State::Good => style("✓").green(),
                State::Note => style("–").yellow(),
                State::Bad => style("✗").red(),
            };
            let name = style(format!("{:<14}", check.name)).dim();
            say!("{mark} {name} {}", check.found)?;
            if let Some(remedy) = &check.remedy {
                say!("{:17}{}", "", style(remedy).cyan())?;
            }
        }
    }
    match bad {
        0 => Ok(()),
        1 => Err(Failure::new("one thing needs mending")),
        n => Err(fail!("{n} things need mending")),
    }
}

fn config(app: &App) -> Check {
    if let Some(failure) = &app.config_failure {
        return Check::good("configuration", failure.details.join("; ")).with(
            State::Bad,
            "`longhaul config path` says which file counts, `longhaul config schema` lists every key",
        );
    }
    let rows = app.resolved.rows();
    let set = rows
        .iter()
        .filter(|row| row.origin != Origin::Default)
        .count();
    let check = Check::good(
        "configuration",
        format!("{set} values set, the rest default"),
    );
    match app.resolved.notes.first() {
        Some(note) => check.with(State::Note, note.to_string()),
        None => check,
    }
}

/// The state folder need not exist yet, but it must be possible to make it.
fn state_folder(app: &App) -> Check {
    use std::os::unix::fs::PermissionsExt;
    let shown = app.show_path(&app.state_dir);
    let Ok(meta) = fs::metadata(&app.state_dir) else {
        return Check::good(
            "state folder",
            format!("{shown} (made when it is first needed)"),
        );
    };
    let check = Check::good("state folder", shown);
    if !meta.is_dir() {
        return check.with(
            State::Bad,
            "it is a file; remove it or choose another with --state-dir",
        );
    }
    if meta.permissions().readonly() {
        let remedy =
            "it cannot be written to; change its permissions or choose another with --state-dir";
        return check.with(State::Bad, remedy);
    }
    match meta.permissions().mode() & 0o077 {
        0 => check,
        _ => {
            let remedy = format!("others can read it: chmod 700 {}", app.state_dir.display());
            check.with(State::Note, remedy)
        }
    }
}

/// Two writers are kept apart by file locks; some network folders have none.
fn locks(app: &App) -> Check {
    let folder = match app.state_dir.is_dir() {
        true => app.state_dir.clone(),
        false => std::env::temp_dir(),
    };
    match try_lock(&folder) {
        Ok(()) => Check::good("file locks", format!("work in {}", app.show_path(&folder))),
        Err(error) => Check::good("file locks", error.to_string()).with(
            State::Bad,
            "two programs could write one session at once there; use a local folder (--state-dir)",
        ),
    }
}

fn try_lock(folder: &Path) -> std::io::Result<()> {
    // Under a name nobody else has: what is there already is not ours to lock.
    let path = folder.join(format!(".longhaul-lock-{}", uuid::Uuid::now_v7()));
    let file = longhaul_files::create(&path, b"").map_err(longhaul_files::Error::into_io)?;
    let locked = file.lock();
    let _ = longhaul_files::remove(&path);
    locked
}

/// How many sessions each agent has, and whether its newest can be read: an
/// agent that changed its format shows here first.
fn agents(app: &App) -> Vec<Check> {
    let found = catalog::find(&app.places());
    let whose = |session: &Listed| {
        let SessionRef { path, format, .. } = &session.reference;
        catalog::agent(path, *format, &app.state_dir)
    };
    let of = |name: &'static str| {
        let sessions = found
            .sessions
            .iter()
            .filter(|session| whose(session) == name);
        agent(app, name, &sessions.collect::<Vec<_>>())
    };
    let mut checks: Vec<Check> = catalog::AGENTS.into_iter().map(of).collect();
    for problem in &found.problems {
        let found = format!("{}: {}", app.show_path(&problem.path), problem.reason);
        checks.push(Check::good("unreadable", found).with(
            State::Bad,
            "check who owns it and its permissions; the agent itself may be able to mend it",
        ));
    }
    checks
}

/// Sessions are given newest first.
fn agent(app: &App, name: &'static str, sessions: &[&Listed]) -> Check {
    let Some(newest) = sessions.first() else {
        return Check {
            state: State::Note,
            ..Check::good(name, "no sessions found")
        };
    };
    let when = newest
        .modified
        .map(|time| paint::ago(app.now(), time))
        .unwrap_or_default();
    let count = paint::plural(sessions.len() as u64, "session");
    let check = Check::good(name, format!("{count}, the newest {when}"));
    match catalog::glance(&newest.reference, &mut app.meter()) {
        Ok(_) => check,
        Err(error) => check.with(State::Note, format!("the newest cannot be read: {error}")),
    }
}
