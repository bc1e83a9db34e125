//! Names that announce a secret: `DB_PASSWORD`, `apiKey`, `client-secret-2`.
//!
//! What counts is how a name ends, without case and signs; a number or a word
//! such as `prod` behind it changes nothing, any other word makes it the name of
//! something else: `password_hash`, `token_type`.

use super::Kind;

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// A password: anything but a word of programs.
    Password,
    /// A key or a token: something random.
    Key,
    /// Perhaps a key: many a `key` is an index, so that it must be beyond doubt.
    Perhaps,
}

impl Promise {
    /// What kind of secret it promises.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Promise::Password => Kind::Password,
            Promise::Key | Promise::Perhaps => Kind::Secret,
        }
    }
}

#[rustfmt::skip]
const PASSWORDS: [&str; 15] = [
    "password", "passwords", "passwd", "passphrase", "passwort", "kennwort", "passcode", "pwd",
    "tosecurestring", "secretstring", "secretbinary", "masterauth", "primaryauth",
    "rediscliauth", "authenticationstring",
];

/// Names of a password that are parts of other words, such as `bypass`: they
/// count behind a break, or behind one of [`OWNERS`].
const SHORT: [&str; 4] = ["pass", "pw", "psk", "mdp"];

/// Whose password it is, with no break before the short name: `DBPASS`.
#[rustfmt::skip]
const OWNERS: [&str; 28] = [
    "db", "database", "sql", "mysql", "postgres", "pg", "mongo", "redis", "rabbit", "smtp",
    "imap", "mail", "email", "ftp", "ssh", "ldap", "user", "admin", "root", "sudo", "login",
    "wifi", "proxy", "keystore", "truststore", "store", "require", "wpa",
];

#[rustfmt::skip]
const KEYS: [&str; 31] = [
    "secret", "secrets", "token", "tokens", "apikey", "apikeys", "accesskey", "accesskeyid",
    "secretkey", "privatekey", "authkey", "signingkey", "encryptionkey", "accountkey",
    "credential", "credentials", "creds", "webhookurl", "masterkey", "sharedkey", "servicekey",
    "servicerolekey", "licensekey", "subscriptionkey", "applicationkey", "consumerkey",
    "hmackey", "authsalt", "loggedinkey", "loggedinsalt", "noncesalt",
];

/// Tokens of these are counted, not kept.
#[rustfmt::skip]
const COUNTED: [&str; 14] = [
    "max", "min", "total", "input", "output", "prompt", "completion", "used", "num", "cached",
    "read", "creation", "reasoning", "thinking",
];

/// Keys that are public by what they are for, or are none of a lock.
const OTHER_KEYS: [&str; 38] = [
    "public",
    "pub",
    "publishable",
    "site",
    "client",
    "primary",
    "foreign",
    "cache",
    "partition",
    "sort",
    "row",
    "index",
    "map",
    "object",
    "host",
    "unique",
    "lookup",
    "dedup",
    "idempotency",
    "group",
    "routing",
    "registry",
    "dict",
    "item",
    "event",
    "query",
    "hash",
    "lock",
    "search",
    "store",
    "state",
    "next",
    "prev",
    "last",
    "s3",
    "redis",
    "rsa",
    "gpg",
];

/// What people write behind a name that has several values.
#[rustfmt::skip]
const SUFFIXES: [&str; 33] = [
    "prod", "production", "test", "testing", "dev", "development", "stage", "staging", "stg",
    "qa", "uat", "live", "sandbox", "preview", "local", "ci", "base", "old", "new", "prev",
    "previous", "next", "primary", "secondary", "backup", "main", "master", "admin", "root",
    "value", "confirm", "confirmation", "override",
];
/// A name has no more of them: `API_KEY_PROD_2`.
const MOST_SUFFIXES: usize = 3;

/// How a password is called in other languages. A name, not a grammar: what
/// stands between it and its value is the same as elsewhere.
#[rustfmt::skip]
pub(crate) const FOREIGN: [&str; 42] = [
    "contraseña", "contrasena", "mot de passe", "motdepasse", "пароль", "Пароль", "ПАРОЛЬ",
    "пароля", "senha", "palavra-passe", "hasło", "haslo", "wachtwoord", "lösenord", "passord",
    "adgangskode", "salasana", "jelszó", "heslo", "geslo", "lozinka", "şifre", "Şifre",
    "parola", "parolă", "парола", "mật khẩu", "κωδικός", "Κωδικός", "סיסמה", "كلمة المرور",
    "كلمة السر", "पासवर्ड", "รหัสผ่าน", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호", "kata sandi",
    "zugangswort",
];

/// With one of these begins the word of a name that counts.
#[rustfmt::skip]
pub(crate) const STEMS: [&str; 13] = [
    "pass", "pwd", "pw", "psk", "secret", "token", "key", "cred", "auth", "salt", "kennwort",
    "mdp", "securestring",
];

/// A name without case and signs.
pub(crate) fn plain(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// What a name promises, the workspace's own names aside.
pub(crate) fn promise(name: &str, own: &[String]) -> Option<Promise> {
    const LONGEST: usize = 128;
    if name.len() > LONGEST {
        return None;
    }
    let mut rest = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    for _ in 0..=MOST_SUFFIXES {
        if let Some(promise) = promise_as_written(rest, own) {
            return Some(promise);
        }
        rest = without_suffix(rest)?;
    }
    None
}

/// The end of a name without case and signs, which is all that counts.
struct Plain {
    bytes: [u8; Plain::LONGEST],
    start: usize,
}

impl Plain {
    const LONGEST: usize = 48;

    fn of(name: &str) -> Plain {
        let mut plain = Plain {
            bytes: [0; Plain::LONGEST],
            start: Plain::LONGEST,
        };
        let letters = name.bytes().rev().filter(u8::is_ascii_alphanumeric);
        for byte in letters.take(Plain::LONGEST) {
            plain.start -= 1;
            plain.bytes[plain.start] = byte.to_ascii_lowercase();
        }
        plain
    }

    fn get(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

fn promise_as_written(name: &str, own: &[String]) -> Option<Promise> {
    let plain = Plain::of(name);
    let plain = plain.get();
    let ends = |word: &&str| plain.ends_with(word.as_bytes());
    if own.iter().any(|own| ends(&own.as_str())) || PASSWORDS.iter().any(&ends) {
        return Some(Promise::Password);
    }
    let parted = |word: &str| {
        let before = name.len().checked_sub(word.len() + 1);
        before.is_none_or(|at| starts_word(name.as_bytes(), at + 1))
    };
    let short = SHORT.iter().find(|word| ends(word)).is_some_and(|word| {
        let before = &plain[..plain.len() - word.len()];
        // `one-pass` is a way to read, not a password.
        let option = name.strip_prefix("--").unwrap_or(name);
        let way = option.to_ascii_lowercase().ends_with("-pass");
        parted(word) && !way
            || OWNERS
                .iter()
                .any(|owner| before.ends_with(owner.as_bytes()))
    });
    if short {
        return Some(Promise::Password);
    }
    if KEYS.iter().any(&ends) {
        let counted = plain.strip_suffix(b"tokens");
        let counted =
            counted.is_some_and(|of| COUNTED.iter().any(|word| of.ends_with(word.as_bytes())));
        return (!counted).then_some(Promise::Key);
    }
    if matches!(plain, b"auth" | b"authorization" | b"cookie") {
        return Some(Promise::Perhaps);
    }
    let of = plain.strip_suffix(b"key")?;
    let other = OTHER_KEYS
        .iter()
        .any(|other| of.ends_with(other.as_bytes()));
    (parted("key") && !other).then_some(Promise::Perhaps)
}

/// Whether a word begins at `at`, behind a sign or with a capital.
fn starts_word(name: &[u8], at: usize) -> bool {
    let (before, here) = (name[at - 1], name[at]);
    !before.is_ascii_alphanumeric() || here.is_ascii_uppercase() && !before.is_ascii_uppercase()
}

/// The name before a number or a suffix, which a sign or a capital parts from it.
fn without_suffix(name: &str) -> Option<&str> {
    let bytes = name.as_bytes();
    let digits = bytes
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let cut = if digits > 0 {
        let number = bytes.len() - digits;
        let version = number > 1 && bytes[number - 1].eq_ignore_ascii_case(&b'v');
        match version && starts_word(bytes, number - 1) {
            true => number - 1,
            false => number,
        }
    } else {
        let suffix = SUFFIXES.iter().find(|suffix| {
            let at = bytes.len().checked_sub(suffix.len());
            at.is_some_and(|at| {
                at > 0
                    && bytes[at..].eq_ignore_ascii_case(suffix.as_bytes())
                    && starts_word(bytes, at)
            })
        })?;
        bytes.len() - suffix.len()
    };
    let rest = name.get(..cut)?;
    let rest = rest.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_counts_and_a_suffix_changes_nothing() {
        for (name, expected) in [
            ("API_KEY_PROD", Some(Promise::Key)),
            ("apiKey2", Some(Promise::Key)),
            ("SECRET_KEY_BASE", Some(Promise::Key)),
            ("token_v2", Some(Promise::Key)),
            ("db_password_prod", Some(Promise::Password)),
            ("DB_PASS_2", Some(Promise::Password)),
            ("dbpass", Some(Promise::Password)),
            ("STRIPE_KEY", Some(Promise::Perhaps)),
            ("--pass", Some(Promise::Password)),
            ("bypass", None),
            ("one-pass", None),
            ("cache_key", None),
            ("public-key", None),
            ("PASSWORD_FILE", None),
            ("password_hash", None),
            ("token_type", None),
            ("tokenise", None),
            ("monkey", None),
            ("_prod", None),
            ("2", None),
        ] {
            assert_eq!(promise(name, &[]), expected, "{name}");
        }
    }
}
