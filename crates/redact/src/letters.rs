//! How probable letters are in words and names, and how probable by chance.
//!
//! The model counts which letter follows which in a word, and where the case
//! changes in a name such as `createUserFromToken`. A name falls into words that
//! can be spoken; random letters do not, and their case changes at every second
//! letter.

/// From so many letters on they say enough without a place that says more.
const TELLING: usize = 8;
/// No text is judged by more than its beginning.
const JUDGED: usize = 128;

/// How much better words explain the letters than chance does, in quarters of
/// a bit: below zero they are rather random. What is neither a letter nor parts
/// words, such as a digit, is not judged.
pub(super) fn over_chance(text: &[u8]) -> i32 {
    let text = beginning(text);
    let cased = is_cased(text);
    let mut sum = 0;
    let mut before: Option<u8> = None;
    for (at, &byte) in text.iter().enumerate() {
        if !byte.is_ascii_alphabetic() {
            before = None;
            continue;
        }
        let row = before.map_or(BEGINNING, letter);
        let value = match before.filter(|_| cased) {
            None => PAIRS[row][letter(byte)],
            Some(last) => {
                let (was, is) = (last.is_ascii_uppercase(), byte.is_ascii_uppercase());
                // Of `HTTPClient` the last capital begins a word.
                let ends = text.get(at + 1).is_some_and(u8::is_ascii_lowercase);
                let begins = is && (!was || ends);
                let turn = match (was, is) {
                    (_, false) => 3,
                    (false, true) => -8,
                    (true, true) => -3,
                };
                turn + match (begins, is) {
                    (true, _) => PAIRS[BEGINNING][letter(byte)],
                    // Abbreviations are of any letters.
                    (false, true) => 0,
                    (false, false) => PAIRS[row][letter(byte)],
                }
            }
        };
        sum += i32::from(value);
        before = Some(byte);
    }
    sum
}

/// Whether capitals stand in a text elsewhere than at its beginning or
/// throughout.
fn is_cased(text: &[u8]) -> bool {
    let inner = text.iter().skip(1).any(u8::is_ascii_uppercase);
    inner && text.iter().any(u8::is_ascii_lowercase)
}

/// Whether nothing but letters is in a text, or letters of both cases that signs
/// part. Those of one case are a name of abbreviations: `my_api_key`.
fn is_lettered(text: &[u8]) -> bool {
    let joined = is_cased(text);
    let part = |b: &u8| b.is_ascii_alphabetic() || joined && matches!(b, b'_' | b'-' | b'.');
    text.first().is_some_and(u8::is_ascii_alphabetic) && text.iter().all(part)
}

fn beginning(text: &[u8]) -> &[u8] {
    &text[..text.len().min(JUDGED)]
}

fn count(text: &[u8]) -> usize {
    text.iter().filter(|b| b.is_ascii_alphabetic()).count()
}

/// Whether letters are no words for sure, so that they can be neither a
/// variable nor a type nor a word of a sentence.
pub(super) fn are_random(text: &[u8]) -> bool {
    let text = beginning(text);
    // Where the case says something as well, less of doubt is left.
    let least = if is_cased(text) { 10 } else { 0 };
    is_lettered(text) && count(text) >= TELLING && over_chance(text) < least
}

/// The same of letters among which digits may stand, for a place where also
/// keys and ids stand that only look random: abbreviations.
pub(super) fn are_surely_random(text: &[u8]) -> bool {
    const AMONG_DIGITS: usize = 6;
    let text = beginning(text);
    let letters = count(text);
    let least = match letters == text.len() {
        true => TELLING,
        false => AMONG_DIGITS,
    };
    let alnum = text.iter().all(u8::is_ascii_alphanumeric);
    alnum && text.len() >= TELLING && letters >= least && over_chance(text) < -10
}

/// Whether letters of both cases read as the name of something in a program,
/// such as `SecretStr` or `userPassword`.
pub(super) fn are_name(text: &[u8]) -> bool {
    let text = beginning(text);
    is_cased(text) && over_chance(text) >= 20
}

/// The row of what begins a word.
const BEGINNING: usize = 26;

fn letter(byte: u8) -> usize {
    usize::from(byte.to_ascii_lowercase() - b'a')
}

/// How much more often than by chance the letter of the column follows that of
/// the row, in quarters of a bit; in the last row, how often it begins a word.
/// Counted in 37,000 words and parts of names of English prose and of programs.
#[rustfmt::skip]
const PAIRS: [[i8; 26]; 27] = [
    [-13, 1, 4, 2, -14, -7, 0, -14, -2, -18, -8, 6, 2, 6, -20, 1, -20, 6, 3, 8, -3, -5, -12, -9, -6, -13],
    [7, -4, -1, -7, 6, -9, -12, -15, 6, -3, -12, 8, -7, -11, 4, -7, -20, 3, 2, -5, 6, -14, -18, -18, -4, -17],
    [6, -9, -2, -9, 6, -11, -12, 7, 1, -20, 2, 1, -7, -11, 10, -7, -18, 2, -4, 5, 0, -10, -16, -20, -10, -20],
    [4, -3, -4, 1, 12, -7, -10, -11, 9, -14, -19, 1, -6, -8, 2, -6, -15, 2, 1, -6, 0, -8, -3, -14, -11, -20],
    [1, -8, 3, 5, -4, -3, -4, -12, -4, -19, -13, 1, 0, 7, -8, -3, -9, 9, 7, 3, -10, -3, -9, -1, -10, -15],
    [4, -10, -5, -4, 6, 7, -8, -13, 9, -20, -20, 5, -7, -7, 8, -7, -20, 3, -1, -2, 0, -20, -16, -17, -7, -20],
    [3, -10, -7, -8, 11, -8, -3, 1, 4, -14, -16, 1, -6, 3, 1, -7, -16, 7, 3, -3, 3, -15, -14, -19, -12, -20],
    [10, -7, -5, -3, 10, -11, -12, -18, 6, -20, -15, -2, -2, -5, 7, -7, -19, 3, -3, 2, 0, -16, -6, -20, -6, -19],
    [-1, -4, 4, 2, -1, -2, 0, -20, -16, -18, -13, 2, 1, 11, 5, -3, -18, -2, 4, 5, -15, -2, -20, -11, -20, -2],
    [6, -12, -5, -11, 12, -10, -20, -18, 1, -20, 0, -11, -10, -12, 10, -7, -20, -11, 0, -8, 9, -16, -20, -20, -18, -20],
    [4, -5, -6, -3, 12, -7, -7, -8, 6, -13, -8, 0, -7, -1, 0, -5, -13, -2, 7, 2, -2, -10, -8, -13, -7, -17],
    [7, -8, -7, -2, 10, -9, -9, -12, 9, -20, -11, 5, -10, -12, 6, 0, -20, -13, -2, 1, 0, -8, -16, -20, 1, -19],
    [9, 0, -8, -6, 10, -9, -14, -15, 7, -20, -14, -6, 0, -7, 5, 6, -16, -9, 1, -6, 1, -16, -15, -19, -14, -20],
    [4, -11, 3, 6, 5, 0, 7, -11, 2, -16, -6, -7, -10, -3, 1, -7, -17, -9, 5, 9, -2, -4, -13, -20, -14, -15],
    [-6, -3, 2, 0, -12, -4, -3, -15, -5, -19, -8, 3, 3, 10, -3, 2, -20, 8, 1, 0, 3, -3, -2, -12, -15, -19],
    [7, -9, -3, -5, 8, -7, -10, -2, 3, -20, -12, 3, -10, -10, 5, 2, -17, 8, 2, 3, 0, -11, -9, -16, -10, -20],
    [-5, -8, -8, -2, -8, -14, -20, -11, -8, -20, -18, 2, -5, -8, -7, -8, -10, 1, -1, -6, 16, -15, -8, -20, -20, -10],
    [7, -9, -2, -1, 11, -8, -5, -16, 6, -20, -7, -6, -1, -4, 6, -7, -18, -1, 2, 3, -2, -6, -13, -20, -4, -18],
    [1, -12, 3, -10, 8, -9, -8, 0, 6, -18, -6, -6, -7, -9, 1, 2, -12, -8, 4, 10, 2, -10, -9, -20, -5, -7],
    [6, -10, -3, -8, 10, -8, -15, 1, 9, -20, -19, -5, -7, -11, 3, -6, -19, 6, 2, 0, 0, -12, -12, -14, 0, -14],
    [-1, 1, 0, -2, 1, -1, -4, -18, 1, -20, -16, 4, 3, 8, -11, 2, -20, 6, 6, 6, -18, -13, -20, -11, -20, -12],
    [8, -11, -3, -9, 13, -9, -10, -14, 10, -20, -20, -10, -4, -8, 3, -6, -8, -6, -3, -3, -11, -13, -16, -20, -20, -20],
    [9, -4, -3, -3, 7, -6, -13, 0, 8, -20, -9, -2, -5, 4, 5, -3, -20, 3, 4, -4, -8, -15, -13, -15, -14, -14],
    [3, -4, 4, -4, 6, -1, -9, -5, 5, -19, -17, -5, -5, -9, -5, 8, -14, -7, -1, 10, -9, -5, -6, -1, -4, -20],
    [-2, -3, -1, -3, 0, -4, -7, -9, 1, -20, -9, 2, 2, 4, 0, 11, -20, -2, 7, 3, -9, -8, -6, -20, -15, -9],
    [5, -6, -4, -4, 14, -6, -10, -12, 6, -20, -17, -8, -9, -8, 1, -3, -10, -7, -1, -4, -1, -6, -8, -20, -9, 1],
    [3, 0, 5, 3, 1, 1, -2, -2, 1, -11, -8, 0, 1, -1, -1, 4, -12, 3, 6, 2, -2, -2, -4, -11, -17, -12],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_are_not_random() {
        for name in [
            "getPassword",
            "userPassword",
            "PasswordInput",
            "DatabasePassword",
            "credentialProvider",
            "HttpBasicAuth",
            "JSONWebTokenHTTPClient",
            "somethingwithoutcapitals",
            "CONNECTION_STRING",
            "args.database.user",
            "Zugangsdaten",
            "contrasena",
            "utilisateur",
        ] {
            assert!(!are_random(name.as_bytes()), "{name}");
        }
        for name in [
            "SecretStr",
            "userPassword",
            "createSecretKey",
            "FormControl",
        ] {
            assert!(are_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn random_letters_are_no_names() {
        for random in [
            "jCeECOtYrLdwGetDCc",
            "qbyUaUlVQXWTgWujZgzY",
            "qzjxkvbnwrtplmsd",
            "XKQZVWJPFH",
            "hTqLmZRw",
            "kJh-QwXz_PlMn",
        ] {
            assert!(are_random(random.as_bytes()), "{random}");
            assert!(!are_name(random.as_bytes()), "{random}");
        }
    }

    #[test]
    fn digits_and_short_texts_are_not_judged() {
        for text in ["", "xkqz", "a1b2c3d4e5f6g7h8", "-----------", "._."] {
            assert!(!are_random(text.as_bytes()), "{text}");
        }
    }
}
