//! A context, part by part, and one entry of it.

use longhaul_tokens::Tokens;
use maud::{Markup, html};

use super::compaction::{messages, tools};
use super::layout::Frame;
use super::text::{address, gist, number, said, time};
use crate::dashboard::views::{ContextView, EntryView};

/// The context.
pub(in crate::dashboard) fn context(frame: &Frame<'_>, view: &ContextView) -> Markup {
    let id = view.session.id.as_str();
    let live = view.at.is_none().then_some(id);
    let content = html! {
        section.card #context data-live=[live] {
            h2 {
                @match &view.at {
                    Some(at) => { "The context up to " a.source href=(address(&["sessions", id, "entries", at])) { (gist(at, 8)) } },
                    None => "What the model would be sent now",
                }
            }
            p { b { (number(u64::from(view.tokens))) } " of " (number(u64::from(view.window))) " tokens ("
                (format!("{:.1} %", view.percent)) "), " (view.tokens_from) }
            (bar(view))
            @if view.at.is_none() { p { "Next: " (view.next) } (status(view)) }
            table.parts { tbody {
                @for (part, tokens) in view.parts.rows() { @if tokens > Tokens::ZERO {
                    tr { th scope="row" { (part) } td.number { (tokens) } }
                } }
                tr { th scope="row" { "system prompt and tools (not recorded)" } td.number { @match view.unrecorded { Some(tokens) => (number(u64::from(tokens))), None => span.dim { "unknown" } } } }
            } }
        }
        section.card {
            div.chart-head {
                h2 { "Messages" }
                label.inline { "Find in them " input type="search" data-filter="#messages > li" data-key="f"; }
                button.small data-unfold="#messages" { "Unfold all" }
            }
            (messages(frame, id, "messages", live, &view.messages))
        }
    };
    frame.page("Context", content)
}

/// The parts as one bar, with the thresholds on it.
fn bar(view: &ContextView) -> Markup {
    let window = f64::from(view.window.max(1));
    let mut from = 0.0;
    let unrecorded = ("not recorded", Tokens(view.unrecorded.unwrap_or_default()));
    let parts = view.parts.rows().into_iter().chain([unrecorded]);
    let stretches = parts.map(|(part, tokens)| {
        let width = f64::from(tokens.0) / window * 100.0;
        from += width;
        (part, from - width, width)
    });
    let stretches: Vec<_> = stretches.collect();
    html! {
        svg.bar viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=(format!("{:.1} % of the window", view.percent)) {
            rect.track x="0" y="0" width="100" height="10" {}
            @for (part, at, width) in stretches {
                rect.(part_class(part)) x=(format!("{at:.2}")) y="0" width=(format!("{width:.2}")) height="10" { title { (part) } }
            }
            @for threshold in &view.thresholds.0 {
                rect.mark x=(format!("{:.2}", f64::from(threshold.at.0) / window * 100.0)) y="0" width="0.25" height="10" { title { (threshold.what) } }
            }
        }
    }
}

fn part_class(part: &str) -> &'static str {
    match part {
        "system messages" => "system",
        "summaries" => "summary",
        "user" | "images" | "documents" => "user",
        "assistant" | "thinking" | "tool calls" => "agent",
        "tool results" => "tools",
        _ => "unrecorded",
    }
}

fn status(view: &ContextView) -> Markup {
    let field = |name: &str| {
        let value = view.status.as_ref().map(|status| &status[name]);
        value.and_then(|value| value.as_str()).map(str::to_owned)
    };
    html! {
        dl.facts {
            @for (name, label) in [("risk", "Risk"), ("recommendation", "Advice"), ("windowSource", "Window")] {
                @if let Some(value) = field(name) { div { dt { (label) } dd { (said(&value)) } } }
            }
        }
    }
}

/// One entry, whole.
pub(in crate::dashboard) fn entry(frame: &Frame<'_>, view: &EntryView) -> Markup {
    let to = |entry: &str| address(&["sessions", &view.session, "entries", entry]);
    let content = html! {
        section.card #entry data-entry=(view.entry) {
            h2 { (said(&view.kind)) " " span.dim { (said(&view.entry)) } }
            dl.facts {
                div { dt { "When" } dd { (time(frame.now, view.time.as_deref())) } }
                div { dt { "Line" } dd { (view.line) } }
                @if let Some(parent) = &view.parent { div { dt { "Follows" } dd { a.source href=(to(parent)) { (gist(parent, 8)) } } } }
                div { dt { "Context" } dd { a href={ (address(&["sessions", &view.session, "context"])) "?at=" (super::text::value(&view.entry)) } { "at this point" } } }
            }
            div.line-head {
                (tools(frame, &view.session, &view.entry, view.pinned))
            }
            pre.text tabindex="0" { (said(&view.text)) }
            details { summary { "As it is stored" } pre tabindex="0" { (said(&view.stored)) } }
        }
    };
    frame.page("Entry", content)
}
