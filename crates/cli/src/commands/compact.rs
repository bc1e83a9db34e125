//! `compact`: make room, now, and prove what was kept.

use std::ops::ControlFlow;

use longhaul_compaction::cost::{Prices, Summarizer};
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::live::{Again, Compacted, CompactionFailure, CompactionRequest, Live, Pruned};
use longhaul_engine::measure::Meter;
use longhaul_engine::state::SessionState;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Draft, Entry, EntryId, Session, Writer};
use serde_json::json;

use super::answer;
use super::change::{durability, writable};
use super::measured::heading;
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
    model: Option<String>,
}

pub(crate) fn run(app: &App, args: &CompactArgs) -> Result<(), Failure> {
    if args.reset_breaker {
        return reset_breaker(app, args);
    }
    if args.undo || args.redo {
        return again(app, args);
    }
    let session = if args.dry_run {
        resolve::session(app, args.which.name())?
    } else {
        resolve::session_to_write(app, args.which.name())?
    };
    let mut work = open(app, session)?;
    let layer = args.layer.map_or(Layer::Summarize, Layer::from);
    if layer == Layer::Prune {
        return prune(app, args, &mut work);
    }
    let protect = protected(app, layer, &work.window);
    let request = CompactionRequest {
        layer,
        trigger: Trigger::Manual,
        focus: args.focus.as_deref(),
        window: &work.window,
        protect,
        overhead: work.overhead,
        tokens_before: work.tokens,
    };
    let compacted = match work.live.compact(&mut work.meter, &request) {
        Ok(compacted) => compacted,
        Err(CompactionFailure::NothingToDo) => {
            return Err(Failure::nothing(format!(
                "Nothing to compact: the context has {} tokens, and the last {} stay verbatim.",
                work.tokens,
                protect.min(work.tokens)
            )));
        }
        Err(failure) => {
            remember(app, &work, |state| {
                state.breaker.failed(failure.to_string());
            });
            return Err(Failure::new(failure.to_string()));
        }
    };
    if args.dry_run {
        return preview(app, &work, layer, &compacted);
    }
    let path = writable(app, &work.session, args.leave)?;
    let question = format!(
        "Compact {} messages into a summary ({} to {} tokens)?",
        compacted.removed.messages, work.tokens, compacted.tokens_after
    );
    if !app.confirm(&question, args.yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let mut writer = Writer::open(&path, durability(app))?;
    let id = writer.append(&compacted.draft, app.stamp())?;
    writer.end_turn()?;
    own_write::remember(app, &path);
    remember(app, &work, |state| {
        state.breaker.finished(work.tokens, compacted.tokens_after);
    });
    report(app, &work, layer, &compacted, &id)
}

fn open(app: &App, session: Session) -> Result<Work, Failure> {
    let live = Live::open(&session)?;
    let mut meter = app.meter();
    let context = live.context();
    let reading = meter.context(live.loaded(), &context);
    let (window, _) = app.window_of(&reading)?;
    let counted: Tokens = reading.per_message.iter().copied().sum();
    Ok(Work {
        overhead: reading.measurement.tokens - counted,
        tokens: reading.measurement.tokens,
        model: reading.model,
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
    let tokens = app.config.config.protected_tail(configured);
    window.scaled(tokens.unwrap_or(Tokens(25_000)))
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
        app.note(&format!("note: {error}"));
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
    let prices = Prices::of_model(work.model.as_deref().unwrap_or_default());
    let ratio = f64::from(compacted.tokens_after.0) / f64::from(work.tokens.0.max(1));
    let pays_after = prices.compaction_pays_after(ratio, Summarizer::Mechanical);
    if app.json {
        let mut value = compacted_json(work, layer, compacted);
        value["dryRun"] = json!(true);
        value["paysAfterTurns"] = json!(pays_after);
        return out::json(&value);
    }
    say!("{}", heading(app, &work.session))?;
    numbers(app, work, layer, compacted)?;
    paint::row(
        "Cost",
        match pays_after {
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

fn compacted_json(work: &Work, layer: Layer, compacted: &Compacted) -> serde_json::Value {
    let summary = match &compacted.draft {
        Draft::Compaction { summary, .. } => summary.as_str(),
        _ => "",
    };
    json!({
        "session": answer::session(&work.session),
        "layer": layer,
        "trigger": Trigger::Manual,
        "epoch": work.live.epoch() + 1,
        "window": work.window.size(),
        "tokensBefore": work.tokens,
        "tokensAfter": compacted.tokens_after,
        "messagesCompacted": compacted.removed.messages,
        "messagesKept": compacted.kept_messages,
        "splitsTurn": compacted.splits_turn,
        "summarizer": compacted.summarizer,
        "fidelity": compacted.fidelity,
        "notes": compacted.notes,
        "summary": summary,
    })
}

fn report(
    app: &App,
    work: &Work,
    layer: Layer,
    compacted: &Compacted,
    id: &EntryId,
) -> Result<(), Failure> {
    if app.json {
        let mut value = compacted_json(work, layer, compacted);
        value["entry"] = json!(id.as_str());
        return out::json(&value);
    }
    say!("{}", heading(app, &work.session))?;
    numbers(app, work, layer, compacted)?;
    app.note("`longhaul compact --undo` takes it back; `longhaul recall` brings details back");
    Ok(())
}

fn prune(app: &App, args: &CompactArgs, work: &mut Work) -> Result<(), Failure> {
    let settings = app.prune_settings(&work.window);
    let Some(pruned) = work.live.prune(&mut work.meter, &settings, work.overhead) else {
        return Err(Failure::nothing(format!(
            "Nothing worth pruning: less than {} tokens of tool output would come free.",
            settings.minimum
        )));
    };
    let after = work.tokens - pruned.freed;
    if args.dry_run {
        return pruned_report(app, work, &pruned, after, None);
    }
    let path = writable(app, &work.session, args.leave)?;
    let question = format!(
        "Hide {} tool results ({} to {after} tokens)?",
        pruned.results, work.tokens
    );
    if !app.confirm(&question, args.yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let drafts: Vec<_> = pruned
        .drafts
        .iter()
        .map(|draft| (draft.clone(), app.stamp()))
        .collect();
    let mut writer = Writer::open(&path, durability(app))?;
    let ids = writer.append_all(&drafts)?;
    writer.end_turn()?;
    own_write::remember(app, &path);
    pruned_report(app, work, &pruned, after, ids.last())
}

fn pruned_report(
    app: &App,
    work: &Work,
    pruned: &Pruned,
    after: Tokens,
    mark: Option<&EntryId>,
) -> Result<(), Failure> {
    if app.json {
        return out::json(&json!({
            "session": answer::session(&work.session),
            "layer": Layer::Prune,
            "dryRun": mark.is_none(),
            "entry": mark.map(EntryId::as_str),
            "results": pruned.results,
            "tokensBefore": work.tokens,
            "tokensAfter": after,
        }));
    }
    say!("{}", heading(app, &work.session))?;
    paint::row("Layer", Layer::Prune)?;
    paint::row("Tokens", format!("{} → {after}", work.tokens))?;
    paint::row(
        "Hides",
        format!(
            "{} tool results; `longhaul recall ID` brings each back",
            pruned.results
        ),
    )?;
    if mark.is_none() {
        app.note("nothing was changed; without --dry-run it is done");
    }
    Ok(())
}

fn again(app: &App, args: &CompactArgs) -> Result<(), Failure> {
    let session = resolve::session_to_write(app, args.which.name())?;
    let path = writable(app, &session, args.leave)?;
    let live = Live::open(&session)?;
    let plan: Again = if args.undo {
        live.undo(|| app.stamp(), &|id| find(&session, id))
    } else {
        live.redo(|| app.stamp())
    }
    .map_err(|failure| Failure::nothing(format!("{failure}.")))?;
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
    if app.json {
        return out::json(&json!({
            "session": answer::session(&session),
            "compaction": plan.subject.as_str(),
            "entries": ids.iter().map(EntryId::as_str).collect::<Vec<_>>(),
        }));
    }
    say!(
        "{} {}; nothing was removed from the file",
        if args.undo { "took back" } else { "did again" },
        plan.subject
    )
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
    let (mut state, _) = SessionState::load(&app.state_dir, &key_of(&session));
    if state.breaker.failures == 0 {
        return Err(Failure::nothing(
            "The breaker is closed; there were no failures.",
        ));
    }
    state.breaker.reset();
    state.save(&app.state_dir)?;
    say!("The breaker is closed; compaction may be tried again.")
}
