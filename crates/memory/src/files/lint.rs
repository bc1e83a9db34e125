//! `memory lint`: the limits of `MEMORY.md`, dead pointers, and what can be
//! done about them.

use longhaul_index::WorkspaceFiles;
use longhaul_tokens::{ContentKind, Counter, Tokens};

use super::pointers::{Pointer, Target, unmarked};
use super::trouble::{ASTRAY, Finding, Hold, Trouble};
use super::{
    CONTEXT, DECISIONS, DREAMS, ERRORS, LOGS, MEMORIES, MEMORY, MOST_FILE_BYTES, MemoryFolder,
    PROJECT, links, place,
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

/// No `.gitignore` has more.
const MOST_IGNORE_BYTES: u64 = 1 << 20;

impl MemoryFolder {
    /// Everything that is wrong with the memory files; nothing is changed.
    pub fn lint(&self, limits: Limits, counter: &dyn Counter) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        for file in [MEMORY, PROJECT, DECISIONS, ERRORS, CONTEXT] {
            // What is there and no file is told below.
            if matches!(place::for_reading(self.root(), file), Ok(None)) {
                findings.push(Finding::new(file, None, Trouble::Missing));
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
            let trouble = links::trouble(self.root(), place);
            findings.extend(trouble.map(|trouble| Finding::new(place, None, trouble)));
        }
        // Any name may be a link, also where no layout asks for it.
        let links = files.links_left_out().into_iter().map(|file| {
            let reason = links::told(self.root(), &file);
            let reason = reason.unwrap_or_else(|| ASTRAY.to_owned());
            (file, Trouble::Unreadable { reason })
        });
        let unseen = files.unseen().into_iter();
        let unseen = unseen.map(|(file, why)| (file, Trouble::unseen(why)));
        for (file, trouble) in links.chain(unseen) {
            if !findings.iter().any(|finding| finding.file == file) {
                findings.push(Finding::new(&file, None, trouble));
            }
        }
        // What keeps it from being read was just told.
        if let Ok(Some(text)) = self.read(MEMORY) {
            let tokens = counter.count(&text, ContentKind::Prose);
            if tokens > limits.max_tokens {
                let (tokens, most) = (tokens.0, limits.max_tokens.0);
                let trouble = Trouble::TooManyTokens { tokens, most };
                findings.push(Finding::new(MEMORY, None, trouble));
            }
            self.wrong_lines(limits, &mut findings);
        }
        if self.is_kept_in_git() {
            findings.push(Finding::new("memories/", None, Trouble::NotIgnored));
        }
        findings.sort_by_key(|found| (found.file != MEMORY, found.line));
        Ok(findings)
    }

    /// What is wrong with what stands in a file, or what keeps it from being read.
    fn content(&self, file: &str, most: u64) -> Result<Vec<Finding>> {
        let finding = |line, trouble| Finding::new(file, line, trouble);
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

    /// What is wrong with the lines of `MEMORY.md`, and what leaves one to a person:
    /// what else it says or points to; bytes that are no UTF-8, since nobody knows what
    /// would be moved; a secret, which would be lost or stand in a second file.
    fn wrong_lines(&self, limits: Limits, findings: &mut Vec<Finding>) {
        let bytes = place::bytes(self.root(), MEMORY, MOST_FILE_BYTES);
        let bytes = bytes.ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let redacted = self.redacted(&text);
        let pointers = self.pointers(&text);
        let lines = bytes.split(|byte| *byte == b'\n').zip(text.split('\n'));
        for (((bytes, line), redacted), number) in lines.zip(redacted.split('\n')).zip(1..) {
            let own = pointers.iter().filter(|pointer| pointer.line == number);
            let wrong: Vec<Option<Trouble>> = own.map(|pointer| self.wrong(pointer)).collect();
            let long = long_line(line.trim_end_matches('\r'), limits);
            let is_dead = |trouble: &Trouble| matches!(trouble, Trouble::DeadPointer { .. });
            let is_lost = |trouble: &Option<Trouble>| trouble.as_ref().is_some_and(is_dead);
            let stays = long.is_some() || !wrong.iter().all(is_lost);
            for trouble in long.into_iter().chain(wrong.into_iter().flatten()) {
                let mut finding = Finding::new(MEMORY, Some(number), trouble);
                if finding.is_fixable() {
                    finding.hold = match std::str::from_utf8(bytes) {
                        _ if stays && is_dead(&finding.trouble) => Some(Hold::Live),
                        Err(_) => Some(Hold::Bytes),
                        Ok(line) if redacted != line || self.redacted(line) != line => {
                            Some(Hold::Secret)
                        }
                        Ok(_) => None,
                    };
                }
                findings.push(finding);
            }
        }
    }

    /// What is wrong with a pointer.
    pub(super) fn wrong(&self, pointer: &Pointer) -> Option<Trouble> {
        let target = pointer.target.clone();
        match (self.leads(&target), &pointer.anchor) {
            (Target::There, Some(anchor)) if !self.has_section(&target, anchor) => {
                let anchor = anchor.clone();
                Some(Trouble::DeadAnchor { target, anchor })
            }
            (Target::There, _) => None,
            (Target::Outside, _) => Some(Trouble::OutsidePointer { target }),
            (Target::Gone, _) => Some(Trouble::DeadPointer { target }),
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

    /// Whether git keeps the folder: no `.gitignore` between here and the repository's
    /// root names it. Patterns are not followed further: this only gives a hint.
    fn is_kept_in_git(&self) -> bool {
        for folder in self.root().ancestors() {
            let text = longhaul_files::read_text(&folder.join(".gitignore"), MOST_IGNORE_BYTES);
            let text = text.unwrap_or_default();
            let mut lines = text.lines();
            if lines.any(|line| {
                let line = line.trim().trim_start_matches("**/").trim_matches('/');
                line == "memories" || line == "memories/*" || line == "*"
            }) {
                return false;
            }
            if folder.join(".git").exists() {
                return true;
            }
        }
        false
    }
}

/// What is wrong with a line that is too long.
fn long_line(line: &str, limits: Limits) -> Option<Trouble> {
    let chars = unmarked(line).chars().count();
    let most = limits.line_chars;
    (chars > most).then_some(Trouble::LongLine { chars, most })
}

/// What stands between the words of a pointer and where it points to.
pub(crate) const DETAILS: &str = " | Details → ";

/// The beginning of a text with a pointer to the rest, within a line's limit. What
/// says whose words they are is never cut off.
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
