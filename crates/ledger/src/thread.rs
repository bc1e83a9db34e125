//! The conversation in short: what it is about, and the messages that turned it.

use std::ops::Range;

use crate::capture::Capture;
use crate::facts::{Exchange, Speaker};
use crate::ledger::{At, Ledger};
use crate::text::{clip, gist, longer_than, prose_lines};
use crate::words::Words;
use crate::words::choices::{LEARNT, NEXT};
use crate::working::Answer;

const GIST: usize = 120;
const TOPIC: usize = 100;
const LEARNINGS: usize = 50;

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

    pub(crate) fn note_answer(&mut self, at: At<'_>, text: &str, question: Option<String>) {
        let long = longer_than(text, self.capture.long_answer_chars);
        // What the user replies to is the last thing said; a short closing
        // line after a long answer does not make the answer short.
        self.working.answer = Answer {
            entry: Some(at.entry.clone()),
            long,
            gist: match question {
                Some(question) => clip(&question, 240).to_owned(),
                None => prose_gist(text, GIST),
            },
        };
    }

    /// Lines that the agent marks as learnt.
    pub(crate) fn note_learnings(&mut self, text: &str) {
        for line in prose_lines(text) {
            let body = text[line]
                .trim()
                .trim_start_matches(['-', '*', '#', '>', ' ', '•', '💡', '📝']);
            if body.len() < 8 || body.len() > 600 {
                continue;
            }
            let lower = clip(body, 40).to_lowercase();
            let plain = lower.trim_start_matches(['*', '_']);
            let marked = LEARNT.iter().any(|mark| {
                plain
                    .strip_prefix(mark.trim_end_matches(':'))
                    .is_some_and(|rest| {
                        rest.trim_start_matches(['*', '_', ' '])
                            .starts_with([':', '：'])
                    })
            });
            if marked && !self.learnings.iter().any(|known| known == body) {
                if self.learnings.len() >= LEARNINGS {
                    self.learnings.remove(0);
                }
                self.learnings.push(body.to_owned());
            }
        }
    }

    /// What the agent says it will do next.
    pub(crate) fn note_next(
        &mut self,
        at: At<'_>,
        text: &str,
        ranges: &[Range<usize>],
        parts: &[Words<'_>],
    ) {
        let next = ranges
            .iter()
            .zip(parts)
            .rev()
            .take(6)
            .find(|(range, words)| {
                let sentence = &text[(*range).clone()];
                !sentence.ends_with(['?', '？'])
                    && NEXT
                        .hits(words)
                        .iter()
                        .any(|hit| hit.inside.is_some() || words.starts_clause(hit.from))
            });
        if let Some((range, _)) = next {
            self.working.next =
                Some((clip(&text[range.clone()], 300).to_owned(), at.entry.clone()));
        }
    }
}

/// The gist of an answer: its first line that is no code.
fn prose_gist(text: &str, chars: usize) -> String {
    prose_lines(text)
        .map(|line| gist(&text[line], chars))
        .find(|line| line.chars().any(char::is_alphanumeric))
        .unwrap_or_else(|| gist(text, chars))
}
