//! Decisions: said in so many words, or by a short reply to a long answer.

use crate::choice::{is_announced, is_question, reason, strength};
use crate::facts::{Decision, Provenance, Speaker};
use crate::heard::Said;
use crate::ledger::{At, Ledger};
use crate::text::{clip, longer_than};
use crate::words::choices::{CHANGES, Choice};
use crate::words::{Words, shared, stems};

const MOST: usize = 300;
const LONGEST: usize = 800;

impl Ledger {
    /// A short reply to a long answer: no word list, whatever the language.
    pub(crate) fn note_reply(&mut self, at: At<'_>, text: &str) -> bool {
        let answer = &self.working.answer;
        // Shorter than this, after a long answer, a reply decides (S0).
        let short = self.capture.short_reply_chars;
        let text = text.trim();
        let words = Words::new(text);
        if !answer.long
            || longer_than(text, short.saturating_sub(1))
            || text.starts_with('/')
            || is_question(text, &words)
        {
            return false;
        }
        // A change of mind has to find what it replaces.
        if CHANGES.any(&words) || reason(text, &words).is_some() {
            return false;
        }
        let mut provenance = Provenance::default();
        if let Some(entry) = &answer.entry {
            provenance.add(entry);
        }
        provenance.add(at.entry);
        let what = match answer.gist.is_empty() {
            true => text.to_owned(),
            false => format!("{text} ← {}", answer.gist),
        };
        // What the agent had proposed in that answer is thereby confirmed.
        let proposed = answer.entry.clone();
        for decision in self.decisions.iter_mut().rev().take(8) {
            if decision.by == Speaker::Agent && decision.provenance.last() == proposed.as_ref() {
                decision.provenance.add(at.entry);
            }
        }
        self.push_decision(Decision {
            what,
            reason: None,
            by: Speaker::User,
            time: at.time,
            provenance,
            superseded: None,
            pasted: self.others.contains(at.entry),
        });
        true
    }

    pub(crate) fn note_decisions(&mut self, at: At<'_>, by: Speaker, said: &Said<'_>) {
        let text = said.text;
        let mut scrapped: Option<usize> = None;
        for (index, range, words) in said.sentences() {
            let sentence = &text[range.clone()];
            if sentence.len() > LONGEST || words.len() == 0 || is_question(sentence, words) {
                continue;
            }
            let (choice, from) = match strength(sentence, words) {
                Some((choice, from)) => (Some(choice), from),
                None => (None, 0),
            };
            let reason = reason(sentence, words);
            let changes = CHANGES.any(words);
            let pasted = by == Speaker::User && said.may_be_anothers(index);
            let decides = match (choice, by) {
                (Some(Choice::Plain), Speaker::User) => true,
                (Some(_), _) => {
                    reason.is_some() || (by == Speaker::Agent && is_announced(sentence))
                }
                (None, _) => false,
            };
            let may_scrap = changes && by == Speaker::User;
            if !decides && !may_scrap {
                continue;
            }
            let old = match changes || scrapped.is_some() {
                true => self.replaced(
                    &text[scrapped.map_or(range.start, |at| said.ranges[at].start)..range.end],
                ),
                false => None,
            };
            // What is told of another takes back nothing that the user said.
            let told = pasted && said.is_told(index);
            let old = old.filter(|old| !told || self.decisions[*old].pasted);
            if !decides {
                // "Forget X after all." counts only if X was decided; what
                // comes instead is mostly in the next sentence.
                if let Some(old) = old {
                    self.decisions[old].superseded = Some(at.entry.clone());
                    scrapped = Some(index);
                    if choice.is_some() || words.len() > 6 && sentence.contains("instead") {
                        let made = decision(at, by, sentence, reason, pasted);
                        self.push_decision(made);
                        scrapped = None;
                    }
                }
                continue;
            }
            if let Some(old) = old {
                self.decisions[old].superseded = Some(at.entry.clone());
            }
            let start = match scrapped.take() {
                Some(before) if before + 1 == index => said.ranges[before].start,
                _ => range.start + from,
            };
            let made = decision(at, by, &text[start..range.end], reason, pasted);
            self.push_decision(made);
        }
    }

    /// The live decision that a change of mind speaks of: most of its words
    /// must come up.
    fn replaced(&self, sentence: &str) -> Option<usize> {
        let said = stems(sentence);
        let mut best: Option<(f64, usize)> = None;
        for (index, decision) in self.decisions.iter().enumerate() {
            if decision.superseded.is_some() {
                continue;
            }
            let subject = subject(decision);
            let words = stems(subject);
            let common = shared(&words, &said);
            let share = common as f64 / words.len().max(1) as f64;
            let enough = common >= 2 || (common == 1 && words.len() <= 2);
            if enough && share >= 0.5 && best.is_none_or(|(top, _)| share >= top) {
                best = Some((share, index));
            }
        }
        best.map(|(_, index)| index)
    }

    fn push_decision(&mut self, decision: Decision) {
        let same = self
            .decisions
            .iter_mut()
            .rev()
            .find(|known| known.superseded.is_none() && known.what == decision.what);
        if let Some(known) = same {
            let holds_anew = known.pasted && !decision.pasted;
            known.pasted &= decision.pasted;
            for entry in &decision.provenance.entries {
                match holds_anew {
                    true => known.provenance.begin(entry),
                    false => known.provenance.add(entry),
                }
            }
            return;
        }
        if self.decisions.len() >= MOST {
            let leaves = self
                .decisions
                .iter()
                .position(|decision| decision.superseded.is_some());
            self.decisions.remove(leaves.unwrap_or(0));
            self.working.decisions_left += 1;
        }
        self.decisions.push(decision);
    }
}

fn decision(at: At<'_>, by: Speaker, what: &str, reason: Option<String>, pasted: bool) -> Decision {
    Decision {
        what: what.trim_start_matches(['-', '*', '•', ' ']).to_owned(),
        reason,
        by,
        time: at.time,
        provenance: Provenance::new(at.entry.clone()),
        superseded: None,
        pasted,
    }
}

/// What was decided, without why.
fn subject(decision: &Decision) -> &str {
    match &decision.reason {
        Some(reason) => match decision.what.find(reason.as_str()) {
            Some(at) if at > 0 => &decision.what[..at],
            _ => &decision.what,
        },
        None => clip(&decision.what, 200),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_transcript::EntryId;

    fn fold(said: &[(Speaker, &str)]) -> Ledger {
        let mut ledger = Ledger::new(None);
        for (number, (by, text)) in said.iter().enumerate() {
            let entry = EntryId::new(format!("e{number}"));
            let at = At {
                entry: &entry,
                time: None,
                rank: number as u64,
            };
            if *by == Speaker::Agent {
                ledger.note_answer(at, text, None);
            } else if ledger.note_reply(at, text) {
                continue;
            }
            ledger.note_decisions(at, *by, &Said::new(text));
        }
        ledger
    }

    #[test]
    fn decisions_with_their_reasons_in_several_languages() {
        for (by, text, reason) in [
            (
                Speaker::User,
                "Let's use Postgres because ops runs it.",
                "ops runs it",
            ),
            (
                Speaker::Agent,
                "I chose a journal because a crash loses little.",
                "a crash loses little",
            ),
            (
                Speaker::User,
                "Wir nehmen SQLite, weil es reicht.",
                "es reicht",
            ),
            (
                Speaker::User,
                "On part sur Redis parce que c'est rapide.",
                "c'est rapide",
            ),
            (Speaker::User, "Vamos a usar Kafka porque escala.", "escala"),
            (
                Speaker::User,
                "Решили взять Go, потому что команда его знает.",
                "команда его знает",
            ),
            (Speaker::User, "我们用 SQLite，因为部署简单。", "部署简单"),
        ] {
            let ledger = fold(&[(by, text)]);
            assert_eq!(ledger.decisions.len(), 1, "{text}");
            assert_eq!(ledger.decisions[0].what, text);
            assert_eq!(
                ledger.decisions[0].reason.as_deref(),
                Some(reason),
                "{text}"
            );
        }
    }

    #[test]
    fn a_change_of_mind_marks_what_it_replaces() {
        for change in [
            "I changed my mind: use plain files instead of PostgreSQL 16 for the order store because May is near.",
            "Scrap the decision for PostgreSQL 16 for the order store, we go with plain files because of May.",
            "Forget PostgreSQL 16 for the order store after all. Let's take plain files because of May.",
        ] {
            let ledger = fold(&[
                (
                    Speaker::User,
                    "We go with PostgreSQL 16 for the order store because ops runs it.",
                ),
                (
                    Speaker::User,
                    "We settle on feature flags because merges hurt.",
                ),
                (Speaker::User, change),
            ]);
            let marks: Vec<bool> = ledger
                .decisions
                .iter()
                .map(|decision| decision.superseded.is_some())
                .collect();
            assert_eq!(
                marks,
                [true, false, false],
                "{change}: {:?}",
                ledger.decisions
            );
            assert_eq!(ledger.decisions[2].what, change);
        }
    }

    #[test]
    fn a_short_reply_to_a_long_answer_decides() {
        let long = "We could cut the parser in two. ".repeat(20);
        let ledger = fold(&[(Speaker::Agent, &long), (Speaker::User, "好的，就这样做")]);
        assert_eq!(ledger.decisions.len(), 1);
        assert!(
            ledger.decisions[0]
                .what
                .starts_with("好的，就这样做 ← We could")
        );
        assert_eq!(
            fold(&[(Speaker::Agent, &long), (Speaker::User, "how?")]).decisions,
            []
        );
        assert_eq!(
            fold(&[(Speaker::Agent, "short"), (Speaker::User, "yes")]).decisions,
            []
        );
    }
}
