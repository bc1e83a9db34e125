//! The timeline of a session: drawn by the browser from the data of the interface.

use maud::{Markup, html};

use super::layout::Frame;
use super::text::{address, dollars, number, said, time};
use crate::dashboard::views::{Compactions, SessionRow};

/// The page.
pub(in crate::dashboard) fn timeline(
    frame: &Frame<'_>,
    row: &SessionRow,
    compactions: &Compactions,
) -> Markup {
    let id = row.id.as_str();
    let data = format!("/api{}", address(&["sessions", id, "timeline"]));
    let at = address(&["sessions", id, "requests"]);
    let content = html! {
        (facts(frame, row))
        section.card.chart-card {
            div.chart-head {
                h2 { "What filled each request" }
                p.dim.hint { "Point to see a request, click to open its context, drag to zoom, double-click to see all. With the keyboard: arrows and Enter." }
            }
            (chart(&data, &at, id))
            noscript { p.warning { "The timeline is drawn by a script. The same numbers: " a href=(data) { "as JSON" } } }
        }
        @if !compactions.compactions.is_empty() {
            section.card {
                h2 { "Compactions" }
                (super::compaction::table(frame, compactions))
            }
        }
    };
    frame.page(row.title.as_deref().unwrap_or(id), content)
}

/// Where the chart is drawn, with a legend that says each value.
fn chart(data: &str, at: &str, id: &str) -> Markup {
    html! {
        link rel="stylesheet" href="/assets/uplot.css";
        (place(Some((data, at, id))))
        script src="/assets/uplot.js" defer {}
        script src="/assets/timeline.js" defer {}
    }
}

/// The place itself: filled from the interface, or by what stands in the page.
pub(super) fn place(source: Option<(&str, &str, &str)>) -> Markup {
    let (data, at, id) = match source {
        Some((data, at, id)) => (Some(data), Some(at), Some(id)),
        None => (None, None, None),
    };
    html! {
        div #timeline.timeline data-source=[data] data-at=[at] data-session=[id] {
            p.dim #timeline-state role="status" { "Reading the session…" }
            div #timeline-chart tabindex="0" role="group" aria-label="What filled each request, as a chart" {}
            div #timeline-cost {}
            div #timeline-legend.legend aria-live="off" {}
        }
    }
}

fn facts(frame: &Frame<'_>, row: &SessionRow) -> Markup {
    html! {
        dl.facts #facts data-live=(row.id) {
            div { dt { "Agent" } dd { (row.agent) } }
            @if let Some(model) = &row.model { div { dt { "Model" } dd { (said(model)) } } }
            @if let (Some(tokens), Some(window), Some(percent)) = (row.tokens, row.window, row.percent) {
                div { dt { "Context" } dd { (number(u64::from(tokens))) " of " (number(u64::from(window))) " (" (format!("{percent:.1} %")) ")" } }
            }
            @if let Some(count) = row.compactions { div { dt { "Compactions" } dd { @if count.certainty == "atLeast" { "≥ " } (count.count) } } }
            @if let Some(cost) = row.dollars { div { dt { "Cost" } dd { (dollars(cost)) } } }
            div { dt { "Last activity" } dd { (time(frame.now, row.modified.as_deref())) } }
            div.wide { dt { "File" } dd.path { (said(&row.path)) } }
        }
    }
}
