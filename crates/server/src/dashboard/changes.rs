//! What may be changed from a page, where changes are allowed at all: pins, what is
//! recalled into a context, compactions taken back, what becomes of candidates for
//! the memory, and the sample.
//!
//! A session that another program runs is not written to. Our own last write would
//! look like such a program's, so it is remembered.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{Form, Path as Parts, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use axum::{Json, Router};
use longhaul_engine::sample;
use longhaul_engine::survey::Survey;
use longhaul_engine::tools::Toolbox;
use longhaul_memory::dream::{Candidate, DreamLock, Dreams, Settings};
use longhaul_model::ToolCall;
use longhaul_tokens::{Fragment, FragmentKind};
use longhaul_transcript::{Draft, Durability, EntryId, LastWrites, Session, Stamp, Writer, is_pin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::pages::address;
use super::views::{DreamsView, stored};
use super::{Shared, Writes, aside};
use crate::again::{self, Way};
use crate::http::Refusal;

/// The `customType` of a message that was recalled from a page.
const RECALL_MARK: &str = "longhaul:recall";
/// The sample is of this many turns, and compacted at so many tokens: three times.
const SAMPLE: (u32, u32) = (28, 60_000);

/// What a change did.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Changed {
    /// Its words.
    pub(super) done: String,
    /// Entries that were appended to the session.
    pub(super) entries: Vec<String>,
    /// The page that shows it; else the one that asked.
    #[serde(skip)]
    page: Option<String>,
}

impl IntoResponse for Changed {
    fn into_response(self) -> Response {
        let header = match &self.page {
            Some(page) => [("hx-redirect", page.clone())],
            None => [("hx-refresh", "true".to_owned())],
        };
        (header, Json(self)).into_response()
    }
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    const ENTRY: &str = "/sessions/{session}/entries/{entry}";
    const CANDIDATE: &str = "/dreams/candidates/{candidate}";
    let of_entry = |change: fn(&Shared, &str, &str) -> Done| of_two(change);
    Router::new()
        .route(&format!("{ENTRY}/pin"), of_entry(pin))
        .route(&format!("{ENTRY}/unpin"), of_entry(unpin))
        .route(&format!("{ENTRY}/recall"), of_entry(recall))
        .route(
            "/sessions/{session}/compactions/{number}/undo",
            of_two(undo),
        )
        .route("/sessions/{session}/redo", of_one(redo))
        .route(&format!("{CANDIDATE}/keep"), decided(Verdict::Keep))
        .route(&format!("{CANDIDATE}/drop"), decided(Verdict::Drop))
        .route(&format!("{CANDIDATE}/edit"), decided(Verdict::Edit))
        .route("/dreams/promotions/{change}/undo", of_one(take_back))
        .route("/sample", post(make_sample))
}

type Done = Result<Changed, Refusal>;
type Of = State<Arc<Shared>>;

/// Carries a change out, if anything may be changed.
async fn change(shared: Arc<Shared>, work: impl FnOnce(&Shared) -> Done + Send + 'static) -> Done {
    if shared.writes == Writes::Never {
        let why = "Nothing is changed here. Start `longhaul serve --write` to allow it.";
        return Err(Refusal::new(StatusCode::FORBIDDEN, why));
    }
    aside(&shared, work).await
}

fn of_one(work: fn(&Shared, &str) -> Done) -> MethodRouter<Arc<Shared>> {
    post(move |State(shared): Of, Parts(one): Parts<String>| {
        change(shared, move |shared| work(shared, &one))
    })
}

fn of_two(work: fn(&Shared, &str, &str) -> Done) -> MethodRouter<Arc<Shared>> {
    post(
        move |State(shared): Of, Parts((one, other)): Parts<(String, String)>| {
            change(shared, move |shared| work(shared, &one, &other))
        },
    )
}

async fn make_sample(State(shared): Of) -> Done {
    change(shared, |shared| {
        let folder = shared.desk.state_dir.join("sessions");
        let path = folder.join("sample.jsonl");
        let (turns, compact_at) = SAMPLE;
        let (header, entries) = sample::session(turns, Some(compact_at));
        longhaul_files::create_folder(&folder)?;
        longhaul_transcript::write_path(&path, &header, &entries)?;
        shared.last_writes().remember(&path);
        Ok(Changed {
            done: format!("The sample was written to {}.", path.display()),
            ..Changed::default()
        })
    })
    .await
}

impl Shared {
    /// A session that may be written to now.
    fn to_change(&self, name: &str) -> Result<Session, Refusal> {
        let session = self.desk.shown(name)?;
        self.last_writes().writable(&session, SystemTime::now())?;
        Ok(session)
    }

    /// How we left the sessions that we wrote to.
    fn last_writes(&self) -> LastWrites {
        LastWrites::below(&self.desk.state_dir)
    }

    fn stamp(&self) -> Stamp {
        Stamp {
            id: EntryId::new(uuid::Uuid::now_v7().to_string()),
            time: self.desk.now(),
        }
    }

    fn append(&self, session: &Session, draft: &Draft, done: String) -> Done {
        let mut writer = Writer::open(session.path(), Durability::Always)?;
        let id = writer.append(draft, self.stamp())?;
        self.last_writes().remember(session.path());
        Ok(Changed {
            done,
            entries: vec![id.to_string()],
            page: None,
        })
    }
}

fn pin(shared: &Shared, name: &str, entry: &str) -> Done {
    let session = shared.to_change(name)?;
    let target = stored(&session, entry)?.id;
    match labels(shared, &session)?.get(&target) {
        Some(label) if !is_pin(label) => {
            let why = format!("The entry is labelled {label:?} already; an entry has one label");
            Err(Refusal::failed(why, Some("remove that label first".into())))
        }
        Some(_) => Ok(Changed::default()),
        None => {
            let done = format!("{target} is pinned.");
            shared.append(&session, &Draft::pin(target, None), done)
        }
    }
}

fn unpin(shared: &Shared, name: &str, entry: &str) -> Done {
    let session = shared.to_change(name)?;
    let target = stored(&session, entry)?.id;
    match labels(shared, &session)?.get(&target) {
        Some(label) if is_pin(label) => {
            let done = format!("{target} is no longer pinned.");
            let label = None;
            shared.append(&session, &Draft::Label { target, label }, done)
        }
        _ => Ok(Changed::default()),
    }
}

fn labels(shared: &Shared, session: &Session) -> Result<HashMap<EntryId, String>, Refusal> {
    Ok(Survey::of(session, &shared.desk.keep(session))?.labels())
}

/// Puts what left a context into it again, as the agent's own tool would: quoted,
/// attributed, without secrets, and no more of it than a recall may bring.
fn recall(shared: &Shared, name: &str, entry: &str) -> Done {
    let session = shared.to_change(name)?;
    let target = stored(&session, entry)?.id;
    let desk = &shared.desk;
    let failed = |reason: String| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, reason);
    let tools = desk.looking_back(&session).map_err(failed)?;
    let call = ToolCall {
        id: "recall".into(),
        name: "recall".into(),
        arguments: serde_json::json!({ "id": target.as_str() }).to_string(),
    };
    let cancel = CancellationToken::new();
    let found = tokio::runtime::Handle::current().block_on(tools.run(&call, &cancel));
    if found.is_error || found.details.is_none() {
        return Err(failed(found.text));
    }
    let counter = desk.config.tokens.estimator.counter();
    let draft = Draft::CustomMessage {
        custom_type: RECALL_MARK.to_owned(),
        text: Fragment::new(FragmentKind::Recall, found.text, counter)
            .text()
            .to_owned(),
    };
    let done = format!("{target} stands in the context again.");
    shared.append(&session, &draft, done)
}

impl From<again::Failure> for Refusal {
    fn from(failure: again::Failure) -> Refusal {
        Refusal::failed(&failure, failure.remedy())
    }
}

fn plan(
    shared: &Shared,
    session: &Session,
    way: Way,
) -> Result<longhaul_engine::live::Again, Refusal> {
    let (config, keep) = (&shared.desk.config, shared.desk.keep(session));
    Ok(again::plan(session, config, &keep, way, || shared.stamp())?)
}

/// Whether something was taken back that can be done again.
pub(super) fn can_redo(shared: &Shared, name: &str) -> Result<bool, Refusal> {
    let is_asked = shared.writes == Writes::WhereAsked;
    Ok(is_asked && plan(shared, &shared.desk.shown(name)?, Way::Redo).is_ok())
}

fn undo(shared: &Shared, name: &str, compaction: &str) -> Done {
    let session = shared.to_change(name)?;
    let planned = plan(shared, &session, Way::Undo)?;
    if planned.subject.as_str() != compaction {
        let why = "Something else was done to the session since, and is taken back first";
        let remedy = "`longhaul compact --undo` takes back what is latest";
        return Err(Refusal::failed(why, Some(remedy.into())));
    }
    carry_out(shared, &session, planned, "was taken back")
}

fn redo(shared: &Shared, name: &str) -> Done {
    let session = shared.to_change(name)?;
    let planned = plan(shared, &session, Way::Redo)?;
    carry_out(shared, &session, planned, "was done again")
}

fn carry_out(
    shared: &Shared,
    session: &Session,
    planned: longhaul_engine::live::Again,
    what: &str,
) -> Done {
    let done = format!("{} {what}; nothing was removed.", planned.subject);
    let entries = again::carry_out(planned, session, Durability::Always)?;
    shared.last_writes().remember(session.path());
    let id = longhaul_engine::catalog::id_of(session.reference());
    Ok(Changed {
        done,
        entries: entries.iter().map(EntryId::to_string).collect(),
        page: Some(address(&["sessions", &id, "compactions"])),
    })
}

/// What a person decides about a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    Drop,
    Edit,
}

/// What a decision comes with.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Decision {
    /// The mark of the candidate as it was shown; without one it is taken as it is.
    seen: String,
    /// Of an edit: the words.
    text: String,
}

fn decided(verdict: Verdict) -> MethodRouter<Arc<Shared>> {
    post(
        move |State(shared): Of, Parts(id): Parts<String>, Form(decision): Form<Decision>| {
            change(shared, move |shared| {
                decide(shared, &id, verdict, &decision)
            })
        },
    )
}

/// Runs what changes the memory while nobody else does.
fn dreaming<T>(
    shared: &Shared,
    work: impl FnOnce(&Dreams<'_>, &DreamLock, &Settings<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let failed = |reason: String| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, reason);
    let memory = (shared.desk.log)().map_err(failed)?;
    let dreams = Dreams::new(&shared.desk.state_dir, &memory);
    let lock = dreams.lock_patiently()?;
    let recalls = dreams.recalls()?;
    let recalls = |candidate: &Candidate| recalls.of(candidate);
    work(&dreams, &lock, &shared.desk.config.dream_settings(&recalls))
}

fn decide(shared: &Shared, id: &str, verdict: Verdict, decision: &Decision) -> Done {
    let now = (shared.desk.clock)();
    dreaming(shared, |dreams, lock, settings| {
        let waiting = DreamsView::of(&shared.desk)?.candidates;
        let shown = waiting.iter().find(|one| one.id == id);
        let shown = shown.ok_or_else(|| Refusal::unknown(format!("{id} does not wait.")))?;
        if !decision.seen.is_empty() && decision.seen != shown.seen() {
            let why =
                "It was changed while it was shown, so nothing was done. Load the page again.";
            return Err(Refusal::new(StatusCode::CONFLICT, why));
        }
        let what = match verdict {
            Verdict::Keep => {
                dreams.promote(lock, id, &now, settings)?;
                "was kept"
            }
            Verdict::Drop => {
                dreams.reject(lock, id, now.date())?;
                "was dropped; it will not come back"
            }
            Verdict::Edit => {
                dreams.reword(lock, id, decision.text.trim())?;
                "has these words now"
            }
        };
        Ok(Changed {
            done: format!("{id} {what}."),
            ..Changed::default()
        })
    })
}

/// Takes a promotion back.
fn take_back(shared: &Shared, number: &str) -> Done {
    let number = number.parse::<u32>();
    let number = number.map_err(|_| Refusal::unknown("A change has a number."))?;
    let at = (shared.desk.clock)().timestamp();
    dreaming(shared, |dreams, lock, settings| {
        let undone = dreams.undo(lock, Some(number), at, settings)?;
        Ok(Changed {
            done: format!(
                "The promotion of {} was taken back.",
                undone.change.candidate
            ),
            ..Changed::default()
        })
    })
}
