//! Compactions on the way, with summaries of the kind that pi leaves behind:
//! the files are listed in full, the rest is told from memory and loses detail.
use std::fmt::Write;
use std::io;

use longhaul_transcript::json::{ObjectWriter, quote};

use super::story::Story;
use super::truth::CompactionAt;

impl Story<'_> {
    pub(super) fn compact_if_full(&mut self) -> io::Result<()> {
        if !self.record.window.is_full() || self.no_room() {
            return Ok(());
        }
        let Some(first) = self.record.window.cut() else {
            return Ok(());
        };
        let tokens_before = self.record.window.tokens();
        let (modified, read) = self.touched();
        let summary = self.summary(&modified, &read);
        let details = ObjectWriter::new()
            .raw("readFiles", &list(&read))
            .raw("modifiedFiles", &list(&modified))
            .finish();
        let line = self
            .record
            .compaction(first, tokens_before, &summary, &details)?;
        self.truth.compactions.push(CompactionAt {
            line,
            pre_tokens: tokens_before,
            summary_chars: summary.chars().count() as u64,
        });
        Ok(())
    }

    /// Relative paths changed, and read without a change, in order of name.
    pub(super) fn touched(&self) -> (Vec<String>, Vec<String>) {
        let mut modified = Vec::new();
        let mut read: Vec<String> = self.pictures.iter().cloned().collect();
        for file in &self.project.files {
            if file.changes > 0 {
                modified.push(file.path.clone());
            } else if file.reads > 0 {
                read.push(file.path.clone());
            }
        }
        modified.sort();
        read.sort();
        (modified, read)
    }

    fn summary(&mut self, modified: &[String], read: &[String]) -> String {
        let goal = self
            .truth
            .user_prompts
            .first()
            .map_or("", |prompt| &prompt.text);
        let goal = goal.split(['.', '\n']).next().unwrap_or("").to_owned();
        let mut out = format!("## Goal\n{goal}\n\n## Progress\n### Done\n");
        for text in self.tasks.done.iter().rev().take(5).rev() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "- [x] {text}");
        }
        out.push_str("\n### In Progress\n");
        for text in self.tasks.open().iter().take(3) {
            let _ = writeln!(out, "- [ ] {text}");
        }
        out.push_str("\n## Key Decisions\n");
        if let Some(decision) = &self.last_decision {
            let _ = writeln!(out, "- {decision}");
        }
        out.push_str("\n## Critical Context\n");
        let sentences = self.rng.between(3, 9);
        self.project
            .scene
            .report(sentences, &mut self.rng, &mut out);
        for (tag, paths) in [("read-files", read), ("modified-files", modified)] {
            let _ = write!(out, "\n\n<{tag}>\n{}\n</{tag}>", paths.join("\n"));
        }
        out
    }
}

fn list(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| quote(path)).collect();
    format!("[{}]", quoted.join(","))
}
