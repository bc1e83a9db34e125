//! `compact`: make room, now, and prove what was kept.

use futures::executor::block_on;
use longhaul_checkpoint::{CheckpointId, Trigger as Saved};
use longhaul_compaction::compact::CompactionFailure;
use longhaul_compaction::cost::{Prices, Summarizer};
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::Error;
use longhaul_engine::compactor::{AtRest, Bench, Compactor, Made, Outcome, Resting, Site};
use longhaul_engine::event::RestoredFragment;
use longhaul_engine::live::{Live, Pruned};
use longhaul_engine::measure::Reading;
use longhaul_engine::state::SessionState;
use longhaul_server::again::{self, Way};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{EntryId, Session};

use super::change::{durability, to_change};
use super::measured::heading;
use super::models::{self, Waiting};
use super::saving::{Saving, read_only, tell, workspace};
use crate::args::CompactArgs;
use crate::prelude::*;

/// A session that was opened, and what is said about it.
struct Opened {
    bench: Bench,
    reading: Reading,
}

/// What every answer of the command says.
struct About<'a> {
    app: &'a App,
    session: &'a Session,
    window: &'a Window,
    prices: Prices,
    layer: Layer,
    trigger: Trigger,
    before: Tokens,
}

pub(crate) fn run(app: &App, args: &CompactArgs) -> Result {
    if args.reset_breaker {
        return reset_breaker(app, args);
    }
    if args.undo || args.redo {
        return take_back(app, args);
    }
    let config = &app.config;
    if config.sandbox.read_only && !args.dry_run {
        return Err(read_only());
    }
    let session = match args.dry_run {
        true => resolve::session(app, args.which.name())?,
        false => to_change(app, args.which.name(), args.leave)?.0,
    };
    // First what takes in most of the file, so that it is read once.
    let Opened { bench, reading } = open(app, &session)?;
    let window = bench.window;
    let unasked = reading.unasked_note();
    let waiting = models::waiting(app, Some(&reading))?;
    let prices = app.prices(reading.provider.as_deref(), reading.model.as_deref());
    let found = workspace(app, &session);
    let mut site = AtRest::new(Resting {
        stored: &session,
        bench,
        reading: &reading,
        config,
        state_dir: &app.state_dir,
        durability: durability(app),
        summaries: waiting.as_ref().map(Waiting::model),
        stamp: Box::new(|| app.stamp()),
        workspace: found.as_ref().map(|found| found.root().to_owned()),
        found,
        now: Box::new(|| app.zoned()),
        sink: Box::new(|event| tell(&event)),
    });
    let mut pending = None;
    if !args.dry_run && Saving::of(app, &session).intent(app).is_some() {
        let lock = site.lock().map_err(blocked)?;
        pending = Compactor::at(&mut site).recover();
        drop(lock);
    }
    // Asked for nothing in particular, it goes on with what was meant.
    let pending = pending.filter(|_| args.layer.is_none() && args.focus.is_none());
    let layer = match (args.layer, &pending) {
        (Some(layer), _) => layer.into(),
        (None, Some(pending)) => pending.layer,
        (None, None) => Layer::Summarize,
    };
    let focus = args.focus.clone();
    let focus = focus.or_else(|| pending.as_ref()?.focus.clone());
    let focus = focus.as_deref();
    let trigger = pending.map_or(Trigger::Manual, |pending| pending.trigger);
    let size = site.size();
    let about = About {
        app,
        session: &session,
        window: &window,
        prices,
        layer,
        trigger,
        before: size.tokens,
    };
    if layer == Layer::Prune {
        return prune(&about, args, &mut site);
    }
    let mut compactor = Compactor::at(&mut site);
    let previewed = compactor.preview(layer, focus).map_err(blocked)?;
    let previewed = match previewed {
        Ok(previewed) => previewed,
        Err(CompactionFailure::NothingToDo) => {
            if let Some(note) = &unasked {
                note!("note: {note}");
            }
            let protect = window.scaled(config.protected_tail(layer));
            return Err(nothing!(
                "Nothing to compact: the context has {} tokens, and the last {} stay verbatim.",
                about.before,
                protect.min(about.before)
            ));
        }
        Err(why @ CompactionFailure::Grows { .. }) => return Err(grows(&why)),
        Err(failure) if args.dry_run => return Err(Failure::new(failure.to_string())),
        // It counts as an attempt, and is told as one.
        Err(_) => {
            let tried = block_on(compactor.layer(layer, trigger, focus, size));
            return Err(match tried.map_err(blocked)? {
                Outcome::Refused(why) => grows(&why),
                Outcome::Failed(reason) => Failure::new(reason),
                _ => Failure::new("the session changed while it was looked at"),
            });
        }
    };
    if args.dry_run {
        return preview(&about, previewed, waiting.as_ref());
    }
    let question = format!(
        "Compact {} messages into a summary ({} to {} tokens)?",
        previewed.removed.messages, about.before, previewed.event.tokens_after
    );
    app.confirm(&question, args.yes)?;
    let inside = waiting.as_ref().map(Waiting::enter);
    let made = block_on(compactor.layer(layer, trigger, focus, size));
    drop(inside);
    match made.map_err(blocked)? {
        Outcome::Made(made) => {
            app.last_writes().remember(session.path());
            report(&about, &made)
        }
        Outcome::Refused(why) => Err(grows(&why)),
        Outcome::Failed(reason) => Err(Failure::new(reason)),
        Outcome::Nothing | Outcome::Pruned(_) => Err(Failure::nothing("Nothing to compact.")),
    }
}

/// That it is better left alone.
fn grows(why: &CompactionFailure) -> Failure {
    nothing!("Nothing changed: {why}.")
}

/// Why nothing could be tried.
pub(super) fn blocked(error: Error) -> Failure {
    match error {
        Error::Transcript(error) => error.into(),
        Error::Busy(error) => error.into(),
        Error::Changed => {
            Failure::blocked(error.to_string()).help("`longhaul context history` shows what it did")
        }
        error => Failure::new(error.to_string()),
    }
}

fn open(app: &App, session: &Session) -> Result<Opened> {
    let config = &app.config;
    let live = Live::open_with(session, config.state_capture(), &app.keep(session))?;
    let mut meter = app.meter();
    let reading = meter.context(live.loaded(), &live.context());
    let (window, _) = app.window_in(session, &reading)?;
    let (mut bench, damage) = Bench::new(session, live, window, config, &app.state_dir);
    bench.meter = meter;
    damage.iter().for_each(tell);
    Ok(Opened { bench, reading })
}

impl About<'_> {
    /// Requests after which the rewritten cache is paid back.
    fn pays_after(&self, after: Tokens) -> Option<f64> {
        let ratio = f64::from(after.0) / f64::from(self.before.0.max(1));
        self.prices
            .compaction_pays_after(ratio, Summarizer::Mechanical)
    }

    fn tokens(&self, after: Tokens) -> Result {
        let (window, before) = (self.window, self.before);
        let (size, [from, to]) = (
            window.size(),
            [before, after].map(|at| window.fullness(at) * 100.0),
        );
        row!(
            "Tokens",
            "{before} → {after} of {size} ({from:.0} % → {to:.0} %)"
        )
    }
}

/// Says what would be done; no model is asked for that.
fn preview(about: &About<'_>, mut made: Made, waiting: Option<&Waiting>) -> Result {
    let app = about.app;
    let asks = waiting.map(Waiting::name);
    if let Some(name) = &asks {
        made.event.summarizer.clone_from(name);
    }
    if app.json {
        return out::json(&made_json(about, &made, None));
    }
    print(about, &made)?;
    let call = match &asks {
        Some(name) => format!("{name} asked for the summary"),
        None => "no model call".to_owned(),
    };
    let cost = match about.pays_after(made.event.tokens_after) {
        Some(turns) if turns < 1000.0 => {
            format!("pays for itself after {turns:.1} requests (cache rewritten once, {call})")
        }
        _ => "does not pay for itself".to_owned(),
    };
    out::row("Cost", cost)?;
    if let Some(name) = asks {
        note!(
            "{name} would write the prose and was not asked; the numbers are those of an \
             extracted summary"
        );
    }
    out::note("nothing was changed; without --dry-run it is done");
    Ok(())
}

fn report(about: &About<'_>, made: &Made) -> Result {
    let app = about.app;
    let event = &made.event;
    if app.json {
        return out::json(&made_json(about, made, Some(&event.entry)));
    }
    print(about, made)?;
    if !event.checkpoint.is_empty() {
        out::row("Checkpoint", &event.checkpoint)?;
    }
    let restored = made.restored.fragments.iter();
    let restored = restored.map(|one| format!("{} {}", one.kind(), one.tokens()));
    let restored: Vec<String> = restored.collect();
    if !restored.is_empty() {
        row!("Puts back", "{} tokens", restored.join(", "))?;
    }
    out::note("`longhaul compact --undo` takes it back; `longhaul recall` brings details back");
    Ok(())
}

fn print(about: &About<'_>, made: &Made) -> Result {
    let (event, removed) = (&made.event, &made.removed);
    say!("{}", heading(about.app, about.session))?;
    out::row("Layer", about.layer)?;
    about.tokens(event.tokens_after)?;
    let span = match &removed.span {
        Some((first, last)) => format!(", entries {first} to {last}"),
        None => String::new(),
    };
    let messages = paint::number(removed.messages as u64);
    let leaves = format!("{messages} messages ({} tokens){span}", removed.tokens);
    out::row("Leaves", leaves)?;
    let split = match event.splits_turn {
        true => "; the current turn is divided",
        false => "",
    };
    let stays = format!("{} messages verbatim{split}", event.messages_kept);
    out::row("Stays", stays)?;
    out::row("Fidelity", &event.fidelity)?;
    out::row("Summarizer", &event.summarizer)?;
    for note in &event.notes {
        note!("note: {note}");
    }
    Ok(())
}

/// The answer for a compaction; without an entry, for one that was only tried.
fn made_json(about: &About<'_>, made: &Made, entry: Option<&EntryId>) -> Value {
    let (event, removed) = (&made.event, &made.removed);
    let span = removed.span.as_ref();
    let restored = made.restored.fragments.iter();
    let restored: Vec<RestoredFragment> = restored.map(RestoredFragment::of).collect();
    let checkpoint = Some(&event.checkpoint).filter(|id| !id.is_empty());
    json!({
        "session": answer::session(about.app, about.session),
        "dryRun": entry.is_none(),
        "entry": entry.map(EntryId::as_str),
        "layer": about.layer,
        "trigger": about.trigger,
        "checkpoint": checkpoint,
        "epoch": event.epoch,
        "window": about.window.size(),
        "tokensBefore": about.before,
        "tokensAfter": event.tokens_after,
        "messagesCompacted": removed.messages,
        "tokensCompacted": removed.tokens,
        "firstCompacted": span.map(|(first, _)| first.as_str()),
        "lastCompacted": span.map(|(_, last)| last.as_str()),
        "messagesKept": event.messages_kept,
        "splitsTurn": event.splits_turn,
        "paysAfterTurns": about.pays_after(event.tokens_after),
        "summarizer": event.summarizer,
        "fidelity": event.fidelity,
        "notes": event.notes,
        "restored": restored,
        "summary": made.summary,
    })
}

/// Hides tool output, or says what would be hidden.
fn prune(about: &About<'_>, args: &CompactArgs, site: &mut AtRest<'_>) -> Result {
    let app = about.app;
    let settings = app.config.prune_settings(about.window);
    let size = site.size();
    let Some(pruned) = Compactor::at(site).prunable(&settings, size) else {
        return Err(nothing!(
            "Nothing worth pruning: less than {} tokens of tool output would come free.",
            settings.minimum
        ));
    };
    let after = about.before - pruned.freed;
    if args.dry_run {
        return pruned_report(about, &pruned, after, None, None);
    }
    let (results, before) = (pruned.results, about.before);
    let question = format!("Hide {results} tool results ({before} to {after} tokens)?");
    app.confirm(&question, args.yes)?;
    let _lock = site.lock().map_err(blocked)?;
    let mut compactor = Compactor::at(site);
    let checkpoint = match app.config.writes_checkpoints() {
        true => compactor.checkpoint(Saved::Compaction, about.before),
        false => None,
    };
    compactor.prune(size).map_err(blocked)?;
    app.last_writes().remember(about.session.path());
    let entries = site.bench().live.entries();
    let mark = entries.last().map(|entry| entry.id.clone());
    pruned_report(about, &pruned, after, mark.as_ref(), checkpoint)
}

fn pruned_report(
    about: &About<'_>,
    pruned: &Pruned,
    after: Tokens,
    mark: Option<&EntryId>,
    checkpoint: Option<CheckpointId>,
) -> Result {
    let app = about.app;
    if app.json {
        return out::json(&json!({
            "session": answer::session(about.app, about.session),
            "dryRun": mark.is_none(),
            "entry": mark.map(EntryId::as_str),
            "layer": Layer::Prune,
            "trigger": Trigger::Manual,
            "checkpoint": checkpoint.map(|id| id.to_string()),
            "results": pruned.results,
            "window": about.window.size(),
            "tokensBefore": about.before,
            "tokensAfter": after,
        }));
    }
    say!("{}", heading(app, about.session))?;
    out::row("Layer", Layer::Prune)?;
    about.tokens(after)?;
    let results = pruned.results;
    row!(
        "Hides",
        "{results} tool results; `longhaul recall ID` brings each back"
    )?;
    if let Some(checkpoint) = checkpoint {
        out::row("Checkpoint", checkpoint)?;
    }
    out::note(match mark {
        None => "nothing was changed; without --dry-run it is done",
        Some(_) => "`longhaul compact --undo` takes it back",
    });
    Ok(())
}

fn take_back(app: &App, args: &CompactArgs) -> Result {
    let (session, _) = to_change(app, args.which.name(), args.leave)?;
    let way = if args.undo { Way::Undo } else { Way::Redo };
    let plan = again::plan(&session, &app.config, &app.keep(&session), way, || {
        app.stamp()
    });
    let plan = plan.map_err(|failure| match failure {
        again::Failure::Unread(error) => error.into(),
        again::Failure::Nothing(_) if args.undo => {
            Failure::nothing("There is no compaction to undo.")
        }
        again::Failure::Nothing(_) => Failure::nothing("There is no undo to take back."),
        again::Failure::Archived(_) => {
            Failure::new(failure.to_string()).help(failure.remedy().unwrap_or_default())
        }
    })?;
    let verb = if args.undo { "Take back" } else { "Do again" };
    app.confirm(&format!("{verb} compaction {}?", plan.subject), args.yes)?;
    let subject = plan.subject.clone();
    let ids = again::carry_out(plan, &session, durability(app))?;
    app.last_writes().remember(session.path());
    // It is done, whether or not it can be measured.
    let now = || open(app, &Session::open_ref(session.reference())?);
    let now = now().ok();
    let now = now.map(|now| (now.reading.measurement.tokens, now.bench.window));
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "compaction": subject.as_str(),
            "entries": ids.iter().map(EntryId::as_str).collect::<Vec<_>>(),
            "tokens": now.as_ref().map(|(tokens, _)| tokens),
            "window": now.as_ref().map(|(_, window)| window.size()),
        }));
    }
    let (done, way_out) = match args.undo {
        true => ("took back", "--redo"),
        false => ("did again", "--undo"),
    };
    say!("{done} {subject}; nothing was removed from the file")?;
    let Some((tokens, window)) = now else {
        return Ok(());
    };
    let (size, hard) = (window.size(), window.hard());
    row!(
        "Tokens",
        "{tokens} of {size} ({:.0} %)",
        window.fullness(tokens) * 100.0
    )?;
    if tokens >= hard {
        note!(
            "note: that is beyond the hard limit of {hard} tokens; `longhaul compact` makes room, \
            `longhaul compact {way_out}` goes back"
        );
    }
    Ok(())
}

fn reset_breaker(app: &App, args: &CompactArgs) -> Result {
    let session = resolve::session(app, args.which.name())?;
    let (mut state, damage) = SessionState::load(&app.state_dir, session.key());
    if let Some(damage) = damage {
        note!("note: {damage}");
    }
    if state.breaker.failures == 0 {
        return Err(Failure::nothing(
            "The breaker is closed; there were no failures.",
        ));
    }
    state.breaker.reset();
    state.save(&app.state_dir)?;
    let value = json!({ "session": answer::session(app, &session), "breaker": "closed" });
    app.answer(
        &value,
        "The breaker is closed; compaction may be tried again.",
    )
}
