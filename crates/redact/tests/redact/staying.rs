//! What looks like a secret and is none.

use longhaul_redact::{Kind, Redactor};

use crate::{finds, stay};

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
        "كلمة المرور: مطلوبة",
        "mot de passe: ${DB_PASS}",
    ] {
        assert_eq!(Redactor::default().redact(text).text, text);
    }
}

#[test]
fn keys_of_caches_tables_and_stores_stay() {
    stay(&[
        "The S3 key is `uploads/2026/11/report-v2.pdf`.",
        "Primary key: orders_pk_2024_v2",
        "cache key: user:42:profile:v2",
        "key: build-cache-linux-x64-node20-v3",
        "The Redis key is `session:8f3a2b:cart`",
        "the object key is `invoices/2026/inv-1187.pdf`",
        "The Kafka key is `tenant-42-order-1187`",
        "Sort key: created_at#2026-11-01T10:00",
        "{\"key\": \"user:42:profile:v2\", \"ttl\": 3600}",
        "SSH key: id_ed25519_work2",
        "cache key: oH0loMl53mLUUhVDTMTnr11B7GdF8aC3",
    ]);
    let json = "{\"key\":\"user:42:profile:v2\",\"ttl\":3600}";
    assert_eq!(Redactor::default().document().json(json), json);
    finds(
        Kind::Secret,
        "oH0loMl53mLUUhVDTMTnr11B7GdF8aC3",
        &["key: §", "the key is §", "API key: §", "{\"key\": \"§\"}"],
    );
    finds(Kind::Secret, "8fk2-9a1c-77qd-x0f3-1b2c", &["API key: §"]);
}

#[test]
fn notes_languages_and_colours_are_no_secrets() {
    stay(&[
        "DB_PASSWORD=\"Ask Bob for it\"",
        "DB_PASSWORD='ask Bob'",
        "DB_PASSWORD=\"see the wiki page\"",
        "DB_PASSWORD=\"to be set by ops\"",
        "DB_PASSWORD=\"same as last time\"",
        "the password C++17Compiler flag",
        "token: \"#FF00aa12\"",
        "\"token\": \"#1a2B3c4D\",",
        "the password is broken, I set it to 5",
        "the password branch was behind, I reset it to main",
    ]);
}

#[test]
fn passwords_that_look_a_little_like_them_go() {
    for (text, secret) in [
        ("DB_PASSWORD=\"correct horse battery\"", "horse"),
        ("DB_PASSWORD=\"my dog has fleas\"", "fleas"),
        ("DB_PASSWORD=\"see spot run\"", "spot"),
        ("password: \"#FF00aa12\"", "#FF00aa12"),
        ("token: \"#FF00aa12Zx\"", "#FF00aa12Zx"),
        ("use the password Tr0ub4dor&3", "Tr0ub4dor"),
    ] {
        let redacted = Redactor::default().redact(text).text;
        assert!(!redacted.contains(secret), "{redacted}");
    }
}

#[test]
fn what_a_password_has_to_be_stays() {
    stay(&[
        "'password' => 'required|string|min:8|confirmed',",
        "'password' => 'required|min:8'",
        "'password' => 'nullable|string|min:8|max:255'",
        "\"password\": \"required|string|regex:/[A-Z]/|min:8\"",
    ]);
    finds(
        Kind::Password,
        "Tr0|ub4dor3x",
        &["'password' => '§'", "password = \"§\""],
    );
}

#[test]
fn the_folders_of_a_shell_stay() {
    let texts = [
        "PWD=/srv/shop2",
        "OLDPWD=/opt/build-v3",
        "PWD=/var/www/shop-v2",
        "PWD=/tmp/tmp.Xa92kQz",
        "PWD=/go/src/app2",
        "PWD=/",
        "PWD=~/app2",
        "export OLDPWD=\"/srv/app-v2\"",
        "declare -x OLDPWD=\"/srv/app-v2\"",
        "{\"OLDPWD\": \"/srv/app-v2\", \"PWD\": \"/tmp/tmp.Xa92kQz\"}",
        "{\"text\": \"{\\\"OLDPWD\\\": \\\"/srv/app-v2\\\"}\"}",
        "{\"PWD\": \"C:\\\\Users\\\\x2\\\\app\"}",
        "PWD=C:\\Users\\x2\\app",
        "OLDPWD: C:/Users/x2/app",
        "process.env.PWD = \"/tmp/tmp.Xa92kQz\"",
        "docker run -e PWD=/srv/shop2/x9Kq img",
        "ENV PWD /tmp/tmp.Xa92kQz",
        "set -x OLDPWD /tmp/tmp.Xa92kQz",
        "  - PWD=/tmp/tmp.Xa92kQz",
        "Environment=\"PWD=/tmp/tmp.Xa92kQz\"",
        "HOME=/root PWD=/srv/shop2 ls",
    ];
    stay(&texts);
    for json in texts.iter().filter(|text| text.starts_with('{')) {
        assert_eq!(Redactor::default().document().json(json), *json);
    }
    finds(Kind::Password, "/x7Kq92LmZp4", &["DB_PWD=§", "MYSQL_PWD=§"]);
    finds(
        Kind::Password,
        "x7Kq92LmZp4",
        &["PWD=§", "export PWD=\"§\""],
    );
}
