//! The tests of the shims, which are JavaScript.

use std::process::Command;

use crate::Result;
use crate::tally::Tally;
use crate::{paths, shell};

/// The oldest Node with the test runner that they use.
const OLDEST: u32 = 20;

/// Runs the tests of every shim against our program. A machine without Node is
/// no failure of ours.
pub(crate) fn test() -> Result<(bool, Tally)> {
    let mut all = (true, Tally::default());
    if let Err(reason) = usable() {
        println!("SKIPPED: the shims are not tested ({reason})");
        return Ok(all);
    }
    let program = shell::program()?;
    for shim in paths::files(&paths::root().join("integrations"), |_| true)? {
        let mut tests = Vec::new();
        for folder in ["test", "tests"].map(|name| shim.join(name)) {
            if folder.is_dir() {
                tests.extend(paths::files(&folder, |name| name.ends_with(".test.js"))?);
            }
        }
        if tests.is_empty() {
            continue;
        }
        let (content, output) = shell::tee(
            Command::new("node")
                .args(["--test", "--test-reporter=tap"])
                .args(tests)
                .env("LONGHAUL_BINARY", &program)
                .current_dir(&shim),
        )?;
        all.0 &= content;
        all.1 += tally(&output);
    }
    Ok(all)
}

fn usable() -> Result<(), String> {
    let version = shell::output(Command::new("node").arg("--version"))
        .map_err(|_| String::from("there is no Node here"))?;
    let major = version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST => Ok(()),
        _ => Err(format!("Node is {}, not {OLDEST} or newer", version.trim())),
    }
}

/// The closing lines of a run: `# pass 28`, `# fail 1`, `# skipped 2`.
fn tally(output: &str) -> Tally {
    let mut tally = Tally::default();
    for line in output.lines() {
        let Some((what, count)) = line
            .strip_prefix("# ")
            .and_then(|line| line.split_once(' '))
        else {
            continue;
        };
        let Ok(count) = count.trim().parse::<u64>() else {
            continue;
        };
        match what {
            "pass" => tally.passed += count,
            "fail" | "cancelled" => tally.failed += count,
            "skipped" | "todo" => tally.skipped += count,
            _ => {}
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_node_are_counted() {
        let output = "ok 1 - a\n# tests 5\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 1\n";
        let expected = Tally {
            passed: 3,
            failed: 1,
            skipped: 1,
        };
        assert_eq!(tally(output), expected);
    }
}
