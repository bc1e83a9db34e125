//! What was kept of a host's messages: the path of our own session file, as far
//! as it is messages, and what the host did to them since.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Draft, Entry, EntryId, Result, Session as Stored};
use serde_json::json;

use super::align::Kept;
use super::print::{Print, Seen};

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
    /// A turn at the end that was not written whole: the entry before it.
    pub(super) torn: Option<Torn>,
}

/// A committed turn of which not everything arrived on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Torn {
    /// The entry before it; none if it was the first.
    pub(super) before: Option<EntryId>,
    /// Its mark.
    pub(super) mark: EntryId,
}

/// An entry as far as it matters for the path.
struct Step {
    parent: Option<EntryId>,
    what: What,
}

enum What {
    Message(Seen, blake3::Hash),
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
        let mut steps: HashMap<EntryId, Step> = HashMap::new();
        let mut leaf = None;
        let mut asides = HashSet::new();
        let mut torn = HashSet::new();
        crate::recall::each(stored, &mut |entry| {
            let what = what(&entry);
            match &what {
                What::Aside(print) => {
                    asides.insert(*print);
                }
                What::Left(mark) => {
                    torn.insert(mark.clone());
                }
                _ => {}
            }
            leaf = Some(entry.id.clone());
            let parent = entry.parent.clone();
            steps.insert(entry.id, Step { parent, what });
            ControlFlow::Continue(())
        })?;
        let mut keys = HashSet::new();
        let mut path = Vec::new();
        let mut at = leaf;
        while let Some(id) = at {
            let Some(step) = steps.remove(&id) else {
                break;
            };
            at = step.parent.clone();
            path.push((id, step));
        }
        path.reverse();
        // A turn on a branch that was left was committed all the same, unless it is
        // the torn one that was left for that reason.
        for (id, step) in &steps {
            if let What::Turn(TurnMark { key: Some(key), .. }) = &step.what
                && !torn.contains(id)
            {
                keys.insert(key.clone());
            }
        }
        let mut mirror = Mirror {
            keys,
            asides,
            ..Mirror::default()
        };
        mirror.walk(path);
        Ok(mirror)
    }

    fn walk(&mut self, path: Vec<(EntryId, Step)>) {
        let mut open: Option<Open> = None;
        for (id, step) in path {
            if let Some(turn) = open.take() {
                match (&step.what, turn.left) {
                    (_, 0) => self.close(turn),
                    (What::Message(..), _) => open = Some(turn),
                    // Something else stands where a message should: it is not whole.
                    _ => self.close(turn),
                }
            }
            match step.what {
                What::Message(seen, hash) => {
                    if let Some(turn) = &mut open {
                        turn.left = turn.left.saturating_sub(1);
                        turn.hash.update(hash.as_bytes());
                    }
                    self.place(id, step.parent, seen);
                }
                What::Turn(mark) => {
                    open = Some(Open {
                        left: mark.messages,
                        hash: blake3::Hasher::new(),
                        torn: Torn {
                            before: step.parent,
                            mark: id,
                        },
                        from: self.messages.len(),
                        mark,
                    });
                }
                What::Change(target, change) => self.change(&target, change),
                What::Aside(_) | What::Left(_) | What::Nothing => {}
            }
        }
        if let Some(turn) = open {
            self.close(turn);
        }
    }

    /// A turn is over: whole, or torn if it is the last thing in the file.
    fn close(&mut self, turn: Open) {
        let whole = turn.left == 0 && turn.hash.finalize().to_hex().as_str() == turn.mark.check;
        if whole {
            self.claimed = turn.mark.claimed.min(self.messages.len());
            self.keys.extend(turn.mark.key);
            self.torn = None;
        } else {
            self.messages.truncate(turn.from);
            self.claimed = self.claimed.min(turn.from);
            self.torn = Some(turn.torn);
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

/// A turn whose messages are being read.
struct Open {
    mark: TurnMark,
    left: usize,
    hash: blake3::Hasher,
    torn: Torn,
    /// Messages before it.
    from: usize,
}

fn what(entry: &Entry) -> What {
    match &entry.body {
        Body::Message(_) => {
            let text = entry.message_json().unwrap_or("null");
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
