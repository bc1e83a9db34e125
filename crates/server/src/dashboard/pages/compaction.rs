//! What a compaction left, and what it took: two columns, each line with its source.

use maud::{Markup, html};

use super::layout::Frame;
use super::text::{address, gist, number, said, time};
use crate::dashboard::views::{
    CompactionRow, CompactionView, Compactions, FileLine, Gone, SaidLine, ToDoLine,
};

/// All of a session.
pub(in crate::dashboard) fn compactions(frame: &Frame<'_>, view: &Compactions) -> Markup {
    let content = html! {
        section.card data-live=(view.session) #compactions {
            @if view.compactions.is_empty() {
                div.empty { h2 { "Never compacted" } p { "All that was said still stands in the context." } }
            } @else { (table(frame, view)) }
        }
    };
    frame.page("Compactions", content)
}

pub(super) fn table(frame: &Frame<'_>, view: &Compactions) -> Markup {
    html! {
        table.list {
            thead { tr {
                th.number scope="col" { "#" } th scope="col" { "When" } th scope="col" { "How" }
                th.number scope="col" { "Tokens" } th scope="col" { "What is in the context after it" } th.number scope="col" { "Lost" }
            } }
            tbody { @for one in &view.compactions {
                tr data-row {
                    td.number { a href=(address(&["sessions", &view.session, "compactions", &one.number.to_string()])) { (one.number) } }
                    td { (time(frame.now, one.time.as_deref())) }
                    td { (one.layer.as_deref().unwrap_or("by the agent")) @if let Some(trigger) = &one.trigger { div.dim { (trigger) } } }
                    td.number { (tokens(one)) }
                    td.dim { (one.fidelity.as_deref().unwrap_or("no audit: another program compacted")) }
                    td.number { @match one.lost { Some(0) => "0", Some(lost) => span.warning { (lost) }, None => "–" } }
                }
            } }
        }
    }
}

fn tokens(row: &CompactionRow) -> String {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), number);
    format!("{} → {}", count(row.tokens_before), count(row.tokens_after))
}

/// One of them.
pub(in crate::dashboard) fn compaction(frame: &Frame<'_>, view: &CompactionView) -> Markup {
    let one = &view.compaction;
    let to = |number: usize| {
        address(&[
            "sessions",
            &view.session,
            "compactions",
            &number.to_string(),
        ])
    };
    let content = html! {
        div.compaction-head {
            h2 { "Compaction " (one.number) " of " (view.of) }
            nav.pager aria-label="Compactions" {
                @if one.number > 1 { a rel="prev" href=(to(one.number - 1)) { "← before" } }
                @if one.number < view.of { a rel="next" href=(to(one.number + 1)) { "after →" } }
            }
        }
        dl.facts {
            div { dt { "When" } dd { (time(frame.now, one.time.as_deref())) } }
            div { dt { "How" } dd { (one.layer.as_deref().unwrap_or("by the agent")) @if let Some(trigger) = &one.trigger { ", " (trigger) } } }
            div { dt { "Tokens" } dd { (tokens(one)) } }
            @if let Some(by) = &one.summarizer { div { dt { "Summary by" } dd { (by) } } }
            @if let Some(checkpoint) = &one.checkpoint { div { dt { "Checkpoint" } dd { (checkpoint) } } }
            div { dt { "Entry" } dd { (source(view, &one.entry, &one.entry)) } }
        }
        @if let Some(fidelity) = &one.fidelity { p.fidelity #fidelity { (fidelity) } }
        @if let Some(audit) = &view.fidelity {
            @if !audit.lost.is_empty() {
                section.card.warning #lost { h3 { "Lost" }
                    ul.lines { @for missing in &audit.lost {
                        li data-line { span.tag { (missing.what) } " " span.text { (said(&missing.text)) }
                            @if let Some(entry) = &missing.entry { (source(view, entry.as_str(), "source")) } }
                    } }
                }
            }
        }
        div.columns {
            section.card aria-labelledby="before-title" {
                h3 #before-title { "Before: what left the context" }
                @if view.archived { p.dim { "It lies in the archive; " code { "longhaul session restore" } " puts it back." } }
                (messages(frame, view, "left", &view.left))
            }
            section.card aria-labelledby="after-title" {
                h3 #after-title { "After: what stands there" }
                (words(frame, view))
                (files(view))
                (items(view, "to-dos", "Open items", &view.to_dos))
                (items(view, "notes", "Notes", &view.notes))
                details #summary { summary { "The summary, as the model reads it" } pre.text { (said(&view.summary)) } }
                details #stayed-box open[view.stayed.len() <= 12] { summary { "Messages that stayed (" (view.stayed.len()) ")" }
                    (messages(frame, view, "stayed", &view.stayed)) }
            }
        }
    };
    frame.page(&format!("Compaction {}", one.number), content)
}

/// A link to the entry that a line comes from.
fn source(view: &CompactionView, entry: &str, label: &str) -> Markup {
    let short: String = label.chars().take(8).collect();
    let href = address(&["sessions", &view.session, "entries", entry]);
    html! { a.source href=(href) title=(entry) { (short) } }
}

fn words(frame: &Frame<'_>, view: &CompactionView) -> Markup {
    let count = |standing: &str| {
        view.said
            .iter()
            .filter(|line| line.standing == standing)
            .count()
    };
    html! {
        details #said open {
            summary { "What the user said ("
                (count("whole")) " whole, " (count("shortened")) " shortened, "
                (count("recallable") + view.said_unlisted as usize) " recallable"
                @if count("nowhere") > 0 { ", " span.warning { (count("nowhere")) " nowhere" } } ")" }
            ol.lines { @for line in &view.said { (said_line(frame, view, line)) } }
            @if view.said_unlisted > 0 { p.dim { "and " (view.said_unlisted) " older texts that can only be recalled" } }
        }
    }
}

fn said_line(frame: &Frame<'_>, view: &CompactionView, line: &SaidLine) -> Markup {
    html! {
        li data-line data-entry=(line.entry) data-standing=(line.standing) {
            div.line-head {
                span.tag.(line.standing) { (line.standing) }
                @if line.channel != "prompt" { span.tag { (line.channel) } }
                (source(view, &line.entry, &line.entry))
                button.small data-copy { "Copy" }
                @if frame.may_write() { button.small hx-post=(address(&["sessions", &view.session, "entries", &line.entry, "pin"])) { "Pin" } }
            }
            div.text.clamp { (said(&line.text)) }
        }
    }
}

fn files(view: &CompactionView) -> Markup {
    let group = |id: &str, title: &str, changed: bool| {
        let lines: Vec<&FileLine> = view
            .files
            .iter()
            .filter(|file| file.changed == changed)
            .collect();
        html! {
            @if !lines.is_empty() {
                details #(id) open[changed] { summary { (title) " (" (lines.len()) ")" }
                    ul.lines.tight { @for file in lines {
                        li data-line {
                            span.text.path { (said(&file.path)) }
                            @if !file.stands { " " span.tag { "by its folder or recall" } }
                            @if let Some(entry) = &file.entry { " " (source(view, entry, entry)) }
                        }
                    } }
                }
            }
        }
    };
    html! { (group("files-changed", "Files changed", true)) (group("files-read", "Files only read", false)) }
}

fn items(view: &CompactionView, id: &str, title: &str, lines: &[ToDoLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            details #(id) open { summary { (title) " (" (lines.len()) ")" }
                ul.lines.tight { @for line in lines {
                    li data-line {
                        span.text { (said(&line.text)) }
                        @if !line.stands { " " span.tag.nowhere { "not in the context" } }
                        @if let Some(entry) = &line.entry { " " (source(view, entry, entry)) }
                    }
                } }
            }
        }
    }
}

fn messages(frame: &Frame<'_>, view: &CompactionView, id: &str, messages: &[Gone]) -> Markup {
    html! {
        ul.messages #(id) { @for message in messages {
            li data-line data-entry=(message.entry) {
                details {
                    summary {
                        span.tag { (message.role) } " " span.dim { (number(u64::from(message.tokens))) } " " (gist(&message.text, 110))
                    }
                    div.line-head {
                        (source(view, &message.entry, &message.entry))
                        button.small data-copy { "Copy" }
                        @if frame.may_write() { button.small hx-post=(address(&["sessions", &view.session, "entries", &message.entry, "pin"])) { "Pin" } }
                    }
                    pre.text { (said(&message.text)) }
                }
            }
        } }
    }
}
