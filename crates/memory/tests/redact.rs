//! What is redacted, what is left alone, and what holds for every text.
#![allow(missing_docs, clippy::unwrap_used)]

use longhaul_memory::{Kind, Redactor, RedactorSettings};
use proptest::prelude::*;

/// Letters and digits as a provider would draw them, the same for a seed.
fn drawn(seed: u64, length: usize, alphabet: &[u8]) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(alphabet[(state >> 33) as usize % alphabet.len()])
        })
        .collect()
}

const ALNUM: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &[u8] = b"0123456789abcdef";

/// A secret of each kind that has a form of its own. None stands in this file
/// as such, so that other scanners leave it alone.
fn formed(seed: u64) -> Vec<(Kind, String)> {
    let alnum = |length| drawn(seed, length, ALNUM);
    let upper = |length: usize| format!("{}7", drawn(seed, length - 1, UPPER));
    vec![
        (
            Kind::Anthropic,
            format!("sk-ant-api03-{}-{}AA", alnum(60), alnum(24)),
        ),
        (
            Kind::OpenAi,
            format!("sk-proj-{}T3BlbkFJ{}", alnum(60), alnum(40)),
        ),
        (
            Kind::OpenAi,
            format!("sk-{}T3BlbkFJ{}", alnum(20), alnum(20)),
        ),
        (
            Kind::OpenRouter,
            format!("sk-or-v1-{}", drawn(seed, 64, HEX)),
        ),
        (Kind::Google, format!("AIza{}", alnum(34) + "7")),
        (Kind::Aws, format!("AKIA{}", upper(16))),
        (Kind::GitHub, format!("ghp_{}", alnum(36))),
        (
            Kind::GitHub,
            format!("github_pat_{}_{}", alnum(22), alnum(59)),
        ),
        (Kind::GitLab, format!("glpat-{}", alnum(20))),
        (
            Kind::Slack,
            format!("xoxb-{}-{}", "123456789012", alnum(24)),
        ),
        (Kind::Stripe, format!("sk_live_{}", alnum(24))),
        (Kind::Npm, format!("npm_{}", alnum(35) + "7")),
        (Kind::Pypi, format!("pypi-AgEIcHlwaS5vcmc{}", alnum(80))),
        (Kind::HuggingFace, format!("hf_{}", alnum(33) + "7")),
        (Kind::Provider, format!("gsk_{}", alnum(51) + "7")),
        (
            Kind::Jwt,
            format!("eyJ{}.eyJ{}.{}", alnum(20), alnum(60), alnum(43)),
        ),
        (Kind::PrivateKey, pem(seed)),
    ]
}

fn pem(seed: u64) -> String {
    let word = "PRIVATE KEY";
    let lines: Vec<String> = (0..5).map(|n| drawn(seed + n, 64, ALNUM)).collect();
    format!(
        "-----BEGIN RSA {word}-----\n{}\n-----END RSA {word}-----",
        lines.join("\n")
    )
}

/// A secret that only its place gives away: text and the secret in it.
fn placed(seed: u64) -> Vec<(Kind, String, String)> {
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
fn every_kind_is_found_by_its_form() {
    for (kind, secret) in formed(7) {
        let redacted = Redactor::default().redact(&format!("the key is {secret}, keep it"));
        assert_eq!(
            redacted.text,
            format!(
                "the key is [redacted:{kind}#1]{}, keep it",
                "\n".repeat(secret.matches('\n').count())
            ),
            "{secret}"
        );
        assert_eq!(redacted.found, [kind]);
    }
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
fn a_key_broken_over_lines_is_one_key() {
    let (_, key) = formed(5).remove(0);
    for middle in ["\n", "\n    ", "\\\n", "\\n", "\r\n"] {
        let (head, tail) = key.split_at(40);
        let redacted = Redactor::default().redact(&format!("key={head}{middle}{tail}\nnext line"));
        let end = match middle {
            "\\n" => "",
            "\r\n" => "\r\n",
            _ => "\n",
        };
        assert_eq!(
            redacted.text,
            format!("key=[redacted:anthropic-key#1]{end}\nnext line"),
            "{middle:?}"
        );
    }
    let redactor = Redactor::default();
    for seed in 0..200 {
        let token = drawn(seed, 36, ALNUM);
        for broken in [
            format!("ghp_{}\n{}", &token[..18], &token[18..]),
            format!("ghp_\n{token}7aB"),
        ] {
            let redacted = redactor.redact(&format!("token\n{broken}\nnext line"));
            assert_eq!(
                redacted.text, "token\n[redacted:github-token#1]\n\nnext line",
                "{broken}"
            );
        }
    }
    let part = |seed, length| drawn(seed, length, ALNUM) + "7aB";
    let (head, claims, sign) = (part(1, 30), part(2, 80), part(3, 40));
    for token in [
        format!("eyJ{head}.eyJ{claims}.\n{sign}"),
        format!("eyJ{head}.eyJ{claims}\n.{sign}"),
        format!("eyJ{head}.\neyJ{claims}.{sign}"),
        format!("eyJ{head}.eyJ{claims}7aB\n{claims}.{sign}"),
    ] {
        let redacted = redactor.redact(&format!("{token}\nnext line"));
        assert_eq!(redacted.text, "[redacted:jwt#1]\n\nnext line", "{token}");
    }
    let whole = format!("eyJ{head}.eyJ{claims}.{sign}");
    let other = part(4, 20);
    assert_eq!(
        redactor.redact(&format!("{whole}\n{other}\n")).text,
        format!("[redacted:jwt#1]\n{other}\n")
    );
    let prose = "a token begins with ghp_\nand has forty characters\n";
    assert_eq!(redactor.redact(prose).text, prose);
    let escaped = pem(2).replace('\n', "\\n");
    let redacted = Redactor::default().redact(&format!("\"key\": \"{escaped}\""));
    assert_eq!(redacted.text, "\"key\": \"[redacted:private-key#1]\"");
    let torn = &pem(2)[..200];
    let redacted = Redactor::default().redact(torn);
    assert_eq!(redacted.text.trim_end(), "[redacted:private-key#1]");
}

#[test]
fn what_follows_a_secret_of_several_lines_keeps_the_number_of_its_line() {
    let redactor = Redactor::default();
    let key = pem(7);
    for text in [
        format!("first\n{key}\nafter it\n"),
        format!("first\r\n{}\r\nafter it\r\n", key.replace('\n', "\r\n")),
        format!("deploy_key: |\n  {}\nafter it", key.replace('\n', "\n  ")),
    ] {
        let line = |text: &str| text.lines().position(|line| line == "after it");
        let redacted = redactor.redact(&text).text;
        assert!(redacted.contains("[redacted:private-key#1]"), "{redacted}");
        assert_eq!(line(&redacted), line(&text), "{redacted:?}");
        assert_eq!(
            redacted.matches("\r\n").count(),
            text.matches("\r\n").count()
        );
    }
    let lines = format!("{0}\n{0}", drawn(1, 64, ALNUM));
    let putty = format!("Private-Lines: 2\n{lines}\nPrivate-MAC: 00\n");
    assert_eq!(
        redactor.redact(&putty).text,
        "Private-Lines: 2\n[redacted:private-key#1]\n\nPrivate-MAC: 00\n"
    );
    let json = serde_json::json!({ "password": format!("{key}\nafter it"), "n": 1 }).to_string();
    let redacted = redactor.document().json(&json).into_owned();
    let value: serde_json::Value = serde_json::from_str(&redacted).unwrap();
    let text = value["password"].as_str().unwrap();
    assert_eq!(text.matches('\n').count(), key.matches('\n').count() + 1);
    assert_eq!(redactor.document().json(&redacted), redacted.as_str());
}

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
fn code_prose_and_examples_are_left_alone() {
    for text in [
        "let token: String = parse_token(input)?;",
        "password: Option<String>,",
        "max_tokens: 4096, input_tokens=163840",
        "tokens = [\"let\", \"identifier2\", \"number\"]",
        "| password | string | required |\n| token | see `config.token2` | - |",
        "| password_hash | argon2id-v19 |\n|---|---|\n| the password of this user | a1b2c3d4 |",
        "**Password:** required, **Token:** none",
        "Password: **must have 8 characters**",
        "password: *anchor2 other*",
        "the `password` field `user_password2` and the token `refresh_token`",
        "you can pass `debug=True1` to it",
        "a key `550e8400-e29b-41d4-a716-446655440000` of the map",
        "if password || token || a1b2c3d4e5f6 {",
        "{\"name\":\"colour\",\"value\":\"a1b2c3d4e5f6a7b8c9d0\"}",
        "<password>${db.password}</password> <password></password>",
        "then login now and password reset2 follows",
        "http://host:port1/@scope/pkg https://a-long-user-name-of-someone@host/x",
        "http://host:8080/a/b@c ssh://git@host:team/repo2@v1 x?design=a1b2c3d4e5f6a7b8c9",
        "DB_PASSWORD=change-me DB_PASS=your-password-here PASSWORD=\"Enter a new one\"",
        "PASSWORD=required-string password=blue-monkey",
        "PASSWORD_FILE=/run/secrets/db2 password_hash: argon2 TOKEN_TYPE=bearer2",
        "self.password = user_password2",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "const secret = process.env.CLIENT_SECRET_2024_PROD;",
        "token=${GITHUB_TOKEN_V2}",
        "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "key: 'your-api-key-here-12345'",
        "ssh-add; then paste -----BEGIN RSA PRIVATE KEY----- and so on",
        "https://github.com/org/repo/commit/3f786850e387550fdab836ed7e6dc881de23001b",
        "class=\"sk-loading-spinner-circle-2\"",
        "git@github.com:org/repo.git",
        "http://localhost:8080/@scope/pkg",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "key: 550e8400-e29b-41d4-a716-446655440000",
        "Basic authentication is off; Bearer authentication too",
        "tokenizer = AutoTokenizer.from_pretrained('gpt2')",
        "risk-assessment-2024-q3-final-version",
        "curl -u user:password https://host; sort -u a:b1c2d3",
        "curl -u $USER:$PASS -u \"${A}:${B}\" -u <user>:<token> host",
        "curl https://host | docker run -u nobody:group42 image",
        "docker run --name mysql -p 3306:3306 -p3307:3306 mysql:8",
        "mysql -u root -p app2024; mkdir -pv a1b2c3",
        "mysql -u root -p$MYSQL_PWD -p\"${PW}\"",
        "sshpass -p PASSWORD ssh host; ssh -p 2222 host; sshpass -p \"$P\" ssh",
        "tar -pxzf archive2.tgz; cp -p file1.txt file2.txt",
        "パスワードは8文字以上にしてください",
        "密码: string，必填；密码是必需的",
        "contraseña: obligatoria. resenha: capitulo12",
        "mot de passe: ${DB_PASS}",
    ] {
        assert_eq!(Redactor::default().redact(text).text, text);
    }
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
            "creds: bob/", "Cookie: a=", "h:5432:b:u:", "$6$", "$2b$", "{SHA}", "kind: Secret\n", "data:\n  a: ", "seed phrase: ",
            "legal winner thank year ", "the password is ", "hunter2zz9", "api key - ",
            "**Password:** ", "| password | ", " |", "**", "api key `", "`", "tokens = [\"", "PASSWORD_1=",
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
    ] {
        let start = std::time::Instant::now();
        Redactor::default().redact(&text(bit, 1 << 17));
        let taken = start.elapsed();
        assert!(taken.as_secs() < 10, "{bit:?} took {taken:?}");
    }
}

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
