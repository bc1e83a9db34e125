//! What a compaction left, and what it took: two columns, each line with its source.

use longhaul_compaction::audit::{Audit, Missing};
use maud::{Markup, html};

use super::layout::Frame;
use super::text::{address, gist, number, said, time, value};
use crate::dashboard::views::{
    CompactionRow, CompactionView, Compactions, FileLine, MessageRow, SaidLine, ToDoLine,
};

/// All of a session.
pub(in crate::dashboard) fn compactions(
    frame: &Frame<'_>,
    view: &Compactions,
    can_redo: bool,
) -> Markup {
    let id = view.session.id.as_str();
    let content = html! {
        section.card data-live=(id) #compactions {
            @if view.compactions.is_empty() {
                div.empty { h2 { "Never compacted" } p { "All that was said still stands in the context." } }
            } @else { (table(frame, view)) }
            @if can_redo {
                p { "The latest compaction or pruning was taken back. "
                    (frame.change("Do it again", &["sessions", id, "redo"])) }
            }
        }
    };
    frame.page("Compactions", content)
}

pub(super) fn table(frame: &Frame<'_>, view: &Compactions) -> Markup {
    let lost = |one: &CompactionRow| match one.fidelity.as_ref().map(Audit::losses) {
        None => html! { "–" },
        Some(0) => html! { "0" },
        Some(lost) => html! { span.warning { (lost) } },
    };
    html! {
        table.list {
            thead { tr {
                th.number scope="col" { "#" } th scope="col" { "When" } th scope="col" { "How" }
                th.number scope="col" { "Tokens" } th scope="col" { "What is in the context after it" } th.number scope="col" { "Lost" }
            } }
            tbody { @for one in &view.compactions {
                tr data-row {
                    td.number { a href=(address(&["sessions", &view.session.id, "compactions", &one.number.to_string()])) { span.narrow { "Compaction " } (one.number) } }
                    td { (time(frame.now, one.time.as_deref())) }
                    td { (said(one.layer.as_deref().unwrap_or("by the agent"))) @if let Some(trigger) = &one.trigger { div.dim { (said(trigger)) } } }
                    td.number { (tokens(one)) }
                    td.dim { @match &one.fidelity { Some(fidelity) => (fidelity), None => "no audit: another program compacted" } }
                    td.number { span.narrow { "lost: " } (lost(one)) }
                }
            } }
        }
    }
}

fn tokens(row: &CompactionRow) -> String {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), number);
    format!("{} → {}", count(row.tokens_before), count(row.tokens_after))
}

/// One of them: all that the view has.
pub(in crate::dashboard) fn compaction(frame: &Frame<'_>, view: &CompactionView) -> Markup {
    let one = &view.compaction;
    let id = view.session.id.as_str();
    let to = |number: usize| address(&["sessions", id, "compactions", &number.to_string()]);
    let content = html! {
        div.compaction-head {
            h2 { "Compaction " (one.number) " of " (view.of) }
            nav.pager aria-label="Compactions" {
                @if one.number > 1 { a rel="prev" href=(to(one.number - 1)) { "← before" } }
                @if one.number < view.of { a rel="next" href=(to(one.number + 1)) { "after →" } }
            }
            @if one.number == view.of { (frame.change("Undo this compaction", &["sessions", id, "compactions", &one.entry, "undo"])) }
        }
        dl.facts {
            div { dt { "When" } dd { (time(frame.now, one.time.as_deref())) } }
            div { dt { "How" } dd { (said(one.layer.as_deref().unwrap_or("by the agent"))) @if let Some(trigger) = &one.trigger { ", " (said(trigger)) } } }
            div { dt { "Tokens" } dd { (tokens(one)) } }
            @if let Some(count) = one.messages_compacted { div { dt { "Messages summarised" } dd { (number(count)) } } }
            @if one.epoch != one.number { div { dt { "Epoch" } dd { (one.epoch) } } }
            @if let Some(by) = &one.summarizer { div { dt { "Summary by" } dd { (said(by)) } } }
            @if let Some(checkpoint) = &one.checkpoint { div { dt { "Checkpoint" } dd { (said(checkpoint)) } } }
            div { dt { "Entry" } dd { (source(id, &one.entry)) ", line " (one.line) } }
        }
        @if let Some(audit) = &one.fidelity {
            p.fidelity #fidelity { (audit) }
            (missing(id, "lost", "Lost", &audit.lost))
        }
        div.columns {
            section.card aria-labelledby="before-title" {
                h3 #before-title { "Before: what left the context" }
                @if view.archived { p.dim { "What is older lies in the archive; " code { "longhaul session restore" } " puts it back." } }
                (messages(frame, id, "left", None, &view.left))
            }
            section.card aria-labelledby="after-title" {
                h3 #after-title { "After: what stands there" }
                (words(frame, view))
                @if let Some(audit) = &one.fidelity { (missing(id, "reduced", "Not whole, by its audit at the time", &audit.reduced)) }
                (files(view))
                (items(id, "to-dos", "Open items", &view.to_dos))
                (items(id, "notes", "Notes", &view.notes))
                details #summary { summary { "The summary, as the model reads it (" (number(one.summary_bytes as u64)) " bytes)" } pre.text { (said(&one.summary)) } }
                details #stayed-box open[view.stayed.len() <= 12] { summary { "Messages that stayed (" (view.stayed.len()) ")" }
                    (messages(frame, id, "stayed", None, &view.stayed)) }
            }
        }
    };
    frame.page(&format!("Compaction {}", one.number), content)
}

/// A link to the entry that a line comes from.
fn source(session: &str, entry: &str) -> Markup {
    let short: String = entry.chars().take(8).collect();
    let href = address(&["sessions", session, "entries", entry]);
    html! { a.source href=(href) title=(entry) { (said(&short)) } }
}

/// What can be done with an entry: copied, found again, pinned, put back.
pub(super) fn tools(frame: &Frame<'_>, session: &str, entry: &str, is_pinned: bool) -> Markup {
    let to = |what| ["sessions", session, "entries", entry, what];
    let again = format!(
        "/search?q={}&session={}&in=session",
        value(entry),
        value(session)
    );
    html! {
        button.small type="button" data-copy { "Copy" }
        @if frame.may_write() {
            @if is_pinned { (frame.change("Unpin", &to("unpin"))) } @else { (frame.change("Pin", &to("pin"))) }
            (frame.change("Recall into the context", &to("recall")))
        } @else { a.source href=(again) { "recall" } }
    }
}

/// What the audit named.
fn missing(session: &str, id: &str, title: &str, lines: &[Missing]) -> Markup {
    html! {
        @if !lines.is_empty() {
            details #(id) open[id == "lost"] { summary.warning[id == "lost"] { (title) " (" (lines.len()) ")" }
                ul.lines.tight { @for line in lines {
                    li data-line {
                        span.tag { (line.what) } " "
                        @if let Some(channel) = line.channel { span.tag { (channel.as_str()) } " " }
                        span.text { (said(&line.text)) }
                        @if let Some(entry) = &line.entry { " " (source(session, entry.as_str())) }
                    }
                } }
            }
        }
    }
}

fn words(frame: &Frame<'_>, view: &CompactionView) -> Markup {
    let count = |standing: &str| {
        let all = view.said.iter();
        all.filter(|line| line.standing == standing).count()
    };
    html! {
        details #said open {
            summary { "What the user said ("
                (count("whole")) " whole, " (count("shortened")) " shortened, "
                (count("recallable") + view.said_unlisted as usize) " recallable"
                @if count("nowhere") > 0 { ", " span.warning { (count("nowhere")) " nowhere" } } ")" }
            ol.lines { @for line in &view.said { (said_line(frame, &view.session.id, line)) } }
            @if view.said_unlisted > 0 { p.dim { "and " (view.said_unlisted) " older texts that can only be recalled" } }
        }
    }
}

fn said_line(frame: &Frame<'_>, session: &str, line: &SaidLine) -> Markup {
    html! {
        li data-line data-entry=(line.entry) data-standing=(line.standing) {
            div.line-head {
                span.tag.(line.standing) { (line.standing) }
                @if line.channel != "prompt" { span.tag { (line.channel) } }
                (source(session, &line.entry))
                (tools(frame, session, &line.entry, false))
            }
            div.text.clamp { (said(&line.text)) }
        }
    }
}

fn files(view: &CompactionView) -> Markup {
    let group = |id: &str, title: &str, changed: bool| {
        let lines = view.files.iter().filter(|file| file.changed == changed);
        let lines: Vec<&FileLine> = lines.collect();
        html! {
            @if !lines.is_empty() {
                details #(id) open[changed] { summary { (title) " (" (lines.len()) ")" }
                    ul.lines.tight { @for file in lines {
                        li data-line {
                            span.text.path { (said(&file.path)) }
                            @if !file.stands { " " span.tag { "by its folder or recall" } }
                            @if let Some(entry) = &file.entry { " " (source(&view.session.id, entry)) }
                        }
                    } }
                }
            }
        }
    };
    html! { (group("files-changed", "Files changed", true)) (group("files-read", "Files only read", false)) }
}

fn items(session: &str, id: &str, title: &str, lines: &[ToDoLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            details #(id) open { summary { (title) " (" (lines.len()) ")" }
                ul.lines.tight { @for line in lines {
                    li data-line {
                        span.text { (said(&line.text)) }
                        @if !line.stands { " " span.tag.nowhere { "not in the context" } }
                        @if let Some(entry) = &line.entry { " " (source(session, entry)) }
                    }
                } }
            }
        }
    }
}

/// Messages, each folded.
pub(super) fn messages(
    frame: &Frame<'_>,
    session: &str,
    id: &str,
    live: Option<&str>,
    messages: &[MessageRow],
) -> Markup {
    html! {
        ol.messages #(id) data-live=[live] { @for message in messages {
            li data-line data-entry=(message.entry) {
                details {
                    summary {
                        span.tag.(role_class(&message.role)) { (said(&message.role)) } " "
                        @if let Some(tool) = &message.tool { span.tag { (said(tool)) } " " }
                        @if message.pinned { span.tag.pinned { "pinned" } " " }
                        @if message.edited { span.tag { "hidden in part" } " " }
                        span.dim { (number(u64::from(message.tokens))) } " " (gist(&message.text, 140))
                    }
                    div.line-head {
                        (source(session, &message.entry))
                        (tools(frame, session, &message.entry, message.pinned))
                    }
                    pre.text tabindex="0" { (said(&message.text)) }
                }
            }
        } }
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
