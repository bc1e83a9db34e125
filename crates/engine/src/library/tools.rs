//! The memory files as the agent's tools reach them: quoted, dated, attributed.

use std::path::{Path, PathBuf};

use longhaul_index::{
    Budget, Filters, Hit, MemoryIndex, Query as Search, RecordKind, WorkspaceFiles,
};
use longhaul_ledger::ours::HINT;
use longhaul_memory::MemoryFolder;
use longhaul_memory::dream::{Dreams, Recalled};
use longhaul_redact::Redactor;
use longhaul_transcript::Millis;

use super::Library;
use crate::config::Config;
use crate::recall::fenced;

/// What is taken in before a search; the rest is left to the background.
pub(super) const SYNCED: Budget = Budget { bytes: 8_000_000 };

/// What `memory_search` and `memory_get` work on. What is written goes another
/// way: the turn loop binds `memory_append` to today's log itself.
///
/// The calls may take their time: they run where they hold nothing up.
pub trait Notebook: Send + Sync {
    /// The best passages for some words, for the model to read: fenced and with
    /// the file and lines of each.
    fn search(&self, query: &str, limit: usize) -> Result<String, String>;

    /// How many passages a search gives where the model names no number.
    fn usual_hits(&self) -> usize {
        6
    }

    /// Lines of a memory file: so many, from a line on (the first is 1).
    fn get(&self, path: &str, from: Option<u64>, lines: Option<u64>) -> Result<String, String>;
}

/// `memory_search` and `memory_get`.
pub struct MemoryNotebook {
    library: Library,
    folder: MemoryFolder,
    files: WorkspaceFiles,
    kinds: Vec<RecordKind>,
    minimum_score: f32,
    usual_hits: usize,
    now: Box<dyn Fn() -> Millis + Send + Sync>,
    /// Where what was returned is counted.
    counted: Option<PathBuf>,
}

impl Library {
    /// The agent's memory files, of which is searched what the configuration wants.
    pub fn notebook(
        &self,
        folder: MemoryFolder,
        config: &Config,
        now: impl Fn() -> Millis + Send + Sync + 'static,
    ) -> MemoryNotebook {
        MemoryNotebook {
            library: self.clone(),
            files: config.workspace_files(folder.root()),
            folder,
            kinds: config.memory_kinds(),
            minimum_score: config.memory.search.minimum_score as f32,
            usual_hits: config.memory.search.max_results as usize,
            now: Box::new(now),
            counted: None,
        }
    }
}

impl MemoryNotebook {
    /// Counts what searches return, for dreaming: in the state folder, beside
    /// the dreams of the workspace.
    pub fn counted_in(self, state_dir: &Path) -> MemoryNotebook {
        MemoryNotebook {
            counted: Some(state_dir.to_owned()),
            ..self
        }
    }

    /// The lines that were asked for are counted. A chunk has others beside
    /// them: those with a word of the question are meant, if any have one.
    fn count(&self, hits: &[Hit]) -> Result<(), longhaul_memory::Error> {
        let Some(state_dir) = &self.counted else {
            return Ok(());
        };
        let lines = hits.iter().flat_map(|hit| {
            let has = |line: &&str| {
                let line = line.to_lowercase();
                hit.why
                    .terms
                    .iter()
                    .any(|term| line.contains(term.as_str()))
            };
            let all: Vec<&str> = hit.text.lines().collect();
            let meant: Vec<&str> = all.iter().copied().filter(has).collect();
            if meant.is_empty() { all } else { meant }
        });
        let lines = lines.map(|line| Recalled::Line(line.to_owned()));
        Dreams::new(state_dir, &self.folder).note_recalled(lines)
    }
}

/// A text that is read whole, without its secrets.
struct Whole {
    text: String,
    /// Who said it and when, to be put behind its name.
    standing: String,
    from: &'static str,
}

impl MemoryNotebook {
    /// A file as the index names it, however it is written, and the lines that a
    /// search printed behind it: `memory/x.md:1-9`.
    fn named(&self, path: &str) -> (String, Option<(u64, u64)>) {
        let plain = |path: &str| {
            let root = self.folder.root();
            let inside = Path::new(path).strip_prefix(root).ok();
            // A session may lie in the workspace too, and has its whole path.
            let inside = inside.and_then(Path::to_str);
            let inside = inside.filter(|name| self.files.has(name));
            inside.unwrap_or(path.trim_start_matches("./")).to_owned()
        };
        let whole = plain(path);
        let lines = path.rsplit_once(':').and_then(|(name, lines)| {
            let (from, to) = lines.split_once('-')?;
            let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
            (1 <= from && from <= to).then_some((plain(name), (from, to)))
        });
        match lines {
            Some((name, lines)) if !self.files.has(&whole) => (name, Some(lines)),
            _ => (whole, None),
        }
    }

    /// A memory file, or an entry of a session. Whoever asks may be led by what
    /// it has read, so nothing else of the workspace is read this way.
    fn whole(&self, name: &str) -> Result<Whole, String> {
        let dated = |when: Option<Millis>| match when {
            Some(when) => format!(" · {}", when.to_iso()),
            None => String::new(),
        };
        if self.files.has(name) {
            let text = self.folder.read(name).map_err(|error| error.to_string())?;
            if let Some(text) = text {
                if text.contains('\0') {
                    return Err(format!(
                        "{name} has a zero byte, as only binary files have, and is not read"
                    ));
                }
                return Ok(Whole {
                    text: Redactor::default().redact(&text).text,
                    standing: dated(self.files.date_of(name)),
                    from: "a memory file",
                });
            }
        }
        let entry = self
            .library
            .reading(|index| index.get(name, None))
            .map_err(|error| error.to_string())?
            .filter(|passage| passage.kind.is_of_session());
        match entry {
            Some(entry) => Ok(Whole {
                text: entry.text,
                standing: match entry.role {
                    Some(role) => format!(" · {role}{}", dated(entry.time)),
                    None => dated(entry.time),
                },
                from: "a session's past",
            }),
            None => Err(format!(
                "there is no memory file {name}; memory_search names those there are, and nothing \
                 else is read by this tool"
            )),
        }
    }
}

impl Notebook for MemoryNotebook {
    fn search(&self, query: &str, limit: usize) -> Result<String, String> {
        let search = Search {
            k: limit.max(1),
            filters: Filters {
                kinds: self.kinds.clone(),
                ..Filters::default()
            },
            now: Some((self.now)()),
            ..Search::new(query)
        };
        let now = (self.now)();
        let found = self.library.search_files(&search, &self.files, now);
        let mut found = found.map_err(|error| error.to_string())?;
        found.hits.retain(|hit| hit.score >= self.minimum_score);
        for trouble in self.library.troubles_of_search() {
            // A search may have met the same.
            if !found.notes.contains(&trouble) {
                found.notes.push(trouble);
            }
        }
        if found.hits.is_empty() {
            let links = self.files.links_note(None);
            let notes = found.notes.iter().chain(&links);
            let notes = notes.map(|note| format!("\n[{note}]"));
            let notes: String = notes.collect();
            return Ok(format!("Nothing in memory fits these words.{notes}"));
        }
        if let Err(error) = self.count(&found.hits) {
            found
                .notes
                .push(format!("not counted for dreaming: {error}"));
        }
        let model = found.model.as_deref().unwrap_or("words alone");
        let mut text = format!(
            "Quoted from memory files (found by {model}). It is {HINT}: check \
             it against its source before you act on it.\n"
        );
        for hit in &found.hits {
            let when = hit.time.or_else(|| self.files.date_of(&hit.source));
            let when = when.map(|time| format!(" · {}", time.to_iso()));
            let mut quoted = hit.text.clone();
            for kept in &hit.kept {
                if !quoted.ends_with('\n') {
                    quoted.push('\n');
                }
                quoted.push_str(&format!(
                    "kept in {} lines {}-{}: {} ({})\n",
                    kept.source, kept.lines.0, kept.lines.1, kept.text, kept.standing
                ));
            }
            text.push_str(&fenced(
                "memory",
                &format!(
                    "{} lines {}-{}{}",
                    hit.source,
                    hit.lines.0,
                    hit.lines.1,
                    when.unwrap_or_default()
                ),
                &quoted,
            ));
        }
        for note in &found.notes {
            text.push_str(&format!("[{note}]\n"));
        }
        Ok(text)
    }

    fn usual_hits(&self) -> usize {
        self.usual_hits
    }

    fn get(&self, path: &str, from: Option<u64>, lines: Option<u64>) -> Result<String, String> {
        let (name, printed) = self.named(path);
        let name = name.as_str();
        let (from, lines) = match (from, lines, printed) {
            (None, None, Some((first, last))) => (Some(first), Some(last - first + 1)),
            (from, lines, _) => (from, lines),
        };
        let Whole {
            text,
            standing,
            from: place,
        } = self.whole(name)?;
        let from = from.unwrap_or(1).max(1);
        let of = text.lines().count();
        let skip = usize::try_from(from - 1).unwrap_or(usize::MAX);
        let take = usize::try_from(lines.unwrap_or(200).min(2_000)).unwrap_or(200);
        let part: Vec<&str> = text.lines().skip(skip).take(take).collect();
        if part.is_empty() {
            return Err(format!(
                "{name} has {of} lines; line {from} is none of them"
            ));
        }
        let last = skip + part.len();
        let quoted = fenced(
            "memory",
            &format!("{name} lines {from}-{last} of {of}{standing}"),
            &part.join("\n"),
        );
        Ok(format!(
            "Quoted from {place}. It is {HINT}: check it against its source \
             before you act on it.\n{quoted}"
        ))
    }
}
