//! The secrets of Kubernetes: in a manifest of the kind `Secret` every value
//! below `data` is one, whatever its name. The grammar cannot say that: no name
//! announces the value, and the kind may stand behind it.

use std::sync::LazyLock;

use regex::Regex;

use super::Kind;
use super::shape::is_example;
use super::span::Span;

struct Forms {
    kind: Regex,
    /// What follows `data:` in YAML, and in JSON with any number of backslashes.
    block: Regex,
    object: Regex,
    line: Regex,
    member: Regex,
}

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let compiled = |pattern: &str| Regex::new(pattern).expect("it is valid");
    Forms {
        kind: compiled(r#"\bkind\\*["']?:\s*\\*["']?Secret(?:\\*["']|\s|\}|,|$)"#),
        block: compiled(r"(?m)^([ \t]*(?:- )?)(?:data|stringData):[ \t]*\r?\n"),
        object: compiled(r#"\\*"(?:data|stringData)\\*":\s*\{"#),
        line: compiled(r#"^([ \t]*)[^\s:#][^:\n]*:[ \t]+["']?([^\n"']*?)["']?[ \t]*\r?(?:\n|$)"#),
        member: compiled(r#"\\*"[^"\\]*\\*"\s*:\s*\\*"((?:[^"\\]|\\[^"\\])*)\\*""#),
    }
});

/// Every value of every such manifest.
pub(crate) fn values(text: &str, found: &mut Vec<Span>) {
    if memchr::memmem::find(text.as_bytes(), b"Secret").is_none() || !FORMS.kind.is_match(text) {
        return;
    }
    let mut from = 0;
    for part in text.split("\n---") {
        let start = from;
        from += part.len() + 4;
        if FORMS.kind.is_match(part) {
            blocks(part, start, found);
            objects(part, start, found);
        }
    }
}

fn push(value: &str, at: usize, found: &mut Vec<Span>) {
    let refers = value.starts_with(['$', '{', '<', '*', '!', '&']) || value.contains("[redacted:");
    let dots = value.chars().all(|c| matches!(c, '.' | '*'));
    let example = value.len() > 8 && is_example(value.as_bytes());
    if !(value.is_empty() || refers || dots || example) {
        found.push(Span {
            kind: Kind::Secret,
            start: at,
            end: at + value.len(),
        });
    }
}

/// The lines below `data:` that stand further in.
fn blocks(part: &str, start: usize, found: &mut Vec<Span>) {
    for block in FORMS.block.captures_iter(part) {
        let (Some(whole), Some(indent)) = (block.get(0), block.get(1)) else {
            continue;
        };
        let mut at = whole.end();
        let mut nested = false;
        while let Some(line) = part[at..].lines().next() {
            let depth = line.len() - line.trim_start().len();
            let blank = line.trim().is_empty();
            if !blank && depth <= indent.len() {
                break;
            }
            match FORMS
                .line
                .captures(&part[at..])
                .and_then(|groups| groups.get(2))
            {
                Some(value) if !nested || depth <= indent.len() + 2 => {
                    nested = matches!(value.as_str(), "|" | "|-" | ">" | ">-" | "|+");
                    if !nested {
                        push(value.as_str(), start + at + value.start(), found);
                    }
                }
                _ if nested && !blank => push(line.trim(), start + at + depth, found),
                _ => {}
            }
            at += line.len();
            at += part[at..].find('\n').map_or(part.len() - at, |end| end + 1);
            if at >= part.len() {
                break;
            }
        }
    }
}

/// The members of the object behind `"data":`.
fn objects(part: &str, start: usize, found: &mut Vec<Span>) {
    for object in FORMS.object.find_iter(part) {
        let mut at = object.end();
        while let Some(member) = FORMS.member.captures_at(part, at) {
            let (Some(whole), Some(value)) = (member.get(0), member.get(1)) else {
                break;
            };
            // Another object begins or this one ends before it.
            if part[at..whole.start()].contains(['{', '}']) {
                break;
            }
            push(value.as_str(), start + value.start(), found);
            at = whole.end();
        }
    }
}
