//! The whole request: what a model would be sent for a session now, with the
//! system prompt, the workspace's files and skills, and what all of it costs.
//!
//! A session file holds the conversation only. The rest comes from the
//! workspace and the machine, which the caller describes as [`Surroundings`].
//! What cannot be used there is told as a problem and left out; a context that
//! does not fit is told with the part that is too large, and its parts are
//! counted all the same.

use std::path::{Path, PathBuf};

use jiff::Zoned;
use longhaul_assembly::{
    Breakdown, Breakpoint, Budget, Counted, Error, FileCache, FileKind, Mode, PartCounts, Problem,
    Request, Reserves, Result, Skill, Tools, Unavailable, WorkspaceSources, assemble, notes,
};
use longhaul_compaction::cost::{CacheTerms, Verdict};
use longhaul_compaction::prune::PruneSettings;
use longhaul_tokens::{CheckpointNote, ContentKind, Fragment, Tokens, Window, WindowSettings};
use longhaul_transcript::{ContextMessage, Loaded};
use serde::Serialize;

use crate::config::Config;
use crate::live::Live;
use crate::measure::Meter;
use crate::prompt::{Environment, Place, StaticHalf};
use crate::standing::Measured;

/// What is around a session: folders, the machine, the time.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The workspace that was asked for.
    pub workspace: Option<PathBuf>,
    /// Where to be if neither a person nor the session names a folder that is
    /// there.
    pub fallback: Option<PathBuf>,
    /// What the agent finds where it runs.
    pub environment: Environment,
    /// The time, where the user is.
    pub now: Zoned,
}

/// A file of the workspace, as the prompt has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownFile {
    /// Its path in the workspace.
    pub name: String,
    /// What it is about.
    pub kind: FileKind,
    /// Characters in its middle that are not shown.
    pub left_out: u64,
    /// What is shown of it costs so much.
    pub tokens: Tokens,
}

/// A request, laid out.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The workspace.
    pub workspace: PathBuf,
    /// Its files.
    pub files: Vec<ShownFile>,
    /// Skills that are listed.
    pub skills: Vec<Skill>,
    /// Skills that cannot be used here, and why.
    pub unavailable: Vec<Unavailable>,
    /// Where the tokens are.
    pub breakdown: Breakdown,
    /// Why it cannot be sent, if it does not fit.
    pub over: Option<Error>,
    /// Where a provider should cache.
    pub breakpoints: Vec<Breakpoint>,
    /// Changes with every byte of the static half.
    pub fingerprint: String,
    /// The system prompt.
    pub system: String,
    /// All messages, as a provider is sent them.
    pub messages: Vec<ContextMessage>,
    /// From which on messages belong to this request only.
    pub dynamic_from: usize,
    /// The whole of it as JSON.
    pub json: String,
    /// What was left out or shortened.
    pub problems: Vec<Problem>,
}

/// Lays out what would be sent for a session now: with whether a checkpoint of it
/// is saved, and what is put back in this epoch.
pub fn lay_out(
    measured: &Measured,
    checkpoint: CheckpointNote,
    restored: &[Fragment],
    config: &Config,
    around: &Surroundings,
    meter: &Meter,
) -> Result<Layout> {
    let counter = meter.estimator().counter();
    let window = &measured.window;
    let (root, mut problems) = choose(&measured.loaded, config, around)?;
    let place = Place {
        config,
        environment: &around.environment,
        root: &root,
        window,
        now: &around.now,
        mode: &Mode::Full,
        tools: &Tools::default(),
        thinking: measured.loaded.settings.thinking_level.clone(),
    };
    let StaticHalf {
        workspace,
        skills,
        prompt,
        problems: found,
    } = place.lay(&mut FileCache::new(), &mut PartCounts::new())?;
    problems.extend(found);

    let messages = measured.context.messages.iter();
    let history: Vec<Counted<'_>> = messages
        .zip(&measured.reading.per_message)
        .map(|(message, tokens)| Counted {
            message,
            tokens: *tokens,
        })
        .collect();
    let used = measured.tokens();
    let dynamic = match config.gauge.enabled {
        true => notes(used, window, checkpoint, counter),
        false => Vec::new(),
    };
    let request = Request {
        prompt: &prompt,
        restored,
        history: &history,
        event: None,
        dynamic: &dynamic,
        now: Some(&around.now),
    };
    let budget = Budget::new(window, config.budget)?;
    let (laid, over) = match assemble(&request, &budget, counter) {
        Ok(laid) => (laid, None),
        // Counted all the same: against a budget in which everything fits.
        Err(error) => (assemble(&request, &boundless()?, counter)?, Some(error)),
    };
    let breakdown = match over {
        None => laid.breakdown().clone(),
        Some(_) => measured_against(laid.breakdown(), window, &config.budget),
    };
    Ok(Layout {
        files: workspace
            .files()
            .iter()
            .map(|file| ShownFile {
                name: file.name.clone(),
                kind: file.kind,
                left_out: file.left_out,
                tokens: counter.count(file.body(), ContentKind::Prose),
            })
            .collect(),
        workspace: root,
        breakdown,
        over,
        breakpoints: laid.breakpoints().to_vec(),
        fingerprint: prompt.fingerprint().to_owned(),
        system: laid.system().to_owned(),
        dynamic_from: laid.lasting().len(),
        json: laid.to_json(),
        messages: laid
            .into_messages()
            .into_iter()
            .map(|m| m.into_owned())
            .collect(),
        skills: skills.available,
        unavailable: skills.unavailable,
        problems,
    })
}

/// The folder: the one that was asked for, the session's, the configured one,
/// or where we are.
fn choose(
    loaded: &Loaded,
    config: &Config,
    around: &Surroundings,
) -> Result<(PathBuf, Vec<Problem>)> {
    let configured = config.workspace.as_deref().map(Path::new);
    let sources = WorkspaceSources {
        flag: around.workspace.as_deref(),
        session: loaded.header.cwd.as_deref(),
        config: configured.or(around.fallback.as_deref()),
    };
    sources.choose()
}

fn boundless() -> Result<Budget> {
    let none = Reserves {
        response: Tokens::ZERO,
        tools: Tokens::ZERO,
    };
    let window = Tokens(u32::MAX);
    match Window::new(&WindowSettings::of(window)) {
        Ok(window) => Budget::new(&window, none),
        Err(_) => Err(Error::NoRoom {
            window,
            response: Tokens::ZERO,
            tools: Tokens::ZERO,
        }),
    }
}

/// The sizes of one breakdown with the caps of the window that they exceed.
fn measured_against(sizes: &Breakdown, window: &Window, reserves: &Reserves) -> Breakdown {
    let (response, tools) = (
        window.scaled(reserves.response),
        window.scaled(reserves.tools),
    );
    let available = window.size() - response - tools;
    let mut left = available + tools;
    let mut breakdown = sizes.clone();
    for part in &mut breakdown.parts {
        part.cap = left;
        left -= part.tokens;
        if part.name == longhaul_assembly::PartName::Tools {
            left = left.min(available);
        }
    }
    breakdown.window = window.size();
    breakdown.response_reserve = response;
    breakdown.tools_reserve = tools;
    breakdown.available = available;
    breakdown
}

/// Whether hiding old tool output before the next request would be cheaper than
/// sending it again, with the numbers that decide.
pub fn cache_decision(
    live: &Live,
    meter: &mut Meter,
    settings: &PruneSettings,
    terms: &CacheTerms,
) -> Verdict {
    live.pruning(meter, settings).cheapest(terms).1
}
