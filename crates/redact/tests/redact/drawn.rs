//! Values as generators draw them: every one goes, whatever it happens to begin
//! with and whether or not there is a digit in it.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, drawn, finds, stay};

/// How many of each form are drawn.
const MANY: u64 = 2_000;

/// How many values of this form stay in a text, in which `§` stands for each,
/// and in the same as JSON.
fn kept(text: &str, make: impl Fn(u64) -> String) -> Vec<String> {
    let redactor = Redactor::default();
    (1..=MANY)
        .map(make)
        .filter(|secret| {
            let text = text.replace('§', secret);
            let json = serde_json::json!({ "text": text }).to_string();
            let escaped = serde_json::json!(secret).to_string();
            let escaped = escaped.trim_matches('"');
            redactor.redact(&text).text.contains(secret.as_str())
                || redactor.document().json(&json).contains(escaped)
        })
        .collect()
}

fn with(signs: &str) -> Vec<u8> {
    [ALNUM, signs.as_bytes()].concat()
}

#[test]
fn every_key_in_base64_goes_behind_a_plain_name() {
    let (base64, url) = (with("+/"), with("-_"));
    for (text, length, alphabet) in [
        ("aws_secret_access_key = §", 40, &base64),
        ("AWS_SECRET_ACCESS_KEY=§\n", 40, &base64),
        ("API_TOKEN=§", 24, &url),
        ("auth_token: §", 24, &url),
        ("client_secret: \"§\"", 43, &url),
        ("{\"botToken\": \"§\"}", 32, &url),
    ] {
        let kept = kept(text, |seed| drawn(seed, length, alphabet));
        assert!(kept.len() <= 1, "{text}: {kept:?}");
    }
}

#[test]
fn a_key_that_begins_with_a_slash_is_no_path() {
    let base64 = with("+/");
    let kept = kept("aws_secret_access_key = §", |seed| {
        format!("/{}", drawn(seed, 39, &base64))
    });
    assert!(kept.len() <= 1, "{kept:?}");
    finds(
        Kind::Secret,
        "/CI3/dXRZv7qdYdk2r7xgHWPB6PRWJ1Gk8cgSCif",
        &["aws_secret_access_key = §"],
    );
    stay(&[
        "token=/var/run/secrets/kubernetes.io/serviceaccount/token",
        "client_secret: /Users/anna/Library/Keys/clientSecret2",
        "secret: /run/secrets/StripeApi_Key-Prod1",
        "api_token = self/ApiTokenFactory-createFromConfig",
        "token: refreshTokenOfTheCurrentUser",
        "auth_token = Some-Header-Name-With-Capitals",
    ]);
}

const DJANGO: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)";

#[test]
fn every_key_of_django_goes() {
    for text in ["SECRET_KEY = '§'", "SECRET_KEY = \"django-insecure-§\""] {
        let kept = kept(text, |seed| drawn(seed, 50, DJANGO));
        assert!(kept.len() <= 1, "{text}: {kept:?}");
    }
    finds(
        Kind::Secret,
        "e-tlo8h&ll=qufx8aova$dykg^+62w=5a3*1^9=fg+f&fmgrf&",
        &["SECRET_KEY = '§'", "SECRET_KEY = \"§\"\nDEBUG = True"],
    );
}

#[test]
fn every_key_and_salt_of_wordpress_goes() {
    let alphabet = with("!@#$%^&*()-_ []{}<>~`+=,.;:/?|");
    for name in ["AUTH_KEY", "SECURE_AUTH_KEY", "LOGGED_IN_KEY", "NONCE_SALT"] {
        let text = format!("define( '{name}',         '§' );");
        let kept = kept(&text, |seed| drawn(seed, 64, &alphabet));
        assert!(kept.len() <= 1, "{text}: {kept:?}");
    }
    let key = "y#Bqi|H6M=r$8p1+W/7LEf!lHjEWc4rX,?go?@8>2Qe]Npb{I>[TJF;m)T%?[j8G";
    for name in ["LOGGED_IN_SALT", "AUTH_SALT", "SECURE_AUTH_SALT"] {
        finds(
            Kind::Secret,
            key,
            &[
                &format!("define( '{name}',         '§' );"),
                &format!("{name}='§'"),
            ],
        );
    }
    stay(&[
        "TOKEN = r'([tTsSiIlLvV]|ll|LL|([iIuU])(8|16|32|64))?[^a-z]'",
        "token: \"(?P<a>[0-9]+)|(?P<b>[A-Z]+)|(?P<c>==|!=|<=|>=)\"",
        "secret = \"{0:>8} | {1:<12} | {2:^6} of {3} at {4}: {5!r}\"",
        "define( 'AUTH_KEY',         'put your unique phrase here' );",
        "NONCE_SALT: str = Field(default='', description='a salt')",
    ]);
}

#[test]
fn every_password_goes_in_json_and_in_quotes() {
    let alphabet = with("!@#$%^&*-_+=?.,:;<>()[]{}~|");
    let redactor = Redactor::default();
    for seed in 1..=MANY {
        let password = drawn(seed, 16, &alphabet);
        for text in [
            "{\"password\": \"§\"}",
            "password: '§'",
            "db_password = \"§\"",
        ] {
            let redacted = redactor.redact(&text.replace('§', &password));
            let expected = text.replace('§', "[redacted:password#1]");
            assert_eq!(redacted.text, expected, "{password}");
        }
        let json = serde_json::json!({ "password": password }).to_string();
        let redacted = redactor.document().json(&json).into_owned();
        assert_eq!(
            redacted, "{\"password\":\"[redacted:password#1]\"}",
            "{password}"
        );
    }
}

#[test]
fn a_password_may_begin_as_a_reference_does() {
    for password in [
        "$7kQz!mB2xW9p",
        "@7kQz!mB2xW9p",
        "%6zFHV5v4V@Li-4M",
        "a8#kQz2<mB9x",
        "&7kQz!mB2xW9p",
        "*jxYZlaw4zUu*qjR",
    ] {
        finds(
            Kind::Password,
            password,
            &["{\"password\": \"§\"}", "password: \"§\"", "password: '§'"],
        );
    }
    for reference in [
        "$DB_PASSWORD",
        "${DB_PASSWORD}",
        "${env:DbPass1}",
        "$env:DB_PW2",
        "$dbPassword2",
        "$args[0].Pw1",
        "%DB_PASS1%",
        "%(Password1)s",
        "%{DbPw1}",
        "@file1.TXT",
        "@/run/secrets/Pass1",
        "&dbPass1",
        "*dbPass1",
        "{{vault.Pass1}}",
        "<your password>",
        "<Your-Passw0rd!>",
        "<%=ENV['DB_PW1']%>",
        "$(cat</run/secrets/X1)",
        "$this->config.Pw1",
        "~/.Config2/pass",
    ] {
        stay(&[
            &format!("password: \"{reference}\""),
            &format!("{{\"password\": \"{reference}\"}}"),
            &format!("DB_PASSWORD={reference}"),
        ]);
    }
}

#[test]
fn a_password_in_an_address_may_begin_with_a_sign() {
    finds(
        Kind::UrlPassword,
        "*jxYZlaw4zUu*qjR",
        &["postgres://app:§@db/x"],
    );
    finds(
        Kind::UrlPassword,
        "%40jxYZlaw4z",
        &["postgres://app:§@db/x"],
    );
    finds(
        Kind::UrlPassword,
        "UcSAaYatTSJa6t",
        &[
            "dsn := \"app:§@tcp(127.0.0.1:3306)/shop\"",
            "app:§@unix(/tmp/my.sock)/x",
        ],
    );
    finds(Kind::UrlPassword, "p@ss:Wd7/x", &["DSN=app:§@tcp(db)/shop"]);
    stay(&[
        "postgres://app:***@db/x postgres://app:$PASS1@db/x postgres://app:%s@db/x",
        "postgres://app:%DB_PW1%@db/x postgres://app:${Pw1}@db/x postgres://u:{Pw1}@db/x",
        "user:password@tcp(localhost:5555)/dbname",
        "%s:%s@tcp(%s:%d)/%s $USER:$PASS_1@tcp(db)/x {u}:{pw_1}@tcp(db)/x",
        "user:<your-pass1>@tcp(db)/x",
    ]);
}

#[test]
fn a_line_of_the_environment_has_its_value_up_to_its_end() {
    let texts = ["DB_PASSWORD=§", "A=1\nexport DB_PASSWORD=§\nB=2\n"];
    for password in ["Xk9p&nr9x=s5IcOq2W", "Xk9p;nr9x(s5IcOq2W", "q8Z<Tr|7vW#m2"] {
        finds(Kind::Password, password, &texts);
    }
    let key = "e-tlo8h&ll=qufx8aova$dykg^+62w=5a3*1^9=fg+f&fmgrf2";
    finds(Kind::Secret, key, &["SECRET_KEY=§\nDEBUG=1"]);
    let redactor = Redactor::default();
    for (text, rest) in [
        (
            "curl 'https://h/?PASSWORD=Xk9p7nr9xQ&user=bob'",
            "&user=bob'",
        ),
        ("PASSWORD=Xk9p7nr9xQ&& make install", "&& make install"),
        ("PASSWORD=Xk9p7nr9xQ; make", "; make"),
    ] {
        let redacted = redactor.redact(text).text;
        assert!(redacted.ends_with(&format!("#1]{rest}")), "{redacted}");
    }
    stay(&[
        "TOKEN=$(cat<token.txt)",
        "PASSWORD=$(pwgen|head)",
        "PASSWORD={{db.Pw1}}",
        "PASSWORD=$DB_PASS1&x",
    ]);
}

#[test]
fn an_ampersand_is_one_of_a_passwords_characters_in_a_connection_string() {
    finds(
        Kind::Password,
        "Xk9p&nr9x!s5IcOq2W",
        &[
            "cs = \"Server=x;Password=§;\"",
            "cs = \"Server=x;Password=§;Encrypt=true\"",
        ],
    );
    let redactor = Redactor::default();
    for rest in ["&quot;,", "&amp;user=bob", "&#39;)"] {
        let redacted = redactor.redact(&format!("password=Xk9p7nr9xQ{rest}")).text;
        assert_eq!(redacted, format!("password=[redacted:password#1]{rest}"));
    }
}

/// A key of letters and digits in which one of these signs stands somewhere.
fn signed(seed: u64, length: usize, sign: char) -> String {
    let mut key = drawn(seed, length, ALNUM);
    let at = seed as usize % length;
    key.replace_range(at..=at, &sign.to_string());
    key
}

#[test]
fn a_key_with_one_sign_among_its_letters_goes_in_quotes_and_in_the_environment() {
    for (number, sign) in "$^&*?,;()[]{}|<>".chars().enumerate() {
        let length = 16 + number * 3;
        let quoted = [
            "client_secret: \"§\"",
            "{\"api_token\": \"§\"}",
            "JWT_SECRET='§'",
        ];
        for text in [quoted[number % 3], "A=1\nAPI_SECRET=§\n"] {
            let kept = kept(text, |seed| signed(seed, length, sign));
            assert!(kept.len() <= 4, "{text} {sign}: {kept:?}");
        }
    }
}

#[test]
fn keys_with_a_sign_go_behind_the_plainest_names() {
    for (text, key) in [
        ("JWT_SECRET=\"§\"", "9vT&kQ2mZx7Lp4RwBn8Yc3Hd"),
        ("API_SECRET=§", "Hd3Yc8Bn*wR4pL7xZm2Qk9Tv"),
        ("{\"client_secret\": \"§\"}", "pX7^mK2vQ9rT4wZ8nB3cL6yJ"),
        ("  api_token: \"§\"", "mK2$vQ9rT4wZ8nB3cL6yJpX7"),
    ] {
        finds(Kind::Secret, key, &[text]);
    }
}

#[test]
fn a_key_of_any_signs_goes_in_quotes() {
    let alphabet = with("!@#$%^&*()-_[]{}<>~+=,.;:/?|");
    for length in [16, 20, 24, 28, 32, 48, 64] {
        for text in ["client_secret: \"§\"", "api_secret = '§'"] {
            let kept = kept(text, |seed| drawn(seed, length, &alphabet));
            assert!(kept.len() <= 4, "{text} {length}: {kept:?}");
        }
    }
}

#[test]
fn code_patterns_and_templates_stay_where_a_key_is_due() {
    for text in [
        "${Vault.Db1_Token}",
        "{{vault.Token1}}/x2",
        "$(cat</run/secrets/X1)",
        "<%=ENV['API_TOKEN1']%>",
        "<Your-Api-Token-1>",
        "{prefix}-{token2}-X1",
        "{0:02d}{1:02d}-{2}X",
        "$self->{TOKEN_FROM2}",
        "https://h/?a=X1&b=Y2",
        "getToken(Ctx.args[0])",
        "^[0-9A-Z]([0-9A-Z_.-]*[0-9A-Z])?$",
        "(?P<I>1[0-2]|0[1-9])",
        "/my/home/*.txt.Bz2",
        "PREFIX_1_$file_idx",
        "$K8S_SVC_ACCT_TKN2",
        "2026-05-27T07:32:00+02:00",
        "Bearer,Basic;realm=X1",
        "Promise<Token1>|undefined",
    ] {
        stay(&[
            &format!("client_secret: \"{text}\""),
            &format!("api_token = '{text}'"),
            &format!("API_SECRET={text}"),
        ]);
    }
}
