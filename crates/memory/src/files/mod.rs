//! Memory files: what an agent knows beyond one session, as plain Markdown in
//! its workspace that people read and edit too.
//!
//! | file | what | written |
//! |---|---|---|
//! | `MEMORY.md` | pointers, always in the prompt | by people and promotions |
//! | `memory/YYYY-MM-DD.md` | daily logs | appended by flushes |
//! | `memories/project.md` | the project: stack, facts, rules | by promotions |
//! | `memories/decisions.md` | decisions and why | by promotions |
//! | `memories/errors.md` | what failed | appended |
//! | `memories/context.md` | the task at hand | replaced |
//! | `DREAMS.md` | what dreaming found, for review | by dreaming |
//!
//! Every write goes through [`MemoryFolder`]: redacted, marked with its source,
//! inside the workspace, and durable.

mod append;
mod exact;
mod fix;
mod init;
mod links;
mod lint;
mod log;
mod place;
mod pointers;
mod status;
mod trouble;
mod verify;

use std::path::{Path, PathBuf};

use jiff::civil::{Date, DateTime};
use longhaul_redact::{Document, Redactor};

use append::{Ends, append};
pub(crate) use exact::shown;
pub use init::{AgentsFile, Created, Outcome};
pub use lint::Limits;
pub(crate) use lint::{DETAILS, credited_line};
pub(crate) use log::CUT;
pub use log::{Body, LogLine, Note, Section, read_log};
pub use pointers::Pointer;
pub use status::{FileStatus, Status};
pub use trouble::{Finding, Fixed, Hold, Trouble};
pub use verify::{Standing, Verified, Verify};

use crate::provenance::{one_line, plain};
use crate::{Result, Seal, Source};

/// The pointers.
pub const MEMORY: &str = "MEMORY.md";
/// The staging file of dreaming.
pub const DREAMS: &str = "DREAMS.md";
/// The folder of the daily logs.
pub const LOGS: &str = "memory";
/// The folder of what lasts.
const MEMORIES: &str = "memories";
/// The project.
pub const PROJECT: &str = "memories/project.md";
/// Decisions.
pub const DECISIONS: &str = "memories/decisions.md";
/// What failed.
pub const ERRORS: &str = "memories/errors.md";
/// The task at hand.
pub const CONTEXT: &str = "memories/context.md";

/// Bytes of one log entry; the transcript has the rest.
pub const MOST_ENTRY_BYTES: usize = 16 * 1024;
/// The same of one that was made from a ledger: all that the user said, with marks.
const MOST_SECTION_BYTES: usize = 512 * 1024;
/// Bytes of a line of `errors.md`.
const MOST_ERROR_BYTES: usize = 1_024;
/// A memory file that is larger is not read into memory.
const MOST_FILE_BYTES: u64 = 16_000_000;

/// The memory of one workspace.
#[derive(Debug, Clone)]
pub struct MemoryFolder {
    root: PathBuf,
    seal: Option<Seal>,
    redactor: Redactor,
}

/// What an entry belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The session's key or id.
    pub session: Option<&'a str>,
    /// The epoch it was written in.
    pub epoch: Option<u32>,
}

/// What was appended, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The file, in the workspace.
    pub file: String,
    /// Bytes written.
    pub bytes: usize,
    /// Secrets that were replaced.
    pub redacted: usize,
    /// Bytes that were left out because the entry was too long.
    pub left_out: usize,
}

impl MemoryFolder {
    /// The memory of a workspace. Nothing is created before it is needed.
    /// Without a seal, nothing that is written can be told from a forgery.
    pub fn open(workspace: &Path, seal: Option<Seal>) -> Result<MemoryFolder> {
        let root = place::root(workspace)?;
        Ok(MemoryFolder {
            seal: seal.map(|seal| seal.of_workspace(&root)),
            root,
            redactor: Redactor::default(),
        })
    }

    /// The same with a workspace's own notion of secrets.
    pub fn with_redactor(self, redactor: Redactor) -> MemoryFolder {
        MemoryFolder { redactor, ..self }
    }

    /// The workspace, with its links followed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What marks are sealed with in this workspace, and in no other.
    pub fn seal(&self) -> Option<&Seal> {
        self.seal.as_ref()
    }

    /// The name of a day's log in the workspace.
    pub fn log_name(date: Date) -> String {
        format!("{LOGS}/{date}.md")
    }

    /// Appends an entry to the log of a day. Several processes may do so at
    /// once; an entry is whole or not there.
    pub fn append_log(
        &self,
        at: DateTime,
        heading: &str,
        origin: Origin<'_>,
        body: &Body,
    ) -> Result<Appended> {
        let seal = self.seal.as_ref();
        let (text, appended) = log::entry(&self.redactor, seal, at, heading, origin, body);
        let path = place::for_writing(&self.root, &appended.file)?;
        let head = format!("# {}\n", at.date());
        append(&path, &head, &text, Ends::AsGiven)?;
        Ok(appended)
    }

    /// Appends a line to `memories/errors.md`: what was tried and what came of
    /// it. `source` is who said why; mostly that is a tool.
    pub fn append_error(
        &self,
        at: DateTime,
        tried: &str,
        outcome: &str,
        source: Source,
    ) -> Result<Appended> {
        let mut document = self.redactor.document();
        let (mut tried, mut outcome) = (tried.to_owned(), outcome.to_owned());
        document.texts([&mut tried, &mut outcome]);
        let (tried, outcome) = (one_line(&tried), one_line(&outcome));
        let minute = at.strftime("%Y-%m-%d %H:%M");
        let line = format!("- {minute} — {tried}: {outcome}");
        let (kept, left_out) = clipped(&line, MOST_ERROR_BYTES);
        let text = format!("{kept} <!-- {source} -->\n");
        let path = place::for_writing(&self.root, ERRORS)?;
        append(&path, init::ERRORS_TEMPLATE, &text, Ends::AsInFile)?;
        Ok(Appended {
            file: ERRORS.to_owned(),
            bytes: text.len(),
            redacted: document.tally().total() as usize,
            left_out,
        })
    }

    /// Replaces `memories/context.md`: where the work stands, as a
    /// [`snapshot`](crate::flush::snapshot) of it says before a compaction.
    pub fn write_context(&self, at: DateTime, text: &str) -> Result<Appended> {
        let redacted = self.redactor.redact(text);
        let body = plain(redacted.text.trim());
        let (kept, left_out) = clipped(&body, MOST_ENTRY_BYTES);
        let minute = at.strftime("%Y-%m-%d %H:%M");
        let text = format!("# Current task\n\nUpdated: {minute}\n\n{kept}\n");
        self.replace(CONTEXT, &text)?;
        Ok(Appended {
            file: CONTEXT.to_owned(),
            bytes: text.len(),
            redacted: redacted.found.len(),
            left_out,
        })
    }

    /// A file of the workspace as text; nothing where there is none.
    pub fn read(&self, name: &str) -> Result<Option<String>> {
        place::read(&self.root, name, MOST_FILE_BYTES)
    }

    /// The same for what is changed and written back: [`MemoryFolder::replace_exact`]
    /// keeps every byte that was not touched, also those that are no UTF-8.
    pub(crate) fn read_exact(&self, name: &str) -> Result<Option<String>> {
        let bytes = place::bytes(&self.root, name, MOST_FILE_BYTES)?;
        Ok(bytes.map(|bytes| exact::text(&bytes)))
    }

    /// Replaces a file by a text that was made from its exact one, durably.
    pub(crate) fn replace_exact(&self, name: &str, text: &str) -> Result<()> {
        self.replace(name, &exact::bytes(text))
    }

    /// Replaces a file of the workspace, durably.
    pub(crate) fn replace(&self, name: &str, text: &(impl AsRef<[u8]> + ?Sized)) -> Result<()> {
        let path = place::for_writing(&self.root, name)?;
        Ok(longhaul_files::replace(&path, text.as_ref())?)
    }

    /// Removes a file of the workspace, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<()> {
        if place::for_reading(&self.root, name)?.is_some() {
            longhaul_files::remove(&self.root.join(name))?;
        }
        Ok(())
    }

    /// A text without its secrets.
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.redactor.redact(text).text
    }

    /// A document for what belongs together, such as the lines of a log.
    pub(crate) fn document(&self) -> Document<'_> {
        self.redactor.document()
    }

    /// What is to be known of the folder of the logs where it is none, or a link.
    pub(crate) fn logs_led(&self) -> Option<String> {
        let trouble = links::trouble(&self.root, LOGS)?;
        Some(match &trouble {
            Trouble::Unreadable { reason } => {
                format!("no logs were read from {LOGS}: {reason}; make it a folder of its own")
            }
            linked => format!("{LOGS} {linked}; {}", linked.remedy()),
        })
    }

    /// The days that have a log, oldest first, with the sizes of their files.
    pub fn logs(&self) -> Result<Vec<(Date, u64)>> {
        let folder = self.root.join(LOGS);
        let mut logs = Vec::new();
        // Whoever dreams is told why.
        if links::unread(&self.root, LOGS).is_some() {
            return Ok(logs);
        }
        for name in longhaul_files::names(&folder)? {
            let date = name.strip_suffix(".md").map(str::parse::<Date>);
            let Some(Ok(date)) = date else { continue };
            // What is no plain file is listed too: whoever reads it is told why
            // it cannot be read.
            let size = place::size(&self.root, &MemoryFolder::log_name(date));
            if let Some(bytes) = size.unwrap_or(Some(0)) {
                logs.push((date, bytes));
            }
        }
        logs.sort();
        Ok(logs)
    }
}

/// The text cut to a size at a character's border, and how much was cut.
fn clipped(text: &str, most: usize) -> (&str, usize) {
    if text.len() <= most {
        return (text, 0);
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], text.len() - end)
}
