//! `memory status`: what there is, at a glance.

use jiff::civil::Date;
use longhaul_tokens::{ContentKind, Counter};
use serde::Serialize;

use super::{CONTEXT, DECISIONS, DREAMS, ERRORS, Limits, MEMORY, MemoryFolder, PROJECT, Trouble};
use crate::Result;

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileStatus {
    /// The file, in the workspace.
    pub file: String,
    /// Its size; nothing where it is not there.
    pub bytes: Option<u64>,
    /// Its tokens; nothing where it was not read.
    pub tokens: Option<u32>,
    /// Why it was not read, though something is there.
    pub unread: Option<String>,
}

/// The memory at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The files of the layout.
    pub files: Vec<FileStatus>,
    /// Tokens that `MEMORY.md` may have.
    pub max_tokens: u32,
    /// Pointers in `MEMORY.md`.
    pub pointers: usize,
    /// Days with a log.
    pub logs: usize,
    /// Bytes of all logs.
    pub log_bytes: u64,
    /// The day of the newest log.
    pub newest_log: Option<Date>,
    /// What `lint` finds.
    pub findings: usize,
}

impl MemoryFolder {
    /// What there is. Nothing is changed.
    pub fn status(&self, limits: Limits, counter: &dyn Counter) -> Result<Status> {
        let mut files = Vec::new();
        let mut pointed = 0;
        for file in [MEMORY, PROJECT, DECISIONS, ERRORS, CONTEXT, DREAMS] {
            // One bad file must not hide the others.
            let (text, trouble) = match self.read(file) {
                Ok(text) => (text, None),
                Err(error) => (None, Some(Trouble::of(error)?)),
            };
            if let Some(text) = text.as_deref().filter(|_| file == MEMORY) {
                pointed = self.pointers(text).len();
            }
            let unread = trouble.as_ref().map(ToString::to_string);
            files.push(FileStatus {
                file: file.to_owned(),
                bytes: match trouble {
                    Some(Trouble::TooLarge { bytes, .. }) => Some(bytes),
                    _ => text.as_ref().map(|text| text.len() as u64),
                },
                tokens: text.map(|text| counter.count(&text, ContentKind::Prose).0),
                unread,
            });
        }
        let logs = self.logs()?;
        Ok(Status {
            files,
            max_tokens: limits.max_tokens.0,
            pointers: pointed,
            logs: logs.len(),
            log_bytes: logs.iter().map(|(_, bytes)| bytes).sum(),
            newest_log: logs.last().map(|(date, _)| *date),
            findings: self.lint(limits, counter)?.len(),
        })
    }
}
