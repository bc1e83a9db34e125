//! Private keys in base64.

use longhaul_redact::{Kind, Redactor};

use crate::{ALNUM, drawn, finds, pem, stay};

/// The text in base64, in lines of so many characters.
fn encoded(text: &str, width: usize) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for three in text.as_bytes().chunks(3) {
        let byte = |at: usize| usize::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let sign = SIGNS[bits >> (18 - 6 * place) & 63];
            out.push(if place > three.len() { b'=' } else { sign });
        }
    }
    let lines: Vec<&str> = out
        .chunks(width)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    lines.join("\n")
}

fn armour(title: &str, seed: u64) -> String {
    let body = drawn(seed, 64, ALNUM);
    format!("-----BEGIN {title}-----\n{body}\n{body}\n-----END {title}-----\n")
}

#[test]
fn a_private_key_in_base64_is_known_by_its_form() {
    for title in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        let key = encoded(&armour(title, 5), usize::MAX);
        finds(
            Kind::PrivateKey,
            &key,
            &[
                "users:\n- name: bob\n  user:\n    client-key-data: §\n",
                "{\"client-key-data\": \"§\", \"name\": \"bob\"}",
                "TLS_KEY_B64=§",
                "§",
            ],
        );
        // Of one that was cut off the beginning is enough.
        finds(Kind::PrivateKey, &key[..96], &["client-key-data: §…"]);
    }
}

#[test]
fn a_private_key_in_base64_is_redacted_to_its_last_line_and_no_further() {
    let redactor = Redactor::default();
    for seed in 1..30 {
        let key = pem(seed) + &"\n".repeat(seed as usize % 3);
        let lines = encoded(&key, 40 + seed as usize * 4);
        for text in [
            format!("$ base64 k.pem\n{lines}\ndone\n"),
            format!("key: |\n  {}\ndone\n", lines.replace('\n', "\n  ")),
        ] {
            let redacted = redactor.redact(&text).text;
            let told = lines.lines().any(|line| redacted.contains(line));
            assert!(!told && redacted.ends_with("done\n"), "{redacted}");
            assert_eq!(redactor.redact(&redacted).text, redacted);
        }
    }
}

#[test]
fn what_is_public_stays_in_base64_too() {
    for title in ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"] {
        let text = encoded(&armour(title, 5), usize::MAX);
        stay(&[
            &format!("certificate-authority-data: {text}"),
            &format!("PUB_B64={text}"),
            &text,
        ]);
    }
    stay(&["A key in base64 begins with `LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t`."]);
}
