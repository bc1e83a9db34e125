//! Words without a meaning of their own here: joints, fillers, openers.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::phrases;

type Set = LazyLock<HashSet<&'static str>>;

/// After these a clause begins anew.
pub(crate) static JOINS: Set = Set::new(|| phrases(include_str!("lists/joins.txt")).collect());

/// Words that say nothing about the subject of a sentence.
pub(super) static STOP: Set = Set::new(|| phrases(include_str!("lists/stop.txt")).collect());

/// Pairs of characters that are grammar, not content.
pub(super) static CJK_STOP: Set =
    Set::new(|| phrases(include_str!("lists/cjk_stop.txt")).collect());

/// A clause about a thing begins like this; what is "never" there is a report.
pub(crate) static SUBJECTS: Set =
    Set::new(|| phrases(include_str!("lists/subjects.txt")).collect());

/// The same in English, where some of the words above mean something else.
pub(crate) static ENGLISH_SUBJECTS: Set =
    Set::new(|| phrases(include_str!("lists/english_subjects.txt")).collect());

/// These make a rule of a sentence whatever its subject.
pub(crate) static MODALS: Set = Set::new(|| phrases(include_str!("lists/modals.txt")).collect());

/// A sentence that begins so asks something, whatever ends it.
pub(crate) static ASKS: Set = Set::new(|| phrases(include_str!("lists/asks.txt")).collect());

/// Headings of lists of rules.
pub(crate) static HEADINGS: Set =
    Set::new(|| phrases(include_str!("lists/headings.txt")).collect());

/// Words in front of a number that give it a meaning.
pub(crate) static NUMBER_LABELS: Set =
    Set::new(|| phrases(include_str!("lists/number_labels.txt")).collect());

/// Words behind a number that give it a meaning.
pub(crate) static NUMBER_UNITS: Set =
    Set::new(|| phrases(include_str!("lists/number_units.txt")).collect());

/// Words of what is so for a moment only, or went wrong.
pub(crate) static PASSING: Set = Set::new(|| phrases(include_str!("lists/passing.txt")).collect());

/// What one speaks of while working, and not for long.
pub(crate) static PASSING_SUBJECTS: Set =
    Set::new(|| phrases(include_str!("lists/passing_subjects.txt")).collect());

/// What passes, in scripts without spaces.
pub(crate) static PASSING_UNSPACED: LazyLock<Vec<&str>> =
    LazyLock::new(|| phrases(include_str!("lists/passing_unspaced.txt")).collect());

/// What may stand before one tells that one has moved.
pub(crate) static MOVES_BEFORE: Set =
    Set::new(|| phrases(include_str!("lists/moves_before.txt")).collect());

/// What may follow the name of the place.
pub(crate) static MOVES_BEHIND: Set =
    Set::new(|| phrases(include_str!("lists/moves_behind.txt")).collect());

/// What has a capital and is no place.
pub(crate) static MOVES_ELSEWHERE: Set =
    Set::new(|| phrases(include_str!("lists/moves_elsewhere.txt")).collect());

/// Words that narrow what is allowed.
pub(crate) static ONLY: Set = Set::new(|| phrases(include_str!("lists/only.txt")).collect());

/// What happens again and again while one works.
pub(crate) static EVENTS: Set = Set::new(|| phrases(include_str!("lists/events.txt")).collect());

/// Verbs that name no act of the one who is addressed.
pub(crate) static NOT_ACTS: Set =
    Set::new(|| phrases(include_str!("lists/not_acts.txt")).collect());

/// Words that demand whatever their subject is.
pub(crate) static DEMANDS: Set = Set::new(|| phrases(include_str!("lists/demands.txt")).collect());

/// Verbs of a state that is to last.
pub(crate) static LASTING: Set = Set::new(|| phrases(include_str!("lists/lasting.txt")).collect());

/// More words that a clause about somebody or something begins with.
pub(crate) static NAMERS: Set = Set::new(|| phrases(include_str!("lists/namers.txt")).collect());

/// The same in English.
pub(crate) static ENGLISH_NAMERS: Set =
    Set::new(|| phrases(include_str!("lists/english_namers.txt")).collect());

/// How one asks for care: "make sure", "stell sicher".
pub(crate) static CARES: Set = Set::new(|| phrases(include_str!("lists/cares.txt")).collect());
