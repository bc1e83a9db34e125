//! `dream promote|reject`: what becomes of candidates.

use longhaul_memory::dream::{Candidate, Change, DiffLine, Dreams, PageChange, diff};
use longhaul_server::dashboard::views::FilePatch;

use super::super::memory_folder::writing;
use super::{locked, named, recalls, settings};
use crate::args::{EditArgs, MergeArgs, PromoteArgs, RejectArgs};
use crate::prelude::*;

pub(super) fn promote(app: &App, args: &PromoteArgs) -> Result {
    let memory = writing(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let lock = locked(&dreams)?;
    let candidates = dreams.candidates()?;
    let ids = all_named(&candidates, &args.ids)?;
    let recalls = recalls(&dreams)?;
    let (now, settings) = (app.zoned(), settings(app, &recalls));
    for id in &ids {
        let planned = dreams.plan(id, &now, &settings)?;
        if !args.yes && !app.json {
            show_replaced(&candidates, id)?;
            for page in &planned.pages {
                show(page)?;
            }
        }
    }
    let what = paint::plural(ids.len() as u64, "candidate");
    app.confirm(&format!("Promote {what}?"), args.yes)?;
    let mut changes = Vec::new();
    for id in &ids {
        changes.push(dreams.promote(&lock, id, &now, &settings)?);
    }
    if app.json {
        return out::json(&json!({
            "workspace": answer::path(memory.root()),
            "promoted": changes.iter().map(made).collect::<Vec<_>>(),
        }));
    }
    for change in &changes {
        say!("{}  {}", style("promoted").green(), change.candidate)?;
        for turn in &change.turns {
            if turn.id != change.candidate {
                let name = turn.after.as_ref();
                say!("{}  {}", style(format!("{name:<8}")).yellow(), turn.id)?;
            }
        }
    }
    out::note("`longhaul dream undo` takes the latest back");
    Ok(())
}

/// The ids that are meant, each once.
fn all_named(candidates: &[Candidate], names: &[String]) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for name in names {
        let id = named(candidates, name)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Prints what a candidate takes the place of.
fn show_replaced(candidates: &[Candidate], id: &str) -> Result {
    let chosen = candidates.iter().find(|one| one.id == id);
    for old in chosen.iter().flat_map(|one| one.in_place_of(candidates)) {
        let line = format!("{id}, in place of {}", old.with_days());
        say!("{line}")?;
    }
    Ok(())
}

fn made(change: &Change) -> Value {
    json!({
        "id": change.candidate,
        "change": change.number,
        "files": FilePatch::of(change),
        "turns": change.turns.iter().map(|turn| json!({
            "id": turn.id,
            "from": turn.before.as_ref(),
            "to": turn.after.as_ref(),
        })).collect::<Vec<_>>(),
    })
}

pub(super) fn reject(app: &App, args: &RejectArgs) -> Result {
    let memory = writing(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let lock = locked(&dreams)?;
    let ids = all_named(&dreams.candidates()?, &args.ids)?;
    dreams.reject_all(&lock, &ids, app.zoned().date())?;
    if app.json {
        return out::json(&json!({
            "workspace": answer::path(memory.root()),
            "rejected": ids,
        }));
    }
    for id in &ids {
        say!("{}  {id}", style("rejected").red())?;
    }
    Ok(())
}

pub(super) fn merge(app: &App, args: &MergeArgs) -> Result {
    let memory = writing(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let lock = locked(&dreams)?;
    let candidates = dreams.candidates()?;
    let (one, other) = (
        named(&candidates, &args.id)?,
        named(&candidates, &args.other)?,
    );
    let stays = dreams.merge(&lock, &one, &other)?;
    let leaves = if stays == one { other } else { one };
    let workspace = answer::path(memory.root());
    let value = json!({ "workspace": workspace, "stays": stays, "leaves": leaves });
    let merged = style("merged").green();
    app.answer(&value, format!("{merged}  {leaves}, in its place {stays}"))
}

pub(super) fn edit(app: &App, args: &EditArgs) -> Result {
    let memory = writing(app)?;
    let dreams = Dreams::new(&app.state_dir, &memory);
    let lock = locked(&dreams)?;
    let id = named(&dreams.candidates()?, &args.id)?;
    dreams.reword(&lock, &id, &args.text)?;
    let candidates = dreams.candidates()?;
    let wording = candidates.iter().find(|one| one.id == id);
    let wording = wording.map(Candidate::wording).unwrap_or_default();
    let workspace = answer::path(memory.root());
    let value = json!({ "workspace": workspace, "id": id, "wording": wording });
    let edited = style("edited").green();
    app.answer(&value, format!("{edited}  {id}  {wording}"))
}

/// Prints what becomes of a file.
pub(super) fn show(page: &PageChange) -> Result {
    say!("{}", style(&page.file).bold())?;
    for line in shown(page) {
        say!("{line}")?;
    }
    Ok(())
}

/// The lines that change, in colours.
pub(super) fn shown(page: &PageChange) -> Vec<String> {
    let (before, after) = page.shown();
    diff(&before, &after)
        .into_iter()
        .map(|line| match line {
            DiffLine::Same(text) => format!("    {}", style(tamed(text)).dim()),
            DiffLine::Removed(text) => style(format!("  - {}", tamed(text))).red().to_string(),
            DiffLine::Added(text) => style(format!("  + {}", tamed(text))).green().to_string(),
            DiffLine::Gap => format!("    {}", style("…").dim()),
        })
        .collect()
}

fn tamed(text: &str) -> String {
    text.trim_end().to_owned()
}
