//! Files that longhaul writes from nothing, and entries it adds to pi's.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use longhaul_testkit::sample::{Compactions, Plan, Size, generate};
use longhaul_transcript::{Draft, EntryId, Error, Millis};
use serde_json::{Value, json};

use super::cases::{Cases, Pen};
use crate::Result;
use crate::paths;

fn message(value: Value) -> Draft {
    Draft::Message(value.to_string())
}

fn user(text: &str, pen: &Pen) -> Draft {
    Draft::user(text, pen.now())
}

fn answer(content: Value, pen: &Pen) -> Draft {
    message(json!({
        "role": "assistant",
        "content": content,
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "usage": {
            "input": 12, "output": 40, "cacheRead": 900, "cacheWrite": 60, "totalTokens": 1012,
            "cost": { "input": 0.000036, "output": 0.0006, "cacheRead": 1e-7, "cacheWrite": 0, "total": 0.0006361 },
        },
        "stopReason": "stop",
        "timestamp": pen.now(),
    }))
}

fn said(text: &str, pen: &Pen) -> Draft {
    answer(json!([{ "type": "text", "text": text }]), pen)
}

fn result(call: &str, output: &str, pen: &Pen) -> Draft {
    message(json!({
        "role": "toolResult",
        "toolCallId": call,
        "toolName": "read",
        "content": [{ "type": "text", "text": output }],
        "isError": false,
        "timestamp": pen.now(),
    }))
}

/// One small session: a question, a call with its result, an answer. Returns
/// the ids of all four.
fn exchange(pen: &mut Pen, topic: &str) -> Result<[EntryId; 4]> {
    let call = format!("call_{topic}");
    Ok([
        pen.put(user(&format!("What is in {topic}?"), pen))?,
        pen.put(answer(
            json!([
                { "type": "thinking", "thinking": "Look first.", "thinkingSignature": "c2ln" },
                { "type": "text", "text": "Reading." },
                { "type": "toolCall", "id": call, "name": "read", "arguments": { "path": topic, "limit": 10 } },
            ]),
            pen,
        ))?,
        pen.put(result(&call, &format!("contents of {topic}"), pen))?,
        pen.put(said(&format!("That is {topic}."), pen))?,
    ])
}

const GROUP: &str = "appended";

/// A file of its own for every kind of entry.
pub(super) fn drafts(cases: &mut Cases) -> Result<()> {
    type Story = fn(&mut Pen) -> Result<BTreeMap<String, String>>;
    let stories: [(&str, Story); 10] = [
        ("conversation", |pen| {
            exchange(pen, "a.txt")?;
            exchange(pen, "b.txt")?;
            Ok(BTreeMap::new())
        }),
        ("every-kind", every_kind),
        ("compaction-keeps-a-tail", |pen| {
            exchange(pen, "a.txt")?;
            let [kept, ..] = exchange(pen, "b.txt")?;
            pen.put(compaction("Read a.txt.", Some(kept)))?;
            exchange(pen, "c.txt")?;
            Ok(BTreeMap::new())
        }),
        ("compaction-keeps-nothing", |pen| {
            exchange(pen, "a.txt")?;
            pen.put(compaction("Read a.txt.", None))?;
            pen.put(user("And now?", pen))?;
            Ok(BTreeMap::new())
        }),
        ("compaction-after-compaction", |pen| {
            exchange(pen, "a.txt")?;
            let [kept, ..] = exchange(pen, "b.txt")?;
            pen.put(compaction("First summary.", Some(kept)))?;
            let [_, _, _, kept] = exchange(pen, "c.txt")?;
            pen.put(compaction("Second summary.", Some(kept)))?;
            pen.put(user("Go on.", pen))?;
            Ok(BTreeMap::new())
        }),
        ("edits", edits),
        ("labels", labels),
        ("branches", branches),
        ("new-root", |pen| {
            exchange(pen, "a.txt")?;
            pen.branch(None);
            exchange(pen, "b.txt")?;
            Ok(BTreeMap::new())
        }),
        ("odd-text", |pen| {
            for text in [
                "tabs\tand\nlines\r\n, \"quotes\", back\\slash, / and nul \u{0}",
                "controls \u{1}\u{8}\u{c}\u{1b}\u{7f}\u{80}, separators \u{2028}\u{2029}, bom \u{feff}",
                "日本語 한국어 العربية 👩‍👩‍👧 e\u{301} \u{10ffff}",
                "",
                "{\"type\":\"compaction\"}",
            ] {
                pen.put(user(text, pen))?;
                pen.put(said(text, pen))?;
            }
            Ok(BTreeMap::new())
        }),
    ];
    for (name, story) in stories {
        let file = cases.place(GROUP, name)?;
        let labels = story(&mut Pen::create(&file)?)?;
        cases.add(GROUP, name, file).labels = Some(labels);
    }
    Ok(())
}

fn compaction(summary: &str, first_kept: Option<EntryId>) -> Draft {
    Draft::Compaction {
        summary: summary.to_owned(),
        first_kept,
        tokens_before: 150_000,
        details: Some(json!({ "readFiles": ["a.txt"], "modifiedFiles": [] }).to_string()),
    }
}

fn edit(target: &EntryId, content: Option<Value>) -> Draft {
    Draft::ContextEdit {
        target: target.clone(),
        content: content.map(|content| content.to_string()),
    }
}

fn every_kind(pen: &mut Pen) -> Result<BTreeMap<String, String>> {
    pen.put(Draft::ModelChange {
        provider: "anthropic".into(),
        model: "claude-sonnet-4-5".into(),
    })?;
    pen.put(Draft::ThinkingLevelChange("high".into()))?;
    pen.put(Draft::SessionInfo {
        name: "The shop".into(),
    })?;
    let [first, ..] = exchange(pen, "a.txt")?;
    pen.put(Draft::Custom {
        custom_type: "longhaul:ledger".into(),
        data: json!({ "topic": "shop", "open": [] }).to_string(),
    })?;
    let [kept, _, output, left] = exchange(pen, "b.txt")?;
    pen.put(edit(&output, Some(json!("[cleared]"))))?;
    pen.put(Draft::pin(first.clone(), Some("the goal")))?;
    pen.put(compaction("Read a.txt.", Some(kept)))?;
    let branching = pen.put(user("Try another way.", pen))?;
    pen.put(said("It does not work.", pen))?;
    pen.branch(Some(branching));
    pen.put(Draft::BranchSummary {
        from: left,
        summary: "A way that did not work.".into(),
    })?;
    pen.put(said("Another way.", pen))?;
    Ok([(first.to_string(), "pin:the goal".to_owned())].into())
}

fn edits(pen: &mut Pen) -> Result<BTreeMap<String, String>> {
    let [question, call, output, last] = exchange(pen, "a.txt")?;
    let [removed, _, twice, _] = exchange(pen, "b.txt")?;
    pen.put(edit(&question, Some(json!("a shorter question"))))?;
    pen.put(edit(&call, Some(json!("text instead of blocks"))))?;
    let blocks = json!([{ "type": "text", "text": "[a.txt, 1 line]" }]);
    pen.put(edit(&output, Some(blocks)))?;
    pen.put(edit(&removed, None))?;
    pen.put(edit(&twice, Some(json!("first edit"))))?;
    pen.put(edit(&twice, Some(json!("second edit"))))?;
    pen.put(compaction("Edited before.", Some(last)))?;
    pen.put(edit(&twice, None))?;
    Ok(BTreeMap::new())
}

fn labels(pen: &mut Pen) -> Result<BTreeMap<String, String>> {
    let [first, second, third, fourth] = exchange(pen, "a.txt")?;
    let label = |target: &EntryId, label: Option<&str>| Draft::Label {
        target: target.clone(),
        label: label.map(str::to_owned),
    };
    pen.put(label(&first, Some("start")))?;
    pen.put(label(&first, Some("the start")))?;
    pen.put(label(&second, Some("gone")))?;
    pen.put(label(&second, None))?;
    pen.put(Draft::pin(third.clone(), None))?;
    pen.put(Draft::pin(fourth.clone(), Some("日本 \"note\"")))?;
    Ok([
        (first, "the start"),
        (third, "pin"),
        (fourth, "pin:日本 \"note\""),
    ]
    .into_iter()
    .map(|(id, label)| (id.to_string(), label.to_owned()))
    .collect())
}

fn branches(pen: &mut Pen) -> Result<BTreeMap<String, String>> {
    let [_, _, _, base] = exchange(pen, "a.txt")?;
    let [.., left] = exchange(pen, "b.txt")?;
    pen.branch(Some(base.clone()));
    pen.put(Draft::BranchSummary {
        from: left.clone(),
        summary: "Looked at b.txt.".into(),
    })?;
    let [.., second] = exchange(pen, "c.txt")?;
    pen.branch(Some(base));
    pen.put(Draft::BranchSummary {
        from: second,
        summary: String::new(),
    })?;
    exchange(pen, "d.txt")?;
    pen.branch(Some(left));
    pen.put(user("Back on the first branch.", pen))?;
    Ok(BTreeMap::new())
}

/// Every file that pi wrote, continued by longhaul.
pub(super) fn after_pi(cases: &mut Cases, golden: &Path) -> Result<()> {
    let group = "appended to pi's";
    for file in by_pi(golden)? {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let copy = cases.place("after-pi", &name)?;
        fs::copy(&file, &copy)?;
        let mut pen = match Pen::open(&copy) {
            Ok(pen) => pen,
            Err(error @ Error::Refused { .. }) => {
                println!("left out: {error}");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        exchange(&mut pen, "more.txt")?;
        cases.add(group, &name, copy);
    }
    Ok(())
}

/// The golden sessions that pi itself wrote.
pub(super) fn by_pi(golden: &Path) -> Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for record in paths::files(golden, |name| name.ends_with(".golden.json"))? {
        let text = fs::read_to_string(&record)?;
        if text.contains("\"writtenBy\": \"pi ") {
            let name = paths::name(&record).replace(".golden.json", ".jsonl");
            files.push(golden.join(name));
        }
    }
    Ok(files)
}

/// Generated sessions of each kind of project.
pub(super) fn samples(cases: &mut Cases) -> Result<()> {
    for seed in 1..=5 {
        for (kind, compactions, images) in [
            ("plain", Compactions::None, false),
            ("compacted", Compactions::Every(40_000), false),
            ("pictures", Compactions::Every(60_000), true),
        ] {
            let name = format!("{kind}-{seed}");
            let file = cases.place("sample", &name)?;
            let plan = Plan {
                seed,
                size: Size::AtLeastBytes(600_000),
                start: Millis(1_772_442_000_000),
                compactions,
                images,
                ..Plan::default()
            };
            generate(
                &plan,
                &mut std::io::BufWriter::new(fs::File::create(&file)?),
            )?;
            cases.add("generated", &name, file);
        }
    }
    Ok(())
}
