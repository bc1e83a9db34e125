//! Whether a sentence that changes a password still speaks of it: in `I changed
//! the password and moved the service to x` it is the service that moves.

use super::spoken::is_change;
use super::tongues::{is_about, is_copula};

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
    /// Of something else.
    Other,
}

impl Topic {
    /// What it is behind the next word.
    pub(super) fn behind(self, word: &[u8]) -> Topic {
        let word = word.strip_suffix(b",").unwrap_or(word);
        match self {
            Topic::Other => Topic::Other,
            Topic::Begun if is_thing(word) => Topic::Other,
            // `password reset page`
            Topic::Begun if is_change(word) => Topic::Begun,
            _ if is_one_of(word, &MOVES) => Topic::Other,
            Topic::About if is_one_of(word, &JOINS) => Topic::Shared,
            _ if is_one_of(word, &JOINS) || is_one_of(word, &CLAUSES) => Topic::Joined,
            Topic::Begun if is_about(word) => Topic::About,
            Topic::Begun | Topic::Name => Topic::Name,
            Topic::About => Topic::About,
            Topic::Shared if word.ends_with(b"ed") => Topic::Other,
            Topic::Shared => Topic::Shared,
            Topic::Joined if is_change(word) || is_copula(word) => Topic::Joined,
            Topic::Joined => Topic::Other,
        }
    }
}

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
