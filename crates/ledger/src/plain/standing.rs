//! Shapes that are rules wherever they stand.

use super::marks::{is_one, is_plural, is_subject, names_many, points, tells};
use crate::words::Words;
use crate::words::marks::EVENTS;
use crate::words::others::frames::{DETERMINERS, NAMES};
use crate::words::plain::{HABITS, POINTING, STOPS};

/// "Stop adding footers.", "Hör auf, jede Antwort mit Lob zu beginnen.": a habit
/// is to end. What is stopped just now is pointed at.
pub(super) fn ends_habit(words: &Words<'_>, from: usize) -> bool {
    let hits = STOPS.hits(words);
    let Some(hit) = hits
        .iter()
        .filter(|hit| hit.from == from)
        .max_by_key(|hit| hit.to)
    else {
        return false;
    };
    let (act, end) = (hit.to, words.len());
    if act >= end {
        return false;
    }
    let verb = words.get(act);
    let done = match words.get(from) {
        "stop" | "quit" | "cease" => {
            (verb.len() > 4 && verb.ends_with("ing"))
                || (verb == "with" || verb == "met") && is_plural(words.get(end - 1))
        }
        // "Arrête d'ajouter": the preposition is part of the verb.
        "arrête" | "arrêtez" if act == from + 1 => verb.starts_with("d'"),
        "hör" | "hört" => (act..end).any(|at| words.get(at) == "zu"),
        _ => true,
    };
    let often = (act..end).any(|at| {
        matches!(
            words.get(at),
            "every"
                | "each"
                | "always"
                | "constantly"
                | "jede"
                | "jeden"
                | "jedes"
                | "immer"
                | "ständig"
                | "chaque"
                | "toujours"
                | "cada"
                | "siempre"
                | "sempre"
                | "ogni"
                | "каждый"
                | "каждую"
                | "всегда"
        )
    }) || words.lower().contains("all the time")
        || words.lower().contains("so much");
    let many = (act + 1..end).any(|at| {
        let word = words.get(at);
        is_plural(word) || HABITS.contains(word) || matches!(word, "des" | "los" | "las" | "os")
    });
    let bare = act + 1 == end
        && (matches!(
            verb,
            "apologising" | "apologizing" | "hedging" | "rambling" | "guessing"
        ) || words.get(from).starts_with(|c: char| !c.is_ascii()));
    let pointed = (act..end).any(|at| {
        let word = words.get(at);
        POINTING.contains(word) || (word == "the" && !often)
    });
    done && (often || many || bare) && (often || !pointed)
}

/// "Nobody but me edits the roster.", "Niemand außer mir …": who alone may.
pub(super) fn nobody_but(words: &Words<'_>, from: usize) -> bool {
    let Some(who) = (match (words.get(from), words.get(from + 1), words.get(from + 2)) {
        ("nobody", "but" | "except", _) | ("niemand", "außer" | "behalve", _) => Some(from + 2),
        ("no", "one", "but" | "except" | "besides") => Some(from + 3),
        ("nobody", "other", "than") | ("personne", "d'autre", "que") => Some(from + 3),
        ("personne", "sauf" | "hormis", _) | ("nadie", "salvo" | "excepto", _) => Some(from + 2),
        ("nadie", "más", "que") | ("nessuno", "tranne", _) => Some(from + 2),
        ("никто", "кроме", _) | ("nikt", "oprócz" | "poza", _) => Some(from + 2),
        _ => None,
    }) else {
        return false;
    };
    let named = words.is_capital(who)
        || matches!(
            words.get(who),
            "me" | "us"
                | "mir"
                | "uns"
                | "ich"
                | "moi"
                | "nous"
                | "que"
                | "yo"
                | "mij"
                | "ik"
                | "меня"
                | "нас"
                | "mną"
                | "mnie"
        );
    let verb = words.get(who + 1);
    let of_mind = matches!(
        verb,
        "knows"
            | "understands"
            | "cares"
            | "has"
            | "is"
            | "was"
            | "likes"
            | "knew"
            | "came"
            | "noticed"
            | "weiß"
            | "kennt"
            | "hat"
            | "war"
            | "sait"
            | "sabe"
            | "знает"
            | "был"
    ) || verb.ends_with("ed");
    named && !verb.is_empty() && !of_mind && words.len() - from <= 12
}

/// "I want to see the plan before any code.": on every occasion, said with "any".
pub(super) fn before_any(words: &Words<'_>, from: usize) -> bool {
    let any = (from + 2..words.len()).find(|&at| {
        let before = (words.get(at - 1), words.get(at));
        matches!(
            before,
            ("before", "any" | "anything" | "anyone")
                | ("avant", "tout" | "toute")
                | (
                    "de" | "di",
                    "cualquier" | "qualquer" | "qualsiasi" | "qualunque"
                )
                | ("vor", "irgendwelchen" | "jeglicher" | "jeglichen")
                | ("bevor", "irgendetwas" | "irgendwas" | "irgendein")
                | ("перед" | "до", "любым" | "любой" | "любых")
        )
    });
    let Some(any) = any else { return false };
    let wants = (from..any).any(|at| {
        matches!(
            words.get(at),
            "want"
                | "need"
                | "should"
                | "let"
                | "show"
                | "check"
                | "ask"
                | "tell"
                | "run"
                | "read"
                | "will"
                | "möchte"
                | "zeig"
                | "frag"
                | "prüf"
                | "veux"
                | "montre"
                | "vérifie"
                | "quiero"
                | "muéstrame"
                | "revisa"
                | "quero"
                | "mostre"
                | "voglio"
                | "mostrami"
                | "хочу"
                | "покажи"
                | "проверяй"
                | "показывай"
        )
    });
    let past = (from..any).any(|at| {
        let word = words.get(at);
        word.len() > 4 && word.ends_with("ed")
    });
    wants && !past && !matches!(words.get(from), "it" | "he" | "she" | "they" | "there")
}

/// "You should check the sheet before you promise a date.": advice to the agent
/// with the occasion on which it holds.
pub(super) fn you_should(words: &Words<'_>, from: usize) -> bool {
    let verb = match (words.get(from), words.get(from + 1), words.get(from + 2)) {
        ("you", "should" | "must", _) | ("du", "solltest" | "sollst" | "musst", _) => from + 2,
        ("you", "need" | "have" | "ought", "to") => from + 3,
        ("tu", "devrais" | "dois", _) | ("você", "deveria" | "deve", _) => from + 2,
        ("deberías" | "debes" | "dovresti" | "devi", ..) => from + 1,
        ("je", "moet" | "zou", _) | ("ты", "должен" | "должна", _) => from + 2,
        _ => return false,
    };
    let seen = matches!(
        words.get(verb),
        "see"
            | "be"
            | "have"
            | "know"
            | "get"
            | "now"
            | "find"
            | "notice"
            | "hear"
            | "feel"
            | "try"
            | "consider"
            | "probably"
            | "also"
            | "read"
            | "look"
            | "ver"
            | "voir"
            | "sehen"
    ) && words.get(verb + 1) != "at";
    let occasion = (verb + 1..words.len()).any(|at| {
        matches!(
            (words.get(at), words.get(at + 1)),
            ("before" | "when" | "whenever" | "if", "you")
                | ("bevor" | "wenn", "du")
                | ("avant", "de")
                | ("antes", "de")
                | ("prima", "di")
                | ("voordat", "je")
        ) || matches!(words.get(at), "before" | "after") && words.get(at + 1).ends_with("ing")
            || (words.get(at) == "avant" && words.get(at + 1).starts_with("d'"))
    });
    let moment = (verb..words.len()).any(|at| POINTING.contains(words.get(at)));
    !seen && occasion && !moment
}

/// "Commit erst, wenn ich es sage.", "Push only once the tests pass."
pub(super) fn not_until(words: &Words<'_>, from: usize) -> bool {
    let Some(at) = (from + 1..words.len()).find(|&at| {
        matches!(
            (words.get(at), words.get(at + 1)),
            ("erst", "wenn" | "nach" | "nachdem" | "sobald")
                | ("only", "once" | "after" | "when")
                | ("pas", "last" | "nadat")
                | (
                    "seulement" | "uniquement",
                    "quand" | "après" | "lorsque" | "une"
                )
                | ("solo" | "sólo", "cuando" | "después" | "quando" | "dopo")
                | ("só" | "somente", "quando" | "depois")
                | ("dopiero", "gdy" | "po" | "jak")
                | ("только", "когда" | "после")
        )
    }) else {
        return false;
    };
    let verb = words.get(from);
    let told = is_subject(verb)
        || tells(words, from, at)
        || DETERMINERS.contains(verb)
        || is_plural(verb)
        || verb.ends_with('t') && words.get(at) == "erst" && words.len() > 3 && verb != "commit"
        || verb.ends_with("ed")
        || verb.ends_with("ing");
    let past = (at + 1..words.len()).any(|at| {
        let word = words.get(at);
        matches!(word, "was" | "were" | "had" | "did" | "war" | "hatte")
            || word.ends_with("ed") && word.len() > 6
    });
    at - from <= 3 && !told && !past && words.len() > at + 2 && !NAMES.contains(verb)
}

/// "Use the sandbox, not prod, for trials.": what is taken for things of a kind.
pub(super) fn for_such(words: &Words<'_>, from: usize) -> bool {
    let last = words.len() - 1;
    matches!(
        words.get(from),
        "use" | "take" | "prefer" | "nimm" | "verwende" | "nutze"
    ) && words.iter().any(|word| matches!(word, "not" | "nicht"))
        && last >= 1
        && matches!(words.get(last - 1), "for" | "für")
        && (is_plural(words.get(last))
            || words.get(last).ends_with("ing")
            || words.is_capital(last))
        && !(from..words.len()).any(|at| matches!(words.get(at), "this" | "these" | "those"))
}

/// "Deploys go through Jonas.", "Kundennamen gehören nicht in Logs.": where
/// things of a kind belong.
pub(super) fn belongs(words: &Words<'_>, from: usize) -> bool {
    let Some(verb) = (from + 1..words.len().min(from + 4)).find(|&at| {
        matches!(
            (words.get(at), words.get(at + 1)),
            (
                "go" | "belong",
                "in" | "to"
                    | "into"
                    | "through"
                    | "under"
                    | "on"
                    | "behind"
                    | "inside"
                    | "via"
                    | "at"
            ) | (
                "gehören" | "gehen" | "kommen",
                "nicht" | "nie" | "in" | "ins" | "an" | "über" | "unter"
            ) | ("vont" | "passent", "dans" | "par" | "sous")
                | ("van" | "pasan", "en" | "por" | "a")
        )
    }) else {
        return false;
    };
    let subject = words.get(verb - 1);
    let many = is_plural(subject)
        || matches!(words.get(verb), "gehören" | "gehen" | "kommen") && words.is_capital(verb - 1)
        || matches!(words.get(from), "les" | "los" | "las");
    many && words.len() > verb + 2
        && words.len() <= 12
        && !matches!(
            words.get(from),
            "the" | "these" | "those" | "die" | "diese" | "things" | "my" | "our"
        )
        && !(verb..words.len()).any(|at| POINTING.contains(words.get(at)))
}

/// "I'd like a summary at the end of each answer.": a wish for every occasion.
pub(super) fn wants_each(words: &Words<'_>, from: usize) -> bool {
    let wishes = matches!(
        (words.get(from), words.get(from + 1)),
        ("i'd" | "i", "like" | "want" | "need" | "expect")
            | ("ich", "möchte" | "will" | "hätte")
            | ("je", "veux" | "voudrais")
            | (
                "quiero"
                    | "quisiera"
                    | "quero"
                    | "gostaria"
                    | "voglio"
                    | "vorrei"
                    | "chcę"
                    | "хочу",
                _
            )
            | ("я", "хочу")
            | ("ik", "wil")
    );
    wishes
        && (from + 2..words.len()).any(|at| {
            let each = matches!(
                words.get(at),
                "each"
                    | "every"
                    | "jede"
                    | "jeder"
                    | "jedem"
                    | "jeden"
                    | "jedes"
                    | "chaque"
                    | "cada"
                    | "ogni"
                    | "elk"
                    | "elke"
                    | "każdej"
                    | "każdego"
                    | "каждого"
                    | "каждой"
                    | "каждом"
            );
            each && (at + 1..at + 3).any(|at| {
                let word = words.get(at);
                word.len() > 2 && EVENTS.iter().any(|event| word.starts_with(event))
            })
        })
        && !(from..words.len()).any(|at| matches!(words.get(at), "this" | "these" | "those"))
}

/// "Tabs, not spaces.", "Preise in Euro, nicht in Dollar.": one of two in
/// general, without a verb that would tell of something.
pub(super) fn sets_against(words: &Words<'_>, from: usize) -> bool {
    let Some(not) = (from + 1..words.len()).find(|&at| {
        let negates = matches!(
            words.get(at),
            "not" | "nicht" | "pas" | "no" | "não" | "non" | "niet" | "nie" | "не"
        );
        let comma = matches!(words.before(at), Some(',' | ';' | '–' | '—'))
            || matches!(words.get(at - 1), "а" | "a") && matches!(words.before(at - 1), Some(','));
        negates && comma
    }) else {
        return false;
    };
    let second = not + 1;
    let (head, tail) = (not - from, words.len() - second);
    if head > 6 || !(1..=5).contains(&tail) {
        return false;
    }
    let told = points(words, from, words.len())
        || tells(words, from, words.len())
        || (from..words.len()).any(|at| is_subject(words.get(at)) || is_one(words.get(at)));
    let scope = |at: usize| {
        matches!(
            words.get(at),
            "in" | "as"
                | "with"
                | "en"
                | "auf"
                | "mit"
                | "als"
                | "em"
                | "com"
                | "con"
                | "avec"
                | "met"
                | "в"
        )
    };
    let both_many = is_plural(words.get(not - 1)) && is_plural(words.get(words.len() - 1));
    let scoped = (from + 1..not).any(scope) && names_many(words, from, from + 1);
    !told
        && (both_many || scoped)
        && !matches!(
            words.get(second),
            "yet" | "sure" | "only" | "really" | "just" | "bad" | "great"
        )
}
