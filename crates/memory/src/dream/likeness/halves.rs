//! Lines of two halves: "Rosa sits in Porto and owns the mailer".
//!
//! Who says that the mailer has another owner says nothing of where Rosa sits. Such a
//! line takes the place of one half at most, so it closes nothing.

use super::apart::ARTICLES;
use super::sentences::{Sentence, carries};
use super::{Features, Relation, is_empty_word, is_negation, stem};
use crate::dream::claim::is_kin;
use crate::dream::listed::listed;
use crate::dream::phrase::is_lead;

/// Words that join two halves.
pub(super) const AND: &str = " and und et y ";
/// Verbs that no ending tells from other words.
pub(super) const VERBS: &str = " own lead live work run have like use need cost go drive speak eat drink take keep study teach sit \
    war kann muss soll darf mag weiß habe haben leite leiten arbeite arbeiten wohne wohnen lebe leben fahre fahren \
    spreche sprechen esse essen trinke trinken nutze nutzen studiere \
    a dirige habite travaille gère possède utilise coûte prend tient parle aime mange \
    tiene vive lidera trabaja dirige usa cuesta maneja habla lleva come bebe ";

/// Whether what stands behind this *and* is a verb, and not one thing more.
fn is_verb(and: &str, word: &str) -> bool {
    let ends = match and {
        "and" => word == "is" || word.len() >= 3 && word.ends_with('s') && !word.ends_with("ss"),
        "und" => word.len() >= 3 && word.ends_with('t'),
        _ => matches!(word, "est" | "es"),
    };
    // The French "a" is a verb.
    let little = ARTICLES.contains(&word) || is_lead(word) && word != "a";
    !little && (ends || listed(VERBS, word) && (word != "a" || and == "et"))
}

impl Features {
    /// What is left of what a newer line is to this one, where that has a half of which
    /// the newer says nothing.
    pub(super) fn of_both_halves(&self, newer: &Features, found: Relation) -> Relation {
        match found {
            Relation::Replaces
                if self.has_a_half_beside(newer)
                    || self.has_a_sentence_beside(newer)
                    || self.asks_for_two(newer) =>
            {
                Relation::Perhaps
            }
            found => found,
        }
    }

    fn has_a_half_beside(&self, newer: &Features) -> bool {
        let joint = self
            .words
            .windows(2)
            .position(|two| listed(AND, &two[0]) && is_verb(&two[0], &two[1]));
        let Some(joint) = joint else {
            return false;
        };
        let carries = |word: &&String| {
            let little = is_empty_word(word) || is_lead(word) || is_negation(word);
            !little && !ARTICLES.contains(&word.as_str())
        };
        let told = |word: &&String| newer.tells(word);
        let is_beside = |half: Vec<&String>| !half.is_empty() && !half.iter().any(told);
        let (first, second) = (&self.words[..joint], &self.words[joint + 1..]);
        // Whoever or whatever both halves are about stands first.
        is_beside(first.iter().filter(carries).skip(1).collect())
            || is_beside(second.iter().filter(carries).collect())
    }

    /// Whether one of its sentences has no word of its own that the newer line has, or is
    /// about something of which that says nothing while it speaks of another.
    fn has_a_sentence_beside(&self, newer: &Features) -> bool {
        let spoken = |one: &Sentence| one.about.iter().any(|word| newer.tells(word));
        let one_told = newer.sentences.is_empty() && self.sentences.iter().any(spoken);
        self.sentences.iter().enumerate().any(|(at, one)| {
            let elsewhere = |word: &&String| {
                let mut others = self.sentences.iter().enumerate();
                others.any(|(other, two)| other != at && two.words.contains(word))
            };
            let own = one.words.iter().filter(|word| carries(word));
            let own: Vec<&String> = own.filter(|word| !elsewhere(word)).collect();
            let untold = !own.is_empty() && !own.iter().any(|word| newer.tells(word));
            untold || one_told && !spoken(one)
        })
    }

    /// Whether a rule asks to do two things, of which the newer line has one: "always lint
    /// and test before pushing".
    fn asks_for_two(&self, newer: &Features) -> bool {
        let mut words = self.words.iter().skip_while(|word| !carries(word));
        let (first, and, second) = (words.next(), words.next(), words.next());
        match (first, and, second) {
            (Some(first), Some(and), Some(second)) if listed(AND, and) && carries(second) => {
                self.claim.is_rule() && newer.tells(first) != newer.tells(second)
            }
            _ => false,
        }
    }

    /// Whether it has a word, in whatever form.
    fn tells(&self, word: &str) -> bool {
        let mut words = self.words.iter();
        words.any(|other| other == word || is_kin(stem(word), stem(other)))
    }
}
