//! `compact`: make room, now, and prove what was kept.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_checkpoint::{CheckpointId, Trigger as Saved, Turn};
use longhaul_compaction::cost::{Prices, Summarizer};
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::checkpoints::{Carried, Intent, Job, Lock, turn};
use longhaul_engine::event::RestoredFragment;
use longhaul_engine::live::{
    Again, Compacted, CompactionFailure, CompactionRequest, Live, Pruned, UndoFailure,
};
use longhaul_engine::measure::Meter;
use longhaul_engine::state::SessionState;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{
    Boundary, Draft, Entry, EntryId, Loaded, Packing, Session, Stamp, Writer, archive_path,
    each_archived,
};
use serde_json::json;

use super::answer;
use super::change::{durability, writable};
use super::measured::heading;
use super::saving::{Materials, Saving, occasion, read_only, tell};
use crate::app::App;
use crate::args::CompactArgs;
use crate::failure::Failure;
use crate::out::{self, say};
use crate::{own_write, paint, resolve};

/// A session ready to be compacted.
struct Work {
    session: Session,
    live: Live,
    meter: Meter,
    window: Window,
    tokens: Tokens,
    overhead: Tokens,
    prices: Prices,
    trigger: Trigger,
    /// What is to be said about results that answer no call.
    unasked: Option<String>,
}

pub(crate) fn run(app: &App, args: &CompactArgs) -> Result<(), Failure> {
    if args.reset_breaker {
        return reset_breaker(app, args);
    }
    if args.undo || args.redo {
        return again(app, args);
    }
    if app.config.config.sandbox.read_only && !args.dry_run {
        return Err(read_only());
    }
    let (session, path) = if args.dry_run {
        (resolve::session(app, args.which.name())?, None)
    } else {
        let session = resolve::session_to_write(app, args.which.name())?;
        let path = writable(app, &session, args.leave)?;
        (session, Some(path))
    };
    let saving = Saving::of(app, &session);
    let mut materials = Materials::of(app, &session)?;
    let interrupted = path.is_some() && saving.sequence(app).is_pending();
    let mut lock = match interrupted {
        true => saving.lock(app)?,
        false => None,
    };
    let mut work = open(app, session)?;
    let pending = match interrupted {
        true => recover(app, &saving, &work, &mut materials),
        false => None,
    };
    // Asked for nothing in particular, it goes on with what was meant.
    let pending = pending.filter(|_| args.layer.is_none() && args.focus.is_none());
    let layer = match (args.layer, &pending) {
        (Some(layer), _) => layer.into(),
        (None, Some(pending)) => pending.layer,
        (None, None) => Layer::Summarize,
    };
    if layer == Layer::Prune {
        return prune(app, args, &mut work, path.as_deref(), &saving);
    }
    let focus = args.focus.clone();
    let focus = focus.or_else(|| pending.as_ref()?.focus.clone());
    work.trigger = pending.map_or(Trigger::Manual, |pending| pending.trigger);
    let protect = protected(app, layer, &work.window);
    let stored = stored(&work.session, materials.entries())?;
    let breaker = app.config.config.breaker_rules();
    let request = CompactionRequest {
        layer,
        trigger: work.trigger,
        focus: focus.as_deref(),
        window: &work.window,
        protect,
        overhead: work.overhead,
        tokens_before: work.tokens,
        rules: app.config.config.compaction_rules(),
        is_stored: &|id| stored.contains(id),
    };
    let compacted = match work.live.compact(&mut work.meter, &request) {
        Ok(compacted) => compacted,
        Err(CompactionFailure::NothingToDo) => {
            if let Some(note) = &work.unasked {
                app.note(&format!("note: {note}"));
            }
            return Err(Failure::nothing(format!(
                "Nothing to compact: the context has {} tokens, and the last {} stay verbatim.",
                work.tokens,
                protect.min(work.tokens)
            )));
        }
        Err(failure) => {
            if path.is_some() {
                remember(app, &work, |state| {
                    state.breaker.failed(failure.to_string(), breaker);
                });
            }
            return Err(Failure::new(failure.to_string()));
        }
    };
    let Some(path) = path else {
        return preview(app, &work, layer, &compacted);
    };
    let question = format!(
        "Compact {} messages into a summary ({} to {} tokens)?",
        compacted.removed.messages, work.tokens, compacted.tokens_after
    );
    if !app.confirm(&question, args.yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    if lock.is_none() {
        lock = lock_unchanged(app, &saving, &work)?;
    }
    let Stamp { id, time } = app.stamp();
    let intent = Intent {
        entry: id,
        at: time,
        layer,
        trigger: work.trigger,
        focus,
        leaf: work.live.entries().last().map(|entry| entry.id.clone()),
    };
    let mut append = |draft: &Draft, stamp: Stamp| {
        let mut writer = Writer::open(&path, durability(app))?;
        let id = writer.append(draft, stamp)?;
        writer.end_turn()?;
        Ok(id)
    };
    let turn = turn(&work.live, compacted.splits_turn);
    let job = Job {
        draft: &compacted.draft,
        occasion: occasion(app, Saved::Compaction, work.tokens, &work.window, turn),
        append: &mut append,
    };
    let mut live = work.live.clone();
    let carried = materials.with(|putting| {
        saving
            .sequence(app)
            .carry_out(&mut live, intent, job, putting, &mut |event| {
                tell(app, &event);
            })
    })?;
    drop(lock);
    own_write::remember(app, &path);
    remember(app, &work, |state| {
        state
            .breaker
            .finished(work.tokens, compacted.tokens_after, breaker);
    });
    report(app, &work, layer, &compacted, &carried)
}

/// Keeps other processes from compacting the session, unless one did so since
/// it was opened. Messages that came meanwhile do no harm: they follow the
/// boundary.
fn lock_unchanged(app: &App, saving: &Saving, work: &Work) -> Result<Option<Lock>, Failure> {
    let lock = saving.lock(app)?;
    let boundary = |loaded: &Loaded| loaded.compaction().map(|(entry, _)| entry.id.clone());
    let now = Session::open_ref(work.session.reference())?.load()?;
    if boundary(&now) != boundary(work.live.loaded()) {
        return Err(
            Failure::blocked("another process compacted this session meanwhile")
                .help("`longhaul context history` shows what it did"),
        );
    }
    Ok(lock)
}

/// Completes what an earlier process left; says what it had meant to do.
fn recover(app: &App, saving: &Saving, work: &Work, materials: &mut Materials) -> Option<Intent> {
    let written: HashSet<EntryId> = materials.entries();
    let recovered = materials.with(|putting| {
        let is_written = |id: &EntryId| written.contains(id);
        saving
            .sequence(app)
            .recover(&work.live, &is_written, putting, &mut |event| {
                tell(app, &event);
            })
    });
    match recovered {
        Ok(pending) => pending,
        Err(error) => {
            tell(app, &error.event());
            None
        }
    }
}

/// Everything that can be recalled: what is in the file and in its archive.
fn stored(session: &Session, mut ids: HashSet<EntryId>) -> Result<HashSet<EntryId>, Failure> {
    if session.format().is_writable() {
        each_archived(session.path(), &mut |entry| {
            ids.insert(entry.id);
            ControlFlow::Continue(())
        })?;
    }
    Ok(ids)
}

fn open(app: &App, session: Session) -> Result<Work, Failure> {
    let config = &app.config.config;
    let live = Live::open_with(&session, config.state_capture())?
        .noting_secrets(config, &Saving::of(app, &session).notebook);
    let mut meter = app.meter();
    let context = live.context();
    let reading = meter.context(live.loaded(), &context);
    let (window, _) = app.window_in(&session, &reading)?;
    let counted: Tokens = reading.per_message.iter().copied().sum();
    Ok(Work {
        overhead: reading.measurement.tokens - counted,
        tokens: reading.measurement.tokens,
        unasked: reading.unasked_note(),
        prices: app.prices(reading.provider.as_deref(), reading.model.as_deref()),
        trigger: Trigger::Manual,
        session,
        live,
        meter,
        window,
    })
}

/// The tail that a layer protects, fitted to the window.
pub(crate) fn protected(app: &App, layer: Layer, window: &Window) -> Tokens {
    use longhaul_engine::config::Layer as Configured;
    let configured = match layer {
        Layer::Prune => Configured::Prune,
        Layer::Summarize | Layer::Emergency => Configured::Summarize,
        Layer::Full => Configured::Full,
    };
    window.scaled(app.config.config.protected_tail(configured))
}

/// Changes what the engine remembers about a session; a failure to write it
/// does not undo what was done.
fn remember(app: &App, work: &Work, change: impl FnOnce(&mut SessionState)) {
    let key = key_of(&work.session);
    let (mut state, damage) = SessionState::load(&app.state_dir, &key);
    if let Some(damage) = damage {
        app.note(&format!("note: {damage}"));
    }
    let before = state.clone();
    change(&mut state);
    if state != before
        && let Err(error) = state.save(&app.state_dir)
    {
        app.note_once(&format!("note: {error}"));
    }
}

/// What a session's state goes by.
pub(super) fn key_of(session: &Session) -> String {
    session
        .reference()
        .key
        .clone()
        .unwrap_or_else(|| session.header().id.clone())
}

fn preview(app: &App, work: &Work, layer: Layer, compacted: &Compacted) -> Result<(), Failure> {
    if app.json {
        return out::json(&compacted_json(work, layer, compacted, None));
    }
    say!("{}", heading(app, &work.session))?;
    numbers(app, work, layer, compacted)?;
    paint::row(
        "Cost",
        match pays_after(work, compacted) {
            Some(turns) if turns < 1000.0 => {
                format!(
                    "pays for itself after {turns:.1} requests (cache rewritten once, no model call)"
                )
            }
            _ => "does not pay for itself".to_owned(),
        },
    )?;
    app.note("nothing was changed; without --dry-run it is done");
    Ok(())
}

/// Requests after which the rewritten cache is paid back.
fn pays_after(work: &Work, compacted: &Compacted) -> Option<f64> {
    let ratio = f64::from(compacted.tokens_after.0) / f64::from(work.tokens.0.max(1));
    let prices = &work.prices;
    prices.compaction_pays_after(ratio, Summarizer::Mechanical)
}

fn numbers(app: &App, work: &Work, layer: Layer, compacted: &Compacted) -> Result<(), Failure> {
    paint::row("Layer", layer)?;
    paint::row(
        "Tokens",
        format!(
            "{} → {} of {} ({:.0} % → {:.0} %)",
            work.tokens,
            compacted.tokens_after,
            work.window.size(),
            work.window.fullness(work.tokens) * 100.0,
            work.window.fullness(compacted.tokens_after) * 100.0
        ),
    )?;
    let span = match &compacted.removed.span {
        Some((first, last)) => format!(", entries {first} to {last}"),
        None => String::new(),
    };
    paint::row(
        "Leaves",
        format!(
            "{} messages ({} tokens){span}",
            paint::number(compacted.removed.messages as u64),
            compacted.removed.tokens
        ),
    )?;
    let split = if compacted.splits_turn {
        "; the current turn is divided"
    } else {
        ""
    };
    paint::row(
        "Stays",
        format!("{} messages verbatim{split}", compacted.kept_messages),
    )?;
    paint::row("Fidelity", &compacted.fidelity)?;
    paint::row("Summarizer", &compacted.summarizer)?;
    for note in &compacted.notes {
        app.note(&format!("note: {note}"));
    }
    Ok(())
}

/// The answer for a compaction; without an entry, for one that was only tried.
fn compacted_json(
    work: &Work,
    layer: Layer,
    compacted: &Compacted,
    carried: Option<&Carried>,
) -> serde_json::Value {
    let entry = carried.map(|carried| &carried.entry);
    let restored: Vec<RestoredFragment> = carried
        .into_iter()
        .flat_map(|carried| carried.restored.fragments.iter().map(RestoredFragment::of))
        .collect();
    let span = compacted.removed.span.as_ref();
    let summary = match &compacted.draft {
        Draft::Compaction { summary, .. } => summary.as_str(),
        _ => "",
    };
    json!({
        "session": answer::session(&work.session),
        "dryRun": entry.is_none(),
        "entry": entry.map(EntryId::as_str),
        "layer": layer,
        "trigger": work.trigger,
        "checkpoint": carried.and_then(|carried| carried.checkpoint).map(|id| id.to_string()),
        "epoch": work.live.epoch() + 1,
        "window": work.window.size(),
        "tokensBefore": work.tokens,
        "tokensAfter": compacted.tokens_after,
        "messagesCompacted": compacted.removed.messages,
        "tokensCompacted": compacted.removed.tokens,
        "firstCompacted": span.map(|(first, _)| first.as_str()),
        "lastCompacted": span.map(|(_, last)| last.as_str()),
        "messagesKept": compacted.kept_messages,
        "splitsTurn": compacted.splits_turn,
        "paysAfterTurns": pays_after(work, compacted),
        "summarizer": compacted.summarizer,
        "fidelity": compacted.fidelity,
        "notes": compacted.notes,
        "restored": restored,
        "summary": summary,
    })
}

fn report(
    app: &App,
    work: &Work,
    layer: Layer,
    compacted: &Compacted,
    carried: &Carried,
) -> Result<(), Failure> {
    if app.json {
        return out::json(&compacted_json(work, layer, compacted, Some(carried)));
    }
    say!("{}", heading(app, &work.session))?;
    numbers(app, work, layer, compacted)?;
    if let Some(checkpoint) = carried.checkpoint {
        paint::row("Checkpoint", checkpoint)?;
    }
    let restored: Vec<String> = carried
        .restored
        .fragments
        .iter()
        .map(|fragment| format!("{} {}", fragment.kind(), fragment.tokens()))
        .collect();
    if !restored.is_empty() {
        paint::row("Puts back", format!("{} tokens", restored.join(", ")))?;
    }
    for problem in &carried.restored.problems {
        app.note(&format!("note: {problem}"));
    }
    app.note("`longhaul compact --undo` takes it back; `longhaul recall` brings details back");
    Ok(())
}

/// Hides tool output; without a file to write to, says what would be hidden.
fn prune(
    app: &App,
    args: &CompactArgs,
    work: &mut Work,
    path: Option<&Path>,
    saving: &Saving,
) -> Result<(), Failure> {
    let settings = app.prune_settings(&work.window);
    let Some(pruned) = work.live.prune(&mut work.meter, &settings, work.overhead) else {
        return Err(Failure::nothing(format!(
            "Nothing worth pruning: less than {} tokens of tool output would come free.",
            settings.minimum
        )));
    };
    let after = work.tokens - pruned.freed;
    let Some(path) = path else {
        return pruned_report(app, work, &pruned, after, (None, None));
    };
    let question = format!(
        "Hide {} tool results ({} to {after} tokens)?",
        pruned.results, work.tokens
    );
    if !app.confirm(&question, args.yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let _lock = lock_unchanged(app, saving, work)?;
    let checkpoint = save(app, work, saving);
    let drafts: Vec<_> = pruned
        .drafts
        .iter()
        .map(|draft| (draft.clone(), app.stamp()))
        .collect();
    let mut writer = Writer::open(path, durability(app))?;
    let ids = writer.append_all(&drafts)?;
    writer.end_turn()?;
    own_write::remember(app, path);
    pruned_report(app, work, &pruned, after, (ids.last(), checkpoint))
}

/// Saves the work before something is hidden from the context.
fn save(app: &App, work: &Work, saving: &Saving) -> Option<CheckpointId> {
    if !app.config.config.writes_checkpoints() {
        return None;
    }
    let occasion = occasion(
        app,
        Saved::Compaction,
        work.tokens,
        &work.window,
        Turn::Whole,
    );
    let written = saving
        .checkpoints()
        .write(&work.live, &occasion, &mut |event| tell(app, &event));
    written.inspect_err(|error| tell(app, &error.event())).ok()
}

fn pruned_report(
    app: &App,
    work: &Work,
    pruned: &Pruned,
    after: Tokens,
    (mark, checkpoint): (Option<&EntryId>, Option<CheckpointId>),
) -> Result<(), Failure> {
    if app.json {
        return out::json(&json!({
            "session": answer::session(&work.session),
            "dryRun": mark.is_none(),
            "entry": mark.map(EntryId::as_str),
            "layer": Layer::Prune,
            "trigger": Trigger::Manual,
            "checkpoint": checkpoint.map(|id| id.to_string()),
            "results": pruned.results,
            "window": work.window.size(),
            "tokensBefore": work.tokens,
            "tokensAfter": after,
        }));
    }
    say!("{}", heading(app, &work.session))?;
    paint::row("Layer", Layer::Prune)?;
    paint::row(
        "Tokens",
        format!(
            "{} → {after} of {} ({:.0} % → {:.0} %)",
            work.tokens,
            work.window.size(),
            work.window.fullness(work.tokens) * 100.0,
            work.window.fullness(after) * 100.0
        ),
    )?;
    paint::row(
        "Hides",
        format!(
            "{} tool results; `longhaul recall ID` brings each back",
            pruned.results
        ),
    )?;
    if let Some(checkpoint) = checkpoint {
        paint::row("Checkpoint", checkpoint)?;
    }
    app.note(match mark {
        None => "nothing was changed; without --dry-run it is done",
        Some(_) => "`longhaul compact --undo` takes it back",
    });
    Ok(())
}

fn again(app: &App, args: &CompactArgs) -> Result<(), Failure> {
    let session = resolve::session_to_write(app, args.which.name())?;
    let path = writable(app, &session, args.leave)?;
    let live = Live::open_with(&session, app.config.config.state_capture())?;
    let plan: Again = if args.undo {
        live.undo(|| app.stamp(), &|id| find(&session, id))
    } else {
        live.redo(|| app.stamp())
    }
    .map_err(|failure| match failure {
        UndoFailure::NothingToUndo => Failure::nothing("There is no compaction to undo."),
        UndoFailure::NothingToRedo => Failure::nothing("There is no undo to take back."),
        UndoFailure::Missing(_) => archived(&failure.to_string()),
    })?;
    if args.undo
        && let Some(Some(parent)) = &plan.branch
        && has_archive(&path)
        && !is_whole(&session.load_at(parent)?)
    {
        let what = format!(
            "what compaction {} removed lies in the archive",
            plan.subject
        );
        return Err(archived(&what));
    }
    let verb = if args.undo { "Take back" } else { "Do again" };
    if !app.confirm(&format!("{verb} compaction {}?", plan.subject), args.yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let mut writer = Writer::open(&path, durability(app))?;
    if let Some(branch) = plan.branch {
        writer.branch(branch);
    }
    let ids = writer.append_all(&plan.drafts)?;
    writer.end_turn()?;
    own_write::remember(app, &path);
    // It is done, whether or not it can be measured.
    let now = Session::open_ref(session.reference())
        .map_err(Failure::from)
        .and_then(|session| open(app, session))
        .ok();
    if app.json {
        return out::json(&json!({
            "session": answer::session(&session),
            "compaction": plan.subject.as_str(),
            "entries": ids.iter().map(EntryId::as_str).collect::<Vec<_>>(),
            "tokens": now.as_ref().map(|now| now.tokens),
            "window": now.as_ref().map(|now| now.window.size()),
        }));
    }
    say!(
        "{} {}; nothing was removed from the file",
        if args.undo { "took back" } else { "did again" },
        plan.subject
    )?;
    let Some(Work { tokens, window, .. }) = now else {
        return Ok(());
    };
    paint::row(
        "Tokens",
        format!(
            "{tokens} of {} ({:.0} %)",
            window.size(),
            window.fullness(tokens) * 100.0
        ),
    )?;
    if tokens >= window.hard() {
        let way_out = if args.undo { "--redo" } else { "--undo" };
        app.note(&format!(
            "note: that is beyond the hard limit of {} tokens; `longhaul compact` makes room, \
            `longhaul compact {way_out}` goes back",
            window.hard()
        ));
    }
    Ok(())
}

fn archived(what: &str) -> Failure {
    Failure::new(what).help("`longhaul session restore` puts it back; then it can be undone")
}

/// Whether a part of a session was moved away.
pub(super) fn has_archive(path: &Path) -> bool {
    [Packing::Plain, Packing::Zstd]
        .iter()
        .any(|packing| archive_path(path, *packing).exists())
}

/// Whether a context of a session with an archive has its beginning: what it
/// starts from is a boundary, and all that the boundary keeps is there.
pub(super) fn is_whole(loaded: &Loaded) -> bool {
    match loaded.compaction() {
        None => false,
        Some((_, compaction)) => match &compaction.boundary {
            Boundary::FirstKept(first) => loaded.entries.iter().any(|entry| entry.id == *first),
            _ => true,
        },
    }
}

fn find(session: &Session, id: &EntryId) -> Option<Entry> {
    let mut found = None;
    let mut take = |entry: Entry| {
        if entry.id == *id {
            found = Some(entry);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let _ = session.each(&mut take);
    found
}

fn reset_breaker(app: &App, args: &CompactArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.which.name())?;
    let (mut state, damage) = SessionState::load(&app.state_dir, &key_of(&session));
    if let Some(damage) = damage {
        app.note(&format!("note: {damage}"));
    }
    if state.breaker.failures == 0 {
        return Err(Failure::nothing(
            "The breaker is closed; there were no failures.",
        ));
    }
    state.breaker.reset();
    state.save(&app.state_dir)?;
    if app.json {
        return out::json(&json!({ "session": answer::session(&session), "breaker": "closed" }));
    }
    say!("The breaker is closed; compaction may be tried again.")
}
