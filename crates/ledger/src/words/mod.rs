//! Words and phrases in several languages, found in one pass over a sentence.
//!
//! Structure comes first everywhere in this crate; these lists are for what
//! structure cannot tell: that a sentence is a rule, lifts one, or decides.

pub(crate) mod choices;
pub(crate) mod marks;
pub(crate) mod norms;
pub(crate) mod others;
pub(crate) mod plain;

use std::collections::HashMap;
use std::ops::Range;

use crate::text::is_cjk;

/// The phrases of a list file: separated by `|`, `#` for comments, `…` for a
/// gap.
pub(crate) fn phrases(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split(" | "))
        .map(str::trim)
        .filter(|phrase| !phrase.is_empty())
}

/// A sentence taken apart.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    original: &'a str,
    /// Lower case, typographic apostrophes made plain.
    lower: String,
    words: Vec<Word>,
    has_cjk: bool,
}

#[derive(Debug)]
struct Word {
    lower: Range<usize>,
    /// Whether a clause begins here: after punctuation, a conjunction, a
    /// "please", or with a capital in the middle of a sentence.
    starts: bool,
    /// Whether it begins the way sentences do: with one capital.
    capital: bool,
    original: Range<usize>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a str) -> Words<'a> {
        let mut words = Words {
            original: text,
            lower: String::with_capacity(text.len()),
            words: Vec::new(),
            has_cjk: false,
        };
        let mut starts = true;
        let mut word: Option<(usize, usize, bool)> = None;
        let mut code = false;
        for (at, c) in text.char_indices() {
            let low = match c {
                '’' | '‘' | 'ʼ' => '\'',
                c if c.is_ascii() => c.to_ascii_lowercase(),
                c => c.to_lowercase().next().unwrap_or(c),
            };
            if c == '`' {
                code = !code;
            }
            words.has_cjk |= is_cjk(c);
            let inner = low.is_alphanumeric() || low == '_' || (low == '\'' && word.is_some());
            if inner && !code {
                if word.is_none() {
                    word = Some((words.lower.len(), at, c.is_uppercase()));
                }
            } else {
                if let Some(open) = word.take() {
                    starts = words.close(open, at, starts);
                }
                starts |= match c {
                    '-' | '/' | '.' | '\'' | '*' | '_' | '#' | '@' => false,
                    // A name in code is no beginning of a clause.
                    '`' => false,
                    c if c.is_whitespace() => false,
                    _ => !code,
                };
            }
            words.lower.push(low);
        }
        if let Some(open) = word {
            words.close(open, text.len(), starts);
        }
        words
    }

    /// Ends a word; says whether the next one begins a clause.
    fn close(
        &mut self,
        (from, original, capital): (usize, usize, bool),
        to: usize,
        starts: bool,
    ) -> bool {
        let mut end = self.lower.len();
        while self.lower[..end].ends_with('\'') && end > from {
            end -= 1;
        }
        let text = &self.lower[from..end];
        let joins = marks::JOINS.contains(&text);
        let mut letters = self.original[original..to].chars();
        let capital = capital && letters.nth(1).is_some_and(char::is_lowercase);
        let starts = starts || capital;
        self.words.push(Word {
            lower: from..end,
            starts,
            capital,
            original: original..to,
        });
        joins
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        self.words
            .get(at)
            .map_or("", |word| &self.lower[word.lower.clone()])
    }

    pub(crate) fn starts_clause(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.starts)
    }

    /// Whether a sentence could begin here: at its start, or with a capital
    /// where a full stop was left out.
    pub(crate) fn may_begin(&self, at: usize) -> bool {
        at == 0 || self.words.get(at).is_some_and(|word| word.capital)
    }

    /// Whether a word begins with a capital, as names do.
    pub(crate) fn is_capital(&self, at: usize) -> bool {
        let word = self.words.get(at);
        word.is_some_and(|word| {
            self.original[word.original.clone()].starts_with(char::is_uppercase)
        })
    }

    /// The character right behind a word.
    pub(crate) fn behind(&self, at: usize) -> Option<char> {
        let end = self.words.get(at)?.original.end;
        self.original.get(end..)?.chars().next()
    }

    /// Where a word stands in the sentence.
    pub(crate) fn offset(&self, at: usize) -> usize {
        self.words
            .get(at)
            .map_or(self.original.len(), |word| word.original.start)
    }

    /// Where the text after a phrase begins, given the word after its last.
    pub(crate) fn after(&self, to: usize) -> usize {
        match to.checked_sub(1).and_then(|last| self.words.get(last)) {
            Some(word) => word.original.end,
            None => 0,
        }
    }

    /// The last character before a word that is no space.
    pub(crate) fn before(&self, at: usize) -> Option<char> {
        let start = self.offset(at);
        self.original.get(..start)?.trim_end().chars().next_back()
    }

    /// The words of the clause before a word.
    pub(crate) fn clause_before(&self, at: usize) -> Range<usize> {
        let mut from = at;
        while from > 0 && !self.starts_clause(from) {
            from -= 1;
        }
        from..at
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(crate) fn lower(&self) -> &str {
        &self.lower
    }

    pub(crate) fn has_cjk(&self) -> bool {
        self.has_cjk
    }
}

/// Phrases with what they mean, looked up by their first word.
#[derive(Debug)]
pub(crate) struct Lexicon<T> {
    by_first: HashMap<&'static str, Vec<(Vec<&'static str>, T)>>,
    /// Phrases of scripts without spaces: found anywhere. `…` in a phrase
    /// stands for anything.
    inside: Vec<(Vec<&'static str>, T)>,
}

/// A phrase that was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit<T> {
    pub(crate) tag: T,
    /// The first and the one after the last word; the whole sentence for a
    /// phrase found inside a script without spaces.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Where the phrase stands, for those found inside.
    pub(crate) inside: Option<usize>,
}

impl<T: Copy> Lexicon<T> {
    pub(crate) fn new(lists: &[(&'static str, T)]) -> Lexicon<T> {
        let mut lexicon = Lexicon {
            by_first: HashMap::new(),
            inside: Vec::new(),
        };
        for (list, tag) in lists {
            for phrase in phrases(list) {
                if phrase.chars().any(is_cjk) {
                    lexicon.inside.push((phrase.split('…').collect(), *tag));
                    continue;
                }
                let mut words = phrase.split(' ');
                if let Some(first) = words.next() {
                    lexicon
                        .by_first
                        .entry(first)
                        .or_default()
                        .push((words.collect(), *tag));
                }
            }
        }
        lexicon
    }

    /// Every phrase of the sentence, in order.
    pub(crate) fn hits(&self, words: &Words<'_>) -> Vec<Hit<T>> {
        let mut hits = Vec::new();
        for from in 0..words.len() {
            let Some(phrases) = self.by_first.get(words.get(from)) else {
                continue;
            };
            for (rest, tag) in phrases {
                if let Some(to) = tail(words, from + 1, rest) {
                    hits.push(Hit {
                        tag: *tag,
                        from,
                        to,
                        inside: None,
                    });
                }
            }
        }
        if words.has_cjk() {
            for (parts, tag) in &self.inside {
                if let Some(at) = in_order(words.lower(), parts) {
                    hits.push(Hit {
                        tag: *tag,
                        from: 0,
                        to: words.len(),
                        inside: Some(at),
                    });
                }
            }
        }
        hits
    }

    pub(crate) fn first(&self, words: &Words<'_>) -> Option<Hit<T>> {
        self.hits(words).into_iter().next()
    }

    pub(crate) fn any(&self, words: &Words<'_>) -> bool {
        self.first(words).is_some()
    }
}

/// Matches the rest of a phrase; `…` stands for up to six words.
fn tail(words: &Words<'_>, mut at: usize, rest: &[&str]) -> Option<usize> {
    let mut gap = 0;
    for part in rest {
        if *part == "…" {
            gap = 6;
            continue;
        }
        let end = (at + gap).min(words.len().saturating_sub(1));
        if at > end || at >= words.len() {
            return None;
        }
        at = (at..=end).find(|&at| words.get(at) == *part)? + 1;
        gap = 0;
    }
    Some(at)
}

fn in_order(text: &str, parts: &[&str]) -> Option<usize> {
    let first = text.find(parts.first()?)?;
    let mut from = first;
    for part in parts {
        from += text[from..].find(part)? + part.len();
    }
    Some(first)
}

/// The words of a text that carry meaning, shortened so that their forms
/// compare; pairs of characters where words have no spaces.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |stem: String| {
        if !stem.is_empty() && !out.contains(&stem) {
            out.push(stem);
        }
    };
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’')) {
        if word.is_empty() {
            continue;
        }
        if word.chars().any(is_cjk) {
            let chars: Vec<char> = word.chars().filter(|c| is_cjk(*c)).collect();
            if let [only] = chars[..] {
                add(only.to_string());
            }
            for pair in chars.windows(2) {
                let pair: String = pair.iter().collect();
                if !marks::CJK_STOP.contains(&pair.as_str()) {
                    add(pair);
                }
            }
            continue;
        }
        add(stem(word));
    }
    out
}

fn stem(word: &str) -> String {
    let mut word = word.to_lowercase().replace('’', "'");
    // French and Italian articles: "l'image".
    if let Some((article, rest)) = word.split_once('\'')
        && article.len() <= 2
        && rest.len() > 2
    {
        word = rest.to_owned();
    }
    if marks::STOP.contains(&word.as_str()) || (word.len() < 2) {
        return String::new();
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return word;
    }
    for ending in [
        "ungen", "ings", "ing", "ung", "edly", "ed", "es", "en", "er", "s", "e", "n",
    ] {
        if let Some(base) = word.strip_suffix(ending)
            && base.chars().count() >= 3
        {
            word.truncate(base.len());
            break;
        }
    }
    if let Some((at, _)) = word.char_indices().nth(5) {
        word.truncate(at);
    }
    word
}

/// How many of `some` stand in `all`.
pub(crate) fn shared(some: &[String], all: &[String]) -> usize {
    some.iter().filter(|stem| all.contains(stem)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_compare() {
        for (a, b) in [
            ("push", "pushing"),
            ("Änderungen", "ändern"),
            ("dependency", "dependencies"),
            ("pushen", "push"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_eq!(stems("the `vendor` folder"), ["vendor", "folder"].map(stem));
        assert!(shared(&stems("依赖可以升级了"), &stems("请不要升级任何依赖")) >= 2);
    }

    #[test]
    fn clauses_begin_after_punctuation_conjunctions_and_capitals() {
        let words = Words::new("now do it Never push, please don’t and `Foo` it");
        let starts: Vec<&str> = (0..words.len())
            .filter(|&at| words.starts_clause(at))
            .map(|at| words.get(at))
            .collect();
        assert_eq!(starts, ["now", "never", "please", "don't", "it"]);
    }
}
