//! `session handoff`: work given to another agent, checked, taken over.

use std::path::Path;

use longhaul_checkpoint::{AGENTS_TEMPLATE, HANDOFF_SCHEMA, Handoff, MAX_HANDOFF_BYTES};
use longhaul_engine::handoff::{self, Given};
use longhaul_files::Fault;
use longhaul_redact::Redactor;
use longhaul_tokens::Tokens;

use super::measured::measure;
use super::refuse_existing;
use super::transfer::{new_id, note_redacted, secrets, source};
use crate::args::HandoffArgs;
use crate::prelude::*;

pub(super) fn run(app: &App, args: &HandoffArgs) -> Result {
    match (args.template, args.schema) {
        (true, _) => return out::whole(AGENTS_TEMPLATE),
        (_, true) => return out::whole(HANDOFF_SCHEMA),
        _ => {}
    }
    if let Some(file) = &args.check {
        return check(app, file);
    }
    if let Some(file) = &args.accept {
        return accept(app, args, file);
    }
    give(app, args)
}

fn give(app: &App, args: &HandoffArgs) -> Result {
    let measured = measure(app, args.which.name(), None)?;
    let source = source(app, &measured)?;
    let redactor = Redactor::default();
    let given = Given {
        to: args.to.clone(),
        task: args.task.clone(),
        constraints: args.rules.clone(),
        budget: args.budget.map_or(measured.window.size(), Tokens),
    };
    let (handoff, tally) = handoff::give(&source, &given, secrets(args.no_redact, &redactor))?;
    let xml = handoff.to_xml();
    let named = args.output.as_deref();
    let output = named.filter(|path| *path != Path::new("-"));
    if let Some(target) = output {
        refuse_existing(target)?;
        longhaul_files::create_whole(target, &mut |out| out.write_all(xml.as_bytes()))?;
    }
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &measured.session),
            "output": output.map(answer::path),
            "checkpointStored": source.stored,
            "redacted": tally,
            "handoff": handoff_json(&handoff),
            "xml": xml,
        }));
    }
    match output {
        Some(target) => {
            let (to, target) = (&handoff.to, app.show_path(target));
            say!("hand-off to {to} written to {target}")?;
        }
        None => out::whole(&xml)?,
    }
    if !source.stored {
        out::note(
            "no checkpoint says what the work is now; the hand-off was made from the session",
        );
    }
    note_redacted(&tally);
    Ok(())
}

fn check(app: &App, file: &Path) -> Result {
    let handoff = read(file)?;
    if app.json {
        let handoff = handoff_json(&handoff);
        return out::json(&json!({ "file": answer::path(file), "handoff": handoff }));
    }
    let gist = paint::gist;
    let from = &handoff.from;
    say!("{} is a sound hand-off", app.show_path(file))?;
    let (agent, session) = (gist(&from.agent, 60), gist(from.session.as_str(), 60));
    row!("From", "{agent} (session {session})")?;
    row!(
        "Checkpoint",
        "{} of {}",
        from.checkpoint,
        gist(&from.created_at, 40)
    )?;
    out::row("To", paint::gist(&handoff.to, 60))?;
    out::row("Task", paint::gist(&handoff.task, 100))?;
    out::row("Decisions", handoff.decisions.len())?;
    out::row("Files", handoff.files.len())?;
    out::row("Open items", handoff.open_items.len())?;
    out::row("Constraints", handoff.constraints.len())?;
    row!("Budget", "{} tokens", handoff.budget)?;
    out::note("`longhaul session handoff --accept` begins a session with it");
    Ok(())
}

fn accept(app: &App, args: &HandoffArgs, file: &Path) -> Result {
    let handoff = read(file)?;
    let new = app.new_session();
    let target = app.target(args.output.as_ref(), &new);
    let (meter, workspace) = (app.meter(), Some(app.workspace.as_path()));
    let counter = meter.estimator().counter();
    let begun = handoff::accept(&handoff, &target, &new, workspace, &mut new_id, counter)?;
    app.last_writes().remember(&target);
    let value = json!({
        "file": answer::path(file),
        "output": answer::path(&target),
        "id": begun.id,
        "entries": begun.entries,
        "tokens": begun.tokens,
        "handoff": handoff_json(&handoff),
    });
    let (agent, target) = (paint::gist(&handoff.from.agent, 60), app.show_path(&target));
    let id = &begun.id;
    app.answer(
        &value,
        format!("session {id} begun at {target} with the work of {agent}"),
    )
}

/// Reads and checks a document; nothing in it is believed.
fn read(file: &Path) -> Result<Handoff> {
    let refused = |reason: String| {
        fail!("{} is not a hand-off", file.display())
            .detail(reason)
            .help(
                "`longhaul session handoff --schema` prints what one looks like; ask for it again",
            )
    };
    let text = longhaul_files::read_named(file, MAX_HANDOFF_BYTES as u64);
    let text = text.map_err(|error| match error.fault {
        Fault::TooLarge { bytes, .. } => refused(format!(
            "{bytes} bytes; a hand-off has at most {MAX_HANDOFF_BYTES}"
        )),
        Fault::NotAFile(_) => fail!("{} is not a regular file", file.display())
            .help("write the hand-off to a file first, then name that file"),
        _ => error.into(),
    })?;
    let text = String::from_utf8(text).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = whole.iter().filter(|byte| **byte == b'\n').count() + 1;
        refused(format!("line {line}: not UTF-8 text"))
    })?;
    Handoff::from_xml(&text).map_err(|flaw| refused(flaw.to_string()))
}

fn handoff_json(handoff: &Handoff) -> Value {
    json!({
        "fromAgent": handoff.from.agent,
        "fromSession": handoff.from.session.as_str(),
        "checkpoint": handoff.from.checkpoint.to_string(),
        "createdAt": handoff.from.created_at,
        "to": handoff.to,
        "task": handoff.task,
        "decisions": handoff.decisions.len(),
        "files": handoff.files.len(),
        "openItems": handoff.open_items.len(),
        "constraints": handoff.constraints,
        "budget": handoff.budget,
    })
}
