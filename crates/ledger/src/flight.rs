//! What is in flight: where someone who takes over would go on.

use crate::facts::{InFlight, ItemState};
use crate::ledger::Ledger;
use crate::text::first_chars;

impl Ledger {
    pub(crate) fn refresh_flight(&mut self) {
        let mut flight = std::mem::take(&mut self.in_flight);
        flight.entries.clear();
        let working = &self.working;
        let file = working.changed.as_ref().or(working.read.as_ref());
        set(&mut flight.file, file.map(|(path, _)| path.as_str()));
        set(
            &mut flight.command,
            working
                .last_command
                .as_ref()
                .map(|(command, _)| command.as_str()),
        );
        let mut entries: Vec<_> = file
            .into_iter()
            .chain(working.last_command.as_ref())
            .map(|(_, entry)| entry.clone())
            .collect();
        let failing = self.failing();
        match failing {
            Some(trouble) => {
                let text = format!("{}: {}", first_chars(&trouble.cause, 300), trouble.line);
                set(&mut flight.failing, Some(&text));
                entries.extend(trouble.provenance.last().cloned());
            }
            None => flight.failing = None,
        }
        let question = self
            .questions
            .last()
            .filter(|question| question.answered.is_none());
        set(
            &mut flight.question,
            question.map(|question| question.text.as_str()),
        );
        entries.extend(question.and_then(|question| question.provenance.last().cloned()));
        let item = self
            .items
            .iter()
            .rev()
            .find(|item| item.state == ItemState::InProgress);
        let next = match item {
            Some(item) => {
                entries.extend(item.provenance.last().cloned());
                Some(item.text.as_str())
            }
            None => working.next.as_ref().map(|(next, entry)| {
                entries.push(entry.clone());
                next.as_str()
            }),
        };
        set(&mut flight.next_step, next);
        let mut seen: Vec<_> = Vec::with_capacity(entries.len());
        for entry in entries {
            if !seen.contains(&entry) {
                seen.push(entry);
            }
        }
        flight.entries = seen;
        self.in_flight = InFlight { ..flight };
    }
}

/// Sets a text, keeping its memory where nothing changed.
fn set(slot: &mut Option<String>, value: Option<&str>) {
    if slot.as_deref() != value {
        *slot = value.map(str::to_owned);
    }
}
