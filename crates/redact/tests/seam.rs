//! What a caller relies on: placeholders, documents, settings.

#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use longhaul_redact::{Kind, Redactor, RedactorSettings, Rule, RuleError, rule_ids};

fn github(letter: &str) -> String {
    format!("ghp_{letter}{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2))
}

#[test]
fn one_secret_has_one_placeholder_also_where_nothing_gives_it_away() {
    let redactor = Redactor::default();
    let redacted = redactor.redact(
        "TOKEN=q7Zt2kWm9LpXv4RbHd3Yc8\nlater: echo q7Zt2kWm9LpXv4RbHd3Yc8\nOTHER_TOKEN=Xk9Lm2Pq7Rt4Wz8Nb3Cv6",
    );
    assert_eq!(
        redacted.text,
        "TOKEN=[redacted:secret#1]\nlater: echo [redacted:secret#1]\nOTHER_TOKEN=[redacted:secret#2]"
    );
    assert_eq!(redacted.found, [Kind::Secret; 3]);
}

#[test]
fn a_short_password_is_replaced_wherever_it_stands_as_a_word() {
    for (text, expected) in [
        (
            "DB_PASSWORD=tr0ub4 and atr0ub4, tr0ub4_x, `tr0ub4`, tr0ub4.",
            "DB_PASSWORD=[redacted:password#1] and atr0ub4, tr0ub4_x, `[redacted:password#1]`, [redacted:password#1].",
        ),
        // Letters alone are a word that may mean anything.
        (
            "DB_PASSWORD=swordfish\nhe ate swordfish",
            "DB_PASSWORD=[redacted:password#1]\nhe ate swordfish",
        ),
    ] {
        assert_eq!(Redactor::default().redact(text).text, expected);
    }
}

#[test]
fn numbers_of_an_earlier_redaction_are_not_given_again() {
    let text = format!("[redacted:github-token#4] {}", github("x"));
    assert_eq!(
        Redactor::default().redact(&text).text,
        "[redacted:github-token#4] [redacted:github-token#5]"
    );
}

#[test]
fn settings_name_more_secrets_and_keep_what_is_none() {
    let redactor = Redactor::new(&RedactorSettings {
        names: vec!["door-code".into()],
        keep: vec![github("x")],
        ..RedactorSettings::default()
    });
    let text = format!("door_code: 4711-ABC, key {}", github("x"));
    assert_eq!(
        redactor.unwrap().redact(&text).text,
        format!("door_code: [redacted:password#1], key {}", github("x"))
    );
}

#[test]
fn a_rule_is_added_by_its_pattern_or_by_how_its_keys_begin() {
    let rules = vec![
        Rule {
            id: "ticket".into(),
            pattern: Some(r"ticket (\d{4}-\d{4})".into()),
            ..Rule::default()
        },
        Rule {
            id: "acme".into(),
            prefix: Some("acme_".into()),
            alphabet: Some("upper".into()),
            length: Some("8..12".into()),
            ..Rule::default()
        },
    ];
    let redactor = Redactor::new(&RedactorSettings {
        rules,
        ..RedactorSettings::default()
    });
    assert_eq!(
        redactor
            .unwrap()
            .redact("ticket 1234-5678, acme_ABCD1234, acme_AB, xacme_WXYZ9876")
            .text,
        "ticket [redacted:own-rule#1], [redacted:own-rule#2], acme_AB, xacme_WXYZ9876"
    );
}

#[test]
fn a_rule_is_switched_off_by_its_id() {
    let off = |id: &str| {
        let settings = RedactorSettings {
            off: vec![id.into()],
            ..RedactorSettings::default()
        };
        Redactor::new(&settings).unwrap()
    };
    for (id, text) in [
        ("github", github("x")),
        ("addresses", "postgres://app:Kx92mQ7z@db/shop".into()),
        ("curl", "curl -u admin:Kx92mQ7z https://h".into()),
        ("names", "DB_PASSWORD=Kx92mQ7z".into()),
    ] {
        assert_ne!(Redactor::default().redact(&text).text, text, "{id}");
        assert_eq!(off(id).redact(&text).text, text, "{id}");
    }
    assert!(rule_ids().contains(&"twilio"));
}

#[test]
fn settings_that_are_no_rules_say_what_is_wrong() {
    let one = |rule| RedactorSettings {
        rules: vec![rule],
        ..RedactorSettings::default()
    };
    let key = |alphabet: &str, length: &str| Rule {
        prefix: Some("x_".into()),
        alphabet: Some(alphabet.into()),
        length: Some(length.into()),
        ..Rule::default()
    };
    let pattern = Rule {
        pattern: Some("(".into()),
        ..Rule::default()
    };
    let error = |settings: RedactorSettings| Redactor::new(&settings).unwrap_err();
    assert!(matches!(error(one(pattern)), RuleError::Pattern { .. }));
    assert!(matches!(
        error(one(Rule::default())),
        RuleError::Neither { .. }
    ));
    assert!(matches!(
        error(one(key("runes", "8"))),
        RuleError::Alphabet { .. }
    ));
    assert!(matches!(
        error(one(key("hex", "8..4"))),
        RuleError::Length { .. }
    ));
    let unknown = RedactorSettings {
        off: vec!["githib".into()],
        ..RedactorSettings::default()
    };
    assert_eq!(
        error(unknown),
        RuleError::Unknown {
            id: "githib".into()
        }
    );
}

#[test]
fn strings_of_json_are_judged_as_they_read_and_other_bytes_stay() {
    let redactor = Redactor::default();
    let json = format!(
        "{{ \"a\" : 1.50, \"password\":\"tr0ub4dor&3\",\"b\":[\"line\\n{}\\tend\", \"\\u00e9\"], \"n\":1e400 }}",
        github("x")
    );
    assert_eq!(
        redactor.document().json(&json),
        "{ \"a\" : 1.50, \"password\":\"[redacted:password#1]\",\"b\":[\"line\\n[redacted:github-token#1]\\tend\", \"\\u00e9\"], \"n\":1e400 }"
    );
    for (json, expected) in [
        (
            r#"{"name":"DB_PASSWORD","value":"sunflower"}"#,
            r#"{"name":"DB_PASSWORD","value":"[redacted:password#1]"}"#,
        ),
        (
            r#"{"kind":"Secret","data":{"user":"YWRtaW4="}}"#,
            r#"{"kind":"Secret","data":{"user":"[redacted:secret#1]"}}"#,
        ),
        (
            r#"{"password":["required","confirmed"]}"#,
            r#"{"password":["required","confirmed"]}"#,
        ),
    ] {
        assert_eq!(redactor.document().json(json), expected);
    }
}

#[test]
fn a_private_key_in_a_list_of_lines_is_known_as_one() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let lines = [
        "-----BEGIN PRIVATE KEY-----",
        body,
        body,
        "-----END PRIVATE KEY-----",
    ];
    let json = serde_json::json!({ "lines": lines }).to_string();
    let redactor = Redactor::default();
    assert!(!redactor.document().json(&json).contains("MIIEvQ"));
    for marked in [
        lines.join("\n"),
        lines.join("\\n"),
        lines.map(|line| format!("12→{line}")).join("\n"),
    ] {
        let redacted = redactor.redact(&format!("before\n{marked}\nafter it")).text;
        assert!(!redacted.contains("MIIEvQ"), "{redacted}");
        assert!(
            redacted.starts_with("before\n") && redacted.ends_with("\nafter it"),
            "{redacted}"
        );
    }
    // Only its end, as `tail` prints it.
    let tail = redactor.redact(&lines[1..].join("\n")).text;
    assert!(!tail.contains("MIIEvQ"), "{tail}");
}

#[test]
fn what_a_document_learnt_is_known_to_what_is_made_of_it() {
    let redactor = Redactor::default();
    let mut document = redactor.document();
    document.text("API_TOKEN=q7Zt2kWm9LpXv4RbHd3Yc8Jf5");
    let next = document.into_redactor();
    assert_eq!(
        next.redact("cut: q7Zt2kWm9LpXv4Rb").text,
        "cut: [redacted:secret#1]"
    );
}

#[test]
fn a_key_that_goes_on_in_the_next_line_or_string_is_found_whole() {
    let half = "a1B2c3D4e5F6g7H8i9J0";
    let line = "q7Zt2kWm9LpXv4RbHd3Yc8Jf5".repeat(2) + "LS0tLS1C";
    let pem = format!(
        "LS0tLS1CRUdJTiBSU0EgUFJJ{half}\n{}",
        format!("{line}\n").repeat(20)
    );
    for (text, expected) in [
        (
            format!("t = \"ghp_{half}\" +\n    \"{half}\""),
            "t = \"[redacted:github-token#1]\n\"",
        ),
        (
            format!("eyJ{half}.\neyJ{half}{half}\n.{half}{half}\nnext"),
            "[redacted:jwt#1]\n\n\nnext",
        ),
        (
            format!("{pem}S0VZLS0tLS0K\ndone"),
            &format!("[redacted:private-key#1]{}done", "\n".repeat(22)),
        ),
    ] {
        assert_eq!(Redactor::default().redact(&text).text, expected);
    }
}
