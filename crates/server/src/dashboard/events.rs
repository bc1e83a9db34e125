//! What happens while a page is open: sessions that grow, begin or go.
//!
//! The agents' files are looked at every two seconds, and only while somebody
//! listens. An event names the sessions; the page fetches what it shows anew.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::{Stream, stream};
use longhaul_engine::catalog::id_of;
use longhaul_transcript::Millis;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::desk::Desk;

const PAUSE: Duration = Duration::from_secs(2);
/// Events that a slow listener may be behind; then it is told to load anew.
const BEHIND: usize = 64;
/// One event names no more sessions.
const NAMED: usize = 50;

/// Looks at the sessions while anybody listens.
pub(super) struct Watching {
    desk: Arc<Desk>,
    told: broadcast::Sender<String>,
    is_running: Arc<AtomicBool>,
    cancel: CancellationToken,
}

impl Watching {
    pub(super) fn new(desk: &Arc<Desk>, cancel: CancellationToken) -> Watching {
        Watching {
            desk: Arc::clone(desk),
            told: broadcast::channel(BEHIND).0,
            is_running: Arc::default(),
            cancel,
        }
    }

    fn listen(&self) -> broadcast::Receiver<String> {
        let listener = self.told.subscribe();
        if !self.is_running.swap(true, Ordering::SeqCst) {
            let (desk, told) = (Arc::clone(&self.desk), self.told.clone());
            let (is_running, cancel) = (Arc::clone(&self.is_running), self.cancel.clone());
            tokio::spawn(async move {
                loop {
                    watch(Arc::clone(&desk), &told, &cancel).await;
                    is_running.store(false, Ordering::SeqCst);
                    // Somebody may have begun to listen just as nobody did any more.
                    let is_wanted = told.receiver_count() > 0 && !cancel.is_cancelled();
                    if !is_wanted || is_running.swap(true, Ordering::SeqCst) {
                        return;
                    }
                }
            });
        }
        listener
    }
}

type Seen = HashMap<(PathBuf, Option<String>), (u64, Option<Millis>)>;

async fn watch(desk: Arc<Desk>, told: &broadcast::Sender<String>, cancel: &CancellationToken) {
    let mut before: Option<Seen> = None;
    while told.receiver_count() > 0 {
        let looked = {
            let desk = Arc::clone(&desk);
            tokio::task::spawn_blocking(move || look(&desk, before)).await
        };
        let Ok((seen, changed)) = looked else { return };
        before = Some(seen);
        if !changed.is_empty() {
            let changed = serde_json::json!({ "sessions": changed });
            // Who has gone need not be told.
            let _ = told.send(changed.to_string());
        }
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

fn look(desk: &Desk, before: Option<Seen>) -> (Seen, Vec<String>) {
    let catalog = desk.catalog();
    let mut changed = Vec::new();
    let mut seen = Seen::with_capacity(catalog.sessions.len());
    for found in &catalog.sessions {
        let reference = &found.reference;
        let place = (reference.path.clone(), reference.session.clone());
        let state = (found.bytes, found.modified);
        let is_same = before
            .as_ref()
            .is_none_or(|before| before.get(&place) == Some(&state));
        if !is_same && changed.len() < NAMED {
            changed.push(id_of(reference));
        }
        seen.insert(place, state);
    }
    let gone = before.is_some_and(|before| before.keys().any(|place| !seen.contains_key(place)));
    if gone && changed.is_empty() {
        changed.push(String::new());
    }
    (seen, changed)
}

/// The events, for as long as the page listens.
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let cancel = shared.watching.cancel.clone();
    let listener = shared.watching.listen();
    let stream = stream::unfold((listener, cancel), |(mut listener, cancel)| async {
        let told = tokio::select! {
            () = cancel.cancelled() => return None,
            told = listener.recv() => told,
        };
        let event = match told {
            Ok(changed) => Event::default().event("changed").data(changed),
            Err(RecvError::Lagged(_)) => Event::default().event("changed").data("{}"),
            Err(RecvError::Closed) => return None,
        };
        Some((Ok(event), (listener, cancel)))
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}
