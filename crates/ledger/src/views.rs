//! Views: what others ask the ledger for.

use crate::facts::{Decision, FileRecord, Item, ItemState, Provenance, Rule, Trouble};
use crate::handed::Handed;
use crate::ledger::Ledger;

/// What kind of thing must survive a compaction.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum Category {
    /// A standing rule in force.
    Constraint,
    /// A decision that holds.
    Decision,
    /// Something still to be done.
    OpenItem,
    /// A file that was changed.
    FileModified,
    /// A file that was only read.
    FileRead,
    /// An error that still stands.
    Error,
    /// An exact identifier that holds.
    Identifier,
    /// Something the user asked for.
    Request,
}

/// One thing that must survive, for the fidelity audit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact<'a> {
    /// Its kind.
    pub category: Category,
    /// The text that has to be found again.
    pub text: &'a str,
    /// Where it comes from.
    pub provenance: std::borrow::Cow<'a, Provenance>,
}

/// Extensions of files worth restoring (S2, and what else people work on).
const KEY_EXTENSIONS: &[&str] = &[
    "md", "json", "py", "ts", "js", "rs", "yaml", "yml", "toml", "tsx", "jsx", "go", "java", "kt",
    "c", "h", "cpp", "hpp", "cs", "rb", "php", "swift", "sql", "sh", "tf", "html", "css", "vue",
    "svelte", "proto", "ipynb",
];

impl Ledger {
    /// Items that still have to be done, in the order they were listed.
    pub fn open_items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.is_open())
    }

    /// Items that are finished.
    pub fn done_items(&self) -> impl Iterator<Item = &Item> {
        self.items
            .iter()
            .filter(|item| item.state == ItemState::Done)
    }

    /// Rules in force.
    pub fn live_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.revoked.is_none())
    }

    /// Rules in force that are the user's own words, as far as can be told.
    pub fn own_rules(&self) -> impl Iterator<Item = &Rule> {
        self.live_rules().filter(|rule| !rule.pasted)
    }

    /// Rules in force that are no longer listed here, only in the transcript.
    pub fn rules_left(&self) -> u64 {
        self.working.rules_left
    }

    /// Decisions that hold.
    pub fn live_decisions(&self) -> impl Iterator<Item = &Decision> {
        self.decisions
            .iter()
            .filter(|decision| decision.superseded.is_none())
    }

    /// Files that were changed, the latest first.
    pub fn modified_files(&self) -> Vec<&FileRecord> {
        let mut files: Vec<&FileRecord> = self
            .files
            .values()
            .filter(|file| file.is_modified())
            .collect();
        files.sort_by(|a, b| b.rank.cmp(&a.rank).then_with(|| a.path.cmp(&b.path)));
        files
    }

    /// Files that were only read (or looked for in vain: `reads` is 0), the
    /// most read first, then the latest.
    pub fn read_files(&self) -> Vec<&FileRecord> {
        let mut files: Vec<&FileRecord> = self
            .files
            .values()
            .filter(|file| !file.is_modified())
            .collect();
        files.sort_by(|a, b| {
            b.reads
                .cmp(&a.reads)
                .then_with(|| b.rank.cmp(&a.rank))
                .then_with(|| a.path.cmp(&b.path))
        });
        files
    }

    /// Errors that still stand, the newest first.
    pub fn unresolved(&self) -> impl Iterator<Item = &Trouble> {
        self.troubles
            .iter()
            .rev()
            .filter(|trouble| trouble.resolved.is_none())
    }

    /// The files most worth having at hand again: with a known extension,
    /// still there, ranked by use.
    pub fn key_files(&self, most: usize) -> Vec<&FileRecord> {
        use crate::facts::FileChange::{Deleted, Moved};
        let mut files: Vec<&FileRecord> = self
            .files
            .values()
            .filter(|file| {
                !matches!(file.last, Deleted | Moved) && (file.reads > 0 || file.changes > 0)
            })
            .filter(|file| {
                let name = file.path.rsplit('/').next().unwrap_or("");
                name.rsplit_once('.').is_some_and(|(_, extension)| {
                    KEY_EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
                })
            })
            .collect();
        let weight = |file: &FileRecord| u64::from(file.changes) * 3 + u64::from(file.reads);
        files.sort_by(|a, b| {
            weight(b)
                .cmp(&weight(a))
                .then_with(|| b.rank.cmp(&a.rank))
                .then_with(|| a.path.cmp(&b.path))
        });
        files.truncate(most);
        files
    }

    /// Everything that must survive a compaction.
    pub fn facts(&self) -> impl Iterator<Item = Fact<'_>> {
        use std::borrow::Cow;
        let fact = |category, text, provenance| Fact {
            category,
            text,
            provenance: Cow::Borrowed(provenance),
        };
        let handed = self.handed.iter();
        let task = handed.clone().map(|handed| Fact {
            category: Category::Request,
            text: handed.task.as_str(),
            provenance: Cow::Owned(Provenance::new(handed.entry.clone())),
        });
        let handed = handed.flat_map(Handed::live_rules);
        self.live_rules()
            .chain(handed)
            .map(move |rule| fact(Category::Constraint, rule.text.as_str(), &rule.provenance))
            .chain(self.live_decisions().map(move |decision| {
                fact(
                    Category::Decision,
                    decision.what.as_str(),
                    &decision.provenance,
                )
            }))
            .chain(
                self.open_items().map(move |item| {
                    fact(Category::OpenItem, item.text.as_str(), &item.provenance)
                }),
            )
            .chain(self.files.values().map(move |file| {
                let category = match file.is_modified() {
                    true => Category::FileModified,
                    false => Category::FileRead,
                };
                fact(category, file.path.as_str(), &file.provenance)
            }))
            .chain(self.unresolved().map(move |trouble| {
                fact(Category::Error, trouble.line.as_str(), &trouble.provenance)
            }))
            .chain(
                self.anchors
                    .values()
                    .filter(|anchor| anchor.superseded.is_none())
                    .map(move |anchor| {
                        fact(
                            Category::Identifier,
                            anchor.text.as_str(),
                            &anchor.provenance,
                        )
                    }),
            )
            .chain(self.requests.iter().map(|request| Fact {
                category: Category::Request,
                text: request.text.as_deref().unwrap_or(&request.gist),
                provenance: Cow::Owned(Provenance::new(request.entry.clone())),
            }))
            .chain(task)
    }
}
