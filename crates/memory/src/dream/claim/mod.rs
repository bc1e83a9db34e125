//! Claims: what a line says of what, and whether it says that this changed.
//!
//! Two lines may be about the same and share few words: "the release day is
//! Tuesday", "we release on Thursdays now". Here a line is taken apart at the
//! little words that say *is*, *becomes*, *no longer*, *may*; what stands before
//! them is the subject, what stands behind them the value. The same subject with
//! another value, or a value that the newer line denies, is a change of mind.

mod clause;
mod framed;
mod kin;
mod marks;
mod parse;
mod particles;
mod parts;
mod people;
mod refused;
mod replies;
mod rules;
mod same;
mod sort;
mod spaced;
mod verdict;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub(super) use self::kin::{are_kin, is_kin};
use self::kin::{has_kin, kin_shared};
pub(super) use self::parse::is_weekday;
pub(super) use self::verdict::Verdict;
use self::words::{Class, Way};
use super::likeness::is_unspaced;

/// A set of words without their endings.
type Words = BTreeSet<String>;

/// What a line says of what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claim {
    /// All words that carry something.
    pub(super) said: Words,
    clauses: Vec<Clause>,
    /// What it says is not it, or no longer.
    denied: Words,
    /// It says that something is other than before.
    changes: bool,
    /// It allows something.
    releases: bool,
    /// The words of what it allows.
    leave: Words,
    /// It asks for something no longer.
    waives: bool,
    /// It says what is so beside something else.
    adds: bool,
    /// It says what to do or not to do.
    demands: bool,
    /// It says what somebody does: "we use …".
    tells: bool,
    /// It says not to.
    negative: bool,
    /// It forbids that something is not there: "never without".
    insists: bool,
    /// What it names of which there is one at a time, with its word.
    classes: Vec<(Class, usize, String)>,
    /// The kinds of manner that it names, by which lines about them are found.
    manners: Vec<String>,
    /// Numbers with the word that says of what.
    numbers: Vec<(String, String)>,
    /// Words that "and" joins.
    joined: Words,
    /// Words that own what follows: "the CEO's assistant".
    owners: Words,
    /// Words that are written like names.
    names: Words,
    /// Words for somebody: kin, and what stands before a verb without an article.
    persons: Words,
    /// Verbs that say what is done with something: "backed", "married".
    participles: Words,
    /// All words in their order.
    order: Vec<String>,
    /// The words of each part of the sentence, and whether it says no.
    parts: Vec<(Words, bool)>,
    /// Who or what must: "the client must call the server".
    bearer: Words,
    /// What only some may do: "only admins may merge".
    kept_to: Words,
}

/// One thing said of another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Clause {
    subject: Words,
    value: Words,
    way: Way,
    form: Form,
    /// The preposition before the value: "in", "under".
    lead: Option<String>,
}

impl Clause {
    fn new(subject: Words, value: Words, way: Way, form: Form) -> Clause {
        Clause {
            subject,
            value,
            way,
            form,
            lead: None,
        }
    }

    fn led_by(self, lead: Option<String>) -> Clause {
        Clause { lead, ..self }
    }

    /// What it is about: of whoever has a part, the part.
    fn topic(&self) -> &Words {
        match self.form {
            Form::Holds => &self.value,
            Form::Is | Form::Becomes | Form::Does => &self.subject,
        }
    }
}

/// How it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// "X is Y".
    Is,
    /// "X is the Y", "X owns Y": somebody has a part.
    Holds,
    /// "X became Y".
    Becomes,
    /// "do X in Y".
    Does,
}

impl Claim {
    pub(super) fn of(text: &str) -> Claim {
        parse::claim(text)
    }

    /// Whether it says that something is other than before.
    pub(super) fn is_change(&self) -> bool {
        self.changes || self.waives
    }

    /// Whether it allows something, or asks for something no longer.
    pub(super) fn lets_go(&self) -> bool {
        self.releases || self.waives
    }

    /// Whether it says what must be done, or not.
    pub(super) fn is_rule(&self) -> bool {
        self.demands
    }

    /// Whether it says what must not be done.
    pub(super) fn is_ban(&self) -> bool {
        self.demands && self.negative
    }

    /// Whether it is one part of a sentence.
    pub(super) fn is_one_part(&self) -> bool {
        self.parts.len() <= 1
    }

    /// Whether it says what is so of something, rather than what to do.
    pub(super) fn is_told(&self) -> bool {
        let told = |clause: &Clause| {
            let used = matches!(clause.way, Way::Used | Way::Served);
            clause.form != Form::Does && !used && !clause.subject.is_empty()
        };
        self.tells || (!self.demands && self.clauses.iter().any(told))
    }

    /// Whether both allow something, and not the same.
    pub(super) fn allows_another(&self, other: &Claim) -> bool {
        self.releases && other.releases && !are_kin(&self.leave, &other.leave)
    }

    /// Whether both leave something to the few, and not the same: "only admins may
    /// merge", "only admins may deploy".
    pub(super) fn keeps_another(&self, other: &Claim) -> bool {
        let named = !self.kept_to.is_empty() && !other.kept_to.is_empty();
        named && kin_shared(&self.kept_to, &other.kept_to) == 0
    }

    /// Whether leave to do the same to something else has nothing to do with this
    /// ban: "never commit secrets", "you may commit to main".
    pub(super) fn is_left_by(&self, leave: &Claim) -> bool {
        let unspaced = |word: &String| word.chars().any(is_unspaced);
        // A ban that also says where, when or how may be narrowed by leave.
        let plain = self.is_ban() && self.clauses.is_empty() && self.said.len() == 2;
        let another = leave.releases && !leave.waives && leave.said.len() >= 2;
        plain
            && another
            && !self.said.iter().any(unspaced)
            && kin_shared(&self.said, &leave.said) == 1
            && self
                .order
                .first()
                .is_some_and(|verb| has_kin(&leave.said, verb))
    }

    /// Whether the same is said of something and of one of its kind: "the office is
    /// on floor 3", "the Dublin office is on floor 3".
    pub(super) fn is_of_a_narrower(&self, other: &Claim) -> bool {
        let ([one], [two]) = (self.clauses.as_slice(), other.clauses.as_slice()) else {
            return false;
        };
        let (a, b) = (&one.subject, &two.subject);
        let narrower =
            a != b && (a.is_subset(b) || b.is_subset(a)) && !a.is_empty() && !b.is_empty();
        // Without a verb of being only a number shows what is said of it.
        let said = one.form == Form::Is || !self.numbers.is_empty();
        narrower && said && one.value == two.value && !self.demands && !other.demands
    }

    /// Whether both name some of a few, and not the same ones.
    pub(super) fn names_others(&self, other: &Claim) -> bool {
        let of = |claim: &Claim| -> BTreeSet<(Class, usize)> {
            let all = claim.classes.iter();
            all.map(|one| (one.0, one.1)).collect()
        };
        let (old, new) = (of(self), of(other));
        !old.is_empty() && !new.is_empty() && old != new
    }

    /// What it is about beside its words: whoever speaks, and in which manner.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        let topics = self.clauses.iter().flat_map(|clause| clause.topic());
        let speaker = topics.into_iter().find(|word| word.starts_with('§'));
        speaker.into_iter().chain(&self.manners)
    }

    /// Whether it could be taken apart, and its words told from each other: it is
    /// known what it is about.
    pub(super) fn is_understood(&self) -> bool {
        let about = |clause: &Clause| !clause.topic().is_empty();
        let unspaced = |word: &String| word.chars().any(is_unspaced);
        self.clauses.iter().any(about) && !self.said.iter().any(unspaced)
    }

    /// Whether all that a newer claim says is about another thing: each of the
    /// two names something in what it is about that the other does not mention.
    pub(super) fn is_apart(&self, newer: &Claim) -> bool {
        // What a number says is judged by where it stands.
        let counts = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        // A manner is what is said, wherever it stands: "we *write formally* in mails".
        let manner = |word: &String| {
            let mut classes = self.classes.iter().chain(&newer.classes);
            classes.any(|one| one.0.is_manner() && one.2 == *word)
        };
        let own = |topic: &Words, other: &Claim| {
            let mut words = topic.iter();
            words.any(|word| !counts(word) && !manner(word) && !other.mentions(word))
        };
        let about = |claim: &Claim| -> Vec<Words> {
            let topics = claim.clauses.iter().map(|clause| clause.topic().clone());
            topics.filter(|topic| !topic.is_empty()).collect()
        };
        let (old, new) = (about(self), about(newer));
        let apart = |old: &Words| new.iter().all(|new| own(old, newer) && own(new, self));
        // Leave is often given for a part of what is forbidden.
        let leave = newer.lets_go() && kin_shared(&self.said, &newer.said) >= 2;
        let replies = self.is_of_replies() && newer.is_of_replies();
        !leave
            && !replies
            && !old.is_empty()
            && !new.is_empty()
            && old.iter().all(apart)
            && !self.is_denied_by(newer)
    }

    /// Whether something is said here of the very thing of which another claim says
    /// something.
    pub(super) fn is_about_what(&self, other: &Claim) -> bool {
        let told = |clause: &&Clause| clause.form != Form::Does && !clause.topic().is_empty();
        let mut clauses = self.clauses.iter().filter(told);
        clauses.any(|one| {
            let mut others = other.clauses.iter().filter(told);
            others.any(|other| one.topic() == other.topic())
        })
    }

    fn mentions(&self, word: &str) -> bool {
        let topics = || self.clauses.iter().map(|clause| clause.topic());
        // Pairs of characters run over the borders of words.
        let cut = |c: char| is_unspaced(c) && self.said.iter().any(|said| said.contains(c));
        has_kin(&self.said, word)
            || word.chars().any(cut)
            || topics().any(|topic| topic.contains(word))
    }

    /// Whether leave is given for less than this forbids: the rest still holds.
    pub(super) fn keeps_the_rest(&self, leave: &Claim) -> bool {
        let chars: BTreeSet<char> = self.said.iter().flat_map(|word| word.chars()).collect();
        let further = |word: &String| match word.chars().any(is_unspaced) {
            // Pairs of characters run over the borders of words.
            true => word.chars().all(|c| !chars.contains(&c)),
            false => !has_kin(&self.said, word),
        };
        // "A and B are forbidden", "you may do A".
        let (some, rest): (Vec<&String>, Vec<&String>) = self
            .joined
            .iter()
            .partition(|word| has_kin(&leave.leave, word));
        let one_of_both = !leave.leave.is_empty() && !some.is_empty() && !rest.is_empty();
        let less = leave.leave.iter().any(further) || one_of_both;
        self.negative && !leave.waives && less
    }

    /// Whether a word carries it, in some form.
    pub(super) fn says(&self, word: &str) -> bool {
        has_kin(&self.said, word)
    }

    pub(super) fn name(&mut self, word: &str) {
        self.names.insert(word.to_owned());
    }

    /// Whether it says what is so beside something else.
    pub(super) fn only_adds(&self) -> bool {
        self.adds && !self.changes && self.denied.is_empty()
    }

    /// Whether a newer claim says of something in this one that it is not so.
    pub(super) fn is_denied_by(&self, newer: &Claim) -> bool {
        !newer.denied.is_disjoint(&self.said)
    }
}
