//! What was agreed: questions asked through a tool with their answers, plans that
//! were approved, and what the agent noted.

use longhaul_transcript::{Channel, MessageView, UserText};

use crate::facts::{Agreement, Note, NoteKind, Question, Reply};
use crate::ledger::{At, Ledger};
use crate::text::{clip, longer_than};

const MOST_QUESTIONS: usize = 50;
const MOST_AGREEMENTS: usize = 100;
const MOST_NOTES: usize = 200;
const MOST_REPLIES: usize = 100;
/// Bytes of a question or an answer.
const LONGEST: usize = 4_000;
/// Bytes of a plan.
const LONGEST_PLAN: usize = 16_000;
/// Bytes of a note: what the tool takes, 2,000 characters, is whole.
const LONGEST_NOTE: usize = 8_000;

/// Where Claude Code repeats a plan that was approved.
const APPROVED: &str = "## Approved Plan:";

impl Ledger {
    /// The agent asks through a tool.
    pub(crate) fn ask(&mut self, at: At<'_>, text: &str, options: &[(String, String)]) {
        if self.questions.len() >= MOST_QUESTIONS {
            let settled = |question: &Question| question.answered.is_some();
            let leaves = self.questions.iter().position(settled);
            self.questions.remove(leaves.unwrap_or(0));
        }
        self.questions.push(Question {
            text: clip(text.trim(), LONGEST).to_owned(),
            options: options.to_vec(),
            entry: at.entry.clone(),
            answered: None,
        });
    }

    /// What came back to a question is an agreement, where a person answered.
    pub(crate) fn answered(&mut self, at: At<'_>, said: &[UserText<'_>]) {
        for said in said {
            let (Channel::Answer, Some(asked)) = (said.channel, said.question.as_deref()) else {
                continue;
            };
            let mut known = self.questions.iter().rev();
            let question = known.find(|question| question.text.contains(asked.trim()));
            let option = |text: &str| {
                let mut options = question?.options.iter();
                options
                    .find(|(name, says)| name == text || says == text)
                    .map(|(_, says)| says.clone())
            };
            let answer = said.text.trim();
            let option = option(answer).filter(|says| says != answer);
            self.agree(Agreement::Answer {
                question: clip(asked.trim(), LONGEST).to_owned(),
                answer: clip(answer, LONGEST).to_owned(),
                option: option.map(|says| clip(&says, LONGEST).to_owned()),
                entry: at.entry.clone(),
                time: at.time,
            });
        }
        self.close_questions(at);
    }

    /// Whatever the user says next answers what was asked, or moves on.
    pub(crate) fn close_questions(&mut self, at: At<'_>) {
        let open = self.questions.iter_mut().rev();
        for question in open.take_while(|question| question.answered.is_none()) {
            question.answered = Some(at.entry.clone());
        }
    }

    /// A plan was approved: its text is in the call, or repeated in the result.
    pub(crate) fn approve_plan(&mut self, at: At<'_>, plan: &str, view: &MessageView<'_>) {
        let result = view.text();
        let text = match plan.trim() {
            "" => result.split_once(APPROVED).map_or("", |(_, plan)| plan),
            plan => plan,
        };
        let text = text.trim();
        if !text.is_empty() {
            self.agree(Agreement::Plan {
                text: clip(text, LONGEST_PLAN).to_owned(),
                entry: at.entry.clone(),
                time: at.time,
            });
        }
    }

    fn agree(&mut self, agreement: Agreement) {
        if self.agreements.len() >= MOST_AGREEMENTS {
            self.agreements.remove(0);
            self.agreements_left += 1;
        }
        self.agreements.push(agreement);
    }

    /// A note of the agent's.
    pub(crate) fn note(&mut self, at: At<'_>, kind: NoteKind, text: &str) {
        let text = clip(text.trim(), LONGEST_NOTE);
        if text.is_empty() {
            return;
        }
        // What is noted again is newer, not twice.
        self.notes
            .retain(|note| note.kind != kind || note.text != text);
        if self.notes.len() >= MOST_NOTES {
            self.notes.remove(0);
            self.notes_left += 1;
        }
        self.notes.push(Note {
            kind,
            text: text.to_owned(),
            entry: at.entry.clone(),
            time: at.time,
        });
    }

    /// A short message after a long answer, with the line it answers.
    pub(crate) fn note_reply(&mut self, at: At<'_>, text: &str) {
        let answer = &self.working.answer;
        let short = !longer_than(text, self.capture.short_message_chars.saturating_sub(1));
        if !answer.long || !short || answer.line.is_empty() {
            return;
        }
        if self.replies.len() >= MOST_REPLIES {
            self.replies.remove(0);
            self.replies_left += 1;
        }
        self.replies.push(Reply {
            text: text.trim().to_owned(),
            to: answer.line.clone(),
            entry: at.entry.clone(),
            time: at.time,
        });
    }
}
