//! `read`: a file, or the lines of it that were asked for.
//!
//! A file is streamed, whatever its size; what does not fit is left out with a
//! notice that says how to go on.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// How much one read returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadLimits {
    pub(super) lines: u64,
    pub(super) bytes: usize,
}

/// Bytes after which lines are no longer counted.
const COUNTED_BYTES: u64 = 256 << 20;
/// Bytes looked at to tell text from anything else.
const SNIFFED_BYTES: u64 = 8192;

/// The part that is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// The first line, from 1.
    pub(super) offset: Option<u64>,
    /// How many lines.
    pub(super) limit: Option<u64>,
}

/// The text of a file for a model, with a notice if something is left out.
pub(super) fn read(
    file: &mut File,
    name: &str,
    part: Part,
    limits: ReadLimits,
) -> Result<String, String> {
    let cannot = |error: io::Error| format!("\"{name}\" cannot be read: {error}.");
    let size = file.metadata().map_err(cannot)?.len();
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(cannot)?;
    file.take(SNIFFED_BYTES)
        .read_to_end(&mut start)
        .map_err(cannot)?;
    if start.contains(&0) {
        return Err(format!(
            "\"{name}\" is no text: it has {size} bytes and NUL characters among them{}.",
            looks_like(&start)
        ));
    }
    file.seek(SeekFrom::Start(0)).map_err(cannot)?;
    let first = part.offset.unwrap_or(1);
    let wanted = part.limit.unwrap_or(u64::MAX).min(limits.lines);
    let mut lines = Lines::new(file);
    for _ in 1..first {
        if !lines.skip().map_err(cannot)? {
            let count = lines.count;
            return Err(format!(
                "Line {first} is beyond the end of \"{name}\", which has {count} lines."
            ));
        }
    }
    let mut text = Vec::new();
    let mut shown = 0;
    let mut cut = None;
    while shown < wanted {
        let before = text.len();
        let room = limits.bytes.saturating_sub(before);
        match lines.next(&mut text, room).map_err(cannot)? {
            Line::End => break,
            Line::Whole => shown += 1,
            // A line that does not fit stays out, unless it would be the only one.
            Line::Longer if shown > 0 => {
                text.truncate(before);
                cut = Some(Cut::Before);
                break;
            }
            Line::Longer => {
                shown += 1;
                cut = Some(Cut::Inside);
                break;
            }
        }
    }
    let more = match cut {
        Some(_) => true,
        None => !lines.at_end().map_err(cannot)?,
    };
    if first > 1 && shown == 0 && cut.is_none() {
        let count = first - 1;
        return Err(format!(
            "Line {first} is beyond the end of \"{name}\", which has {count} lines."
        ));
    }
    let clean = String::from_utf8_lossy(&text);
    let broken = matches!(clean, std::borrow::Cow::Owned(_));
    let clean = clean.strip_prefix('\u{feff}').unwrap_or(&clean);
    let mut answer = clean.replace("\r\n", "\n");
    if size == 0 {
        answer.push_str("[the file is empty]");
    }
    if more {
        let last = first + shown - 1;
        let total = lines.total().map_err(cannot)?;
        let kib = limits.bytes / 1024;
        while answer.ends_with('\n') {
            answer.pop();
        }
        answer.push_str(&match cut {
            Some(Cut::Inside) => format!(
                "\n\n[Line {last} of {total} is longer than {kib} KB and is cut here. Use offset={} \
                 to continue after it, or bash to see a part of it.]",
                last + 1
            ),
            _ => format!(
                "\n\n[Showing lines {first}-{last} of {total}. Use offset={} to continue.]",
                last + 1
            ),
        });
    }
    if broken {
        answer.push_str("\n\n[Some bytes are not UTF-8; each is shown as \u{fffd}.]");
    }
    Ok(answer)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Before,
    Inside,
}

enum Line {
    End,
    Whole,
    Longer,
}

struct Lines<'a> {
    reader: BufReader<&'a mut File>,
    count: u64,
    /// Whether the last line was not read to its end.
    inside: bool,
}

impl<'a> Lines<'a> {
    fn new(file: &'a mut File) -> Lines<'a> {
        Lines {
            reader: BufReader::with_capacity(64 * 1024, file),
            count: 0,
            inside: false,
        }
    }

    /// Passes over a line; false at the end.
    fn skip(&mut self) -> io::Result<bool> {
        let skipped = self.reader.skip_until(b'\n')?;
        self.count += u64::from(skipped > 0);
        Ok(skipped > 0)
    }

    /// Appends a line, or as much of it as there is room for.
    fn next(&mut self, text: &mut Vec<u8>, room: usize) -> io::Result<Line> {
        let before = text.len();
        let most = room as u64 + 1;
        (&mut self.reader).take(most).read_until(b'\n', text)?;
        let read = text.len() - before;
        if read == 0 {
            return Ok(Line::End);
        }
        self.count += 1;
        if read > room {
            self.inside = text.last() != Some(&b'\n');
            text.truncate(before + room);
            // Half a character is none of the file's.
            while text.len() > before && text.last().is_some_and(|b| b & 0xC0 == 0x80) {
                text.pop();
            }
            if text.last().is_some_and(|b| *b >= 0xC0) {
                text.pop();
            }
            return Ok(Line::Longer);
        }
        Ok(Line::Whole)
    }

    fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.reader.fill_buf()?.is_empty())
    }

    /// How many lines the file has, as far as that can be told quickly.
    fn total(&mut self) -> io::Result<String> {
        if self.inside {
            self.reader.skip_until(b'\n')?;
        }
        let mut seen = 0;
        let mut ends_open = false;
        loop {
            let buffer = self.reader.fill_buf()?;
            let length = buffer.len();
            if length == 0 {
                return Ok((self.count + u64::from(ends_open)).to_string());
            }
            self.count += memchr::memchr_iter(b'\n', buffer).count() as u64;
            ends_open = buffer.last() != Some(&b'\n');
            self.reader.consume(length);
            seen += length as u64;
            if seen > COUNTED_BYTES {
                return Ok(format!("more than {}", self.count));
            }
        }
    }
}

fn looks_like(start: &[u8]) -> &'static str {
    let kinds: [(&[u8], &str); 8] = [
        (b"\x89PNG", "; it looks like a PNG image"),
        (b"\xff\xd8\xff", "; it looks like a JPEG image"),
        (b"GIF8", "; it looks like a GIF image"),
        (b"%PDF", "; it looks like a PDF document"),
        (b"PK\x03\x04", "; it looks like a ZIP archive"),
        (b"\x1f\x8b", "; it looks like gzip data"),
        (b"\x7fELF", "; it looks like a program"),
        (b"SQLite format 3", "; it looks like an SQLite database"),
    ];
    kinds
        .iter()
        .find(|(magic, _)| start.starts_with(magic))
        .map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const LIMITS: ReadLimits = ReadLimits {
        lines: 2000,
        bytes: 50 * 1024,
    };

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn part(offset: u64, limit: u64) -> Part {
        Part {
            offset: Some(offset),
            limit: Some(limit),
        }
    }

    fn text(bytes: &[u8], part: Part, limits: ReadLimits) -> String {
        read(&mut file(bytes), "f", part, limits).unwrap_or_else(|error| error)
    }

    #[test]
    fn a_small_file_comes_as_it_is() {
        assert_eq!(text(b"a\nb\n", Part::default(), LIMITS), "a\nb\n");
        assert_eq!(text(b"a\nb", Part::default(), LIMITS), "a\nb");
        assert_eq!(text(b"", Part::default(), LIMITS), "[the file is empty]");
    }

    #[test]
    fn a_part_says_where_it_stands_and_how_to_go_on() {
        let ten: String = (1..=10).map(|n| format!("line {n}\n")).collect();
        assert_eq!(
            text(ten.as_bytes(), part(3, 2), LIMITS),
            "line 3\nline 4\n\n[Showing lines 3-4 of 10. Use offset=5 to continue.]"
        );
        assert_eq!(
            text(ten.as_bytes(), part(9, 2), LIMITS),
            "line 9\nline 10\n"
        );
        assert_eq!(
            text(ten.as_bytes(), part(9, 99), LIMITS),
            "line 9\nline 10\n"
        );
    }

    #[test]
    fn parts_joined_are_the_file_at_every_limit() {
        let lines: Vec<String> = (1..=40).map(|n| "x".repeat(n % 13)).collect();
        let whole = lines.join("\n");
        for bytes in [13, 20, 64, 1000] {
            let limits = ReadLimits { lines: 7, bytes };
            let (mut offset, mut joined) = (1, Vec::new());
            loop {
                let answer = text(whole.as_bytes(), part(offset, 100), limits);
                let (shown, notice) = match answer.split_once("\n\n[Showing lines ") {
                    Some((shown, notice)) => (shown.to_owned(), Some(notice.to_owned())),
                    None => (answer, None),
                };
                let Some(notice) = notice else {
                    joined.push(shown);
                    break;
                };
                assert!(notice.contains(" of 40."), "{notice}");
                let last: u64 = notice
                    .split(['-', ' '])
                    .nth(1)
                    .and_then(|n| n.parse().ok())
                    .unwrap();
                // Blank lines before a notice are trimmed with its own.
                let count = (last - offset + 1) as usize;
                let mut padded: Vec<&str> = shown.split('\n').collect();
                padded.resize(count, "");
                joined.push(padded.join("\n"));
                offset = last + 1;
            }
            assert_eq!(joined.join("\n"), whole, "{bytes}");
        }
    }

    #[test]
    fn beyond_the_end_is_an_error_with_the_number_of_lines() {
        let error = text(b"a\nb\n", part(4, 1), LIMITS);
        assert_eq!(
            error,
            "Line 4 is beyond the end of \"f\", which has 2 lines."
        );
        let error = text(b"a\nb\n", part(3, 1), LIMITS);
        assert_eq!(
            error,
            "Line 3 is beyond the end of \"f\", which has 2 lines."
        );
    }

    #[test]
    fn a_huge_file_is_read_in_bounds() {
        let mut file = tempfile::tempfile().unwrap();
        let block = "0123456789abcde\n".repeat(64 * 1024);
        for _ in 0..64 {
            file.write_all(block.as_bytes()).unwrap();
        }
        let text = read(&mut file, "f", Part::default(), LIMITS).unwrap();
        assert!(text.len() < 51 * 1024, "{}", text.len());
        assert!(
            text.ends_with("[Showing lines 1-2000 of 4194304. Use offset=2001 to continue.]"),
            "{}",
            &text[text.len() - 100..]
        );
        let text = read(&mut file, "f", part(4_194_304, 5), LIMITS).unwrap();
        assert_eq!(text, "0123456789abcde\n");
    }

    #[test]
    fn one_endless_line_is_cut_between_characters() {
        let line = "é".repeat(100);
        let limits = ReadLimits {
            lines: 10,
            bytes: 11,
        };
        let text = text(
            format!("{line}\nnext\n").as_bytes(),
            Part::default(),
            limits,
        );
        assert!(
            text.starts_with("ééééé\n\n[Line 1 of 2 is longer"),
            "{text}"
        );
        assert!(text.contains("offset=2"), "{text}");
    }

    #[test]
    fn what_is_no_text_is_refused_with_its_kind() {
        let error = text(b"\x89PNG\r\n\x1a\n\0\0", Part::default(), LIMITS);
        assert!(error.contains("PNG"), "{error}");
        assert!(error.contains("10 bytes"), "{error}");
    }

    #[test]
    fn broken_utf_8_is_shown_and_said() {
        let text = text(b"caf\xe9 ol\xe9\n", Part::default(), LIMITS);
        assert!(text.starts_with("caf\u{fffd} ol\u{fffd}\n"), "{text}");
        assert!(text.contains("not UTF-8"), "{text}");
    }

    #[test]
    fn line_ends_of_windows_and_a_byte_order_mark_are_not_shown() {
        let text = text(b"\xef\xbb\xbfa\r\nb\r\n", Part::default(), LIMITS);
        assert_eq!(text, "a\nb\n");
    }
}
