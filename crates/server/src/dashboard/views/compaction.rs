//! The compactions of a session, and what one of them left: every text of the user's
//! with where it is, files, to-dos, notes, and the messages that went and stayed.

use std::collections::HashSet;

use longhaul_compaction::audit::{Audit, Standing, Traced};
use longhaul_engine::aftermath::Aftermath;
use longhaul_engine::checkpoints::named_checkpoint;
use longhaul_engine::marks::fidelity;
use longhaul_engine::measure::Meter;
use longhaul_engine::standing::About;
use longhaul_engine::survey::Survey;
use longhaul_transcript::{
    Body, Compaction, Context, ContextMessage, Entry, EntryId, Result, Role, has_archive,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{MessageRow, Subject, pins};
use crate::again::is_whole;

/// One compaction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionRow {
    /// Its number among those on the path, from 1.
    pub number: usize,
    /// The number that it gives itself.
    pub epoch: usize,
    /// Its entry.
    pub entry: String,
    /// The line of the file.
    pub line: u64,
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
    /// What its audit counted at the time.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub fidelity: Option<Audit>,
    /// The size of the summary.
    pub summary_bytes: usize,
    /// The summary, as the model reads it.
    pub summary: String,
}

/// Every compaction on the path of a session: what `context history` prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compactions {
    /// The session.
    pub session: About,
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

/// What a compaction left: what `context diff` prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionView {
    /// The session.
    pub session: About,
    /// Its numbers, its summary and its audit.
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
    /// The messages that left, as they stood in the context before.
    pub left: Vec<MessageRow>,
    /// The messages that stayed.
    pub stayed: Vec<MessageRow>,
    /// Whether what left lies in an archive, so that not all of it is listed.
    pub archived: bool,
}

impl Compactions {
    /// Those of a session.
    pub fn of(subject: &Subject<'_>) -> Result<Compactions> {
        let survey = Survey::of(subject.session, &subject.keep)?;
        let entries = survey.compactions(subject.session)?;
        let rows = entries.iter().zip(1..);
        Ok(Compactions {
            session: subject.about(),
            compactions: rows.filter_map(|(entry, nth)| row(entry, nth)).collect(),
        })
    }
}

fn row(entry: &Entry, number: usize) -> Option<CompactionRow> {
    let Body::Compaction(compaction) = &entry.body else {
        return None;
    };
    let Compaction {
        epoch,
        layer,
        trigger,
        tokens_before,
        tokens_after,
        messages_compacted,
        summarizer,
        summary,
        ..
    } = compaction.clone();
    Some(CompactionRow {
        number,
        epoch: epoch.map_or(number, |epoch| epoch as usize),
        entry: entry.id.to_string(),
        line: entry.place.line,
        time: entry.time.map(|time| time.to_iso()),
        layer,
        trigger,
        tokens_before,
        tokens_after,
        messages_compacted,
        summarizer,
        checkpoint: named_checkpoint(entry.raw()).map(|id| id.to_string()),
        fidelity: fidelity(entry),
        summary_bytes: summary.len(),
        summary,
    })
}

impl CompactionView {
    /// What the compaction with this number, or whose id begins so, left; without a
    /// name, the latest. None where there is none.
    pub fn of(subject: &Subject<'_>, which: Option<&str>) -> Result<Option<CompactionView>> {
        let Subject { session, keep, .. } = subject;
        let survey = Survey::of(session, keep)?;
        let entries = survey.compactions(session)?;
        let at = match which {
            None => entries.len().checked_sub(1),
            Some(name) => match name.parse::<usize>() {
                Ok(number) if (1..=entries.len()).contains(&number) => Some(number - 1),
                _ => entries
                    .iter()
                    .position(|entry| entry.id.as_str().starts_with(name)),
            },
        };
        let Some((entry, at)) = at.and_then(|at| Some((entries.get(at)?, at))) else {
            return Ok(None);
        };
        let Some(compaction) = row(entry, at + 1) else {
            return Ok(None);
        };
        let after = Aftermath::of(session, &entry.id, keep)?;
        let survival = after.survival(session, &survey);
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
        let (before, archived) = match &entry.parent {
            Some(parent) => {
                let loaded = session.load_at(parent)?;
                let archived = has_archive(session.path()) && !is_whole(&loaded);
                (Context::build(&loaded).messages, archived)
            }
            None => (Vec::new(), false),
        };
        let pins = pins(&survey);
        let mut meter = Meter::new(subject.estimator);
        let mut shown = |message: &ContextMessage| {
            let tokens = meter.message(message);
            MessageRow::of(message, tokens, &pins)
        };
        let staying: HashSet<&EntryId> = after.messages().iter().map(|one| &one.entry).collect();
        let is_said = |message: &&ContextMessage| message.role != Role::CompactionSummary;
        let left = before.iter().filter(is_said);
        let left = left.filter(|message| !staying.contains(&message.entry));
        let left = left.map(&mut shown).collect();
        let stayed = after.messages().iter().filter(is_said).map(shown).collect();
        Ok(Some(CompactionView {
            session: subject.about(),
            compaction,
            of: entries.len(),
            said: said.collect(),
            said_unlisted: survival.texts_left,
            files: files.collect(),
            to_dos: survival.to_dos.iter().map(line).collect(),
            notes: survival.notes.iter().map(line).collect(),
            left,
            stayed,
            archived,
        }))
    }
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
