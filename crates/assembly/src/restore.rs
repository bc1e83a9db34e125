//! Restoring: what the first contexts after a compaction carry, so that the agent
//! knows what it was doing.
//!
//! Every part is a capped fragment, in the order of the specification: checkpoint,
//! `MEMORY.md`, `memories/context.md`, key files as they are on disk now, sections
//! of `AGENTS.md`. The caller keeps the fragments for the whole epoch and hands
//! the same ones to every request, so that they stay in the prompt cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::ToSpan;
use jiff::civil::Date;
use longhaul_tokens::{Counter, Fragment, FragmentKind, Tokens, settings};
use longhaul_transcript::Millis;

use crate::files::{FileCache, last_lines};
use crate::workspace::FileKind;
use crate::{Problem, Workspace};

settings! {
    /// What the first context after a compaction carries, each part with its cap.
    pub struct RestoreLimits {
        /// The checkpoint as text, in tokens.
        checkpoint_tokens: Tokens [min = 1, max = 700] = Tokens(700),
        /// What the user said in the session of the same key before, in tokens.
        carried_tokens: Tokens [min = 1, max = 2_000] = Tokens(2_000),
        /// `MEMORY.md`, in tokens.
        memory_tokens: Tokens [min = 1, max = 800] = Tokens(800),
        /// `memories/context.md`, in tokens.
        context_tokens: Tokens [min = 1, max = 1_000] = Tokens(1_000),
        /// Today's and yesterday's log, in tokens.
        log_tokens: Tokens [min = 1, max = 2_000] = Tokens(2_000),
        /// Key files re-read from disk.
        key_files: u32 [min = 0] = 5,
        /// Each key file, in tokens.
        key_file_tokens: Tokens [min = 1, max = 1_000] = Tokens(1_000),
        /// Sections of `AGENTS.md` given again, by heading.
        agents_sections: Vec<String> = vec!["Session Startup".to_owned(), "Red Lines".to_owned()],
    }
}

/// A file that the summary names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFile {
    /// Its path, absolute or in the workspace.
    pub path: PathBuf,
    /// When the agent last read or wrote it, if that is known.
    pub last_seen: Option<Millis>,
}

/// What is put back, and from where.
#[derive(Debug, Clone, Copy)]
pub struct Restore<'a> {
    /// The workspace, whose files are read.
    pub workspace: &'a Workspace,
    /// The checkpoint, rendered.
    pub checkpoint: Option<&'a str>,
    /// Files that the summary names, most important first.
    pub key_files: &'a [KeyFile],
    /// How much.
    pub limits: &'a RestoreLimits,
}

impl Restore<'_> {
    /// The fragments, in order. A key file that is missing is skipped; one that
    /// leads out of the workspace is refused and told.
    pub fn fragments(
        &self,
        counter: &dyn Counter,
        now: SystemTime,
        cache: &mut FileCache,
    ) -> (Vec<Fragment>, Vec<Problem>) {
        let limits = self.limits;
        let mut reading = Reading {
            root: self.workspace.root(),
            now,
            cache,
            problems: Vec::new(),
        };
        let mut fragments = Vec::new();
        let mut add = |kind, text: Option<String>, limit| {
            let text = text.filter(|text| !text.trim().is_empty());
            fragments.extend(text.and_then(|text| Fragment::within(kind, text, limit, counter)));
        };
        add(
            FragmentKind::Checkpoint,
            self.checkpoint.map(str::to_owned),
            limits.checkpoint_tokens,
        );
        let memory = reading.text(Path::new("MEMORY.md"));
        add(FragmentKind::Memory, memory, limits.memory_tokens);
        let notes = reading.text(Path::new("memories/context.md"));
        add(FragmentKind::ContextNotes, notes, limits.context_tokens);
        let mut left = limits.key_files;
        for file in self.key_files {
            if left == 0 {
                break;
            }
            if let Some(text) = reading.key_file(file) {
                left -= 1;
                add(FragmentKind::KeyFile, Some(text), limits.key_file_tokens);
            }
        }
        for heading in &limits.agents_sections {
            let section = self.rules().and_then(|rules| section(rules, heading));
            let kind = FragmentKind::AgentsSection;
            add(kind, section.map(str::to_owned), kind.cap());
        }
        (fragments, reading.problems)
    }

    fn rules(&self) -> Option<&str> {
        let files = self.workspace.files().iter();
        let mut rules = files.filter(|file| file.kind == FileKind::Rules);
        rules.next().map(|file| file.content.head.as_str())
    }
}

/// Bytes of a log that are read for each token shown of it, marks included.
const LOG_BYTES_A_TOKEN: u64 = 16;

/// Today's and yesterday's log, where the workspace has them; of what is too much
/// the newest lines. Marks of provenance are left out.
pub fn daily_logs(
    workspace: &Workspace,
    today: Date,
    limit: Tokens,
    counter: &dyn Counter,
) -> (Option<Fragment>, Vec<Problem>) {
    let (mut lines, mut problems): (Vec<String>, _) = (Vec::new(), Vec::new());
    let mut is_whole = true;
    // A log grows with every compaction; only its end is read.
    let most = u64::from(limit.0) * LOG_BYTES_A_TOKEN;
    for day in [today, today.saturating_sub(1.day())] {
        let path = workspace.root().join(format!("memory/{day}.md"));
        match last_lines(&path, workspace.root(), most) {
            Ok(Some((text, all))) if is_whole => {
                is_whole = all;
                lines.splice(..0, text.lines().filter_map(unmarked));
            }
            Ok(_) => {}
            Err(problem) => problems.push(problem),
        }
    }
    let kind = FragmentKind::DailyLogs;
    let text = |left_out: usize| {
        let more = match left_out == 0 && is_whole {
            true => "",
            false => "[older lines are in memory/]\n",
        };
        format!("{more}{}", lines[left_out..].join("\n"))
    };
    let fits = |left_out: &usize| counter.count(&text(*left_out), kind.content()) <= limit;
    let places: Vec<usize> = (0..lines.len()).collect();
    let left_out = places.partition_point(|left_out| !fits(left_out));
    let fragment = (left_out < lines.len())
        .then(|| Fragment::within(kind, text(left_out), limit, counter))
        .flatten();
    (fragment, problems)
}

/// A line of a log without the comment that says who said it; nothing where
/// nothing else is there.
fn unmarked(line: &str) -> Option<String> {
    let said = match line.trim_end().strip_suffix("-->") {
        Some(marked) => marked.rfind("<!--").map_or(line, |at| &line[..at]),
        None => line,
    };
    let said = said.trim_end();
    (!said.is_empty()).then(|| said.to_owned())
}

struct Reading<'a> {
    root: &'a Path,
    now: SystemTime,
    cache: &'a mut FileCache,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn text(&mut self, path: &Path) -> Option<String> {
        let path = self.root.join(path);
        match self.cache.read(&path, Some(self.root), self.now) {
            Ok(found) => found.map(|found| found.content.head.clone()),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    fn key_file(&mut self, file: &KeyFile) -> Option<String> {
        let text = self.text(&file.path)?;
        let modified = fs::metadata(self.root.join(&file.path))
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(Millis::of_file);
        let note = match (modified, file.last_seen) {
            (Some(modified), Some(seen)) if modified > seen => ", changed since you last saw it",
            _ => "",
        };
        let path = file.path.display();
        Some(format!("[{path}, as it is on disk now{note}]\n{text}"))
    }
}

/// The section under `heading`, whatever its level and case: to the next heading
/// of the same or a higher level. Lines inside code are no headings.
fn section<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let mut start: Option<(usize, usize)> = None;
    let mut in_code = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            in_code = !in_code;
        }
        let level = line.bytes().take_while(|b| *b == b'#').count();
        let title = line[level..].trim().trim_end_matches('#').trim_end();
        let is_heading = !in_code && (1..=6).contains(&level) && line[level..].starts_with(' ');
        match start {
            Some((from, above)) if is_heading && level <= above => return Some(&text[from..at]),
            None if is_heading && title.to_lowercase() == heading.trim().to_lowercase() => {
                start = Some((at, level));
            }
            _ => {}
        }
        at += line.len();
    }
    start.map(|(from, _)| &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level() {
        let text =
            "# A\nx\n## Red lines ##\n- no\n```\n# not a heading\n```\n### sub\ny\n## B\nz\n";
        assert_eq!(
            section(text, "Red Lines"),
            Some("## Red lines ##\n- no\n```\n# not a heading\n```\n### sub\ny\n")
        );
        assert_eq!(section(text, "b"), Some("## B\nz\n"));
        assert_eq!(section(text, "not a heading"), None);
    }
}
