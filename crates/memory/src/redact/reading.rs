//! A text as it reads: without characters that nobody sees, and with those
//! that are written as escapes.

/// Such a text, and where each of its bytes stands in the one it was made of.
pub(super) struct Reading {
    pub(super) text: String,
    /// For each byte where it begins and ends.
    places: Vec<(usize, usize)>,
}

/// Nothing that is written as an escape is written longer.
const LONGEST: usize = 24;

impl Reading {
    /// How the text reads, if that is not how it is written.
    pub(super) fn of(written: &str) -> Option<Reading> {
        let mut at = next(written, 0)?;
        let mut text = String::with_capacity(written.len());
        let mut places = Vec::with_capacity(written.len());
        let mut from = 0;
        loop {
            text.push_str(&written[from..at]);
            places.extend((from..at).map(|place| (place, place + 1)));
            let (length, read) = mark(&written.as_bytes()[at..]).unwrap_or((0, None));
            if let Some(read) = read {
                text.push(char::from(read));
                places.push((at, at + length));
            }
            from = at + length;
            match next(written, from) {
                Some(place) => at = place,
                None => break,
            }
        }
        text.push_str(&written[from..]);
        places.extend((from..written.len()).map(|place| (place, place + 1)));
        Some(Reading { text, places })
    }

    /// Where the part from `start` to `end` stands in the text as written.
    pub(super) fn written(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let first = self.places.get(start)?;
        let last = self.places.get(end.checked_sub(1)?)?;
        (start < end).then_some((first.0, last.1))
    }
}

/// The next place at or after `from` where something is written otherwise than
/// it reads.
fn next(written: &str, from: usize) -> Option<usize> {
    let bytes = written.as_bytes();
    let mut at = from;
    loop {
        // Each of them begins with one of these bytes.
        let begins = |b: &u8| matches!(b, b'\\' | b'&' | 0xc2 | 0xe2 | 0xef);
        let place = bytes.get(at..)?.iter().position(begins)?;
        at += place;
        if mark(&bytes[at..]).is_some() {
            return Some(at);
        }
        at += 1;
    }
}

/// The length of the escape or the unseen character at the beginning, and what
/// it reads as.
fn mark(bytes: &[u8]) -> Option<(usize, Option<u8>)> {
    match bytes.first()? {
        b'\\' => {
            // In JSON within JSON the backslash is escaped as well.
            let slashes = bytes.iter().take(8).take_while(|b| **b == b'\\').count();
            let digits = match bytes.get(slashes..)? {
                [b'u', b'0', b'0', a, b, ..] => (5, [*a, *b]),
                [b'x', a, b, ..] => (3, [*a, *b]),
                _ => return None,
            };
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let code = digit(digits.1[0])? * 16 + digit(digits.1[1])?;
            let read = u8::try_from(code).ok().filter(|b| b.is_ascii_graphic())?;
            Some((slashes + digits.0, Some(read)))
        }
        b'&' => {
            const NAMES: [(&[u8], u8); 6] = [
                (b"&quot;", b'"'),
                (b"&#34;", b'"'),
                (b"&#x22;", b'"'),
                (b"&apos;", b'\''),
                (b"&#39;", b'\''),
                (b"&#x27;", b'\''),
            ];
            let bytes = &bytes[..bytes.len().min(LONGEST)];
            let found = NAMES.iter().find(|(name, _)| bytes.starts_with(name))?;
            Some((found.0.len(), Some(found.1)))
        }
        _ => {
            const UNSEEN: [&str; 9] = [
                "\u{200b}", "\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}", "\u{2060}", "\u{2063}",
                "\u{feff}", "\u{ad}",
            ];
            let found = UNSEEN.iter().find(|c| bytes.starts_with(c.as_bytes()))?;
            Some((found.len(), None))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_anything_hidden_reads_as_it_is_written() {
        for text in [
            "",
            "plain",
            "a\\nb \\u00e9 \\\\ & &amp; “é” 密码，",
            "\\u00",
            "\\x4",
        ] {
            assert!(Reading::of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_hidden_reads_and_stands_where_it_was() {
        let written = "a\u{200b}b\\u0063 \\\\x64&quot;e\u{feff}";
        let reading = Reading::of(written).unwrap();
        assert_eq!(reading.text, "abc d\"e");
        let part = |start, end| {
            let place = reading.written(start, end);
            place.map(|(start, end)| &written[start..end])
        };
        assert_eq!(part(0, 2), Some("a\u{200b}b"));
        assert_eq!(part(2, 3), Some("\\u0063"));
        assert_eq!(part(4, 6), Some("\\\\x64&quot;"));
        assert_eq!(part(6, 7), Some("e"));
        assert_eq!(part(3, 3), None);
    }
}
