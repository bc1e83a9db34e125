//! Words by which a rule is told that has no sign of one: how something is said
//! or given, and what points at a single thing instead.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Lexicon, phrases};

type Set = LazyLock<HashSet<&'static str>>;

/// How something is said.
pub(crate) static MANNER: Set =
    Set::new(|| phrases(include_str!("lists/plain_manner.txt")).collect());

/// Languages.
pub(crate) static TONGUES: Set =
    Set::new(|| phrases(include_str!("lists/plain_tongues.txt")).collect());

/// Units, money and forms.
pub(crate) static WAYS: Set = Set::new(|| phrases(include_str!("lists/plain_ways.txt")).collect());

/// What asks for speech as such, and what is spoken.
pub(crate) static SPEAKING: Set =
    Set::new(|| phrases(include_str!("lists/plain_speaking.txt")).collect());

/// What may stand beside them without naming one thing.
pub(crate) static FILLERS: Set =
    Set::new(|| phrases(include_str!("lists/plain_fillers.txt")).collect());

/// Verbs of how things are given again and again.
pub(crate) static GIVES: Set =
    Set::new(|| phrases(include_str!("lists/plain_gives.txt")).collect());

/// What points at one thing or time.
pub(crate) static POINTING: Set =
    Set::new(|| phrases(include_str!("lists/plain_pointing.txt")).collect());

/// What assistants put in without being asked.
pub(crate) static HABITS: Set =
    Set::new(|| phrases(include_str!("lists/plain_habits.txt")).collect());

/// What is written again and again.
pub(crate) static KINDS: Set =
    Set::new(|| phrases(include_str!("lists/plain_kinds.txt")).collect());

/// How one asks that a habit end.
pub(crate) static STOPS: LazyLock<Lexicon<()>> =
    LazyLock::new(|| Lexicon::new(&[(include_str!("lists/plain_stops.txt"), ())]));
