//! Signs that what is said is another's: what it is wrapped in, what announces
//! it, who is said to say it.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::phrases;

type Set = LazyLock<HashSet<&'static str>>;
type List = LazyLock<Vec<&'static str>>;

/// Tags that programs and people put around what they did not write.
pub(crate) static WRAPPERS: Set =
    Set::new(|| phrases(include_str!("lists/wrappers.txt")).collect());

/// How more of them begin.
pub(crate) static WRAPPER_STARTS: List =
    List::new(|| phrases(include_str!("lists/wrapper_starts.txt")).collect());

/// Verbs by which one tells what another says, and what else names a speaker.
pub(crate) static REPORTS: Set = Set::new(|| phrases(include_str!("lists/reports.txt")).collect());

/// More of them: these mean it only right before a quotation.
pub(crate) static WITNESSES: Set =
    Set::new(|| phrases(include_str!("lists/witnesses.txt")).collect());

/// Words before such a verb when one speaks for oneself, or tells another to
/// say it.
pub(crate) static SPEAKS_SELF: Set =
    Set::new(|| phrases(include_str!("lists/speaks_self.txt")).collect());

/// How scripts without spaces tell what another says.
pub(crate) static REPORTS_UNSPACED: List =
    List::new(|| phrases(include_str!("lists/reports_unspaced.txt")).collect());

/// What people announce before they paste it.
pub(crate) static ANNOUNCED: Set =
    Set::new(|| phrases(include_str!("lists/announced.txt")).collect());

/// The same in scripts without spaces.
pub(crate) static ANNOUNCED_UNSPACED: List =
    List::new(|| phrases(include_str!("lists/announced_unspaced.txt")).collect());

/// Labels that people put before what they say themselves.
pub(crate) static OWN_LABELS: Set =
    Set::new(|| phrases(include_str!("lists/own_labels.txt")).collect());
