//! Errors, and whether they are still there.

use crate::facts::{Provenance, Trouble};
use crate::ledger::{At, Ledger};
use crate::outcome::Ended;
use crate::shell::only_looks;
use crate::text::clip;
use crate::working::OpenTrouble;

const MOST: usize = 200;

impl Ledger {
    /// Notes how something ended: a failure is a trouble, a success resolves
    /// the earlier troubles of the same thing.
    pub(crate) fn settle(&mut self, at: At<'_>, runs: Vec<String>, cause: &str, ended: &Ended<'_>) {
        let cause = cause.trim().lines().next().unwrap_or("");
        if ended.passed() {
            self.resolve(at, &runs);
            return;
        }
        let line = ended.line();
        let line = if line.is_empty() { "(no output)" } else { line };
        let same = self.troubles.iter().rposition(|trouble| {
            trouble.resolved.is_none() && trouble.cause == cause && trouble.line == line
        });
        if let Some(known) = same {
            let mut trouble = self.troubles.remove(known);
            trouble.provenance.add(at.entry);
            let first = trouble.provenance.first();
            if let Some(open) = self
                .working
                .open_troubles
                .iter_mut()
                .find(|open| Some(&open.entry) == first)
            {
                open.left = runs;
            }
            self.troubles.push(trouble);
            return;
        }
        if self.troubles.len() >= MOST {
            let leaves = self
                .troubles
                .iter()
                .position(|trouble| trouble.resolved.is_some())
                .unwrap_or(0);
            let gone = self.troubles.remove(leaves);
            if gone.resolved.is_none() {
                self.forget(&gone);
            }
        }
        let looks = runs
            .iter()
            .all(|run| run.starts_with('\u{1}') || only_looks(run));
        self.working.open_troubles.push(OpenTrouble {
            entry: at.entry.clone(),
            left: runs,
            work: !looks && !refused(line),
        });
        self.troubles.push(Trouble {
            line: line.to_owned(),
            cause: clip(cause, 1_000).to_owned(),
            provenance: Provenance::new(at.entry.clone()),
            resolved: None,
        });
    }

    /// What passed is no longer left to pass.
    fn resolve(&mut self, at: At<'_>, runs: &[String]) {
        let mut gone = Vec::new();
        self.working.open_troubles.retain_mut(|open| {
            open.left.retain(|run| !runs.contains(run));
            if open.left.is_empty() {
                gone.push(open.entry.clone());
            }
            !open.left.is_empty()
        });
        if gone.is_empty() {
            return;
        }
        for trouble in &mut self.troubles {
            if trouble.resolved.is_none()
                && trouble
                    .provenance
                    .first()
                    .is_some_and(|first| gone.contains(first))
            {
                trouble.resolved = Some(at.entry.clone());
            }
        }
    }

    fn forget(&mut self, gone: &Trouble) {
        let first = gone.provenance.first();
        self.working
            .open_troubles
            .retain(|open| Some(&open.entry) != first);
    }

    /// The newest piece of work that fails.
    pub(crate) fn failing(&self) -> Option<&Trouble> {
        if !self.working.open_troubles.iter().any(|open| open.work) {
            return None;
        }
        self.unresolved().find(|trouble| {
            let first = trouble.provenance.first();
            self.working
                .open_troubles
                .iter()
                .any(|open| open.work && Some(&open.entry) == first)
        })
    }
}

/// How agents say that the user did not let a call through.
fn refused(line: &str) -> bool {
    line.starts_with("The user doesn't want to")
        || line.contains("rejected by user")
        || line.contains("user rejected")
        || line.contains("denied by user")
}
