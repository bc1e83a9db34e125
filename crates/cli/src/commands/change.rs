//! `session branch|pin|label|rename|archive|restore`: what changes a session file.
//!
//! Each looks first whether an agent is running the session, and changes
//! nothing when there is nothing to change.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::SystemTime;

use longhaul_transcript::{
    Archived, Context, Draft, Durability, EntryId, Packing, Session, Writer, archive, has_archive,
    is_pin, restore,
};

use super::measured::heading;
use crate::args::{
    ArchiveArgs, BranchArgs, LabelArgs, Leave, PinArgs, RenameArgs, RewriteArgs, Which,
};
use crate::prelude::*;

/// The file of a session that may be written to now.
pub(super) fn writable(app: &App, session: &Session, leave: Leave) -> Result<PathBuf> {
    match leave.force && session.format().is_writable() {
        true => Ok(session.path().to_owned()),
        false => Ok(app.last_writes().writable(session, SystemTime::now())?),
    }
}

/// When written entries are forced to the disk. A command is a turn of its
/// own, so only `os` leaves it to the system.
pub(super) fn durability(app: &App) -> Durability {
    match app.config.transcript.durability {
        Durability::Os => Durability::Os,
        Durability::Always | Durability::Turn => Durability::Always,
    }
}

/// The session that a command is to change, and its file.
pub(super) fn to_change(
    app: &App,
    name: Option<&OsStr>,
    leave: Leave,
) -> Result<(Session, PathBuf)> {
    let session = resolve::session_to_write(app, name)?;
    let path = writable(app, &session, leave)?;
    Ok((session, path))
}

/// Appends one entry and says what that did.
fn append(app: &App, session: &Session, draft: &Draft, said: &str) -> Result {
    let id = Writer::open(session.path(), durability(app))?.append(draft, app.stamp())?;
    report(app, session, &id, said)
}

fn report(app: &App, session: &Session, id: &EntryId, said: &str) -> Result {
    app.last_writes().remember(session.path());
    let session = answer::session(app, session);
    app.answer(&json!({ "session": session, "entry": id.as_str() }), said)
}

pub(super) fn branch(app: &App, args: &BranchArgs) -> Result {
    let (session, path) = to_change(app, args.on.name(), args.leave)?;
    let target = resolve::entry(&session.tree()?, &session, &args.entry)?;
    let mut writer = Writer::open(&path, durability(app))?;
    let from = writer.parent().cloned();
    if from.as_ref() == Some(&target) {
        return Err(nothing!("{target} is the leaf already."));
    }
    let from = from.unwrap_or_else(|| target.clone());
    writer.branch(Some(target.clone()));
    let draft = match args.summary.is_empty() {
        true => App::branch_mark(&from),
        false => Draft::BranchSummary {
            from: from.clone(),
            summary: args.summary.clone(),
        },
    };
    let id = writer.append(&draft, app.stamp())?;
    let said = format!("the session continues from {target}; {from} stays in the file");
    report(app, &session, &id, &said)
}

pub(super) fn pin(app: &App, args: &PinArgs) -> Result {
    let (session, _) = to_change(app, args.on.name(), args.leave)?;
    let tree = session.tree()?;
    let target = resolve::entry(&tree, &session, &args.entry)?;
    let present = tree.labels().get(&target);
    let pinned = present.filter(|label| is_pin(label));
    if args.remove {
        if pinned.is_none() {
            return Err(nothing!("{target} is not pinned."));
        }
        let said = format!("{target} is no longer pinned");
        let label = None;
        return append(app, &session, &Draft::Label { target, label }, &said);
    }
    if let Some(label) = present.filter(|label| !is_pin(label)) {
        return Err(fail!("{target} is labelled {label:?} already").help(
            "an entry has one label; remove it first with `longhaul session label --remove`",
        ));
    }
    if pinned.is_some_and(|label| note(label) == args.note.as_deref()) {
        return Err(nothing!("{target} is pinned already."));
    }
    let said = format!("{target} is pinned");
    let draft = Draft::pin(target, args.note.as_deref());
    append(app, &session, &draft, &said)
}

/// Why an entry is pinned.
fn note(label: &str) -> Option<&str> {
    label.strip_prefix("pin:")
}

/// The pins of a session and what each keeps in every context.
pub(super) fn pins(app: &App, which: &Which) -> Result {
    let session = resolve::session(app, which.name())?;
    let tree = session.tree()?;
    let mut meter = app.meter();
    let mut pins = Vec::new();
    for node in tree.nodes() {
        let Some(label) = tree.labels().get(&node.id).filter(|label| is_pin(label)) else {
            continue;
        };
        let messages = Context::of_entry(&session.entry(&node.id)?);
        let tokens = meter.messages(&messages);
        let text: String = messages.iter().map(|one| one.view().text()).collect();
        pins.push((&node.id, note(label), tokens, text));
    }
    if app.json {
        let pin = |(id, note, tokens, text): &(&EntryId, Option<&str>, _, String)| {
            let gist = paint::gist(text, 200);
            json!({ "entry": id.as_str(), "note": note, "tokens": tokens, "gist": gist })
        };
        return out::json(&json!({
            "session": answer::session(app, &session),
            "pins": pins.iter().map(pin).collect::<Vec<Value>>(),
            "tokens": pins.iter().map(|(_, _, tokens, _)| *tokens).sum::<longhaul_tokens::Tokens>(),
        }));
    }
    say!("{}", heading(app, &session))?;
    if pins.is_empty() {
        return Err(Failure::nothing("Nothing is pinned."));
    }
    let columns = [
        left("ENTRY"),
        right("TOKENS"),
        left("NOTE").cut_to(12),
        left("WHAT").cut_to(24),
    ];
    let mut table = Table::new(columns);
    for (id, note, tokens, text) in &pins {
        let note = paint::gist(note.unwrap_or_default(), 40);
        table.row([
            id.to_string(),
            tokens.to_string(),
            note,
            paint::gist(text, 80),
        ]);
    }
    table.print(app.columns())
}

pub(super) fn label(app: &App, args: &LabelArgs) -> Result {
    let (session, _) = to_change(app, args.on.name(), args.leave)?;
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
    let label = args.name.clone();
    append(app, &session, &Draft::Label { target, label }, &said)
}

/// Gives a session a name, by which it is listed and found.
pub(super) fn rename(app: &App, args: &RenameArgs) -> Result {
    let (session, _) = to_change(app, args.on.name(), args.leave)?;
    let name = args.name.clone();
    let said = format!("the session is called {name:?} now");
    append(app, &session, &Draft::SessionInfo { name }, &said)
}

pub(super) fn pack(app: &App, args: &ArchiveArgs) -> Result {
    const NOTHING: &str = "Nothing to archive: the session was never compacted, or all before its \
        boundary is archived already.";
    let (session, path) = to_change(app, args.rewrite.which.name(), args.rewrite.leave)?;
    if session.load()?.boundary.is_none() {
        return Err(Failure::nothing(NOTHING));
    }
    let shown = app.show_path(&path);
    let question = format!("Move everything before the boundary of {shown} into its archive?");
    app.confirm(&question, args.rewrite.yes)?;
    let packing = match args.zstd || app.config.transcript.compress_archive {
        true => Packing::Zstd,
        false => Packing::Plain,
    };
    let Some(moved) = archive(&path, packing)? else {
        return Err(Failure::nothing(NOTHING));
    };
    app.last_writes().remember(&path);
    if app.json {
        return out::json(&moved_json(app, &session, &moved)?);
    }
    let [bytes, before, after] =
        [moved.bytes, moved.live_before, moved.live_after].map(paint::bytes);
    let to = app.show_path(&moved.archive);
    say!("{bytes} moved to {to}; the session file went from {before} to {after}")?;
    out::note("`longhaul session restore` puts them back");
    Ok(())
}

pub(super) fn unpack(app: &App, args: &RewriteArgs) -> Result {
    const NOTHING: &str = "Nothing to restore: there is no archive beside the session.";
    let (session, path) = to_change(app, args.which.name(), args.leave)?;
    if !has_archive(&path) {
        return Err(Failure::nothing(NOTHING));
    }
    let shown = app.show_path(&path);
    let question = format!("Put the archived entries back into {shown}?");
    app.confirm(&question, args.yes)?;
    let Some(moved) = restore(&path)? else {
        return Err(Failure::nothing(NOTHING));
    };
    app.last_writes().remember(&path);
    if app.json {
        return out::json(&moved_json(app, &session, &moved)?);
    }
    let [bytes, after] = [moved.bytes, moved.live_after].map(paint::bytes);
    say!("{bytes} restored; the session file has {after} now")
}

fn moved_json(app: &App, session: &Session, moved: &Archived) -> Result<Value> {
    answer::joined(json!({ "session": answer::session(app, session) }), moved)
}
