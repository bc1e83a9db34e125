//! A small builder of ledgers and messages.

use longhaul_ledger::{
    Anchor, AnchorKind, Decision, FileChange, FileRecord, Item, ItemState, Ledger, Provenance,
    Question, Request, Rule, RuleKind, Speaker, Trouble,
};
use longhaul_transcript::{ContextMessage, EntryId, json};

/// A ledger under construction; every fact gets the next entry id.
pub(crate) struct Book {
    pub(crate) ledger: Ledger,
    next: u64,
}

impl Book {
    pub(crate) fn new(cwd: &str) -> Book {
        Book {
            ledger: Ledger::new(Some(cwd.to_owned())),
            next: 0,
        }
    }

    fn id(&mut self) -> EntryId {
        self.next += 1;
        self.ledger.entries = self.next;
        EntryId::new(format!("e{:07x}", self.next))
    }

    pub(crate) fn last_id(&self) -> EntryId {
        EntryId::new(format!("e{:07x}", self.next))
    }

    fn seen(&mut self) -> Provenance {
        Provenance::new(self.id())
    }

    pub(crate) fn request(mut self, text: &str) -> Book {
        let entry = self.id();
        self.request_in(entry, text)
    }

    pub(crate) fn request_in(mut self, entry: EntryId, text: &str) -> Book {
        let first: String = text
            .lines()
            .next()
            .unwrap_or("")
            .chars()
            .take(100)
            .collect();
        self.ledger.requests.push(Request {
            entry,
            time: None,
            gist: first,
            text: Some(text.to_owned()),
        });
        self
    }

    pub(crate) fn rule(mut self, kind: RuleKind, text: &str) -> Book {
        let provenance = self.seen();
        self.ledger.rules.push(Rule {
            text: text.to_owned(),
            kind,
            provenance,
            revoked: None,
            pasted: false,
            frame: None,
        });
        self
    }

    pub(crate) fn constraint(self, text: &str) -> Book {
        self.rule(RuleKind::Constraint, text)
    }

    pub(crate) fn passed_on(mut self, frame: Option<&str>, text: &str) -> Book {
        self = self.constraint(text);
        let rule = self.ledger.rules.last_mut().unwrap();
        rule.pasted = true;
        rule.frame = frame.map(str::to_owned);
        self
    }

    pub(crate) fn revoke_last_rule(mut self) -> Book {
        let by = self.id();
        self.ledger.rules.last_mut().unwrap().revoked = Some(by);
        self
    }

    pub(crate) fn decision(mut self, what: &str, reason: Option<&str>) -> Book {
        let provenance = self.seen();
        self.ledger.decisions.push(Decision {
            what: what.to_owned(),
            reason: reason.map(str::to_owned),
            by: Speaker::Agent,
            time: None,
            provenance,
            superseded: None,
            pasted: false,
        });
        self
    }

    pub(crate) fn supersede_last_decision(mut self, what: &str) -> Book {
        let at = self.ledger.decisions.len() - 1;
        let book = {
            self = self.decision(what, None);
            self
        };
        let by = book.last_id();
        let mut book = book;
        book.ledger.decisions[at].superseded = Some(by);
        book
    }

    pub(crate) fn file(mut self, path: &str, reads: u32, changes: u32, last: FileChange) -> Book {
        let provenance = self.seen();
        let record = FileRecord {
            path: path.to_owned(),
            reads,
            changes,
            last,
            created: last == FileChange::Created,
            moved_to: (last == FileChange::Moved).then(|| format!("{path}.moved")),
            provenance,
            last_read: None,
            rank: self.next,
        };
        self.ledger.files.insert(path.to_owned(), record);
        self
    }

    pub(crate) fn edited(self, path: &str, times: u32) -> Book {
        self.file(path, 1, times, FileChange::Edited)
    }

    pub(crate) fn read(self, path: &str) -> Book {
        self.file(path, 1, 0, FileChange::Read)
    }

    pub(crate) fn item(mut self, text: &str, state: ItemState) -> Book {
        let provenance = self.seen();
        self.ledger.items.push(Item {
            text: text.to_owned(),
            state,
            provenance,
        });
        self
    }

    pub(crate) fn trouble(mut self, cause: &str, line: &str) -> Book {
        let provenance = self.seen();
        self.ledger.troubles.push(Trouble {
            line: line.to_owned(),
            cause: cause.to_owned(),
            provenance,
            resolved: None,
        });
        self
    }

    pub(crate) fn resolve_last_trouble(mut self) -> Book {
        let by = self.id();
        self.ledger.troubles.last_mut().unwrap().resolved = Some(by);
        self
    }

    pub(crate) fn question(mut self, text: &str) -> Book {
        let provenance = self.seen();
        self.ledger.questions.push(Question {
            text: text.to_owned(),
            by: Speaker::Agent,
            provenance,
            answered: None,
        });
        self
    }

    pub(crate) fn anchor(mut self, text: &str, about: &str) -> Book {
        let provenance = self.seen();
        let anchor = Anchor {
            text: text.to_owned(),
            kind: AnchorKind::Id,
            about: about.to_owned(),
            by: Speaker::Agent,
            provenance,
            rank: self.next,
            superseded: None,
            pasted: false,
        };
        self.ledger.anchors.insert(text.to_owned(), anchor);
        self
    }

    pub(crate) fn supersede_anchor(mut self, text: &str) -> Book {
        let by = self.id();
        self.ledger.anchors.get_mut(text).unwrap().superseded = Some(by);
        self
    }

    pub(crate) fn in_flight(
        mut self,
        file: &str,
        command: &str,
        failing: &str,
        next: &str,
    ) -> Book {
        let flight = &mut self.ledger.in_flight;
        flight.file = Some(file.to_owned());
        flight.command = Some(command.to_owned());
        flight.failing = Some(failing.to_owned());
        flight.next_step = Some(next.to_owned());
        self
    }

    pub(crate) fn done(self) -> Ledger {
        self.ledger
    }
}

pub(crate) fn user(id: &str, text: &str) -> ContextMessage {
    message(
        id,
        format!("{{\"role\":\"user\",\"content\":{}}}", json::quote(text)),
    )
}

pub(crate) fn agent(id: &str, text: &str) -> ContextMessage {
    message(
        id,
        format!(
            "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            json::quote(text)
        ),
    )
}

pub(crate) fn call(id: &str, call: &str, tool: &str, arguments: &str) -> ContextMessage {
    message(
        id,
        format!(
            "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"toolCall\",\"id\":\"{call}\",\"name\":\"{tool}\",\"arguments\":{arguments}}}]}}"
        ),
    )
}

pub(crate) fn result(id: &str, call: &str, tool: &str, text: &str, failed: bool) -> ContextMessage {
    message(
        id,
        format!(
            "{{\"role\":\"toolResult\",\"toolCallId\":\"{call}\",\"toolName\":\"{tool}\",\"isError\":{failed},\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
            json::quote(text)
        ),
    )
}

fn message(id: &str, json: String) -> ContextMessage {
    ContextMessage::new(EntryId::from(id), json)
}
