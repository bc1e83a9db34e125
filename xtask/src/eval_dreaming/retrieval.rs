//! What search finds of a person's days on an evening: with the daily logs
//! alone, and with what was promoted beside them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use longhaul_engine::library::redaction;
use longhaul_index::{
    Budget, Filters, Hit, IndexSettings, MemoryIndex, Query, RecordKind, SqliteIndex,
    WorkspaceFiles,
};
use longhaul_memory::Seal;
use longhaul_memory::dream::Candidate;
use longhaul_memory::files::read_log;
use longhaul_transcript::Millis;

use super::days::Question;
use crate::Result;

/// So many hits are looked at.
const WITHIN: usize = 10;
/// Recall of questions, before and after.
#[derive(Default)]
pub(super) struct Recalled {
    questions: usize,
    /// With the daily logs alone.
    logs: f64,
    /// With the memory beside them, where only passages of logs count.
    plain: f64,
    /// The same, where a page of the memory brings the sessions that it names
    /// as its evidence.
    followed: f64,
}

impl Recalled {
    pub(super) fn add(&mut self, other: &Recalled) {
        self.questions += other.questions;
        self.logs += other.logs;
        self.plain += other.plain;
        self.followed += other.followed;
    }

    /// The logs alone; with the memory beside them; the same with its evidence
    /// followed, in percent.
    pub(super) fn percent(&self) -> Option<[f64; 3]> {
        let share = |sum: f64| 100.0 * sum / self.questions as f64;
        (self.questions > 0).then(|| [share(self.logs), share(self.plain), share(self.followed)])
    }
}

/// Two indexes that grow with the days.
pub(super) struct Shelves {
    logs: Shelf,
    both: Shelf,
    seal: Option<Seal>,
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
        let index = SqliteIndex::in_memory(IndexSettings::new(redaction()))?;
        Ok(Shelf { root, index })
    }

    fn search(&mut self, question: &Question, now: Millis) -> Result<Vec<Hit>> {
        let query = Query {
            k: WITHIN,
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
    pub(super) fn new(work: &Path, copy: &Path, seal: Option<Seal>) -> Result<Shelves> {
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
        let lines = read_log(&text, date, self.seal.as_ref()).into_iter();
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
        misses: bool,
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
            let gold: BTreeSet<&String> = question.sessions.iter().collect();
            let share = |found: &BTreeSet<String>| {
                gold.iter().filter(|one| found.contains(**one)).count() as f64 / gold.len() as f64
            };
            let (before, after) = (self.spoken_of(&logs), self.spoken_of(&both));
            let mut followed = after.clone();
            for hit in &both {
                followed.extend(named(hit, &promoted));
            }
            recalled.questions += 1;
            recalled.logs += share(&before);
            recalled.plain += share(&after);
            recalled.followed += share(&followed);
            if misses && share(&after) < share(&before) {
                println!("less: {}", question.text);
                for session in gold.iter().filter(|one| before.contains(**one)) {
                    let lost = if after.contains(*session) {
                        ""
                    } else {
                        ", lost"
                    };
                    println!("  about {session}{lost}");
                }
                for (title, hits) in [("logs alone", &logs), ("with the memory", &both)] {
                    println!("  {title}:");
                    for hit in hits {
                        let of: Vec<String> = self.sessions(hit).into_iter().collect();
                        println!(
                            "    {:.3} {}:{}-{} {} ({})",
                            hit.score,
                            hit.source,
                            hit.lines.0,
                            hit.lines.1,
                            of.join(" "),
                            hit.why.terms.join(" ")
                        );
                    }
                }
            }
        }
        Ok(recalled)
    }

    /// The sessions that the logs among some hits speak of.
    fn spoken_of(&self, hits: &[Hit]) -> BTreeSet<String> {
        hits.iter().flat_map(|hit| self.sessions(hit)).collect()
    }

    /// The sessions that a passage of a log speaks of.
    fn sessions(&self, hit: &Hit) -> BTreeSet<String> {
        let noted = self.noted.get(&hit.source).into_iter().flatten();
        let within = noted.filter(|(line, _)| (hit.lines.0..=hit.lines.1).contains(line));
        within.map(|(_, session)| session.clone()).collect()
    }
}

/// The sessions that a page of the memory names as its evidence.
fn named(hit: &Hit, promoted: &HashMap<&str, &Candidate>) -> BTreeSet<String> {
    if hit.kind != RecordKind::Memory {
        return BTreeSet::new();
    }
    let words = hit.text.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let known = words.filter_map(|word| promoted.get(word));
    known.flat_map(|one| one.sessions.iter().cloned()).collect()
}
