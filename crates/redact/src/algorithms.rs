//! Names of algorithms, protocols and chords of keys. They stand beside the name
//! of a password wherever people say how one is made, kept or replaced, and are
//! of letters, digits and signs as passwords are.

/// What the names of algorithms and protocols are made of, besides numbers.
/// None begins with another that stands before it.
const PARTS: [&str; 59] = [
    "argon2id", "argon2i", "argon2d", "argon", "bcrypt", "scrypt", "yescrypt", "crypt", "pbkdf",
    "hkdf", "kdf", "sha", "shake", "md", "ripemd", "blake2b", "blake2s", "blake", "crc", "hmac",
    "cmac", "kmac", "gmac", "aes", "des", "xchacha", "chacha", "xsalsa", "salsa", "poly",
    "blowfish", "twofish", "camellia", "rsa", "ecdsa", "eddsa", "ecdhe", "ecdh", "dsa", "ed", "x",
    "curve", "secp", "oauth", "oidc", "saml", "webauthn", "fido", "u2f", "totp", "hotp", "ldap",
    "wpa", "tls", "ssl", "utf", "base", "kerberos", "ntlm",
];
/// The same that say nothing without one of those before them.
const FURTHER: [&str; 24] = [
    "gcm",
    "cbc",
    "ctr",
    "ccm",
    "siv",
    "ecb",
    "xts",
    "ocb",
    "oaep",
    "pss",
    "pkcs",
    "psk",
    "enterprise",
    "personal",
    "url",
    "id",
    "k",
    "r",
    "v",
    "b",
    "s",
    "p",
    "bit",
    "encoded",
];
/// Signatures of web tokens: `HS256`.
const SIGNATURES: [&str; 4] = ["hs", "rs", "es", "ps"];

/// Whether a text is the name of an algorithm or a protocol, or keys that are
/// pressed together.
pub(super) fn is_named(text: &[u8]) -> bool {
    const LONGEST: usize = 48;
    text.len() <= LONGEST && text.is_ascii() && (is_algorithm(text) || is_chord(text))
}

/// `Argon2id`, `SHA-512`, `HMAC-SHA256`, `OAuth2.0`: parts and numbers only.
fn is_algorithm(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&[u8]> = lower.split(|b| b"-_./+".contains(b)).collect();
    let Some((first, others)) = words.split_first() else {
        return false;
    };
    let begins = behind_part(first, &PARTS).is_some() || is_signature(first);
    begins && is_of_parts(first) && others.iter().all(|word| is_of_parts(word))
}

/// Whether a word is nothing but parts and the numbers behind them.
fn is_of_parts(word: &[u8]) -> bool {
    let mut rest = behind_number(word);
    if is_signature(word) {
        return true;
    }
    while !rest.is_empty() {
        let behind = behind_part(rest, &PARTS).or_else(|| behind_part(rest, &FURTHER));
        let Some(behind) = behind else {
            return false;
        };
        rest = behind_number(behind);
    }
    true
}

fn behind_part<'a>(word: &'a [u8], parts: &[&str]) -> Option<&'a [u8]> {
    parts
        .iter()
        .find_map(|part| word.strip_prefix(part.as_bytes()))
}

/// What is behind the digits with which a word begins; no algorithm has more.
fn behind_number(word: &[u8]) -> &[u8] {
    const DIGITS: usize = 5;
    let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits <= DIGITS {
        &word[digits..]
    } else {
        word
    }
}

fn is_signature(word: &[u8]) -> bool {
    let number = behind_part(word, &SIGNATURES);
    number.is_some_and(|number| [&b"256"[..], b"384", b"512"].contains(&number))
}

/// `Ctrl+Alt+T`, `Cmd-Shift-4`: keys behind one that is held.
fn is_chord(text: &[u8]) -> bool {
    const HELD: [&str; 13] = [
        "ctrl", "control", "strg", "cmd", "command", "alt", "altgr", "option", "opt", "shift",
        "meta", "super", "win",
    ];
    const KEYS: [&str; 17] = [
        "del",
        "delete",
        "entf",
        "enter",
        "return",
        "tab",
        "space",
        "esc",
        "escape",
        "backspace",
        "home",
        "end",
        "insert",
        "up",
        "down",
        "left",
        "right",
    ];
    let lower = text.to_ascii_lowercase();
    let is = |word: &[u8], known: &[&str]| known.iter().any(|k| word == k.as_bytes());
    let numbered = |word: &[u8]| {
        let number = word.strip_prefix(b"f").unwrap_or_default();
        (1..=2).contains(&number.len()) && number.iter().all(u8::is_ascii_digit)
    };
    let mut keys = lower.split(|b| matches!(b, b'+' | b'-'));
    let held = keys.next().is_some_and(|word| is(word, &HELD));
    let mut others = keys.peekable();
    let key = |word: &[u8]| word.len() <= 1 || is(word, &HELD) || is(word, &KEYS) || numbered(word);
    held && others.peek().is_some() && others.all(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_algorithms_and_chords_are_known() {
        for name in [
            "Argon2",
            "Argon2id",
            "SHA-256",
            "SHA512",
            "SHA3-512",
            "MD5",
            "PBKDF2",
            "PBKDF2-HMAC-SHA256",
            "bcrypt",
            "scrypt",
            "AES-256-GCM",
            "AES256",
            "ChaCha20-Poly1305",
            "XChaCha20",
            "RSA-4096",
            "ECDSA",
            "Ed25519",
            "HMAC-SHA256",
            "HS256",
            "RS256",
            "ES384",
            "OAuth2",
            "OAuth2.0",
            "OAuth-2.0",
            "OIDC",
            "SAML2",
            "WebAuthn",
            "FIDO2",
            "TOTP",
            "WPA2",
            "WPA3-PSK",
            "TLS1.3",
            "UTF-8",
            "Base64",
            "base64url",
            "X25519",
            "BLAKE2b",
            "BLAKE3",
            "HKDF-SHA256",
            "secp256k1",
            "SHA512crypt",
            "Ctrl+Alt+T",
            "Cmd+Shift+4",
            "Alt+F4",
            "Ctrl-C",
            "Strg+Alt+Entf",
        ] {
            assert!(is_named(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_password_that_begins_as_an_algorithm_does_is_none() {
        for password in [
            "",
            "256",
            "Sha2nks!",
            "argon2Winter",
            "AES-Herbst26",
            "Ctrl+Winter26",
            "Base64ball",
            "HS2567",
            "Xk9p7nr9",
            "MD5!secure",
            "x-12345678",
            "RSA-Hund7",
            "Ctrl",
        ] {
            assert!(!is_named(password.as_bytes()), "{password}");
        }
    }
}
