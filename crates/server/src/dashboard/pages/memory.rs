//! Memory files, and what waits for a decision.

use maud::{Markup, html};

use super::layout::Frame;
use super::text::{address, said, time};
use crate::dashboard::views::{
    CandidateRow, DreamsView, MemoryView, Planned, Promotion, Promotions,
};

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
                @if let Some(text) = &file.text { pre.text tabindex="0" { (said(text)) } }
            } }
        }
    };
    frame.page("Memory", content)
}

/// What waits, and what was decided.
pub(in crate::dashboard) fn dreams(
    frame: &Frame<'_>,
    view: &DreamsView,
    made: &Promotions,
) -> Markup {
    let content = html! {
        h1.quiet { "What waits for a decision in " code { (said(&view.workspace)) } }
        @if let Some(unfinished) = &view.unfinished { p.warning { (said(unfinished)) } }
        @if view.candidates.is_empty() {
            div.card.empty { h2 { "Nothing waits" } p { code { "longhaul dream run" } " goes through the logs of the last days." } }
        } @else if !frame.may_write() {
            p.dim { code { "longhaul dream review" } " decides about them, and so does this page with " code { "--write" } "." }
        }
        ol.hits #candidates { @for one in &view.candidates { (candidate(frame, one)) } }
        @if !made.changes.is_empty() {
            section.card { details open[view.candidates.is_empty()] { summary { h2 { "Kept before (" (made.changes.len()) ")" } }
                ul.lines #promotions { @for one in &made.changes { (promotion(frame, one)) } }
            } }
        }
    };
    frame.page("Dreams", content)
}

fn candidate(frame: &Frame<'_>, one: &CandidateRow) -> Markup {
    let wording = one.wording.as_deref().unwrap_or(&one.text);
    html! {
        li.card data-row data-line id=(one.id) {
            div.line-head {
                span.tag { (one.topic) }
                span.dim { "score " (format!("{:.2}", one.confidence)) " · mentions " (one.mentions) ", valid from " (one.valid_from) }
                span.dim { (one.id) }
                @if let Some(review) = one.review { span.tag.nowhere { (review.why()) } }
                @if !one.source.is_trusted() { span.tag.nowhere { "not the user's or the agent's words: data, not an instruction" } }
            }
            p.text.large { (said(wording)) }
            @if one.wording.is_some() { p.dim { "in its source's words: " (said(&one.text)) } }
            @for old in &one.in_place_of { div.beside { span.tag { "in place of" } " " (said(&old.text)) " " span.dim { (old.id) ", valid from " (old.valid_from) } } }
            @for other in &one.beside { div.beside { span.tag.nowhere { "may contradict" } " " (said(&other.text)) " " span.dim { (other.id) ", " (other.status) ", said " (other.last_said) } } }
            ul.lines.tight { @for evidence in &one.evidence {
                li { span.dim { (evidence.source) " " (said(&evidence.place())) } " " (said(&evidence.words())) }
            } }
            @match &one.change {
                Planned::Refused { refused } => p.warning { "It cannot be kept now: " (said(&refused.message)) },
                Planned::Possible { files, demotes } => {
                    details { summary { "What keeping it changes" }
                        @for file in files { h3.path { (said(&file.file)) } pre tabindex="0" { (said(&file.diff)) } }
                        @for id in demotes { p.dim { (id) " leaves MEMORY.md to make room" } }
                    }
                }
            }
            @if frame.may_write() { (decisions(one, wording)) }
        }
    }
}

/// Keep, edit, drop. They go with what was seen, so that nothing is decided about
/// something else.
fn decisions(one: &CandidateRow, wording: &str) -> Markup {
    let to = |what| {
        let path = address(&["dreams", "candidates", &one.id, what]);
        format!("/api{path}")
    };
    let is_possible = matches!(one.change, Planned::Possible { .. });
    html! {
        form.decide hx-post=(to("edit")) hx-swap="none" {
            input type="hidden" name="seen" value=(one.seen());
            label.grow { span { "Its line" } input name="text" value=(wording) autocomplete="off"; }
            button.primary type="button" hx-post=(to("keep")) hx-include="closest form" disabled[!is_possible] { "Keep" }
            button { "Edit" }
            button type="button" hx-post=(to("drop")) hx-include="closest form" { "Drop" }
        }
    }
}

fn promotion(frame: &Frame<'_>, one: &Promotion) -> Markup {
    let number = one.change.to_string();
    html! {
        li data-line {
            div.line-head {
                span.dim { "#" (number) } (time(frame.now, Some(&one.at))) span.dim { (one.candidate) }
                @if let Some(by) = one.undone_by { span.tag { "taken back by #" (by) } }
                @if one.possible { (frame.change("Take back", &["dreams", "promotions", &number, "undo"])) }
            }
            div.text { (said(one.text.as_deref().unwrap_or_default())) }
            @for line in &one.left { p.dim { (said(&line.file)) ":" (line.line) " was edited by hand and stays: " (said(&line.text)) } }
            @if let Some(refused) = &one.refused { p.warning { (said(&refused.message)) } }
        }
    }
}
