//! Passwords as people say them: `the password for the shop is x`, `I changed
//! the password to x`, `use password x`.

use super::Kind;
use super::drawn::{is_password, is_reference};
use super::follows::{Name, Tongue, is_behind_user, words_before};
use super::letters::over_chance;
use super::names::Promise;
use super::promised::{is_joined, is_secret};
use super::resumed::word_behind;
use super::shape::looks_drawn_short;
use super::topic::Topic;
use super::value::{Quoted, Span, blanks, value};
use super::vendors::is_word_start;
use super::words::{is_drawn_as_password, is_word_as_password};
use super::{phrases, tongues};

/// Bytes behind the name in which the verb is sought.
const REACH: usize = 120;
/// Words between the name and the verb: `password for the staging database is`.
const BETWEEN: usize = 5;

/// A text and the name in it of which something may be said.
pub(super) struct Sentence<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) name: Name,
}

/// What a word says about the one behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// It is the value: `is`.
    Is(Tongue),
    /// It is, if something was changed to it: `to`.
    To,
    /// It may be, and is for sure if it looks so: `-`.
    Dash,
}

/// The value that is said to be what the name promises.
pub(super) fn said_of(sentence: &Sentence<'_>) -> Option<Span> {
    let Sentence { bytes, name } = *sentence;
    let (mut changed, mut about) = (false, false);
    let (mut topic, mut before) = (Topic::Begun, &bytes[name.start..name.end]);
    // `select password from users where name = x`
    let mut sought = false;
    let mut at = name.end + blanks(bytes, name.end);
    let most = bytes.len().min(name.end + REACH);
    for place in 0..=BETWEEN {
        let rest = &bytes[at.min(most)..most];
        let Some(length) = rest.iter().position(u8::is_ascii_whitespace) else {
            break;
        };
        let word = &rest[..length];
        let next = at + length + blanks(bytes, at + length);
        let found = match verb(word, name.tongue) {
            Some(Verb::Is(tongue)) => {
                let from = behind_adverbs(bytes, behind_colon(bytes, next));
                is(sentence, from, tongue)
            }
            Some(Verb::To) => {
                let changed = changed || changes_before(bytes, name);
                let found = match changed {
                    true => to(sentence, next),
                    false => changed_behind(sentence, next),
                };
                found.filter(|span| topic.allows(&bytes[span.start..span.end]))
            }
            Some(Verb::Dash) if place == 0 || name.tongue == Tongue::Other => {
                strict(bytes, next, name.promise)
            }
            _ => None,
        };
        // `password for bob: x`, `password (root): x`. In other languages what
        // tells passwords apart stands behind their name: `пароль администратора`.
        let about_it = about || word.starts_with(b"(") || name.tongue == Tongue::Other;
        let told = about_it && (word.ends_with(b":") || word == b"=" && !sought);
        let found = found.or_else(|| told.then(|| given(sentence, next))?);
        if found.is_some() {
            return found;
        }
        // A sentence ends, or what stands between is no longer about the name.
        let ends = matches!(
            word.last(),
            Some(b'.' | b'?' | b'!' | b';' | b':' | b'"' | b',')
        );
        if ends || bytes.get(at + length) == Some(&b'\n') {
            break;
        }
        changed |= is_change(word);
        about |= place == 0 && tongues::is_about(word);
        topic = topic.behind(before, word);
        before = word;
        sought |= word.eq_ignore_ascii_case(b"where");
        at = next;
    }
    at_once(sentence)
}

/// The value at `from`, where only one that looks so is one.
fn strict(bytes: &[u8], from: usize, promise: Promise) -> Option<Span> {
    match promise {
        Promise::Password | Promise::Random => value(bytes, from, promise),
        Promise::Perhaps => value(bytes, from, Promise::Random)
            .filter(|span| !is_joined(&bytes[span.start..span.end])),
    }
}

/// The value that stands in the place where one is due.
fn given(sentence: &Sentence<'_>, from: usize) -> Option<Span> {
    let Sentence { bytes, name } = *sentence;
    let found = strict(bytes, from, name.promise);
    found.or_else(|| match name.promise {
        Promise::Password => phrases::in_quotes(bytes, from, &bytes[name.start..name.end]),
        Promise::Random | Promise::Perhaps => None,
    })
}

fn is(sentence: &Sentence<'_>, from: usize, tongue: Tongue) -> Option<Span> {
    let Sentence { bytes, name } = *sentence;
    // Which words of other languages are no passwords is not known.
    let quoted = matches!(bytes.get(from), Some(b'"' | b'\'' | b'`'));
    given(sentence, from).or_else(|| match name.promise {
        Promise::Password if quoted || tongue == Tongue::English => said(bytes, from),
        Promise::Password | Promise::Random | Promise::Perhaps => None,
    })
}

/// Behind the colon of `le mot de passe est : x`.
fn behind_colon(bytes: &[u8], from: usize) -> usize {
    match bytes.get(from) {
        Some(b':') => from + 1 + blanks(bytes, from + 1),
        _ => from,
    }
}

/// A value to which something was changed; letters only in quotes.
fn to(sentence: &Sentence<'_>, from: usize) -> Option<Span> {
    let Sentence { bytes, name } = *sentence;
    let quoted = matches!(bytes.get(from), Some(b'"' | b'\'' | b'`'));
    let found = strict(bytes, from, name.promise);
    found.or_else(|| (quoted && name.promise == Promise::Password).then(|| said(bytes, from))?)
}

/// The same before the word that says so: `ich habe das Passwort auf x gesetzt`.
fn changed_behind(sentence: &Sentence<'_>, from: usize) -> Option<Span> {
    let Sentence { bytes, name } = *sentence;
    let found = strict(bytes, from, name.promise);
    found.filter(|span| is_change(word_behind(bytes, span.end)))
}

fn verb(word: &[u8], tongue: Tongue) -> Option<Verb> {
    let word = word.strip_suffix(b":").unwrap_or(word);
    if tongues::is_copula(word) || tongue == Tongue::Other && tongues::is_copula_of_its_own(word) {
        let english = [&b"is"[..], b"was", b"be"].contains(&word);
        return Some(Verb::Is(match english {
            true => tongue,
            false => Tongue::Other,
        }));
    }
    let any = |words: &[&str]| words.iter().any(|w| word == w.as_bytes());
    if any(&["to", "auf", "zu", "a", "à", "as"]) {
        return Some(Verb::To);
    }
    any(&["-", "–", "—", "->", "→", "=>"]).then_some(Verb::Dash)
}

/// Whether a word says that something was set or changed.
pub(super) fn is_change(word: &[u8]) -> bool {
    const WORDS: [&str; 32] = [
        "set",
        "sets",
        "setting",
        "change",
        "changed",
        "changes",
        "changing",
        "reset",
        "resets",
        "resetting",
        "rotated",
        "rotate",
        "updated",
        "update",
        "updating",
        "switched",
        "switch",
        "configured",
        "defaults",
        "equal",
        "gesetzt",
        "geändert",
        "setze",
        "setzte",
        "zurückgesetzt",
        "gestellt",
        "stelle",
        "stellte",
        "cambiado",
        "cambié",
        "changé",
        "hardcoded",
    ];
    WORDS
        .iter()
        .any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
}

/// Whether the words that lead to the name say so: `I changed the password`.
fn changes_before(bytes: &[u8], name: Name) -> bool {
    words_before(bytes, name.start)
        .take(BETWEEN + 1)
        .any(is_change)
}

/// Behind `now`, `still`, `set to` and their like.
fn behind_adverbs(bytes: &[u8], from: usize) -> usize {
    const WORDS: [&str; 9] = [
        "now ",
        "currently ",
        "still ",
        "just ",
        "set to ",
        "jetzt ",
        "nun ",
        "ahora ",
        "maintenant ",
    ];
    let rest = &bytes[from.min(bytes.len())..];
    let adverb = WORDS.iter().find(|w| rest.starts_with(w.as_bytes()));
    from + adverb.map_or(0, |w| w.len())
}

/// The value right behind the name: `use password x`, `api key x`.
fn at_once(sentence: &Sentence<'_>) -> Option<Span> {
    let Sentence { bytes, name } = *sentence;
    let from = name.end + blanks(bytes, name.end);
    match name.promise {
        Promise::Password => {
            const BEFORE: [&str; 16] = [
                "use",
                "using",
                "new",
                "old",
                "with",
                "temp",
                "temporary",
                "initial",
                "default",
                "root",
                "admin",
                "sudo",
                "wifi",
                "try",
                "mit",
                "neues",
            ];
            let led = words_before(bytes, name.start).next().is_some_and(|word| {
                BEFORE
                    .iter()
                    .any(|w| word.eq_ignore_ascii_case(w.as_bytes()))
            });
            let led = led || is_behind_user(bytes, name.start) || is_column(bytes, name);
            let foreign = name.tongue == Tongue::Other;
            let span = value(bytes, from, Promise::Password)?;
            let text = &bytes[span.start..span.end];
            let given = led && (is_plain(text) || is_drawn_as_password(text));
            (given || foreign && is_strong(text) || is_clear(text)).then_some(span)
        }
        Promise::Random => {
            let mut whole = bytes[name.start..name.end].iter();
            let is_word = whole.all(|b| b.is_ascii_alphabetic() || *b == b'_');
            let span = value(bytes, from, Promise::Random)?;
            let text = &bytes[span.start..span.end];
            let drawn = is_word && is_secret(text, Promise::Random, Quoted::No);
            (drawn && text.iter().all(u8::is_ascii_alphanumeric)).then_some(span)
        }
        Promise::Perhaps => None,
    }
}

/// The password behind a user with whom somebody is to log in, whose verb
/// begins at `at`: `log in as bob / x`.
pub(super) fn logged_in(bytes: &[u8], at: usize) -> Option<Span> {
    const VERBS: [&str; 7] = [
        "login",
        "log in",
        "logged in",
        "sign in",
        "signed in",
        "creds",
        "credentials",
    ];
    const LINKS: [&str; 6] = [" with ", " as ", " using ", ": ", " are ", " is "];
    // Ways to log in rather than users.
    const WAYS: [&str; 6] = ["oauth", "saml", "fido", "webauthn", "totp", "oidc"];
    if !is_word_start(bytes, at) {
        return None;
    }
    let rest = &bytes[at..bytes.len().min(at + REACH)];
    let behind = |from: usize, words: &[&str]| {
        let word = words.iter().find(|word| {
            let head = rest.get(from..from + word.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
        })?;
        Some(from + word.len())
    };
    let from = behind(behind(0, &VERBS)?, &LINKS)?;
    let user = rest[from..]
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'@' | b'.' | b'+'))
        .count();
    let sign = from + user + blanks(rest, from + user);
    if user == 0 || !matches!(rest.get(sign), Some(b'/' | b':')) {
        return None;
    }
    let found = value(bytes, at + sign + 1, Promise::Password)?;
    let text = &bytes[found.start..found.end];
    let lower = text.to_ascii_lowercase();
    let way = WAYS.iter().any(|way| lower.starts_with(way.as_bytes()));
    (is_plain(text) && !way).then_some(found)
}

/// Whether the name begins a line that aligns one value behind it:
/// `Password    x`.
fn is_column(bytes: &[u8], name: Name) -> bool {
    let before = &bytes[name.start.saturating_sub(REACH)..name.start];
    let begin = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
    let indent = before[begin..].iter().all(u8::is_ascii_whitespace);
    let gap = blanks(bytes, name.end);
    let from = name.end + gap;
    let rest = &bytes[from..bytes.len().min(from + REACH)];
    let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
    let aligned = gap > 1 || bytes.get(name.end) == Some(&b'\t');
    indent && aligned && !line.trim_ascii_end().iter().any(u8::is_ascii_whitespace)
}

/// Whether a word looks like a password where nothing but a space is before it.
pub(super) fn is_plain(text: &[u8]) -> bool {
    let joined = text
        .iter()
        .any(|b| matches!(b, b'/' | b'.' | b'=' | b':' | b'_'));
    let digits = text.iter().filter(|b| b.is_ascii_digit()).count();
    !is_means(text) && !joined && digits > 0 && text.len() > 6
}

/// Whether a word is of every kind of character that forms ask of a password, so
/// that it needs no word before it: `мой пароль x`.
fn is_strong(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let upper = text.chars().any(char::is_uppercase);
    let lower = text.chars().any(char::is_lowercase);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let joined = text.contains(['/', '=', ':', '.']);
    let named = is_means(text.as_bytes()) || text.chars().count() < 8;
    upper && lower && digits > 1 && !joined && !named
}

/// Whether a word was drawn for sure, so that it is a password whatever stands
/// before its name: `use the password x`. What is said of a password may have a
/// number in it too, but it is of words: `the password RFC8018Section`.
fn is_clear(text: &[u8]) -> bool {
    const BY_CHANCE: i32 = 10;
    let joined = text.iter().any(|b| b"/=:._,;()[]{}<>|".contains(b));
    let digits = text.iter().filter(|b| b.is_ascii_digit()).count();
    let sign = |b: &u8| b.is_ascii_punctuation() && *b != b'-';
    let inner = text.get(1..).unwrap_or_default();
    let signed = digits > 0 && inner.iter().any(sign) && !is_reference(text);
    let drawn = match signed {
        true => is_password(text) || is_strong(text),
        false => looks_drawn_short(text) || text.len() >= 16 && is_strong(text),
    };
    drawn && !joined && !is_means(text) && (signed || over_chance(text) < BY_CHANCE)
}

/// Whether a word is one of those with which passwords are made and kept, or
/// the name of a language.
pub(super) fn is_means(text: &[u8]) -> bool {
    const MEANS: [&str; 10] = [
        "sha", "md5", "base64", "pbkdf", "argon", "bcrypt", "scrypt", "utf", "c++", "c#",
    ];
    let lower = text.to_ascii_lowercase();
    MEANS.iter().any(|m| lower.starts_with(m.as_bytes()))
}

/// A password of letters only, said in prose: quoted, or the last word of its
/// sentence and none that says something about a password.
fn said(bytes: &[u8], start: usize) -> Option<Span> {
    let rest = &bytes[start..bytes.len().min(start + 80)];
    let quote = rest
        .first()
        .copied()
        .filter(|b| matches!(b, b'"' | b'\'' | b'`'));
    let skip = usize::from(quote.is_some());
    let length = rest[skip..]
        .iter()
        .take_while(|b| b.is_ascii_alphabetic())
        .count();
    let word = &rest[skip..skip + length];
    let after = &rest[skip + length..];
    let ends = match quote {
        Some(quote) => after.first() == Some(&quote),
        None => match after.first() {
            None | Some(b'\n' | b'\r') => true,
            Some(b'.' | b',' | b'!') => after.get(1).is_none_or(u8::is_ascii_whitespace),
            _ => false,
        },
    };
    let describes = quote.is_none()
        && [
            &b"ed"[..],
            b"ing",
            b"able",
            b"ible",
            b"ory",
            b"ent",
            b"ive",
            b"ly",
            b"al",
            b"ary",
            b"ant",
            b"ous",
            b"ful",
            b"less",
        ]
        .iter()
        .any(|end| word.ends_with(end));
    (ends && !describes && is_word_as_password(word)).then_some(Span {
        kind: Kind::Password,
        start: start + skip,
        end: start + skip + length,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;

    #[test]
    fn said_passwords_are_found() {
        let redactor = Redactor::default();
        for (text, secret) in [
            ("the password is hunter2", "hunter2"),
            ("password is \"Tr0ub4dor&3\"", "Tr0ub4dor&3"),
            ("My password is correcthorse.", "correcthorse"),
            (
                "The password for the staging database is Sommerregen",
                "Sommerregen",
            ),
            ("the new password will be Herbst2026, ok?", "Herbst2026"),
            ("Das Passwort ist Herbst2026", "Herbst2026"),
            (
                "our API key is 8f7d6a5b4c3d2e1f0a9b",
                "8f7d6a5b4c3d2e1f0a9b",
            ),
        ] {
            let redacted = redactor.redact(text).text;
            assert!(!redacted.contains(secret), "{redacted}");
        }
    }

    #[test]
    fn what_is_said_about_passwords_stays() {
        let redactor = Redactor::default();
        for text in [
            "the password is required",
            "password is wrong.",
            "the password is stored in the vault",
            "The password is not set",
            "my key is under the mat",
            "the token is expired.",
            "a strong password is important.",
            "the password is the same as before",
        ] {
            assert_eq!(redactor.redact(text).text, text);
        }
    }

    #[test]
    fn passwords_of_letters_are_found_where_they_are_assigned() {
        let redactor = Redactor::default();
        for text in [
            "DB_PASSWORD=swordfish",
            "export PGPASSWORD=letmein",
            "password: swordfish",
            "password = 'swordfish'",
            "{\"password\":\"swordfish\"}",
            "{\\\"password\\\": \\\"swordfish\\\"}",
            "password:\nswordfish9\n",
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIxK7MDENG\\\n  bPxRfiCYzKZ1Q2W3E4",
        ] {
            let redacted = redactor.redact(text).text;
            assert!(redacted.contains("[redacted:"), "{text}");
            for secret in ["swordfish", "letmein", "wJalr", "bPxRf"] {
                assert!(!redacted.contains(secret), "{redacted}");
            }
            assert_eq!(redactor.redact(&redacted).text, redacted);
        }
    }

    #[test]
    fn types_and_code_stay() {
        let redactor = Redactor::default();
        for text in [
            "password: string;",
            "password: String,",
            "password: SecretStr",
            "password: required",
            "password = getpass()",
            "password = user_input",
            "password = value",
            "PASSWORD=None",
            "type=\"password\" placeholder=\"Password\"",
            "\"password\": \"string\"",
            "def login(username: str, password: str) -> None:",
            "password:\nThe field is empty",
        ] {
            assert_eq!(redactor.redact(text).text, text);
        }
    }
}
