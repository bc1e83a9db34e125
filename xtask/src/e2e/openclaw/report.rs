//! What was seen, and what was wrong.

use std::time::Duration;

use super::model::{Model, WINDOW};
use super::trail::Served;
use crate::Result;
use crate::table::{Table, grouped};

#[derive(Default)]
pub(super) struct Report {
    part: String,
    checks: u64,
    findings: Vec<String>,
    pub(super) turns: u64,
    pub(super) requests: u64,
    pub(super) compactions: usize,
    /// Requests in which the fact of the first message was not to be seen.
    pub(super) without_fact: u64,
    /// Tokens of the largest request.
    pub(super) largest: u64,
    pub(super) served: Vec<Served>,
}

impl Report {
    /// What is checked from here on belongs to this part.
    pub(super) fn begin(&mut self, part: &str) {
        part.clone_into(&mut self.part);
    }

    pub(super) fn check(&mut self, holds: bool, otherwise: impl Into<String>) {
        self.checks += 1;
        if !holds {
            self.failed(otherwise);
        }
    }

    pub(super) fn failed(&mut self, what: impl Into<String>) {
        let finding = format!("{}: {}", self.part, what.into());
        // The same thing goes wrong with one request after the other.
        if !self.findings.contains(&finding) {
            println!("  FAILED: {finding}");
        }
        self.findings.push(finding);
    }

    /// Prints it; anything found is a failure.
    pub(super) fn print(&self, model: &Model, took: Duration) -> Result<()> {
        let mut table = Table::new(["call", "times", "median ms", "slowest ms"]);
        for method in ["bootstrap", "assemble", "compact", "commitTurn", "maintain"] {
            let mut times: Vec<f64> = self
                .served
                .iter()
                .filter(|served| served.method == method)
                .map(|served| served.milliseconds)
                .collect();
            times.sort_by(f64::total_cmp);
            let at = |index: usize| times.get(index).map_or("-".into(), |ms| format!("{ms:.1}"));
            table.row([
                method.to_owned(),
                grouped(times.len() as u64),
                at(times.len() / 2),
                at(times.len().saturating_sub(1)),
            ]);
        }
        println!("\n{table}");
        let sent: u64 = model.since(0).iter().map(|request| request.tokens).sum();
        println!(
            "{} turns, {} requests of the agent ({} tokens, {} windows of {}; the largest {}), {} \
             compactions by themselves; the fact was in all requests but {}",
            self.turns,
            self.requests,
            grouped(sent),
            sent / WINDOW,
            grouped(WINDOW),
            grouped(self.largest),
            self.compactions,
            self.without_fact,
        );
        println!(
            "{} checks, {} failed ({} s)",
            self.checks,
            self.findings.len(),
            took.as_secs()
        );
        if self.findings.is_empty() {
            return Ok(());
        }
        Err("OpenClaw and longhaul do not go together as they should".into())
    }
}
