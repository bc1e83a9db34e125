//! `session list`: every session of every agent, at a glance.

use indicatif::ProgressBar;
use longhaul_engine::catalog::{self, Catalog, Glance, Problem};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::import::Listed;
use longhaul_transcript::{Error, Format};

use crate::args::ListArgs;
use crate::prelude::*;
use crate::resolve::{belongs_to, id_of, short_ids};

/// A session as the list shows it.
struct Line {
    found: Listed,
    /// The start of its id that `--session` takes.
    short: String,
    glance: Result<Glance, Error>,
}

pub(super) fn list(app: &App, args: &ListArgs) -> Result {
    let Catalog { sessions, problems } = catalog::find(&app.places());
    // Short ids must be unique among all sessions, also those not shown.
    let ids = short_ids(&sessions);
    let mut wanted: Vec<(Listed, String)> = sessions.into_iter().zip(ids).collect();
    if let Some(name) = &args.agent {
        let meant = named_agent(name)?;
        wanted.retain(|(found, _)| agent(app, found, found.reference.format) == meant);
    }
    if args.here {
        wanted.retain(|(found, _)| belongs_to(&found.reference, &app.workspace));
    }
    let total = wanted.len();
    if !args.all {
        wanted.truncate(args.limit);
    }
    let glances = glances(app, &wanted);
    let lines = wanted.into_iter().zip(glances);
    let lines = lines.map(|((found, short), glance)| Line {
        found,
        short,
        glance,
    });
    let lines: Vec<Line> = lines.collect();
    if app.json {
        return print_json(app, &lines, &problems, total);
    }
    print(app, &lines, &problems, total)
}

/// Whose a session is.
fn agent(app: &App, found: &Listed, format: Format) -> &'static str {
    catalog::agent(&found.reference.path, format, &app.state_dir)
}

/// The agent that a name means.
fn named_agent(name: &str) -> Result<&'static str> {
    let plain = |text: &str| text.to_lowercase().replace([' ', '-'], "");
    let wanted = plain(name);
    let mut agents = catalog::AGENTS.into_iter();
    agents
        .find(|agent| !wanted.is_empty() && plain(agent).starts_with(&wanted))
        .ok_or_else(|| {
            usage!("no agent is called {name:?}")
                .help("use longhaul, pi, openclaw, claude or codex")
        })
}

/// Looks at sessions on all cores; files are independent of each other.
fn glances(app: &App, sessions: &[(Listed, String)]) -> Vec<Result<Glance, Error>> {
    const WORTH_A_BAR: usize = 200;
    let bar = match out::shows_progress() && sessions.len() > WORTH_A_BAR {
        true => ProgressBar::new(sessions.len() as u64),
        false => ProgressBar::hidden(),
    };
    let look = |(found, _): &(Listed, String)| {
        let glance = catalog::glance(&found.reference, &mut app.meter());
        bar.inc(1);
        glance
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = sessions.len().div_ceil(workers).max(1);
    let glances = std::thread::scope(|scope| {
        let shares = sessions.chunks(share);
        let handles: Vec<_> = shares
            .map(|some| scope.spawn(|| some.iter().map(look).collect::<Vec<_>>()))
            .collect();
        let done = handles
            .into_iter()
            .flat_map(|handle| handle.join().unwrap_or_default());
        done.collect()
    });
    bar.finish_and_clear();
    glances
}

fn window(app: &App, glance: &Glance) -> Option<(Tokens, Window)> {
    let tokens = glance.measurement?.tokens;
    let (window, _) = app
        .window(None, glance.model.as_deref(), glance.evidence)
        .ok()?;
    Some((tokens, window))
}

fn print(app: &App, lines: &[Line], problems: &[Problem], total: usize) -> Result {
    if lines.is_empty() && total == 0 {
        say!("No sessions found.")?;
        out::note(
            "looked in the standard folders of pi, OpenClaw, Claude Code and Codex; \
            `longhaul sample demo.jsonl` makes one to try things out",
        );
    } else {
        let mut table = Table::new([
            left("AGENT"),
            left("SESSION"),
            left("WHEN"),
            right("SIZE").drop_rank(5),
            right("TURNS").drop_rank(4),
            right("TOKENS"),
            right("FULL"),
            right("COMPACTED").drop_rank(3),
            left("WORKSPACE").drop_rank(1),
            left("ABOUT").cut_to(10).drop_rank(0),
        ]);
        for line in lines {
            table.row(cells(app, line));
        }
        table.print(app.columns())?;
    }
    if total > lines.len() {
        let more = paint::number((total - lines.len()) as u64);
        note!("{more} more; --all shows them");
    }
    let broken = lines.iter().filter(|line| line.glance.is_err()).count();
    if broken > 0 {
        note!("{broken} could not be read; `longhaul session verify SESSION` says why");
    }
    for problem in problems {
        let path = app.show_path(&problem.path);
        note!("skipped {path}: {}", problem.reason);
    }
    Ok(())
}

fn cells(app: &App, line: &Line) -> Vec<String> {
    const ABOUT: usize = 70;
    let found = &line.found;
    let when = found
        .modified
        .map(|time| paint::ago_short(app.now(), time))
        .unwrap_or_default();
    let size = paint::bytes(found.bytes);
    let glance = match &line.glance {
        Ok(glance) => glance,
        Err(error) => {
            let agent = agent(app, found, found.reference.format).to_owned();
            // The row says which file; there is no room to say it again.
            let path = found.reference.path.display().to_string();
            let reason = out::redacted(&error.to_string().replace(&path, "it"));
            let reason = style(paint::gist(&reason, ABOUT)).red().to_string();
            let blank = ["-", "-", "-", "-", ""].map(str::to_owned).to_vec();
            return [vec![agent, name(line), when, size], blank, vec![reason]].concat();
        }
    };
    let (tokens, full) = match window(app, glance) {
        Some((tokens, window)) => {
            let share = format!("{:.0} %", window.fullness(tokens) * 100.0);
            let colour = paint::level(window.level(tokens));
            (tokens.short(), colour.apply_to(share).to_string())
        }
        None => ("-".into(), "-".into()),
    };
    let workspace = glance.header.cwd.as_ref().map(|cwd| app.show_path(cwd));
    vec![
        agent(app, found, glance.format).into(),
        name(line),
        when,
        size,
        paint::count(glance.turns),
        tokens,
        full,
        paint::epoch(glance.compactions),
        folder(app, &workspace.unwrap_or_default()),
        paint::gist(glance.title.as_deref().unwrap_or_default(), ABOUT),
    ]
}

/// The key where it is short enough to read, else the start of the id.
fn name(line: &Line) -> String {
    const LONGEST_KEY: usize = 24;
    match &line.found.reference.key {
        Some(key) if key.chars().count() <= LONGEST_KEY => paint::gist(key, LONGEST_KEY),
        _ => line.short.clone(),
    }
}

/// As much of the end of a workspace's path as there is room for.
fn folder(app: &App, path: &str) -> String {
    let columns = match app.columns() {
        ..100 => 12,
        100..140 => 24,
        _ => 32,
    };
    paint::folder_ending(&paint::gist(path, 4096), columns)
}

fn print_json(app: &App, lines: &[Line], problems: &[Problem], total: usize) -> Result {
    let problems = problems
        .iter()
        .map(|one| json!({ "path": answer::path(&one.path), "reason": one.reason }));
    out::json(&json!({
        "sessions": lines.iter().map(|line| line_json(app, line)).collect::<Result<Vec<_>>>()?,
        "total": total,
        "problems": problems.collect::<Vec<_>>(),
    }))
}

fn line_json(app: &App, line: &Line) -> Result<Value> {
    let Line { found, .. } = line;
    let mut value = json!({
        "id": id_of(&found.reference),
        "short": line.short,
        "key": found.reference.key,
        "agent": agent(app, found, found.reference.format),
        "format": found.reference.format,
        "path": answer::path(&found.reference.path),
        "bytes": found.bytes,
        "modified": found.modified.map(|time| time.to_iso()),
    });
    match &line.glance {
        Err(error) => value["error"] = json!(out::redacted(&error.to_string())),
        Ok(glance) => {
            let (measured, window) = (&glance.measurement, window(app, glance));
            let percent = window
                .as_ref()
                .map(|(tokens, of)| paint::percent(of, *tokens));
            let known = json!({
                "agent": agent(app, found, glance.format),
                "format": glance.format,
                "workspace": glance.header.cwd.as_deref().map(answer::path),
                "turns": glance.turns,
                "compactions": glance.compactions,
                "tokens": measured.map(|m| m.tokens),
                "tokensFrom": measured.map(|m| m.source.to_string()),
                "window": window.map(|(_, window)| window.size()),
                "percent": percent,
                "model": glance.model,
                "title": glance.title,
                "lastEntry": glance.last.map(|time| time.to_iso()),
            });
            return answer::joined(value, &known);
        }
    }
    Ok(value)
}
