//! Files that are made to hold secrets.

use longhaul_memory::{Kind, Redactor};

use crate::{ALNUM, HEX, drawn, finds, stay};

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
