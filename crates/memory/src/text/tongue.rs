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
    pub(crate) fn from_number(number: u8) -> Option<Tongue> {
        LATIN
            .into_iter()
            .chain([Tongue::Russian, Tongue::Greek, Tongue::Arabic])
            .find(|tongue| *tongue as u8 == number)
    }

    /// The language of a text's Latin words: English unless another one has
    /// clearly more of its stop words in it.
    pub(crate) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Tongue {
        let mut counts = [0u32; LATIN.len()];
        for word in words.take(LOOKED_AT) {
            for (tongue, count) in LATIN.iter().zip(&mut counts) {
                *count += u32::from(tongue.stops().contains(&word));
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
        self.stops().contains(&word)
    }

    fn stops(self) -> &'static words::Set {
        words::of(self)
    }
}

/// Sets of words, made once.
mod words {
    use std::collections::HashSet;
    use std::sync::LazyLock;

    use super::Tongue;

    pub(super) type Set = HashSet<&'static str>;

    static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| {
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
        texts.map(|text| text.split_whitespace().collect()).into()
    });

    pub(super) fn of(tongue: Tongue) -> &'static Set {
        &SETS[tongue as usize]
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
