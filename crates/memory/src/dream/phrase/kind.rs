//! Whether a number or name says how much, or which one.

use super::Kind;
use super::words::{LEADS, NUMBERED, TURNS, UNITS, VERBS, is_article};
use crate::dream::likeness::{is_empty_word, is_unspaced, stem};
use crate::dream::listed::listed;

/// Whether a value says how much, or which one.
pub(super) fn kind(lower: &[String], at: usize, is_letter: bool) -> Kind {
    let token = lower[at].as_str();
    let name = || Kind::Name {
        subject: is_subject(lower, at),
    };
    if is_letter || token.starts_with('#') || is_identifier(token) {
        return name();
    }
    // Which one, perhaps, or how much: nobody can tell.
    let either = Kind::Name { subject: false };
    let next = lower.get(at + 1).map(String::as_str).unwrap_or_default();
    let before = |steps: usize| at.checked_sub(steps).map(|at| lower[at].as_str());
    let Some(previous) = before(1) else {
        // "30 days is what we keep", but "3 of them is broken".
        return match listed(UNITS, next) {
            true => Kind::Value,
            false => either,
        };
    };
    if listed(NUMBERED, previous) || listed(NUMBERED, stem(previous)) {
        return name();
    }
    let is_amount = listed(UNITS, next) || token.chars().any(|c| "%$€₩₹£¥".contains(c));
    let ties = |word: &str| is_empty_word(word) || listed(LEADS, word) || listed(TURNS, word);
    let unspaced = previous.chars().any(is_unspaced);
    let is_last = at + 1 == lower.len();
    if unspaced {
        let is_said = ["是", "为", "到", "在", "用", "口", "は", "を", "に", "が"];
        let counts = next.starts_with([
            '秒', '天', '页', '个', '次', '分', '小', '年', '月', '周', '行', '日', '時', '件',
            '초', '일', '개', '분',
        ]);
        return match counts || is_last || is_said.iter().any(|word| previous.ends_with(word)) {
            true => Kind::Value,
            false => either,
        };
    }
    if is_amount || ties(previous) {
        // "The 16 GB machine" is told from the 32 GB one by it.
        let is_first = before(2).is_none() && is_article(previous);
        return match is_first {
            true => either,
            false => Kind::Value,
        };
    }
    // "on port 8443", "use Node 20", "requires Python 3.11"; but "Node 20 is old".
    let leads = before(2).is_some_and(|word| ties(word) && !is_article(word) && word != "of");
    match leads || is_last {
        true => Kind::Value,
        false => either,
    }
}

/// `web-01`, `v1`, `eu-west-1`, `HS256`, a hash: letters and digits in one, and
/// no amount with its unit.
fn is_identifier(token: &str) -> bool {
    let letters = token.chars().any(char::is_alphabetic);
    let digits = token.chars().any(|c| c.is_ascii_digit());
    if !letters || !digits || token.contains(['/', '@']) {
        return false;
    }
    let unit = token.trim_start_matches(|c: char| c.is_ascii_digit() || ".,:-".contains(c));
    let is_amount = token.starts_with(|c: char| c.is_ascii_digit())
        && unit.chars().all(char::is_alphabetic)
        && unit.chars().count() <= 4;
    !is_amount
}

/// Whether a line speaks of the name at this place: it stands near the front,
/// no verb has come yet, and something is said of it.
fn is_subject(lower: &[String], at: usize) -> bool {
    let is_verb = |word: &String| listed(VERBS, word) && !is_article(word);
    let carries = |word: &&String| {
        !is_empty_word(word)
            && !listed(LEADS, word)
            && !is_article(word)
            && word.chars().count() > 1
    };
    let before = &lower[..at];
    let said = lower[at + 1..]
        .iter()
        .any(|word| carries(&word) || is_verb(word));
    !before.iter().any(is_verb) && before.iter().filter(carries).count() <= 2 && said
}
