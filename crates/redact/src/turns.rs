//! Turns of speech between a name and its value: `mon mot de passe, c'est x`,
//! `the password's x`, `contraseña→ x`, `pass: x`, and the key of a wallet, which
//! its form tells where a name is near.

use super::follows::{Name, is_behind_user};
use super::names::Promise;
use super::spoken::is_plain;
use super::value::{Span, blanks, value};
use super::vendors::is_word_start;
use super::words::is_drawn_as_password;
use super::{Kind, command};

/// What takes a name up again behind a comma.
const RESUMES: [&str; 12] = [
    "c'est ", "c’est ", "it's ", "it’s ", "it is ", "that's ", "das ist ", "es ist ", "es ", "é ",
    "è ", "это ",
];
/// Digits of a wallet's key.
const KEY: usize = 64;
/// Bytes between such a key and the name behind it.
const NEAR: usize = 48;

/// The value to which one of these turns leads from a name.
pub(super) fn turned(bytes: &[u8], name: Name) -> Option<Span> {
    let rest = &bytes[name.end..];
    let behind = |turns: &[&str]| {
        let turn = turns
            .iter()
            .find(|turn| rest.starts_with(turn.as_bytes()))?;
        Some(name.end + turn.len())
    };
    let resumed = behind(&[", "]).and_then(|from| {
        let resumes = RESUMES
            .iter()
            .find(|turn| bytes[from..].starts_with(turn.as_bytes()))?;
        Some(from + resumes.len())
    });
    let from = resumed.or_else(|| behind(&["'s ", "’s ", "→"]))?;
    let found = value(bytes, from + blanks(bytes, from), name.promise)?;
    // "The password's sha256 hash" and its like say something of it.
    is_telling(&bytes[found.start..found.end]).then_some(found)
}

/// The value behind `pass:`, which counts what passed as well: it has to look
/// like a password, or stand behind a user.
pub(super) fn passed(bytes: &[u8], at: usize) -> Option<Span> {
    let rest = &bytes[at..];
    let named = rest.starts_with(b"pass:") || rest.starts_with(b"Pass:");
    if !named || !is_word_start(bytes, at) {
        return None;
    }
    let from = at + "pass:".len();
    if ["-pass ", "-passin ", "-passout "]
        .iter()
        .any(|option| bytes[..at].ends_with(option.as_bytes()))
    {
        return given(bytes, from);
    }
    let found = value(bytes, from + blanks(bytes, from), Promise::Password)?;
    let text = &bytes[found.start..found.end];
    let mixed = text.iter().any(|b| b"!@#$%^&*?+~".contains(b)) && is_telling(text);
    (mixed || is_behind_user(bytes, at) && is_plain(text)).then_some(found)
}

/// What OpenSSL is given: `-passin pass:x`.
fn given(bytes: &[u8], from: usize) -> Option<Span> {
    let (start, end) = command::value(bytes, from)?;
    command::is_given(&bytes[start..end]).then_some(Span {
        kind: Kind::Password,
        start,
        end,
    })
}

/// Whether a word has letters and digits as passwords have them, or was drawn.
pub(super) fn is_telling(text: &[u8]) -> bool {
    let digit = text.iter().any(u8::is_ascii_digit);
    let letter = text
        .iter()
        .any(|b| b.is_ascii_alphabetic() || !b.is_ascii());
    let joined = text.iter().any(|b| matches!(b, b'/' | b'=' | b'(' | b'<'));
    (digit && letter || is_drawn_as_password(text)) && !joined && text.len() > 6
}

/// The key of a wallet before the name that says so: `0x… — приватный ключ
/// кошелька`. A hash has the same form, so the name has to say that it is private.
pub(super) fn wallet_key(bytes: &[u8], name: Name) -> Option<Span> {
    const PRIVATE: [&str; 7] = [
        "privat",
        "privé",
        "privad",
        "приват",
        "закрыт",
        "секрет",
        "私",
    ];
    let reach = name.start.saturating_sub(KEY + 2 + NEAR);
    let before = &bytes[reach..name.start];
    let start = reach + memchr::memmem::rfind(before, b"0x")?;
    let end = start + 2 + KEY;
    let digits = bytes.get(start + 2..end)?;
    let whole = digits.iter().all(u8::is_ascii_hexdigit)
        && bytes.get(end).is_none_or(|b| !b.is_ascii_hexdigit());
    if !whole || end > name.start {
        return None;
    }
    let around = &bytes[end..bytes.len().min(name.end + NEAR / 2)];
    let line = around.split(|b| *b == b'\n').next().unwrap_or_default();
    let told = String::from_utf8_lossy(line).to_lowercase();
    let private = PRIVATE.iter().any(|word| told.contains(word));
    (private && line.len() >= name.start - end).then_some(Span {
        kind: Kind::PrivateKey,
        start,
        end,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;

    #[test]
    fn turns_of_speech_lead_to_a_password() {
        let redactor = Redactor::default();
        for (text, secret) in [
            ("mon mot de passe, c'est Sardine42x", "Sardine42x"),
            ("my password, it's Gr4nite77x", "Gr4nite77x"),
            ("mi contraseña, es Girasol88x", "Girasol88x"),
            ("The password's Walnut4455, ok?", "Walnut4455"),
            ("pass: Tr0mbone!7", "Tr0mbone!7"),
            ("user: bob pass: hunter2244", "hunter2244"),
            ("creds are admin / Walnut4455", "Walnut4455"),
            ("contraseña→ Girasol88x", "Girasol88x"),
            ("пароль→Herbst2026x", "Herbst2026x"),
        ] {
            let redacted = redactor.redact(text).text;
            assert!(!redacted.contains(secret), "{redacted}");
            assert_eq!(redactor.redact(&redacted).text, redacted);
        }
    }

    #[test]
    fn a_wallets_key_is_told_from_a_hash_by_its_name() {
        let redactor = Redactor::default();
        let key = format!("0x{}", "4c0883a69102937d".repeat(4));
        for name in ["приватный ключ кошелька", "the private key of the wallet"]
        {
            let redacted = redactor.redact(&format!("{key} — {name}")).text;
            assert!(!redacted.contains(&key), "{redacted}");
        }
        for name in ["hash of the transaction", "the name of the map", "имя кэша"] {
            let text = format!("{key} — {name}");
            assert_eq!(redactor.redact(&text).text, text);
        }
    }

    #[test]
    fn what_is_said_of_passwords_and_counted_stays() {
        let redactor = Redactor::default();
        for text in [
            "The password's length is 12",
            "the password's sha256 hash",
            "pass: 12 fail: 3",
            "--- PASS: TestLogin2FA (0.00s)",
            "pass: TestLogin2",
            "creds are in 1Password / Vault",
            "the password, it's the same",
            "password→hash(password)",
        ] {
            assert_eq!(redactor.redact(text).text, text);
        }
    }
}
