//! What was kept of a host's messages: the path of our own session file, as far
//! as it is messages, and what the host did to them since.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_transcript::{Body, Draft, Entry, EntryId, Fingerprint, Result, Session as Stored};
use serde::{Deserialize, Serialize};

use super::align::{Kept, Seen};
use crate::marks::{ASIDE_MARK, BRANCH_MARK, CHANGE_MARK, TURN_MARK, mark, said};
use crate::session::is_closing;

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
    pub(super) asides: HashSet<Fingerprint>,
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

/// What stands before the messages of a turn.
#[derive(Serialize, Deserialize)]
struct TurnMark {
    key: Option<String>,
    /// Messages that follow it.
    messages: usize,
    /// The hash of these.
    check: String,
    /// Messages of the path that belong to committed turns, with these.
    claimed: usize,
    /// The hash of every line before it, which the writer knows.
    #[serde(skip_deserializing)]
    proof: (),
}

/// What says that a host changed a message: what it is now, or that it is gone.
#[derive(Serialize, Deserialize)]
struct Change {
    entry: EntryId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    print: Option<Fingerprint>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
}

/// What holds a message that has no place of its own.
#[derive(Serialize, Deserialize)]
struct Aside<M = ()> {
    print: Fingerprint,
    before: EntryId,
    #[serde(skip_deserializing)]
    message: M,
}

/// From where a path goes on that left another.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Branch {
    from_id: Option<EntryId>,
    /// The turn because of which it did.
    torn: Option<EntryId>,
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
    Change(Change),
    Nothing,
}

impl Mirror {
    /// Reads a session once, its archive first.
    pub(super) fn read(stored: &Stored) -> Result<Mirror> {
        let mut file = Reading::default();
        stored.each_ever(&mut |entry| {
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
                What::Change(change) => self.change(&change),
                What::Nothing => {}
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

    fn change(&mut self, change: &Change) {
        let mut found = self.messages.iter_mut().rev();
        if let Some(placed) = found.find(|placed| placed.entry == change.entry) {
            let seen = &mut placed.kept.seen;
            seen.print = change.print.unwrap_or(seen.print);
            placed.kept.removed = change.removed;
        }
    }
}

/// A session while it is read.
#[derive(Default)]
struct Reading {
    order: Vec<EntryId>,
    steps: HashMap<EntryId, Step>,
    asides: HashSet<Fingerprint>,
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
        if let What::Turn(turn) = &what {
            self.open = Some(Open {
                mark: entry.id.clone(),
                key: turn.key.clone(),
                check: turn.check.clone(),
                left: turn.messages,
                hash: blake3::Hasher::new(),
            });
        }
        let aside: Option<Aside> = said(&entry, ASIDE_MARK);
        self.asides.extend(aside.map(|aside| aside.print));
        let branch: Option<Branch> = said(&entry, BRANCH_MARK);
        self.left.extend(branch.and_then(|branch| branch.torn));
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
        let torn = self.open.take_if(|open| !open.is_whole());
        let mut torn = torn.map(|open| Torn {
            before: self
                .steps
                .get(&open.mark)
                .and_then(|step| step.parent.clone()),
            mark: open.mark,
        });
        self.close();
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
    if let Body::Message(_) = &entry.body {
        let text = entry.message_json().unwrap_or("null");
        return match is_closing(text) {
            true => What::Closing,
            false => What::Message(Seen::of(text), blake3::hash(text.as_bytes())),
        };
    }
    let turn = said(entry, TURN_MARK).map(What::Turn);
    let what = turn.or_else(|| said(entry, CHANGE_MARK).map(What::Change));
    what.unwrap_or(What::Nothing)
}

/// The mark of a turn: with it, the turn is there whole or not at all.
pub(super) fn turn_mark(key: Option<&str>, messages: &[&str], claimed: usize) -> Draft {
    let mut check = blake3::Hasher::new();
    for message in messages {
        check.update(blake3::hash(message.as_bytes()).as_bytes());
    }
    let turn = TurnMark {
        key: key.map(str::to_owned),
        messages: messages.len(),
        check: check.finalize().to_hex().to_string(),
        claimed,
        proof: (),
    };
    mark(TURN_MARK, &turn)
}

/// The mark of what the host did to a message: what it is now, none if it took
/// it out.
pub(super) fn change_mark(entry: &EntryId, print: Option<Fingerprint>) -> Draft {
    let change = Change {
        entry: entry.clone(),
        print,
        removed: print.is_none(),
    };
    mark(CHANGE_MARK, &change)
}

/// The mark of a path that goes on elsewhere.
pub(super) fn branch_mark(from_id: Option<EntryId>, torn: Option<EntryId>) -> Draft {
    mark(BRANCH_MARK, &Branch { from_id, torn })
}

/// A message that has no place of its own.
pub(super) fn aside(message: &str, print: Fingerprint, before: &EntryId) -> Draft {
    let message: serde_json::Value = serde_json::from_str(message).unwrap_or_default();
    let before = before.clone();
    let aside = Aside {
        print,
        before,
        message,
    };
    mark(ASIDE_MARK, &aside)
}
