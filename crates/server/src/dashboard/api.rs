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

use super::Shared;
use super::routes::aside;
use super::views::{
    CompactionView, Compactions, ContextView, DreamsView, EntryView, FoundView, MemoryView,
    Question, SessionRow, Sessions, TimelineView, Wanted,
};
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

async fn timeline(State(shared): Of, Path(name): Path<String>) -> Answer<TimelineView> {
    answer(shared, move |shared| TimelineView::of(&shared.desk, &name)).await
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
    answer(shared, move |shared| Compactions::of(&shared.desk, &name)).await
}

async fn compaction(
    State(shared): Of,
    Path((name, number)): Path<(String, String)>,
) -> Answer<CompactionView> {
    answer(shared, move |shared| {
        CompactionView::of(&shared.desk, &name, &number)
    })
    .await
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

async fn openapi(State(shared): Of) -> Json<Value> {
    Json(document(&shared.desk.version))
}

/// A way in: its path, what it gives, and the type that says so.
struct Way<'a> {
    path: &'a str,
    summary: &'a str,
    query: &'a [(&'a str, &'a str)],
    schema: Value,
}

/// The document that describes the interface, made from the types that it gives.
pub(super) fn document(version: &str) -> Value {
    const SCHEMAS: &str = "#/components/schemas/";
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
        generator.subschema_for::<T>().to_value()
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
    let ways = [
        Way {
            path: "/api/sessions",
            summary: "The sessions of every agent on the machine",
            query: &listing,
            schema: of::<Sessions>(&mut generator),
        },
        Way {
            path: "/api/sessions/{session}",
            summary: "One session",
            query: &[],
            schema: of::<SessionRow>(&mut generator),
        },
        Way {
            path: "/api/sessions/{session}/timeline",
            summary: "What filled each request, in columns",
            query: &[],
            schema: of::<TimelineView>(&mut generator),
        },
        Way {
            path: "/api/sessions/{session}/context",
            summary: "The context, now or at an entry",
            query: &at,
            schema: of::<ContextView>(&mut generator),
        },
        Way {
            path: "/api/sessions/{session}/compactions",
            summary: "Every compaction on the path",
            query: &[],
            schema: of::<Compactions>(&mut generator),
        },
        Way {
            path: "/api/sessions/{session}/compactions/{number}",
            summary: "What a compaction left and what it took",
            query: &[],
            schema: of::<CompactionView>(&mut generator),
        },
        Way {
            path: "/api/sessions/{session}/entries/{entry}",
            summary: "One entry, whole",
            query: &[],
            schema: of::<EntryView>(&mut generator),
        },
        Way {
            path: "/api/search",
            summary: "What was said, read or done, found again",
            query: &asking,
            schema: of::<FoundView>(&mut generator),
        },
        Way {
            path: "/api/memory",
            summary: "The memory files of the workspace",
            query: &[],
            schema: of::<MemoryView>(&mut generator),
        },
        Way {
            path: "/api/dreams",
            summary: "What waits for a decision",
            query: &[],
            schema: of::<DreamsView>(&mut generator),
        },
    ];
    let refusal = of::<Refusal>(&mut generator);
    let paths: Map<String, Value> = ways
        .into_iter()
        .map(|way| (way.path.to_owned(), operation(&way, &refusal)))
        .collect();
    debug_assert!(
        refusal["$ref"]
            .as_str()
            .is_none_or(|at| at.starts_with(SCHEMAS))
    );
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "longhaul",
            "version": version,
            "description": "What the agents of this machine remember. GET /events tells as \
                            server-sent events which sessions changed.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
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
    json!({
        "get": {
            "summary": way.summary,
            "parameters": in_path.chain(in_query).collect::<Vec<Value>>(),
            "responses": {
                "200": { "description": way.summary, "content": content(&way.schema) },
                "default": { "description": "Why not", "content": content(refusal) },
            },
        }
    })
}
