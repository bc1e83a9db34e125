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
    let lower = bytes[..bytes.len().min(JUDGED)].to_ascii_lowercase();
    const MARKS: [&str; 4] = ["<", "****", "...", "…"];
    const WORDS: [&str; 9] = [
        "example",
        "your",
        "placeholder",
        "redacted",
        "changeme",
        "dummy",
        "sample",
        "insert",
        "abcdefghijkl",
    ];
    let marked = |mark: &&str| memchr::memmem::find(&lower, mark.as_bytes()).is_some();
    // Drawn letters may spell a word; what is written begins or ends with one.
    let worded = |word: &&str| {
        memchr::memmem::find_iter(&lower, word.as_bytes()).any(|at| {
            let inside = |place: Option<&u8>| place.is_some_and(u8::is_ascii_alphanumeric);
            let before = at.checked_sub(1).and_then(|place| lower.get(place));
            !inside(before) || !inside(bytes.get(at + word.len()))
        })
    };
    let crossed = ["xxxxx", "XXXXX"]
        .iter()
        .any(|mark| memchr::memmem::find(bytes, mark.as_bytes()).is_some());
    crossed || MARKS.iter().any(marked) || WORDS.iter().any(worded)
}
