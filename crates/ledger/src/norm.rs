//! Whether a sentence is a rule.

use crate::facts::RuleKind;
use crate::grammar::{commands, sets_apart};
use crate::past::is_of_the_past;
use crate::place::{follows_place, tells_what_happens};
use crate::scope::standing;
use crate::words::Words;
use crate::words::marks::{ASKS, CARES, ENGLISH_SUBJECTS, HEADINGS, JOINS, MODALS, SUBJECTS};
use crate::words::norms::{NORMS, Norm};
use crate::words::others::OWN_LABELS;
use crate::words::others::frames::{MINE, OWN};

/// What a sentence was found to be.
pub(crate) struct Verdict {
    pub(crate) kind: RuleKind,
    /// It waits for a word of the user.
    pub(crate) waits: bool,
    /// It begins with that condition: the sentence before says what waits.
    pub(crate) leans: bool,
}

/// Whether a text reads as if it held a standing rule, whoever says it.
pub fn reads_as_rule(text: &str) -> bool {
    let sentences = crate::text::sentences(text);
    sentences.iter().any(|range| {
        let sentence = &text[range.clone()];
        judge(sentence, &Words::new(sentence)).is_some()
    })
}

/// Whether a sentence is a rule.
pub(crate) fn judge(sentence: &str, words: &Words<'_>) -> Option<Verdict> {
    if words.len() == 0 || looks_like_output(sentence) {
        return None;
    }
    if is_of_the_past(words) {
        return None;
    }
    let question = asks(sentence, words);
    // "Can you always run the tests?" is a rule in the form of a question.
    let polite = question
        && matches!(
            words.get(0),
            "can"
                | "could"
                | "would"
                | "will"
                | "please"
                | "kannst"
                | "könntest"
                | "peux"
                | "pouvez"
                | "pourrais"
                | "puedes"
                | "podrías"
                | "pode"
                | "poderia"
                | "puoi"
                | "potresti"
                | "kun"
                | "możesz"
                | "можешь"
        )
        && (is_from_now_on(words)
            || words.iter().any(|word| {
                matches!(
                    word,
                    "always"
                        | "never"
                        | "immer"
                        | "nie"
                        | "toujours"
                        | "jamais"
                        | "siempre"
                        | "nunca"
                        | "sempre"
                )
            }));
    if question && !polite {
        return None;
    }
    let mut kind: Option<RuleKind> = None;
    let (mut waits, mut leans) = (false, false);
    let mut note = |found: RuleKind| {
        if kind != Some(RuleKind::Constraint) {
            kind = Some(found);
        }
    };
    for hit in NORMS.hits(words) {
        match hit.tag {
            Norm::Any(found) => note(found),
            Norm::Weak => {
                let first = words.get(words.clause_before(hit.from).start);
                if matches!(first, "the" | "this" | "that" | "my")
                    || !ENGLISH_SUBJECTS.contains(&first)
                {
                    note(RuleKind::Constraint);
                }
            }
            Norm::Start(found) => {
                let idle = matches!(
                    words.get(hit.to),
                    "schlecht"
                        | "ganz"
                        | "so"
                        | "wirklich"
                        | "schlimm"
                        | "ahnung"
                        | "sorge"
                        | "frage"
                        | "idee"
                        | "problem"
                ) && matches!(words.get(hit.from), "nicht" | "kein" | "keine");
                let one_off = idle
                    || matches!(
                        words.get(hit.to),
                        "worry"
                            | "mind"
                            | "know"
                            | "think"
                            | "panic"
                            | "bother"
                            | "get"
                            | "forget"
                            | "hesitate"
                            | "understand"
                    ) && matches!(words.get(hit.from), "don't" | "do" | "dont");
                // "Avoid that." points at one thing that was just said.
                let pointing = words.len() <= hit.to - hit.from + 1
                    && matches!(
                        words.get(hit.to),
                        "that" | "this" | "it" | "das" | "ça" | "eso" | "isso"
                    );
                // "Rename it and make sure that it builds": a part of the task.
                let part = hit.from > 0
                    && !words.may_begin(hit.from)
                    && JOINS.contains(words.get(hit.from - 1))
                    && CARES.contains(words.get(hit.from));
                let opens = words.starts_clause(hit.from) || follows_place(words, hit.from);
                // "Don't touch it yet": it holds for the moment.
                let moment = words.get(words.len() - 1) == "yet";
                if opens
                    && !one_off
                    && !pointing
                    && !part
                    && !moment
                    && !sets_apart(words, hit.from)
                {
                    note(found);
                }
            }
            Norm::Adverb => {
                let idle = words.get(hit.from + 1) == "mind";
                if polite || (imperative(words, hit.from) && !idle) {
                    note(RuleKind::Constraint);
                }
            }
            Norm::Loose => {
                // Polish begins every negation with the German "never".
                let polish = words.get(hit.from) == "nie"
                    && words
                        .lower()
                        .contains(['ą', 'ę', 'ł', 'ż', 'ś', 'ź', 'ć', 'ń']);
                if polite || !(polish || reported(words, hit.from)) {
                    note(RuleKind::Constraint);
                }
            }
            Norm::Dislike => {
                let pointing = matches!(
                    words.get(hit.to),
                    "this"
                        | "that"
                        | "it"
                        | "these"
                        | "those"
                        | "how"
                        | "what"
                        | "when"
                        | "why"
                        | "the"
                        | "you"
                        | "to"
                        | "him"
                        | "her"
                        | "your"
                        | "das"
                        | "dass"
                        | "wie"
                        | "wenn"
                        | "ça"
                        | "que"
                        | "cómo"
                        | "isso"
                        | "che"
                        | "dat"
                        | "это"
                        | ""
                        | "any"
                        | "anything"
                );
                if hit.inside.is_some() || !pointing {
                    note(RuleKind::Preference);
                }
            }
            Norm::Until => {
                waits = true;
                leans |= hit.inside.is_none() && hit.from <= 1;
                note(RuleKind::Constraint);
            }
        }
    }
    if commands(words) || standing(words) || (!polite && is_labelled(words)) {
        note(RuleKind::Constraint);
    }
    kind.map(|kind| Verdict { kind, waits, leans })
}

/// Whether "never" or "always" at this place commands something.
fn imperative(words: &Words<'_>, at: usize) -> bool {
    if words.starts_clause(at) {
        return true;
    }
    if follows_place(words, at) && !tells_what_happens(words.get(at + 1)) {
        return true;
    }
    let clause = words.clause_before(at);
    let before = words.get(at - 1);
    if MODALS.contains(&before) || matches!(before, "to" | "will" | "be" | "should" | "rather") {
        return true;
    }
    if matches!(before, "is" | "are") {
        // "Money is always integer cents", but not "is always failing".
        let after = words.get(at + 1);
        let first = words.get(clause.start);
        return !(after.ends_with("ing")
            || matches!(first, "it" | "this" | "that" | "there" | "they")
            || matches!(
                after,
                "null" | "empty" | "broken" | "wrong" | "slow" | "there" | "the"
            ));
    }
    let first = words.get(clause.start);
    !ENGLISH_SUBJECTS.contains(&first) && clause.clone().any(|at| MODALS.contains(&words.get(at)))
}

/// Whether the clause around this place tells how a thing behaves.
fn reported(words: &Words<'_>, at: usize) -> bool {
    let clause = words.clause_before(at);
    if clause.is_empty() {
        return false;
    }
    let first = words.get(clause.start);
    // "En los tests usa siempre": the article belongs to the place.
    if clause.start > 0
        && matches!(words.get(clause.start - 1), "en" | "y" | "a")
        && follows_place(words, at)
    {
        return false;
    }
    SUBJECTS.contains(&first)
        && first != "la"
        && !(clause.start..words.len().min(at + 8)).any(|at| MODALS.contains(&words.get(at)))
}

pub(crate) fn asks(sentence: &str, words: &Words<'_>) -> bool {
    let end = sentence.trim_end_matches([' ', '"', '\'', ')', '*', '_', '🙂', '🙏']);
    // "When it says so, always stop" names a condition.
    let conditional = matches!(words.get(0), "when" | "where" | "wann" | "come")
        && sentence.contains(',')
        || words.get(0) == "is" && words.len() <= 1;
    (end.ends_with(['?', '？', '؟']) && !ends_in_tag(end))
        || sentence.starts_with('¿')
        || ASKS.contains(&words.get(0)) && !sentence.contains(['.', '!']) && !conditional
}

/// "Never push, ok?" asks whether it was heard.
fn ends_in_tag(sentence: &str) -> bool {
    let tag = sentence.rsplit([',', '，']).next().unwrap_or(sentence);
    let tag = tag
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    tag.len() < sentence.len() / 2
        && matches!(
            tag.as_str(),
            "ok" | "okay"
                | "right"
                | "yes"
                | "deal"
                | "alright"
                | "understood"
                | "got it"
                | "clear"
                | "please"
                | "ja"
                | "klar"
                | "gell"
                | "ne"
                | "oder"
                | "verstanden"
                | "hein"
                | "d'accord"
                | "compris"
                | "vale"
                | "sí"
                | "entendido"
                | "tá"
                | "né"
                | "certo"
                | "va bene"
                | "chiaro"
                | "capito"
                | "oké"
                | "goed"
                | "dobrze"
                | "jasne"
                | "ладно"
                | "хорошо"
                | "понятно"
                | "ясно"
                | "tamam mı"
                | "tamam"
                | "好吗"
                | "好嗎"
                | "行吗"
                | "ね"
                | "알겠지"
        )
}

/// "From now on" and its like make a rule of a request.
fn is_from_now_on(words: &Words<'_>) -> bool {
    [
        "from now on",
        "going forward",
        "in future",
        "in the future",
        "ab jetzt",
        "ab sofort",
        "künftig",
        "in zukunft",
        "désormais",
        "dorénavant",
        "à partir de maintenant",
        "de ahora en adelante",
        "a partir de ahora",
        "a partir de agora",
        "d'ora in poi",
        "vanaf nu",
        "voortaan",
        "od teraz",
        "с этого момента",
        "впредь",
        "bundan sonra",
    ]
    .iter()
    .any(|phrase| words.lower().contains(phrase))
}

/// "A rule of mine: …", "one more thing: titles always begin with …": the label
/// says that it is a rule, or that what always holds is meant as one.
fn is_labelled(words: &Words<'_>) -> bool {
    let Some(end) = (0..words.len().min(6)).find(|at| {
        words.behind(*at).is_some_and(|c| matches!(c, ':' | '：'))
            || words.before(at + 1) == Some(':')
    }) else {
        return false;
    };
    if end + 2 >= words.len() {
        return false;
    }
    let mine = (0..=end).any(|at| MINE.contains(words.get(at)) || words.get(at) == "mine");
    let label = |at: usize| words.get(at);
    let of_rules = (0..=end).any(|at| HEADINGS.contains(label(at)))
        || (mine
            && (0..=end)
                .any(|at| matches!(label(at), "policy" | "convention" | "wish" | "preference")));
    let own = (0..=end).any(|at| OWN.contains(label(at)) || OWN_LABELS.contains(label(at)));
    let holds = (end + 1..words.len()).any(|at| ALWAYS.contains(&words.get(at)));
    (of_rules && end <= 4) || (own && holds) || (end <= 1 && names_habit(words, end + 1))
}

/// "Naming: tests always end in _spec": behind a topic, what is always done.
fn names_habit(words: &Words<'_>, from: usize) -> bool {
    let subject = words.get(from);
    let named = |word: &str| ENGLISH_SUBJECTS.contains(word) || SUBJECTS.contains(word);
    let adverb = (from + 1..words.len().min(from + 4))
        .find(|at| matches!(words.get(*at), "always" | "never"));
    !named(subject) && adverb.is_some_and(|at| !tells_what_happens(words.get(at + 1)))
}

/// What says that something always or never holds.
const ALWAYS: [&str; 22] = [
    "always",
    "never",
    "immer",
    "nie",
    "niemals",
    "toujours",
    "jamais",
    "siempre",
    "nunca",
    "sempre",
    "mai",
    "altijd",
    "nooit",
    "zawsze",
    "nigdy",
    "всегда",
    "никогда",
    "asla",
    "banned",
    "stets",
    "ever",
    "daima",
];

/// A line of a log, a table or code that was pasted without a fence.
fn looks_like_output(sentence: &str) -> bool {
    let start = sentence.as_bytes().first().copied().unwrap_or(0);
    if matches!(start, b'|' | b'$' | b'{' | b'}' | b'<')
        || sentence.starts_with("//")
        || sentence.starts_with("/*")
    {
        return true;
    }
    let symbols = sentence
        .chars()
        .filter(|c| matches!(c, '{' | '}' | ';' | '=' | '<' | '>' | '|' | '\\'))
        .count();
    symbols * 12 > sentence.chars().count().max(24)
}

pub(crate) fn is_list_item(sentence: &str) -> bool {
    let body = sentence.trim_start();
    body.starts_with(['-', '*', '•', '–'])
        || body.split_once(['.', ')']).is_some_and(|(number, _)| {
            !number.is_empty() && number.len() <= 2 && number.bytes().all(|b| b.is_ascii_digit())
        })
}

pub(crate) fn is_heading(sentence: &str) -> bool {
    let body = sentence.trim().trim_start_matches('#').trim();
    let heading = sentence.trim_start().starts_with('#');
    let plain = body.trim_matches(['*', '_', ':', '：', ' ']);
    (heading
        || body
            .trim_end_matches(['*', '_', ' '])
            .ends_with([':', '：']))
        && plain.len() <= 60
        && HEADINGS.iter().any(|name| {
            plain.to_lowercase() == *name || plain.to_lowercase().ends_with(&format!(" {name}"))
        })
}
