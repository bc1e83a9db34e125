//! Values that a program falls back to, and the headers by which it logs in.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, HEX, drawn, finds, stay};

#[test]
fn what_a_program_falls_back_to_is_a_secret() {
    finds(
        Kind::Secret,
        "QE8CocvGNiqlX2fPD216S8Ul",
        &[
            "const s = process.env.JWT_SECRET || '§';",
            "const s = process.env.JWT_SECRET ?? \"§\";",
            "const s = process.env['JWT_SECRET'] ||\n  '§';",
            "s = os.getenv(\"JWT_SECRET\") or \"§\"",
            "val s = System.getenv(\"JWT_SECRET\") ?: \"§\"",
            "s = ENV.fetch(\"SECRET_KEY_BASE\") { \"§\" }",
            "s = ENV[\"SECRET_KEY_BASE\"] || \"§\"",
            "S = config('SECRET_KEY', default='§')",
            "S = env(\"SECRET_KEY\", default=\"§\")",
            "token = is_test ? '§' : ''",
        ],
    );
    finds(
        Kind::Password,
        "uYtA5RKr4ZJa4H",
        &[
            "password = local ? '§' : ''",
            "password = local ? '' : \"§\"",
            "const db = process.env.DB_PASSWORD || '§'",
            "const db = opts.password ?? '§'",
        ],
    );
    stay(&[
        "const t = req.query.token || req.headers['x-access-token'];",
        "const t = process.env.TOKEN || 'development';",
        "type = showPassword ? 'text' : 'password'",
        "password = isNew ? 'new-password' : 'current-password'",
        "token = next ? lexer.peek() : ''",
        "if has_token(\"secret\") { \"yes\" } else { \"no\" }",
    ]);
}

#[test]
fn the_token_of_a_header_goes_behind_the_scheme_of_its_service() {
    for seed in 1..40 {
        let alnum = format!("{}7aB", drawn(seed, 37, ALNUM));
        let uuid = format!(
            "{}-4a7b-4c1d-8e2f-{}",
            drawn(seed, 8, HEX),
            drawn(seed, 12, HEX)
        );
        for token in [format!("{alnum}=="), alnum, uuid] {
            for scheme in ["ApiKey", "ApiKey-v1", "Token", "GenieKey", "SSWS", "Splunk"] {
                let texts = [
                    format!("Authorization: {scheme} §"),
                    format!("curl -H 'Authorization: {scheme} §' https://h"),
                    format!("{{\"Authorization\": \"{scheme} §\"}}"),
                    format!("headers[\"Authorization\"] = \"{scheme} §\""),
                ];
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                finds(Kind::Bearer, &token, &texts);
                let header = format!("{scheme} {token}");
                let json = serde_json::json!({ "Authorization": header }).to_string();
                let redacted = Redactor::default().document().json(&json).into_owned();
                assert_eq!(
                    redacted,
                    "{\"Authorization\":\"[redacted:bearer-token#1]\"}"
                );
            }
        }
    }
    finds(
        Kind::Bearer,
        "QE8CocvGNiqlX2fPD216S8Ul",
        &["Authorization: Token token=\"§\", nonce=\"def\""],
    );
    stay(&[
        "Authorization: Token YOUR_TOKEN_HERE_2",
        "Authorization: ApiKey ${ES_API_KEY_2}",
        "Authorization: ApiKey base64(id:api_key)",
        "Authorization: Token authentication-is-required",
    ]);
}
