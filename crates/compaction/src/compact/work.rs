//! A session as it is compacted.

use std::collections::HashSet;

use longhaul_ledger::Ledger;
use longhaul_tokens::{Estimator, Window};
use longhaul_transcript::{Body, ContextMessage, Entry, EntryId, MessageView, Role};
use serde_json::Value;

use crate::audit::Source;
use crate::guard::Wear;
use crate::summary::{Extractive, Limits, Material, Previous, Sizes, Span, summarize};
use crate::terms::Layer;

/// A session as its caller holds it.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The path from the first kept entry on.
    pub entries: &'a [Entry],
    /// Where on it the summary in force stands.
    pub boundary: Option<usize>,
    /// The context that it makes.
    pub messages: &'a [ContextMessage],
    /// What matters in all of the session.
    pub ledger: &'a Ledger,
    /// What matters in what is no longer in the context.
    pub base: &'a Ledger,
    /// What an audit looks for.
    pub source: &'a Source,
    /// Pinned entries.
    pub pins: &'a HashSet<EntryId>,
    /// Compactions so far.
    pub epoch: u32,
    /// What they came to.
    pub wear: Wear,
    /// What counts tokens.
    pub estimator: Estimator,
    /// How a message is read as text.
    pub text: &'a dyn Fn(&MessageView<'_>) -> String,
    /// How a ledger stands in an entry.
    pub pack: &'a dyn Fn(&Ledger) -> Value,
}

impl<'a> Work<'a> {
    /// The summary in force, and who wrote it.
    pub(super) fn previous(&self) -> Option<Previous<'a>> {
        match &self.entries.get(self.boundary?)?.body {
            Body::Compaction(compaction) => Some(Previous {
                text: &compaction.summary,
                maker: match &compaction.summarizer {
                    Some(_) => "longhaul",
                    None => "the agent",
                },
            }),
            _ => None,
        }
    }

    /// The span of entries that a summary stands for: everything that has left so
    /// far, what leaves now included, of which so many entries were there before.
    pub(super) fn span<'s>(&'s self, leaving: &[&'s EntryId], before: u64) -> Option<Span<'s>> {
        let start = self.ledger.utterances.first().map(|said| &said.entry);
        let (first, last) = (
            start.or(leaving.first().copied())?,
            leaving.last().copied()?,
        );
        Some(Span {
            first,
            last,
            count: before + leaving.len() as u64,
        })
    }

    /// What a compaction of everything would say, its prose extracted.
    pub fn summary_of_all(&self, window: &Window, sizes: &Sizes) -> String {
        let ids = said(self.messages);
        let span = self.span(&ids, 0).map(|span| Span {
            count: self.ledger.entries,
            ..span
        });
        let material = Material {
            removed: self.messages,
            previous: self.previous(),
            span,
            epoch: self.epoch + 1,
            ..Material::of(self.ledger)
        };
        let limits = Limits::new(window, Layer::Full, sizes);
        summarize(
            &mut Extractive,
            &material,
            &limits,
            self.estimator.counter(),
        )
        .text
    }
}

/// The entries of messages, summaries aside.
pub(super) fn said(messages: &[ContextMessage]) -> Vec<&EntryId> {
    messages
        .iter()
        .filter(|message| message.role != Role::CompactionSummary)
        .map(|message| &message.entry)
        .collect()
}

/// What is to be said about so many results that answer no call.
pub fn unasked_note(count: usize) -> String {
    match count {
        1 => "1 tool result answers no call; it is never sent and not counted".to_owned(),
        _ => format!("{count} tool results answer no call; they are never sent and not counted"),
    }
}
