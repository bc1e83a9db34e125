//! The pages and what leads to each.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use longhaul_engine::measure::Meter;
use longhaul_engine::timeline::Timeline;
use maud::Markup;
use serde::Deserialize;

use super::pages::{self, Frame};
use super::views::{
    CompactionView, Compactions, ContextView, DreamsView, EntryView, FoundView, MemoryView,
    Promotions, Question, SessionRow, Sessions, Subject, Wanted,
};
use super::{Shared, Writes, aside, changes, events};
use crate::http::Refusal;

pub(super) fn pages() -> Router<Arc<Shared>> {
    Router::new()
        .route("/", get(sessions))
        .route("/sessions/{session}", get(timeline))
        .route("/sessions/{session}/requests/{number}", get(request))
        .route("/sessions/{session}/context", get(context))
        .route("/sessions/{session}/compactions", get(compactions))
        .route("/sessions/{session}/compactions/{number}", get(compaction))
        .route("/sessions/{session}/entries/{entry}", get(entry))
        .route("/search", get(search))
        .route("/memory", get(memory))
        .route("/dreams", get(dreams))
        .route("/events", get(events::events))
}

impl Shared {
    pub(super) fn frame<'a>(
        &self,
        tab: &'static str,
        session: Option<(&'a str, &'a str)>,
    ) -> Frame<'a> {
        Frame {
            now: self.desk.now(),
            csrf: (self.writes == Writes::WhereAsked).then(|| self.access.csrf()),
            session,
            tab,
        }
    }

    /// What a compaction left.
    pub(super) fn compaction(&self, name: &str, which: &str) -> Result<CompactionView, Refusal> {
        let session = self.desk.shown(name)?;
        let view = CompactionView::of(&Subject::at(&self.desk, &session), Some(which))?;
        view.ok_or_else(|| {
            Refusal::unknown(format!("This session has no compaction called {which:?}."))
        })
    }

    /// The row of a session, as the list has it.
    pub(super) fn row(&self, name: &str) -> Result<SessionRow, Refusal> {
        let session = self.desk.shown(name)?;
        let catalog = self.desk.catalog();
        let reference = session.reference();
        let is_its = |found: &&longhaul_transcript::import::Listed| {
            found.reference.path == reference.path && found.reference.session == reference.session
        };
        let found = catalog.sessions.iter().find(is_its);
        let found = found.ok_or_else(|| Refusal::unknown("The session has gone."))?;
        let row = self.glances.row(&self.desk, found);
        Ok(SessionRow::clone(&row))
    }
}

/// A page, made where it keeps nobody waiting.
async fn page(
    shared: Arc<Shared>,
    tab: &'static str,
    work: impl FnOnce(&Shared) -> Result<Markup, Refusal> + Send + 'static,
) -> Response {
    match aside(&shared, work).await {
        Ok(page) => page.into_response(),
        Err(refusal) => pages::failed(&shared.frame(tab, None), &refusal),
    }
}

fn title(row: &SessionRow) -> String {
    row.title.clone().unwrap_or_else(|| row.id.clone())
}

async fn sessions(State(shared): State<Arc<Shared>>, Query(wanted): Query<Wanted>) -> Response {
    page(shared, "sessions", move |shared| {
        let view = Sessions::of(&shared.desk, &shared.glances, &wanted)?;
        Ok(pages::sessions(
            &shared.frame("sessions", None),
            &view,
            &wanted,
        ))
    })
    .await
}

async fn timeline(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    page(shared, "timeline", move |shared| {
        let row = shared.row(&name)?;
        let compactions = Compactions::of(&Subject::at(&shared.desk, &shared.desk.shown(&name)?))?;
        let title = title(&row);
        let frame = shared.frame("timeline", Some((&row.id, &title)));
        Ok(pages::timeline(&frame, &row, &compactions))
    })
    .await
}

/// The context of a request, by its number: the one that its answer follows.
async fn request(
    State(shared): State<Arc<Shared>>,
    Path((name, number)): Path<(String, usize)>,
) -> Response {
    let found = aside(&shared, move |shared| {
        let session = shared.desk.shown(&name)?;
        let meter = Meter::new(shared.desk.config.tokens.estimator);
        let timeline = Timeline::of(&session, &shared.desk.keep(&session), &meter)?;
        let request = timeline.requests.get(number);
        let request = request.ok_or_else(|| Refusal::unknown("There is no such request."))?;
        let answer = session.entry(&request.entry)?;
        Ok(pages::context_address(
            &name,
            answer.parent.as_ref().unwrap_or(&answer.id),
        ))
    });
    match found.await {
        Ok(address) => Redirect::to(&address).into_response(),
        Err(refusal) => pages::failed(&shared.frame("timeline", None), &refusal),
    }
}

#[derive(Deserialize)]
struct At {
    at: Option<String>,
}

async fn context(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Query(At { at }): Query<At>,
) -> Response {
    page(shared, "context", move |shared| {
        let row = shared.row(&name)?;
        let view = ContextView::of(&shared.desk, &name, at.as_deref())?;
        let title = title(&row);
        let frame = shared.frame("context", Some((&row.id, &title)));
        Ok(pages::context(&frame, &view))
    })
    .await
}

async fn compactions(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    page(shared, "compactions", move |shared| {
        let row = shared.row(&name)?;
        let view = Compactions::of(&Subject::at(&shared.desk, &shared.desk.shown(&name)?))?;
        let can_redo = changes::can_redo(shared, &name)?;
        let title = title(&row);
        let frame = shared.frame("compactions", Some((&row.id, &title)));
        Ok(pages::compactions(&frame, &view, can_redo))
    })
    .await
}

async fn compaction(
    State(shared): State<Arc<Shared>>,
    Path((name, number)): Path<(String, String)>,
) -> Response {
    page(shared, "compactions", move |shared| {
        let row = shared.row(&name)?;
        let view = shared.compaction(&name, &number)?;
        let title = title(&row);
        let frame = shared.frame("compactions", Some((&row.id, &title)));
        Ok(pages::compaction(&frame, &view))
    })
    .await
}

async fn entry(
    State(shared): State<Arc<Shared>>,
    Path((name, entry)): Path<(String, String)>,
) -> Response {
    page(shared, "entry", move |shared| {
        let row = shared.row(&name)?;
        let view = EntryView::of(&shared.desk, &name, &entry)?;
        let title = title(&row);
        let frame = shared.frame("entry", Some((&row.id, &title)));
        Ok(pages::entry(&frame, &view))
    })
    .await
}

async fn search(State(shared): State<Arc<Shared>>, Query(question): Query<Question>) -> Response {
    page(shared, "search", move |shared| {
        let view = FoundView::of(&shared.desk, &question)?;
        Ok(pages::found(
            &shared.frame("search", None),
            &view,
            &question,
        ))
    })
    .await
}

async fn memory(State(shared): State<Arc<Shared>>) -> Response {
    page(shared, "memory", move |shared| {
        let view = MemoryView::of(&shared.desk)?;
        Ok(pages::memory(&shared.frame("memory", None), &view))
    })
    .await
}

async fn dreams(State(shared): State<Arc<Shared>>) -> Response {
    page(shared, "dreams", move |shared| {
        let view = DreamsView::of(&shared.desk)?;
        let made = Promotions::of(&shared.desk)?;
        Ok(pages::dreams(&shared.frame("dreams", None), &view, &made))
    })
    .await
}

pub(super) async fn nowhere(State(shared): State<Arc<Shared>>) -> Response {
    let refusal = Refusal::unknown("There is no such page.");
    pages::failed(&shared.frame("", None), &refusal)
}
