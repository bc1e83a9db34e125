//! Words: which of them may be a password, and which only stand beside one.

use super::shape::is_example;
use super::{algorithms, letters, tongues};

/// Whether letters only may be a password: a word, but none of those that
/// programs, manuals and forms put beside the name.
pub(super) fn is_word_as_password(word: &[u8]) -> bool {
    is_literal_as_password(word) && !letters::are_name(word)
}

/// The same where letters stand for themselves, so that a name of a program,
/// such as `SecretStr`, would be a password all the same.
pub(super) fn is_literal_as_password(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    let text = std::str::from_utf8(&lower).unwrap_or_default();
    (6..=40).contains(&word.len())
        && word.iter().all(u8::is_ascii_alphabetic)
        && !ORDINARY.contains(&text)
        && !tongues::is_name(text)
        && !tells_of_secret(text)
        && !algorithms::is_named(word)
}

/// Whether words that `-` joins may be a password where nothing else can stand:
/// `correct-horse-battery-staple`. What is to be filled in is none.
pub(super) fn is_phrase_as_password(text: &[u8]) -> bool {
    const FILLED_IN: [&str; 9] = [
        "change", "replace", "your", "my", "new", "some", "insert", "enter", "put",
    ];
    let lower = text.to_ascii_lowercase();
    let told = std::str::from_utf8(&lower).is_ok_and(tells_of_secret);
    let parts = || lower.split(|b| *b == b'-');
    let word = |part: &[u8]| part.len() > 1 && part.iter().all(u8::is_ascii_alphabetic);
    let filled_in = |part: &[u8]| FILLED_IN.iter().any(|w| part == w.as_bytes());
    (8..=64).contains(&text.len())
        && parts().count() > 1
        && parts().all(word)
        && !parts().take(1).any(filled_in)
        && !parts().all(|part| is_ordinary(part) || filled_in(part))
        && !told
        && !is_example(text)
}

/// Whether a name has a part in it that says what it is the name of.
fn tells_of_secret(lower: &str) -> bool {
    ["passw", "kennwort", "secret", "token", "hash", "crypt"]
        .iter()
        .any(|part| lower.contains(part))
}

/// Whether letters are a password wherever they are assigned or given: no
/// words, and no name that tells what it stands for.
pub(super) fn is_drawn_as_password(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    let text = std::str::from_utf8(&lower).unwrap_or_default();
    letters::are_drawn(word) && !tells_of_secret(text) && !text.contains("pwd")
}

/// Whether a word is one of those that stand beside the name of a password.
pub(super) fn is_ordinary(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    ORDINARY.iter().any(|ordinary| lower == ordinary.as_bytes())
        || matches!(lower.as_slice(), b"secret" | b"token" | b"enter" | b"env")
}

/// Whether a word holds a sentence together, so that what it is in says
/// something. Those of which wallets are made are not among them.
pub(super) fn is_of_sentence(word: &[u8]) -> bool {
    const WORDS: [&str; 56] = [
        "the",
        "and",
        "for",
        "are",
        "not",
        "but",
        "from",
        "have",
        "was",
        "has",
        "had",
        "must",
        "any",
        "your",
        "its",
        "our",
        "their",
        "which",
        "were",
        "been",
        "being",
        "does",
        "did",
        "could",
        "would",
        "should",
        "shall",
        "may",
        "might",
        "into",
        "than",
        "these",
        "those",
        "at",
        "of",
        "to",
        "in",
        "on",
        "by",
        "or",
        "as",
        "is",
        "it",
        "be",
        "an",
        "a",
        "if",
        "so",
        "no",
        "we",
        "characters",
        "chars",
        "digits",
        "letters",
        "least",
        "via",
    ];
    WORDS.iter().any(|w| word == w.as_bytes())
}

/// Words that stand beside the name of a password and are none.
const ORDINARY: &[&str] = &[
    "absent",
    "account",
    "accounts",
    "actual",
    "admin",
    "allowed",
    "always",
    "another",
    "anything",
    "argument",
    "authentication",
    "bearer",
    "because",
    "before",
    "behind",
    "between",
    "boolean",
    "broken",
    "button",
    "cannot",
    "change",
    "changed",
    "characters",
    "client",
    "config",
    "configuration",
    "configured",
    "confirm",
    "connection",
    "console",
    "correct",
    "create",
    "credential",
    "credentials",
    "current",
    "custom",
    "database",
    "default",
    "deprecated",
    "different",
    "disabled",
    "during",
    "either",
    "email",
    "enabled",
    "enough",
    "environment",
    "example",
    "expired",
    "external",
    "failed",
    "field",
    "fields",
    "forgot",
    "forgotten",
    "generated",
    "github",
    "google",
    "hidden",
    "identical",
    "ignored",
    "implicit",
    "incorrect",
    "input",
    "insecure",
    "inside",
    "integer",
    "internal",
    "invalid",
    "keyring",
    "literal",
    "locked",
    "login",
    "logout",
    "manager",
    "manual",
    "masked",
    "minimum",
    "missing",
    "mysql",
    "needed",
    "nothing",
    "nullable",
    "number",
    "object",
    "omitted",
    "optional",
    "option",
    "options",
    "parameter",
    "param",
    "params",
    "personal",
    "placeholder",
    "please",
    "policy",
    "postgres",
    "present",
    "private",
    "prompt",
    "prompted",
    "property",
    "protected",
    "provided",
    "public",
    "random",
    "redacted",
    "refresh",
    "register",
    "removed",
    "required",
    "reset",
    "resetting",
    "return",
    "returned",
    "reused",
    "rotated",
    "sample",
    "schema",
    "secure",
    "server",
    "service",
    "session",
    "should",
    "shared",
    "simple",
    "something",
    "static",
    "stored",
    "string",
    "strong",
    "stronger",
    "submit",
    "success",
    "supported",
    "system",
    "template",
    "temporary",
    "textfield",
    "undefined",
    "unique",
    "unknown",
    "unset",
    "unspecified",
    "update",
    "updated",
    "upgrade",
    "usually",
    "username",
    "validate",
    "validation",
    "varchar",
    "variable",
    "verify",
    "visible",
    "warning",
    "wanted",
    "weaker",
    "within",
    "without",
    "wrong",
    "yourself",
    "sensitive",
    "contrasena",
    "motdepasse",
    "basic",
    "digest",
    "plaintext",
    "plain",
    "cleartext",
    "leaked",
    "compromised",
    "longer",
    "shorter",
    "matches",
    "mismatch",
    "unavailable",
    "sudoers",
    "decoded",
    "encoded",
    "encrypted",
    "decrypted",
    "hashed",
];
