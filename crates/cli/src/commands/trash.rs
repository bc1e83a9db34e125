//! `session delete` and `session undelete`: sessions moved to the trash in the state
//! folder, and back. Nothing is erased.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_files::{Sharing, Wait, create_folder, create_whole, names, open, read_text, remove};
use longhaul_transcript::{Packing, Session, archive_path};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer;
use super::change::to_change;
use crate::app::App;
use crate::args::RewriteArgs;
use crate::failure::Failure;
use crate::table::{Table, left};
use crate::{out, paint, resolve};

/// What is noted beside a session in the trash.
#[derive(Serialize, Deserialize)]
struct Origin {
    /// Where its file lay.
    path: PathBuf,
    /// When it was deleted.
    deleted: String,
}

type Deleted = (String, PathBuf, Origin);

const NOTE: &str = "origin.json";
const MOST_NOTE: u64 = 64 << 10;

fn trash(app: &App) -> PathBuf {
    app.state_dir.join("trash")
}

/// The file of a session and its archives.
fn files(path: &Path) -> Vec<PathBuf> {
    let archives = [Packing::Plain, Packing::Zstd].map(|packing| archive_path(path, packing));
    let there = archives.into_iter().filter(|archive| archive.exists());
    there.chain([path.to_owned()]).collect()
}

pub(super) fn delete(app: &App, args: &RewriteArgs) -> Result<(), Failure> {
    let (session, path) = to_change(app, args.which.name(), args.leave)?;
    let shown = app.show_path(&path);
    app.confirm(&format!("Move {shown} to the trash?"), args.yes)?;
    let id = resolve::id_of(session.reference());
    let folder = trash(app).join(app.stamp().id.as_str());
    create_folder(&folder)?;
    let origin = Origin {
        path: path.clone(),
        deleted: app.now().to_iso(),
    };
    let note = serde_json::to_string_pretty(&origin)?;
    longhaul_files::replace(&folder.join(NOTE), note.as_bytes())?;
    move_all(&path, &folder)?;
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "trash": answer::path(&folder),
        }));
    }
    say!("{shown} moved to the trash")?;
    app.note(&format!("`longhaul session undelete {id}` brings it back"));
    Ok(())
}

pub(super) fn undelete(app: &App, id: Option<&str>) -> Result<(), Failure> {
    let folders = names(&trash(app))?;
    let mut deleted = Vec::new();
    for folder in folders.iter().map(|name| trash(app).join(name)) {
        match found(&folder) {
            Ok(one) => deleted.push(one),
            Err(failure) => app.note(&format!("note: {failure}")),
        }
    }
    let Some(id) = id else {
        return list(app, &deleted);
    };
    deleted.retain(|(found, ..)| found.starts_with(id));
    // Of one that was deleted twice the latest is meant.
    deleted.sort_by(|(.., one), (.., other)| one.deleted.cmp(&other.deleted));
    let Some((found, file, origin)) = deleted.pop() else {
        let what = format!("no session in the trash is called {}", paint::quoted(id));
        return Err(Failure::new(what).help("`longhaul session undelete` lists them"));
    };
    if let Some((other, ..)) = deleted.iter().find(|(other, ..)| *other != found) {
        let what = format!("{} may be {found} or {other}", paint::quoted(id));
        return Err(Failure::usage(what).help("use more of the id"));
    }
    super::refuse_existing(&origin.path)?;
    let folder = origin.path.parent().unwrap_or(Path::new("/"));
    create_folder(folder)?;
    move_all(&file, folder)?;
    let rest = file.parent().unwrap_or(&file);
    longhaul_files::remove_folder(rest)?;
    if app.json {
        let path = answer::path(&origin.path);
        return out::json(&json!({ "id": found, "path": path }));
    }
    say!("{} is back", app.show_path(&origin.path))
}

/// A session in the trash: its id, its file there, and where it was.
fn found(folder: &Path) -> Result<Deleted, Failure> {
    let origin: Origin = serde_json::from_str(&read_text(&folder.join(NOTE), MOST_NOTE)?)?;
    let file = folder.join(origin.path.file_name().unwrap_or_default());
    let id = resolve::id_of(Session::open(&file)?.reference());
    Ok((id, file, origin))
}

fn list(app: &App, deleted: &[Deleted]) -> Result<(), Failure> {
    if app.json {
        let one = |(id, _, origin): &Deleted| {
            let path = answer::path(&origin.path);
            json!({ "id": id, "path": path, "deleted": origin.deleted })
        };
        return out::json(&json!({ "trash": deleted.iter().map(one).collect::<Vec<_>>() }));
    }
    if deleted.is_empty() {
        return Err(Failure::nothing("The trash is empty."));
    }
    let mut table = Table::new([left("SESSION"), left("DELETED"), left("FROM").cut_to(24)]);
    for (id, _, origin) in deleted {
        table.row([
            id.clone(),
            origin.deleted.clone(),
            app.show_path(&origin.path),
        ]);
    }
    table.print(app.columns())
}

/// Moves a session's file, which nobody may be writing to, and its archives: the
/// file last, so that what is cut short is still a session where it was.
fn move_all(path: &Path, folder: &Path) -> Result<(), Failure> {
    let file = open(path)?;
    longhaul_files::lock(&file, path, Sharing::Alone, Wait::Never)?;
    for from in files(path) {
        let to = folder.join(from.file_name().unwrap_or_default());
        match longhaul_files::rename(&from, &to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                create_whole(&to, &mut |out| {
                    let mut from = open(&from).map_err(longhaul_files::Error::into_io)?;
                    io::copy(&mut from, out).map(drop)
                })?;
                remove(&from)?;
            }
            moved => moved?,
        }
    }
    Ok(())
}
