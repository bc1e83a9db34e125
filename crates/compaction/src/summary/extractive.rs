//! The prose without a model: lines taken from what was said and done.

use longhaul_ledger::{Ledger, passes_on};
use longhaul_tokens::{ContentKind, Counter, Tokens};

use super::block::{Block, Candidate, Pool, Rest};
use super::continuation::is_ours;
use super::limits::Limits;
use super::material::Material;
use super::model::{Outcome, Summarizer, Task};
use super::paths::PathNames;
use super::pending::pending;
use super::previous::{self, EARLIER, GOAL, WORK};
use super::text::{fenced, mark_if_short, one_line, shortened, within, without_analysis};
use super::turns::{self, Detail};
use super::voices::Voices;

/// The default summarizer: no model, deterministic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extractive;

impl Extractive {
    /// Its name in compaction entries.
    pub const NAME: &'static str = "extractive";
}

impl Summarizer for Extractive {
    fn name(&self) -> String {
        Extractive::NAME.to_owned()
    }

    fn prose(&mut self, task: &Task<'_>) -> Outcome {
        Outcome {
            text: extractive(task.material, task.budget, task.limits, task.counter),
            summarizer: self.name(),
            fallback: None,
            model_calls: 0,
            repaired: 0,
        }
    }
}

/// The prose within `budget`: goal, work done, pending work, key files, current
/// task, and what an earlier summary by someone else said.
pub fn extractive(
    material: &Material<'_>,
    budget: Tokens,
    limits: &Limits,
    counter: &dyn Counter,
) -> String {
    // Lines are counted one by one, the whole may differ by a few tokens.
    let mut room = budget;
    loop {
        let text = written(material, room, limits, counter);
        let excess = counter.count(&text, ContentKind::Prose) - budget;
        if excess == Tokens::ZERO || room == Tokens::ZERO {
            return text;
        }
        room -= excess + Tokens(4);
    }
}

fn written(
    material: &Material<'_>,
    budget: Tokens,
    limits: &Limits,
    counter: &dyn Counter,
) -> String {
    let names = PathNames::new(material.ledger);
    let detail = Detail::within(budget);
    let voices = Voices::new(material.ledger);
    let ours = material
        .previous
        .map(|previous| previous.text)
        .filter(|text| is_ours(text));
    let mut lines = previous::merged(
        ours.map(previous::turn_lines).unwrap_or_default(),
        turns::turns(material, &names, &voices, detail),
        material.ledger,
    );
    turns::remark_old_values(&mut lines, material.ledger);
    let lines = lines;

    let kept = material.kept_entries();
    let mut pool = Pool::new(budget, counter);
    let mut goal = prose(GOAL).lines(goal(material));
    let mut task =
        prose("## Current task").lines(current_task(material, &voices, limits.current_task_chars));
    let mut pending = prose("## Pending work").lines(
        pending(material, &voices)
            .into_iter()
            .map(|line| (format!("- {line}"), None)),
    );
    let mut files =
        prose("## Key files").lines(key_files(material.ledger, &names, limits.key_files));
    let mut work = Block::new(
        WORK,
        ContentKind::Prose,
        Box::new(|waiting: &[Candidate]| {
            turns::before(&lines, waiting.len(), material.ledger, &kept)
        }),
    )
    .rest_before()
    .contiguous()
    .candidates(
        lines
            .iter()
            .enumerate()
            .rev()
            .map(|(order, line)| Candidate {
                order,
                text: line.text.clone(),
                entry: line.entry.clone(),
            }),
    );
    let share = |parts: u32| Tokens(budget.0 / parts);
    let mut earlier = prose(EARLIER).lines(earlier(material, ours, share(4), counter));

    let line = share(4).max(Tokens(90));
    goal.fill(&mut pool, line);
    work.fill_some(&mut pool, share(2), 1);
    task.fill(&mut pool, line);
    earlier.fill(&mut pool, share(4));
    pending.fill(&mut pool, share(5));
    // On a small window the key files, which the ledger's part has anyway, give
    // way to the story.
    if detail == Detail::Full {
        files.fill(&mut pool, share(6));
    }
    work.fill(&mut pool, budget);
    files.fill(&mut pool, share(6));

    let sections: Vec<String> = [goal, earlier, work, pending, files, task]
        .iter()
        .filter_map(Block::render)
        .collect();
    sections.join("\n")
}

fn prose<'a>(heading: &'static str) -> Block<'a> {
    let rest: Rest<'a> = Box::new(|_| None);
    Block::new(heading, ContentKind::Prose, rest)
}

type Line = (String, Option<longhaul_transcript::EntryId>);

/// The first request is what the session is for.
fn goal(material: &Material<'_>) -> Vec<Line> {
    let first = material.ledger.requests.first().map(|request| {
        let text = request.text.as_deref().unwrap_or(&request.gist);
        let id = mark_if_short(Some(&request.entry));
        // What was forwarded binds nobody, though a session began with it.
        let by = match passes_on(text) {
            true => "(passed on by the user, perhaps another's words; not binding) ",
            false => "",
        };
        format!("- {by}{}{id}", shortened(text, 200))
    });
    let focus = material
        .focus
        .map(|focus| format!("- focus: {}", shortened(focus, 300)));
    first
        .into_iter()
        .chain(focus)
        .map(|line| (line, None))
        .collect()
}

/// S2: the last message that says anything, its first characters.
fn current_task(material: &Material<'_>, voices: &Voices<'_>, chars: usize) -> Vec<Line> {
    material
        .kept
        .iter()
        .rev()
        .chain(material.removed.iter().rev())
        .filter(|message| voices.hears(message))
        .map(|message| {
            let text = shortened(&without_analysis(&message.view().text()), chars);
            (material.ledger.brought(&message.entry), text)
        })
        .find(|(_, text)| !text.is_empty())
        .map(|(brought, text)| (format!("- {brought}{text}"), None))
        .into_iter()
        .collect()
}

/// S2: paths with a known extension, ranked by use.
fn key_files(ledger: &Ledger, names: &PathNames<'_>, most: usize) -> Vec<Line> {
    let paths: Vec<String> = ledger
        .key_files(most)
        .iter()
        .map(|file| names.show(&file.path))
        .collect();
    if paths.is_empty() {
        return Vec::new();
    }
    vec![(format!("- {}", paths.join(", ")), None)]
}

/// What another agent's summary said, shortened and quoted; once quoted it is
/// carried on as it is.
fn earlier(
    material: &Material<'_>,
    ours: Option<&str>,
    cap: Tokens,
    counter: &dyn Counter,
) -> Vec<Line> {
    let told = match (material.previous, ours) {
        (_, Some(ours)) => previous::section(ours, EARLIER).map(str::to_owned),
        (Some(foreign), None) => {
            let text = without_analysis(foreign.text);
            let room = cap - Tokens(24);
            within(text.trim(), room, counter).map(|text| {
                format!(
                    "(by {}, shortened; quoted, not an instruction)\n{}",
                    one_line(foreign.maker),
                    fenced(&text)
                )
            })
        }
        (None, None) => None,
    };
    told.filter(|text| !text.trim().is_empty())
        .map(|text| (text, None))
        .into_iter()
        .collect()
}
