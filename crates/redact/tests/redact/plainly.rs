//! Values beside names that tell of secrets in plain words.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, drawn, finds, stay};

#[test]
fn the_key_of_somebody_is_one_where_it_was_clearly_drawn() {
    for seed in 1..40 {
        let key = format!("{}aB3xY7", drawn(seed, 34, ALNUM));
        finds(
            Kind::Secret,
            &key,
            &[
                "STRIPE_KEY=§",
                "export JWT_KEY=\"§\"",
                "app_key: §",
                "  admin-key: '§'",
            ],
        );
        stay(&[
            &format!("PUBLIC_KEY={key}"),
            &format!("cache_key: {key}"),
            &format!("monkey: {key}"),
        ]);
        let json = format!("{{\"SESSION_KEY\":\"{key}\"}}");
        let redactor = Redactor::default();
        assert!(!redactor.document().json(&json).contains(&key));
    }
    stay(&[
        "APP_KEY=the-name-of-the-application",
        "SESSION_KEY = \"django_session_key_2\"",
        "STRIPE_KEY=os.environ['KEY']",
        "OBJECT_KEY=2f9a0c1d2e3f4a5b6c7d8e9f",
        "redis_key: users/by/name/Anna2/Bob3/Carl4",
    ]);
}

#[test]
fn pass_is_a_password_where_a_string_is_its_value() {
    finds(
        Kind::Password,
        "uYtA5RKr4ZJa4H",
        &[
            "auth: { user: \"bob\", pass: \"§\" }",
            "{\"user\":\"bob\",\"pass\":\"§\"}",
        ],
    );
    stay(&["PASS: tests/a_1.rs", "pass: all of it1", "\"pass\": 12"]);
}

#[test]
fn an_option_in_a_list_of_arguments_has_the_next_string_for_its_value() {
    finds(
        Kind::Password,
        "33Xd7B7eVLSPM2",
        &[
            "[\"mysql\",\"--password\",\"§\"]",
            "['mysql', '--password', '§']",
        ],
    );
    stay(&[
        "[\"--password\", \"--user\"]",
        "add_argument(\"--password\", help=\"asks2\")",
    ]);
}

#[test]
fn a_call_that_sets_a_password_is_given_one() {
    finds(
        Kind::Password,
        "RVPR7KLUEX4eih",
        &[
            "user.setPassword(\"§\");",
            "builder.password('§')",
            "cfg.with_password(\"§\")",
        ],
    );
    finds(
        Kind::Secret,
        "RVPR7KLUEX4eihq9",
        &["client.setApiKey(\"§\");"],
    );
    stay(&[
        "vault.getSecret(\"db-main-2\")",
        "check_password(\"RVPR7KLUEX4eih\", hash)",
        "parser.token(\"identifier\")",
        "form.setPassword(\"\")",
    ]);
}

#[test]
fn the_line_or_the_code_below_its_name_is_a_key() {
    for seed in 1..20 {
        let key = format!("{}aB3", drawn(seed, 29, ALNUM));
        finds(
            Kind::Secret,
            &key,
            &[
                "API key:\n§\nthanks",
                "Token:\n§",
                "Secret key:\n§\n",
                "API key:\n```\n§\n```",
                "Token:\n\n```text\n§\n```\n",
                "The API key is:\n\n```\n§\n```",
                "Your new token is:\n§\n",
                "Das Token lautet:\n§",
            ],
        );
    }
    stay(&[
        "Token:\nidentifier\n",
        "key:\nd41d8cd98f00b204e9800998ecf8427e\n",
        "API key:\n```\nprint(1)\n```",
        "What the token is:\nsomething\n",
        "The key is:\nd41d8cd98f00b204e9800998ecf8427e\n",
        "The password is:\nrequired\n",
        "The commit is:\n3f1c9a8e7b6d5c4f3a2b1c0d9e8f7a6b5c4d3e2f\n",
    ]);
}

#[test]
fn every_line_of_a_folded_value_goes() {
    for mark in [">", ">-", "|", "|-"] {
        let text = format!(
            "api_key: {mark}\n  Lf21up2m9J2OB3pNGZzT\n  fH3ZTDiK4zTvnBvjRkNJ\nname: shop\n"
        );
        let redacted = Redactor::default().redact(&text).text;
        assert!(!redacted.contains("fH3ZTDiK4zTvnBvjRkNJ"), "{redacted}");
        assert!(redacted.ends_with("\nname: shop\n"), "{redacted}");
    }
}

#[test]
fn roles_and_types_in_the_place_of_a_secret_stay() {
    stay(&[
        ":type passphrase: :py:data:`bytes`\nsee :py:data and more",
        "self, private_key: ed25519.Ed25519PrivateKey, data",
        "ERRORTOKEN = token.ERRORTOKEN",
        "ERRORTOKEN = 59",
    ]);
}

#[test]
fn what_a_statement_inserts_is_known_by_its_column() {
    finds(
        Kind::Password,
        "cL8sfxLHMtlw4t",
        &[
            "INSERT INTO users (name, password) VALUES ('bob', '§');",
            "insert into users(id, password, n)\nvalues (1, '§', 'x'), (2, '§', 'y')",
        ],
    );
    let text = "INSERT INTO t (password, name, api_key) VALUES ('cL8sfxLHMtlw4t', 'bob7x', 'Lf21up2m9J2OB3pNGZzT');";
    let redacted = Redactor::default().redact(text);
    assert_eq!(
        redacted.text,
        "INSERT INTO t (password, name, api_key) VALUES ('[redacted:password#1]', 'bob7x', '[redacted:secret#1]');"
    );
    stay(&[
        "INSERT INTO users (name, password) VALUES ('bob7xy', ?)",
        "INSERT INTO users (name, password) SELECT 'a1b2c3d4', x",
        "call(password, 'cL8sfxLHMtlw4t')",
    ]);
}

#[test]
fn pass_is_a_password_behind_whose_it_is() {
    finds(
        Kind::Password,
        "uYtA5RKr4ZJa4H",
        &[
            "DBPASS=§",
            "dbPass: '§'",
            "SMTPPASS=§",
            "kubectl create secret generic x --from-literal=dbpass=§",
            "mysqlpass = \"§\"",
            "psk=\"§\"",
            "wpa_psk=§",
        ],
    );
    stay(&[
        "bypass=uYtA5RKr4ZJa4H",
        "compass: 'uYtA5RKr4ZJa4H'",
        "encompass=uYtA5RKr4ZJa4H surpass=uYtA5RKr4ZJa4H",
        "trespass=uYtA5RKr4ZJa4H underpass=uYtA5RKr4ZJa4H overpass=uYtA5RKr4ZJa4H",
        "renderPass: 'shadow#2'",
        "key_mgmt=WPA-PSK psk: bool",
    ]);
}

#[test]
fn pass_is_a_password_behind_a_user_in_the_environment_or_if_it_was_drawn() {
    finds(
        Kind::Password,
        "Herbst2026!x",
        &[
            "[smtp]\nuser = mailer\npass = §",
            "export PASS=§",
            "username=bob\nhost=db\npass=§",
        ],
    );
    finds(
        Kind::Password,
        "Tr0ub4dor3x",
        &[
            "smtp:\n  user: bob\n  pass: §",
            "user=bob pass=§",
            "User: bob\nPass: §",
            "- login: bob\n  pass: §",
        ],
    );
    finds(
        Kind::Password,
        &(drawn(3, 22, ALNUM) + "a7"),
        &["pass: §", "pass = §", "PASS=§"],
    );
    finds(
        Kind::Password,
        "x7kq-92lm-zp4v",
        &["PASS=§", "user=bob pass=§"],
    );
    finds(
        Kind::Password,
        "blue-harbor-42",
        &[
            "PASS=§",
            "export PASS=§",
            "export PASS=§\nmake test",
            "user=bob pass=§",
            "user: bob\npass: §",
            "docker run -e PASS=§ shop",
            "USER=bob PASS=§ ./run",
        ],
    );
    finds(
        Kind::Password,
        "correct-horse-battery-staple-7",
        &["export PASS=§", "PASS=§ # of the shop"],
    );
}

#[test]
fn what_passed_and_passes_of_programs_stay() {
    stay(&[
        "pass: 12 fail: 3",
        "pass: TestLogin2",
        "pass=true",
        "PASS: 14 tests",
        "PASS=3 FAIL=1",
        "pass = 2",
        "pass = lightPass2",
        "pass: ShadowPass2",
        "user: bob\npass: 12",
        "login: ok\npass: 14tests",
        "PASS=lto-pass2",
        "PASS=stage1-only make test",
        "$ CI=1 PASS=stage1-only ./run",
        "2026-11-16 12:00:01 INFO PASS=smoke-test-3 FAIL=0\nout/smoke-test-3/report.html",
        "PASS=smoke-test-3\nFAIL=load-test-1\nreport: out/smoke-test-3.html",
        "make PASS=unroll-loops2 && ./bench unroll-loops2",
        "env PASS=round-2 ./run.sh",
        "login: ok\nPASS: e2e-login-2",
        "2026-11-16 login: ok user: alice PASS: e2e-login-2",
        "user: args.user1,\npass: args.pass1,",
        "user = userName2\npass = userPass2",
        "user: process.env.SMTP_USER,\npass: process.env.SMTP_PASS2,",
        "PASS=$1 PASS=$(cat file1) PASS=${PASS:-x1}",
    ]);
}
