//! The budget of a request: its parts as a table and as a bar.

use longhaul_assembly::{Breakdown, Breakpoint, PartName, Problem};
use longhaul_checkpoint::CheckpointStore;
use longhaul_compaction::cost::CacheTerms;
use longhaul_compaction::cost::{EXPECTED_TURNS, Since, Verdict};
use longhaul_engine::assembled::{self, Layout};
use longhaul_engine::checkpoints::Restoration;
use longhaul_engine::event::RestoredFragment;
use longhaul_engine::live::Live;
use longhaul_tokens::Tokens;
use longhaul_transcript::Role;

use super::measured::Measured;
use super::saving::Saving;
use crate::prelude::*;
use crate::style::Style;

/// Lays out what would be sent for a session now.
pub(super) fn lay_out(app: &App, measured: &Measured, restored: &Restoration) -> Result<Layout> {
    let stated = measured.loaded.settings.model.as_ref();
    let model = app.model.as_deref().or(measured.reading.model.as_deref());
    let provider = stated.map(|model| model.provider.as_str());
    let provider = provider.filter(|name| !name.is_empty());
    let around = app.surroundings(model.unwrap_or("unknown"), provider);
    let saving = Saving::of(app, &measured.session);
    let latest = saving.store.latest(&saving.whose.key);
    let latest = latest.ok().and_then(|latest| latest.checkpoint);
    let epoch = measured.loaded.epoch.count();
    let checkpoint = saving.checkpoints().note(latest.as_ref(), epoch);
    let (config, meter) = (&app.config, app.meter());
    let fragments = &restored.fragments;
    assembled::lay_out(measured, checkpoint, fragments, config, &around, &meter)
        .map_err(|error| Failure::new(error.to_string()).help(error.remedy()))
}

/// Whether the prompt cache makes pruning now cheaper, with its numbers.
pub(super) fn cache_verdict(app: &App, measured: &Measured) -> Result<Verdict> {
    let keep = app.keep(&measured.session);
    let live = Live::open_with(&measured.session, app.config.state_capture(), &keep)?;
    let reading = &measured.reading;
    let prices = app.prices(reading.provider.as_deref(), reading.model.as_deref());
    let entries = measured.loaded.entries.iter().rev();
    let mut answers = entries.filter(|entry| entry.role() == Some(&Role::Assistant));
    let last = answers.find_map(|entry| entry.time);
    let since = match last {
        Some(time) => Since::Seconds((app.now().0.saturating_sub(time.0)) as f64 / 1000.0),
        None => Since::Never,
    };
    let terms = CacheTerms {
        prices,
        since,
        expected_turns: EXPECTED_TURNS,
    };
    let settings = app.config.prune_settings(&measured.window);
    let verdict = assembled::cache_decision(&live, &mut app.meter(), &settings, &terms);
    Ok(verdict)
}

/// A stretch of the bar: what it stands for, its mark and its colour.
struct Stretch {
    name: String,
    tokens: Tokens,
    cap: Option<Tokens>,
    mark: &'static str,
    style: Style,
    /// What it is made of.
    within: Vec<(String, Tokens)>,
}

/// What a part of a request is made of.
type Within<'a> = dyn Fn(PartName) -> Vec<(String, Tokens)> + 'a;

fn stretches(breakdown: &Breakdown, within: &Within<'_>) -> Vec<Stretch> {
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
            name: part.name.to_string(),
            tokens: part.tokens,
            cap: Some(part.cap),
            mark,
            style,
            within: within(part.name),
        }
    });
    let (free, tools) = unused(breakdown);
    let others = [
        ("free", free, "·", Style::new().dim()),
        ("kept for tools", tools, "░", Style::new().red()),
        (
            "kept for answer",
            breakdown.response_reserve,
            "░",
            Style::new().red(),
        ),
    ];
    let others = others.map(|(name, tokens, mark, style)| Stretch {
        name: name.to_owned(),
        tokens,
        cap: None,
        mark,
        style,
        within: Vec::new(),
    });
    parts.chain(others).collect()
}

/// What is free, and what is kept for tools beside those there are.
fn unused(breakdown: &Breakdown) -> (Tokens, Tokens) {
    let tools = breakdown.tools_reserve - breakdown.tokens(PartName::Tools);
    let taken = breakdown.total + breakdown.response_reserve + tools;
    (breakdown.window - taken, tools)
}

/// The parts of a request that was laid out, and whether it fits.
pub(super) fn print(app: &App, layout: &Layout, restored: &Restoration) -> Result {
    print_parts(app, &layout.breakdown, &|part| match part {
        PartName::Files => {
            let files = layout.files.iter();
            files.map(|file| (file.name.clone(), file.tokens)).collect()
        }
        PartName::Restored => {
            let fragments = restored.fragments.iter();
            fragments
                .map(|one| (one.kind().to_string(), one.tokens()))
                .collect()
        }
        _ => Vec::new(),
    })?;
    if let Some(error) = &layout.over {
        say!("{} {error}", style("✗").red())?;
        say!("  {}", error.remedy())?;
    }
    Ok(())
}

/// The table of parts and the bar above it.
pub(super) fn print_parts(app: &App, breakdown: &Breakdown, within: &Within<'_>) -> Result {
    let stretches = stretches(breakdown, within);
    let window = breakdown.window.max(breakdown.total);
    say!("{}", bar(&stretches, window, app.columns().min(100)))?;
    let mut table = Table::new([
        left(""),
        left("PART"),
        right("TOKENS"),
        right("MOST").drop_rank(1),
        right("SHARE"),
    ]);
    let share = |tokens: Tokens| {
        let share = f64::from(tokens.0) * 100.0 / f64::from(breakdown.window.0.max(1));
        format!("{share:.1} %")
    };
    for Stretch {
        name,
        tokens,
        cap,
        mark,
        style,
        within,
    } in stretches
    {
        let mark = style.apply_to(mark).to_string();
        let cap = cap.map_or_else(String::new, |cap| cap.to_string());
        table.row([mark, name, tokens.to_string(), cap, share(tokens)]);
        for (name, tokens) in within {
            let (blank, name) = (String::new(), format!("  {}", paint::gist(&name, 30)));
            table.row([
                blank.clone(),
                name,
                tokens.to_string(),
                blank,
                share(tokens),
            ]);
        }
    }
    table.print(app.columns())
}

/// Every part that has tokens has at least one column; what rounding leaves
/// over or takes too much is the largest stretch's.
fn bar(stretches: &[Stretch], window: Tokens, width: usize) -> String {
    let columns = |stretch: &Stretch| {
        let exact = stretch.tokens.0 as f64 * width as f64 / f64::from(window.0.max(1));
        usize::max(
            exact.round() as usize,
            usize::from(stretch.tokens > Tokens::ZERO),
        )
    };
    let mut widths: Vec<usize> = stretches.iter().map(columns).collect();
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
    let shown = stretches.iter().zip(widths).filter(|(_, width)| *width > 0);
    let shown = shown.map(|(one, width)| one.style.apply_to(one.mark.repeat(width)).to_string());
    shown.collect()
}

/// Where it comes from, where a provider caches, what is wrong.
pub(super) fn print_rest(app: &App, layout: &Layout, verdict: &Verdict) -> Result {
    let files = layout.files.iter().map(|file| match file.left_out {
        0 => file.name.clone(),
        left => format!("{} (without {} characters)", file.name, paint::number(left)),
    });
    let files: Vec<String> = files.collect();
    out::row("Workspace", app.show_path(&layout.workspace))?;
    if !files.is_empty() {
        out::row("Files", paint::gist(&files.join(", "), 200))?;
    }
    if !layout.skills.is_empty() {
        let names: Vec<&str> = layout
            .skills
            .iter()
            .map(|skill| skill.name.as_str())
            .collect();
        out::row("Skills", paint::gist(&names.join(", "), 200))?;
    }
    let points = layout.breakpoints.iter().map(|point| match point {
        Breakpoint::Static => "after the system prompt".to_owned(),
        Breakpoint::Message(at) => format!("after message {}", at + 1),
    });
    let points = points.collect::<Vec<_>>().join(", ");
    row!("Cache until", "{points} of {}", layout.messages.len())?;
    out::row("Pruning", verdict)
}

/// What was left out of the request, on standard error.
pub(super) fn note_problems(layout: &Layout) {
    for problem in &layout.problems {
        out::note_once(&format!("note: {problem}; {}", problem.remedy()));
    }
    for skill in &layout.unavailable {
        note!("note: skill {} is not listed: {}", skill.name, skill.reason);
    }
}

pub(super) fn problems_json(problems: &[Problem]) -> Result<Value> {
    let shown = problems.iter().map(|problem| {
        let mut value = serde_json::to_value(problem)?;
        value["message"] = json!(out::redacted(&problem.to_string()));
        value["remedy"] = json!(problem.remedy());
        Ok(value)
    });
    shown.collect()
}

/// The request as programs read it.
pub(super) fn layout_json(layout: &Layout, restored: &Restoration) -> Result<Value> {
    let fragments = restored.fragments.iter().map(RestoredFragment::of);
    let breakdown = &layout.breakdown;
    let (free, _) = unused(breakdown);
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
