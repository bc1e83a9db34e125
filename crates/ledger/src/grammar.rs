//! Rules told by their grammar, in the languages where that is possible.

use crate::words::Words;
use crate::words::marks::{HEADINGS, SUBJECTS};
use crate::words::others::frames::DETERMINERS;

/// Rules that are told by their grammar: a modal about a thing, a negation in
/// front of an imperative, a quantifier with a demand.
pub(crate) fn commands(words: &Words<'_>) -> bool {
    (0..words.len()).any(|at| {
        must(words, at)
            || negated(words, at)
            || only(words, at)
            || one_not_other(words, at)
            || (words.may_begin(at)
                && (demands_of_all(words, at)
                    || verb_first_negation(words, at)
                    || titled(words, at)))
    }) || (words.has_cjk() && asks_not_to(words.lower()))
}

/// "X must", "X muss", "X doit": a demand, unless the speaker speaks of
/// himself or guesses ("it must have been").
fn must(words: &Words<'_>, at: usize) -> bool {
    let pair = words.get(at + 1);
    let demand = match words.get(at) {
        "must" => {
            !(pair == "have" && (words.get(at + 2).ends_with("ed") || words.get(at + 2) == "been"))
        }
        "muss" | "müssen" | "musst" | "müsst" | "doit" | "doivent" | "devez" | "dois" | "debe"
        | "deben" | "debes" | "deve" | "devem" | "devono" | "devi" | "moet" | "moeten" | "musi"
        | "muszą" | "musisz" | "должен" | "должна" | "должно" | "должны" | "darf" | "dürfen"
        | "darfst" => true,
        _ => false,
    };
    let clause = words.clause_before(at);
    let first = words.get(clause.start);
    // "The docs say that it must": somebody else's word.
    let quoted = clause.clone().any(|at| {
        matches!(
            words.get(at),
            "say"
                | "says"
                | "said"
                | "states"
                | "claims"
                | "means"
                | "sagt"
                | "dit"
                | "dice"
                | "diz"
        )
    });
    demand
        && !quoted
        && !matches!(
            first,
            "i" | "i've"
                | "it"
                | "there"
                | "they"
                | "he"
                | "she"
                | "that"
                | "this"
                | "ich"
                | "es"
                | "je"
                | "il"
                | "ça"
                | "yo"
                | "eso"
                | "eu"
                | "isso"
                | "io"
                | "ik"
                | "het"
                | "to"
                | "ja"
                | "я"
                | "это"
                | "if"
                | "when"
                | "do"
                | "does"
                | "why"
                | "what"
                | "how"
                | "users"
                | "wir"
                | "man"
        )
}

/// A negation where a clause begins, before a word in the form of a command.
fn negated(words: &Words<'_>, at: usize) -> bool {
    if !words.starts_clause(at) {
        return false;
    }
    let next = words.get(at + 1);
    let ends = |endings: &[&str]| endings.iter().any(|ending| next.ends_with(ending));
    match words.get(at) {
        "no" => {
            no_such_thing(words, at)
                || (next.len() >= 4 && ends(&["es", "as"]) && next.is_ascii() && !is_report(next))
        }
        "ne" => next.len() > 1,
        word if word.starts_with("n'") && word.len() > 4 => true,
        "não" => {
            ends(&["e"])
                && !matches!(
                    next,
                    "pode" | "deve" | "parece" | "existe" | "acontece" | "consegue" | "sobe"
                )
                || matches!(
                    next,
                    "faça"
                        | "mexa"
                        | "ponha"
                        | "escreva"
                        | "remova"
                        | "inclua"
                        | "rode"
                        | "esqueça"
                        | "diga"
                        | "suba"
                        | "crie"
                        | "instale"
                        | "mude"
                        | "toque"
                        | "use"
                        | "apague"
                )
        }
        "non" => next.len() > 4 && ends(&["are", "ere", "ire", "rre"]),
        "nie" => ends(&["j", "jcie", "ób", "isz", "usz"]),
        "не" => {
            next.chars().count() > 3
                && ends(&["й", "йте", "и", "ите", "ь", "ьте", "йся", "ись"])
                && !ends(&["сть", "ость", "ать", "ить", "еть"])
        }
        _ => false,
    }
}

/// "No emojis in commits", but not "no, …", "no idea" or "no errors found".
fn no_such_thing(words: &Words<'_>, at: usize) -> bool {
    let next = words.get(at + 1);
    let opened = words.may_begin(at)
        || matches!(
            words.before(at),
            None | Some(',' | ';' | '-' | '*' | '—' | '–' | '!' | '.')
        );
    let told = (at + 1..words.len()).any(|at| {
        let word = words.get(at);
        matches!(word, "is" | "are" | "was" | "were" | "there" | "longer")
            || (at > 1 && word.ends_with("ed") && word != "need")
    });
    opened
        && !told
        && !next.is_empty()
        && !words.starts_clause(at + 1)
        && ((3..=18).contains(&words.len()) || no_things(words, at))
        && !is_report(next)
}

/// "No emojis.", all by itself.
fn no_things(words: &Words<'_>, at: usize) -> bool {
    let next = words.get(at + 1);
    at == 0
        && words.len() == 2
        && next.len() >= 4
        && next.ends_with('s')
        && !matches!(
            next,
            "thanks"
                | "changes"
                | "comments"
                | "updates"
                | "questions"
                | "issues"
                | "problems"
                | "differences"
                | "objections"
                | "matches"
                | "hits"
                | "news"
                | "tests"
                | "warnings"
                | "failures"
                | "files"
                | "sorries"
                | "complaints"
        )
}

/// "Use pnpm, not npm": one thing in the place of another, both by name.
fn one_not_other(words: &Words<'_>, at: usize) -> bool {
    let first = words.get(0);
    let asks = matches!(
        first,
        "use"
            | "write"
            | "prefer"
            | "choose"
            | "pick"
            | "run"
            | "nimm"
            | "verwende"
            | "nutze"
            | "benutze"
            | "schreibe"
            | "utilise"
            | "utilisez"
            | "usa"
            | "use-se"
            | "usar"
            | "gebruik"
            | "używaj"
            | "используй"
            | "используйте"
    );
    let not = matches!(
        words.get(at),
        "not" | "nicht" | "pas" | "no" | "não" | "non" | "niet" | "nie" | "а"
    ) && words.starts_clause(at);
    let points = |at: usize| {
        matches!(
            words.get(at),
            "the"
                | "this"
                | "that"
                | "it"
                | "one"
                | "these"
                | "those"
                | "my"
                | "your"
                | ""
                | "just"
                | "only"
        )
    };
    // "Use yarn instead of npm": short, or it is about one place.
    let instead = words.len() <= 7
        && matches!(
            (words.get(at), words.get(at + 1)),
            ("instead", "of")
                | ("rather", "than")
                | ("statt", _)
                | ("anstatt", _)
                | ("au", "lieu")
                | ("en", "lugar" | "vez")
                | ("em", "vez")
                | ("invece", "di")
                | ("in", "plaats")
                | ("zamiast", _)
                | ("вместо", _)
        )
        && !words
            .iter()
            .any(|word| matches!(word, "a" | "an" | "the" | "here" | "there" | "in"));
    asks && at >= 2 && !points(1) && (instead || (not && words.len() - at <= 4 && !points(at + 1)))
}

/// Words after "no" that make an answer or a report of it.
fn is_report(next: &str) -> bool {
    matches!(
        next,
        "idea"
            | "problem"
            | "worries"
            | "way"
            | "one"
            | "it"
            | "that"
            | "this"
            | "i"
            | "you"
            | "we"
            | "the"
            | "need"
            | "longer"
            | "such"
            | "matter"
            | "change"
            | "difference"
            | "luck"
            | "se"
            | "es"
            | "funciona"
            | "está"
            | "hay"
            | "sé"
            | "tengo"
            | "puedo"
            | "entiendo"
            | "pasa"
            | "lo"
            | "error"
            | "errors"
            | "output"
            | "result"
            | "results"
            | "puedes"
            | "tienes"
            | "sabes"
            | "eres"
    )
}

/// "Only answer in …": a command, not "only the second one".
fn only(words: &Words<'_>, at: usize) -> bool {
    words.get(at) == "only"
        && words.starts_clause(at)
        && words.len() - at >= 3
        && !matches!(
            words.get(at + 1),
            "the"
                | "a"
                | "an"
                | "one"
                | "two"
                | "three"
                | "this"
                | "that"
                | "these"
                | "those"
                | "in"
                | "on"
                | "when"
                | "if"
                | "after"
                | "some"
                | "my"
                | "his"
                | "their"
                | "because"
                | "for"
                | "with"
                | "it"
                | "then"
                | "now"
                | "once"
                | "works"
                | "problem"
        )
}

/// "All answers in English, please": a quantifier first, and a demand.
fn demands_of_all(words: &Words<'_>, at: usize) -> bool {
    let quantified = matches!(
        words.get(at),
        "all"
            | "every"
            | "each"
            | "any"
            | "alle"
            | "jede"
            | "jeder"
            | "jedes"
            | "jeden"
            | "tous"
            | "toutes"
            | "chaque"
            | "todas"
            | "todos"
            | "cada"
            | "toda"
            | "todo"
            | "tutte"
            | "tutti"
            | "ogni"
            | "elke"
            | "elk"
            | "wszystkie"
            | "każdy"
            | "każda"
            | "każde"
            | "все"
            | "каждый"
            | "каждая"
            | "каждое"
            | "любой"
            | "любая"
    );
    // "Each call has an id, please log it": the demand is about something else.
    let end = (at..words.len())
        .find(|&at| matches!(words.behind(at), Some(',' | ';' | ':')))
        .map_or(words.len(), |comma| comma + 1);
    quantified
        && (at + 1..words.len())
            .filter(|&at| at < end || at + 1 == words.len())
            .any(|at| {
                matches!(
                    words.get(at),
                    "must"
                        | "should"
                        | "shall"
                        | "please"
                        | "needs"
                        | "need"
                        | "has"
                        | "have"
                        | "goes"
                        | "go"
                        | "gets"
                        | "bitte"
                        | "müssen"
                        | "muss"
                        | "soll"
                        | "sollen"
                        | "braucht"
                        | "brauchen"
                        | "kommt"
                        | "kommen"
                        | "doivent"
                        | "doit"
                        | "deben"
                        | "debe"
                        | "devem"
                        | "deve"
                        | "devono"
                        | "moeten"
                        | "moet"
                        | "muszą"
                        | "musi"
                        | "должны"
                        | "должен"
                        | "должна"
                        | "нужно"
                        | "favor"
                        | "prego"
                        | "proszę"
                        | "пожалуйста"
                        | "alsjeblieft"
                        | "graag"
                        | "svp"
                        | "plaît"
                )
            })
}

/// "Mach den Knopf grün, nicht rot": in some languages the word that forbids also
/// sets one thing apart from another, of what is at hand.
pub(crate) fn sets_apart(words: &Words<'_>, at: usize) -> bool {
    let one = |at: usize| DETERMINERS.contains(words.get(at));
    // "Lass den Text so, nicht ändern": a verb behind it is forbidden.
    let last = words.get(words.len() - 1);
    let verb = ["en", "ern", "eln"].iter().any(|end| last.ends_with(end));
    matches!(words.get(at), "nicht" | "niet")
        && !verb
        && words.before(at) == Some(',')
        && (1..=2).contains(&(words.len() - at - 1))
        && (1..at).any(one)
}

/// German and Dutch put the verb of a command first and the negation later:
/// "Fass den Ordner nicht an."
fn verb_first_negation(words: &Words<'_>, at: usize) -> bool {
    let first = words.get(at);
    let plain = first.chars().count() >= 3
        && !first.ends_with('t')
        && (!first.ends_with('s') || first.ends_with("ss"))
        && !SUBJECTS.contains(&first);
    let object = matches!(
        words.get(at + 1),
        "den"
            | "die"
            | "das"
            | "der"
            | "dem"
            | "diese"
            | "diesen"
            | "dieses"
            | "nichts"
            | "nicht"
            | "kein"
            | "keine"
            | "keinen"
            | "bitte"
            | "mir"
            | "mich"
            | "an"
            | "im"
            | "in"
            | "am"
            | "auf"
            | "etwas"
            | "de"
            | "het"
            | "deze"
            | "dit"
            | "niets"
            | "niet"
            | "geen"
            | "alsjeblieft"
            | "sie"
    );
    // German writes nouns with a capital: "den Grund nicht".
    let is_noun = at > 0
        && matches!(
            words.get(at - 1),
            "den"
                | "die"
                | "das"
                | "der"
                | "dem"
                | "des"
                | "ein"
                | "eine"
                | "einen"
                | "mein"
                | "meine"
                | "dein"
        );
    plain
        && object
        && !is_noun
        && (at + 1..words.len()).any(|at| {
            !sets_apart(words, at)
                && matches!(
                    words.get(at),
                    "nicht"
                        | "kein"
                        | "keine"
                        | "keinen"
                        | "keinem"
                        | "nichts"
                        | "nie"
                        | "niemals"
                        | "niet"
                        | "geen"
                        | "niets"
                        | "nooit"
                )
        })
}

/// "Rule: one change per commit."
fn titled(words: &Words<'_>, at: usize) -> bool {
    at + 1 < words.len()
        && HEADINGS.contains(words.get(at))
        && matches!(words.behind(at), Some(':' | '：'))
}

/// Japanese: "…ないで" asks not to do something; "…ないでしょう" guesses.
fn asks_not_to(lower: &str) -> bool {
    lower
        .match_indices("ないで")
        .any(|(at, part)| !lower[at + part.len()..].starts_with(['し', 'す']))
}
