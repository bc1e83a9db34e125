//! pi's and OpenClaw's JSON lines, which are also our own format.

use std::ops::ControlFlow;
use std::path::Path;

use crate::entry::{Entry, EntryId, EntryType, Place};
use crate::error::Result;
use crate::fault::Fault;
use crate::header::Header;
use crate::import::{Importer, Probe};
use crate::json::Object;
use crate::layout::Dialect;
use crate::load::Loaded;
use crate::native::{Lines, Native};
use crate::session::{Format, SessionRef, Source, Tail, VisitLined};
use crate::tree::Tree;

/// Importer of native files.
pub(crate) struct NativeFiles;

impl Importer for NativeFiles {
    fn format(&self) -> Format {
        Format::Pi
    }

    /// A header, or entries of the known types without one.
    fn recognises(&self, probe: &Probe<'_>) -> bool {
        for line in probe.lines() {
            let Some(object) = leading_object(line) else {
                continue;
            };
            let Some(kind) = object.str("type") else {
                continue;
            };
            match EntryType::parse(&kind) {
                EntryType::Session => return object.str("id").is_some(),
                EntryType::Unknown(_) => {}
                _ => {
                    return object.has("message") && !object.has("uuid")
                        || object.has("role")
                        || object.has("parentId")
                        || object.has("firstKeptEntryId")
                        || object.has("boundaryMessageId");
                }
            }
        }
        false
    }

    fn open(&self, at: &SessionRef) -> Result<Box<dyn Source>> {
        Ok(Box::new(Native::open(&at.path)?))
    }
}

/// The first object of a line; another record may be joined to it.
fn leading_object(line: &[u8]) -> Option<Object<'_>> {
    let mut objects = serde_json::Deserializer::from_slice(line).into_iter();
    objects.next().and_then(Result::ok)
}

impl Source for Native<Lines> {
    fn format(&self) -> Format {
        match Dialect::of(&self.header) {
            Dialect::OpenClaw => Format::OpenClaw,
            Dialect::Pi | Dialect::Linear => Format::Pi,
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn header(&self) -> &Header {
        &self.header
    }

    fn each(&self, visit: &mut dyn FnMut(Entry) -> ControlFlow<()>) -> Result<Vec<Fault>> {
        Native::each(self, visit)
    }

    fn tree(&self) -> Result<Tree> {
        Native::tree(self)
    }

    fn load(&self, leaf: Option<&EntryId>) -> Result<Loaded> {
        Native::load(self, leaf)
    }

    fn lines_end(&self) -> Result<Option<u64>> {
        Native::lines_end(self)
    }

    fn stretch(&self, from: Place, to: u64, visit: &mut VisitLined<'_>) -> Result<Place> {
        Native::stretch(self, from, to, visit)
    }

    fn tail(&self, max_bytes: u64) -> Result<Tail> {
        Native::tail(self, max_bytes)
    }
}
