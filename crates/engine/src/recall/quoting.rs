//! What recall shows, without the secrets in it.
//!
//! Entries are found and come back as they are stored. Who shows them to a
//! reader, writes them to a log or hands them to a model goes through here, so
//! that a key that was pasted once is not carried from place to place.

use std::collections::HashSet;

use longhaul_redact::{Document, Redactor};
use longhaul_transcript::{Entry, MessageView, Result, Session};

use super::hit::Hit;
use super::wording::{full_text, text_with, with_thinking};
use crate::survey::{Surveys, teach};

/// What stands for the rest of a secret that an excerpt cut through.
const REST: &str = "[redacted:rest]";

/// Hits that are shown together: the same secret has the same placeholder in
/// all of them.
pub struct Quoting<'a> {
    document: Document<'a>,
    left_out: bool,
    surveys: Surveys,
}

impl<'a> Quoting<'a> {
    /// Nothing shown yet.
    pub fn new(redactor: &'a Redactor) -> Quoting<'a> {
        Quoting {
            document: redactor.document(),
            left_out: false,
            surveys: Surveys::default(),
        }
    }

    /// With surveys, only what is new in a session is looked through.
    #[must_use]
    pub fn with_surveys(self, surveys: Surveys) -> Quoting<'a> {
        Quoting { surveys, ..self }
    }

    /// Learns the secrets of the sessions that hits are from, before they are
    /// shown.
    pub fn learn(&mut self, hits: &[Hit]) -> Result<()> {
        let mut seen = HashSet::new();
        for place in hits.iter().filter_map(|hit| hit.place.as_ref()) {
            if seen.insert(place) {
                self.learn_session(&Session::open_ref(place)?)?;
            }
        }
        Ok(())
    }

    /// The same of one session.
    pub fn learn_session(&mut self, session: &Session) -> Result<()> {
        teach(session, &self.surveys.keep(session), &mut self.document)
    }

    /// Whether what was shown is not what is stored.
    pub fn has_left_out(&self) -> bool {
        self.left_out
    }

    /// Everything an entry says.
    pub fn text(&mut self, entry: &Entry) -> String {
        let stored = full_text(entry);
        let shown = self.read(entry, &stored);
        self.left_out |= shown != stored;
        shown
    }

    /// The text around what was asked for. What gives a secret away may stand
    /// outside of it, so the entry is read as a whole.
    pub fn excerpt(&mut self, hit: &Hit) -> String {
        let stored = full_text(&hit.entry);
        let whole = self.read(&hit.entry, &stored);
        let mut shown = self.document.text(&hit.excerpt).into_owned();
        if whole != stored {
            shown = without_rests(&shown, &whole);
        }
        self.left_out |= shown != hit.excerpt;
        shown
    }

    /// The stored line.
    pub fn raw(&mut self, entry: &Entry) -> String {
        self.read(entry, &full_text(entry));
        let shown = self.document.json(entry.raw());
        self.left_out |= shown != entry.raw();
        shown.into_owned()
    }

    /// Everything a message says.
    pub fn message(&mut self, message: &MessageView<'_>) -> String {
        let document = &mut self.document;
        let text = text_with(message, |_| true, |arguments| document.json(arguments));
        let text = with_thinking(text, message);
        self.document.text(&text).into_owned()
    }

    /// A remark beside the hits.
    pub fn note(&mut self, note: &str) -> String {
        self.document.text(note).into_owned()
    }

    fn read(&mut self, entry: &Entry, text: &str) -> String {
        // The names of members give away more than the text made of them.
        self.document.json(entry.raw());
        match entry.message() {
            Some(message) => self.message(&message),
            None => self.document.text(text).into_owned(),
        }
    }
}

/// An excerpt without what is in it of secrets that it cut through: words that
/// the whole text, its secrets replaced, does not have.
fn without_rests(excerpt: &str, whole: &str) -> String {
    let mut out = String::with_capacity(excerpt.len());
    for piece in excerpt.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        // The sign of a cut is the excerpt's own.
        let inner = word.trim_matches('…');
        if inner.is_empty() || whole.contains(inner) {
            out.push_str(piece);
        } else {
            out.push_str(&word.replace(inner, REST));
            out.push_str(&piece[word.len()..]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_secret_is_not_in_an_excerpt() {
        let whole = "TOKEN=[redacted:secret#1] and then\n[redacted:private-key#1]\n\nthe end";
        for (excerpt, expected) in [
            (
                "TOKEN=[redacted:secret#1] and",
                "TOKEN=[redacted:secret#1] and",
            ),
            ("…8fQ2x and then", "…[redacted:rest] and then"),
            ("MIIEow8fQ2x\nthe end", "[redacted:rest]\nthe end"),
            ("", ""),
        ] {
            assert_eq!(without_rests(excerpt, whole), expected);
        }
    }
}
