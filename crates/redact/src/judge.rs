//! Whether a value is the secret that its name announces, rather than a type, a
//! variable, a call, a path, an example or a word of a sentence.

use super::letters;
use super::names::{FOREIGN, Promise};
use super::shape::{Shape, is_base64_key, is_example, looks_hex, looks_random, looks_random_short};
use super::value::is_unspaced;

/// How the value stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// Behind a word of a sentence: it must be random.
    Prose,
    /// Without quotes, where code could stand.
    Bare,
    /// All that its line or the place of a command has.
    Line,
    /// The whole value of a variable of the environment.
    Variable,
    /// In quotes: it is no variable.
    Quoted,
}

/// Whether a value is what its name promises.
pub(crate) fn is_secret(text: &str, promise: Promise, evidence: Evidence) -> bool {
    let bytes = text.as_bytes();
    if text.is_empty() || text.contains("[redacted:") || is_named_otherwise(text) {
        return false;
    }
    match promise {
        Promise::Password => is_password(text, evidence),
        Promise::Key => is_key(bytes, evidence),
        Promise::Perhaps => is_sure_key(bytes),
    }
}

/// Whether a value is none whatever its name: a reference, an address, a rule,
/// an algorithm, what is to be filled in.
fn is_named_otherwise(text: &str) -> bool {
    // `!vault` says where a value of YAML comes from.
    let tag = text
        .strip_prefix('!')
        .is_some_and(|tag| tag.bytes().all(|b| b.is_ascii_lowercase()));
    tag || is_reference(text) || is_algorithm(text) || is_rule(text)
}

/// Whether a text stands for a value that is elsewhere, unless what it begins
/// with goes on as no name does.
fn is_reference(text: &str) -> bool {
    #[rustfmt::skip]
    const INNER: [&str; 12] = [
        "://", "${", "$(", "{{", "<%", "process.env", "os.environ", "getenv", "env.", "::",
        "->", "arn:aws:",
    ];
    const BEGINNINGS: [&str; 7] = ["http", "#/", "./", "../", "sha256:", "sha512:", "sha1:"];
    if INNER.iter().any(|mark| text.contains(mark))
        || BEGINNINGS.iter().any(|mark| text.starts_with(mark))
    {
        return is_of_name(text) || !is_password_of_signs(text);
    }
    if is_folder(text) {
        return true;
    }
    let begins = text.starts_with(['$', '{', '<', '%', '(', '/', '~', '@', '&', '*', '.', '[']);
    let role = text.starts_with(':') && text[1..].contains(':');
    (role || begins) && !is_password_of_signs(text) && !is_base64_key(text.as_bytes())
}

/// Whether a text is written as what stands for a value: `$name`, `${name}`,
/// `%name%`, `@file`, `&anchor`, `*alias`, `{name}`.
fn is_variable(text: &str) -> bool {
    let inner = text.trim_start_matches(['$', '%', '@', '&', '*', '~', '.']);
    let close = match inner.chars().next() {
        Some('{') => Some('}'),
        Some('(') => Some(')'),
        Some('<') => Some('>'),
        _ => None,
    };
    match close {
        // `%(name)s`
        Some(close) => inner
            .rfind(close)
            .is_some_and(|end| inner.len() - end <= 2 && is_of_name(&inner[1..end])),
        None if text.starts_with('%') => {
            inner.len() > 1 && inner.ends_with('%') && is_of_name(&inner[..inner.len() - 1])
        }
        None => inner.len() < text.len() && is_of_name(inner) && !inner.contains(['<', '>']),
    }
}

/// Whether nothing is in a text but what names, paths and indexes are made of.
fn is_of_name(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_.:/-[]<>'\"".contains(c))
}

/// Whether something else is to be filled into a text: `${x}`, `{name}`, `{0:x}`.
fn is_template(text: &str) -> bool {
    const MARKS: [(&str, &str); 6] = [
        ("{{", "}}"),
        ("${", "}"),
        ("$(", ")"),
        ("<%", "%>"),
        ("#{", "}"),
        ("%{", "}"),
    ];
    let field = || {
        text.match_indices('{').any(|(at, _)| {
            let inner = &text[at + 1..];
            let name = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            name.is_some_and(|end| {
                end > 0 && inner[end..].starts_with(['}', ':']) && inner.contains('}')
            })
        })
    };
    let marked = |(open, close): &(&str, &str)| {
        text.split_once(open)
            .is_some_and(|(_, inner)| inner.contains(close))
    };
    MARKS.iter().any(marked) || field()
}

/// `/srv/x`, `~/x`, `C:\x`: a file in a folder with a plain name.
fn is_folder(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive = matches!(bytes, [b'A'..=b'Z', b':', b'\\' | b'/', ..]);
    let first = text.strip_prefix('/').and_then(|rest| rest.split_once('/'));
    let plain = first
        .is_some_and(|(name, _)| name.len() > 2 && name.bytes().all(|b| b.is_ascii_lowercase()));
    drive || plain || text.starts_with("~/")
}

/// Whether a text has signs of code in it and yet is a password or key: of three
/// sorts of characters that change as in no name, and closed by no bracket.
pub(crate) fn is_password_of_signs(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = Shape::of(bytes);
    if !(8..=256).contains(&bytes.len())
        || shape.sorts() < 3
        || shape.distinct < 6
        || !bytes.iter().all(|b| matches!(b, b' '..=b'~'))
        || text.starts_with('<') && text.ends_with('>')
        || text.contains("://")
    {
        return false;
    }
    let chance = letters::over_chance(bytes);
    match (is_variable(text) || is_template(text), is_of_name(text)) {
        (true, _) => chance < -10 && shape.numbers > 1 && shape.is_cased(),
        (false, true) => chance < 20,
        (false, false) => chance < 20 || shape.changes * 2 >= bytes.len(),
    }
}

/// `required|string|min:8`, `[a-z0-9]+`: what a value has to be.
fn is_rule(text: &str) -> bool {
    const PATTERNS: [&str; 9] = [
        "[^a-", "[a-z", "[A-Z", "[0-9", "0-9]", "(?:", "(?=", "(?P", "\\d",
    ];
    const RULES: [&str; 6] = ["required", "nullable", "confirmed", "string", "min", "max"];
    let names = || {
        text.split('|')
            .map(|part| part.split(':').next().unwrap_or_default())
    };
    let written = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let listed = text.contains('|') && names().all(written);
    listed && names().any(|name| RULES.contains(&name))
        || PATTERNS.iter().any(|part| text.contains(part))
}

/// What the names of algorithms and protocols are made of, besides numbers.
#[rustfmt::skip]
const ALGORITHMS: [&str; 65] = [
    "argon2id", "argon2i", "argon2d", "argon", "bcrypt", "scrypt", "yescrypt", "crypt", "pbkdf",
    "hkdf", "kdf", "sha", "shake", "md", "ripemd", "blake2b", "blake2s", "blake", "crc", "hmac",
    "aes", "des", "chacha", "salsa", "poly", "blowfish", "twofish", "rsa", "ecdsa", "eddsa",
    "ecdhe", "ecdh", "dsa", "ed", "curve", "secp", "oauth", "oidc", "saml", "webauthn", "fido",
    "u2f", "totp", "hotp", "ldap", "wpa", "tls", "ssl", "utf", "base", "kerberos", "ntlm",
    "gcm", "cbc", "ctr", "hs", "rs", "es", "psk", "enterprise", "encoded", "id",
    "cram", "scram", "xoauth",
];

/// Whether a text is the name of an algorithm or a protocol: parts and numbers.
fn is_algorithm(text: &str) -> bool {
    const LONGEST: usize = 48;
    if text.len() > LONGEST || !text.is_ascii() {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let behind_number = |word: &str| word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let whole = |word: &str| {
        let mut rest = &word[word.len() - behind_number(word)..];
        while !rest.is_empty() {
            let Some(part) = ALGORITHMS.iter().find(|part| rest.starts_with(**part)) else {
                return false;
            };
            rest = &rest[part.len()..];
            rest = &rest[rest.len() - behind_number(rest)..];
        }
        true
    };
    let begins = ALGORITHMS.iter().any(|part| lower.starts_with(part));
    begins && lower.split(['-', '_', '.', '/', '+']).all(whole)
}

/// Words that programs, manuals and forms put beside the name of a password.
#[rustfmt::skip]
const ORDINARY: [&str; 104] = [
    "absent", "account", "actual", "admin", "allowed", "argument", "authentication", "basic",
    "bearer", "boolean", "broken", "button", "change", "changed", "changeme", "characters",
    "client", "config", "configured", "confirm", "confirmed", "correct", "credentials",
    "current", "custom", "database", "default", "deprecated", "digest", "disabled", "email",
    "empty", "enabled", "encrypted", "environment", "example", "expired", "external", "failed",
    "field", "forgot", "forgotten", "generated", "hashed", "hidden", "ignored", "incorrect",
    "input", "integer", "internal", "invalid", "keyring", "locked", "login", "manager",
    "masked", "minimal", "missing", "none", "nullable", "number", "object", "omitted",
    "optional", "options", "parameter", "placeholder", "plaintext", "policy", "prompt",
    "prompted", "property", "protected", "provided", "random", "redacted", "required", "reset",
    "returned", "rotated", "sample", "schema", "server", "service", "session", "something",
    "stored", "string", "submit", "template", "textfield", "undefined", "unknown", "username",
    "variable", "wrong", "your", "my", "new", "some", "put", "insert", "enter", "replace",
];

/// Whether a word says what something is, rather than being it.
fn is_ordinary(word: &str) -> bool {
    const PARTS: [&str; 9] = [
        "passw", "kennwort", "contrase", "passe", "secret", "token", "crypt", "senha", "parol",
    ];
    let lower = word.to_lowercase();
    let lower = lower.trim_matches(|c: char| !c.is_alphanumeric());
    ORDINARY.contains(&lower)
        || FOREIGN.contains(&lower)
        || PARTS.iter().any(|part| lower.contains(part))
}

fn is_password(text: &str, evidence: Evidence) -> bool {
    let bytes = text.as_bytes();
    let shape = Shape::of(bytes);
    let length = text.chars().count();
    if !(4..=128).contains(&length)
        || text.contains(is_unspaced)
        || is_example_of_password(text, &shape)
    {
        return false;
    }
    let spaced = text.contains(char::is_whitespace);
    if spaced {
        return evidence >= Evidence::Quoted && is_phrase(text);
    }
    let core = text.trim_matches(|c: char| c.is_ascii_punctuation());
    if is_ordinary(core) {
        return false;
    }
    let signs = bytes
        .iter()
        .any(|b| b.is_ascii_punctuation() && !b"_-./".contains(b));
    let foreign = text.chars().any(|c| !c.is_ascii() && c.is_alphabetic());
    let judged = if foreign { core } else { text };
    let mixed = judged.chars().any(char::is_alphabetic)
        && (shape.digits > 0 || signs && judged.bytes().any(|b| b.is_ascii_punctuation()));
    let code = text.contains(['(', '[', '{', '<', '|']) || text.contains("=>");
    match evidence {
        Evidence::Prose => mixed && !code && length >= 6 && is_random_password(bytes, &shape),
        Evidence::Bare => {
            (mixed && length >= 6 && !code && !is_identifier(text))
                || is_number(bytes)
                || letters::are_random(bytes)
                || is_joined_words(text, 4)
        }
        Evidence::Line => {
            (mixed && length >= 6 && !is_call(text) && !is_identifier(text))
                || is_number(bytes)
                || is_word(text)
                || is_joined_words(text, 3)
        }
        Evidence::Variable => {
            mixed && length >= 6 || is_number(bytes) || is_literal(text) || is_joined_words(text, 2)
        }
        Evidence::Quoted => {
            mixed && length >= 6 || is_number(bytes) || is_literal(text) || is_joined_words(text, 3)
        }
    }
}

/// Whether letters and digits, or signs, stand among each other as in no name
/// of a version, a protocol or a part of a program.
fn is_random_password(bytes: &[u8], shape: &Shape) -> bool {
    let signs = bytes
        .iter()
        .any(|b| b.is_ascii_punctuation() && !b"_-./:'".contains(b));
    let plain = bytes.iter().all(u8::is_ascii_alphanumeric);
    let numbered = shape.digits > 0 && shape.letters() >= 3;
    let worded = letters::over_chance(bytes) >= 25;
    signs && shape.letters() > 0 && !bytes.ends_with(b"'s")
        || plain && shape.numbers > 1 && shape.letters() > 1 && !(shape.upper > 0 && worded)
        || plain && shape.is_cased() && shape.digits > 1 && !(shape.numbers > 1 && worded)
        || plain && shape.is_cased() && shape.digits > 0 && letters::over_chance(bytes) < 0
        || plain && numbered && shape.upper == 0 && bytes.len() >= 10
        || letters::are_random(bytes)
}

/// Whether a text is an example. A few random digits are often the
/// same ones, as those of no other text are.
fn is_example_of_password(text: &str, shape: &Shape) -> bool {
    let few = (3..5).contains(&shape.distinct) && shape.digits > 2;
    !few && is_example(text.as_bytes())
}

/// A word that may be a password where nothing else can stand: letters only, and
/// not the name of something in a program.
fn is_word(text: &str) -> bool {
    (6..=40).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphabetic())
        && !letters::are_name(text.as_bytes())
}

/// The same where letters stand for themselves: a name of a program would be a
/// password all the same, but not one that says what stands there.
fn is_literal(text: &str) -> bool {
    let letters = (6..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphabetic());
    let capitals = text.char_indices().filter(|(_, c)| c.is_ascii_uppercase());
    let borders: Vec<usize> = capitals.map(|(at, _)| at).chain([text.len()]).collect();
    let mut from = 0;
    let ordinary = borders
        .into_iter()
        .any(|to| is_ordinary(&text[std::mem::replace(&mut from, to)..to]));
    letters && !ordinary
}

/// Words that signs join: `correct-horse-battery`.
fn is_joined_words(text: &str, least: usize) -> bool {
    let parts = || text.split('-');
    let word = |part: &str| part.len() > 2 && part.bytes().all(|b| b.is_ascii_lowercase());
    parts().count() >= least && parts().all(word) && !parts().any(is_ordinary)
}

/// Several words that are a password where they stand in quotes: a phrase has no
/// sentence in it.
fn is_phrase(text: &str) -> bool {
    const LONGEST: usize = 64;
    let words: Vec<&str> = text.split_whitespace().collect();
    let short = |word: &&&str| word.len() < 3;
    (2..=8).contains(&words.len())
        && text.len() <= LONGEST
        && !words
            .iter()
            .any(|word| is_ordinary(word) || is_of_sentence(word))
        && words.iter().filter(short).count() * 2 < words.len()
        && (text.contains(|c: char| c.is_ascii_digit())
            || words.len() > 2 && !text.contains(|c: char| !c.is_ascii_lowercase() && c != ' '))
}

/// Whether a word holds a sentence together.
fn is_of_sentence(word: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 31] = [
        "ask", "see", "set", "same", "leave", "must", "least", "with", "the", "and", "for",
        "are", "not", "your", "has", "have", "of", "to", "in", "on", "or", "is", "be", "an",
        "a", "at", "please", "enter", "new", "page", "this",
    ];
    WORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// Digits alone, or among signs as passwords have them. Dates, times and amounts
/// have other signs.
fn is_number(text: &[u8]) -> bool {
    const LIMITS: [&str; 4] = [
        "2147483647",
        "4294967295",
        "9007199254740991",
        "18446744073709551615",
    ];
    let part = |b: &u8| b.is_ascii_digit() || b"!#$^*?+~".contains(b);
    (6..=128).contains(&text.len())
        && text.iter().all(part)
        && text.iter().filter(|b| b.is_ascii_digit()).count() >= 4
        && !LIMITS.iter().any(|limit| text == limit.as_bytes())
}

/// `user_password2`, `config.password`: a name, no value.
fn is_identifier(text: &str) -> bool {
    let word = |word: &str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        !letters.is_empty() && letters.bytes().all(|b| b.is_ascii_alphabetic())
    };
    text.contains(['.', '_']) && text.split(['.', '_']).all(word)
}

/// `load(x)`, `args[0]`: code that makes a value.
fn is_call(text: &str) -> bool {
    let name = text.find(|c: char| !c.is_alphanumeric() && !"_.".contains(c));
    let Some(opened) = name.filter(|at| *at > 1).map(|at| &text[at..]) else {
        return false;
    };
    let pairs = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];
    let closed = |(open, close): &(char, char)| opened.starts_with(*open) && text.ends_with(*close);
    pairs.iter().any(closed) || opened == "("
}

fn is_key(bytes: &[u8], evidence: Evidence) -> bool {
    /// Digits from which on a number is a key.
    const LONG_NUMBER: usize = 16;
    if is_example(bytes) || is_date(bytes) || is_color(bytes) || is_path(bytes) {
        return false;
    }
    if evidence >= Evidence::Line && (is_key_of_signs(bytes) || is_short_key(bytes)) {
        return true;
    }
    if bytes.len() >= LONG_NUMBER && is_number(bytes) {
        return true;
    }
    // `key: ed25519.Ed25519PrivateKey`
    if evidence == Evidence::Bare && bytes.contains(&b'.') && letters::are_name(bytes) {
        return false;
    }
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_-+/=.:~!#%@".contains(b);
    bytes.len() >= 16
        && bytes.iter().all(plain)
        && (looks_random(bytes)
            || looks_hex(bytes)
            || is_base64_key(bytes) && !bytes.contains(&b'.')
            || letters::are_random(bytes) && !letters::are_name(bytes))
}

/// A key of letters and digits among any signs, as managers of passwords and
/// frameworks generate them.
fn is_key_of_signs(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let shape = Shape::of(bytes);
    let spaces = bytes.iter().filter(|b| **b == b' ').count();
    let odd = bytes.iter().any(|b| b"$^&*?,;()[]{}|<>!#%~=+@".contains(b));
    let chance = letters::over_chance(bytes);
    let changing = shape.changes * 5 >= bytes.len() * 2;
    (16..=256).contains(&bytes.len())
        && bytes.iter().all(|b| matches!(b, b' '..=b'~'))
        && shape.sorts() >= 3
        && shape.distinct >= 8
        && odd
        && spaces * 12 <= bytes.len()
        && (chance < 20 && shape.changes * 4 >= bytes.len() || chance < 40 && changing)
        && !is_call(text)
        && !(is_variable(text) && chance >= -10)
        && !(is_template(text) && shape.others < 8)
}

/// A value too short to look random that is a key where its place says so.
fn is_short_key(bytes: &[u8]) -> bool {
    let shape = Shape::of(bytes);
    let signed = (8..16).contains(&bytes.len())
        && shape.sorts() == 4
        && shape.distinct >= 7
        && shape.numbers > 1
        && shape.changes * 2 >= bytes.len()
        && bytes.iter().all(u8::is_ascii_graphic)
        && letters::over_chance(bytes) < 20;
    let signs = bytes.iter().any(|b| b"$^&*?!#%~=+@".contains(b));
    looks_random_short(bytes)
        || signed && signs
        || letters::are_surely_random(bytes)
        || bytes.len() >= 8 && bytes.iter().all(u8::is_ascii_digit) && is_number(bytes)
}

/// A key though its name says only that it is some key: long, with capitals, small
/// letters and digits throughout.
fn is_sure_key(bytes: &[u8]) -> bool {
    const LEAST: usize = 20;
    let part = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-".contains(b);
    let shape = Shape::of(bytes);
    bytes.len() >= LEAST
        && bytes.iter().all(part)
        && shape.upper >= 3
        && shape.lower >= 3
        && shape.digits >= 2
        && shape.entropy >= 3.8
        && looks_random(bytes)
        && !is_path(bytes)
        && !is_example(bytes)
}

/// `1979-05-27T07:32:00Z`.
fn is_date(bytes: &[u8]) -> bool {
    let form = b"0000-00-00T";
    bytes.len() > form.len()
        && bytes.iter().zip(form).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        })
}

/// `#ff00aa12`: a colour, as designs call theirs tokens.
fn is_color(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"#").unwrap_or_default();
    matches!(digits.len(), 3 | 4 | 6 | 8) && digits.iter().all(u8::is_ascii_hexdigit)
}

/// Folders and files: several words between slashes.
pub(crate) fn is_path(bytes: &[u8]) -> bool {
    let parts: Vec<&[u8]> = bytes.split(|b| *b == b'/').collect();
    let word = |part: &&&[u8]| {
        let lower = |b: &u8| b.is_ascii_lowercase() || matches!(b, b'-' | b'_' | b'.');
        part.len() >= 2 && part.iter().all(lower)
    };
    parts.len() >= 3 && parts.iter().filter(word).count() * 2 >= parts.len()
}
