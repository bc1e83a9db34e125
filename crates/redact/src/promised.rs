//! Whether a value is what its name promises.

use super::names::Promise;
use super::shape::{Shape, is_example, is_written_as_example, looks_drawn};
use super::shape::{looks_drawn_short, looks_hex, looks_random};
use super::value::Quoted;
use super::words::is_drawn_as_password;
use super::{algorithms, drawn, letters, signs, tongues};

/// Whether a value is what its name promises, rather than a type, a variable,
/// a call or an example.
pub(super) fn is_secret(text: &[u8], promise: Promise, quoted: Quoted) -> bool {
    if text.starts_with(b"[redacted:") || !std::str::from_utf8(text).is_ok_and(|t| !t.is_empty()) {
        return false;
    }
    if algorithms::is_named(text) || promise != Promise::Password && is_colour(text) {
        return false;
    }
    if is_clearly_drawn(text, promise, quoted) {
        return true;
    }
    let names = is_role(text) || quoted == Quoted::No && (is_type(text) || is_constant(text));
    if refers(text) || names || is_example(text) && promise != Promise::Password {
        return false;
    }
    let spaces = text.iter().any(u8::is_ascii_whitespace);
    match promise {
        Promise::Perhaps if is_uuid(text) || is_joined(text) => false,
        Promise::Random | Promise::Perhaps if is_date(text) => false,
        // In quotes no variable can be meant.
        Promise::Random if quoted == Quoted::Yes && is_short_key(text) => true,
        // No count and no id is as long.
        Promise::Random if text.len() >= LONG_NUMBER && is_number(text) => true,
        Promise::Random | Promise::Perhaps => {
            let plain = text.iter().all(|b| {
                b.is_ascii_alphanumeric()
                    || matches!(
                        b,
                        b'_' | b'-'
                            | b'+'
                            | b'/'
                            | b'='
                            | b'.'
                            | b':'
                            | b'~'
                            | b'!'
                            | b'#'
                            | b'%'
                            | b'@'
                    )
            });
            plain && text.len() >= 16 && is_long_key(text) && !is_path(text)
        }
        Promise::Password => {
            let code = text
                .iter()
                .any(|b| matches!(b, b'(' | b'[' | b'{' | b'<' | b'|'));
            let known = is_word_of_programs(text) || is_rules(text);
            let made = is_made(text) || is_number(text) || is_drawn_as_password(text);
            let made = made && !known && !is_example_of_password(text);
            match quoted {
                Quoted::Yes => made && !spaces,
                Quoted::No => made && !code && !is_identifier(text),
            }
        }
    }
}

/// Whether a text is a variable, a template, a call, a path or an address: where
/// a secret comes from, not the secret.
fn refers(text: &[u8]) -> bool {
    const MARKS: [&str; 7] = [
        "://",
        "process.env",
        "os.environ",
        "getenv",
        "env.",
        "::",
        "->",
    ];
    let begins = text.first().is_some_and(|b| b"${<%(/~@&*.".contains(b));
    begins
        || text.starts_with(b"http")
        || text.starts_with(b"#/")
        || is_template(text)
        || MARKS
            .iter()
            .any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
}

/// Whether something else is to be filled into a text: `{{ x }}`, `$(x)`,
/// `${x}`, `<%= x %>`.
pub(super) fn is_template(text: &[u8]) -> bool {
    ["{{", "$(", "${", "<%"]
        .iter()
        .any(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
}

/// Whether a value was drawn, whatever else its first character or a sign in it
/// might mean. In quotes the value is all that stands between them.
fn is_clearly_drawn(text: &[u8], promise: Promise, quoted: Quoted) -> bool {
    let drawn = match (promise, quoted) {
        (Promise::Random, Quoted::Yes) => {
            drawn::is_key(text)
                || drawn::is_key_of_signs(text)
                || signs::is_key(text) && !is_date(text)
                || signs::is_short_key(text)
        }
        (Promise::Random, Quoted::No) => drawn::is_key(text),
        (Promise::Password, Quoted::Yes) => {
            drawn::is_password(text) && !is_word_of_programs(text) && !is_rules(text)
        }
        (Promise::Password, Quoted::No) | (Promise::Perhaps, _) => false,
    };
    drawn && !is_written_as_example(text)
}

/// `:py:data`: what Sphinx writes before the name of a type.
fn is_role(text: &[u8]) -> bool {
    let part = |b: &u8| b.is_ascii_lowercase() || matches!(b, b':' | b'-');
    text.starts_with(b":") && text[1..].contains(&b':') && text.iter().all(part)
}

/// `ed25519.Ed25519PrivateKey`: a type of keys in a module.
fn is_type(text: &[u8]) -> bool {
    let ends = [&b"Key"[..], b"Token", b"Secret", b"Password"];
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_');
    let type_name = text.rsplit(|b| *b == b'.').next().unwrap_or_default();
    let capital = type_name.first().is_some_and(u8::is_ascii_uppercase);
    capital && text.iter().all(part) && ends.iter().any(|end| type_name.ends_with(end))
}

/// `token.ERRORTOKEN`: a constant in a module.
fn is_constant(text: &[u8]) -> bool {
    let Some(dot) = text.iter().rposition(|b| *b == b'.') else {
        return false;
    };
    let module = |b: &u8| b.is_ascii_lowercase() || matches!(b, b'_' | b'.');
    let constant = |b: &u8| b.is_ascii_uppercase() || *b == b'_';
    text[..dot].iter().all(module) && text[dot + 1..].iter().all(constant)
}

/// Digits from which on a number behind the name of a key is one.
const LONG_NUMBER: usize = 16;

/// Whether a value is a key though its name tells only of some key: long, with
/// capitals, small letters and digits throughout.
pub(super) fn is_sure_key(text: &[u8]) -> bool {
    const LEAST: usize = 20;
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-');
    let shape = Shape::of(text);
    let mixed = shape.upper >= 3 && shape.lower >= 3 && shape.digits >= 2;
    let drawn = mixed && shape.entropy >= 3.8 && looks_random(text);
    let whole = text.len() >= LEAST && text.iter().all(part);
    whole && drawn && !is_path(text) && !is_example(text)
}

fn is_long_key(text: &[u8]) -> bool {
    let drawn = looks_drawn(text) && !letters::are_name(text);
    drawn || looks_random(text) || looks_hex(text) || letters::are_drawn(text)
}

/// Whether a text is an example. A few digits drawn at random are often the
/// same ones, as those of no other text are.
fn is_example_of_password(text: &[u8]) -> bool {
    let shape = Shape::of(text);
    let few = (3..5).contains(&shape.distinct) && shape.digits > 2;
    !few && is_example(text)
}

/// Whether a value too short to look random is a key where its place says that
/// it may be one.
pub(super) fn is_short_key(text: &[u8]) -> bool {
    const DIGITS: usize = 8;
    looks_drawn_short(text)
        || letters::are_surely_drawn(text)
        || text.len() >= DIGITS && is_number(text)
}

/// Whether digits alone, or among signs as passwords have them, may be a
/// password. Dates, times, versions and amounts have other signs.
fn is_number(text: &[u8]) -> bool {
    // The greatest numbers of programs.
    const LIMITS: [&str; 5] = [
        "2147483647",
        "4294967295",
        "9007199254740991",
        "9223372036854775807",
        "18446744073709551615",
    ];
    let part = |b: &u8| b.is_ascii_digit() || b"!#$^*?+~".contains(b);
    (6..=128).contains(&text.len())
        && text.iter().all(part)
        && text.iter().filter(|b| b.is_ascii_digit()).count() >= 4
        && !LIMITS.iter().any(|limit| text == limit.as_bytes())
}

/// Whether a text mixes letters with digits or signs as passwords do. Letters
/// of any language count, but a sign at the end of a foreign word is that of a
/// sentence, and what is written without spaces is one.
fn is_made(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let is_mark = |c: char| c.is_ascii_punctuation();
    let core = text.trim_matches(is_mark);
    if text.chars().any(is_unspaced) || tongues::is_name(core) {
        return false;
    }
    let foreign = text.chars().any(|c| !c.is_ascii() && c.is_alphabetic());
    let judged = if foreign { core } else { text };
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    let signs = judged
        .bytes()
        .any(|b| b.is_ascii_punctuation() && !matches!(b, b'_' | b'-' | b'.' | b'/'));
    let length = text.chars().count();
    (6..=128).contains(&length) && text.chars().any(char::is_alphabetic) && (digits || signs)
}

/// Whether a letter is of a language that does not part its words, or of one
/// whose letters no field for a password takes.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// `user_password2`, `config.password`, `args[0].pw`: a name, no value.
fn is_identifier(text: &[u8]) -> bool {
    let words = text.split(|b| matches!(b, b'.' | b'_'));
    let mut count = 0;
    for word in words {
        count += 1;
        let letters = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        if letters == 0 || !word[letters..].iter().all(u8::is_ascii_digit) {
            return false;
        }
    }
    count > 1
}

/// `#ff00aa12`: a colour, as designs call theirs tokens.
fn is_colour(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"#").unwrap_or_default();
    matches!(digits.len(), 3 | 4 | 6 | 8) && digits.iter().all(u8::is_ascii_hexdigit)
}

/// `1979-05-27T07:32:00Z`.
fn is_date(text: &[u8]) -> bool {
    let form = b"0000-00-00T";
    text.len() > form.len()
        && text.iter().zip(form).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        })
}

fn is_uuid(text: &[u8]) -> bool {
    let lengths = text.split(|b| *b == b'-').map(<[u8]>::len);
    let hex = text.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    hex && lengths.eq([8, 4, 4, 4, 12])
}

/// Words and numbers with signs between them, as the keys of caches, tables and
/// stores are: `user:42:profile:v2`, `uploads/2026/11/report-v2.pdf`.
pub(super) fn is_joined(text: &[u8]) -> bool {
    // What is longer is no id.
    const LONGEST: usize = 8;
    let parts = text.split(|b| !b.is_ascii_alphanumeric());
    let mut count = 0;
    for part in parts.filter(|part| !part.is_empty()) {
        count += 1;
        let Some((_, inner)) = part.split_first() else {
            continue;
        };
        let lower = part.iter().any(u8::is_ascii_lowercase);
        let cased = lower && inner.iter().any(u8::is_ascii_uppercase);
        let turns = part.windows(2);
        let turns = turns.filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
        let turns = turns.count();
        // Groups of capitals and digits are those of a licence.
        let group = turns > 0 && part.len() > 4 && part.iter().any(u8::is_ascii_uppercase);
        let date = part.len() == 5 && part[2] == b'T' && turns == 2;
        if cased || group && !date || turns > 1 && part.len() > LONGEST {
            return false;
        }
    }
    count > 1
}

/// Folders and files: several words between slashes.
pub(super) fn is_path(text: &[u8]) -> bool {
    let parts: Vec<&[u8]> = text.split(|b| *b == b'/').collect();
    let words = parts
        .iter()
        .filter(|part| {
            part.len() >= 2
                && part
                    .iter()
                    .all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_' | b'.'))
        })
        .count();
    parts.len() >= 3 && words * 2 >= parts.len()
}

/// `required|string|min:8`: what a password has to be.
fn is_rules(text: &[u8]) -> bool {
    const RULES: [&str; 8] = [
        "required",
        "nullable",
        "sometimes",
        "confirmed",
        "string",
        "bail",
        "min",
        "max",
    ];
    let names = || {
        let parts = text.split(|b| *b == b'|');
        parts.map(|part| part.split(|b| *b == b':').next().unwrap_or_default())
    };
    let written = |name: &[u8]| name.iter().all(|b| b.is_ascii_lowercase() || *b == b'_');
    let known = |name: &[u8]| RULES.iter().any(|rule| name == rule.as_bytes());
    text.contains(&b'|') && names().all(written) && names().any(known)
}

/// What programs and their manuals write where a password would stand.
pub(super) fn is_word_of_programs(text: &[u8]) -> bool {
    const WORDS: [&str; 7] = [
        "base64", "sha256", "sha512", "md5", "utf-8", "utf8", "argon2",
    ];
    let lower = text.to_ascii_lowercase();
    // `base64-encoded`
    let first = lower.split(|b| *b == b'-').next().unwrap_or_default();
    let named = |word: &&str| lower == word.as_bytes() || first == word.as_bytes();
    WORDS.iter().any(named) || memchr::memmem::find(&lower, b"password").is_some()
}
