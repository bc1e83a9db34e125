//! Short rules that choose otherwise: "use tabs", "use spaces"; "indent with tabs",
//! "indent with spaces".
//!
//! Such lines share no word that carries anything, or a single one. What tells that
//! they are about the same is that each chooses another member of one family, and
//! that nothing else is said in either.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::apart::ARTICLES;
use super::families::FAMILIES;
use super::{Features, Relation, is_negation, stem};
use crate::dream::claim::are_kin;
use crate::dream::listed::listed;

/// Verbs that ask for nothing but that something be chosen.
const CHOOSE: &str = " use choose pick take format benutze benutzen benutzt nutze nutzen nutzt verwende verwenden \
    verwendet nimm nehmt nehmen utilise utilisez utiliser emploie employez prends prenez usa usar usad utiliza \
    utilizar elige emplea ";
/// Verbs with which somebody says what they would rather have.
const PREFER: &str = " prefer prefers preferred bevorzuge bevorzugen bevorzugt préfère préfères préférez préférons \
    prefiero prefiere prefieres prefieren preferimos ";
/// Who says so.
const SPEAKER: &str = " i we user users ich wir nutzer je j nous yo ";
/// Words before what is chosen that say how something is done.
const MANNER: &str = " with in by via as per mit im auf als avec en par con como ";
/// Words that say no more than that it is so from now on, for all times, or please.
const PASSING: &str = " always please kindly just only now again instead from on henceforth generally immer bitte nur \
    jetzt ab sofort künftig wieder stattdessen grundsätzlich toujours seulement désormais maintenant siempre solo \
    sólo ahora favor por ";
/// Those of them that may stand before what is chosen.
const ONLY: &str = " only nur seulement solo sólo toujours siempre immer ";

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        || listed(
            " two four eight zwei vier acht deux quatre dos cuatro ",
            word,
        )
}

fn is_light(word: &str) -> bool {
    let little = [CHOOSE, PREFER, MANNER, PASSING];
    little.iter().any(|list| listed(list, word))
        || ARTICLES.contains(&word)
        || listed(" des una un unos une ein eine einen ", word)
        || is_number(word)
}

/// A member of a family that a line names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    family: usize,
    member: usize,
    /// Its first word, and how many it has.
    at: usize,
    count: usize,
}

/// What a line chooses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    named: Vec<Named>,
    /// How many words stand before a colon: "package manager: npm".
    label: Option<usize>,
    /// The names of its families, by which lines that choose otherwise are found.
    pub(super) keys: Vec<String>,
}

impl Chosen {
    pub(super) fn of(text: &str, words: &[String]) -> Chosen {
        let mut named: Vec<Named> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let found = named_at(words, at);
            at += found.as_ref().map_or(1, |one| one.count);
            named.extend(found);
        }
        let families: BTreeSet<usize> = named.iter().map(|one| one.family).collect();
        let keys = families.iter().map(|family| format!("§family{family}"));
        let label = text.split_once(": ");
        Chosen {
            keys: keys.collect(),
            label: label.map(|(label, _)| label.split_whitespace().count()),
            named,
        }
    }

    /// The only member that this names and another does not, if there is one.
    fn own(&self, other: &Chosen) -> Option<&Named> {
        let is_shared = |one: &&Named| {
            let same = |two: &Named| (two.family, two.member) == (one.family, one.member);
            other.named.iter().any(same)
        };
        let mut own = self.named.iter().filter(|one| !is_shared(one));
        own.next().filter(|_| own.next().is_none())
    }
}

/// A name of a member: its words, its family, and which member it is.
type Name = (Vec<&'static str>, usize, usize);

/// The names that begin with a word, those of more words first.
static NAMES: LazyLock<HashMap<&str, Vec<Name>>> = LazyLock::new(|| {
    let mut names: HashMap<&str, Vec<Name>> = HashMap::new();
    for (family, members) in FAMILIES.iter().enumerate() {
        for (member, called) in members.iter().enumerate() {
            for name in called.split(", ") {
                let words: Vec<&str> = name.split_whitespace().collect();
                let first = words.first().copied().unwrap_or_default();
                names
                    .entry(first)
                    .or_default()
                    .push((words, family, member));
            }
        }
    }
    for all in names.values_mut() {
        all.sort_by_key(|(words, ..)| std::cmp::Reverse(words.len()));
    }
    names
});

/// The member whose longest name begins at a word.
fn named_at(words: &[String], at: usize) -> Option<Named> {
    let names = NAMES.get(words[at].as_str())?;
    let fits = |(name, ..): &&Name| {
        let here = words.get(at..at + name.len());
        here.is_some_and(|here| here.iter().zip(name).all(|(word, part)| word == part))
    };
    let found = names.iter().find(fits);
    found.map(|(name, family, member)| Named {
        family: *family,
        member: *member,
        at,
        count: name.len(),
    })
}

impl Features {
    /// What it means for this rule that a newer one chooses another of the same family
    /// for the same.
    pub(super) fn chosen_otherwise_by(&self, newer: &Features) -> Relation {
        let (Some(one), Some(two)) = (
            self.chosen.own(&newer.chosen),
            newer.chosen.own(&self.chosen),
        ) else {
            return Relation::None;
        };
        let leave = self.claim.lets_go() || newer.claim.lets_go();
        if one.family != two.family || leave {
            return Relation::None;
        }
        let (old, new) = (self.rest_of_choice(one), newer.rest_of_choice(two));
        let same = old.zip(new).is_some_and(|(old, new)| are_kin(&old, &new));
        match same {
            true => Relation::Perhaps,
            false => Relation::None,
        }
    }

    /// What a rule says beside what it chooses; nothing if it chooses nothing.
    fn rest_of_choice(&self, chosen: &Named) -> Option<BTreeSet<String>> {
        let has = |list: &str| self.words.iter().any(|word| listed(list, word));
        let prefers = has(PREFER);
        let denies = self.negative || self.words.iter().any(|word| is_negation(word));
        // What somebody uses is one of many; what they would rather have is not.
        if denies || (has(SPEAKER) && !prefers) {
            return None;
        }
        let rest = self.words.iter().enumerate().filter(|(at, word)| {
            let of_it = (chosen.at..chosen.at + chosen.count).contains(at);
            let speaks = prefers && listed(SPEAKER, word);
            !of_it && !speaks && !is_light(word)
        });
        let rest: BTreeSet<String> = rest.map(|(_, word)| stem(word).to_owned()).collect();
        let before = self.words[..chosen.at].iter().rev();
        let mut before =
            before.filter(|word| !ARTICLES.contains(&word.as_str()) && !is_number(word));
        let asks = [CHOOSE, PREFER, MANNER, ONLY];
        let is_chosen = before
            .next()
            .is_some_and(|word| asks.iter().any(|list| listed(list, word)));
        let is_labelled = self.chosen.label == Some(chosen.at);
        (is_chosen || is_labelled || rest.is_empty()).then_some(rest)
    }
}
