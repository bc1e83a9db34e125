//! `context status` and `context show`: how full the window is, and with what.

use longhaul_checkpoint::CheckpointStore;
use longhaul_engine::checkpoints::Restoration;
use longhaul_engine::ours;
use longhaul_engine::standing::{Standing, Thresholds};
use longhaul_engine::state::SessionState;
use longhaul_tokens::Gauge;
use longhaul_transcript::{Block, ContextMessage, Millis, Role, json as stored};

use super::measured::{Measured, heading, measure, note_unasked, window_source};
use super::saving::{Saving, restored, tell};
use super::show::title;
use super::spending;
use super::{budget, diff, history, inspect, report_faults, transfer, windows};
use crate::args::{AutocompactArgs, ContextCommand, Which};
use crate::prelude::*;

pub(crate) fn run(app: &App, command: &ContextCommand) -> Result {
    match command {
        ContextCommand::Status { which } => status(app, which),
        ContextCommand::Show {
            which,
            at,
            assembled,
        } => match assembled {
            true => show_assembled(app, which, at.as_deref()),
            false => show(app, which, at.as_deref()),
        },
        ContextCommand::Inspect { which, top } => inspect::inspect(app, which, *top),
        ContextCommand::History { which } => history::history(app, which),
        ContextCommand::Diff(args) => diff::diff(app, args),
        ContextCommand::Autocompact(args) => autocompact(app, args),
        ContextCommand::Windows(args) => windows::windows(app, args),
        ContextCommand::Export(args) => transfer::export(app, args),
    }
}

/// Remembers whether thresholds may compact a session.
fn autocompact(app: &App, args: &AutocompactArgs) -> Result {
    let session = resolve::session(app, args.on.name())?;
    let key = session.key();
    let (mut state, damage) = SessionState::load(&app.state_dir, key);
    if let Some(damage) = damage {
        note!("note: {damage}");
    }
    let on = args.switch == "on";
    if state.autocompact == Some(on) {
        let word = &args.switch;
        return Err(nothing!("Automatic compaction is {word} already."));
    }
    state.autocompact = Some(on);
    state.save(&app.state_dir)?;
    let word = match on {
        true => "on",
        false => "off: only overflow and `longhaul compact` compact it",
    };
    let value = json!({ "session": answer::session(app, &session), "autocompact": on });
    app.answer(&value, format!("Automatic compaction of {key} is {word}."))
}

fn status(app: &App, which: &Which) -> Result {
    let measured = measure(app, which.name(), None)?;
    let mut standing = Standing::of(&measured, &app.config, &app.state_dir)?;
    // `--model` asks about another one than the session's.
    standing.window_source = window_source(app, &measured);
    if app.json {
        return out::json(&standing.to_json(&measured, model(app, &measured), &app.state_dir));
    }
    print_status(app, &measured, &standing)?;
    if let Some(spending) = &standing.spending {
        spending::print(spending)?;
    }
    for line in standing.brakes.lines() {
        out::row("Stopped", line)?;
    }
    out::row("Advice", &standing.advice)?;
    note_unasked(&measured);
    for event in &standing.troubles {
        tell(event);
    }
    if Saving::of(app, &measured.session).intent(app).is_some() {
        out::note("note: a compaction was interrupted; `longhaul compact` completes it");
    }
    report_faults(&measured.loaded.faults);
    Ok(())
}

fn print_status(app: &App, measured: &Measured, standing: &Standing) -> Result {
    let state = &standing.degradation;
    let loss_from = match standing.loss_measured {
        true => "% of the facts only by recall, measured",
        false => "% lost, by rule of thumb",
    };
    let tokens = measured.tokens();
    let window = &measured.window;
    say!("{}", heading(app, &measured.session))?;
    let colour = paint::level(measured.level());
    say!(
        "{} {}",
        colour.apply_to(paint::bar(window.fullness(tokens), 40)),
        colour.apply_to(format!("{:.1} %", measured.percent()))
    )?;
    let source = measured.reading.measurement.source;
    row!("Tokens", "{tokens} of {} ({source})", window.size())?;
    let model = paint::gist(model(app, measured).unwrap_or("unknown"), 60);
    out::row("Model", model)?;
    out::row("Window", window_source(app, measured))?;
    let census = measured.context.census();
    let [user, assistant, results, other] = [
        census.user,
        census.assistant,
        census.tool_results,
        census.other,
    ]
    .map(|count| paint::number(count as u64));
    row!(
        "Messages",
        "{user} user, {assistant} assistant, {results} tool results, {other} other"
    )?;
    let ago = |time| paint::ago(app.now(), time);
    let last = measured.loaded.last_compaction();
    let when = last.map_or(String::new(), |time| format!(" (last {})", ago(time)));
    row!("Compactions", "{}{when}", paint::epoch(standing.epoch))?;
    row!(
        "Risk",
        "{} ({} {loss_from})",
        paint::risk(state.risk).apply_to(state.risk),
        state.loss_percent
    )?;
    if let Some(checkpoint) = &standing.checkpoint {
        let time = Millis::parse_iso(&checkpoint.meta.created_at);
        let when = time.map_or(String::new(), |time| format!(" ({})", ago(time)));
        row!("Checkpoint", "{}{when}", checkpoint.meta.checkpoint_id)?;
    }
    out::row("Next", Thresholds::of(window).next(tokens))
}

fn model<'a>(app: &'a App, measured: &'a Measured) -> Option<&'a str> {
    let stated = measured
        .reading
        .model
        .as_deref()
        .filter(|model| !model.is_empty());
    app.model.as_deref().or(stated)
}

fn show(app: &App, which: &Which, at: Option<&str>) -> Result {
    let measured = measure(app, which.name(), at)?;
    let restored = restored(app, &measured, at)?;
    if app.json {
        return show_json(app, &measured, &restored);
    }
    let messages = measured.context.for_provider();
    for message in &messages {
        print_message(message)?;
    }
    let missing = match messages.iter().any(|message| message.role == Role::System) {
        true => "tool definitions are the agent's own and not in its file",
        false => "the system prompt and tools are the agent's own and not in its file",
    };
    note!(
        "{}, {} tokens ({}); {missing}",
        paint::plural(messages.len() as u64, "message"),
        measured.tokens(),
        measured.reading.measurement.source
    );
    if !restored.fragments.is_empty() {
        let parts = restored.fragments.iter();
        let parts: Vec<String> = parts
            .map(|fragment| format!("{} ({} tokens)", fragment.kind(), fragment.tokens()))
            .collect();
        note!(
            "an agent that runs with longhaul is also given: {}",
            parts.join(", ")
        );
    }
    report_faults(&measured.loaded.faults);
    Ok(())
}

/// The whole request: what the agent's program would add to the file's messages.
fn show_assembled(app: &App, which: &Which, at: Option<&str>) -> Result {
    let measured = measure(app, which.name(), at)?;
    let restored = restored(app, &measured, at)?;
    let layout = budget::lay_out(app, &measured, &restored)?;
    if app.json {
        let rest = json!({
            "breakpoints": layout.breakpoints,
            "dynamicFrom": layout.dynamic_from,
            "fingerprint": layout.fingerprint,
            "budget": layout.breakdown,
            "workspace": answer::path(&layout.workspace),
            "problems": budget::problems_json(&[&layout.problems[..], &restored.problems].concat())?,
            "session": answer::session(app, &measured.session),
        });
        let (rest, request) = (serde_json::to_string(&rest)?, &layout.json);
        // The request keeps its bytes, so the object is put together as text.
        return out::whole(&format!(
            "{},{}\n",
            &request[..request.len() - 1],
            &rest[1..]
        ));
    }
    say!("{}", style(ours::heading("system", "static")).cyan())?;
    out::whole(&format!("{}\n", layout.system))?;
    for message in &layout.messages {
        print_message(message)?;
    }
    note!(
        "{}, {} tokens by our count; tool definitions are the agent's own",
        paint::plural(layout.messages.len() as u64, "message"),
        layout.breakdown.total
    );
    if let Some(error) = &layout.over {
        note!("it would not be sent: {error}; {}", error.remedy());
    }
    budget::note_problems(&layout);
    for problem in &restored.problems {
        out::note_once(&format!("note: {problem}; {}", problem.remedy()));
    }
    report_faults(&measured.loaded.faults);
    Ok(())
}

/// The messages keep their stored bytes, so the object is put together as text.
fn show_json(app: &App, measured: &Measured, restored: &Restoration) -> Result {
    let saving = Saving::of(app, &measured.session);
    let latest = saving.store.latest(&saving.whose.key).unwrap_or_default();
    let checkpoint = saving
        .checkpoints()
        .note(latest.checkpoint.as_ref(), measured.loaded.epoch.count());
    let settings = &measured.loaded.settings;
    let rest = json!({
        "tokens": measured.tokens(),
        "tokensFrom": measured.reading.measurement.source.to_string(),
        "perMessage": measured.reading.per_message,
        "entries": measured.context.messages.iter().map(|m| m.entry.as_str()).collect::<Vec<_>>(),
        "window": measured.window.size(),
        "model": settings.model.as_ref().map(|model| &model.model_id),
        "provider": settings.model.as_ref().map(|model| &model.provider),
        "thinkingLevel": settings.thinking_level,
        "gauge": Gauge {
            used: measured.tokens(),
            window: &measured.window,
            checkpoint,
        }.line(),
        "restored": restored.fragments,
        "session": answer::session(app, &measured.session),
        "faults": answer::faults(&measured.loaded.faults),
    });
    let rest = serde_json::to_string(&rest)?;
    let messages = measured.context.to_json();
    out::whole(&format!("{{\"messages\":{messages},{}\n", &rest[1..]))
}

fn print_message(message: &ContextMessage) -> Result {
    let view = message.view();
    let heading = ours::heading(&title(&view), message.entry.as_str());
    say!("{}", style(paint::gist(&heading, 200)).cyan())?;
    // pi keeps its system prompt in named sections.
    if let Some(sections) = view.object().object("sections") {
        for (_, raw) in sections.iter() {
            if let Some(text) = stored::string(raw) {
                out::whole(&format!("{text}\n"))?;
            }
        }
    }
    for block in view.blocks() {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => out::whole(&format!("{text}\n"))?,
            Block::Thinking { text, .. } => {
                say!("{}", style(&text).dim().italic())?;
            }
            Block::Image { mime, base64_chars } => {
                let size = paint::bytes(base64_chars as u64 * 3 / 4);
                say!("[image {mime}, {size}]")?;
            }
            Block::Document { mime, base64 } => {
                let size = paint::bytes(base64.len() as u64 * 3 / 4);
                say!("[document {mime}, {size}]")?;
            }
            Block::ToolCall(call) => {
                say!("→ {} {}", style(&call.name).bold(), call.arguments)?;
            }
            Block::Other(raw) => out::whole(&format!("{raw}\n"))?,
        }
    }
    say!("")
}
