//! `context diff`: what a compaction took away, what stayed, what is a pointer.

use longhaul_compaction::audit::Audit;
use longhaul_server::dashboard::views::CompactionView;

use super::measured::heading;
use crate::args::DiffArgs;
use crate::prelude::*;

pub(super) fn diff(app: &App, args: &DiffArgs) -> Result {
    let session = resolve::session(app, args.on.name())?;
    let subject = app.subject(&session);
    let Some(view) = CompactionView::of(&subject, args.compaction.as_deref())? else {
        let was_compacted = CompactionView::of(&subject, None)?.is_some();
        return Err(match &args.compaction {
            Some(name) if was_compacted => fail!("no compaction is called {name:?}").help(
                "`longhaul context history` lists them; a number or the start of an id will do",
            ),
            _ => Failure::nothing("Never compacted."),
        });
    };
    if app.json {
        return out::json(&view);
    }
    say!("{}", heading(app, &session))?;
    let compaction = &view.compaction;
    let layer = compaction.layer.as_deref().unwrap_or("by the agent");
    row!("Compaction", "{} ({layer})", compaction.entry)?;
    row!("Stayed", "{} messages, verbatim", view.stayed.len())?;
    out::row(
        "Left",
        match view.archived {
            true => "what lies in the archive; `longhaul session restore` puts it back".into(),
            false => format!(
                "{} messages; each can be recalled by its id",
                view.left.len()
            ),
        },
    )?;
    if let Some(fidelity) = &compaction.fidelity {
        out::row("Fidelity", fidelity)?;
        pointers(fidelity)?;
    }
    if view.left.is_empty() {
        return Ok(());
    }
    let mut table = Table::new([
        left("LEFT"),
        right("TOKENS"),
        left("ENTRY"),
        left("WHAT").cut_to(20),
    ]);
    for message in view.left.iter().take(args.limit) {
        table.row([
            message.role.clone(),
            paint::number(u64::from(message.tokens)),
            message.entry.clone(),
            paint::gist(&message.text, 70),
        ]);
    }
    table.print(app.columns())?;
    if view.left.len() > args.limit {
        note!("{} more; --limit shows them", view.left.len() - args.limit);
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
