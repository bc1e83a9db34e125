//! What the README shows is what the command prints.

use crate::machine::{Machine, Ran};

const README: &str = include_str!("../../../../README.md");

/// The first block of output below a line of the README.
fn shown(below: &str) -> Vec<&'static str> {
    let (_, after) = README
        .split_once(below)
        .unwrap_or_else(|| panic!("no {below:?}"));
    let (_, block) = after.split_once("```text\n").unwrap();
    let (block, _) = block.split_once("\n```").unwrap();
    block.lines().collect()
}

/// A line without what depends on the machine: how long something took.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |at: usize| {
        let unit = words
            .get(at + 1)
            .map(|unit| unit.trim_end_matches([':', ')', ',']));
        matches!(unit, Some("ms" | "s")) && words[at].trim_start_matches('(').parse::<f64>().is_ok()
    };
    let kept = (0..words.len())
        .filter(|at| !is_time(*at))
        .map(|at| words[at]);
    kept.collect::<Vec<_>>().join(" ")
}

/// Every line stands in the output, in this order; ` …` stands for lines left out.
fn assert_printed(shown: &[&str], ran: &Ran) {
    assert_eq!(ran.code, 0, "{ran:?}");
    let all = format!("{}\n{}", ran.err, ran.out);
    let mut printed = all.lines().map(timeless);
    for line in shown.iter().filter(|line| line.trim() != "…") {
        let line = timeless(line);
        assert!(
            printed.any(|printed| printed == line),
            "the README shows what is not printed (any more): {line}\n{all}"
        );
    }
}

#[test]
fn the_replay_that_the_readme_shows_is_the_one_of_a_machine_without_agents() {
    let machine = Machine::new();
    let block = shown("## What it looks like");
    assert_eq!(block[0], "$ longhaul replay");
    assert_printed(&block[1..], &machine.run_line("replay"));
}

#[test]
fn the_compaction_that_the_readme_shows_is_the_one_of_its_sample() {
    let machine = Machine::new();
    let (_, commands) = README.split_once("-- sample demo.jsonl ").unwrap();
    let options = commands.lines().next().unwrap();
    assert_eq!(
        machine
            .run_line(&format!("sample demo.jsonl {options}"))
            .code,
        0
    );
    let block = shown("-- compact demo.jsonl --dry-run");
    assert_printed(&block, &machine.run_line("compact demo.jsonl --dry-run"));
}
