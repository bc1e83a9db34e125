//! Putting state back: what the first contexts after a compaction, or of a new
//! session of the same key, carry.
//!
//! An epoch has its fragments chosen once: the checkpoint that its compaction
//! names, and the key files of that moment. A note in the session's folder
//! holds their hashes, so that after a restart it is known what the agent has
//! been given already, and only what changed is new. What the agent itself did
//! to a key file since is no news to it.

use std::path::PathBuf;
use std::time::SystemTime;

use jiff::civil::Date;
use longhaul_assembly::{
    FileCache, KeyFile, Problem, Restore, RestoreLimits, Workspace, daily_logs,
};
use longhaul_checkpoint::{Checkpoint, CheckpointId, Restoring};
use longhaul_compaction::SpiralWarning;
use longhaul_ledger::Origin;
use longhaul_tokens::{Counter, Fragment, FragmentKind, Tokens, Window};
use longhaul_transcript::json::Object;
use longhaul_transcript::{EntryId, Millis};
use serde::{Deserialize, Serialize};

use super::notebook::{note_of, read_note, write_note};
use super::{Checkpoints, Notebook, Result, Sink};
use crate::event::{Event, RestoredFragment};
use crate::live::Live;

/// Key files looked at for each that is put back: some are gone by now.
const CANDIDATES: usize = 3;

/// What is needed to put state back.
pub struct Putting<'a> {
    /// The workspace; without one, only the checkpoint is put back.
    pub workspace: Option<&'a Workspace>,
    /// How much.
    pub limits: &'a RestoreLimits,
    /// When the text warns of many compactions.
    pub warning: SpiralWarning,
    /// When an entry was written: by it a change since is told.
    pub seen: &'a dyn Fn(&EntryId) -> Option<Millis>,
    /// What counts tokens.
    pub counter: &'a dyn Counter,
    /// The time now.
    pub now: SystemTime,
    /// The day it is, where the user is.
    pub today: Date,
    /// Files read before.
    pub cache: &'a mut FileCache,
}

/// What is put back.
#[derive(Debug, Default)]
pub struct Restoration {
    /// All fragments of the epoch as they are now, in order.
    pub fragments: Vec<Fragment>,
    /// What of it the agent has not been given yet.
    pub news: News,
    /// The checkpoint among it.
    pub checkpoint: Option<CheckpointId>,
    /// Files that could not be put back, and why.
    pub problems: Vec<Problem>,
}

/// What of it a window has room for: on a small one not all of it is worth its
/// place, and beside a large context none may be.
pub(crate) fn fitting(fragments: Vec<Fragment>, window: &Window, free: Tokens) -> Vec<Fragment> {
    let mut room = free.min(Tokens(window.size().0 / 6));
    let fits = |fragment: &Fragment| {
        let fits = fragment.tokens() <= room;
        if fits {
            room -= fragment.tokens();
        }
        fits
    };
    fragments.into_iter().filter(fits).collect()
}

/// What of a restoration is new.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum News {
    /// All of it: the epoch, or the session, has just begun.
    First,
    /// Nothing; whoever holds the fragments of before keeps them, so that the
    /// prompt cache holds.
    #[default]
    Same,
    /// The fragments at these places.
    Changed(Vec<usize>),
}

/// What the agent has been given in an epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    session_key: String,
    session_file: String,
    /// The compaction that began the epoch; none for a new session.
    boundary: Option<EntryId>,
    checkpoint: Option<CheckpointId>,
    key_files: Vec<PathBuf>,
    fragments: Vec<Given>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    kind: String,
    /// The file, for a key file.
    path: Option<String>,
    hash: String,
}

impl Checkpoints<'_> {
    /// What the next context carries, and what of it is new. Recorded when this
    /// returns, so that it is new only once; where the note cannot be read or
    /// written that is an event, and all is put back nonetheless. Nothing where
    /// neither a compaction nor another session of the same key came before.
    pub fn restore(
        &self,
        notebook: &dyn Notebook,
        live: &Live,
        putting: &mut Putting<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Restoration> {
        let name = note_of("restored", &self.whose.session_file);
        let compaction = live.loaded().compaction().map(|(entry, _)| entry);
        let boundary = compaction.map(|entry| entry.id.clone());
        // One that cannot be read is given again: too often is better than never.
        let record = read_note::<Record>(notebook, &name).unwrap_or_else(|error| {
            sink(error.event());
            None
        });
        let record = record.filter(|record| {
            record.boundary == boundary && record.session_file == self.whose.session_file
        });
        let named = match &record {
            Some(record) => record.checkpoint,
            None => compaction.and_then(|entry| named_checkpoint(entry.raw())),
        };
        let checkpoint = self.chosen(named, record.is_some(), boundary.is_some(), sink)?;
        let carried = carried(live, putting);
        let (logs, unread) = logs(putting);
        let begins = boundary.is_none() && checkpoint.is_none() && carried.is_none();
        if begins && logs.is_none() {
            return Ok(Restoration::default());
        }

        let key_files = match &record {
            Some(record) => at(&record.key_files, live, putting),
            None => key_files(live, checkpoint.as_ref(), putting),
        };
        // A session that only begins has nothing to be reminded of but the logs.
        let (mut fragments, mut problems) = match begins {
            true => (Vec::new(), Vec::new()),
            false => fragments(live, checkpoint.as_ref(), &key_files, putting),
        };
        problems.extend(unread);
        let behind = fragments
            .iter()
            .position(|fragment| fragment.kind() == FragmentKind::Checkpoint)
            .map_or(0, |at| at + 1);
        fragments.splice(behind..behind, carried);
        fragments.extend(logs);
        let given: Vec<Given> = fragments.iter().map(Given::of).collect();
        let news = news(record.as_ref(), &given, &fragments);
        let checkpoint = checkpoint.map(|checkpoint| checkpoint.meta.checkpoint_id);
        let restoration = Restoration {
            fragments,
            news,
            checkpoint,
            problems,
        };
        if restoration.news == News::Same {
            return Ok(restoration);
        }
        let record = Record {
            session_key: self.whose.key.to_string(),
            session_file: self.whose.session_file.clone(),
            boundary,
            checkpoint,
            key_files: key_files.into_iter().map(|file| file.path).collect(),
            fragments: given,
        };
        if let Err(error) = write_note(notebook, &name, &record) {
            sink(error.event());
        }
        sink(restoration.event(live.epoch()));
        Ok(restoration)
    }

    /// The checkpoint of the epoch: the one that is named, else the latest. At
    /// the start of a session only another session's is news.
    fn chosen(
        &self,
        named: Option<CheckpointId>,
        recorded: bool,
        compacted: bool,
        sink: &mut Sink<'_>,
    ) -> Result<Option<Checkpoint>> {
        let mut unreadable = None;
        if let Some(id) = named {
            match self.store.get(&self.whose.key, id) {
                Ok(checkpoint) => return Ok(Some(checkpoint)),
                // It is old, and was removed.
                Err(longhaul_checkpoint::Error::NoSuchCheckpoint { .. }) => {}
                Err(error) => unreadable = Some(error),
            }
        }
        if recorded && named.is_none() {
            return Ok(None);
        }
        // Where it is also the newest, it is told of once.
        let named = unreadable.as_ref().map(ToString::to_string);
        let mut told = false;
        let latest = self.latest(&mut |event| {
            told |= matches!(&event, Event::CheckpointTrouble { reason, .. }
                if Some(reason) == named.as_ref());
            sink(event);
        });
        if let Some(error) = unreadable.filter(|_| !told) {
            sink(super::Error::Store(error).event());
        }
        let latest = latest?;
        Ok(latest.filter(|checkpoint| {
            compacted || recorded || checkpoint.meta.session_file != self.whose.session_file
        }))
    }
}

impl Restoration {
    /// The fragments that are new.
    pub fn fresh(&self) -> Vec<&Fragment> {
        match &self.news {
            News::First => self.fragments.iter().collect(),
            News::Same => Vec::new(),
            News::Changed(places) => {
                let at = places.iter().filter_map(|at| self.fragments.get(*at));
                at.collect()
            }
        }
    }

    fn event(&self, epoch: u32) -> Event {
        let fresh = self.fresh();
        Event::Restored {
            epoch,
            checkpoint: self.checkpoint.map(|id| id.to_string()),
            tokens: fresh.iter().map(|fragment| fragment.tokens()).sum(),
            fragments: fresh.into_iter().map(RestoredFragment::of).collect(),
        }
    }
}

impl Given {
    fn of(fragment: &Fragment) -> Given {
        Given {
            kind: fragment.kind().to_string(),
            path: key_file(fragment).map(|(path, _)| path.to_owned()),
            hash: blake3::hash(fragment.text().as_bytes()).to_hex()[..32].to_owned(),
        }
    }
}

/// The path of a key file and whether somebody else changed it since the agent
/// saw it, as the fragment's first line says.
fn key_file(fragment: &Fragment) -> Option<(&str, bool)> {
    if fragment.kind() != FragmentKind::KeyFile {
        return None;
    }
    let line = fragment.text().lines().next()?;
    let (path, note) = line
        .strip_prefix('[')?
        .rsplit_once(", as it is on disk now")?;
    Some((path, note.contains("changed since")))
}

fn news(record: Option<&Record>, given: &[Given], fragments: &[Fragment]) -> News {
    let Some(record) = record else {
        return News::First;
    };
    let known = |at: &usize| {
        let (now, fragment) = (&given[*at], &fragments[*at]);
        record.fragments.contains(now)
            // They grow all day; the agent has what it was given of them.
            || fragment.kind() == FragmentKind::DailyLogs
                && record.fragments.iter().any(|old| old.kind == now.kind)
            || matches!(key_file(fragment), Some((path, false))
                if record.fragments.iter().any(|old| old.path.as_deref() == Some(path)))
    };
    let changed: Vec<usize> = (0..given.len()).filter(|at| !known(at)).collect();
    match changed.is_empty() {
        true => News::Same,
        false => News::Changed(changed),
    }
}

/// The files most worth having at hand: the ledger's, or at the start of a
/// session those of the checkpoint.
fn key_files(live: &Live, checkpoint: Option<&Checkpoint>, putting: &Putting<'_>) -> Vec<KeyFile> {
    let most = putting.limits.key_files as usize * CANDIDATES;
    let own: Vec<KeyFile> = live
        .ledger()
        .key_files(most)
        .into_iter()
        .map(|file| KeyFile {
            path: PathBuf::from(&file.path),
            last_seen: file.provenance.last().and_then(putting.seen),
        })
        .collect();
    let Some(checkpoint) = checkpoint.filter(|_| own.is_empty()) else {
        return own;
    };
    let resources = &checkpoint.resources;
    let last_seen = Millis::parse_iso(&checkpoint.meta.created_at);
    let modified = resources.files_modified.iter().rev();
    modified
        .chain(resources.files_read.iter().rev())
        .take(most)
        .map(|path| KeyFile {
            path: PathBuf::from(path),
            last_seen,
        })
        .collect()
}

/// The key files of the epoch, as the agent saw them last.
fn at(paths: &[PathBuf], live: &Live, putting: &Putting<'_>) -> Vec<KeyFile> {
    let files = &live.ledger().files;
    paths
        .iter()
        .map(|path| KeyFile {
            last_seen: path
                .to_str()
                .and_then(|path| files.get(path)?.provenance.last())
                .and_then(putting.seen),
            path: path.clone(),
        })
        .collect()
}

fn fragments(
    live: &Live,
    checkpoint: Option<&Checkpoint>,
    key_files: &[KeyFile],
    putting: &mut Putting<'_>,
) -> (Vec<Fragment>, Vec<Problem>) {
    let counter = putting.counter;
    let warning = putting.warning.text(live.epoch(), live.wear());
    let how = Restoring {
        limit: putting.limits.checkpoint_tokens,
        warning: warning.as_deref(),
    };
    let text = checkpoint.and_then(|checkpoint| checkpoint.restore(&how, counter));
    let (mut fragments, problems) = match putting.workspace {
        Some(workspace) => Restore {
            workspace,
            checkpoint: text.as_ref().map(Fragment::text),
            key_files,
            limits: putting.limits,
        }
        .fragments(counter, putting.now, putting.cache),
        None => (text.clone().into_iter().collect(), Vec::new()),
    };
    // The checkpoint carries the warning; without one it stands alone.
    if text.is_none() {
        let warning = warning.map(|text| Fragment::new(FragmentKind::Warning, text, counter));
        fragments.splice(0..0, warning);
    }
    (fragments, problems)
}

/// The logs of the last two days.
fn logs(putting: &Putting<'_>) -> (Option<Fragment>, Vec<Problem>) {
    let Some(workspace) = putting.workspace else {
        return (None, Vec::new());
    };
    let limit = putting.limits.log_tokens;
    daily_logs(workspace, putting.today, limit, putting.counter)
}

/// What the user said in the session before, until a summary of this one carries
/// it. What is too much leaves behind the first message, oldest first.
fn carried(live: &Live, putting: &Putting<'_>) -> Option<Fragment> {
    if live.loaded().compaction().is_some() {
        return None;
    }
    let utterances = live.ledger().utterances.iter();
    let lines: Vec<String> = utterances
        .filter(|said| said.origin == Origin::Carried)
        .map(|said| format!("- {}", said.text.trim()))
        .collect();
    let (first, later) = lines.split_first()?;
    let (kind, counter) = (FragmentKind::Carried, putting.counter);
    let limit = putting.limits.carried_tokens;
    let text = |left_out: usize| {
        let more = match left_out {
            0 => String::new(),
            more => format!("\n- … {more} more are in that session"),
        };
        let later = later[left_out..].iter();
        let later: String = later.map(|line| format!("\n{line}")).collect();
        format!(
            "What the user said in the session before this one, word for word, oldest first; \
             that session has ended, and recall with the scope \"all\" brings back more of \
             it:\n{first}{more}{later}"
        )
    };
    let fits = |left_out: &usize| counter.count(&text(*left_out), kind.content()) <= limit;
    let all: Vec<usize> = (0..=later.len()).collect();
    let left_out = all.partition_point(|left_out| !fits(left_out));
    Fragment::within(kind, text(left_out.min(later.len())), limit, counter)
}

/// The checkpoint that a compaction entry of ours names, from its stored text.
pub fn named_checkpoint(raw: &str) -> Option<CheckpointId> {
    let object = Object::parse(raw).ok()?;
    let details = object.object("details")?;
    details.str("checkpointId")?.parse().ok()
}
