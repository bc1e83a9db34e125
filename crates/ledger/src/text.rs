//! Small operations on text that never split a character.

use std::ops::Range;

/// At most `max` bytes of a text, cut on a character boundary.
pub(crate) fn clip(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The last bytes of a text, at most `max`, cut on a character boundary.
pub(crate) fn clip_end(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut start = text.len() - max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// At most `max` characters of a text.
pub(crate) fn first_chars(text: &str, max: usize) -> &str {
    match text.char_indices().nth(max) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// Whether a text has more than `count` characters, without counting them all.
pub(crate) fn longer_than(text: &str, count: usize) -> bool {
    text.len() > count && text.chars().nth(count).is_some()
}

/// The beginning of a text on one line, its spaces collapsed, in at most `max`
/// characters; an ellipsis shows that something was cut off.
pub(crate) fn gist(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max * 2));
    let mut count = 0;
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count + 1 >= max {
                out.push('…');
                return out;
            }
            out.push(c);
            count += 1;
        }
    }
    out
}

/// The lines of a text outside fenced code, with their byte ranges.
pub(crate) fn prose_lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    let mut fence: Option<(u8, usize)> = None;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        let body = line.trim_end_matches(['\n', '\r']);
        let trimmed = body.trim_start();
        let mark = trimmed.as_bytes().first().copied().unwrap_or(0);
        if mark == b'`' || mark == b'~' {
            let run = trimmed.bytes().take_while(|byte| *byte == mark).count();
            match fence {
                Some((open, width)) if open == mark && run >= width => {
                    fence = None;
                    return None;
                }
                None if run >= 3 => {
                    fence = Some((mark, run));
                    return None;
                }
                _ => {}
            }
        }
        if fence.is_some() {
            return None;
        }
        Some(start..start + body.len())
    })
}

/// A text on one line in at most about `max` characters: its two ends, the larger
/// part of it behind, where people and agents say what comes next.
pub(crate) fn ends(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = line.chars().count();
    if count <= max {
        return line;
    }
    let tail = max / 2;
    let head = first_chars(&line, max - tail);
    let from = line
        .char_indices()
        .nth(count - tail)
        .map_or(0, |(at, _)| at);
    format!("{} […] {}", head.trim_end(), line[from..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_never_split_a_character() {
        for max in 0..12 {
            clip("añ日本🙂", max);
            clip_end("añ日本🙂", max);
            gist("añ日本🙂 x", max);
        }
        assert_eq!(gist("  a   b\nc", 10), "a b c");
        assert_eq!(gist("abcdefgh", 5), "abcd…");
        assert_eq!(ends("one\ntwo  three", 20), "one two three");
        assert_eq!(ends("one two three four five", 12), "one tw […] r five");
    }
}
