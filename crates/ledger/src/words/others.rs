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

/// What the words of a frame are: "Slack message from Bob:".
pub(crate) mod frames {
    use super::{List, Set};
    use crate::words::phrases;

    macro_rules! sets {
        ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
            $($(#[$doc])* pub(crate) static $name: Set =
                Set::new(|| phrases(include_str!(concat!("lists/frame_", $file, ".txt"))).collect());)*
        };
    }
    macro_rules! lists {
        ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
            $($(#[$doc])* pub(crate) static $name: List =
                List::new(|| phrases(include_str!(concat!("lists/frame_unspaced_", $file, ".txt"))).collect());)*
        };
    }

    sets! {
        /// Who is told of without a name.
        PEOPLE = "people";
        /// How one says that something came from elsewhere.
        RECEIVES = "receives";
        /// What such a sentence points at where it does not name it.
        POINTERS = "pointers";
        /// Where things are told, beside what is announced before pasting.
        SOURCES = "sources";
        /// What stands between such a thing and whose it is.
        FROMS = "froms";
        /// What a thing is pointed at with.
        DETERMINERS = "determiners";
        /// How one begins to show something.
        INTRODUCTIONS = "introductions";
        /// What is done to words, whatever they say.
        TREATS = "treats";
        /// How words are put where they are read.
        PUTS = "puts";
        /// What words are put into.
        TEXTS = "texts";
        /// What may stand before a request.
        POLITE = "polite";
        /// How one speaks for oneself again.
        RETURNS = "returns";
        /// What turns away from what was told.
        CONTRASTS = "contrasts";
        /// How one sends away what was told.
        DISMISSALS = "dismissals";
        /// Verbs of what is shown whole, and speaks for itself in it.
        WRITTEN = "written";
        /// More verbs of telling, which mean it before a colon.
        SAYS = "says";
        /// What gives orders of its own, beside people.
        SUBJECTS = "subjects";
        /// How one asks for something to be said to somebody else.
        TELLS = "tells";
        /// What ends a request that goes on with the words themselves.
        MATERIAL = "material";
        /// More labels of what one says oneself.
        OWN = "own";
        /// What is one's own.
        MINE = "mine";
        /// Verbs that tell what another says only with what completes them.
        ASKED = "asked";
        /// What completes such a verb.
        COMPLEMENTS = "complements";
        /// What makes a clause say only when, if, or what.
        CONDITIONS = "conditions";
        /// What says that something is passed on, whoever said it.
        HEARSAY = "hearsay";
        /// Verbs that stand before who says it: "…, said the boss".
        INVERTED = "inverted";
        /// What likens a rule to what another says.
        LIKENESS = "likeness";
        /// What denies that one stands by something.
        NEGATIONS = "negations";
        /// How one stands by what another says.
        STANDS = "stands";
        /// How one says that somebody is right.
        RIGHT = "right";
        /// What stands before that: "he is right", "hat recht".
        IS_RIGHT = "is_right";
        /// The one who speaks.
        SELVES = "selves";
        /// What a label begins with that says what a rule is about.
        ABOUTS = "abouts";
        /// What is asked for is heed, not work on the words.
        HEEDS = "heeds";
        /// What may follow a verb whose object is missing.
        PREPOSITIONS = "prepositions";
        /// What is said, written or printed once.
        UTTERANCES = "utterances";
        /// Those of them that name no topic, all by themselves.
        LONE = "lone";
        /// Given names.
        NAMES = "names";
        /// What points back at words, or at who said them.
        REFERS = "refers";
        /// What is asked for is the same words in another form.
        RETELLS = "retells";
        /// How one asks for a text.
        COMPOSES = "composes";
        /// What answers words that came from elsewhere.
        REPLIES = "replies";
        /// What a speaker turns with.
        TURNS = "turns";
    }
    lists! {
        /// Verbs of what is told, in scripts without spaces.
        UNSPACED_SAYS = "says";
        /// Who or what tells.
        UNSPACED_SOURCES = "sources";
        /// How it comes or is shown.
        UNSPACED_COMES = "comes";
        /// What is done to words.
        UNSPACED_TASKS = "tasks";
        /// The user's own labels.
        UNSPACED_OWN = "own";
        /// What is shown by its name alone.
        UNSPACED_SHOWN = "shown";
        /// What points back at words.
        UNSPACED_REFERS = "refers";
    }

    /// How letters begin.
    pub(crate) static GREETINGS: List =
        List::new(|| phrases(include_str!("lists/frame_greetings.txt")).collect());
    /// How letters end.
    pub(crate) static SIGN_OFFS: List =
        List::new(|| phrases(include_str!("lists/frame_sign_offs.txt")).collect());
}
