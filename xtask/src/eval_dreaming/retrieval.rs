//! What search finds of a person's days on an evening: with the daily logs
//! alone, and with what was promoted beside them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use longhaul_memory::dream::Candidate;
use longhaul_memory::files::read_log;
use longhaul_memory::{
    Budget, Filters, Hit, IndexSettings, MemoryIndex, Query, RecordKind, Seal, SqliteIndex,
    WorkspaceFiles,
};
use longhaul_transcript::Millis;

use super::days::Question;
use crate::Result;

/// Among so many those are to be that a question is about.
const WITHIN: usize = 10;
/// Hits that are asked for, to have enough sessions among them.
const DEPTH: usize = 60;

/// Recall of questions, before and after.
#[derive(Default)]
pub(super) struct Recalled {
    questions: usize,
    logs: Shares,
    both: Shares,
}

/// Sums over questions.
#[derive(Default, Clone, Copy)]
struct Shares {
    /// Of the sessions that the first ten passages speak of.
    passages: f64,
    /// Of the first ten sessions that passages speak of. A page of the memory has
    /// lines of many sessions in one passage, and all of them count.
    sessions: f64,
}

impl Shares {
    fn add(&mut self, other: Shares) {
        self.passages += other.passages;
        self.sessions += other.sessions;
    }
}

impl Recalled {
    pub(super) fn add(&mut self, other: &Recalled) {
        self.questions += other.questions;
        self.logs.add(other.logs);
        self.both.add(other.both);
    }

    /// Of the first ten passages: the logs alone, and with the memory beside
    /// them, in percent; then the same of the first ten sessions.
    pub(super) fn percent(&self) -> Option<[f64; 4]> {
        let share = |sum: f64| 100.0 * sum / self.questions as f64;
        (self.questions > 0).then(|| {
            [
                share(self.logs.passages),
                share(self.both.passages),
                share(self.logs.sessions),
                share(self.both.sessions),
            ]
        })
    }
}

/// Two indexes that grow with the days.
pub(super) struct Shelves {
    logs: Shelf,
    both: Shelf,
    seal: Seal,
    /// Line by line, which session a log speaks of.
    noted: HashMap<String, HashMap<u32, String>>,
}

struct Shelf {
    root: PathBuf,
    index: SqliteIndex,
}

impl Shelf {
    fn new(root: PathBuf) -> Result<Shelf> {
        fs::create_dir_all(&root)?;
        let index = SqliteIndex::in_memory(IndexSettings::default())?;
        Ok(Shelf { root, index })
    }

    fn search(&mut self, question: &Question, now: Millis) -> Result<Vec<Hit>> {
        let query = Query {
            k: DEPTH,
            filters: Filters {
                kinds: vec![RecordKind::Memory, RecordKind::Daily],
                ..Filters::default()
            },
            now: Some(now),
            ..Query::new(question.text.clone())
        };
        Ok(self.index.search(&query)?.hits)
    }
}

impl Shelves {
    /// The workspace, and a folder for a copy of its logs.
    pub(super) fn new(work: &Path, copy: &Path, seal: Seal) -> Result<Shelves> {
        Ok(Shelves {
            logs: Shelf::new(copy.to_owned())?,
            both: Shelf::new(work.to_owned())?,
            seal,
            noted: HashMap::new(),
        })
    }

    /// Takes a day's log in.
    pub(super) fn take(&mut self, date: Date) -> Result<()> {
        let name = format!("memory/{date}.md");
        let Ok(text) = fs::read_to_string(self.both.root.join(&name)) else {
            return Ok(());
        };
        let lines = read_log(&text, date, Some(&self.seal)).into_iter();
        let spoken = lines.filter_map(|line| Some((line.line as u32, line.session?)));
        self.noted.insert(name.clone(), spoken.collect());
        let copy = self.logs.root.join(&name);
        fs::create_dir_all(self.logs.root.join("memory"))?;
        fs::write(copy, text)?;
        Ok(())
    }

    /// Asks questions of both.
    pub(super) fn ask(
        &mut self,
        questions: &[&Question],
        candidates: &[Candidate],
        now: Millis,
    ) -> Result<Recalled> {
        let mut recalled = Recalled::default();
        if questions.is_empty() {
            return Ok(recalled);
        }
        for shelf in [&mut self.logs, &mut self.both] {
            let files = WorkspaceFiles::new(&shelf.root);
            files.sync(&mut shelf.index, Budget::default(), &mut |_| {})?;
        }
        let promoted: HashMap<&str, &Candidate> = candidates
            .iter()
            .map(|one| (one.id.as_str(), one))
            .collect();
        for question in questions {
            let logs = self.logs.search(question, now)?;
            let both = self.both.search(question, now)?;
            recalled.questions += 1;
            recalled.logs.add(self.recall(&logs, &promoted, question));
            recalled.both.add(self.recall(&both, &promoted, question));
        }
        Ok(recalled)
    }

    /// The share of the sessions that a question is about among the first ones.
    fn recall(
        &self,
        hits: &[Hit],
        promoted: &HashMap<&str, &Candidate>,
        question: &Question,
    ) -> Shares {
        let mut passages: BTreeSet<String> = BTreeSet::new();
        let mut sessions: Vec<String> = Vec::new();
        for (at, hit) in hits.iter().enumerate() {
            for session in self.sessions(hit, promoted) {
                if at < WITHIN {
                    passages.insert(session.clone());
                }
                if !sessions.contains(&session) {
                    sessions.push(session);
                }
            }
        }
        sessions.truncate(WITHIN);
        let gold: BTreeSet<&String> = question.sessions.iter().collect();
        let share = |has: &dyn Fn(&String) -> bool| {
            gold.iter().filter(|one| has(one)).count() as f64 / gold.len() as f64
        };
        Shares {
            passages: share(&|one| passages.contains(one)),
            sessions: share(&|one| sessions.contains(one)),
        }
    }

    /// The sessions that a hit speaks of; those first whose lines have most of
    /// the words that made it one.
    fn sessions(&self, hit: &Hit, promoted: &HashMap<&str, &Candidate>) -> Vec<String> {
        let weight = |line: &str| {
            let line = line.to_lowercase();
            let terms = hit.why.terms.iter();
            terms.filter(|term| line.contains(term.as_str())).count()
        };
        let mut named: Vec<(usize, String)> = Vec::new();
        let noted = self.noted.get(&hit.source);
        // In a page of the memory a promoted text follows its name.
        let mut one: Option<&Candidate> = None;
        for (line, at) in hit.text.lines().zip(hit.lines.0..) {
            match noted {
                Some(noted) => {
                    let session = noted.get(&at).cloned();
                    named.extend(session.map(|session| (weight(line), session)));
                }
                None => {
                    let id = line.split(|c: char| !(c.is_alphanumeric() || c == '-'));
                    let mut known = id.filter_map(|word| promoted.get(word).copied());
                    one = known.next_back().or(one);
                    let of = one.iter().flat_map(|one| one.sessions.iter());
                    named.extend(of.map(|session| (weight(line), session.clone())));
                }
            }
        }
        named.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        named.into_iter().map(|(_, session)| session).collect()
    }
}
