//! `redact`: a text without its secrets, for pipes.

use std::fs;
use std::io::{Read, stdin};

use longhaul_redact::{Document, Redactor, rule_ids};
use serde_json::json;

use crate::app::App;
use crate::args::RedactArgs;
use crate::failure::Failure;
use crate::out::{self, say};

pub(crate) fn run(app: &App, args: &RedactArgs) -> Result<(), Failure> {
    if args.rules {
        return rules(app);
    }
    let mut input = Vec::new();
    if args.files.is_empty() {
        let read = stdin().lock().read_to_end(&mut input);
        read.map_err(|error| Failure::new(format!("cannot read what comes in: {error}")))?;
    }
    for file in &args.files {
        let read = fs::read(file);
        let bytes = read.map_err(|error| {
            Failure::new(format!("cannot read {}: {error}", app.show_path(file)))
        })?;
        input.extend(bytes);
    }
    let redactor = Redactor::default();
    let mut document = redactor.document();
    let text = redacted(&mut document, &input);
    let tally = document.tally();
    if app.json {
        return out::json(&json!({
            "text": String::from_utf8_lossy(&text),
            "redacted": tally,
            "total": tally.total(),
        }));
    }
    out::bytes(&text)?;
    if tally.total() > 0 {
        let each: Vec<String> = tally
            .rows()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        app.note(&format!("secrets taken out: {}", each.join(", ")));
    }
    Ok(())
}

/// The bytes without secrets; those that are no text stay as they are.
fn redacted(document: &mut Document<'_>, input: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(input.len());
    for chunk in input.utf8_chunks() {
        text.extend_from_slice(document.text(chunk.valid()).as_bytes());
        text.extend_from_slice(chunk.invalid());
    }
    text
}

fn rules(app: &App) -> Result<(), Failure> {
    let ids = rule_ids();
    if app.json {
        return out::json(&json!({ "rules": ids }));
    }
    for id in ids {
        say!("{id}")?;
    }
    Ok(())
}
