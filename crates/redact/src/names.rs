//! What the name of a value promises about it.

use super::tongues;
use super::{Kind, Redactor};

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// A password: anything that is no word of a program.
    Password,
    /// A key or token: something that looks random.
    Random,
    /// Perhaps one: many a `key` is an index, so that an id does not count.
    Perhaps,
}

impl Promise {
    /// What kind of secret it promises.
    pub(super) fn kind(self) -> Kind {
        match self {
            Promise::Password => Kind::Password,
            Promise::Random | Promise::Perhaps => Kind::Secret,
        }
    }
}

const PASSWORDS: [&str; 13] = [
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passwort",
    "pwd",
    "pass",
    // What PowerShell makes one of.
    "tosecurestring",
    // What AWS keeps for a program.
    "secretstring",
    "secretbinary",
    // Redis's.
    "masterauth",
    "primaryauth",
    "rediscliauth",
];

/// Whose password a name that ends with `pass` is, with no break before it:
/// `DBPASS`, `smtpPass`.
const OWNERS: [&str; 28] = [
    "db",
    "database",
    "sql",
    "mysql",
    "postgres",
    "pg",
    "mongo",
    "redis",
    "rabbit",
    "smtp",
    "imap",
    "mail",
    "email",
    "ftp",
    "ssh",
    "ldap",
    "user",
    "admin",
    "root",
    "sudo",
    "login",
    "wifi",
    "proxy",
    "keystore",
    "truststore",
    "store",
    "vnc",
    // Redis's.
    "require",
];

const RANDOM: [&str; 32] = [
    "secret",
    "secrets",
    "token",
    "tokens",
    "apikey",
    "apikeys",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "credential",
    "credentials",
    "creds",
    "webhookurl",
    "masterkey",
    "sharedkey",
    "servicekey",
    "servicerolekey",
    "licensekey",
    "subscriptionkey",
    "applicationkey",
    "consumerkey",
    "hmackey",
    // WordPress's.
    "authsalt",
    "loggedinkey",
    "loggedinsalt",
    "noncekey",
    "noncesalt",
];

/// What people write behind a name to tell several of its values apart. Others,
/// such as `file`, `hash`, `type` and `id`, make it the name of something else.
const SUFFIXES: [&str; 33] = [
    "prod",
    "production",
    "test",
    "testing",
    "dev",
    "development",
    "stage",
    "staging",
    "stg",
    "qa",
    "uat",
    "live",
    "sandbox",
    "preview",
    "local",
    "ci",
    "base",
    "old",
    "new",
    "prev",
    "previous",
    "next",
    "primary",
    "secondary",
    "backup",
    "main",
    "master",
    "admin",
    "root",
    "value",
    "confirm",
    "confirmation",
    "override",
];
/// A name has no more of them: `API_KEY_PROD_2`.
const MOST_SUFFIXES: usize = 3;

/// A name without case, `-`, `_` and quotes.
pub(super) fn plain_name(name: &[u8]) -> String {
    name.iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}

/// The same of the end of a name, which is all that counts, without memory of
/// its own: most of what stands before a colon is asked for.
struct Plain {
    bytes: [u8; Plain::MOST],
    start: usize,
}

impl Plain {
    const MOST: usize = 64;

    fn of(name: &[u8]) -> Plain {
        let mut plain = Plain {
            bytes: [0; Plain::MOST],
            start: Plain::MOST,
        };
        let letters = name.iter().rev().filter(|b| b.is_ascii_alphanumeric());
        for byte in letters.take(Plain::MOST) {
            plain.start -= 1;
            plain.bytes[plain.start] = byte.to_ascii_lowercase();
        }
        plain
    }

    fn get(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn ends_with(&self, word: &str) -> bool {
        self.get().ends_with(word.as_bytes())
    }
}

impl Redactor {
    /// What the name of a value promises about it.
    pub(super) fn promise(&self, name: &[u8]) -> Option<Promise> {
        if let Some(foreign) = tongues::named(name) {
            return Some(foreign.promise);
        }
        if let Some(promise) = self.promise_as_written(name) {
            return Some(promise);
        }
        if matches!(
            Plain::of(name).get(),
            b"key" | b"auth" | b"authorization" | b"xapikey" | b"cookie"
        ) {
            return Some(Promise::Perhaps);
        }
        let mut rest = name;
        for _ in 0..MOST_SUFFIXES {
            rest = without_suffix(rest)?;
            if let Some(promise) = self.promise_as_written(rest) {
                return Some(promise);
            }
        }
        None
    }

    /// The same by the end of the name, nothing taken from it.
    fn promise_as_written(&self, name: &[u8]) -> Option<Promise> {
        let plain = Plain::of(name);
        let own = self.names.iter().any(|own| plain.ends_with(own));
        match own {
            true => Some(Promise::Password),
            false => plain.promise(name),
        }
    }
}

/// What a name promises by its end, a workspace's own names aside.
pub(super) fn promise_of_end(name: &[u8]) -> Option<Promise> {
    Plain::of(name).promise(name)
}

impl Plain {
    /// What the name promises of which this is the end.
    fn promise(&self, name: &[u8]) -> Option<Promise> {
        if PASSWORDS.iter().any(|word| self.ends_with(word)) {
            // `bypass` is another word and `PASS:` a test's result: the short
            // form counts behind a break, or behind whose it is.
            let short = self.ends_with("pass");
            let parted = name.len() > 4 && !name[name.len() - 5].is_ascii_alphanumeric();
            let known = || {
                let before = self.get().strip_suffix(b"pass").unwrap_or_default();
                OWNERS
                    .iter()
                    .any(|owner| before.ends_with(owner.as_bytes()))
            };
            return (!short || parted || known()).then_some(Promise::Password);
        }
        let parted = name.len() > 2 && !name[name.len() - 3].is_ascii_alphanumeric();
        if self.get() == b"pw" || parted && self.ends_with("pw") {
            return Some(Promise::Password);
        }
        // Of a wireless network.
        let parted = name.len() > 3 && !name[name.len() - 4].is_ascii_alphanumeric();
        if self.get() == b"psk" || parted && self.ends_with("psk") {
            return Some(Promise::Password);
        }
        let random = RANDOM.iter().any(|word| self.ends_with(word));
        random.then_some(Promise::Random)
    }
}

/// Keys that are public by what they are for, or are none of a lock.
const OTHERS: [&str; 34] = [
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
];

/// Whether a name is that of somebody's key: `STRIPE_KEY`, `app-key`.
pub(super) fn is_key_of(name: &[u8]) -> bool {
    let Some(rest) = name.len().checked_sub(4).map(|at| name.split_at(at)) else {
        return false;
    };
    let (before, key) = rest;
    let parted = matches!(key[0], b'_' | b'-') && key[1..].eq_ignore_ascii_case(b"key");
    let word = before.rsplit(|b| !b.is_ascii_alphanumeric()).next();
    parted && word.is_some_and(|word| !word.is_empty() && !is_of_other_key(word))
}

/// Whether a word before `key` makes it one of those that are no secret.
pub(super) fn is_of_other_key(word: &[u8]) -> bool {
    OTHERS
        .iter()
        .any(|o| word.eq_ignore_ascii_case(o.as_bytes()))
}

/// The name before a number or a suffix at its end, which a break or a capital
/// parts from it: `API_KEY_PROD`, `apiKeyProd`, `apiKey2`, `token_v2`.
fn without_suffix(name: &[u8]) -> Option<&[u8]> {
    let trimmed = |name: &'_ [u8]| {
        let end = name.iter().rposition(u8::is_ascii_alphanumeric);
        end.map_or(0, |end| end + 1)
    };
    let parted = |at: usize| {
        at > 0
            && (!name[at - 1].is_ascii_alphanumeric()
                || name[at].is_ascii_uppercase() && !name[at - 1].is_ascii_uppercase())
    };
    let end = trimmed(name);
    let digits = name[..end]
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let start = if digits > 0 {
        let number = end - digits;
        let version = number > 0 && name[number - 1].eq_ignore_ascii_case(&b'v');
        if version && parted(number - 1) {
            number - 1
        } else {
            number
        }
    } else {
        let suffix = SUFFIXES.iter().find(|suffix| {
            end > suffix.len()
                && name[end - suffix.len()..end].eq_ignore_ascii_case(suffix.as_bytes())
                && parted(end - suffix.len())
        })?;
        end - suffix.len()
    };
    let rest = &name[..trimmed(&name[..start])];
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_leaves_what_a_name_promises() {
        let redactor = Redactor::default();
        for (name, promise) in [
            ("API_KEY_PROD", Some(Promise::Random)),
            ("apiKey2", Some(Promise::Random)),
            ("apiKeyProd", Some(Promise::Random)),
            ("STRIPE_SECRET_KEY_TEST", Some(Promise::Random)),
            ("SECRET_KEY_BASE", Some(Promise::Random)),
            ("api-key-prod-2", Some(Promise::Random)),
            ("token_v2", Some(Promise::Random)),
            ("tokens", Some(Promise::Random)),
            ("db_password_prod", Some(Promise::Password)),
            ("PASSWORD_1", Some(Promise::Password)),
            ("DB_PASS_2", Some(Promise::Password)),
            ("passwords", Some(Promise::Password)),
            ("pw", Some(Promise::Password)),
            ("db_pw", Some(Promise::Password)),
            ("PASS_1", None),
            ("PASSWORD_FILE", None),
            ("password_hash", None),
            ("token_type", None),
            ("secret_id", None),
            ("key2", None),
            ("contest", None),
            ("tokenise", None),
            ("2", None),
            ("_prod", None),
        ] {
            assert_eq!(redactor.promise(name.as_bytes()), promise, "{name}");
        }
    }
}
