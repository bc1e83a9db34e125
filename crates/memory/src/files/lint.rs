//! `memory lint`: the limits of `MEMORY.md`, dead pointers, and what can be
//! done about them.

use std::fs;
use std::path::{Component, Path};

use longhaul_index::WorkspaceFiles;
use longhaul_tokens::{ContentKind, Counter, Tokens};

use super::pointers::{Pointer, written_anew};
use super::trouble::{Finding, Trouble};
use super::{
    CONTEXT, DECISIONS, DREAMS, ERRORS, LOGS, MEMORIES, MEMORY, MOST_FILE_BYTES, MemoryFolder,
    PROJECT, links, place, verify,
};
use crate::Result;

/// How large `MEMORY.md` may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Characters of a line.
    pub line_chars: usize,
    /// Tokens of the file.
    pub max_tokens: Tokens,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            line_chars: 150,
            max_tokens: Tokens(800),
        }
    }
}

/// How what stands for a secret begins.
const PLACEHOLDER: &str = "[redacted:";

/// Files looked at when the target of a dead pointer is sought.
const MOST_SOUGHT: usize = 20_000;
/// No `.gitignore` has more.
const MOST_IGNORE_BYTES: u64 = 1 << 20;

impl MemoryFolder {
    /// Everything that is wrong with the memory files; nothing is changed.
    pub fn lint(&self, limits: Limits, counter: &dyn Counter) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let finding = |file: &str, line, trouble| Finding {
            file: file.to_owned(),
            line,
            trouble,
        };
        for file in [MEMORY, PROJECT, DECISIONS, ERRORS, CONTEXT] {
            // What is there and no file is told below.
            if matches!(place::for_reading(self.root(), file), Ok(None)) {
                findings.push(finding(file, None, Trouble::Missing));
            }
        }
        let files = WorkspaceFiles::new(self.root());
        let own = self.own_files()?;
        for file in &own {
            findings.extend(self.content(file, MOST_FILE_BYTES)?);
        }
        // Whoever searches finds these too.
        for file in files.names().iter().filter(|file| !own.contains(file)) {
            findings.extend(self.content(file, files.max_bytes)?);
        }
        for place in [LOGS, MEMORIES] {
            let trouble = match links::stand_in(self.root(), place) {
                Some(target) => Some(Trouble::LinkedFolder { target }),
                None => {
                    links::unread(self.root(), place).map(|reason| Trouble::Unreadable { reason })
                }
            };
            findings.extend(trouble.map(|trouble| finding(place, None, trouble)));
        }
        // Any name may be a link, also where no layout asks for it.
        for file in files.links_left_out() {
            if !findings.iter().any(|finding| finding.file == file) {
                let reason = links::told(self.root(), &file);
                let reason = reason.unwrap_or_else(|| links::ASTRAY.to_owned());
                findings.push(finding(&file, None, Trouble::Unreadable { reason }));
            }
        }
        for (file, why) in files.unseen() {
            if !findings.iter().any(|finding| finding.file == file) {
                findings.push(finding(&file, None, Trouble::unseen(why)));
            }
        }
        // What keeps it from being read was just told.
        if let Ok(Some(text)) = self.read(MEMORY) {
            for (at, line) in text.lines().enumerate() {
                if let Some(trouble) = long_line(line, limits) {
                    findings.push(finding(MEMORY, Some(at + 1), trouble));
                }
            }
            let tokens = counter.count(&text, ContentKind::Prose);
            if tokens > limits.max_tokens {
                let (tokens, most) = (tokens.0, limits.max_tokens.0);
                findings.push(finding(
                    MEMORY,
                    None,
                    Trouble::TooManyTokens { tokens, most },
                ));
            }
            let wrong = self.wrong_pointers(&text, limits).into_iter();
            findings.extend(wrong.map(|(line, trouble)| finding(MEMORY, Some(line), trouble)));
        }
        self.leave_to_people(&mut findings);
        if self.is_in_git() && !self.is_ignored()? {
            findings.push(finding("memories/", None, Trouble::NotIgnored));
        }
        findings.sort_by_key(|found| (found.file != MEMORY, found.line));
        Ok(findings)
    }

    /// What is wrong with what stands in a file, or what keeps it from being read.
    fn content(&self, file: &str, most: u64) -> Result<Vec<Finding>> {
        let finding = |line, trouble| Finding {
            file: file.to_owned(),
            line,
            trouble,
        };
        let bytes = match place::bytes(self.root(), file, most) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => {
                let trouble = match links::told(self.root(), file) {
                    Some(reason) => Trouble::Unreadable { reason },
                    None => Trouble::of(error)?,
                };
                return Ok(vec![finding(None, trouble)]);
            }
        };
        let mut findings = Vec::new();
        if let Some(at) = memchr::memchr(0, &bytes) {
            findings.push(finding(None, Trouble::Binary { at }));
        }
        let lines = bytes.split(|byte| *byte == b'\n').enumerate();
        let mut bad = lines.filter(|(_, line)| std::str::from_utf8(line).is_err());
        if let Some((at, _)) = bad.next() {
            let lines = 1 + bad.count();
            findings.push(finding(Some(at + 1), Trouble::NotUtf8 { lines }));
        }
        let secrets = self.secret_lines(&String::from_utf8_lossy(&bytes));
        let secrets = secrets.into_iter();
        findings.extend(secrets.map(|line| finding(Some(line), Trouble::Secret)));
        Ok(findings)
    }

    /// The lines in which secrets begin, from 1. A redacted text has as many lines
    /// as before, also where a key went over several.
    fn secret_lines(&self, text: &str) -> Vec<usize> {
        let redacted = self.redacted(text);
        let lines = text.lines().zip(redacted.lines()).zip(1..);
        lines
            .filter(|((own, other), _)| own != other && other.contains(PLACEHOLDER))
            .map(|(_, line)| line)
            .collect()
    }

    /// What is wrong with the pointers of a text, each with its line. A line of
    /// which only a part is lost stays.
    fn wrong_pointers(&self, text: &str, limits: Limits) -> Vec<(usize, Trouble)> {
        let lines: Vec<&str> = text.lines().collect();
        let pointers = self.pointers(text);
        let mut wrong = Vec::new();
        for of_line in pointers.chunk_by(|one, next| one.line == next.line) {
            let number = of_line.first().map_or(1, |pointer| pointer.line);
            let line = lines.get(number - 1).copied().unwrap_or_default();
            let troubles: Vec<Option<Trouble>> = of_line
                .iter()
                .map(|pointer| self.wrong(pointer, line))
                .collect();
            let is_lost =
                |trouble: &Trouble| matches!(trouble, Trouble::DeadPointer { perhaps: None, .. });
            let all_lost = troubles
                .iter()
                .all(|trouble| trouble.as_ref().is_some_and(is_lost));
            let stays = !all_lost || long_line(line, limits).is_some();
            wrong.extend(troubles.into_iter().flatten().map(|trouble| {
                let trouble = match stays && is_lost(&trouble) {
                    true => Trouble::InLiveLine {
                        trouble: Box::new(trouble),
                    },
                    false => trouble,
                };
                (number, trouble)
            }));
        }
        wrong
    }

    /// What is wrong with a pointer of a line.
    fn wrong(&self, pointer: &Pointer, line: &str) -> Option<Trouble> {
        let (target, standing) = self.meant(pointer);
        match (standing, &pointer.anchor) {
            (Target::There, Some(anchor)) if !self.has_section(&target, anchor) => {
                let anchor = anchor.clone();
                Some(Trouble::DeadAnchor { target, anchor })
            }
            (Target::There, _) => None,
            (Target::Outside, _) => Some(Trouble::OutsidePointer { target }),
            (Target::Gone, _) => {
                let perhaps = self.namesake(&target);
                // Not every form can name every file, such as one with spaces.
                let perhaps = perhaps.filter(|file| self.can_lead(pointer, line, file));
                Some(Trouble::DeadPointer { target, perhaps })
            }
        }
    }

    /// Whether a pointer that is written anew would be read as leading there.
    fn can_lead(&self, pointer: &Pointer, line: &str, file: &str) -> bool {
        let led = written_anew(line, pointer.led_to(line, file));
        let meant = self.pointers(&led);
        meant.iter().any(|one| self.meant(one).0 == file)
    }

    /// Says of what would be mended in a line that is no UTF-8 that it is not,
    /// since nobody knows what would be moved; and of a line with a secret, which
    /// would be lost or stand in a second file.
    fn leave_to_people(&self, findings: &mut [Finding]) {
        let bytes = place::bytes(self.root(), MEMORY, MOST_FILE_BYTES);
        let bytes = bytes.ok().flatten().unwrap_or_default();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let text = String::from_utf8_lossy(&bytes);
        let redacted = self.redacted(&text);
        let redacted: Vec<&str> = redacted.split('\n').collect();
        for finding in findings.iter_mut().filter(|finding| finding.file == MEMORY) {
            let Some(at) = finding.line.map(|line| line - 1) else {
                continue;
            };
            if !finding.trouble.is_fixable() {
                continue;
            }
            let line = lines.get(at).copied().unwrap_or_default();
            let trouble = Box::new(finding.trouble.clone());
            match std::str::from_utf8(line) {
                Err(_) => finding.trouble = Trouble::InBytes { trouble },
                Ok(line) if redacted.get(at) != Some(&line) || self.redacted(line) != line => {
                    finding.trouble = Trouble::InSecretLine { trouble };
                }
                Ok(_) => {}
            }
        }
    }

    /// The files of the layout, further ones in `memories/`, and the logs, those
    /// that are there.
    fn own_files(&self) -> Result<Vec<String>> {
        let mut files: Vec<String> = [MEMORY, DREAMS].map(str::to_owned).into();
        files.extend(self.lasting()?);
        let logs = self.logs()?;
        files.extend(logs.iter().map(|(date, _)| MemoryFolder::log_name(*date)));
        Ok(files)
    }

    /// The files in `memories/`.
    pub(crate) fn lasting(&self) -> Result<Vec<String>> {
        let names = match links::unread(self.root(), MEMORIES) {
            Some(_) => Vec::new(),
            None => longhaul_files::names(&self.root().join(MEMORIES))?,
        };
        let names = names.into_iter().filter(|name| name.ends_with(".md"));
        Ok(names.map(|name| format!("{MEMORIES}/{name}")).collect())
    }

    /// What a pointer means of all it may mean, and where that leads: the first
    /// that is there, or else what was read first.
    pub(super) fn meant(&self, pointer: &Pointer) -> (String, Target) {
        let all = std::iter::once(&pointer.target).chain(&pointer.others);
        let mut standings = all.map(|target| (target.clone(), self.standing(target)));
        standings
            .find(|(_, standing)| *standing == Target::There)
            .unwrap_or_else(|| (pointer.target.clone(), self.standing(&pointer.target)))
    }

    pub(super) fn standing(&self, target: &str) -> Target {
        let path = self.root().join(target);
        let climbs = Path::new(target)
            .components()
            .any(|part| part == Component::ParentDir);
        match fs::canonicalize(&path) {
            Ok(real) if real.starts_with(self.root()) => Target::There,
            Ok(_) => Target::Outside,
            Err(_) if climbs || target.starts_with("~/") => Target::Outside,
            Err(_) if !path.starts_with(self.root()) => Target::Outside,
            Err(_) => Target::Gone,
        }
    }

    /// The one file of the workspace that has the name of a dead pointer.
    fn namesake(&self, target: &str) -> Option<String> {
        let name = Path::new(target).file_name()?;
        let mut folders = vec![self.root().to_owned()];
        let (mut seen, mut found) = (0, None);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST_SOUGHT {
                    return None;
                }
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                let bulky = ["target", "node_modules"]
                    .iter()
                    .any(|bulk| entry.file_name() == *bulk);
                if kind.is_dir() && !hidden && !bulky {
                    folders.push(entry.path());
                } else if kind.is_file() && entry.file_name() == name {
                    if found.is_some() {
                        return None;
                    }
                    found = Some(entry.path());
                }
            }
        }
        let found = found?;
        let inside = found.strip_prefix(self.root()).ok()?;
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        Some(parts.join("/"))
    }

    fn is_in_git(&self) -> bool {
        self.root()
            .ancestors()
            .any(|folder| folder.join(".git").exists())
    }

    /// Whether a `.gitignore` between here and the repository's root names the
    /// folder. Patterns are not followed further: this only gives a hint.
    fn is_ignored(&self) -> Result<bool> {
        for folder in self.root().ancestors() {
            let text = longhaul_files::read_text(&folder.join(".gitignore"), MOST_IGNORE_BYTES);
            let text = text.unwrap_or_default();
            let named = text.lines().any(|line| {
                let line = line.trim().trim_start_matches("**/").trim_matches('/');
                line == "memories" || line == "memories/*" || line == "*"
            });
            if named {
                return Ok(true);
            }
            if folder.join(".git").exists() {
                break;
            }
        }
        Ok(false)
    }
}

/// What is wrong with a line that is too long.
fn long_line(line: &str, limits: Limits) -> Option<Trouble> {
    let chars = verify::unmarked(line).chars().count();
    let most = limits.line_chars;
    (chars > most).then_some(Trouble::LongLine { chars, most })
}

/// Where a pointer leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    There,
    Gone,
    Outside,
}

/// What stands between the words of a pointer and where it points to.
pub(crate) const DETAILS: &str = " | Details → ";

/// The beginning of a text with a pointer to the rest, within a line's limit.
pub(super) fn pointer_line(text: &str, to: &str, most: usize) -> String {
    credited_line(text, "", to, most)
}

/// The same with what says whose words they are, which is never cut off.
pub(crate) fn credited_line(text: &str, credit: &str, to: &str, most: usize) -> String {
    let tail = format!("{credit}{DETAILS}{to}");
    let text = text.trim();
    let room = most.saturating_sub(tail.chars().count());
    if text.chars().count() <= room {
        return format!("{text}{tail}");
    }
    let mut cut: String = text.chars().take(room.saturating_sub(1)).collect();
    // Not in the middle of a word, where there is a space to end at.
    if let Some(space) = cut.rfind(' ').filter(|space| *space * 2 > cut.len()) {
        cut.truncate(space);
    }
    format!("{}…{tail}", cut.trim_end())
}
