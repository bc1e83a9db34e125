//! Beside our figures: what the agents' own compactions in the same recordings
//! kept, by the same measure.
//!
//! Where a recording was compacted by its agent, our session is compacted at
//! the same place. Both contexts are then asked for the same files and words.

use std::collections::BTreeMap;
use std::fmt;

use longhaul_tokens::Tokens;
use longhaul_transcript::Body;

use super::drive::{Running, Setup};
use super::event::{Channel, Event};
use super::kept::Kept;
use super::measures::names_file;
use super::score::Share;
use super::source::Source;
use super::truth::Truth;
use crate::Result;

/// The agents' windows.
const WINDOW: u32 = 200_000;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Changed,
    ChangedName,
    Read,
    ReadName,
    Said(Channel),
    Tokens,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Changed => f.write_str("files changed"),
            What::ChangedName => f.write_str("files changed, by name alone"),
            What::Read => f.write_str("files read"),
            What::ReadName => f.write_str("files read, by name alone"),
            What::Said(channel) => write!(f, "user text, {channel}"),
            What::Tokens => f.write_str("tokens left"),
        }
    }
}

/// What was kept of how much: by the agents, and by us.
#[derive(Debug, Clone, Copy, Default)]
struct Both {
    agents: Share,
    ours: Share,
}

/// Kept at the first and at the second compaction of a recording.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    kept: BTreeMap<(What, usize), Both>,
    compactions: [usize; 2],
}

impl Comparison {
    pub(super) fn of(sources: &[Source]) -> Result<Comparison> {
        let mut comparison = Comparison::default();
        for source in sources.iter().filter(|source| source.recorded_by_an_agent) {
            comparison.take(source)?;
        }
        Ok(comparison)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    fn take(&mut self, source: &Source) -> Result<()> {
        let ends: Vec<usize> = source
            .recorded_events
            .iter()
            .enumerate()
            .filter(|(_, placed)| matches!(placed.event, Event::Compacted(_)))
            .map(|(at, _)| at)
            .collect();
        let setup = Setup::new(WINDOW)?;
        let mut counters = setup.counters();
        let mut theirs = Running::new(&source.header, Tokens(0));
        let mut ours = Running::new(&source.header, Tokens(0));
        let mut count = 0;
        for entry in &source.recorded {
            theirs.push(entry.clone());
            if !matches!(entry.body, Body::Compaction(_)) {
                ours.push(entry.clone());
                continue;
            }
            let Some(end) = ends.get(count).filter(|_| count < 2) else {
                break;
            };
            setup.force(&mut ours, &mut counters, count as u32);
            let truth = Truth::of(&source.recorded_events[..*end], &source.cwd);
            let contexts = (Kept::foreign(&theirs), Kept::of(&ours));
            self.compactions[count] += 1;
            self.compare(count, source, &truth, &contexts);
            let tokens = (
                counters.independent(&theirs.messages()),
                counters.independent(&ours.messages()),
            );
            let both = self.kept.entry((What::Tokens, count)).or_default();
            for (share, tokens) in [(&mut both.agents, tokens.0), (&mut both.ours, tokens.1)] {
                share.good += i64::from(tokens);
                share.all += 1;
            }
            count += 1;
        }
        Ok(())
    }

    fn compare(&mut self, count: usize, source: &Source, truth: &Truth, contexts: &(Kept, Kept)) {
        let mut note = |what: What, holds: &dyn Fn(&Kept) -> bool| {
            let both = self.kept.entry((what, count)).or_default();
            for (share, context) in [
                (&mut both.agents, &contexts.0),
                (&mut both.ours, &contexts.1),
            ] {
                share.all += 1;
                share.good += i64::from(holds(context));
            }
        };
        let names =
            |context: &Kept, path: &str| names_file(&context.text, path, &source.cwd, truth);
        for path in &truth.changed {
            note(What::Changed, &|context| names(context, path));
            note(What::ChangedName, &|context| has_name(context, path));
        }
        for path in &truth.read {
            note(What::Read, &|context| names(context, path));
            note(What::ReadName, &|context| has_name(context, path));
        }
        for text in &truth.said {
            note(What::Said(text.said.channel), &|context| {
                context.holds(&text.said.text)
            });
        }
    }

    /// The table, in Markdown.
    pub(super) fn markdown(&self) -> String {
        let [first, second] = self.compactions;
        let mut text = format!(
            "| kept | agents, first ({first}) | longhaul, first | agents, second ({second}) | longhaul, second |\n\
             |---|---|---|---|---|\n"
        );
        let mut whats: Vec<What> = self.kept.keys().map(|(what, _)| *what).collect();
        whats.dedup();
        for what in whats {
            let cell = |share: Share| match (what, share.all) {
                (_, 0) => String::new(),
                (What::Tokens, all) => crate::table::grouped((share.good / all) as u64),
                (_, all) => format!("{:.0} % of {all}", share.value() * 100.0),
            };
            let both = |count: usize| self.kept.get(&(what, count)).copied().unwrap_or_default();
            let (first, second) = (both(0), both(1));
            text.push_str(&format!(
                "| {what} | {} | {} | {} | {} |\n",
                cell(first.agents),
                cell(first.ours),
                cell(second.agents),
                cell(second.ours)
            ));
        }
        text
    }
}

/// Whether a file's name stands there, whatever folder it is said to be in.
fn has_name(context: &Kept, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    context.text.match_indices(name).any(|(at, _)| {
        let before = context.text[..at].chars().next_back();
        let after = context.text[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}
