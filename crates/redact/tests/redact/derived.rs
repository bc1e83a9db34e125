//! What is made of a text: single lines, halves and cut beginnings of its
//! secrets.

use longhaul_redact::Redactor;

use crate::{ALNUM, drawn, pem, stay};

/// The first half of a token and the second, as a terminal broke it.
fn broken() -> (String, String) {
    (format!("ghp_{}", drawn(3, 18, ALNUM)), drawn(4, 18, ALNUM))
}

#[test]
fn a_line_of_a_private_key_is_known_by_the_whole_key() {
    let key = pem(7);
    let redactor = Redactor::default();
    let mut document = redactor.document();
    document.text(&format!("Use this:\n{key}\nthanks"));
    let lines = key.lines().filter(|line| !line.contains('-'));
    for line in lines {
        for piece in [line, &line[..30], &line[20..], &line[10..30]] {
            let text = document.text(piece).into_owned();
            assert_eq!(text, "[redacted:private-key#1]");
            let text = document.known(&format!("Use “{piece}…”")).into_owned();
            assert_eq!(text, "Use “[redacted:private-key#1]…”");
        }
    }
    for armour in ["-----BEGIN RSA", "PRIVATE KEY-----", "thanks"] {
        assert_eq!(document.known(armour), armour);
    }
}

#[test]
fn the_halves_of_a_token_over_two_lines_are_known_by_the_token() {
    let (one, two) = broken();
    for between in ["\n", "\r\n", "\\n", "\n> "] {
        let redactor = Redactor::default();
        let mut document = redactor.document();
        document.text(&format!(
            "Use GITHUB_TOKEN={one}{between}{two} for the release."
        ));
        for half in [&one, &two, &two[..14].to_owned()] {
            let text = document.text(&format!("- {half}")).into_owned();
            assert_eq!(text, "- [redacted:github-token#1]", "{between:?}");
        }
    }
}

#[test]
fn a_redactor_knows_what_the_document_it_was_made_of_showed() {
    let (one, two) = broken();
    let settings = Redactor::default();
    let mut document = settings.document();
    document.json(&serde_json::json!({ "text": format!("{one}\n{two}") }).to_string());
    let redactor = document.into_redactor();
    let redacted = redactor.redact(&format!("second line: {two}"));
    assert_eq!(redacted.text, "second line: [redacted:github-token#1]");
    assert_eq!(redacted.found.len(), 1);
}

#[test]
fn words_that_also_stand_in_a_secret_stay() {
    stay(&["production-database and UserAccountName and 2026-11-15"]);
    let redactor = Redactor::default();
    let mut document = redactor.document();
    document.text("DB_PASSWORD=production-database-UserAccountName-2026-11-15-x7Qp");
    document.text("token: correct-horse-battery-staple-a8K2");
    for text in [
        "the production-database of the staple-house",
        "let UserAccountName = correct-horse-battery;",
        "on 2026-11-15",
    ] {
        assert_eq!(document.known(text), text);
    }
}
