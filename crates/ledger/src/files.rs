//! Files: which were read, made, changed, removed and moved.

use crate::commands::takes_away;
use crate::facts::{FileChange, FileRecord, Provenance};
use crate::ledger::{At, Ledger};
use crate::outcome::Ended;
use crate::shell::{Effect, effects};
use crate::tools::ToolUse;
use crate::working::Call;

/// Records kept in all; of more, the least used reads leave.
const MOST: usize = 4_000;

impl ToolUse {
    /// The path a call is about.
    pub fn target(&self) -> Option<&str> {
        match self {
            ToolUse::Read { path, .. }
            | ToolUse::Write { path, .. }
            | ToolUse::Edit { path }
            | ToolUse::MultiEdit { path, .. }
            | ToolUse::Delete { path } => Some(path),
            ToolUse::Move { from, .. } => Some(from),
            ToolUse::Patch { files } => files.first().map(|edit| edit.path.as_str()),
            ToolUse::Search { path, pattern } => path.as_deref().or(pattern.as_deref()),
            ToolUse::Shell { .. }
            | ToolUse::Todo { .. }
            | ToolUse::TodoAdd { .. }
            | ToolUse::TodoSet { .. }
            | ToolUse::Ask { .. }
            | ToolUse::Plan { .. }
            | ToolUse::Note { .. }
            | ToolUse::Other => None,
        }
    }
}

impl Ledger {
    /// Notes how the paths that a call touched were written, if not in full.
    fn note_written(&mut self, source: &str) {
        for (full, is_new) in std::mem::take(&mut self.working.touched) {
            let known = self.working.written.get(&full).copied();
            // A path that was once written in full stays so.
            if !is_new && known.is_none() {
                continue;
            }
            let stands = |ending: &str| !ending.is_empty() && source.contains(ending);
            if stands(&full) {
                self.working.written.remove(&full);
                continue;
            }
            let ending = full
                .match_indices('/')
                .map(|(at, _)| &full[at + 1..])
                .find(|ending| stands(ending));
            let Some(ending) = ending else {
                continue;
            };
            let longest = known.unwrap_or(0).max(ending.len() as u32);
            self.working.written.insert(full, longest);
        }
    }

    /// The ending of a path as it was written, where the path in full stands
    /// nowhere in the session: `src/a.rs` after `cd /work/app`.
    pub fn as_written<'p>(&self, path: &'p str) -> Option<&'p str> {
        let length = *self.working.written.get(path)? as usize;
        path.get(path.len().checked_sub(length)?..)
    }

    /// What a file tool did. A read that failed is remembered as a file that
    /// was looked for (`reads` 0); a change that failed is none.
    pub(crate) fn apply_files(&mut self, at: At<'_>, does: &ToolUse, ended: &Ended<'_>) {
        match does {
            ToolUse::Read { path, .. } => self.file_read(at, path, ended.passed()),
            _ if !ended.passed() => {}
            ToolUse::Write { path, .. } => self.file_written(at, path),
            ToolUse::Edit { path } | ToolUse::MultiEdit { path, .. } => {
                self.file_changed(at, path, FileChange::Edited)
            }
            ToolUse::Delete { path } => self.file_changed(at, path, FileChange::Deleted),
            ToolUse::Move { from, to } => self.file_moved(at, from, to),
            ToolUse::Patch { files } => {
                for edit in files {
                    match (&edit.moved_to, edit.change) {
                        (Some(to), _) => self.file_moved(at, &edit.path, to),
                        (None, FileChange::Created) => self.file_written(at, &edit.path),
                        (None, change) => self.file_changed(at, &edit.path, change),
                    }
                }
            }
            ToolUse::Search { .. }
            | ToolUse::Shell { .. }
            | ToolUse::Todo { .. }
            | ToolUse::TodoAdd { .. }
            | ToolUse::TodoSet { .. }
            | ToolUse::Ask { .. }
            | ToolUse::Plan { .. }
            | ToolUse::Note { .. }
            | ToolUse::Other => {}
        }
        let mut source = does.target().unwrap_or_default().to_owned();
        match does {
            ToolUse::Move { to, .. } => source = format!("{source}\n{to}"),
            ToolUse::Patch { files } => {
                for edit in files {
                    source.push('\n');
                    source.push_str(&edit.path);
                    source.push('\n');
                    source.push_str(edit.moved_to.as_deref().unwrap_or_default());
                }
            }
            _ => {}
        }
        self.note_written(&source);
    }

    /// What a command line did to files.
    pub(crate) fn apply_shell(
        &mut self,
        at: At<'_>,
        call: &Call,
        command: &str,
        dir: Option<&str>,
        ended: &Ended<'_>,
    ) {
        // Claude Code's shell lives on between calls, other agents' do not.
        let lasting = call.tool == "Bash";
        let base = match dir {
            Some(dir) => Some(self.place(dir)),
            None if lasting => self.working.shell_dir.clone(),
            None => None,
        };
        let here = |path: &str| match &base {
            Some(base) if !path.starts_with(['/', '~']) => {
                format!("{}/{path}", base.trim_end_matches('/'))
            }
            _ => path.to_owned(),
        };
        let done = effects(command);
        for effect in &done.list {
            match effect {
                Effect::Read(path) => self.file_read(at, &here(path), true),
                Effect::Write(path) => self.file_written(at, &here(path)),
                Effect::Change(path) => self.file_changed(at, &here(path), FileChange::Edited),
                Effect::Touch(path) => {
                    let full = self.place(&here(path));
                    if !self
                        .files
                        .get(&full)
                        .is_some_and(|file| file.last != FileChange::Deleted)
                    {
                        self.file_written(at, &here(path));
                    }
                }
                Effect::Delete(path) => self.file_changed(at, &here(path), FileChange::Deleted),
                Effect::DeleteTree(path) => self.tree_deleted(at, &here(path)),
                Effect::Move { from, to, into } => {
                    let (from, to) = (here(from), here(to));
                    let to = self.landing(&from, &to, *into);
                    self.tree_moved(at, &from, &to);
                }
                Effect::Copy { from, to, into } => {
                    let (from, to) = (here(from), here(to));
                    let to = self.landing(&from, &to, *into);
                    // A copied folder is not one file.
                    if !self.is_folder(&from) {
                        self.file_written(at, &to);
                    }
                }
                Effect::Arrival { folder, glob } => self.may_be_back(&here(folder), glob),
            }
        }
        self.note_written(command);
        if lasting {
            self.working.shell_dir = match done.dir.as_deref() {
                Some("") => self.working.shell_dir.take(),
                Some(dir) => Some(self.place(&here(dir))),
                None => None,
            };
            if ended.text().contains("Shell cwd was reset to") {
                self.working.shell_dir = None;
            }
        }
    }

    /// A path in full, with `.` and `..` taken out.
    pub(crate) fn place(&self, path: &str) -> String {
        let path = path.trim();
        let windows = path.as_bytes().get(1) == Some(&b':');
        let full = match &self.cwd {
            Some(cwd) if !path.starts_with(['/', '~', '\\']) && !windows => {
                format!("{}/{path}", cwd.trim_end_matches('/'))
            }
            _ => path.to_owned(),
        };
        if !(full.contains("/.")
            || full.contains("//")
            || full.starts_with("./")
            || full.ends_with('/'))
        {
            return full;
        }
        let absolute = full.starts_with('/');
        let mut parts: Vec<&str> = Vec::new();
        for part in full.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                ".." if absolute => {}
                part => parts.push(part),
            }
        }
        match absolute {
            true => format!("/{}", parts.join("/")),
            false => parts.join("/"),
        }
    }

    /// Whether files are known below this path.
    fn is_folder(&self, path: &str) -> bool {
        let prefix = format!("{}/", self.place(path));
        self.files
            .range::<str, _>((
                std::ops::Bound::Included(prefix.as_str()),
                std::ops::Bound::Unbounded,
            ))
            .next()
            .is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    /// Where a moved or copied file ends up.
    fn landing(&self, from: &str, to: &str, into: bool) -> String {
        if into || (self.is_folder(to) && !self.is_folder(from)) {
            let name = from
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or(from);
            return format!("{}/{name}", to.trim_end_matches('/'));
        }
        to.to_owned()
    }

    fn record(&mut self, at: At<'_>, path: &str) -> Option<&mut FileRecord> {
        if path.trim().is_empty() || path.len() > 2_048 || path.contains('\0') {
            return None;
        }
        let full = self.place(path);
        if full.is_empty() {
            return None;
        }
        let is_new = !self.files.contains_key(&full);
        if is_new && self.files.len() >= MOST {
            self.drop_least_used();
        }
        self.working.touched.push((full.clone(), is_new));
        let record = self
            .files
            .entry(full)
            .or_insert_with_key(|path| FileRecord {
                path: path.clone(),
                reads: 0,
                changes: 0,
                last: FileChange::Read,
                created: false,
                moved_to: None,
                moved_from: None,
                provenance: Provenance::default(),
                last_read: None,
                rank: 0,
            });
        record.provenance.add(at.entry);
        record.rank = at.rank;
        Some(record)
    }

    /// Makes room in one go, so that it does not cost much each time.
    fn drop_least_used(&mut self) {
        let mut order: Vec<(bool, u32, u64, String)> = self
            .files
            .values()
            .map(|file| (file.is_modified(), file.reads, file.rank, file.path.clone()))
            .collect();
        order.sort();
        for (.., path) in order.into_iter().take(MOST / 8) {
            self.files.remove(&path);
            self.working.written.remove(&path);
        }
    }

    fn file_read(&mut self, at: At<'_>, path: &str, found: bool) {
        let entry = at.entry.clone();
        let Some(record) = self.record(at, path) else {
            return;
        };
        let path = record.path.clone();
        if found {
            record.reads = record.reads.saturating_add(1);
            record.last_read = Some(entry.clone());
            self.working.read = Some((path, entry));
        }
    }

    fn file_written(&mut self, at: At<'_>, path: &str) {
        let full = self.place(path);
        let was = self.files.get(&full);
        let there =
            was.is_some_and(|file| (file.reads > 0 || file.changes > 0) && !takes_away(file.last));
        let change = if there {
            FileChange::Edited
        } else {
            FileChange::Created
        };
        self.file_changed(at, path, change);
    }

    pub(crate) fn file_changed(&mut self, at: At<'_>, path: &str, change: FileChange) {
        let entry = at.entry.clone();
        let Some(record) = self.record(at, path) else {
            return;
        };
        record.changes = record.changes.saturating_add(1);
        record.created |= change == FileChange::Created;
        record.last = change;
        if change != FileChange::Moved {
            record.moved_to = None;
        }
        let path = record.path.clone();
        self.turn_changed(at, &path);
        if takes_away(change) {
            self.settle_gone(&path);
        }
        if !takes_away(change) {
            self.working.changed = Some((path, entry));
        } else if self
            .working
            .changed
            .as_ref()
            .is_some_and(|(last, _)| *last == path)
        {
            // Nobody goes on with a file that is gone.
            self.working.changed = self
                .files
                .values()
                .filter(|file| file.changes > 0 && !takes_away(file.last))
                .max_by_key(|file| file.rank)
                .and_then(|file| Some((file.path.clone(), file.provenance.last()?.clone())));
        }
    }

    pub(crate) fn file_moved(&mut self, at: At<'_>, from: &str, to: &str) {
        let target = self.place(to);
        self.file_changed(at, from, FileChange::Moved);
        let source = self.place(from);
        if let Some(record) = self.files.get_mut(&source) {
            record.moved_to = Some(target.clone());
        }
        self.file_changed(at, to, FileChange::Edited);
        if let Some(record) = self.files.get_mut(&target) {
            record.moved_from = Some(source);
        }
    }

    /// Files of a folder that a glob fits are no longer known to be gone.
    fn may_be_back(&mut self, folder: &str, glob: &str) {
        let glob = glob.rsplit('/').next().unwrap_or(glob);
        let folder = format!("{}/", self.place(folder));
        for (path, file) in &mut self.files {
            let name = path.strip_prefix(&folder);
            if takes_away(file.last) && name.is_some_and(|name| fits(name, glob)) {
                file.last = FileChange::Edited;
                file.moved_to = None;
            }
        }
    }

    fn below(&self, path: &str) -> Vec<String> {
        let prefix = format!("{}/", self.place(path));
        self.files
            .range::<str, _>((
                std::ops::Bound::Included(prefix.as_str()),
                std::ops::Bound::Unbounded,
            ))
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(&prefix))
            .cloned()
            .collect()
    }

    fn tree_deleted(&mut self, at: At<'_>, path: &str) {
        let below = self.below(path);
        let full = self.place(path);
        for file in &below {
            self.file_changed(at, file, FileChange::Deleted);
        }
        // A name with an extension, or one that was seen as a file, is a file.
        let name = full.rsplit('/').next().unwrap_or("");
        let is_file = name.rfind('.').is_some_and(|dot| dot > 0);
        if below.is_empty() && (self.files.contains_key(&full) || is_file) {
            self.file_changed(at, path, FileChange::Deleted);
        }
    }

    fn tree_moved(&mut self, at: At<'_>, from: &str, to: &str) {
        let below = self.below(from);
        if below.is_empty() {
            self.file_moved(at, from, to);
            return;
        }
        let (source, target) = (self.place(from), self.place(to));
        for file in below {
            let moved = format!("{target}{}", &file[source.len()..]);
            self.file_moved(at, &file, &moved);
        }
    }
}

/// Whether a name in a folder is one that a glob of `*` and `?` stands for.
fn fits(name: &str, glob: &str) -> bool {
    if name.contains('/') {
        return false;
    }
    let (name, glob): (Vec<char>, Vec<char>) = (name.chars().collect(), glob.chars().collect());
    let (mut at, mut of) = (0, 0);
    // The latest star, and how far what it stands for reaches.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match glob.get(of) {
            Some('*') => {
                star = Some((of, at));
                of += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[at] => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((place, reach)) = star else {
                    return false;
                };
                star = Some((place, reach + 1));
                (at, of) = (reach + 1, place + 1);
            }
        }
    }
    glob[of..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_stands_for_names_of_its_folder() {
        for (name, glob, is_one) in [
            ("a.rs", "*.rs", true),
            ("a.rs", "?.*", true),
            ("ab.rs", "?.rs", false),
            ("sub/a.rs", "*.rs", false),
            ("日.rs", "?.rs", true),
            ("a.rs", "*", true),
        ] {
            assert_eq!(fits(name, glob), is_one, "{name} {glob}");
        }
    }

    #[test]
    fn paths_are_made_whole() {
        let ledger = Ledger::new(Some("/w/p/".into()));
        for (path, full) in [
            ("a.rs", "/w/p/a.rs"),
            ("./src/../a.rs", "/w/p/a.rs"),
            ("/x//y/./z", "/x/y/z"),
            ("../q", "/w/q"),
            ("~/n", "~/n"),
            (".env", "/w/p/.env"),
            ("C:\\x\\y", "C:\\x\\y"),
        ] {
            assert_eq!(ledger.place(path), full);
        }
        assert_eq!(Ledger::new(None).place("./a"), "a");
    }
}
