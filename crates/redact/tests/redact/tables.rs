//! Passwords in tables, tags, attributes and lists.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, drawn, finds, stay};

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

#[test]
fn columns_that_only_blanks_part_are_redacted_below_their_names() {
    let texts = [
        "USER    PASSWORD     HOST\napp     §   db1\n",
        "Users of db1:\nusername  passwd\nroot      §\n",
        "  user     pwd\n  app      §\n",
        "ID  USER   PASSWORD\n1   app    §\n",
        "LOGIN  PASS   URL\napp    §  http://db.test\n",
        "ID  USER      PASSWORD\n10  longuser  §\n",
        "host      user  password    note\ndb1.test  app   §  the main one\n",
        "host      user  password\ndb1.test        §\n",
        "```\nACCOUNT   PASSWORD\napp       §\n```",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    let secret = drawn(11, 22, ALNUM) + "a7";
    let table = "SERVICE   TOKEN                      EXPIRES\ngithub    §   2027-01-01\n";
    finds(Kind::Secret, &secret, &[table]);
}

#[test]
fn columns_of_other_things_stay() {
    stay(&[
        "NAME                  TYPE                                  DATA   AGE\ndefault-token-x7k2p   kubernetes.io/service-account-token   3      5d12h\ndb-password           Opaque                                1      5d12h\n",
        "NAME                     READY   STATUS    RESTARTS   AGE\nweb-7c5d8f9b4-x2k9p      1/1     Running   0          5d\n",
        "NAME        SECRETS   AGE\napp2prod    1         5d12h\n",
        "USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\nroot         1  0.0  0.1 168140 11584 ?        Ss   Nov15   0:04 /sbin/init\n",
        "Filesystem     1K-blocks    Used Available Use% Mounted on\n/dev/sda1       41152736 9876543  29152736  26% /\n",
        "-rw-r--r--  1 app2x  staff  168140 Nov 15 10:00 password\n-rw-r--r--  1 app2x  staff  168140 Nov 15 10:00 Blue7horse\n",
        "Option     Password     Default\n--min2x    minimum      8characters\n",
        "    Password  string\n    OAuth2x   string\n",
        "TEST   PASS   FAIL\nunit   Suite2all   none\n",
        "    Name      string\n    Password  string\n    OAuth2x   string\n",
        "foo   username\nbar   password\nbaz   Blue7horse\n",
        "Username   Password   Last changed\nalice      ********   2026-01-01\n",
        "MODEL       INPUT TOKENS    OUTPUT TOKENS\nclaude-3    1234567         89012345\n",
        "name   password\n\nBlue7horse  is no row of it\n",
    ]);
}
