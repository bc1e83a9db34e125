//! Stems, remembered: a text has few different words, and a stemmer is slow.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use rust_stemmers::Stemmer;
use unicode_normalization::UnicodeNormalization;

use super::language::Language;
use super::{LONGEST, fold};

/// Words and the tokens they become; empty for a stop word.
#[derive(Default)]
pub(crate) struct Stems {
    stemmers: HashMap<u8, Stemmer>,
    known: [HashMap<String, String, RandomState>; Language::COUNT],
}

/// How many words are remembered before the memory starts anew.
const REMEMBERED: usize = 100_000;

impl Stems {
    /// Gives the token of a word in small letters, unless it is a stop word.
    pub(super) fn token(
        &mut self,
        word: &str,
        language: Language,
        take: &mut dyn FnMut(&str, f32),
        weight: f32,
    ) {
        let own = word.chars().next().and_then(Language::of_script);
        let language = own.unwrap_or(language);
        let known = &mut self.known[language as usize];
        if let Some(token) = known.get(word) {
            if !token.is_empty() {
                take(token, weight);
            }
            return;
        }
        let spelt = spelt(word);
        let token = if language.is_stop(word) || language.is_stop(&spelt) {
            String::new()
        } else if word.len() > LONGEST {
            fold(word)
        } else {
            let stemmer = self
                .stemmers
                .entry(language as u8)
                .or_insert_with(|| language.stemmer());
            fold(&stemmer.stem(&spelt))
        };
        if !token.is_empty() {
            take(&token, weight);
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(word.to_owned(), token);
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
