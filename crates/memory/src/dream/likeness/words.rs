//! The words by which lines are compared: which carry nothing, which deny, and
//! which say that something changed.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that carry no meaning of their own.
const EMPTY: &str = " a an and are as at be been but by can could did do does for from had has have how \
    i if in into is it its let like make me my of on or our please prefer preference preferred \
    should so some such than that the their them then there these they this those to up use user users \
    using want wants was we were what when which while who will with would you your agent always must need \
    needs constraint decided decision go going just also really very now today ist sind der die das ein \
    eine und oder mit für von zu auf wir ich sie es bitte immer le la les un une des et ou de du pour avec \
    toujours el los las una y o con para siempre ";
const NEGATIONS: &str = " not no never none nobody nothing without avoid stop don doesn didn dont won wont \
    cannot cant shouldn isn aren neither nor nicht nie niemals nichts kein keine keinen keinem ohne pas jamais aucun \
    aucune sans nunca sin jamás não nada sem non mai nessun nessuna senza niet nooit geen niets zonder nigdy bez \
    не нет никогда нельзя ничего без forbidden prohibited taboo banned disallowed off-limits verboten tabu untersagt \
    interdit interdite interdits interdites prohibido prohibida prohibidos prohibidas proibido proibida proibidos \
    proibidas vietato vietata vietati vietate verboden zabronione zakazane запрещено запрещён запрещена запрещены ";
/// Denials that many languages put beside another one without lifting it.
pub(super) const ECHOES: &str =
    " jamais nunca jamás mai nada nessun nessuna nigdy никогда ничего aucun aucune ";
/// Denials in what is written without spaces.
pub(super) const UNSPACED_NEGATIONS: [&str; 14] = [
    "不",
    "别",
    "勿",
    "没",
    "禁止",
    "无需",
    "ない",
    "ません",
    "禁じ",
    "않",
    "마세요",
    "지 마",
    "금지",
    "없이",
];
/// Words that say that something is other than before.
pub(super) const CHANGES: [&str; 49] = [
    "instead",
    "no longer",
    "rather than",
    "switched",
    "switch to",
    "switching",
    "changed",
    "change to",
    "moved",
    "migrated",
    "migriert",
    "migré",
    "replaced",
    "replaces",
    "anymore",
    "from now on",
    "update:",
    "statt",
    "nicht mehr",
    "不再",
    "改为",
    " now",
    "jetzt",
    "umgest",
    "ersetzt",
    "maintenant",
    "désormais",
    "au lieu",
    "remplac",
    "passés à",
    "passé à",
    "ahora",
    "en lugar",
    "en vez",
    "agora",
    "em vez",
    "invece",
    "vervangen",
    "overgestapt",
    "теперь",
    "вместо",
    "перешли",
    "现在",
    "改用",
    "换成",
    "迁移",
    "切换",
    "移行",
    "대신",
];

/// Whether a word carries no meaning of its own.
pub(in crate::dream) fn is_empty_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| EMPTY.split_whitespace().collect());
    WORDS.contains(word)
}

/// Whether a word denies what follows.
pub(in crate::dream) fn is_negation(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| NEGATIONS.split_whitespace().collect());
    WORDS.contains(word)
}

pub(in crate::dream) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}')
}

/// A word without the most common endings.
pub(in crate::dream) fn stem(word: &str) -> &str {
    for ending in ["ing", "ies", "ed", "es", "s", "e"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= 3
        {
            return stem;
        }
    }
    word
}

/// The text with the language Go, which has a capital letter inside a sentence,
/// under the name that is no other word.
pub(super) fn with_go_named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(" Go") {
        let (before, behind) = (&rest[..at], &rest[at + " Go".len()..]);
        let inside = before.ends_with(|c: char| c.is_alphanumeric() || c == ',');
        let whole = !behind.starts_with(char::is_alphanumeric);
        out.push_str(before);
        out.push_str(if inside && whole { " Golang" } else { " Go" });
        rest = behind;
    }
    out + rest
}

/// The text with the month "Mai", which has a capital letter inside a sentence or a
/// number before it, under a name that does not deny as the Italian word does.
pub(super) fn with_mai_named(text: &str) -> String {
    let mut before: Option<&str> = None;
    let mut out = String::with_capacity(text.len());
    for run in text.split_inclusive(' ') {
        let bare = run.trim_end_matches(|c: char| !c.is_alphanumeric());
        let counted = before.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let inside = before.is_some_and(|word| !word.trim_end().ends_with(['!', '?', ':']));
        match bare {
            "Mai" if inside => out.push_str("Maimonat"),
            "mai" if counted => out.push_str("maimonat"),
            bare => out.push_str(bare),
        }
        out.push_str(&run[bare.len()..]);
        before = Some(run);
    }
    out
}

/// Whether a word of change says no more than that something is so by now.
pub(super) fn is_weak(change: &str) -> bool {
    matches!(
        change.trim(),
        "now" | "jetzt" | "maintenant" | "désormais" | "ahora" | "agora" | "теперь" | "现在"
    )
}
