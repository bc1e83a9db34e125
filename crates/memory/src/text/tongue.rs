//! The languages whose words are reduced to stems, and how one is recognised.
//!
//! A text is taken for the language whose stop words it has most of. Words in
//! a script of their own need no counting. What is not recognised is treated
//! as English, the language of most code and of most tool output.

use rust_stemmers::{Algorithm, Stemmer};

/// A language with a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Tongue {
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

/// Those written in Latin letters, which only their words tell apart.
const LATIN: [Tongue; 8] = [
    Tongue::English,
    Tongue::German,
    Tongue::French,
    Tongue::Spanish,
    Tongue::Italian,
    Tongue::Portuguese,
    Tongue::Dutch,
    Tongue::Swedish,
];

/// How much of a text is looked at to recognise its language.
const LOOKED_AT: usize = 400;

impl Tongue {
    /// How many there are.
    pub(crate) const COUNT: usize = 11;

    pub(crate) fn from_number(number: u8) -> Option<Tongue> {
        LATIN
            .into_iter()
            .chain([Tongue::Russian, Tongue::Greek, Tongue::Arabic])
            .find(|tongue| *tongue as u8 == number)
    }

    /// The language of a text's Latin words: English unless another one has
    /// clearly more of its stop words in it.
    pub(crate) fn of(words: impl Iterator<Item = impl AsRef<str>>) -> Tongue {
        let mut counts = [0u32; LATIN.len()];
        for word in words.take(LOOKED_AT) {
            let tongues = words::tongues(word.as_ref());
            for (tongue, count) in LATIN.iter().zip(&mut counts) {
                *count += u32::from(tongues >> (*tongue as u8) & 1);
            }
        }
        let english = counts[0];
        let best = (1..LATIN.len()).max_by_key(|&at| (counts[at], LATIN.len() - at));
        match best {
            Some(at) if counts[at] >= 2 && counts[at] > english * 3 / 2 => LATIN[at],
            _ => Tongue::English,
        }
    }

    /// The language whose script a letter belongs to, if it is not Latin.
    pub(crate) fn of_script(letter: char) -> Option<Tongue> {
        match letter {
            '\u{0400}'..='\u{052f}' => Some(Tongue::Russian),
            '\u{0370}'..='\u{03ff}' | '\u{1f00}'..='\u{1fff}' => Some(Tongue::Greek),
            '\u{0600}'..='\u{06ff}' => Some(Tongue::Arabic),
            _ => None,
        }
    }

    pub(crate) fn stemmer(self) -> Stemmer {
        Stemmer::create(match self {
            Tongue::English => Algorithm::English,
            Tongue::German => Algorithm::German,
            Tongue::French => Algorithm::French,
            Tongue::Spanish => Algorithm::Spanish,
            Tongue::Italian => Algorithm::Italian,
            Tongue::Portuguese => Algorithm::Portuguese,
            Tongue::Dutch => Algorithm::Dutch,
            Tongue::Swedish => Algorithm::Swedish,
            Tongue::Russian => Algorithm::Russian,
            Tongue::Greek => Algorithm::Greek,
            Tongue::Arabic => Algorithm::Arabic,
        })
    }

    /// Words that say nothing about what a text is about.
    pub(crate) fn is_stop(self, word: &str) -> bool {
        words::tongues(word) >> (self as u8) & 1 == 1
    }
}

/// The stop words of all languages, put together once.
mod words {
    use std::collections::HashMap;
    use std::sync::LazyLock;

    use foldhash::fast::RandomState;

    /// A bit for each language, by its number.
    static WORDS: LazyLock<HashMap<&'static str, u16, RandomState>> = LazyLock::new(|| {
        let texts = [
            include_str!("stops/en.txt"),
            include_str!("stops/de.txt"),
            include_str!("stops/fr.txt"),
            include_str!("stops/es.txt"),
            include_str!("stops/it.txt"),
            include_str!("stops/pt.txt"),
            include_str!("stops/nl.txt"),
            include_str!("stops/sv.txt"),
            include_str!("stops/ru.txt"),
            include_str!("stops/el.txt"),
            include_str!("stops/ar.txt"),
        ];
        let mut words = HashMap::default();
        for (number, text) in texts.into_iter().enumerate() {
            for word in text.split_whitespace() {
                *words.entry(word).or_default() |= 1 << number;
            }
        }
        words
    });

    /// The languages in which a word says nothing.
    pub(super) fn tongues(word: &str) -> u16 {
        WORDS.get(word).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_with_most_stop_words_is_taken() {
        let of = |text: &str| Tongue::of(text.split_whitespace());
        assert_eq!(
            of("wir haben uns für die neue datenbank entschieden und das ist gut"),
            Tongue::German
        );
        assert_eq!(
            of("nous avons choisi la base de données pour le projet"),
            Tongue::French
        );
        assert_eq!(
            of("hemos elegido la base de datos para el proyecto"),
            Tongue::Spanish
        );
        assert_eq!(
            of("we have chosen the database for the project"),
            Tongue::English
        );
        assert_eq!(of("fn main let mut x"), Tongue::English);
        assert_eq!(of(""), Tongue::English);
    }

    #[test]
    fn numbers_name_languages_both_ways() {
        for number in 0..=10 {
            assert_eq!(
                Tongue::from_number(number).map(|tongue| tongue as u8),
                Some(number)
            );
        }
        assert_eq!(Tongue::from_number(11), None);
    }
}
