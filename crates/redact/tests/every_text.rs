//! What holds for every text, however it is made.

#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use longhaul_redact::Redactor;
use proptest::prelude::*;

/// Texts that look for trouble: names, signs, quotes, marks, placeholders.
fn awkward() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        4 => "[ -~\n\t]{0,12}",
        2 => "\\PC{0,6}",
        2 => "[A-Za-z0-9+/=_-]{0,48}",
        4 => prop::sample::select(vec![
            "sk-", "sk-ant-", "eyJ", "ghp_", "AKIA", "token=", "password: ", "\"", "\\\"", "://",
            "u:p@", "Bearer ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n",
            "[redacted:", "[redacted:secret#1]", "#1]", "secret: |\n  ", "--token ", "=", ":", "@",
            "curl -u a:", "mysql -p", "パスワードは", "密码：", "contraseña: ", "<password>", "</",
            "name=\"token\" value=\"", "machine h login u password ", "(\"password\", \"",
            "\" +\n\"", "\\\n", "\u{200b}", "\\u0061", "&quot;", "ENV API_KEY ", "creds: bob/",
            "Cookie: a=", "h:5432:b:u:", "$6$", "kind: Secret\ndata:\n  a: ", "\"kind\":\"Secret\"",
            "\"data\":{\"a\":\"", "1. legal 2. winner ", "the password is ", "hunter2zz9",
            "**Password:** ", "| password |\n|--|\n| ", "PASSWORD_1=", "user,password\nbob,", "%3D",
            "\u{1b}[31m", "variable \"token\" {\n", "{ default = ", "tokens = [\"", "é", "│",
        ]).prop_map(String::from),
    ];
    prop::collection::vec(bit, 0..12).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn redacting_again_changes_nothing_and_lines_stay(text in awkward()) {
        let redactor = Redactor::default();
        let once = redactor.redact(&text);
        let twice = redactor.redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(twice.found.is_empty());
        prop_assert_eq!(once.text.matches('\n').count(), text.matches('\n').count());
        prop_assert!(once.text.len() <= text.len() + 40 * once.found.len());
    }

    #[test]
    fn json_stays_json_and_redacting_again_changes_nothing(
        text in awkward(),
        name in "[a-z_]{0,4}(password|token|x)",
    ) {
        let redactor = Redactor::default();
        let json = serde_json::json!({ name: text, "list": [text, 1.5, null] }).to_string();
        let once = redactor.document().json(&json).into_owned();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok(), "{}", once);
        prop_assert_eq!(redactor.document().json(&once), once.as_str());
    }

    #[test]
    fn what_is_no_json_is_redacted_without_a_panic(text in awkward()) {
        let redactor = Redactor::default();
        let mut document = redactor.document();
        let _ = document.json(&text);
    }

    #[test]
    fn a_text_in_chunks_is_redacted_as_the_whole_and_other_bytes_stay(
        text in awkward(),
        size in 1..40usize,
    ) {
        let redactor = Redactor::default();
        let whole = redactor.redact(&text).text;
        let mut stream = redactor.stream();
        let mut out = Vec::new();
        let bytes = [text.as_bytes(), b"\xff\xe2\x82", b"\xe2\x82"].concat();
        for chunk in bytes.chunks(size) {
            out.extend(stream.push(chunk));
        }
        out.extend(stream.finish().0);
        prop_assert_eq!(out, [whole.as_bytes(), b"\xff\xe2\x82", b"\xe2\x82"].concat());
    }

    #[test]
    fn between_placeholders_stands_what_stood_there(text in awkward()) {
        let redacted = Redactor::default().redact(&text).text;
        let mut rest = text.as_str();
        let mut first = true;
        for kept in redacted.split("[redacted:") {
            let kept = match kept.split_once(']') {
                Some((mark, kept)) if !first && mark.contains('#') => kept,
                _ => kept,
            };
            // Line ends of a secret stay behind its placeholder.
            let kept = if first { kept } else { kept.trim_start_matches(['\r', '\n']) };
            let place = rest.find(kept);
            prop_assert!(place.is_some(), "{:?} is not in {:?}", kept, rest);
            prop_assert!(!first || place == Some(0));
            rest = &rest[place.unwrap_or(0) + kept.len()..];
            first = false;
        }
    }
}

#[test]
fn a_long_line_loses_its_secrets_and_nothing_else() {
    let noise = "plain words token= a: b [redacted: ://u:p \\u0061 password \" 密码 ";
    let noise = noise.repeat((1 << 17) / noise.len());
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let redacted = Redactor::default()
        .redact(&format!("{noise} {key} {noise} {key}"))
        .text;
    let mark = "[redacted:github-token#1]";
    assert_eq!(redacted, format!("{noise} {mark} {noise} {mark}"));
}
