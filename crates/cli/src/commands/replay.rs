//! `replay`: a recorded session through the engine, decision by decision.

use std::path::{Path, PathBuf};
use std::time::Instant;

use longhaul_engine::catalog;
use longhaul_engine::event::Event;
use longhaul_engine::measure::WindowEvidence;
use longhaul_engine::replay::{Options, Progress, ReplayReport, Summaries, replay};
use longhaul_engine::sample;
use longhaul_engine::survey::Keep;
use longhaul_engine::timeline::Timeline;
use longhaul_server::dashboard::replay_report;
use longhaul_tokens::Window;
use longhaul_transcript::{
    Body, Draft, Entry, EntryId, Header, Millis, Role, Session, Stamp, json,
};

use super::compact::blocked;
use super::events::{self, Weight};
use super::measured::heading;
use super::models::{self, Waiting};
use crate::args::{ReplayArgs, ReportKind};
use crate::prelude::*;

pub(crate) fn run(app: &App, args: &ReplayArgs) -> Result {
    if let Some(output) = &args.output {
        super::refuse_existing(output)?;
    }
    let source = source(app, args)?;
    let result = replay_source(app, args, &source);
    if let Some(temporary) = &source.temporary {
        let _ = longhaul_files::remove(temporary);
    }
    result
}

/// A session to replay, and the file to remove afterwards.
struct Source {
    session: Session,
    temporary: Option<PathBuf>,
}

fn source(app: &App, args: &ReplayArgs) -> Result<Source> {
    let known = |session| Source {
        session,
        temporary: None,
    };
    if let Some(name) = args.name() {
        return resolve::session(app, Some(name)).map(known);
    }
    let found = catalog::find(&app.places());
    if let Some(newest) = found.sessions.first() {
        let session = Session::open_ref(&newest.reference)?;
        note!(
            "replaying the newest session on this machine ({})",
            session.format()
        );
        return Ok(known(session));
    }
    out::note("no session of any agent was found; replaying the built-in sample");
    let path = temporary();
    let (header, entries) = sample::session(SAMPLE_TURNS, None);
    longhaul_transcript::write_path(&path, &header, &entries)?;
    Ok(Source {
        session: Session::open(&path)?,
        temporary: Some(path),
    })
}

/// A file in a folder that others write to: under a name that none of them can guess.
fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("longhaul-{}.jsonl", uuid::Uuid::now_v7()))
}

/// The report as a page. What was played is a session of its own for it, so that its
/// timeline is made as any other's.
fn page(
    app: &App,
    session: &Session,
    report: &ReplayReport,
    entries: &[Entry],
    window: &Window,
) -> Result<String> {
    let path = temporary();
    longhaul_transcript::write_path(&path, session.header(), entries)?;
    let played = Session::open(&path)
        .and_then(|played| Timeline::of(&played, &Keep::nowhere(), &app.meter()));
    let _ = longhaul_files::remove(&path);
    let about = answer::session(app, session);
    Ok(replay_report(report, about, &played?, window))
}

/// Turns of the built-in sample: several windows long.
const SAMPLE_TURNS: u32 = 120;

fn replay_source(app: &App, args: &ReplayArgs, source: &Source) -> Result {
    let session = &source.session;
    let glance = catalog::glance(session.reference(), &mut app.meter()).ok();
    let evidence = glance.as_ref().map(|glance| glance.evidence);
    let model = glance.and_then(|glance| glance.model);
    // What the session grew to is what the replay is to keep from happening.
    let evidence = WindowEvidence {
        answered: None,
        ..evidence.unwrap_or_default()
    };
    let (window, _) = app.window(None, model.as_deref(), evidence)?;
    let live = !app.json && !app.quiet;
    if live {
        say!("{}", heading(app, session))?;
        say!(
            "{}",
            style(format!("replayed at a window of {} tokens", window.size())).dim()
        )?;
    }
    let begun = Instant::now();
    let clock = || begun.elapsed().as_secs_f64() * 1000.0;
    let mut written = 0u64;
    let mut failure = None;
    let waiting = match &app.model {
        Some(_) => models::waiting(app, None)?,
        None => None,
    };
    let summaries = waiting.as_ref().map(|waiting| Summaries {
        model: waiting.model(),
        cancel: Default::default(),
    });
    let options = Options {
        window: &window,
        config: &app.config,
        prices: app.prices(None, model.as_deref()),
        summaries,
        clock: &clock,
    };
    let _inside = waiting.as_ref().map(Waiting::enter);
    let (report, entries) = replay(
        session,
        &options,
        &mut |time| {
            written += 1;
            Stamp {
                id: EntryId::new(format!("longhaul-{written:06}")),
                time: time.unwrap_or(Millis(0)),
            }
        },
        &mut |event, progress| {
            if live && failure.is_none() {
                failure = print_event(event, progress).err();
            }
        },
    )
    .map_err(blocked)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let elapsed = begun.elapsed().as_secs_f64();
    if let Some(output) = &args.output {
        keep(app, session, output, &entries)?;
        keep_checkpoints(output, &report)?;
    }
    if args.report == Some(ReportKind::Html) {
        let page = page(app, session, &report, &entries, &window)?;
        longhaul_files::replace(&args.report_file, page.as_bytes())?;
        note!("report written to {}", args.report_file.display());
    }
    if app.json {
        return out::json(&report_json(app, session, source, report)?);
    }
    print_report(app, &report, &window, elapsed)
}

/// The report with its session as in every answer; the built-in sample has no
/// file that could be named.
fn report_json(
    app: &App,
    session: &Session,
    source: &Source,
    mut report: ReplayReport,
) -> Result<Value> {
    // A path that is not UTF-8 cannot be serialized.
    report.path = PathBuf::new();
    let mut named = json!(answer::session(app, session));
    if source.temporary.is_some() {
        named["id"] = json!(session.header().id);
        named["path"] = Value::Null;
    }
    let mut all = answer::joined(json!({ "session": null }), &report)?;
    all["session"] = named;
    if let Some(fields) = all.as_object_mut() {
        fields.shift_remove("agent");
        fields.shift_remove("path");
    }
    Ok(all)
}

fn print_event(event: &Event, progress: &Progress) -> Result {
    let line = match event {
        Event::Gauge { line, .. } => style(line.clone()).yellow(),
        Event::Compacted(compacted) => style(format!(
            "compacted #{} ({}), {} → {} in {:.1} ms: {} messages out, {} stay; {}",
            compacted.epoch,
            compacted.layer,
            compacted.tokens_before,
            compacted.tokens_after,
            compacted.milliseconds,
            paint::number(compacted.messages_compacted as u64),
            compacted.messages_kept,
            compacted.fidelity
        ))
        .green(),
        Event::NativeCompaction { tokens_before, .. } => {
            let tokens = tokens_before.map(|tokens| format!(" ({} tokens)", paint::number(tokens)));
            let tokens = tokens.unwrap_or_default();
            style(format!("the agent itself compacted here{tokens}")).dim()
        }
        Event::CheckpointWritten(_)
        | Event::Pruned { .. }
        | Event::Blocked { .. }
        | Event::Failed { .. }
        | Event::SummaryFallback { .. }
        | Event::BreakerOpened { .. } => match events::event(event) {
            Some((Weight::Warning, line)) => style(line).red(),
            Some((_, line)) => style(line).cyan(),
            None => return Ok(()),
        },
        // The others do not happen in a replay, or say nothing new.
        _ => return Ok(()),
    };
    let share = f64::from(progress.tokens.0) / f64::from(progress.window.0.max(1));
    let entries = paint::number(progress.entries as u64);
    let (bar, percent) = (paint::bar(share, 12), share * 100.0);
    let place = style(format!("{entries:>6}  {bar} {percent:>3.0} %")).dim();
    say!("{place}  {line}")
}

fn print_report(app: &App, report: &ReplayReport, window: &Window, elapsed: f64) -> Result {
    let totals = &report.totals;
    say!("")?;
    let number = paint::number;
    let (entries, turns) = (number(totals.entries as u64), number(totals.turns as u64));
    let requests = number(totals.requests);
    row!(
        "Replayed",
        "{entries} entries, {turns} turns, {requests} requests in {elapsed:.2} s"
    )?;
    let (made, time) = (report.compactions.len(), totals.milliseconds);
    let (prunings, native) = (report.prunings.len(), report.native.len());
    row!(
        "Compactions",
        "{made} ({time:.0} ms in all), {prunings} prunings; the agent itself: {native}"
    )?;
    let most = app.config.compaction.max_auto_compactions;
    let lossy = report.compactions.iter();
    let lossy = lossy.filter(|row| row.event.fidelity.lost_something());
    if lossy.count() >= most as usize {
        let guard =
            "that lost something (`compaction.maxAutoCompactions`) and offer a fresh session";
        row!(
            "Guard",
            "by itself an agent would stop after {most} {guard}"
        )?;
    }
    row!(
        "Checkpoints",
        "{}, kept in memory only",
        report.checkpoints.len()
    )?;
    let (size, hard) = (window.size(), window.hard());
    row!(
        "Largest context",
        "{} of {size} (hard limit {hard})",
        totals.largest_context
    )?;
    out::row("Lost for good", totals.nowhere)?;
    if let Some(native) = report.native.last()
        && let Some((named, all)) = native.modified_files_named
    {
        let (ours, of) = totals.modified_files_named;
        let elsewhere = format!("the agent's last summary names {named} of {all} changed files");
        row!("Elsewhere", "{elsewhere}; our context {ours} of {of}")?;
    }
    let mut table = Table::new([left("INPUT BILL"), right("TOKENS"), right("AGAINST OURS")]);
    for (name, cost) in [
        ("longhaul", Some(totals.cost_longhaul)),
        ("as recorded", totals.cost_native),
        ("old tool output masked", Some(totals.cost_masking)),
        ("nothing removed", Some(totals.cost_nothing)),
    ] {
        if let Some(cost) = cost {
            let tokens = number(cost.round() as u64);
            table.row([name.to_owned(), tokens, against(cost, totals.cost_longhaul)]);
        }
    }
    say!("")?;
    table.print(app.columns())?;
    out::note(
        "the bill is in tokens of fresh input: cache reads count 0.1, writes 1.25, the cache lives 5 minutes",
    );
    for event in report.troubles.iter().take(5) {
        if let Event::Failed { reason } = event {
            note!("note: {reason}");
        }
    }
    Ok(())
}

/// How a bill compares with ours; where we have none, there is no telling.
fn against(cost: f64, ours: f64) -> String {
    match ours > 0.0 {
        true => format!("{:+.0} %", (cost / ours - 1.0) * 100.0),
        false => "–".to_owned(),
    }
}

/// Keeps the result as a session of its own.
fn keep(app: &App, session: &Session, output: &Path, entries: &[Entry]) -> Result {
    let new = app.new_session();
    let header = Header {
        id: new.id,
        version: 3,
        time: Some(new.time),
        cwd: session.header().cwd.clone(),
        parent_session: Some(session.path().to_string_lossy().into_owned()),
    };
    longhaul_transcript::write_path(output, &header, &without_false_usage(entries))?;
    note!("result kept in {}", output.display());
    Ok(())
}

/// Keeps the checkpoints that the result names, in a folder beside it.
fn keep_checkpoints(output: &Path, report: &ReplayReport) -> Result {
    if report.saved.is_empty() {
        return Ok(());
    }
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".checkpoints");
    let folder = output.with_file_name(name);
    longhaul_files::create_folder(&folder)?;
    for checkpoint in &report.saved {
        let path = folder.join(format!("{}.yaml", checkpoint.meta.checkpoint_id));
        let text = checkpoint.to_yaml();
        longhaul_files::replace(&path, text.as_bytes())?;
    }
    note!("checkpoints kept in {}", folder.display());
    Ok(())
}

/// The recorded usage describes the recorded context. Once the engine has
/// rewritten it, whoever opens the result must not believe it.
fn without_false_usage(entries: &[Entry]) -> Vec<Entry> {
    const NOTHING: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0}"#;
    let mut rewritten = false;
    entries
        .iter()
        .map(|entry| {
            rewritten |= matches!(entry.body, Body::Compaction(_) | Body::ContextEdit(_));
            let answer = entry.role() == Some(&Role::Assistant);
            let Some(message) = entry.message().filter(|_| rewritten && answer) else {
                return entry.clone();
            };
            if !message.object().has("usage") {
                return entry.clone();
            }
            let stamp = Stamp {
                id: entry.id.clone(),
                time: entry.time.unwrap_or_default(),
            };
            Draft::Message(json::with_field(message.object(), "usage", NOTHING))
                .to_entry(&stamp, entry.parent.as_ref())
        })
        .collect()
}
