//! `session list`: every session of every agent, at a glance.

use std::sync::atomic::{AtomicUsize, Ordering};

use console::style;
use indicatif::ProgressBar;
use longhaul_engine::catalog::{self, Catalog, Found, Glance};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Format, Result};
use serde_json::{Value, json};

use crate::app::App;
use crate::args::ListArgs;
use crate::failure::Failure;
use crate::paint;
use crate::resolve::{belongs_to, id_of};

pub(crate) fn list(app: &App, args: &ListArgs) -> std::result::Result<(), Failure> {
    let mut catalog = catalog::find(&app.places());
    if let Some(agent) = &args.agent {
        let wanted = agent_formats(agent)?;
        catalog
            .sessions
            .retain(|found| wanted.contains(&found.reference.format));
    }
    if args.here {
        catalog
            .sessions
            .retain(|found| belongs_to(&found.reference, &app.workspace));
    }
    let total = catalog.sessions.len();
    if !args.all {
        catalog.sessions.truncate(args.limit);
    }
    let glances = glances(app, &catalog.sessions);
    if app.json {
        return print_json(app, &catalog, &glances, total);
    }
    print(app, &catalog, &glances, total)
}

fn agent_formats(name: &str) -> std::result::Result<Vec<Format>, Failure> {
    let lower = name.to_lowercase();
    let formats: Vec<Format> = [
        Format::Pi,
        Format::OpenClaw,
        Format::OpenClawSqlite,
        Format::OpenClawStore,
        Format::ClaudeCode,
        Format::Codex,
    ]
    .into_iter()
    .filter(|format| format.agent().to_lowercase().replace(' ', "").starts_with(&lower.replace([' ', '-'], "")))
    .collect();
    if formats.is_empty() || lower.is_empty() {
        return Err(Failure::usage(format!("no agent is called {name:?}"))
            .help("use pi, openclaw, claude or codex"));
    }
    Ok(formats)
}

/// Looks at sessions on all cores; files are independent of each other.
fn glances(app: &App, sessions: &[Found]) -> Vec<Result<Glance>> {
    const WORTH_A_BAR: usize = 200;
    let bar = if app.shows_progress() && sessions.len() > WORTH_A_BAR {
        ProgressBar::new(sessions.len() as u64)
    } else {
        ProgressBar::hidden()
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, Result<Glance>)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|_| {
                scope.spawn(|| {
                    let mut done = Vec::new();
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(found) = sessions.get(at) else {
                            return done;
                        };
                        done.push((at, catalog::glance(&found.reference, &mut app.meter())));
                        bar.inc(1);
                    }
                })
            })
            .collect();
        handles
            .into_iter()
            .flat_map(|handle| handle.join().unwrap_or_default())
            .collect()
    });
    bar.finish_and_clear();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, glance)| glance).collect()
}

fn window(app: &App, glance: &Glance) -> Option<(Tokens, Window)> {
    let tokens = glance.measurement?.tokens;
    let (window, _) = app.window(glance.model.as_deref(), tokens).ok()?;
    Some((tokens, window))
}

fn print(
    app: &App,
    catalog: &Catalog,
    glances: &[Result<Glance>],
    total: usize,
) -> std::result::Result<(), Failure> {
    if catalog.sessions.is_empty() {
        println!("No sessions found.");
        app.note("looked in the standard folders of pi, OpenClaw, Claude Code and Codex; \
            `longhaul sample demo.jsonl` makes one to try things out");
        return Ok(());
    }
    let now = app.now();
    let mut table = paint::table(&[
        "AGENT", "SESSION", "WHEN", "SIZE", "TURNS", "CONTEXT", "FULL", "COMPACTED", "WORKSPACE",
        "ABOUT",
    ]);
    let wide = console::Term::stdout().size_checked().map_or(160, |(_, width)| usize::from(width));
    let about_width = wide.saturating_sub(110).clamp(20, 70);
    let mut broken = 0;
    for (found, glance) in catalog.sessions.iter().zip(glances) {
        let when = found.modified.map(|time| paint::ago(now, time)).unwrap_or_default();
        let name = short(found);
        let glance = match glance {
            Ok(glance) => glance,
            Err(error) => {
                broken += 1;
                table.add_row(vec![
                    found.reference.format.agent().into(),
                    name.into(),
                    when.into(),
                    paint::right(paint::bytes(found.bytes)),
                    paint::right("-"),
                    paint::right("-"),
                    paint::right("-"),
                    paint::right("-"),
                    "".into(),
                    style(paint::gist(&error.to_string(), 60)).red().to_string().into(),
                ]);
                continue;
            }
        };
        let (context, full) = match window(app, glance) {
            Some((tokens, window)) => {
                let share = format!("{:.0} %", window.fullness(tokens) * 100.0);
                let colour = paint::level(window.level(tokens));
                (tokens.short(), colour.apply_to(share).to_string())
            }
            None => ("-".into(), "-".into()),
        };
        table.add_row(vec![
            glance.format.agent().into(),
            name.into(),
            when.into(),
            paint::right(paint::bytes(found.bytes)),
            paint::right(paint::count(glance.turns)),
            paint::right(context),
            paint::right(full),
            paint::right(paint::epoch(glance.compactions)),
            glance
                .header
                .cwd
                .as_ref()
                .map(|cwd| tail_of(&app.show_path(cwd), 32))
                .unwrap_or_default()
                .into(),
            paint::gist(glance.title.as_deref().unwrap_or_default(), about_width).into(),
        ]);
    }
    paint::print_table(&table);
    if total > catalog.sessions.len() {
        app.note(&format!(
            "{} more; --all shows them",
            paint::number((total - catalog.sessions.len()) as u64)
        ));
    }
    if broken > 0 {
        app.note(&format!("{broken} could not be read; `longhaul session verify FILE` says why"));
    }
    for problem in &catalog.problems {
        app.note(&format!("skipped {}: {}", app.show_path(&problem.path), problem.reason));
    }
    Ok(())
}

/// Enough of an id to name the session; keys are shown whole.
fn short(found: &Found) -> String {
    match &found.reference.key {
        Some(key) => tail_of(key, 28),
        None => {
            let id = id_of(&found.reference);
            // Ids of one day start alike (they begin with the time).
            const SHOWN: usize = 18;
            id.chars().take(SHOWN).collect()
        }
    }
}

fn tail_of(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length - max + 1).collect();
    format!("…{tail}")
}

fn print_json(
    app: &App,
    catalog: &Catalog,
    glances: &[Result<Glance>],
    total: usize,
) -> std::result::Result<(), Failure> {
    let sessions: Vec<Value> = catalog
        .sessions
        .iter()
        .zip(glances)
        .map(|(found, glance)| {
            let mut value = json!({
                "id": id_of(&found.reference),
                "key": found.reference.key,
                "agent": found.reference.format.agent(),
                "format": found.reference.format,
                "path": found.reference.path,
                "bytes": found.bytes,
                "modified": found.modified.map(|time| time.to_iso()),
            });
            match glance {
                Err(error) => value["error"] = json!(error.to_string()),
                Ok(glance) => {
                    let window = window(app, glance);
                    value["format"] = json!(glance.format);
                    value["workspace"] = json!(glance.header.cwd);
                    value["turns"] = json!(glance.turns);
                    value["compactions"] = json!(glance.compactions);
                    value["tokens"] = json!(glance.measurement.map(|m| m.tokens));
                    value["tokensFrom"] = json!(glance.measurement.map(|m| m.source.to_string()));
                    value["window"] = json!(window.as_ref().map(|(_, window)| window.size()));
                    value["fullness"] =
                        json!(window.as_ref().map(|(tokens, window)| window.fullness(*tokens)));
                    value["model"] = json!(glance.model);
                    value["title"] = json!(glance.title);
                    value["lastEntry"] = json!(glance.last.map(|time| time.to_iso()));
                }
            }
            value
        })
        .collect();
    super::print_json(&json!({
        "sessions": sessions,
        "total": total,
        "problems": catalog.problems,
    }))
}
