//! Text of others, made safe to stand inside ours without changing its words.
//!
//! A request or an error line may look like one of our headings, close the tag
//! that a provider's frame puts around the summary, or hold line breaks. One
//! line always stands behind a bullet; several stand in a fence longer than any
//! run of backticks inside, so that they can be kept to the letter and still
//! cannot get out.

use std::borrow::Cow;

use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::EntryId;

/// Breaks the tags that frame a summary, and nothing else.
pub fn defused(text: &str) -> Cow<'_, str> {
    const TAG: &[u8] = b"summary";
    let bytes = text.as_bytes();
    let mut out: Option<String> = None;
    let mut from = 0;
    for at in memchr_lt(bytes) {
        let rest = &bytes[at + 1..];
        let name = rest.strip_prefix(b"/").unwrap_or(rest);
        if name.len() >= TAG.len() && name[..TAG.len()].eq_ignore_ascii_case(TAG) {
            let safe = out.get_or_insert_with(|| String::with_capacity(text.len() + 8));
            safe.push_str(&text[from..=at]);
            safe.push('\\');
            from = at + 1;
        }
    }
    match out {
        None => Cow::Borrowed(text),
        Some(mut safe) => {
            safe.push_str(&text[from..]);
            Cow::Owned(safe)
        }
    }
}

fn memchr_lt(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'<')
        .map(|(at, _)| at)
}

/// The text on one line: line breaks and control characters, with the spaces
/// around them, become one space; everything else stays.
pub(super) fn one_line(text: &str) -> String {
    let text = defused(text.trim());
    if !text.contains(is_break) {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    for part in text.split(is_break).map(str::trim) {
        if !part.is_empty() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(part);
        }
    }
    out
}

fn is_break(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// At most `max` characters on one line, cut between words where one ends near.
pub(super) fn shortened(text: &str, max: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(max) {
        None => line,
        Some((end, _)) => {
            let mut cut = cut_at_word(&line[..end]).to_owned();
            cut.push('…');
            cut
        }
    }
}

fn cut_at_word(text: &str) -> &str {
    match text.rfind(char::is_whitespace) {
        Some(space) if space >= text.len() / 2 => text[..space].trim_end(),
        _ => text.trim_end(),
    }
}

/// Whether a text has only one line.
pub(super) fn is_one_line(text: &str) -> bool {
    !text.trim().contains(is_break)
}

/// Several lines, to the letter, in a fence that they cannot close.
pub(super) fn fenced(text: &str) -> String {
    let text = defused(text.trim());
    let mut longest = 2;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence}\n{text}\n{fence}")
}

/// How an entry is named: ` ·7f34aa1c`.
pub(super) fn mark(entry: &EntryId) -> String {
    format!(" ·{}", one_line(abbreviated(entry.as_str())))
}

/// An id as short as it still means one entry: of one drawn at random (UUID
/// version 4) the beginning, of one that begins with the time (version 7) the end,
/// which is drawn; any other as it is.
pub(crate) fn abbreviated(id: &str) -> &str {
    const SHOWN: usize = 8;
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let is_uuid = id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match byte {
            b'-' => DASHES.contains(&at),
            _ => byte.is_ascii_hexdigit() && !DASHES.contains(&at),
        });
    match id.as_bytes().get(14) {
        Some(b'4') if is_uuid => &id[..SHOWN],
        Some(b'7') if is_uuid => &id[id.len() - SHOWN..],
        _ => id,
    }
}

/// Whether an id is as short as pi's.
pub(super) fn is_short(entry: &EntryId) -> bool {
    entry.as_str().len() <= 12
}

/// The beginning and the end of a text within `cap`, around `[…]`. Nothing when
/// not even a few words would fit.
pub fn within(text: &str, cap: Tokens, counter: &dyn Counter) -> Option<String> {
    let cost = |text: &str| counter.count(text, ContentKind::Prose);
    // No vocabulary has tokens this long; bounds the work on a huge text.
    const LONGEST: usize = 128;
    if text.len() <= LONGEST * cap.0 as usize && cost(text) <= cap {
        return Some(text.to_owned());
    }
    let chars: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if chars.is_empty() {
        return None;
    }
    let cut = |kept: usize| {
        let tail = kept / 4;
        let head_end = chars.get(kept - tail).copied().unwrap_or(text.len());
        let tail_start = chars[chars.len() - tail.max(1)];
        if tail == 0 {
            format!("{} […]", cut_at_word(&text[..head_end]))
        } else {
            format!(
                "{} […] {}",
                cut_at_word(&text[..head_end]),
                text[tail_start..].trim_start()
            )
        }
    };
    let (mut low, mut high) = (0, chars.len().min(LONGEST * cap.0 as usize));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if cost(&cut(middle)) <= cap {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    (low >= 24.min(chars.len())).then(|| cut(low))
}

/// The lines of a text with their byte offset, those inside fences left out.
pub(super) fn open_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<usize> = None;
    let mut offset = 0;
    text.split_inclusive('\n').filter_map(move |raw| {
        let at = offset;
        offset += raw.len();
        let line = raw.trim_end_matches(['\n', '\r']);
        let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
        match fence {
            Some(width) if ticks >= width && line.len() == ticks => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            None => return Some((at, line)),
        }
        None
    })
}

/// The text without `<analysis>` and `<thinking>` blocks; an unclosed one runs
/// to the end.
pub(super) fn without_analysis(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in ["analysis", "thinking"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = text.find(&open) {
            let end = text[start..]
                .find(&close)
                .map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::{Bpe, Heuristic};

    use super::*;

    #[test]
    fn frames_cannot_be_closed_from_inside() {
        assert_eq!(defused("a </summary> b"), "a <\\/summary> b");
        assert_eq!(defused("<SUMMARY>"), "<\\SUMMARY>");
        assert_eq!(defused("a < b </sum>"), "a < b </sum>");
    }

    #[test]
    fn one_line_keeps_the_words() {
        assert_eq!(
            one_line(" a  b\n\n  ## c\r\nd\u{1b}[0m "),
            "a  b ## c d [0m"
        );
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        let text = "x\n```rust\ny\n```\n`````";
        let block = fenced(text);
        assert!(block.contains(text));
        assert!(block.starts_with("``````\n"));
        assert_eq!(open_lines(&block).count(), 0);
        assert_eq!(open_lines("a\n```\n## b\n```\nc").count(), 2);
    }

    #[test]
    fn shortening_cuts_between_words() {
        assert_eq!(shortened("one two three four", 12), "one two…");
        assert_eq!(shortened("日本語のテキスト", 3), "日本語…");
        assert_eq!(shortened("short", 12), "short");
    }

    #[test]
    fn within_keeps_both_ends_and_the_cap() {
        let text = format!("begin {} end", "word ".repeat(4_000));
        for counter in [&Heuristic as &dyn Counter, &Bpe::o200k()] {
            let cut = within(&text, Tokens(100), counter).unwrap();
            assert!(cut.starts_with("begin") && cut.ends_with("end"));
            let tokens = counter.count(&cut, ContentKind::Prose);
            assert!(tokens <= Tokens(100) && tokens >= Tokens(80), "{tokens}");
        }
        assert_eq!(within(&text, Tokens(1), &Heuristic), None);
    }

    #[test]
    fn analysis_is_dropped() {
        assert_eq!(
            without_analysis("a<analysis>x</analysis>b<thinking>y"),
            "ab"
        );
    }
}
