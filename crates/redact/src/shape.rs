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

/// Whether a text is of hexadecimal digits drawn at random, of which there are
/// too few different ones to be judged by.
pub(super) fn looks_hex(bytes: &[u8]) -> bool {
    if !bytes.iter().all(u8::is_ascii_hexdigit) {
        return false;
    }
    let shape = Shape::of(bytes);
    let one_case = shape.upper == 0 || shape.lower == 0;
    one_case && shape.digits >= 3 && shape.letters() >= 2 && shape.distinct >= 6
}

/// Whether letters, with no digit or too few, were drawn at random: their case
/// changes as it does in no name, or so many consonants follow each other as in
/// no word.
pub(super) fn looks_drawn(bytes: &[u8]) -> bool {
    const CONSONANTS: usize = 6;
    let shape = Shape::of(bytes);
    if shape.distinct < 8 || shape.letters() + shape.digits < bytes.len() {
        return false;
    }
    let turns = bytes
        .windows(2)
        .filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase())
        .count();
    let (upper, lower) = (shape.upper * 4, shape.lower * 4);
    if upper >= bytes.len() && lower >= bytes.len() && turns * 4 >= bytes.len() {
        return true;
    }
    let vowel = |b: &u8| b"aeiouy".contains(&b.to_ascii_lowercase()) || b.is_ascii_digit();
    let one_case = shape.upper == 0 || shape.lower == 0;
    one_case && bytes.split(vowel).any(|run| run.len() >= CONSONANTS)
}

/// Whether a text too short to be judged by its entropy was drawn at random:
/// letters of both cases among digits that stand in several places, or a sign
/// that changes with nearly every character. `Utf8String` and `Version2` are
/// names.
pub(super) fn looks_drawn_short(bytes: &[u8]) -> bool {
    let class = |b: u8| match b {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        b'!' | b'#' | b'^' => 4,
        _ => 0,
    };
    let shape = Shape::of(bytes);
    let known = bytes.iter().all(|b| class(*b) > 0);
    if !known || !(8..16).contains(&bytes.len()) || shape.distinct < 6 || shape.letters() == 0 {
        return false;
    }
    let runs = bytes
        .split(|b| !b.is_ascii_digit())
        .filter(|run| !run.is_empty())
        .count();
    let changes = bytes
        .windows(2)
        .filter(|pair| class(pair[0]) != class(pair[1]))
        .count();
    match shape.upper > 0 && shape.lower > 0 {
        true => runs > 1 || runs == 1 && changes * 2 > bytes.len(),
        false => runs > 2 && shape.others == 0,
    }
}

/// Whether a text is a user and a password in base64, as Docker and npm keep
/// them.
pub(super) fn is_encoded_login(bytes: &[u8]) -> bool {
    const LONGEST: usize = 512;
    if !(8..=LONGEST).contains(&bytes.len()) {
        return false;
    }
    let Some(text) = decoded(bytes) else {
        return false;
    };
    let colon = memchr::memchr(b':', &text);
    let parted = colon.is_some_and(|colon| colon > 0 && colon + 1 < text.len());
    parted && text.iter().all(|b| b.is_ascii_graphic())
}

/// What stands in base64.
pub(super) fn decoded(bytes: &[u8]) -> Option<Vec<u8>> {
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

/// Letters at the end of a key that a draw spells now and then.
const MOST_BY_CHANCE: usize = 5;

/// Whether a text is an example: `xxxx`, `your-key-here`, `1234567890`.
pub(super) fn is_example(bytes: &[u8]) -> bool {
    memchr::memchr(b'<', &bytes[..bytes.len().min(JUDGED)]).is_some()
        || is_written_as_example(bytes)
}

/// The same by what is written in it, where a `<` may be a character like any
/// other.
pub(super) fn is_written_as_example(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    if shape.distinct <= 4 {
        return true;
    }
    let lower = bytes[..bytes.len().min(JUDGED)].to_ascii_lowercase();
    const MARKS: [&str; 3] = ["****", "...", "…"];
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
            let (before, behind) = (&lower[..at], &lower[at + word.len()..]);
            let part = |byte: &&u8| byte.is_ascii_alphanumeric();
            let before = before.iter().rev().take_while(part).count();
            let behind = behind.iter().take_while(part).count();
            match (before, behind) {
                (0, 0) => true,
                (0, _) | (_, 0) if word.len() > MOST_BY_CHANCE => true,
                (0, _) | (_, 0) => {
                    let run = &bytes[at - before..at + word.len() + behind];
                    let digits = run.iter().rev().take_while(|b| b.is_ascii_digit());
                    let letters = &run[..run.len() - digits.count()];
                    letters.iter().all(u8::is_ascii_alphabetic) && !looks_drawn(letters)
                }
                _ => false,
            }
        })
    };
    let crossed = ["xxxxx", "XXXXX"]
        .iter()
        .any(|mark| memchr::memmem::find(bytes, mark.as_bytes()).is_some());
    crossed || MARKS.iter().any(marked) || WORDS.iter().any(worded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_letters_are_told_from_names() {
        for drawn in [
            "MUoTRczcMkBmWtjyVcJt",
            "qzjxkvbnwrtplmsd",
            "hTqLmZRwYvKdPsXb",
        ] {
            assert!(looks_drawn(drawn.as_bytes()), "{drawn}");
        }
        for name in [
            "MyVeryLongIdentifierName",
            "JSONWebTokenHTTPClient",
            "somethingwithoutcapitals",
            "ACCESSTOKENRESPONSE",
            "createSecretKeyFromBase",
        ] {
            assert!(!looks_drawn(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn short_drawn_values_are_told_from_names_and_versions() {
        for drawn in ["ab12Cd34", "xK9mQpLz", "9f2a7c1b", "aB3dE5fG7h", "q7!Zt2#k"] {
            assert!(looks_drawn_short(drawn.as_bytes()), "{drawn}");
        }
        for name in [
            "Utf8String",
            "Base64Url",
            "Int32Type",
            "Ed25519Key",
            "OAuth2Token",
            "Version2",
            "Bearer123",
            "identifier2",
            "abc123XYZ",
            "20261115",
            "2026-11-15",
            "v1.2.3-RC4",
            "a1b2c3",
            "refresh_token",
        ] {
            assert!(!looks_drawn_short(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_short_word_that_a_draw_spells_makes_no_example() {
        for drawn in [
            "123456789012-H4RCyqjSJYrBqooLkXALYour",
            "youRq7ZtK2mWc9XbLs4V",
            "dUmmyQ7ZtK2mWc9XbLs4",
        ] {
            assert!(!is_example(drawn.as_bytes()), "{drawn}");
        }
        for example in [
            "your-api-key-1234567",
            "YOUR_KEY",
            "yourapikeyhere",
            "YOURTOKENHERE",
            "YourAccessToken1",
            "dummytoken",
            "AKIAIOSFODNN7EXAMPLE",
            "put-in-your-key",
        ] {
            assert!(is_example(example.as_bytes()), "{example}");
        }
    }

    #[test]
    fn a_login_in_base64_is_told_from_other_words() {
        for login in ["Ym9iOmh1bnRlcjI=", "YTpiYw", "dXNlcjpzd29yZGZpc2g="] {
            let long = login.len() >= 8;
            assert_eq!(is_encoded_login(login.as_bytes()), long, "{login}");
        }
        for other in [
            "required",
            "oauth2device",
            "aGVsbG8gd29ybGQ=",
            "Bearer x",
            "",
        ] {
            assert!(!is_encoded_login(other.as_bytes()), "{other}");
        }
    }
}
