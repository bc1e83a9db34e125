//! What the words before a colon make of those behind it.

use super::Frame;
use super::source::{comes_from, is_shown, is_source};
use super::task::is_task;
use super::unspaced::unspaced;
use crate::quoted::{speaks_self, tells};
use crate::text::{is_cjk, longer_than};
use crate::words::Words;
use crate::words::marks::HEADINGS;
use crate::words::others::frames::{DETERMINERS, MINE, OWN, PEOPLE, SAYS, SUBJECTS, WRITTEN};
use crate::words::others::{OWN_LABELS, WITNESSES};

/// Characters and words before a colon that may still be a frame.
pub(super) const LONGEST: usize = 160;
const MOST_WORDS: usize = 16;

/// What the words before a colon make of those behind it.
pub(super) fn frame(head: &str) -> Option<Frame> {
    let head = head.trim_matches(|c: char| c.is_whitespace() || "*_#-•>+".contains(c));
    if head.is_empty() || longer_than(head, LONGEST) {
        return None;
    }
    if head.chars().any(is_cjk) {
        return unspaced(head);
    }
    let words = Words::new(head);
    if words.len() == 0 || words.len() > MOST_WORDS {
        return None;
    }
    let is_mine = words.iter().any(|word| MINE.contains(word));
    if is_of_rules(&words) && is_mine {
        return None;
    }
    if let Some(frame) = speech(&words) {
        return Some(frame);
    }
    if is_of_rules(&words) || has_own_label(&words) {
        return None;
    }
    if is_task(&words) {
        return Some(Frame::Task);
    }
    is_shown(&words).then_some(Frame::Shown)
}

/// "Bob says", "the README reads", "according to the docs".
fn speech(words: &Words<'_>) -> Option<Frame> {
    let last = words.len().saturating_sub(4);
    let witness = |at: usize| {
        let verb = words.get(at);
        at > 0 && (WITNESSES.contains(verb) || SAYS.contains(verb)) && !speaks_self(words, at)
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

/// Whether somebody does something, whatever it is: "the reviewer left this
/// comment". What they are is no speech: "the customer is angry".
fn has_speaker(words: &Words<'_>) -> bool {
    let subject = usize::from(DETERMINERS.contains(words.get(0)));
    let word = words.get(subject);
    let verb = words.get(subject + 1);
    (PEOPLE.contains(word) || SUBJECTS.contains(word))
        && words.len() > subject + 1
        && !matches!(
            verb,
            "is" | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "will"
                | "needs"
                | "cannot"
                | "can"
                | "can't"
                | "ist"
                | "sind"
                | "hat"
                | "haben"
                | "war"
                | "est"
                | "sont"
                | "es"
                | "está"
                | "é"
                | "è"
        )
}

/// Whether words name rules, and do not say that they are from elsewhere.
pub(super) fn is_of_rules(words: &Words<'_>) -> bool {
    words.iter().any(|word| HEADINGS.contains(word)) && !comes_from(words)
}

/// "Important", "one more thing", but not "note from Bob".
pub(super) fn has_own_label(words: &Words<'_>) -> bool {
    let own = |word: &str| OWN_LABELS.contains(word) || OWN.contains(word);
    words.len() <= 4 && words.iter().any(own) && !comes_from(words)
}
