//! A line taken apart into words and the little words that tie them.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::Claim;
use super::clause::clause;
use super::framed::unframed;
use super::marks::{marked, parted};
use super::particles::{ties_a_subject, without_particle};
use super::parts::as_his_part;
use super::sort::is_relative;
use super::words::{
    CLASSES, Class, ENDINGS, LIGHT, Mark, SHORTENED, TAKES_OVER, TOWARDS, UNSPACED, Way,
};
use crate::dream::likeness::{is_empty_word, is_negation, is_unspaced, little_names, stem};
use crate::dream::phrase::{is_article, is_lead, is_unit, is_without};

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// A word that carries something.
    Word(String),
    Mark(Mark),
    /// A preposition.
    Lead(String),
    /// "the", and what it is in other languages.
    The,
    /// Says no to what follows.
    No,
    /// Says what is not there: "without". It forbids nothing.
    Without,
    /// Leaves out all others.
    Only,
    /// Whoever speaks.
    Me,
    /// Several, one of whom speaks: a team as well as a household.
    We,
    /// Something or somebody named before.
    It,
    /// Between two parts of a sentence.
    Break,
    /// The next part speaks of what the last one spoke of, unless it says more.
    Ditto,
}

pub(super) fn claim(text: &str) -> Claim {
    let mut claim = Claim::default();
    let items = items(text, &mut claim);
    for part in items.split(|item| *item == Item::Break) {
        clause(part, &mut claim);
    }
    claim.note_language_of_replies();
    claim
}

/// Words as runs of what is no space and no punctuation between words, each
/// followed by whether a part of the sentence ends behind it.
fn spaced(text: &str) -> Vec<(String, bool)> {
    let text = with_terms_named(text);
    let text = text
        .replace('’', "'")
        .replace("can't", "can not")
        .replace("won't", "will not")
        .replace(" at length", " lengthy")
        .replace(" in detail", " detailed")
        .replace("n't", " not")
        .replace("J'", "je ")
        .replace(" j'", " je ")
        .replace("N'", "n ")
        .replace(" n'", " n ");
    let chars: Vec<char> = text.chars().collect();
    let cyrillic = chars.iter().any(|c| ('а'..='я').contains(c));
    let mut out: Vec<(String, bool)> = Vec::new();
    let mut word = String::new();
    let mut end = |word: &mut String, breaks: bool| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"$€£#%".contains(c));
        match bare.is_empty() {
            false => out.push((bare.to_owned(), breaks)),
            true if breaks => {
                if let Some(last) = out.last_mut() {
                    last.1 = true;
                }
            }
            true => {}
        }
        word.clear();
    };
    for (at, c) in chars.iter().enumerate() {
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match c {
            '—' | '–' if cyrillic => {
                end(&mut word, false);
                word.push_str("это");
                end(&mut word, false);
            }
            ';' | ',' | '(' | ')' | '—' | '–' | '。' | '，' | '；' | '：' | '！' | '？' | '、'
            | '!' | '?' | '"' | '“' | '”' | '«' | '»' => {
                // "1,000" is one number.
                let inside = *c == ','
                    && next.is_ascii_digit()
                    && word.ends_with(|c: char| c.is_ascii_digit());
                match inside {
                    true => {}
                    false => end(&mut word, true),
                }
            }
            '.' | ':' if next.is_whitespace() => {
                // "Dr. Weber" goes on.
                let goes_on = *c == '.' && (word.chars().count() <= 2 || is_shortened(&word));
                end(&mut word, !goes_on);
            }
            '-' if word.is_empty() => {}
            c if c.is_whitespace() => end(&mut word, false),
            c => word.push(*c),
        }
    }
    end(&mut word, true);
    out
}

/// Whether a word is written with a full stop inside a sentence.
fn is_shortened(word: &str) -> bool {
    SHORTENED.contains(&format!(" {} ", word.to_lowercase()))
}

/// The text with the terms on which people are by the verb for them: "sag du zu mir"
/// has none but little words.
fn with_terms_named(text: &str) -> String {
    let du = [" per du", " mit du", " du zu mir", " du zueinander"];
    let sie = [" per Sie", " mit Sie", " Sie zu mir", " Sie zueinander"];
    let named = |text: String, form: &&str, verb: &str| match text.contains(*form) {
        true => text.replace(*form, verb),
        false => text,
    };
    let text = du
        .iter()
        .fold(text.to_owned(), |text, form| named(text, form, " duzen"));
    sie.iter()
        .fold(text, |text, form| named(text, form, " siezen"))
}

/// The pieces of a line; names, numbers and the like are noted on the way.
fn items(text: &str, claim: &mut Claim) -> Vec<Item> {
    let words = unframed(spaced(text));
    let lower: Vec<String> = words.iter().map(|(word, _)| word.to_lowercase()).collect();
    let names = little_names(text);
    let mut items = Vec::new();
    let mut at = 0;
    let mut starts = true;
    while at < words.len() {
        // "Ben" is a little word of another language.
        if names.contains(&lower[at]) && words[at].0.starts_with(char::is_uppercase) {
            claim.name(&lower[at]);
            add(lower[at].clone(), claim, &mut items);
            starts = words[at].1;
            items.extend(starts.then_some(Item::Break));
            at += 1;
            continue;
        }
        if BREAKS.contains(&format!(" {} ", lower[at])) {
            items.push(Item::Break);
            starts = false;
            at += 1;
            continue;
        }
        // "Wohnt jetzt in": what is between is said too.
        if let Some((mark, count)) = parted(&words, &lower, at) {
            items.extend([Item::Mark(Mark::Now), Item::Mark(mark)]);
            if mark == Mark::Is(Way::Placed) {
                items.push(Item::Lead(lower[at + count - 1].clone()));
            }
            starts = words[at + count - 1].1;
            at += count;
        } else if let Some((mark, count)) = marked(&words, &lower, at) {
            // "We drop X and use Y" are two parts.
            if matches!(items.last(), Some(Item::Lead(and)) if and == "and") {
                items.pop();
                items.extend([Item::Break, Item::Ditto]);
            }
            // "… and I live in": so are these.
            if let [.., Item::Lead(and), Item::Me | Item::We] = items.as_slice()
                && and == "and"
                && let Some(who) = items.pop()
            {
                items.pop();
                items.extend([Item::Break, who]);
            }
            // "X is forbidden" says nothing else of it.
            if mark == Mark::Ban
                && matches!(items.last(), Some(Item::Mark(Mark::Is(_) | Mark::Can)))
            {
                items.pop();
            }
            let verb = matches!(mark, Mark::Becomes(Way::Placed) | Mark::Is(Way::Used));
            if verb && is_of_several(&lower[at..at + count]) {
                items.push(Item::We);
            }
            // Whoever takes something over has it since lately.
            if mark == Mark::Holds && TAKES_OVER.contains(&lower[at..at + count].join(" ").as_str())
            {
                items.push(Item::Mark(Mark::Now));
            }
            items.push(Item::Mark(mark));
            let last = lower[at + count - 1].as_str();
            if matches!(mark, Mark::Becomes(_)) && TOWARDS.contains(&format!(" {last} ")) {
                items.push(Item::Lead(last.to_owned()));
            } else if matches!(mark, Mark::Becomes(_))
                && matches!(last, "on" | "at" | "bei" | "sur" | "su" | "к")
            {
                // "We are back on X" says where to.
                items.push(Item::Lead("to".to_owned()));
            } else if mark == Mark::Is(Way::Placed) && count > 1 {
                items.push(Item::Lead(last.to_owned()));
            }
            starts = words[at + count - 1].1;
            at += count;
        } else {
            let (word, breaks) = &words[at];
            let next = lower.get(at + 1).filter(|_| !breaks).map(String::as_str);
            let before = at.checked_sub(1).map(|at| lower[at].as_str());
            let over = ends_a_habit(&words, &lower, at) && says_what_is_done(&items);
            match lower[at].as_str() {
                _ if over => items.push(Item::Mark(Mark::NoLonger)),
                // Said with the mark.
                "mehr" | "meer" if items.contains(&Item::Mark(Mark::NoLonger)) => {}
                low => piece(word, low, starts, before, next, claim, &mut items),
            }
            starts = *breaks;
            at += 1;
        }
        if starts {
            items.push(Item::Break);
        }
    }
    items
}

/// Words with which another part of a sentence begins.
const BREAKS: &str = " because since but weil denn aber sondern mais parce pero porque sino mas perché \
    omdat maar ale ponieważ но потому поскольку ";

/// Whether a word says of what follows that it is so no longer: "kein X mehr", "ne
/// prend plus".
fn ends_a_habit(words: &[(String, bool)], lower: &[String], at: usize) -> bool {
    let part = words[at..].iter().take_while(|(_, breaks)| !breaks).count();
    let behind = &lower[at..lower.len().min(at + part + 1)];
    let has = |more: &str| behind.iter().any(|word| word == more);
    match lower[at].as_str() {
        "kein" | "keine" | "keinen" => has("mehr"),
        "geen" => has("meer"),
        "plus" => at >= 2 && matches!(lower[at - 2].as_str(), "ne" | "n"),
        _ => false,
    }
}

/// Whether somebody was named and what they do: no order.
fn says_what_is_done(items: &[Item]) -> bool {
    let part = items.rsplit(|item| *item == Item::Break).next();
    let part = part.unwrap_or_default();
    let words = part.iter().filter(|item| matches!(item, Item::Word(_)));
    let is = part
        .iter()
        .any(|item| matches!(item, Item::Mark(Mark::Is(_))));
    words.count() + usize::from(is) >= 2
}

/// Whether a verb says by its form that several do it, or did: "hemos vuelto a".
fn is_of_several(words: &[String]) -> bool {
    words.iter().any(|word| {
        matches!(
            word.as_str(),
            "are" | "sind" | "sommes" | "siamo" | "zijn" | "nos"
        ) || ["mos", "iamo", "amy", "ем", "liśmy", "łyśmy", "ли", "лись"]
            .iter()
            .any(|ending| word.ends_with(ending))
    })
}

/// One word as pieces.
fn piece(
    word: &str,
    lower: &str,
    starts: bool,
    before: Option<&str>,
    next: Option<&str>,
    claim: &mut Claim,
    items: &mut Vec<Item>,
) {
    if lower.chars().any(is_unspaced) {
        return unspaced(lower, claim, items);
    }
    // "MIT" is no German preposition.
    if word.chars().count() >= 2 && word.chars().all(char::is_uppercase) {
        let root = root(lower);
        claim.name(&root);
        return add(root, claim, items);
    }
    let little = match lower {
        _ if is_without(lower) => Some(Item::Without),
        "no" if before == Some("with") => Some(Item::Without),
        _ if is_negation(lower) => Some(Item::No),
        "only" | "nur" | "seulement" | "solo" | "sólo" | "apenas" | "alleen" | "tylko"
        | "только" => Some(Item::Only),
        "i" | "i'm" | "i've" | "ich" | "je" | "yo" | "eu" | "io" | "ik" | "ja" | "я" => {
            Some(Item::Me)
        }
        "we" | "we're" | "we've" | "wir" | "nous" | "nosotros" | "nós" | "noi" | "wij" | "мы" => {
            Some(Item::We)
        }
        "it" | "this" | "that" | "he" | "she" | "they" | "er" | "sie" | "es" | "elle" | "ils"
        | "elles" | "él" | "ella" | "ele" | "ela" | "lui" | "lei" | "hij" | "он" | "она"
        | "оно" | "они" => Some(Item::It),
        _ => None,
    };
    if let Some(little) = little {
        items.push(little);
        return;
    }
    if is_definite(lower) {
        items.push(Item::The);
        return;
    }
    let has_digit = lower.chars().any(|c| c.is_ascii_digit());
    if matches!(lower, "no" | "as" | "die") {
        return;
    }
    if matches!(lower, "and" | "und" | "et" | "y" | "и") {
        items.push(Item::Lead("and".to_owned()));
        return;
    }
    if !has_digit && is_lead(lower) || is_more_lead(lower) {
        items.push(Item::Lead(lower.to_owned()));
        return;
    }
    // "900 euros" is how much, "in euros" is how it is given.
    let counted = before.is_some_and(|word| word.ends_with(|c: char| c.is_ascii_digit()));
    if !(counted && is_unit_class(lower)) && is_class(lower, claim, items) {
        return;
    }
    if !has_digit && (is_empty_word(lower) || is_light(lower) || lower.chars().count() < 2) {
        return;
    }
    let root = root(lower);
    if has_digit {
        let bare = lower.trim_end_matches(|c: char| c.is_alphabetic() || c == '%');
        let is_number = bare
            .chars()
            .all(|c| c.is_ascii_digit() || ".,:".contains(c));
        let attached = &lower[bare.len()..];
        if is_number && !bare.is_empty() {
            let of = match (attached.is_empty(), next.filter(|next| is_unit(next))) {
                (false, _) => attached.to_owned(),
                (true, Some(unit)) => self::root(unit),
                (true, None) => match before {
                    Some(before)
                        if !is_empty_word(before)
                            && !is_lead(before)
                            && !is_article(before)
                            && !before.chars().any(is_unspaced) =>
                    {
                        self::root(before)
                    }
                    _ => "#".to_owned(),
                },
            };
            claim.numbers.push((of, root.clone()));
        } else {
            claim.name(&root);
        }
    } else {
        let mut rest = word.chars();
        let first = rest.next().is_some_and(char::is_uppercase);
        let inner = rest.any(|c| c.is_uppercase() || c == '_' || c == '/');
        if inner || (first && !starts) || word.contains(['_', '/', '@']) {
            claim.name(&root);
        }
    }
    if is_relative(lower) {
        claim.persons.insert(root.clone());
    }
    if lower.ends_with("ed") && !claim.names.contains(&root) {
        claim.participles.insert(root.clone());
    }
    if lower.ends_with("'s") && next.is_some() {
        claim.owners.insert(root.clone());
    }
    // A unit is said with its number.
    let counted = claim.numbers.last().is_some_and(|(of, _)| *of == root) && is_unit(lower);
    if !counted {
        add(root, claim, items);
    }
}

fn add(root: String, claim: &mut Claim, items: &mut Vec<Item>) {
    claim.said.insert(root.clone());
    claim.order.push(root.clone());
    items.push(Item::Word(root));
}

/// What is written without spaces: marks, and pairs of characters between them.
fn unspaced(text: &str, claim: &mut Claim, items: &mut Vec<Item>) {
    let (mut rest, topic) = without_particle(text);
    let mut plain = String::new();
    let flush = |plain: &mut String, claim: &mut Claim, items: &mut Vec<Item>| {
        let run = std::mem::take(plain);
        let ascii = run.is_ascii();
        let chars: Vec<char> = run.chars().collect();
        if run.is_empty() {
            return;
        }
        if ascii {
            if run.chars().any(|c| c.is_ascii_digit()) {
                claim.numbers.push(("#".to_owned(), run.clone()));
            } else {
                claim.name(&run);
            }
            add(run, claim, items);
        } else if chars.len() == 1 {
            add(run, claim, items);
        } else {
            for pair in chars.windows(2) {
                add(pair.iter().collect(), claim, items);
            }
        }
    };
    while let Some(c) = rest.chars().next() {
        let found = UNSPACED.iter().filter(|(mark, _)| rest.starts_with(mark));
        if let Some((mark, means)) = found.max_by_key(|(mark, _)| mark.len()) {
            flush(&mut plain, claim, items);
            items.push(Item::Mark(*means));
            rest = &rest[mark.len()..];
            continue;
        }
        let class = UNSPACED_CLASSES
            .iter()
            .filter(|word| rest.starts_with(**word));
        if let Some(word) = class.max_by_key(|word| word.len()) {
            flush(&mut plain, claim, items);
            is_class(word, claim, items);
            rest = &rest[word.len()..];
            continue;
        }
        // "太郎が東京に…" is about Taro as "太郎は" is.
        if c == 'が' && ties_a_subject(&plain, &rest[c.len_utf8()..], items) {
            flush(&mut plain, claim, items);
            items.push(Item::Mark(Mark::Is(Way::Plain)));
        } else if "不别勿没".contains(c) {
            flush(&mut plain, claim, items);
            items.push(Item::No);
        } else {
            if plain
                .chars()
                .next_back()
                .is_some_and(|last| is_unspaced(last) != is_unspaced(c))
            {
                flush(&mut plain, claim, items);
            }
            plain.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    flush(&mut plain, claim, items);
    if topic && !items.contains(&Item::Mark(Mark::Is(Way::Plain))) {
        items.push(Item::Mark(Mark::Is(Way::Plain)));
    }
}

/// Every word of which there is one at a time, with its group.
static ONE_OF: LazyLock<HashMap<&str, (Class, usize)>> = LazyLock::new(|| {
    let groups = CLASSES.iter().flat_map(|(class, groups)| {
        let groups = groups.iter().enumerate();
        groups.map(move |(at, group)| (*class, at, *group))
    });
    let words = groups.flat_map(|(class, at, group)| {
        let words = group.split(' ');
        words.map(move |word| (word, (class, at)))
    });
    words.collect()
});

/// Those of them that are written without spaces.
static UNSPACED_CLASSES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let words = ONE_OF.keys().copied();
    words.filter(|word| word.chars().all(is_unspaced)).collect()
});

/// Whether a word is the name of a weekday.
pub(in crate::dream) fn is_weekday(lower: &str) -> bool {
    matches!(ONE_OF.get(lower), Some((Class::Weekday, _)))
}

fn is_class(lower: &str, claim: &mut Claim, items: &mut Vec<Item>) -> bool {
    let Some((class, at)) = ONE_OF.get(lower).copied() else {
        return false;
    };
    // All words of one group are one.
    let name = format!("{class:?}{at}");
    if !claim.classes.iter().any(|one| one.2 == name) {
        claim.classes.push((class, at, name.clone()));
        if class.is_manner() {
            claim.manners.push(format!("§{class:?}"));
        }
    }
    add(name, claim, items);
    true
}

/// Whether a word is a unit in which things are given.
fn is_unit_class(lower: &str) -> bool {
    let class = ONE_OF.get(lower).map(|(class, _)| *class);
    matches!(
        class,
        Some(Class::Temperature | Class::Length | Class::Money)
    )
}

fn is_light(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| LIGHT.split_whitespace().collect());
    WORDS.contains(word)
}

/// Prepositions beside those that tie every line.
fn is_more_lead(word: &str) -> bool {
    matches!(
        word,
        "under" | "unter" | "sous" | "nach" | "behind" | "hinter"
    )
}

fn is_definite(word: &str) -> bool {
    matches!(
        word,
        "the"
            | "der"
            | "die"
            | "das"
            | "le"
            | "la"
            | "les"
            | "l"
            | "el"
            | "los"
            | "las"
            | "il"
            | "lo"
            | "o"
            | "os"
            | "het"
            | "our"
            | "my"
            | "unser"
            | "unsere"
            | "mein"
            | "meine"
            | "notre"
            | "mon"
            | "nuestro"
            | "mi"
    )
}

/// A word without its ending.
fn root(lower: &str) -> String {
    let word = lower.trim_end_matches("'s");
    let word = match word.split_once('\'') {
        Some((short, rest)) if short.chars().count() <= 2 && !rest.is_empty() => rest,
        _ => word,
    };
    if word.chars().any(|c| ('а'..='я').contains(&c)) {
        let cut = ENDINGS.iter().find_map(|ending| {
            let cut = word.strip_suffix(ending)?;
            (cut.chars().count() >= 3).then_some(cut)
        });
        return cut.unwrap_or(word).to_owned();
    }
    if word.chars().any(|c| c.is_ascii_digit()) {
        return word.to_owned();
    }
    as_his_part(word).unwrap_or_else(|| stem(word).to_owned())
}
