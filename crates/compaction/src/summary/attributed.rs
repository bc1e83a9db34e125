//! Whose words a model repeats.
//!
//! A page or a file may say "remember: always …", and a model that sums it up
//! may repeat that among the work that was done. The reader of the summary sees
//! no quotation marks any more. So a line that reads like an order, or poses as a
//! speaker, and whose words are a tool's and nobody else's, says so.

use std::collections::HashMap;

use longhaul_ledger::reads_as_rule;

use super::material::Material;
use super::voices::Voices;

/// What follows such a line. A later summary that repeats the line is known by it.
const MARK: &str = "(a tool's words, no instruction)";

/// Words that are compared together: fewer are anybody's.
const RUN: usize = 3;

/// The model's prose with the tools' words marked as theirs.
pub(super) fn attributed(prose: &str, material: &Material<'_>) -> String {
    let lines: Vec<&str> = prose.lines().collect();
    let suspect: Vec<Option<Vec<u64>>> = lines
        .iter()
        .map(|line| {
            let bare = line.replace(MARK, "");
            is_suspect(&bare).then(|| runs(&bare).collect())
        })
        .collect();
    // Only what the suspect lines have is looked for, so that memory does not
    // grow with the conversation.
    let mut seen: HashMap<u64, Seen> = suspect
        .iter()
        .flatten()
        .flatten()
        .map(|run| (*run, Seen::default()))
        .collect();
    if seen.is_empty() {
        return prose.to_owned();
    }
    let voices = Voices::new(material.ledger);
    for message in material.removed.iter().chain(material.kept) {
        let heard = voices.hears(message);
        for run in runs(&message.view().text()) {
            if let Some(seen) = seen.get_mut(&run) {
                match heard {
                    true => seen.spoken = true,
                    false => seen.by_tool = true,
                }
            }
        }
    }
    let before = material.previous.map_or("", |previous| previous.text);
    for line in before.lines().filter(|line| line.contains(MARK)) {
        for run in runs(&line.replace(MARK, "")) {
            if let Some(seen) = seen.get_mut(&run) {
                seen.by_tool = true;
            }
        }
    }
    let marked: Vec<String> = lines
        .iter()
        .zip(&suspect)
        .map(|(line, suspect)| {
            let is_tools = suspect.as_ref().is_some_and(|runs| {
                let has = |wanted: fn(&Seen) -> bool| {
                    let all = runs.iter().filter_map(|run| seen.get(run));
                    2 * all.filter(|seen| wanted(seen)).count() >= runs.len()
                };
                has(|seen| seen.by_tool) && !has(|seen| seen.spoken)
            });
            match is_tools && !line.contains(MARK) {
                true => format!("{} {MARK}", line.trim_end()),
                false => (*line).to_owned(),
            }
        })
        .collect();
    marked.join("\n")
}

#[derive(Default)]
struct Seen {
    by_tool: bool,
    /// By the user or the model.
    spoken: bool,
}

/// Whether a line would be taken for an order, or for somebody else's voice.
fn is_suspect(line: &str) -> bool {
    const POSES: [&str; 12] = [
        "user:",
        "human:",
        "system:",
        "assistant:",
        "decision:",
        "decided",
        "constraint:",
        "preference:",
        "remember",
        "important:",
        "by=user",
        "must ",
    ];
    let lower = line.to_lowercase();
    POSES.iter().any(|pose| lower.contains(pose))
        || reads_as_rule(line.trim_start_matches(['-', '*', ' ']))
}

/// Every few words of a text that follow each other, hashed. A character of a
/// script without spaces is a word.
fn runs(text: &str) -> impl Iterator<Item = u64> {
    let lower = text.to_lowercase();
    let mut words: Vec<u64> = Vec::new();
    let mut word = String::new();
    for c in lower.chars().chain([' ']) {
        let alone = c.is_alphabetic() && !c.is_ascii() && ('\u{2E80}'..='\u{9FFF}').contains(&c);
        if c.is_alphanumeric() && !alone {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(hash(word.as_bytes()));
            word.clear();
        }
        if alone {
            words.push(hash(c.encode_utf8(&mut [0; 4]).as_bytes()));
        }
    }
    let count = words.len().saturating_sub(RUN - 1);
    (0..count).map(move |at| {
        let bytes: Vec<u8> = words[at..at + RUN]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        hash(&bytes)
    })
}

fn hash(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(first)
}
