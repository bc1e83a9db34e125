//! The compactions of a session, and what one of them left: every text of the user's
//! with where it is, files, to-dos, notes, and the messages that went.

use std::collections::HashSet;

use longhaul_compaction::audit::{Audit, Standing, Traced};
use longhaul_engine::aftermath::Aftermath;
use longhaul_engine::checkpoints::named_checkpoint;
use longhaul_engine::marks::fidelity;
use longhaul_engine::measure::Meter;
use longhaul_engine::survey::Survey;
use longhaul_transcript::{Body, Compaction, Context, Entry, EntryId, Role, Session};
use schemars::JsonSchema;
use serde::Serialize;

use super::Shown;
use crate::desk::Desk;
use crate::http::Refusal;

/// One compaction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionRow {
    /// Its number among those on the path, from 1.
    pub number: usize,
    /// Its entry.
    pub entry: String,
    /// When.
    pub time: Option<String>,
    /// How deep it went; none where the agent compacted by itself.
    pub layer: Option<String>,
    /// What set it off.
    pub trigger: Option<String>,
    /// Tokens of the context before.
    pub tokens_before: Option<u64>,
    /// And after.
    pub tokens_after: Option<u64>,
    /// Messages that became the summary.
    pub messages_compacted: Option<u64>,
    /// Who wrote the summary.
    pub summarizer: Option<String>,
    /// The checkpoint that holds the work as it was before.
    pub checkpoint: Option<String>,
    /// What the audit counted, in one line.
    pub fidelity: Option<String>,
    /// How much was lost by it.
    pub lost: Option<u32>,
}

/// Every compaction on the path of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compactions {
    /// The session's id.
    pub session: String,
    /// Oldest first.
    pub compactions: Vec<CompactionRow>,
}

/// A text of the user's.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaidLine {
    /// Its entry.
    pub entry: String,
    /// How it came: `prompt`, `queued`, `rejection` and so on.
    pub channel: String,
    /// `whole`, `shortened`, `recallable` or `nowhere`.
    pub standing: String,
    /// The words.
    pub text: String,
}

/// A file of the session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileLine {
    /// Its path.
    pub path: String,
    /// The entry in which it was last changed, or read.
    pub entry: Option<String>,
    /// Whether it was changed; else it was only read.
    pub changed: bool,
    /// Whether the context names it.
    pub stands: bool,
}

/// An open item, or a note of the agent's.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToDoLine {
    /// Its words.
    pub text: String,
    /// The entry, where it is one entry's.
    pub entry: Option<String>,
    /// Whether the context has it.
    pub stands: bool,
}

/// A message that left the context.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gone {
    /// Its entry.
    pub entry: String,
    /// Who spoke.
    pub role: String,
    /// Its tokens.
    pub tokens: u32,
    /// What it says, whole.
    pub text: String,
}

/// What a compaction left.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionView {
    /// The session's id.
    pub session: String,
    /// Its numbers.
    pub compaction: CompactionRow,
    /// How many compactions the path has.
    pub of: usize,
    /// What the user said, oldest first.
    pub said: Vec<SaidLine>,
    /// Older texts besides, which can only be recalled.
    pub said_unlisted: u32,
    /// Files that were changed, then those that were only read.
    pub files: Vec<FileLine>,
    /// Open items.
    pub to_dos: Vec<ToDoLine>,
    /// Notes.
    pub notes: Vec<ToDoLine>,
    /// The messages that left.
    pub left: Vec<Gone>,
    /// The messages that stayed.
    pub stayed: Vec<Gone>,
    /// The summary, as the model reads it.
    pub summary: String,
    /// Whether some of what left lies in an archive, and is not listed.
    pub archived: bool,
    /// What the audit counted at the time.
    #[schemars(with = "serde_json::Value")]
    pub fidelity: Option<Audit>,
}

impl Compactions {
    /// Those of a session.
    pub fn of(desk: &Desk, name: &str) -> Shown<Compactions> {
        let session = desk.shown(name)?;
        let survey = Survey::of(&session, &desk.keep(&session))?;
        let entries = survey.compactions(&session)?;
        let rows = entries
            .iter()
            .zip(1..)
            .filter_map(|(entry, number)| row(entry, number));
        Ok(Compactions {
            session: longhaul_engine::catalog::id_of(session.reference()),
            compactions: rows.collect(),
        })
    }
}

fn row(entry: &Entry, number: usize) -> Option<CompactionRow> {
    let Body::Compaction(compaction) = &entry.body else {
        return None;
    };
    let audit = fidelity(entry);
    let Compaction {
        layer,
        trigger,
        tokens_before,
        tokens_after,
        messages_compacted,
        summarizer,
        ..
    } = compaction.clone();
    Some(CompactionRow {
        number,
        entry: entry.id.to_string(),
        time: entry.time.map(|time| time.to_iso()),
        layer,
        trigger,
        tokens_before,
        tokens_after,
        messages_compacted,
        summarizer,
        checkpoint: named_checkpoint(entry.raw()).map(|id| id.to_string()),
        lost: audit.as_ref().map(Audit::losses),
        fidelity: audit.map(|audit| audit.to_string()),
    })
}

impl CompactionView {
    /// What the compaction with this number, or whose id begins so, left.
    pub fn of(desk: &Desk, name: &str, which: &str) -> Shown<CompactionView> {
        let session = desk.shown(name)?;
        let keep = desk.keep(&session);
        let survey = Survey::of(&session, &keep)?;
        let entries = survey.compactions(&session)?;
        let at = match which.parse::<usize>() {
            Ok(number) => number.checked_sub(1).filter(|at| *at < entries.len()),
            Err(_) => entries
                .iter()
                .position(|entry| entry.id.as_str().starts_with(which)),
        };
        let at = at.ok_or_else(|| {
            Refusal::unknown(format!(
                "This session has {} compactions; there is none called {which:?}.",
                entries.len()
            ))
        })?;
        let entry = &entries[at];
        let compaction =
            row(entry, at + 1).ok_or_else(|| Refusal::unknown("That entry is no compaction."))?;
        let after = Aftermath::of(&session, &entry.id, &keep)?;
        let survival = after.survival(&session, &survey);
        let said = survival.texts.iter().map(|(said, standing)| SaidLine {
            entry: said.entry.to_string(),
            channel: said.channel.as_str().to_owned(),
            standing: word(*standing).to_owned(),
            text: said.text.clone(),
        });
        let file = |changed| {
            move |traced: &Traced<'_>| FileLine {
                path: traced.text.to_owned(),
                entry: traced.entry.map(EntryId::to_string),
                changed,
                stands: traced.stands,
            }
        };
        let files = survival.changed.iter().map(file(true));
        let files = files.chain(survival.read.iter().map(file(false)));
        let before = before(&session, entry)?;
        let mut meter = Meter::new(desk.config.tokens.estimator);
        let staying: HashSet<&EntryId> = after
            .messages()
            .iter()
            .map(|message| &message.entry)
            .collect();
        let mut gone = |message: &longhaul_transcript::ContextMessage| Gone {
            entry: message.entry.to_string(),
            role: message.role.to_string(),
            tokens: meter.message(message).0,
            text: longhaul_engine::recall::message_text(&message.view()),
        };
        let is_summary = |role: &Role| *role == Role::CompactionSummary;
        let left = before
            .messages
            .iter()
            .filter(|message| !is_summary(&message.role) && !staying.contains(&message.entry));
        let left: Vec<Gone> = left.map(&mut gone).collect();
        let stayed = after.messages().iter().filter(|one| !is_summary(&one.role));
        Ok(CompactionView {
            session: longhaul_engine::catalog::id_of(session.reference()),
            compaction,
            of: entries.len(),
            said: said.collect(),
            said_unlisted: survival.texts_left,
            files: files.collect(),
            to_dos: survival.to_dos.iter().map(line).collect(),
            notes: survival.notes.iter().map(line).collect(),
            stayed: stayed.map(gone).collect(),
            archived: left.is_empty() && longhaul_transcript::has_archive(session.path()),
            left,
            summary: match &entry.body {
                Body::Compaction(compaction) => compaction.summary.clone(),
                _ => String::new(),
            },
            fidelity: fidelity(entry),
        })
    }
}

/// The context that it was asked to shorten.
fn before(session: &Session, entry: &Entry) -> Shown<Context> {
    Ok(match &entry.parent {
        Some(parent) => Context::build(&session.load_at(parent)?),
        None => Context::default(),
    })
}

fn line(traced: &Traced<'_>) -> ToDoLine {
    ToDoLine {
        text: traced.text.to_owned(),
        entry: traced.entry.map(EntryId::to_string),
        stands: traced.stands,
    }
}

fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Whole => "whole",
        Standing::Shortened => "shortened",
        Standing::Recallable => "recallable",
        Standing::Nowhere => "nowhere",
    }
}
