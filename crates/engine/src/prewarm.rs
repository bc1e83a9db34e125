//! Pre-warming: while nobody waits, the files that memory and checkpoint point
//! to are read and hashed, so that the next turn finds them at hand.
//!
//! Read-only, off by default (`prewarm.enabled`), and never silent: every run
//! is an event.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use longhaul_assembly::{FileCache, Problem};
use longhaul_checkpoint::Checkpoint;

use crate::checkpoints::Sink;
use crate::config::Prewarm;
use crate::event::Event;

/// Files looked at in one run; more than any memory points to.
const MOST_FILES: usize = 256;
/// Of a longer `MEMORY.md` nothing is read ahead.
const MOST_MEMORY_BYTES: u64 = 1 << 20;

/// What was read ahead so far. Keep it for the life of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warm {
    hashes: BTreeMap<PathBuf, String>,
}

/// What a run found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warmed {
    /// Files read.
    pub files: Vec<PathBuf>,
    /// Those of them that changed since the run before.
    pub changed: Vec<PathBuf>,
    /// Files that are pointed to and not there.
    pub missing: Vec<PathBuf>,
    /// Files that lead out of the workspace or cannot be read.
    pub problems: Vec<Problem>,
}

impl Warm {
    /// Nothing read yet.
    pub fn new() -> Warm {
        Warm::default()
    }

    /// The hash of a file as it was last read ahead.
    pub fn hash(&self, path: &Path) -> Option<&str> {
        self.hashes.get(path).map(String::as_str)
    }

    /// Reads ahead, where the settings allow it: `MEMORY.md`, what it points
    /// to, and the files of the checkpoint. `root` is the resolved workspace.
    pub fn run(
        &mut self,
        settings: &Prewarm,
        root: &Path,
        checkpoint: Option<&Checkpoint>,
        now: SystemTime,
        cache: &mut FileCache,
        sink: &mut Sink<'_>,
    ) -> Option<Warmed> {
        if !settings.enabled {
            return None;
        }
        let mut paths = vec![
            PathBuf::from("MEMORY.md"),
            PathBuf::from("memories/context.md"),
        ];
        let memory = longhaul_files::resolve(&root.join("MEMORY.md")).ok();
        let memory = memory.filter(|real| real.starts_with(root));
        let memory = memory.and_then(|real| longhaul_files::read(&real, MOST_MEMORY_BYTES).ok());
        let memory = memory.unwrap_or_default();
        paths.extend(pointers(&String::from_utf8_lossy(&memory)));
        if let Some(checkpoint) = checkpoint {
            let resources = &checkpoint.resources;
            let modified = resources.files_modified.iter().rev();
            paths.extend(
                modified
                    .chain(resources.files_read.iter().rev())
                    .map(PathBuf::from),
            );
        }
        let mut warmed = Warmed::default();
        for path in paths.into_iter().take(MOST_FILES) {
            if warmed.files.contains(&path) || warmed.missing.contains(&path) {
                continue;
            }
            match cache.warm(&path, root, now) {
                Ok(Some(hash)) => {
                    let before = self.hashes.insert(path.clone(), hash.clone());
                    if before.is_some_and(|before| before != hash) {
                        warmed.changed.push(path.clone());
                    }
                    warmed.files.push(path);
                }
                Ok(None) => {
                    self.hashes.remove(&path);
                    warmed.missing.push(path);
                }
                Err(problem) => warmed.problems.push(problem),
            }
        }
        sink(Event::Prewarmed {
            files: warmed.files.len(),
            changed: warmed.changed.len(),
            missing: warmed.missing.len(),
            refused: warmed.problems.len(),
        });
        Some(warmed)
    }
}

/// The files that a memory file points to: targets of links, and what stands
/// in code and looks like a path.
fn pointers(text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut add = |target: &str| {
        let target = target.split(['#', ' ']).next().unwrap_or_default();
        let target = target.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit());
        let is_path = target.contains('/')
            || target
                .rsplit_once('.')
                .is_some_and(|(name, _)| !name.is_empty());
        if is_path && !target.contains("://") {
            let path = PathBuf::from(target);
            if !found.contains(&path) {
                found.push(path);
            }
        }
    };
    for line in text.lines() {
        for part in line.split("](").skip(1) {
            add(part.split(')').next().unwrap_or_default());
        }
        for code in line.split('`').skip(1).step_by(2) {
            add(code);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn links_and_code_are_pointers_and_addresses_are_not() {
        let text = "- [plan](docs/plan.md#now) and `src/main.rs:12`\n- see https://a.b/c, \
                    [x](https://a.b), `cargo test`, `notes.md`\n";
        let paths: Vec<PathBuf> = ["docs/plan.md", "src/main.rs", "notes.md"]
            .map(PathBuf::from)
            .to_vec();
        assert_eq!(pointers(text), paths);
    }

    #[test]
    fn it_is_off_unless_switched_on_and_tells_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let memory = "- [plan](plan.md)\n- [gone](gone.md)\n- [out](../../etc/passwd)\n";
        fs::write(root.join("MEMORY.md"), memory).unwrap();
        fs::write(root.join("plan.md"), "one").unwrap();
        let (mut warm, mut cache) = (Warm::new(), FileCache::new());
        let mut events = Vec::new();
        let off = Prewarm::default();
        let now = SystemTime::now();
        let run = warm.run(&off, &root, None, now, &mut cache, &mut |event| {
            events.push(event);
        });
        assert_eq!((run, events.len(), cache.reads()), (None, 0, 0));

        let on = Prewarm { enabled: true };
        let first = warm.run(&on, &root, None, now, &mut cache, &mut |event| {
            events.push(event);
        });
        let first = first.unwrap();
        assert_eq!(first.files, ["MEMORY.md", "plan.md"].map(PathBuf::from));
        assert_eq!(
            first.missing,
            ["memories/context.md", "gone.md"].map(PathBuf::from)
        );
        fs::write(root.join("plan.md"), "two").unwrap();
        let second = warm.run(&on, &root, None, now, &mut cache, &mut |event| {
            events.push(event);
        });
        assert_eq!(second.unwrap().changed, [PathBuf::from("plan.md")]);
        let changed: Vec<usize> = events
            .iter()
            .map(|event| match event {
                Event::Prewarmed { changed, .. } => *changed,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(changed, [0, 1]);
    }
}
