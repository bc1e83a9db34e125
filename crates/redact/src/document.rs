//! A document: several texts that share their placeholders.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use serde::Serialize;

use super::judge::{Evidence, is_secret};
use super::known::Known;
use super::names;
use super::reading::Reading;
use super::{Kind, Redactor};

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The text.
    pub text: String,
    /// What was found, once for each place, in the order of kinds.
    pub found: Vec<Kind>,
}

/// How many secrets were replaced, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    /// Kinds and how often they were replaced, by name.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(name, count)| (*name, *count))
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

static OPENINGS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("[redacted:"));

/// What the texts of a document showed so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Learnt {
    /// Each secret and its placeholder.
    placeholders: HashMap<String, String>,
    /// Those that are replaced wherever they stand.
    known: Known,
    /// The last number of each kind.
    numbers: BTreeMap<Kind, u32>,
}

/// Redacts the texts of one document.
#[derive(Debug)]
pub struct Document<'a> {
    pub(super) redactor: &'a Redactor,
    learnt: Learnt,
    found: BTreeMap<Kind, u64>,
}

impl<'a> Document<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Document<'a> {
        Document {
            redactor,
            learnt: Learnt::clone(&redactor.learnt),
            found: BTreeMap::new(),
        }
    }

    /// The text without secrets: those it shows by itself, and those that an
    /// earlier text of the document showed.
    pub fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.part(text, 0..text.len()).0
    }

    /// The text with a part of it redacted, and where that part ends now. What
    /// stands before it is only context. A secret that begins in the
    /// part and goes on behind it is left for the next one.
    pub(super) fn part<'t>(&mut self, text: &'t str, part: Range<usize>) -> (Cow<'t, str>, usize) {
        self.note_placeholders(&text[part.clone()]);
        // What a replacement leaves may be a secret in its turn, though hardly
        // twice; the bound only makes sure that this ends.
        let start = part.start;
        let (mut result, mut end) = self.pass(text, part);
        for _ in 0..4 {
            let Cow::Owned(changed) = &result else { break };
            match self.pass(changed, start..end) {
                (Cow::Borrowed(_), sooner) => {
                    end = sooner;
                    break;
                }
                (Cow::Owned(again), sooner) => (result, end) = (Cow::Owned(again), sooner),
            }
        }
        (result, end)
    }

    /// The text without the secrets that earlier texts of the document showed.
    /// Those that it shows by itself are not looked for, which is what takes
    /// time.
    pub fn known<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.elsewhere(Cow::Borrowed(text))
    }

    /// Whether no text of the document showed a secret so far.
    pub fn is_clean(&self) -> bool {
        self.learnt.placeholders.is_empty()
    }

    /// How much it learnt. That grows with a text that shows a secret, or a
    /// placeholder, which none before it did; a text with which it does not can
    /// be left out another time.
    pub fn learnt(&self) -> u64 {
        self.learnt.numbers.values().copied().map(u64::from).sum()
    }

    /// Takes the secrets out of several texts, those as well that only a later
    /// one gives away.
    pub fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t mut String>) {
        let mut texts: Vec<&mut String> = texts.into_iter().collect();
        for _ in 0..2 {
            let before = self.learnt.placeholders.len();
            for text in &mut texts {
                if let Cow::Owned(changed) = self.text(text) {
                    **text = changed;
                }
            }
            if self.learnt.placeholders.len() == before {
                break;
            }
        }
    }

    /// A redactor that knows from the start what the texts of this document
    /// showed, for what is made of them: a line or half of a secret stands
    /// there, and what gave it away does not.
    pub fn into_redactor(self) -> Redactor {
        Redactor {
            learnt: Arc::new(self.learnt),
            ..self.redactor.clone()
        }
    }

    /// The placeholder of a string that its name makes a secret.
    pub(super) fn value(&mut self, name: &str, value: &str) -> Option<String> {
        let promise = names::promise(name, &self.redactor.names)?;
        // A key among lines of text is found there, and the text kept.
        let whole = !value.contains('\n') && !self.redactor.off.contains("names");
        let is = whole && is_secret(value, promise, Evidence::Quoted);
        is.then(|| self.placed(promise.kind(), value))?
    }

    pub(super) fn placed(&mut self, kind: Kind, value: &str) -> Option<String> {
        // A provider's mark says more than a name.
        let kind = match self.redactor.secrets(value)[..] {
            [span] if span.start == 0 && span.end == value.len() => span.kind,
            _ => kind,
        };
        (!self.redactor.keep.contains(value)).then(|| {
            let mut placeholder = self.placeholder(kind, value);
            push_line_ends(&mut placeholder, value);
            placeholder
        })
    }

    /// What was replaced so far.
    pub fn tally(&self) -> Tally {
        let rows = self.found.iter();
        Tally(rows.map(|(kind, count)| (kind.name(), *count)).collect())
    }

    /// Starts counting again. Secrets stay known, so that a second reading of
    /// the same texts also finds what the first one learnt too late.
    pub fn restart(&mut self) {
        self.found.clear();
    }

    pub(super) fn kinds(&self) -> Vec<Kind> {
        let each = self.found.iter();
        each.flat_map(|(kind, count)| (0..*count).map(|_| *kind))
            .collect()
    }

    fn pass<'t>(&mut self, text: &'t str, part: Range<usize>) -> (Cow<'t, str>, usize) {
        let mut out = String::new();
        let (mut from, mut end) = (part.start, part.end);
        let redactor = self.redactor;
        let reading = Reading::of(text);
        let read = reading.as_ref().map_or(text, |reading| &reading.text);
        for span in redactor.secrets(read) {
            let Some(secret) = read.get(span.start..span.end) else {
                continue;
            };
            let (start, stop) = match &reading {
                Some(reading) => match reading.written(span.start, span.end) {
                    Some(place) => place,
                    None => continue,
                },
                None => (span.start, span.end),
            };
            if start >= end {
                break;
            }
            if stop <= from || secret.is_empty() || redactor.keep.contains(secret) {
                continue;
            }
            if stop > end && start > part.start {
                end = start;
                break;
            }
            // Spans begin and end at the borders of characters; one that did not
            // would be no text.
            let start = start.max(from);
            let (Some(before), Some(written)) = (text.get(from..start), text.get(start..stop))
            else {
                continue;
            };
            out.push_str(before);
            out.push_str(&self.placeholder(span.kind, secret));
            push_line_ends(&mut out, written);
            from = stop;
            end = end.max(stop);
        }
        let scanned = match from > part.start {
            false => Cow::Borrowed(&text[part.start..end]),
            true => {
                out.push_str(&text[from..end]);
                Cow::Owned(out)
            }
        };
        match self.elsewhere(scanned) {
            Cow::Borrowed(_) => (Cow::Borrowed(text), end),
            Cow::Owned(changed) => {
                let whole = [&text[..part.start], &changed, &text[end..]].concat();
                (Cow::Owned(whole), part.start + changed.len())
            }
        }
    }

    /// Replaces known secrets that stand where nothing gives them away.
    fn elsewhere<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        let Some((changed, found)) = self.learnt.known.replace(&text) else {
            return text;
        };
        for (kind, hits) in found {
            *self.found.entry(kind).or_default() += hits;
        }
        Cow::Owned(changed)
    }

    fn placeholder(&mut self, kind: Kind, secret: &str) -> String {
        *self.found.entry(kind).or_default() += 1;
        if let Some(known) = self.learnt.placeholders.get(secret) {
            return known.clone();
        }
        let number = self.learnt.numbers.entry(kind).or_default();
        *number += 1;
        let placeholder = format!("[redacted:{kind}#{number}]");
        self.learnt
            .placeholders
            .insert(secret.to_owned(), placeholder.clone());
        self.learnt.known.learn(secret, &placeholder);
        placeholder
    }

    /// A text that was redacted before brings its numbers; new secrets get
    /// others.
    fn note_placeholders(&mut self, text: &str) {
        const OPEN: &str = "[redacted:";
        const LONGEST: usize = 40;
        for at in OPENINGS.find_iter(text.as_bytes()) {
            let rest = &text.as_bytes()[at + OPEN.len()..];
            let rest = &rest[..rest.len().min(LONGEST)];
            let inner = memchr::memchr(b']', rest).map(|end| &rest[..end]);
            let Some(inner) = inner.and_then(|inner| std::str::from_utf8(inner).ok()) else {
                continue;
            };
            if let Some((kind, number)) = inner.split_once('#')
                && let (Some(kind), Ok(number)) = (Kind::named(kind), number.parse::<u32>())
            {
                let last = self.learnt.numbers.entry(kind).or_default();
                *last = (*last).max(number.min(u32::MAX / 2));
            }
        }
    }
}

/// The line ends of a secret stay, so that what follows it keeps the number of
/// its line: evidence and stubs point at lines.
fn push_line_ends(out: &mut String, secret: &str) {
    for line in secret
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
    {
        let end = line.len() - line.trim_end_matches(['\r', '\n']).len();
        out.push_str(&line[line.len() - end.min(2)..]);
    }
}
