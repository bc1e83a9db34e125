//! The conversation in short: what it is about, and the messages that turned it.

use crate::capture::Capture;
use crate::facts::{Exchange, Speaker};
use crate::ledger::{At, Ledger};
use crate::text::{ends, gist, longer_than, prose_lines};
use crate::working::Answer;

const TOPIC: usize = 100;
/// Characters of the line that a short reply answers.
const ANSWERED: usize = 240;
/// Characters of the agent's last words.
const WORDS: usize = 900;

impl Ledger {
    pub(crate) fn thread_user(&mut self, at: At<'_>, text: &str) {
        self.topic = Some(gist(text, TOPIC));
        let exchange = Exchange {
            by: Speaker::User,
            gist: gist(text, self.capture.exchange_chars),
            entry: at.entry.clone(),
        };
        let after_long = self.working.answer.long;
        let most = self.capture.exchanges;
        let thread = &mut self.working.thread;
        if thread.first.is_none() {
            thread.first = Some(exchange.clone());
        } else if after_long {
            while !thread.pivots.is_empty() && thread.pivots.len() >= most {
                thread.pivots.remove(0);
            }
            thread.pivots.push(exchange.clone());
        }
        thread.recent.push(exchange);
        self.cut_thread();
    }

    pub(crate) fn thread_agent(&mut self, at: At<'_>, text: &str) {
        let exchange = Exchange {
            by: Speaker::Agent,
            gist: prose_gist(text, self.capture.exchange_chars),
            entry: at.entry.clone(),
        };
        let recent = &mut self.working.thread.recent;
        match recent.last_mut() {
            // Of one turn, the last thing the agent said stands for it.
            Some(last) if last.by == Speaker::Agent => *last = exchange,
            _ => recent.push(exchange),
        }
        self.cut_thread();
    }

    /// The first message, the latest turning points, the last pairs.
    fn cut_thread(&mut self) {
        let Capture {
            exchanges: most,
            recent_pairs,
            ..
        } = self.capture;
        let thread = &mut self.working.thread;
        while thread.recent.len() > recent_pairs.saturating_mul(2) {
            thread.recent.remove(0);
        }
        let recent = &thread.recent;
        let listed = |exchange: &Exchange| recent.iter().any(|other| other.entry == exchange.entry);
        let first = thread.first.iter().filter(|first| !listed(first));
        let room = most.saturating_sub(recent.len() + 1);
        let pivots: Vec<&Exchange> = thread
            .pivots
            .iter()
            .filter(|pivot| !listed(pivot))
            .collect();
        let pivots = &pivots[pivots.len().saturating_sub(room)..];
        self.exchanges = first
            .chain(pivots.iter().copied())
            .chain(recent)
            .cloned()
            .collect();
        let old = self.exchanges.len().saturating_sub(most);
        self.exchanges.drain(..old);
    }

    /// What the agent said last: what a short reply would answer, and where
    /// someone who takes over would go on.
    pub(crate) fn note_words(&mut self, at: At<'_>, text: &str) {
        self.working.words = Some((ends(text, WORDS), at.entry.clone()));
        self.working.answer = Answer {
            long: longer_than(text, self.capture.long_answer_chars),
            line: closing_line(text),
        };
    }
}

/// The last line of a text that is no code, with the line before it where it is
/// one of a list: options follow their question.
fn closing_line(text: &str) -> String {
    let lines: Vec<&str> = prose_lines(text)
        .map(|line| text[line].trim())
        .filter(|line| line.chars().any(char::is_alphanumeric))
        .collect();
    let asks = |line: &&str| {
        line.trim_end_matches(['*', '_', ')', '"', ' '])
            .ends_with(['?', '？', '؟'])
    };
    let from = lines
        .iter()
        .rposition(asks)
        .filter(|at| at + 12 > lines.len());
    let from = from.unwrap_or(lines.len().saturating_sub(1));
    gist(&lines[from..].join(" "), ANSWERED)
}

/// The gist of an answer: its first line that is no code.
fn prose_gist(text: &str, chars: usize) -> String {
    prose_lines(text)
        .map(|line| gist(&text[line], chars))
        .find(|line| line.chars().any(char::is_alphanumeric))
        .unwrap_or_else(|| gist(text, chars))
}
