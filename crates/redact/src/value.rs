//! Where a value begins and ends.

use super::Kind;
use super::names::Promise;
use super::promised::is_secret;

/// A secret's place and kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// No value is longer, and no name.
pub(super) const VALUE: usize = 4_096;
/// A value without quotes that is longer holds no further `=` or `:` but its
/// padding; so a row of assignments is not read again from each of them.
pub(super) const BARE: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoted {
    Yes,
    No,
}

/// The value that begins at `from`, behind spaces, a quote, a line break of
/// YAML or an escaped quote.
pub(super) fn value(bytes: &[u8], from: usize, promise: Promise) -> Option<Span> {
    let mut start = from + blanks(bytes, from);
    // `key:` and the value in the next line, or `key: |`.
    let block = [&b"|"[..], b">", b"|-", b">-", b""]
        .into_iter()
        .any(|mark| {
            let behind = &bytes[start.min(bytes.len())..];
            behind.starts_with(mark) && behind.get(mark.len()) == Some(&b'\n')
        });
    if block {
        let line = memchr::memchr(b'\n', bytes.get(start..)?)?;
        let next = start + line + 1;
        let indent = blanks(bytes, next);
        if indent == 0 {
            return None;
        }
        start = next + indent;
    }
    if let Some((start, end)) = in_marks(bytes, start) {
        return is_secret(&bytes[start..end], promise, Quoted::Yes).then_some(Span {
            kind: promise.kind(),
            start,
            end,
        });
    }
    start = in_brackets(bytes, start);
    start += prefix(bytes, start);
    // Escaped quotes of JSON in JSON: any number of backslashes.
    let slashes = bytes
        .get(start..)?
        .iter()
        .take(8)
        .take_while(|b| **b == b'\\')
        .count();
    let quote = bytes
        .get(start + slashes)
        .copied()
        .filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let (start, end, quoted) = match quote {
        Some(quote) => {
            let mut start = start + slashes + 1;
            // `"""x"""`
            if slashes == 0 && bytes[start..].starts_with(&[quote, quote]) {
                start += 2;
            }
            let rest = &bytes[start..bytes.len().min(start + VALUE)];
            if goes_on_as_code(rest) && is_in_string(&bytes[..start - 1], quote, slashes) {
                return None;
            }
            let end = closing(rest, quote, slashes).or_else(|| unclosed(rest))?;
            (start, start + end, Quoted::Yes)
        }
        None => {
            let rest = &bytes[start..bytes.len().min(start + VALUE)];
            let row = |at: usize, b: u8| {
                at > BARE
                    && matches!(b, b'=' | b':')
                    && rest.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
            };
            let end = rest
                .iter()
                .enumerate()
                .position(|(at, b)| {
                    b.is_ascii_whitespace()
                        || !b.is_ascii() && begins_mark(&rest[at..])
                        || row(at, *b)
                        || (*b == b'&' && !(promise == Promise::Password && is_within(rest, at)))
                        || matches!(
                            b,
                            b'"' | b'\''
                                | b'`'
                                | b','
                                | b';'
                                | b'<'
                                | b'>'
                                | b')'
                                | b'}'
                                | b']'
                                | b'\\'
                                | b'|'
                        )
                })
                .unwrap_or(rest.len());
            let mut end = end;
            while end > 0 && matches!(rest[end - 1], b'.' | b':' | b'!' | b'?') {
                end -= 1;
            }
            // The end of what is in bold.
            end -= if rest[..end].ends_with(b"**") { 2 } else { 0 };
            (start, start + end, Quoted::No)
        }
    };
    let text = &bytes[start..end];
    if quoted == Quoted::No && is_tag(text, &bytes[end..]) {
        return None;
    }
    // Behind a sentence it is its end, behind a password mostly not.
    let calls = match (promise, quoted) {
        (Promise::Password, Quoted::No) => bytes[end..].iter().take_while(|b| **b == b'!').count(),
        _ => 0,
    };
    is_secret(text, promise, quoted).then_some(Span {
        kind: promise.kind(),
        start,
        end: end + calls,
    })
}

/// Whether a text is the tag of YAML that says what the value behind it is:
/// `!vault |`, `!secret db_password`.
fn is_tag(text: &[u8], behind: &[u8]) -> bool {
    let part = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'!' | b':' | b'/' | b'-' | b'_');
    let tag = text.len() > 1 && text[0] == b'!' && text[1..].iter().all(part);
    let gap = blanks(behind, 0);
    let value = behind.get(gap).is_some_and(|b| !matches!(b, b'\r' | b'\n'));
    tag && gap > 0 && value
}

/// Whether the `&` at `at` is one of a password's characters, and neither parts
/// it from the next parameter of an address, nor from a command, nor begins a
/// character's name.
fn is_within(rest: &[u8], at: usize) -> bool {
    const LONGEST: usize = 8;
    let behind = &rest[at + 1..];
    let ends =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b',' | b';');
    let end = behind.iter().position(ends).unwrap_or(behind.len());
    let word = &behind[..end];
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'#';
    let character = behind.get(end) == Some(&b';') && end <= LONGEST && word.iter().all(part);
    !word.is_empty() && word[0] != b'&' && !word.contains(&b'=') && !character
}

/// The length of what programs write before a string: `f"x"`, `b'x'`, `rb"x"`,
/// and databases: `N'x'`.
pub(super) fn prefix(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let letters = rest.iter().take(2);
    let length = letters
        .take_while(|b| b"bBfFrRuUNE".contains(b) || **b == b'@' || **b == b'$')
        .count();
    let quoted = matches!(rest.get(length), Some(b'"' | b'\''));
    if quoted { length } else { 0 }
}

/// Where the string in the bracket at `at` begins: `("x"`, also in the line
/// below.
pub(super) fn in_brackets(bytes: &[u8], at: usize) -> usize {
    // What only makes a value of a string.
    const WRAPPERS: [&str; 18] = [
        "String::from",
        "SecretString::from",
        "SecretString::new",
        "Secret::new",
        "SecretStr",
        "Some",
        "Buffer.from",
        "new String",
        "str",
        "bytes",
        // What a database makes a hash of.
        "PASSWORD",
        "password",
        "crypt",
        "MD5",
        "md5",
        "SHA1",
        "SHA2",
        "sha1",
    ];
    let rest = bytes.get(at..).unwrap_or_default();
    let wrapper = WRAPPERS
        .iter()
        .find(|w| rest.starts_with(w.as_bytes()) && rest.get(w.len()) == Some(&b'('));
    let open = at + wrapper.map_or(0, |wrapper| wrapper.len());
    if bytes.get(open) != Some(&b'(') {
        return at;
    }
    let gap = bytes[open + 1..].iter().take(64);
    let inner = open + 1 + gap.take_while(|b| b.is_ascii_whitespace()).count();
    let quoted = matches!(bytes.get(inner), Some(b'"' | b'\''));
    if quoted { inner } else { at }
}

/// Blanks that do not break the line, which stand before French colons.
const UNBROKEN: [&str; 2] = ["\u{a0}", "\u{202f}"];

/// The length of the blanks behind `from`.
pub(super) fn blanks(bytes: &[u8], from: usize) -> usize {
    let mut at = from.min(bytes.len());
    let most = bytes.len().min(at + 64);
    while at < most {
        let wide = |blank: &&&str| bytes[at..].starts_with(blank.as_bytes());
        at += match bytes[at] {
            b' ' | b'\t' => 1,
            byte if byte.is_ascii() => break,
            _ => match UNBROKEN.iter().find(wide) {
                Some(blank) => blank.len(),
                None => break,
            },
        };
    }
    at.saturating_sub(from)
}

/// The length of the blanks before `at`.
pub(super) fn blanks_before(bytes: &[u8], at: usize) -> usize {
    let mut rest = &bytes[..at];
    while at - rest.len() < 64 {
        rest = match rest {
            [inner @ .., b' ' | b'\t'] => inner,
            _ => match UNBROKEN
                .iter()
                .find_map(|blank| rest.strip_suffix(blank.as_bytes()))
            {
                Some(inner) => inner,
                None => break,
            },
        };
    }
    at - rest.len()
}

/// Quotes of books, and those that close them.
const MARKS: [(&str, &[&str]); 9] = [
    ("“", &["”"]),
    ("”", &["”"]),
    ("„", &["“", "”", "\""]),
    ("«", &["»"]),
    ("»", &["«"]),
    ("‘", &["’"]),
    ("‚", &["‘"]),
    ("「", &["」"]),
    ("『", &["』"]),
];

/// Whether the text begins with a mark beyond ASCII that no bare value has.
fn begins_mark(text: &[u8]) -> bool {
    const OTHERS: [&str; 13] = [
        "’", "」", "』", "。", "，", "；", "：", "！", "？", "、", "）", "…", "\u{3000}",
    ];
    let starts = |mark: &str| text.starts_with(mark.as_bytes());
    MARKS.iter().any(|(open, _)| starts(open))
        || OTHERS.into_iter().any(starts)
        || UNBROKEN.into_iter().any(starts)
}

/// Where the text in the quotes of books that open at `at` begins and ends,
/// without the blanks inside of them.
pub(super) fn in_marks(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = bytes.get(at..bytes.len().min(at + BARE))?;
    if rest.first()?.is_ascii() {
        return None;
    }
    let (open, closes) = MARKS
        .iter()
        .find(|(open, _)| rest.starts_with(open.as_bytes()))?;
    let inner = &rest[open.len()..];
    let line = &inner[..memchr::memchr(b'\n', inner).unwrap_or(inner.len())];
    let close = closes
        .iter()
        .filter_map(|close| memchr::memmem::find(line, close.as_bytes()))
        .min()?;
    let start = at + open.len();
    let end = start + close;
    let start = start + blanks(&bytes[..end], start);
    (start < end).then(|| (start, end - blanks_before(&bytes[..end], end)))
}

/// Where the text in quotes that close before `at` begins and ends, if they
/// opened on the same line within so many bytes.
pub(super) fn closing_quote_before(
    bytes: &[u8],
    at: usize,
    reach: usize,
) -> Option<(usize, usize)> {
    let before = &bytes[at.saturating_sub(reach)..at];
    let base = at - before.len();
    let line = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
    let before = &before[line..];
    if let [inner @ .., quote @ (b'"' | b'\'' | b'`')] = before {
        let open = memchr::memrchr(*quote, inner)?;
        return (open + 1 < inner.len()).then_some((base + line + open + 1, at - 1));
    }
    let (open, close) = MARKS.iter().find_map(|(open, closes)| {
        let close = closes
            .iter()
            .find(|close| before.ends_with(close.as_bytes()))?;
        let inner = &before[..before.len() - close.len()];
        let place = memchr::memmem::rfind(inner, open.as_bytes())?;
        Some((place + open.len(), inner.len()))
    })?;
    let (start, end) = (base + line + open, base + line + close);
    let start = start + blanks(&bytes[..end], start);
    (start < end).then(|| (start, end - blanks_before(&bytes[..end], end)))
}

/// Whether a text has what parts folders, addresses and the like.
pub(super) fn is_inner_of_path(text: &[u8]) -> bool {
    text.contains(&b'/') || text.contains(&b'\\')
}

/// Where the quote that was opened behind so many backslashes closes, on the
/// same line.
pub(super) fn closing(rest: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut before = 0;
    for (at, byte) in rest.iter().enumerate() {
        match *byte {
            b'\\' => before += 1,
            b'\n' => return None,
            byte if byte == quote && before <= slashes => return Some(at - before),
            _ => before = 0,
        }
        if *byte == quote {
            before = 0;
        }
    }
    None
}

/// Whether what stands behind a quote is what programs write behind a string.
fn goes_on_as_code(rest: &[u8]) -> bool {
    rest.first().is_some_and(|b| b").,]};>+:".contains(b))
}

/// Whether the quote behind a text closes a string of its last line, rather than
/// opening one: `prompt("Password: ").trim()`. In a line that is too long to be
/// read from its start the last quote before it has to tell.
fn is_in_string(before: &[u8], quote: u8, slashes: usize) -> bool {
    const LINE: usize = 4_096;
    let reach = &before[before.len().saturating_sub(LINE)..before.len() - slashes];
    let begin = match memchr::memrchr(b'\n', reach) {
        Some(place) => place + 1,
        None if before.len() > LINE => return is_behind_opening(reach, quote, slashes),
        None => 0,
    };
    let line = &reach[begin..];
    let alike = |place: &usize| is_behind_slashes(&line[..*place], slashes);
    memchr::memchr_iter(quote, line)
        .filter(alike)
        .fold(false, |open, place| match open {
            true => quote == b'\'' && is_between_letters(line, place),
            false => quote != b'\'' || can_open(&line[..place]),
        })
}

/// Whether exactly so many backslashes end a text.
fn is_behind_slashes(before: &[u8], slashes: usize) -> bool {
    let escapes = before.iter().rev().take_while(|b| **b == b'\\');
    escapes.count() == slashes
}

/// Whether the last quote of a text opens a string, by what stands around it: a
/// program goes on behind one that closes, and before one that opens.
fn is_behind_opening(text: &[u8], quote: u8, slashes: usize) -> bool {
    let quotes = memchr::memrchr_iter(quote, text);
    let mut alike = quotes.filter(|place| is_behind_slashes(&text[..*place], slashes));
    let last = alike.find(|place| quote != b'\'' || !is_between_letters(text, *place));
    last.is_some_and(|place| {
        let before = text[..place - slashes].last();
        match text.get(place + 1) {
            Some(b' ' | b'\\') => before.is_none_or(|b| b"(,:=[{+ ".contains(b)),
            _ => !goes_on_as_code(&text[place + 1..]),
        }
    })
}

/// Whether the apostrophe at `at` is one of a word: `don't`.
fn is_between_letters(line: &[u8], at: usize) -> bool {
    let letter = |place: Option<usize>| {
        let byte = place.and_then(|place| line.get(place));
        byte.is_some_and(|b| b.is_ascii_alphabetic() || !b.is_ascii())
    };
    letter(at.checked_sub(1)) && letter(at.checked_add(1))
}

/// Whether a `'` behind a text may open a string: behind a letter it is an
/// apostrophe, but for `b'x'`, `(N'x'` and `-p'x'`.
fn can_open(before: &[u8]) -> bool {
    let letter = |b: &u8| b.is_ascii_alphabetic() || !b.is_ascii();
    let letters = before.iter().rev().take(3).take_while(|b| letter(b));
    let (start, word) = before.split_at(before.len() - letters.count());
    match word {
        [] => true,
        [_] if start.ends_with(b"-") => true,
        [b'N' | b'E'] => start.last().is_some_and(|b| b" (,=".contains(b)),
        _ => {
            let prefix = word.len() < 3 && word.iter().all(|b| b"bBfFrRuU".contains(b));
            prefix && !start.last().is_some_and(u8::is_ascii_alphanumeric)
        }
    }
}

/// Where the text behind a quote that nothing closes ends, as the ends of cut
/// texts and lines that go on have them: one word, with which its line ends.
pub(super) fn unclosed(rest: &[u8]) -> Option<usize> {
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
    let word = rest.iter().take(BARE).position(ends);
    let end = word.unwrap_or(rest.len().min(BARE));
    let line = &rest[end..rest.len().min(end + 8)];
    let ended = match line.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
        None => line.len() < 8,
        Some(byte) => *byte == b'\n',
    };
    let mut text = &rest[..end];
    // A backslash that carries it on, and what stands where a text was cut.
    while let Some(shorter) = text
        .strip_suffix("…".as_bytes())
        .or_else(|| text.strip_suffix(b"..."))
        .or_else(|| text.strip_suffix(b"\\"))
    {
        text = shorter;
    }
    (ended && !text.is_empty()).then_some(text.len())
}
