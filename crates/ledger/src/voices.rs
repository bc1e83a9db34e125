//! Voices: messages in the user's name that the user did not type.
//!
//! An agent that hands work to another writes the user's part of that
//! conversation, and programs put what they fetched there. It is heard, since
//! it may be all that a subagent was asked; but nobody vouches for it, so it
//! takes back nothing that the user said, and whoever writes it down for later
//! says so.

use std::collections::BTreeSet;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Block, Body, Entry, EntryId, MessageView};

use crate::facts::{Provenance, Speaker};
use crate::ledger::Ledger;
use crate::ours::{self, BROUGHT};

/// How OpenClaw begins what another session sent, in lower case.
pub(crate) const SENT: &str = "inter-session message]";
/// How texts begin that something else put in the user's place.
const OTHERS: &[&str] = &[
    "another claude session sent a message",
    "contents of web page:",
    "contents of the web page:",
    "web page content:",
    "<teammate-message",
    "[inter-session message]",
];
/// Ids beyond which those are forgotten that no fact names.
const MOST: usize = 1_000;

/// Whether something else speaks in a message of the user.
pub(crate) fn is_others(view: &MessageView<'_>) -> bool {
    // OpenClaw says of a message where it came from: `external_user` is a person.
    let sent = view.object().object("provenance").is_some_and(|from| {
        let kind = from.str("kind");
        kind.is_some_and(|kind| kind != "external_user")
    });
    sent || view.object().bool("isSidechain") == Some(true)
        || view.blocks().iter().any(|block| match block {
            Block::Text(text) => {
                let start: String = text.trim_start().chars().take(60).collect();
                let start = start.to_lowercase();
                OTHERS.iter().any(|others| start.starts_with(others))
            }
            _ => false,
        })
}

/// What stands before a rule that came with an export nobody vouches for.
const ELSEWHERE: &str = "brought by an import";

/// Whether an entry says that all before it was brought from elsewhere, and
/// nobody vouches for it.
pub fn is_brought(entry: &Entry) -> bool {
    let is_import =
        matches!(&entry.body, Body::Custom { custom_type } if custom_type == ours::IMPORT);
    let vouched = || {
        let object = Object::parse(entry.raw()).ok()?;
        object.object("data")?.bool("vouched")
    };
    is_import && vouched() != Some(true)
}

impl Ledger {
    /// Nothing that was folded so far is the user's word: it came from elsewhere,
    /// and whoever wrote it may have put anything into the user's mouth.
    pub fn disown(&mut self) {
        // Nobody here accepted that hand-off.
        let handed = self.handed.take();
        let handed = handed.into_iter().flat_map(|handed| handed.rules);
        self.rules.extend(handed);
        for rule in &mut self.rules {
            rule.pasted = true;
            rule.frame.get_or_insert_with(|| ELSEWHERE.to_owned());
            self.others.extend(rule.provenance.entries.iter().cloned());
            self.others.extend(rule.revoked.clone());
        }
        for decision in &mut self.decisions {
            if decision.by == Speaker::User {
                decision.pasted = true;
                let entries = decision.provenance.entries.iter();
                self.others.extend(entries.cloned());
            }
        }
        for sentence in self.statements.iter_mut().chain(&mut self.lifts) {
            sentence.pasted = true;
            let entries = sentence.provenance.entries.iter();
            self.others.extend(entries.cloned());
        }
        self.mark_brought();
    }

    /// Says of what is only quoted that it was brought, in the words themselves:
    /// they go on from summary to summary, into checkpoints and hand-offs.
    fn mark_brought(&mut self) {
        let texts = self.requests.iter_mut().flat_map(|request| {
            let text = request.text.as_mut();
            text.into_iter().chain([&mut request.gist])
        });
        let thread = &mut self.working.thread;
        let exchanges = self.exchanges.iter_mut().chain(&mut thread.first);
        let exchanges = exchanges
            .chain(&mut thread.pivots)
            .chain(&mut thread.recent);
        let exchanges = exchanges.filter(|exchange| exchange.by == Speaker::User);
        let exchanges = exchanges.map(|exchange| &mut exchange.gist);
        for text in texts.chain(exchanges).chain(&mut self.topic) {
            if !text.starts_with(BROUGHT) {
                text.insert_str(0, BROUGHT);
            }
        }
    }

    /// What has to stand before words of a request that is quoted from its entry;
    /// nothing where it is the user's own.
    pub fn brought(&self, entry: &EntryId) -> &'static str {
        let mut requests = self.requests.iter();
        let is_brought =
            requests.any(|request| request.entry == *entry && request.gist.starts_with(BROUGHT));
        if is_brought { BROUGHT } else { "" }
    }

    /// Whether the user said it in one of the entries that are known.
    pub fn vouches_for(&self, provenance: &Provenance) -> bool {
        let mut entries = provenance.entries.iter();
        provenance.entries.is_empty() || entries.any(|entry| !self.others.contains(entry))
    }

    pub(crate) fn hear_another(&mut self, entry: &EntryId) {
        if self.others.len() >= 2 * MOST {
            let rules = self.rules.iter().flat_map(|rule| {
                let revoked = rule.revoked.iter();
                rule.provenance.entries.iter().chain(revoked)
            });
            let decisions = self.decisions.iter().flat_map(|decision| {
                let superseded = decision.superseded.iter();
                decision.provenance.entries.iter().chain(superseded)
            });
            let anchors = self.anchors.values();
            let anchors = anchors.flat_map(|anchor| &anchor.provenance.entries);
            let named: BTreeSet<EntryId> = rules.chain(decisions).chain(anchors).cloned().collect();
            self.others.retain(|entry| named.contains(entry));
        }
        self.others.insert(entry.clone());
    }
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::EntryId;

    use super::*;

    #[test]
    fn what_is_no_longer_named_is_forgotten_before_there_is_too_much_of_it() {
        let mut ledger = Ledger::new(None);
        ledger.rules.push(crate::Rule {
            pasted: false,
            frame: None,
            text: "Never push.".into(),
            kind: crate::RuleKind::Constraint,
            provenance: Provenance::new(EntryId::new("e7")),
            revoked: None,
        });
        for number in 0..3 * MOST {
            ledger.hear_another(&EntryId::new(format!("e{number}")));
        }
        assert!(ledger.others.len() <= 2 * MOST, "{}", ledger.others.len());
        assert!(!ledger.vouches_for(&ledger.rules[0].provenance));
    }
}
