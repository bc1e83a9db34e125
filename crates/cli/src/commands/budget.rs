//! The budget of a request: its parts as a table and as a bar.

use longhaul_assembly::{Breakpoint, Error, PartName, Problem};
use longhaul_checkpoint::CheckpointStore;
use longhaul_compaction::cost::CacheTerms;
use longhaul_compaction::cost::{EXPECTED_TURNS, Since, Verdict};
use longhaul_engine::assembled::{self, Layout};
use longhaul_engine::checkpoints::Restoration;
use longhaul_engine::event::RestoredFragment;
use longhaul_engine::live::Live;
use longhaul_tokens::Tokens;
use longhaul_transcript::Role;
use serde_json::{Value, json};

use super::measured::Measured;
use super::saving::Saving;
use crate::app::App;
use crate::failure::Failure;
use crate::paint;
use crate::style::{Style, style};
use crate::table::{Table, left, right};

/// Lays out what would be sent for a session now.
pub(super) fn lay_out(
    app: &App,
    measured: &Measured,
    restored: &Restoration,
) -> Result<Layout, Failure> {
    let stated = measured.loaded.settings.model.as_ref();
    let model = app.model.as_deref().or(measured.reading.model.as_deref());
    let around = app.surroundings(
        model.unwrap_or("unknown"),
        stated
            .map(|model| model.provider.as_str())
            .filter(|name| !name.is_empty()),
    );
    let saving = Saving::of(app, &measured.session);
    let latest = saving.store.latest(&saving.whose.key);
    let latest = latest.ok().and_then(|latest| latest.checkpoint);
    let epoch = measured.loaded.epoch.count();
    let checkpoint = saving.checkpoints().note(latest.as_ref(), epoch);
    let engine = assembled::Measured {
        loaded: &measured.loaded,
        context: &measured.context,
        reading: &measured.reading,
        window: &measured.window,
        checkpoint,
        restored: &restored.fragments,
    };
    assembled::lay_out(&engine, &app.config.config, &around, &app.meter()).map_err(failure)
}

fn failure(error: Error) -> Failure {
    Failure::new(error.to_string()).help(error.remedy())
}

/// Whether the prompt cache makes pruning now cheaper, with its numbers.
pub(super) fn cache_verdict(app: &App, measured: &Measured) -> Result<Verdict, Failure> {
    let keep = app.keep(&measured.session);
    let live = Live::open_with(&measured.session, app.config.config.state_capture(), &keep)?;
    let reading = &measured.reading;
    let prices = app.prices(reading.provider.as_deref(), reading.model.as_deref());
    let last = measured
        .loaded
        .entries
        .iter()
        .rev()
        .filter(|entry| entry.role() == Some(&Role::Assistant))
        .find_map(|entry| entry.time);
    let since = match last {
        Some(time) => Since::Seconds((app.now().0.saturating_sub(time.0)) as f64 / 1000.0),
        None => Since::Never,
    };
    let terms = CacheTerms {
        prices,
        since,
        expected_turns: EXPECTED_TURNS,
    };
    let settings = app.config.config.prune_settings(&measured.window);
    Ok(assembled::cache_decision(
        &live,
        &mut app.meter(),
        &settings,
        &terms,
    ))
}

/// A stretch of the bar: what it stands for, its mark and its colour.
struct Stretch {
    part: Option<PartName>,
    name: String,
    tokens: Tokens,
    cap: Option<Tokens>,
    mark: &'static str,
    style: Style,
}

fn stretches(layout: &Layout) -> Vec<Stretch> {
    let breakdown = &layout.breakdown;
    let parts = breakdown.parts.iter().map(|part| {
        let (mark, style) = match part.name {
            PartName::Tools => ("▟", Style::new().magenta()),
            PartName::Prompt => ("▓", Style::new().blue()),
            PartName::Files => ("▒", Style::new().cyan()),
            PartName::Skills => ("▚", Style::new().magenta()),
            PartName::Restored => ("▞", Style::new().yellow()),
            PartName::History => ("█", Style::new().green()),
            PartName::Event => ("▙", Style::new().white()),
            PartName::Dynamic => ("▄", Style::new().yellow()),
        };
        Stretch {
            part: Some(part.name),
            name: part.name.to_string(),
            tokens: part.tokens,
            cap: Some(part.cap),
            mark,
            style,
        }
    });
    let other = |name: &str, tokens, mark, style| Stretch {
        part: None,
        name: name.to_owned(),
        tokens,
        cap: None,
        mark,
        style,
    };
    let tools = breakdown.tokens(PartName::Tools);
    let reserved_tools = breakdown.tools_reserve - tools;
    let taken = breakdown.total + breakdown.response_reserve + reserved_tools;
    let free = breakdown.window - taken;
    parts
        .chain([
            other("free", free, "·", Style::new().dim()),
            other("kept for tools", reserved_tools, "░", Style::new().red()),
            other(
                "kept for answer",
                breakdown.response_reserve,
                "░",
                Style::new().red(),
            ),
        ])
        .collect()
}

/// The table of parts and the bar above it.
pub(super) fn print(app: &App, layout: &Layout, restored: &Restoration) -> Result<(), Failure> {
    let stretches = stretches(layout);
    let window = layout.breakdown.window.max(layout.breakdown.total);
    say!("{}", bar(&stretches, window, app.columns().min(100)))?;
    let mut table = Table::new([
        left(""),
        left("PART"),
        right("TOKENS"),
        right("MOST").drop_rank(1),
        right("SHARE"),
    ]);
    let share = |tokens: Tokens| {
        let share = f64::from(tokens.0) * 100.0 / f64::from(layout.breakdown.window.0.max(1));
        format!("{share:.1} %")
    };
    for stretch in &stretches {
        table.row([
            stretch.style.apply_to(stretch.mark).to_string(),
            stretch.name.clone(),
            stretch.tokens.to_string(),
            stretch.cap.map_or_else(String::new, |cap| cap.to_string()),
            share(stretch.tokens),
        ]);
        let within: Vec<(String, Tokens)> = match stretch.part {
            Some(PartName::Files) => {
                let files = layout.files.iter();
                files.map(|file| (file.name.clone(), file.tokens)).collect()
            }
            Some(PartName::Restored) => {
                let fragments = restored.fragments.iter();
                fragments
                    .map(|one| (one.kind().to_string(), one.tokens()))
                    .collect()
            }
            _ => Vec::new(),
        };
        for (name, tokens) in within {
            let name = format!("  {}", paint::gist(&name, 30));
            table.row([
                String::new(),
                name,
                tokens.to_string(),
                String::new(),
                share(tokens),
            ]);
        }
    }
    table.print(app.columns())?;
    if let Some(error) = &layout.over {
        say!("{} {error}", style("✗").red())?;
        say!("  {}", error.remedy())?;
    }
    Ok(())
}

/// Every part that has tokens has at least one column; what rounding leaves
/// over or takes too much is the largest stretch's.
fn bar(stretches: &[Stretch], window: Tokens, width: usize) -> String {
    let mut widths: Vec<usize> = stretches
        .iter()
        .map(|stretch| {
            let exact = stretch.tokens.0 as f64 * width as f64 / f64::from(window.0.max(1));
            usize::max(
                exact.round() as usize,
                usize::from(stretch.tokens > Tokens::ZERO),
            )
        })
        .collect();
    while widths.iter().sum::<usize>() != width {
        let Some(largest) = (0..widths.len()).max_by_key(|at| widths[*at]) else {
            break;
        };
        match widths.iter().sum::<usize>() > width {
            true if widths[largest] > 1 => widths[largest] -= 1,
            true => break,
            false => widths[largest] += 1,
        }
    }
    stretches
        .iter()
        .zip(widths)
        .filter(|(_, width)| *width > 0)
        .map(|(stretch, width)| {
            stretch
                .style
                .apply_to(stretch.mark.repeat(width))
                .to_string()
        })
        .collect()
}

/// Where it comes from, where a provider caches, what is wrong.
pub(super) fn print_rest(app: &App, layout: &Layout, verdict: &Verdict) -> Result<(), Failure> {
    let files: Vec<String> = layout
        .files
        .iter()
        .map(|file| match file.left_out {
            0 => file.name.clone(),
            left => format!("{} (without {} characters)", file.name, paint::number(left)),
        })
        .collect();
    paint::row("Workspace", app.show_path(&layout.workspace))?;
    if !files.is_empty() {
        paint::row("Files", paint::gist(&files.join(", "), 200))?;
    }
    if !layout.skills.is_empty() {
        let names: Vec<&str> = layout
            .skills
            .iter()
            .map(|skill| skill.name.as_str())
            .collect();
        paint::row("Skills", paint::gist(&names.join(", "), 200))?;
    }
    let points: Vec<String> = layout
        .breakpoints
        .iter()
        .map(|point| match point {
            Breakpoint::Static => "after the system prompt".to_owned(),
            Breakpoint::Message(at) => format!("after message {}", at + 1),
        })
        .collect();
    row!(
        "Cache until",
        "{} of {}",
        points.join(", "),
        layout.messages.len()
    )?;
    paint::row("Pruning", verdict)
}

/// What was left out of the request, on standard error.
pub(super) fn note_problems(app: &App, layout: &Layout) {
    for problem in &layout.problems {
        app.note_once(&format!("note: {problem}; {}", problem.remedy()));
    }
    for skill in &layout.unavailable {
        app.note(&format!(
            "note: skill {} is not listed: {}",
            skill.name, skill.reason
        ));
    }
}

pub(super) fn problems_json(problems: &[Problem]) -> Result<Value, Failure> {
    let mut list = Vec::with_capacity(problems.len());
    for problem in problems {
        let mut value = serde_json::to_value(problem)?;
        value["message"] = json!(App::redact(&problem.to_string()));
        value["remedy"] = json!(problem.remedy());
        list.push(value);
    }
    Ok(Value::Array(list))
}

/// The request as programs read it.
pub(super) fn layout_json(layout: &Layout, restored: &Restoration) -> Result<Value, Failure> {
    let fragments = restored.fragments.iter().map(RestoredFragment::of);
    let breakdown = &layout.breakdown;
    let reserved = breakdown.tools_reserve - breakdown.tokens(PartName::Tools);
    let free = breakdown.window - breakdown.total - breakdown.response_reserve - reserved;
    Ok(json!({
        "workspace": super::answer::path(&layout.workspace),
        "total": breakdown.total,
        "available": breakdown.available,
        "responseReserve": breakdown.response_reserve,
        "toolsReserve": breakdown.tools_reserve,
        "free": free,
        "fits": layout.over.is_none(),
        "over": layout.over.as_ref().map(ToString::to_string),
        "parts": breakdown.parts,
        "files": layout.files,
        "restored": fragments.collect::<Vec<_>>(),
        "skills": layout.skills,
        "unavailableSkills": layout.unavailable,
        "breakpoints": layout.breakpoints,
        "fingerprint": layout.fingerprint,
        "problems": problems_json(&layout.problems)?,
    }))
}
