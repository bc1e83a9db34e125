//! What all pages have in common.

use longhaul_transcript::Millis;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::{address, said};

/// Around a page: where it stands, and what it may do.
pub(in crate::dashboard) struct Frame<'a> {
    /// The time now.
    pub(in crate::dashboard) now: Millis,
    /// The token that changes carry; none where nothing may be changed.
    pub(in crate::dashboard) csrf: Option<String>,
    /// The session that the page is about: its id and its name.
    pub(in crate::dashboard) session: Option<(&'a str, &'a str)>,
    /// Which of the main entries, or of the session's, is open.
    pub(in crate::dashboard) tab: &'static str,
}

const SVG: &str = include_str!("../assets/icon.svg");

/// A page without any frame.
pub(super) fn bare(title: &str, body: Markup) -> Markup {
    document(title, None, body)
}

fn document(title: &str, csrf: Option<&str>, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="htmx-config" content=r#"{"includeIndicatorStyles":false,"allowEval":false,"selfRequestsOnly":true}"#;
                title { (said(title)) " · longhaul" }
                link rel="icon" href="/assets/icon.svg";
                link rel="stylesheet" href="/assets/style.css";
                script src="/assets/htmx.js" defer {}
                script src="/assets/page.js" defer {}
            }
            body data-csrf=[csrf] { (body) }
        }
    }
}

impl Frame<'_> {
    /// Whether the page may offer changes.
    pub(super) fn may_write(&self) -> bool {
        self.csrf.is_some()
    }

    /// What changes something, where that is allowed.
    pub(super) fn change(&self, label: &str, parts: &[&str]) -> Markup {
        html! {
            @if self.may_write() {
                button.small type="button" hx-post={ "/api" (address(parts)) } hx-swap="none" { (label) }
            }
        }
    }

    /// A whole page.
    pub(super) fn page(&self, title: &str, content: Markup) -> Markup {
        let tabs = [
            ("sessions", "Sessions", "/"),
            ("search", "Search", "/search"),
            ("memory", "Memory", "/memory"),
            ("dreams", "Dreams", "/dreams"),
        ];
        let body = html! {
            a.skip href="#content" { "Skip to the content" }
            header.top {
                a.brand href="/" { (PreEscaped(SVG)) span { "longhaul" } }
                nav aria-label="Main" {
                    @for (name, label, href) in tabs {
                        a href=(href) aria-current=[(self.tab == name).then_some("page")] { (label) }
                    }
                }
                form.find action="/search" role="search" {
                    input type="search" name="q" placeholder="Search everything  /" aria-label="Search everything" data-key="/";
                }
                @if !self.may_write() { span.badge title="Started without --write: nothing is changed" { "read-only" } }
            }
            main #content {
                @if let Some((id, name)) = self.session { (self.session_head(id, name)) }
                (content)
            }
            div #toast role="status" aria-live="polite" {}
        };
        document(title, self.csrf.as_deref(), body)
    }

    fn session_head(&self, id: &str, name: &str) -> Markup {
        let at = |part: &str| match part {
            "" => address(&["sessions", id]),
            _ => address(&["sessions", id, part]),
        };
        let tabs = [
            ("timeline", "Timeline", at("")),
            ("context", "Context", at("context")),
            ("compactions", "Compactions", at("compactions")),
        ];
        html! {
            div.session-head {
                h1 { (said(name)) }
                nav.tabs aria-label="Session" {
                    @for (tab, label, href) in tabs {
                        a href=(href) aria-current=[(self.tab == tab).then_some("page")] { (label) }
                    }
                }
            }
        }
    }
}
