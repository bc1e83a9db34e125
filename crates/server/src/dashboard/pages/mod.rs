//! The pages, as they are written for a browser.

mod compaction;
mod context;
mod found;
mod layout;
mod memory;
mod replay;
mod sessions;
mod text;
mod timeline;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use longhaul_transcript::EntryId;
use maud::html;

pub(super) use compaction::{compaction, compactions};
pub(super) use context::{context, entry};
pub(super) use found::found;
pub(super) use layout::Frame;
pub(super) use memory::{dreams, memory};
pub use replay::replay_report;
pub(super) use sessions::sessions;
pub(super) use text::address;
pub(super) use timeline::timeline;

use self::layout::bare;
use crate::http::Refusal;

/// The page for somebody who may not come in.
pub(super) fn refused(status: StatusCode, why: &str) -> Response {
    let page = bare(
        "Not let in",
        html! { main.plain { h1 { "Not let in" } p { (why) } } },
    );
    (status, page).into_response()
}

/// The page for what cannot be shown.
pub(super) fn failed(frame: &Frame<'_>, refusal: &Refusal) -> Response {
    let title = match refusal.status {
        StatusCode::NOT_FOUND => "Nothing here",
        _ => "That did not work",
    };
    let page = frame.page(
        title,
        html! {
            section.card role="alert" {
                h1 { (title) }
                p { (refusal.error) }
                p { a href="/" { "All sessions" } }
            }
        },
    );
    (refusal.status, page).into_response()
}

/// Where the context of a session up to an entry is shown.
pub(super) fn context_address(session: &str, entry: &EntryId) -> String {
    let page = text::address(&["sessions", session, "context"]);
    format!("{page}?at={}", text::value(entry.as_str()))
}
