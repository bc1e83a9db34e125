//! PrecisionMemBench: what must come back, and what must not.
//!
//! The set is a list of beliefs and of cases that say what a memory should
//! return for a question. Its memory has sections; ours has files, so it is
//! read like this:
//!
//! - A belief is a memory file in the folder of its scope, all of them
//!   indexed, superseded and resolved ones too. A case sees the folders of its
//!   scopes and of what holds everywhere, and only its own user's.
//! - *Must return* is what stands under `relevantBeliefs.shouldOnlyInclude` and
//!   `openQuestions.mustInclude`. Pinned facts come with every context, whatever
//!   is asked, and the prelude is no list: neither is a matter of search.
//! - *Must not return* is what stands under `mustExclude` of those two sections
//!   and under `noiseCheck.mustNotSurface`.
//! - *Superseded* are beliefs that name another as their successor. They should
//!   not come back, or at least after it.
//!
//! A search returns the best hits and leaves out nothing by a threshold, so
//! precision is counted among as many hits as a case wants.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use longhaul_engine::library::redaction;
use longhaul_index::{
    Budget, Filters, IndexSettings, MemoryIndex, Mode, Query, Record, RecordKind, SearchSettings,
    SqliteIndex,
};
use serde_json::Value;

use super::cached::Cached;
use crate::Result;

const FOLDER: &str = "precisionmembench";
const EVERYWHERE: &str = "user:universal";
const HITS: usize = 10;

/// A question with what it should and should not bring.
struct Case {
    user: String,
    scopes: Vec<String>,
    query: String,
    wanted: HashSet<String>,
    unwanted: HashSet<String>,
}

struct Belief {
    id: String,
    user: String,
    scopes: Vec<String>,
    successor: Option<String>,
    text: String,
}

/// What was counted over all cases.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) cases: usize,
    /// What must come back, and how much of it was among the first ten.
    pub(super) wanted: usize,
    pub(super) returned: usize,
    /// How much of it was among as many hits as were wanted.
    pub(super) exact: usize,
    /// What must not come back, and how much of it was not among the first
    /// ten; and not before everything wanted had come.
    pub(super) unwanted: usize,
    pub(super) kept_out: usize,
    pub(super) kept_behind: usize,
    /// Superseded beliefs among the first ten, and how many of them stood
    /// behind their successor.
    pub(super) superseded: usize,
    pub(super) behind_successor: usize,
    /// Hits of another scope or user.
    pub(super) out_of_scope: usize,
}

fn names(value: &Value) -> impl Iterator<Item = String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned)
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn read(folder: &Path, name: &str) -> Result<Vec<Value>> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
}

fn belief(value: &Value) -> Belief {
    let aliases: Vec<String> = names(&value["aliases"]).collect();
    let name = word(&value["canonical_name"]).replace('_', " ");
    Belief {
        id: word(&value["_id"]),
        user: word(&value["user_id"]),
        scopes: names(&value["scope"]).collect(),
        successor: value["superseded_by"].as_str().map(str::to_owned),
        text: format!(
            "{name} {}\n{}\n",
            aliases.join(", "),
            word(&value["content"])
        ),
    }
}

fn case(value: &Value, query: &Value, user: &str) -> Case {
    let expect = &value["expect"];
    let relevant = &expect["relevantBeliefs"];
    let questions = &expect["openQuestions"];
    Case {
        user: user.to_owned(),
        scopes: names(&value["scope"]).collect(),
        query: word(query),
        wanted: names(&relevant["shouldOnlyInclude"])
            .chain(names(&questions["mustInclude"]))
            .collect(),
        unwanted: names(&relevant["mustExclude"])
            .chain(names(&questions["mustExclude"]))
            .chain(names(&expect["noiseCheck"]["mustNotSurface"]))
            .collect(),
    }
}

/// Whose the cases are that do not say it: the user of the first belief.
fn cases(folder: &Path, user: &str) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for value in read(folder, "retrieval.cases.json")? {
        let user = value["userId"].as_str().unwrap_or(user);
        cases.push(case(&value, &value["query"], user));
    }
    for session in read(folder, "session-retrieval.cases.json")? {
        for turn in session["turns"].as_array().into_iter().flatten() {
            cases.push(case(turn, &turn["userMessage"], user));
        }
    }
    Ok(cases)
}

fn folder_of(user: &str, scope: &str) -> String {
    format!("memory/{user}/{}", scope.replace(':', "-"))
}

/// Measures the set, if it is part of the corpus.
pub(super) fn measured(
    corpus: &Path,
    mode: Mode,
    settings: &SearchSettings,
    model: Option<&Arc<Cached>>,
) -> Result<Option<Counts>> {
    let folder = corpus.join(FOLDER);
    if !folder.is_dir() {
        return Ok(None);
    }
    let beliefs: Vec<Belief> = read(&folder, "beliefs.seed.json")?
        .iter()
        .map(belief)
        .collect();
    let user = beliefs.first().map_or("", |belief| belief.user.as_str());
    let cases = cases(&folder, user)?;
    let mut index = SqliteIndex::in_memory(IndexSettings {
        search: *settings,
        ..IndexSettings::new(redaction())
    })?;
    let records = beliefs.iter().flat_map(|belief| {
        belief.scopes.iter().map(|scope| {
            let path = format!("{}/{}.md", folder_of(&belief.user, scope), belief.id);
            Record::file(RecordKind::Memory, path, belief.text.clone())
        })
    });
    index.update(&mut records.into_iter(), Budget::default(), &mut |_| {})?;
    if let Some(model) = model {
        index.use_encoder(Some(model.clone()));
        index.embed(u64::MAX, &mut |_, _| {})?;
    }
    let mut counts = Counts::default();
    for case in &cases {
        let scopes = case.scopes.iter().map(String::as_str).chain([EVERYWHERE]);
        let paths: Vec<String> = scopes.map(|scope| folder_of(&case.user, scope)).collect();
        let hits = index.search(&Query {
            k: HITS,
            mode,
            filters: Filters {
                paths: paths.clone(),
                ..Filters::default()
            },
            ..Query::new(case.query.clone())
        })?;
        let sources: Vec<&str> = hits.hits.iter().map(|hit| hit.source.as_str()).collect();
        counts.add(case, &sources, &paths, &beliefs);
    }
    Ok(Some(counts))
}

impl Counts {
    fn add(&mut self, case: &Case, sources: &[&str], paths: &[String], beliefs: &[Belief]) {
        let mut places: HashMap<&str, usize> = HashMap::new();
        for source in sources {
            let id = source.rsplit('/').next().unwrap_or(source);
            let next = places.len();
            places.entry(id.trim_end_matches(".md")).or_insert(next);
        }
        let place = |id: &String| places.get(id.as_str()).copied();
        self.cases += 1;
        self.wanted += case.wanted.len();
        self.returned += case.wanted.iter().filter_map(place).count();
        let first = case.wanted.iter().filter_map(place);
        self.exact += first.filter(|at| *at < case.wanted.len()).count();
        self.unwanted += case.unwanted.len();
        let out = |id: &&String| place(id).is_none();
        self.kept_out += case.unwanted.iter().filter(out).count();
        let behind = |id: &&String| place(id).is_none_or(|at| at >= case.wanted.len());
        self.kept_behind += case.unwanted.iter().filter(behind).count();
        for belief in beliefs {
            if let (Some(successor), Some(at)) = (&belief.successor, place(&belief.id)) {
                self.superseded += 1;
                self.behind_successor += usize::from(place(successor).is_some_and(|new| new < at));
            }
        }
        self.out_of_scope += sources
            .iter()
            .filter(|source| !paths.iter().any(|path| source.starts_with(path.as_str())))
            .count();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_count_says_what_it_is_called() {
        let beliefs = [
            belief(&json!({ "_id": "old", "superseded_by": "new", "scope": ["code"] })),
            belief(&json!({ "_id": "new", "scope": ["code"] })),
        ];
        let value = json!({
            "scope": ["code"],
            "query": "q",
            "expect": {
                "relevantBeliefs": { "shouldOnlyInclude": ["a", "b"], "mustExclude": ["c"] },
                "openQuestions": { "mustInclude": ["d"] },
                "pinnedFacts": { "mustInclude": ["e"] },
                "noiseCheck": { "mustNotSurface": ["f", "g"] },
            },
        });
        let case = case(&value, &value["query"], "u");
        let mut counts = Counts::default();
        let paths = [folder_of("u", "code")];
        let sources = ["a", "c", "new", "old", "b", "f"].map(|id| format!("memory/u/code/{id}.md"));
        let mut sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        sources.push("memory/other/code/x.md");
        counts.add(&case, &sources, &paths, &beliefs);
        assert_eq!(
            counts,
            Counts {
                cases: 1,
                wanted: 3,
                returned: 2,
                exact: 1,
                unwanted: 3,
                kept_out: 1,
                kept_behind: 2,
                superseded: 1,
                behind_successor: 1,
                out_of_scope: 1,
            }
        );
    }
}
