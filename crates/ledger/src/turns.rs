//! Work by turn: what was changed, what was run, how it ended.

use crate::facts::{Outcome, TurnWork};
use crate::ledger::{At, Ledger};
use crate::text::ends;

/// Turns that are told apart; older ones are counted.
const MOST: usize = 200;
/// Files named in one turn.
const FILES: usize = 24;
/// Commands named in one turn.
const COMMANDS: usize = 12;
/// Characters of a command.
const COMMAND: usize = 160;
/// Characters of the agent's closing words.
const CLOSING: usize = 240;

impl Ledger {
    /// Begins the turn of the utterance that was heard last.
    pub(crate) fn begin_turn(&mut self, at: At<'_>) {
        if self.turns.last().is_some_and(is_empty) {
            self.turns.pop();
        }
        if self.turns.len() >= MOST {
            self.turns.remove(0);
            self.turns_left += 1;
        }
        self.turns.push(TurnWork {
            number: self.heard,
            entry: Some(at.entry.clone()),
            ..TurnWork::default()
        });
    }

    fn turn(&mut self, at: At<'_>) -> Option<&mut TurnWork> {
        if self.turns.is_empty() {
            self.begin_turn(at);
        }
        self.turns.last_mut()
    }

    pub(crate) fn turn_changed(&mut self, at: At<'_>, path: &str) {
        let Some(turn) = self.turn(at) else { return };
        if turn.changed.iter().any(|known| known == path) {
            return;
        }
        match turn.changed.len() < FILES {
            true => turn.changed.push(path.to_owned()),
            false => turn.changed_left = turn.changed_left.saturating_add(1),
        }
    }

    pub(crate) fn turn_ran(&mut self, at: At<'_>, command: &str, outcome: Outcome) {
        let Some(turn) = self.turn(at) else { return };
        let line = command.trim().lines().next().unwrap_or("");
        let command = crate::text::first_chars(line, COMMAND).to_owned();
        turn.commands.retain(|(known, _)| *known != command);
        if turn.commands.len() >= COMMANDS {
            turn.commands.remove(0);
        }
        turn.commands.push((command, outcome));
    }

    pub(crate) fn turn_said(&mut self, at: At<'_>, text: &str) {
        let words = ends(text, CLOSING);
        if let Some(turn) = self.turn(at).filter(|_| !words.is_empty()) {
            turn.closing = Some(words);
        }
    }
}

fn is_empty(turn: &TurnWork) -> bool {
    turn.changed.is_empty() && turn.commands.is_empty() && turn.closing.is_none()
}
