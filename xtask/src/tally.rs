//! Counting what test runners say about themselves.

use std::fmt;
use std::ops::AddAssign;

/// Tests by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// Adds up the closing lines of cargo test and of nextest. What a failed
    /// test printed is shown indented, and may hold such a line too.
    pub(crate) fn of(output: &str) -> Tally {
        let mut tally = Tally::default();
        for line in output.lines() {
            let counts = match line.strip_prefix("test result: ") {
                Some(counts) => Some(counts),
                None => line
                    .trim_start()
                    .strip_prefix("Summary [")
                    .and_then(|line| line.split_once(" run: "))
                    .map(|(_, counts)| counts),
            };
            if let Some(counts) = counts {
                tally += Tally::of_counts(counts);
            }
        }
        tally
    }

    /// `3 passed (1 slow), 1 exec failed, 1 timed out, 2 skipped`; what stands
    /// in brackets is part of the number before it.
    fn of_counts(counts: &str) -> Tally {
        let mut tally = Tally::default();
        for part in counts.split([',', ';', '.']) {
            let part = part.split('(').next().unwrap_or_default().trim();
            let Some((count, how)) = part.split_once(' ') else {
                continue;
            };
            let Ok(count) = count.parse::<u64>() else {
                continue;
            };
            match how {
                "passed" => tally.passed += count,
                "failed" | "exec failed" | "timed out" => tally.failed += count,
                "skipped" | "ignored" => tally.skipped += count,
                _ => {}
            }
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_are_understood() {
        let nextest = "    test result: FAILED. 0 passed; 1 failed; 0 ignored\n     \
                       Summary [   0.02s] 12 tests run: 8 passed (1 slow, 2 flaky), 2 failed, \
                       1 exec failed, 1 timed out, 3 skipped\n";
        let cargo = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; \
                     finished in 0.51s\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n";
        let tally = |passed, failed, skipped| Tally {
            passed,
            failed,
            skipped,
        };
        assert_eq!(Tally::of(nextest), tally(8, 4, 3));
        assert_eq!(Tally::of(cargo), tally(6, 2, 1));
        assert_eq!(Tally::of("nothing"), Tally::default());
        assert_eq!(tally(8, 4, 3).to_string(), "8 passed, 4 failed, 3 skipped");
        assert_eq!(tally(8, 0, 0).to_string(), "8 passed, 0 failed");
    }
}
