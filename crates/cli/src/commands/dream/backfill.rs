//! `dream backfill`: old sessions through the same path.

use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressStyle};
use longhaul_engine::catalog;
use longhaul_memory::dream::{Candidate, Dreams, waiting};
use longhaul_transcript::SessionRef;
use serde_json::json;

use super::super::memory_files::writing;
use super::{settings, told, with_workspace};
use crate::app::App;
use crate::args::BackfillArgs;
use crate::failure::Failure;
use crate::out;
use crate::{paint, resolve};

pub(super) fn backfill(app: &App, args: &BackfillArgs) -> Result<(), Failure> {
    let memory = writing(app)?;
    let sessions = sessions(app, args)?;
    if sessions.is_empty() {
        return Err(Failure::nothing("there are no sessions of this workspace")
            .help("name some, or read those of all workspaces with --all"));
    }
    let dreams = Dreams::new(&app.state_dir, &memory);
    let lock = told(app, dreams.lock()?);
    let recalls = dreams.recalls()?;
    let recalls = |candidate: &Candidate| recalls.of(candidate);
    let bar = match app.shows_progress() {
        true => ProgressBar::new(sessions.len() as u64),
        false => ProgressBar::hidden(),
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len}  {msg}") {
        bar.set_style(style);
    }
    let report = dreams.backfill(
        &lock,
        &sessions,
        &app.zoned(),
        &settings(app, &recalls),
        &mut |step| {
            bar.set_position(step.done as u64);
            if let Some(next) = step.next {
                bar.set_message(out::clean(&resolve::id_of(next)));
            }
            ControlFlow::Continue(())
        },
    );
    bar.finish_and_clear();
    let report = report?;
    let waits = waiting(&dreams.candidates()?).len();
    if app.json {
        let mut value = with_workspace(&memory, &report)?;
        value["waiting"] = json!(waits);
        return out::json(&value);
    }
    let many = |count: usize, one: &str| paint::plural(count as u64, one);
    say!(
        "Read {}, {} as before: {} staged, {} said again.",
        many(report.read, "session"),
        report.unchanged,
        report.staged,
        report.consolidated.repeated
    )?;
    for problem in &report.problems {
        app.note_once(&format!("note: {problem}"));
    }
    let waiting = paint::plural_of(waits as u64, "candidate waits", "candidates wait");
    say!("{waiting} for review; nothing was promoted.")
}

fn sessions(app: &App, args: &BackfillArgs) -> Result<Vec<SessionRef>, Failure> {
    if !args.sessions.is_empty() {
        let mut found = Vec::new();
        for name in &args.sessions {
            let session = resolve::session(app, Some(name.as_os_str()))?;
            found.push(session.reference().clone());
        }
        return Ok(found);
    }
    let catalog = catalog::find(&app.places());
    for problem in &catalog.problems {
        app.note(&format!(
            "note: cannot read {}: {}",
            app.show_path(&problem.path),
            problem.reason
        ));
    }
    let mut found: Vec<_> = catalog.sessions;
    if !args.all {
        found.retain(|one| resolve::belongs_to(&one.reference, &app.workspace));
    }
    // The oldest first: what is newer replaces what is older.
    found.sort_by_key(|one| one.modified);
    Ok(found.into_iter().map(|one| one.reference).collect())
}
