//! What may be changed from a page, where changes are allowed at all: pins.
//!
//! A session that another program runs is not written to. Our own last write would
//! look like such a program's, so it is remembered.

use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::extract::{Path as Parts, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use longhaul_engine::survey::Survey;
use longhaul_transcript::{Draft, Durability, EntryId, LastWrites, Stamp, Writer, is_pin};

use super::routes::aside;
use super::views::stored;
use super::{Shared, Writes, pages};
use crate::http::Refusal;

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
    let labels = Survey::of(&session, &desk.keep(&session))?.labels();
    let label = labels.get(&target);
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
    let last_writes = LastWrites::below(&desk.state_dir);
    let path = last_writes.writable(&session, SystemTime::now())?;
    let stamp = Stamp {
        id: EntryId::new(uuid::Uuid::now_v7().to_string()),
        time: (desk.now)(),
    };
    Writer::open(&path, Durability::Always)?.append(&draft, stamp)?;
    last_writes.remember(&path);
    Ok(())
}
