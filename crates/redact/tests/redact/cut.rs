//! Secrets whose text was cut, coloured, split or packed into another.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, drawn, stay};

/// Asserts that nothing is left of the values that stand in a text for `§` and
/// `¤`, in the text as such and within JSON.
fn gone(form: &str) {
    for seed in 1..20 {
        let (one, two) = (drawn(seed, 20, ALNUM), drawn(seed + 50, 20, ALNUM));
        let text = form.replace('§', &one).replace('¤', &two);
        let json = serde_json::json!({ "text": text }).to_string();
        let redactor = Redactor::default();
        for out in [
            redactor.redact(&text).text,
            redactor.document().json(&json).into_owned(),
        ] {
            assert!(!out.contains(&one) && !out.contains(&two), "{out}");
        }
        let once = redactor.redact(&text).text;
        assert_eq!(redactor.redact(&once).text, once);
    }
}

#[test]
fn a_quote_that_nothing_closes_hides_no_secret() {
    for form in [
        "API_TOKEN=\"§",
        "export DB_PASSWORD='§\nnext line",
        "API_TOKEN=\"§\\",
        "API_TOKEN=\"§\\\n¤\"",
        "API_TOKEN=\"§…",
        "API_TOKEN=\"§...",
        "{\"user\": \"x\", \"password\": \"§",
    ] {
        gone(form);
    }
    stay(&[
        "password: \"a long sentence of which",
        "password: 'tis the season",
        "token = \"${TOKEN}",
    ]);
}

#[test]
fn colours_of_a_terminal_hide_no_secret() {
    for form in [
        "password: \u{1b}[31m§\u{1b}[0m",
        "\u{1b}[1;32mpassword\u{1b}[0m: §",
        "\u{1b}[32mAPI_KEY\u{1b}[0m\u{1b}[36m=\u{1b}[0m\u{1b}[33m§\u{1b}[0m",
        "password: \\x1b[31m§\\x1b[0m",
        "password: \\033[1;31m§\\033[0m",
        "password: ^[[31m§^[[0m",
    ] {
        gone(form);
    }
    stay(&["\u{1b}[31merror\u{1b}[0m: the \u{1b}[1mpassword\u{1b}[0m is wrong"]);
}

#[test]
fn columns_of_separated_values_are_redacted_by_the_name_at_their_top() {
    for form in [
        "user,password\nbob,§\nann,¤\n",
        "id;\"login\";\"password\";\"x\"\r\n1;\"bob\";\"§\";\"y\"\r\n2;\"ann\";\"¤\";\"z\"",
        "user\tapi_key\tn\nbob\t§\t3\nann\t¤\t4",
    ] {
        gone(form);
    }
    let table = "user,password,age\nbob,swordfish,31\nann,Sommerregen,29\n\nswordfish";
    let redacted = Redactor::default().redact(table);
    assert_eq!(redacted.found, [Kind::Password, Kind::Password]);
    assert!(redacted.text.contains("bob,[redacted:password#1],31"));
    stay(&[
        "the user, password\nand others, argument2",
        "SELECT user, password\nFROM users, logins2",
        "let (user, password,\n    token, realm2) = parse();",
        "name,token_count,n\nbob,a1b2c3d4e5f6a7b8c9,2",
        "user,password\nbob,required\nann,none\n",
    ]);
}

#[test]
fn what_a_block_names_is_what_its_default_is() {
    for form in [
        "variable \"db_password\" {\n  default = \"§\"\n}",
        "variable \"api_token\" {\n  type = string\n  description = \"x\"\n  default = \"§\"\n}",
        "output \"db_password\" {\n  value = \"§\"\n  sensitive = true\n}",
        "const schema = { password: { type: 'string', default: '§' } };",
        "parameters:\n  db_password:\n    type: string\n    default: §\n",
    ] {
        gone(form);
    }
    stay(&[
        "variable \"region\" {\n  default = \"eu1west2north3abc\"\n}",
        "password:\n  type: string\nname:\n  default: a1b2c3d4e5f6",
        "variable \"db_password\" {\n  type = string\n}\nvariable \"x\" {\n  default = \"a1b2c3d4\"\n}",
    ]);
}

#[test]
fn strings_that_a_program_joins_to_a_key_are_all_redacted() {
    for form in [
        "\"ghp_§\" + \"¤\"",
        "t = 'ghp_§' \\\n    '¤'",
        "\"sk-ant-§\" . \"¤\"",
        "password = \"§\" + \"¤\"",
    ] {
        gone(form);
    }
}

#[test]
fn the_end_of_a_private_key_is_known_by_its_last_line() {
    for between in ["\n", "\r\n", "\\n", "\n> ", " "] {
        for title in [
            "PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "PGP PRIVATE KEY BLOCK",
        ] {
            let lines: Vec<String> = (1..4).map(|seed| drawn(seed, 64, ALNUM)).collect();
            let short = "QmFzZTY0==";
            let text = format!(
                "its tail{between}{}{between}{short}{between}-----END {title}-----\nthat was it",
                lines.join(between)
            );
            let redacted = Redactor::default().redact(&text);
            assert_eq!(redacted.found, [Kind::PrivateKey]);
            assert!(
                lines.iter().all(|line| !redacted.text.contains(line)),
                "{}",
                redacted.text
            );
            assert!(redacted.text.starts_with("its tail"));
            assert!(redacted.text.ends_with("\nthat was it"));
        }
    }
    stay(&[
        "it ends with -----END PRIVATE KEY-----",
        "3f786850e387550fdab836ed7e6dc881de23001b3f78\n-----END CERTIFICATE-----",
    ]);
}

#[test]
fn what_an_address_packs_into_another_is_read() {
    for form in [
        "password%3D§%26x",
        "https://x/y?next=%2Flogin%3Fuser%3Dbob%26password%3D§",
        "state%3Da%26api_key%3D§%26b%3D1",
        "password%253D§%2526x",
        "%7B%22user%22%3A%22bob%22%2C%22password%22%3A%22§%22%7D",
    ] {
        gone(form);
    }
    stay(&[
        "https://x/y?q=a%3Db%26c&page%3D2",
        "100%25 of it",
        "%",
        "%2",
        "%25",
    ]);
}

#[test]
fn tokens_of_discords_bots_are_known_by_their_form() {
    let token = format!(
        "{}.{}.{}",
        "MTk4NjIyNDgzNDcxOTI1MjQ4",
        drawn(3, 6, ALNUM),
        drawn(4, 38, ALNUM)
    );
    let redacted = Redactor::default().redact(&format!("client.login(\"{token}\")"));
    assert_eq!(redacted.text, "client.login(\"[redacted:provider-key#1]\")");
    stay(&[
        "MTk4NjIyNDgzNDcxOTI1MjQ4.length.toString",
        "NTk4NjIyNDgzNDcx.a1b2c3.x",
    ]);
}

#[test]
fn a_list_that_holds_the_lines_of_a_text_is_read_as_one() {
    let lines: Vec<String> = (1..4).map(|seed| drawn(seed, 64, ALNUM)).collect();
    let key = [
        &[
            "cat <<E".to_owned(),
            "-----BEGIN PRIVATE KEY-----".to_owned(),
        ][..],
        &lines,
        &["-----END PRIVATE KEY-----".to_owned(), "E".to_owned()],
    ]
    .concat();
    let json = serde_json::json!({ "left": key, "other": ["a\nb", "c"], "one": ["d"] }).to_string();
    let redactor = Redactor::default();
    let out = redactor.document().json(&json).into_owned();
    let read: serde_json::Value = serde_json::from_str(&out).unwrap();
    let left = read["left"].as_array().unwrap();
    assert_eq!(left.len(), key.len(), "{out}");
    assert_eq!(left[0], "cat <<E");
    assert_eq!(left[1], "[redacted:private-key#1]");
    assert_eq!(left[key.len() - 1], "E");
    assert_eq!(read["other"], serde_json::json!(["a\nb", "c"]));
    assert!(lines.iter().all(|line| !out.contains(line)), "{out}");
    assert_eq!(redactor.document().json(&out), out.as_str());
}
