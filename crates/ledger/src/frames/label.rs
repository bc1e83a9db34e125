//! What the words before a colon make of those behind it.

use super::Frame;
use super::source::{comes_from, is_of_another, is_shown, is_source, is_speaker, is_spoken_place};
use super::task::is_task;
use super::unspaced::unspaced;
use crate::norm::judge;
use crate::text::{is_cjk, longer_than};
use crate::told::{is_of_saying, speaks_self, stands_by, tells};
use crate::words::Words;
use crate::words::marks::HEADINGS;
use crate::words::others::frames::{
    ABOUTS, CONDITIONS, DETERMINERS, INTRODUCTIONS, IS_RIGHT, MINE, OWN, PEOPLE, POINTERS, POLITE,
    SAYS, SELVES, SUBJECTS, TEXTS, TREATS, UTTERANCES, WRITTEN,
};
use crate::words::others::{OWN_LABELS, REPORTS, WITNESSES};

/// Characters and words before a colon that may still be a frame.
pub(super) const LONGEST: usize = 160;
const MOST_WORDS: usize = 20;

/// What the words before a colon make of those behind it. Each part between
/// commas may name a speaker or a task: "SOP excerpt, to be put into French".
pub(super) fn frame(head: &str) -> Option<Frame> {
    let head = head.trim_matches(|c: char| c.is_whitespace() || "*_-•+".contains(c));
    let head = head.trim_start_matches(['#', '>', ' ']);
    if head.is_empty() || longer_than(head, LONGEST) {
        return None;
    }
    if let Some(frame) = reference(head) {
        return Some(frame);
    }
    if head.chars().any(is_cjk) {
        return unspaced(head);
    }
    let words = Words::new(head);
    if words.len() == 0 || words.len() > MOST_WORDS || stands_by(&words) {
        return None;
    }
    let is_mine = words.iter().any(|word| MINE.contains(word));
    let is_drafted =
        (1..words.len()).any(|at| MINE.contains(words.get(at - 1)) && words.get(at) == "draft");
    if is_of_rules(&words) && is_mine && !is_drafted {
        return None;
    }
    // "My team says weekly, I say daily": the user has the last word.
    let last = Words::new(head.rsplit([',', '，']).next().unwrap_or(head));
    let speaks = (1..last.len()).any(|at| {
        REPORTS.contains(last.get(at)) && SELVES.contains(last.get(0)) && speaks_self(&last, at)
    });
    // "The notes you write": what the agent does is what a rule is about.
    let by_you = (1..words.len()).any(|at| {
        matches!(words.get(at), "you" | "du" | "tu" | "você" | "je") && at + 2 >= words.len()
    }) && !POLITE.contains(words.get(0));
    // "Bob's suggestion is fine": it is taken over.
    let count = words.len();
    let accepts = count > 2
        && IS_RIGHT.contains(words.get(count - 2))
        && matches!(
            words.get(count - 1),
            "fine"
                | "good"
                | "ok"
                | "okay"
                | "sensible"
                | "gut"
                | "richtig"
                | "bien"
                | "bonne"
                | "buena"
                | "boa"
                | "buona"
                | "goed"
                | "dobra"
                | "хорошая"
                | "верно"
        );
    if speaks || by_you || accepts {
        return None;
    }
    head.split([',', '，']).find_map(|part| {
        let words = Words::new(part);
        part_of(part, &words)
    })
}

/// What one part of a label makes of what is behind it.
fn part_of(part: &str, words: &Words<'_>) -> Option<Frame> {
    if words.len() == 0 {
        return None;
    }
    // "À traduire", "para revisar": what is to be done, and not what for.
    let is_infinitive = matches!(
        words.get(0),
        "à" | "para" | "da" | "zu" | "zum" | "to" | "do" | "для" | "per" | "te" | "por" | "a"
    );
    if is_infinitive && TREATS.contains(words.get(1)) {
        return Some(Frame::Task);
    }
    // "For tests", "if the CI says": what a rule is about, or when it holds.
    if ABOUTS.contains(words.get(0)) {
        if is_spoken_place(words) || hangs_there(words) || stands_there(words) {
            return Some(Frame::Shown);
        }
        let is_condition = CONDITIONS.contains(words.get(0));
        return speech(words).filter(|_| !is_condition);
    }
    // "What Bob said", "this is what the vet wrote".
    let what = (0..words.len().min(4)).find(|at| {
        matches!(
            words.get(*at),
            "what" | "was" | "wat" | "co" | "что" | "que" | "che"
        ) && (*at == 0 || INTRODUCTIONS.contains(words.get(0)) || words.get(0) == "that")
    });
    if what.is_some() && words.len() <= 8 {
        let says = is_of_saying;
        let own = (1..words.len()).any(|at| says(words.get(at)) && speaks_self(words, at));
        if words.iter().skip(1).any(says) && !own {
            return Some(Frame::Shown);
        }
    }
    if let Some(frame) = speech(words) {
        return Some(frame);
    }
    if is_by_someone(words) || is_found(words) {
        return Some(Frame::Shown);
    }
    if is_piece(words) {
        return Some(Frame::Task);
    }
    if is_of_rules(words) || has_own_label(words) || judge(part, words).is_some() {
        return None;
    }
    if is_task(words) {
        return Some(Frame::Task);
    }
    if is_page(words) || is_printed(words) {
        return Some(Frame::Shown);
    }
    if is_shown(words) {
        return Some(Frame::Shown);
    }
    is_speaker(words).then_some(Frame::Speech)
}

/// "Page 12 of the lease".
fn is_page(words: &Words<'_>) -> bool {
    let numbered = words.get(1).starts_with(|c: char| c.is_ascii_digit());
    numbered
        && matches!(
            words.get(0),
            "page"
                | "section"
                | "chapter"
                | "clause"
                | "article"
                | "paragraph"
                | "verse"
                | "seite"
                | "abschnitt"
                | "kapitel"
                | "absatz"
                | "artikel"
                | "chapitre"
                | "página"
                | "sección"
                | "capítulo"
                | "seção"
                | "pagina"
                | "sezione"
                | "capitolo"
                | "hoofdstuk"
                | "strona"
                | "rozdział"
                | "страница"
                | "глава"
                | "пункт"
                | "madde"
                | "sayfa"
        )
}

/// "It's printed on the bottle".
fn is_printed(words: &Words<'_>) -> bool {
    (1..words.len().min(4)).any(|at| {
        matches!(
            words.get(at),
            "printed"
                | "written"
                | "stated"
                | "posted"
                | "engraved"
                | "carved"
                | "painted"
                | "scribbled"
                | "gedruckt"
                | "geschrieben"
                | "écrit"
                | "imprimé"
                | "escrito"
                | "impreso"
                | "impresso"
                | "scritto"
                | "stampato"
                | "geschreven"
                | "gedrukt"
                | "napisane"
                | "написано"
                | "напечатано"
                | "yazılı"
        ) && matches!(
            words.get(at - 1),
            "it's"
                | "is"
                | "was"
                | "are"
                | "were"
                | "es"
                | "ist"
                | "war"
                | "est"
                | "était"
                | "está"
                | "estava"
                | "è"
                | "era"
                | "er"
                | "jest"
                | "было"
        )
    })
}

/// "On the fridge there is a note".
fn hangs_there(words: &Words<'_>) -> bool {
    let there = |word: &str| {
        matches!(
            word,
            "there"
                | "there's"
                | "hängt"
                | "gibt"
                | "steht"
                | "a"
                | "hay"
                | "há"
                | "c'è"
                | "hangt"
                | "wisi"
                | "висит"
                | "есть"
                | "jest"
                | "var"
        )
    };
    let last = words.get(words.len() - 1);
    UTTERANCES.contains(last) && words.iter().any(there) && words.len() > 3
}

/// "On the kiosk screen stands", "on the door it says": a place, and at the end
/// the verb of what can be read there.
fn stands_there(words: &Words<'_>) -> bool {
    let is_place = matches!(
        words.get(0),
        "on" | "at"
            | "in"
            | "above"
            | "over"
            | "beside"
            | "auf"
            | "an"
            | "am"
            | "im"
            | "über"
            | "sur"
            | "dans"
            | "en"
            | "sobre"
            | "na"
            | "no"
            | "em"
            | "su"
            | "sul"
            | "sulla"
            | "op"
            | "aan"
            | "w"
            | "на"
            | "в"
            | "над"
    );
    let stands = |word: &str| {
        matches!(
            word,
            "stands"
                | "stood"
                | "reads"
                | "says"
                | "hangs"
                | "hung"
                | "appears"
                | "appeared"
                | "shows"
                | "steht"
                | "stand"
                | "hängt"
                | "prangt"
                | "pone"
                | "figure"
                | "figura"
                | "staat"
                | "hangt"
                | "stoi"
                | "widnieje"
                | "стоит"
                | "висит"
                | "написано"
        )
    };
    is_place
        && words.len() > 2
        && (words.len() - 2..words.len()).any(|at| at > 1 && stands(words.get(at)))
}

/// "Someone scribbled on the whiteboard": nobody the user would be.
fn is_by_someone(words: &Words<'_>) -> bool {
    words.len() > 1
        && (matches!(
            words.get(0),
            "someone"
                | "somebody"
                | "jemand"
                | "irgendwer"
                | "quelqu'un"
                | "alguien"
                | "alguém"
                | "qualcuno"
                | "iemand"
                | "ktoś"
                | "birisi"
        ) || (words.get(0) == "кто" && words.get(1) == "то"))
}

/// "There's a note taped to the printer", "da hängt ein Zettel".
fn is_found(words: &Words<'_>) -> bool {
    let there = matches!(
        (words.get(0), words.get(1)),
        ("there's" | "hay" | "há" | "c'è" | "c'era" | "había", _)
            | ("there", "is" | "was" | "hangs" | "hung")
            | (
                "da" | "es" | "dort",
                "hängt" | "hing" | "ist" | "war" | "gibt" | "steht"
            )
            | ("il", "y")
            | ("er", "hangt" | "is" | "staat")
    );
    let shown = |word: &str| UTTERANCES.contains(word) || TEXTS.contains(word);
    there && words.iter().any(shown) && !is_of_rules(words)
}

/// "Title for the blog", "Betreff der Mail": a piece of one text, to be put there.
fn is_piece(words: &Words<'_>) -> bool {
    let at = (0..words.len().min(4)).find(|at| {
        matches!(
            words.get(*at),
            "title"
                | "headline"
                | "caption"
                | "slogan"
                | "tagline"
                | "subtitle"
                | "teaser"
                | "banner"
                | "tooltip"
                | "placeholder"
                | "heading"
                | "blurb"
                | "titel"
                | "überschrift"
                | "betreff"
                | "bildunterschrift"
                | "titre"
                | "légende"
                | "accroche"
                | "título"
                | "titular"
                | "lema"
                | "titolo"
                | "didascalia"
                | "tytuł"
                | "заголовок"
                | "подпись"
                | "слоган"
        ) || (words.get(*at) == "line" && *at > 0 && words.get(at - 1) == "subject")
    });
    let one = |at: usize| {
        DETERMINERS.contains(words.get(at))
            && !matches!(
                words.get(at),
                "a" | "an" | "ein" | "eine" | "un" | "une" | "una" | "um"
            )
            || words.is_capital(at)
    };
    at.is_some_and(|at| {
        let named = matches!(
            words.get(at + 1),
            "for"
                | "of"
                | "on"
                | "für"
                | "zu"
                | "pour"
                | "du"
                | "de"
                | "para"
                | "per"
                | "voor"
                | "dla"
                | "для"
        );
        (named && one(at + 2))
            || matches!(words.get(at + 1), "der" | "des" | "du" | "del" | "della")
    })
}

/// "Jira ABC-12", "#general", "CONTRIBUTING.md": something that is read
/// elsewhere, by its number or name.
fn reference(head: &str) -> Option<Frame> {
    let mut tokens = head.split_whitespace();
    let last = tokens
        .next_back()
        .unwrap_or("")
        .trim_matches(['`', '(', ')', '[', ']']);
    let others: Vec<&str> = tokens.collect();
    let named = others.iter().any(|word| is_source(&word.to_lowercase()));
    if last.starts_with('@') && others.is_empty() {
        return (last.len() > 2).then_some(Frame::Speech);
    }
    let number = last.trim_start_matches('#');
    let is_number = last.len() > number.len()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && !number.is_empty();
    let is_ticket = last.rsplit_once('-').is_some_and(|(name, number)| {
        name.len() >= 2
            && name.bytes().all(|byte| byte.is_ascii_uppercase())
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_document = [
        ".md", ".txt", ".pdf", ".html", ".log", ".eml", ".docx", ".rst", ".adoc",
    ]
    .iter()
    .any(|ending| last.len() > ending.len() && last.to_ascii_lowercase().ends_with(ending));
    match others.len() {
        0 if is_document => Some(Frame::Shown),
        0 if is_ticket => Some(Frame::Number),
        1 | 2 if named && (is_ticket || is_number) => Some(Frame::Shown),
        _ => None,
    }
}

/// "Bob says", "the README reads", "according to the docs".
fn speech(words: &Words<'_>) -> Option<Frame> {
    let last = words.len().saturating_sub(4);
    let witness = |at: usize| {
        let verb = words.get(at);
        at > 0
            && (WITNESSES.contains(verb) || SAYS.contains(verb))
            && crate::told::speaks_of_another(words, at)
    };
    if !tells(words) && !(last..words.len()).any(witness) && !has_speaker(words) {
        return None;
    }
    let is_written = words
        .iter()
        .any(|word| WRITTEN.contains(word) || is_source(word));
    Some(if is_written {
        Frame::Shown
    } else {
        Frame::Speech
    })
}

/// Whether somebody gives something to read: "the reviewer left this comment".
fn has_speaker(words: &Words<'_>) -> bool {
    let subject = usize::from(DETERMINERS.contains(words.get(0)));
    let word = words.get(subject);
    let given = |at: usize| {
        UTTERANCES.contains(words.get(at))
            || (POINTERS.contains(words.get(at)) && at + 1 == words.len())
    };
    (PEOPLE.contains(word) || SUBJECTS.contains(word)) && (subject + 2..words.len()).any(given)
}

/// Whether words name rules, and do not say that they are from elsewhere.
pub(super) fn is_of_rules(words: &Words<'_>) -> bool {
    words.iter().any(|word| HEADINGS.contains(word)) && !comes_from(words) && !is_of_another(words)
}

/// "Important", "one more thing", but not "note from Bob".
pub(super) fn has_own_label(words: &Words<'_>) -> bool {
    let own = |word: &str| {
        (OWN_LABELS.contains(word) || OWN.contains(word))
            && (words.len() == 1 || !POLITE.contains(word))
    };
    words.len() <= 4 && words.iter().any(own) && !comes_from(words) && !is_of_another(words)
}
