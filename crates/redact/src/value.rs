//! Where a value begins and ends: its quotes, and what ends one without quotes.

/// A value's place, and whether quotes stand around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) quoted: bool,
}

/// No value is longer.
const LONGEST: usize = 4_096;

/// Quotes of books, and those that close them.
const MARKS: [(&str, &[&str]); 8] = [
    ("“", &["”"]),
    ("”", &["”"]),
    ("„", &["“", "”", "\""]),
    ("«", &["»"]),
    ("‘", &["’"]),
    ("‚", &["‘"]),
    ("「", &["」"]),
    ("『", &["』"]),
];

/// What only makes a value of a string: `String::from("x")`, `PASSWORD('x')`.
#[rustfmt::skip]
const WRAPPERS: [&str; 17] = [
    "String::from", "SecretString::from", "SecretString::new", "Secret::new", "SecretStr",
    "Some", "Buffer.from", "new String", "str", "bytes", "PASSWORD", "password", "crypt",
    "MD5", "SHA1", "SHA2", "md5",
];

/// What a value without quotes may have in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bare {
    /// No sign that ends one in code and text.
    Plain,
    /// Every sign: it goes up to the next blank, as in an environment file.
    Whole,
}

/// The value at `at`, in quotes or without.
pub(crate) fn read(text: &str, at: usize, bare: Bare) -> Option<Value> {
    let bytes = text.as_bytes();
    let at = at + wrapper(bytes.get(at..)?);
    quoted(text, at).or_else(|| self::bare(text, at, bare))
}

/// The value in the quotes that open at `at`, behind any number of backslashes.
pub(crate) fn quoted(text: &str, at: usize) -> Option<Value> {
    let bytes = text.as_bytes();
    let at = at + prefix(bytes.get(at..)?);
    let rest = text.get(at..floor(text, at + 512))?;
    for (open, closes) in MARKS {
        let Some(inner) = rest.strip_prefix(open) else {
            continue;
        };
        let line = inner.lines().next().unwrap_or_default();
        let end = closes.iter().filter_map(|close| line.find(close)).min()?;
        let (start, inner) = (at + open.len(), &line[..end]);
        let lead = inner.len() - inner.trim_start().len();
        return span(start + lead, start + inner.trim_end().len(), true);
    }
    let slashes = rest.bytes().take(16).take_while(|b| *b == b'\\').count();
    let quote = *bytes.get(at + slashes)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let mut start = at + slashes + 1;
    if slashes == 0 && bytes[start..].starts_with(&[quote, quote]) {
        start += 2;
    }
    let window = &bytes[start..bytes.len().min(start + LONGEST)];
    match closing(window, quote, slashes) {
        Some(end) => span(start, start + end, true),
        None => span(start, start + unclosed(window)?, true),
    }
}

fn span(start: usize, end: usize, quoted: bool) -> Option<Value> {
    (start < end).then_some(Value { start, end, quoted })
}

/// Where the quote that opened behind so many backslashes closes, on its line.
fn closing(window: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut before = 0;
    for (at, byte) in window.iter().enumerate() {
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

/// Where the text behind a quote that nothing closes ends: one word, with which
/// its line ends, as where a text was cut.
fn unclosed(window: &[u8]) -> Option<usize> {
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
    let end = window.iter().position(ends).unwrap_or(window.len());
    let behind = window[end..]
        .iter()
        .find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    let mut text = &window[..end];
    while let Some(shorter) = text
        .strip_suffix("…".as_bytes())
        .or_else(|| text.strip_suffix(b"..."))
        .or_else(|| text.strip_suffix(b"\\"))
    {
        text = shorter;
    }
    behind.is_none_or(|b| *b == b'\n').then_some(text.len())
}

/// The length of what programs write before a string: `f"x"`, `rb'x'`, `N'x'`.
fn prefix(rest: &[u8]) -> usize {
    let letters = rest.iter().take(2);
    let length = letters.take_while(|b| b"bBfFrRuUNE@$".contains(b)).count();
    match rest.get(length) {
        Some(b'"' | b'\'') => length,
        _ => 0,
    }
}

/// The length of the call or bracket that a string stands in: `("x"`.
fn wrapper(rest: &[u8]) -> usize {
    let named = WRAPPERS
        .iter()
        .find(|name| rest.starts_with(name.as_bytes()) && rest.get(name.len()) == Some(&b'('));
    let open = named.map_or(0, |name| name.len());
    if rest.get(open) != Some(&b'(') {
        return 0;
    }
    let gap = rest[open + 1..].iter().take(64);
    let inner = open + 1 + gap.take_while(|b| b.is_ascii_whitespace()).count();
    match rest.get(inner) {
        Some(b'"' | b'\'') => inner,
        _ => 0,
    }
}

/// The value without quotes at `at`.
fn bare(text: &str, at: usize, bare: Bare) -> Option<Value> {
    let window = text.get(at..)?;
    let ends = |c: char| {
        let plain = matches!(c, ',' | ';' | '<' | '>' | ')' | '}' | ']' | '|' | '&');
        let mark = matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff1b}' | '…' | '’' | '”' | '“' | '»' | '«');
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '\\')
            || plain && bare == Bare::Plain
            || mark
            || is_unspaced(c)
    };
    let found = window
        .char_indices()
        .take_while(|(place, _)| *place < LONGEST)
        .find(|(_, c)| ends(*c));
    let end = found.map_or(window.len().min(floor(window, LONGEST)), |(place, _)| place);
    let end = match bare {
        Bare::Plain => plain_end(window, end),
        Bare::Whole => whole_end(&window[..end]),
    };
    span(at, at + end, false)
}

/// A value of the environment ends before another command or assignment.
fn whole_end(text: &str) -> usize {
    let cut = text.find("&&").unwrap_or(text.len());
    let text = text[..cut].trim_end_matches(';');
    let assigns = |at: usize| {
        let behind = &text[at + 1..];
        let name = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = name.filter(|end| *end > 1 && behind[*end..].starts_with('='));
        // A `&` is a character of passwords as well.
        let upper = |end| !behind[..end].contains(|c: char| c.is_ascii_lowercase());
        name.is_some_and(|end| text[at..].starts_with(';') || upper(end))
    };
    let mut signs = text.match_indices([';', '&']).map(|(at, _)| at);
    signs.find(|at| assigns(*at)).unwrap_or(text.len())
}

/// A `&` is a character of a password where neither a parameter nor a command
/// nor the name of a character follows; full stops and the like end a sentence.
fn plain_end(window: &str, end: usize) -> usize {
    let mut end = end;
    while window.as_bytes().get(end) == Some(&b'&') {
        let behind = &window[end + 1..];
        let stop = |c: char| c.is_whitespace() || "\"'`<,;&|)>".contains(c);
        let length = behind.find(stop).unwrap_or(behind.len());
        let word = &behind[..length];
        let entity = behind[length..].starts_with(';') && length <= 8 && !word.contains('!');
        if word.is_empty() || word.contains('=') || entity {
            break;
        }
        end += 1 + length;
    }
    let text = window[..end].trim_end_matches(['.', ':', '!', '?']);
    // What closes bold letters.
    text.strip_suffix("**").unwrap_or(text).len()
}

/// Whether a letter is of a language that does not part its words, which no
/// field for a password takes.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}')
}

/// The last border of characters at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}
