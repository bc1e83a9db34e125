//! One entry, whole: what a line of any other page leads to.

use longhaul_engine::recall::full_text;
use longhaul_engine::survey::Survey;
use longhaul_transcript::{Entry, EntryId, Session};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Shown, pins};
use crate::desk::Desk;
use crate::http::Refusal;

/// An entry of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// The session's id.
    pub session: String,
    /// The entry's id.
    pub entry: String,
    /// The entry before it.
    pub parent: Option<String>,
    /// Who speaks, or the entry's type.
    pub kind: String,
    /// When.
    pub time: Option<String>,
    /// The line of the file.
    pub line: u64,
    /// Whether it is pinned.
    pub pinned: bool,
    /// What it says, whole.
    pub text: String,
    /// The line as it is stored.
    pub stored: String,
}

impl EntryView {
    /// The entry with this id.
    pub fn of(desk: &Desk, name: &str, id: &str) -> Shown<EntryView> {
        let session = desk.shown(name)?;
        let entry = stored(&session, id)?;
        Ok(EntryView {
            session: longhaul_engine::catalog::id_of(session.reference()),
            entry: entry.id.to_string(),
            parent: entry.parent.as_ref().map(ToString::to_string),
            kind: kind(&entry),
            time: entry.time.map(|time| time.to_iso()),
            line: entry.place.line,
            pinned: pins(&Survey::of(&session, &desk.keep(&session))?).contains(&entry.id),
            text: full_text(&entry),
            stored: entry.raw().to_owned(),
        })
    }
}

/// The entry with this id, wherever in the session it is.
pub(in crate::dashboard) fn stored(session: &Session, id: &str) -> Shown<Entry> {
    let found = session.entry(&EntryId::new(id));
    found.map_err(|error| {
        Refusal::unknown(format!(
            "{error}. It may have been archived: `longhaul recall {id}` looks there too."
        ))
    })
}

/// Who speaks in an entry, or its type.
pub(super) fn kind(entry: &Entry) -> String {
    match entry.role() {
        Some(role) => role.to_string(),
        None => entry.kind().as_str().to_owned(),
    }
}
