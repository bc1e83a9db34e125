//! Lines that say more than another: "the bike is locked in the cellar", "the bike
//! locked in the cellar was stolen".
//!
//! In a short line one word more leaves nearly all of the others shared, and that word
//! may end, deny or narrow what they say. So two lines are one only where neither says
//! anything that the other does not.

use std::ops::Range;

use super::{Features, is_empty_word, is_unspaced, stem};
use crate::dream::listed::listed;
use crate::dream::phrase::{is_article, is_lead};

/// Words that change nothing of what is said: that it is asked for or was said, how much
/// it is meant, that it holds by now, and what only ties other words.
const PASSING: &str = " prefers likes liked wishes wished wanted asked said says told mentioned stated noted confirmed \
    each every any both ever one own kindly ensure sure remember reminder note fyi btw important simply actually indeed \
    definitely certainly absolutely strictly explicitly really still already again currently presently nowadays \
    moment here being am may shall ought he she his her him ours us himself herself itself themselves because \
    dem den des dass daß ob man sich er ihm ihn ihr ihre sein seine seinen mein meine meinen meiner unser unsere unseren \
    unserem unserer meinem seinem seiner ihren ihrem ihrer uns mir mich du dir dich dein deine einen einem einer eines jede jeder jedes jeden jedem beide soll sollen \
    sollte sollten muss müssen möchte will wollen wird werden worden bin bist unbedingt stets wirklich übrigens \
    natürlich schon bereits weiterhin aktuell derzeit momentan gerade heute nun \
    est sont suis doit doivent faut être il elle on nous je vous tu mon ma mes notre nos votre vos ce cette ces que qui \
    se sa son ses ne chaque actuellement déjà aujourd hui vraiment \
    es son está están soy debe deben hay ser mi mis tu tus su sus nuestro nuestra nuestros nuestras que se lo cada \
    actualmente hoy ya é são deve devem meu minha nosso nossa os as um uma atualmente hoje \
    è sono devono essere il lo gli uno mio mia nostro nostra che si ogni attualmente oggi \
    het een zijn moet moeten onze ons mijn elke jest są trzeba każdy это нужно надо наш наша наши мой моя каждый \
    yes ok okay basically obviously ja grundsätzlich generell doch eben halt ";
/// Phrases that change nothing either, though a word of them may elsewhere.
const PASSING_PHRASES: &[&str] = &[
    "by the way",
    "by default",
    "going forward",
    "at all times",
    "as usual",
    "as always",
    "as before",
    "to be clear",
    "just so you know",
    "for the record",
    "in fact",
    "heads up",
    "quick note",
    "as agreed",
    "as discussed",
    "as you know",
    "to repeat",
    "wie immer",
    "wie gesagt",
    "immer noch",
];
/// Words that change nothing but in what says no: "never delete all logs".
const ALL: &str = " all alle allen aller tous toutes toute tout todos todas todo toda tutti tutte ";
/// Words that tie others, and say by themselves that something is over.
const OVER: &str = " off out aus ";

/// Whether a word changes nothing of what is said.
pub(super) fn is_passing(word: &str) -> bool {
    listed(PASSING, word)
}

impl Features {
    /// Whether either line has a word that carries meaning and that the other lacks.
    pub(super) fn is_qualified_by(&self, newer: &Features) -> bool {
        self.says_more_than(newer) || newer.says_more_than(self) || self.one_is_over(newer)
    }

    /// Whether it says of what the other says is so that it was: "Lena owned billing",
    /// "Lena leitete das Lager", "the office was in Kiel".
    fn is_past_of(&self, other: &Features) -> bool {
        let has = |wanted: &str| other.words.iter().any(|word| word == wanted);
        self.words.iter().enumerate().any(|(at, word)| {
            let before = at.checked_sub(1).map(|at| self.words[at].as_str());
            let behind = self.words.get(at + 1).map(String::as_str);
            // "Is owned", "was stored in" say how it is by now.
            let bound = before.is_none_or(|word| is_empty_word(word) || is_passing(word));
            let of = |ending: &str| word.strip_suffix(ending).filter(|_| !bound);
            let owned = of("ed").is_some_and(|stem| {
                !is_passing(word) && (has(&format!("{stem}s")) || has(&format!("{stem}es")))
            });
            let german = of("te").is_some_and(|stem| has(&format!("{stem}t")));
            let placed = behind.is_some_and(|word| {
                word != "to" && (is_lead(word) || is_article(word)) && !has("was")
            });
            let was = match word.as_str() {
                "was" => has("is"),
                "were" => has("are"),
                "war" => has("ist"),
                "waren" => has("sind"),
                _ => false,
            };
            owned || german || was && placed
        })
    }

    /// Whether one line says that it is over: "the plan to sell the car is off", "Lena owned
    /// billing".
    pub(super) fn one_is_over(&self, other: &Features) -> bool {
        let is_over = |one: &Features| one.words.last().is_some_and(|word| listed(OVER, word));
        is_over(self) != is_over(other) || self.is_past_of(other) || other.is_past_of(self)
    }

    fn says_more_than(&self, other: &Features) -> bool {
        let lacks = |word: &String| {
            let mut parts = word.split(|c: char| !c.is_alphanumeric()).map(stem);
            parts.any(|part| self.terms.contains(part) && !other.terms.contains(part))
        };
        let carries = |(at, word): &(usize, &String)| {
            let ties = is_lead(word) && !listed(OVER, word);
            let passes = is_passing(word) || !self.negative && listed(ALL, word);
            // Pairs of characters run over the borders of words.
            let unspaced = word.chars().any(is_unspaced);
            !ties && !passes && !unspaced && !self.is_pointer(*at)
        };
        let said = self.passing_phrases();
        let mut words = self.words.iter().enumerate().filter(carries);
        words.any(|(at, word)| !said.iter().any(|span| span.contains(&at)) && lacks(word))
    }

    /// Where phrases stand that change nothing.
    fn passing_phrases(&self) -> Vec<Range<usize>> {
        let phrases = PASSING_PHRASES.iter().flat_map(|phrase| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let places = (0..self.words.len()).filter_map(move |at| {
                let span = at..at + phrase.len();
                let there = self.words.get(span.clone())?;
                (there == phrase).then_some(span)
            });
            places.collect::<Vec<_>>()
        });
        phrases.collect()
    }

    /// Whether a word is a host or file that only points somewhere: nothing ties it to the
    /// word before, as in "is called build7 (build.example)".
    fn is_pointer(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.words.get(at));
        let tied = before.is_none_or(|word| is_empty_word(word) || is_lead(word));
        self.words[at].contains('.') && !tied
    }
}

#[cfg(test)]
mod tests {
    use super::super::Relation;
    use super::super::pairs::{Pairs, missed};

    /// What ends, denies, widens or narrows a line in a word or two more.
    const QUALIFIED: Pairs = &[
        (
            "The bike is locked in the cellar.",
            "The bike locked in the cellar was stolen.",
        ),
        (
            "Unsere Hypothese ist, dass Dropout hilft.",
            "Unsere Hypothese, dass Dropout hilft, ist falsch.",
        ),
        (
            "The endpoint returns JSON.",
            "The endpoint returns invalid JSON.",
        ),
        (
            "The tests run on Linux.",
            "The tests run on Linux and Windows.",
        ),
        (
            "Lena owns the billing service.",
            "Lena used to own the billing service.",
        ),
        (
            "Lena owns the billing service.",
            "Lena previously owned the billing service.",
        ),
        (
            "Lena owns the billing service.",
            "Lena formerly owned the billing service.",
        ),
        ("Lena leitet das Lager.", "Lena leitete früher das Lager."),
        (
            "I take ibuprofen for my back.",
            "I used to take ibuprofen for my back.",
        ),
        (
            "The assumption is that users have an email address.",
            "The assumption that users have an email address is wrong.",
        ),
        (
            "The hypothesis is that dropout helps the small model.",
            "The hypothesis that dropout helps the small model is refuted.",
        ),
        (
            "The theory is that the cache causes the leak.",
            "The theory that the cache causes the leak is false.",
        ),
        (
            "The rule is that two people review every release.",
            "The rule that two people review every release was abolished.",
        ),
        (
            "The plan is to sell the car.",
            "The plan to sell the car is off.",
        ),
        (
            "The idea is to cache sessions in Redis.",
            "The idea to cache sessions in Redis was rejected.",
        ),
        (
            "Der Plan ist, das Auto zu verkaufen.",
            "Der Plan, das Auto zu verkaufen, ist gestorben.",
        ),
        (
            "The docs are hosted on Netlify.",
            "The docs hosted on Netlify are outdated.",
        ),
        (
            "The data was collected in 2023.",
            "The data collected in 2023 is unusable.",
        ),
        (
            "The app is deployed on Fly.",
            "The app deployed on Fly crashed.",
        ),
        ("Max isst Fleisch.", "Max isst selten Fleisch."),
        ("Max isst selten Fleisch.", "Max isst Fleisch."),
        ("Mia eats fish.", "Mia hardly eats fish."),
        ("Mia hardly eats fish.", "Mia eats fish."),
        (
            "Lena owns the billing service.",
            "Lena owned the billing service.",
        ),
        ("Lena leitet das Lager.", "Lena leitete das Lager."),
        ("The office is in Kiel.", "The office was in Kiel."),
        ("Buy oat milk for Mia.", "Buy unsweetened oat milk for Mia."),
        (
            "The shop images are stored in the old bucket in Frankfurt.",
            "The shop images are rarely stored in the old bucket in Frankfurt.",
        ),
    ];

    /// What is said again with a word that changes nothing.
    const AGAIN: Pairs = &[
        (
            "Sign the release tags with the team key.",
            "Please remember to always sign the release tags with the team key.",
        ),
        (
            "The staging gateway listens on port 8443.",
            "The staging gateway currently listens on port 8443.",
        ),
        (
            "Write JSDoc comments on new functions.",
            "Write JSDoc comments on all new functions.",
        ),
        (
            "Lena leitet das Lager in Kiel.",
            "Lena leitet weiterhin das Lager in Kiel.",
        ),
        (
            "The invoices of the shop are stored in S3.",
            "The invoices of the shop were stored in S3.",
        ),
        (
            "Sign the release tags with the team key.",
            "Sign the release tags with the team key, as usual.",
        ),
        (
            "Sign the release tags with the team key.",
            "By the way, sign the release tags with the team key going forward.",
        ),
        (
            "The user prefers concise answers without emojis.",
            "User prefers concise answers without any emojis.",
        ),
        (
            "The invoices of the shop are stored in the Frankfurt bucket.",
            "Yes, the invoices of the shop are stored in the Frankfurt bucket.",
        ),
        (
            "Die Rechnungen des Ladens liegen im Frankfurter Archiv.",
            "Die Rechnungen des Ladens liegen immer noch im Frankfurter Archiv.",
        ),
        (
            "Die Rechnungen des Ladens liegen im Frankfurter Archiv.",
            "Die Rechnungen des Ladens liegen grundsätzlich im Frankfurter Archiv.",
        ),
    ];

    #[test]
    fn what_ends_or_narrows_a_line_is_not_that_line_said_again() {
        let missed = missed(QUALIFIED, &[Relation::Replaces, Relation::Perhaps]);
        assert!(missed.is_empty(), "{missed:#?}");
    }

    #[test]
    fn a_word_that_changes_nothing_leaves_a_statement_one() {
        let missed = missed(AGAIN, &[Relation::Same]);
        assert!(missed.is_empty(), "{missed:#?}");
    }
}
