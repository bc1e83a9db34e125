//! What was kept of a host's messages: the path of our own session file, as far
//! as it is messages, and what the host did to them since.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Draft, Entry, EntryId, Result, Session as Stored};
use serde_json::json;

use super::align::Kept;
use super::print::{Print, Seen};
use crate::session::is_closing;

/// The `customType` of the entry before the messages of a committed turn.
pub const TURN_MARK: &str = "longhaul:turn";
/// The `customType` of the entry that says what a host changed.
pub const CHANGE_MARK: &str = "longhaul:host-change";
/// The `customType` of the entry that holds a message which has no place of its
/// own on the path: it came in front of what was there already.
pub const ASIDE_MARK: &str = "longhaul:aside";
/// The `customType` of the entry from which a path goes on that left another.
pub const BRANCH_MARK: &str = "longhaul:branch";

/// A message on the path.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) entry: EntryId,
    /// The entry before it on the path.
    pub(super) parent: Option<EntryId>,
    pub(super) kept: Kept,
    /// Its place in the host's list.
    pub(super) listed: Option<usize>,
}

/// The messages on the path, and what was committed.
#[derive(Debug, Clone, Default)]
pub(super) struct Mirror {
    pub(super) messages: Vec<Placed>,
    /// So many from the start belong to committed turns.
    pub(super) claimed: usize,
    /// Keys of committed turns, on whatever branch.
    pub(super) keys: HashSet<String>,
    /// Messages that have no place of their own.
    pub(super) asides: HashSet<Print>,
    /// Results of ours for calls that a process left open.
    pub(super) closings: HashSet<EntryId>,
    /// A turn at the end that was not written whole: the entry before it.
    pub(super) torn: Option<Torn>,
}

/// A committed turn of which not everything arrived on the disk, or a path that
/// lost an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Torn {
    /// The entry before it; none if it was the first.
    pub(super) before: Option<EntryId>,
    /// Its mark, or the first entry behind the hole.
    pub(super) mark: EntryId,
}

/// An entry as far as it matters for the path.
struct Step {
    parent: Option<EntryId>,
    what: What,
}

enum What {
    Message(Seen, blake3::Hash),
    Closing,
    Turn(TurnMark),
    Change(EntryId, Change),
    Aside(Print),
    /// The path goes on elsewhere, because of this turn.
    Left(EntryId),
    Nothing,
}

/// What stands before the messages of a turn.
struct TurnMark {
    key: Option<String>,
    /// Messages that follow it.
    messages: usize,
    /// The hash of these.
    check: String,
    /// Messages of the path that belong to committed turns, with these.
    claimed: usize,
}

enum Change {
    Edited(Print),
    Removed,
}

impl Mirror {
    /// Reads a session once, its archive first.
    pub(super) fn read(stored: &Stored) -> Result<Mirror> {
        let mut file = Reading::default();
        crate::recall::each_stored(stored, &mut |entry| {
            file.take(entry);
            ControlFlow::Continue(())
        })?;
        Ok(file.finish())
    }

    fn walk(&mut self, path: Vec<(EntryId, Step)>) {
        // What a turn claims counts as far as its messages are on this path: a host
        // may have gone back to the middle of it.
        let mut claims: Option<(usize, usize)> = None;
        for (id, step) in path {
            if let Some((claimed, left)) = claims
                && (left == 0 || !matches!(step.what, What::Message(..)))
            {
                self.claimed = claimed.min(self.messages.len());
                claims = None;
            }
            match step.what {
                What::Message(seen, _) => {
                    claims = claims.map(|(claimed, left)| (claimed, left - 1));
                    self.place(id, step.parent, seen);
                }
                What::Turn(mark) => claims = Some((mark.claimed, mark.messages)),
                What::Closing => drop(self.closings.insert(id)),
                What::Change(target, change) => self.change(&target, change),
                What::Aside(_) | What::Left(_) | What::Nothing => {}
            }
        }
        if let Some((claimed, _)) = claims {
            self.claimed = claimed.min(self.messages.len());
        }
    }

    /// Takes in a message that stands at the end of the path now.
    pub(super) fn place(&mut self, entry: EntryId, parent: Option<EntryId>, seen: Seen) {
        self.messages.push(Placed {
            entry,
            parent,
            kept: Kept {
                seen,
                removed: false,
            },
            listed: None,
        });
    }

    fn change(&mut self, target: &EntryId, change: Change) {
        let found = self.messages.iter_mut().rev();
        let Some(placed) = found.into_iter().find(|placed| placed.entry == *target) else {
            return;
        };
        match change {
            Change::Edited(print) => {
                placed.kept.seen.print = print;
                placed.kept.removed = false;
            }
            Change::Removed => placed.kept.removed = true,
        }
    }
}

/// A session while it is read.
#[derive(Default)]
struct Reading {
    order: Vec<EntryId>,
    steps: HashMap<EntryId, Step>,
    asides: HashSet<Print>,
    /// Turns that were left because they were torn.
    left: HashSet<EntryId>,
    /// Keys, and the marks that they stand in.
    keys: Vec<(EntryId, String)>,
    /// The turn whose messages are being read: in the file they follow its mark,
    /// since they were written with it.
    open: Option<Open>,
}

struct Open {
    mark: EntryId,
    key: Option<String>,
    check: String,
    left: usize,
    hash: blake3::Hasher,
}

impl Open {
    fn is_whole(&self) -> bool {
        self.left == 0 && self.hash.finalize().to_hex().as_str() == self.check
    }
}

impl Reading {
    fn take(&mut self, entry: Entry) {
        let what = what(&entry);
        match (&mut self.open, &what) {
            (Some(open), What::Message(_, hash)) if open.left > 0 => {
                open.left -= 1;
                open.hash.update(hash.as_bytes());
            }
            // Others wrote after it, or it was archived in part: it was there once.
            _ => self.close(),
        }
        match &what {
            What::Aside(print) => {
                self.asides.insert(*print);
            }
            What::Left(mark) => {
                self.left.insert(mark.clone());
            }
            What::Turn(turn) => {
                self.open = Some(Open {
                    mark: entry.id.clone(),
                    key: turn.key.clone(),
                    check: turn.check.clone(),
                    left: turn.messages,
                    hash: blake3::Hasher::new(),
                });
            }
            _ => {}
        }
        self.order.push(entry.id.clone());
        let parent = entry.parent.clone();
        self.steps.insert(entry.id, Step { parent, what });
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.keys.extend(open.key.map(|key| (open.mark, key)));
        }
    }

    fn finish(mut self) -> Mirror {
        let mut torn = None;
        if let Some(open) = self.open.take() {
            if open.is_whole() {
                self.keys.extend(open.key.map(|key| (open.mark, key)));
            } else {
                let before = self.steps.get(&open.mark);
                torn = Some(Torn {
                    before: before.and_then(|step| step.parent.clone()),
                    mark: open.mark,
                });
            }
        }
        let mut path = Vec::new();
        let mut at = self.order.last().cloned();
        while let Some(id) = at {
            let Some(step) = self.steps.remove(&id) else {
                // A line that cannot be read any more: what is before it is found by its
                // place in the file.
                torn = torn.or_else(|| self.behind_hole(&path));
                break;
            };
            at = step.parent.clone();
            path.push((id, step));
        }
        path.reverse();
        let keys = self.keys.into_iter();
        let keys = keys.filter(|(mark, _)| !self.left.contains(mark));
        let mut mirror = Mirror {
            keys: keys.map(|(_, key)| key).collect(),
            asides: self.asides,
            torn,
            ..Mirror::default()
        };
        mirror.walk(path);
        mirror
    }

    /// Where to go on if the path, read from its end, breaks off.
    fn behind_hole(&self, path: &[(EntryId, Step)]) -> Option<Torn> {
        let (first, _) = path.last()?;
        let at = self.order.iter().position(|id| id == first)?;
        Some(Torn {
            before: at.checked_sub(1).map(|at| self.order[at].clone()),
            mark: first.clone(),
        })
    }
}

fn what(entry: &Entry) -> What {
    match &entry.body {
        Body::Message(_) => {
            let text = entry.message_json().unwrap_or("null");
            if is_closing(text) {
                return What::Closing;
            }
            What::Message(Seen::of(text), blake3::hash(text.as_bytes()))
        }
        Body::Custom { custom_type } => marked(custom_type, entry).unwrap_or(What::Nothing),
        _ => What::Nothing,
    }
}

fn marked(custom_type: &str, entry: &Entry) -> Option<What> {
    if ![TURN_MARK, CHANGE_MARK, ASIDE_MARK, BRANCH_MARK].contains(&custom_type) {
        return None;
    }
    let object = Object::parse(entry.raw()).ok()?;
    let data = object.object("data")?;
    let number = |key: &str| usize::try_from(data.u64(key)?).ok();
    let print = || Print::from_hex(&data.str("print")?);
    Some(match custom_type {
        TURN_MARK => What::Turn(TurnMark {
            key: data.str("key").map(|key| key.into_owned()),
            messages: number("messages")?,
            check: data.str("check")?.into_owned(),
            claimed: number("claimed")?,
        }),
        CHANGE_MARK => What::Change(
            EntryId::new(data.str("entry")?.into_owned()),
            match data.bool("removed") {
                Some(true) => Change::Removed,
                _ => Change::Edited(print()?),
            },
        ),
        ASIDE_MARK => What::Aside(print()?),
        _ => What::Left(EntryId::new(data.str("torn")?.into_owned())),
    })
}

/// The mark of a turn: with it, the turn is there whole or not at all.
pub(super) fn turn_mark(key: Option<&str>, messages: &[&str], claimed: usize) -> Draft {
    let mut check = blake3::Hasher::new();
    for message in messages {
        check.update(blake3::hash(message.as_bytes()).as_bytes());
    }
    Draft::Custom {
        custom_type: TURN_MARK.into(),
        data: json!({
            "key": key,
            "messages": messages.len(),
            "check": check.finalize().to_hex().as_str(),
            "claimed": claimed,
            "proof": null,
        })
        .to_string(),
    }
}

/// The mark of an edit by the host.
pub(super) fn edit_mark(entry: &EntryId, print: Print) -> Draft {
    Draft::Custom {
        custom_type: CHANGE_MARK.into(),
        data: json!({ "entry": entry.as_str(), "print": print.to_hex() }).to_string(),
    }
}

/// The mark of a message that the host took out.
pub(super) fn removal_mark(entry: &EntryId) -> Draft {
    Draft::Custom {
        custom_type: CHANGE_MARK.into(),
        data: json!({ "entry": entry.as_str(), "removed": true }).to_string(),
    }
}

/// The mark of a path that goes on elsewhere.
pub(super) fn branch_mark(from: Option<&EntryId>, torn: Option<&EntryId>) -> Draft {
    Draft::Custom {
        custom_type: BRANCH_MARK.into(),
        data: json!({
            "fromId": from.map(EntryId::as_str),
            "torn": torn.map(EntryId::as_str),
        })
        .to_string(),
    }
}

/// A message that has no place of its own.
pub(super) fn aside(message: &str, print: Print, before: &EntryId) -> Draft {
    let message: serde_json::Value = serde_json::from_str(message).unwrap_or_default();
    Draft::Custom {
        custom_type: ASIDE_MARK.into(),
        data: json!({ "print": print.to_hex(), "before": before.as_str(), "message": message })
            .to_string(),
    }
}
