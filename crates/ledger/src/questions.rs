//! Questions of the agent that wait for the user.

use std::ops::Range;

use crate::facts::{Provenance, Question, Speaker};
use crate::ledger::{At, Ledger};
use crate::text::clip;

const MOST: usize = 100;

impl Ledger {
    /// The question that an answer ends with, if it ends with one.
    pub(crate) fn note_question(
        &mut self,
        at: At<'_>,
        text: &str,
        ranges: &[Range<usize>],
    ) -> Option<String> {
        // In the last three lines: options or a closing word may follow it.
        let tail = text
            .trim_end()
            .rmatch_indices('\n')
            .filter(|(at, _)| {
                text[at + 1..]
                    .trim_start()
                    .starts_with(|c: char| !c.is_whitespace())
            })
            .nth(4)
            .map_or(0, |(at, _)| at);
        let question = ranges
            .iter()
            .rev()
            .take(8)
            .filter(|range| range.start >= tail)
            .map(|range| &text[range.clone()])
            .find(|sentence| is_question(sentence))?
            .to_owned();
        self.ask(at, &question);
        Some(question)
    }

    pub(crate) fn ask(&mut self, at: At<'_>, question: &str) {
        let question = clip(question.trim(), 1_000);
        if let Some(known) = self
            .questions
            .iter_mut()
            .find(|known| known.answered.is_none() && known.text == question)
        {
            known.provenance.add(at.entry);
            return;
        }
        if self.questions.len() >= MOST {
            let leaves = self
                .questions
                .iter()
                .position(|question| question.answered.is_some());
            self.questions.remove(leaves.unwrap_or(0));
        }
        self.questions.push(Question {
            text: question.to_owned(),
            by: Speaker::Agent,
            provenance: Provenance::new(at.entry.clone()),
            answered: None,
        });
    }

    /// Whatever the user says next answers what was asked, or moves on.
    pub(crate) fn answer_questions(&mut self, at: At<'_>) {
        for question in self.questions.iter_mut().rev() {
            if question.answered.is_some() {
                break;
            }
            question.answered = Some(at.entry.clone());
        }
    }
}

fn is_question(sentence: &str) -> bool {
    sentence
        .trim_end_matches([' ', '"', '\'', ')', '*', '_', '”', '’', '»', '）', '」'])
        .ends_with(['?', '？', '؟', ';'])
}
