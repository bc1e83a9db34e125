//! `session …`: reading, checking and changing one session.

use std::path::PathBuf;
use std::time::SystemTime;

use console::style;
use longhaul_transcript::{
    Body, Draft, Durability, Entry, EntryId, Error, Millis, Packing, Role, Session, Writer, archive,
    fork, import, liveness, restore, verify,
};
use serde_json::{Value, json};

use super::{print_json, report_faults};
use crate::app::App;
use crate::args::{
    ArchiveArgs, BranchArgs, CopyArgs, ForkArgs, LabelArgs, Leave, PinArgs, SessionCommand,
    ShowArgs, Which,
};
use crate::failure::Failure;
use crate::{paint, resolve};

pub(crate) fn run(app: &App, command: &SessionCommand) -> Result<(), Failure> {
    match command {
        SessionCommand::List(args) => super::list::list(app, args),
        SessionCommand::Show(args) => show(app, args),
        SessionCommand::Verify { which } => check(app, which),
        SessionCommand::Import(args) => copy(app, args),
        SessionCommand::Branch(args) => branch(app, args),
        SessionCommand::Fork(args) => fork_at(app, args),
        SessionCommand::Archive(args) => pack(app, args),
        SessionCommand::Restore { which, yes, leave } => unpack(app, which, *yes, *leave),
        SessionCommand::Pin(args) => pin(app, args),
        SessionCommand::Label(args) => label(app, args),
    }
}

fn show(app: &App, args: &ShowArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.which.name())?;
    if let Some(name) = &args.entry {
        let id = resolve::entry(&session.tree()?, &session, name)?;
        println!("{}", session.entry(&id)?.raw());
        return Ok(());
    }
    let tree = session.tree()?;
    let on_path: std::collections::HashSet<EntryId> = tree
        .path()
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let mut rows = Vec::new();
    let faults = session.each(&mut |entry| {
        if args.all || on_path.contains(&entry.id) {
            rows.push(Row::of(&entry, tree.labels().get(&entry.id), on_path.contains(&entry.id)));
        }
        std::ops::ControlFlow::Continue(())
    })?;
    if app.json {
        return print_json(&json!({
            "session": session_json(&session),
            "leaf": tree.leaf().map(|node| node.id.as_str()),
            "entries": rows.iter().map(Row::json).collect::<Vec<Value>>(),
            "faults": faults,
        }));
    }
    let mut table = paint::table(&["ENTRY", "WHEN", "KIND", "SIZE", "LABEL", "WHAT"]);
    for row in &rows {
        let what = paint::gist(&row.gist, 90);
        table.add_row(vec![
            row.id.clone().into(),
            row.time.map(|time| time.to_iso()[..19].replace('T', " ")).unwrap_or_default().into(),
            row.kind.clone().into(),
            paint::right(paint::bytes(row.bytes)),
            row.label.clone().unwrap_or_default().into(),
            if row.on_path { what.into() } else { style(what).dim().to_string().into() },
        ]);
    }
    paint::print_table(&table);
    report_faults(app, &faults);
    Ok(())
}

struct Row {
    id: String,
    parent: Option<String>,
    time: Option<Millis>,
    kind: String,
    bytes: u64,
    label: Option<String>,
    gist: String,
    on_path: bool,
}

impl Row {
    fn of(entry: &Entry, label: Option<&String>, on_path: bool) -> Row {
        let kind = match entry.role() {
            Some(role) => role.to_string(),
            None => entry.kind().as_str().to_owned(),
        };
        Row {
            id: entry.id.to_string(),
            parent: entry.parent.as_ref().map(EntryId::to_string),
            time: entry.time,
            kind,
            bytes: entry.raw().len() as u64,
            label: label.cloned(),
            gist: gist(entry),
            on_path,
        }
    }

    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "parentId": self.parent,
            "time": self.time.map(|time| time.to_iso()),
            "kind": self.kind,
            "bytes": self.bytes,
            "label": self.label,
            "gist": paint::gist(&self.gist, 200),
            "onPath": self.on_path,
        })
    }
}

/// What an entry is about, in a few words.
fn gist(entry: &Entry) -> String {
    match &entry.body {
        Body::Message(_) => {
            let Some(message) = entry.message() else {
                return String::new();
            };
            let text = message.text();
            let calls: Vec<String> = message
                .tool_calls()
                .iter()
                .map(|call| format!("{}({})", call.name, paint::gist(call.arguments, 60)))
                .collect();
            match message.role {
                Role::ToolResult => {
                    let mark = if message.is_error() { "failed: " } else { "" };
                    format!("{}: {mark}{text}", message.tool_name().unwrap_or_default())
                }
                _ if !calls.is_empty() => format!("{text} → {}", calls.join(", ")).trim().to_owned(),
                _ => text,
            }
        }
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

/// What every JSON answer says about its session.
pub(crate) fn session_json(session: &Session) -> Value {
    json!({
        "id": session.header().id,
        "key": session.reference().key,
        "agent": session.format().agent(),
        "format": session.format(),
        "path": session.path(),
        "workspace": session.header().cwd,
        "started": session.header().time.map(|time| time.to_iso()),
        "parentSession": session.header().parent_session,
    })
}

fn check(app: &App, which: &Which) -> Result<(), Failure> {
    let session = resolve::session(app, which.name())?;
    let report = verify(&session)?;
    if app.json {
        let mut value = serde_json::to_value(&report)?;
        value["session"] = session_json(&session);
        value["sound"] = json!(report.is_sound());
        print_json(&value)?;
    } else {
        println!("{} ({})", app.show_path(session.path()), session.format());
        paint::row("Entries", format!(
            "{} ({} on the path, {} {})",
            paint::number(report.entries),
            paint::number(report.on_path),
            report.tips,
            if report.tips == 1 { "end" } else { "branch ends" },
        ));
        paint::row("Context", format!("{} messages", paint::number(report.context_messages)));
        paint::row("Compactions", report.compactions);
        paint::row("Tool calls", format!(
            "{}, {} results",
            paint::number(report.tool_calls),
            paint::number(report.tool_results)
        ));
        for fault in &report.faults {
            println!("{} {fault}", style("✗").red());
        }
        if report.is_sound() {
            println!("{} sound", style("✓").green());
        }
    }
    if report.is_sound() {
        return Ok(());
    }
    let lost = report.faults.iter().filter(|fault| fault.kind.is_loss()).count();
    Err(Failure::new(format!(
        "{} {} in {}",
        report.faults.len(),
        if report.faults.len() == 1 { "fault" } else { "faults" },
        app.show_path(session.path())
    ))
    .help(match lost {
        0 => "nothing is lost; every entry can be read".to_owned(),
        _ => format!(
            "the other {} entries are intact; a copy without the damage: `longhaul session import`",
            paint::number(report.entries)
        ),
    }))
}

fn copy(app: &App, args: &CopyArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.which.name())?;
    let new = app.new_session();
    let target = args.output.clone().unwrap_or_else(|| app.own_session_path(&new));
    let copied = import(&session, &target, &new)?;
    if app.json {
        return print_json(&json!({
            "session": session_json(&session),
            "output": target,
            "id": new.id,
            "entries": copied.entries,
            "faults": copied.faults,
        }));
    }
    println!(
        "{} entries of {} written to {}",
        paint::number(copied.entries),
        session.format(),
        app.show_path(&target)
    );
    if copied.faults > 0 {
        app.note(&format!(
            "{} damaged places of the source are not in the copy; `longhaul session verify` names them",
            copied.faults
        ));
    }
    Ok(())
}

fn fork_at(app: &App, args: &ForkArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.on.session.as_deref())?;
    let at = match &args.entry {
        Some(name) => Some(resolve::entry(&session.tree()?, &session, name)?),
        None => None,
    };
    let new = app.new_session();
    let target = args.output.clone().unwrap_or_else(|| app.own_session_path(&new));
    let copied = fork(&session, at.as_ref(), &target, &new)?;
    if app.json {
        return print_json(&json!({
            "session": session_json(&session),
            "output": target,
            "id": new.id,
            "entries": copied.entries,
        }));
    }
    println!(
        "{} entries forked to {}",
        paint::number(copied.entries),
        app.show_path(&target)
    );
    Ok(())
}

/// The file of a session that may be written to now.
fn writable(session: &Session, leave: Leave) -> Result<PathBuf, Failure> {
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
    let age = std::fs::metadata(&path)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|time| SystemTime::now().duration_since(time).ok());
    match liveness::in_use(&path, age)? {
        Some(evidence) => Err(evidence.refusal(&path).into()),
        None => Ok(path),
    }
}

fn branch(app: &App, args: &BranchArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.on.session.as_deref())?;
    let path = writable(&session, args.leave)?;
    let target = resolve::entry(&session.tree()?, &session, &args.entry)?;
    let mut writer = Writer::open(&path, Durability::Always)?;
    let from = writer.parent().cloned();
    if from.as_ref() == Some(&target) {
        return Err(Failure::nothing(format!("{target} is the leaf already")));
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
    report_write(app, &session, &id, &format!("the session continues from {target}; {from} stays in the file"))
}

fn report_write(app: &App, session: &Session, id: &EntryId, said: &str) -> Result<(), Failure> {
    if app.json {
        return print_json(&json!({ "session": session_json(session), "entry": id.as_str() }));
    }
    println!("{said}");
    Ok(())
}

fn pack(app: &App, args: &ArchiveArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.which.name())?;
    let path = writable(&session, args.leave)?;
    let question = format!("Move everything before the boundary of {} into its archive?", app.show_path(&path));
    if !app.confirm(&question, args.yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let packing = if args.zstd { Packing::Zstd } else { Packing::Plain };
    let Some(moved) = archive(&path, packing)? else {
        return Err(Failure::nothing(
            "Nothing to archive: the session was never compacted, or all before its boundary is archived already.",
        ));
    };
    if app.json {
        return print_json(&moved);
    }
    println!(
        "{} moved to {}; the session file went from {} to {}",
        paint::bytes(moved.bytes),
        app.show_path(&moved.archive),
        paint::bytes(moved.live_before),
        paint::bytes(moved.live_after)
    );
    app.note("`longhaul session restore` puts them back");
    Ok(())
}

fn unpack(app: &App, which: &Which, yes: bool, leave: Leave) -> Result<(), Failure> {
    let session = resolve::session(app, which.name())?;
    let path = writable(&session, leave)?;
    let question = format!("Put the archived entries back into {}?", app.show_path(&path));
    if !app.confirm(&question, yes)? {
        return Err(Failure::nothing("Nothing changed."));
    }
    let Some(moved) = restore(&path)? else {
        return Err(Failure::nothing("Nothing to restore: there is no archive beside the session."));
    };
    if app.json {
        return print_json(&moved);
    }
    println!(
        "{} restored; the session file has {} now",
        paint::bytes(moved.bytes),
        paint::bytes(moved.live_after)
    );
    Ok(())
}

fn pin(app: &App, args: &PinArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.on.session.as_deref())?;
    let path = writable(&session, args.leave)?;
    let tree = session.tree()?;
    let target = resolve::entry(&tree, &session, &args.entry)?;
    let label = tree.labels().get(&target);
    let pinned = label.is_some_and(|label| is_pin(label));
    if args.remove && !pinned {
        return Err(Failure::nothing(format!("{target} is not pinned")));
    }
    if !args.remove && label.is_some() && !pinned {
        let name = label.map(String::as_str).unwrap_or_default();
        return Err(Failure::new(format!("{target} is labelled {name:?} already"))
            .help("an entry has one label; remove it first with `longhaul session label --remove`"));
    }
    let (draft, said) = if args.remove {
        let clear = Draft::Label {
            target: target.clone(),
            label: None,
        };
        (clear, format!("{target} is no longer pinned"))
    } else {
        (
            Draft::pin(target.clone(), args.note.as_deref()),
            format!("{target} is pinned"),
        )
    };
    let id = Writer::open(&path, Durability::Always)?.append(&draft, app.stamp())?;
    report_write(app, &session, &id, &said)
}

fn is_pin(label: &str) -> bool {
    label == "pin" || label.starts_with("pin:")
}

fn label(app: &App, args: &LabelArgs) -> Result<(), Failure> {
    let session = resolve::session(app, args.on.session.as_deref())?;
    let path = writable(&session, args.leave)?;
    let tree = session.tree()?;
    let target = resolve::entry(&tree, &session, &args.entry)?;
    if args.remove && !tree.labels().contains_key(&target) {
        return Err(Failure::nothing(format!("{target} has no label")));
    }
    let draft = Draft::Label {
        target: target.clone(),
        label: args.name.clone(),
    };
    let id = Writer::open(&path, Durability::Always)?.append(&draft, app.stamp())?;
    let said = match &args.name {
        Some(name) => format!("{target} is called {name:?} now"),
        None => format!("{target} has no label any more"),
    };
    report_write(app, &session, &id, &said)
}
