//! `context export` and `session import`: a context in one file, and a session of
//! our own from that or from any agent's.

use std::io::Write;
use std::path::{Path, PathBuf};

use longhaul_engine::export::{At, Carry, Error, Export, Report, Secrets, Source};
use longhaul_files::Fault;
use longhaul_memory::Seal;
use longhaul_redact::{Redactor, Tally};
use longhaul_transcript::{EntryId, Session};

use super::measured::{Measured, measure};
use super::refuse_existing;
use crate::args::{ExportArgs, ImportArgs};
use crate::prelude::*;

pub(super) fn export(app: &App, args: &ExportArgs) -> Result {
    let to_screen = args.output.as_deref() == Some(Path::new("-"));
    if to_screen && app.json {
        return Err(
            Failure::usage("standard output cannot be both the export and the report")
                .help("name a file with --output, or leave --json out"),
        );
    }
    let measured = measure(app, args.which.name(), None)?;
    let source = source(app, &measured)?.sealed(seal(app));
    let redactor = Redactor::default();
    let secrets = secrets(args.no_redact, &redactor);
    if to_screen {
        let mut screen = out::Cleaned::default();
        let report = source.write(secrets, &mut screen).map_err(unheard)?;
        screen.flush().map_err(Failure::output)?;
        note_redacted(&report.redacted);
        return Ok(());
    }
    let target = args.output.clone();
    let target = target.unwrap_or_else(|| default_name(&measured.session));
    let report = write(&target, |out| source.write(secrets, out))?;
    if app.json {
        return out::json(&report_json(app, &measured.session, &target, &report));
    }
    let entries = paint::entries(report.entries);
    let summaries = paint::plural_of(report.summaries, "summary", "summaries");
    let (format, bytes) = (measured.session.format(), paint::bytes(report.bytes));
    let shown = app.show_path(&target);
    say!("{entries} of {format} and {summaries} written to {shown} ({bytes})")?;
    note_redacted(&report.redacted);
    note!(
        "begin a fresh session from it with `longhaul session import {}`",
        target.display()
    );
    Ok(())
}

/// A reader of standard output that has gone is no failure to speak of.
fn unheard(error: Error) -> Failure {
    match error {
        Error::Session(longhaul_transcript::Error::File(longhaul_files::Error {
            action: "write",
            fault: Fault::System(source),
            ..
        })) => Failure::output(source),
        error => error.into(),
    }
}

/// Everything of a measured session that is carried elsewhere.
pub(super) fn source<'a>(app: &'a App, measured: &'a Measured) -> Result<Source<'a>> {
    let at = At {
        time: app.now(),
        window: &measured.window,
        tokens: measured.tokens(),
        model: measured.reading.model.clone(),
        config: &app.config,
        state_dir: &app.state_dir,
    };
    let (store, meter) = (app.kept_checkpoints(), app.meter());
    let source = Source::gather(&measured.session, &store, &meter, at)?;
    for damage in &source.passed_over {
        note!("note: {damage}");
    }
    Ok(source)
}

/// Whether secrets are left in.
pub(super) fn secrets(keep: bool, redactor: &Redactor) -> Secrets<'_> {
    match keep {
        true => Secrets::Keep,
        false => Secrets::Redact(redactor),
    }
}

fn default_name(session: &Session) -> PathBuf {
    let id = resolve::id_of(session.reference());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name = id.replace(|c: char| !is_plain(c), "_");
    PathBuf::from(format!("context-{name}.json"))
}

/// Writes a new file: all of it or nothing.
fn write(
    target: &Path,
    fill: impl Fn(&mut dyn std::io::Write) -> Result<Report, Error>,
) -> Result<Report> {
    refuse_existing(target)?;
    if let Some(folder) = target.parent().filter(|f| !f.as_os_str().is_empty()) {
        longhaul_files::create_folder(folder)?;
    }
    let (mut report, mut failure) = (None, None);
    let written = longhaul_files::create_whole(target, &mut |out| {
        let filled = fill(out).map(|made| report = Some(made));
        filled.map_err(|error| std::io::Error::other(failure.insert(error).to_string()))
    });
    if let Some(error) = failure {
        return Err(error.into());
    }
    written?;
    report.ok_or_else(|| Failure::new("nothing was written"))
}

fn report_json(app: &App, session: &Session, target: &Path, report: &Report) -> Value {
    json!({
        "session": answer::session(app, session),
        "output": answer::path(target),
        "bytes": report.bytes,
        "entries": report.entries,
        "summaries": report.summaries,
        "checkpoint": report.checkpoint.to_string(),
        "checkpointStored": report.stored,
        "redacted": report.redacted,
        "faults": report.faults,
    })
}

/// Says what was taken out: how many of what, never the secrets.
pub(super) fn note_redacted(tally: &Option<Tally>) {
    match tally {
        None => out::note("secrets were left in: keep it as private as the session"),
        Some(tally) if tally.total() == 0 => {}
        Some(tally) => {
            let kinds = tally
                .rows()
                .map(|(kind, count)| format!("{kind} × {count}"));
            note!("redacted: {}", kinds.collect::<Vec<_>>().join(", "));
        }
    }
}

/// The installation's seal. Without one an export is written all the same, and
/// what is imported is nobody's word.
fn seal(app: &App) -> Option<Seal> {
    super::memory_folder::seal(app).ok()
}

/// A session of our own: from an exported file, or a copy of any agent's.
pub(super) fn import(app: &App, args: &ImportArgs) -> Result {
    let name = args.which.name();
    let file = name.and_then(|name| resolve::as_path(app, name));
    match file.filter(|file| Export::is_begun_in(file)) {
        Some(file) => begin(app, args, &file),
        None if args.full => Err(Failure::usage("--full is for exported files")
            .help("a copy of a session has every entry")),
        None => copy(app, args),
    }
}

fn copy(app: &App, args: &ImportArgs) -> Result {
    let session = resolve::session(app, args.which.name())?;
    let new = app.new_session();
    let target = app.target(args.output.as_ref(), &new);
    let copied = longhaul_transcript::import(&session, &target, &new)?;
    if app.json {
        let head = json!({
            "session": answer::session(app, &session),
            "output": answer::path(&target),
            "id": new.id,
        });
        return out::json(&answer::joined(head, &copied)?);
    }
    let (entries, format) = (paint::entries(copied.entries), session.format());
    say!(
        "{entries} of {format} written to {}",
        app.show_path(&target)
    )?;
    if copied.faults > 0 {
        let lost = match copied.lost {
            0 => "nothing is lost".to_owned(),
            lost => format!("{} not in the copy", paint::number(lost)),
        };
        let faults = paint::plural(copied.faults, "fault");
        note!("{faults} in the source, {lost}; `longhaul session verify` names them");
    }
    Ok(())
}

fn begin(app: &App, args: &ImportArgs, file: &Path) -> Result {
    let export = Export::read(file)?.vouched_by(seal(app).as_ref());
    let (carry, carried, what) = match args.full {
        true => (Carry::Path, "path", "the whole path"),
        false => (Carry::Summary, "summary", "summary and checkpoint"),
    };
    let new = app.new_session();
    let target = app.target(args.output.as_ref(), &new);
    let own = export.session.workspace.as_ref().map(PathBuf::from);
    let workspace = app.workspace_flag.clone().or(own);
    let (meter, here) = (app.meter(), workspace.as_deref());
    let counter = meter.estimator().counter();
    let begun = export.begin(carry, &target, &new, here, &mut new_id, counter)?;
    app.last_writes().remember(&target);
    if app.json {
        return out::json(&json!({
            "from": {
                "file": answer::path(file),
                "session": export.session.id,
                "key": export.session.key,
                "agent": export.session.agent,
                "createdAt": export.created_at,
                "redacted": export.redacted,
            },
            "output": answer::path(&target),
            "id": begun.id,
            "vouched": export.is_vouched(),
            "carried": carried,
            "entries": begun.entries,
            "workspace": here.map(answer::path),
        }));
    }
    let (id, target, of) = (&begun.id, app.show_path(&target), &export.session.id);
    say!("session {id} begun at {target} with {what} of {of}")?;
    if !export.is_vouched() {
        out::note(
            "it was not exported with this state folder: what it says in the user's name is kept \
             as passed on, and binds nobody",
        );
    }
    if let Some(workspace) = workspace.filter(|folder| !folder.is_dir()) {
        note!(
            "its workspace {} is not here; name another with --workspace",
            workspace.display()
        );
    }
    Ok(())
}

pub(super) fn new_id() -> EntryId {
    EntryId::new(uuid::Uuid::now_v7().to_string())
}
