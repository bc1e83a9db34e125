//! `redact`: a text without its secrets, for pipes.

use std::io::{self, Read};
use std::path::PathBuf;

use longhaul_files::Bounded;
use longhaul_redact::{Document, Redactor, rule_ids};

use crate::args::RedactArgs;
use crate::prelude::*;

/// A secret is known by what stands far from it, such as the head of its table,
/// so the whole text is held at once.
const MOST_BYTES: u64 = 100_000_000;

pub(crate) fn run(app: &App, args: &RedactArgs) -> Result {
    if args.rules {
        return rules(app);
    }
    let input = incoming(&args.files)?;
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
    out::whole(&text)?;
    if tally.total() > 0 {
        let each: Vec<String> = tally
            .rows()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        note!("secrets taken out: {}", each.join(", "));
    }
    Ok(())
}

/// The files, one after the other, or what comes in.
fn incoming(files: &[PathBuf]) -> Result<Vec<u8>> {
    let mut input: Box<dyn Read> = match files {
        [] => Box::new(io::stdin().lock()),
        _ => Box::new(io::empty()),
    };
    for file in files {
        let opened = longhaul_files::open(&longhaul_files::resolve(file)?);
        input = Box::new(input.chain(opened.map_err(|error| error.at(file))?));
    }
    let mut bytes = Vec::new();
    let read = Bounded::new(input, MOST_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => Failure::new("more than 100 MB are not redacted at once")
            .help(
                "divide it where nothing belongs together, between two days of a log for instance",
            ),
        _ => fail!("cannot read what comes in: {error}"),
    })?;
    Ok(bytes)
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

fn rules(app: &App) -> Result {
    let ids = rule_ids();
    if app.json {
        return out::json(&json!({ "rules": ids }));
    }
    for id in ids {
        say!("{id}")?;
    }
    Ok(())
}
