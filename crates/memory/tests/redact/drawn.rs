//! Values as generators draw them: every one goes, whatever it happens to begin
//! with and whether or not there is a digit in it.

use longhaul_memory::{Kind, Redactor};

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
