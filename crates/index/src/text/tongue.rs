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
        let mut heard = Heard::default();
        for word in words.take(LOOKED_AT) {
            heard.hear(word.as_ref());
        }
        heard.clearly(Tongue::English).unwrap_or(Tongue::English)
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
        words::tongues(word)[0] >> (self as u8) & 1 == 1
    }
}

/// The stop words of some text, by the language whose they are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heard {
    words: u32,
    counts: [u32; LATIN.len()],
    /// Those of them that English does not have.
    apart: [u32; LATIN.len()],
    /// Words that tell a language alone: the long ones of those that English does
    /// not have, which are neither names of variables nor abbreviations, and a few
    /// that rules are made with.
    telling: [u32; LATIN.len()],
    /// A bit for each stop word, or for a few of them.
    known: u64,
}

/// A stop word of so many letters tells a language alone.
const TELLING: usize = 5;

/// In a line that is of a language one word in so many is a stop word of it.
const DENSE: u32 = 6;

impl Heard {
    /// Takes note of a word of a line, in small letters. Single letters and what is
    /// said again tell nothing: code is full of `dir`, `want` and `\n`.
    pub(super) fn hear_once(&mut self, word: &str) {
        self.words += 1;
        if word.len() < 2 || words::tongues(word) == [0; 2] {
            return;
        }
        let mix = |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
        let bit = 1 << (word.bytes().fold(7, mix) % 64);
        if self.known & bit == 0 {
            self.known |= bit;
            self.hear(word);
        }
    }

    /// Takes note of a word in small letters.
    fn hear(&mut self, word: &str) {
        let [stops, mut telling] = words::tongues(word);
        if stops & 1 == 0 && word.chars().nth(TELLING - 1).is_some() {
            telling |= stops;
        }
        for at in 0..LATIN.len() {
            self.counts[at] += u32::from(stops >> at & 1);
            self.apart[at] += u32::from(stops >> at & !stops & 1);
            self.telling[at] += u32::from(telling >> at & 1);
        }
    }

    /// The language that has clearly more stop words than this one and English.
    fn clearly(&self, than: Tongue) -> Option<Tongue> {
        let best = most(&self.counts);
        let count = |tongue: Tongue| self.counts.get(tongue as usize).copied().unwrap_or(0);
        let rival = match best {
            Tongue::English => count(than),
            _ => count(than).max(count(Tongue::English)),
        };
        (count(best) >= 2 && count(best) > rival * 3 / 2).then_some(best)
    }

    /// The language of a line behind one of this language: another one only where
    /// that is plain to see.
    pub(super) fn in_line(&self, before: Tongue) -> Tongue {
        let plain = |tongue: &Tongue| {
            let at = *tongue as usize;
            let apart = *tongue == Tongue::English || self.apart[at] >= 2;
            apart && self.counts[at] * DENSE >= self.words
        };
        if let Some(other) = self.clearly(before).filter(plain) {
            return other;
        }
        let told = most(&self.telling);
        let is_told = self.telling[told as usize] > 0
            && self.counts[Tongue::English as usize] == 0
            && self.counts.get(before as usize).is_none_or(|own| *own == 0);
        if is_told { told } else { before }
    }
}

/// The language with the highest count, the first of several.
fn most(counts: &[u32; LATIN.len()]) -> Tongue {
    let at = (0..LATIN.len()).max_by_key(|&at| (counts[at], LATIN.len() - at));
    LATIN[at.unwrap_or(0)]
}

/// The stop words of all languages, put together once.
mod words {
    use std::collections::HashMap;
    use std::sync::LazyLock;

    use foldhash::fast::RandomState;

    use super::Tongue;

    /// Words that rules are made with: they say something, and in which language.
    const TELLING: [(&str, Tongue); 12] = [
        ("immer", Tongue::German),
        ("nie", Tongue::German),
        ("niemals", Tongue::German),
        ("bitte", Tongue::German),
        ("toujours", Tongue::French),
        ("jamais", Tongue::French),
        ("siempre", Tongue::Spanish),
        ("nunca", Tongue::Spanish),
        ("sempre", Tongue::Italian),
        ("nooit", Tongue::Dutch),
        ("alltid", Tongue::Swedish),
        ("aldrig", Tongue::Swedish),
    ];

    /// A bit for each language, by its number, and above them one for each that a
    /// word tells without being a stop word.
    static WORDS: LazyLock<HashMap<&'static str, u32, RandomState>> = LazyLock::new(|| {
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
        for (word, tongue) in TELLING {
            *words.entry(word).or_default() |= 1 << (16 + tongue as u32);
        }
        words
    });

    /// The languages in which a word says nothing, and those that it tells.
    pub(super) fn tongues(word: &str) -> [u16; 2] {
        let bits = WORDS.get(word).copied().unwrap_or(0);
        [bits as u16, (bits >> 16) as u16]
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
