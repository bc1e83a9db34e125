//! Who speaks, or where something comes from.

use crate::words::Words;
use crate::words::marks::HEADINGS;
use crate::words::others::frames::{
    DETERMINERS, FROMS, HEEDS, INTRODUCTIONS, LONE, MINE, NAMES, OWN, PEOPLE, POINTERS,
    PREPOSITIONS, RECEIVES, RETURNS, SOURCES, TEXTS, UTTERANCES,
};
use crate::words::others::{ANNOUNCED, OWN_LABELS};

pub(super) fn is_source(word: &str) -> bool {
    ANNOUNCED.contains(word) || SOURCES.contains(word) || UTTERANCES.contains(word)
}

/// Whether it says of whom: "from Bob", "от коллеги", "aus dem Wiki".
pub(super) fn comes_from(words: &Words<'_>) -> bool {
    (0..words.len()).any(|at| {
        // "Comment by alice"; "message de commit" is about something.
        let is_its = at > 0
            && at + 1 < words.len()
            && is_source(words.get(at - 1))
            && matches!(words.get(at), "from" | "by" | "von" | "vom" | "от" | "من");
        // "Mensajes de error" has no author.
        let is_kind = matches!(words.get(at), "de" | "di")
            && !DETERMINERS.contains(words.get(at + 1))
            && !words.is_capital(at + 1)
            && !PEOPLE.contains(words.get(at + 1));
        FROMS.contains(words.get(at)) && !is_kind && (is_its || is_somebody(words, at + 1))
    })
}

/// Whether a person or a source is named here: "Bob", "a colleague", "the wiki".
pub(super) fn is_somebody(words: &Words<'_>, at: usize) -> bool {
    let word = words.get(at);
    let is_named = |at: usize| {
        let word = words.get(at);
        (at > 0 && words.is_capital(at) && !is_time(word))
            || NAMES.contains(word)
            || PEOPLE.contains(word)
            || is_source(word)
    };
    match DETERMINERS.contains(word) {
        true => MINE.contains(word) || (at + 1..=at + 3).any(is_named),
        false => is_named(at),
    }
}

/// "From Monday on" names nobody.
fn is_time(word: &str) -> bool {
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "now",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
        "januar",
        "februar",
        "märz",
        "mai",
        "juni",
        "juli",
        "oktober",
        "dezember",
        "jetzt",
    ]
    .contains(&word)
}

/// "The ticket", "Slack message from Bob", "here is the mail I got", "I found
/// this on Stack Overflow".
pub(super) fn is_shown(words: &Words<'_>) -> bool {
    let sources = || (0..words.len()).filter(|at| is_source(words.get(*at)));
    let is_mine = |at: usize| at > 0 && MINE.contains(words.get(at - 1));
    // "I read your answer" is said to the agent.
    let is_yours = |at: usize| {
        at > 0
            && matches!(
                words.get(at - 1),
                "your" | "dein" | "deine" | "ihre" | "ta" | "ton" | "votre" | "tu" | "sua" | "твой"
            )
    };
    let received = (0..words.len()).any(|at| {
        // "Read this carefully" asks for it.
        let asked = at == 0 && HEEDS.contains(words.get(at));
        RECEIVES.contains(words.get(at))
            && !asked
            && !matches!(
                words.get(at + 1),
                "that" | "you" | "dass" | "que" | "что" | "che" | "dat"
            )
            && (sources().any(|at| !is_yours(at))
                || (matches!(words.get(at), "heard" | "overheard" | "gehört")
                    && words
                        .iter()
                        .any(|word| PEOPLE.contains(word) || NAMES.contains(word)))
                || words.iter().any(|word| POINTERS.contains(word)))
    });
    let brings = |word: &str| {
        OWN_LABELS.contains(word)
            || OWN.contains(word)
            || matches!(
                word,
                "advice"
                    | "word"
                    | "words"
                    | "request"
                    | "suggestion"
                    | "question"
                    | "order"
                    | "orders"
                    | "demand"
                    | "input"
                    | "news"
                    | "instructions"
                    | "rat"
                    | "bitte"
                    | "conseil"
                    | "consejo"
                    | "conselho"
                    | "consiglio"
                    | "совет"
                    | "просьба"
            )
    };
    let of_somebody = comes_from(words)
        && (sources().next().is_some() || FROMS.contains(words.get(0)) || words.iter().any(brings));
    let shows = |at: &usize| is_source(words.get(*at)) || TEXTS.contains(words.get(*at));
    // "Here is my draft" shows what the user wrote for others.
    let drafted =
        |at: usize| is_mine(at) && UTTERANCES.contains(words.get(at)) && !brings(words.get(at));
    let introduced = INTRODUCTIONS.contains(words.get(0)) && (1..words.len()).any(drafted)
        || INTRODUCTIONS.contains(words.get(0))
            && (0..words.len()).filter(shows).any(|at| !is_mine(at));
    let passed = matches!(
        words.get(0),
        "forwarded"
            | "forward"
            | "fwd"
            | "fw"
            | "copied"
            | "pasted"
            | "quoted"
            | "overheard"
            | "seen"
            | "received"
            | "weitergeleitet"
            | "kopiert"
            | "zitat"
            | "transféré"
            | "reenviado"
            | "encaminhado"
            | "inoltrato"
            | "doorgestuurd"
            | "przesłane"
            | "przesłano"
            | "пересланное"
            | "повідомлення"
            | "przekazane"
            | "переслано"
            | "iletildi"
    ) && !HEADINGS.contains(words.get(1));
    let said = is_of_another(words)
        && (1..words.len()).any(|at| {
            is_utterance(words.get(at)) || HEADINGS.contains(words.get(at)) || brings(words.get(at))
        });
    passed || said || received || of_somebody || introduced || is_bare(words)
}

/// A source and nothing else: "The ticket", "Reddit comment", "README", "output
/// of the linter", "the error was".
fn is_bare(words: &Words<'_>) -> bool {
    let cut = (1..words.len()).find(|at| {
        let word = words.get(*at);
        PREPOSITIONS.contains(word)
            || FROMS.contains(word)
            || is_copula(word)
            || matches!(
                word,
                "of" | "just"
                    | "now"
                    | "today"
                    | "yesterday"
                    | "above"
                    | "below"
                    | "here"
                    | "heute"
                    | "gestern"
                    | "hier"
                    | "aujourd'hui"
                    | "hoy"
                    | "ayer"
                    | "hoje"
                    | "ontem"
                    | "oggi"
                    | "ieri"
                    | "vandaag"
                    | "gisteren"
                    | "сегодня"
                    | "вчера"
                    | "dziś"
                    | "wczoraj"
            )
            || word.starts_with("d'")
            || word.starts_with("dell'")
    });
    // "Message for users", "comments in the code" are what a rule is about.
    let is_about = cut.is_some_and(|at| {
        matches!(
            words.get(at),
            "for"
                | "about"
                | "für"
                | "pour"
                | "para"
                | "per"
                | "для"
                | "voor"
                | "dla"
                | "über"
                | "sur"
                | "sobre"
        ) && !matches!(
            words.get(at + 1),
            "the" | "my" | "our" | "die" | "den" | "le" | "la" | "el" | "il"
        )
    });
    // "I read your answer" is a sentence of the user's.
    if RETURNS.contains(words.get(0)) && !MINE.contains(words.get(0)) {
        return false;
    }
    let head = cut.unwrap_or(words.len()) - 1;
    let word = words.get(head);
    let is_about = is_about && !LONE.contains(word);
    let asserts = cut.is_some_and(|at| is_copula(words.get(at)) && at + 1 == words.len());
    if words.len() == 1 || (asserts && head == 0) {
        return LONE.contains(word) || (asserts && is_utterance(word));
    }
    // "The commit message" is what a rule is about.
    let of_work = head > 0
        && matches!(
            words.get(head - 1),
            "commit" | "release" | "code" | "log" | "pr" | "branch" | "test" | "json" | "cli"
        );
    let of_work = of_work
        || words
            .iter()
            .any(|word| matches!(word, "commit" | "commits" | "коммита" | "commita"));
    let is_own =
        head > 0 && MINE.contains(words.get(head - 1)) && !is_copula(words.get(words.len() - 1));
    if of_work || is_about || is_own || head > 4 {
        return false;
    }
    // "Tweet idea".
    let is_idea = head > 0
        && is_utterance(words.get(head - 1))
        && matches!(
            word,
            "idea" | "ideas" | "option" | "options" | "proposal" | "version" | "idee" | "vorschlag"
        );
    if is_idea {
        return true;
    }
    // "Opinia klienta": the owner follows the thing.
    let owned = is_utterance(words.get(0)) && PEOPLE.contains(words.get(1)) && words.len() <= 3;
    owned || is_utterance(word) || (is_pointed(words) && words.len() <= 3 && is_source(word))
}

/// "Was", before what it was.
fn is_copula(word: &str) -> bool {
    matches!(
        word,
        "is" | "was"
            | "are"
            | "were"
            | "ist"
            | "war"
            | "lautet"
            | "lautete"
            | "est"
            | "était"
            | "es"
            | "era"
            | "é"
            | "è"
            | "fue"
            | "foi"
            | "luidt"
            | "brzmi"
            | "brzmiał"
            | "гласит"
            | "şöyle"
    )
}

/// What is said, written or printed once: a comment, a letter, an error.
fn is_utterance(word: &str) -> bool {
    UTTERANCES.contains(word)
        || (word.chars().count() > 8
            && [
                "nachricht",
                "meldung",
                "kommentar",
                "mail",
                "beitrag",
                "brief",
                "ausgabe",
                "artikel",
                "bericht",
                "melding",
                "zitat",
            ]
            .iter()
            .any(|ending| word.ends_with(ending)))
}

/// "In the ticket", where somebody has spoken; in the README one writes.
pub(super) fn is_spoken_place(words: &Words<'_>) -> bool {
    let determined = words.get(1);
    DETERMINERS.contains(determined)
        && matches!(
            words.get(0),
            "in" | "on" | "im" | "dans" | "sur" | "en" | "nel" | "em" | "w" | "в" | "at" | "auf"
        )
        && (2..=3).any(|at| is_utterance(words.get(at)) && at + 1 >= words.len())
        || words.get(0) == "im" && words.len() == 2 && is_utterance(words.get(1))
}

/// Whether words name something that was said and whose it is: "the old saying
/// from Kevin".
pub(crate) fn brings_words(words: &Words<'_>) -> bool {
    let by = |at: usize| {
        let owner = at + 1 + usize::from(DETERMINERS.contains(words.get(at + 1)));
        FROMS.contains(words.get(at))
            && (NAMES.contains(words.get(owner)) || PEOPLE.contains(words.get(owner)))
    };
    // "The old sysadmin's motto, …".
    let last = words.get(words.len().saturating_sub(1));
    let owned = words.iter().any(|word| {
        word.strip_suffix("'s").is_some_and(|owner| {
            !matches!(
                owner,
                "it" | "that" | "what" | "here" | "there" | "let" | "he" | "she" | "who" | "today"
            )
        })
    });
    let named = DETERMINERS.contains(words.get(0)) || words.get(0).ends_with("'s");
    (owned && named && is_utterance(last))
        || (words.iter().any(is_utterance) && (0..words.len()).any(by))
}

/// Whether a label is who speaks: "Bob", "my boss", "Maria (QA)".
pub(super) fn is_speaker(words: &Words<'_>) -> bool {
    let from = usize::from(DETERMINERS.contains(words.get(0)));
    let count = words.len() - from;
    if count == 0 || count > 4 {
        return false;
    }
    let named = NAMES.contains(words.get(from))
        && (count == 1
            || (from + 1..words.len()).all(|at| words.is_capital(at))
            || matches!(words.get(from + 1), "on" | "in" | "at" | "via"));
    let last = words.get(words.len() - 1);
    let role = |word: &str| {
        PEOPLE.contains(word)
            && !matches!(
                word,
                "ops"
                    | "support"
                    | "them"
                    | "him"
                    | "her"
                    | "somebody"
                    | "someone"
                    | "everyone"
                    | "users"
                    | "all"
                    | "team"
            )
            && (from > 0 || !word.ends_with('s') || word == "boss")
    };
    let led = words.get(words.len().saturating_sub(2));
    named
        || (count <= 3 && role(last))
        || (count <= 3 && last == "team" && count > 1)
        || (role(led) && count <= 3 && words.is_capital(words.len() - 1))
}

/// "Bob's rule", "the client's wish": it names whose it is.
pub(super) fn is_of_another(words: &Words<'_>) -> bool {
    words.iter().any(|word| {
        let owner = word.strip_suffix("'s").unwrap_or("");
        !owner.is_empty() && (NAMES.contains(owner) || PEOPLE.contains(owner))
    })
}

/// "The …", "this …": it begins by pointing at something that is not the user's.
pub(super) fn is_pointed(words: &Words<'_>) -> bool {
    DETERMINERS.contains(words.get(0)) && !MINE.contains(words.get(0))
}
