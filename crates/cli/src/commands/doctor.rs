//! `doctor`: is everything in order, and if not, how is it mended?

use std::fs;
use std::path::Path;

use console::style;
use longhaul_engine::catalog;
use longhaul_transcript::Format;
use serde::Serialize;
use serde_json::json;

use super::print_json;
use crate::app::App;
use crate::failure::Failure;
use crate::paint;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    Note,
    Bad,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Check {
        Check {
            name,
            state: State::Good,
            found: found.into(),
            remedy: None,
        }
    }

    fn with(mut self, state: State, remedy: impl Into<String>) -> Check {
        self.state = state;
        self.remedy = Some(remedy.into());
        self
    }
}

pub(crate) fn run(app: &App) -> Result<(), Failure> {
    let mut checks = vec![
        Check::good("version", env!("CARGO_PKG_VERSION")),
        config(app),
        state_folder(app),
        locks(app),
    ];
    checks.extend(agents(app));
    let bad = checks.iter().filter(|check| check.state == State::Bad).count();
    if app.json {
        print_json(&json!({ "checks": checks, "sound": bad == 0 }))?;
    } else {
        for check in &checks {
            let mark = match check.state {
                State::Good => style("✓").green(),
                State::Note => style("–").yellow(),
                State::Bad => style("✗").red(),
            };
            println!("{mark} {} {}", style(format!("{:<14}", check.name)).dim(), check.found);
            if let Some(remedy) = &check.remedy {
                println!("                 {}", style(remedy).cyan());
            }
        }
    }
    match bad {
        0 => Ok(()),
        1 => Err(Failure::new("one thing needs mending")),
        n => Err(Failure::new(format!("{n} things need mending"))),
    }
}

fn config(app: &App) -> Check {
    let set = app
        .config
        .rows()
        .iter()
        .filter(|row| row.origin != longhaul_engine::config::Origin::Default)
        .count();
    let check = Check::good("configuration", format!("{set} values set, the rest default"));
    match app.config.notes.first() {
        Some(note) => check.with(State::Note, note.to_string()),
        None => check,
    }
}

/// The state folder need not exist yet, but it must be possible to make it.
fn state_folder(app: &App) -> Check {
    let shown = app.show_path(&app.state_dir);
    match fs::metadata(&app.state_dir) {
        Ok(meta) if !meta.is_dir() => Check::good("state folder", shown)
            .with(State::Bad, "it is a file; remove it or choose another with --state-dir"),
        Ok(meta) if meta.permissions().readonly() => Check::good("state folder", shown).with(
            State::Bad,
            "it cannot be written to; change its permissions or choose another with --state-dir",
        ),
        Ok(meta) => {
            let check = Check::good("state folder", shown);
            if is_open_to_others(&meta) {
                check.with(
                    State::Note,
                    format!("others can read it: chmod 700 {}", app.state_dir.display()),
                )
            } else {
                check
            }
        }
        Err(_) => Check::good("state folder", format!("{shown} (made when it is first needed)")),
    }
}

#[cfg(unix)]
fn is_open_to_others(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_meta: &fs::Metadata) -> bool {
    false
}

/// Two writers are kept apart by file locks; some network folders have none.
fn locks(app: &App) -> Check {
    let folder = if app.state_dir.is_dir() {
        app.state_dir.clone()
    } else {
        std::env::temp_dir()
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
    let path = folder.join(format!(".longhaul-lock-{}", std::process::id()));
    let file = fs::File::create(&path)?;
    let locked = file.lock();
    let _ = fs::remove_file(&path);
    locked
}

fn agents(app: &App) -> Vec<Check> {
    let found = catalog::find(&app.places());
    let count = |formats: &[Format]| {
        found
            .sessions
            .iter()
            .filter(|session| formats.contains(&session.reference.format))
            .count()
    };
    let mut checks: Vec<Check> = [
        ("pi", &[Format::Pi][..]),
        ("OpenClaw", &[Format::OpenClaw, Format::OpenClawSqlite, Format::OpenClawStore][..]),
        ("Claude Code", &[Format::ClaudeCode][..]),
        ("Codex", &[Format::Codex][..]),
    ]
    .into_iter()
    .map(|(name, formats)| match count(formats) {
        0 => Check {
            state: State::Note,
            ..Check::good(name, "no sessions found")
        },
        n => Check::good(name, format!("{} sessions", paint::number(n as u64))),
    })
    .collect();
    for problem in &found.problems {
        checks.push(
            Check::good("unreadable", app.show_path(&problem.path)).with(State::Bad, problem.reason.clone()),
        );
    }
    checks
}
