//! The list of sessions.

use longhaul_transcript::Millis;
use maud::{Markup, html};

use super::layout::Frame;
use super::text::{address, bytes, dollars, gist, number, said, time, value};
use crate::dashboard::views::{Order, SessionRow, Sessions, Wanted};

const ORDERS: [(Order, &str, &str); 5] = [
    (Order::Activity, "activity", "Last activity"),
    (Order::Fill, "fill", "Fill"),
    (Order::Compactions, "compactions", "Compactions"),
    (Order::Cost, "cost", "Cost"),
    (Order::Size, "size", "Size of the file"),
];

/// The list.
pub(in crate::dashboard) fn sessions(
    frame: &Frame<'_>,
    view: &Sessions,
    wanted: &Wanted,
) -> Markup {
    let content = html! {
        h1.quiet { "Sessions of every agent on this machine" }
        form.filters #filters action="/" hx-get="/" hx-trigger="input changed delay:250ms from:#words, change" hx-target="#rows" hx-select="#rows" hx-swap="outerHTML" hx-push-url="true" {
            label { span { "Words" } input #words type="search" name="q" value=(wanted.q) placeholder="id, folder, title" data-key="f"; }
            label { span { "Agent" }
                select name="agent" {
                    option value="" { "all" }
                    @for agent in &view.agents {
                        option value=(agent) selected[*agent == wanted.agent] { (agent) }
                    }
                }
            }
            label { span { "Order" }
                select name="order" {
                    @for (order, name, label) in ORDERS {
                        option value=(name) selected[order == wanted.order] { (label) }
                    }
                }
            }
            noscript { button { "Show" } }
        }
        (rows(frame, view, wanted))
    };
    frame.page("Sessions", content)
}

fn rows(frame: &Frame<'_>, view: &Sessions, wanted: &Wanted) -> Markup {
    html! {
        section #rows data-live="*" {
            @for problem in &view.problems { p.warning { (said(problem)) } }
            @if view.all == 0 {
                div.card.empty {
                    h2 { "No agent has a session here yet" }
                    p { "longhaul looks where pi, OpenClaw, Claude Code and Codex keep theirs." }
                    @if frame.may_write() { p { (frame.change("Make a sample session", &["sample"])) } }
                    @else { p { code { "longhaul serve --write" } " offers to make a sample here, " code { "longhaul sample demo.jsonl" } " makes one as a file." } }
                }
            } @else {
                p.count {
                    (number(view.total as u64)) " of " (number(view.all as u64))
                    @if let Some(looked) = view.looked_into {
                        " · looked into the newest " (number(looked as u64)) " only"
                    }
                }
                @if view.sessions.is_empty() {
                    div.card.empty { h2 { "None of these" } p { "No session fits the words and the agent." } }
                } @else {
                    table.list {
                        thead { tr {
                            th scope="col" { "Session" } th scope="col" { "Agent" }
                            th scope="col" { "Context" } th.number scope="col" { "Compactions" }
                            th.number scope="col" { "Cost" } th.number scope="col" { "Size" } th scope="col" { "Last activity" }
                        } }
                        tbody { @for one in &view.sessions { (row(frame.now, one)) } }
                    }
                    (pager(view, wanted))
                }
            }
        }
    }
}

fn row(now: Millis, row: &SessionRow) -> Markup {
    let name = row.title.as_deref().unwrap_or(&row.id);
    html! {
        tr data-row {
            td.what {
                a href=(address(&["sessions", &row.id])) { (gist(name, 90)) }
                div.dim { (gist(row.workspace.as_deref().unwrap_or(&row.path), 70)) }
            }
            td { (row.agent) @if let Some(model) = &row.model { div.dim { (gist(model, 28)) } } }
            td.fill {
                @match (&row.error, row.percent) {
                    (Some(error), _) => span.warning title=(error) { "cannot be read" },
                    (None, Some(percent)) => (fill(percent, row.activation, row.tokens, row.window)),
                    (None, None) => span.dim { "nothing yet" },
                }
            }
            td.number {
                @if let Some(count) = row.compactions {
                    @if count.certainty == "atLeast" { "≥ " } (count.count) span.narrow { " compactions" }
                }
            }
            td.number {
                @match row.dollars { Some(amount) => (dollars(amount)), None => span.dim title="known once its timeline was drawn" { "–" } }
            }
            td.number { (bytes(row.bytes)) }
            td { (time(now, row.modified.as_deref())) }
        }
    }
}

/// The gauge of a context: how full, and where compaction is due.
fn fill(percent: f64, activation: Option<f64>, tokens: Option<u32>, window: Option<u32>) -> Markup {
    let level = match activation {
        Some(activation) if percent >= activation => "hot",
        _ if percent >= 70.0 => "warm",
        _ => "calm",
    };
    let label = format!("{percent:.1} % of the window");
    html! {
        svg.gauge.(level) viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect.track x="0" y="0" width="100" height="8" {}
            rect.level x="0" y="0" width=(format!("{:.1}", percent.min(100.0))) height="8" {}
            rect.mark x="70" y="0" width="0.6" height="8" {}
            @if let Some(at) = activation { rect.mark x=(format!("{at:.1}")) y="0" width="0.6" height="8" {} }
        }
        span.small { (format!("{percent:.1} %")) " "
            span.dim { (number(u64::from(tokens.unwrap_or(0)))) " / " (number(u64::from(window.unwrap_or(0)))) }
        }
    }
}

fn pager(view: &Sessions, wanted: &Wanted) -> Markup {
    let order = ORDERS.iter().find(|(order, ..)| *order == wanted.order);
    let order = order.map_or("activity", |(_, name, _)| name);
    let at = |page: usize| {
        format!(
            "/?q={}&agent={}&order={order}&page={page}",
            value(&wanted.q),
            value(&wanted.agent)
        )
    };
    html! {
        @if view.pages > 1 {
            nav.pager aria-label="Pages" {
                @if view.page > 1 { a rel="prev" href=(at(view.page - 1)) { "← newer" } }
                span { "page " (view.page) " of " (view.pages) }
                @if view.page < view.pages { a rel="next" href=(at(view.page + 1)) { "older →" } }
            }
        }
    }
}
