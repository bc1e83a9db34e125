//! The result of an audit.

use std::fmt;

use longhaul_transcript::{Channel, EntryId};
use serde::{Deserialize, Serialize};

use super::search::{Edge, Needle, occurring};
use super::source::Source;

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
    let mut audit = Audit::default();
    words(&mut audit, source, context_text, is_stored);
    files(&mut audit, source, context_text);
    let items: Vec<&str> = source.open_items().collect();
    let found = find(&items, context_text);
    audit.to_dos = Kept::of(found.iter().copied());
    for (item, _) in items.iter().zip(&found).filter(|(_, found)| !**found) {
        audit.lose("to-do", item, None);
    }
    let notes: Vec<&str> = source
        .notes()
        .iter()
        .map(|(_, text)| text.as_str())
        .collect();
    let found = find(&notes, context_text);
    audit.notes = Kept::of(found.iter().copied());
    for ((entry, note), _) in source
        .notes()
        .iter()
        .zip(&found)
        .filter(|(_, found)| !**found)
    {
        audit.lose("note", note, Some(entry));
    }
    let pins: Vec<&str> = pinned.iter().map(|(_, text)| text.as_str()).collect();
    let found = find(&pins, context_text);
    audit.pins = Kept::of(found.iter().copied());
    for ((entry, text), _) in pinned.iter().zip(&found).filter(|(_, found)| !**found) {
        audit.lose("pin", text, Some(entry));
    }
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

/// Which texts stand in the context, spaces aside. A summary may break a tag with
/// a backslash behind its bracket, so on both sides none is looked at there.
fn find(texts: &[&str], context: &str) -> Vec<bool> {
    let unbroken = |text: &str| text.replace("<\\", "<");
    let texts: Vec<String> = texts.iter().map(|text| unbroken(text)).collect();
    let needles: Vec<Needle<'_>> = texts
        .iter()
        .map(|text| Needle::new(text, Edge::Any))
        .collect();
    occurring(&needles, &unbroken(context))
}

/// Of a text that was shortened its beginning stands there: so many characters.
const BEGINNING: usize = 60;

fn words(audit: &mut Audit, source: &Source, context: &str, is_stored: &dyn Fn(&EntryId) -> bool) {
    let texts: Vec<&str> = source
        .texts()
        .iter()
        .map(|said| said.text.as_str())
        .collect();
    let begin = |text: &str| text.chars().take(BEGINNING).collect::<String>();
    let beginnings: Vec<String> = texts.iter().map(|text| begin(text)).collect();
    let beginnings: Vec<&str> = beginnings.iter().map(String::as_str).collect();
    let whole = find(&texts, context);
    let begun = find(&beginnings, context);
    let tally = &mut audit.user_text;
    tally.total = source.texts_left();
    tally.recallable = source.texts_left();
    audit.reduced_unlisted = source.texts_left();
    let mut nowhere = Vec::new();
    for (said, (whole, begun)) in source.texts().iter().zip(whole.iter().zip(&begun)) {
        tally.total += 1;
        if *whole {
            tally.whole += 1;
            continue;
        }
        match (begun, is_stored(&said.entry)) {
            (true, _) => tally.shortened += 1,
            (false, true) => tally.recallable += 1,
            (false, false) => {
                tally.nowhere += 1;
                nowhere.push(said);
                continue;
            }
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
    for said in nowhere {
        audit.lose("user text", &said.text, Some(&said.entry));
    }
}

fn files(audit: &mut Audit, source: &Source, context: &str) {
    let changed: Vec<(&str, &EntryId)> = source.changed().collect();
    let found = stand(source, &changed, context);
    for ((path, entry), _) in changed.iter().zip(&found).filter(|(_, found)| !**found) {
        audit.lose("file changed", path, Some(entry));
    }
    audit.files_changed = Kept::of(found);
    // Of a file that was only read a pointer is enough: so many of its folder.
    let read: Vec<(&str, &EntryId)> = source.read().collect();
    let found = stand(source, &read, context).into_iter().zip(&read);
    let folders: Vec<&str> = context
        .lines()
        .filter(|line| line.contains("/ +"))
        .collect();
    let pointed = |path: &str| {
        let folder = |path: &str| {
            path.rsplit_once('/')
                .map(|(folder, _)| format!("{folder}/ +"))
        };
        let names = [Some(path), source.relative(path)].into_iter().flatten();
        names
            .filter_map(folder)
            .any(|name| folders.iter().any(|line| line.contains(&name)))
    };
    audit.files_read = Kept::of(found.map(|(found, (path, _))| found || pointed(path)));
}

/// Which paths stand in the context: in full, or relative to the working folder.
fn stand(source: &Source, paths: &[(&str, &EntryId)], context: &str) -> Vec<bool> {
    let needles: Vec<Needle<'_>> = paths
        .iter()
        .flat_map(|(path, _)| [*path, source.relative(path).unwrap_or(path)])
        .map(|path| Needle::new(path, Edge::Path))
        .collect();
    let found = occurring(&needles, context);
    found.chunks(2).map(|both| both.contains(&true)).collect()
}
