//! The languages whose words are reduced to stems, and how one is recognised.
//!
//! What is not recognised for certain is treated as English, the language of most
//! code and of most tool output. Words in a script of their own are of the language
//! of that script wherever they stand.

use std::collections::HashSet;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use whatlang::{Detector, Lang};

/// A language with a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Language {
    English = 0,
    German = 1,
    French = 2,
    Spanish = 3,
    Italian = 4,
    Portuguese = 5,
    Dutch = 6,
    Swedish = 7,
    Russian = 8,
    Greek = 9,
    Arabic = 10,
}

/// A language, what others call it, and its stemmer.
const LANGUAGES: [(Language, Lang, &str, Algorithm); 11] = [
    (Language::English, Lang::Eng, "en", Algorithm::English),
    (Language::German, Lang::Deu, "de", Algorithm::German),
    (Language::French, Lang::Fra, "fr", Algorithm::French),
    (Language::Spanish, Lang::Spa, "es", Algorithm::Spanish),
    (Language::Italian, Lang::Ita, "it", Algorithm::Italian),
    (Language::Portuguese, Lang::Por, "pt", Algorithm::Portuguese),
    (Language::Dutch, Lang::Nld, "nl", Algorithm::Dutch),
    (Language::Swedish, Lang::Swe, "sv", Algorithm::Swedish),
    (Language::Russian, Lang::Rus, "ru", Algorithm::Russian),
    (Language::Greek, Lang::Ell, "el", Algorithm::Greek),
    (Language::Arabic, Lang::Ara, "ar", Algorithm::Arabic),
];

/// How much of a text is looked at to recognise its language.
const LOOKED_AT: usize = 1_000;

static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
    Detector::with_allowlist(LANGUAGES.iter().map(|(_, lang, ..)| *lang).collect())
});

static STOPS: LazyLock<Vec<HashSet<&'static str>>> = LazyLock::new(|| {
    let stops = |(_, _, code, _): &(_, _, &str, _)| {
        let words = stop_words::lookup(*code).unwrap_or_default();
        words.iter().copied().collect()
    };
    LANGUAGES.iter().map(stops).collect()
});

impl Language {
    /// How many there are.
    pub(crate) const COUNT: usize = LANGUAGES.len();

    /// All of them, in the order of their numbers.
    pub(crate) fn all() -> impl Iterator<Item = Language> {
        LANGUAGES.iter().map(|(language, ..)| *language)
    }

    /// The language of a text.
    pub(crate) fn of(text: &str) -> Language {
        let start = &text[..text.floor_char_boundary(LOOKED_AT)];
        let found = DETECTOR.detect(start).filter(whatlang::Info::is_reliable);
        let known = found.and_then(|found| {
            let mut languages = LANGUAGES.iter();
            languages.find(|(_, lang, ..)| *lang == found.lang())
        });
        let language = known.map_or(Language::English, |(language, ..)| *language);
        // Names and code may look like anything; what is of a language has its small
        // words.
        let mut words = start
            .split(|c: char| !c.is_alphabetic())
            .map(str::to_lowercase);
        let tells = |word: String| language.is_stop(&word) && !Language::English.is_stop(&word);
        match words.any(tells) {
            true => language,
            false => Language::English,
        }
    }

    /// The language whose script a letter belongs to, if it is not Latin.
    pub(crate) fn of_script(letter: char) -> Option<Language> {
        match letter {
            '\u{0400}'..='\u{052f}' => Some(Language::Russian),
            '\u{0370}'..='\u{03ff}' | '\u{1f00}'..='\u{1fff}' => Some(Language::Greek),
            '\u{0600}'..='\u{06ff}' => Some(Language::Arabic),
            _ => None,
        }
    }

    pub(crate) fn stemmer(self) -> Stemmer {
        let (.., algorithm) = LANGUAGES[self as usize];
        Stemmer::create(algorithm)
    }

    /// Words that say nothing about what a text is about.
    pub(crate) fn is_stop(self, word: &str) -> bool {
        STOPS[self as usize].contains(word)
    }
}
