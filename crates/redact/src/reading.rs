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
        let packed = is_packed(written.as_bytes());
        let mut at = next(written, 0, packed)?;
        let mut text = String::with_capacity(written.len());
        let mut places = Vec::with_capacity(written.len());
        let mut from = 0;
        loop {
            text.push_str(&written[from..at]);
            places.extend((from..at).map(|place| (place, place + 1)));
            let (length, read) = mark(&written.as_bytes()[at..], packed).unwrap_or((0, None));
            if let Some(read) = read {
                text.push(char::from(read));
                places.push((at, at + length));
            }
            from = at + length;
            match next(written, from, packed) {
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
fn next(written: &str, from: usize, packed: bool) -> Option<usize> {
    let bytes = written.as_bytes();
    let mut at = from;
    loop {
        // Each of them begins with one of these bytes.
        let begins = |b: &u8| matches!(b, b'\\' | b'&' | b'%' | b'^' | 0x1b | 0xc2 | 0xe2 | 0xef);
        let place = bytes.get(at..)?.iter().position(begins)?;
        at += place;
        if mark(&bytes[at..], packed).is_some_and(|(length, read)| {
            // Without the colour between them two words would be one.
            let part = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_alphanumeric);
            let joins = at > 0 && part(at - 1) && part(at + length);
            read.is_some() || !joins || !bytes[at].is_ascii()
        }) {
            return Some(at);
        }
        at += 1;
    }
}

/// The length of the escape or the unseen character at the beginning, and what
/// it reads as.
fn mark(bytes: &[u8], packed: bool) -> Option<(usize, Option<u8>)> {
    let coloured = colours(bytes);
    if coloured > 0 {
        return Some((coloured, None));
    }
    match bytes.first()? {
        b'%' if packed => percent(bytes),
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

/// Whether the name of a secret stands in a text as an address holds it that is
/// part of another: `password%3D`. Elsewhere a `%` begins a value or a password.
fn is_packed(bytes: &[u8]) -> bool {
    const NAME: usize = 48;
    const STEMS: [&str; 7] = ["pass", "pwd", "pw", "secret", "token", "key", "cred"];
    memchr::memchr_iter(b'%', bytes).any(|at| {
        if !matches!(percent(&bytes[at..]), Some((_, Some(b'=' | b':')))) {
            return false;
        }
        let mut name = &bytes[at.saturating_sub(NAME)..at];
        for quote in ["%22", "%2522"] {
            name = name.strip_suffix(quote.as_bytes()).unwrap_or(name);
        }
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        let length = name.iter().rev().take_while(|b| part(b)).count();
        let name = name[name.len() - length..].to_ascii_lowercase();
        let has = |stem: &&str| memchr::memmem::find(&name, stem.as_bytes()).is_some();
        STEMS.iter().any(has)
    })
}

/// What parts names and values in such an address: `%3D`, and once more, `%253D`.
fn percent(bytes: &[u8]) -> Option<(usize, Option<u8>)> {
    let mut digits = bytes.get(1..)?;
    while let Some(inner) = digits.strip_prefix(b"25") {
        digits = inner;
        if bytes.len() - digits.len() > LONGEST {
            return None;
        }
    }
    let read = match digits.get(..2)?.to_ascii_uppercase().as_slice() {
        b"3D" => b'=',
        b"26" => b'&',
        b"3A" => b':',
        b"22" => b'"',
        b"2C" => b',',
        b"7D" => b'}',
        _ => return None,
    };
    Some((bytes.len() - digits.len() + 2, Some(read)))
}

/// The length of the colours of a terminal at the beginning, however their
/// escape character is written.
fn colours(bytes: &[u8]) -> usize {
    const ESCAPES: [&[u8]; 5] = [b"x1b", b"x1B", b"033", b"e", b"u001b"];
    const MOST: usize = 8;
    let mut at = 0;
    for _ in 0..MOST {
        let rest = &bytes[at..];
        let behind = match rest.first() {
            Some(0x1b) => 1,
            Some(b'^') if rest.get(1) == Some(&b'[') => 2,
            Some(b'\\') => {
                let slashes = rest.iter().take(8).take_while(|b| **b == b'\\').count();
                let escape = ESCAPES
                    .iter()
                    .find(|e| rest[slashes..].starts_with(e))
                    .or_else(|| rest[slashes..].starts_with(b"u001B").then_some(&ESCAPES[4]));
                match escape {
                    Some(escape) => slashes + escape.len(),
                    None => break,
                }
            }
            _ => break,
        };
        let Some(body) = rest.get(behind..).and_then(|body| body.strip_prefix(b"[")) else {
            break;
        };
        let part = |b: &&u8| b.is_ascii_digit() || matches!(b, b';' | b':');
        let length = body.iter().take(LONGEST).take_while(part).count();
        if !matches!(body.get(length), Some(b'm' | b'K')) {
            break;
        }
        at += behind + 1 + length + 1;
    }
    at
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
