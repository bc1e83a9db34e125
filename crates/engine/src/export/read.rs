//! Reading an export that somebody wrote.

use std::io::Read;
use std::path::{Path, PathBuf};

use longhaul_checkpoint::{Checkpoint, Seal as Sum};
use longhaul_files::Fault;
use longhaul_ledger::Ledger;
use longhaul_memory::Seal;
use longhaul_transcript::json::Object;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Error, Result, SCHEMA, SEALED, VERSION};

/// The largest export that is read: it is held in memory while it is.
pub const MAX_EXPORT_BYTES: u64 = 512 << 20;

/// An export, read and checked.
#[derive(Debug, Clone)]
pub struct Export {
    /// The file it was read from.
    pub file: PathBuf,
    /// When it was written.
    pub created_at: String,
    /// The session it was made of.
    pub session: ExportedSession,
    /// What was in force.
    pub settings: ExportedSettings,
    /// What all of the context said, in short.
    pub summary: String,
    /// The state of the work.
    pub checkpoint: Checkpoint,
    /// What matters in the session.
    pub ledger: Ledger,
    /// The entries from the root to the leaf, as lines.
    pub path: Vec<String>,
    /// Secrets that were taken out, by kind.
    pub redacted: Option<Value>,
    /// What its seal should be the seal of, and the seal.
    sealed: Option<(blake3::Hash, String)>,
    pub(super) is_vouched: bool,
}

/// The session that an export was made of.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedSession {
    /// Its id.
    pub id: String,
    /// Its key.
    pub key: String,
    /// Whose it was.
    pub agent: String,
    /// The folder that the agent worked in.
    pub workspace: Option<String>,
    /// Its compactions.
    #[serde(default)]
    pub compactions: u32,
}

/// What was in force in it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedSettings {
    /// The model.
    pub model: Option<String>,
    /// Its provider.
    pub provider: Option<String>,
    /// The thinking level.
    pub thinking_level: Option<String>,
    /// Tokens in the context.
    #[serde(default)]
    pub tokens: u32,
}

#[derive(Deserialize)]
struct Head {
    schema: Option<Value>,
    version: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    created_at: String,
    session: ExportedSession,
    settings: ExportedSettings,
    summary: String,
    checkpoint: StoredCheckpoint,
    #[serde(borrow)]
    ledger: &'a RawValue,
    #[serde(borrow)]
    path: Vec<&'a RawValue>,
    #[serde(default)]
    redacted: Option<Value>,
}

#[derive(Deserialize)]
struct StoredCheckpoint {
    yaml: String,
}

impl Export {
    /// The same, vouched for if it is as the owner of this seal wrote it. What is
    /// not may have been put together by anyone.
    #[must_use]
    pub fn vouched_by(self, seal: Option<&Seal>) -> Export {
        let sealed = self.sealed.as_ref().zip(seal);
        let is_vouched = sealed.is_some_and(|((hash, found), seal)| {
            // Compared by their hashes, whose time says nothing of the seal.
            let of = |text: &str| blake3::hash(text.as_bytes());
            of(&seal.of_document(hash)) == of(found)
        });
        Export { is_vouched, ..self }
    }

    /// Whether this installation wrote it.
    pub fn is_vouched(&self) -> bool {
        self.is_vouched
    }

    /// Whether a file begins as an export does.
    pub fn is_begun_in(path: &Path) -> bool {
        let mut head = Vec::new();
        let file = longhaul_files::open(path).map(|file| file.take(4096));
        file.is_ok_and(|mut file| file.read_to_end(&mut head).is_ok())
            && String::from_utf8_lossy(&head).contains(SCHEMA)
    }

    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Export> {
        let bytes = longhaul_files::read_named(path, MAX_EXPORT_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|_| longhaul_files::Error {
            action: "read",
            path: path.to_owned(),
            fault: Fault::NotText,
        })?;
        Export::parse(&text, path)
    }

    /// Checks the text of a file; `file` is what errors call it.
    pub fn parse(text: &str, file: &Path) -> Result<Export> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let path = file.to_owned();
        if text.trim().is_empty() {
            let found = "it is empty".into();
            return Err(Error::NotAnExport { path, found });
        }
        check_head(text, file)?;
        let document: Document<'_> =
            serde_json::from_str(text).map_err(|error| wrong(file, &error))?;
        let invalid = |place: &str, reason: String| Error::Invalid {
            path: file.to_owned(),
            line: line_of(text, place),
            reason,
        };
        let checkpoint = Checkpoint::from_yaml(&document.checkpoint.yaml, Sum::Optional)
            .map_err(|flaw| invalid("\"checkpoint\"", format!("the checkpoint, {flaw}")))?;
        let ledger = serde_json::from_str(document.ledger.get())
            .map_err(|error| invalid("\"ledger\"", format!("the ledger: {}", plain(&error))))?;
        let mut entries = Vec::with_capacity(document.path.len());
        for raw in &document.path {
            let line = raw.get();
            let object = Object::parse(line).ok();
            let sound = object.is_some_and(|o| o.str("type").is_some() && o.str("id").is_some());
            if !sound || line.contains('\n') {
                let at = line.as_ptr() as usize - text.as_ptr() as usize;
                return Err(Error::Invalid {
                    path,
                    line: text[..at].matches('\n').count() + 1,
                    reason: "an entry of the path is an object with `type` and `id`, on one line"
                        .into(),
                });
            }
            entries.push(line.to_owned());
        }
        Ok(Export {
            file: path,
            created_at: document.created_at,
            session: document.session,
            settings: document.settings,
            summary: document.summary,
            checkpoint,
            ledger,
            path: entries,
            redacted: document.redacted,
            sealed: sealed(text),
            is_vouched: false,
        })
    }
}

/// What the seal at the end covers, and the seal.
fn sealed(text: &str) -> Option<(blake3::Hash, String)> {
    let at = text.rfind(SEALED)?;
    let seal = text[at + SEALED.len()..].trim_end().strip_suffix('}')?;
    let seal = serde_json::from_str(seal.trim()).ok()?;
    Some((blake3::hash(&text.as_bytes()[..at]), seal))
}

/// Whether the file says of itself that it is an export we know.
fn check_head(text: &str, file: &Path) -> Result<()> {
    let not = |found: String| Error::NotAnExport {
        path: file.to_owned(),
        found,
    };
    if !text.trim_start().starts_with('{') {
        return Err(not("it is not a JSON object".into()));
    }
    // Several objects are lines of a session; a broken document that has not
    // even begun as an export is something else.
    let ours = text
        .get(..4096.min(text.len()))
        .unwrap_or(text)
        .contains(SCHEMA);
    let head: Head = match serde_json::from_str(text) {
        Ok(head) => head,
        Err(error) if ours => return Err(wrong(file, &error)),
        Err(error) => return Err(not(format!("{error}"))),
    };
    match head.schema.as_ref().and_then(Value::as_str) {
        Some(SCHEMA) => {}
        Some(other) => return Err(not(format!("its schema is {other:?}"))),
        None => return Err(not("it names no schema".into())),
    }
    match head.version.as_ref().and_then(Value::as_u64) {
        Some(version) if version > VERSION => Err(Error::Newer {
            path: file.to_owned(),
            version,
        }),
        Some(1..) => Ok(()),
        _ => Err(Error::Invalid {
            path: file.to_owned(),
            line: line_of(text, "\"version\""),
            reason: "`version` is a whole number from 1".into(),
        }),
    }
}

fn wrong(file: &Path, error: &serde_json::Error) -> Error {
    let path = file.to_owned();
    let line = error.line();
    if error.is_eof() {
        return Error::CutOff { path, line };
    }
    let reason = plain(error);
    Error::Invalid { path, line, reason }
}

/// What is wrong, without its place, which is said in the file's own lines.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn line_of(text: &str, place: &str) -> usize {
    let at = text.find(place).unwrap_or(0);
    text[..at].matches('\n').count() + 1
}
