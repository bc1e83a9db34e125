//! Which session is meant: by key, id, label, or as the newest of a folder.

use std::path::Path;

use longhaul_transcript::import::Listed;
use longhaul_transcript::{Body, Session, SessionRef};

use super::Catalog;

/// Which session a name means.
#[derive(Debug, Clone, PartialEq)]
pub enum Meant<'a> {
    /// This one; so many share the name where it is a key, and it is the newest.
    One(&'a Listed, usize),
    /// None is called so.
    Nobody,
    /// Any of these, newest first.
    Several(Vec<&'a Listed>),
}

impl Catalog {
    /// The session that a name means. Those that share a key are one session
    /// after the other, so that the newest is meant; those that only begin alike
    /// are not.
    pub fn meant(&self, name: &str) -> Meant<'_> {
        let called = self.called(name);
        let shares = |found: &&Listed| {
            let reference = &found.reference;
            let key = reference.key.as_deref() == Some(name) || id_of(reference) == name;
            key || has_id(reference, name)
        };
        match called.as_slice() {
            [] => Meant::Nobody,
            [only] => Meant::One(only, 1),
            several if several.iter().all(shares) => Meant::One(several[0], several.len()),
            _ => Meant::Several(called),
        }
    }

    /// The sessions that a name may mean: those with this key or id; else those
    /// whose key or id starts so, and of several those that have the very name
    /// in their header; else those that have it as a label, a name or
    /// in their header.
    fn called(&self, name: &str) -> Vec<&Listed> {
        let named = |is: &dyn Fn(&str) -> bool| {
            self.those(|reference| {
                is(&id_of(reference)) || reference.key.as_deref().is_some_and(is)
            })
        };
        let mut matches = named(&|own| own == name);
        if name.is_empty() {
            return matches;
        }
        if matches.is_empty() {
            matches = named(&|own| own.starts_with(name));
        }
        // A file's name may be the id with something added: `T-1f3a` is `T`,
        // even where there is a `T2-77c0`.
        let mut very = matches.clone();
        very.retain(|found| matches.len() > 1 && has_id(&found.reference, name));
        if !very.is_empty() {
            matches = very;
        }
        if matches.is_empty() {
            matches = self.those(|reference| is_inside(reference, name));
        }
        matches
    }

    fn those(&self, is: impl Fn(&SessionRef) -> bool) -> Vec<&Listed> {
        let sessions = self.sessions.iter();
        sessions.filter(|found| is(&found.reference)).collect()
    }

    /// The sessions that have this id in their header: copies and forks may have
    /// that of the one they come from.
    pub fn headed(&self, id: &str) -> Vec<&Listed> {
        self.those(|reference| has_id(reference, id))
    }

    /// The sessions that ran in a folder, newest first.
    pub fn ran_in(&self, workspace: &Path) -> Vec<&Listed> {
        self.those(|reference| belongs_to(reference, workspace))
    }

    /// The newest session that ran in a folder.
    pub fn newest_in(&self, workspace: &Path) -> Option<&Listed> {
        let here = |found: &&Listed| belongs_to(&found.reference, workspace);
        self.sessions.iter().find(here)
    }
}

/// Whether a session ran in a folder, by its header.
pub fn belongs_to(reference: &SessionRef, workspace: &Path) -> bool {
    let same = |cwd: &Path| {
        // A workspace may be reached through a link.
        cwd == workspace
            || (cwd.file_name() == workspace.file_name()
                && cwd.canonicalize().is_ok_and(|cwd| {
                    workspace
                        .canonicalize()
                        .is_ok_and(|workspace| cwd == workspace)
                }))
    };
    Session::open_ref(reference)
        .is_ok_and(|session| session.header().cwd.as_deref().is_some_and(same))
}

/// The id a session goes by in lists: the store's, or the one in its file name.
pub fn id_of(reference: &SessionRef) -> String {
    if let Some(session) = &reference.session {
        return session.clone();
    }
    let stem = reference
        .path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    // pi: <time>_<id>; Codex: rollout-<time>-<uuid>.
    if let Some((time, id)) = stem.split_once('_')
        && is_file_time(time)
    {
        return id.to_owned();
    }
    if let Some(rest) = stem.strip_prefix("rollout-")
        && let Some(at) = rest.len().checked_sub(36)
        && rest.is_char_boundary(at)
    {
        return rest[at..].to_owned();
    }
    stem
}

/// The id an open session goes by in lists; the one in its header where it is in
/// no file.
pub fn listed_id(session: &Session) -> String {
    let id = id_of(session.reference());
    match id.is_empty() {
        true => session.header().id.clone(),
        false => id,
    }
}

/// A time as pi writes it into file names: `2026-11-15T01-17-46-156Z`.
fn is_file_time(text: &str) -> bool {
    text.len() >= 19
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"-TZ".contains(&byte))
        && text.as_bytes().get(10) == Some(&b'T')
}

fn has_id(reference: &SessionRef, id: &str) -> bool {
    Session::open_ref(reference).is_ok_and(|session| session.header().id == id)
}

/// Labels, session names and the header's id stand inside the files, so this
/// reads the start and the end of each; it is asked last.
fn is_inside(reference: &SessionRef, name: &str) -> bool {
    const LOOK: u64 = 256 * 1024;
    let Ok(session) = Session::open_ref(reference) else {
        return false;
    };
    session.header().id == name
        || session.tail(LOOK).is_ok_and(|tail| {
            tail.entries.iter().any(|entry| match &entry.body {
                Body::SessionInfo { name: found } => found.as_deref() == Some(name),
                Body::Label { label, .. } => label.as_deref() == Some(name),
                _ => false,
            })
        })
}
