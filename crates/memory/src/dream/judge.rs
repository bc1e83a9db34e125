//! A model's part of a dream: it judges, and quotes what it rests on.
//!
//! It is asked which lines are worth keeping and how to word them, and of lines that
//! may contradict each other whether they do. A judgement without words that stand in
//! the line it is about, and a wording that adds anything to its line, are dropped and
//! counted. Every answer is written down at once, so that an interrupted dream does not
//! ask again. No answer promotes anything.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;
use longhaul_tokens::Spent;
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, Verdict};
use super::merge::merge;
use super::score::waiting;
use super::similar::is_grounded;
use super::state::State;
use crate::provenance::one_line;
use crate::{Result, Source};

/// One question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The instructions.
    pub system: String,
    /// The notes, as quoted data.
    pub prompt: String,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer, or why there is none.
    pub text: std::result::Result<String, String>,
    /// What it took; one that failed on its way may be paid for too.
    pub paid: Spent,
}

/// A model that can be asked; its error is told and the dream goes on without.
pub type Ask<'a> = dyn FnMut(&Question) -> Reply + 'a;

/// What a model did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReport {
    /// Questions asked.
    pub calls: usize,
    /// What they took.
    pub paid: Spent,
    /// Candidates it found worth keeping.
    pub kept: usize,
    /// Candidates it did not.
    pub left: usize,
    /// Candidates it worded.
    pub worded: usize,
    /// Wordings that say more than their line.
    pub ungrounded: usize,
    /// Pairs that it found to say the same.
    pub merged: usize,
    /// Pairs that it found to contradict each other.
    pub contradictions: usize,
    /// Judgements that quote nothing that stands there.
    pub unquoted: usize,
    /// Why it stopped.
    pub failure: Option<String>,
}

const KEEP: &str = include_str!("keep.md");
const COMPARE: &str = include_str!("compare.md");

/// Lines that one question shows.
const MOST_LINES: usize = 20;
/// Pairs that one question shows.
const MOST_PAIRS: usize = 8;
/// Questions of one dream.
const MOST_QUESTIONS: usize = 20;
/// Longer wordings do not fit a pointer.
const MOST_WORDING: usize = 160;
/// Shorter quotes stand in too many places.
const FEWEST_QUOTED: usize = 8;

/// Writes down what came of an answer, and what it took.
pub(super) type Keep<'a> = dyn FnMut(&mut State) -> Result<()> + 'a;

/// Asks a model all there is to ask: of lines first, then of pairs. One that failed is
/// not asked for the rest.
pub(super) fn judge(
    state: &mut State,
    ask: &mut Ask<'_>,
    keep: &mut Keep<'_>,
) -> Result<ModelReport> {
    let mut report = ModelReport::default();
    // Tools are not asked what is worth keeping.
    let is_open = |one: &&Candidate| one.verdict.is_none() && one.source != Source::Tool;
    let open = waiting(&state.candidates).into_iter().filter(is_open);
    let open: Vec<String> = open.map(|one| one.id.clone()).collect();
    for ids in open.chunks(MOST_LINES) {
        let prompt = notes(&state.candidates, ids);
        let Some(answer) = report.ask(ask, KEEP, prompt, &mut state.paid) else {
            break;
        };
        let found: Vec<Judged> = objects(&answer);
        for (number, id) in (1..).zip(ids) {
            let one = state.candidates.iter_mut().find(|one| one.id == *id);
            let judged = found.iter().find(|judged| judged.note == number);
            if let (Some(one), Some(judged)) = (one, judged) {
                report.take(one, judged);
            }
        }
        keep(state)?;
    }
    for pairs in open_pairs(&state.candidates).chunks(MOST_PAIRS) {
        let mut prompt = String::new();
        for (number, (a, b)) in (1..).zip(pairs) {
            let pair = notes(&state.candidates, &[a.clone(), b.clone()]);
            prompt.push_str(&format!("<pair number=\"{number}\">\n{pair}</pair>\n"));
        }
        let Some(answer) = report.ask(ask, COMPARE, prompt, &mut state.paid) else {
            break;
        };
        let found: Vec<Compared> = objects(&answer);
        for (number, (a, b)) in (1..).zip(pairs) {
            if let Some(compared) = found.iter().find(|compared| compared.pair == number) {
                report.settle(&mut state.candidates, a, b, compared);
            }
            for one in state.candidates.iter_mut().filter(|one| one.id == *a) {
                one.asked.push(b.clone());
            }
        }
        keep(state)?;
    }
    keep(state)?;
    Ok(report)
}

/// What a model says of a line.
#[derive(Debug, Deserialize)]
struct Judged {
    note: usize,
    keep: bool,
    #[serde(default)]
    quote: String,
    #[serde(default)]
    wording: String,
}

/// How a model says that two lines stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Same,
    Contradict,
    Apart,
}

#[derive(Debug, Deserialize)]
struct Compared {
    pair: usize,
    verdict: Standing,
    #[serde(default)]
    quotes: Vec<String>,
}

impl ModelReport {
    /// The answer; nothing where the model failed, or was asked enough for one dream.
    fn ask(
        &mut self,
        ask: &mut Ask<'_>,
        system: &str,
        prompt: String,
        paid: &mut Spent,
    ) -> Option<String> {
        if self.failure.is_some() || self.calls == MOST_QUESTIONS {
            return None;
        }
        self.calls += 1;
        let system = system.trim_end().to_owned();
        let reply = ask(&Question { system, prompt });
        self.paid.add(&reply.paid);
        paid.add(&reply.paid);
        let answer = reply.text.map_err(|failure| self.failure = Some(failure));
        answer.ok()
    }

    /// Takes what was said of a line. One of which nothing was said is asked about
    /// again.
    fn take(&mut self, one: &mut Candidate, judged: &Judged) {
        if !is_quoted(one, &judged.quote) {
            self.unquoted += 1;
            return;
        }
        match judged.keep {
            true => self.kept += 1,
            false => self.left += 1,
        }
        one.verdict = Some(match judged.keep {
            true => Verdict::Keep,
            false => Verdict::Leave,
        });
        let wording = one_line(judged.wording.trim());
        // A person's words stay.
        let is_wanted = judged.keep && one.review.is_none() && one.wording.is_none();
        if !is_wanted || wording.is_empty() || wording == one.text {
            return;
        }
        let best = one.evidence.iter();
        let best = best.filter(|evidence| evidence.source >= one.source);
        let texts: Vec<&str> = best.map(|evidence| evidence.quote.as_str()).collect();
        match wording.chars().count() <= MOST_WORDING && is_grounded(&wording, &texts) {
            true => {
                self.worded += 1;
                one.wording = Some(wording);
            }
            false => self.ungrounded += 1,
        }
    }

    /// Takes what was said of a pair.
    fn settle(&mut self, all: &mut [Candidate], a: &str, b: &str, compared: &Compared) {
        let of = |id: &str| all.iter().find(|one| one.id == id);
        let (Some(one), Some(other)) = (of(a), of(b)) else {
            return;
        };
        let quotes = |one: &Candidate| compared.quotes.iter().any(|quote| is_quoted(one, quote));
        if !quotes(one) || !quotes(other) {
            self.unquoted += 1;
            return;
        }
        match compared.verdict {
            // Merging lends nobody a better name.
            Standing::Same if one.source == other.source => {
                self.merged += usize::from(merge(all, a, b).is_ok());
            }
            Standing::Same => {}
            Standing::Contradict => self.contradictions += 1,
            Standing::Apart => {
                for one in all.iter_mut() {
                    let is_one_of_them = one.id == a || one.id == b;
                    one.contradicts
                        .retain(|id| !(is_one_of_them && (id == a || id == b)));
                }
            }
        }
    }
}

/// Whether words stand in a candidate's line or its evidence.
fn is_quoted(one: &Candidate, quote: &str) -> bool {
    let plain = |text: &str| one_line(text).to_lowercase();
    let quote = plain(quote.trim_matches(['"', '“', '”', ' ']));
    let quotes = one.evidence.iter().map(|evidence| &evidence.quote);
    let mut texts = quotes.chain([&one.text]).map(|text| plain(text));
    let is_long = quote.chars().count() >= FEWEST_QUOTED;
    texts.any(|text| text == quote || (is_long && text.contains(&quote)))
}

/// Pairs that may contradict each other, of which at least one waits and no model was
/// asked yet.
fn open_pairs(candidates: &[Candidate]) -> Vec<(String, String)> {
    let by_id: HashMap<&str, &Candidate> = candidates
        .iter()
        .map(|one| (one.id.as_str(), one))
        .collect();
    let mut pairs = Vec::new();
    let mut taken: HashSet<(&str, &str)> = HashSet::new();
    for one in waiting(candidates) {
        for id in &one.contradicts {
            let other = by_id.get(id.as_str());
            let Some(other) = other.filter(|other| other.is_waiting() || other.status.is_kept())
            else {
                continue;
            };
            let was_asked = one.asked.contains(id) || other.asked.contains(&one.id);
            if !was_asked && !taken.contains(&(id.as_str(), one.id.as_str())) {
                taken.insert((&one.id, id));
                pairs.push((one.id.clone(), id.clone()));
            }
        }
    }
    pairs
}

/// Candidates as quoted data, numbered from 1: nothing in one can end it.
fn notes(candidates: &[Candidate], ids: &[String]) -> String {
    let mut out = String::new();
    for (number, id) in (1..).zip(ids) {
        let Some(one) = candidates.iter().find(|one| one.id == *id) else {
            continue;
        };
        let since: Date = one.valid_from;
        let said = one_line(&one.text).replace('<', "&lt;");
        out.push_str(&format!(
            "<note number=\"{number}\" by=\"{}\" since=\"{since}\">{said}</note>\n",
            one.source
        ));
    }
    out
}

/// The JSON objects of an answer, a line each; what is none is left out.
fn objects<T: for<'a> Deserialize<'a>>(answer: &str) -> Vec<T> {
    let bare = |line: &str| line.trim().trim_end_matches(',').replace("&lt;", "<");
    let lines = answer.lines().map(bare);
    lines
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect()
}
