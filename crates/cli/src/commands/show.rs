//! `session show`: the entries of a session, one line each.

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_transcript::{Body, Entry, EntryId, MessageView, Role, ToolCall, json as stored};
use serde::Serialize;

use super::report_faults;
use crate::args::ShowArgs;
use crate::prelude::*;
use crate::resolve::{self, unique_starts};

pub(super) fn show(app: &App, args: &ShowArgs) -> Result {
    let session = resolve::session(app, args.which.name())?;
    let tree = session.tree()?;
    if let Some(name) = &args.entry {
        let id = resolve::entry(&tree, &session, name)?;
        return say!("{}", session.entry(&id)?.raw());
    }
    let path = tree.path().into_iter();
    let on_path: HashSet<EntryId> = path.map(|at| tree.nodes()[at].id.clone()).collect();
    let mut rows = Vec::new();
    let faults = session.each(&mut |entry| {
        let is_on_path = on_path.contains(&entry.id);
        if args.all || is_on_path {
            rows.push(Row::of(&entry, tree.labels().get(&entry.id), is_on_path));
        }
        ControlFlow::Continue(())
    })?;
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "leaf": tree.leaf().map(|node| node.id.as_str()),
            "entries": rows,
            "faults": answer::faults(&faults),
        }));
    }
    let all: Vec<String> = tree
        .nodes()
        .iter()
        .map(|node| node.id.to_string())
        .collect();
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    print(app, &rows, unique_starts(&ids, &all))?;
    report_faults(&faults);
    Ok(())
}

fn print(app: &App, rows: &[Row], ids: Vec<String>) -> Result {
    let columns = app.columns();
    let mut table = Table::new([
        left("ENTRY"),
        left("WHEN (UTC)").drop_rank(2),
        left("KIND").cut_to(14),
        right("SIZE").drop_rank(3),
        left("LABEL").cut_to(12),
        left("WHAT").cut_to(24),
    ]);
    for (row, id) in rows.iter().zip(ids) {
        let paint_row = |text: String| match row.on_path {
            true => text,
            false => style(text).dim().to_string(),
        };
        let label = paint::gist(row.label.as_deref().unwrap_or_default(), 24);
        table.row([
            paint_row(id),
            row.time
                .as_deref()
                .map(|time| moment(time, columns))
                .unwrap_or_default(),
            row.kind.clone(),
            paint::bytes(row.bytes),
            style(label).yellow().to_string(),
            paint_row(paint::gist(&row.gist, columns)),
        ]);
    }
    table.print(columns)
}

/// A time as exact as there is room for; a session without times has zeros.
fn moment(time: &str, columns: usize) -> String {
    const ROOMY: usize = 120;
    let text = time.replace('T', " ");
    match columns {
        _ if text.starts_with("1970-01-01 00:00:00.000") => String::new(),
        ..ROOMY => text.chars().skip(5).take(11).collect(),
        _ => text.chars().take(19).collect(),
    }
}

/// An entry as it is listed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    parent_id: Option<String>,
    line: u64,
    time: Option<String>,
    kind: String,
    bytes: u64,
    label: Option<String>,
    gist: String,
    on_path: bool,
}

/// More of an entry than this is not shown in a line.
const GIST_COLUMNS: usize = 200;

impl Row {
    fn of(entry: &Entry, label: Option<&String>, on_path: bool) -> Row {
        let kind = match entry.role() {
            Some(role) => role.to_string(),
            None => entry.kind().as_str().to_owned(),
        };
        Row {
            id: entry.id.to_string(),
            parent_id: entry.parent.as_ref().map(EntryId::to_string),
            line: entry.place.line,
            time: entry.time.map(|time| time.to_iso()),
            kind: paint::gist(&kind, 24),
            bytes: entry.raw().len() as u64,
            label: label.cloned(),
            gist: paint::gist(&gist(entry), GIST_COLUMNS),
            on_path,
        }
    }
}

/// What an entry is about, in a few words.
fn gist(entry: &Entry) -> String {
    match &entry.body {
        Body::Message(_) => message_gist(entry),
        Body::Compaction(compaction) => compaction.summary.clone(),
        Body::BranchSummary { summary, .. } => summary.clone(),
        Body::ModelChange { provider, model } => format!("{provider}/{model}"),
        Body::ThinkingLevelChange(level) => level.clone(),
        Body::Custom { custom_type } | Body::CustomMessage { custom_type } => custom_type.clone(),
        Body::ContextEdit(edit) => format!("edits {}", edit.target),
        Body::Label { target, label } => match label {
            Some(label) => format!("{label} → {target}"),
            None => format!("removed from {target}"),
        },
        Body::SessionInfo { name } => name.clone().unwrap_or_default(),
        Body::Reset { reason, .. } => reason.clone(),
        Body::Leaf { target } => target.as_ref().map(EntryId::to_string).unwrap_or_default(),
        Body::Usage | Body::Unknown(_) => String::new(),
    }
}

fn message_gist(entry: &Entry) -> String {
    let Some(message) = entry.message() else {
        return String::new();
    };
    let mut text = message.text();
    let sections = message.object().object("sections");
    if let Some(sections) = sections.filter(|_| message.role == Role::System && text.is_empty()) {
        text = sections
            .iter()
            .filter_map(|(_, raw)| stored::string(raw))
            .collect();
    }
    if message.role == Role::ToolResult {
        let mark = if message.is_error() { "failed: " } else { "" };
        let tool = message.tool_name().unwrap_or_default();
        return match text.is_empty() {
            true => format!("{tool}: {mark}(no output)"),
            false => format!("{tool}: {mark}{text}"),
        };
    }
    let calls = message.tool_calls();
    if calls.is_empty() {
        return text;
    }
    let calls: Vec<String> = calls.iter().map(call).collect();
    // The calls are what the step did, so a long text must not hide them.
    let text = paint::gist(&text, 60);
    let line = format!("{text} → {}", calls.join(", "));
    line.trim_start().to_owned()
}

/// A tool call as people would write it: `read(src/main.rs)`,
/// `edit(path: src/main.rs, oldText: …)`.
pub(super) fn call(call: &ToolCall<'_>) -> String {
    let gist = |text: &str| paint::gist(text, 60);
    let value = |value: &Value| match value {
        Value::String(text) => gist(text),
        other => gist(&other.to_string()),
    };
    let arguments = match serde_json::from_str(call.arguments) {
        Ok(Value::Object(fields)) if fields.len() == 1 => fields.values().map(value).collect(),
        Ok(Value::Object(fields)) => {
            let named = fields
                .iter()
                .map(|(name, field)| format!("{name}: {}", value(field)));
            named.collect::<Vec<_>>().join(", ")
        }
        Ok(other) => value(&other),
        Err(_) => gist(call.arguments),
    };
    format!("{}({arguments})", call.name)
}

/// What a message is, in a few words.
pub(super) fn title(view: &MessageView<'_>) -> String {
    match view.role {
        Role::ToolResult => {
            let mark = if view.is_error() { ", failed" } else { "" };
            format!("result of {}{mark}", view.tool_name().unwrap_or_default())
        }
        ref role => role.to_string(),
    }
}
