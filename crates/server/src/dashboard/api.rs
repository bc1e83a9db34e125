//! The interface for programs: the typed results of the pages as JSON, with a
//! document that describes them.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::changes::{Changed, Decision};
use super::views::{
    CompactionView, Compactions, ContextView, DreamsView, EntryView, FoundView, MemoryView,
    Promotions, Question, SessionRow, Sessions, Stretch, Subject, TimelineView, Wanted,
};
use super::{Shared, aside};
use crate::http::Refusal;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(&self)).into_response()
    }
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/openapi.json", get(openapi))
        .route("/sessions", get(sessions))
        .route("/sessions/{session}", get(session))
        .route("/sessions/{session}/timeline", get(timeline))
        .route("/sessions/{session}/context", get(context))
        .route("/sessions/{session}/compactions", get(compactions))
        .route("/sessions/{session}/compactions/{number}", get(compaction))
        .route("/sessions/{session}/entries/{entry}", get(entry))
        .route("/search", get(search))
        .route("/memory", get(memory))
        .route("/dreams", get(dreams))
        .route("/dreams/promotions", get(promotions))
}

type Answer<T> = Result<Json<T>, Refusal>;

async fn answer<T: Serialize + Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, Refusal> + Send + 'static,
) -> Answer<T> {
    aside(&shared, work).await.map(Json)
}

type Of = State<Arc<Shared>>;

async fn sessions(State(shared): Of, Query(wanted): Query<Wanted>) -> Answer<Sessions> {
    answer(shared, move |shared| {
        Sessions::of(&shared.desk, &shared.glances, &wanted)
    })
    .await
}

async fn session(State(shared): Of, Path(name): Path<String>) -> Answer<SessionRow> {
    answer(shared, move |shared| shared.row(&name)).await
}

async fn timeline(
    State(shared): Of,
    Path(name): Path<String>,
    Query(wanted): Query<Stretch>,
) -> Answer<TimelineView> {
    answer(shared, move |shared| {
        TimelineView::of(&shared.desk, &name, wanted)
    })
    .await
}

#[derive(Deserialize)]
struct At {
    at: Option<String>,
}

async fn context(
    State(shared): Of,
    Path(name): Path<String>,
    Query(At { at }): Query<At>,
) -> Answer<ContextView> {
    answer(shared, move |shared| {
        ContextView::of(&shared.desk, &name, at.as_deref())
    })
    .await
}

async fn compactions(State(shared): Of, Path(name): Path<String>) -> Answer<Compactions> {
    answer(shared, move |shared| {
        let session = shared.desk.shown(&name)?;
        Ok(Compactions::of(&Subject::at(&shared.desk, &session))?)
    })
    .await
}

async fn compaction(
    State(shared): Of,
    Path((name, number)): Path<(String, String)>,
) -> Answer<CompactionView> {
    answer(shared, move |shared| shared.compaction(&name, &number)).await
}

async fn entry(
    State(shared): Of,
    Path((name, entry)): Path<(String, String)>,
) -> Answer<EntryView> {
    answer(shared, move |shared| {
        EntryView::of(&shared.desk, &name, &entry)
    })
    .await
}

async fn search(State(shared): Of, Query(question): Query<Question>) -> Answer<FoundView> {
    answer(shared, move |shared| FoundView::of(&shared.desk, &question)).await
}

async fn memory(State(shared): Of) -> Answer<MemoryView> {
    answer(shared, move |shared| MemoryView::of(&shared.desk)).await
}

async fn dreams(State(shared): Of) -> Answer<DreamsView> {
    answer(shared, move |shared| DreamsView::of(&shared.desk)).await
}

async fn promotions(State(shared): Of) -> Answer<Promotions> {
    answer(shared, move |shared| Promotions::of(&shared.desk)).await
}

async fn openapi(State(shared): Of) -> Json<Value> {
    Json(document(&shared.desk.version))
}

/// A way in: its path, what it gives or does, and what goes with it.
struct Way<'a> {
    path: &'a str,
    summary: &'a str,
    query: &'a [(&'a str, &'a str)],
    gives: Value,
    /// Of a change: the form that it takes, if it takes one.
    changes: Option<Option<Value>>,
}

impl<'a> Way<'a> {
    fn given(
        path: &'a str,
        summary: &'a str,
        query: &'a [(&'a str, &'a str)],
        gives: Value,
    ) -> Way<'a> {
        Way {
            path,
            summary,
            query,
            gives,
            changes: None,
        }
    }
}

/// The document that describes the interface, made from the types that it gives.
pub(super) fn document(version: &str) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut types = settings.into_generator();
    fn of<T: JsonSchema>(types: &mut SchemaGenerator) -> Value {
        types.subschema_for::<T>().to_value()
    }
    let at = [(
        "at",
        "The entry up to which the context goes; else the newest.",
    )];
    let listing = [
        ("q", "Words in the id, the folder or the title."),
        ("agent", "Only this agent's sessions."),
        ("order", "activity, fill, compactions, cost or size."),
        ("page", "The page, from 1."),
    ];
    let asking = [
        ("q", "The words, or an entry's id."),
        ("session", "The session that is looked through first."),
        ("in", "session, family or everything."),
    ];
    let stretch = [
        ("from", "The first request, from 0."),
        ("to", "The first behind the last."),
        ("columns", "The most columns; else one a request."),
    ];
    let mut ways = vec![
        Way::given(
            "/api/sessions",
            "The sessions of every agent on the machine",
            &listing,
            of::<Sessions>(&mut types),
        ),
        Way::given(
            "/api/sessions/{session}",
            "One session",
            &[],
            of::<SessionRow>(&mut types),
        ),
        Way::given(
            "/api/sessions/{session}/timeline",
            "What filled the requests, in columns",
            &stretch,
            of::<TimelineView>(&mut types),
        ),
        Way::given(
            "/api/sessions/{session}/context",
            "The context, now or at an entry",
            &at,
            of::<ContextView>(&mut types),
        ),
        Way::given(
            "/api/sessions/{session}/compactions",
            "Every compaction on the path, as `context history --json`",
            &[],
            of::<Compactions>(&mut types),
        ),
        Way::given(
            "/api/sessions/{session}/compactions/{number}",
            "What a compaction left and what it took, as `context diff --json`",
            &[],
            of::<CompactionView>(&mut types),
        ),
        Way::given(
            "/api/sessions/{session}/entries/{entry}",
            "One entry, whole",
            &[],
            of::<EntryView>(&mut types),
        ),
        Way::given(
            "/api/search",
            "What was said, read or done, found again",
            &asking,
            of::<FoundView>(&mut types),
        ),
        Way::given(
            "/api/memory",
            "The memory files of the workspace",
            &[],
            of::<MemoryView>(&mut types),
        ),
        Way::given(
            "/api/dreams",
            "What waits for a decision, as `dream review --json`",
            &[],
            of::<DreamsView>(&mut types),
        ),
        Way::given(
            "/api/dreams/promotions",
            "What was promoted, as `dream undo --list --json`",
            &[],
            of::<Promotions>(&mut types),
        ),
    ];
    let done = [
        (
            "/api/sessions/{session}/entries/{entry}/pin",
            "Keep an entry in every context",
        ),
        (
            "/api/sessions/{session}/entries/{entry}/unpin",
            "Keep it no longer",
        ),
        (
            "/api/sessions/{session}/entries/{entry}/recall",
            "Put what left the context into it again, quoted",
        ),
        (
            "/api/sessions/{session}/compactions/{number}/undo",
            "Take the latest compaction back; named by its entry",
        ),
        (
            "/api/sessions/{session}/redo",
            "Do again what was taken back",
        ),
        (
            "/api/dreams/promotions/{change}/undo",
            "Take a promotion back",
        ),
        ("/api/sample", "Make a sample session"),
    ];
    let decided = [
        ("keep", "Promote a candidate"),
        ("drop", "Reject it for good"),
        ("edit", "Give it other words"),
    ]
    .map(|(what, summary)| {
        (
            format!("/api/dreams/candidates/{{candidate}}/{what}"),
            summary,
        )
    });
    let changed = of::<Changed>(&mut types);
    let form = of::<Decision>(&mut types);
    let done = done
        .into_iter()
        .map(|(path, summary)| (path, summary, None));
    let decided = decided.iter();
    let decided = decided.map(|(path, what)| (path.as_str(), *what, Some(form.clone())));
    ways.extend(done.chain(decided).map(|(path, summary, form)| Way {
        path,
        summary,
        query: &[],
        gives: changed.clone(),
        changes: Some(form),
    }));
    let refusal = of::<Refusal>(&mut types);
    let paths: Map<String, Value> = ways
        .into_iter()
        .map(|way| (way.path.to_owned(), operation(&way, &refusal)))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "longhaul",
            "version": version,
            "description": "What the agents of this machine remember. GET /events tells as \
                            server-sent events which sessions changed. What is posted changes \
                            something, and is refused unless the server was started with --write.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": types.take_definitions(true),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(way: &Way<'_>, refusal: &Value) -> Value {
    let parameter = |name: &str, place: &str, what: &str| {
        json!({
            "name": name,
            "in": place,
            "required": place == "path",
            "description": what,
            "schema": { "type": "string" },
        })
    };
    let in_path = way.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(parameter(name, "path", ""))
    });
    let in_query = way
        .query
        .iter()
        .map(|(name, what)| parameter(name, "query", what));
    let content = |schema: &Value| json!({ "application/json": { "schema": schema } });
    let mut operation = json!({
        "summary": way.summary,
        "parameters": in_path.chain(in_query).collect::<Vec<Value>>(),
        "responses": {
            "200": { "description": way.summary, "content": content(&way.gives) },
            "default": { "description": "Why not", "content": content(refusal) },
        },
    });
    if let Some(Some(form)) = &way.changes {
        let form = json!({ "schema": form });
        operation["requestBody"] =
            json!({ "content": { "application/x-www-form-urlencoded": form } });
    }
    let method = match way.changes {
        None => "get",
        Some(_) => "post",
    };
    json!({ method: operation })
}
