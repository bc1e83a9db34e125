//! `dream undo`: promotions taken back, the latest or any other.

use longhaul_memory::dream::{Dreams, Left, Past, Undoing};
use longhaul_server::dashboard::views::{FilePatch, without_secrets};
use longhaul_transcript::Millis;

use super::super::memory_folder::{reading, writing};
use super::change::show;
use super::{half_done, locked, named, recalls, settings};
use crate::args::UndoArgs;
use crate::prelude::*;

pub(super) fn undo(app: &App, args: &UndoArgs) -> Result {
    if args.list {
        return list(app);
    }
    let memory = writing(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let lock = locked(&dreams)?;
    let recalls = recalls(&dreams)?;
    let settings = settings(app, &recalls);
    let past = dreams.past(&settings)?;
    let meant = match &args.id {
        Some(name) => Some(meant(&dreams, &past, name)?),
        None => past
            .iter()
            .find(|one| !matches!(one.undoing, Undoing::Done(_))),
    };
    let Some(meant) = meant else {
        let error = longhaul_memory::Error::NothingToUndo;
        return Err(Failure::nothing(error.to_string()));
    };
    if let Undoing::Possible(left) = &meant.undoing
        && !args.yes
    {
        for line in left {
            note!("note: {}", stays(line));
        }
    }
    if !matches!(meant.undoing, Undoing::Refused(_) | Undoing::Done(_)) {
        let (what, number) = (&meant.change.candidate, meant.change.number);
        let question = format!("Take the promotion of {what} (change {number}) back?");
        app.confirm(&question, args.yes)?;
    }
    let at = app.zoned().timestamp();
    let undone = dreams.undo(&lock, Some(meant.change.number), at, &settings)?;
    let change = &undone.change;
    if app.json {
        return out::json(&json!({
            "workspace": answer::path(memory.root()),
            "undone": change.undoes,
            "candidate": change.candidate,
            "files": FilePatch::of(change),
            "left": without_secrets(undone.left.clone()),
        }));
    }
    for page in &change.pages {
        show(page)?;
    }
    say!("{}  {}", style("taken back").green(), change.candidate)?;
    for line in &undone.left {
        note!("note: {}", stays(line));
    }
    Ok(())
}

fn stays(line: &Left) -> String {
    let text = out::redacted(&line.text);
    format!(
        "{}:{} was edited by hand and stays: “{text}”",
        line.file, line.line
    )
}

/// The promotion that is meant: by the number of its change, or the latest of a
/// candidate, first of all one that stands.
fn meant<'a>(dreams: &Dreams<'_>, past: &'a [Past], name: &str) -> Result<&'a Past> {
    let bare = name.strip_prefix('#').unwrap_or(name);
    // What has eight digits is an id whose letters are digits by chance.
    if let Ok(number) = bare.parse::<u32>()
        && bare.len() < 8
    {
        let found = past.iter().find(|one| one.change.number == number);
        return found.ok_or_else(|| longhaul_memory::Error::NoChange { number }.into());
    }
    let id = named(&dreams.candidates()?, name)?;
    let of = |one: &&Past| one.change.candidate == id;
    let stands = |one: &&Past| of(one) && !matches!(one.undoing, Undoing::Done(_));
    let found = past.iter().find(stands);
    found.or(past.iter().find(of)).ok_or_else(|| {
        usage!("{id} was not promoted").help("`longhaul dream undo --list` shows what was")
    })
}

fn list(app: &App) -> Result {
    let memory = reading(app)?;
    let view = app.dreaming(&memory).promotions()?;
    view.unfinished.iter().for_each(|told| half_done(told));
    if app.json {
        return out::json(&view);
    }
    if view.changes.is_empty() {
        return Err(Failure::nothing("nothing was promoted yet"));
    }
    for one in &view.changes {
        let at = Millis::parse_iso(&one.at).unwrap_or(app.now());
        say!(
            "{}  {}  {}  {}",
            style(format!("{:>4}", one.change)).bold(),
            style(&one.candidate).cyan(),
            style(paint::ago(app.now(), at)).dim(),
            one.text.as_deref().unwrap_or_default()
        )?;
        for line in &one.left {
            say!("      {}", style(stays(line)).yellow())?;
        }
        if let Some(by) = one.undone_by {
            let told = format!("taken back by change {by}");
            say!("      {}", style(told).dim())?;
        }
        if let Some(refused) = &one.refused {
            say!("      {}", style(&refused.message).red())?;
            if let Some(remedy) = &refused.remedy {
                say!("      {}", style(remedy).dim())?;
            }
        }
    }
    out::note("`longhaul dream undo NUMBER` takes one of them back");
    Ok(())
}
