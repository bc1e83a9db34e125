//! How things look: numbers, sizes, times, bars and texts.

use std::path::Path;

use console::truncate_str;
use indicatif::HumanCount;
use longhaul_compaction::Risk;
use longhaul_engine::catalog::Count;
pub(crate) use longhaul_engine::standing::percent;
use longhaul_tokens::Level;
use longhaul_transcript::{Epoch, Millis};

use crate::out;
use crate::style::Style;

/// A number with thousands separators.
pub(crate) fn number(value: u64) -> String {
    HumanCount(value).to_string()
}

/// So many of something, counted in the regular way.
pub(crate) fn plural(count: u64, one: &str) -> String {
    plural_of(count, one, &format!("{one}s"))
}

/// So many of something.
pub(crate) fn plural_of(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// So many entries.
pub(crate) fn entries(count: u64) -> String {
    plural_of(count, "entry", "entries")
}

/// So many candidates of a dream.
pub(crate) fn waiting(count: usize) -> String {
    plural_of(count as u64, "candidate waits", "candidates wait")
}

/// A size in bytes, in the unit people would use.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = value as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{value} B")
    } else if size < 9.95 {
        format!("{size:.1} {}", UNITS[unit])
    } else {
        format!("{size:.0} {}", UNITS[unit])
    }
}

/// How long ago, in one unit.
pub(crate) fn ago(now: Millis, then: Millis) -> String {
    match elapsed(now, then) {
        None => format!("in the future ({})", then.to_iso()),
        Some((0, _)) => "just now".into(),
        Some((1, unit)) => format!("1 {} ago", unit.name),
        Some((count, unit)) => format!("{count} {}s ago", unit.name),
    }
}

/// How long ago, for a narrow column.
pub(crate) fn ago_short(now: Millis, then: Millis) -> String {
    match elapsed(now, then) {
        None => "in future".into(),
        Some((0, _)) => "just now".into(),
        Some((count, unit)) => format!("{count} {} ago", unit.short),
    }
}

struct Unit {
    seconds: i64,
    name: &'static str,
    short: &'static str,
}

const fn unit(seconds: i64, name: &'static str, short: &'static str) -> Unit {
    Unit {
        seconds,
        name,
        short,
    }
}

/// Each unit with the seconds from which on it is used, so that nothing is
/// "1 month ago" when it could be "45 days ago".
const UNITS: [(i64, Unit); 6] = [
    (63_072_000, unit(31_536_000, "year", "y")),
    (5_184_000, unit(2_592_000, "month", "mo")),
    (86_400, unit(86_400, "day", "d")),
    (3_600, unit(3_600, "hour", "h")),
    (60, unit(60, "minute", "min")),
    (0, unit(1, "second", "s")),
];

/// The time between in its unit; none if it has not come yet, zero if it is
/// only moments.
fn elapsed(now: Millis, then: Millis) -> Option<(i64, &'static Unit)> {
    const MOMENTS: i64 = 5;
    let seconds = now.0.saturating_sub(then.0).div_euclid(1000);
    if seconds < 0 {
        return None;
    }
    let (_, unit) = UNITS.iter().find(|(from, _)| seconds >= *from)?;
    let count = if seconds < MOMENTS {
        0
    } else {
        seconds / unit.seconds
    };
    Some((count, unit))
}

/// A path with the home folder shortened.
pub(crate) fn path(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".into(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// A count that may be only a lower bound.
pub(crate) fn count(count: Count) -> String {
    match count {
        Count::Exact(n) => number(n),
        Count::AtLeast(n) => format!("{}+", number(n)),
    }
}

/// A number of compactions that may be only a lower bound.
pub(crate) fn epoch(epoch: Epoch) -> String {
    match epoch {
        Epoch::Exact(n) => n.to_string(),
        Epoch::AtLeast(n) => format!("{n}+"),
    }
}

/// The colour of a level.
pub(crate) fn level(level: Level) -> Style {
    match level {
        Level::Calm => Style::new().green(),
        Level::Gauge | Level::Checkpoint => Style::new().yellow(),
        Level::Activation | Level::Hard | Level::Full => Style::new().red(),
    }
}

/// The colour of a risk.
pub(crate) fn risk(risk: Risk) -> Style {
    match risk {
        Risk::Low => Style::new().green(),
        Risk::Medium => Style::new().yellow(),
        Risk::High | Risk::Critical => Style::new().red(),
    }
}

/// A bar of `width` characters, filled to `share`.
pub(crate) fn bar(share: f64, width: usize) -> String {
    let share = share.clamp(0.0, 1.0);
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let mut text = "█".repeat(eighths / 8);
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    text.push_str(PARTS[eighths % 8]);
    let used = eighths.div_ceil(8);
    text.push_str(&"░".repeat(width.saturating_sub(used)));
    text
}

/// The start of a text, on one line of so many columns.
pub(crate) fn gist(text: &str, columns: usize) -> String {
    // Only the start is shown, so only the start of a megabyte is looked at.
    let start: String = text.chars().take(columns * 4 + 256).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = line.chars().filter(|c| !out::is_unseemly(*c)).collect();
    truncate_str(&clean, columns, "…").into_owned()
}

/// So much of what somebody gave is repeated to them.
const REPEATED: usize = 80;

/// What somebody gave, in quotes, for saying that it is not there; of a long
/// text the start, without the part of a secret that a cut would leave.
pub(crate) fn quoted(text: &str) -> String {
    if text.chars().nth(REPEATED).is_none() {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(REPEATED * 8).collect();
    format!("{:?}", gist(&out::redacted(&start), REPEATED))
}

/// The end of a text that would be too long for its column.
pub(crate) fn ending(text: &str, columns: usize) -> String {
    let length = text.chars().count();
    if length <= columns {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length + 1 - columns).collect();
    format!("…{tail}")
}

/// The end of a path, in whole folders where one fits.
pub(crate) fn folder_ending(path: &str, columns: usize) -> String {
    let end = ending(path, columns);
    match end.strip_prefix('…').and_then(|rest| rest.split_once('/')) {
        Some((_, folders)) if !folders.is_empty() => format!("…/{folders}"),
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(12), "12");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_440_000), "1.4 MB");
        assert_eq!(bytes(999_900), "1.0 MB");
        assert_eq!(ago(Millis(10_000_000), Millis(2_800_000)), "2 hours ago");
        assert_eq!(ago(Millis(60_000), Millis(0)), "1 minute ago");
        assert_eq!(ago(Millis(0), Millis(0)), "just now");
        assert_eq!(
            ago(Millis(0), Millis(5)),
            "in the future (1970-01-01T00:00:00.005Z)"
        );
        assert_eq!(ago_short(Millis(86_400_000 * 3), Millis(0)), "3 d ago");
    }

    #[test]
    fn bars_fill_their_width() {
        assert_eq!(bar(0.0, 4), "░░░░");
        assert_eq!(bar(0.5, 4), "██░░");
        assert_eq!(bar(2.0, 4), "████");
        assert_eq!(bar(0.53, 4).chars().count(), 4);
    }

    #[test]
    fn a_gist_is_one_line_and_cut_on_characters() {
        assert_eq!(gist("a\n  b\tc", 10), "a b c");
        assert_eq!(gist("日本語テキスト", 7), "日本語…");
        assert_eq!(gist("a\u{1b}[31mb\u{202e}c", 20), "a[31mbc");
    }

    #[test]
    fn an_ending_keeps_what_tells_folders_apart() {
        assert_eq!(ending("/home/ada/work/app", 8), "…ork/app");
        assert_eq!(folder_ending("/home/ada/work/app", 8), "…/app");
        assert_eq!(
            folder_ending("/home/ada/work/app", 80),
            "/home/ada/work/app"
        );
        assert_eq!(folder_ending("/home/ada/a-very-long-name", 8), "…ng-name");
        assert_eq!(ending("short", 8), "short");
    }
}
