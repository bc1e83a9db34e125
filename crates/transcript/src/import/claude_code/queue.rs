//! What was typed while the agent worked, from the operations of its queue.
//!
//! A queued text that went to the agent inside the running turn is stored
//! nowhere else. The operations name no text: `remove` and `dequeue` take the
//! oldest, except that the program lets prompts pass notifications and keeps
//! slash commands back. A record that repeats a text therefore decides over
//! the order.

use std::collections::{BTreeMap, HashMap};

use super::record::{Kind, Link};
use super::typed::key;
use crate::json::Object;

/// An operation of the queue, with what tells its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Waits from here on; `notice` when a program wrote it.
    Enqueue { key: Option<u64>, notice: bool },
    /// Went to the agent inside the turn.
    Remove(Option<u64>),
    /// Comes again as a user record.
    Dequeue(Option<u64>),
    /// Went back into the editor.
    PopAll(Option<u64>),
}

impl Operation {
    pub(super) fn read(object: &Object<'_>) -> Option<Operation> {
        let content = object.str("content");
        let key = content.as_deref().map(key);
        Some(match object.str("operation")?.as_ref() {
            "enqueue" => Operation::Enqueue {
                key,
                notice: content.is_none_or(|text| {
                    let text = text.trim_start();
                    text.is_empty()
                        || text.starts_with("<agent-notification>")
                        || text.starts_with("<task-notification>")
                }),
            },
            "remove" => Operation::Remove(key),
            "dequeue" => Operation::Dequeue(key),
            "popAll" => Operation::PopAll(key),
            _ => return None,
        })
    }
}

/// How a queued text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Waiting,
    Removed(usize),
    Dequeued(usize),
    /// Another record holds it; with the removal that was taken for it.
    Again(Option<usize>),
    Dropped,
}

struct Item {
    at: usize,
    key: Option<u64>,
    notice: bool,
    end: End,
    /// The first compaction while it waited.
    boundary: Option<usize>,
}

/// Which queued texts are messages of their own: for every record the queued
/// ones that stand behind it.
pub(super) fn placed(
    links: &[Link],
    kept: &HashMap<usize, usize>,
    is_main: impl Fn(usize) -> bool,
) -> BTreeMap<usize, Vec<usize>> {
    let mut placed = BTreeMap::new();
    let mut items: Vec<Item> = Vec::new();
    let mut dequeued = false;
    let mut last_prompt = 0;
    for (at, link) in links.iter().enumerate() {
        if let Some(operation) = link.operation {
            dequeued |= matches!(operation, Operation::Dequeue(_));
            operate(&mut items, at, operation);
            continue;
        }
        if !is_main(at) {
            continue;
        }
        match link.kind {
            Kind::Answer | Kind::Results => dequeued = false,
            Kind::Boundary | Kind::Summary => {
                dequeued = false;
                for item in &mut items {
                    item.boundary.get_or_insert(at);
                }
            }
            Kind::Prompt => {
                last_prompt = at;
                let fresh = link.is_typed && !dequeued;
                claim(&mut items, link, fresh);
                if fresh {
                    settle(&items, at, last_prompt, kept, &mut placed);
                    items.clear();
                }
            }
            Kind::Note | Kind::Other => {}
        }
    }
    settle(&items, links.len(), last_prompt, kept, &mut placed);
    if placed.is_empty() {
        return placed;
    }
    behind_results(links, placed)
}

/// Whether operations come before anything shows what waited when the links
/// began.
pub(super) fn is_unsettled(links: &[Link]) -> bool {
    for (at, link) in links.iter().enumerate() {
        match link.operation {
            Some(Operation::Enqueue { .. }) => {}
            Some(_) => return true,
            None if at > 0 && link.is_typed => return false,
            None => {}
        }
    }
    false
}

fn operate(items: &mut Vec<Item>, at: usize, operation: Operation) {
    let (key, end) = match operation {
        Operation::Enqueue { key, notice } => {
            items.push(Item {
                at,
                key,
                notice,
                end: End::Waiting,
                boundary: None,
            });
            return;
        }
        Operation::Remove(key) => (key, End::Removed(at)),
        Operation::Dequeue(key) => (key, End::Dequeued(at)),
        Operation::PopAll(key) => (key, End::Dropped),
    };
    let waits = |item: &Item| item.end == End::Waiting;
    let named = items
        .iter()
        .position(|item| waits(item) && key.is_some() && item.key == key);
    if let Some(item) = named.or_else(|| items.iter().position(waits)) {
        items[item].end = end;
    }
}

/// A record that repeats a queued text. A prompt that was not queued may
/// happen to repeat one that the agent already got.
fn claim(items: &mut [Item], link: &Link, fresh: bool) {
    let repeated = items.iter_mut().find(|item| {
        item.key == link.said
            && match item.end {
                End::Waiting | End::Dequeued(_) => true,
                End::Removed(_) => !fresh,
                End::Again(_) | End::Dropped => false,
            }
    });
    if let Some(item) = repeated {
        item.end = End::Again(match item.end {
            End::Removed(at) => Some(at),
            _ => None,
        });
    }
}

fn settle(
    items: &[Item],
    before: usize,
    last_prompt: usize,
    kept: &HashMap<usize, usize>,
    placed: &mut BTreeMap<usize, Vec<usize>>,
) {
    // Removals that were another text's.
    let mut removals = items.iter().filter_map(|item| match item.end {
        End::Again(removal) => removal,
        _ => None,
    });
    for item in items {
        let left = || {
            // What a compaction keeps is read without what was before it.
            let boundary = item.boundary.map(|boundary| match kept.get(&boundary) {
                Some(&head) if item.at < head => head,
                _ => boundary,
            });
            boundary.map_or(before, |boundary| boundary.min(before)) - 1
        };
        let behind = match item.end {
            End::Removed(at) => at,
            End::Waiting => left(),
            End::Dequeued(at) => match removals.next() {
                Some(removal) => removal.max(item.at),
                None if last_prompt < at => left(),
                None => continue,
            },
            End::Again(_) | End::Dropped => continue,
        };
        if !item.notice {
            placed.entry(behind).or_default().push(item.at);
        }
    }
}

/// Moves what would stand between a call and its result.
fn behind_results(
    links: &[Link],
    placed: BTreeMap<usize, Vec<usize>>,
) -> BTreeMap<usize, Vec<usize>> {
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, link) in links.iter().enumerate() {
        calls.extend(link.calls.iter().map(|(id, _)| (&**id, at)));
        let called = link.answers.iter().filter_map(|id| calls.get(&**id));
        spans.extend(called.min().map(|&call| (call, at)));
    }
    let mut moved: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (mut at, items) in placed {
        while let Some(&(_, result)) = spans
            .iter()
            .find(|(call, result)| *call <= at && at < *result)
        {
            at = result;
        }
        moved.entry(at).or_default().extend(items);
    }
    for items in moved.values_mut() {
        items.sort_unstable();
    }
    moved
}
