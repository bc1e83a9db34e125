//! `dream …`: from daily logs to long-term memory.

mod backfill;
mod beside;
mod change;
mod dialogue;
mod model;
mod review;
mod signals;
mod undo;

pub(crate) use beside::Beside;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use jiff::Timestamp;
use longhaul_engine::catalog;
use longhaul_engine::config::DreamTrigger;
use longhaul_index::EncoderKind;
use longhaul_memory::MemoryFolder;
use longhaul_memory::dream::{
    Ask, Candidate, Cause, DreamLock, Dreams, Meaning, Moment, Report, Settings, Trigger, due,
    next, waiting,
};
use longhaul_transcript::Millis;
use serde::Serialize;
use serde_json::{Value, json};

use super::answer;
use super::chat::money;
use super::memory_files::{reading, writing};
use crate::app::App;
use crate::args::{DreamCommand, RunArgs};
use crate::failure::Failure;
use crate::out;
use crate::style::style;
use crate::{paint, resolve};

/// Takes the lock to write down what a person decides, and waits a little for
/// another command that does so.
fn locked(app: &App, dreams: &Dreams<'_>) -> Result<DreamLock, Failure> {
    Ok(told(app, dreams.lock_patiently()?))
}

/// What taking the lock had to mend or to complete is told.
fn told(app: &App, lock: DreamLock) -> DreamLock {
    for told in lock.notes() {
        app.note_once(&format!("note: {told}"));
    }
    lock
}

/// What a crash left half done is told to those who only read, too.
pub(super) fn unfinished(app: &App, memory: &MemoryFolder) -> Option<String> {
    // What keeps it from being known is told by whoever needs the state.
    let told = Dreams::new(&app.state_dir, memory).unfinished();
    let told = told.ok().flatten();
    told.iter().for_each(|told| half_done(app, told));
    told
}

fn half_done(app: &App, told: &str) {
    app.note_once(&format!("note: {told}"));
}

pub(crate) fn run(app: &App, command: &DreamCommand) -> Result<(), Failure> {
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
    app.config.config.dream_settings(recalls)
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
    let dreaming = &app.config.config.dreaming;
    if !dreaming.enabled {
        return Vec::new();
    }
    dreaming
        .triggers
        .iter()
        .map(|trigger| match trigger {
            DreamTrigger::Schedule { cron } => Trigger::Schedule(cron.clone()),
            DreamTrigger::SessionIdle { idle_minutes } => Trigger::SessionIdle(*idle_minutes),
            DreamTrigger::DailyLogSize { threshold_kb } => Trigger::DailyLogSize(*threshold_kb),
        })
        .collect()
}

/// The trigger that asks for a dream now, if one does.
fn asking(app: &App, memory: &MemoryFolder, dreams: &Dreams<'_>) -> Result<Option<Cause>, Failure> {
    let now = app.zoned();
    let logs = memory.logs()?;
    let today = logs.iter().find(|(date, _)| *date == now.date());
    let active: Option<Millis> = catalog::find(&app.places())
        .sessions
        .iter()
        .filter(|found| resolve::belongs_to(&found.reference, &app.workspace))
        .filter_map(|found| found.modified)
        .max();
    let moment = Moment {
        now: &now,
        last_activity: active.and_then(|time| Timestamp::from_millisecond(time.0).ok()),
        log_bytes: today.map_or(0, |(_, bytes)| *bytes),
    };
    let last = dreams.last_run()?;
    Ok(due(&triggers(app), last.as_ref(), &moment)?)
}

fn dream(app: &App, args: &RunArgs) -> Result<(), Failure> {
    let memory = writing(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let cause = match args.if_due {
        false => Cause::Manual,
        true => match asking(app, &memory, &dreams)? {
            Some(cause) => cause,
            None => return Err(Failure::nothing("no dream is due")),
        },
    };
    let recalls = dreams.recalls()?;
    let recalls = |candidate: &Candidate| recalls.of(candidate);
    let meaning = meaning(app);
    let settings = Settings {
        lookback_days: args
            .days
            .unwrap_or(app.config.config.dreaming.lookback_days),
        meaning: meaning.as_ref().map(|near| near as &Meaning<'_>),
        ..settings(app, &recalls)
    };
    let lock = told(app, dreams.lock()?);
    let model = model::chosen(app, args.base_url.as_deref())?;
    let mut model = model.map(model::asking).transpose()?;
    let report = dreams.run(
        &lock,
        &app.zoned(),
        cause,
        &settings,
        model.as_mut().map(|ask| &mut **ask as &mut Ask<'_>),
    )?;
    if app.json {
        return out::json(&with_workspace(&memory, &report)?);
    }
    tell(app, &report)
}

fn tell(app: &App, report: &Report) -> Result<(), Failure> {
    let done = &report.consolidated;
    let many = |count: usize, one: &str| paint::plural(count as u64, one);
    say!(
        "Read {} with {} worth a look.",
        many(report.logs, "log"),
        many(report.remarks, "line")
    )?;
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
        say!(
            "The model was asked {}: {} worth keeping, {} not, {} worded, {} merged, {} found to \
             contradict; {} wordings said more than their line, {} judgements quoted nothing.",
            paint::plural(model.calls as u64, "time"),
            model.kept,
            model.left,
            model.worded,
            model.merged,
            model.contradictions,
            model.ungrounded,
            model.unquoted
        )?;
        if model.paid.requests > 0 {
            say!("That took {}.", money::line(&model.paid))?;
        }
        if let Some(failure) = &model.failure {
            app.note(&format!("note: the rest was done without it: {failure}"));
        }
    }
    for problem in &report.problems {
        app.note_once(&format!("note: {problem}"));
    }
    match report.waiting {
        0 => say!("Nothing waits for review."),
        waiting => {
            let waiting = paint::plural_of(waiting as u64, "candidate waits", "candidates wait");
            say!("{waiting}: {}", style("longhaul dream review").bold())
        }
    }
}

fn status(app: &App) -> Result<(), Failure> {
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
            "enabled": app.config.config.dreaming.enabled,
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
    paint::row(
        "last dream",
        match &last {
            Some(last) => {
                let at = Millis(last.at.as_millisecond());
                format!("{} ({})", paint::ago(app.now(), at), last.cause)
            }
            None => "never".into(),
        },
    )?;
    paint::row(
        "due",
        match (due, &next) {
            (Some(cause), _) => style(format!("now ({})", cause)).yellow().to_string(),
            (None, Some(next)) => next.strftime("%Y-%m-%d %H:%M").to_string(),
            (None, None) => "only by hand".into(),
        },
    )?;
    paint::row("waiting", waits)?;
    let kept = count("promoted");
    let kept = match count("demoted") {
        0 => kept.to_string(),
        demoted => format!("{kept}, and {demoted} without room in MEMORY.md"),
    };
    paint::row("promoted", kept)?;
    paint::row("rejected", count("rejected"))?;
    paint::row("superseded", count("superseded"))?;
    if paid.requests > 0 {
        if let Some(last) = last.as_ref().and_then(|last| last.paid.as_ref()) {
            paint::row("cost: last dream", money::line(last))?;
        }
        paint::row("cost: all dreams", money::line(&paid))?;
    }
    match waits {
        0 => Ok(()),
        _ => say!(
            "\n{} goes through what waits.",
            style("longhaul dream review").bold()
        ),
    }
}

/// The id that is meant: the whole of it, or a start that only one has.
fn named(candidates: &[Candidate], name: &str) -> Result<String, Failure> {
    let bare = name.strip_prefix("d-").unwrap_or(name);
    let mut fits = candidates
        .iter()
        .filter(|one| one.id["d-".len()..].starts_with(bare) && !bare.is_empty());
    match (fits.next(), fits.next()) {
        (Some(one), None) => Ok(one.id.clone()),
        (Some(one), Some(other)) => Err(Failure::usage(format!(
            "{name:?} may be {} or {}",
            one.id, other.id
        ))
        .help("write more of the id")),
        (None, _) => Err(Failure::usage(format!("no candidate is called {name:?}"))
            .help("`longhaul dream review --json` lists those that wait")),
    }
}

/// A candidate by its id.
fn find<'a>(candidates: &'a [Candidate], id: &str) -> Option<&'a Candidate> {
    candidates.iter().find(|one| one.id == id)
}

/// An answer with its workspace in front.
fn with_workspace(
    memory: &MemoryFolder,
    value: &impl Serialize,
) -> Result<Value, serde_json::Error> {
    let mut answer = json!({ "workspace": answer::path(memory.root()) });
    if let (Value::Object(all), Value::Object(own)) = (&mut answer, serde_json::to_value(value)?) {
        all.extend(own);
    }
    Ok(answer)
}
