//! The checks of a workspace and of the engine in it, for `doctor`: is the
//! memory as agents are told to keep it, and do the parts that an agent relies
//! on do their work here?

use std::ffi::OsStr;

use longhaul_compaction::compact::{CompactionRequest, Tail};
use longhaul_compaction::summary::is_ours;
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::checkpoints::Restoration;
use longhaul_engine::live::Live;
use longhaul_engine::sample;
use longhaul_memory::files::{Finding, Trouble};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::Draft;

use super::super::measured::measure;
use super::super::{budget, memory_folder};
use super::{Check, State};
use crate::prelude::*;

/// The section of the system prompt that says how to keep the memory.
const RULES: &str = "## Memory integrity";

pub(super) fn checks(app: &App) -> Vec<Check> {
    let mut checks = memory(app);
    checks.push(handoffs(app));
    match trial(app) {
        Ok(trial) => checks.extend(trial),
        Err(failure) => checks.push(Check::good("trial", failure.to_string()).with(
            State::Bad,
            "a session of our own making could not be worked with; this is a fault of longhaul's",
        )),
    }
    checks
}

/// What `memory lint` finds, by what the list of a deployment asks for.
fn memory(app: &App) -> Vec<Check> {
    let found = memory_folder::reading(app).and_then(|memory| {
        let limits = app.config.memory_limits();
        Ok(memory.lint(limits, &app.config.tokens.estimator)?)
    });
    let found = match found {
        Ok(found) => found,
        Err(failure) => {
            let check = Check::good("memory", failure.message);
            return vec![check.with(State::Bad, failure.help.unwrap_or_default())];
        }
    };
    let of = |name, good: &str, wanted: &dyn Fn(&Finding) -> bool| {
        let all: Vec<&Finding> = found.iter().filter(|one| wanted(one)).collect();
        match all.first() {
            None => Check::good(name, good),
            Some(one) => {
                let more = match all.len() {
                    1 => String::new(),
                    n => format!(" (and {} more: `longhaul memory lint`)", n - 1),
                };
                let what = format!("{}: {}{more}", one.file, one.trouble);
                Check::good(name, what).with(State::Note, one.remedy())
            }
        }
    };
    let ignored = |one: &Finding| matches!(one.trouble, Trouble::NotIgnored);
    let main = |one: &Finding| one.file == "MEMORY.md";
    vec![
        of(
            "MEMORY.md",
            "there, and small enough for every prompt",
            &|one| main(one),
        ),
        of("memory files", "there, and as they should be", &|one| {
            !main(one) && !ignored(one)
        }),
        of("git", "leaves memories/ alone", &|one| ignored(one)),
    ]
}

/// Agents hand work over in one form, which `AGENTS.md` shows them.
fn handoffs(app: &App) -> Check {
    const MOST: u64 = 1 << 20;
    let path = app.workspace.join("AGENTS.md");
    match longhaul_files::read_text(&path, MOST) {
        Ok(text) if text.contains("<handoff") => {
            Check::good("hand-offs", "AGENTS.md shows their form")
        }
        _ => Check::good("hand-offs", "AGENTS.md does not show their form").with(
            State::Note,
            "`longhaul session handoff --template` prints what belongs there",
        ),
    }
}

/// A session of our own making is laid out and compacted.
fn trial(app: &App) -> Result<Vec<Check>> {
    let name = format!("longhaul-doctor-{}.jsonl", uuid::Uuid::now_v7());
    let path = std::env::temp_dir().join(name);
    let (header, entries) = sample::session(12, None);
    longhaul_transcript::write_path(&path, &header, &entries)?;
    let tried = tried(app, path.as_os_str());
    let _ = longhaul_files::remove(&path);
    tried
}

fn tried(app: &App, path: &OsStr) -> Result<Vec<Check>> {
    let mut measured = measure(app, Some(path), None)?;
    let sent = || budget::lay_out(app, &measured, &Restoration::default());
    let (first, second) = (sent()?, sent()?);
    let prompt = Check::good(
        "system prompt",
        "holds the memory rules, and all that changes stands behind it",
    );
    let is_kept = first.system.contains(RULES) && first.fingerprint == second.fingerprint;
    let prompt = match is_kept {
        true => prompt,
        false => prompt.with(State::Bad, "it does not; this is a fault of longhaul's"),
    };

    let config = &app.config;
    // As large as the context is, so that something has to go.
    measured.window = Window::new(&config.window_settings(measured.tokens()))
        .map_err(|error| Failure::new(error.to_string()))?;
    let mut meter = app.meter();
    let keep = app.keep(&measured.session);
    let compacted = Live::open_with(&measured.session, config.state_capture(), &keep)?
        .compact(
            &mut meter,
            &CompactionRequest {
                layer: Layer::Summarize,
                trigger: Trigger::Manual,
                focus: None,
                window: &measured.window,
                protect: (measured.window).scaled(config.protected_tail(Layer::Summarize)),
                overhead: Tokens::ZERO,
                tokens_before: measured.tokens(),
                rules: config.compaction_rules(),
                tail: Tail::default(),
                is_stored: &|_| true,
            },
        )
        .map_err(|failure| Failure::new(failure.to_string()))?;
    let continues = match &compacted.draft {
        Draft::Compaction { summary, .. } => is_ours(summary),
        _ => false,
    };
    let done = Check::good(
        "compaction",
        format!(
            "a trial took {} tokens to {}",
            paint::number(measured.tokens().0.into()),
            paint::number(compacted.tokens_after.0.into())
        ),
    );
    Ok(vec![
        prompt,
        match continues {
            true => done,
            false => done.with(State::Bad, "the summary does not say how to go on"),
        },
    ])
}
