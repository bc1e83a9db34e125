//! The tree of a session: every entry's place and parent, the leaf, the labels.
//!
//! pi's tree is what the file says: parents as stored, the last entry is the
//! leaf. OpenClaw's file also holds movements of the leaf (`leaf`), fences
//! (`reset`), entries beside the path (`appendMode: "side"`) and records that
//! only link (`Link`), so its tree is replayed record by record.

use std::collections::{HashMap, HashSet};

use crate::entry::{Entry, EntryId, EntryType, Place};
use crate::fault::{Fault, FaultKind};
use crate::header::Header;
use crate::json::Object;
use crate::layout::{Dialect, stated, synthetic_id};
use crate::lines::Record;
use crate::load::Resets;
use crate::time::Millis;

/// One entry's place in the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its id.
    pub id: EntryId,
    /// The parent it states.
    pub parent: Option<EntryId>,
    /// Its type.
    pub kind: EntryType,
    /// Where it is stored.
    pub place: Place,
    /// When it was written.
    pub time: Option<Millis>,
    /// What it points at (edited, labelled, first kept or leaf target).
    pub pointer: Option<EntryId>,
    /// The parent that counts, where OpenClaw's rules hang it elsewhere.
    rehung: Option<Option<EntryId>>,
    role: Role,
}

/// What a record is for OpenClaw's replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A node that can be on a path.
    Canonical,
    /// A record that only links its children to its parent.
    Link,
    /// Neither.
    Ignored,
}

impl Node {
    /// The parent that counts for paths.
    pub fn effective_parent(&self) -> Option<&EntryId> {
        match &self.rehung {
            Some(parent) => parent.as_ref(),
            None => self.parent.as_ref(),
        }
    }
}

/// The whole tree of a session.
#[derive(Debug)]
pub struct Tree {
    dialect: Dialect,
    /// Whether `reset` or `leaf` entries decide about the path.
    moved: bool,
    nodes: Vec<Node>,
    by_id: HashMap<EntryId, usize>,
    leaf: Option<usize>,
    labels: HashMap<EntryId, String>,
    faults: Vec<Fault>,
}

impl Tree {
    /// Whose rules made it.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// All entries in stored order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The entry with this id.
    pub fn get(&self, id: &EntryId) -> Option<&Node> {
        self.by_id.get(id).map(|&at| &self.nodes[at])
    }

    /// The current leaf.
    pub fn leaf(&self) -> Option<&Node> {
        self.leaf.map(|at| &self.nodes[at])
    }

    /// Labels by the entry they name, latest first served.
    pub fn labels(&self) -> &HashMap<EntryId, String> {
        &self.labels
    }

    /// What is wrong with the file and the tree.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    pub(crate) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    pub(crate) fn resets(&self) -> Resets {
        if self.moved {
            Resets::Honoured
        } else {
            Resets::Ignored
        }
    }

    /// The entry a first-kept id means: itself, or what OpenClaw takes for it
    /// when it names a record that cannot be on a path.
    pub(crate) fn resolve_kept(&self, id: &EntryId, path: &[usize]) -> Option<EntryId> {
        let mut at = *self.by_id.get(id)?;
        let mut seen = HashSet::new();
        while seen.insert(at) {
            let node = &self.nodes[at];
            match node.role {
                Role::Canonical => return Some(node.id.clone()),
                Role::Ignored => break,
                Role::Link => {}
            }
            match node.effective_parent().and_then(|id| self.by_id.get(id)) {
                Some(&parent) => at = parent,
                None => break,
            }
        }
        path.iter()
            .map(|&at| &self.nodes[at])
            .find(|node| node.place.offset > self.nodes[self.by_id[id]].place.offset)
            .map(|node| node.id.clone())
    }

    /// Indices into [`nodes`](Self::nodes) from the root to the leaf.
    pub fn path(&self) -> Vec<usize> {
        self.leaf.map(|leaf| self.climb(leaf)).unwrap_or_default()
    }

    /// Indices from the root to an entry.
    pub fn path_to(&self, id: &EntryId) -> Option<Vec<usize>> {
        self.by_id.get(id).map(|&at| self.climb(at))
    }

    /// Entries whose id starts with `prefix`.
    pub fn with_prefix(&self, prefix: &str) -> Vec<&Node> {
        self.nodes
            .iter()
            .filter(|node| node.id.as_str().starts_with(prefix))
            .collect()
    }

    /// How many entries nothing follows.
    pub fn tips(&self) -> usize {
        let mut followed = vec![false; self.nodes.len()];
        for parent in self.nodes.iter().filter_map(Node::effective_parent) {
            if let Some(&at) = self.by_id.get(parent) {
                followed[at] = true;
            }
        }
        let followed = |node: &Node| followed[self.by_id[&node.id]];
        self.nodes.iter().filter(|node| !followed(node)).count()
    }

    fn climb(&self, from: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut seen = HashSet::new();
        let mut at = Some(from);
        while let Some(index) = at {
            if !seen.insert(index) {
                break;
            }
            let node = &self.nodes[index];
            match node.role {
                _ if !self.moved => path.push(index),
                Role::Canonical => path.push(index),
                Role::Link => {}
                Role::Ignored => break,
            }
            at = node
                .effective_parent()
                .and_then(|parent| self.by_id.get(parent))
                .copied();
        }
        path.reverse();
        path
    }
}

/// Where the entries of a tree stand on its path.
pub(crate) struct OnPath<'t> {
    pub(crate) tree: &'t Tree,
    /// The nodes on it, from the root to the leaf.
    pub(crate) entries: Vec<usize>,
    /// Where each node stands among them.
    positions: Vec<u32>,
}

/// The position of a node that is not on the path.
const ELSEWHERE: u32 = u32::MAX;

impl<'t> OnPath<'t> {
    pub(crate) fn new(tree: &'t Tree) -> OnPath<'t> {
        let entries = tree.path();
        let mut positions = vec![ELSEWHERE; tree.nodes.len()];
        for (position, at) in (0..ELSEWHERE).zip(&entries) {
            positions[*at] = position;
        }
        OnPath {
            tree,
            entries,
            positions,
        }
    }

    pub(crate) fn position(&self, id: &EntryId) -> Option<usize> {
        let position = self.positions[*self.tree.by_id.get(id)?];
        (position != ELSEWHERE).then_some(position as usize)
    }

    /// Whether there is an entry of a type on it.
    pub(crate) fn has(&self, kind: &EntryType) -> bool {
        let mut kinds = self.entries.iter().map(|at| &self.tree.nodes[*at].kind);
        kinds.any(|on_path| on_path == kind)
    }

    /// Whether all of it is the context, in the order of the file.
    pub(crate) fn is_context(&self) -> bool {
        self.entries.is_sorted()
            && !self.has(&EntryType::Compaction)
            && !self.has(&EntryType::Reset)
    }
}

/// Builds a [`Tree`] from records in stored order.
pub(crate) struct TreeBuilder {
    tree: Tree,
    replay: Replay,
}

/// OpenClaw's state while its records are replayed.
#[derive(Default)]
struct Replay {
    leaf: Option<EntryId>,
    append_parent: Option<EntryId>,
    reset: bool,
    /// The latest reset and everything that descends from it.
    after_reset: HashSet<EntryId>,
    invalid_leaves: HashSet<EntryId>,
}

impl TreeBuilder {
    pub(crate) fn new(dialect: Dialect) -> TreeBuilder {
        TreeBuilder {
            tree: Tree {
                dialect,
                moved: dialect == Dialect::OpenClaw,
                nodes: Vec::new(),
                by_id: HashMap::new(),
                leaf: None,
                labels: HashMap::new(),
                faults: Vec::new(),
            },
            replay: Replay::default(),
        }
    }

    pub(crate) fn add(&mut self, record: &Record<'_>, header: &Header) {
        let (id, parent) = stated(record);
        let id = id.unwrap_or_else(|| synthetic_id(&header.id, record.place.offset));
        self.add_linear(record, id, parent);
    }

    pub(crate) fn add_linear(&mut self, record: &Record<'_>, id: EntryId, parent: Option<EntryId>) {
        self.add_object(&record.object, record.place, id, parent);
    }

    pub(crate) fn add_entry(&mut self, entry: &Entry) {
        let object = Object::of(entry.raw()).unwrap_or_default();
        self.add_object(&object, entry.place, entry.id.clone(), entry.parent.clone());
    }

    fn add_object(
        &mut self,
        object: &Object<'_>,
        place: Place,
        id: EntryId,
        parent: Option<EntryId>,
    ) {
        let kind = EntryType::parse(&object.str("type").unwrap_or_default());
        let role = role(object, &kind, self.tree.dialect);
        // pi writes neither type, so OpenClaw did, and its rules for them count.
        if matches!(kind, EntryType::Reset | EntryType::Leaf) && role != Role::Ignored {
            self.tree.moved = true;
        }
        let pointer = ["firstKeptEntryId", "targetId", "boundaryMessageId"]
            .into_iter()
            .find_map(|key| object.str(key))
            .map(|target| EntryId::new(target.into_owned()));
        if self.tree.by_id.contains_key(&id) {
            self.tree.faults.push(Fault {
                line: place.line,
                offset: place.offset,
                kind: FaultKind::DuplicateId { id: id.to_string() },
            });
        }
        let node = Node {
            role,
            time: object.raw("timestamp").and_then(Millis::parse_json),
            place,
            rehung: None,
            parent,
            pointer,
            kind,
            id,
        };
        if node.kind == EntryType::Label
            && let Some(target) = &node.pointer
        {
            match object.str("label").filter(|label| !label.is_empty()) {
                Some(label) => self.tree.labels.insert(target.clone(), label.into_owned()),
                None => self.tree.labels.remove(target),
            };
        }
        let stated_parent = object.has("parentId");
        let side = object.str("appendMode").as_deref() == Some("side");
        let append_parent = object.has("appendParentId").then(|| {
            object
                .str("appendParentId")
                .map(|s| EntryId::new(s.into_owned()))
        });
        let at = self.tree.nodes.len();
        self.tree.by_id.insert(node.id.clone(), at);
        self.tree.nodes.push(node);
        self.replay(at, stated_parent, side, append_parent);
    }

    /// One step of OpenClaw's replay. Runs for every file, because a pi file
    /// may turn out to be OpenClaw's only at its last line.
    fn replay(
        &mut self,
        at: usize,
        stated_parent: bool,
        side: bool,
        append_parent: Option<Option<EntryId>>,
    ) {
        let node = &self.tree.nodes[at];
        let id = node.id.clone();
        let parent = node.parent.clone();
        if node.kind == EntryType::Leaf {
            self.move_leaf(at, append_parent);
            return;
        }
        let state = &mut self.replay;
        match node.role {
            Role::Ignored => {}
            Role::Link => {
                if parent
                    .as_ref()
                    .is_some_and(|parent| state.after_reset.contains(parent))
                {
                    state.after_reset.insert(id.clone());
                }
                state.append_parent = Some(id);
            }
            Role::Canonical => {
                let fenced = state.reset
                    && !side
                    && parent
                        .as_ref()
                        .is_none_or(|parent| !state.after_reset.contains(parent));
                let beside =
                    !side && parent == state.append_parent && state.leaf != state.append_parent;
                if fenced || !stated_parent || beside {
                    self.tree.nodes[at].rehung = Some(state.leaf.clone());
                }
                let node = &self.tree.nodes[at];
                if node.kind == EntryType::Reset {
                    state.reset = true;
                    state.after_reset = HashSet::from([id.clone()]);
                } else if state.reset
                    && node
                        .effective_parent()
                        .is_some_and(|parent| state.after_reset.contains(parent))
                {
                    state.after_reset.insert(id.clone());
                }
                state.append_parent = Some(id.clone());
                if !side {
                    state.leaf = Some(id);
                }
            }
        }
    }

    fn move_leaf(&mut self, at: usize, append_parent: Option<Option<EntryId>>) {
        let node = &self.tree.nodes[at];
        let id = node.id.clone();
        let target = node.pointer.clone();
        let known = |id: &Option<EntryId>| match id {
            None => true,
            Some(id) => {
                self.tree
                    .by_id
                    .get(id)
                    .is_some_and(|&at| self.tree.nodes[at].role != Role::Ignored)
                    && !self.replay.invalid_leaves.contains(id)
            }
        };
        if node.role == Role::Ignored
            || !known(&target)
            || append_parent.as_ref().is_some_and(|parent| !known(parent))
        {
            self.replay.invalid_leaves.insert(id);
            return;
        }
        let mut target = self.canonical(target);
        let mut append = append_parent.unwrap_or_else(|| target.clone());
        let state = &mut self.replay;
        if state.reset
            && target
                .as_ref()
                .is_none_or(|target| !state.after_reset.contains(target))
        {
            // The leaf may not go back over the latest reset.
            target = state.leaf.clone();
            append = state.leaf.clone();
        }
        if state.reset
            && target
                .as_ref()
                .is_some_and(|target| state.after_reset.contains(target))
        {
            state.after_reset.insert(id);
        }
        state.leaf = target.clone();
        state.append_parent = append;
        self.tree.nodes[at].rehung = Some(target);
    }

    /// The nearest entry that can be on a path, going up through links.
    fn canonical(&self, mut id: Option<EntryId>) -> Option<EntryId> {
        let mut seen = HashSet::new();
        while let Some(current) = id {
            let node = &self.tree.nodes[*self.tree.by_id.get(&current)?];
            match node.role {
                Role::Canonical => return Some(current),
                Role::Ignored => return None,
                Role::Link => {}
            }
            if !seen.insert(current) {
                return None;
            }
            id = node.effective_parent().cloned();
        }
        None
    }

    pub(crate) fn finish(mut self, faults: Vec<Fault>) -> Tree {
        let mut all = faults;
        all.append(&mut self.tree.faults);
        if self.tree.moved {
            // A label of an entry that is not there is a link, not a node.
            self.tree.leaf = self
                .canonical(self.replay.leaf.clone())
                .and_then(|id| self.tree.by_id.get(&id).copied());
        } else {
            for node in &mut self.tree.nodes {
                node.rehung = None;
            }
            self.tree.leaf = self.tree.nodes.len().checked_sub(1);
        }
        self.tree.faults = all;
        self.check();
        self.tree
    }

    /// Reports what points nowhere.
    fn check(&mut self) {
        let mut faults = Vec::new();
        for node in &self.tree.nodes {
            let mut fault = |kind| {
                faults.push(Fault {
                    line: node.place.line,
                    offset: node.place.offset,
                    kind,
                });
            };
            if let Some(parent) = node.effective_parent()
                && !self.tree.by_id.contains_key(parent)
            {
                fault(FaultKind::MissingParent {
                    id: node.id.to_string(),
                    parent: parent.to_string(),
                });
            }
            if let Some(target) = &node.pointer
                && !self.tree.by_id.contains_key(target)
            {
                fault(FaultKind::DanglingPointer {
                    id: node.id.to_string(),
                    field: pointer_field(&node.kind).into(),
                    target: target.to_string(),
                });
            }
        }
        self.tree.faults.append(&mut faults);
        self.check_circles();
        self.tree.faults.sort_by_key(|fault| fault.offset);
    }

    fn check_circles(&mut self) {
        // 0: not visited, 1: on the current climb, 2: known to reach a root.
        let mut state = vec![0u8; self.tree.nodes.len()];
        for start in 0..self.tree.nodes.len() {
            let mut climb = Vec::new();
            let mut at = Some(start);
            while let Some(index) = at {
                match state[index] {
                    0 => {
                        state[index] = 1;
                        climb.push(index);
                    }
                    1 => {
                        let node = &self.tree.nodes[index];
                        self.tree.faults.push(Fault {
                            line: node.place.line,
                            offset: node.place.offset,
                            kind: FaultKind::Cycle {
                                id: node.id.to_string(),
                            },
                        });
                        break;
                    }
                    _ => break,
                }
                at = self.tree.nodes[index]
                    .effective_parent()
                    .and_then(|parent| self.tree.by_id.get(parent))
                    .copied();
            }
            for index in climb {
                state[index] = 2;
            }
        }
    }
}

fn pointer_field(kind: &EntryType) -> &'static str {
    match kind {
        EntryType::Compaction | EntryType::Reset => "firstKeptEntryId",
        _ => "targetId",
    }
}

fn role(object: &Object<'_>, kind: &EntryType, dialect: Dialect) -> Role {
    let linked = object.str("id").is_some_and(|id| !id.is_empty())
        && matches!(object.raw("parentId"), Some(raw) if raw == "null" || raw.starts_with('"'));
    match kind {
        EntryType::Leaf => {
            let target = object.raw("targetId");
            let mode = object.raw("appendMode");
            if linked
                && matches!(target, Some(raw) if raw == "null" || raw.starts_with('"'))
                && matches!(mode, None | Some("\"side\""))
            {
                Role::Link
            } else {
                Role::Ignored
            }
        }
        // In a file of pi every entry can be on a path.
        _ if dialect != Dialect::OpenClaw => Role::Canonical,
        _ if is_canonical(object) => Role::Canonical,
        _ if linked => Role::Link,
        _ => Role::Ignored,
    }
}

/// Whether OpenClaw takes a record as a node of its tree.
pub(crate) fn is_canonical(object: &Object<'_>) -> bool {
    let text = |key: &str| object.str(key).is_some();
    let filled = |key: &str| object.str(key).is_some_and(|value| !value.is_empty());
    let optional = |key: &str| !object.has(key) || text(key);
    if !filled("id")
        || !(optional("parentId") || object.raw("parentId") == Some("null"))
        || !optional("timestamp")
    {
        return false;
    }
    match object.str("type").unwrap_or_default().as_ref() {
        "message" => object
            .object("message")
            .is_some_and(|message| is_readable(&message)),
        "thinking_level_change" => filled("thinkingLevel"),
        "model_change" => filled("provider") && filled("modelId"),
        "compaction" => {
            text("summary") && filled("firstKeptEntryId") && object.f64("tokensBefore").is_some()
        }
        "reset" => {
            matches!(
                object.str("reason").as_deref(),
                Some("new" | "reset" | "idle" | "daily" | "cron-stale")
            ) && optional("firstKeptEntryId")
        }
        "branch_summary" => text("fromId") && text("summary"),
        "custom" => filled("customType"),
        "custom_message" => {
            filled("customType")
                && is_readable_content(object.raw("content"))
                && object.bool("display").is_some()
        }
        "label" => filled("targetId") && optional("label"),
        "session_info" => optional("name"),
        _ => false,
    }
}

fn is_readable(message: &Object<'_>) -> bool {
    match message.str("role").unwrap_or_default().as_ref() {
        "user" | "assistant" | "custom" => is_readable_content(message.raw("content")),
        "toolResult" => {
            message.str("toolCallId").is_some()
                && message.str("toolName").is_some()
                && message.bool("isError").is_some()
                && message
                    .raw("content")
                    .is_some_and(|raw| raw.starts_with('['))
        }
        "bashExecution" => message.str("command").is_some() && message.str("output").is_some(),
        _ => false,
    }
}

fn is_readable_content(raw: Option<&str>) -> bool {
    match raw {
        Some(raw) if raw.starts_with('"') => true,
        Some(raw) => crate::json::array(raw).is_some_and(|blocks| {
            blocks.iter().all(|block| {
                Object::of(block.get()).is_some_and(|block| block.str("type").is_some())
            })
        }),
        None => false,
    }
}
