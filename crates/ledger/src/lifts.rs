//! Permissions, and rules that are taken back.
//!
//! Within a session the ledger knows which rule is meant. A permission may also
//! speak of a rule of another session, which only the memory knows.

use crate::facts::{Provenance, Sentence};
use crate::ledger::{At, Ledger};
use crate::norm::asks;
use crate::words::marks::{HEADINGS, ONLY};
use crate::words::norms::{LIFTS, NORMS, Norm};
use crate::words::{Words, shared, stems};

/// Lifts that are kept, the newest.
const MOST: usize = 100;
const LONGEST: usize = 400;

/// How a sentence takes a rule back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// It says that the rule holds no longer.
    Back,
    /// It allows what the rule forbids.
    Allowed,
}

/// Whether a sentence allows something or takes a rule back. What is allowed
/// only under a condition is a rule itself.
pub(crate) fn allows(sentence: &str, words: &Words<'_>) -> bool {
    let narrows = words.iter().any(|word| ONLY.contains(word)) && !names_rule(words);
    !narrows && LIFTS.any(words) && !asks(sentence, words)
}

/// Whether a sentence speaks of a rule as such.
fn names_rule(words: &Words<'_>) -> bool {
    let named = |word: &str| {
        HEADINGS.contains(word)
            || matches!(
                word,
                "limit"
                    | "policy"
                    | "requirement"
                    | "ban"
                    | "restriction"
                    | "freeze"
                    | "prohibition"
                    | "verbot"
                    | "interdiction"
                    | "prohibición"
                    | "proibição"
                    | "divieto"
                    | "verbod"
                    | "zakaz"
                    | "запрет"
            )
    };
    words.iter().any(named)
        || words.has_cjk()
            && ["规则", "限制", "规定", "ルール", "制限", "규칙", "제한"]
                .iter()
                .any(|name| words.lower().contains(name))
}

/// Whether a sentence says that something holds no longer.
fn ends(words: &Words<'_>) -> bool {
    let lower = words.lower();
    [
        "no longer",
        "anymore",
        "any more",
        "forget ",
        "nicht mehr",
        "n'est plus",
        "ne s'applique plus",
        "n'as plus",
        "plus besoin",
        "ya no ",
        "não precisa mais",
        "não vale mais",
        "non serve più",
        "non vale più",
        "non devi più",
        "niet meer",
        "nie musisz już",
        "już nie",
        "больше не",
        "不再",
        "不用再",
        "더 이상",
    ]
    .iter()
    .any(|end| lower.contains(end))
}

/// Words of a permission that do not say what it is for.
const LOOSE: &str = "now again ahead go feel free fine ok okay alright allowed permission may can \
    please anytime whenever freely directly today already just like want need right soon onward \
    forward wish worry rule anything everything everywhere always";

/// Whether a rule holds only until the user says a word: "not until I say so".
pub(crate) fn waits_for_word(rule: &str) -> bool {
    let hits = NORMS.hits(&Words::new(rule));
    hits.iter().any(|hit| hit.tag == Norm::Until)
}

/// The part of a sentence that gives leave; the rest says why.
fn clause_of_leave(sentence: &str) -> &str {
    let mut clauses = sentence.split([',', ';', ':', '—', '，', '；', '：']);
    let clause = clauses.find(|clause| LIFTS.any(&Words::new(clause)));
    clause.unwrap_or(sentence)
}

/// Whether a permission is for less than the rule forbids, and so leaves the
/// rest of it: "you may merge typo fixes without review". What waited for the
/// user's word, or is ended by name, is over whatever else is said. In English
/// alone: elsewhere a verb may look like another word in each of its forms.
pub(crate) fn is_for_less(sentence: &str, rule: &str) -> bool {
    let words = Words::new(sentence);
    let is_english = words.iter().any(|word| matches!(word, "you" | "you're"));
    if !is_english || ends(&words) || names_rule(&words) {
        return false;
    }
    let waits = waits_for_word(rule);
    // "Forget it, we deploy every day": what follows is why.
    let clause = clause_of_leave(sentence);
    let (forbidden, loose) = (stems(rule), stems(LOOSE));
    let further = |stem: &String| !forbidden.contains(stem) && !loose.contains(stem);
    !waits && shared(&stems(clause), &forbidden) > 0 && stems(clause).iter().any(further)
}

/// What stands before the condition on which something may be done.
const CONDITIONS: [&str; 11] = [
    "without", "unless", "ohne", "sans", "sin", "sem", "senza", "zonder", "bez", "без", "utan",
];

/// How words begin with which a rule wants to be asked first.
const ASKING: [&str; 18] = [
    "ask",
    "confirm",
    "check",
    "frag",
    "rückfrag",
    "nachfrag",
    "demande",
    "pregunt",
    "pergunt",
    "chied",
    "vraag",
    "vragen",
    "pyta",
    "zapyta",
    "спрашив",
    "спроси",
    "fråga",
    "tanya",
];

/// What stands between such a word and what it is to be asked before.
const BEFORE: [&str; 14] = [
    "before",
    "first",
    "bevor",
    "vor",
    "zuerst",
    "vorher",
    "avant",
    "antes",
    "prima",
    "voor",
    "przed",
    "перед",
    "прежде",
    "innan",
];

/// The same where words are not parted.
const ASKING_UNPARTED: [&str; 5] = ["先问", "请示", "未经", "許可なく", "聞いて"];

/// What gives leave to do something.
const GRANTS: [&str; 19] = [
    "you can ",
    "you may ",
    "you could ",
    "you're free to ",
    "feel free to ",
    "go ahead",
    "darfst",
    "dürfen sie",
    "kannst",
    "tu peux",
    "vous pouvez",
    "puedes",
    "puede ",
    "você pode",
    "puoi",
    "je mag",
    "możesz",
    "можешь",
    "可以",
];

/// What says that leave is for good.
const LASTING: [&str; 31] = [
    " again",
    "wieder",
    "de nuevo",
    "à nouveau",
    "from now on",
    "always",
    "anytime",
    "any time",
    "whenever",
    "in the future",
    "in future",
    "going forward",
    "freely",
    "directly",
    "on your own",
    "ab jetzt",
    "ab sofort",
    "von nun an",
    "künftig",
    "immer",
    "jederzeit",
    "désormais",
    "dorénavant",
    "toujours",
    "de ahora en adelante",
    "siempre",
    "d'ora in poi",
    "sempre",
    "voortaan",
    "以后",
    "今後",
];

/// Whether a sentence only gives the leave that a rule asks for: "never push without
/// asking", "ok, you can push now". The rule asks for it the next time too.
pub(crate) fn is_leave_asked_for(sentence: &str, rule: &str) -> bool {
    let leave = Words::new(sentence);
    let lower = leave.lower();
    let grants = GRANTS.iter().any(|grant| lower.contains(grant));
    let for_good = LASTING.iter().any(|mark| lower.contains(mark));
    if !grants || for_good || ends(&leave) || names_rule(&leave) {
        return false;
    }
    let waits = waits_for_word(rule);
    let (clause, rule) = (clause_of_leave(sentence), Words::new(rule));
    if waits || is_on_condition(&Words::new(clause)) || !is_on_condition(&rule) {
        return false;
    }
    // "You can skip the linter" is about the condition and not about what it is for.
    let parts: Vec<&str> = rule.iter().collect();
    let mut named = parts.split(|word| CONDITIONS.contains(word)).skip(1);
    let condition = named.next().unwrap_or_default();
    let condition = match condition {
        [first, ..] if asks_first(first) => first.to_string(),
        _ => condition.join(" "),
    };
    shared(&stems(clause), &stems(&condition)) == 0
}

fn asks_first(word: &str) -> bool {
    ASKING.iter().any(|begin| word.starts_with(begin)) && !word.starts_with("fragment")
}

/// Whether something is to be done on a condition, or after the user was asked.
fn is_on_condition(words: &Words<'_>) -> bool {
    let begins = words.iter().take(3).any(asks_first);
    words.iter().any(|word| CONDITIONS.contains(&word))
        || begins && words.iter().any(|word| BEFORE.contains(&word))
        || words.has_cjk()
            && ASKING_UNPARTED
                .iter()
                .any(|ask| words.lower().contains(ask))
}

/// Whether and how a sentence takes a rule back, and how surely it speaks of
/// that rule, from 0 to 1. Two words in common, most of what the sentence says
/// and half of what the rule says, make it the one that is meant; less does
/// where the sentence speaks of "the rule" or the rule waits for a word.
pub fn takes_back(sentence: &str, rule: &str) -> Option<(Taking, f64)> {
    // "Forget the Friday rule, we deploy every day": only the first half is it.
    let sentence = clause_of_leave(sentence);
    let words = Words::new(sentence);
    let (said, forbidden) = (stems(sentence), stems(rule));
    let common = shared(&said, &forbidden);
    if common == 0 {
        return None;
    }
    let of_said = common as f64 / said.len().max(1) as f64;
    let of_rule = common as f64 / forbidden.len().max(1) as f64;
    let named = names_rule(&words);
    let waits = waits_for_word(rule);
    // Pairs of characters run over the borders of words, so fewer are shared.
    let (most, half) = match words.has_cjk() {
        true => (0.25, 0.25),
        false => (0.5, 0.5),
    };
    let sure = (common >= 2 && of_said >= most && of_rule >= half)
        || (named && of_said >= most)
        || (waits && of_said >= most && of_rule >= 0.3)
        || (of_rule >= 0.99 && of_said >= 0.3);
    let taking = match named || ends(&words) {
        true => Taking::Back,
        false => Taking::Allowed,
    };
    // What must always be done is not lifted by leave to do it.
    let demands = Words::new(rule);
    let demanded = demands.iter().any(|word| {
        matches!(
            word,
            "always"
                | "must"
                | "immer"
                | "muss"
                | "toujours"
                | "doit"
                | "siempre"
                | "sempre"
                | "altijd"
                | "zawsze"
                | "всегда"
        )
    }) && !demands.iter().any(|word| {
        matches!(
            word,
            "not"
                | "never"
                | "no"
                | "nicht"
                | "nie"
                | "niemals"
                | "ne"
                | "pas"
                | "jamais"
                | "nunca"
        )
    });
    let granted = || is_for_less(sentence, rule) || is_leave_asked_for(sentence, rule);
    (sure && !(taking == Taking::Allowed && (demanded || granted())))
        .then_some((taking, (of_said + of_rule) / 2.0))
}

impl Ledger {
    pub(crate) fn add_lift(&mut self, at: At<'_>, sentence: &str, pasted: bool) {
        let text = sentence.trim_start_matches(['-', '*', '•', ' ']);
        if text.len() > LONGEST {
            return;
        }
        if let Some(known) = self.lifts.iter_mut().find(|lift| lift.text == text) {
            known.provenance.add(at.entry);
            known.pasted &= pasted;
            return;
        }
        if self.lifts.len() >= MOST {
            self.lifts.remove(0);
        }
        self.lifts.push(Sentence {
            text: text.to_owned(),
            provenance: Provenance::new(at.entry.clone()),
            pasted,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifts(sentence: &str) -> bool {
        allows(sentence, &Words::new(sentence))
    }

    #[test]
    fn a_sentence_takes_back_the_rule_it_speaks_of() {
        use Taking::*;
        for (rule, sentence, taking) in [
            (
                "Never push to main on Fridays.",
                "You may push to main on Fridays from now on.",
                Allowed,
            ),
            (
                "Never push to main on Fridays.",
                "The rule about not pushing on Fridays no longer applies.",
                Back,
            ),
            (
                "Never push to main on Fridays.",
                "Forget the Friday rule, we deploy every day.",
                Back,
            ),
            (
                "Never push to main on Fridays.",
                "From now on you can push to main on Fridays.",
                Allowed,
            ),
            (
                "Do not touch src/legacy until I say so.",
                "You can touch src/legacy now.",
                Allowed,
            ),
            ("永远不要在周五推送。", "现在周五可以推送了。", Allowed),
            (
                "N'utilise jamais de tabulations.",
                "Tu peux utiliser des tabulations maintenant.",
                Allowed,
            ),
            (
                "No emojis in commit messages.",
                "Emojis in commit messages are fine now.",
                Allowed,
            ),
            (
                "Always run the slow tests before a commit.",
                "You no longer need to run the slow tests before a commit.",
                Back,
            ),
            (
                "Niemals am Freitag deployen.",
                "Am Freitag darfst du jetzt deployen.",
                Allowed,
            ),
            (
                "No uses tabuladores en el código.",
                "Ahora puedes usar tabuladores en el código.",
                Allowed,
            ),
            (
                "Никогда не пушь в main по пятницам.",
                "Теперь можно пушить в main по пятницам.",
                Allowed,
            ),
            (
                "金曜日にデプロイしないでください。",
                "これからは金曜日にデプロイしてもいいです。",
                Allowed,
            ),
        ] {
            assert!(lifts(sentence), "{sentence}");
            let found = takes_back(sentence, rule).map(|(taking, _)| taking);
            assert_eq!(found, Some(taking), "{rule} / {sentence}");
        }
    }

    #[test]
    fn other_rules_and_narrow_leave_are_left_alone() {
        for (rule, sentence) in [
            (
                "Never push to main on Fridays.",
                "You can run the tests now.",
            ),
            ("Never push to main on Fridays.", "You can push now."),
            (
                "Never log passwords.",
                "You may push to main on Fridays from now on.",
            ),
            (
                "Always push to main before lunch.",
                "You may push to main before lunch from now on.",
            ),
            // Leave for less leaves the rest.
            (
                "Never merge without review.",
                "You may merge typo fixes without review from now on.",
            ),
            (
                "Never change the database schema.",
                "You may change the database schema of the sandbox.",
            ),
            // Leave that is asked for is asked for the next time too.
            (
                "Never push to main without asking me.",
                "ok, you can push to main now",
            ),
            (
                "Ask me before you deploy to staging.",
                "Go ahead, you can deploy to staging now.",
            ),
        ] {
            assert_eq!(takes_back(sentence, rule), None, "{rule} / {sentence}");
        }
        assert!(!lifts("From now on you may only push with a review."));
        assert!(!lifts("Can you push now?"));
        assert!(!lifts("Fix the parser now."));
    }
}
