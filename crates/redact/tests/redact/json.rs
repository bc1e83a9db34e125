//! Redaction inside of JSON.

use longhaul_redact::Redactor;

use crate::{ALNUM, drawn, formed};

#[test]
fn strings_of_json_are_judged_as_they_read_and_other_bytes_stay() {
    let (_, key) = formed(9).remove(6);
    let redactor = Redactor::default();
    let mut document = redactor.document();
    let json = format!(
        "{{ \"a\" : 1.50, \"password\":\"tr0ub4dor&3\",\"b\":[\"line\\n{key}\\tend\", \"\\u00e9\"], \"n\":1e400 }}"
    );
    assert_eq!(
        document.json(&json),
        "{ \"a\" : 1.50, \"password\":\"[redacted:password#1]\",\"b\":[\"line\\n[redacted:github-token#1]\\tend\", \"\\u00e9\"], \"n\":1e400 }"
    );
    assert_eq!(document.tally().total(), 2);
    let secret = drawn(9, 30, ALNUM) + "a7B3";
    let list = format!(
        "{{\"tokens\": [\"none\", \"{secret}\"], \"x\": \"{}\"}}",
        "word"
    );
    assert_eq!(
        redactor.document().json(&list),
        "{\"tokens\": [\"none\", \"[redacted:secret#1]\"], \"x\": \"word\"}"
    );
    let pair = format!(
        "[{{\"name\": \"API_TOKEN\", \"value\": \"{secret}\"}}, {{\"value\": \"{secret}x\"}}]"
    );
    assert_eq!(
        redactor
            .document()
            .json(&pair)
            .matches("[redacted:secret#1]")
            .count(),
        2
    );
    let plain = "{\"password\":\"\",\"tokens\":12,\"token\":null}";
    assert_eq!(document.json(plain), plain);
}

#[test]
fn a_password_of_letters_is_found_as_a_member_of_json() {
    let redactor = Redactor::default();
    for (json, kept) in [
        (r#"{"password":"swordfish"}"#, false),
        (r#"{"args":"{\"password\":\"swordfish\"}"}"#, false),
        (r#"{"passwords":["swordfish","letmeintoo"]}"#, false),
        (r#"{"name":"DB_PASSWORD","value":"swordfish"}"#, false),
        (r#"{"password":"required","type":"password"}"#, true),
        (r#"{"password":["required","confirmed"]}"#, true),
        (r#"{"password":"userPassword"}"#, true),
    ] {
        let mut document = redactor.document();
        let redacted = document.json(json).into_owned();
        assert_eq!(redacted == json, kept, "{json}\n{redacted}");
        for secret in ["swordfish", "letmeintoo"] {
            assert!(!redacted.contains(secret), "{json}\n{redacted}");
        }
        assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok());
    }
}
