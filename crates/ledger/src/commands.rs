//! Commands, how their latest run ended, and whether a failure still stands.
//!
//! A failure stands until the same command runs again without failing, a file that
//! it names is gone, or the user rejects it. A run behind a pipe (`… | tail`) counts
//! as any other: its status is the line's, now and the first time, so that a command
//! is listed by its latest run or not at all. A status that means "no" (`grep` found
//! nothing) and a look at a path that is not there are no failures.

use crate::facts::{CommandRun, FileChange, Outcome, Speaker};
use crate::ledger::{At, Ledger};
use crate::outcome::Ended;
use crate::shell::{means_no, only_looks, runs};
use crate::text::first_chars;

const MOST: usize = 200;
/// Characters of a command line that are kept.
const LONGEST: usize = 300;

impl Ledger {
    pub(crate) fn start_command(&mut self, at: At<'_>, command: &str, by: Speaker) {
        let text = first_chars(command.trim(), LONGEST);
        if text.is_empty() {
            return;
        }
        let parts = runs(command);
        let same = |run: &CommandRun| run.command == text && run.parts == parts.all;
        let mut run = match self.commands.iter().rposition(same) {
            Some(known) => self.commands.remove(known),
            None => {
                if self.commands.len() >= MOST {
                    let leaves = self.commands.iter().position(|run| !run.failing);
                    self.commands.remove(leaves.unwrap_or(0));
                }
                CommandRun {
                    command: text.to_owned(),
                    by,
                    outcome: Outcome::Running,
                    status: None,
                    error: None,
                    failing: false,
                    parts: parts.all,
                    real: parts.real,
                    provenance: Default::default(),
                    turn: 0,
                }
            }
        };
        run.outcome = Outcome::Running;
        run.by = by;
        // A text that was queued is heard inside a turn and begins none.
        run.turn = self.turns.last().map_or(0, |turn| turn.number);
        run.provenance.add(at.entry);
        self.working.last_command = Some((run.command.clone(), at.entry.clone()));
        self.commands.push(run);
    }

    /// Notes how a command ended.
    pub(crate) fn finish_command(&mut self, at: At<'_>, command: &str, ended: &Ended<'_>) {
        let text = first_chars(command.trim(), LONGEST);
        let outcome = match ended.rejected() {
            // It did not happen: whatever stood before stands no more.
            true => Outcome::Passed,
            false => ended.outcome(),
        };
        let is_answer = means_no(command, ended.status()) || ended.missed_a_path();
        let fails = outcome == Outcome::Failed && !is_answer;
        let now = runs(command);
        for run in self.commands.iter_mut().filter(|run| run.failing) {
            let within = |parts: &[u32], line: &[u32]| parts.iter().all(|one| line.contains(one));
            // A line that did not fail is the latest run of every command in it;
            // one that failed takes the place of the same one spelt otherwise.
            let settled = match (ended.rejected(), fails) {
                (true, _) => run.parts == now.all,
                (_, true) => run.real == now.real,
                (_, false) => within(&run.parts, &now.shown) || within(&run.real, &now.real),
            };
            run.failing = !settled;
        }
        let same = |run: &CommandRun| run.command == text && run.parts == now.all;
        if ended.rejected() {
            self.commands.retain(|run| !same(run));
            return;
        }
        let line = ended.line();
        let is_shown = now.real.iter().all(|one| now.shown.contains(one));
        let outcome = match outcome {
            Outcome::Passed if !is_shown => Outcome::Ended,
            outcome => outcome,
        };
        if let Some(run) = self.commands.iter_mut().rfind(|run| same(run)) {
            run.outcome = outcome;
            run.status = ended.status();
            run.failing = fails;
            run.error = fails.then_some(line).filter(|line| !line.is_empty());
            if run.provenance.last() != Some(at.entry) {
                run.provenance.add(at.entry);
                run.provenance.seen = run.provenance.seen.saturating_sub(1);
            }
        }
        // What only looks at things is no check.
        if !only_looks(command) {
            let outcome = match outcome {
                // A status that means "no" is an answer.
                Outcome::Failed if !fails => Outcome::Passed,
                outcome => outcome,
            };
            self.turn_ran(at, command, outcome);
        }
    }

    /// A file is gone: what failed with it in hand cannot be run again.
    pub(crate) fn settle_gone(&mut self, path: &str) {
        let names = |command: &str, path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            let mut words = command.split(|c: char| c.is_whitespace() || "'\"=();|&<>".contains(c));
            words.any(|word| {
                word == path
                    || (word.ends_with(name) && path.ends_with(word.trim_start_matches("./")))
            })
        };
        if path.is_empty() || path.ends_with('/') {
            return;
        }
        let spelt: Vec<String> = std::iter::once(path.to_owned())
            .chain(imported_as(path))
            .collect();
        for run in self.commands.iter_mut().filter(|run| run.failing) {
            run.failing = !spelt.iter().any(|path| names(&run.command, path));
        }
    }

    /// Commands whose latest run failed, the newest first.
    pub fn failing(&self) -> impl Iterator<Item = &CommandRun> {
        self.commands.iter().rev().filter(|run| run.failing)
    }
}

/// How an import of TypeScript spells a source file: TypeScript's reference of
/// modules, "file extension substitution".
const SUBSTITUTED: &[(&str, &str)] = &[
    (".ts", ".js"),
    (".tsx", ".js"),
    (".tsx", ".jsx"),
    (".mts", ".mjs"),
    (".cts", ".cjs"),
];

fn imported_as(path: &str) -> impl Iterator<Item = String> + '_ {
    SUBSTITUTED
        .iter()
        .filter_map(move |(source, import)| Some(format!("{}{import}", path.strip_suffix(source)?)))
}

/// Whether a change takes a file away.
pub(crate) fn takes_away(change: FileChange) -> bool {
    matches!(change, FileChange::Deleted | FileChange::Moved)
}
