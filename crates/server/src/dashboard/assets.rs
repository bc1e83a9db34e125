//! Styles and scripts, which are part of the program: nothing is loaded from
//! anywhere else.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::Shared;

pub(super) const STYLE: &str = include_str!("assets/style.css");
pub(super) const CHART_STYLE: &str = include_str!("assets/uplot.min.css");
pub(super) const CHART: &str = include_str!("assets/uplot.min.js");
pub(super) const TIMELINE: &str = include_str!("assets/timeline.js");
const ICON: &str = include_str!("assets/icon.svg");
const PAGE: &str = include_str!("assets/page.js");
const HTMX: &str = include_str!("assets/htmx.min.js");

pub(super) fn routes() -> Router<Arc<Shared>> {
    const ALL: [(&str, &str, &str); 7] = [
        ("/assets/icon.svg", "image/svg+xml", ICON),
        ("/assets/style.css", "text/css", STYLE),
        ("/assets/uplot.css", "text/css", CHART_STYLE),
        ("/assets/uplot.js", "text/javascript", CHART),
        ("/assets/timeline.js", "text/javascript", TIMELINE),
        ("/assets/page.js", "text/javascript", PAGE),
        ("/assets/htmx.js", "text/javascript", HTMX),
    ];
    ALL.into_iter().fold(Router::new(), |router, asset| {
        let (path, kind, text) = asset;
        router.route(path, get(move || async move { served(kind, text) }))
    })
}

fn served(kind: &'static str, text: &'static str) -> Response {
    let kind = format!("{kind}; charset=utf-8");
    // Not for long: the next version of the program brings others.
    let headers = [
        (header::CONTENT_TYPE, kind.as_str()),
        (header::CACHE_CONTROL, "private, max-age=300"),
    ];
    (headers, text).into_response()
}
