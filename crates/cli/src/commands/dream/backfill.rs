//! `dream backfill`: old sessions through the same path.

use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressStyle};
use longhaul_engine::catalog;
use longhaul_memory::dream::{Dreams, waiting};
use longhaul_transcript::SessionRef;

use super::super::memory_folder::writing;
use super::{recalls, settings, told};
use crate::args::BackfillArgs;
use crate::prelude::*;

pub(super) fn backfill(app: &App, args: &BackfillArgs) -> Result {
    let memory = writing(app)?;
    let sessions = sessions(app, args)?;
    if sessions.is_empty() {
        return Err(Failure::nothing("there are no sessions of this workspace")
            .help("name some, or read those of all workspaces with --all"));
    }
    let dreams = Dreams::new(&app.state_dir, &memory);
    let lock = told(dreams.lock()?);
    let recalls = recalls(&dreams)?;
    let bar = match out::shows_progress() {
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
        let mut value = answer::joined(super::workspace(&memory), &report)?;
        value["waiting"] = json!(waits);
        return out::json(&value);
    }
    let (read, before) = (
        paint::plural(report.read as u64, "session"),
        report.unchanged,
    );
    let (staged, again) = (report.staged, report.consolidated.repeated);
    say!("Read {read}, {before} as before: {staged} staged, {again} said again.")?;
    for problem in &report.problems {
        out::note_once(&format!("note: {problem}"));
    }
    let waiting = paint::waiting(waits);
    say!("{waiting} for review; nothing was promoted.")
}

fn sessions(app: &App, args: &BackfillArgs) -> Result<Vec<SessionRef>> {
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
        let path = app.show_path(&problem.path);
        note!("note: cannot read {path}: {}", problem.reason);
    }
    let mut found: Vec<_> = catalog.sessions;
    if !args.all {
        found.retain(|one| resolve::belongs_to(&one.reference, &app.workspace));
    }
    // The oldest first: what is newer replaces what is older.
    found.sort_by_key(|one| one.modified);
    Ok(found.into_iter().map(|one| one.reference).collect())
}
