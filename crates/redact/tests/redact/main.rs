//! What is redacted, what is left alone, and what holds for every text.

#![allow(missing_docs, clippy::unwrap_used)]

mod beside;
mod commands;
mod cut;
mod derived;
mod drawn;
mod encoded;
mod every_text;
mod fallback;
mod forms;
mod json;
mod letters;
mod pairs;
mod plainly;
mod speech;
mod statements;
mod staying;
mod stores;
mod syntax;
mod tables;
mod tongues;

use longhaul_redact::{Kind, Redactor};

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
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
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

/// Redacts each text, in which `§` stands for the secret.
fn finds(kind: Kind, secret: &str, texts: &[&str]) {
    let redactor = Redactor::default();
    for text in texts {
        let redacted = redactor.redact(&text.replace('§', secret)).text;
        let expected = text.replace('§', &format!("[redacted:{kind}#1]"));
        assert_eq!(redacted, expected, "{text}");
        assert_eq!(redactor.redact(&redacted).text, redacted, "{text}");
        // The same inside of JSON.
        let json = serde_json::json!({ "text": text.replace('§', secret) }).to_string();
        let out = redactor.document().json(&json).into_owned();
        assert!(!out.contains(secret), "{out}");
    }
}

fn stay(texts: &[&str]) {
    for text in texts {
        assert_eq!(Redactor::default().redact(text).text, *text);
    }
}
