//! Hand-offs: the work of a session given to another agent, and taken by one.

use std::path::Path;

use longhaul_checkpoint::{Assignment, Handoff};
use longhaul_ledger::ours;
use longhaul_redact::Tally;
use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::{Draft, EntryId, NewSession};
use serde_json::json;

use crate::export::{Begun, Fresh, Result, Secrets, Source, message};

/// The `customType` of the entry that says whose work a session took over.
pub const HANDOFF_MARK: &str = ours::HANDOFF;

/// Who is to do what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The agent who takes the work.
    pub to: String,
    /// What is to be done; empty for what comes next.
    pub task: String,
    /// What is asked beside the user's words.
    pub constraints: Vec<String>,
    /// The most tokens that may be spent.
    pub budget: Tokens,
}

/// The hand-off of a session's work, and what was taken out of it.
pub fn give(
    source: &Source<'_>,
    given: &Given,
    secrets: Secrets<'_>,
) -> Result<(Handoff, Option<Tally>)> {
    let mut checkpoint = source.checkpoint.clone();
    let mut constraints = source.constraints().to_vec();
    constraints.extend(given.constraints.iter().cloned());
    let mut task = match given.task.trim() {
        "" => next_task(&checkpoint.working.next_action, &checkpoint.working.topic),
        task => task.to_owned(),
    };
    let tally = match secrets {
        Secrets::Keep => None,
        Secrets::Redact(redactor) => {
            let mut document = redactor.document();
            source.learn_secrets(&mut document)?;
            // Twice, as a later text may give away what an earlier one shows.
            for _ in 0..2 {
                document.restart();
                let texts = checkpoint.texts_mut().chain(&mut constraints);
                for text in texts.chain([&mut task]) {
                    *text = document.text(text).into_owned();
                }
            }
            Some(document.tally())
        }
    };
    let assignment = Assignment {
        to: given.to.clone(),
        task,
        constraints,
        budget: given.budget,
    };
    Ok((Handoff::of(&checkpoint, &assignment), tally))
}

/// What comes next, where nobody said what to do.
fn next_task(next_action: &str, topic: &str) -> String {
    let next = next_action.lines().next().unwrap_or_default().trim();
    match (next, topic.trim()) {
        ("", "") => "Continue the work.".to_owned(),
        ("", topic) => format!("Continue: {topic}"),
        (next, _) => format!("Continue: {next}"),
    }
}

/// Begins a session at `target` with the work that was handed over.
pub fn accept(
    handoff: &Handoff,
    target: &Path,
    new: &NewSession,
    workspace: Option<&Path>,
    ids: &mut dyn FnMut() -> EntryId,
    counter: &dyn Counter,
) -> Result<Begun> {
    let mut fresh = Fresh::new(new, workspace);
    let from = &handoff.from;
    let provenance = json!({
        "fromAgent": from.agent,
        "fromSession": from.session.as_str(),
        "checkpoint": from.checkpoint.to_string(),
        "createdAt": from.created_at,
        "to": handoff.to,
        "budget": handoff.budget,
        // Kept apart from the message, so that they outlive it.
        "task": handoff.task,
        "constraints": handoff.constraints,
    });
    let mark = Draft::Custom {
        custom_type: HANDOFF_MARK.into(),
        data: provenance.to_string(),
    };
    fresh.push(&mark, ids());
    let text = handoff.reading();
    let tokens = counter.count(&text, ContentKind::Prose) + counter.message_overhead();
    fresh.push(&message(HANDOFF_MARK, &text), ids());
    let entries = fresh.write(target)?;
    Ok(Begun {
        id: new.id.clone(),
        entries,
        tokens,
    })
}
