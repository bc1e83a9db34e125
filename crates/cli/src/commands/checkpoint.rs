//! `checkpoint list|show|create`: the state of the work, saved and put back.

use longhaul_checkpoint::{
    Checkpoint, CheckpointId, CheckpointStore, Error, Listed, Restoring, Trigger, Turn,
};
use longhaul_engine::checkpoints::Occasion;
use longhaul_engine::event::Event;
use longhaul_engine::live::{Live, worn_by};
use longhaul_tokens::Estimator;
use longhaul_transcript::{Millis, Session};

use super::events;
use super::measured::{heading, measure};
use super::saving::{Saving, read_only, tell};
use crate::args::{CheckpointArgs, CheckpointCommand, Which};
use crate::prelude::*;

pub(crate) fn run(app: &App, command: &CheckpointCommand) -> Result {
    match command {
        CheckpointCommand::List { which } => list(app, which),
        CheckpointCommand::Show(args) if args.as_restored => show_restored(app, args),
        CheckpointCommand::Show(args) => show(app, args),
        CheckpointCommand::Create { which } => create(app, which),
    }
}

fn list(app: &App, which: &Which) -> Result {
    let session = resolve::session(app, which.name())?;
    let saving = Saving::of(app, &session);
    let listed = saving.store.list(&saving.whose.key)?;
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "checkpoints": listed.iter().map(|one| row_json(app, &saving, one)).collect::<Vec<_>>(),
        }));
    }
    say!("{}", heading(app, &session))?;
    if listed.is_empty() {
        return say!("No checkpoints yet.");
    }
    let mut table = Table::new([
        left("CHECKPOINT"),
        left("WHEN"),
        left("TRIGGER").drop_rank(2),
        right("TOKENS"),
        right("#").drop_rank(3),
        left("STATUS").drop_rank(1),
        left("ABOUT").cut_to(24),
    ]);
    for Listed { id, checkpoint } in &listed {
        let cells = match checkpoint {
            Ok(checkpoint) => row(app, checkpoint),
            Err(_) => {
                let mark = style("damaged").red().to_string();
                ["", "", "", "", &mark, ""].map(str::to_owned)
            }
        };
        table.row([vec![id.to_string()], cells.to_vec()].concat());
    }
    table.print(app.columns())?;
    for error in listed
        .iter()
        .filter_map(|one| one.checkpoint.as_ref().err())
    {
        note!("note: {error}");
        if let Some(remedy) = error.remedy() {
            note!("      {remedy}");
        }
    }
    Ok(())
}

fn row(app: &App, checkpoint: &Checkpoint) -> [String; 6] {
    let meta = &checkpoint.meta;
    let time = Millis::parse_iso(&meta.created_at);
    [
        time.map(|time| paint::ago(app.now(), time))
            .unwrap_or_default(),
        word(&meta.trigger),
        paint::number(meta.token_usage.input_tokens),
        meta.compaction_count.to_string(),
        word(&checkpoint.working.status),
        paint::gist(&checkpoint.working.topic, 80),
    ]
}

/// A name as it stands in the file.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

fn row_json(app: &App, saving: &Saving, listed: &Listed) -> Value {
    let checkpoint = listed.checkpoint.as_ref().ok();
    let meta = checkpoint.map(|checkpoint| &checkpoint.meta);
    json!({
        "id": listed.id.to_string(),
        "path": answer::path(&saving.path(app, listed.id)),
        "time": meta.map(|meta| &meta.created_at),
        "trigger": meta.map(|meta| meta.trigger),
        "tokens": meta.map(|meta| meta.token_usage.input_tokens),
        "window": meta.map(|meta| meta.token_usage.context_window),
        "compactions": meta.map(|meta| meta.compaction_count),
        "previous": meta.and_then(|meta| meta.previous_checkpoint).map(|id| id.to_string()),
        "status": checkpoint.map(|checkpoint| checkpoint.working.status),
        "topic": checkpoint.map(|checkpoint| &checkpoint.working.topic),
        "damaged": listed.checkpoint.as_ref().err().map(damage_json),
    })
}

fn damage_json(error: &Error) -> Value {
    let line = match error {
        Error::Damaged { flaw, .. } => flaw.line,
        _ => None,
    };
    json!({ "line": line, "message": out::redacted(&error.to_string()), "remedy": error.remedy() })
}

/// The checkpoint a command is about: the named one, or the newest that can be
/// read.
fn find(app: &App, args: &CheckpointArgs) -> Result<(Session, Saving, Checkpoint)> {
    let session = resolve::session(app, args.on.name())?;
    let saving = Saving::of(app, &session);
    let checkpoint = match args.checkpoint {
        Some(id) => named(&saving, id)?,
        None => {
            let checkpoints = saving.checkpoints();
            let latest = checkpoints.latest(&mut |event| tell(&event))?;
            let none =
                "There is no checkpoint of this session; `longhaul checkpoint create` writes one.";
            latest.ok_or_else(|| Failure::nothing(none))?
        }
    };
    Ok((session, saving, checkpoint))
}

/// One checkpoint by its name. Of a damaged one the newest that can be read is
/// named as the way out.
fn named(saving: &Saving, id: CheckpointId) -> Result<Checkpoint> {
    let key = &saving.whose.key;
    saving.store.get(key, id).map_err(|error| {
        let damaged = matches!(error, Error::Damaged { .. });
        let latest = saving.store.latest(key).ok().filter(|_| damaged);
        let failure = Failure::from(error);
        match latest.and_then(|latest| latest.checkpoint) {
            Some(latest) => {
                let id = latest.meta.checkpoint_id;
                failure.detail(format!("{id} is the newest that can be read"))
            }
            None => failure,
        }
    })
}

fn show(app: &App, args: &CheckpointArgs) -> Result {
    let (session, saving, checkpoint) = find(app, args)?;
    let id = checkpoint.meta.checkpoint_id;
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "id": id.to_string(),
            "path": answer::path(&saving.path(app, id)),
            "checkpoint": checkpoint,
        }));
    }
    out::whole(&checkpoint.to_yaml())
}

fn create(app: &App, which: &Which) -> Result {
    if app.config.sandbox.read_only {
        return Err(read_only());
    }
    let measured = measure(app, which.name(), None)?;
    let session = &measured.session;
    let saving = Saving::of(app, session);
    let config = &app.config;
    let live = Live::open_with(session, config.state_capture(), &app.keep(session))?;
    let occasion = Occasion {
        at: app.now(),
        trigger: Trigger::Manual,
        tokens: measured.tokens(),
        window: measured.window.size(),
        turn: Turn::Whole,
    };
    let checkpoints = saving.checkpoints();
    let mut written = None;
    let mut retired = Vec::new();
    let id = checkpoints.write(&live, &occasion, &mut |event| match event {
        Event::CheckpointWritten(event) => written = Some(*event),
        Event::CheckpointsRetired { checkpoints } => retired = checkpoints,
        event => tell(&event),
    })?;
    let Some(written) = written else {
        return Err(nothing!("Unchanged: {id} says the same."));
    };
    let path = saving.path(app, id);
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, session),
            "id": id.to_string(),
            "path": answer::path(&path),
            "previous": written.previous,
            "tokens": written.tokens,
            "window": measured.window.size(),
            "compactions": written.epoch,
            "decisions": written.decisions,
            "filesModified": written.files_modified,
            "filesRead": written.files_read,
            "openItems": written.open_items,
            "retired": retired,
        }));
    }
    let shown = app.show_path(&path);
    say!("{id}: {}; {shown}", events::holds(&written))?;
    if !retired.is_empty() {
        note!("removed as too old: {}", retired.join(", "));
    }
    out::note("`longhaul checkpoint show --as-restored` prints it as an agent gets it back");
    Ok(())
}

/// Prints what a restore would put into a context.
fn show_restored(app: &App, args: &CheckpointArgs) -> Result {
    let (session, _, checkpoint) = find(app, args)?;
    let config = &app.config;
    // The compaction that it was made for has happened since.
    let (epoch, wear) = worn_by(&session, &session.load()?, &app.keep(&session))?;
    let compactions = epoch.count().max(checkpoint.meta.compaction_count);
    let warning = config.spiral_warning().text(compactions, &wear);
    let how = Restoring {
        limit: config.restore.checkpoint_tokens,
        warning: warning.as_deref(),
    };
    let Some(fragment) = checkpoint.restore(&how, Estimator::O200k.counter()) else {
        return Err(fail!("{} tokens are too few for any text", how.limit)
            .help("raise `restore.checkpointTokens`"));
    };
    if app.json {
        let mut parts = serde_json::to_value(&checkpoint)?;
        if let Some(parts) = parts.as_object_mut() {
            parts.shift_remove("meta");
        }
        return out::json(&json!({
            "session": answer::session(app, &session),
            "id": checkpoint.meta.checkpoint_id.to_string(),
            "time": checkpoint.meta.created_at,
            "compactions": compactions,
            "tokens": fragment.tokens(),
            "limit": how.limit,
            "truncated": fragment.is_truncated(),
            "text": fragment.text(),
            "parts": parts,
        }));
    }
    out::whole(fragment.text())?;
    let id = checkpoint.meta.checkpoint_id;
    note!("{id} as text, {} tokens", fragment.tokens());
    Ok(())
}
