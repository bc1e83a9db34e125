//! How things look: numbers, sizes, times, bars and tables.

use std::path::Path;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use console::{Style, style};
use longhaul_compaction::Risk;
use longhaul_engine::catalog::Count;
use longhaul_tokens::Level;
use longhaul_transcript::{Epoch, Millis};

/// A number with thousands separators.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    let seconds = (now.0 - then.0) / 1000;
    if seconds < 0 {
        return format!("in the future ({})", then.to_iso());
    }
    let (count, unit) = match seconds {
        0..=4 => return "just now".into(),
        5..=59 => (seconds, "second"),
        60..=3_599 => (seconds / 60, "minute"),
        3_600..=86_399 => (seconds / 3_600, "hour"),
        86_400..=5_183_999 => (seconds / 86_400, "day"),
        5_184_000..=63_071_999 => (seconds / 2_592_000, "month"),
        _ => (seconds / 31_536_000, "year"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
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

/// The start of a text, on one line.
pub(crate) fn gist(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean: String = line.chars().filter(|c| !c.is_control()).collect();
    if clean.chars().count() <= max {
        clean
    } else {
        let head: String = clean.chars().take(max.saturating_sub(1)).collect();
        format!("{head}…")
    }
}

/// A quiet table without lines.
pub(crate) fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(
        head.iter()
            .map(|name| Cell::new(style(name).dim().to_string())),
    );
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// Prints a table without trailing blanks.
pub(crate) fn print_table(table: &Table) {
    for line in table.lines() {
        println!("{}", line.trim_end());
    }
}

/// A cell of numbers.
pub(crate) fn right(text: impl ToString) -> Cell {
    Cell::new(text.to_string()).set_alignment(CellAlignment::Right)
}

/// A label and a value, aligned.
pub(crate) fn row(label: &str, value: impl std::fmt::Display) {
    println!("{} {value}", style(format!("{label:<16}")).dim());
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
        assert_eq!(ago(Millis(0), Millis(0)), "just now");
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
        assert_eq!(gist("日本語テキスト", 4), "日本語…");
    }
}
