//! OpenClaw's older store: `sessions.json` with a file for each session.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

use crate::entry::{Entry, EntryId};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::header::Header;
use crate::import::{Importer, Listed, Probe};
use crate::json::Object;
use crate::load::Loaded;
use crate::native::{Lines, Native};
use crate::session::{Format, SessionRef, Source, Tail};
use crate::time::Millis;
use crate::tree::Tree;

/// Importer of OpenClaw's older stores.
pub(crate) struct Stores;

/// A store is an index; one larger than this is something else.
const MAX_STORE_BYTES: u64 = 256 << 20;

impl Importer for Stores {
    fn format(&self) -> Format {
        Format::OpenClawStore
    }

    fn recognises(&self, probe: &Probe<'_>) -> bool {
        let head = probe.head.trim_ascii();
        if !head.starts_with(b"{") {
            return false;
        }
        if let Ok(object) = Object::parse_bytes(head) {
            // A record of a log on its only line, and no list of sessions.
            if object.str("type").is_some() {
                return false;
            }
            let mut entries = object.iter().filter_map(|(_, raw)| listed(raw)).peekable();
            return entries.peek().is_some()
                || (is_named_sessions(probe.path) && object.iter().next().is_none());
        }
        // Longer than the probe: the name and the field have to do.
        is_named_sessions(probe.path) && memchr::memmem::find(head, b"\"sessionId\"").is_some()
    }

    fn sessions(&self, path: &Path) -> Result<Vec<SessionRef>> {
        let text = read(path)?;
        let store = parse(path, &text)?;
        let mut sessions: Vec<(Millis, SessionRef)> = store
            .iter()
            .filter_map(|(key, raw)| {
                let entry = listed(raw)?;
                let updated = entry.raw("updatedAt").and_then(Millis::parse_json);
                let reference = SessionRef {
                    path: path.to_owned(),
                    session: entry.str("sessionId").map(|id| id.into_owned()),
                    key: Some(key.to_owned()),
                    format: Format::OpenClawStore,
                };
                Some((updated.unwrap_or_default(), reference))
            })
            .collect();
        sessions.sort_by(|(a, _), (b, _)| b.cmp(a));
        Ok(sessions
            .into_iter()
            .map(|(_, reference)| reference)
            .collect())
    }

    fn list(&self, path: &Path) -> Result<Vec<Listed>> {
        let text = read(path)?;
        let store = parse(path, &text)?;
        let sessions = self.sessions(path)?;
        Ok(sessions
            .into_iter()
            .map(|reference| {
                let entry = reference
                    .key
                    .as_deref()
                    .and_then(|key| listed(store.raw(key)?));
                let updated = entry
                    .as_ref()
                    .and_then(|entry| entry.raw("updatedAt"))
                    .and_then(Millis::parse_json);
                let file = entry.and_then(|entry| session_file(path, &entry).ok());
                match file.and_then(|file| std::fs::metadata(file).ok()) {
                    Some(meta) => Listed::with(reference, &meta),
                    None => Listed {
                        reference,
                        modified: updated,
                        bytes: 0,
                    },
                }
            })
            .collect())
    }

    fn open(&self, at: &SessionRef) -> Result<Box<dyn Source>> {
        let text = read(&at.path)?;
        let store = parse(&at.path, &text)?;
        // One session may be listed under several keys, each with a file.
        let found = store
            .iter()
            .filter(|(key, _)| at.key.as_deref().is_none_or(|wanted| wanted == *key))
            .filter_map(|(_, raw)| listed(raw))
            .find(|entry| {
                at.session
                    .as_deref()
                    .is_none_or(|wanted| entry.str("sessionId").as_deref() == Some(wanted))
            });
        let entry = found.ok_or_else(|| Error::NoSuchSession {
            path: at.path.clone(),
            session: at.session.clone().or(at.key.clone()).unwrap_or_default(),
        })?;
        let file = session_file(&at.path, &entry)?;
        Ok(Box::new(Stored(Native::open(&file)?)))
    }
}

fn is_named_sessions(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new("sessions.json"))
}

fn listed(raw: &str) -> Option<Object<'_>> {
    if !raw.starts_with('{') {
        return None;
    }
    let entry = Object::parse(raw).ok()?;
    (entry.str("sessionId").is_some_and(|id| !id.is_empty())).then_some(entry)
}

fn read(path: &Path) -> Result<String> {
    Ok(longhaul_files::read_text(path, MAX_STORE_BYTES)?)
}

fn parse<'a>(path: &Path, text: &'a str) -> Result<Object<'a>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Object::parse(text).map_err(|error| Error::UnknownFormat {
        path: path.to_owned(),
        reason: format!("its index is not JSON: {error}"),
    })
}

/// The file of a session. Where the index was copied to another machine, the
/// absolute path in it leads nowhere and the file lies beside the index.
fn session_file(store: &Path, entry: &Object<'_>) -> Result<PathBuf> {
    let folder = store.parent().unwrap_or(Path::new(""));
    let session = entry.str("sessionId").unwrap_or_default();
    let own = plain_name(store, &format!("{session}.jsonl")).map(|name| folder.join(name));
    let stated = entry
        .str("sessionFile")
        .filter(|file| !file.trim().is_empty());
    let file = match &stated {
        Some(file) if Path::new(file.as_ref()).is_absolute() => {
            let file = PathBuf::from(file.as_ref());
            match file.file_name() {
                Some(name) if !file.exists() && folder.join(name).exists() => folder.join(name),
                _ => file,
            }
        }
        Some(file) => folder.join(plain_name(store, file)?),
        None => own?,
    };
    let meta = std::fs::metadata(&file).map_err(Error::io("read", &file))?;
    if meta.is_file() {
        Ok(file)
    } else {
        Err(Error::io("read", &file)(io::Error::new(
            ErrorKind::InvalidInput,
            "not a regular file",
        )))
    }
}

/// A relative path that stays in its folder.
fn plain_name(store: &Path, name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    let stays = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if stays {
        Ok(path)
    } else {
        Err(Error::refused(
            "follow",
            store,
            format!("the session file {name:?} is outside its folder"),
        ))
    }
}

/// A session of a store; the file itself is a native one.
struct Stored(Native<Lines>);

impl Source for Stored {
    fn format(&self) -> Format {
        Format::OpenClawStore
    }

    fn path(&self) -> &Path {
        &self.0.path
    }

    fn header(&self) -> &Header {
        &self.0.header
    }

    fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        self.0.each(visit)
    }

    fn tree(&self) -> Result<Tree> {
        self.0.tree()
    }

    fn load(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        self.0.load(leaf)
    }

    fn tail(&self, max_bytes: u64) -> Result<Tail> {
        self.0.tail(max_bytes)
    }
}
