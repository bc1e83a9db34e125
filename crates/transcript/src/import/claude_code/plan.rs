//! Which records of a Claude Code file are the conversation.
//!
//! Records link through `parentUuid`, but the links alone are not the
//! conversation: parallel tool calls make the chain fork, so that walking it
//! loses results; a compaction starts a new root; rewinding leaves branches.
//! The plan walks back from the last message, then adds what belongs to it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::queue;
use super::record::{Kind, Link, Shell};
use crate::fault::{Fault, FaultKind};

/// How much of the file the links cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// From the latest compaction (or the first entry it kept) to the end.
    FromBoundary,
}

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// On the path.
    Path,
    /// On a branch that was left.
    Branch,
    /// In the conversation of a subagent.
    Sidechain,
    /// Nothing that the model sees.
    Aside,
    /// A copy of an earlier record.
    Copy,
}

/// What becomes of every record, by its position.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) fates: Vec<Fate>,
    /// For every record the first one of its native entry, which is itself
    /// unless several records make one entry.
    pub(super) first: Vec<usize>,
    /// For the first record of an entry the last one.
    pub(super) last: Vec<usize>,
    /// For a boundary the first record it kept.
    pub(super) kept: HashMap<usize, usize>,
    /// Tools by the id of their call.
    pub(super) tools: HashMap<Box<str>, Box<str>>,
    /// For every record the queued texts that stand behind it.
    pub(super) queued: BTreeMap<usize, Vec<usize>>,
    pub(super) faults: Vec<Fault>,
}

impl Plan {
    /// Makes the plan; `None` when the extent is too small to know.
    pub(super) fn make(links: &mut [Link], extent: Extent, sidechain_file: bool) -> Option<Plan> {
        let mut plan = Plan {
            fates: vec![Fate::Aside; links.len()],
            first: (0..links.len()).collect(),
            last: (0..links.len()).collect(),
            ..Plan::default()
        };
        plan.drop_copies(links);
        plan.group(links);
        let links = &*links;
        let path = Walk::new(links, &plan, extent, sidechain_file).run()?;
        plan.faults.extend(path.faults);
        plan.kept = path.kept;
        for (at, link) in links.iter().enumerate() {
            if plan.fates[at] == Fate::Copy {
                continue;
            }
            let first = plan.first[at];
            let spoken = link.kind.is_message()
                || (link.kind == Kind::Boundary && plan.last[first] != first);
            plan.fates[at] = if !spoken {
                Fate::Aside
            } else if path.included[at] {
                Fate::Path
            } else if link.is_sidechain != sidechain_file {
                Fate::Sidechain
            } else {
                Fate::Branch
            };
            for (id, name) in &link.calls {
                plan.tools.insert(id.clone(), name.clone());
            }
        }
        plan.queued = queue::placed(links, &plan.kept, |at| {
            links[at].is_sidechain == sidechain_file && plan.fates[at] != Fate::Copy
        });
        Some(plan)
    }

    /// Resumed sessions hold copies of records. Another record with a known
    /// uuid is no copy: it stays, without the uuid.
    fn drop_copies(&mut self, links: &mut [Link]) {
        let mut seen: HashMap<Box<str>, u64> = HashMap::new();
        for (at, link) in links.iter_mut().enumerate() {
            let Some(uuid) = &link.uuid else { continue };
            match seen.get(uuid) {
                None => {
                    seen.insert(uuid.clone(), link.content);
                }
                Some(content) if *content == link.content => self.fates[at] = Fate::Copy,
                Some(_) => {
                    self.faults.push(Fault {
                        line: link.line,
                        offset: link.offset,
                        kind: FaultKind::DuplicateId {
                            id: uuid.to_string(),
                        },
                    });
                    link.uuid = None;
                }
            }
        }
    }

    /// Finds the records that make one native entry: the blocks of an answer,
    /// a boundary and its summary, a shell command and its output.
    fn group(&mut self, links: &[Link]) {
        let mut answers: HashMap<(bool, &str), usize> = HashMap::new();
        let mut boundary: [Option<usize>; 2] = [None, None];
        let mut command: Option<usize> = None;
        for (at, link) in links.iter().enumerate() {
            if self.fates[at] == Fate::Copy {
                continue;
            }
            let side = link.is_sidechain;
            match link.kind {
                Kind::Answer => {
                    boundary[usize::from(side)] = None;
                    if let Some(answer) = &link.answer {
                        let first = *answers.entry((side, answer)).or_insert(at);
                        self.join(first, at);
                    }
                }
                Kind::Summary => {
                    if let Some(first) = boundary[usize::from(side)].take() {
                        self.join(first, at);
                    }
                }
                Kind::Boundary => {
                    boundary[usize::from(side)] = Some(at);
                    answers.retain(|(of, _), _| *of != side);
                }
                Kind::Prompt => {
                    // An answer does not go on after the next prompt; an id
                    // that comes again later is another answer.
                    boundary[usize::from(side)] = None;
                    answers.retain(|(of, _), _| *of != side);
                    match link.shell {
                        Shell::Command => command = Some(at),
                        Shell::Output => {
                            if let Some(first) = command.take() {
                                self.join(first, at);
                            }
                        }
                        Shell::No => command = None,
                    }
                }
                Kind::Results => boundary[usize::from(side)] = None,
                Kind::Note | Kind::Other => {}
            }
        }
    }

    fn join(&mut self, first: usize, at: usize) {
        self.first[at] = first;
        self.last[first] = at;
    }
}

/// The path being found.
struct Walk<'a> {
    links: &'a [Link],
    plan: &'a Plan,
    extent: Extent,
    sidechain_file: bool,
    by_uuid: HashMap<&'a str, usize>,
    /// Boundaries by the last record they kept.
    tails: HashMap<usize, usize>,
    found: Found,
}

#[derive(Default)]
struct Found {
    included: Vec<bool>,
    kept: HashMap<usize, usize>,
    faults: Vec<Fault>,
}

impl<'a> Walk<'a> {
    fn new(links: &'a [Link], plan: &'a Plan, extent: Extent, sidechain_file: bool) -> Self {
        let by_uuid: HashMap<&str, usize> = links
            .iter()
            .enumerate()
            .filter(|(at, _)| plan.fates[*at] != Fate::Copy)
            .filter_map(|(at, link)| Some((link.uuid.as_deref()?, at)))
            .collect();
        let mut walk = Walk {
            links,
            plan,
            extent,
            sidechain_file,
            by_uuid,
            tails: HashMap::new(),
            found: Found {
                included: vec![false; links.len()],
                ..Found::default()
            },
        };
        walk.find_kept();
        walk
    }

    fn find_kept(&mut self) {
        for (at, link) in self.links.iter().enumerate() {
            let Some(kept) = &link.kept else { continue };
            if self.summary_of(at).is_none() {
                continue;
            }
            if let (Some(&head), Some(&tail)) =
                (self.by_uuid.get(&*kept.head), self.by_uuid.get(&*kept.tail))
                && head <= tail
                && tail < at
            {
                self.found.kept.insert(at, head);
                self.tails.insert(tail, at);
            }
        }
    }

    fn summary_of(&self, boundary: usize) -> Option<usize> {
        let last = self.plan.last[boundary];
        (last != boundary).then_some(last)
    }

    fn is_main(&self, at: usize) -> bool {
        self.links[at].is_sidechain == self.sidechain_file && self.plan.fates[at] != Fate::Copy
    }

    fn run(mut self) -> Option<Found> {
        let leaf = (0..self.links.len())
            .rev()
            .find(|&at| self.is_main(at) && self.links[at].kind.is_message());
        let mut from = None;
        let mut next = leaf;
        let mut met_boundary = false;
        while let Some(at) = next {
            if self.found.included[at] {
                break;
            }
            self.found.included[at] = true;
            if let Some(&boundary) = self.tails.get(&at)
                && from.is_some_and(|from| from > boundary)
            {
                // Messages after a compaction that kept a part may follow that
                // part directly, passing the compaction by.
                self.include_pair(boundary);
                met_boundary = true;
            }
            met_boundary |= match self.links[at].kind {
                Kind::Boundary => self.summary_of(at).is_some(),
                Kind::Summary => self.plan.first[at] == at,
                _ => false,
            };
            next = self.parent(at)?;
            from = Some(at);
        }
        if self.extent == Extent::FromBoundary && !met_boundary {
            return None;
        }
        self.complete();
        Some(self.found)
    }

    fn include_pair(&mut self, boundary: usize) {
        self.found.included[boundary] = true;
        if let Some(summary) = self.summary_of(boundary) {
            self.found.included[summary] = true;
        }
    }

    /// The record before one; the outer `None` when only the whole file tells.
    fn parent(&mut self, at: usize) -> Option<Option<usize>> {
        let link = &self.links[at];
        let first = self.plan.first[at];
        if link.kind == Kind::Summary && first != at {
            return Some(Some(first));
        }
        if link.kind == Kind::Boundary && self.summary_of(at).is_some() {
            self.include_pair(at);
            if self.found.kept.contains_key(&at) {
                let tail = link
                    .kept
                    .as_ref()
                    .and_then(|kept| self.by_uuid.get(&*kept.tail));
                return Some(tail.copied());
            }
            if self.extent == Extent::FromBoundary {
                return Some(None);
            }
        }
        if self.extent == Extent::FromBoundary && self.found.kept.values().any(|head| *head == at) {
            return Some(None);
        }
        if self.extent == Extent::FromBoundary && link.kind == Kind::Summary {
            return Some(None);
        }
        match &link.parent {
            Some(parent) => match self.by_uuid.get(&**parent) {
                Some(&parent) => Some(Some(parent)),
                None if self.extent == Extent::FromBoundary => None,
                // A boundary's logical parent is often a record that is never
                // written.
                None if link.kind == Kind::Boundary => Some(self.previous(at)),
                None => {
                    // A line that was lost must not take along what came
                    // before it.
                    self.found.faults.push(Fault {
                        line: link.line,
                        offset: link.offset,
                        kind: FaultKind::MissingParent {
                            id: link.uuid.as_deref().unwrap_or_default().into(),
                            parent: parent.to_string(),
                        },
                    });
                    Some(self.previous(at))
                }
            },
            // Older versions wrote no boundary, only a summary without a parent.
            None if matches!(link.kind, Kind::Summary | Kind::Boundary) => match self.extent {
                Extent::Whole => Some(self.previous(at)),
                Extent::FromBoundary => Some(None),
            },
            None => Some(None),
        }
    }

    fn previous(&self, at: usize) -> Option<usize> {
        (0..at)
            .rev()
            .find(|&before| self.is_main(before) && self.links[before].kind.is_message())
    }

    /// Adds the other blocks of the answers on the path, and the results of
    /// their calls.
    fn complete(&mut self) {
        let answers: HashSet<usize> = (0..self.links.len())
            .filter(|&at| self.found.included[at] && self.links[at].kind == Kind::Answer)
            .map(|at| self.plan.first[at])
            .collect();
        let mut open: HashMap<&str, usize> = HashMap::new();
        let mut answered: HashSet<&str> = HashSet::new();
        for (at, link) in self.links.iter().enumerate() {
            if self.plan.fates[at] == Fate::Copy {
                continue;
            }
            match link.kind {
                Kind::Answer if answers.contains(&self.plan.first[at]) => {
                    self.found.included[at] = true;
                    open.extend(link.calls.iter().map(|(id, _)| (&**id, at)));
                }
                Kind::Results if self.found.included[at] => {
                    answered.extend(link.answers.iter().map(|id| &**id));
                }
                _ => {}
            }
        }
        for (at, link) in self.links.iter().enumerate() {
            if link.kind == Kind::Results
                && self.is_main(at)
                && link.answers.iter().any(|id| {
                    open.get(&**id).is_some_and(|call| *call < at) && !answered.contains(&**id)
                })
            {
                self.found.included[at] = true;
                answered.extend(link.answers.iter().map(|id| &**id));
            }
        }
    }
}
