//! Search and recall.

use maud::{Markup, html};

use super::layout::Frame;
use super::text::{address, gist, said, time};
use crate::dashboard::views::{FoundView, Question, Where};

/// The page, with what was found.
pub(in crate::dashboard) fn found(
    frame: &Frame<'_>,
    view: &FoundView,
    question: &Question,
) -> Markup {
    let scopes = [
        (Where::Session, "session", "this session"),
        (Where::Family, "family", "it and its forks"),
        (Where::Everything, "everything", "everything"),
    ];
    let content = html! {
        h1.quiet { "Find what was said, read or done" }
        form.filters action="/search" {
            label.grow { span { "Words, or an entry's id" } input type="search" name="q" value=(question.q) autofocus; }
            label { span { "In" } select name="in" { @for (scope, name, label) in scopes {
                option value=(name) selected[scope == question.r#in] { (label) }
            } } }
            label { span { "From session" } input name="session" value=(question.session) placeholder="the newest here"; }
            button.primary { "Search" }
        }
        @for note in &view.notes { p.dim { (said(note)) } }
        @if view.redacted { p.dim { "Secrets were left out of what is shown." } }
        @if !question.q.trim().is_empty() && view.hits.is_empty() {
            div.card.empty { h2 { "Nothing has these words" } p { "Try fewer of them, or look in everything." } }
        }
        ol.hits { @for hit in &view.hits {
            li.card data-row data-entry=(hit.entry) {
                div.line-head {
                    span.tag { (said(&hit.who)) }
                    (time(frame.now, hit.time.as_deref()))
                    a.source href=(address(&["sessions", &hit.session, "entries", &hit.entry])) { "whole entry" }
                    a.source href=(address(&["sessions", &hit.session])) { "session " (gist(&hit.session, 8)) }
                    @if hit.in_context { span.tag { "still in its context" } }
                    @if hit.others > 0 { span.dim { "and " (hit.others) " more that say the same" } }
                }
                div.text { (said(&hit.excerpt)) }
                p.dim.why { "because: " (said(&hit.why)) }
            }
        } }
    };
    frame.page("Search", content)
}
