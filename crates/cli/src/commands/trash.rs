//! `session delete` and `session undelete`: to the trash in the state folder, and back.

use longhaul_transcript::{Discarded, Trash};

use super::change::to_change;
use crate::args::RewriteArgs;
use crate::prelude::*;

pub(super) fn delete(app: &App, args: &RewriteArgs) -> Result {
    let (session, path) = to_change(app, args.which.name(), args.leave)?;
    let shown = app.show_path(&path);
    app.confirm(&format!("Move {shown} to the trash?"), args.yes)?;
    let id = resolve::id_of(session.reference());
    let name = app.stamp().id;
    let folder = Trash::below(&app.state_dir).take(&session, name.as_str(), app.now())?;
    if app.json {
        let session = answer::session(app, &session);
        return out::json(&json!({ "session": session, "trash": answer::path(&folder) }));
    }
    say!("{shown} moved to the trash")?;
    note!("`longhaul session undelete {id}` brings it back");
    Ok(())
}

pub(super) fn undelete(app: &App, id: Option<&str>) -> Result {
    let mut deleted: Vec<(String, Discarded)> = Vec::new();
    for found in Trash::below(&app.state_dir).list()? {
        match found {
            Ok(one) => deleted.push((resolve::id_of(one.session.reference()), one)),
            Err(error) => note!("note: {error}"),
        }
    }
    let Some(id) = id else {
        return list(app, &deleted);
    };
    deleted.retain(|(found, _)| found.starts_with(id));
    // Of one that was deleted twice the latest is meant.
    deleted.sort_by(|(_, one), (_, other)| one.origin.deleted.cmp(&other.origin.deleted));
    let Some((found, one)) = deleted.pop() else {
        return Err(
            fail!("no session in the trash is called {}", paint::quoted(id))
                .help("`longhaul session undelete` lists them"),
        );
    };
    if let Some((other, _)) = deleted.iter().find(|(other, _)| *other != found) {
        let what = format!("{} may be {found} or {other}", paint::quoted(id));
        return Err(Failure::usage(what).help("use more of the id"));
    }
    super::refuse_existing(&one.origin.path)?;
    one.put_back()?;
    let path = &one.origin.path;
    let value = json!({ "id": found, "path": answer::path(path) });
    app.answer(&value, format!("{} is back", app.show_path(path)))
}

fn list(app: &App, deleted: &[(String, Discarded)]) -> Result {
    if app.json {
        let one = |(id, Discarded { origin, .. }): &(String, Discarded)| {
            let path = answer::path(&origin.path);
            json!({ "id": id, "path": path, "deleted": origin.deleted })
        };
        return out::json(&json!({ "trash": deleted.iter().map(one).collect::<Vec<_>>() }));
    }
    if deleted.is_empty() {
        return Err(Failure::nothing("The trash is empty."));
    }
    let mut table = Table::new([left("SESSION"), left("DELETED"), left("FROM").cut_to(24)]);
    for (id, Discarded { origin, .. }) in deleted {
        table.row([
            id.clone(),
            origin.deleted.clone(),
            app.show_path(&origin.path),
        ]);
    }
    table.print(app.columns())
}
