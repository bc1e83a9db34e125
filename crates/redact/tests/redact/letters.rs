//! Passwords and keys of one kind of characters: letters only, digits only.

use longhaul_redact::Redactor;

use crate::{LETTERS, drawn, stay};

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const DIGITS: &[u8] = b"0123456789";
const LENGTHS: [usize; 6] = [8, 12, 16, 18, 24, 32];

/// How many of 300 drawn values stay in a text that has `§` in their place.
fn left(form: &str, alphabet: &[u8]) -> usize {
    let redactor = Redactor::default();
    let values = (0..50).flat_map(|seed| LENGTHS.map(|length| (seed, length)));
    values
        .filter(|(seed, length)| {
            let value = drawn(seed * 64 + *length as u64 + 1, *length, alphabet);
            let redacted = redactor.redact(&form.replace('§', &value)).text;
            redacted.contains(&value)
        })
        .count()
}

/// Where a value is assigned, quoted, ends its line or is said to be one, it is
/// one of whatever it is made.
#[test]
fn no_password_of_letters_or_digits_survives_beside_its_name() {
    for form in [
        "DB_PASSWORD=§",
        "export DB_PASSWORD=§",
        "password: §",
        "\"password\": \"§\"",
        "export PGPASSWORD='§'",
        "db:\n  password: §\n  host: x",
        "my db password is §",
    ] {
        for alphabet in [LETTERS, DIGITS] {
            assert_eq!(left(form, alphabet), 0, "{form}");
        }
        // One that can be spoken may end as words that describe do.
        assert!(left(form, LOWER) <= 2, "{form}: {}", left(form, LOWER));
    }
}

/// Elsewhere letters may be a variable; those that can be spoken by chance are
/// taken for one.
#[test]
fn letters_that_are_no_words_are_passwords_without_quotes_too() {
    for form in [
        "--password §",
        "dump --password § --host x",
        "password = §",
        "connect(user, password=§)",
        "use password § for it",
    ] {
        for alphabet in [LETTERS, LOWER] {
            let left = left(form, alphabet);
            assert!(left <= 15, "{form}: {left} of 300");
        }
        assert_eq!(left(form, DIGITS), 0, "{form}");
    }
}

#[test]
fn keys_of_letters_or_digits_are_known_behind_their_names() {
    for form in ["API_KEY=§", "SECRET_TOKEN=§", "api_key = \"§\""] {
        for alphabet in [LETTERS, LOWER, DIGITS] {
            let left = left(form, alphabet);
            assert!(left <= 15, "{form}: {left} of 300");
        }
    }
}

#[test]
fn names_types_counts_and_words_stay_behind_the_name_of_a_password() {
    stay(&[
        "password: string",
        "password = getPassword()",
        "passwordField: PasswordInput",
        "const password = userPassword",
        "password=None",
        "login --password PASSWORD",
        "password: DatabasePassword",
        "password: credentialProvider,",
        "password = dbConfig",
        "password = request.form.data",
        "let password = read_line_from_stdin();",
        "PASSWORD_MIN_LENGTH=12345678",
        "password: 12, attempts: 3",
        "max_tokens=16384000",
        "\"total_tokens\": \"163840000\"",
        "sync_token: 17000000",
        "token = 18446744073709551615",
        "const TOKEN: WSManSessionOption = 34;",
        "the password is 8 characters long",
        "pass --password option to the command",
        "password: Zugangsdaten, benutzer: x",
        "the API key NetworkManagerDispatcher",
        "const apiKey = 'my_api_key'; key('MY_API_KEY')",
        "config['CSRF_SECRET_KEY'] = 'my_csrf_secret_key'",
        "password: db_pw_cfg, secret_key=my_csrf_jwt_hmac_key",
    ]);
}

#[test]
fn words_that_stand_for_themselves_are_passwords_whatever_their_case() {
    for (text, secret) in [
        ("DB_PASSWORD=SommerRegen", "SommerRegen"),
        ("{\"password\": \"CorrectHorse\"}", "CorrectHorse"),
        ("password = 'CorrectHorse'", "CorrectHorse"),
    ] {
        let redacted = Redactor::default().redact(text).text;
        assert!(!redacted.contains(secret), "{redacted}");
    }
}
