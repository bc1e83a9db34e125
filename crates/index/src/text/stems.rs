//! Stems, remembered: a text has few different words, and a stemmer is slow.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use rust_stemmers::Stemmer;
use unicode_normalization::UnicodeNormalization;

use super::{LONGEST, Tongue, fold};

/// Words and the tokens they become.
#[derive(Default)]
pub(crate) struct Stems {
    stemmers: HashMap<u8, Stemmer>,
    known: [Known; Tongue::COUNT],
}

/// The words of a language and their tokens, one behind the other: to look a word
/// up is mostly to wait for memory, and so they stay where waits are short.
#[derive(Default)]
struct Known {
    text: String,
    places: HashTable<Place>,
    hasher: RandomState,
}

/// Where a word lies, and its token behind it, which is empty for a stop word.
struct Place {
    at: u32,
    token: u16,
    word: u8,
    /// Whether the word begins with its token, which then is not kept apart.
    begins: bool,
}

impl Place {
    fn word<'a>(&self, text: &'a str) -> &'a str {
        let at = self.at as usize;
        &text[at..at + usize::from(self.word)]
    }

    fn token<'a>(&self, text: &'a str) -> &'a str {
        let skipped = if self.begins { 0 } else { self.word };
        let at = self.at as usize + usize::from(skipped);
        &text[at..at + usize::from(self.token)]
    }
}

impl Known {
    fn token(&self, word: &str) -> Option<&str> {
        let hash = self.hasher.hash_one(word);
        let is_it = |place: &Place| place.word(&self.text) == word;
        let place = self.places.find(hash, is_it)?;
        Some(place.token(&self.text))
    }

    /// Remembers a word, unless it is longer than words are.
    fn insert(&mut self, word: &str, token: &str) {
        if self.places.len() >= REMEMBERED {
            self.text.clear();
            self.places.clear();
        }
        let at = u32::try_from(self.text.len());
        let lengths = (u8::try_from(word.len()), u16::try_from(token.len()));
        let (Ok(at), (Ok(length), Ok(of_token))) = (at, lengths) else {
            return;
        };
        let begins = word.starts_with(token);
        self.text.push_str(word);
        if !begins {
            self.text.push_str(token);
        }
        let place = Place {
            at,
            token: of_token,
            word: length,
            begins,
        };
        let (text, hasher) = (&self.text, &self.hasher);
        let hash = |place: &Place| hasher.hash_one(place.word(text));
        self.places.insert_unique(hash(&place), place, hash);
    }
}

/// How many words are remembered before the memory starts anew.
const REMEMBERED: usize = 100_000;

impl Stems {
    /// Gives the token of a word in small letters, unless it is a stop word.
    pub(super) fn token(
        &mut self,
        word: &str,
        tongue: Tongue,
        take: &mut dyn FnMut(&str, f32),
        weight: f32,
    ) {
        let own = word.chars().next().and_then(Tongue::of_script);
        let tongue = own.unwrap_or(tongue);
        let known = &mut self.known[tongue as usize];
        if let Some(token) = known.token(word) {
            if !token.is_empty() {
                take(token, weight);
            }
            return;
        }
        let spelt = spelt(word);
        let token = if tongue.is_stop(word) || tongue.is_stop(&spelt) {
            String::new()
        } else if word.len() > LONGEST {
            fold(word)
        } else {
            let stemmer = self
                .stemmers
                .entry(tongue as u8)
                .or_insert_with(|| tongue.stemmer());
            fold(&stemmer.stem(&spelt))
        };
        if !token.is_empty() {
            take(&token, weight);
        }
        if word.len() <= LONGEST {
            known.insert(word, &token);
        }
    }
}

/// A word in the one of its spellings that stemmers know: `ß` is `ss` where
/// there is no such key, `ё` is `е` in most of what is written, and a letter
/// with its mark is one character.
fn spelt(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    Cow::Owned(
        word.nfc()
            .collect::<String>()
            .replace('ß', "ss")
            .replace('ё', "е"),
    )
}
