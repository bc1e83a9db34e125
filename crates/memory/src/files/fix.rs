//! `memory lint --fix`: what can be mended without losing a line.

use jiff::civil::DateTime;
use longhaul_tokens::Counter;

use super::lint::{Limits, credited_line};
use super::trouble::{Finding, Fixed, Trouble};
use super::{
    AgentsFile, ERRORS, Ends, MEMORY, MOST_FILE_BYTES, MemoryFolder, Outcome, PROJECT, append,
    init, place,
};
use crate::{Result, Source};

impl Fixed {
    fn changed(&mut self, file: &str) {
        if !self.files.iter().any(|known| known == file) {
            self.files.push(file.to_owned());
        }
    }
}

impl MemoryFolder {
    /// Mends what can be mended. No line is lost: text that is too long moves to
    /// `memories/project.md`, a dead pointer to `memories/errors.md`.
    pub fn fix(&self, at: DateTime, limits: Limits, counter: &dyn Counter) -> Result<Fixed> {
        let findings = self.lint(limits, counter)?;
        let has = |trouble: Trouble| findings.iter().any(|found| found.trouble == trouble);
        let mut fixed = Fixed::default();
        if has(Trouble::Missing) {
            let name = self.root().file_name().unwrap_or_default();
            for made in self.init(at, &name.to_string_lossy(), AgentsFile::Unwanted)? {
                if made.outcome == Outcome::Made {
                    fixed.changed(&made.file);
                }
            }
        }
        self.fix_lines(at, limits, &findings, &mut fixed)?;
        if has(Trouble::NotIgnored) {
            let path = place::for_writing(self.root(), ".gitignore")?;
            append(&path, "", "memories/\n", Ends::AsInFile)?;
            fixed.changed(".gitignore");
        }
        fixed.left = self.lint(limits, counter)?;
        Ok(fixed)
    }

    /// Mends the lines of `MEMORY.md`, each with all that is wrong with it at
    /// once. What is not mended keeps every byte.
    fn fix_lines(
        &self,
        at: DateTime,
        limits: Limits,
        findings: &[Finding],
        fixed: &mut Fixed,
    ) -> Result<()> {
        let before = match place::bytes(self.root(), MEMORY, MOST_FILE_BYTES) {
            Ok(bytes) => bytes.unwrap_or_default(),
            // It is among the findings, and left alone.
            Err(error) => Trouble::of(error).map(|_| Vec::new())?,
        };
        let mut after = Vec::with_capacity(before.len());
        for (whole, number) in before.split_inclusive(|byte| *byte == b'\n').zip(1..) {
            let troubles: Vec<&Trouble> = findings
                .iter()
                .filter(|found| found.file == MEMORY && found.line == Some(number))
                .filter(|found| found.is_fixable())
                .map(|found| &found.trouble)
                .collect();
            // A line that is no text is for a person to mend.
            let text = std::str::from_utf8(whole).ok();
            let Some(text) = text.filter(|_| !troubles.is_empty()) else {
                after.extend_from_slice(whole);
                continue;
            };
            let line = text.trim_end_matches(['\r', '\n']);
            if let Some(mended) = self.mended(at, limits, line, &troubles, fixed)? {
                after.extend_from_slice(mended.as_bytes());
                after.extend_from_slice(&whole[line.len()..]);
            }
        }
        if after != before {
            self.replace(MEMORY, &after)?;
            fixed.changed(MEMORY);
        }
        Ok(())
    }

    /// A line without its troubles; nothing where it was moved as a whole.
    fn mended(
        &self,
        at: DateTime,
        limits: Limits,
        line: &str,
        troubles: &[&Trouble],
        fixed: &mut Fixed,
    ) -> Result<Option<String>> {
        let is_long = |trouble: &&Trouble| matches!(trouble, Trouble::LongLine { .. });
        if troubles.iter().any(is_long) {
            let text = line.trim();
            if !self.has_line(PROJECT, |own| own.trim() == text) {
                let path = place::for_writing(self.root(), PROJECT)?;
                append(&path, "# Project\n", &format!("\n{text}\n"), Ends::AsInFile)?;
                fixed.changed(PROJECT);
            }
            return Ok(Some(credited_line(line, "", PROJECT, limits.line_chars)));
        }
        let lost = troubles.iter().filter_map(|trouble| match trouble {
            Trouble::DeadPointer { target } => Some(target.as_str()),
            _ => None,
        });
        let lost: Vec<&str> = lost.collect();
        if lost.is_empty() {
            return Ok(Some(line.to_owned()));
        }
        let (source, targets) = (Source::Unknown, lost.join(", "));
        let moved = format!(
            " — MEMORY.md pointed to {targets}: {} <!-- {source} -->",
            line.trim()
        );
        if !self.has_line(ERRORS, |own| own.ends_with(&moved)) {
            let minute = at.strftime("%Y-%m-%d %H:%M");
            let path = place::for_writing(self.root(), ERRORS)?;
            let text = format!("- {minute}{moved}\n");
            append(&path, init::ERRORS_TEMPLATE, &text, Ends::AsInFile)?;
            fixed.changed(ERRORS);
        }
        Ok(None)
    }

    /// Whether a file has a line already: a run that could not write `MEMORY.md`
    /// has moved it before.
    fn has_line(&self, file: &str, is_it: impl Fn(&str) -> bool) -> bool {
        let text = self.read(file).ok().flatten().unwrap_or_default();
        text.lines().any(is_it)
    }
}
