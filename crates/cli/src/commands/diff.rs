//! `context diff`: what a compaction took away, what stayed, what is a pointer.

use std::collections::HashSet;

use longhaul_compaction::audit::Audit;
use longhaul_engine::marks::fidelity;
use longhaul_engine::survey::Survey;
use longhaul_transcript::{Body, Context, ContextMessage, EntryId, Role, has_archive};

use super::compact::is_whole;
use super::measured::heading;
use crate::args::DiffArgs;
use crate::prelude::*;

pub(super) fn diff(app: &App, args: &DiffArgs) -> Result {
    let session = resolve::session(app, args.on.name())?;
    let survey = Survey::of(&session, &app.keep(&session))?;
    let all = survey.compactions(&session)?;
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
            (Some(name), false) => fail!("no compaction is called {name:?}").help(
                "`longhaul context history` lists them; a number or the start of an id will do",
            ),
            (None, false) => Failure::nothing("Never compacted."),
        });
    };
    let (before, archived) = match &entry.parent {
        Some(parent) => {
            let loaded = session.load_at(parent)?;
            let archived = has_archive(session.path()) && !is_whole(&loaded);
            (Context::build(&loaded), archived)
        }
        None => (Context::default(), false),
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
    let fidelity = fidelity(entry);
    let mut meter = app.meter();
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "compaction": entry.id.as_str(),
            "left": left_out.iter().map(|message| json!({
                "entry": message.entry.as_str(),
                "role": message.role,
                "tokens": meter.message(message),
            })).collect::<Vec<Value>>(),
            "stayed": after.messages.iter().filter(|message| message.role != Role::CompactionSummary)
                .map(|message| message.entry.as_str()).collect::<Vec<_>>(),
            "archived": archived,
            "fidelity": fidelity,
        }));
    }
    say!("{}", heading(app, &session))?;
    if let Body::Compaction(compaction) = &entry.body {
        row!(
            "Compaction",
            "{} ({})",
            entry.id,
            compaction.layer.as_deref().unwrap_or("by the agent")
        )?;
    }
    row!(
        "Stayed",
        "{} messages, verbatim",
        after
            .messages
            .iter()
            .filter(|message| message.role != Role::CompactionSummary)
            .count()
    )?;
    out::row(
        "Left",
        match archived {
            true => "what lies in the archive; `longhaul session restore` puts it back".into(),
            false => format!(
                "{} messages; each can be recalled by its id",
                left_out.len()
            ),
        },
    )?;
    if let Some(fidelity) = &fidelity {
        out::row("Fidelity", fidelity)?;
        pointers(fidelity)?;
    }
    if left_out.is_empty() {
        return Ok(());
    }
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
        note!("{} more; --limit shows them", left_out.len() - args.limit);
    }
    Ok(())
}

/// What is lost, and what of the user's words is shortened or only in the file.
fn pointers(fidelity: &Audit) -> Result {
    const SHOWN: usize = 10;
    let lost = fidelity.lost.iter().map(|missing| ("  lost", missing));
    let reduced = fidelity
        .reduced
        .iter()
        .map(|missing| ("  not whole", missing));
    for (title, missing) in lost.chain(reduced.take(SHOWN)) {
        let place = match &missing.entry {
            Some(entry) => format!(" ({entry})"),
            None => String::new(),
        };
        let text = paint::gist(&missing.text, 90);
        row!(title, "{}: {text}{place}", missing.what)?;
    }
    let more = fidelity.reduced.len().saturating_sub(SHOWN) + fidelity.reduced_unlisted as usize;
    if more > 0 {
        row!("", "and {} more", paint::number(more as u64))?;
    }
    Ok(())
}
