//! What holds for every text, however it is made.

use longhaul_redact::{Kind, Redactor};
use proptest::prelude::*;

use crate::beside::placed;
use crate::{ALNUM, drawn, formed};

/// Texts that look for trouble: marks, quotes, separators, escapes.
fn awkward() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        4 => "[ -~\n\t]{0,12}",
        2 => "\\PC{0,6}",
        1 => prop::sample::select(vec![
            "sk-", "sk-ant-", "eyJ", "ghp_", "AKIA", "token=", "password: ", "\"", "\\\"", "://",
            "u:p@", "Bearer ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n",
            "[redacted:", "[redacted:secret#1]", "#1]", "secret: |\n  ", "--token ", "=", ":", "@",
            "curl -u a:", "mysql -p", "sshpass -p ", "パスワードは", "密码：", "contraseña: ", "ghp_\n", ".\n", "<password>", "</", "name=\"token\" value=\"",
            "machine h login u password ",
            "\", \"", "(\"password\", \"", "\" +\n\"", "\\\n", "\u{200b}", "\\u0061", "&quot;", "ENV API_KEY ", "password to ",
            "creds: bob/", "Cookie: a=", "h:5432:b:u:", "$6$", "$2b$", "{SHA}", "kind: Secret\n", "data:\n  a: ", "seed phrase: ", "1. legal 2. winner ", "log in as bob / ", "\"data\":{\"a\":\"", "\"kind\":\"Secret\"", "\"auth\":\"Ym9iOmI", "stringData:\n  a: |\n    ",
            "legal winner thank year ", "the password is ", "hunter2zz9", "api key - ",
            "**Password:** ", "| password | ", " |", "**", "api key `", "`", "tokens = [\"", "PASSWORD_1=",
            "user,password\n", "bob,", ",", "%3D", "password%3D", "\u{1b}[31m", "-----END PRIVATE KEY-----", "{ default = ", "variable \"token\" {\n", "MTk4NjIyNDgzNDcxOTI1MjQ4.", "jCeECOtYrLdwGetDCc", "93847562",
        ]).prop_map(String::from),
        1 => (any::<u64>(), 0..60usize).prop_map(|(seed, length)| drawn(seed, length, ALNUM)),
        1 => any::<u64>().prop_map(|seed| {
            let all = formed(seed);
            all[seed as usize % all.len()].1.clone()
        }),
    ];
    prop::collection::vec(bit, 0..12).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn redacting_again_changes_nothing(text in awkward()) {
        let redactor = Redactor::default();
        let once = redactor.redact(&text);
        let twice = redactor.redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert!(twice.found.is_empty());
        prop_assert_eq!(once.text.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn json_stays_json_and_redacting_again_changes_nothing(text in awkward(), name in "[a-z_]{0,4}(password|token|x)") {
        let redactor = Redactor::default();
        let json = serde_json::json!({ name: text, "list": [text, 1.5, null] }).to_string();
        let once = redactor.document().json(&json).into_owned();
        prop_assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok(), "{}", once);
        prop_assert_eq!(redactor.document().json(&once), once.as_str());
    }

    #[test]
    fn a_text_grows_by_no_more_than_its_placeholders(text in awkward()) {
        let redacted = Redactor::default().redact(&text);
        prop_assert!(redacted.text.len() <= text.len() + 40 * redacted.found.len());
    }

    #[test]
    fn nothing_but_secrets_is_changed(text in awkward()) {
        // Between placeholders stands what stood there, in its order.
        let redacted = Redactor::default().redact(&text).text;
        let mut rest = text.as_str();
        let mut first = true;
        for kept in redacted.split("[redacted:") {
            // What the text itself had of such marks is part of it.
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

    #[test]
    fn no_secret_with_a_form_survives_anywhere(
        before in "(\\PC{0,20}[ \n\"'(=,:]|\\\\n|\u{1b}\\[31m)?",
        after in "([ \n\"'),;]\\PC{0,20})?",
        seed in any::<u64>(),
    ) {
        for (kind, secret) in formed(seed) {
            let redacted = Redactor::default().redact(&format!("{before}{secret}{after}"));
            prop_assert!(!redacted.text.contains(&secret), "{} in {}", kind, redacted.text);
            let escaped = serde_json::json!({ "text": format!("{before}{secret}{after}") }).to_string();
            let inner = serde_json::json!({ "output": escaped }).to_string();
            for json in [escaped, inner] {
                let redactor = Redactor::default();
                let out = redactor.document().json(&json).into_owned();
                let middle = &secret.split('\n').next_back().unwrap();
                let middle = if kind == Kind::PrivateKey { secret.lines().nth(2).unwrap() } else { middle };
                prop_assert!(!out.contains(middle), "{} in {}", kind, out);
            }
        }
    }

    #[test]
    fn no_secret_beside_a_telling_name_survives(
        before in "(\\PC{0,20}[ \n])?",
        after in "([ \n]\\PC{0,20})?",
        seed in any::<u64>(),
    ) {
        for (kind, text, secret) in placed(seed) {
            let redacted = Redactor::default().redact(&format!("{before}{text}{after}"));
            prop_assert!(!redacted.text.contains(&secret), "{} in {}", kind, redacted.text);
        }
    }
}

#[test]
fn a_line_of_a_megabyte_loses_its_secrets_and_nothing_else() {
    let bits = [
        "plain words ",
        "token=",
        "a: b ",
        "[redacted:",
        "://u:p ",
        "\\u0061",
        "password \"",
        "密码 ",
    ];
    let noise = bits.concat();
    let noise = noise.repeat((1 << 20) / noise.len());
    let key = &formed(21)[6].1;
    let redacted = Redactor::default()
        .redact(&format!("{noise} {key} {noise} {key}"))
        .text;
    let mark = "[redacted:github-token#1]";
    assert_eq!(redacted, format!("{noise} {mark} {noise} {mark}"));
}

#[test]
fn time_is_linear_in_the_worst_of_texts() {
    let text = |bit: &str, size: usize| bit.repeat(size / bit.len());
    for bit in [
        "sk-",
        "eyJ-",
        "eyJaaaaaaaaaaa.",
        "token=",
        "a:",
        "://u:p",
        "-----BEGIN PRIVATE KEY-----\n",
        "\"",
        "\\\"",
        "--token ",
        "password=\\\"",
        "\"password\":\")\",",
        "AKIA",
        "[redacted:",
        "x",
        "hvs.",
        "Bearer ",
        "a1-",
        "key:",
        " -u a:bcde1",
        " -pabcd1",
        "密码",
        "パスワードは",
        "tokens=[\"a\",",
        "eyJaaaaaa1A\n",
        "eyJaaaaaa1A.\n",
        "ghp_\n",
        "token|",
        "api key `",
        "password:**",
        "password \"",
        "(\"password\", \"",
        "token = (\"a1\" +\n",
        "pwpw",
        "password for a of b ",
        "set -x API_KEY ",
        "data:\n",
        "kind: Secret\ndata:\n a: b\n",
        "Cookie: a=",
        "h:5432:b:u:",
        "$6$a",
        "{SHA}a",
        "seed ",
        "seed phrase: legal winner ",
        "1. legal 2. winner ",
        "1.",
        "login with bob / ",
        "\"data\":{\"a\":\"b\",",
        "{\"kind\":\"Secret\",\"data\":{",
        "kind: Secret\ndata:\n  a: |\n    b\n",
        "\"auth\":\"Ym9iOmI",
        "\\u0061",
        "\u{200b}",
        "&quot;",
        "password=a1b2c3 ",
        "| password ",
        "| password |\n|---|\n",
        "| a | password | password | password |\n|-|-|-|-|\n| b | c | d | e |\n",
        "passwords:\n- a\n",
        "passwords:\n",
        "- passwords:\n",
        "<password>",
        "<password>a</password",
        "name=\"password\" value=\"a",
        "user,password\n",
        "user,password\nbob,a1b2c3\n",
        "password,",
        "password\n",
        "-----END PRIVATE KEY-----\n",
        "aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3\n",
        "password%3D",
        "%25",
        "password: \u{1b}[31m",
        "chpasswd <<E\n",
        "<<<",
        "user  password\n",
        "user  password\nbob  a1b2c3\n",
        "password had it to ",
        "expect password send \"a",
        "auth(\"a\", ",
        "AUTH a1b2c3",
        "user on >",
        "net use a /user:",
        "value=a name=",
        "\u{1b}[",
        "password: \"abc",
        "default = ",
        "password: {",
        "{ default = ",
        "MT",
        "MTk4NjIyNDgzNDcxOTI1MjQ4.",
        "\"ghp_a\" + ",
    ] {
        let start = std::time::Instant::now();
        Redactor::default().redact(&text(bit, 1 << 17));
        let taken = start.elapsed();
        assert!(taken.as_secs() < 10, "{bit:?} took {taken:?}");
    }
}
