//! What the user says is so: where things are, what they are called, who
//! somebody is.
//!
//! Most sentences with "is" tell of the moment ("the build is red"). What lasts
//! is told by how it begins, "our", "my", a thing with its name or its place,
//! and by the absence of words for what passes.

use crate::facts::{Provenance, Sentence};
use crate::heard::Said;
use crate::ledger::{At, Ledger};
use crate::moved::tells_of_move;
use crate::norm::asks;
use crate::words::Words;
use crate::words::marks::{PASSING, PASSING_SUBJECTS, PASSING_UNSPACED};
use crate::words::norms::STATES;

/// Statements that are kept, the newest.
const MOST: usize = 200;
/// A longer sentence tells a story.
const LONGEST: usize = 240;
const MOST_WORDS: usize = 30;

impl Ledger {
    pub(crate) fn note_statements(&mut self, at: At<'_>, said: &Said<'_>) {
        for (index, range, words) in said.sentences() {
            let sentence = &said.text[range.clone()];
            if !states(sentence, words) {
                continue;
            }
            let text = sentence.trim_start_matches(['-', '*', '•', ' ']);
            let pasted = said.may_be_anothers(index);
            if let Some(known) = self.statements.iter_mut().find(|one| one.text == text) {
                match known.pasted && !pasted {
                    true => known.provenance.begin(at.entry),
                    false => known.provenance.add(at.entry),
                }
                known.pasted &= pasted;
                continue;
            }
            if self.statements.len() >= MOST {
                self.statements.remove(0);
            }
            self.statements.push(Sentence {
                text: text.to_owned(),
                provenance: Provenance::new(at.entry.clone()),
                pasted,
            });
        }
    }
}

/// Whether a sentence says of something lasting what it is.
pub(crate) fn states(sentence: &str, words: &Words<'_>) -> bool {
    if sentence.len() > LONGEST
        || words.len() > MOST_WORDS
        || sentence.trim_end().ends_with([':', '：', '…'])
        || asks(sentence, words)
    {
        return false;
    }
    if tells_of_move(words) {
        return true;
    }
    // "We have an import cycle now."
    let has_now = words.get(1) == "have" && words.iter().any(|word| word == "now");
    let passes = has_now
        || words.iter().any(|word| PASSING.contains(word))
        || words.has_cjk()
            && PASSING_UNSPACED
                .iter()
                .any(|word| words.lower().contains(word));
    !passes
        && STATES.hits(words).iter().any(|hit| {
            let subject = match hit.inside {
                Some(_) => return true,
                None if opens(words, hit.from) => 0..hit.to,
                None => return false,
            };
            let of_work = subject
                .into_iter()
                .any(|at| PASSING_SUBJECTS.contains(words.get(at)));
            // "The customer is Acme", but not "the cache is large".
            let bare = words.get(hit.from) == "the" && words.get(hit.to - 1) == "is";
            let named = !bare || words.may_begin(hit.to);
            named && !of_work && !progresses(words, hit.to)
        })
}

/// Whether the statement begins here: with the sentence, behind a word such as
/// "also" or "note", or where it names who somebody is ("Ada is my manager").
fn opens(words: &Words<'_>, from: usize) -> bool {
    let first = words.get(0);
    let led = matches!(
        first,
        "also"
            | "and"
            | "note"
            | "fyi"
            | "btw"
            | "remember"
            | "reminder"
            | "ps"
            | "hi"
            | "hello"
            | "oh"
            | "so"
            | "übrigens"
            | "außerdem"
            | "aussi"
            | "también"
            | "também"
            | "anche"
            | "ook"
    );
    let verb = matches!(
        words.get(from),
        "is" | "are"
            | "lives"
            | "live"
            | "happens"
            | "happen"
            | "runs"
            | "handles"
            | "hosts"
            | "stands"
    );
    let named = verb
        && (1..=5).contains(&from)
        && !matches!(
            first,
            "it" | "this"
                | "that"
                | "there"
                | "what"
                | "here"
                | "he"
                | "she"
                | "they"
                | "these"
                | "those"
                | "which"
                | "i"
                | "we"
                | "you"
                | "who"
                | "how"
                | "where"
                | "why"
                | "if"
                | "when"
        );
    from == 0
        || named
        || (led && from <= 2)
        || (from <= 4 && words.starts_clause(from) && words.get(0) == "i")
}

/// "is failing", "are getting": it goes on at this moment.
fn progresses(words: &Words<'_>, to: usize) -> bool {
    let verb = words.get(to.saturating_sub(1));
    let next = words.get(to);
    matches!(verb, "is" | "are") && next.len() > 5 && next.ends_with("ing")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_stated(sentence: &str) -> bool {
        states(sentence, &Words::new(sentence))
    }

    #[test]
    fn what_lasts_is_told_from_what_passes() {
        for fact in [
            "Our team has an API spec document at /docs/api-spec.yaml.",
            "the design doc lives in docs/design.md",
            "My timezone is Europe/Berlin",
            "Our CI runs on Jenkins, not GitHub Actions",
            "The production database is called tides_prod",
            "My manager is Ada Lovelace.",
            "Ada is my manager.",
            "FYI our staging server is stage.example.org",
            "I work as a data engineer at Tides.",
            "Unser CI läuft auf Jenkins.",
            "Die Datenbank heißt tides_prod.",
            "Notre équipe s'appelle Marées.",
            "Nuestro servidor corre en Debian.",
            "我们的数据库是 PostgreSQL。",
            "設計書は docs/design.md にあります。",
            "Наш сервер называется tides.",
            "The customer is Acme Corp.",
            "The logs are in /var/log/tides.",
            "Our main branch is called trunk.",
            "Tests live in tests/ and fixtures in tests/data.",
            "Python 3.12 is what we run in production.",
            "I moved to Leipzig last week.",
        ] {
            assert!(is_stated(fact), "{fact}");
        }
        for passing in [
            "My build is failing.",
            "Our tests are red today.",
            "The bug lives in src/a.rs.",
            "My question is how it works.",
            "It is called twice.",
            "We have an import cycle now.",
            "The cache is large.",
            "The error is in src/a.rs.",
            "The server is running on my machine",
            "Is our CI on Jenkins?",
            "Fix the parser in src/a.rs.",
            "My guess is that the cache is stale.",
            "The output is at the end:",
            "我们的测试失败了，是网络问题。",
        ] {
            assert!(!is_stated(passing), "{passing}");
        }
    }
}
