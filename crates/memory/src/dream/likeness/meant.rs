//! Which one is meant: "never invite Ben", "never invite Mia"; "my birthday", "her
//! birthday"; "user accounts", "agent accounts".
//!
//! Most lines say the same without their little words, so those are left out where
//! two are compared. Some of them tell one thing from another all the same: names
//! that are little words of another language, whose something is, and a few nouns
//! that mostly say nothing. Where each of two lines has such a word that the other
//! lacks, they are not one, and neither takes the place of the other.

use std::collections::{BTreeMap, BTreeSet};

use super::{Features, Relation, is_empty_word, is_negation};
use crate::dream::listed::listed;
use crate::dream::phrase::is_lead;

/// What says in a line which one is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Meant {
    /// Nouns, each with the word that it stands before as a part of it.
    nouns: BTreeMap<&'static str, Option<String>>,
    /// Words that another word says more of: "orders table".
    wholes: BTreeSet<String>,
    /// Whose something is.
    owners: BTreeSet<&'static str>,
    /// Names that are little words too.
    names: BTreeSet<String>,
    /// A name of those is what it is about.
    is_of_named: bool,
    /// It says what the speaker is or does.
    is_of_speaker: bool,
}

/// Whether two lines mean two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Parted {
    No,
    /// They are not one, but what differs may be what changed: "Ben is on call".
    Perhaps,
    /// They have nothing to do with each other.
    Yes,
}

/// Names that are little words of some language.
const NAMES: &str = " ben mia van son al su will may le una per das ma an di da ";
/// Those of them that may begin a line about somebody.
const BEGINNING: &str = " ben mia will may al su ma ";
/// What stands behind somebody's name, or behind a noun that is no part of another.
const VERBS: &str = " is was are were has had does did can may must should will would lives works uses runs moved left \
    joined likes loves hates wants needs prefers owns eats drinks drives speaks plays takes studies teaches became \
    never always now no also and asked asks said says decides decided not still just deploys writes manages \
    ist war hat wohnt lebt arbeitet mag isst trinkt zog zieht heißt kann muss soll will und nutzt jetzt nicht ";
const SPEAKER: &str = " i i'm i've i'd i'll ich je j'ai yo eu io ik ja я ";
const ARTICLES: &str = " the a an this that my our your ";
/// Words behind which a noun says only where or for whom all of it is so.
const SETTING: &str = " in on for within at of by across , ";
/// A part of a sentence ends with it, and no sentence does.
const COMMA: &str = ",";
/// So many words before a word are looked at.
const NEAR: usize = 4;
/// Behind these *day* and *time* say when or how often.
const WHEN: &str = " every each any all next last one per same some long first at in on once twice times \
    this that ";

/// Whose something is, by person.
const OWNERS: [(&str, &str); 5] = [
    (
        "first",
        " my mine our ours user's users' mein meine meiner meinem meinen meines unser unsere unserer \
        unserem unseren unseres mon ma mes notre nos mi mis nuestro nuestra nuestros nuestras meu minha \
        meus minhas nosso nossa mio mia miei mie nostro nostra mijn onze ons mój moja moje nasz nasza \
        nasze мой моя моё мои наш наша наше наши ",
    ),
    (
        "his",
        " his sein seine seiner seinem seinen seines его jego ",
    ),
    (
        "her",
        " her hers ihr ihre ihrer ihrem ihren ihres её ее jej ",
    ),
    ("their", " their theirs leur leurs их "),
    (
        "third",
        " son sa ses su sus seu sua seus suas suo suoi sue ",
    ),
];

/// A word of a line with what is around it in its part of the sentence.
struct Around<'a> {
    word: &'a str,
    lower: String,
    /// The nearest words before it, backwards.
    before: Vec<String>,
    next: Option<&'a str>,
}

impl Around<'_> {
    fn starts(&self) -> bool {
        self.before.is_empty()
    }

    fn is_capital(&self) -> bool {
        self.word.starts_with(char::is_uppercase)
    }

    /// The nearest word before it, but for articles.
    fn behind(&self) -> Option<&str> {
        let mut before = self.before.iter().map(String::as_str);
        before.find(|word| !listed(ARTICLES, word))
    }

    /// The word that this one stands before as a part of it: "user accounts".
    fn whole(&self) -> Option<String> {
        let next = self.next?.to_lowercase();
        let little = is_empty_word(&next) || is_lead(&next) || is_negation(&next);
        let counts = next.starts_with(|c: char| c.is_ascii_digit());
        (!little && !counts && !listed(VERBS, &next)).then_some(next)
    }

    /// Whether it is no little word.
    fn carries(&self) -> bool {
        let word = self.lower.as_str();
        let little = is_empty_word(word) || is_lead(word) || is_negation(word);
        !little && !listed(ARTICLES, word) && !listed(VERBS, word)
    }

    /// The noun that it is, if that tells one thing from another here.
    fn noun(&self) -> Option<&'static str> {
        let (noun, says_when) = match self.lower.as_str() {
            "team" => ("team", false),
            "project" => ("project", false),
            "user" | "users" => ("user", false),
            "agent" => ("agent", false),
            "day" | "date" => ("date", true),
            "time" => ("time", true),
            "name" => ("name", true),
            _ => return None,
        };
        let behind = self.behind();
        let tells = match says_when {
            true => !behind.is_some_and(|word| {
                listed(WHEN, word) || word.starts_with(|c: char| c.is_ascii_digit())
            }),
            // "The team uses …", "in this project" are all that is spoken of.
            false => behind.is_some_and(|word| !listed(SETTING, word)),
        };
        (tells || self.whole().is_some()).then_some(noun)
    }

    /// Whether it is somebody's name though it is a little word as well.
    fn is_name(&self) -> bool {
        let next = self.next.unwrap_or_default();
        if !self.is_capital() || !listed(NAMES, &self.lower) {
            return false;
        }
        // No Italian or Dutch word behind these ends so.
        let present = matches!(self.lower.as_str(), "ben" | "mia")
            && next.starts_with(char::is_lowercase)
            && next.ends_with('s');
        let does = listed(VERBS, next) || next.ends_with("ed") || present;
        match self.lower.as_str() {
            "may" if !self.starts() => !self.is_month(),
            // "Mia sorella" is my sister.
            _ if self.starts() => listed(BEGINNING, &self.lower) && does,
            _ => true,
        }
    }

    /// "On May 4", "in May".
    fn is_month(&self) -> bool {
        let counts = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let when =
            " in on by until till since for from early late mid before after to of this next last ";
        self.next.is_some_and(counts)
            || self
                .before
                .first()
                .is_some_and(|word| listed(when, word) || counts(word))
    }

    /// Whose what follows is.
    fn owner(&self) -> Option<&'static str> {
        let next = self.next?;
        let noun = next.starts_with(char::is_uppercase);
        let of_lower = self.starts() || !self.is_capital();
        let tells = match self.lower.as_str() {
            // "Muss fertig sein"; "Ihr" is also how one says "your".
            "sein" | "ihr" | "ihre" | "ihrer" | "ihrem" | "ihren" => noun && of_lower,
            // "My son".
            "son" => self.starts() && !listed(VERBS, next),
            _ => of_lower,
        };
        let mut owners = OWNERS.iter().filter(|_| tells);
        let found = owners.find(|(_, words)| listed(words, &self.lower));
        found.map(|(person, _)| *person)
    }
}

/// The words of a line, each with what is around it.
fn around(text: &str) -> Vec<Around<'_>> {
    let mut out: Vec<Around<'_>> = Vec::new();
    let mut before: Vec<String> = Vec::new();
    let sign = |c: char| !c.is_alphanumeric();
    for run in text.split_whitespace() {
        // "**Ben**" is a name as "Ben" is.
        let run = run.trim_matches(['*', '`', '_']);
        let word = run.trim_matches(sign);
        if word.is_empty() || run.starts_with(sign) {
            before.clear();
        }
        if word.is_empty() {
            continue;
        }
        let goes_on = before.first().is_some_and(|last| last != COMMA);
        if let Some(last) = out.last_mut().filter(|_| goes_on) {
            last.next = Some(word);
        }
        let lower = word.to_lowercase().replace('’', "'");
        out.push(Around {
            word,
            lower: lower.clone(),
            before: before.clone(),
            next: None,
        });
        if run.ends_with(COMMA) {
            before = vec![COMMA.to_owned()];
        } else if run.ends_with(sign) {
            before.clear();
        } else {
            before.insert(0, lower);
            before.truncate(NEAR);
        }
    }
    out
}

/// The names of people in a line that are little words too.
pub(in crate::dream) fn little_names(text: &str) -> BTreeSet<String> {
    let named = around(text).into_iter().filter(Around::is_name);
    named.map(|one| one.lower).collect()
}

impl Meant {
    pub(super) fn of(text: &str) -> Meant {
        let mut meant = Meant::default();
        for one in around(text) {
            meant.is_of_speaker |= listed(SPEAKER, &one.lower);
            if one.is_name() {
                meant.is_of_named |= one.starts();
                meant.names.insert(one.lower);
                continue;
            }
            meant.owners.extend(one.owner());
            match one.noun() {
                Some(noun) => {
                    meant.nouns.insert(noun, one.whole());
                }
                None if one.carries() => meant.wholes.extend(one.whole()),
                None => {}
            }
        }
        meant
    }

    fn parted(&self, other: &Meant) -> Parted {
        let all = [
            self.owners_parted(other),
            self.nouns_parted(other),
            self.names_parted(other),
        ];
        all.into_iter().max().unwrap_or(Parted::No)
    }

    fn owners_parted(&self, other: &Meant) -> Parted {
        match differ(&self.owners, &other.owners) {
            true => Parted::Yes,
            false => Parted::No,
        }
    }

    /// Of a part of the same word there are two: "user table", "project table".
    fn nouns_parted(&self, other: &Meant) -> Parted {
        if self.nouns.is_empty() && other.nouns.is_empty() {
            return Parted::No;
        }
        let nouns = |one: &Meant| one.nouns.keys().copied().collect();
        let own = |one: &Meant, other: &Meant| -> BTreeSet<String> {
            let nouns = one.nouns.iter();
            let own = nouns.filter(|(noun, _)| !other.nouns.contains_key(*noun));
            own.filter_map(|(_, whole)| whole.clone()).collect()
        };
        // "The orders table", "the users table".
        let is_beside = |one: &Meant, other: &Meant| {
            let own = own(one, other);
            !own.is_subset(&one.wholes) && !own.is_disjoint(&other.wholes)
        };
        match differ::<&str>(&nouns(self), &nouns(other)) {
            false if is_beside(self, other) || is_beside(other, self) => Parted::Yes,
            true if !own(self, other).is_disjoint(&own(other, self)) => Parted::Yes,
            true => Parted::Perhaps,
            false => Parted::No,
        }
    }

    fn names_parted(&self, other: &Meant) -> Parted {
        let is_of_another = |one: &Meant, other: &Meant| {
            one.is_of_speaker && one.names.is_empty() && other.is_of_named && !other.is_of_speaker
        };
        let speaker = is_of_another(self, other) || is_of_another(other, self);
        match speaker || differ(&self.names, &other.names) {
            true => Parted::Perhaps,
            false => Parted::No,
        }
    }
}

/// Whether each has something that the other lacks.
fn differ<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> bool {
    !one.is_subset(other) && !other.is_subset(one)
}

impl Features {
    /// Whether this line and another mean two, whatever else they share.
    pub(in crate::dream) fn means_another(&self, other: &Features) -> bool {
        self.meant.parted(&other.meant) != Parted::No
    }

    /// What is left of what two lines are to each other, once it is known which one
    /// each means.
    pub(super) fn of_the_meant(&self, newer: &Features, found: Relation) -> Relation {
        let shares = || !self.terms.is_disjoint(&newer.terms);
        match (self.meant.parted(&newer.meant), found) {
            (Parted::No, found) => found,
            (Parted::Perhaps, Relation::Replaces | Relation::Perhaps) if shares() => {
                Relation::Perhaps
            }
            (Parted::Perhaps | Parted::Yes, _) => Relation::None,
        }
    }
}
