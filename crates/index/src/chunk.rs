//! Chunks: the parts of a text that are found.
//!
//! A chunk is as long as a model's attention is good for, and ends where the
//! text does: before a heading, after a paragraph, at least at the end of a
//! line. Neighbours share a few lines, so that no sentence is out of reach of
//! its context; across a heading they share nothing.

use std::ops::Range;

use crate::page::begins;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Where it is, in bytes.
    pub(crate) bytes: Range<usize>,
    /// Its lines, from 1, the last included.
    pub(crate) lines: (u32, u32),
}

/// How long chunks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSettings {
    /// At most so many tokens, estimated.
    pub tokens: u32,
    /// So many of them shared with the chunk before.
    pub overlap: u32,
}

impl Default for ChunkSettings {
    fn default() -> ChunkSettings {
        ChunkSettings {
            tokens: 400,
            overlap: 80,
        }
    }
}

/// One line, or a part of one that is too long.
struct Line {
    bytes: Range<usize>,
    number: u32,
    cost: u32,
    heading: bool,
    /// A promoted statement begins here, which has nothing to do with what
    /// stands before it.
    statement: bool,
    blank: bool,
    fenced: bool,
}

/// Tokens times seventy, so that sums stay whole: 3.5 characters of prose a
/// token; one of Chinese.
fn weight(c: char) -> u64 {
    if (c as u32) < 0x2e80 { 20 } else { 70 }
}

/// Tokens times ten, and no more of the text looked at than shows that they
/// are over `most`: a line may be a whole file, and is costed once a piece.
fn cost_up_to(text: &str, most: u32, weigh: &mut impl FnMut(char) -> u64) -> u32 {
    let mut cost = 0u64;
    for c in text.chars() {
        cost += weigh(c);
        if cost / 7 > u64::from(most) {
            break;
        }
    }
    u32::try_from(cost / 7).unwrap_or(u32::MAX)
}

/// The chunks of a text, which cover all of it. A text of white space has none.
pub(crate) fn chunks(text: &str, settings: ChunkSettings) -> Vec<Chunk> {
    let limit = settings.tokens.max(16) * 10;
    let overlap = settings.overlap.min(settings.tokens / 2) * 10;
    if text.trim().is_empty() {
        return Vec::new();
    }
    if text.len() < limit as usize / 7 && !text.lines().any(begins) {
        return vec![Chunk {
            bytes: 0..text.len(),
            lines: (1, lines_in(text, 1)),
        }];
    }
    let lines = lines(text, limit, weight);
    let mut chunks = Vec::new();
    let mut begin = 0;
    let mut covered = 0;
    while begin < lines.len() {
        let mut end = begin;
        let mut sum = 0u32;
        while end < lines.len()
            && (end == begin || sum + lines[end].cost <= limit && !lines[end].statement)
        {
            sum += lines[end].cost;
            end += 1;
        }
        if end < lines.len() && !lines[end].statement {
            end = best_end(&lines, begin, covered, end);
        }
        let part = lines[begin].bytes.start..lines[end - 1].bytes.end;
        let last = lines[end - 1].number;
        match chunks.last_mut() {
            // White space belongs to what stands before it.
            Some(Chunk { bytes, lines }) if text[part.clone()].trim().is_empty() => {
                (bytes.end, lines.1) = (part.end, last);
            }
            _ => chunks.push(Chunk {
                bytes: part,
                lines: (lines[begin].number, last),
            }),
        }
        if end >= lines.len() {
            break;
        }
        covered = end;
        let mut next = end;
        let mut shared = 0;
        while !lines[end].heading
            && next > begin + 1
            && shared + lines[next - 1].cost <= overlap
            && !lines[next].heading
        {
            next -= 1;
            shared += lines[next].cost;
        }
        begin = next;
    }
    chunks
}

/// The best place to end a chunk that may go up to `full`: in its second half
/// before a heading, else after an empty line, else anywhere; always beyond
/// what the chunk before covered.
fn best_end(lines: &[Line], begin: usize, covered: usize, full: usize) -> usize {
    let half = (begin + (full - begin).div_ceil(2)).max(covered + 1);
    let heading = (half..=full).rev().find(|&at| lines[at].heading);
    let blank = || {
        (half..=full)
            .rev()
            .find(|&at| at > begin && lines[at - 1].blank && !lines[at].fenced)
    };
    heading
        .filter(|&at| at > begin)
        .or_else(blank)
        .unwrap_or(full)
}

fn lines(text: &str, limit: u32, mut weigh: impl FnMut(char) -> u64) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut at = 0;
    let mut fenced = false;
    for (number, line) in (1u32..).zip(text.split_inclusive('\n')) {
        let trimmed = line.trim_start();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let inside = fenced;
        if fence {
            fenced = !fenced;
        }
        let mut rest = line;
        let mut first = true;
        let blank = line.trim().is_empty();
        while !rest.is_empty() {
            let length = if cost_up_to(rest, limit / 2, &mut weigh) > limit / 2 {
                piece(rest, limit / 2)
            } else {
                rest.len()
            };
            lines.push(Line {
                bytes: at..at + length,
                number,
                cost: cost_up_to(&rest[..length], u32::MAX, &mut weigh),
                heading: first && !inside && trimmed.starts_with('#'),
                statement: first && !inside && begins(line),
                blank,
                fenced: inside,
            });
            at += length;
            rest = &rest[length..];
            first = false;
        }
    }
    lines
}

/// How many bytes of a long line make `limit`: up to the end of a sentence,
/// else of a word, else of a character.
fn piece(line: &str, limit: u32) -> usize {
    let mut sum = 0u32;
    let mut end = line.len();
    for (at, c) in line.char_indices() {
        sum += if (c as u32) < 0x2e80 { 3 } else { 10 };
        if sum > limit && at > 0 {
            end = at;
            break;
        }
    }
    let taken = &line[..end];
    let second_half = taken.floor_char_boundary(end / 2);
    let sentence = taken[second_half..]
        .rmatch_indices(['.', '!', '?', '。', '！', '？'])
        .map(|(at, mark)| second_half + at + mark.len())
        .find(|&at| at == end || taken[at..].starts_with(' ') || !taken[..at].ends_with('.'));
    let word = || {
        taken[second_half..]
            .rfind(' ')
            .map(|at| second_half + at + 1)
    };
    sentence.or_else(word).unwrap_or(end)
}

/// The number of the last line of a text that begins on line `first`.
pub(crate) fn lines_in(text: &str, first: u32) -> u32 {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    first.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: ChunkSettings = ChunkSettings {
        tokens: 40,
        overlap: 8,
    };

    #[test]
    fn a_short_text_is_one_chunk() {
        assert_eq!(
            chunks("one\ntwo\n", ChunkSettings::default()),
            [Chunk {
                bytes: 0..8,
                lines: (1, 2)
            }]
        );
        assert_eq!(chunks(" \n\t", ChunkSettings::default()), []);
    }

    #[test]
    fn a_chunk_ends_before_a_heading_where_it_can() {
        let text = format!(
            "# One\n{}\n# Two\n{}\n",
            "words of the first part. ".repeat(4),
            "words of the second part. ".repeat(4)
        );
        let parts: Vec<_> = chunks(&text, SMALL);
        assert!(
            parts
                .iter()
                .any(|chunk| text[chunk.bytes.clone()].starts_with("# Two")),
            "{parts:?}"
        );
        assert!(
            parts
                .iter()
                .all(|chunk| !text[chunk.bytes.clone()].trim_end().ends_with("# Two"))
        );
    }

    #[test]
    fn the_work_on_a_long_line_grows_with_its_length_and_not_its_square() {
        for line in ["x".repeat(200_000), "words of a line. ".repeat(12_000)] {
            let mut weighed = 0;
            let parts = lines(&line, 4_000, |c| {
                weighed += 1;
                weight(c)
            });
            assert!(parts.len() > 250, "{}", parts.len());
            // Once to see that it is too long, once for what a piece costs;
            // what lies after the end of a sentence is looked at again.
            assert!(weighed < 4 * line.len(), "{weighed} of {}", line.len());
        }
    }

    proptest! {
        #[test]
        fn chunks_cover_the_text_and_keep_their_length(text in "([a-z漢字é#.]{0,12}[ \n]){0,200}") {
            let parts = chunks(&text, SMALL);
            let mut covered = 0;
            for chunk in &parts {
                prop_assert!(chunk.bytes.start <= covered);
                prop_assert!(chunk.bytes.end > covered);
                let cost = cost_up_to(&text[chunk.bytes.clone()], u32::MAX, &mut weight);
                prop_assert!(cost <= 40 * 10 + 10);
                prop_assert_eq!(chunk.lines.0 as usize, text[..chunk.bytes.start].matches('\n').count() + 1);
                covered = chunk.bytes.end;
            }
            prop_assert!(covered == text.len() || text.trim().is_empty());
        }
    }
}
