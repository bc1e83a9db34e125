//! Memory files, and what waits for a decision.

use maud::{Markup, html};

use super::layout::Frame;
use super::text::said;
use crate::dashboard::views::{CandidateRow, DreamsView, MemoryView};

/// The memory files.
pub(in crate::dashboard) fn memory(frame: &Frame<'_>, view: &MemoryView) -> Markup {
    let there: Vec<_> = view
        .files
        .iter()
        .filter(|file| file.text.is_some() || file.error.is_some())
        .collect();
    let content = html! {
        h1.quiet { "Memory of " code { (said(&view.workspace)) } }
        @if there.is_empty() {
            div.card.empty { h2 { "No memory files here" } p { code { "longhaul memory init" } " makes them." } }
        }
        @for file in there {
            section.card { details open[file.name == "MEMORY.md"] {
                summary { h2 { (file.name) } }
                @if let Some(error) = &file.error { p.warning { (said(error)) } }
                @if let Some(text) = &file.text { pre.text { (said(text)) } }
            } }
        }
    };
    frame.page("Memory", content)
}

/// What waits.
pub(in crate::dashboard) fn dreams(frame: &Frame<'_>, view: &DreamsView) -> Markup {
    let content = html! {
        h1.quiet { "What waits for a decision in " code { (said(&view.workspace)) } }
        @if view.candidates.is_empty() {
            div.card.empty { h2 { "Nothing waits" } p { code { "longhaul dream run" } " goes through the logs of the last days." } }
        } @else {
            p.dim { code { "longhaul dream review" } " decides about them." }
        }
        ol.hits { @for one in &view.candidates { (candidate(one)) } }
    };
    frame.page("Dreams", content)
}

fn candidate(one: &CandidateRow) -> Markup {
    html! {
        li.card data-row id=(one.id) {
            div.line-head { span.tag { (one.topic) } span.dim { "score " (format!("{:.2}", one.confidence)) " · said " (one.mentions) " times, last " (one.last_said) } span.dim { (one.id) } }
            p.text.large { (said(&one.text)) }
            @for other in &one.beside {
                div.beside { span.tag.nowhere { "may contradict" } " " (said(&other.text)) " " span.dim { (other.id) ", " (other.last_said) } }
            }
            ul.lines.tight { @for evidence in &one.evidence {
                li { span.dim { (evidence.who) " " (said(&evidence.place)) } " " q { (said(&evidence.quote)) } }
            } }
        }
    }
}
