//! `session handoff`: work given to another agent, checked, taken over.

use std::path::Path;

use longhaul_checkpoint::{AGENTS_TEMPLATE, HANDOFF_SCHEMA, Handoff, MAX_HANDOFF_BYTES};
use longhaul_engine::export::Secrets;
use longhaul_engine::handoff::{self, Given};
use longhaul_files::Fault;
use longhaul_redact::Redactor;
use longhaul_tokens::Tokens;
use serde_json::{Value, json};

use super::carry::{new_id, note_redacted, source};
use super::measured::Measured;
use super::{answer, refuse_existing};
use crate::app::App;
use crate::args::HandoffArgs;
use crate::failure::Failure;
use crate::out;
use crate::{own_write, paint};

pub(super) fn run(app: &App, args: &HandoffArgs) -> Result<(), Failure> {
    if args.template || args.schema {
        let text = if args.template {
            AGENTS_TEMPLATE
        } else {
            HANDOFF_SCHEMA
        };
        return out::whole(text);
    }
    if let Some(file) = &args.check {
        return check(app, file);
    }
    if let Some(file) = &args.accept {
        return accept(app, args, file);
    }
    give(app, args)
}

fn give(app: &App, args: &HandoffArgs) -> Result<(), Failure> {
    let measured = Measured::of(app, args.which.name(), None)?;
    let source = source(app, &measured)?;
    for damage in &source.passed_over {
        app.note(&format!("note: {damage}"));
    }
    let redactor = Redactor::default();
    let secrets = match args.no_redact {
        true => Secrets::Keep,
        false => Secrets::Redact(&redactor),
    };
    let given = Given {
        to: args.to.clone(),
        task: args.task.clone(),
        constraints: args.rules.clone(),
        budget: args.budget.map_or(measured.window.size(), Tokens),
    };
    let (handoff, tally) = handoff::give(&source, &given, secrets)?;
    let xml = handoff.to_xml();
    let output = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    if let Some(target) = output {
        refuse_existing(target)?;
        longhaul_files::create_whole(target, &mut |out| out.write_all(xml.as_bytes()))?;
    }
    if app.json {
        let mut value = json!({
            "session": answer::session(app, &measured.session),
            "output": output.map(answer::path),
            "checkpointStored": source.stored,
            "redacted": tally,
        });
        value["handoff"] = handoff_json(&handoff);
        value["xml"] = json!(xml);
        return out::json(&value);
    }
    match output {
        Some(target) => say!(
            "hand-off to {} written to {}",
            handoff.to,
            app.show_path(target)
        )?,
        None => out::whole(&xml)?,
    }
    if !source.stored {
        app.note("no checkpoint says what the work is now; the hand-off was made from the session");
    }
    note_redacted(app, &tally);
    Ok(())
}

fn check(app: &App, file: &Path) -> Result<(), Failure> {
    let handoff = read(file)?;
    if app.json {
        return out::json(
            &json!({ "file": answer::path(file), "handoff": handoff_json(&handoff) }),
        );
    }
    say!("{} is a sound hand-off", app.show_path(file))?;
    row!(
        "From",
        "{} (session {})",
        paint::gist(&handoff.from.agent, 60),
        paint::gist(handoff.from.session.as_str(), 60)
    )?;
    row!(
        "Checkpoint",
        "{} of {}",
        handoff.from.checkpoint,
        paint::gist(&handoff.from.created_at, 40)
    )?;
    paint::row("To", paint::gist(&handoff.to, 60))?;
    paint::row("Task", paint::gist(&handoff.task, 100))?;
    paint::row("Decisions", handoff.decisions.len())?;
    paint::row("Files", handoff.files.len())?;
    paint::row("Open items", handoff.open_items.len())?;
    paint::row("Constraints", handoff.constraints.len())?;
    row!("Budget", "{} tokens", handoff.budget)?;
    app.note("`longhaul session handoff --accept` begins a session with it");
    Ok(())
}

fn accept(app: &App, args: &HandoffArgs, file: &Path) -> Result<(), Failure> {
    let handoff = read(file)?;
    let new = app.new_session();
    let target = app.target(args.output.as_ref(), &new);
    let begun = handoff::accept(
        &handoff,
        &target,
        &new,
        Some(&app.workspace),
        &mut new_id,
        app.meter().estimator().counter(),
    )?;
    own_write::remember(app, &target);
    if app.json {
        return out::json(&json!({
            "file": answer::path(file),
            "output": answer::path(&target),
            "id": begun.id,
            "entries": begun.entries,
            "tokens": begun.tokens,
            "handoff": handoff_json(&handoff),
        }));
    }
    say!(
        "session {} begun at {} with the work of {}",
        begun.id,
        app.show_path(&target),
        paint::gist(&handoff.from.agent, 60)
    )
}

/// Reads and checks a document; nothing in it is believed.
fn read(file: &Path) -> Result<Handoff, Failure> {
    let refused = |reason: String| {
        Failure::new(format!("{} is not a hand-off", file.display()))
            .detail(reason)
            .help(
                "`longhaul session handoff --schema` prints what one looks like; ask for it again",
            )
    };
    let text = match longhaul_files::read_named(file, MAX_HANDOFF_BYTES as u64) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Err(match error.fault {
                Fault::TooLarge { bytes, .. } => refused(format!(
                    "{bytes} bytes; a hand-off has at most {MAX_HANDOFF_BYTES}"
                )),
                Fault::NotAFile(_) => {
                    Failure::new(format!("{} is not a regular file", file.display()))
                        .help("write the hand-off to a file first, then name that file")
                }
                _ => error.into(),
            });
        }
    };
    let text = String::from_utf8(text).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            + 1;
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
