//! What is asked for is done to the words: "translate", "add this line".

use super::source::{is_pointed, is_somebody};
use crate::words::Words;
use crate::words::others::frames::{MATERIAL, PEOPLE, POLITE, PUTS, TELLS, TEXTS, TREATS};

/// "Proofread", "add this line to the docs", "write a prompt that says".
pub(super) fn is_task(words: &Words<'_>) -> bool {
    let Some(verb) = (0..words.len()).find(|at| !POLITE.contains(words.get(*at))) else {
        return false;
    };
    let asked = words.get(verb);
    let last = words.get(words.len() - 1);
    // "Kannst du das übersetzen" has the verb at its end.
    if TREATS.contains(asked) || (verb > 0 && TREATS.contains(last)) {
        return true;
    }
    let to = verb + 1 + usize::from(matches!(words.get(verb + 1), "to" | "an" | "à" | "a"));
    let handed = matches!(
        asked,
        "send"
            | "forward"
            | "schick"
            | "schicke"
            | "envoie"
            | "envía"
            | "envie"
            | "invia"
            | "отправь"
    ) && words.iter().any(|word| PEOPLE.contains(word));
    if handed || (TELLS.contains(asked) && is_somebody(words, to)) {
        return true;
    }
    let about = matches!(
        words.get(0),
        "for"
            | "when"
            | "in"
            | "on"
            | "about"
            | "regarding"
            | "concerning"
            | "if"
            | "as"
            | "für"
            | "beim"
            | "bei"
            | "wenn"
            | "pour"
            | "para"
            | "per"
            | "для"
            | "при"
            | "если"
    );
    let of_work = matches!(
        words.get(words.len().saturating_sub(2)),
        "commit" | "error" | "log"
    );
    if words.len() > 2 && MATERIAL.contains(last) && !about && !of_work && !is_pointed(words) {
        return true;
    }
    let rest = || (verb + 1..words.len()).map(|at| words.get(at));
    // "Write this down" and "add this to your memory" are meant for the agent.
    let is_kept = rest().any(|word| {
        matches!(
            word,
            "down" | "memory" | "mind" | "auf" | "gedächtnis" | "mémoire" | "memoria"
        )
    });
    let mends = matches!(asked, "fix" | "mend")
        && rest().any(|word| matches!(word, "grammar" | "spelling" | "wording" | "typo" | "typos"));
    mends || (PUTS.contains(asked) && !is_kept && rest().any(|word| TEXTS.contains(word)))
}
