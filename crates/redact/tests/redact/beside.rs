//! Secrets that only their place gives away, and what is known of them then.

use longhaul_redact::{Kind, Redactor, RedactorSettings};

use crate::{ALNUM, HEX, drawn, finds, formed, stay};

/// A secret that only its place gives away: text and the secret in it.
pub(super) fn placed(seed: u64) -> Vec<(Kind, String, String)> {
    let secret = drawn(seed, 28, ALNUM) + "a7B3";
    let password = format!("{}!9x", drawn(seed, 8, ALNUM));
    let random = |text: String| (Kind::Secret, text, secret.clone());
    let pass = |text: String| (Kind::Password, text, password.clone());
    vec![
        random(format!("API_TOKEN={secret}")),
        random(format!("export CLIENT_SECRET=\"{secret}\"")),
        random(format!("aws_secret_access_key = {secret}")),
        random(format!("api-key: '{secret}'")),
        random(format!("{{\"name\":\"API_TOKEN\",\"value\":\"{secret}\"}}")),
        random(format!("- name: API_TOKEN\n  value: {secret}")),
        random(format!("<apiKey>{secret}</apiKey>")),
        random(format!("use the api key `{secret}` for it")),
        random(format!("| API key | `{secret}` | rotate |")),
        random(format!("- **Token:** `{secret}`")),
        random(format!("API_KEY_PROD={secret}")),
        random(format!("apiKey2: \"{secret}\"")),
        random(format!("STRIPE_SECRET_KEY_TEST={secret}")),
        random(format!("tokens = [\"{secret}\"]")),
        random(format!("tokens: [\n  \"none\",\n  '{secret}',\n]")),
        (
            Kind::Secret,
            format!("SECRET_KEY_BASE={}a7", drawn(seed, 62, HEX)),
            format!("{}a7", drawn(seed, 62, HEX)),
        ),
        random(format!("{{\"apiKey\": \"{secret}\"}}")),
        random(format!("{{\\\"apiKey\\\": \\\"{secret}\\\"}}")),
        random(format!("x-api-key: {secret}")),
        random(format!("secret_key:\n    {secret}\n")),
        random(format!("run --token {secret} now")),
        (
            Kind::Secret,
            format!("LONG_TOKEN={}a7B3==", drawn(seed, 900, ALNUM)),
            format!("{}a7B3==", drawn(seed, 900, ALNUM)),
        ),
        random(format!("?access_token={secret}&x=1")),
        (
            Kind::Bearer,
            format!("Authorization: Bearer {secret}"),
            secret.clone(),
        ),
        (
            Kind::Bearer,
            format!("-H 'authorization: bearer {secret}'"),
            secret.clone(),
        ),
        (
            Kind::UrlPassword,
            format!("postgres://app:{password}@db.internal:5432/app"),
            password.clone(),
        ),
        (
            Kind::UrlPassword,
            format!("https://{}a7@host/repo.git", drawn(seed, 38, HEX)),
            format!("{}a7", drawn(seed, 38, HEX)),
        ),
        (
            Kind::UrlPassword,
            format!("postgres://app:a1{password}/x@db/app"),
            format!("a1{password}/x"),
        ),
        random(format!("https://h/o?X-Amz-Signature={secret}")),
        random(format!("https://h/o?sv=2024&sig={secret}")),
        (
            Kind::Provider,
            format!("use ATATT3x{secret}{secret} there"),
            format!("ATATT3x{secret}{secret}"),
        ),
        pass(format!("pw: {password}")),
        pass(format!("Password：{password}")),
        (
            Kind::Password,
            "DB_PASSWORD=blue-monkey".into(),
            "blue-monkey".into(),
        ),
        (
            Kind::Password,
            "DB_PASS=correct_horse".into(),
            "correct_horse".into(),
        ),
        (
            Kind::Password,
            "APP_PASSWORD=hunter2xyz".into(),
            "hunter2xyz".into(),
        ),
        (
            Kind::Password,
            "APP_PASSWORD=\"correct horse battery\"".into(),
            "correct horse battery".into(),
        ),
        pass(format!("DB_PASSWORD={password}")),
        pass(format!("password: \"{password}\"")),
        pass(format!("<password>{password}</password>")),
        pass(format!("<add key=\"Password\" value=\"{password}\"/>")),
        pass(format!("machine h login u password {password}")),
        pass(format!("machine h\n  login u\n  password {password}\n")),
        pass(format!("**Password:** {password}")),
        pass(format!("Password: **{password}**")),
        pass(format!("**Password**: `{password}`")),
        pass(format!("| password | {password} |")),
        pass(format!("|**DB password**|**{password}**|")),
        pass(format!("log in with password `{password}`")),
        pass(format!("db_password_prod: {password}")),
        pass(format!("PASSWORD_1={password}")),
        pass(format!("passwords: {password}")),
        pass(format!("mysql --password {password} -u root")),
        pass(format!("curl -u admin:{password} https://host/api")),
        pass(format!("curl -sSu 'admin:{password}' https://host/api")),
        pass(format!("curl --user admin:{password} https://host/api")),
        pass(format!(
            "curl -X POST \\\n  -u \"admin:{password}\" \\\n  host"
        )),
        pass(format!("mysql -u root -p{password} app")),
        pass(format!("sudo mysqldump -uroot -p'{password}' app > a.sql")),
        pass(format!("sshpass -p {password} ssh root@host")),
        pass(format!("cd /x && sshpass -p'{password}' ssh root@host")),
        pass(format!("docker login -u me -p {password} registry")),
        pass(format!("redis-cli -h host -a {password} ping")),
        pass(format!("smbclient //host/share -U me%{password}")),
        pass(format!("パスワード: {password}")),
        pass(format!("新しいパスワードは {password} です")),
        pass(format!("パスワードは「{password}」です")),
        pass(format!("密码：{password}，请保密")),
        pass(format!("密码是{password}。")),
        pass(format!("비밀번호: {password}")),
        pass(format!("contraseña: {password}")),
        pass(format!("La Contraseña = \"{password}\"")),
        pass(format!("Mot de passe : {password}")),
        pass(format!("Пароль: {password}")),
        pass(format!("senha: {password}")),
        pass(format!("hasło: {password}")),
        pass(format!("wachtwoord: {password}")),
        pass(format!("{{\"contraseña\": \"{password}\"}}")),
    ]
}

#[test]
fn values_are_found_by_what_stands_beside_them() {
    for (kind, text, secret) in placed(11) {
        let redacted = Redactor::default().redact(&text);
        assert_eq!(
            redacted.text,
            text.replace(&secret, &format!("[redacted:{kind}#1]")),
            "{text}"
        );
    }
}

#[test]
fn one_secret_has_one_placeholder_also_where_nothing_gives_it_away() {
    let secret = drawn(3, 30, ALNUM) + "9";
    let text = format!(
        "TOKEN={secret}\nlater: echo {secret}\nOTHER_TOKEN={}x1",
        drawn(4, 30, ALNUM)
    );
    assert_eq!(
        Redactor::default().redact(&text).text,
        "TOKEN=[redacted:secret#1]\nlater: echo [redacted:secret#1]\nOTHER_TOKEN=[redacted:secret#2]"
    );
}

#[test]
fn a_short_password_is_replaced_wherever_it_stands_as_a_word() {
    let redactor = Redactor::default();
    for (text, redacted) in [
        (
            "Never share the db login hunter2zz9 with anyone; DB_PASSWORD=hunter2zz9",
            "Never share the db login [redacted:password#1] with anyone; DB_PASSWORD=[redacted:password#1]",
        ),
        (
            "DB_PASSWORD=tr0ub4 and atr0ub4, tr0ub4_x, `tr0ub4`, tr0ub4.",
            "DB_PASSWORD=[redacted:password#1] and atr0ub4, tr0ub4_x, `[redacted:password#1]`, [redacted:password#1].",
        ),
        // Letters alone are a word that may mean anything.
        (
            "DB_PASSWORD=swordfish\nhe ate swordfish",
            "DB_PASSWORD=[redacted:password#1]\nhe ate swordfish",
        ),
        // What stands for a secret holds none.
        (
            "DB_PASSWORD=jwt#12 [redacted:jwt#12] jwt#12",
            "DB_PASSWORD=[redacted:password#1] [redacted:jwt#12] [redacted:password#1]",
        ),
    ] {
        assert_eq!(redactor.redact(text).text, redacted);
        assert_eq!(redactor.redact(redacted).text, redacted);
    }
    // The longer of two is not torn by the shorter.
    let (long, short) = (drawn(1, 30, ALNUM) + "a7", drawn(1, 16, ALNUM));
    assert!(long.starts_with(&short));
    let text = format!("A_TOKEN={short}\nB_TOKEN={long}\nand {long} and {short}");
    assert_eq!(
        redactor.redact(&text).text,
        "A_TOKEN=[redacted:secret#1]\nB_TOKEN=[redacted:secret#2]\nand [redacted:secret#2] and [redacted:secret#1]"
    );
}

#[test]
fn settings_name_more_secrets_and_keep_what_is_none() {
    let (_, key) = formed(1).remove(6);
    let redactor = Redactor::new(&RedactorSettings {
        names: vec!["door-code".into()],
        keep: vec![key.clone()],
    });
    let text = format!("door_code: 4711-ABC, key {key}");
    assert_eq!(
        redactor.redact(&text).text,
        format!("door_code: [redacted:password#1], key {key}")
    );
}

#[test]
fn numbers_of_an_earlier_redaction_are_not_given_again() {
    let (_, key) = formed(1).remove(6);
    assert_eq!(
        Redactor::default()
            .redact(&format!("[redacted:github-token#4] {key}"))
            .text,
        "[redacted:github-token#4] [redacted:github-token#5]"
    );
}

#[test]
fn short_keys_with_signs_go_in_quotes_and_in_the_environment() {
    for key in [
        "x7!Kq2@mZ9#p",
        "9fK!2mQ#7xL&4p",
        "Zq8!mKx7#Lp4@Rw",
        "aB1$Cd3!xY7",
        "tK9$wQ2!mZ7^",
        "Qz8~mKx7.Lp4_Rw",
    ] {
        finds(
            Kind::Secret,
            key,
            &[
                "SECRET=\"§\"",
                "export APP_SECRET='§'",
                "api_token = \"§\"",
                "token: '§'",
                "{\"client_secret\": \"§\"}",
                "JWT_SECRET=§\nPORT=80",
            ],
        );
        let json = format!("{{\"client_secret\":\"{key}\"}}");
        assert!(!Redactor::default().document().json(&json).contains(key));
    }
    stay(&[
        "token = \"$Token1\"",
        "token: \"Utf8String!\"",
        "token = \"%s-%d:%X\"",
        "token = \"<END_1>\"",
        "secret: \"${Secret1}\"",
        "token: \"v1.2.3-RC4\"",
        "APP_SECRET=$AppSecret2",
    ]);
}

#[test]
fn a_variable_in_a_list_a_string_or_an_option_has_its_whole_value() {
    for secret in ["x7Kq92,LmZp4v", "@q8Wm41NcRt5", "x7Kq92LmZp4vT9sW"] {
        finds(
            Kind::Password,
            secret,
            &[
                "    environment:\n      - POSTGRES_PASSWORD=§\n      - B=1",
                "  - REDIS_PASSWORD=§",
                "- \"POSTGRES_PASSWORD=§\"",
                "- 'POSTGRES_PASSWORD=§'",
                "docker run -e \"DB_PASSWORD=§\" img",
                "docker run -e DB_PASSWORD=§ img",
                "docker run --env DB_PASSWORD=§ img",
                "Environment=\"DB_PASSWORD=§\"",
                "[Service]\nEnvironment=DB_PASSWORD=§\n",
                "\"Env\": [\"PATH=/bin\", \"DB_PASSWORD=§\"]",
            ],
        );
    }
    stay(&[
        "  - DB_PASSWORD=@/run/secrets/db_password1",
        "- \"DB_PASSWORD=${DB_PASS1},${Db2}\"",
        "log(f\"PASSWORD={Xk1},{Yk2}\")",
        "docker run -e DB_PASSWORD=$DB_PASS1 img",
    ]);
    let several = Redactor::default().redact("\"PWD=x7Kq92LmZp;Database=Shop2\"");
    assert_eq!(several.text, "\"PWD=[redacted:password#1];Database=Shop2\"");
}

#[test]
fn passwords_of_the_environment_begin_with_any_sign_and_have_blanks_in_quotes() {
    for password in [
        "@Kq8!mZx7Lp",
        "$Kq8!mZx7Lp",
        "%Kq8!mZx7Lp",
        "~Kq8mZx7Lp",
        "/Kq8mZx7Lp+",
    ] {
        finds(
            Kind::Password,
            password,
            &["DB_PASSWORD=§", "A=1\nexport DB_PASSWORD=§\nB=2\n"],
        );
    }
    for password in ["Kx9#f Lm2!qPz", "Blue Car 1984!"] {
        finds(
            Kind::Password,
            password,
            &["DB_PASSWORD=\"§\"", "export DB_PASSWORD='§'\n"],
        );
    }
    stay(&[
        "DB_PASSWORD=$DB_PASSWORD_2",
        "DB_PASSWORD=$dbPassword2",
        "DB_PASSWORD=$PREFIX#Kq8mZx7",
        "DB_PASSWORD=${DB_PASSWORD2}",
        "DB_PASSWORD=~/secrets/Db1",
        "DB_PASSWORD=/run/secrets/Db1",
        "DB_PASSWORD=@/run/secrets/Db1",
        "DB_PASSWORD=%DB_PW1%",
        "DB_PASSWORD=\"see the wiki page 12!\"",
    ]);
}

#[test]
fn a_secret_is_found_behind_the_empty_line_below_its_name() {
    finds(
        Kind::Password,
        "Herbst2026!x",
        &[
            "The password is:\n\n§",
            "Password:\n\n§\n",
            "Generated password:\n\n    §\n\nKeep it safe.",
            "Das Passwort lautet:\n\n§",
            "Le mot de passe :\n\n§",
            "Password:\r\n\r\n§\r\n",
            "Password:\n  \n`§`",
            "## Password\n\n§",
            "## Generated password\n\n§",
            "### 2. Grafana admin password\n\n§",
            "Here is the page, and this is the password:\n\n§",
            "Test user password:\n\n§",
            "Open the file with this password:\n\n§",
            "Test with the password:\n\n§",
            "## Leaked password\n\n§",
        ],
    );
    finds(
        Kind::Secret,
        &(drawn(3, 22, ALNUM) + "a7"),
        &[
            "API key:\n\n    §\n\nKeep it safe.",
            "Your new API key:\n\n§",
            "## API key\n\n§",
            "## Your new API key\n\n§",
            "## Refresh token\n\n§",
            "## API key\n§\n",
            "**API key**\n\n§\n",
            "## API key\n\n```\n§\n```\n",
        ],
    );
}

#[test]
fn paragraphs_below_a_name_stay() {
    stay(&[
        "password:\n\nThe field is empty",
        "Password:\n\nUsername",
        "Password:\n\nusername2:\n",
        "password:\n\n    value_of_x",
        "The password is:\n\nrequired",
        "API key:\n\n    client.rs",
        "API key:\n\n1. Log in",
        "## API key\n\nRead it from config2.toml",
        "## Password\n\n- one2",
        "**Password**\n\nThe field2 is empty",
        "## Token\n\nJSON-RPC2.0",
    ]);
}

#[test]
fn what_was_clearly_drawn_is_found_below_every_heading() {
    finds(
        Kind::Password,
        "Blue7Harbor9",
        &[
            "# Staging: password\n\n§",
            "## Reset password\n\n§",
            "**Reset password**\n\n§",
            "## Set the password\n\n```\n§\n```\n",
        ],
    );
    finds(
        Kind::Secret,
        &(drawn(11, 32, ALNUM) + "x7"),
        &[
            "## Get an API key\n\n```\n§\n```\n",
            "## How to use the token\n\n§",
        ],
    );
}

#[test]
fn what_stands_below_a_heading_or_a_lead_in_of_something_else_stays() {
    stay(&[
        "## Reset password\n\nOAuth2Login",
        "## Reset password\n\n8f14e45fceea167a5a36dedd4bea2543",
        "## Tests for the password\n\nBlue7Harbor9",
        "## Rotate the token\n\n8f14e45fceea167a5a36dedd4bea2543",
        "Commits about the token:\n\n8f14e45fceea167a5a36dedd4bea2543",
        "Branches for the password:\n\nfix2login3page",
        "Tests for the password:\n\nLoginForm2Test3",
        "Tests for the password:\nLoginForm2Test3",
        "# Bug: wrong password\n\nPROJ-4821-Login\n\nSee the branch PROJ-4821-Login for it.",
        "# Bug: password\n\nUserController2",
        "## Password\n\nPROJ-4821-Login",
        "## Change password\n\nUserController2",
        "**Forgot password**\n\nUserController2",
        "Ticket for the password:\n\nPROJ-1234",
        "The test for the password:\nLoginForm2Test",
        "Commit that removed the hard-coded password:\n\n8f14e45fceea167a5a36dedd4bea2543",
        "PR that removed the password:\n\na1b2c3d",
        "Here's the commit removing the password:\n\n8f14e45fceea167a5a36dedd4bea2543",
        "## How we store the API key\n\n3f2a9c1d8e7b6a5f4c3d2e1f0a9b8c7d",
    ]);
}
