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

/// Whether a character belongs to a script written without spaces, or whose
/// words carry their endings so closely that only parts of them compare.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ffff}')
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

/// The sentences of a text, outside fenced code and quotations, as byte
/// ranges. A sentence may run over a line break inside a wrapped paragraph.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut paragraph: Option<Range<usize>> = None;
    for line in prose_lines(text) {
        let body = &text[line.clone()];
        let trimmed = body.trim();
        if trimmed.is_empty() || trimmed.starts_with('>') {
            if let Some(whole) = paragraph.take() {
                split(text, whole, &mut out);
            }
            continue;
        }
        match &mut paragraph {
            Some(whole)
                if continues(&text[whole.clone()], trimmed) && whole.end + 2 >= line.start =>
            {
                whole.end = line.end;
            }
            _ => {
                if let Some(whole) = paragraph.replace(line) {
                    split(text, whole, &mut out);
                }
            }
        }
    }
    if let Some(whole) = paragraph {
        split(text, whole, &mut out);
    }
    out
}

/// Whether a line goes on with the sentence that the lines before it began.
fn continues(before: &str, line: &str) -> bool {
    let last = before.lines().next_back().unwrap_or("");
    last.len() >= 50
        && !ends_sentence(last)
        && !last.trim_end().ends_with(':')
        && line.chars().next().is_some_and(char::is_lowercase)
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end()
        .trim_end_matches(['"', '\'', ')', '”', '’', '*', '_', '`'])
        .ends_with(['.', '!', '?', '。', '！', '？', '…', '؟'])
}

/// Splits a paragraph at the ends of its sentences.
fn split(text: &str, whole: Range<usize>, out: &mut Vec<Range<usize>>) {
    let body = &text[whole.clone()];
    let mut start = 0;
    let mut chars = body.char_indices().peekable();
    let mut code = false;
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        let after = at + c.len_utf8();
        if c == '`' {
            code = !code;
        }
        let ends = match c {
            '。' | '！' | '？' | '؟' => !code,
            '.' | '!' | '?' | '…' if !code => match next {
                None => true,
                Some(next) if next.is_whitespace() => c != '.' || !abbreviation(&body[start..at]),
                Some('"' | ')' | '”' | '’' | '»' | '*') => body[after..]
                    .trim_start_matches(['"', ')', '”', '’', '»', '*'])
                    .chars()
                    .next()
                    .is_none_or(char::is_whitespace),
                Some(_) => false,
            },
            _ => false,
        };
        if ends {
            let mut end = after;
            while let Some(&(at, c)) = chars.peek() {
                if matches!(
                    c,
                    '.' | '!'
                        | '?'
                        | '。'
                        | '！'
                        | '？'
                        | '"'
                        | ')'
                        | '”'
                        | '’'
                        | '»'
                        | '*'
                        | '」'
                        | '）'
                ) {
                    end = at + c.len_utf8();
                    chars.next();
                } else {
                    break;
                }
            }
            push(text, whole.start + start..whole.start + end, out);
            start = end;
            code = false;
        }
    }
    push(text, whole.start + start..whole.end, out);
}

/// Whether a full stop after this text belongs to an abbreviation or a number
/// of a list.
fn abbreviation(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '/'))
        .next()
        .unwrap_or("");
    if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) && before.trim() == word {
        return true;
    }
    if word.chars().count() == 1 && word.chars().all(char::is_alphabetic) {
        return true;
    }
    matches!(
        word.to_ascii_lowercase().as_str(),
        "e.g"
            | "i.e"
            | "etc"
            | "vs"
            | "cf"
            | "approx"
            | "z.b"
            | "d.h"
            | "u.a"
            | "bzw"
            | "ca"
            | "evtl"
            | "usw"
            | "p.ex"
            | "p.e"
            | "ej"
            | "mr"
            | "mrs"
            | "dr"
            | "np"
            | "т.е"
            | "т.д"
            | "resp"
            | "incl"
            | "nr"
    ) && !matches!(word, "etc" | "usw")
}

fn push(text: &str, range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let body = &text[range.clone()];
    let lead = body.len() - body.trim_start().len();
    let trimmed = body.trim();
    if trimmed.chars().any(char::is_alphanumeric) {
        let start = range.start + lead;
        out.push(start..start + trimmed.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<&str> {
        sentences(text)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        assert_eq!(
            list(
                "Use v1.2.3 of src/a.rs. Never push! 不要改。好的 done\n\n```\nnever in code.\n```\n> never quoted\n- always test"
            ),
            [
                "Use v1.2.3 of src/a.rs.",
                "Never push!",
                "不要改。",
                "好的 done",
                "- always test"
            ]
        );
        assert_eq!(
            list("Take e.g. the first one. 1. Go"),
            ["Take e.g. the first one.", "1. Go"]
        );
        assert_eq!(list("(Really?) Yes."), ["(Really?)", "Yes."]);
    }

    #[test]
    fn a_wrapped_paragraph_is_one_sentence() {
        let text = "Do not touch the generated files in the folder that holds\nthe schemas, whatever the linter says.";
        assert_eq!(list(text), [text]);
    }

    #[test]
    fn cuts_never_split_a_character() {
        for max in 0..12 {
            clip("añ日本🙂", max);
            clip_end("añ日本🙂", max);
            gist("añ日本🙂 x", max);
        }
        assert_eq!(gist("  a   b\nc", 10), "a b c");
        assert_eq!(gist("abcdefgh", 5), "abcd…");
    }
}
