//! Frames: what says, in front of words and in the same line, that they are
//! another's or only material. "Slack message from Bob: …", "Translate this: …".
//!
//! "Commit messages: always in English" has the same shape, so a frame has to
//! name who speaks, how it came, or what is to be done to the words. What is
//! read wrongly here is still a rule in a session; only memory asks a person
//! before it keeps it.

mod announced;
mod label;
mod source;
mod task;
mod unspaced;

pub(crate) use source::brings_words;
pub(crate) use unspaced::tells_unspaced;

use std::ops::Range;

use crate::quoted::{Ends, next_quotation};
use crate::text::{clip, clip_end, is_cjk, longer_than, sentences};
use crate::told::says_oneself;
use crate::words::Words;
use crate::words::others::REPORTS;
use crate::words::others::frames::{
    CONTRASTS, DISMISSALS, PEOPLE, POINTERS, RETURNS, UNSPACED_OWN,
};
use announced::announced;
use label::{LONGEST, frame, has_own_label, is_of_rules};

/// Bytes before a quotation in which its frame is looked for.
const MOST_BEFORE: usize = 600;
/// Bytes behind a frame in which the quotation that it announces ends.
const MOST_AHEAD: usize = 4_100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// "Bob says": the user tells it in a sentence or two.
    Speech,
    /// "The mail I got": it is shown whole, and its "I" is not the user.
    Shown,
    /// "Translate": something is to be done to the words.
    Task,
    /// "ABC-12": a number that a sentence begins with may be whose words it has,
    /// or what the user speaks of; it says nothing of the next one.
    Number,
}

/// Words that stand behind a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Framed {
    /// Where the frame stands.
    pub(crate) head: Range<usize>,
    /// Where the words stand.
    pub(crate) words: Range<usize>,
    /// Something is asked to be done to them: the frame is the user's request.
    pub(crate) is_task: bool,
}

/// What stands behind frames.
pub(crate) fn framed(text: &str) -> Vec<Framed> {
    let all = sentences(text);
    let blanks = blank_lines(text);
    let mut out: Vec<Framed> = Vec::new();
    for (index, sentence) in all.iter().enumerate() {
        if out
            .last()
            .is_some_and(|last| sentence.start < last.words.end)
        {
            continue;
        }
        let next = &all[index + 1..];
        let by_colon = colons(text, sentence)
            .find_map(|(head, behind)| Some((frame(&text[head.clone()])?, head, behind)));
        let found = by_colon.or_else(|| {
            let frame = match next.is_empty() {
                true => return None,
                false => announced(text, sentence)?,
            };
            Some((frame, sentence.clone(), sentence.end))
        });
        let found = found.map(|(frame, head, behind)| Framed {
            head,
            words: behind..reach(text, &blanks, frame, behind, next),
            is_task: frame == Frame::Task,
        });
        out.extend(found.filter(|framed| !framed.words.is_empty()));
    }
    out
}

/// Whether the words before a quotation say that it is the user's own.
pub(crate) fn is_own_frame(before: &str) -> bool {
    let before = clip_end(before, MOST_BEFORE);
    let paragraph = before.rsplit("\n\n").next().unwrap_or("");
    // The items before it stand under the same line.
    let mut lines = paragraph.lines().rev().map(str::trim).skip_while(|line| {
        let bare = line.trim_start_matches(['-', '*', '•', '+']);
        bare.len() < line.len() || bare.is_empty()
    });
    let line = lines.next().unwrap_or("");
    let head = last_clause(line.trim_end_matches([' ', ':', '：', ',', '*', '_']));
    if head.is_empty() || longer_than(head, LONGEST) {
        return false;
    }
    if head.chars().any(is_cjk) {
        return UNSPACED_OWN.iter().any(|own| head.contains(own));
    }
    let words = Words::new(head);
    let says = |at: usize| REPORTS.contains(words.get(at)) && says_oneself(&words, at);
    (0..words.len()).any(says) || has_own_label(&words) || is_of_rules(&words)
}

/// The part of a line since its last stop or colon.
fn last_clause(line: &str) -> &str {
    let stops = ['.', '!', '?', ':', ';', '。', '！', '？', '：', '；', '—'];
    line.rsplit(stops).next().unwrap_or("").trim()
}

/// The closed quotations of a sentence.
fn quotations(body: &str) -> Vec<Range<usize>> {
    let mut ends = Ends::of(body);
    let mut out = Vec::new();
    let mut from = 0;
    while let Some((open, mark)) = next_quotation(body, from) {
        from = open + mark.len_utf8();
        if let Some(range) = ends.closed(open, mark) {
            from = range.end;
            out.push(range);
        }
    }
    out
}

/// The colons of a sentence behind which something is said, each with the words
/// before it since the one before, and where the text goes on.
fn colons<'a>(
    text: &'a str,
    sentence: &Range<usize>,
) -> impl Iterator<Item = (Range<usize>, usize)> + 'a {
    let mut start = sentence.start;
    let end = sentence.end;
    let body = &text[sentence.clone()];
    let offset = sentence.start;
    let quoted = match body.contains([':', '：']) {
        true => quotations(body),
        false => Vec::new(),
    };
    body.char_indices().filter_map(move |(at, c)| {
        if !matches!(c, ';' | '；' | '—' | ':' | '：') {
            return None;
        }
        // What is quoted frames nothing: always put "License: MIT" there.
        let before = quoted.partition_point(|quoted| quoted.end <= at);
        if quoted
            .get(before)
            .is_some_and(|quoted| quoted.contains(&at))
        {
            return None;
        }
        let at = offset + at;
        let behind = at + c.len_utf8();
        match c {
            ';' | '；' | '—' => {
                start = behind;
                return None;
            }
            _ => {}
        }
        let next = text[behind..].chars().next();
        let before = text[..at].chars().next_back();
        // "10:30", "https://", "a::b" are no frames.
        let is_loose = c == '：'
            || behind >= end
            || next.is_none_or(|c| c.is_whitespace() || "\"'“«„‹「『‘*_".contains(c) || is_cjk(c))
            || before.is_some_and(is_cjk);
        if !is_loose {
            return None;
        }
        let head = start..at;
        start = behind;
        Some((head, behind))
    })
}

/// Where the words of another end that begin here.
fn reach(
    text: &str,
    blanks: &[usize],
    frame: Frame,
    behind: usize,
    next: &[Range<usize>],
) -> usize {
    let paragraph = blanks[blanks.partition_point(|at| *at <= behind)..]
        .first()
        .map_or(text.len(), |at| *at);
    let said = &text[behind..paragraph];
    let lead = said.len()
        - said
            .trim_start_matches([' ', '\n', '\t', '\r', '*', '_'])
            .len();
    let start = behind + lead;
    if start >= paragraph {
        let rest = text[paragraph..].trim_start();
        return match is_set_apart(rest) {
            true => behind,
            false => text.len(),
        };
    }
    if is_set_apart(&text[start..]) {
        return behind;
    }
    let fence = "\"\"\"";
    if let Some(inner) = text[start..].strip_prefix(fence) {
        let from = text.len() - inner.len();
        return inner.find(fence).map_or(text.len(), |end| from + end);
    }
    if let Some((open, mark)) = next_quotation(clip(text, start + 8), start)
        && open == start
        && let Some(quotation) = Ends::of(clip(text, open + MOST_AHEAD)).closed(open, mark)
    {
        return quotation.end;
    }
    // "Dear all," is not all of a letter.
    if frame == Frame::Shown && said.trim_end().ends_with([',', '，', ':', '：']) {
        return text.len();
    }
    let returned = next
        .iter()
        .find(|sentence| sentence.start >= paragraph || returns(&text[(*sentence).clone()], frame));
    returned.map_or(paragraph, |sentence| sentence.start.min(paragraph))
}

/// Code and block quotes end by themselves.
fn is_set_apart(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~") || text.starts_with('>')
}

/// Where blank lines begin, which end paragraphs.
fn blank_lines(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut blanks = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            blanks.push(at);
        }
        at += line.len();
    }
    blanks
}

/// Whether the user speaks again. In what is shown whole another may say "I".
fn returns(sentence: &str, frame: Frame) -> bool {
    match frame {
        Frame::Task => return false,
        Frame::Number => return true,
        Frame::Speech | Frame::Shown => {}
    }
    let bare = sentence.trim_start_matches(['但', '是', '，', '、', ' ']);
    let turned = bare.len() < sentence.len();
    if bare.starts_with(['我', '私', '僕'])
        || ["저는", "나는", "제가", "내가"]
            .iter()
            .any(|i| bare.starts_with(i))
    {
        return turned || frame == Frame::Speech;
    }
    let words = Words::new(sentence);
    let turns = (0..words.len())
        .take_while(|at| CONTRASTS.contains(words.get(*at)))
        .count();
    let is_self = RETURNS.contains(words.get(turns));
    let dismisses = (0..words.len().min(3)).any(|at| DISMISSALS.contains(words.get(at)))
        && words
            .iter()
            .take(5)
            .any(|word| PEOPLE.contains(word) || POINTERS.contains(word));
    match frame {
        Frame::Speech => is_self || dismisses,
        _ => is_self && turns > 0,
    }
}
