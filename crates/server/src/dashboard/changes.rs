//! What may be changed from a page, where changes are allowed at all: pins.
//!
//! A session that another program runs is not written to. Our own last write would
//! look like such a program's, so it is remembered.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{Path as Parts, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use longhaul_engine::survey::Survey;
use longhaul_transcript::{Draft, Durability, EntryId, Stamp, Writer, liveness};

use super::routes::aside;
use super::views::stored;
use super::{Shared, Writes, pages};
use crate::http::Refusal;

/// How each file was after we wrote to it.
#[derive(Debug, Default)]
pub(super) struct OwnWrites(Mutex<HashMap<PathBuf, (u64, SystemTime)>>);

impl OwnWrites {
    fn state(path: &Path) -> Option<(u64, SystemTime)> {
        let meta = std::fs::metadata(path).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    }

    fn remember(&self, path: &Path) {
        if let Some(state) = OwnWrites::state(path) {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.insert(path.to_owned(), state);
        }
    }

    /// How long ago somebody else wrote to it.
    fn age(&self, path: &Path) -> Option<Duration> {
        let state = OwnWrites::state(path)?;
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(path) == Some(&state) {
            return None;
        }
        SystemTime::now().duration_since(state.1).ok()
    }
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    const ENTRY: &str = "/sessions/{session}/entries/{entry}";
    Router::new()
        .route(&format!("{ENTRY}/pin"), post(pin))
        .route(&format!("{ENTRY}/unpin"), post(unpin))
}

type OfEntry = Parts<(String, String)>;

async fn pin(State(shared): State<Arc<Shared>>, Parts((session, entry)): OfEntry) -> Response {
    change(shared, session, entry, Pinned::Yes).await
}

async fn unpin(State(shared): State<Arc<Shared>>, Parts((session, entry)): OfEntry) -> Response {
    change(shared, session, entry, Pinned::No).await
}

#[derive(Clone, Copy, PartialEq)]
enum Pinned {
    Yes,
    No,
}

async fn change(shared: Arc<Shared>, session: String, entry: String, pinned: Pinned) -> Response {
    let done = aside(&shared, move |shared| {
        mark(shared, &session, &entry, pinned)
    });
    match done.await {
        // The page that asked is loaded anew.
        Ok(()) => (StatusCode::OK, [("hx-refresh", "true")]).into_response(),
        Err(refusal) => pages::failed(&shared.frame("", None), &refusal),
    }
}

fn mark(shared: &Shared, name: &str, entry: &str, pinned: Pinned) -> Result<(), Refusal> {
    if shared.writes == Writes::Never {
        let why = "Nothing is changed here. Start `longhaul serve --write` to allow it.";
        return Err(Refusal::new(StatusCode::FORBIDDEN, why));
    }
    let desk = &shared.desk;
    let session = desk.shown(name)?;
    let target = stored(&session, entry)?.id;
    let path = session.path().to_owned();
    if !session.format().is_writable() {
        return Err(longhaul_transcript::Error::Foreign {
            path,
            agent: session.format().agent(),
        }
        .into());
    }
    let labels = Survey::of(&session, &desk.keep(&session))?.labels();
    let label = labels.get(&target);
    let is_pin = |label: &String| label == "pin" || label.starts_with("pin:");
    let draft = match (label, pinned) {
        (None, Pinned::Yes) => Draft::pin(target, None),
        (Some(label), Pinned::No) if is_pin(label) => Draft::Label {
            target,
            label: None,
        },
        (Some(label), Pinned::Yes) if !is_pin(label) => {
            let why = format!("The entry is labelled {label:?} already; an entry has one label");
            return Err(Refusal::failed(why, Some("remove that label first".into())));
        }
        _ => return Ok(()),
    };
    if let Some(evidence) = liveness::in_use(&path, shared.own_writes.age(&path))? {
        return Err(evidence.refusal(&path).into());
    }
    let stamp = Stamp {
        id: EntryId::new(uuid::Uuid::now_v7().to_string()),
        time: (desk.now)(),
    };
    Writer::open(&path, Durability::Always)?.append(&draft, stamp)?;
    shared.own_writes.remember(&path);
    Ok(())
}
