//! The dashboard: what the agents of this machine remember, in a browser.
//!
//! Pages and the HTTP interface render the same typed results ([`views`]); what a
//! page shows a program can have as JSON, and the other way round. Pages are written
//! here, on the server; the browser brings parts of them up to date and draws the
//! timeline.
//!
//! | question | answer |
//! |---|---|
//! | who may come in? | who has the token: [`Access`] |
//! | what is shown? | the typed results of [`views`] |
//! | how is it shown? | `pages` for people, `api` for programs |
//! | how does a page follow what happens? | `events`: server-sent, for as long as somebody listens |
//! | what may be changed? | nothing, unless the program says so: `changes` |

mod access;
mod api;
mod assets;
mod changes;
mod events;
mod pages;
mod routes;
pub mod views;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use access::Access;
pub use pages::replay_report;

use self::events::Watching;
use self::views::Glances;
use crate::desk::Desk;
use crate::http::{self, Refusal};

/// What is served, and to whom.
pub struct Dashboard {
    /// The sessions of this machine, and what is asked about them.
    pub desk: Arc<Desk>,
    /// Whether anything may be changed.
    pub writes: Writes,
    /// Who may come in.
    pub access: Arc<Access>,
}

/// Whether a dashboard changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// It only shows.
    Never,
    /// Whoever has the token may change what pages offer to.
    WhereAsked,
}

/// What handlers share.
struct Shared {
    desk: Arc<Desk>,
    writes: Writes,
    access: Arc<Access>,
    glances: Glances,
    watching: Watching,
}

/// Serves the dashboard on a listener until `cancel` is called.
pub async fn serve(listener: TcpListener, dashboard: Dashboard, cancel: CancellationToken) {
    let limits = dashboard.access.limits();
    let shared = Arc::new(Shared {
        watching: Watching::new(&dashboard.desk, cancel.clone()),
        desk: dashboard.desk,
        writes: dashboard.writes,
        access: dashboard.access,
        glances: Glances::default(),
    });
    http::serve(listener, router(shared), limits, cancel).await;
}

fn router(shared: Arc<Shared>) -> Router {
    let access = Arc::clone(&shared.access);
    Router::new()
        .merge(routes::pages())
        .nest("/api", api::routes().merge(changes::routes()))
        .merge(assets::routes())
        .fallback(routes::nowhere)
        .with_state(shared)
        .layer(axum::middleware::from_fn_with_state(access, access::admit))
}

/// Runs what reads files where it keeps nobody waiting.
async fn aside<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let shared = Arc::clone(shared);
    let done = tokio::task::spawn_blocking(move || work(&shared)).await;
    done.unwrap_or_else(|_| {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Err(Refusal::new(
            status,
            "This is a fault of longhaul's; nothing was changed.",
        ))
    })
}
