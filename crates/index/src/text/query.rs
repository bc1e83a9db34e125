//! A query as the index is asked: its words and what each counts, its
//! sentences, and what it may quote.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{
    PART, Run, Stems, Tongue, dotted_token, drawn, each_line, fold, frame, identifier_parts,
    is_single, joined, put, runs, tongue, unspaced_tokens, word_tokens,
};

/// One word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    /// What the user wrote.
    pub(crate) word: String,
    /// The tokens that stand for it, one for each language of the index.
    pub(crate) tokens: Vec<String>,
    /// How much it counts.
    pub(crate) weight: f32,
    /// The sentences of the query it stands in, a bit each.
    pub(crate) sentences: u8,
}

/// The words of a query, each once, in order. `tongues` are the languages of
/// the texts that are searched.
pub(crate) fn terms(query: &str, tongues: &[Tongue], stems: &mut Stems) -> Vec<Term> {
    let spoken = tongue(query);
    let mut terms: Vec<Term> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (number, sentence) in sentences(query).enumerate() {
        // The eighth bit is for all the rest.
        let bit = 1 << number.min(7);
        sentence_terms(sentence, spoken, tongues, stems, bit, &mut terms, &mut seen);
    }
    terms
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

fn sentence_terms(
    sentence: &str,
    spoken: Tongue,
    tongues: &[Tongue],
    stems: &mut Stems,
    bit: u8,
    terms: &mut Vec<Term>,
    seen: &mut HashMap<String, usize>,
) {
    let asking = frame::asking(sentence, spoken, stems);
    // Where the numbers of a version, a date or a time end.
    let mut numbers = 0;
    let mut joined = joined::joined(sentence).peekable();
    for run in runs(sentence) {
        let mut found: Vec<(String, f32)> = Vec::new();
        match run {
            Run::Word(word) => {
                word_tokens(word, spoken, stems, &mut |token, weight| {
                    found.push((token.to_owned(), weight));
                });
                let at = offset(sentence, word);
                let is_here = |written: &&str| offset(sentence, written) < at + word.len();
                while let Some(written) = joined.next_if(is_here) {
                    numbers = offset(sentence, written) + written.len();
                    add(terms, seen, written, vec![joined::whole(written)], 1.0, bit);
                }
                let inside = at < numbers;
                for (at, (token, weight)) in found.into_iter().enumerate() {
                    // What follows are parts of a name.
                    let written = if at == 0 { word } else { part(word, &token) };
                    let mut tokens = vec![token];
                    if at == 0 {
                        forms(word, spoken, tongues, stems, &mut tokens);
                        tokens.extend(beginning(word));
                    }
                    let weight = if inside { weight * PART } else { weight };
                    let weight = match asking.contains(&tokens[0]) {
                        true => weight * frame::ASKING,
                        false => weight,
                    };
                    add(terms, seen, written, tokens, weight, bit);
                }
            }
            Run::Dotted(word) => {
                let mut tokens = Vec::new();
                dotted_token(word, &mut |token, _| tokens.push(token.to_owned()));
                match tokens[0].starts_with(|c: char| c.is_ascii_digit()) {
                    true => numbers = offset(sentence, word) + word.len(),
                    false => {
                        let whole = tokens[0].clone();
                        forms(&whole, spoken, tongues, stems, &mut tokens);
                    }
                }
                add(terms, seen, word, tokens, 1.0, bit);
            }
            Run::Unspaced(run) => {
                unspaced_tokens(run, &mut |token, weight| {
                    found.push((token.to_owned(), weight));
                });
                for (token, weight) in found {
                    let word = token.clone();
                    add(terms, seen, &word, vec![token], weight, bit);
                }
            }
            Run::End => {}
        }
    }
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

/// The token of a word that may be the beginning of a hash, as [`begins_longer`]
/// knows it.
fn beginning(word: &str) -> Option<String> {
    let parts = identifier_parts(word).len();
    drawn::beginning(word, parts).map(|beginning| beginning + BEGINNING)
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

/// Adds the other tokens that a word of a query may have in the index: its
/// stems in the languages of the notes, since notes may be in another language
/// than the question, and the word as it is, since a name of several words is
/// kept whole without a stem.
fn forms(
    word: &str,
    spoken: Tongue,
    tongues: &[Tongue],
    stems: &mut Stems,
    tokens: &mut Vec<String>,
) {
    let mut more = |token: &str| {
        if tokens.iter().all(|known| known != token) {
            tokens.push(token.to_owned());
        }
    };
    let whole: String = word.chars().filter(|c| *c != '_').collect();
    let whole = whole.to_lowercase();
    let others = tongues.iter().filter(|other| **other != spoken);
    for tongue in std::iter::once(spoken).chain(others.copied()) {
        stems.token(&whole, tongue, &mut |token, _| more(token), 1.0);
    }
    if whole.chars().count() >= SHORTEST_NAME {
        more(&fold(&whole));
    }
}

fn add(
    terms: &mut Vec<Term>,
    seen: &mut HashMap<String, usize>,
    word: &str,
    tokens: Vec<String>,
    weight: f32,
    bit: u8,
) {
    // Looked for among all terms, a word of a whole page would take a second.
    let known = seen.get(&tokens[0]).and_then(|at| terms.get_mut(*at));
    if let Some(term) = known {
        term.sentences |= bit;
        // Said twice counts more, said ten times not ten times as much.
        term.weight = (term.weight * term.weight + weight * weight)
            .sqrt()
            .min(1.75 * weight);
    } else {
        seen.insert(tokens[0].clone(), terms.len());
        terms.push(Term {
            word: word.to_owned(),
            tokens,
            weight,
            sentences: bit,
        });
    }
}

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
    each_line(query, tongue(query), |run, tongue| match run {
        Run::Word(word) => word_tokens(word, tongue, stems, &mut |token, _| {
            count += 1;
            put(&mut phrase, token);
        }),
        Run::Dotted(word) => dotted_token(word, &mut |token, _| {
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
        Run::End => {}
    });
    quote.phrases.extend(taken(&mut phrase));
    (2..=40).contains(&count).then_some(quote)
}

fn taken(phrase: &mut String) -> Option<String> {
    Some(std::mem::take(phrase)).filter(|phrase| !phrase.is_empty())
}

/// The texts whose words a query would be, for the case that it has only stop
/// words: "who are you" still asks for something.
pub(crate) fn all_terms(query: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut seen = HashMap::new();
    for run in runs(query) {
        if let Run::Word(word) = run {
            let token = fold(&word.to_lowercase());
            if !token.is_empty() {
                add(&mut terms, &mut seen, word, vec![token], 1.0, 1);
            }
        }
    }
    terms
}
