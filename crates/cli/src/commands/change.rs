//! `session branch|pin|label|archive|restore`: what changes a session file.
//!
//! Each looks first whether an agent is running the session, and changes
//! nothing when there is nothing to change.

use std::path::PathBuf;

use longhaul_transcript::{
    Archived, Draft, Durability, EntryId, Error, Packing, Session, Writer, archive, archive_path,
    liveness, restore,
};
use serde_json::json;

use super::answer;
use crate::app::App;
use crate::args::{ArchiveArgs, BranchArgs, LabelArgs, Leave, PinArgs, Which};
use crate::failure::Failure;
use crate::out::{self, say};
use crate::{own_write, paint, resolve};

/// The file of a session that may be written to now.
pub(super) fn writable(app: &App, session: &Session, leave: Leave) -> Result<PathBuf, Failure> {
    if !session.format().is_writable() {
        return Err(Error::Foreign {
            path: session.path().to_owned(),
            agent: session.format().agent(),
        }
        .into());
    }
    let path = session.path().to_owned();
    if leave.force {
        return Ok(path);
    }
    let tells = !own_write::is_ours(app, &path) && !own_write::shows_its_use(app, &path);
    let age = App::since_written(&path).filter(|_| tells);
    match liveness::in_use(&path, age)? {
        Some(evidence) => Err(evidence.refusal(&path).into()),
        None => Ok(path),
    }
}

/// When written entries are forced to the disk. A command is a turn of its
/// own, so only `os` leaves it to the system.
pub(super) fn durability(app: &App) -> Durability {
    match app.config.config.transcript.durability {
        Durability::Os => Durability::Os,
        Durability::Always | Durability::Turn => Durability::Always,
    }
}

pub(super) fn branch(app: &App, args: &BranchArgs) -> Result<(), Failure> {
    let session = resolve::session_to_write(app, args.on.name())?;
    let path = writable(app, &session, args.leave)?;
    let target = resolve::entry(&session.tree()?, &session, &args.entry)?;
    let mut writer = Writer::open(&path, durability(app))?;
    let from = writer.parent().cloned();
    if from.as_ref() == Some(&target) {
        return Err(Failure::nothing(format!("{target} is the leaf already.")));
    }
    let from = from.unwrap_or_else(|| target.clone());
    writer.branch(Some(target.clone()));
    let draft = if args.summary.is_empty() {
        App::branch_mark(&from)
    } else {
        Draft::BranchSummary {
            from: from.clone(),
            summary: args.summary.clone(),
        }
    };
    let id = writer.append(&draft, app.stamp())?;
    let said = format!("the session continues from {target}; {from} stays in the file");
    report(app, &session, &id, &said)
}

pub(super) fn pin(app: &App, args: &PinArgs) -> Result<(), Failure> {
    let session = resolve::session_to_write(app, args.on.name())?;
    let path = writable(app, &session, args.leave)?;
    let tree = session.tree()?;
    let target = resolve::entry(&tree, &session, &args.entry)?;
    let present = tree.labels().get(&target).map(String::as_str);
    let wanted = match &args.note {
        _ if args.remove => None,
        Some(note) => Some(format!("pin:{note}")),
        None => Some(String::from("pin")),
    };
    match present {
        Some(label) if !is_pin(label) && !args.remove => {
            return Err(Failure::new(format!("{target} is labelled {label:?} already")).help(
                "an entry has one label; remove it first with `longhaul session label --remove`",
            ));
        }
        Some(label) if wanted.as_deref() == Some(label) => {
            return Err(Failure::nothing(format!("{target} is pinned already.")));
        }
        None if args.remove => return Err(Failure::nothing(format!("{target} is not pinned."))),
        Some(label) if args.remove && !is_pin(label) => {
            return Err(Failure::nothing(format!("{target} is not pinned.")));
        }
        _ => {}
    }
    let said = match args.remove {
        true => format!("{target} is no longer pinned"),
        false => format!("{target} is pinned"),
    };
    let draft = match wanted {
        Some(_) => Draft::pin(target, args.note.as_deref()),
        None => Draft::Label {
            target,
            label: None,
        },
    };
    let id = Writer::open(&path, durability(app))?.append(&draft, app.stamp())?;
    report(app, &session, &id, &said)
}

fn is_pin(label: &str) -> bool {
    label == "pin" || label.starts_with("pin:")
}

pub(super) fn label(app: &App, args: &LabelArgs) -> Result<(), Failure> {
    let session = resolve::session_to_write(app, args.on.name())?;
    let path = writable(app, &session, args.leave)?;
    let tree = session.tree()?;
    let target = resolve::entry(&tree, &session, &args.entry)?;
    let present = tree.labels().get(&target);
    if present == args.name.as_ref() {
        return Err(Failure::nothing(match present {
            Some(name) => format!("{target} is called {name:?} already."),
            None => format!("{target} has no label."),
        }));
    }
    let said = match &args.name {
        Some(name) => format!("{target} is called {name:?} now"),
        None => format!("{target} has no label any more"),
    };
    let draft = Draft::Label {
        target,
        label: args.name.clone(),
    };
    let id = Writer::open(&path, durability(app))?.append(&draft, app.stamp())?;
    report(app, &session, &id, &said)
}

fn report(app: &App, session: &Session, id: &EntryId, said: &str) -> Result<(), Failure> {
    own_write::remember(app, session.path());
    if app.json {
        return out::json(&json!({ "session": answer::session(session), "entry": id.as_str() }));
    }
    say!("{said}")
}

pub(super) fn pack(app: &App, args: &ArchiveArgs) -> Result<(), Failure> {
    const NOTHING: &str = "Nothing to archive: the session was never compacted, or all before its \
        boundary is archived already.";
    let session = resolve::session_to_write(app, args.which.name())?;
    let path = writable(app, &session, args.leave)?;
    if session.load()?.boundary.is_none() {
        return Err(Failure::nothing(NOTHING));
    }
    let question = format!(
        "Move everything before the boundary of {} into its archive?",
        app.show_path(&path)
    );
    if !app.confirm(&question, args.yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let packing = match args.zstd || app.config.config.transcript.compress_archive {
        true => Packing::Zstd,
        false => Packing::Plain,
    };
    let Some(moved) = archive(&path, packing)? else {
        return Err(Failure::nothing(NOTHING));
    };
    own_write::remember(app, &path);
    if app.json {
        return out::json(&moved_json(&session, &moved));
    }
    say!(
        "{} moved to {}; the session file went from {} to {}",
        paint::bytes(moved.bytes),
        app.show_path(&moved.archive),
        paint::bytes(moved.live_before),
        paint::bytes(moved.live_after)
    )?;
    app.note("`longhaul session restore` puts them back");
    Ok(())
}

pub(super) fn unpack(app: &App, which: &Which, yes: bool, leave: Leave) -> Result<(), Failure> {
    const NOTHING: &str = "Nothing to restore: there is no archive beside the session.";
    let session = resolve::session_to_write(app, which.name())?;
    let path = writable(app, &session, leave)?;
    let archived = [Packing::Plain, Packing::Zstd];
    if !archived
        .iter()
        .any(|packing| archive_path(&path, *packing).exists())
    {
        return Err(Failure::nothing(NOTHING));
    }
    let question = format!(
        "Put the archived entries back into {}?",
        app.show_path(&path)
    );
    if !app.confirm(&question, yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let Some(moved) = restore(&path)? else {
        return Err(Failure::nothing(NOTHING));
    };
    own_write::remember(app, &path);
    if app.json {
        return out::json(&moved_json(&session, &moved));
    }
    say!(
        "{} restored; the session file has {} now",
        paint::bytes(moved.bytes),
        paint::bytes(moved.live_after)
    )
}

fn moved_json(session: &Session, moved: &Archived) -> serde_json::Value {
    json!({
        "session": answer::session(session),
        "archive": answer::path(&moved.archive),
        "bytes": moved.bytes,
        "liveBefore": moved.live_before,
        "liveAfter": moved.live_after,
    })
}
