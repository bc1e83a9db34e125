//! The result of an audit.

use std::fmt;

use longhaul_transcript::{Channel, EntryId};
use serde::{Deserialize, Serialize};

use super::source::Source;
use super::survival::{Standing, Survival, Traced, survival, traced};

/// How the user's words fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserTextTally {
    /// All of them.
    pub total: u32,
    /// Whole in the context.
    pub whole: u32,
    /// Shortened in the context.
    pub shortened: u32,
    /// Not in the context, but to be had back.
    pub recallable: u32,
    /// Lost.
    pub nowhere: u32,
}

/// How many of something are in the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// All of them.
    pub total: u32,
    /// Those in the context, or, of entries, those that can be had back.
    pub kept: u32,
}

impl Kept {
    fn of(found: impl IntoIterator<Item = bool>) -> Kept {
        let mut tally = Kept::default();
        for kept in found {
            tally.total += 1;
            tally.kept += u32::from(kept);
        }
        tally
    }

    fn missing(self) -> u32 {
        self.total - self.kept
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kept, self.total)
    }
}

/// Something that is not whole in the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// What it is: `user text`, `file changed`, `file read`, `to-do`, `note`,
    /// `pin`, `entry`.
    pub what: String,
    /// Its text, shortened.
    pub text: String,
    /// The entry it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// How the words came, of user text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
}

/// What of a session is in a context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// What the user said.
    pub user_text: UserTextTally,
    /// Files that were changed.
    pub files_changed: Kept,
    /// Files that were only read.
    pub files_read: Kept,
    /// Open items of to-do tools.
    pub to_dos: Kept,
    /// Notes of the agent's.
    #[serde(default)]
    pub notes: Kept,
    /// Pinned entries.
    #[serde(default)]
    pub pins: Kept,
    /// Entries that left the context and resolve by their id.
    pub recallable: Kept,
    /// User text that is shortened, or only to be had back; at most
    /// [`Audit::LISTED`].
    pub reduced: Vec<Missing>,
    /// How many more of them there are.
    #[serde(default)]
    pub reduced_unlisted: u32,
    /// What is lost; at most [`Audit::LISTED`] of each kind.
    pub lost: Vec<Missing>,
}

impl Audit {
    /// How many texts are listed.
    pub const LISTED: usize = 50;
    const TEXT_CHARS: usize = 200;

    /// How much was lost: entries that recall cannot bring back, and changed
    /// files, open items, notes and pins that are not in the context.
    pub fn losses(&self) -> u32 {
        self.user_text.nowhere
            + self.recallable.missing()
            + self.files_changed.missing()
            + self.to_dos.missing()
            + self.notes.missing()
            + self.pins.missing()
    }

    /// Whether anything was lost.
    pub fn lost_something(&self) -> bool {
        self.losses() > 0
    }

    /// Whether all that the user said stands in the context, word for word.
    pub fn is_whole(&self) -> bool {
        self.user_text.whole == self.user_text.total
    }

    /// The share of the user's words that are not in the context, rounded up: a
    /// loss is never shown as none.
    pub fn loss_percent(&self) -> u32 {
        let UserTextTally {
            total,
            whole,
            shortened,
            ..
        } = self.user_text;
        let missing = u64::from(total - whole - shortened) + u64::from(self.losses());
        let percent = (missing * 100).div_ceil(u64::from(total.max(1)));
        u32::try_from(percent).unwrap_or(100).min(100)
    }

    /// Counts what stands, and names what does not.
    fn kept(&mut self, what: &str, traced: &[Traced<'_>]) -> Kept {
        for one in traced.iter().filter(|one| !one.stands) {
            self.lose(what, one.text, one.entry);
        }
        Kept::of(traced.iter().map(|one| one.stands))
    }

    fn lose(&mut self, what: &str, text: &str, entry: Option<&EntryId>) {
        let same = self.lost.iter().filter(|missing| missing.what == what);
        if same.count() < Audit::LISTED {
            self.lost.push(Missing {
                what: what.to_owned(),
                text: text.chars().take(Audit::TEXT_CHARS).collect(),
                entry: entry.cloned(),
                channel: None,
            });
        }
    }
}

/// `user's words 41/41 · files changed 31/31 · read 30/30 · to-dos 3/3 ·
/// recallable 458/458`; what is lost is said at the end.
impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UserTextTally { whole, total, .. } = self.user_text;
        write!(
            f,
            "user's words {whole}/{total} · files changed {} · read {} · to-dos {}",
            self.files_changed, self.files_read, self.to_dos
        )?;
        for (name, kept) in [("notes", self.notes), ("pins", self.pins)] {
            if kept.total > 0 {
                write!(f, " · {name} {kept}")?;
            }
        }
        write!(f, " · recallable {}", self.recallable)?;
        match self.losses() {
            0 => Ok(()),
            lost => write!(f, " · LOST {lost}"),
        }
    }
}

/// Looks for everything a session holds in the text of a context: the plain text
/// that the model sees, not its JSON. `kept` tells which entries stand there as
/// messages; `pinned` are texts that must; `is_stored` whether an entry resolves
/// by its id.
pub fn audit(
    source: &Source,
    context_text: &str,
    kept: &dyn Fn(&EntryId) -> bool,
    pinned: &[(EntryId, String)],
    is_stored: &dyn Fn(&EntryId) -> bool,
) -> Audit {
    let survival = survival(source, context_text, is_stored);
    let pinned = pinned
        .iter()
        .map(|(entry, text)| (text.as_str(), Some(entry)));
    let pins = traced(pinned, context_text);
    let mut audit = Audit::default();
    words(&mut audit, &survival);
    audit.files_changed = audit.kept("file changed", &survival.changed);
    // Of files that were only read none is lost: they lie on the disk.
    audit.files_read = Kept::of(survival.read.iter().map(|file| file.stands));
    audit.to_dos = audit.kept("to-do", &survival.to_dos);
    audit.notes = audit.kept("note", &survival.notes);
    audit.pins = audit.kept("pin", &pins);
    audit.recallable.total = source.settled();
    audit.recallable.kept = source.settled();
    for entry in source.entries().iter().filter(|entry| !kept(entry)) {
        audit.recallable.total += 1;
        match is_stored(entry) {
            true => audit.recallable.kept += 1,
            false => audit.lose("entry", entry.as_str(), Some(entry)),
        }
    }
    audit
}

fn words(audit: &mut Audit, survival: &Survival<'_>) {
    let left = survival.texts_left;
    audit.reduced_unlisted = left;
    audit.user_text = UserTextTally {
        total: left,
        recallable: left,
        ..UserTextTally::default()
    };
    for (said, standing) in &survival.texts {
        let tally = &mut audit.user_text;
        tally.total += 1;
        match standing {
            Standing::Whole => tally.whole += 1,
            Standing::Shortened => tally.shortened += 1,
            Standing::Recallable => tally.recallable += 1,
            Standing::Nowhere => {
                tally.nowhere += 1;
                audit.lose("user text", &said.text, Some(&said.entry));
            }
        }
        if !matches!(standing, Standing::Shortened | Standing::Recallable) {
            continue;
        }
        if audit.reduced.len() < Audit::LISTED {
            audit.reduced.push(Missing {
                what: "user text".to_owned(),
                text: said.text.chars().take(Audit::TEXT_CHARS).collect(),
                entry: Some(said.entry.clone()),
                channel: Some(said.channel),
            });
        } else {
            audit.reduced_unlisted += 1;
        }
    }
}
