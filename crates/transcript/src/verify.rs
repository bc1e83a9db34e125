//! Verifying a session: every line read, every pointer followed, every tool
//! call paired.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use serde::Serialize;

use crate::archive::{each_archived, has_archive, prove};
use crate::context::Context;
use crate::coverage::Coverage;
use crate::entry::{Body, Entry, EntryId, Place};
use crate::error::Result;
use crate::exchange::{Conversation, Piece};
use crate::fault::{Fault, FaultKind};
use crate::message::Role;
use crate::session::Session;

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
    let path: HashSet<EntryId> = tree
        .path()
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let mut report = Report {
        entries: tree.nodes().len() as u64,
        archived: 0,
        on_path: path.len() as u64,
        tips: tree.tips().len() as u64,
        compactions: 0,
        context_messages: 0,
        tool_calls: 0,
        tool_results: 0,
        proven: 0,
        uncovered: 0,
        faults: tree.faults().to_vec(),
    };
    let archived = forgive_archived(session, &mut report)?;
    let mut coverage = Coverage::new(&tree, &archived);
    let mut pairs = Pairs::default();
    let mut places: HashMap<EntryId, Place> = HashMap::new();
    session.each(&mut |entry| {
        if path.contains(&entry.id) {
            places.insert(entry.id.clone(), entry.place);
            if matches!(entry.body, Body::Compaction(_)) {
                report.compactions += 1;
            }
            pairs.observe(&entry);
            coverage.observe(&entry);
        }
        ControlFlow::Continue(())
    })?;
    report.tool_calls = pairs.calls;
    report.tool_results = pairs.results;
    report.faults.append(&mut pairs.finish());
    report.faults.append(&mut coverage.finish());
    let loaded = session.load()?;
    let context = Context::build(&loaded);
    report.context_messages = context.messages.len() as u64;
    for fault in context_faults(context, &places) {
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

/// Calls and results on the path, in order.
#[derive(Default)]
struct Pairs {
    open: HashMap<String, (EntryId, Place)>,
    answered: HashSet<String>,
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
                    self.answered.insert(id);
                } else if !self.answered.contains(&id) {
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

/// What a provider would refuse in the context itself.
fn context_faults(context: Context, places: &HashMap<EntryId, Place>) -> Vec<Fault> {
    let conversation = Conversation::new(context.messages);
    let fault = |id: &EntryId, kind| {
        let place = places.get(id).copied().unwrap_or_default();
        Fault {
            line: place.line,
            offset: place.offset,
            kind,
        }
    };
    let mut faults: Vec<Fault> = conversation
        .orphans()
        .iter()
        .map(|message| {
            fault(
                &message.entry,
                FaultKind::OrphanResult {
                    id: message.entry.to_string(),
                    call: message
                        .view()
                        .tool_call_id()
                        .unwrap_or_default()
                        .into_owned(),
                },
            )
        })
        .collect();
    let pieces = conversation.pieces();
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Exchange(exchange) = piece else {
            continue;
        };
        if at + 1 == pieces.len() || !exchange.answer().view().is_settled() {
            continue;
        }
        for call in exchange.calls().iter().filter(|call| call.result.is_none()) {
            faults.push(fault(
                &exchange.answer().entry,
                FaultKind::UnansweredCall {
                    id: exchange.answer().entry.to_string(),
                    call: call.id.clone(),
                },
            ));
        }
    }
    faults
}
