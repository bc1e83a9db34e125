//! How a value is given away in programs, shells, files and speech, and what
//! looks alike and stays.
#![allow(missing_docs, clippy::unwrap_used)]

use longhaul_memory::{Kind, Redactor};

/// Letters and digits as a provider would draw them. None stands in this file
/// as such, so that other scanners leave it alone.
fn drawn(seed: u64, length: usize, alphabet: &[u8]) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(alphabet[(state >> 33) as usize % alphabet.len()])
        })
        .collect()
}

const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const HEX: &[u8] = b"0123456789abcdef";

/// Redacts each text, in which `§` stands for the secret.
fn finds(kind: Kind, secret: &str, texts: &[&str]) {
    let redactor = Redactor::default();
    for text in texts {
        let redacted = redactor.redact(&text.replace('§', secret)).text;
        let expected = text.replace('§', &format!("[redacted:{kind}#1]"));
        assert_eq!(redacted, expected, "{text}");
        assert_eq!(redactor.redact(&redacted).text, redacted, "{text}");
        // The same inside of JSON.
        let json = serde_json::json!({ "text": text.replace('§', secret) }).to_string();
        let out = redactor.document().json(&json).into_owned();
        assert!(!out.contains(secret), "{out}");
    }
}

fn stay(texts: &[&str]) {
    for text in texts {
        assert_eq!(Redactor::default().redact(text).text, *text);
    }
}

#[test]
fn in_programs_a_type_or_a_comma_may_stand_between() {
    let secret = drawn(3, 22, ALNUM) + "a7";
    finds(
        Kind::Secret,
        &secret,
        &[
            "const secret: string = \"§\";",
            "let apiKey: String = \"§\"",
            "static API_KEY: &'static str = \"§\";",
            "var apiKey string = \"§\"",
            "api_key: Optional[str] = '§'",
            "os.Setenv(\"API_KEY\", \"§\")",
            "headers.set('X-Api-Key', '§')",
            "os.environ.setdefault(\n    \"API_KEY\",\n    \"§\",\n)",
            "token = os.getenv(\"API_TOKEN\", \"§\")",
            "{:api_key \"§\"}",
            "token = b\"§\"",
            "data = {'token': f'§'}",
            "secret = (\n    \"§\"\n)",
        ],
    );
    finds(
        Kind::Password,
        "P4ss1w!rd",
        &[
            "define(\"DB_PASSWORD\", \"§\");",
            "define('DB_PASSWORD', '§');",
            "config.set(\"password\", \"§\")",
            "{\\\"x\\\": \\\"set(\\\\\"password\\\\\", \\\\\"§\\\\\")\\\"}",
            "ConvertTo-SecureString \"§\" -AsPlainText -Force",
            "ConvertTo-SecureString -String \"§\" -AsPlainText",
            "CREATE USER bob WITH PASSWORD '§';",
            "CREATE USER 'bob'@'%' IDENTIFIED BY '§';",
            "password = r'§'",
            "let password = String::from(\"§\");",
            "password: Some(\"§\".into()),",
            "PASSWORD ?= §",
            "type T = { password?: '§' }",
            "<entry key=\"db.password\">§</entry>",
        ],
    );
    stay(&[
        "secret: string = getSecret()",
        "const token: string = \"\";",
        "set(\"token\", \"identifier2\")",
        "t(\"password\", \"Enter 8 characters\")",
        "[\"password\", \"username2\"]",
        "key_pair.sign(&signature::RSA_PKCS1_2048_8192_SHA256, &rng)",
        "Ok(ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv })",
        "<entry key=\"colour\">P4ss1w!rd</entry>",
        "var name string = \"P4ss1w!rd\"",
        "password = get(\"db_passw0rd2\")",
        "password    of user2 is kept",
    ]);
}

#[test]
fn in_shells_a_blank_may_stand_between() {
    let hex = drawn(5, 62, HEX) + "a7";
    finds(
        Kind::Secret,
        &hex,
        &[
            "ENV SECRET_KEY_BASE §",
            "FROM x\nENV API_TOKEN §\nRUN y",
            "setx API_KEY §",
            "set -x API_KEY §",
            "set -gx API_KEY §",
            "setenv API_KEY §",
            "aws configure set aws_secret_access_key §",
            "npm config set //registry.npmjs.org/:_authToken §",
        ],
    );
    finds(
        Kind::Password,
        "hunterzzz",
        &["ENV DB_PASSWORD §", "set -gx DB_PASSWORD §"],
    );
    finds(Kind::Password, "foobared9x", &["requirepass §"]);
    stay(&[
        "ENV PASSWORD_FILE /run/secrets/db2",
        "ENV API_TOKEN ${API_TOKEN}",
        "ENV DB_PASSWORD required",
        "set -x API_KEY (cat file2)",
        "the token a1b2 of the list",
    ]);
}

#[test]
fn letters_alone_are_a_key_where_their_case_is_drawn() {
    for seed in 0..20 {
        let mut letters = drawn(seed, 20, LETTERS);
        letters.push_str("kZqWm");
        finds(
            Kind::Secret,
            &letters,
            &[
                "process.env.API_KEY = \"§\"",
                "$env:API_KEY = \"§\"",
                "'api_key' => '§',",
                "{\"name\":\"API_KEY\",\"value\":\"§\"}",
                "- name: API_KEY\n  value: §\n",
                "- name: API_KEY\n  value: \"§\"\n",
            ],
        );
    }
    stay(&[
        "api_key = \"MyVeryLongIdentifierName\"",
        "token: \"refreshTokenFromResponse\"",
        "secret = 'somethingwithoutcapitals'",
        "token = ACCESSTOKENRESPONSETYPE",
    ]);
}

#[test]
fn a_password_may_be_a_phrase_in_quotes() {
    finds(
        Kind::Password,
        "correct horse battery 9",
        &["password = \"§\"", "db_password: '§'"],
    );
    stay(&[
        "password = \"must have at least 8 characters\"",
        "password: \"please enter a new one\"",
        "password: 'forgot your login'",
        "password = \"Wrong user name\"",
    ]);
}

#[test]
fn every_piece_of_a_secret_is_replaced() {
    let redactor = Redactor::default();
    let (head, tail) = (drawn(7, 24, ALNUM) + "a7", drawn(8, 24, ALNUM) + "B3");
    let (short, rest) = (&head[..12], &tail[..12]);
    let key = format!("sk-proj-{head}");
    for text in [
        format!("key = \"{key}\" +\n      \"{tail}\""),
        format!("key = \"{key}\"\n      + \"{tail}\""),
        format!("key = '{key}' . '{tail}';"),
        format!("key = (\"{key}\"\n       \"{tail}\")"),
        format!("API_KEY={head}\\\n{tail}\n"),
        format!("API_KEY={head}\\\r\n{tail}\r\n"),
        format!("secret = (\"{short}\"\n          \"{rest}\")"),
        format!("secret = \"{short}\" +\n  \"{rest}\""),
        format!("API_KEY={short}\\\n  {rest}\n"),
    ] {
        let redacted = redactor.redact(&text).text;
        for part in [short, rest] {
            assert!(!redacted.contains(part), "{text}\n{redacted}");
        }
        let kind = if text.contains("sk-proj") {
            Kind::OpenAi
        } else {
            Kind::Secret
        };
        // Quotes, signs and line ends stay.
        let expected = [(&key, 1), (&head, 1), (&tail, 2)]
            .iter()
            .fold(text.clone(), |text, (part, number)| {
                text.replace(part.as_str(), &format!("[redacted:{kind}#{number}]"))
            })
            .replace(short, &format!("[redacted:{kind}#1]"))
            .replace(rest, &format!("[redacted:{kind}#2]"));
        assert_eq!(redacted, expected);
        assert_eq!(redactor.redact(&redacted).text, redacted);
    }
    let text = format!("key = \"{key}\" + \"\\n\" + \"and some words\"");
    let redacted = redactor.redact(&text).text;
    assert_eq!(redacted, text.replace(&key, "[redacted:openai-key#1]"));
}

#[test]
fn a_secret_is_read_through_escapes_and_unseen_characters() {
    let (head, tail) = (drawn(9, 20, ALNUM) + "a7", drawn(10, 20, ALNUM) + "B3");
    let hidden = |kind: Kind, secret: &str, text: &str| {
        let redactor = Redactor::default();
        let redacted = redactor.redact(&text.replace('§', secret)).text;
        assert_eq!(redacted, text.replace('§', &format!("[redacted:{kind}#1]")));
        assert_eq!(redactor.redact(&redacted).text, redacted);
    };
    let escaped = format!("{head}\\u0061{tail}");
    hidden(
        Kind::Secret,
        &escaped,
        "\"apiKey\": \"§\", \"x\": \"\\u0061\"",
    );
    hidden(Kind::Secret, &format!("{head}\\x61{tail}"), "token = '§'");
    let key = format!("sk-ant\u{200b}-api03-{head}\u{ad}{tail}");
    hidden(Kind::Anthropic, &key, "a\u{200b}b §\u{feff}, c");
    hidden(
        Kind::Password,
        "Tr0ub4dor3",
        "{\\u0022password\\u0022:\\u0022§\\u0022}",
    );
    hidden(
        Kind::Password,
        "Tr0ub4dor3",
        "&quot;password&quot;: &quot;§&quot;",
    );
    hidden(Kind::Password, "Tr0ub4dor3", "my pass\u{200b}word is §");
    stay(&["a\u{200b}b\\u0061 &quot;x&quot; \\x41 soft\u{ad}hyphen"]);
}

#[test]
fn a_password_is_found_however_it_is_said() {
    finds(
        Kind::Password,
        "Qw8zz!kl",
        &[
            "Das Passwort lautet §.",
            "la contraseña es §",
            "El password de la base es §.",
            "le mot de passe est §",
            "le mot de passe de la base est §, voilà",
            "A senha é §",
            "I set the root password to §",
            "I changed the db password for staging to §.",
            "password set to §",
            "the password was reset to § yesterday",
            "Password is now §",
            "Password for bob: §",
            "password (root): §",
            "user bob pass § host db",
        ],
    );
    finds(
        Kind::Password,
        "bluewhale42",
        &[
            "use password § to log in",
            "new password §",
            "log in with password §.",
            "user bob password §",
            "creds: bob/§",
            "creds: bob / §",
            "credentials: bob:§",
            "I changed the root password to §",
            "Username    bob\nPassword    §\nHost        db\n",
            "user\tbob\npassword\t§\n",
        ],
    );
    let secret = drawn(11, 22, ALNUM) + "a7";
    finds(
        Kind::Secret,
        &secret,
        &[
            "API key - §",
            "API key – §",
            "api key §",
            "the access token is now §",
            "AWS_SECRET_ACCESS_KEY §",
        ],
    );
    stay(&[
        "I set the password to null and the token to expire",
        "the password set to required",
        "change the password to something longer",
        "use password sha256crypt for it",
        "use password authentication",
        "new password2 field",
        "Local password fallback is private**: If you configure it",
        "API key - optional",
        "token - the refresh token",
        "creds: ~/.aws/credentials2",
        "credentials: include/omit",
        "you pass value42x to it",
        "Password for bob: required",
        "password on server2x",
        "the one-pass property is upheld.",
        "key = 1979-05-27T00:32:00.999999",
    ]);
}

#[test]
fn files_that_hold_secrets_are_known() {
    let hex = drawn(13, 38, HEX) + "a7";
    finds(
        Kind::Secret,
        &hex,
        &[
            "Set-Cookie: sid=§; Path=/; HttpOnly",
            "Cookie: theme=dark; sid=§",
            "curl -H 'cookie: sid=§; a=b' host",
        ],
    );
    finds(
        Kind::Password,
        "Tr0ub4dor",
        &[
            "localhost:5432:mydb:bob:§",
            "# comment\ndb.internal:5432:*:app:§\n",
            "10.0.0.7:5432:base:app:§\n*:*:*:root:x",
        ],
    );
    let (salt, body) = (drawn(1, 8, ALNUM), drawn(2, 53, ALNUM));
    for hash in [
        format!("$6${salt}${body}{body}"),
        format!("$6$rounds=5000${salt}${body}"),
        format!("$apr1${salt}${}", &body[..22]),
        format!("$2y$05${body}"),
        format!("$argon2id$v=19$m=65536,t=3,p=4${salt}${body}"),
    ] {
        finds(
            Kind::PasswordHash,
            &hash,
            &["root:§:19000:0:99999:7:::", "bob:§", "hash '§'"],
        );
    }
    finds(
        Kind::PasswordHash,
        &format!("{}=", &body[..27]),
        &["bob:{SHA}§", "userPassword: {SSHA}§"],
    );
    finds(
        Kind::SeedPhrase,
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
        &[
            "seed phrase: §",
            "My recovery phrase is §.",
            "MNEMONIC=\"§\"",
            "seed words:\n§\n",
            "wallet_seed_phrase = '§'",
        ],
    );
    stay(&[
        "Cookie: theme=dark; lang=en",
        "main.rs:120:8:warn:E04259x",
        "12:30:45:abc:def12345",
        "a:b:c:d:e12345f",
        "echo $1$2$6$x $2b$ $6$",
        "seed phrase: write it down and keep it in a safe place that nobody else knows about",
        "a phrase: legal winner thank year wave sausage worth useful legal winner thank yellow",
        "the seed of the generator is 42",
    ]);
}

#[test]
fn the_values_of_a_secret_of_kubernetes_are_replaced_and_nothing_else() {
    let redactor = Redactor::default();
    let yaml = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: YWRtaW4=\n  conn: cG9zdGdyZXM6Ly9h\nstringData:\n  plain: hunter\n---\nkind: ConfigMap\ndata:\n  user: YWRtaW5x\n";
    assert_eq!(
        redactor.redact(yaml).text,
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: [redacted:secret#1]\n  conn: [redacted:secret#2]\nstringData:\n  plain: [redacted:secret#3]\n---\nkind: ConfigMap\ndata:\n  user: YWRtaW5x\n"
    );
    // As `kubectl get -o yaml` orders it, and as JSON.
    let sorted = "apiVersion: v1\ndata:\n  user: YWRtaW4=\nkind: Secret\n";
    assert_eq!(
        redactor.redact(sorted).text,
        "apiVersion: v1\ndata:\n  user: [redacted:secret#1]\nkind: Secret\n"
    );
    let json = "{\"data\": {\"user\": \"YWRtaW4=\", \"b\": \"\"}, \"kind\": \"Secret\"}";
    assert_eq!(
        redactor.redact(json).text,
        "{\"data\": {\"user\": \"[redacted:secret#1]\", \"b\": \"\"}, \"kind\": \"Secret\"}"
    );
    stay(&[
        "kind: SecretStore\ndata:\n  user: YWRtaW4=\n",
        "kind: ConfigMap\ndata:\n  user: YWRtaW4=\n",
    ]);
}

#[test]
fn more_providers_are_known_by_their_marks() {
    let body = drawn(17, 42, ALNUM) + "a7";
    for mark in [
        "dp.pt.",
        "dp.sa.",
        "pscale_tkn_",
        "pscale_pw_",
        "fm2_",
        "nvapi-",
        "lsv2_pt_",
        "sgp_",
    ] {
        finds(
            Kind::Provider,
            &format!("{mark}{body}"),
            &["use § here", "FlyV1 §"],
        );
    }
}
