//! Exceptions to a ban that are put with a condition: "never use sudo", "use sudo only
//! for apt"; "never push to main", "push to main after asking me"; or that name what it is
//! done to: "push documentation fixes to main".
//!
//! Such a line asks for what is forbidden and says in which case. It may be meant
//! beside the ban or in its place, which nobody but the user can tell.

use super::apart::{ARTICLES, OF, ON};
use super::{Features, is_negation, stem};
use crate::dream::claim::is_kin;
use crate::dream::listed::listed;
use crate::dream::phrase::{is_lead, is_without};

/// Words that keep something to a case.
const ONLY: &str = " only solely exclusively nur ausschließlich lediglich seulement uniquement exclusivement solo sólo \
    solamente únicamente apenas soltanto alleen tylko только ";
/// Words that begin a case.
const WHEN: &str = " when whenever if once after before during while unless except wenn falls nach vor während sobald \
    außer si quand après avant pendant sauf cuando después antes durante salvo ";
/// Words that say for what.
const FOR: &str = " for für pour para per ";
/// What stands before a case that something is kept to: "sudo is only for apt".
const IS: &str = " is are ist sind est sont es son ";
/// Verbs that ask for nothing but that something be there.
const USE: &str = " use using used benutze benutzen benutzt nutze nutzen nutzt verwende verwenden verwendet utilise \
    utilisez utiliser utilises usa usar usad uses utiliza utilizar utilices ";
/// Words that forbid what is done.
const NEVER: &str = " never not nie niemals nicht nunca jamais ";
/// Words that carry nothing of a rule.
const PASSING: &str = " do please always ever bitte immer je jemals toujours siempre n ne ";

/// Words that allow.
const MAY: &str = " can may could might darf dürfen kann können peut peuvent puede pueden ";

/// An exception has no more words than these beside what is forbidden.
const MOST_BESIDE: usize = 6;

impl Features {
    /// Whether a newer line asks for what this forbids, in a case that it names.
    pub(super) fn is_kept_to_a_case_by(&self, newer: &Features) -> bool {
        if !self.is_plain_ban() {
            return false;
        }
        let plain = |one: &Features| {
            let lacks = one.words.iter().any(|word| is_without(word));
            one.claim.is_one_part() && !lacks
        };
        let denies = newer.words.iter().any(|word| is_negation(word));
        if denies || !plain(self) || !plain(newer) {
            return false;
        }
        let (forbidden, asked) = (self.forbidden(), newer.forbidden());
        let fits = !forbidden.is_empty() && asked.len() <= forbidden.len() + MOST_BESIDE;
        let only = newer.has(ONLY);
        let alike = self.has(USE) == newer.has(USE);
        let asks = only || alike && self.names_a_verb();
        let begins = asks && begins_with(&asked, &forbidden);
        let all = only && alike && has_all(&asked, &forbidden);
        fits && (begins || all || does_so_to_some(&asked, &forbidden))
    }

    /// Whether it forbids something, also in the order of "gieß nie den Kaktus".
    fn is_plain_ban(&self) -> bool {
        let never = || self.words.get(1).is_some_and(|word| listed(NEVER, word));
        self.claim.is_ban() || self.negative && !self.claim.is_told() && never()
    }

    fn has(&self, list: &str) -> bool {
        self.words.iter().any(|word| listed(list, word))
    }

    /// Whether it says what must not be done, rather than what must not be there: "no
    /// emojis" has no verb.
    fn names_a_verb(&self) -> bool {
        let first = self.words.iter().find(|word| !listed(PASSING, word));
        self.has(USE) || first.is_some_and(|word| listed(NEVER, word))
    }

    /// The words of what it forbids or asks for, without those that only say that.
    fn forbidden(&self) -> Vec<&str> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let is_for = |at: usize| {
            let behind = (words.get(at + 1), words.get(at + 2));
            matches!(behind, (Some(only), Some(end)) if listed(ONLY, only) && listed(FOR, end))
        };
        let carries = |(at, word): &(usize, &&str)| {
            let passing = [ONLY, USE, PASSING].iter().any(|list| listed(list, word));
            let is = listed(IS, word) && is_for(*at);
            !passing && !is && !is_negation(word) && !ARTICLES.contains(word)
        };
        let kept = words.iter().enumerate().filter(carries);
        kept.map(|(_, word)| *word).collect()
    }
}

fn are_one(a: &str, b: &str) -> bool {
    a == b || is_kin(stem(a), stem(b))
}

/// Whether what is asked for begins with what is forbidden, and goes on with a case.
fn begins_with(asked: &[&str], forbidden: &[&str]) -> bool {
    let behind = asked.get(forbidden.len());
    let begins = asked.iter().zip(forbidden).all(|(a, b)| are_one(a, b));
    begins
        && behind.is_some_and(|word| OF.contains(word) || ON.contains(word) || listed(WHEN, word))
}

/// Whether what is asked for, or allowed, is to do to some things what is forbidden: "never
/// push to main", "push documentation fixes to main", "docs can be committed to main".
fn does_so_to_some(asked: &[&str], forbidden: &[&str]) -> bool {
    let [verb, place @ ..] = forbidden else {
        return false;
    };
    let [lead, _, ..] = place else {
        return false;
    };
    let done = asked.iter().position(|word| are_one(word, verb));
    let placed = asked.windows(place.len()).position(|words| words == place);
    let (Some(done), Some(placed)) = (done, placed) else {
        return false;
    };
    let is_place = OF.contains(lead) || ON.contains(lead);
    let allowed = asked[..done].iter().any(|word| listed(MAY, word));
    // What stands between is what it is done to.
    let to_some = done == 0 && placed >= 2;
    is_place && placed > done && (to_some || allowed)
}

/// Whether all that is forbidden stands somewhere in what is asked for: more than two
/// words in their order.
fn has_all(asked: &[&str], forbidden: &[&str]) -> bool {
    let words = forbidden.iter().filter(|word| !is_lead(word)).count();
    match words {
        0..=2 => {
            let mut forbidden = forbidden.iter();
            forbidden.all(|word| asked.iter().any(|other| are_one(word, other)))
        }
        _ => {
            let mut asked = asked.iter();
            let mut forbidden = forbidden.iter();
            forbidden.all(|word| asked.any(|other| are_one(word, other)))
        }
    }
}
