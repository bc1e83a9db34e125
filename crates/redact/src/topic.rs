//! Whether a sentence that changes a password still speaks of it: in `I changed
//! the password and moved the service to x` it is the service that moves.

use super::drawn::numbers;
use super::names::promise_of_end;
use super::spoken::{is_change, is_means};
use super::tongues::{is_about, is_copula, is_own, named};

/// Of what the words behind a name speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// Nothing was said yet that the name might only qualify.
    Begun,
    /// Of what the name is for: `for bob`.
    About,
    /// Of the name, or of what happens to it.
    Name,
    /// Behind `and`, whatever comes next.
    Joined,
    /// Behind the `and` between two for which the name is.
    Shared,
    /// Of something else, unless that is only a time or what has the same
    /// password: `before lunch`, `and user`.
    Unsure,
    /// Of something else.
    Other,
}

impl Topic {
    /// What it is behind the next word, which stands behind another.
    pub(super) fn behind(self, before: &[u8], word: &[u8]) -> Topic {
        let word = word.strip_suffix(b",").unwrap_or(word);
        // `the renamed host`
        let moves = is_one_of(word, &MOVES) && !is_own(before);
        match self {
            Topic::Other => Topic::Other,
            Topic::Begun if is_thing(word) => Topic::Other,
            // `password reset page`
            Topic::Begun if is_change(word) => Topic::Begun,
            Topic::Joined if moves => Topic::Other,
            _ if moves => Topic::Unsure,
            Topic::Joined | Topic::Unsure if is_name(word) => Topic::Name,
            Topic::Unsure => Topic::Unsure,
            Topic::About if is_one_of(word, &JOINS) => Topic::Shared,
            _ if is_one_of(word, &JOINS) || is_one_of(word, &CLAUSES) => Topic::Joined,
            Topic::Begun if is_about(word) => Topic::About,
            Topic::Begun | Topic::Name => Topic::Name,
            Topic::About => Topic::About,
            Topic::Shared if word.ends_with(b"ed") => Topic::Unsure,
            Topic::Shared => Topic::Shared,
            // `and switched to the new proxy`
            Topic::Joined if is_one_of(word, &["switched", "switch"]) => Topic::Unsure,
            Topic::Joined if is_change(word) || is_copula(word) => Topic::Joined,
            Topic::Joined if is_one_of(word, &HELPING) => Topic::Joined,
            Topic::Joined => Topic::Unsure,
        }
    }

    /// Whether what something is changed to may be the password.
    pub(super) fn allows(self, text: &[u8]) -> bool {
        match self {
            Topic::Other => false,
            Topic::Unsure => is_unlike_names(text),
            Topic::Begun | Topic::About | Topic::Name | Topic::Joined | Topic::Shared => true,
        }
    }
}

/// Whether a text has signs or several numbers among its letters, as few names of
/// classes, products and versions have: `OAuth2Proxy`, `Debian12`, `v1beta2`.
fn is_unlike_names(text: &[u8]) -> bool {
    const LEAST: usize = 8;
    let sign = |b: &u8| b"!@#$%^&*?+~".contains(b);
    let part = |b: &u8| b.is_ascii_alphanumeric() || sign(b);
    let first = text.iter().position(u8::is_ascii_alphabetic);
    let last = text.iter().rposition(u8::is_ascii_alphabetic);
    let inner = match (first, last) {
        (Some(first), Some(last)) => &text[first..last],
        _ => return false,
    };
    let commit = text.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let cased = text.iter().any(u8::is_ascii_uppercase) && text.iter().any(u8::is_ascii_lowercase);
    let least = if cased { 2 } else { 3 };
    let numbered = inner.iter().any(u8::is_ascii_digit) && numbers(text) >= least;
    let mixed = numbered || inner.iter().any(sign);
    mixed && text.len() >= LEAST && text.iter().all(part) && !commit && !is_means(text)
}

/// Whether a word is another name for what is secret: `and the guest password`.
fn is_name(word: &[u8]) -> bool {
    let known = promise_of_end(word).is_some() || named(word).is_some();
    known || word.eq_ignore_ascii_case(b"pin")
}

/// Words that only help a verb, or stand for the password.
const HELPING: [&str; 10] = [
    "it", "has", "have", "been", "now", "es", "wurde", "wird", "habe", "hat",
];

const JOINS: [&str; 9] = ["and", "&", "+", "und", "y", "e", "et", "sowie", "or"];

/// What happens to servers, branches and files, but to no password.
const MOVES: [&str; 10] = [
    "moved", "merged", "migrated", "deployed", "renamed", "upgraded", "bumped", "released",
    "pushed", "promoted",
];

/// Words with which a clause of its own begins.
const CLAUSES: [&str; 14] = [
    "before", "after", "while", "when", "because", "since", "so", "then", "but", "bevor",
    "nachdem", "dann", "luego", "puis",
];

/// Whether a word is what has to do with passwords, rather than one of them. What
/// holds one, as a `field` or a `variable` does, is not among them.
fn is_thing(word: &[u8]) -> bool {
    const THINGS: [&str; 74] = [
        "policy",
        "policies",
        "form",
        "forms",
        "page",
        "pages",
        "screen",
        "dialog",
        "dialogue",
        "modal",
        "view",
        "button",
        "link",
        "label",
        "hint",
        "prompt",
        "component",
        "widget",
        "store",
        "storage",
        "vault",
        "manager",
        "database",
        "table",
        "file",
        "files",
        "service",
        "server",
        "module",
        "library",
        "package",
        "plugin",
        "script",
        "job",
        "flow",
        "email",
        "mail",
        "template",
        "route",
        "endpoint",
        "handler",
        "helper",
        "generator",
        "validator",
        "validation",
        "check",
        "checker",
        "rule",
        "rules",
        "hash",
        "hasher",
        "hashing",
        "test",
        "tests",
        "expiry",
        "expiration",
        "length",
        "lifetime",
        "age",
        "min",
        "minimum",
        "max",
        "maximum",
        "complexity",
        "strength",
        "auth",
        "authentication",
        "algorithm",
        "encoder",
        "encryption",
        "history",
        "rotation",
        "docs",
        "section",
    ];
    let ends = ["'s", "’s"];
    let owner = ends
        .iter()
        .find_map(|end| word.strip_suffix(end.as_bytes()));
    is_one_of(owner.unwrap_or(word), &THINGS)
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
}
