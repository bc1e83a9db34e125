//! What longhaul and pi make of the same file.

use std::collections::BTreeMap;
use std::path::Path;

use longhaul_testkit::content::as_javascript;
use longhaul_transcript::{Context, ContextMessage, Session};
use serde_json::Value;
use serde_json::value::RawValue;

use super::cases::Case;
use crate::Result;
use crate::peers::Peers;
use crate::table::{Table, grouped};

/// How two contexts compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sameness {
    Bytes,
    /// Numbers or escapes are written in another way.
    Values,
}

#[derive(Default)]
struct Group {
    files: usize,
    messages: usize,
    bytes: usize,
    values: usize,
    different: usize,
}

/// Compares all cases, prints a table and returns the differences.
pub(super) fn all(peers: &Peers, cases: &[Case]) -> Result<Vec<String>> {
    let mut groups: Vec<(&str, Group)> = Vec::new();
    let mut wrong = Vec::new();
    // Contexts are held whole, so a few files at a time.
    for chunk in cases.chunks(32) {
        let mut args = vec![Path::new("--messages"), Path::new("all")];
        args.extend(chunk.iter().map(|case| case.file.as_path()));
        let printed = peers.lines("read.mjs", &args)?;
        let lines: Vec<&str> = printed.lines().collect();
        if lines.len() != chunk.len() {
            return Err(format!("pi read {} of {} files", lines.len(), chunk.len()).into());
        }
        for (case, line) in chunk.iter().zip(lines) {
            let at = match groups.iter().position(|(name, _)| *name == case.group) {
                Some(at) => at,
                None => {
                    groups.push((case.group, Group::default()));
                    groups.len() - 1
                }
            };
            let group = &mut groups[at].1;
            group.files += 1;
            match one(case, line) {
                Ok((messages, sameness)) => {
                    group.messages += messages;
                    match sameness {
                        Sameness::Bytes => group.bytes += 1,
                        Sameness::Values => group.values += 1,
                    }
                }
                Err(why) => {
                    group.different += 1;
                    wrong.push(format!("{}/{}: {why}", case.group, case.name));
                }
            }
        }
    }
    let mut table = Table::new([
        "what",
        "files",
        "messages",
        "same bytes",
        "same values",
        "different",
    ]);
    for (name, group) in groups {
        table.row([
            name.to_owned(),
            group.files.to_string(),
            grouped(group.messages as u64),
            group.bytes.to_string(),
            group.values.to_string(),
            group.different.to_string(),
        ]);
    }
    print!("{table}");
    Ok(wrong)
}

/// Compares one file. Returns how many messages it shows and how alike the
/// contexts are.
fn one(case: &Case, line: &str) -> Result<(usize, Sameness)> {
    let theirs: BTreeMap<String, &RawValue> = serde_json::from_str(line)?;
    if let Some(error) = theirs.get("error") {
        return Err(format!("pi says {error}").into());
    }
    let field = |name: &str| theirs.get(name).map_or("null", |raw| raw.get());
    let session = Session::open(&case.file)?;
    let loaded = session.load()?;
    let context = Context::build(&loaded);

    let ours = context.to_json();
    let mut sameness = same("context", &ours, field("contextMessages"))?;
    sameness = sameness.max(same(
        "what the model is sent",
        &array(&context.for_model()),
        field("llmMessages"),
    )?);
    if let Some(source) = &case.source {
        sameness = sameness.max(same("context of the source", &ours, source)?);
    }
    let leaf: Option<String> = serde_json::from_str(field("leafId"))?;
    if leaf.as_deref() != loaded.leaf().map(|entry| entry.id.as_str()) {
        return Err(format!("pi's leaf is {leaf:?}").into());
    }
    if let Some(expected) = &case.labels {
        let theirs: BTreeMap<String, String> = serde_json::from_str(field("labels"))?;
        let ours: BTreeMap<String, String> = session
            .tree()?
            .labels()
            .iter()
            .map(|(id, label)| (id.to_string(), label.clone()))
            .collect();
        if theirs != *expected || ours != *expected {
            return Err(format!("labels: pi {theirs:?}, longhaul {ours:?}").into());
        }
    }
    Ok((context.messages.len(), sameness))
}

fn array(messages: &[ContextMessage]) -> String {
    let texts: Vec<&str> = messages.iter().map(ContextMessage::json).collect();
    format!("[{}]", texts.join(","))
}

fn same(what: &str, ours: &str, theirs: &str) -> Result<Sameness> {
    if ours == theirs {
        return Ok(Sameness::Bytes);
    }
    let messages = |text: &str| -> Result<Vec<Value>> {
        let values: Vec<Value> = serde_json::from_str(text)?;
        Ok(values.iter().map(as_javascript).collect())
    };
    let (ours, theirs) = (messages(ours)?, messages(theirs)?);
    if ours == theirs {
        return Ok(Sameness::Values);
    }
    let at = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let show = |messages: &[Value]| match messages.get(at) {
        Some(message) => message.to_string().chars().take(300).collect(),
        None => String::from("(none)"),
    };
    Err(format!(
        "{what} differs: {} messages and {}, the first other one is number {at}\n  \
         longhaul {}\n  other    {}",
        ours.len(),
        theirs.len(),
        show(&ours),
        show(&theirs)
    )
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_writing_of_numbers_and_escapes_may_differ() {
        let ours = r#"[{"cost":1.0,"text":"\u00e9\/"}]"#;
        assert_eq!(same("context", ours, ours).unwrap(), Sameness::Bytes);
        assert_eq!(
            same("context", ours, r#"[{"cost":1,"text":"é/"}]"#).unwrap(),
            Sameness::Values
        );
        let error = same("context", ours, r#"[{"cost":2,"text":"é/"}]"#).unwrap_err();
        assert!(error.to_string().starts_with("context differs"));
        assert!(same("context", ours, "[]").is_err());
    }
}
