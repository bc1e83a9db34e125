//! `cargo xtask eval tokens`: our counts against what providers reported.
//!
//! Anchored: the size of a call's prompt is foretold from the usage of the
//! call before and our count of what was added since; the error is in percent
//! of the real prompt. Unanchored: what a session's prompts grew by from call
//! to call, summed up, against our count of all that was added; the error is
//! in percent of the real growth.
//!
//! Claude Code drops old tool results from its requests without a record. A
//! prompt that shrinks by more than [`SILENT_SHRINK`] from one call to the
//! next is taken for that: the step says nothing about counting and is left
//! out, and counted. The figures with nothing left out are shown as well.
use std::path::{Path, PathBuf};

use longhaul_engine::measure;
use longhaul_testkit::recorded;
use longhaul_tokens::{Calibration, Estimator, Measurement, Sample, Tokens};
use longhaul_transcript::{ContextMessage, Session};

use super::epochs::{Step, steps};
use super::statistics::Sorted;
use crate::Result;
use crate::paths;
use crate::table::{Table, grouped};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Sessions of any supported agent, packed with gzip or not; the Claude
    /// Code sessions of the corpus if none is given
    files: Vec<PathBuf>,
}

/// A prompt that is this much smaller than the one before was cut unseen.
const SILENT_SHRINK: u32 = 10_000;
/// Percent of the context, at the 99th percentile, with the default estimator.
const ANCHORED_P99_LIMIT: f64 = 3.0;
/// Percent of a session's growth, in the median, with the default estimator.
const UNANCHORED_MEDIAN_LIMIT: f64 = 12.0;

/// Our count of a step.
struct Count {
    answer: Tokens,
    added: Tokens,
}

impl Count {
    fn total(&self) -> Tokens {
        self.answer + self.added
    }
}

/// What an estimator makes of every step of a session.
struct Counted<'s> {
    estimator: Estimator,
    steps: Vec<(&'s Step, Count)>,
}

/// Signed errors in percent.
#[derive(Default)]
struct Errors {
    /// Without the silently cut steps.
    seen: Vec<f64>,
    /// With nothing left out.
    all: Vec<f64>,
}

/// Whether counts are corrected by what was learnt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Learning {
    Off,
    On,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let files = match &args.files[..] {
        [] => corpus()?,
        files => files.to_vec(),
    };
    let scratch = paths::scratch("eval")?;
    let mut sessions = Vec::new();
    for file in &files {
        let steps = read(file, &scratch).map_err(|error| format!("{}: {error}", file.display()))?;
        if steps.is_empty() {
            println!(
                "left out: {} (no two answers with a usage)",
                paths::name(file)
            );
        } else {
            sessions.push(steps);
        }
    }
    let calls: usize = sessions.iter().map(Vec::len).sum();
    let cut: usize = sessions
        .iter()
        .flatten()
        .filter(|step| is_cut(step))
        .count();
    println!(
        "{} sessions, {} calls that follow another one within an epoch; {cut} of them silently \
         cut (prompt smaller by more than {})",
        sessions.len(),
        grouped(calls as u64),
        grouped(SILENT_SHRINK.into()),
    );
    if calls == 0 {
        return Err("nothing to measure".into());
    }

    let mut anchored = Table::new([
        "anchored, % of context",
        "steps",
        "bias",
        "p50",
        "p90",
        "p99",
        "max",
        "all p99",
        "all max",
    ]);
    let mut unanchored = Table::new([
        "unanchored, % of growth",
        "sessions",
        "bias",
        "median",
        "max",
        "all median",
        "all max",
    ]);
    let mut limits = Vec::new();
    for estimator in Estimator::ALL {
        let counted: Vec<Counted> = sessions
            .iter()
            .map(|steps| count(steps, estimator))
            .collect();
        for learning in [Learning::Off, Learning::On] {
            let name = match learning {
                Learning::Off => estimator.to_string(),
                Learning::On => format!("{estimator}, calibrated"),
            };
            let p99 = anchored_row(&mut anchored, &name, &anchored_errors(&counted, learning));
            let growth = growth_errors(&counted, learning);
            let median = unanchored_row(&mut unanchored, &name, &growth);
            if estimator == Estimator::default() && learning == Learning::Off {
                limits.push(("anchored p99", p99, ANCHORED_P99_LIMIT));
                limits.push(("unanchored median", median, UNANCHORED_MEDIAN_LIMIT));
            }
        }
    }
    println!("\n{anchored}\n{unanchored}");
    println!(
        "calibrated: with the factor learnt from earlier calls of the same session (anchored), \
         from the other sessions (unanchored)\nall: with nothing left out"
    );
    let mut failed = Vec::new();
    for (what, figure, limit) in limits {
        println!(
            "{what}, {}: {figure:.2} % (limit {limit} %)",
            Estimator::default()
        );
        if figure.is_nan() || figure > limit {
            failed.push(what);
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("over the limit: {}", failed.join(", ")).into())
    }
}

fn corpus() -> Result<Vec<PathBuf>> {
    let folder = recorded::corpus().ok_or("no corpus beside the project; name session files")?;
    paths::files(&folder.join("transcripts"), |name| {
        name.starts_with("cc-entire-") && name.ends_with(".jsonl.gz")
    })
}

fn read(file: &Path, scratch: &Path) -> Result<Vec<Step>> {
    steps(&Session::open(&recorded::unpacked(file, scratch))?)
}

fn is_cut(step: &Step) -> bool {
    step.after.prompt_tokens() + Tokens(SILENT_SHRINK) < step.before.prompt_tokens()
}

fn count(steps: &[Step], estimator: Estimator) -> Counted<'_> {
    let counter = estimator.counter();
    let tokens = |message: &ContextMessage| measure::count(message, counter).total();
    let count = |step: &Step| Count {
        answer: tokens(&step.answer),
        added: step.added.iter().map(tokens).sum(),
    };
    Counted {
        estimator,
        steps: steps.iter().map(|step| (step, count(step))).collect(),
    }
}

/// Learns from a step as the engine does: from growth only.
fn learn(calibration: &mut Calibration, estimator: Estimator, step: &Step, count: &Count) {
    let grown = step.after.prompt_tokens() - step.before.prompt_tokens();
    if grown > Tokens::ZERO {
        let sample = Sample {
            counted: count.total(),
            reported: grown,
        };
        calibration.observe(&step.model, estimator, sample);
    }
}

fn anchored_errors(sessions: &[Counted<'_>], learning: Learning) -> Errors {
    let mut errors = Errors::default();
    for session in sessions {
        let mut learnt = Calibration::default();
        for (step, count) in &session.steps {
            let following = learnt.apply(&step.model, session.estimator, count.added);
            let usage = step.before.with_plausible_output(count.answer);
            let foretold = Measurement::anchored(&usage, following).tokens;
            let real = f64::from(step.after.prompt_tokens().0.max(1));
            let error = (f64::from(foretold.0) - real) / real * 100.0;
            errors.all.push(error);
            if !is_cut(step) {
                errors.seen.push(error);
            }
            if learning == Learning::On {
                learn(&mut learnt, session.estimator, step, count);
            }
        }
    }
    errors
}

/// One error a session.
fn growth_errors(sessions: &[Counted<'_>], learning: Learning) -> Errors {
    let mut errors = Errors::default();
    for (at, session) in sessions.iter().enumerate() {
        let mut learnt = Calibration::default();
        if learning == Learning::On {
            let others = sessions
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at);
            for (step, count) in others.flat_map(|(_, other)| &other.steps) {
                learn(&mut learnt, session.estimator, step, count);
            }
        }
        let growth_error = |steps: &mut dyn Iterator<Item = &(&Step, Count)>| {
            let (mut counted, mut real) = (0.0, 0.0);
            for (step, count) in steps {
                let tokens = learnt.apply(&step.model, session.estimator, count.total());
                counted += f64::from(tokens.0);
                real += f64::from(step.after.prompt_tokens().0)
                    - f64::from(step.before.prompt_tokens().0);
            }
            (real > 0.0).then(|| (counted - real) / real * 100.0)
        };
        let seen = growth_error(&mut session.steps.iter().filter(|(step, _)| !is_cut(step)));
        errors.seen.extend(seen);
        errors.all.extend(growth_error(&mut session.steps.iter()));
    }
    errors
}

fn sizes(errors: &[f64]) -> Sorted {
    Sorted::of(errors.iter().map(|error| error.abs()))
}

/// Returns the 99th percentile.
fn anchored_row(table: &mut Table, name: &str, errors: &Errors) -> f64 {
    let (seen, all) = (sizes(&errors.seen), sizes(&errors.all));
    let p99 = seen.quantile(0.99);
    table.row([
        name.to_owned(),
        grouped(seen.len() as u64),
        format!("{:+.2}", Sorted::of(errors.seen.iter().copied()).median()),
        format!("{:.2}", seen.quantile(0.5)),
        format!("{:.2}", seen.quantile(0.9)),
        format!("{p99:.2}"),
        format!("{:.2}", seen.max()),
        format!("{:.2}", all.quantile(0.99)),
        format!("{:.2}", all.max()),
    ]);
    p99
}

/// Returns the median.
fn unanchored_row(table: &mut Table, name: &str, errors: &Errors) -> f64 {
    let (seen, all) = (sizes(&errors.seen), sizes(&errors.all));
    table.row([
        name.to_owned(),
        seen.len().to_string(),
        format!("{:+.1}", Sorted::of(errors.seen.iter().copied()).median()),
        format!("{:.1}", seen.median()),
        format!("{:.1}", seen.max()),
        format!("{:.1}", all.median()),
        format!("{:.1}", all.max()),
    ]);
    seen.median()
}
