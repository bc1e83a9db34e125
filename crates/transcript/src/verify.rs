//! Verifying a session: every line read, every pointer followed, every tool
//! call paired.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

use serde::Serialize;

use crate::archive::{each_archived, has_archive, prove};
use crate::context::{Context, ContextMessage, shown};
use crate::coverage::Coverage;
use crate::entry::{Body, ContextEdit, Entry, EntryId, EntryType, Place};
use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::message::Role;
use crate::session::Session;
use crate::tree::{OnPath, Tree};

/// What a verification found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Entries in the file.
    pub entries: u64,
    /// Entries in the archive beside it.
    pub archived: u64,
    /// Entries on the path to the leaf.
    pub on_path: u64,
    /// Ends of branches, the leaf among them.
    pub tips: u64,
    /// Compactions on the path.
    pub compactions: u64,
    /// Messages in the context.
    pub context_messages: u64,
    /// Tool calls on the path.
    pub tool_calls: u64,
    /// Tool results on the path.
    pub tool_results: u64,
    /// Marks whose hash of every line before them is the right one.
    pub proven: u64,
    /// Lines from the last mark on, or all where there is none: what is changed
    /// there is not found.
    pub uncovered: u64,
    /// Everything that is wrong.
    pub faults: Vec<Fault>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Reads the whole session and checks it.
pub fn verify(session: &Session) -> Result<Report> {
    let tree = session.tree()?;
    let path = OnPath::new(&tree);
    let mut report = Report {
        entries: tree.nodes().len() as u64,
        archived: 0,
        on_path: path.entries.len() as u64,
        tips: tree.tips() as u64,
        compactions: 0,
        context_messages: 0,
        tool_calls: 0,
        tool_results: 0,
        proven: 0,
        uncovered: 0,
        faults: tree.faults().to_vec(),
    };
    let archived = forgive_archived(session, &mut report)?;
    let mut coverage = Coverage::new(&path, &archived);
    let mut pairs = Pairs::default();
    // Where nothing sets a boundary the context is the path, and need not be held.
    let streamed = session.lines_end()?.is_some() && path.is_context();
    let mut exchanges = Exchanges::default();
    let edits = match streamed && path.has(&EntryType::ContextEdit) {
        true => edits_of(session, &path)?,
        false => HashMap::new(),
    };
    session.each(&mut |entry| {
        if path.position(&entry.id).is_some() {
            if matches!(entry.body, Body::Compaction(_)) {
                report.compactions += 1;
            }
            pairs.observe(&entry);
            coverage.observe(&entry);
            // Of two with one id, the tree holds one.
            let node = tree.get(&entry.id);
            if streamed && node.is_some_and(|node| node.place == entry.place) {
                let shown = shown(&entry, tree.dialect(), edits.get(&entry.id));
                shown.iter().for_each(|message| exchanges.observe(message));
            }
        }
        ControlFlow::Continue(())
    })?;
    report.tool_calls = pairs.calls;
    report.tool_results = pairs.results;
    report.faults.append(&mut pairs.finish());
    report.faults.append(&mut coverage.finish());
    if !streamed {
        let context = Context::build(&session.load()?);
        let messages = context.messages.iter();
        messages.for_each(|message| exchanges.observe(message));
    }
    report.context_messages = exchanges.messages;
    for fault in exchanges.finish(&tree) {
        if !report.faults.contains(&fault) {
            report.faults.push(fault);
        }
    }
    prove_marks(session, &mut report)?;
    report
        .faults
        .sort_by_key(|fault| (fault.line, fault.offset));
    Ok(report)
}

/// The edits on the path, of each entry the last.
fn edits_of(session: &Session, path: &OnPath<'_>) -> Result<HashMap<EntryId, ContextEdit>> {
    let mut edits = HashMap::new();
    session.each(&mut |entry| {
        if let Body::ContextEdit(edit) = entry.body
            && path.position(&entry.id).is_some()
        {
            edits.insert(edit.target.clone(), edit);
        }
        ControlFlow::Continue(())
    })?;
    Ok(edits)
}

/// Only a session of our own format can have marks of ours.
fn prove_marks(session: &Session, report: &mut Report) -> Result<()> {
    if !session.format().is_writable() {
        return Ok(());
    }
    let proving = prove(session.path(), &session.header().id)?;
    report.proven = proving.proven;
    report.uncovered = proving.uncovered;
    let altered = proving.broken.into_iter().map(|broken| Fault {
        line: broken.first.line,
        offset: broken.first.offset,
        kind: FaultKind::Altered {
            after: broken.after.map(|mark| mark.to_string()),
            mark: broken.mark.to_string(),
            mark_line: broken.mark_at.line,
            archived: broken.first.archived,
        },
    });
    report.faults.extend(altered);
    Ok(())
}

/// An entry that the archive holds is not missing. The archive is read to
/// prove it.
fn forgive_archived(session: &Session, report: &mut Report) -> Result<HashSet<String>> {
    let mut archived: HashSet<String> = HashSet::new();
    if !has_archive(session.path()) {
        return Ok(archived);
    }
    let mut faults = each_archived(session.path(), &mut |entry| {
        if matches!(entry.body, Body::Compaction(_)) {
            report.compactions += 1;
        }
        archived.insert(entry.id.to_string());
        ControlFlow::Continue(())
    })?;
    report.archived = archived.len() as u64;
    report.faults.retain(|fault| match &fault.kind {
        FaultKind::MissingParent { parent, .. } => !archived.contains(parent),
        FaultKind::DanglingPointer { target, .. } => !archived.contains(target),
        _ => true,
    });
    report.faults.append(&mut faults);
    Ok(archived)
}

fn hash_of(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Calls and results on the path, in order.
#[derive(Default)]
struct Pairs {
    open: HashMap<String, (EntryId, Place)>,
    /// Hashes of the calls that have a result: there may be many.
    answered: HashSet<u64>,
    faults: Vec<Fault>,
    /// Calls that had no result when the next message came.
    late: Vec<String>,
    calls: u64,
    results: u64,
}

impl Pairs {
    fn observe(&mut self, entry: &Entry) {
        let Some(message) = entry.message() else {
            return;
        };
        match message.role {
            Role::Assistant => {
                self.late = self.open.keys().cloned().collect();
                // A broken answer's calls were never run.
                if !message.is_settled() {
                    return;
                }
                for call in message.tool_calls() {
                    self.calls += 1;
                    self.open
                        .insert(call.id.into_owned(), (entry.id.clone(), entry.place));
                }
            }
            Role::User => self.late = self.open.keys().cloned().collect(),
            Role::ToolResult => {
                self.results += 1;
                let id = message.tool_call_id().unwrap_or_default().into_owned();
                if self.open.remove(&id).is_some() {
                    self.answered.insert(hash_of(&id));
                } else if !self.answered.contains(&hash_of(&id)) {
                    self.faults.push(Fault {
                        line: entry.place.line,
                        offset: entry.place.offset,
                        kind: FaultKind::OrphanResult {
                            id: entry.id.to_string(),
                            call: id,
                        },
                    });
                }
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Vec<Fault> {
        for call in self.late {
            if let Some((id, place)) = self.open.remove(&call) {
                self.faults.push(Fault {
                    line: place.line,
                    offset: place.offset,
                    kind: FaultKind::UnansweredCall {
                        id: id.to_string(),
                        call,
                    },
                });
            }
        }
        self.faults
    }
}

/// What a provider would refuse in the context itself, message by message.
#[derive(Default)]
struct Exchanges {
    messages: u64,
    /// Messages up to the last one that is no result.
    spoken: u64,
    /// Answers by the calls that wait for a result, oldest first.
    open: HashMap<String, VecDeque<u64>>,
    answers: BTreeMap<u64, Answer>,
    orphans: Vec<(EntryId, String)>,
}

/// An answer with calls that have no result.
struct Answer {
    entry: EntryId,
    is_settled: bool,
    calls: Vec<String>,
    /// Messages up to the last of its results.
    end: u64,
}

impl Exchanges {
    fn observe(&mut self, message: &ContextMessage) {
        self.messages += 1;
        let at = self.messages;
        if message.role != Role::ToolResult {
            self.spoken = at;
        }
        match message.role {
            Role::Assistant => {
                let view = message.view();
                let calls = view.tool_calls().into_iter();
                let calls: Vec<String> = calls.map(|call| call.id.into_owned()).collect();
                for call in &calls {
                    self.open.entry(call.clone()).or_default().push_back(at);
                }
                if !calls.is_empty() {
                    let answer = Answer {
                        entry: message.entry.clone(),
                        is_settled: view.is_settled(),
                        calls,
                        end: at,
                    };
                    self.answers.insert(at, answer);
                }
            }
            Role::ToolResult => {
                let call = message
                    .view()
                    .tool_call_id()
                    .unwrap_or_default()
                    .into_owned();
                if !self.claim(&call) {
                    self.orphans.push((message.entry.clone(), call));
                }
            }
            _ => {}
        }
    }

    /// Gives a result to the oldest call of its id that waits for one.
    fn claim(&mut self, call: &str) -> bool {
        let Some(waiting) = self.open.get_mut(call) else {
            return false;
        };
        let answer = waiting.pop_front();
        if waiting.is_empty() {
            self.open.remove(call);
        }
        let Some(at) = answer else {
            return false;
        };
        if let Some(answer) = self.answers.get_mut(&at) {
            answer.end = self.messages;
            if let Some(at) = answer.calls.iter().position(|open| open == call) {
                answer.calls.remove(at);
            }
            if answer.calls.is_empty() {
                self.answers.remove(&at);
            }
        }
        true
    }

    fn finish(self, tree: &Tree) -> Vec<Fault> {
        let fault = |id: &EntryId, kind| {
            let place = tree.get(id).map(|node| node.place).unwrap_or_default();
            Fault {
                line: place.line,
                offset: place.offset,
                kind,
            }
        };
        let orphans = self.orphans.into_iter().map(|(entry, call)| {
            let id = entry.to_string();
            fault(&entry, FaultKind::OrphanResult { id, call })
        });
        let mut faults: Vec<Fault> = orphans.collect();
        for answer in self.answers.into_values() {
            // The last of all may still get its results.
            if answer.is_settled && self.spoken > answer.end {
                let id = answer.entry.to_string();
                faults.extend(answer.calls.into_iter().map(|call| {
                    let id = id.clone();
                    fault(&answer.entry, FaultKind::UnansweredCall { id, call })
                }));
            }
        }
        faults
    }
}
