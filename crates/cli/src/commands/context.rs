//! `context …`: what is in the window, and what becomes of it.

use console::style;
use longhaul_compaction::Degradation;
use longhaul_engine::measure::{Parts, Reading};
use longhaul_tokens::{CheckpointNote, Gauge, Level, ResolvedWindow, Tokens, Window};
use longhaul_transcript::{
    Block, Body, Context, ContextMessage, Entry, Epoch, Loaded, MessageView, Role, Session,
};
use serde_json::{Value, json};

use super::session::session_json;
use super::{print_json, report_faults};
use crate::app::App;
use crate::args::{ContextCommand, Which};
use crate::failure::Failure;
use crate::{paint, resolve};

pub(crate) fn run(app: &App, command: &ContextCommand) -> Result<(), Failure> {
    match command {
        ContextCommand::Status { which } => status(app, which),
        ContextCommand::Show { which, at } => show(app, which, at.as_deref()),
        ContextCommand::Inspect { which, top } => inspect(app, which, *top),
        ContextCommand::History { which } => history(app, which),
    }
}

/// A session with its context measured.
struct Measured {
    session: Session,
    loaded: Loaded,
    context: Context,
    reading: Reading,
    window: Window,
    origin: ResolvedWindow,
}

fn measure(app: &App, name: Option<&str>, at: Option<&str>) -> Result<Measured, Failure> {
    let session = resolve::session(app, name)?;
    let loaded = match at {
        Some(at) => {
            let id = resolve::entry(&session.tree()?, &session, at)?;
            session.load_at(&id)?
        }
        None => session.load()?,
    };
    let context = Context::build(&loaded);
    let reading = app.meter().context(&loaded, &context);
    let (window, origin) = app.window_of(&reading)?;
    Ok(Measured {
        session,
        loaded,
        context,
        reading,
        window,
        origin,
    })
}

impl Measured {
    fn tokens(&self) -> Tokens {
        self.reading.measurement.tokens
    }

    /// Compactions on the path, counted through the whole file unless it is
    /// so large that nobody would wait for it.
    fn epoch(&self) -> Result<Epoch, Failure> {
        const COUNTED_UP_TO: u64 = 256 * 1024 * 1024;
        let size = std::fs::metadata(self.session.path()).map_or(0, |meta| meta.len());
        if self.loaded.epoch.is_exact() || size > COUNTED_UP_TO {
            return Ok(self.loaded.epoch);
        }
        Ok(Epoch::Exact(compactions(&self.session)?.len() as u32))
    }
}

fn status(app: &App, which: &Which) -> Result<(), Failure> {
    let measured = measure(app, which.name(), None)?;
    let epoch = measured.epoch()?;
    let state = Degradation::of(epoch.count(), None);
    let tokens = measured.tokens();
    let window = &measured.window;
    let last = measured.loaded.last_compaction();
    if app.json {
        return print_json(&json!({
            "session": session_json(&measured.session),
            "tokens": tokens,
            "tokensFrom": measured.reading.measurement.source.to_string(),
            "window": window.size(),
            "windowFrom": measured.origin.origin.to_string(),
            "percent": percent(window, tokens),
            "level": level_name(window.level(tokens)),
            "model": measured.reading.model,
            "messages": measured.context.census(),
            "compactions": epoch,
            "lastCompaction": last.map(|time| time.to_iso()),
            "risk": state.risk,
            "lossPercent": state.loss_percent,
            "recommendation": state.recommendation,
            "thresholds": thresholds_json(window),
            "faults": measured.loaded.faults,
        }));
    }
    println!("{}", heading(app, &measured.session));
    let colour = paint::level(window.level(tokens));
    println!(
        "{} {}",
        colour.apply_to(paint::bar(window.fullness(tokens), 40)),
        colour.apply_to(format!("{:.1} %", percent(window, tokens)))
    );
    paint::row(
        "Tokens",
        format!(
            "{tokens} of {} ({})",
            window.size(),
            measured.reading.measurement.source
        ),
    );
    paint::row(
        "Model",
        format!(
            "{} (window: {})",
            measured.reading.model.as_deref().unwrap_or("unknown"),
            measured.origin.origin
        ),
    );
    let census = measured.context.census();
    paint::row(
        "Messages",
        format!(
            "{} user, {} assistant, {} tool results, {} other",
            census.user, census.assistant, census.tool_results, census.other
        ),
    );
    let when = last.map_or(String::new(), |time| {
        format!(" (last {})", paint::ago(app.now(), time))
    });
    paint::row("Compactions", format!("{}{when}", paint::epoch(epoch)));
    paint::row(
        "Risk",
        format!(
            "{} ({} % lost, by rule of thumb)",
            paint::risk(state.risk).apply_to(state.risk),
            state.loss_percent
        ),
    );
    paint::row("Next", next_threshold(window, tokens));
    paint::row("Advice", &state.recommendation);
    report_faults(app, &measured.loaded.faults);
    Ok(())
}

fn percent(window: &Window, tokens: Tokens) -> f64 {
    (window.fullness(tokens) * 1000.0).round() / 10.0
}

fn heading(app: &App, session: &Session) -> String {
    let place = session
        .header()
        .cwd
        .as_ref()
        .map(|cwd| format!(" in {}", app.show_path(cwd)))
        .unwrap_or_default();
    let name = session
        .reference()
        .key
        .clone()
        .unwrap_or_else(|| session.header().id.clone());
    format!("{} {}{place}", style(session.format().agent()).bold(), name)
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Calm => "calm",
        Level::Gauge => "gauge",
        Level::Checkpoint => "checkpoint",
        Level::Activation => "activation",
        Level::Hard => "hard",
        Level::Full => "full",
    }
}

fn next_threshold(window: &Window, tokens: Tokens) -> String {
    let steps = [
        ("the gauge appears", window.gauge()),
        ("a checkpoint is due", window.checkpoint()),
        ("compaction is due", window.activation()),
        ("no request may leave", window.hard()),
    ];
    match steps.iter().find(|(_, at)| tokens < *at) {
        Some((what, at)) => format!("{what} at {at}, {} from here", *at - tokens),
        None => "past every threshold: compact before the next request".into(),
    }
}

fn thresholds_json(window: &Window) -> Value {
    json!({
        "gauge": window.gauge(),
        "checkpoint": window.checkpoint(),
        "prune": window.prune(),
        "activation": window.activation(),
        "hard": window.hard(),
        "full": window.full(),
    })
}

fn show(app: &App, which: &Which, at: Option<&str>) -> Result<(), Failure> {
    let measured = measure(app, which.name(), at)?;
    if app.json {
        return show_json(&measured);
    }
    for message in measured.context.for_model() {
        print_message(&message);
    }
    let count = measured.context.messages.len();
    app.note(&format!(
        "{count} messages, {} tokens ({}); the system prompt and tools are the agent's own and not in its file",
        measured.tokens(),
        measured.reading.measurement.source
    ));
    report_faults(app, &measured.loaded.faults);
    Ok(())
}

/// The messages keep their stored bytes, so the object is put together as text.
fn show_json(measured: &Measured) -> Result<(), Failure> {
    let rest = json!({
        "tokens": measured.tokens(),
        "tokensFrom": measured.reading.measurement.source.to_string(),
        "perMessage": measured.reading.per_message,
        "entries": measured.context.messages.iter().map(|m| m.entry.as_str()).collect::<Vec<_>>(),
        "window": measured.window.size(),
        "model": measured.loaded.settings.model,
        "thinkingLevel": measured.loaded.settings.thinking_level,
        "gauge": Gauge {
            used: measured.tokens(),
            window: &measured.window,
            checkpoint: CheckpointNote::None,
        }.line(),
        "session": session_json(&measured.session),
        "faults": measured.loaded.faults,
    });
    let rest = serde_json::to_string(&rest)?;
    println!("{{\"messages\":{},{}", measured.context.to_json(), &rest[1..]);
    Ok(())
}

fn print_message(message: &ContextMessage) {
    let view = message.view();
    println!("{}", style(format!("── {} · {}", title(&view), message.entry)).cyan());
    for block in view.blocks() {
        match block {
            Block::Text(text) => println!("{text}"),
            Block::Thinking { text, .. } => println!("{}", style(text).dim().italic()),
            Block::Image { mime, base64_chars } => {
                println!("[image {mime}, {}]", paint::bytes(base64_chars as u64 * 3 / 4));
            }
            Block::ToolCall(call) => println!("→ {} {}", style(&call.name).bold(), call.arguments),
            Block::Other(raw) => println!("{raw}"),
        }
    }
    println!();
}

fn title(view: &MessageView<'_>) -> String {
    match view.role {
        Role::ToolResult => {
            let mark = if view.is_error() { ", failed" } else { "" };
            format!("result of {}{mark}", view.tool_name().unwrap_or_default())
        }
        ref role => role.to_string(),
    }
}

fn inspect(app: &App, which: &Which, top: usize) -> Result<(), Failure> {
    let measured = measure(app, which.name(), None)?;
    let parts = app.meter().parts(&measured.context);
    let window = &measured.window;
    let tokens = measured.tokens();
    let unseen = tokens - parts.total();
    let mut largest: Vec<(usize, Tokens)> =
        measured.reading.per_message.iter().copied().enumerate().collect();
    largest.sort_by_key(|(at, tokens)| (std::cmp::Reverse(*tokens), *at));
    largest.truncate(top);
    if app.json {
        return print_json(&json!({
            "session": session_json(&measured.session),
            "tokens": tokens,
            "tokensFrom": measured.reading.measurement.source.to_string(),
            "anchor": measured.reading.anchor.as_ref().map(|id| id.as_str()),
            "anchored": measured.reading.measurement.anchored,
            "estimated": measured.reading.measurement.estimated,
            "estimator": app.config.config.tokens.estimator.to_string(),
            "factor": measured.reading.factor,
            "parts": parts,
            "counted": parts.total(),
            "window": window.size(),
            "windowFrom": measured.origin.origin.to_string(),
            "thresholds": thresholds_json(window),
            "largest": largest.iter().map(|(at, tokens)| json!({
                "entry": measured.context.messages[*at].entry.as_str(),
                "role": measured.context.messages[*at].role,
                "tokens": tokens,
            })).collect::<Vec<_>>(),
        }));
    }
    println!("{}", heading(app, &measured.session));
    print_parts(&parts, window);
    if measured.reading.anchor.is_some() {
        print_part("not in the file", unseen, window);
        app.note("not in the file: what the provider counted beyond our count (system prompt, tools, and the error of the count)");
    }
    println!();
    paint::row("Context", format!("{tokens} of {}", window.size()));
    paint::row("Known from", measured.reading.measurement.source);
    paint::row(
        "Correction",
        match measured.reading.factor.samples {
            0 => "none learnt yet".to_owned(),
            samples => format!(
                "× {:.2}, learnt from {samples} answers",
                measured.reading.factor.value
            ),
        },
    );
    paint::row("Window", format!("{} ({})", window.size(), measured.origin.origin));
    for (name, at) in [
        ("  gauge", window.gauge()),
        ("  checkpoint", window.checkpoint()),
        ("  prune", window.prune()),
        ("  activation", window.activation()),
        ("  hard", window.hard()),
        ("  full", window.full()),
    ] {
        let mark = if tokens >= at { style("passed").yellow().to_string() } else { String::new() };
        paint::row(name, format!("{:>10}  {mark}", at.to_string()));
    }
    print_largest(&measured, &largest);
    Ok(())
}

fn print_parts(parts: &Parts, window: &Window) {
    for (name, tokens) in parts.rows() {
        if tokens > Tokens::ZERO {
            print_part(name, tokens, window);
        }
    }
}

fn print_part(name: &str, tokens: Tokens, window: &Window) {
    println!(
        "{} {:>10}  {} {:>5.1} %",
        style(format!("{name:<16}")).dim(),
        tokens.to_string(),
        paint::bar(window.fullness(tokens), 24),
        percent(window, tokens),
    );
}

fn print_largest(measured: &Measured, largest: &[(usize, Tokens)]) {
    if largest.is_empty() {
        return;
    }
    println!();
    let mut table = paint::table(&["LARGEST", "TOKENS", "ENTRY", "WHAT"]);
    for (at, tokens) in largest {
        let message = &measured.context.messages[*at];
        let view = message.view();
        table.add_row(vec![
            title(&view).into(),
            paint::right(tokens),
            message.entry.to_string().into(),
            paint::gist(&view.text(), 60).into(),
        ]);
    }
    paint::print_table(&table);
}

/// The compactions on the path, oldest first.
fn compactions(session: &Session) -> Result<Vec<Entry>, Failure> {
    let tree = session.tree()?;
    let path: std::collections::HashSet<_> = tree
        .path()
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let mut found = Vec::new();
    session.each(&mut |entry| {
        if matches!(entry.body, Body::Compaction(_)) && path.contains(&entry.id) {
            found.push(entry);
        }
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn history(app: &App, which: &Which) -> Result<(), Failure> {
    let session = resolve::session(app, which.name())?;
    let entries = compactions(&session)?;
    let mut rows = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        if let Body::Compaction(compaction) = &entry.body {
            rows.push((at + 1, entry, compaction));
        }
    }
    if app.json {
        let list: Vec<Value> = rows
            .iter()
            .map(|(epoch, entry, compaction)| {
                json!({
                    "epoch": compaction.epoch.unwrap_or(*epoch as u32),
                    "entry": entry.id.as_str(),
                    "line": entry.place.line,
                    "time": entry.time.map(|time| time.to_iso()),
                    "layer": compaction.layer,
                    "trigger": compaction.trigger,
                    "tokensBefore": compaction.tokens_before,
                    "tokensAfter": compaction.tokens_after,
                    "messagesCompacted": compaction.messages_compacted,
                    "summarizer": compaction.summarizer,
                    "summaryBytes": compaction.summary.len(),
                    "summary": compaction.summary,
                })
            })
            .collect();
        return print_json(&json!({
            "session": session_json(&session),
            "compactions": list,
        }));
    }
    println!("{}", heading(app, &session));
    if rows.is_empty() {
        println!("Never compacted.");
        return Ok(());
    }
    let mut table = paint::table(&[
        "#", "WHEN", "LAYER", "TRIGGER", "BEFORE", "AFTER", "SUMMARY", "ENTRY", "STARTS WITH",
    ]);
    for (epoch, entry, compaction) in rows {
        let tokens = |count: Option<u64>| count.map_or_else(|| "-".into(), paint::number);
        let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
        table.add_row(vec![
            paint::right(epoch),
            entry.time.map(|time| paint::ago(app.now(), time)).unwrap_or_default().into(),
            word(&compaction.layer).into(),
            word(&compaction.trigger).into(),
            paint::right(tokens(compaction.tokens_before)),
            paint::right(tokens(compaction.tokens_after)),
            paint::right(paint::bytes(compaction.summary.len() as u64)),
            entry.id.to_string().into(),
            paint::gist(&compaction.summary, 50).into(),
        ]);
    }
    paint::print_table(&table);
    Ok(())
}
