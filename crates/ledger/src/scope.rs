//! Rules told by their scope: something to do on every occasion, whenever a
//! condition holds, or for as long as it does.
//!
//! The scope alone makes no rule: "it fails with every input" has one too. A
//! report names who or what does something, a command does not; and what is
//! asked for each of many things ("a test for every function") is one task,
//! what is asked on each of many occasions ("after every change") is a rule.

use crate::unspaced::{chinese, japanese, korean};
use crate::words::Words;
use crate::words::marks::{
    DEMANDS, ENGLISH_NAMERS, ENGLISH_SUBJECTS, EVENTS, JOINS, LASTING, NAMERS, NOT_ACTS, SUBJECTS,
};

/// Languages that their word for "every" gives away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tongue {
    English,
    German,
    French,
    Iberian,
    Italian,
    Dutch,
    Polish,
    Russian,
}

/// Whether the scope of a sentence makes a rule of it.
pub(crate) fn standing(words: &Words<'_>) -> bool {
    if words.has_cjk()
        && (chinese(words.lower()) || japanese(words.lower()) || korean(words.lower()))
    {
        return true;
    }
    (0..words.len()).any(|at| {
        every(words.get(at)).is_some_and(|tongue| on_every_occasion(words, at, tongue))
            || (begins(words, at)
                && (whenever_you(words, at).is_some_and(|to| commands_after(words, to))
                    || for_as_long_as(words, at).is_some_and(|to| commands_after(words, to))))
    })
}

fn every(word: &str) -> Option<Tongue> {
    Some(match word {
        "every" | "each" | "whenever" => Tongue::English,
        "jede" | "jedem" | "jeden" | "jeder" | "jedes" => Tongue::German,
        "chaque" => Tongue::French,
        "cada" | "toda" => Tongue::Iberian,
        "ogni" => Tongue::Italian,
        "elke" | "elk" | "iedere" | "telkens" => Tongue::Dutch,
        word if word.starts_with("każd") => Tongue::Polish,
        word if word.starts_with("кажд") => Tongue::Russian,
        _ => return None,
    })
}

/// How sure a preposition makes an occasion of what follows "every".
fn preposition(words: &Words<'_>, at: usize) -> Option<bool> {
    let before = words.get(at.checked_sub(1)?);
    let sure = match before {
        "before" | "after" | "vor" | "nach" | "bei" | "avant" | "après" | "à" | "antes"
        | "después" | "depois" | "tras" | "dopo" | "ad" | "bij" | "na" | "po" | "przed"
        | "przy" | "после" | "перед" | "при" => true,
        "de" | "di" => {
            return at.checked_sub(2).and_then(|at| {
                matches!(
                    words.get(at),
                    "antes" | "después" | "depois" | "prima" | "lors"
                )
                .then_some(true)
            });
        }
        "a" => every(words.get(at)) != Some(Tongue::English),
        "with" | "on" | "upon" | "in" | "at" | "for" | "per" | "mit" | "für" | "zu" | "avec"
        | "pour" | "con" | "com" | "em" | "en" | "para" | "voor" | "met" | "z" | "dla" | "w"
        | "с" | "для" | "в" | "к" | "su" => false,
        _ => return None,
    };
    Some(sure)
}

fn on_every_occasion(words: &Words<'_>, at: usize, tongue: Tongue) -> bool {
    let next = words.get(at + 1);
    // "Each of the three files": things at hand.
    if matches!(next, "of" | "der" | "des" | "dieser" | "von" | "из") {
        return false;
    }
    let time = words.get(at) == "whenever"
        || words.get(at) == "telkens"
        || matches!(
            next,
            "time" | "mal" | "fois" | "vez" | "volta" | "keer" | "raz" | "razem" | "раз"
        );
    let (from, occasion) = match preposition(words, at) {
        _ if time => (at, true),
        Some(true) => (at - 1, true),
        Some(false) => {
            let event = (at + 1..at + 4).any(|at| {
                let word = words.get(at);
                !word.is_empty() && EVENTS.iter().any(|event| begins_with(word, event))
            });
            // "For every new module, add …": a condition, as it comes first.
            let first = begins(words, at - 1) && comma_after(words, at).is_some();
            let open = opening(words, at);
            (
                at - 1,
                event || first || lasts(words, open, at) || habitual(words, open, at),
            )
        }
        None => return false,
    };
    let from = match from.checked_sub(1).map(|before| words.get(before)) {
        Some("antes" | "después" | "depois" | "prima" | "lors" | "za" | "à") => from - 1,
        _ => from,
    };
    if !occasion {
        return false;
    }
    if !begins(words, from) {
        let open = opening(words, from);
        // The speaker's own habit, or a thing's.
        return !tells(words, open, from, tongue);
    }
    if time && is_mine(words, at + 1, tongue) {
        return main_clause(words, at + 1).is_some_and(|main| orders(words, main, tongue));
    }
    match main_clause(words, at + 1) {
        Some(main) => !tells(words, main, words.len(), tongue),
        None => !verb_second(words, at + 1, tongue),
    }
}

/// Whether a sentence could begin here, a conjunction or a bullet before it.
fn begins(words: &Words<'_>, at: usize) -> bool {
    words.may_begin(at)
        || (at > 0 && words.starts_clause(at) && JOINS.contains(words.get(at - 1)))
        || matches!(words.before(at), Some(':' | ';' | '—' | '–'))
}

/// Where the clause of a word opens: after punctuation, or with the sentence.
fn opening(words: &Words<'_>, at: usize) -> usize {
    let mut from = at;
    while from > 0
        && !matches!(
            words.before(from),
            Some(',' | ';' | ':' | '—' | '–' | '(' | '，')
        )
    {
        from -= 1;
    }
    while from < at && JOINS.contains(words.get(from)) {
        from += 1;
    }
    from
}

fn comma_after(words: &Words<'_>, at: usize) -> Option<usize> {
    (at..words.len().saturating_sub(1))
        .find(|&at| matches!(words.behind(at), Some(',' | ';' | ':')))
        .map(|at| at + 1)
}

/// Where the main clause begins after a clause that came first.
fn main_clause(words: &Words<'_>, at: usize) -> Option<usize> {
    let mut main = comma_after(words, at)?;
    let subordinate = matches!(
        words.get(main),
        "wenn"
            | "when"
            | "that"
            | "que"
            | "quand"
            | "lorsque"
            | "cuando"
            | "quando"
            | "che"
            | "als"
            | "wanneer"
            | "gdy"
            | "kiedy"
            | "когда"
            | "если"
            | "dass"
            | "bei"
            | "in"
    );
    if subordinate {
        main = comma_after(words, main)?;
    }
    while main + 1 < words.len() && JOINS.contains(words.get(main)) {
        main += 1;
    }
    Some(main)
}

/// Whether a clause names who or what does something: no command.
fn tells(words: &Words<'_>, from: usize, to: usize, tongue: Tongue) -> bool {
    let first = words.get(from);
    if thinks(words, from) {
        return true;
    }
    let past = |at: usize| {
        let word = words.get(at + 1);
        word.ends_with("ed") || matches!(word, "saw" | "had" | "got" | "were" | "did" | "ran")
    };
    if (from..to).any(|at| is_demand(words.get(at)) && !(words.get(at) == "we" && past(at))) {
        return false;
    }
    match tongue {
        Tongue::English => {
            ENGLISH_SUBJECTS.contains(first)
                || ENGLISH_NAMERS.contains(first)
                || (first.ends_with('s') && !first.ends_with("ss") && !first.ends_with("us"))
                || first.ends_with("ing")
                || first.ends_with("ed") && first.len() > 4
        }
        Tongue::German => {
            let ends = (from..to).map(|at| words.get(at)).next_back().unwrap_or("");
            let infinitive = ends.ends_with("en") || ends.ends_with("ern") || ends.ends_with("eln");
            (SUBJECTS.contains(first) || NAMERS.contains(first))
                && !(infinitive && to == words.len())
                || first.ends_with('t') && SUBJECTS.contains(words.get(from + 1))
                || matches!(
                    first,
                    "ist" | "sind" | "war" | "wird" | "hat" | "kommt" | "gibt"
                )
        }
        Tongue::Polish => !(from..to).any(|at| polish_command(words.get(at))),
        Tongue::Russian => {
            SUBJECTS.contains(first) || !(from..to).any(|at| russian_command(words.get(at)))
        }
        _ => SUBJECTS.contains(first) || NAMERS.contains(first),
    }
}

/// "I think we should …" is an opinion.
fn thinks(words: &Words<'_>, from: usize) -> bool {
    matches!(
        (words.get(from), words.get(from + 1)),
        (
            "i",
            "think" | "guess" | "believe" | "suppose" | "wonder" | "feel" | "assume"
        ) | ("ich", "denke" | "glaube" | "vermute" | "finde")
            | ("je", "pense" | "crois" | "suppose")
    ) || matches!(
        words.get(from),
        "creo" | "pienso" | "acho" | "credo" | "myślę" | "думаю"
    )
}

/// Words that demand whatever the subject: "I want", "the docs must".
fn is_demand(word: &str) -> bool {
    DEMANDS.contains(word)
}

/// Whether a clause is a command beyond doubt, as far as its first word tells.
fn orders(words: &Words<'_>, from: usize, tongue: Tongue) -> bool {
    match tongue {
        Tongue::English | Tongue::German | Tongue::French | Tongue::Dutch | Tongue::Russian => {
            !tells(words, from, words.len(), tongue)
        }
        // Where the verb alone tells the person, "falla" may be either.
        Tongue::Iberian | Tongue::Italian | Tongue::Polish => {
            (from..words.len()).any(|at| is_demand(words.get(at)))
        }
    }
}

/// Whether the occasion is something that the speaker does or meets.
fn is_mine(words: &Words<'_>, from: usize, tongue: Tongue) -> bool {
    let to = comma_after(words, from).map_or(words.len(), |comma| match words.get(comma) {
        "wenn" | "gdy" | "kiedy" | "когда" | "als" => {
            comma_after(words, comma).unwrap_or(words.len())
        }
        _ => comma,
    });
    (from..to.min(words.len())).any(|at| {
        let word = words.get(at);
        matches!(
            word,
            "i" | "ich" | "je" | "yo" | "eu" | "io" | "ik" | "ja" | "я" | "we" | "wir" | "мы"
        ) || word.starts_with("j'")
            || match (tongue, words.get(at.saturating_sub(1))) {
                (Tongue::Iberian, "que") | (Tongue::Italian, "che") => word.ends_with('o'),
                (Tongue::Polish, "gdy" | "kiedy") => {
                    word.ends_with("am") || word.ends_with("em") || word.ends_with('ę')
                }
                _ => false,
            }
    })
}

/// German and Dutch put the verb of a statement second: "Nach jedem Neustart
/// ist die Sitzung weg."
fn verb_second(words: &Words<'_>, from: usize, tongue: Tongue) -> bool {
    let (from, to) = (from + 1, words.len());
    let states = |at: usize| {
        let word = words.get(at);
        let finite = word.ends_with('t')
            || matches!(
                word,
                "sind" | "is" | "zijn" | "waren" | "war" | "wird" | "werden" | "wurde" | "wordt"
            );
        finite
            && (SUBJECTS.contains(words.get(at + 1))
                || matches!(word, "ist" | "sind" | "is" | "zijn"))
    };
    match tongue {
        Tongue::German | Tongue::Dutch => {
            (from..to.min(from + 3)).any(states) && !(from..to).any(|at| is_demand(words.get(at)))
        }
        Tongue::English => {
            // Without a comma the subject follows the occasion at once.
            let named = (from..to.min(from + 3)).any(|at| {
                ENGLISH_SUBJECTS.contains(words.get(at))
                    && !matches!(words.get(at), "this" | "that" | "the")
            });
            named && !(from..to).any(|at| is_demand(words.get(at)))
        }
        Tongue::Russian => !(from..to).any(|at| russian_command(words.get(at))),
        Tongue::Polish => !(from..to).any(|at| polish_command(words.get(at))),
        _ => false,
    }
}

/// The verbs of a state that is to last.
fn lasts(words: &Words<'_>, from: usize, to: usize) -> bool {
    (from..to).any(|at| (at == from || words.may_begin(at)) && LASTING.contains(words.get(at)))
}

/// The Russian imperative of a habit, "пиши тесты", against that of one act,
/// "добавь тест"; only the common ending of habits is told.
fn habitual(words: &Words<'_>, from: usize, to: usize) -> bool {
    (from..to).any(|at| {
        let word = words.get(at);
        matches!(word, "пиши" | "пишите" | "делай" | "держи")
            || ["яй", "вай", "кай", "рай", "яйте", "вайте", "кайте", "райте"]
                .iter()
                .any(|end| word.ends_with(end))
    })
}

fn polish_command(word: &str) -> bool {
    word.chars().count() > 3 && (word.ends_with('j') || word.ends_with("jcie"))
        || matches!(word, "pisz" | "rób" | "zrób" | "mów")
}

fn russian_command(word: &str) -> bool {
    word.chars().count() > 3
        && ["й", "йте", "и", "ите", "ь", "ьте"]
            .iter()
            .any(|end| word.ends_with(end))
        && ![
            "ый", "ий", "ой", "ей", "ость", "ать", "ить", "еть", "ии", "ки", "ги", "ти", "ешь",
            "ишь",
        ]
        .iter()
        .any(|end| word.ends_with(end))
}

/// "When you add a setting, document it": a condition that the agent itself
/// brings about holds again and again.
fn whenever_you(words: &Words<'_>, at: usize) -> Option<(usize, Tongue)> {
    let (second, third) = (words.get(at + 1), words.get(at + 2));
    let act = |word: &str| !word.is_empty() && !NOT_ACTS.contains(word);
    let you = |tongue| act(third).then_some((at + 2, tongue));
    match (words.get(at), second) {
        ("when" | "whenever" | "if" | "anytime", "you") => you(Tongue::English),
        ("any", "time") if third == "you" && act(words.get(at + 3)) => {
            Some((at + 3, Tongue::English))
        }
        ("wenn" | "falls", "du" | "ihr") => {
            let end = comma_after(words, at)? - 1;
            (act(third) && act(words.get(end))).then_some((at + 2, Tongue::German))
        }
        ("quand" | "lorsque" | "si", "tu" | "vous") => you(Tongue::French),
        ("quando" | "se", "você" | "vocês") => you(Tongue::Iberian),
        ("als" | "wanneer", "je" | "jij") => {
            let end = comma_after(words, at)? - 1;
            (act(third) && act(words.get(end))).then_some((at + 2, Tongue::Dutch))
        }
        ("если" | "когда", "ты" | "вы") => you(Tongue::Russian),
        ("если" | "когда", verb) if ["ешь", "ёшь", "ишь"].iter().any(|end| verb.ends_with(end)) => {
            act(verb).then_some((at + 1, Tongue::Russian))
        }
        ("jeśli" | "jeżeli" | "gdy" | "kiedy", verb) if verb.ends_with("sz") => {
            act(verb).then_some((at + 1, Tongue::Polish))
        }
        ("cuando" | "si", verb)
            if verb.len() > 4 && (verb.ends_with("es") || verb.ends_with("as")) =>
        {
            act(verb).then_some((at + 1, Tongue::Iberian))
        }
        _ => None,
    }
}

/// "As long as the freeze lasts, stay on the branch."
fn for_as_long_as(words: &Words<'_>, at: usize) -> Option<(usize, Tongue)> {
    match (words.get(at), words.get(at + 1), words.get(at + 2)) {
        ("as", "long", "as") => Some((at + 3, Tongue::English)),
        // "Whatever the bot suggests, treat it as noise."
        ("whatever" | "whoever" | "whichever" | "wherever", ..) => Some((at + 1, Tongue::English)),
        ("egal", "was" | "wer" | "wo", _) => Some((at + 2, Tongue::German)),
        ("until" | "till", next, _)
            if !matches!(next, "now" | "then" | "yesterday" | "recently" | "today") =>
        {
            Some((at + 1, Tongue::English))
        }
        ("solange", ..) => Some((at + 1, Tongue::German)),
        ("zolang", ..) => Some((at + 1, Tongue::Dutch)),
        ("tant", "que", _) => Some((at + 2, Tongue::French)),
        ("mientras", ..) => Some((at + 1, Tongue::Iberian)),
        ("enquanto", ..) => Some((at + 1, Tongue::Iberian)),
        ("finché", ..) => Some((at + 1, Tongue::Italian)),
        ("пока", ..) => Some((at + 1, Tongue::Russian)),
        _ => None,
    }
}

fn commands_after(words: &Words<'_>, (from, tongue): (usize, Tongue)) -> bool {
    let Some(main) = main_clause(words, from) else {
        return false;
    };
    let waits = (main..words.len()).any(|at| {
        matches!(
            words.get(at),
            "wait" | "warte" | "attends" | "espera" | "wacht" | "жди"
        )
    });
    // German puts the verb of a statement right after the clause.
    let states = matches!(tongue, Tongue::German | Tongue::Dutch) && words.get(main).ends_with('t');
    !waits && !states && words.len() - main >= 2 && !tells(words, main, words.len(), tongue)
}

fn begins_with(word: &str, event: &str) -> bool {
    match event.len() <= 4 {
        true => word == event || word.strip_suffix('s') == Some(event),
        false => word.starts_with(event),
    }
}
