//! Passwords that a little word stands for: `the password had expired, I reset it
//! to x`.

use super::Kind;
use super::follows::{Name, words_before};
use super::names::Promise;
use super::spoken::{is_change, is_means};
use super::value::{Span, value};

/// How far from the name the value may stand.
const REACH: usize = 160;

/// What leads from the little word to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// `it is now x`.
    Is,
    /// `it to x`, behind what says that it was changed.
    To,
    /// `es auf x`, before or behind it.
    Auf,
}

const LINKS: [(&str, Link); 13] = [
    (" it to ", Link::To),
    (" it back to ", Link::To),
    (" it is now ", Link::Is),
    (" it's now ", Link::Is),
    (" it’s now ", Link::Is),
    (" es auf ", Link::Auf),
    (" jetzt auf ", Link::Auf),
    ("'s auf ", Link::Auf),
    ("’s auf ", Link::Auf),
    (" es lautet jetzt ", Link::Is),
    (" es lautet nun ", Link::Is),
    (" es ist jetzt ", Link::Is),
    (" es ist nun ", Link::Is),
];

/// The value of a name of which the same or the next sentence goes on to speak.
pub(super) fn resumed(bytes: &[u8], name: Name) -> Option<Span> {
    if name.promise != Promise::Password || !is_spoken_of(bytes, name) {
        return None;
    }
    let rest = &bytes[name.end..bytes.len().min(name.end + REACH)];
    let end = sentence_ends(rest).nth(1).unwrap_or(rest.len());
    let first = sentence_ends(rest).next().unwrap_or(end);
    let ahead = LINKS.iter().find_map(|(words, link)| {
        let place = memchr::memmem::find(&rest[..end], words.as_bytes())?;
        let found = linked(bytes, name.end + place, words, *link)?;
        // Small letters and a number may be what the next sentence is about, and
        // so may anything that a clause of its own speaks of.
        let text = &bytes[found.start..found.end];
        let meant = || is_mixed(text) && !has_subject(&rest[first..place]);
        (place < first || meant()).then_some(found)
    });
    ahead.or_else(|| before(bytes, name))
}

/// Whether a clause with a subject of its own leads to the one that ends a text:
/// `The runtime was old, I changed`.
fn has_subject(text: &[u8]) -> bool {
    const ARTICLES: [&str; 8] = ["the", "a", "an", "our", "my", "der", "die", "das"];
    let parted = text.contains(&b',') || memchr::memmem::find(text, b" and ").is_some();
    let mut words = text.split(|b| !b.is_ascii_alphabetic());
    let article = |word: &[u8]| {
        ARTICLES
            .iter()
            .any(|a| word.eq_ignore_ascii_case(a.as_bytes()))
    };
    parted && words.any(article)
}

/// The same of a value before the name in its sentence: `I reset it to x, the
/// password had expired`.
fn before(bytes: &[u8], name: Name) -> Option<Span> {
    let floor = name.start.saturating_sub(REACH / 2);
    let text = &bytes[floor..name.start];
    let begin = sentence_ends(text).last().map_or(0, |place| place + 1);
    LINKS.iter().find_map(|(words, link)| {
        let place = memchr::memmem::rfind(&text[begin..], words.as_bytes())?;
        let found = linked(bytes, floor + begin + place, words, *link)?;
        (found.end <= name.start && is_mixed(&bytes[found.start..found.end])).then_some(found)
    })
}

/// Where sentences end in a text, and paragraphs.
fn sentence_ends(text: &[u8]) -> impl Iterator<Item = usize> {
    let ends = |place: &usize| match text[*place] {
        b'.' | b'!' | b'?' => text.get(place + 1).is_none_or(u8::is_ascii_whitespace),
        b'\n' => text.get(place + 1) == Some(&b'\n'),
        _ => false,
    };
    (0..text.len()).filter(move |place| ends(place))
}

/// Whether something is said of the password itself: behind its name stands a
/// verb or nothing, rather than a `field`, a `hash` or a `test`.
fn is_spoken_of(bytes: &[u8], name: Name) -> bool {
    const WORDS: [&str; 42] = [
        "had",
        "has",
        "was",
        "is",
        "got",
        "did",
        "didn't",
        "can't",
        "cannot",
        "doesn't",
        "isn't",
        "wasn't",
        "expired",
        "leaked",
        "failed",
        "so",
        "and",
        "again",
        "but",
        "because",
        "since",
        "for",
        "of",
        "on",
        "yesterday",
        "today",
        "kept",
        "stopped",
        "no",
        "--",
        "–",
        "—",
        "war",
        "ist",
        "wurde",
        "hat",
        "hatte",
        "vergessen",
        "zurückgesetzt",
        "abgelaufen",
        "für",
        "gilt",
    ];
    let rest = &bytes[name.end..bytes.len().min(name.end + 24)];
    match rest.first() {
        None => true,
        // `the password (prod) was wrong`, `the password: it is now x`
        Some(b' ') if rest.starts_with(b" (") => true,
        Some(b':') => rest.starts_with(b": "),
        Some(b' ') => {
            let word = rest[1..].split(|b| b.is_ascii_whitespace() || *b == b',');
            let word = word
                .map(|word| word.strip_suffix(b".").unwrap_or(word))
                .next();
            word.is_some_and(|word| {
                WORDS
                    .iter()
                    .any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
            })
        }
        Some(byte) => matches!(byte, b',' | b'.' | b';' | b'!' | b'?' | b')' | b'\n'),
    }
}

/// The value behind the words of a link at `at`.
fn linked(bytes: &[u8], at: usize, words: &str, link: Link) -> Option<Span> {
    let found = value(bytes, at + words.len(), Promise::Password)?;
    let changed = |count: usize| words_before(bytes, at).take(count).any(is_change);
    let told = match link {
        Link::Is => true,
        Link::To => changed(1),
        Link::Auf => changed(3) || is_change(word_behind(bytes, found.end)),
    };
    (told && is_likely(&bytes[found.start..found.end])).then_some(Span {
        kind: Kind::Password,
        ..found
    })
}

/// The next word, without what stands around it.
pub(super) fn word_behind(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..bytes.len().min(at + 32)];
    let around = |b: &u8| b.is_ascii() && !b.is_ascii_alphabetic();
    let start = rest.iter().position(|b| !around(b)).unwrap_or(rest.len());
    rest[start..].split(around).next().unwrap_or_default()
}

/// Whether a word looks like a password where much else may be set to something:
/// letters with digits or signs, but no number with its unit, no commit, no
/// address and no name of a program.
fn is_likely(text: &[u8]) -> bool {
    const LEAST: usize = 6;
    let joined = text.iter().any(|b| b"/.=:_(<[{|\\".contains(b));
    let letters = text.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let digits = text.iter().filter(|b| b.is_ascii_digit()).count();
    let sign = |b: &u8| b.is_ascii_punctuation() && *b != b'-';
    let mixed = letters > 2 && (digits > 0 || text.iter().any(sign));
    let number = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let unit = number > 0 && text[number..].iter().all(u8::is_ascii_lowercase);
    let commit = text.iter().all(u8::is_ascii_hexdigit);
    // `HEAD~2`, `v2-rc1`.
    let version =
        text.starts_with(b"HEAD") || text.starts_with(b"v") && digits > 0 && letters < LEAST;
    text.len() >= LEAST && mixed && !joined && !unit && !commit && !version && !is_means(text)
}

/// Whether a word has letters of both cases, or a sign.
fn is_mixed(text: &[u8]) -> bool {
    let upper = text.iter().any(u8::is_ascii_uppercase);
    let lower = text.iter().any(u8::is_ascii_lowercase);
    let sign = |b: &u8| b.is_ascii_punctuation() && *b != b'-';
    upper && lower || text.iter().any(sign)
}
