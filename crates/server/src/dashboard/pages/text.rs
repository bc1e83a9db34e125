//! Texts of sessions, numbers and times as pages show them.

use longhaul_tokens::Tokens;
use longhaul_transcript::Millis;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What may stand in one part of a path.
const PART: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// An address of parts, each of which may hold anything.
pub(in crate::dashboard) fn address(parts: &[&str]) -> String {
    let each = parts.iter().map(|part| utf8_percent_encode(part, PART));
    each.map(|part| format!("/{part}")).collect()
}

/// One value behind a question mark.
pub(super) fn value(text: &str) -> String {
    utf8_percent_encode(text, PART).to_string()
}

/// A text of a session: escaped, with what would turn the writing round or not be
/// seen at all shown by its number.
pub(super) fn said(text: &str) -> Markup {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => shown.push(letter),
            _ if letter.is_control() || is_turning(letter) => {
                shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(letter)));
            }
            _ => shown.push(letter),
        }
    }
    html! { (shown) }
}

/// Characters that order the ones around them anew.
fn is_turning(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first line, cut.
pub(super) fn gist(text: &str, most: usize) -> Markup {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(most).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    said(&short)
}

/// A number with its thousands apart.
pub(super) fn number(count: u64) -> String {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    Tokens(count).to_string()
}

/// A size in bytes for people.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = UNITS.into_iter().find(|(size, _)| count >= *size);
    unit.map_or_else(
        || format!("{count} B"),
        |(size, name)| format!("{:.1} {name}", count as f64 / size as f64),
    )
}

/// Money, with as many digits as say something.
pub(super) fn dollars(amount: f64) -> String {
    match amount {
        a if a >= 100.0 => format!("${a:.0}"),
        a if a >= 0.995 => format!("${a:.2}"),
        a => format!("${a:.3}"),
    }
}

/// A time, said relative to now; the exact one on demand.
pub(super) fn time(now: Millis, iso: Option<&str>) -> Markup {
    let Some(iso) = iso else {
        return html! { "–" };
    };
    let ago = Millis::parse_iso(iso).map(|then| ago((now.0 - then.0) / 1000));
    html! { time datetime=(iso) title=(iso) { (ago.unwrap_or_else(|| iso.to_owned())) } }
}

fn ago(seconds: i64) -> String {
    let plural = |count: i64, unit: &str| match count {
        1 => format!("1 {unit} ago"),
        _ => format!("{count} {unit}s ago"),
    };
    match seconds {
        ..5 => "now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => plural(seconds / 3_600, "hour"),
        _ => plural(seconds / 86_400, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_session_says_is_text_and_nothing_else() {
        let shown =
            said("<script>alert(1)</script>\u{1b}[31m \u{202e}gpj.exe a\tb\n").into_string();
        assert_eq!(
            shown,
            "&lt;script&gt;alert(1)&lt;/script&gt;⟨U+001B⟩[31m ⟨U+202E⟩gpj.exe a\tb\n"
        );
    }

    #[test]
    fn an_address_keeps_its_parts_apart() {
        assert_eq!(
            address(&["sessions", "a/../b?c#d", "é"]),
            "/sessions/a%2F..%2Fb%3Fc%23d/%C3%A9"
        );
    }

    #[test]
    fn times_are_told_in_the_unit_that_says_most() {
        let told = [4, 59, 61, 3_700, 90_000, 200_000].map(ago);
        let wanted = [
            "now",
            "59 s ago",
            "1 min ago",
            "1 hour ago",
            "1 day ago",
            "2 days ago",
        ];
        assert_eq!(told, wanted);
    }
}
