//! How random a text looks: which characters it has, how often they change,
//! whether its letters could be words.

use super::letters;

/// Which characters a text has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    pub(crate) lower: usize,
    pub(crate) upper: usize,
    pub(crate) digits: usize,
    pub(crate) others: usize,
    /// How many different bytes.
    pub(crate) distinct: usize,
    /// At how many places small letters, capitals, digits and signs change.
    pub(crate) changes: usize,
    /// Runs of digits.
    pub(crate) numbers: usize,
    /// Bits a character, by its own frequencies.
    pub(crate) entropy: f64,
}

/// No secret is judged by more than its beginning.
const JUDGED: usize = 256;

fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

impl Shape {
    pub(crate) fn of(bytes: &[u8]) -> Shape {
        let bytes = &bytes[..bytes.len().min(JUDGED)];
        let mut counts = [0u16; 256];
        let mut classes = [0; 4];
        let mut shape = Shape::default();
        let mut last = None;
        for &byte in bytes {
            counts[usize::from(byte)] += 1;
            let class = class(byte);
            classes[usize::from(class)] += 1;
            let turns = last.is_some_and(|last| last != class);
            shape.changes += usize::from(turns);
            shape.numbers += usize::from(class == 2 && (turns || last.is_none()));
            last = Some(class);
        }
        [shape.lower, shape.upper, shape.digits, shape.others] = classes;
        let total = bytes.len() as f64;
        for count in counts.into_iter().filter(|count| *count > 0) {
            shape.distinct += 1;
            let share = f64::from(count) / total;
            shape.entropy -= share * share.log2();
        }
        shape
    }

    pub(crate) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    pub(crate) fn is_cased(&self) -> bool {
        self.lower > 0 && self.upper > 0
    }

    /// How many sorts of characters there are: small, capital, digit, sign.
    pub(crate) fn sorts(&self) -> usize {
        let sorts = [self.lower, self.upper, self.digits, self.others];
        sorts.iter().filter(|count| **count > 0).count()
    }
}

/// Whether a text is random letters and digits: mixed, and few of them
/// twice. Digits all at one end are a version behind a word.
pub(crate) fn looks_random(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    if shape.letters() == 0 || shape.digits < 2 || shape.distinct < 8 {
        return false;
    }
    let first = bytes.iter().position(u8::is_ascii_digit).unwrap_or(0);
    let last = bytes.iter().rposition(u8::is_ascii_digit).unwrap_or(0);
    let spread = bytes[first..=last].iter().any(u8::is_ascii_alphabetic);
    spread && shape.entropy >= 3.0
}

/// Whether a text is of random hexadecimal digits.
pub(crate) fn looks_hex(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    bytes.iter().all(u8::is_ascii_hexdigit)
        && !shape.is_cased()
        && shape.digits >= 3
        && shape.letters() >= 2
        && shape.distinct >= 6
}

/// Whether a text too short to be judged by its entropy is random: its sort of
/// characters changes nearly everywhere. `Utf8String` and `Version2` are names.
pub(crate) fn looks_random_short(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    let known = |b: &u8| b.is_ascii_alphanumeric() || b"!#^".contains(b);
    if !(8..16).contains(&bytes.len())
        || !bytes.iter().all(known)
        || shape.distinct < 6
        || shape.letters() == 0
    {
        return false;
    }
    match shape.is_cased() {
        true => shape.numbers > 1 || shape.numbers == 1 && shape.changes * 2 > bytes.len(),
        false => shape.numbers > 2 && shape.others == 0,
    }
}

/// Whether a text is a key in base64, of either alphabet, in which no words are.
pub(crate) fn is_base64_key(text: &[u8]) -> bool {
    const LEAST: usize = 16;
    /// How well words may explain random letters.
    const BY_CHANCE: i32 = 20;
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.".contains(b);
    let shape = Shape::of(text);
    text.len() >= LEAST
        && shape.upper >= 2
        && shape.lower >= 2
        && shape.distinct >= 10
        && text.iter().all(part)
        && shape.changes * 4 >= text.len().min(JUDGED)
        && letters::over_chance(text) < BY_CHANCE
}

/// What stands in base64.
pub(crate) fn decoded(bytes: &[u8]) -> Option<Vec<u8>> {
    let body = bytes.strip_suffix(b"==").unwrap_or(bytes);
    let body = body.strip_suffix(b"=").unwrap_or(body);
    if body.len() % 4 == 1 {
        return None;
    }
    let (mut held, mut bits) = (0u32, 0);
    let mut text = Vec::with_capacity(body.len() * 3 / 4);
    for byte in body {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            text.push((held >> bits & 0xff) as u8);
        }
    }
    Some(text)
}

/// Whether a text is an example: `xxxx`, `your-key-here`, `AKIA…EXAMPLE`.
pub(crate) fn is_example(bytes: &[u8]) -> bool {
    const MARKS: [&str; 5] = ["****", "...", "…", "xxxxx", "XXXXX"];
    const WORDS: [&str; 10] = [
        "example",
        "your",
        "placeholder",
        "redacted",
        "changeme",
        "dummy",
        "sample",
        "insert",
        "replace",
        "abcdefghijkl",
    ];
    /// Letters at the end of a key that chance spells now and then.
    const MOST_BY_CHANCE: usize = 5;
    let bytes = &bytes[..bytes.len().min(JUDGED)];
    if Shape::of(bytes).distinct <= 4 {
        return true;
    }
    let has = |text: &[u8], word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    let lower = bytes.to_ascii_lowercase();
    // Random letters may spell a word; what is written begins or ends with one.
    let written = |word: &&str| {
        memchr::memmem::find_iter(&lower, word.as_bytes()).any(|at| {
            let part = |byte: &&u8| byte.is_ascii_alphanumeric();
            let end = at + word.len();
            let before = lower[..at].iter().rev().take_while(part).count();
            let behind = lower[end..].iter().take_while(part).count();
            let run = &bytes[at - before..end + behind];
            let digits = run.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            let letters = &run[..run.len() - digits];
            match (before, behind) {
                (0, 0) => true,
                (0, _) | (_, 0) if word.len() > MOST_BY_CHANCE => true,
                (0, _) | (_, 0) => {
                    letters.iter().all(u8::is_ascii_alphabetic) && !letters::are_random(letters)
                }
                _ => false,
            }
        })
    };
    MARKS.iter().any(|mark| has(bytes, mark)) || WORDS.iter().any(written)
}
