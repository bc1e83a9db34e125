//! Passwords in tables, tags, attributes and lists.

use longhaul_memory::{Kind, Redactor};

use crate::{finds, stay};

#[test]
fn passwords_of_letters_are_found_in_tables_tags_attributes_and_lists() {
    let redactor = Redactor::default();
    for text in [
        "| password | hunter |",
        "| user | bob |\n| password | hunter |\n",
        "| **Password** | `hunter` |",
        "password | hunter |",
        "| user | password |\n|---|---|\n| bob | hunter |\n| eve | Sommerregen |\n",
        "| user | password | host |\n|:--|:-:|--:|\n| bob | hunter | db |\n\nafter",
        "| old password | new password |\n|---|---|\n| hunter | swordfish |",
        "| name | API token |\n|---|---|\n| ci | 8f7d6a5b4c3d2e1f0a9b |",
        "<password>hunter</password>",
        "<db>\n  <user>bob</user>\n  <password> hunter </password>\n</db>",
        "<ns:password>hunter</ns:password>",
        "<user name=\"bob\" password=\"hunter\"/>",
        "<user name='bob' password='hunter'/>",
        "<add key=\"password\" value=\"hunter\" />",
        "<property name=\"db.password\" value=\"hunter\"/>",
        "{\"name\": \"DB_PASSWORD\", \"value\": \"hunter\"}",
        "passwords:\n  - hunter\n  - swordfish\n",
        "passwords:\r\n  - hunter\r\n  - swordfish\r\n",
        "passwords:\n- \"hunter\"\n- 'swordfish'\nusers:\n- bob\n",
        "old_passwords:\n  - abc\n  - 12345678\n",
        "tokens:\n  - 8f7d6a5b4c3d2e1f0a9b\n",
    ] {
        let redacted = redactor.redact(text).text;
        for secret in [
            "hunter",
            "swordfish",
            "Sommerregen",
            "abc",
            "12345678",
            "8f7d6a5b4c3d2e1f0a9b",
        ] {
            assert!(!redacted.contains(secret), "{text}\n{redacted}");
        }
        assert!(redacted.contains("[redacted:"), "{text}");
        assert_eq!(redactor.redact(&redacted).text, redacted, "{text}");
        for other in ["bob", "users", "host", "db |", "after"] {
            assert_eq!(
                redacted.contains(other),
                text.contains(other),
                "{text}\n{redacted}"
            );
        }
    }
}

#[test]
fn what_tables_tags_and_lists_say_about_passwords_stays() {
    let redactor = Redactor::default();
    for text in [
        "| password | string | yes |",
        "| password | the user's password |",
        "| username | password | hostname |\n|---|---|---|\n| text | required | string |\n",
        "| field | password | widget |",
        "| password | widgets |\n|---|---|\n| required | none |\n",
        "| password | |\n| user | somebody |",
        "<password>required</password>",
        "<password>${DB_PASSWORD}</password>",
        "<password><b>widgets</b></password>",
        "<label for=\"password\">Kennung</label>",
        "<input name=\"password\" value=\"\" type=\"password\"/>",
        "<input type=\"password\" name=\"pw\" autocomplete=\"off\">",
        "password:\n  - required\n  - confirmed\n  - minimal\n",
        "passwords:\n  - name: bob\n    hash: none\n",
        "passwords:\n  - ${FIRST}\n  - *second\n  - !vault x\n",
        "passwords:\n  are kept elsewhere\n",
        "We talked about passwords:\n\n- rotating them\n- storing them\n",
        "Passwords:\n- must be long\n- must be random\n- required\n",
    ] {
        assert_eq!(redactor.redact(text).text, text);
    }
}

#[test]
fn what_clients_of_databases_print_is_redacted_by_its_columns() {
    let key = "oH0loMl53mLUUhVDTMTnr11B7GdF8aC3";
    finds(
        Kind::Secret,
        key,
        &[
            " id | email | api_key\n----+-------+---------\n  1 | a@b.c | §\n(1 row)\n",
            " api_key | id \n---------+----\n § |  1\n(1 row)\n",
            "-[ RECORD 1 ]--\nid      | 1\napi_key | §\n",
            "-[ RECORD 1 ]--\napi_key | §\n",
            "+----+---------+\n| id | api_key |\n+----+---------+\n|  1 | § |\n+----+---------+\n",
            "id|email|api_key\n1|a@b.c|§\n",
            "id  email  api_key \n--  -----  --------\n1   a@b.c  §\n2   ü@b.c  §\n",
            "┌────┬─────────┐\n│ id │ api_key │\n├────┼─────────┤\n│ 1  │ § │\n└────┴─────────┘\n",
        ],
    );
    for password in ["Herbst2026x", "Sommerregen"] {
        finds(
            Kind::Password,
            password,
            &[
                " user | password | host \n------+----------+------\n bob  | § | db\n",
                "user|password|host\nbob|§|db\n",
                "user  password      host\n----  ------------  ----\nbob   §   db\n",
                "│ DB_PASSWORD │ § │\n│ DB_HOST     │ db │\n",
                "├──────┼───────┤\n│ DB_PASSWORD │ § │\n└──────┴───────┘\n",
                "┃ user ┃ password ┃\n┡━━━━━━╇━━━━━━━━━━┩\n│ bob  │ § │\n",
                "║ user ║ password ║\n╠══════╬══════════╣\n║ bob  ║ § ║\n",
            ],
        );
    }
}

#[test]
fn what_other_lines_with_bars_and_dashes_hold_stays() {
    stay(&[
        "echo password | sha256sum\n",
        "gen-password | sha256sum\ncat x | md5sum\n",
        "password | character varying(255) | not null\n",
        " id | token type\n----+-----------\n  1 | BearerToken2\n",
        "the token  here2there\n--- a/x1 +++ b/x2\n",
        "type T = Foo | Token\n  | Bar2Baz\n",
        "│ password │ required │\n│ token │ string │\n",
    ]);
}
