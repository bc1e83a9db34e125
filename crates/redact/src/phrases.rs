//! Secrets of several words: passwords like `correct horse battery`, and the
//! words from which a wallet is made again.

use super::Kind;
use super::beside::is_variable;
use super::promised::{is_template, is_word_of_programs};
use super::shape::is_example;
use super::tongues;
use super::value::{BARE, Span, blanks, closing, in_marks};
use super::vendors::is_word_start;
use super::words::{is_of_sentence, is_ordinary};

/// A password of several words, assigned to a variable of the environment:
/// `DB_PASSWORD=blue-monkey`, `DB_PASSWORD="correct horse"`; or to another name,
/// or with signs in it, if it is in quotes and no sentence.
pub(super) fn assigned(bytes: &[u8], at: usize, from: usize, name: &[u8]) -> Option<Span> {
    let variable = is_variable(name) && bytes[at] == b'=';
    let found = variable.then(|| of_variable(bytes, from)).flatten();
    found.or_else(|| in_quotes(bytes, from, name))
}

/// The password of several words of a variable, whose value is at `from`.
fn of_variable(bytes: &[u8], from: usize) -> Option<Span> {
    let rest = &bytes[from.min(bytes.len())..bytes.len().min(from + BARE)];
    let quote = rest.first().copied().filter(|b| matches!(b, b'"' | b'\''));
    let skip = usize::from(quote.is_some());
    let length = match quote {
        Some(quote) => closing(&rest[1..], quote, 0)?,
        None => {
            let end = rest.iter().position(u8::is_ascii_whitespace);
            end.unwrap_or(rest.len())
        }
    };
    let text = &rest[skip..skip + length];
    let (mut words, mut ordinary) = (0, 0);
    for word in text.split(|b| matches!(b, b'-' | b'_') || quote.is_some() && *b == b' ') {
        words += 1;
        ordinary += usize::from(is_ordinary(word));
        if word.len() < 2 || !word.iter().all(u8::is_ascii_alphanumeric) {
            return None;
        }
    }
    let whole =
        words > 1 && ordinary * 2 <= words && (6..=128).contains(&length) && text != b"change-me";
    let given = whole && !is_example(text) && !is_word_of_programs(text) && !is_note(text);
    (given && text != b"change_me").then_some(Span {
        kind: Kind::Password,
        start: from + skip,
        end: from + skip + length,
    })
}

/// Whether words say where a password is to be had: `Ask Bob for it`. Those of
/// which passwords are made hold no sentence together.
fn is_note(text: &[u8]) -> bool {
    const FIRST: [&str; 14] = [
        "ask", "see", "get", "same", "stored", "set", "to", "find", "look", "contact", "request",
        "siehe", "frag", "wie",
    ];
    let mut words = text.split(|b| *b == b' ');
    let first = words.next().unwrap_or_default();
    let begins = |word: &&str| first.eq_ignore_ascii_case(word.as_bytes());
    let digits = text.iter().any(u8::is_ascii_digit);
    let joins = |word: &[u8]| {
        let lower = word.to_ascii_lowercase();
        let named = word.first().is_some_and(u8::is_ascii_uppercase);
        named || is_of_sentence(&lower) || std::str::from_utf8(&lower).is_ok_and(is_of_notes)
    };
    FIRST.iter().any(begins) && !digits && words.any(joins)
}

/// A password of several words in the quotes behind `from`, whatever quotes
/// they are. A name that promises a phrase promises words.
pub(super) fn in_quotes(bytes: &[u8], from: usize, name: &[u8]) -> Option<Span> {
    let phrase = name.to_ascii_lowercase().ends_with(b"phrase");
    let quoted = string(bytes, from);
    let (start, end) = match quoted {
        Some(place) => place,
        None if phrase => line(bytes, from)?,
        None => return None,
    };
    let text = std::str::from_utf8(&bytes[start..end]).ok()?;
    is_phrase(text, phrase && quoted.is_some()).then_some(Span {
        kind: Kind::Password,
        start,
        end,
    })
}

/// The same behind a name that promises a password.
pub(super) fn quoted(bytes: &[u8], from: usize) -> Option<Span> {
    in_quotes(bytes, from, b"")
}

/// Where the string behind `from` begins and ends.
fn string(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let open = from + blanks(bytes, from);
    if let Some(place) = in_marks(bytes, open) {
        return Some(place);
    }
    let rest = &bytes[open.min(bytes.len())..bytes.len().min(open + BARE)];
    let slashes = rest.iter().take(8).take_while(|b| **b == b'\\').count();
    let quote = *rest.get(slashes).filter(|b| matches!(b, b'"' | b'\''))?;
    let length = closing(&rest[slashes + 1..], quote, slashes)?;
    let start = open + slashes + 1;
    Some((start, start + length))
}

/// Where the rest of the line behind `from` begins and ends, if it may be words
/// without quotes, of which there must be more.
fn line(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    const FEWEST: usize = 4;
    let start = from + blanks(bytes, from);
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + BARE)];
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let line = line.trim_ascii_end();
    let words = line.split(|b| *b == b' ').count();
    (words >= FEWEST && !is_told(line)).then_some((start, start + line.len()))
}

/// Whether words without quotes say something of a phrase rather than being one:
/// they point elsewhere, begin with what is done to it, or are joined as in a
/// sentence. Wallets and lists of words have those words too, so they only count
/// where nothing says where the phrase begins and ends.
fn is_told(line: &[u8]) -> bool {
    const JOINS: [&str; 22] = [
        "when", "while", "using", "too", "with", "without", "after", "before", "because", "until",
        "unless", "instead", "this", "that", "can", "cannot", "will", "only", "also", "then",
        "where", "during",
    ];
    const DONE: [&str; 6] = ["ed", "ing", "id", "al", "able", "ong"];
    let marked = line.iter().any(|b| b"()[]{}<>#".contains(b));
    let lower = line.to_ascii_lowercase();
    let mut words = lower.split(|b| *b == b' ');
    let first = words.clone().next().unwrap_or_default();
    let done = is_ordinary(first) && DONE.iter().any(|end| first.ends_with(end.as_bytes()));
    marked || done || words.any(|word| JOINS.iter().any(|join| word == join.as_bytes()))
}

/// Whether words are a password rather than a sentence about one: none of them
/// holds a sentence together, and they are many, or end with a number, or one of
/// them is no word.
fn is_phrase(text: &str, promised: bool) -> bool {
    let (mut words, mut ordinary, mut small) = (0, 0, true);
    let (mut mixed, mut number) = (false, false);
    for word in text.split(' ') {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let plain = word.to_lowercase();
        let core = plain.trim_matches(|c: char| c.is_ascii_punctuation());
        if word.is_empty() || is_of_sentence(core.as_bytes()) || is_of_notes(core) {
            return false;
        }
        words += 1;
        ordinary += usize::from(is_ordinary(core.as_bytes()));
        small &= word
            .chars()
            .all(|c| c.is_alphanumeric() && !c.is_uppercase());
        mixed |= letters > 0 && digits > 0;
        number = letters == 0 && digits > 1 && core.len() < word.len();
    }
    let length = text.chars().count();
    let many = words >= 3 && small && length >= 12;
    let whole = (2..=12).contains(&words) && (8..=128).contains(&length);
    let told = many || mixed || number || promised && length >= 10;
    let given = whole && told && ordinary * 3 <= words && !is_template(text.as_bytes());
    given && !is_example(text.as_bytes()) && !is_word_of_programs(text.as_bytes())
}

/// Whether a word is of what people write where a password would stand: that it
/// lies elsewhere, or what it must be like.
fn is_of_notes(word: &str) -> bool {
    const WORDS: [&str; 62] = [
        "see",
        "ask",
        "enter",
        "type",
        "your",
        "you",
        "page",
        "line",
        "step",
        "error",
        "must",
        "min",
        "max",
        "characters",
        "siehe",
        "seite",
        "mindestens",
        "zeichen",
        "ihr",
        "dein",
        "das",
        "der",
        "die",
        "und",
        "eingeben",
        "voir",
        "au",
        "moins",
        "votre",
        "le",
        "la",
        "les",
        "et",
        "saisissez",
        "entrez",
        "caractères",
        "ver",
        "su",
        "tu",
        "el",
        "al",
        "menos",
        "caracteres",
        "introduzca",
        "veja",
        "sua",
        "vedi",
        "il",
        "tua",
        "caratteri",
        "см",
        "ваш",
        "не",
        "и",
        "введите",
        "символов",
        "het",
        "uw",
        "je",
        "voer",
        "twoje",
        "wpisz",
    ];
    WORDS.contains(&word) || tongues::is_name(word)
}

/// No wallet's words and their numbers are longer.
const REACH: usize = 24 * 20 + 64;

/// The words of a wallet behind the name that begins at `at`: `seed phrase: …`,
/// `the mnemonic is …`.
pub(super) fn wallet(bytes: &[u8], at: usize) -> Option<Span> {
    const NAMES: [&str; 3] = ["mnemonic", "phrase", "seed"];
    const KINDS: [&str; 6] = ["seed", "recovery", "secret", "backup", "wallet", "mnemonic"];
    let rest = &bytes[at..bytes.len().min(at + REACH)];
    let starts = |text: &[u8], name: &str| {
        let head = text.get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
    };
    let name = NAMES.iter().find(|name| starts(rest, name))?;
    // `phrase` alone may be any.
    let before = bytes[at.saturating_sub(16)..at].to_ascii_lowercase();
    let before = before.strip_suffix(b" ").unwrap_or(&before);
    let before = before.strip_suffix(b"_").unwrap_or(before);
    let before = before.strip_suffix(b"-").unwrap_or(before);
    if *name == "phrase" && !KINDS.iter().any(|kind| before.ends_with(kind.as_bytes())) {
        return None;
    }
    let mut from = name.len();
    if *name != "phrase" {
        from += [
            "_phrase", " phrase", "Phrase", "-phrase", " words", "_words", "s",
        ]
        .iter()
        .find(|tail| starts(&rest[from..], tail))
        .map_or(0, |tail| tail.len());
    }
    let mark = |b: &u8| {
        matches!(
            b,
            b' ' | b'\t' | b'\n' | b'\r' | b':' | b'=' | b'"' | b'\'' | b'`' | b'\\' | b'*' | b'['
        )
    };
    from += rest[from..].iter().take(16).take_while(|b| mark(b)).count();
    if rest[from.min(rest.len())..].starts_with(b"is ") {
        from += 3;
        from += rest[from..].iter().take(8).take_while(|b| mark(b)).count();
    }
    let words = words_at(rest.get(from..)?, Numbers::Maybe)?;
    Some(words.behind(at + from))
}

/// The words of a wallet in a list whose first number is at `at`, with no name
/// before it: `1. legal 2. winner`, one to a line or not.
pub(super) fn numbered(bytes: &[u8], at: usize) -> Option<Span> {
    if !matches!(bytes.get(at + 1), Some(b'.' | b')' | b':')) || !is_word_start(bytes, at) {
        return None;
    }
    let rest = &bytes[at..bytes.len().min(at + REACH)];
    Some(words_at(rest, Numbers::Each)?.behind(at))
}

/// Whether the words are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// All, or none of them.
    Maybe,
    /// All of them.
    Each,
}

/// Where the words stand.
struct Words {
    start: usize,
    end: usize,
}

impl Words {
    fn behind(&self, at: usize) -> Span {
        Span {
            kind: Kind::SeedPhrase,
            start: at + self.start,
            end: at + self.end,
        }
    }
}

/// As many words as a wallet has, and no more, from the beginning of the text.
fn words_at(text: &[u8], numbers: Numbers) -> Option<Words> {
    const COUNTS: [usize; 5] = [12, 15, 18, 21, 24];
    let is_gap = |b: &&u8| matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b',' | b'"' | b'*' | b'`');
    let gap = |from: usize| text[from..].iter().take(8).take_while(is_gap).count();
    let numbered = numbers == Numbers::Each || number(text, 1).is_some();
    let (mut count, mut place) = (0, 0);
    let (mut start, mut end) = (0, 0);
    while count < 25 {
        if numbered {
            let Some(length) = number(&text[place..], count + 1) else {
                break;
            };
            place += length;
            place += gap(place);
        }
        let word = text[place..].iter();
        let length = word.take_while(|b| b.is_ascii_lowercase()).count();
        let word = &text[place..place + length];
        if !(3..=8).contains(&length) || is_of_sentence(word) {
            // A number with something else behind it: the list is another.
            if numbered {
                return None;
            }
            break;
        }
        if count == 0 {
            start = place;
        }
        count += 1;
        end = place + length;
        let next = gap(end);
        place = end + next;
        if next == 0 {
            break;
        }
    }
    // An item of more than a word is no word of a wallet.
    let whole = !numbered
        || text.get(place).is_none_or(|b| !b.is_ascii_lowercase())
        || ends_line(text, end);
    (whole && COUNTS.contains(&count)).then_some(Words { start, end })
}

/// Whether nothing else stands in the line behind `at`.
fn ends_line(text: &[u8], at: usize) -> bool {
    let behind = text[at..]
        .iter()
        .find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
    behind.is_none_or(|b| *b == b'\n')
}

/// The length of `1.`, `1)` or `1:` at the beginning, if it is this number.
fn number(text: &[u8], wanted: usize) -> Option<usize> {
    let digits = text
        .iter()
        .take(3)
        .take_while(|b| b.is_ascii_digit())
        .count();
    let read = text[..digits]
        .iter()
        .fold(0, |sum, b| sum * 10 + usize::from(b - b'0'));
    let closed = matches!(text.get(digits), Some(b'.' | b')' | b':'));
    (digits > 0 && closed && read == wanted).then_some(digits + 1)
}
