//! `memory index`.

use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use longhaul_engine::catalog::{self, Catalog, Places};
use longhaul_engine::library::{Gone, PutError, gone, take_in};
use longhaul_index::{
    Budget, Encoder, IndexError, MemoryIndex, Progress, RecordKind, SqliteIndex, Status,
};
use longhaul_transcript::Session;

use super::{open, path, patient_encoder, refuse_without_index};
use crate::args::MemoryIndexArgs;
use crate::prelude::*;

pub(crate) fn run(app: &App, args: &MemoryIndexArgs) -> Result {
    refuse_without_index(app)?;
    let mut index = if args.rebuild {
        SqliteIndex::rebuild(&path(app), app.config.index_settings())?
    } else {
        open(app)?
    };
    let bar = bar();
    let encoder = patient_encoder(app)?;
    let mut fill = || fill(app, args, encoder.as_ref(), &mut index, &bar);
    let filled = match fill() {
        // Everything is where it came from: it is taken in again, into the new
        // one. Damage that comes back at once is not of the file's making.
        Err(IndexError::Replaced { reason, aside, .. }) => fill().map(|mut filled| {
            let aside = aside.map(|aside| format!(" and lies at {}", app.show_path(&aside)));
            let aside = aside.unwrap_or_default();
            let note = format!(
                "the index turned out damaged ({reason}){aside}; everything was indexed again"
            );
            filled.notes.insert(0, note);
            filled
        }),
        filled => filled,
    };
    let Filled {
        done,
        notes,
        links,
        missing,
        status,
    } = filled?;
    bar.finish_and_clear();
    if app.json {
        let head = json!({
            "path": path(app),
            "setAside": index.set_aside(),
            "written": done.written,
            "unchanged": done.unchanged,
            "removed": done.removed,
            "redacted": done.redacted,
            "vectorsMissing": missing,
            "linksLeftOut": links,
            "notes": notes,
        });
        return out::json(&answer::joined(head, &status)?);
    }
    for note in &notes {
        note!("note: {note}");
    }
    out::row("Index", app.show_path(&path(app)))?;
    let number = paint::number;
    let (texts, new, gone) = (
        number(status.records),
        number(done.written),
        number(done.removed),
    );
    row!("Texts", "{texts} ({new} new or changed, {gone} gone)")?;
    let (text, disk) = (
        paint::bytes(status.text_bytes),
        paint::bytes(status.disk_bytes),
    );
    row!("Size", "{text} of text in {disk}")?;
    match &status.model {
        Some(model) => {
            let (made, of) = (number(status.vectors), number(status.chunks));
            row!(
                "Vectors",
                "{made} of {of} by {model}{}",
                without_vectors(&status)
            )
        }
        None => out::row(
            "Vectors",
            "none: words alone; `longhaul memory status` says why",
        ),
    }
}

/// What is said of chunks that have no vector and will have none.
pub(crate) fn without_vectors(status: &Status) -> String {
    match status.vectors_refused {
        0 => String::new(),
        some => format!("; {} refused by the model", paint::number(some)),
    }
}

/// What filling an index came to.
struct Filled {
    done: Progress,
    notes: Vec<String>,
    /// Links that were left out.
    links: u64,
    /// Chunks that have no vector yet.
    missing: u64,
    status: Status,
}

/// Takes in files, then sessions, then makes vectors.
fn fill(
    app: &App,
    args: &MemoryIndexArgs,
    encoder: Option<&Arc<dyn Encoder>>,
    index: &mut SqliteIndex,
    bar: &ProgressBar,
) -> Result<Filled, IndexError> {
    let unfilled = index.is_unfilled()?;
    if index.status()?.records == 0 {
        index.mark_filling(true)?;
    }
    let files = app.config.workspace_files(&app.workspace);
    let synced = files.sync(index, Budget::default(), &mut |done| {
        bar.set_message(message(done));
    })?;
    index.mark_current(app.now())?;
    let mut notes = synced.notes;
    let mut done = synced.progress;
    if !args.no_sessions && app.config.memory.index.transcripts {
        // Whoever searches after this was cut short should know.
        index.mark_filling(true)?;
        sessions(app, index, bar, &mut done, &mut notes)?;
    }
    // Without sessions, an index that was begun anew still lacks those it had.
    if !args.no_sessions || !unfilled {
        index.mark_filling(false)?;
    }
    let mut missing = 0;
    if let Some(encoder) = encoder {
        index.use_encoder(Some(Arc::clone(encoder)));
        let limit = if args.no_vectors { 0 } else { u64::MAX };
        if !args.no_vectors {
            index.try_refused()?;
        }
        missing = index.embed(limit, &mut |made, of| {
            let (made, of) = (paint::number(made), paint::number(of));
            bar.set_message(format!("{made} of {of} vectors"));
        })?;
    }
    index.fold()?;
    Ok(Filled {
        done,
        notes,
        links: synced.links_left_out,
        missing,
        status: index.status()?,
    })
}

/// Takes out sessions that were deleted. Those that only cannot be seen stay,
/// and are told.
fn take_out_gone(
    index: &mut SqliteIndex,
    found: &Catalog,
    places: &Places,
    done: &mut Progress,
    notes: &mut Vec<String>,
) -> Result<(), IndexError> {
    let indexed = index.sources(&[RecordKind::Transcript, RecordKind::Present])?;
    let Gone {
        deleted,
        out_of_sight,
    } = gone(&indexed, found, places);
    for session in &deleted {
        done.removed += index.remove(session)?;
    }
    if let Some(first) = out_of_sight.first() {
        let sessions = paint::plural(out_of_sight.len() as u64, "session");
        let others = if out_of_sight.len() > 1 {
            " and others"
        } else {
            ""
        };
        notes.push(format!(
            "{sessions} ({first}{others}) cannot be seen, as where a disk is not mounted; what is \
             indexed of them stays, and `longhaul memory index --rebuild` takes it out"
        ));
    }
    Ok(())
}

/// What left the contexts of the workspace's sessions.
fn sessions(
    app: &App,
    index: &mut SqliteIndex,
    bar: &ProgressBar,
    done: &mut Progress,
    notes: &mut Vec<String>,
) -> Result<(), IndexError> {
    let places = app.places();
    let found = catalog::find(&places);
    take_out_gone(index, &found, &places, done, notes)?;
    for listed in found.ran_in(&app.workspace) {
        let reference = &listed.reference;
        let name = resolve::id_of(reference);
        let read = match Session::open_ref(reference) {
            Ok(session) => taken_in(app, index, &session, done, bar),
            Err(error) => Err(error.into()),
        };
        match read {
            Ok(()) => {}
            Err(PutError::Index(error)) => return Err(error),
            Err(error) => notes.push(format!("session {name}: {error}")),
        }
    }
    Ok(())
}

fn taken_in(
    app: &App,
    index: &mut SqliteIndex,
    session: &Session,
    done: &mut Progress,
    bar: &ProgressBar,
) -> Result<(), PutError> {
    let keep = app.keep(session);
    let taken = take_in(index, session, &keep, u64::MAX, &mut |more| {
        done.seen += more.seen;
        done.written += more.written;
        done.unchanged += more.unchanged;
        done.removed += more.removed;
        done.redacted += more.redacted;
        bar.set_message(message(done));
    })?;
    if taken.is_some_and(|taken| taken.bytes() == 0) {
        // Nothing was read of it.
        let unchanged = index.entries(&session.reference().name(), &[])?.len() as u64;
        done.seen += unchanged;
        done.unchanged += unchanged;
    }
    Ok(())
}

fn bar() -> ProgressBar {
    if !out::shows_progress() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::default_spinner());
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    bar
}

fn message(done: &Progress) -> String {
    let (seen, written) = (paint::number(done.seen), paint::number(done.written));
    format!(
        "{seen} texts, {written} new or changed, {}",
        paint::bytes(done.bytes)
    )
}
