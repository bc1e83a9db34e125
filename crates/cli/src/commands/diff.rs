//! `context diff`: what a compaction took away, what stayed, what is a pointer.

use std::collections::HashSet;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Context, ContextMessage, EntryId, Role};
use serde_json::{Value, json};

use super::answer;
use super::measured::{compactions, heading};
use crate::app::App;
use crate::args::DiffArgs;
use crate::failure::Failure;
use crate::out::{self, say};
use crate::table::{Table, left, right};
use crate::{paint, resolve};

pub(super) fn diff(app: &App, args: &DiffArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.on.name())?;
    let all = compactions(&session)?;
    let entry = match &args.compaction {
        None => all.last(),
        Some(name) => match name.parse::<usize>() {
            Ok(number) if number >= 1 && number <= all.len() => all.get(number - 1),
            _ => all
                .iter()
                .find(|entry| entry.id.as_str().starts_with(name.as_str())),
        },
    };
    let Some(entry) = entry else {
        return Err(match (&args.compaction, all.is_empty()) {
            (_, true) => Failure::nothing("Never compacted."),
            (Some(name), false) => Failure::new(format!("no compaction is called {name:?}")).help(
                "`longhaul context history` lists them; a number or the start of an id will do",
            ),
            (None, false) => Failure::nothing("Never compacted."),
        });
    };
    let before = match &entry.parent {
        Some(parent) => Context::build(&session.load_at(parent)?),
        None => Context::default(),
    };
    let after = Context::build(&session.load_at(&entry.id)?);
    let staying: HashSet<&EntryId> = after
        .messages
        .iter()
        .map(|message| &message.entry)
        .collect();
    let left_out: Vec<&ContextMessage> = before
        .messages
        .iter()
        .filter(|message| {
            !staying.contains(&message.entry) && message.role != Role::CompactionSummary
        })
        .collect();
    let details = Object::parse(entry.raw())
        .ok()
        .and_then(|object| {
            object
                .object("details")
                .map(|details| details.raw("fidelity").unwrap_or("null").to_owned())
        })
        .unwrap_or_else(|| "null".into());
    let fidelity: Value = serde_json::from_str(&details)?;
    let mut meter = app.meter();
    if app.json {
        return out::json(&json!({
            "session": answer::session(&session),
            "compaction": entry.id.as_str(),
            "left": left_out.iter().map(|message| json!({
                "entry": message.entry.as_str(),
                "role": message.role,
                "tokens": meter.message(message),
            })).collect::<Vec<Value>>(),
            "stayed": after.messages.iter().filter(|message| message.role != Role::CompactionSummary)
                .map(|message| message.entry.as_str()).collect::<Vec<_>>(),
            "fidelity": fidelity,
        }));
    }
    say!("{}", heading(app, &session))?;
    if let Body::Compaction(compaction) = &entry.body {
        paint::row(
            "Compaction",
            format!(
                "{} ({})",
                entry.id,
                compaction.layer.as_deref().unwrap_or("by the agent")
            ),
        )?;
    }
    paint::row(
        "Stayed",
        format!(
            "{} messages, verbatim",
            after.messages.len().saturating_sub(1)
        ),
    )?;
    paint::row(
        "Left",
        format!(
            "{} messages; each can be recalled by its id",
            left_out.len()
        ),
    )?;
    pointers(&fidelity)?;
    let mut table = Table::new([
        left("LEFT"),
        right("TOKENS"),
        left("ENTRY"),
        left("WHAT").cut_to(20),
    ]);
    for message in left_out.iter().take(args.limit) {
        table.row([
            message.role.to_string(),
            meter.message(message).to_string(),
            message.entry.to_string(),
            paint::gist(&message.view().text(), 70),
        ]);
    }
    table.print(app.columns())?;
    if left_out.len() > args.limit {
        app.note(&format!(
            "{} more; --limit shows them",
            left_out.len() - args.limit
        ));
    }
    Ok(())
}

/// Facts that are no longer in the context, only in the file.
fn pointers(fidelity: &Value) -> Result<(), Failure> {
    let Some(missing) = fidelity.get("recallable").and_then(Value::as_array) else {
        return Ok(());
    };
    for fact in missing.iter().take(10) {
        let text = fact.get("text").and_then(Value::as_str).unwrap_or_default();
        let category = fact
            .get("category")
            .and_then(Value::as_str)
            .unwrap_or_default();
        paint::row(
            "  pointer only",
            format!("{category}: {}", paint::gist(text, 90)),
        )?;
    }
    Ok(())
}
