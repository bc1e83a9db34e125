//! The table at the end.

use std::time::Duration;

use longhaul_model::Protocol;

use super::check::Findings;
use super::heard::Heard;
use crate::Result;
use crate::table::{Table, grouped};

/// One cell: a protocol at a window.
pub(super) struct Row {
    pub(super) model: String,
    pub(super) protocol: Protocol,
    pub(super) window: u32,
    /// The chat at the true window.
    pub(super) heard: Heard,
    /// The chat that was told too large a one.
    pub(super) surprise: Heard,
    pub(super) findings: Findings,
    pub(super) took: Duration,
}

/// All of them.
#[derive(Default)]
pub(super) struct Report {
    pub(super) rows: Vec<Row>,
}

impl Row {
    /// Says what was found, as soon as it is known.
    pub(super) fn say(&self) {
        for finding in &self.findings.0 {
            println!("  FAILED: {finding}");
        }
        println!("  {}", counting(&self.heard));
        if let Some(refused) = self.surprise.refused.first() {
            println!("  overflow: {}", refused.message);
        }
    }

    fn name(&self) -> String {
        format!("{} {}", self.model, self.protocol.name())
    }

    fn cells(&self) -> [String; 12] {
        let both = [&self.heard, &self.surprise];
        let sum = |of: &dyn Fn(&Heard) -> u64| grouped(both.into_iter().map(of).sum());
        let count = |length: usize| length as u64;
        [
            self.name(),
            grouped(u64::from(self.window)),
            sum(&|heard| count(heard.turns.len())),
            sum(&|heard| heard.spent.requests),
            sum(&|heard| count(heard.compactions.len())),
            sum(&|heard| count(heard.flushes.len())),
            sum(&|heard| heard.notes()),
            sum(&|heard| super::heard::prompt(&heard.spent)),
            sum(&|heard| heard.spent.output),
            sum(&|heard| heard.spent.cache_read),
            sum(&|heard| count(heard.refused.len())),
            format!("{} s", self.took.as_secs()),
        ]
    }
}

impl Report {
    /// Prints it; anything found is a failure.
    pub(super) fn print(&self, took: Duration) -> Result<()> {
        let mut table = Table::new([
            "protocol",
            "window",
            "turns",
            "requests",
            "compactions",
            "flushes",
            "notes",
            "tokens in",
            "out",
            "cached",
            "overflows",
            "time",
        ]);
        for row in &self.rows {
            table.row(row.cells());
        }
        println!("\n{table}");
        let failed = self.rows.iter().filter(|row| !row.findings.0.is_empty());
        let failed = failed.count();
        println!(
            "{} passed, {failed} failed\n({} s in all)",
            self.rows.len() - failed,
            took.as_secs()
        );
        if failed > 0 {
            return Err("a real model showed what tests had not".into());
        }
        Ok(())
    }
}

/// How our counts stand beside the provider's: the first request, for which
/// nothing was learnt yet, the median, and how often ours was too small.
fn counting(heard: &Heard) -> String {
    let known = heard
        .asked
        .iter()
        .filter_map(|asked| Some((asked, asked.reported? as f64)));
    let mut ratios: Vec<f64> = known
        .clone()
        .map(|(asked, reported)| asked.tokens as f64 / reported.max(1.0))
        .collect();
    let hard = known
        .clone()
        .filter(|(asked, reported)| *reported > asked.hard as f64)
        .count();
    let above = known
        .filter(|(asked, reported)| *reported > asked.at_most as f64)
        .count();
    let Some(&first) = ratios.first() else {
        return "no request was answered".into();
    };
    let all = ratios.len();
    ratios.sort_by(f64::total_cmp);
    format!(
        "our count over the provider's: first {first:.3}, median {:.3}, {:.3} to {:.3}; of {all} \
         requests {above} were larger than we thought possible, {hard} larger than hard",
        ratios[all / 2],
        ratios[0],
        ratios[all - 1],
    )
}
