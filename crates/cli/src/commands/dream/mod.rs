//! `dream …`: from daily logs to long-term memory.

mod backfill;
mod background;
mod change;
mod dialogue;
mod model;
mod review;
mod signals;
mod undo;

pub(crate) use background::Background;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use jiff::Timestamp;
use longhaul_engine::catalog;
use longhaul_index::EncoderKind;
use longhaul_memory::MemoryFolder;
use longhaul_memory::dream::{
    Ask, Candidate, Cause, DreamLock, Dreams, Meaning, Moment, Report, Settings, Trigger, due,
    next, waiting,
};
use longhaul_transcript::Millis;

use super::memory_folder::{half_done, reading, unfinished, writing};
use super::spending;
use crate::args::{DreamCommand, RunArgs};
use crate::prelude::*;

/// Takes the lock to write down what a person decides, and waits a little for
/// another command that does so.
fn locked(dreams: &Dreams<'_>) -> Result<DreamLock> {
    Ok(told(dreams.lock_patiently()?))
}

/// What taking the lock had to mend or to complete is told.
fn told(lock: DreamLock) -> DreamLock {
    for told in lock.notes() {
        out::note_once(&format!("note: {told}"));
    }
    lock
}

pub(crate) fn run(app: &App, command: &DreamCommand) -> Result {
    match command {
        DreamCommand::Run(args) => dream(app, args),
        DreamCommand::Status => status(app),
        DreamCommand::Review => review::review(app),
        DreamCommand::Promote(args) => change::promote(app, args),
        DreamCommand::Reject(args) => change::reject(app, args),
        DreamCommand::Merge(args) => change::merge(app, args),
        DreamCommand::Edit(args) => change::edit(app, args),
        DreamCommand::Backfill(args) => backfill::backfill(app, args),
        DreamCommand::Undo(args) => undo::undo(app, args),
    }
}

/// How the configuration wants dreams to be, and how often candidates were
/// asked for.
fn settings<'a>(app: &'a App, recalls: &'a dyn Fn(&Candidate) -> u32) -> Settings<'a> {
    app.config.dream_settings(recalls)
}

/// How often candidates were asked for.
fn recalls(
    dreams: &Dreams<'_>,
) -> Result<impl Fn(&Candidate) -> u32 + use<>, longhaul_memory::Error> {
    let recalls = dreams.recalls()?;
    Ok(move |candidate: &Candidate| recalls.of(candidate))
}

/// How near an installed encoder finds two texts; nothing leaves the machine. Most
/// lines are compared with several others and encoded once.
fn meaning(app: &App) -> Option<impl Fn(&str, &str) -> Option<f32> + 'static> {
    let chosen = super::memory::chosen(app).ok()?;
    let encoder = chosen.encoder?;
    let is_local = encoder.kind() == EncoderKind::Transformer;
    let vectors: RefCell<HashMap<String, Option<Rc<[f32]>>>> = RefCell::default();
    let vector = move |text: &str| -> Option<Rc<[f32]>> {
        if let Some(known) = vectors.borrow().get(text) {
            return known.clone();
        }
        let vector = encoder.encode(&[text]).ok().and_then(|mut all| all.pop());
        let vector: Option<Rc<[f32]>> = vector.map(Rc::from);
        let mut vectors = vectors.borrow_mut();
        vectors.insert(text.to_owned(), vector.clone());
        vector
    };
    is_local.then_some(move |a: &str, b: &str| {
        let (a, b) = (vector(a)?, vector(b)?);
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        Some(dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt())
    })
}

fn triggers(app: &App) -> Vec<Trigger> {
    let dreaming = &app.config.dreaming;
    match dreaming.enabled {
        true => dreaming.triggers.clone(),
        false => Vec::new(),
    }
}

/// The trigger that asks for a dream now, if one does.
fn asking(app: &App, memory: &MemoryFolder, dreams: &Dreams<'_>) -> Result<Option<Cause>> {
    let now = app.zoned();
    let logs = memory.logs()?;
    let today = logs.iter().find(|(date, _)| *date == now.date());
    let found = catalog::find(&app.places());
    let own = found.ran_in(&app.workspace).into_iter();
    let active = own.filter_map(|found| found.modified).max();
    let moment = Moment {
        now: &now,
        last_activity: active.and_then(|time| Timestamp::from_millisecond(time.0).ok()),
        log_bytes: today.map_or(0, |(_, bytes)| *bytes),
    };
    let last = dreams.last_run()?;
    Ok(due(&triggers(app), last.as_ref(), &moment)?)
}

fn dream(app: &App, args: &RunArgs) -> Result {
    let memory = writing(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let cause = match args.if_due {
        false => Cause::Manual,
        true => match asking(app, &memory, &dreams)? {
            Some(cause) => cause,
            None => return Err(Failure::nothing("no dream is due")),
        },
    };
    let recalls = recalls(&dreams)?;
    let meaning = meaning(app);
    let settings = Settings {
        lookback_days: args.days.unwrap_or(app.config.dreaming.lookback_days),
        meaning: meaning.as_ref().map(|near| near as &Meaning<'_>),
        ..settings(app, &recalls)
    };
    let lock = told(dreams.lock()?);
    let model = model::chosen(app, args.base_url.as_deref())?;
    let mut model = model.map(model::asking).transpose()?;
    let ask = model.as_mut().map(|ask| &mut **ask as &mut Ask<'_>);
    let report = dreams.run(&lock, &app.zoned(), cause, &settings, ask)?;
    if app.json {
        return out::json(&answer::joined(workspace(&memory), &report)?);
    }
    tell(&report)
}

fn tell(report: &Report) -> Result {
    let done = &report.consolidated;
    let many = |count: usize, one: &str| paint::plural(count as u64, one);
    let (logs, lines) = (many(report.logs, "log"), many(report.remarks, "line"));
    say!("Read {logs} with {lines} worth a look.")?;
    for (count, what) in [
        (done.found, "new"),
        (done.repeated, "said again"),
        (done.known, "known already"),
        (done.contradictions, "may contradict something"),
        (done.rejected, "rejected before"),
        (report.left_out, "too short or too long, left in the log"),
    ] {
        if count > 0 {
            say!("  {count:>4}  {what}")?;
        }
    }
    for id in &report.promoted {
        say!("{}  {id}", style("promoted").green())?;
    }
    if let Some(model) = &report.model {
        let times = many(model.calls, "time");
        say!(
            "The model was asked {times}: {} worth keeping, {} not, {} worded, {} merged, {} found \
             to contradict; {} wordings said more than their line, {} judgements quoted nothing.",
            model.kept,
            model.left,
            model.worded,
            model.merged,
            model.contradictions,
            model.ungrounded,
            model.unquoted
        )?;
        if model.paid.requests > 0 {
            say!("That took {}.", spending::line(&model.paid))?;
        }
        if let Some(failure) = &model.failure {
            note!("note: the rest was done without it: {failure}");
        }
    }
    for problem in &report.problems {
        out::note_once(&format!("note: {problem}"));
    }
    match report.waiting {
        0 => say!("Nothing waits for review."),
        some => say!(
            "{}: {}",
            paint::waiting(some),
            style("longhaul dream review").bold()
        ),
    }
}

fn status(app: &App) -> Result {
    let memory = reading(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let unfinished = unfinished(app, &memory);
    let candidates = dreams.candidates()?;
    let last = dreams.last_run()?;
    let due = asking(app, &memory, &dreams)?;
    let next = next(&triggers(app), &app.zoned())?;
    let count = |name: &str| {
        let all = candidates.iter();
        all.filter(|one| one.status.as_ref() == name).count()
    };
    let waits = waiting(&candidates).len();
    let paid = dreams.paid()?;
    if app.json {
        let time = |at: Timestamp| Millis(at.as_millisecond()).to_iso();
        return out::json(&json!({
            "workspace": answer::path(memory.root()),
            "enabled": app.config.dreaming.enabled,
            "lastRun": last.as_ref().map(|last| json!({
                "at": time(last.at),
                "cause": last.cause,
                "paid": last.paid,
            })),
            "paid": paid,
            "due": due,
            "next": next.as_ref().map(|next| time(next.timestamp())),
            "waiting": waits,
            "promoted": count("promoted"),
            "demoted": count("demoted"),
            "rejected": count("rejected"),
            "superseded": count("superseded"),
            "unfinished": unfinished,
        }));
    }
    let ran = last.as_ref().map_or("never".to_owned(), |last| {
        let at = Millis(last.at.as_millisecond());
        format!("{} ({})", paint::ago(app.now(), at), last.cause)
    });
    out::row("last dream", ran)?;
    let due = match (due, &next) {
        (Some(cause), _) => style(format!("now ({cause})")).yellow().to_string(),
        (None, Some(next)) => next.strftime("%Y-%m-%d %H:%M").to_string(),
        (None, None) => "only by hand".into(),
    };
    out::row("due", due)?;
    out::row("waiting", waits)?;
    let kept = count("promoted");
    let kept = match count("demoted") {
        0 => kept.to_string(),
        demoted => format!("{kept}, and {demoted} without room in MEMORY.md"),
    };
    out::row("promoted", kept)?;
    out::row("rejected", count("rejected"))?;
    out::row("superseded", count("superseded"))?;
    if paid.requests > 0 {
        if let Some(last) = last.as_ref().and_then(|last| last.paid.as_ref()) {
            out::row("cost: last dream", spending::line(last))?;
        }
        out::row("cost: all dreams", spending::line(&paid))?;
    }
    let review = style("longhaul dream review").bold();
    match waits {
        0 => Ok(()),
        _ => say!("\n{review} goes through what waits."),
    }
}

/// The id that is meant: the whole of it, or a start that only one has.
fn named(candidates: &[Candidate], name: &str) -> Result<String> {
    let bare = name.strip_prefix("d-").unwrap_or(name);
    let mut fits = candidates
        .iter()
        .filter(|one| one.id["d-".len()..].starts_with(bare) && !bare.is_empty());
    match (fits.next(), fits.next()) {
        (Some(one), None) => Ok(one.id.clone()),
        (Some(one), Some(other)) => {
            Err(usage!("{name:?} may be {} or {}", one.id, other.id).help("write more of the id"))
        }
        (None, _) => Err(usage!("no candidate is called {name:?}")
            .help("`longhaul dream review --json` lists those that wait")),
    }
}

/// An answer about the memory of a workspace.
fn workspace(memory: &MemoryFolder) -> Value {
    json!({ "workspace": answer::path(memory.root()) })
}

/// A candidate by its id.
fn find<'a>(candidates: &'a [Candidate], id: &str) -> Option<&'a Candidate> {
    candidates.iter().find(|one| one.id == id)
}
