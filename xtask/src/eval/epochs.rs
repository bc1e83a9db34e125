//! A session as calls of a model: what each was sent, as far as reported.

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_engine::measure;
use longhaul_tokens::Usage;
use longhaul_transcript::{Body, Context, ContextMessage, EntryId, Role, Session};

use crate::Result;

/// From one call of the model to the next, with no compaction between them.
pub(super) struct Step {
    /// The first call's answer.
    pub(super) answer: ContextMessage,
    /// What was added after it.
    pub(super) added: Vec<ContextMessage>,
    /// The first call's reported usage.
    pub(super) before: Usage,
    /// The next call's reported usage.
    pub(super) after: Usage,
    /// The next call's model.
    pub(super) model: String,
}

/// The steps of a whole session, in order.
pub(super) fn steps(session: &Session) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    for leaf in ends_of_epochs(session)? {
        let loaded = session.load_at(&leaf)?;
        // What a compaction kept was answered before it, in another context.
        let kept: HashSet<&EntryId> = loaded.entries[..loaded.boundary.map_or(0, |at| at + 1)]
            .iter()
            .map(|entry| &entry.id)
            .collect();
        let mut last: Option<(ContextMessage, Usage)> = None;
        let mut added = Vec::new();
        for message in Context::build(&loaded).messages {
            if kept.contains(&message.entry) {
                continue;
            }
            match reported(&message) {
                Some(after) => {
                    let model = message.view().model().unwrap_or_default().into_owned();
                    if let Some((answer, before)) = last.replace((message, after)) {
                        steps.push(Step {
                            answer,
                            added: std::mem::take(&mut added),
                            before,
                            after,
                            model,
                        });
                    }
                    added.clear();
                }
                None => added.push(message),
            }
        }
    }
    Ok(steps)
}

/// The last entry before each compaction on the path, and the path's own end.
fn ends_of_epochs(session: &Session) -> Result<Vec<EntryId>> {
    let tree = session.tree()?;
    let path: HashSet<EntryId> = tree
        .path()
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let mut ends = Vec::new();
    session.each(&mut |entry| {
        if let (Body::Compaction(_), Some(parent)) = (&entry.body, entry.parent)
            && path.contains(&entry.id)
        {
            ends.push(parent);
        }
        ControlFlow::Continue(())
    })?;
    ends.extend(tree.leaf().map(|leaf| leaf.id.clone()));
    Ok(ends)
}

/// The usage of an answer that ended by itself.
fn reported(message: &ContextMessage) -> Option<Usage> {
    if message.role != Role::Assistant {
        return None;
    }
    let view = message.view();
    let usage = view.is_settled().then(|| view.usage()).flatten()?;
    Some(measure::usage(usage))
}
