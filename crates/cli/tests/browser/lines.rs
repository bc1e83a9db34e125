//! Every line of `context diff --json`, looked for in the page.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::driver::Browser;

/// The lists of the answer, and where the page shows each.
pub(crate) const SECTIONS: [(&str, &str); 6] = [
    ("said", "#said"),
    ("left", "#left"),
    ("stayed", "#stayed"),
    ("files", "#after-title ~ details[id^=files-]"),
    ("toDos", "#to-dos"),
    ("notes", "#notes"),
];

/// What a page shows in a section, in order: of each line its entry and its text as
/// a person can read it.
const READ: &str = "
    const lines = [...document.querySelectorAll(SELECTOR)].flatMap((place) => [...place.querySelectorAll('[data-line]')]);
    return lines.map((line) => {
        const text = line.querySelector('.text');
        const entry = line.dataset.entry || line.querySelector('a.source')?.title || null;
        return [entry, text.checkVisibility() ? text.innerText : '(hidden)'];
    });";

/// The lines of the answer that the page does not show where they belong.
pub(crate) fn missing(browser: &Browser, view: &Value) -> Vec<String> {
    browser.run("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    let mut missing = Vec::new();
    for (section, selector) in SECTIONS {
        let shown = browser.run(&READ.replace("SELECTOR", &json!(selector).to_string()));
        let mut shown: Vec<(Option<String>, String)> = serde_json::from_value(shown).unwrap();
        for line in view[section].as_array().unwrap() {
            let entry = line["entry"].as_str();
            let text = line["text"].as_str().or(line["path"].as_str()).unwrap();
            let at = shown
                .iter()
                .position(|(from, said)| from.as_deref() == entry && plain(said) == plain(text));
            match at {
                Some(at) => _ = shown.remove(at),
                None => missing.push(format!("{section}: {line}")),
            }
        }
    }
    let facts = browser.run("return document.querySelector('main').innerText");
    let facts = facts.as_str().unwrap();
    let summary = view["compaction"]["summary"].as_str().unwrap();
    if !plain(facts).contains(&plain(summary)) {
        missing.push("the summary".to_owned());
    }
    missing
}

/// A text without what a browser makes of its white space at the ends of lines.
fn plain(text: &str) -> String {
    let lines = text.lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// What the messages of a file say, read from its lines alone.
pub(crate) fn source_texts(file: &Path) -> HashMap<String, Vec<String>> {
    let text = std::fs::read_to_string(file).unwrap();
    let entries = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said = entries.filter_map(|entry| {
        let content = &entry["message"]["content"];
        let texts = match content {
            Value::String(text) => vec![text.clone()],
            Value::Array(blocks) => {
                let texts = blocks.iter().filter_map(|block| block["text"].as_str());
                // Of a call, the tool and what it was given.
                let tools = blocks.iter().filter_map(|block| block["name"].as_str());
                let given = blocks
                    .iter()
                    .filter_map(|block| block["arguments"].as_object());
                let given = given.flat_map(|given| given.values().filter_map(Value::as_str));
                texts.chain(tools).chain(given).map(str::to_owned).collect()
            }
            _ => return None,
        };
        Some((entry["id"].as_str()?.to_owned(), texts))
    });
    said.collect()
}
