//! How random a text looks.

/// Which characters a text has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) digits: usize,
    pub(super) others: usize,
    /// How many different bytes.
    pub(super) distinct: usize,
    /// Bits a character, by its own frequencies.
    pub(super) entropy: f64,
}

/// No secret is judged by more than its beginning.
const JUDGED: usize = 256;

impl Shape {
    pub(super) fn of(bytes: &[u8]) -> Shape {
        let bytes = &bytes[..bytes.len().min(JUDGED)];
        let mut counts = [0u16; 256];
        let mut shape = Shape::default();
        for &byte in bytes {
            counts[usize::from(byte)] += 1;
            match byte {
                b'a'..=b'z' => shape.lower += 1,
                b'A'..=b'Z' => shape.upper += 1,
                b'0'..=b'9' => shape.digits += 1,
                _ => shape.others += 1,
            }
        }
        let total = bytes.len() as f64;
        for count in counts.into_iter().filter(|count| *count > 0) {
            shape.distinct += 1;
            let share = f64::from(count) / total;
            shape.entropy -= share * share.log2();
        }
        shape
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }
}

/// Whether a text could have been drawn at random: letters and digits, mixed,
/// and few of them twice.
pub(super) fn looks_random(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    if shape.letters() == 0 || shape.digits < 2 || shape.distinct < 8 {
        return false;
    }
    // Digits all at one end are a number or a version behind a word.
    let first = bytes.iter().position(u8::is_ascii_digit).unwrap_or(0);
    let last = bytes.iter().rposition(u8::is_ascii_digit).unwrap_or(0);
    let spread = bytes[first..=last].iter().any(|b| b.is_ascii_alphabetic());
    spread && shape.entropy >= 3.0
}

/// Whether a text is an example: `xxxx`, `your-key-here`, `1234567890`.
pub(super) fn is_example(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    if shape.distinct <= 4 {
        return true;
    }
    let lower = bytes.to_ascii_lowercase();
    const SAYS_SO: [&str; 14] = [
        "example",
        "your",
        "xxxx",
        "placeholder",
        "redacted",
        "changeme",
        "dummy",
        "<",
        "****",
        "...",
        "…",
        "sample",
        "insert",
        "abcdefghijkl",
    ];
    SAYS_SO.iter().any(|word| {
        memchr::memmem::find(&lower[..lower.len().min(JUDGED)], word.as_bytes()).is_some()
    })
}
