//! `context export` and `session import`: a context in one file, and a session of
//! our own from that or from any agent's.

use std::io::Write;
use std::path::{Path, PathBuf};

use longhaul_engine::export::{At, Carry, Error, Export, Report, Secrets, Source};
use longhaul_files::Fault;
use longhaul_memory::Seal;
use longhaul_redact::{Redactor, Tally};
use longhaul_transcript::{EntryId, Session};
use serde_json::{Value, json};

use super::measured::Measured;
use super::{answer, refuse_existing};
use crate::app::App;
use crate::args::{ExportArgs, ImportArgs};
use crate::failure::Failure;
use crate::out;
use crate::{own_write, paint, resolve};

pub(super) fn export(app: &App, args: &ExportArgs) -> Result<(), Failure> {
    let to_screen = args.output.as_deref() == Some(Path::new("-"));
    if to_screen && app.json {
        return Err(
            Failure::usage("standard output cannot be both the export and the report")
                .help("name a file with --output, or leave --json out"),
        );
    }
    let measured = Measured::of(app, args.which.name(), None)?;
    let source = source(app, &measured)?.sealed(seal(app));
    for damage in &source.passed_over {
        app.note(&format!("note: {damage}"));
    }
    let redactor = Redactor::default();
    let secrets = match args.no_redact {
        true => Secrets::Keep,
        false => Secrets::Redact(&redactor),
    };
    if to_screen {
        let mut screen = out::Cleaned::default();
        let report = source.write(secrets, &mut screen).map_err(unheard)?;
        screen.flush().map_err(Failure::output)?;
        note_redacted(app, &report.redacted);
        return Ok(());
    }
    let target = args
        .output
        .clone()
        .unwrap_or_else(|| default_name(&measured.session));
    let report = write(&target, |out| source.write(secrets, out))?;
    if app.json {
        return out::json(&report_json(app, &measured.session, &target, &report));
    }
    say!(
        "{} of {} and {} written to {} ({})",
        paint::plural_of(report.entries, "entry", "entries"),
        measured.session.format(),
        paint::plural_of(report.summaries, "summary", "summaries"),
        app.show_path(&target),
        paint::bytes(report.bytes)
    )?;
    note_redacted(app, &report.redacted);
    app.note(&format!(
        "begin a fresh session from it with `longhaul session import {}`",
        target.display()
    ));
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
pub(super) fn source<'a>(app: &'a App, measured: &'a Measured) -> Result<Source<'a>, Failure> {
    let at = At {
        time: app.now(),
        window: &measured.window,
        tokens: measured.tokens(),
        model: measured.reading.model.clone(),
        config: &app.config.config,
        state_dir: &app.state_dir,
    };
    Ok(Source::gather(
        &measured.session,
        &app.kept_checkpoints(),
        &app.meter(),
        at,
    )?)
}

fn default_name(session: &Session) -> PathBuf {
    let id = resolve::id_of(session.reference());
    let name: String = id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .collect();
    PathBuf::from(format!("context-{name}.json"))
}

/// Writes a new file: all of it or nothing.
fn write(
    target: &Path,
    fill: impl Fn(&mut dyn std::io::Write) -> Result<Report, Error>,
) -> Result<Report, Failure> {
    refuse_existing(target)?;
    if let Some(folder) = target.parent().filter(|f| !f.as_os_str().is_empty()) {
        longhaul_files::create_folder(folder)?;
    }
    let mut report = None;
    let mut failure = None;
    let written = longhaul_files::create_whole(target, &mut |out| match fill(out) {
        Ok(made) => {
            report = Some(made);
            Ok(())
        }
        Err(error) => {
            failure = Some(error);
            Err(std::io::Error::other("the session could not be read"))
        }
    });
    match (failure, written, report) {
        (Some(error), _, _) => Err(error.into()),
        (None, Err(error), _) => Err(error.into()),
        (None, Ok(()), Some(report)) => Ok(report),
        (None, Ok(()), None) => Err(Failure::new("nothing was written")),
    }
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
pub(super) fn note_redacted(app: &App, tally: &Option<Tally>) {
    match tally {
        None => app.note("secrets were left in: keep it as private as the session"),
        Some(tally) if tally.total() == 0 => {}
        Some(tally) => {
            let kinds: Vec<String> = tally
                .rows()
                .map(|(kind, count)| format!("{kind} × {count}"))
                .collect();
            app.note(&format!("redacted: {}", kinds.join(", ")));
        }
    }
}

/// The installation's seal. Without one an export is written all the same, and
/// what is imported is nobody's word.
fn seal(app: &App) -> Option<Seal> {
    super::memory_files::seal(app).ok()
}

/// A session of our own: from an exported file, or a copy of any agent's.
pub(super) fn import(app: &App, args: &ImportArgs) -> Result<(), Failure> {
    let file = args
        .which
        .name()
        .and_then(|name| resolve::as_path(app, name));
    match file.filter(|file| Export::is_begun_in(file)) {
        Some(file) => begin(app, args, &file),
        None if args.full => Err(Failure::usage("--full is for exported files")
            .help("a copy of a session has every entry")),
        None => copy(app, args),
    }
}

fn copy(app: &App, args: &ImportArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.which.name())?;
    let new = app.new_session();
    let target = app.target(args.output.as_ref(), &new);
    let copied = longhaul_transcript::import(&session, &target, &new)?;
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "output": answer::path(&target),
            "id": new.id,
            "entries": copied.entries,
            "faults": copied.faults,
            "lost": copied.lost,
        }));
    }
    say!(
        "{} of {} written to {}",
        paint::plural_of(copied.entries, "entry", "entries"),
        session.format(),
        app.show_path(&target)
    )?;
    if copied.faults > 0 {
        let lost = match copied.lost {
            0 => "nothing is lost".to_owned(),
            lost => format!("{} not in the copy", paint::number(lost)),
        };
        let faults = paint::plural(copied.faults, "fault");
        app.note(&format!(
            "{faults} in the source, {lost}; `longhaul session verify` names them"
        ));
    }
    Ok(())
}

fn begin(app: &App, args: &ImportArgs, file: &Path) -> Result<(), Failure> {
    let export = Export::read(file)?.vouched_by(seal(app).as_ref());
    let carry = match args.full {
        true => Carry::Path,
        false => Carry::Summary,
    };
    let new = app.new_session();
    let target = app.target(args.output.as_ref(), &new);
    let workspace = app
        .workspace_flag
        .clone()
        .or_else(|| export.session.workspace.as_ref().map(PathBuf::from));
    let begun = export.begin(
        carry,
        &target,
        &new,
        workspace.as_deref(),
        &mut new_id,
        app.meter().estimator().counter(),
    )?;
    own_write::remember(app, &target);
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
            "carried": if args.full { "path" } else { "summary" },
            "entries": begun.entries,
            "workspace": workspace.as_deref().map(answer::path),
        }));
    }
    let what = match args.full {
        true => "the whole path",
        false => "summary and checkpoint",
    };
    say!(
        "session {} begun at {} with {what} of {}",
        begun.id,
        app.show_path(&target),
        export.session.id
    )?;
    if !export.is_vouched() {
        app.note(
            "it was not exported with this state folder: what it says in the user's name is kept \
             as passed on, and binds nobody",
        );
    }
    if let Some(workspace) = workspace.filter(|folder| !folder.is_dir()) {
        app.note(&format!(
            "its workspace {} is not here; name another with --workspace",
            workspace.display()
        ));
    }
    Ok(())
}

pub(super) fn new_id() -> EntryId {
    EntryId::new(uuid::Uuid::now_v7().to_string())
}
