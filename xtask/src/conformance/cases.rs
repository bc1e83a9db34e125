//! The session files to compare, each with what it should say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_transcript::{Context, Draft, Durability, EntryId, Header, Millis, Stamp, Writer};

use crate::Result;

/// A file that longhaul wrote.
pub(super) struct Case {
    pub(super) group: &'static str,
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// The context it was made from, as JSON, where there is one.
    pub(super) source: Option<String>,
    /// The labels it must have, where that is the point.
    pub(super) labels: Option<BTreeMap<String, String>>,
}

/// Cases being collected in one folder.
pub(super) struct Cases {
    folder: PathBuf,
    cases: Vec<Case>,
}

impl Cases {
    pub(super) fn new(folder: &Path) -> Result<Cases> {
        fs::create_dir_all(folder)?;
        Ok(Cases {
            folder: folder.to_owned(),
            cases: Vec::new(),
        })
    }

    /// Where the file of a case goes.
    pub(super) fn place(&self, group: &str, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(group.replace(' ', "-"));
        fs::create_dir_all(&folder)?;
        Ok(folder.join(format!("{name}.jsonl")))
    }

    pub(super) fn add(&mut self, group: &'static str, name: &str, file: PathBuf) -> &mut Case {
        self.cases.push(Case {
            group,
            name: name.to_owned(),
            file,
            source: None,
            labels: None,
        });
        let last = self.cases.len() - 1;
        &mut self.cases[last]
    }

    pub(super) fn finish(self) -> Vec<Case> {
        self.cases
    }
}

impl Case {
    pub(super) fn made_from(&mut self, context: &Context) {
        self.source = Some(context.to_json());
    }
}

pub(super) const START: Millis = Millis(1_790_000_000_000);

/// A writer that numbers its entries and counts seconds.
pub(super) struct Pen {
    writer: Writer,
    next: u32,
}

impl Pen {
    pub(super) fn create(file: &Path) -> Result<Pen> {
        let header = Header {
            id: String::from("019cac10-0000-7000-8000-000000000001"),
            version: 3,
            time: Some(START),
            cwd: Some("/home/dev/shop".into()),
            parent_session: None,
        };
        Ok(Pen {
            writer: Writer::create(file, &header, Durability::Os)?,
            next: 0,
        })
    }

    pub(super) fn open(file: &Path) -> longhaul_transcript::Result<Pen> {
        Ok(Pen {
            writer: Writer::open(file, Durability::Os)?,
            next: 0xf000_0000,
        })
    }

    pub(super) fn now(&self) -> Millis {
        Millis(START.0 + i64::from(self.next) * 1000)
    }

    pub(super) fn put(&mut self, draft: Draft) -> Result<EntryId> {
        self.next += 1;
        let stamp = Stamp {
            id: EntryId::new(format!("{:08x}", self.next)),
            time: self.now(),
        };
        Ok(self.writer.append(&draft, stamp)?)
    }

    pub(super) fn branch(&mut self, at: Option<EntryId>) {
        self.writer.branch(at);
    }
}
