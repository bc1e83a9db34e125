//! A query as the index is asked: its words and what each counts, its
//! sentences, and what it may quote.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{
    Language, PART, Run, Stems, fold, identifier_parts, is_single, put, runs, unspaced_tokens,
    word_tokens,
};

/// One word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    /// What the user wrote.
    pub(crate) word: String,
    /// The tokens that stand for it, one for each language of the index; several with
    /// a space between stand one behind the other.
    pub(crate) tokens: Vec<String>,
    /// How much it counts.
    pub(crate) weight: f32,
    /// The sentences of the query it stands in, a bit each.
    pub(crate) sentences: u8,
}

/// The words of a query, each once, in order. `languages` are the languages of
/// the texts that are searched.
pub(crate) fn terms(query: &str, languages: &[Language], stems: &mut Stems) -> Vec<Term> {
    let mut terms = Terms {
        spoken: Language::of(query),
        languages,
        stems,
        all: Vec::new(),
        seen: HashMap::new(),
    };
    for (number, sentence) in sentences(query).enumerate() {
        // The eighth bit is for all the rest.
        terms.read(sentence, 1 << number.min(7));
    }
    terms.all
}

/// The sentences of a query: someone who asks two things at once wants both
/// answered, whichever has the more words.
fn sentences(query: &str) -> impl Iterator<Item = &str> {
    query
        .split_inclusive(['?', '!', '？', '！', '。', '；', '\n'])
        .flat_map(|part| part.split_inclusive(". "))
        .filter(|part| part.contains(char::is_alphanumeric))
}

/// Which sentences of a query are questions, a bit each.
pub(crate) fn questions(query: &str) -> u8 {
    let asks = |sentence: &str| sentence.trim_end().ends_with(['?', '？', '؟']);
    let sentences = sentences(query).enumerate();
    let asking = sentences.filter(|(_, sentence)| asks(sentence));
    asking.fold(0, |bits, (number, _)| bits | 1 << number.min(7))
}

/// The words of a query so far, and what it takes to read them.
struct Terms<'a> {
    spoken: Language,
    languages: &'a [Language],
    stems: &'a mut Stems,
    all: Vec<Term>,
    /// Where the term of a token is. Looked for among all terms, a word of a whole
    /// page would take a second.
    seen: HashMap<String, usize>,
}

impl Terms<'_> {
    fn read(&mut self, sentence: &str, bit: u8) {
        let mut whole = Joined::default();
        for run in runs(sentence) {
            let mut found: Vec<(String, f32)> = Vec::new();
            let mut take = |token: &str, weight| found.push((token.to_owned(), weight));
            match run {
                Run::Word(word) => {
                    word_tokens(word, self.spoken, self.stems, &mut take);
                    let at = offset(sentence, word);
                    if !whole.goes_on(sentence, at) {
                        self.join(std::mem::take(&mut whole), sentence, bit);
                        whole.begin = at;
                    }
                    whole.end = at + word.len();
                    whole.words += 1;
                    found
                        .iter()
                        .for_each(|(token, _)| put(&mut whole.phrase, token));
                    let is_inside = whole.words > 1 || joins(&sentence[whole.end..]);
                    for (at, (token, weight)) in found.into_iter().enumerate() {
                        // What follows are parts of a name.
                        let written = if at == 0 { word } else { part(word, &token) };
                        let mut tokens = vec![token];
                        if at == 0 {
                            self.add_forms(word, self.languages, &mut tokens);
                            tokens.extend(beginning(&tokens[0]));
                        }
                        let weight = if is_inside { weight * PART } else { weight };
                        self.add(written, tokens, weight, bit);
                    }
                }
                Run::Unspaced(run) => {
                    unspaced_tokens(run, &mut take);
                    for (token, weight) in found {
                        self.add(&token.clone(), vec![token], weight, bit);
                    }
                }
            }
        }
        self.join(whole, sentence, bit);
    }

    /// Adds words that signs join as one.
    fn join(&mut self, joined: Joined, sentence: &str, bit: u8) {
        if joined.words > 1 && joined.phrase.contains(' ') {
            let written = &sentence[joined.begin..joined.end];
            // A name of several words may also be written as one.
            let letters = written.chars().filter(|c| c.is_alphanumeric());
            let one: String = letters.collect();
            let mut tokens = vec![joined.phrase];
            self.add_forms(&one, &[], &mut tokens);
            self.add(written, tokens, 1.0, bit);
        }
    }

    /// Adds the other tokens that a word of a query may have in the index: its
    /// stems in the languages of the notes, since notes may be in another language
    /// than the question, and the word as it is, since a name of several words is
    /// kept whole without a stem.
    fn add_forms(&mut self, word: &str, languages: &[Language], tokens: &mut Vec<String>) {
        let mut more = |token: &str| {
            if tokens.iter().all(|known| known != token) {
                tokens.push(token.to_owned());
            }
        };
        let whole: String = word.chars().filter(|c| *c != '_').collect();
        let whole = whole.to_lowercase();
        let others = languages.iter().filter(|other| **other != self.spoken);
        for language in std::iter::once(self.spoken).chain(others.copied()) {
            self.stems
                .token(&whole, language, &mut |token, _| more(token), 1.0);
        }
        if whole.chars().count() >= SHORTEST_NAME {
            more(&fold(&whole));
        }
    }

    fn add(&mut self, word: &str, tokens: Vec<String>, weight: f32, bit: u8) {
        let known = self.seen.get(&tokens[0]);
        if let Some(term) = known.and_then(|at| self.all.get_mut(*at)) {
            term.sentences |= bit;
            // Said twice counts more, said ten times not ten times as much.
            term.weight = (term.weight * term.weight + weight * weight)
                .sqrt()
                .min(1.75 * weight);
        } else {
            self.seen.insert(tokens[0].clone(), self.all.len());
            self.all.push(Term {
                word: word.to_owned(),
                tokens,
                weight,
                sentences: bit,
            });
        }
    }
}

/// Words that a sign without a blank joins: a version, a date, a path, the name of
/// a function in its module. They are looked for as they stand there, too, and each
/// by itself counts less.
#[derive(Default)]
struct Joined {
    phrase: String,
    words: usize,
    begin: usize,
    end: usize,
}

impl Joined {
    /// Whether the word that begins there is one more of them.
    fn goes_on(&self, sentence: &str, at: usize) -> bool {
        let between = sentence.get(self.end..at).unwrap_or_default();
        self.words > 0 && joins(&sentence[self.end..]) && between.chars().count() <= MOST_SIGNS
    }
}

/// As `::`.
const MOST_SIGNS: usize = 2;

/// Whether a text goes on with signs, and then a word, without a blank.
fn joins(rest: &str) -> bool {
    let signs = rest.find(|c: char| c.is_alphanumeric() || c == '_' || c.is_whitespace());
    let next = signs.and_then(|at| rest[at..].chars().next());
    signs.is_some_and(|at| (1..=MOST_SIGNS).contains(&rest[..at].chars().count()))
        && next.is_some_and(|c| !c.is_whitespace())
}

/// The part of a name that became a token, as it is written.
fn part<'a>(name: &'a str, token: &str) -> &'a str {
    let in_common = |part: &str| {
        let lower = part.to_lowercase();
        let pairs = lower.chars().zip(token.chars());
        pairs.take_while(|(one, other)| one == other).count()
    };
    let parts = identifier_parts(name).into_iter();
    parts
        .max_by_key(|part| (in_common(part), Reverse(part.len())))
        .unwrap_or(name)
}

/// As few characters may stand for a hash, as Git gives them.
const LEAST_HASH: usize = 7;

/// The token of a word that may be the beginning of a hash or an id, as
/// [`begins_longer`] knows it.
fn beginning(token: &str) -> Option<String> {
    let has_digit = token.bytes().any(|byte| byte.is_ascii_digit());
    let is_code = has_digit && token.is_ascii() && token.len() >= LEAST_HASH;
    is_code.then(|| format!("{token}{BEGINNING}"))
}

/// What stands behind a token that is found in all that begin with it. No token
/// has it in it.
const BEGINNING: &str = "*";

/// The token without its mark, where it is found in all that begin with it.
pub(crate) fn begins_longer(token: &str) -> Option<&str> {
    token.strip_suffix(BEGINNING)
}

/// Where in a text a part of it begins.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// A shorter word is hardly a name of several words written as one.
const SHORTEST_NAME: usize = 6;

/// What a text must have to be quoted by a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quote {
    /// Words that stand one behind the other, with a space between.
    pub(crate) phrases: Vec<String>,
    /// Pairs of characters. Where they stand is not known, but those of a
    /// sentence hardly come together elsewhere.
    pub(crate) pairs: Vec<String>,
}

/// The tokens of a query in their order, if it may be a quotation: long enough
/// to be told from a few keywords, short enough to have been remembered.
pub(crate) fn quote(query: &str, stems: &mut Stems) -> Option<Quote> {
    const LONGEST_QUOTE: usize = 400;
    if query.len() > LONGEST_QUOTE {
        return None;
    }
    let mut quote = Quote::default();
    let mut phrase = String::new();
    let mut count = 0;
    let language = Language::of(query);
    for run in runs(query) {
        match run {
            Run::Word(word) => word_tokens(word, language, stems, &mut |token, _| {
                count += 1;
                put(&mut phrase, token);
            }),
            Run::Unspaced(run) => {
                quote.phrases.extend(taken(&mut phrase));
                let before = quote.pairs.len();
                let mut single = None;
                unspaced_tokens(run, &mut |token, _| {
                    count += 1;
                    match is_single(token) {
                        true => single = Some(token.to_owned()),
                        false => quote.pairs.push(token.to_owned()),
                    }
                });
                // One that is in a pair says nothing more.
                let alone = quote.pairs.len() == before;
                quote.pairs.extend(single.filter(|_| alone));
            }
        }
    }
    quote.phrases.extend(taken(&mut phrase));
    (2..=40).contains(&count).then_some(quote)
}

fn taken(phrase: &mut String) -> Option<String> {
    Some(std::mem::take(phrase)).filter(|phrase| !phrase.is_empty())
}
