//! Moves of the user's own: "I moved to Leipzig last week".
//!
//! One moves to the next step and into files as well, so it is the name of a
//! place that tells: a capital, nothing behind it that makes another thing of it
//! ("the Leipzig branch"), and nothing before it that makes it a condition.

use std::ops::Range;

use crate::words::Words;
use crate::words::marks::{MOVES_BEFORE, MOVES_BEHIND, MOVES_ELSEWHERE};
use crate::words::norms::{MOVES, Verb};

/// How far behind the name a German verb may stand.
const VERB_WITHIN: usize = 5;

/// Whether a sentence tells where its speaker has moved.
pub(crate) fn tells_of_move(words: &Words<'_>) -> bool {
    MOVES.hits(words).iter().any(|hit| {
        let Some(place) = place(words, hit.to) else {
            return false;
        };
        let verb = match hit.tag {
            Verb::Said => true,
            Verb::Follows => (place.end..place.end + VERB_WITHIN).any(|at| {
                let verb = words.get(at);
                matches!(verb, "gezogen" | "umgezogen" | "zurückgezogen")
            }),
        };
        verb && leads(words, hit.from) && !(hit.from..hit.to).any(|at| denies(words.get(at)))
    })
}

/// Whether what stands before a word only greets, adds or says when.
fn leads(words: &Words<'_>, to: usize) -> bool {
    let is_year = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    (0..to).all(|at| MOVES_BEFORE.contains(words.get(at)) || is_year(words.get(at)))
}

fn denies(word: &str) -> bool {
    matches!(word, "nicht" | "nie" | "fast" | "beinahe" | "noch")
}

/// The name of a place that begins with a word, if one does.
fn place(words: &Words<'_>, at: usize) -> Option<Range<usize>> {
    let from = match words.get(at) {
        "the" if is_country(words.get(at + 1)) => at + 1,
        _ => at,
    };
    if !words.is_capital(from) || MOVES_ELSEWHERE.contains(words.get(from)) {
        return None;
    }
    let mut end = from + 1;
    loop {
        // "Frankfurt am Main", "Santiago de Chile".
        let next = end + usize::from(is_inner(words.get(end)));
        if ends(words, end - 1) || !words.is_capital(next) {
            break;
        }
        end = next + 1;
    }
    let apart = matches!(words.behind(end - 1), None | Some(' ')) || ends(words, end - 1);
    let follows =
        end == words.len() || ends(words, end - 1) || MOVES_BEHIND.contains(words.get(end));
    (apart && follows).then_some(from..end)
}

/// Whether a clause ends with a word: a full stop in `Cargo.toml` is none.
fn ends(words: &Words<'_>, at: usize) -> bool {
    let gap = words.offset(at + 1).saturating_sub(words.after(at + 1));
    match words.behind(at) {
        Some('.' | ':') => gap > 1 || at + 1 == words.len(),
        Some(c) => matches!(c, ',' | ';' | '!' | '(' | ')' | '。'),
        None => true,
    }
}

/// Countries that go by "the".
fn is_country(word: &str) -> bool {
    matches!(
        word,
        "netherlands" | "uk" | "us" | "usa" | "states" | "united" | "philippines" | "bay"
    )
}

/// What stands within a name.
fn is_inner(word: &str) -> bool {
    matches!(
        word,
        "am" | "an" | "der" | "im" | "upon" | "de" | "del" | "la" | "sur" | "en"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_to_a_place_is_told_from_other_moves() {
        for moved in [
            "I moved to Leipzig last week.",
            "I moved to Leipzig.",
            "i moved to New York",
            "By the way, I moved to Leipzig last week.",
            "Last month I've moved back to Frankfurt am Main.",
            "I have just moved to the Netherlands, with my family.",
            "I moved to Baden-Baden two months ago.",
            "In 2024 I relocated to Santiago de Chile.",
            "Ich bin nach Leipzig gezogen.",
            "Ich bin letzte Woche nach Jena umgezogen.",
            "Übrigens bin ich letzten Monat nach Trier gezogen.",
            "Ich bin nach Köln umgezogen, weil die Miete stieg.",
            "J'ai déménagé à Lyon la semaine dernière.",
            "Au fait, je me suis installée à Nantes.",
            "Me mudé a Valencia el mes pasado.",
            "Por cierto, me he mudado a Sevilla.",
        ] {
            assert!(tells_of_move(&Words::new(moved)), "{moved}");
        }
        for other in [
            "I moved to the next step.",
            "I moved to Step 3.",
            "I moved to src/lib.rs.",
            "I moved to Cargo.toml and fixed it.",
            "I moved it to Leipzig.",
            "I moved on.",
            "I moved the tests to Tests.",
            "I moved to the Settings page.",
            "I moved to Leipzig branch first.",
            "If I moved to Leipzig, what would change?",
            "When I moved to Leipzig, the train was late.",
            "I never moved to Leipzig.",
            "I moved to Friday because of the meeting.",
            "She said I moved to Leipzig.",
            "Ich bin nicht nach Leipzig gezogen.",
            "Ich bin nach Leipzig gefahren.",
            "Ich bin nach Hause gezogen.",
            "Wenn ich nach Leipzig gezogen bin, melde ich mich.",
            "J'ai déménagé le fichier à la racine.",
            "J'ai déménagé à la racine.",
            "Me mudé a la rama nueva.",
        ] {
            assert!(!tells_of_move(&Words::new(other)), "{other}");
        }
    }
}
