//! A context, part by part, and one entry of it.

use maud::{Markup, html};

use super::layout::Frame;
use super::text::{address, gist, number, said, time};
use crate::dashboard::views::{ContextView, EntryView, MessageRow};

/// The context.
pub(in crate::dashboard) fn context(frame: &Frame<'_>, view: &ContextView) -> Markup {
    let live = view.at.is_none().then_some(view.session.as_str());
    let content = html! {
        section.card #context data-live=[live] {
            h2 {
                @match &view.at {
                    Some(at) => { "The context up to " a.source href=(address(&["sessions", &view.session, "entries", at])) { (gist(at, 8)) } },
                    None => "What the model would be sent now",
                }
            }
            p { b { (number(u64::from(view.tokens))) } " of " (number(u64::from(view.window))) " tokens ("
                (format!("{:.1} %", view.percent)) "), " (view.tokens_from) }
            (bar(view))
            @if view.at.is_none() { p { "Next: " (view.next) } (status(view)) }
            table.parts { tbody { @for part in &view.parts {
                tr { th scope="row" { (part.part) } td.number { @match part.tokens { Some(tokens) => (number(u64::from(tokens))), None => span.dim { "unknown" } } } }
            } } }
        }
        section.card {
            div.chart-head {
                h2 { "Messages (" (view.messages.len()) ")" }
                label.inline { "Find in them " input type="search" data-filter="#messages > li" data-key="f"; }
                button.small data-unfold="#messages" { "Unfold all" }
            }
            ol.messages #messages { @for message in &view.messages { (line(frame, view, message)) } }
        }
    };
    frame.page("Context", content)
}

fn line(frame: &Frame<'_>, view: &ContextView, message: &MessageRow) -> Markup {
    html! {
        li data-line data-entry=(message.entry) {
            details {
                summary {
                    span.tag.(role_class(&message.role)) { (message.role) } " "
                    @if let Some(tool) = &message.tool { span.tag { (said(tool)) } " " }
                    @if message.pinned { span.tag.pinned { "pinned" } " " }
                    @if message.edited { span.tag { "hidden in part" } " " }
                    span.dim { (number(u64::from(message.tokens))) } " " (gist(&message.text, 140))
                }
                div.line-head {
                    a.source href=(address(&["sessions", &view.session, "entries", &message.entry])) { "source" }
                    button.small data-copy { "Copy" }
                    @if frame.may_write() {
                        @if message.pinned { button.small hx-post=(address(&["sessions", &view.session, "entries", &message.entry, "unpin"])) { "Unpin" } }
                        @else { button.small hx-post=(address(&["sessions", &view.session, "entries", &message.entry, "pin"])) { "Pin" } }
                    }
                }
                pre.text { (said(&message.text)) }
            }
        }
    }
}

fn role_class(role: &str) -> &'static str {
    match role {
        "user" => "user",
        "assistant" => "agent",
        "toolResult" | "bashExecution" => "tools",
        "compactionSummary" | "branchSummary" => "summary",
        _ => "other",
    }
}

/// The parts as one bar, with the thresholds on it.
fn bar(view: &ContextView) -> Markup {
    let window = f64::from(view.window.max(1));
    let mut from = 0.0;
    let stretches = view.parts.iter().filter_map(|part| {
        let width = f64::from(part.tokens?) / window * 100.0;
        let at = from;
        from += width;
        Some((part, at, width))
    });
    let stretches: Vec<_> = stretches.collect();
    html! {
        svg.bar viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=(format!("{:.1} % of the window", view.percent)) {
            rect.track x="0" y="0" width="100" height="10" {}
            @for (part, at, width) in stretches {
                rect.(part_class(&part.part)) x=(format!("{at:.2}")) y="0" width=(format!("{width:.2}")) height="10" { title { (part.part) } }
            }
            @for threshold in &view.thresholds {
                rect.mark x=(format!("{:.2}", f64::from(threshold.at) / window * 100.0)) y="0" width="0.25" height="10" { title { (threshold.what) } }
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
            h2 { (view.kind) " " span.dim { (said(&view.entry)) } }
            dl.facts {
                div { dt { "When" } dd { (time(frame.now, view.time.as_deref())) } }
                div { dt { "Line" } dd { (view.line) } }
                @if let Some(parent) = &view.parent { div { dt { "Follows" } dd { a.source href=(to(parent)) { (gist(parent, 8)) } } } }
                div { dt { "Context" } dd { a href={ (address(&["sessions", &view.session, "context"])) "?at=" (super::text::value(&view.entry)) } { "at this point" } } }
            }
            div.line-head {
                button.small data-copy { "Copy" }
                @if frame.may_write() { button.small hx-post={ (to(&view.entry)) "/pin" } { "Pin" } }
            }
            pre.text { (said(&view.text)) }
            details { summary { "As it is stored" } pre { (said(&view.stored)) } }
        }
    };
    frame.page("Entry", content)
}
