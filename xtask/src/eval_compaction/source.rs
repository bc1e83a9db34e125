//! Sessions with their truth: recorded, generated, and planted with more.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_engine::catalog::is_prompt;
use longhaul_transcript::sample::{
    ConstraintAt, DecisionAt, FactAt, FactKind, Plan, Size, Speaker, TextAt, Truth, generate,
};
use longhaul_transcript::{Body, Draft, Entry, EntryId, Header, Millis, Role, Session, Stamp};

use crate::Result;
use crate::paths;

/// A session to measure on.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) header: Header,
    /// The path, with what was planted.
    pub(super) entries: Vec<Entry>,
    /// The path as it was recorded.
    pub(super) recorded: Vec<Entry>,
    pub(super) truth: Truth,
    /// Whether the truth names shell writes too.
    pub(super) knows_shell: bool,
}

/// Recorded sessions with a truth beside them, and pi's without one.
pub(super) fn corpus(folder: &Path, scratch: &Path, most: usize) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    let packed = paths::files(&folder.join("transcripts"), |name| {
        name.starts_with("cc-entire-") && name.ends_with(".jsonl.gz") && !name.contains("CORRUPT")
    })?;
    for file in packed.iter().take(most) {
        let truth = file.with_extension("").with_extension("truth.json");
        sources.push(recorded(file, Some(&truth), scratch)?);
    }
    if most > packed.len() {
        let pi = paths::files(&folder.join("pi"), |name| {
            name.starts_with("pi-mono_") && name.ends_with("by-pi1.5.0.jsonl")
        })?;
        for file in pi {
            sources.push(recorded(&file, None, scratch)?);
        }
    }
    Ok(sources)
}

/// One file with its truth, if there is one.
pub(super) fn recorded(file: &Path, truth: Option<&Path>, scratch: &Path) -> Result<Source> {
    let name = paths::name(file);
    let short = name.trim_end_matches(".gz").trim_end_matches(".jsonl");
    let plain = if name.ends_with(".gz") {
        let plain = scratch.join(name.trim_end_matches(".gz"));
        paths::unpack(file, &plain)?;
        plain
    } else {
        file.to_owned()
    };
    let session = Session::open(&plain)?;
    let mut entries = path_of(&session)?;
    let given = truth.filter(|path| path.is_file());
    let mut truth = match given {
        Some(path) => serde_json::from_str(&fs::read_to_string(path)?)
            .map_err(|error| format!("{}: {error}", path.display()))?,
        None => Truth::default(),
    };
    let knows_shell = truth.in_flight.is_some();
    if given.is_none() {
        truth.user_prompts = prompts(&entries);
    }
    follow_tasks(&entries, &mut truth);
    let recorded = entries.clone();
    if !knows_shell {
        plant(&mut entries, &mut truth);
    }
    Ok(Source {
        name: short.trim_start_matches("cc-entire-").to_owned(),
        header: session.header().clone(),
        entries,
        recorded,
        truth,
        knows_shell,
    })
}

/// A generated session of a seed.
pub(super) fn generated(seed: u64, turns: u32, scratch: &Path) -> Result<Source> {
    let plain: PathBuf = scratch.join(format!("seed-{seed}.jsonl"));
    let mut file = Vec::new();
    let plan = Plan {
        seed,
        size: Size::Turns(turns),
        ..Plan::default()
    };
    let truth = generate(&plan, &mut file)?;
    fs::write(&plain, &file)?;
    let session = Session::open(&plain)?;
    let entries = path_of(&session)?;
    Ok(Source {
        name: format!("seed-{seed}"),
        header: session.header().clone(),
        recorded: entries.clone(),
        entries,
        truth,
        knows_shell: true,
    })
}

fn path_of(session: &Session) -> Result<Vec<Entry>> {
    let tree = session.tree()?;
    let on_path: std::collections::HashSet<EntryId> = tree
        .path()
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let mut entries = Vec::new();
    session.each(&mut |entry| {
        if on_path.contains(&entry.id) {
            entries.push(entry);
        }
        ControlFlow::Continue(())
    })?;
    Ok(entries)
}

fn prompts(entries: &[Entry]) -> Vec<TextAt> {
    entries
        .iter()
        .filter(|entry| is_prompt(entry))
        .filter_map(|entry| {
            let text = entry.message()?.text();
            (!text.trim().is_empty()).then_some(TextAt { line: 0, text })
        })
        .collect()
}

/// Truth files know tasks as they were made; what became of them since is read
/// from the calls that changed them.
fn follow_tasks(entries: &[Entry], truth: &mut Truth) {
    let mut tasks: Vec<(String, String)> = Vec::new();
    for entry in entries {
        let Some(message) = entry.message() else {
            continue;
        };
        for call in message.tool_calls() {
            let Ok(arguments) = serde_json::from_str::<serde_json::Value>(call.arguments) else {
                continue;
            };
            let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
            match call.name.as_ref() {
                "TaskCreate" => tasks.push((text("subject"), "pending".into())),
                "TaskUpdate" => {
                    let number = text("taskId").parse::<usize>().unwrap_or(0);
                    if let Some((_, state)) = tasks.get_mut(number.wrapping_sub(1))
                        && !text("status").is_empty()
                    {
                        *state = text("status");
                    }
                }
                _ => {}
            }
        }
    }
    for (task, state) in tasks {
        truth.open_items_end.retain(|item| *item != task);
        if matches!(state.as_str(), "pending" | "in_progress") {
            truth.open_items_end.push(task.clone());
        }
        truth.todos_end.insert(task, state);
    }
}

/// The same path without the usage that providers reported.
pub(super) fn without_usage(entries: &[Entry]) -> Vec<Entry> {
    entries
        .iter()
        .map(|entry| {
            let json = entry.message_json().filter(|_| {
                matches!(&entry.body, Body::Message(message) if message.role == Role::Assistant)
            });
            let Some(serde_json::Value::Object(mut message)) =
                json.and_then(|json| serde_json::from_str(json).ok())
            else {
                return entry.clone();
            };
            if message.remove("usage").is_none() {
                return entry.clone();
            }
            let stamp = Stamp {
                id: entry.id.clone(),
                time: entry.time.unwrap_or(Millis(0)),
            };
            let json = serde_json::Value::Object(message).to_string();
            Draft::Message(json).to_entry(&stamp, entry.parent.as_ref())
        })
        .collect()
}

/// Standing rules in several wordings and languages; the rule inside the message.
const RULES: &[(&str, &str, &str)] = &[
    (
        "en",
        "Never push to the main branch without asking me first.",
        "@",
    ),
    (
        "en",
        "Always run the linter before you commit.",
        "Good. @ Go on.",
    ),
    (
        "en",
        "Do not touch the vendor folder until I say so.",
        "One more thing: @",
    ),
    (
        "de",
        "Ändere niemals die öffentliche API ohne Rückfrage.",
        "@",
    ),
    (
        "en",
        "From now on, write all commit messages in the imperative.",
        "@",
    ),
    (
        "fr",
        "Ne modifie jamais le fichier LICENSE.",
        "Merci, ça marche. @",
    ),
    (
        "en",
        "Under no circumstances may you delete files in /data/archive.",
        "@",
    ),
    ("es", "No borres nunca los datos de prueba.", "@"),
    (
        "en",
        "Please don't ever use force push in this repository.",
        "That looks right to me. @ The rest is fine.",
    ),
    ("zh", "不要修改 migrations 目录里的文件，除非我同意。", "@"),
    ("ja", "テストは必ず最後まで実行してください。", "@"),
    (
        "en",
        "You must not add new dependencies without my approval.",
        "Before you continue:\n\n- @\n- tell me when you are done",
    ),
    ("ru", "Никогда не трогай файл deploy.sh.", "@"),
    ("pt", "Nunca apague os registros de auditoria.", "@"),
    (
        "en",
        "Keep the changelog up to date with every change.",
        "@",
    ),
    ("it", "Non usare mai la console per il debug.", "@"),
    ("ko", "절대로 비밀 키를 로그에 남기지 마세요.", "@"),
    (
        "en",
        "I never want to see tokens or passwords in the logs.",
        "@",
    ),
];

/// Decisions with the part that is the reason; `true` supersedes the one before.
const DECISIONS: &[(&str, &str, bool)] = &[
    (
        "We go with SQLite for the job cache because the CI hosts have no database server.",
        "the CI hosts have no database server",
        false,
    ),
    (
        "Let's use exponential backoff with a cap of 37 seconds because the upstream limits us.",
        "the upstream limits us",
        false,
    ),
    (
        "I changed my mind: use plain files instead of SQLite for the job cache because backups copy files only.",
        "backups copy files only",
        true,
    ),
];

/// Facts with their value; `true` supersedes the one before.
const FACTS: &[(&str, &str, FactKind, bool)] = &[
    (
        "The staging gateway listens on port 28417.",
        "28417",
        FactKind::Number,
        false,
    ),
    (
        "Correction: the staging gateway now listens on port 29663.",
        "29663",
        FactKind::Number,
        true,
    ),
    (
        "The background is written down at https://wiki.example.org/rollout/7f31c9.",
        "https://wiki.example.org/rollout/7f31c9",
        FactKind::Url,
        false,
    ),
    (
        "The ticket for all of this is OPS-48210.",
        "OPS-48210",
        FactKind::Id,
        false,
    ),
];

/// Lines of planted things; no real file is that long.
const PLANTED: u64 = 1 << 40;

/// Puts messages of the user before prompts, spread over the session.
fn plant(entries: &mut Vec<Entry>, truth: &mut Truth) {
    let mut said: Vec<String> = Vec::new();
    let mut line = PLANTED;
    for (language, text, frame) in RULES {
        line += 1;
        said.push(frame.replace('@', text));
        truth.constraints.push(ConstraintAt {
            line,
            text: (*text).into(),
            language: (*language).into(),
            revoked_line: None,
            revoked_text: None,
        });
    }
    // Rules, facts and decisions take turns, so that each lies at several depths.
    let mut others: Vec<String> = Vec::new();
    for (at, (text, reason, replaces)) in DECISIONS.iter().enumerate() {
        line += 1;
        if *replaces && let Some(old) = truth.decisions.get_mut(at - 2) {
            old.superseded_by = Some(line);
        }
        others.push((*text).into());
        truth.decisions.push(DecisionAt {
            line,
            text: (*text).into(),
            reason: (*reason).into(),
            by: Speaker::User,
            confirmed_line: None,
            superseded_by: None,
        });
    }
    for (text, value, kind, replaces) in FACTS {
        line += 1;
        if *replaces && let Some(old) = truth.facts.last_mut() {
            old.superseded_by = Some(line);
        }
        others.push((*text).into());
        truth.facts.push(FactAt {
            line,
            text: (*text).into(),
            value: (*value).into(),
            kind: *kind,
            by: Speaker::User,
            superseded_by: None,
        });
    }
    for (at, other) in others.into_iter().enumerate() {
        said.insert((at * 3 + 1).min(said.len()), other);
    }
    for text in &said {
        truth.user_prompts.push(TextAt {
            line: 0,
            text: text.clone(),
        });
    }
    let places: Vec<usize> = (0..entries.len())
        .filter(|at| is_prompt(&entries[*at]) && can_interrupt(entries, *at))
        .collect();
    if places.is_empty() {
        return;
    }
    let mut planted = Vec::with_capacity(entries.len() + said.len() * 2);
    let mut next = 0;
    for (at, entry) in std::mem::take(entries).into_iter().enumerate() {
        while next < said.len() && places[next * places.len() / said.len()] == at {
            let time = entry.time.unwrap_or(Millis(0));
            planted.push(message(
                format!("planted-{next:03}-user"),
                time,
                "user",
                &said[next],
            ));
            planted.push(message(
                format!("planted-{next:03}-answer"),
                time,
                "assistant",
                "Understood.",
            ));
            next += 1;
        }
        planted.push(entry);
    }
    *entries = planted;
}

/// Whether every call before has its result before.
fn can_interrupt(entries: &[Entry], at: usize) -> bool {
    let before = entries[..at].iter().rev().find(|entry| {
        matches!(
            entry.role(),
            Some(Role::User | Role::Assistant | Role::ToolResult)
        )
    });
    let Some(message) = before.and_then(|entry| entry.message()) else {
        return true;
    };
    message.tool_calls().is_empty()
}

/// A message of the given role.
pub(super) fn message(id: String, time: Millis, role: &str, text: &str) -> Entry {
    let json = serde_json::json!({
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": time.0,
        "stopReason": if role == "assistant" { "stop" } else { "" },
    });
    let mut json = json;
    if role == "user"
        && let Some(fields) = json.as_object_mut()
    {
        fields.remove("stopReason");
    }
    Draft::Message(json.to_string()).to_entry(
        &Stamp {
            id: EntryId::new(id),
            time,
        },
        None,
    )
}
