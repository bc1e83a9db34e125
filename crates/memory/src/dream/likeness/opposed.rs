//! A rule and its denial: "use semicolons", "no semicolons"; "never use var",
//! "use var again".
//!
//! Such lines are short, and half of their words only ask, forbid or say that it
//! was otherwise before. Without those the same words are left, and one of the
//! two says no.

use std::collections::BTreeSet;

use super::{Features, Relation, is_empty_word, is_negation};
use crate::dream::claim::are_kin;
use crate::dream::listed::listed;

/// Behind a denial these say that it was otherwise before.
const NO_MORE: &str =
    " more longer mehr länger plus mais più meer langer więcej już больше ya mer längre ";
/// These say so of what is asked for.
const AGAIN: &str = " again wieder nouveau nuevamente novamente nuovamente weer opnieuw znowu znów ponownie снова \
    опять igen vuelve vuelvan volta volte torna tornate recommence recommencez ";
/// Words of two that say so: neither does by itself.
const AGAIN_OF_TWO: [&str; 7] = [
    "de nuevo",
    "otra vez",
    "de novo",
    "outra vez",
    "di nuovo",
    "de nouveau",
    "à nouveau",
];
/// What says either where words are not spaced.
const TURNS_BACK: [&str; 8] = [
    "不要再",
    "别再",
    "不再",
    "勿再",
    "重新",
    "再次",
    "再び",
    "다시",
];
/// Verbs that ask for nothing but that something be left.
const QUITS: &str = " skip omit quit cease drop arrête arrêtez cesse cessez deja dejen deje pare parem smetti smettila \
    przestań перестань перестаньте хватит ";
/// Verbs that ask for nothing but that something be there.
const HAVE: &str = " include insert attach append show provide answer reply respond format verwende benutze nutze \
    schreib schreibe füge setz setze mach mache gib antworte utilise utilisez mets mettez ajoute ajoutez écris \
    écrivez inclus réponds usa usad pon añade agrega escribe incluye responde use inclua adicione escreva \
    responda metti aggiungi scrivi includi rispondi gebruik schrijf voeg antwoord używaj dodawaj pisz odpowiadaj \
    используй используйте добавляй пиши пишите отвечай ";

/// Words that only say that it is for all times.
const EVER: &str = " sempre altijd zawsze всегда alltid ";

/// Whether a verb asks for nothing but that something be there.
pub(super) fn only_asks(verb: &str) -> bool {
    listed(HAVE, verb)
}

impl Features {
    /// What it means for this line that a newer one says no to the same words,
    /// or asks for what this forbids.
    pub(super) fn opposed_by(&self, newer: &Features) -> Relation {
        let one_side = self.denies() == newer.denies();
        let leave = self.claim.lets_go() || newer.claim.lets_go();
        if one_side || leave || newer.claim.only_adds() || self.values != newer.values {
            return Relation::None;
        }
        let (old, new) = (self.core(), newer.core());
        if old.is_empty() || !are_kin(&old, &new) || self.hinges() != newer.hinges() {
            return Relation::None;
        }
        // "Tabs, not spaces" says no to a part of it, and what somebody tells of
        // is not what they ask for.
        let plain = |one: &Features| one.claim.is_one_part() && !one.claim.is_told();
        match plain(self) && plain(newer) {
            true => Relation::Replaces,
            false => Relation::Perhaps,
        }
    }

    /// Whether it says that it was otherwise before: "again", "any more".
    pub(super) fn turns_back(&self) -> bool {
        let (spaced, unspaced) = (self.words.join(" "), self.words.concat());
        let no_more = self.denies() && self.words.iter().any(|word| listed(NO_MORE, word));
        no_more
            || self.words.iter().any(|word| listed(AGAIN, word))
            || AGAIN_OF_TWO.iter().any(|again| spaced.contains(again))
            || TURNS_BACK.iter().any(|turn| unspaced.contains(turn))
    }

    /// Whether it says no, by a denial or by asking that something be left.
    fn denies(&self) -> bool {
        let has = |wanted: &str| self.words.iter().any(|word| word == wanted);
        // "Ne … plus" has no other word that denies.
        let ne_plus = has("plus") && (has("ne") || has("n"));
        let quits = self.words.first().is_some_and(|word| listed(QUITS, word));
        self.negative || ne_plus || quits
    }

    /// The words that are left without those that only ask, forbid or turn back.
    pub(super) fn core(&self) -> BTreeSet<String> {
        let denies = self.denies();
        let text = self.words.join(" ");
        let of_two = AGAIN_OF_TWO.iter().filter(|again| text.contains(**again));
        let of_two: Vec<&str> = of_two.flat_map(|again| again.split(' ')).collect();
        let quits = self.words.first().filter(|word| listed(QUITS, word));
        let passing = |root: &String| {
            has_root(AGAIN.split_whitespace(), root)
                || has_root(of_two.iter().copied(), root)
                || has_root(quits.into_iter().map(String::as_str), root)
                || denies && has_root(NO_MORE.split_whitespace(), root)
        };
        let said = self.claim.said.iter().filter(|root| !passing(root));
        let said: BTreeSet<String> = said.cloned().collect();
        let light = |word: &&String| {
            let turns = listed(NO_MORE, word) || listed(AGAIN, word) || listed(EVER, word);
            turns || is_negation(word) || is_empty_word(word) || word.chars().count() < 3
        };
        let verb = self.words.iter().find(|word| !light(word));
        let verb = verb.filter(|word| listed(HAVE, word));
        let asks = |root: &&String| has_root(verb.into_iter().map(String::as_str), root);
        match said.len() {
            // "Answer." asks for nothing else.
            0 | 1 => said,
            _ => said.iter().filter(|root| !asks(root)).cloned().collect(),
        }
    }

    /// The words on which the sense of the others hangs: "after", "only", "if".
    pub(super) fn hinges(&self) -> Vec<&str> {
        let passing = |turn: &str| turn == "not" || listed(NO_MORE, turn) || turn == "再";
        let turns = self.phrase.turns().into_iter();
        let mut turns: Vec<&str> = turns.filter(|turn| !passing(turn)).collect();
        turns.sort_unstable();
        turns
    }
}

/// Whether a word without its ending is one of these.
fn has_root<'a>(words: impl IntoIterator<Item = &'a str>, root: &str) -> bool {
    let count = root.chars().count();
    words.into_iter().any(|word| {
        let ending = word.strip_prefix(root).map(|rest| rest.chars().count());
        ending.is_some_and(|ending| ending == 0 || (count >= 3 && ending <= 2))
    })
}
