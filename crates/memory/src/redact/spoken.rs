//! Passwords as people say them: `the password for the shop is x`, and
//! passwords that are nothing but letters.

use super::Kind;
use super::Redactor;
use super::names::Promise;
use super::value::{Span, value};
use super::words::is_word_as_password;

/// Bytes before the verb in which the name is sought.
const BEFORE: usize = 72;
/// Words between the name and the verb: `password for the staging database is`.
const BETWEEN: usize = 5;

impl Redactor {
    /// The value behind the verb at `at`, if what it is said of is a secret.
    pub(super) fn spoken(&self, bytes: &[u8], at: usize) -> Option<Span> {
        const VERBS: [&[u8]; 5] = [b"is ", b"is: ", b"be ", b"was ", b"ist "];
        let rest = &bytes[at..];
        let verb = VERBS.iter().find(|verb| rest.starts_with(verb))?;
        if at == 0 || bytes[at - 1] != b' ' {
            return None;
        }
        let sentence = &bytes[at.saturating_sub(BEFORE)..at - 1];
        let from = sentence
            .iter()
            .rposition(|b| matches!(b, b'\n' | b'.' | b'?' | b'!' | b';' | b':' | b'"'))
            .map_or(0, |place| place + 1);
        let mut words = sentence[from..]
            .rsplit(|b| *b == b' ')
            .filter(|word| !word.is_empty());
        let promise = (0..=BETWEEN).find_map(|_| {
            let word = words.next()?;
            let word = word.strip_suffix(b"'s").unwrap_or(word);
            self.promise(word).or_else(|| {
                // `API key`, `access token`: two words.
                let key = word.eq_ignore_ascii_case(b"key");
                key.then_some(Promise::Random)
            })
        })?;
        let start = at + verb.len();
        match promise {
            Promise::Password => value(bytes, start, promise).or_else(|| said(bytes, start)),
            Promise::Random | Promise::Perhaps => value(bytes, start, Promise::Random),
        }
    }
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
    use super::*;

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
