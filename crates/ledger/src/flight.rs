//! What is in flight: where someone who takes over would go on.

use crate::facts::{InFlight, ItemState};
use crate::ledger::Ledger;

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
        flight.command_outcome = working.last_command.as_ref().and_then(|(command, _)| {
            let run = self.commands.iter().rfind(|run| run.command == *command);
            run.map(|run| run.outcome)
        });
        match self.failing().next() {
            Some(run) => {
                let line = run.error.as_deref().unwrap_or_default();
                let text = match line.is_empty() {
                    true => run.command.clone(),
                    false => format!("{}: {line}", run.command),
                };
                set(&mut flight.failing, Some(&text));
                entries.extend(run.provenance.last().cloned());
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
        entries.extend(question.map(|question| question.entry.clone()));
        let item = self
            .items
            .iter()
            .rev()
            .find(|item| item.state == ItemState::InProgress);
        entries.extend(item.and_then(|item| item.provenance.last().cloned()));
        let next = item.map(|item| item.text.as_str());
        let words = working.words.as_ref();
        flight.words_entry = words.map(|(_, entry)| entry.clone());
        entries.extend(flight.words_entry.clone());
        set(&mut flight.words, words.map(|(words, _)| words.as_str()));
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
