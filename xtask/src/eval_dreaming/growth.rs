//! What a night takes the processor, from few lines of log to many.

use std::fs;
use std::path::Path;

use jiff::ToSpan;
use jiff::civil::date;
use jiff::tz::TimeZone;
use longhaul_memory::dream::{Candidate, Cause, Dreams, Settings};
use longhaul_memory::files::Limits;
use longhaul_memory::{MemoryFolder, Seal};
use longhaul_tokens::Estimator;

use crate::Result;
use crate::table::Table;

/// Lines of log of a night.
const SIZES: [usize; 4] = [400, 2_000, 5_000, 10_000];
/// Days over which they are spread.
const DAYS: usize = 7;
/// What ten thousand lines may take, in seconds of the processor.
const MOST_SECONDS: f64 = 10.0;
/// What a line may take more than one of four hundred.
const MOST_GROWTH: f64 = 1.5;
/// Short nights are dreamt so often that a tick of the clock does not matter.
const LEAST_LINES: usize = 10_000;

/// Prints what each size takes. Says whether it is within its limits.
pub(super) fn measure(scratch: &Path) -> Result<bool> {
    let mut table = Table::new(["lines", "candidates", "processor s", "µs a line", "growth"]);
    let mut first = None;
    let mut is_reached = true;
    for lines in SIZES {
        let times = LEAST_LINES.div_ceil(lines);
        let (mut seconds, mut found) = (0.0, 0);
        for time in 0..times {
            let folder = scratch.join(format!("{lines}-{time}"));
            let (took, candidates) = night(lines, &folder)?;
            seconds += took;
            found = candidates;
            fs::remove_dir_all(&folder)?;
        }
        let whole = seconds / times as f64;
        let a_line = whole / lines as f64;
        let growth = a_line / *first.get_or_insert(a_line);
        is_reached &= whole <= MOST_SECONDS && growth <= MOST_GROWTH;
        table.row([
            lines.to_string(),
            found.to_string(),
            format!("{whole:.2}"),
            format!("{:.0}", 1e6 * a_line),
            format!("{growth:.2} ×"),
        ]);
    }
    print!("{table}");
    println!("to reach: 10,000 lines in {MOST_SECONDS} s, growth {MOST_GROWTH} ×");
    Ok(is_reached)
}

/// Dreams of so many lines; says what that took and how many candidates it found.
fn night(lines: usize, folder: &Path) -> Result<(f64, usize)> {
    let work = folder.join("work");
    fs::create_dir_all(work.join("memory"))?;
    let memory = MemoryFolder::open(&work, Some(Seal::new([1; 32])))?;
    for day in 0..DAYS {
        let on = date(2026, 3, 1).saturating_add((day as i64).days());
        let mut text = format!("# {on}\n\n## 20:00 — Notes\n");
        for at in (0..lines).filter(|at| at % DAYS == day) {
            text.push_str(&format!("- {}\n", line(at)));
        }
        fs::write(work.join(format!("memory/{on}.md")), text)?;
    }
    let dreams = Dreams::new(&folder.join("state"), &memory);
    let settings = Settings {
        lookback_days: 7,
        promote_at: None,
        limits: Limits::default(),
        counter: &Estimator::Heuristic,
        recalls: &|_: &Candidate| 0,
        meaning: None,
    };
    let now = date(2026, 3, 7).at(23, 0, 0, 0).to_zoned(TimeZone::UTC)?;
    let lock = dreams.lock()?;
    let before = seconds()?;
    dreams.run(&lock, &now, Cause::Manual, &settings, None)?;
    let took = seconds()? - before;
    Ok((took, dreams.candidates()?.len()))
}

/// A line as logs have them: of a few hundred subjects, some said again, some with
/// another value.
fn line(at: usize) -> String {
    const WHAT: [&str; 8] = [
        "queue",
        "relay",
        "archive",
        "index",
        "cache",
        "gateway",
        "scheduler",
        "mirror",
    ];
    const DOES: [&str; 6] = [
        "listens on port",
        "keeps backups for days",
        "needs seconds to start",
        "sends messages a minute",
        "waits for retries of",
        "has workers",
    ];
    // Mixed so that neighbours have nothing in common.
    let mixed = at.wrapping_mul(2_654_435_761) >> 7;
    let what = WHAT[mixed % WHAT.len()];
    let does = DOES[(mixed / 8) % DOES.len()];
    let name = (mixed / 48) % (20 + at / 3);
    format!("The {what} of project{name} {does} {}", (mixed / 997) % 40)
}

/// Seconds of the processor that this process took (`man 5 proc`).
fn seconds() -> Result<f64> {
    /// `USER_HZ`, which Linux has fixed for programs.
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, after) = stat
        .rsplit_once(") ")
        .ok_or("/proc/self/stat has no name")?;
    let mut ticks = after.split_whitespace().skip(11).map(str::parse::<u64>);
    match (ticks.next(), ticks.next()) {
        (Some(Ok(user)), Some(Ok(system))) => Ok((user + system) as f64 / TICKS_A_SECOND),
        _ => Err("/proc/self/stat does not tell the time".into()),
    }
}
