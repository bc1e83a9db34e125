//! Candidates: what might become long-term memory, and why it is believed.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::files::{LogLine, MemoryFolder};
use crate::provenance::one_line;
use crate::{Error, Result, Source};

/// How a candidate came to be written down.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::Display,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Topic {
    /// It was noted as a wish of the user's.
    Preference,
    /// It was agreed, or noted as decided.
    Decision,
    /// It was noted as a fact.
    Fact,
    /// It was noted as a trouble.
    Lesson,
    /// The user said it.
    Said,
    /// It is another line of a log.
    Note,
}

/// Where something was said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The day.
    pub date: Date,
    /// The log in the workspace, or the session file.
    pub file: String,
    /// The line of a log, from 1.
    pub line: Option<usize>,
    /// The entry of the transcript.
    pub entry: Option<String>,
    /// The session, where it is known.
    pub session: Option<String>,
    /// How many lines of the same words and entry stand above it in its log.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) ordinal: usize,
    /// Who said it.
    pub source: Source,
    /// The words: of the place, or of a note about it.
    pub quote: String,
    /// Whether they are a note of ours about what was said or done there, and do
    /// not stand there word for word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub noted: bool,
}

fn is_first(ordinal: &usize) -> bool {
    *ordinal == 0
}

impl Evidence {
    /// What a line of a day's log says, in these words of it. It may have been said
    /// on an earlier day.
    pub(super) fn of_line(date: Date, line: &LogLine, quote: String) -> Evidence {
        Evidence {
            date: line.said.unwrap_or(date),
            file: MemoryFolder::log_name(date),
            line: Some(line.line),
            entry: line.entry.as_ref().map(|entry| entry.as_str().to_owned()),
            session: line.session.clone(),
            ordinal: 0,
            source: line.source,
            quote,
            noted: false,
        }
    }

    /// The words for people: in quotation marks where they stand there.
    pub fn words(&self) -> String {
        let words = one_line(&self.quote);
        match self.noted {
            true => format!("as noted: {words}"),
            false => format!("“{words}”"),
        }
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        match (self.line, &self.entry) {
            (Some(line), _) => format!("{}:{line}", self.file),
            (None, Some(entry)) => format!("{} entry {entry}", self.file),
            (None, None) => self.file.clone(),
        }
    }

    /// The same place and words have the same key, so that reading a log again adds
    /// nothing. A line is known by its order, since others may be written above it.
    pub(super) fn key(&self) -> String {
        let entry = self.entry.as_deref().unwrap_or_default();
        digest(&[&self.file, &self.ordinal.to_string(), entry, &self.quote])
    }

    /// By what an utterance is known, wherever it is quoted: evidence of the same key is
    /// of one utterance. A log that quotes an entry, and a copy of its session in
    /// another file, say nothing new.
    fn utterance(&self) -> String {
        match (&self.entry, &self.session) {
            (Some(entry), _) if entry.len() >= UNIQUE => digest(&["entry", entry]),
            (Some(entry), Some(session)) => digest(&["session", entry, session]),
            _ => self.key(),
        }
    }
}

/// Ids of this length are made so that no two are alike, as those of all agents
/// are. Shorter ones are numbers that every session counts anew.
const UNIQUE: usize = 8;

/// Twelve hexadecimal characters that depend on these parts.
pub(super) fn digest(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..12].to_owned()
}

/// What has become of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, strum::AsRefStr, strum::Display)]
#[serde(tag = "is", rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Status {
    /// It waits for review.
    Staged,
    /// It is part of the memory and `MEMORY.md` points to it.
    Promoted {
        /// Since when.
        on: Date,
    },
    /// It is part of the memory, but `MEMORY.md` had no room for the pointer.
    Demoted {
        /// Since when.
        on: Date,
    },
    /// A person does not want it; it never comes back.
    Rejected {
        /// Since when.
        on: Date,
    },
    /// Something newer holds in its place.
    Superseded {
        /// Since when.
        on: Date,
        /// The day until which it held.
        until: Date,
        /// By which candidate.
        by: String,
    },
}

impl Status {
    /// Whether it is part of the memory.
    pub fn is_kept(&self) -> bool {
        matches!(self, Status::Promoted { .. } | Status::Demoted { .. })
    }
}

/// What a model found of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is worth keeping.
    Keep,
    /// It is not.
    Leave,
}

/// Why somebody has to look at a candidate, whatever the policy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Review {
    /// A person began to put it into words of their own.
    Edited,
    /// It took the place of another one.
    Merged,
    /// A person took its promotion back.
    TakenBack,
}

impl Review {
    /// Why, for people.
    pub fn why(self) -> &'static str {
        match self {
            Review::Edited => "a person gave it these words",
            Review::Merged => "it was put in the place of another one",
            Review::TakenBack => "its promotion was taken back",
        }
    }
}

/// Something that might become long-term memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// `d-` and eight characters; stable over runs.
    pub id: String,
    /// How it came to be written down.
    pub topic: Topic,
    /// What, in one line, word for word as its best source said it.
    pub text: String,
    /// A model's wording of it, checked against the evidence, or a person's.
    /// Without review, the source's own words are what is kept.
    pub wording: Option<String>,
    /// What a model found of it; none where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why it is never promoted without review, beside what its sources say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// The best source that said it.
    pub source: Source,
    /// Where it was said: the first places and the latest ones.
    pub evidence: Vec<Evidence>,
    /// The keys of all evidence.
    pub(super) seen: Vec<String>,
    /// By what all utterances are known, those that left the evidence too.
    uttered: Vec<String>,
    /// Days on which it was said.
    pub days: Vec<Date>,
    /// Sessions in which it was said.
    pub sessions: Vec<String>,
    /// The day since which it holds.
    pub valid_from: Date,
    /// Candidates that it takes the place of: those that waited at once, kept
    /// ones once it is promoted.
    pub replaces: Vec<String>,
    /// Candidates and lines of memory that may say something else.
    pub contradicts: Vec<String>,
    /// It was found in old transcripts and in no log.
    pub backfilled: bool,
    /// Candidates of which a model was asked how they stand to it.
    pub(super) asked: Vec<String>,
    /// Its score, from 0 to 1: what is higher is shown first.
    pub confidence: f64,
    /// What has become of it.
    pub status: Status,
}

/// Pieces of evidence that are kept whole.
const MOST_EVIDENCE: usize = 8;

impl Candidate {
    /// How often it was said. What was said once and is quoted in two places
    /// was said once.
    pub fn mentions(&self) -> usize {
        self.uttered.len()
    }

    /// What would be written.
    pub fn wording(&self) -> &str {
        self.wording.as_deref().unwrap_or(&self.text)
    }

    /// What it takes the place of: what is kept, and what left while both waited.
    pub fn in_place_of<'a>(&self, all: &'a [Candidate]) -> Vec<&'a Candidate> {
        let known = |id: &String| all.iter().find(|one| one.id == *id);
        let counts = |one: &&Candidate| one.status.is_kept() || one.has_left();
        self.replaces
            .iter()
            .filter_map(known)
            .filter(counts)
            .collect()
    }

    /// What may say something else, but for what it takes the place of.
    pub fn may_contradict(&self) -> Vec<&str> {
        let open = self.contradicts.iter();
        let open = open.filter(|id| !self.replaces.contains(id));
        open.map(String::as_str).collect()
    }

    /// Whether something newer came in its place.
    pub(super) fn has_left(&self) -> bool {
        matches!(self.status, Status::Superseded { .. })
    }

    /// The day until which it held.
    pub fn valid_until(&self) -> Option<Date> {
        match self.status {
            Status::Superseded { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Its name, what it says, and when it held.
    pub fn with_days(&self) -> String {
        let until = self.valid_until().map(|day| format!(" until {day}"));
        format!(
            "{} “{}” (valid from {}{})",
            self.id,
            one_line(self.wording()),
            self.valid_from,
            until.unwrap_or_default()
        )
    }

    pub(super) fn new(topic: Topic, text: &str, first: &Evidence) -> Candidate {
        Candidate {
            id: format!("d-{}", &digest(&[text])[..8]),
            topic,
            text: text.to_owned(),
            wording: None,
            verdict: None,
            review: None,
            source: first.source,
            evidence: Vec::new(),
            seen: Vec::new(),
            uttered: Vec::new(),
            days: Vec::new(),
            sessions: Vec::new(),
            valid_from: first.date,
            replaces: Vec::new(),
            contradicts: Vec::new(),
            backfilled: true,
            asked: Vec::new(),
            confidence: 0.0,
            status: Status::Staged,
        }
    }

    /// Adds where it was said too. A better source's words take the place of
    /// the others'; a worse one's never do. Says whether it was said once more;
    /// another quote of the same utterance counts for nothing.
    pub(super) fn add(&mut self, text: &str, evidence: Evidence) -> bool {
        self.seen.push(evidence.key());
        let said = evidence.utterance();
        let is_copy = self.uttered.contains(&said);
        // The transcript shows that the user did not type it; a copy that lost
        // the sign of it does not know better.
        let is_doubted = self.evidence.iter().any(|known| {
            known.source == Source::Unknown && known.line.is_none() && known.utterance() == said
        });
        let is_better = evidence.source > self.source && !is_doubted;
        if is_better {
            self.source = evidence.source;
            if self.status == Status::Staged {
                self.text = text.to_owned();
                self.wording = None;
                self.review = self.review.filter(|review| *review != Review::Edited);
                self.asked.clear();
                self.verdict = None;
            }
        }
        self.backfilled &= evidence.line.is_none();
        if is_copy {
            if is_better {
                self.keep(evidence);
            }
            return false;
        }
        self.uttered.push(said);
        if let Err(at) = self.days.binary_search(&evidence.date) {
            self.days.insert(at, evidence.date);
        }
        if let Some(session) = &evidence.session
            && !self.sessions.contains(session)
        {
            self.sessions.push(session.clone());
        }
        self.valid_from = self.valid_from.min(evidence.date);
        self.keep(evidence);
        true
    }

    /// Takes note of the line on which something that was said stands by now.
    pub(super) fn stands_at(&mut self, key: &str, line: Option<usize>) {
        let mut evidence = self.evidence.iter_mut();
        if let Some(one) = evidence.find(|one| one.key() == key) {
            one.line = line;
        }
    }

    fn keep(&mut self, evidence: Evidence) {
        if self.evidence.len() == MOST_EVIDENCE {
            // The best source stays; the first and the latest of the rest.
            let weakest = (1..MOST_EVIDENCE)
                .find(|at| self.evidence[*at].source < self.source)
                .unwrap_or(MOST_EVIDENCE / 2);
            self.evidence.remove(weakest);
        }
        self.evidence.push(evidence);
    }

    /// Whether it waits for review.
    pub fn is_waiting(&self) -> bool {
        self.status == Status::Staged
    }

    /// The latest day on which it was said.
    pub fn last_day(&self) -> Date {
        self.days.last().copied().unwrap_or(self.valid_from)
    }

    /// Whether it may be promoted without anybody looking: the user's own words that
    /// a model found worth keeping, and nothing else. What the agent says may be what
    /// a tool told it. Nor what may contradict something, what was only found in old
    /// transcripts, and what somebody has to look at for another reason.
    pub fn may_go_unseen(&self) -> bool {
        let settled = self.contradicts.is_empty() && self.review.is_none();
        let judged = self.verdict == Some(Verdict::Keep);
        self.source == Source::User && judged && settled && !self.backfilled
    }
}

/// The candidate of this id, which must wait for review.
pub(super) fn waits<'a>(candidates: &'a [Candidate], id: &str) -> Result<&'a Candidate> {
    let known = candidates.iter().find(|candidate| candidate.id == id);
    let known = known.ok_or_else(|| Error::NoCandidate { id: id.to_owned() })?;
    match known.is_waiting() {
        true => Ok(known),
        false => Err(Error::NotStaged {
            id: id.to_owned(),
            status: known.status.to_string(),
        }),
    }
}
