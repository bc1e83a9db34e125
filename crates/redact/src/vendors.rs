//! Secrets that begin as their vendor's keys do: the rows of `vendors.txt`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::alphabet::Alphabet;
use super::judge::is_path;
use super::letters;
use super::places::is_escape;
use super::shape::{Shape, is_base64_key, is_example, looks_hex};
use super::span::Span;
use super::{Kind, Redactor};

/// How sure the prefix alone makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// Nothing else is written so; it counts anywhere.
    Certain,
    /// It counts where a word begins.
    AtWord,
    /// The same, also of letters alone if they are of both cases.
    Cased,
    /// Words begin so too; what follows must look random.
    Weak,
    /// Names begin so too; what follows must be no words.
    Random,
    /// The same, and a dot parts it from hexadecimal digits.
    Parted,
    /// The ends of names are written so; it counts where none goes on into it.
    Alone,
}

impl Certainty {
    fn named(name: &str) -> Option<Certainty> {
        Some(match name {
            "certain" => Certain,
            "word" => AtWord,
            "cased" => Cased,
            "weak" => Weak,
            "random" => Random,
            "parted" => Parted,
            "alone" => Alone,
            _ => return None,
        })
    }
}

/// A row of `vendors.txt`.
struct Form {
    id: &'static str,
    prefix: &'static str,
    kind: Kind,
    alphabet: &'static Alphabet,
    /// Characters behind the prefix.
    least: usize,
    /// And no more, where the vendor's keys have an end.
    most: usize,
    certainty: Certainty,
}

/// Enough to judge by. What goes on after it belongs to the key as well, but is
/// looked at only once that is known.
const MOST: usize = 512;
/// Hexadecimal digits of a key that has no other letters.
const HASH: usize = 32;

use Certainty::{Alone, AtWord, Cased, Certain, Parted, Random, Weak};

/// The table of the vendors' formats.
const TABLE: &str = include_str!("vendors.txt");

/// The rows of the table that are none of its comments.
fn lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.starts_with('#'))
}

/// Every format, in the order of the table.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| lines().filter_map(Form::read).collect());

impl Form {
    fn read(line: &'static str) -> Option<Form> {
        let mut columns = line.split_ascii_whitespace();
        let (id, prefix) = (columns.next()?, columns.next()?);
        let kind = Kind::named(columns.next()?)?;
        let alphabet = Alphabet::named(columns.next()?)?;
        let length = columns.next()?;
        let (least, most) = match length.split_once("..") {
            Some((least, "")) => (least.parse().ok()?, MOST),
            Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
            None => (length.parse().ok()?, length.parse().ok()?),
        };
        let certainty = Certainty::named(columns.next()?)?;
        Some(Form {
            id,
            prefix,
            kind,
            alphabet,
            least,
            most,
            certainty,
        })
    }
}

static PREFIXES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let prefixes = FORMS.iter().map(|form| form.prefix);
    AhoCorasick::new(prefixes).expect("the prefixes are few")
});

/// The ids of the rows.
pub(crate) fn ids() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.id)
}

impl Redactor {
    /// Every key of a vendor. Keys of two may begin alike, so every row that fits
    /// is tried.
    pub(crate) fn vendors_keys(&self, text: &str, found: &mut Vec<Span>) {
        for hit in PREFIXES.find_overlapping_iter(text) {
            let form = &FORMS[hit.pattern().as_usize()];
            if self.off.contains(form.id) {
                continue;
            }
            if let Some(end) = key_of(text, hit.start(), form) {
                // Of two rows that fit the one with more of the key before it.
                if found.last().is_some_and(|last| last.start == hit.start()) {
                    found.pop();
                }
                found.push(Span {
                    kind: form.kind,
                    start: hit.start(),
                    end,
                });
            }
        }
    }
}

/// The key of this row that begins at `at`, behind whose prefix it must be sound.
/// Where it ends.
fn key_of(text: &str, at: usize, form: &Form) -> Option<usize> {
    let bytes = text.as_bytes();
    if form.certainty != Certain && !is_word_start(text, at) {
        return None;
    }
    let start = at + form.prefix.len();
    let (body, mut end) = body(bytes, start, form)?;
    if body.len() < form.least || body.len() > form.most || is_example(&body) {
        return None;
    }
    let shape = Shape::of(&body);
    let sound = match form.certainty {
        Certain => shape.distinct >= 6,
        AtWord => shape.distinct >= 6 && (shape.digits > 0 || letters::are_random(&body)),
        Cased => {
            let cased = shape.upper > 1 && shape.lower > 1;
            shape.distinct >= 6 && (shape.digits > 0 || cased)
        }
        Weak => {
            let mixed = shape.digits > 0 && shape.upper >= 3 && shape.lower >= 3;
            mixed && shape.entropy > 3.3 || body.len() == HASH && looks_hex(&body)
        }
        Random => {
            // What base64 goes on with is a part of something longer.
            let longer = |b: &u8| matches!(b, b'/' | b'+');
            let part = at > 0 && longer(&bytes[at - 1]) || bytes.get(end).is_some_and(longer);
            !part && shape.digits > 0 && is_base64_key(&body) && !is_path(&body)
        }
        Parted => body.get(14) == Some(&b'.') && looks_hex(&body[15..]),
        Alone => {
            let named = at > 0 && matches!(bytes[at - 1], b'-' | b'.' | b'/' | b'#' | b'@');
            !named && looks_hex(&body)
        }
    };
    if !sound {
        return None;
    }
    if body.len() >= MOST {
        let rest = bytes[end..].iter();
        end += rest.take_while(|byte| form.alphabet.has(**byte)).count();
    }
    if form.kind == Kind::PrivateKey && form.alphabet.name == "base64" {
        end = further_lines(bytes, end, form);
    }
    Some(end)
}

/// Where a private key ends that goes on for more lines than it is judged by.
fn further_lines(bytes: &[u8], end: usize, form: &Form) -> usize {
    const LINE: usize = 16;
    let mut end = end;
    while let Some(start) = after_break(bytes, end) {
        let has = |byte: &&u8| form.alphabet.has(**byte);
        let line = &bytes[start..start + bytes[start..].iter().take_while(has).count()];
        let shape = Shape::of(line);
        let last = shape.upper > 0 && shape.digits > 0 || line.ends_with(b"=");
        let behind = bytes.get(start + line.len());
        let alone = behind.is_none_or(|byte| b"\r\n\\\"'`,".contains(byte));
        if !alone || line.len() < LINE && !last {
            break;
        }
        end = start + line.len();
    }
    end
}

/// What stands behind the prefix, and where it ends. A terminal or an editor may
/// have broken it over lines; it goes on in the next one if it is too short to
/// have ended, or so long and random that it was cut by the width.
fn body(bytes: &[u8], start: usize, form: &Form) -> Option<(Vec<u8>, usize)> {
    let run = |from: usize| {
        bytes[from..]
            .iter()
            .take(MOST)
            .take_while(|byte| form.alphabet.has(**byte))
            .count()
    };
    let mut end = start + run(start);
    // A full stop ends the sentence, not the key, unless the key is whole with it only.
    while end > start + form.least.min(MOST) && matches!(bytes[end - 1], b'.' | b'/') {
        end -= 1;
    }
    let mut body = bytes[start..end].to_vec();
    for _ in 0..8 {
        if body.len() >= form.least && form.most == form.least {
            break;
        }
        let too_short = body.len() < form.least;
        let joined = too_short.then(|| next_string(bytes, end)).flatten();
        let Some(next) = after_break(bytes, end).or(joined) else {
            break;
        };
        let length = run(next);
        let more = &bytes[next..next + length];
        let shape = Shape::of(more);
        let cased = shape.upper > 0 && shape.lower > 0;
        let mixed = shape.digits > 0 && shape.letters() > 0;
        let goes_on = if body.len() >= 4 {
            // By chance a part has no digit; with it the key must be whole.
            let completes = form.certainty == Certain
                && too_short
                && cased
                && body.len() + length >= form.least;
            length >= 4 && (mixed && (too_short || length >= 12 && cased) || completes)
        } else {
            // The prefix alone ends its line: all of the key is in the next.
            let random = mixed && (cased || form.alphabet.name == "hex");
            form.certainty == Certain && body.is_empty() && length >= form.least && random
        };
        // The rest of a broken line stands alone in its own.
        let alone = bytes.get(next + length).is_none_or(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\' | b'`' | b',' | b';')
        });
        if !goes_on || !alone || body.len() + length > MOST {
            break;
        }
        body.extend_from_slice(more);
        end = next + length;
    }
    (!body.is_empty()).then_some((body, end))
}

/// Where the text goes on behind a line break, written as such, escaped, or
/// with a backslash before it.
fn after_break(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let broken = ["\\\r\n", "\\\n", "\r\n", "\n", "\\r\\n", "\\n"]
        .iter()
        .find(|mark| rest.starts_with(mark.as_bytes()))?;
    let start = at + broken.len();
    let indent = bytes[start..]
        .iter()
        .take(64)
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'|' | b'>'))
        .count();
    Some(start + indent)
}

/// Where the next of the strings begins that a program joins: `"x" + "y"`.
fn next_string(bytes: &[u8], at: usize) -> Option<usize> {
    let (quote, rest) = bytes.get(at..)?.split_first()?;
    let between = |byte: &&u8| byte.is_ascii_whitespace() || b"+.\\".contains(byte);
    let length = rest.iter().take(64).take_while(between).count();
    let joins = b"\"'".contains(quote) && length > 0 && rest.get(length) == Some(quote);
    joins.then_some(at + length + 2)
}

/// Whether a word begins here.
fn is_word_start(text: &str, at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text.as_bytes()[before]);
    before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_') || is_escape(text, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_read_and_names_its_source() {
        for line in lines() {
            let columns = line.split_ascii_whitespace();
            assert!(Form::read(line).is_some(), "{line}");
            let source = columns.clone().nth(6);
            assert!(source.is_some_and(|source| source.contains(':')), "{line}");
            assert_eq!(columns.count(), 7, "{line}");
        }
    }

    /// Characters of an alphabet, from a seed.
    fn generated(form: &Form, seed: u64) -> String {
        let letters: Vec<u8> = (0..128).filter(|b| form.alphabet.has(*b)).collect();
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            letters[(state >> 33) as usize % letters.len()]
        };
        let mut body: Vec<u8> = (0..form.least).map(|_| next()).collect();
        if form.certainty == Parted {
            body[14] = b'.';
            let hex = b"0123456789abcdef";
            body[15..]
                .iter_mut()
                .for_each(|b| *b = hex[usize::from(*b) % 16]);
        }
        // What a vendor's key has nearly always.
        (body[0], body[2]) = (b'7', b'3');
        String::from_utf8(body).unwrap()
    }

    #[test]
    fn a_generated_key_of_every_row_is_found_whole() {
        let redactor = crate::Redactor::default();
        for form in FORMS.iter() {
            for seed in 1..4 {
                let mut body = generated(form, seed);
                if form.alphabet.has(b'f') && !form.alphabet.has(b'g') {
                    body.make_ascii_lowercase();
                }
                let key = format!("{}{body}", form.prefix);
                for text in [
                    format!("use {key} now"),
                    format!("\"{key}\""),
                    format!("x={key}"),
                ] {
                    let redacted = redactor.redact(&text).text;
                    assert!(!redacted.contains(&body), "{redacted} ({seed})");
                }
            }
        }
    }

    #[test]
    fn every_prefix_can_be_looked_for() {
        for form in FORMS.iter() {
            // The scan looks for other things where these stand.
            let first = form.prefix.as_bytes()[0];
            assert!(first.is_ascii_alphanumeric(), "{}", form.prefix);
            assert!(form.prefix.len() > 1, "{}", form.prefix);
        }
    }

    #[test]
    fn a_longer_prefix_stands_before_the_one_it_begins_with() {
        for (at, form) in FORMS.iter().enumerate() {
            for later in &FORMS[at + 1..] {
                assert!(
                    !later.prefix.starts_with(form.prefix),
                    "{} {}",
                    form.prefix,
                    later.prefix
                );
            }
        }
    }
}
