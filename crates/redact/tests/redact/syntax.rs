//! How a value is given away in programs and shells, and what looks alike and
//! stays.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, HEX, LETTERS, drawn, finds, stay};

#[test]
fn in_programs_a_type_or_a_comma_may_stand_between() {
    let secret = drawn(3, 22, ALNUM) + "a7";
    finds(
        Kind::Secret,
        &secret,
        &[
            "const secret: string = \"§\";",
            "let apiKey: String = \"§\"",
            "static API_KEY: &'static str = \"§\";",
            "var apiKey string = \"§\"",
            "api_key: Optional[str] = '§'",
            "os.Setenv(\"API_KEY\", \"§\")",
            "headers.set('X-Api-Key', '§')",
            "os.environ.setdefault(\n    \"API_KEY\",\n    \"§\",\n)",
            "token = os.getenv(\"API_TOKEN\", \"§\")",
            "{:api_key \"§\"}",
            "token = b\"§\"",
            "data = {'token': f'§'}",
            "secret = (\n    \"§\"\n)",
        ],
    );
    finds(
        Kind::Password,
        "P4ss1w!rd",
        &[
            "define(\"DB_PASSWORD\", \"§\");",
            "define('DB_PASSWORD', '§');",
            "config.set(\"password\", \"§\")",
            "{\\\"x\\\": \\\"set(\\\\\"password\\\\\", \\\\\"§\\\\\")\\\"}",
            "ConvertTo-SecureString \"§\" -AsPlainText -Force",
            "ConvertTo-SecureString -String \"§\" -AsPlainText",
            "CREATE USER bob WITH PASSWORD '§';",
            "CREATE USER 'bob'@'%' IDENTIFIED BY '§';",
            "password = r'§'",
            "let password = String::from(\"§\");",
            "password: Some(\"§\".into()),",
            "PASSWORD ?= §",
            "type T = { password?: '§' }",
            "<entry key=\"db.password\">§</entry>",
        ],
    );
    stay(&[
        "secret: string = getSecret()",
        "const token: string = \"\";",
        "set(\"token\", \"identifier2\")",
        "t(\"password\", \"Enter 8 characters\")",
        "[\"password\", \"username2\"]",
        "key_pair.sign(&signature::RSA_PKCS1_2048_8192_SHA256, &rng)",
        "Ok(ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv })",
        "<entry key=\"colour\">P4ss1w!rd</entry>",
        "var name string = \"P4ss1w!rd\"",
        "password = get(\"db_passw0rd2\")",
        "password    of user2 is kept",
    ]);
}

#[test]
fn in_shells_a_blank_may_stand_between() {
    let hex = drawn(5, 62, HEX) + "a7";
    finds(
        Kind::Secret,
        &hex,
        &[
            "ENV SECRET_KEY_BASE §",
            "FROM x\nENV API_TOKEN §\nRUN y",
            "setx API_KEY §",
            "set -x API_KEY §",
            "set -gx API_KEY §",
            "setenv API_KEY §",
            "aws configure set aws_secret_access_key §",
            "npm config set //registry.npmjs.org/:_authToken §",
        ],
    );
    finds(
        Kind::Password,
        "hunterzzz",
        &["ENV DB_PASSWORD §", "set -gx DB_PASSWORD §"],
    );
    finds(Kind::Password, "foobared9x", &["requirepass §"]);
    stay(&[
        "ENV PASSWORD_FILE /run/secrets/db2",
        "ENV API_TOKEN ${API_TOKEN}",
        "ENV DB_PASSWORD required",
        "set -x API_KEY (cat file2)",
        "the token a1b2 of the list",
    ]);
}

#[test]
fn letters_alone_are_a_key_where_their_case_is_drawn() {
    for seed in 0..20 {
        let mut letters = drawn(seed, 20, LETTERS);
        letters.push_str("kZqWm");
        finds(
            Kind::Secret,
            &letters,
            &[
                "process.env.API_KEY = \"§\"",
                "$env:API_KEY = \"§\"",
                "'api_key' => '§',",
                "{\"name\":\"API_KEY\",\"value\":\"§\"}",
                "- name: API_KEY\n  value: §\n",
                "- name: API_KEY\n  value: \"§\"\n",
            ],
        );
    }
    stay(&[
        "api_key = \"MyVeryLongIdentifierName\"",
        "token: \"refreshTokenFromResponse\"",
        "secret = 'somethingwithoutcapitals'",
        "token = ACCESSTOKENRESPONSETYPE",
    ]);
}

#[test]
fn a_password_may_be_a_phrase_in_quotes() {
    finds(
        Kind::Password,
        "correct horse battery 9",
        &["password = \"§\"", "db_password: '§'"],
    );
    stay(&[
        "password = \"must have at least 8 characters\"",
        "password: \"please enter a new one\"",
        "password: 'forgot your login'",
        "password = \"Wrong user name\"",
    ]);
}

#[test]
fn every_piece_of_a_secret_is_replaced() {
    let redactor = Redactor::default();
    let (head, tail) = (drawn(7, 24, ALNUM) + "a7", drawn(8, 24, ALNUM) + "B3");
    let (short, rest) = (&head[..12], &tail[..12]);
    let key = format!("sk-proj-{head}");
    for text in [
        format!("key = \"{key}\" +\n      \"{tail}\""),
        format!("key = \"{key}\"\n      + \"{tail}\""),
        format!("key = '{key}' . '{tail}';"),
        format!("key = (\"{key}\"\n       \"{tail}\")"),
        format!("API_KEY={head}\\\n{tail}\n"),
        format!("API_KEY={head}\\\r\n{tail}\r\n"),
        format!("secret = (\"{short}\"\n          \"{rest}\")"),
        format!("secret = \"{short}\" +\n  \"{rest}\""),
        format!("API_KEY={short}\\\n  {rest}\n"),
    ] {
        let redacted = redactor.redact(&text).text;
        for part in [short, rest] {
            assert!(!redacted.contains(part), "{text}\n{redacted}");
        }
        let kind = if text.contains("sk-proj") {
            Kind::OpenAi
        } else {
            Kind::Secret
        };
        // Quotes, signs and line ends stay.
        let expected = [(&key, 1), (&head, 1), (&tail, 2)]
            .iter()
            .fold(text.clone(), |text, (part, number)| {
                text.replace(part.as_str(), &format!("[redacted:{kind}#{number}]"))
            })
            .replace(short, &format!("[redacted:{kind}#1]"))
            .replace(rest, &format!("[redacted:{kind}#2]"));
        assert_eq!(redacted, expected);
        assert_eq!(redactor.redact(&redacted).text, redacted);
    }
    let text = format!("key = \"{key}\" + \"\\n\" + \"and some words\"");
    let redacted = redactor.redact(&text).text;
    assert_eq!(redacted, text.replace(&key, "[redacted:openai-key#1]"));
}

#[test]
fn a_secret_is_read_through_escapes_and_unseen_characters() {
    let (head, tail) = (drawn(9, 20, ALNUM) + "a7", drawn(10, 20, ALNUM) + "B3");
    let hidden = |kind: Kind, secret: &str, text: &str| {
        let redactor = Redactor::default();
        let redacted = redactor.redact(&text.replace('§', secret)).text;
        assert_eq!(redacted, text.replace('§', &format!("[redacted:{kind}#1]")));
        assert_eq!(redactor.redact(&redacted).text, redacted);
    };
    let escaped = format!("{head}\\u0061{tail}");
    hidden(
        Kind::Secret,
        &escaped,
        "\"apiKey\": \"§\", \"x\": \"\\u0061\"",
    );
    hidden(Kind::Secret, &format!("{head}\\x61{tail}"), "token = '§'");
    let key = format!("sk-ant\u{200b}-api03-{head}\u{ad}{tail}");
    hidden(Kind::Anthropic, &key, "a\u{200b}b §\u{feff}, c");
    hidden(
        Kind::Password,
        "Tr0ub4dor3",
        "{\\u0022password\\u0022:\\u0022§\\u0022}",
    );
    hidden(
        Kind::Password,
        "Tr0ub4dor3",
        "&quot;password&quot;: &quot;§&quot;",
    );
    hidden(Kind::Password, "Tr0ub4dor3", "my pass\u{200b}word is §");
    stay(&["a\u{200b}b\\u0061 &quot;x&quot; \\x41 soft\u{ad}hyphen"]);
}

#[test]
fn a_short_value_is_found_where_it_is_clearly_assigned_and_drawn() {
    finds(
        Kind::Secret,
        "ab12Cd34",
        &[
            "api_token = \"§\"",
            "api_token = '§'",
            "const secret: string = \"§\";",
            "API_TOKEN=§",
            "export CLIENT_SECRET=§\nnext",
            "api_token = §\n",
            "  client_secret: §\nnext: x",
            "- token: §\r\n",
            "os.environ.setdefault(\"API_TOKEN\", \"§\")",
        ],
    );
    for secret in ["xK9mQpLz", "9f2a7c1b", "q7!Zt2#kM"] {
        finds(Kind::Secret, secret, &["token: \"§\"", "secret='§'"]);
    }
    let redactor = Redactor::default();
    let json = "{\"api_token\":\"ab12Cd34\",\"key\":\"ab12Cd34x\"}";
    assert_eq!(
        redactor.document().json(json),
        "{\"api_token\":\"[redacted:secret#1]\",\"key\":\"ab12Cd34x\"}"
    );
    stay(&[
        "token = \"Utf8String\"; token = 'Base64Url'; token = \"Ed25519Key\"",
        "token = \"Version2\"; secret: \"OAuth2Token\"; token: 'identifier2'",
        "let token = tokens[i2].a1B2c3D4; next",
        "token = nextToken1Of2(); secret = a1B2c3D4.x",
        "the token a1B2c3D4 of the list, and a token: a1B2c3D4 there",
        "key = \"ab12Cd34\"; \"key\": \"a1B2c3D4\"",
        "API_TOKEN=2026-11-15 TOKEN=v1.2.3-RC4 SECRET=changeme1 TOKEN=$A1b2C3d4",
        "token_type: \"ab12Cd34\"",
    ]);
}

#[test]
fn only_statements_identify_a_user_by_a_password() {
    finds(
        Kind::Password,
        "P4ss1w!rd",
        &[
            "create user bob identified by '§';",
            "alter user 'bob'@'%' identified by \"§\";",
            "grant all on shop.* to 'bob'@'%' identified by '§' with grant option;",
            "CREATE USER bob IDENTIFIED BY §;",
        ],
    );
    stay(&[
        "The signal identified by the `killSignal` property (the default is `'SIGTERM'`).\nprocess.on('SIGTERM', handle);",
        "a row identified by \"user_id2!\" in the table",
        "identified by 'x-request-id2!' or by its number",
    ]);
}

#[test]
fn where_a_value_comes_from_stays() {
    stay(&[
        "db_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6231",
        "db_password: !secret mqtt_password",
        "password: \"{{ hostvars['db1']['mysql_root_pw'] }}\"",
        "password: \"{{ vault_Pass1 }}\"",
        "password=\"$(pass show Work/Db1)\"",
        "DB_PASSWORD=\"$(pass show Work/Db1)\"",
        "password: \"$(cat /run/secrets/X1)\"",
        "password: \"<%= ENV['DB_PW1'] %>\"",
        "password: \"prefix ${DB_PW1} suffix\"",
        "\"password\": \"#/components/Schemas/Pw1\"",
    ]);
    finds(
        Kind::Password,
        "!Xkvbnwq7",
        &["password: §", "DB_PASSWORD=§", "password: § # for staging"],
    );
}

#[test]
fn passwords_go_in_the_shapes_of_everyday_commands() {
    finds(
        Kind::Password,
        "Herbst2026x",
        &[
            "[\"redis-server\",\"--requirepass\",\"§\"]",
            "  ~ password = \"§\" -> \"§\"",
            "  ~ password = \"\" -> \"§\"",
            "CREATE USER 'bob'@'%' IDENTIFIED WITH mysql_native_password BY '§';",
            "alter user bob identified with caching_sha2_password by \"§\"",
            "{\"Name\": \"/prod/db/password\", \"Type\": \"SecureString\", \"Value\": \"§\"}",
            "{\n \"Name\": \"DB_PASSWORD\",\n \"Type\": \"String\",\n \"Value\": \"§\"\n}",
            "echo '§' | sudo -S apt update",
            "$ echo § | sudo -S apt update",
            "echo '§' | sudo -kS true",
            "echo '§' | passwd --stdin bob",
            "echo '§' | sudo passwd --stdin bob",
            "echo '§' | kinit bob@EXAMPLE.COM",
            "echo '§' | gh auth login --with-token",
            "echo '§' | sudo cryptsetup luksOpen /dev/sda2 x",
            "printf '%s' '§' | docker login -u bob --password-stdin",
            "printf § | docker login --username bob --password-stdin",
            "echo \"§\" | docker login -u bob --password-stdin registry.example.com",
        ],
    );
    finds(
        Kind::Secret,
        "wJalrXUtnFEMIK7MDENGbPxRfiCYzzzTRUEKYab7",
        &[
            "AWS Secret Access Key [None]: §",
            "AWS Secret Access Key [****************EKEY]: §",
        ],
    );
    let plan = "~ password = \"Herbst2026x\" -> \"Winter2027x\"";
    let shown = "~ password = \"[redacted:password#1]\" -> \"[redacted:password#2]\"";
    assert_eq!(Redactor::default().redact(plan).text, shown);
    stay(&[
        "echo 'hello2026x' | sudo tee /etc/x",
        "echo 'hello2026x' | gh issue create -F -",
        "echo 'hello2026x' | passwd-strength",
        "echo \"$PASS1\" | sudo -S apt update",
        "cat pw.txt | docker login --password-stdin",
        "echo $DOCKER_PASSWORD1 | docker login --password-stdin",
        "{\"Name\": \"/prod/db/host\", \"Type\": \"String\", \"Value\": \"Herbst2026x\"}",
        "~ ami = \"ami-0abcd1234\" -> \"ami-0abcd1235\"",
        "AWS Access Key ID [None]:\nDefault region name [None]: us-east-1",
        "Signals are identified with numbers by 'name2name'.",
    ]);
}

#[test]
fn the_code_behind_a_prompt_stays() {
    stay(&[
        "let pw = rpassword::prompt_password(\"Password: \").unwrap();\n\
         fs::read_to_string(\"shop.toml\").unwrap();",
        "getpass.getpass(\"Password: \").strip()",
        "getpass.getpass(\"Password: \").encode(\"utf-8\")",
        "await expect(page.getByLabel(\"Password:\")).toBeVisible();",
        "cy.contains(\"Password:\").should(\"be.visible\");",
        "page.locator('text=Password:').click();",
        ".with_prompt(\"Password:\").interact()?;",
        "tk.Label(root, text=\"Password:\").pack(side=LEFT)",
        "(await prompt(\"Password: \")).trim();",
        "assertThat(log).doesNotContain(\"password=\").hasSize(2);",
        "line.split(\"password=\")[1].split(\"&\")[0]",
        "print(\"Password:\"+shown2)",
        "\"run(\\\"Password:\\\").trim2()\"",
    ]);
    finds(
        Kind::Password,
        ").aB3$x9Q",
        &["password: \"§\"", "connect(\"db\", password=\"§\")"],
    );
    finds(
        Kind::Password,
        "Tr0ub4dor3x",
        &[
            "\"{\"password\": \"§\"}\"",
            "it's the password: '§'",
            "connect(\"password=§\").unwrap();",
        ],
    );
}

#[test]
fn a_password_that_begins_as_code_goes_in_long_lines_and_behind_apostrophes() {
    let keys: String = (0..35)
        .map(|n| format!("\"k{n}\": \"value {n}\", "))
        .collect();
    finds(
        Kind::Password,
        ")x7Kq92LmZp4vT",
        &[&format!("{{{keys}\"password\": \"§\"}}")],
    );
    finds(
        Kind::Password,
        "+x7Kq92LmZp4vT",
        &[
            "I don't know why, but DB_PASSWORD='§' works.",
            "it's set: PGPASSWORD='§' psql",
            "The users' file has DB_PASSWORD='§'",
            "run(b'x1', N'y2') with password='§'",
            "mysql -p'§' and PGPASSWORD='§' psql",
        ],
    );
    finds(
        Kind::Password,
        ".x7Kq92LmZp4",
        &["The user's password: '§'", "Let's use password '§' for now"],
    );
    finds(
        Kind::Secret,
        ":x7Kq92LmZp4vT9sW2",
        &["Here's the token: '§'"],
    );
    stay(&[
        "it's getpass.getpass('Password: ').strip()",
        "read('The user's password: ').trim2()",
        "'Enter ' + getpass.getpass('Password: ').encode('utf-8')",
        "print(f'The password: ').strip2()",
    ]);
}

#[test]
fn the_code_behind_a_prompt_stays_in_long_lines_and_a_password_there_goes() {
    let minified = "var a1=\"b2\";".repeat(400);
    let lines = "x = 1\\n".repeat(900);
    for code in [
        "e({label:\"Password:\",type:\"password\"});e({label:\"Mail\",type:\"email\"})",
        "x=prompt(\"Password: \").trim(),y=\"z\"",
        "x=prompt(\"Enter {name}; password: \").trim2(),y=\"z\"",
        "throw new Error(\"Invalid token: \"+e.message),n2.log(\"x\")",
        "x=prompt('Password: ').trim2(),y='z'",
        "f(x, \" password: \").trim2(),y=\"z\"",
    ] {
        stay(&[&format!("{minified}{code}")]);
    }
    let code = "pw = getpass.getpass(\\\"Password: \\\").encode(\\\"utf-8\\\")";
    stay(&[&format!("{{\"text\": \"{lines}{code}\"}}")]);
    let keys = "\"k1\": \"value 1\", ".repeat(300);
    finds(
        Kind::Password,
        ")x7Kq92LmZp4vT",
        &[
            &format!("{{{keys}\"password\": \"§\"}}"),
            &format!("{minified}connect({{user:\"bob\",password:\"§\"}})"),
            &format!("{minified}<a b=\"c1\" password=\"§\">"),
            &format!("{{\"text\": \"{lines}b = \\\"c\\\"\\npassword = \\\"§\\\"\"}}"),
        ],
    );
}

#[test]
fn secrets_are_found_in_further_declarations() {
    let declared = [
        "const char password[] = \"§\";",
        "static char db_password[MAX_LEN + 1] = \"§\";",
        "db_password <- \"§\"",
        "Dim password As String = \"§\"",
        "password = \"\"\"§\"\"\"",
        "password = '''§'''",
    ];
    finds(Kind::Password, "x7Kq92LmZp4vT9sW", &declared);
    finds(Kind::Password, "Blue7horse", &declared);
    finds(
        Kind::Secret,
        "x7Kq92LmZp4vT9sW",
        &[
            "char apiKey[50] = \"§\"",
            "api_key <- \"§\"",
            "Private Const apiKey As String = \"§\"",
            "token = \"\"\"§\"\"\"",
        ],
    );
    stay(&[
        "password[0] = \"Blue7horse\"",
        "char buffer[50] = \"Blue7horse\"",
        "char password[50] = {0};",
        "password <- readline(\"Blue7horse: \")",
        "if (count <- \"Blue7horse\")",
        "Dim caption As String = \"Blue7horse\"",
        "password: \"\"\"The new password, 12 letters.\"\"\"",
        "password = \"\"\"\"",
        "\"password\": \"\", \"b\": \"x2\"",
        "{\"\"password\"\":\"\"\"\",\"\"user2\"\":\"\"bob12\"\"}",
    ]);
}

#[test]
fn a_password_is_found_where_a_call_logs_in_or_enters_it_into_a_field() {
    let texts = [
        "server.login(\"bob@x.test\", \"§\")",
        "smtp.login('bob@x.test', '§')",
        "await page.fill(\"#password\", \"§\");",
        "await page.fill('input[name=\"password\"]', '§');",
        "page.type('[name=password]', '§', { delay: 10 })",
        "I.fillField('#user_password', '§')",
        "cy.get(\"#password\").type(\"§\")",
        "cy.get('input[type=\"password\"]').clear().type('§')",
        "page.getByLabel(\"Password\").fill(\"§\")",
        "driver.find_element(By.ID, \"password\").send_keys(\"§\")",
    ];
    finds(Kind::Password, "x7Kq92LmZp4vT9sW", &texts);
    finds(Kind::Password, "Blue7horse", &texts);
    stay(&[
        "auth.login(\"google\", \"oauth2\")",
        "client.login(\"bob\", \"bob2@example.com\")",
        "logger.login(\"bob\", \"signed in 2 times\")",
        "$('#password', '#login2form').show()",
        "expect(page).toHaveClass(\"#password\", \"is2valid\")",
        "cy.get(\"#password\").should(\"have.class2x\")",
        "cy.get(\"#password\").type(\"{enter}\")",
        "page.fill(\"#password\", user2.password)",
        "users.column(\"password\").type(\"varchar(255)\")",
        "schema.field(\"password\").type(\"StringV2\").required()",
        "page.fill(\"#email\", \"bob12345\")",
        "cy.get(\"#password\").click(); cy.get(\"#x\").type(\"hello12345\")",
    ]);
}
