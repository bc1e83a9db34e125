//! Importers: other agents' files as native entries, behind one trait.

mod claude_code;
mod codex;
mod lineup;
mod native;
mod openclaw;
mod whole;

use std::fs::Metadata;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use longhaul_files::{Fault, FileKind};
use memchr::memmem;

use crate::error::{Error, Result};
use crate::lines::MAX_LINE_BYTES;
use crate::session::{Format, SessionRef, Source};
use crate::time::Millis;

/// Reads one format.
pub trait Importer: Sync {
    /// The format.
    fn format(&self) -> Format;

    /// Whether a file is of this format.
    fn recognises(&self, probe: &Probe<'_>) -> bool;

    /// The sessions in a file or store, newest first.
    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>> {
        Ok(vec![SessionRef {
            path: path.to_owned(),
            session: None,
            key: None,
            format: self.format(),
        }])
    }

    /// The same with what tells them apart in a list: a store's sessions
    /// share its file, but not its time and size.
    fn list(&self, path: &Path) -> Result<Vec<Listed>> {
        let meta = std::fs::metadata(path).map_err(Error::io("read", path))?;
        let sessions = self.sessions(path)?;
        Ok(sessions
            .into_iter()
            .map(|reference| Listed::with(reference, &meta))
            .collect())
    }

    /// Opens one of them.
    fn open(&self, at: &SessionRef) -> Result<Box<dyn Source>>;
}

/// A session in a list, not yet opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Where it is.
    pub reference: SessionRef,
    /// When it was last written to.
    pub modified: Option<Millis>,
    /// Its file's size; the sessions of a database share it.
    pub bytes: u64,
}

impl Listed {
    /// A session with its file's time and size.
    pub fn with(reference: SessionRef, meta: &Metadata) -> Listed {
        Listed {
            reference,
            modified: meta.modified().ok().and_then(Millis::of_file),
            bytes: meta.len(),
        }
    }
}

/// The start of a file, for telling its format.
#[derive(Debug)]
pub struct Probe<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its first bytes: [`PROBE_BYTES`], to the end of a line.
    pub head: &'a [u8],
}

/// How much of a file is read to tell its format.
pub const PROBE_BYTES: usize = 256 * 1024;

impl Probe<'_> {
    /// The first whole lines of the file.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.head
            .split(|byte| *byte == b'\n')
            .map(|line| {
                line.strip_prefix(b"\xef\xbb\xbf")
                    .unwrap_or(line)
                    .trim_ascii()
            })
            .filter(|line| !line.is_empty())
            .take(64)
    }
}

/// Native files come last: their flat layouts look much like other agents'
/// records, which are easier to tell.
static IMPORTERS: [&dyn Importer; 5] = [
    &openclaw::Databases,
    &openclaw::Stores,
    &claude_code::ClaudeCodeFiles,
    &codex::Rollouts,
    &native::NativeFiles,
];

/// The importer of a format.
pub fn importer(format: Format) -> &'static dyn Importer {
    let family = match format {
        Format::OpenClaw => Format::Pi,
        other => other,
    };
    *IMPORTERS
        .iter()
        .find(|importer| importer.format() == family)
        .expect("every format has an importer")
}

/// Tells a file's format from its first bytes.
pub fn detect(path: &Path) -> Result<&'static dyn Importer> {
    let file = longhaul_files::open(path).map_err(|error| match error {
        longhaul_files::Error {
            path,
            fault: Fault::NotAFile(kind),
            ..
        } if kind != FileKind::Link => {
            let reason = format!("it is {kind}");
            Error::UnknownFormat { path, reason }
        }
        other => other.into(),
    })?;
    let meta = file.metadata().map_err(Error::io("read", path))?;
    if meta.len() == 0 {
        return Err(Error::Empty {
            path: path.to_owned(),
        });
    }
    let mut file = BufReader::new(file);
    let mut head = Vec::new();
    let mut read = file.by_ref().take(PROBE_BYTES as u64);
    read.read_to_end(&mut head)
        .map_err(Error::io("read", path))?;
    // The first record may hold all that was pasted.
    let mut line = file.take(MAX_LINE_BYTES as u64);
    if head.trim_ascii_start().starts_with(b"{") {
        line.read_until(b'\n', &mut head)
            .map_err(Error::io("read", path))?;
    }
    let probe = Probe { path, head: &head };
    IMPORTERS
        .iter()
        .copied()
        .find(|importer| importer.recognises(&probe))
        .ok_or_else(|| Error::UnknownFormat {
            path: path.to_owned(),
            reason: describe(&head),
        })
}

/// How the first event of GitHub Copilot's `events.jsonl` names its writer.
const COPILOT: &[u8] = b"\"producer\":\"copilot-agent\"";

/// What a file that is no session looks like.
fn describe(head: &[u8]) -> String {
    if head.starts_with(b"\x1f\x8b") {
        "gzip; unpack it first".into()
    } else if head.starts_with(b"\x28\xb5\x2f\xfd") {
        "zstd; unpack it first".into()
    } else if head.contains(&0) {
        "binary data".into()
    } else if memmem::find(head, COPILOT).is_some() {
        "events of GitHub Copilot, which are not read yet".into()
    } else if head.trim_ascii_start().starts_with(b"{") || head.trim_ascii_start().starts_with(b"[")
    {
        "JSON, but no record of a known kind in its first lines".into()
    } else {
        "no JSON in its first lines".into()
    }
}
