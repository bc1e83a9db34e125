//! Files that are made to hold secrets.

use longhaul_redact::{Kind, Redactor};

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
    // By its port nothing but PostgreSQL's file is meant.
    finds(
        Kind::Password,
        "swordfish",
        &["db.internal:5432:app:bob:§\n", "*:*:*:bob:§"],
    );
    finds(Kind::Password, "4711", &["localhost:5432:app:bob:§"]);
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
        "localhost:5432:app:bob:$PGPASSWORD localhost:5432:app:bob:*",
        "kind: SecretStore\ndata:\n  user: YWRtaW4=\n",
        "kind: ConfigMap\ndata:\n  user: YWRtaW4=\n",
    ]);
}

#[test]
fn a_manifest_of_kubernetes_is_read_as_it_is_nested() {
    let redactor = Redactor::default();
    // A list of YAML, where names beside the data stay.
    let list = "items:\n- apiVersion: v1\n  data:\n    user: YWRtaW4=\n    pin: MTIz\n  kind: Secret\n  metadata:\n    name: db\n    namespace: shop\n";
    assert_eq!(
        redactor.redact(list).text,
        list.replace("YWRtaW4=", "[redacted:secret#1]")
            .replace("MTIz", "[redacted:secret#2]")
    );
    // Values of several words and lines, and the ends of lines of Windows.
    let long = "kind: Secret\r\nstringData:\r\n  # made by hand: yes\r\n  greeting: open sesame now\r\n  app.ini: |\r\n    [db]\r\n    mode = warm\r\n\r\n    pin is four\r\n  ref: ${FROM_VAULT}\r\ntype: Opaque\r\n";
    assert_eq!(
        redactor.redact(long).text,
        long.replace("open sesame now", "[redacted:secret#1]")
            .replace("mode = warm", "[redacted:secret#2]")
            .replace("pin is four", "[redacted:secret#3]")
    );
    // More data than the kind is looked for in.
    let lines: String = (0..200)
        .map(|n| format!("  n{n}: {}\n", drawn(n + 1, 40, ALNUM)))
        .collect();
    let large = redactor
        .redact(&format!("data:\n{lines}kind: Secret\n"))
        .text;
    assert_eq!(large.matches(": [redacted:secret#").count(), 200);
}

#[test]
fn the_json_of_kubectl_is_read_as_text_as_a_document_and_escaped() {
    let redactor = Redactor::default();
    let given = serde_json::json!({
        "apiVersion": "v1",
        "data": { "user": "YWRtaW4=", "brace": "a},b", "pin": "MTIz" },
        "kind": "Secret",
        "metadata": { "name": "shop-db", "labels": { "app": "shop" } },
    });
    let json = given.to_string();
    let expected = json
        .replace("YWRtaW4=", "[redacted:secret#1]")
        .replace("a},b", "[redacted:secret#2]")
        .replace("MTIz", "[redacted:secret#3]");
    assert_eq!(redactor.redact(&json).text, expected);
    assert_eq!(redactor.document().json(&json), expected);
    for text in [
        serde_json::to_string_pretty(&given).unwrap(),
        serde_json::json!({ "last-applied": json }).to_string(),
        serde_json::json!({ "items": [given, given], "kind": "List" }).to_string(),
    ] {
        let read = redactor.redact(&text).text;
        let document = redactor.document().json(&text).into_owned();
        for (out, how) in [(read, "text"), (document, "document")] {
            for secret in ["YWRtaW4=", "a},b", "MTIz"] {
                assert!(!out.contains(secret), "{how}: {out}");
            }
            for other in ["shop-db", "v1", "Secret"] {
                assert_eq!(out.contains(other), text.contains(other), "{how}: {out}");
            }
        }
    }
    let map = json.replace("Secret", "ConfigMap");
    assert_eq!(redactor.redact(&map).text, map);
    assert_eq!(redactor.document().json(&map), map.as_str());
}

#[test]
fn a_login_that_docker_or_npm_keeps_is_found() {
    finds(
        Kind::Secret,
        "Ym9iOmh1bnRlcjI=",
        &[
            "{\"auths\": {\"registry.example\": {\"auth\": \"§\"}}}",
            "//registry.example/:_auth=§\n",
            "_auth = \"§\"",
        ],
    );
    let redactor = Redactor::default();
    let json = "{\"auths\":{\"r\":{\"auth\":\"Ym9iOmh1bnRlcjI=\"}}}";
    assert_eq!(
        redactor.document().json(json),
        "{\"auths\":{\"r\":{\"auth\":\"[redacted:secret#1]\"}}}"
    );
    stay(&[
        "\"auth\": \"required\", \"auth\": \"oauth2device\"",
        "auth: aGVsbG8=",
        "\"name\": \"Ym9iOmh1bnRlcjI=\"",
    ]);
}

#[test]
fn the_numbered_words_of_a_wallet_are_found_with_and_without_a_name() {
    let words = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    let words: Vec<&str> = words.split(' ').collect();
    let list = |sign: &str, between: &str| {
        let items = words.iter().enumerate();
        let items: Vec<String> = items
            .map(|(n, word)| format!("{}{sign} {word}", n + 1))
            .collect();
        items.join(between)
    };
    let redactor = Redactor::default();
    for text in [
        list(".", " "),
        list(".", "\n"),
        list(")", ", "),
        format!("my words:\n\n{}\n\nkeep them", list(".", "\n")),
        format!("seed phrase: {}.", list(":", " ")),
        format!("Recovery phrase\n{}", list(".", "\r\n")),
    ] {
        let redacted = redactor.redact(&text).text;
        assert!(redacted.contains("[redacted:seed-phrase#1]"), "{text}");
        for word in &words {
            assert!(!redacted.contains(word), "{redacted}");
        }
        assert_eq!(redactor.redact(&redacted).text, redacted);
        assert_eq!(redacted.matches('\n').count(), text.matches('\n').count());
    }
    let eleven = list(".", "\n").replace("\n12. yellow", "");
    stay(&[
        &eleven,
        &list(".", "\n").replace("yellow", "yellow and so on"),
        &list(".", "\n").replace("wave", "Wave"),
        &list(".", "\n").replace("6.", "7."),
        &format!("{}\n13. Then write it down", list(".", "\n")),
    ]);
}
