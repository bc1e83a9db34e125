//! The report of a replay, as data.

use longhaul_checkpoint::Checkpoint;
use longhaul_compaction::summary::PathNames;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{Compaction, Entry, EntryId, Session};
use serde::Serialize;

use super::Progress;
use super::bills::Bills;
use crate::event::{CheckpointEvent, CompactedEvent, Event};
use crate::live::Live;
use crate::recall::message_text;

/// What a replay found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    /// The session's id.
    pub session: String,
    /// The agent that recorded it.
    pub agent: &'static str,
    /// The file.
    pub path: std::path::PathBuf,
    /// The window it was replayed at.
    pub window: Tokens,
    /// The engine's compactions.
    pub compactions: Vec<Row<CompactedEvent>>,
    /// Prunings of tool output.
    pub prunings: Vec<Event>,
    /// The checkpoints that would have been written.
    pub checkpoints: Vec<Row<CheckpointEvent>>,
    /// What could not be done.
    pub troubles: Vec<Event>,
    /// The recording agent's own compactions.
    pub native: Vec<NativeRow>,
    /// The context over time, at most so many points as a picture can show.
    pub timeline: Vec<Point>,
    /// The sums.
    pub totals: Totals,
    /// The checkpoints themselves.
    #[serde(skip)]
    pub saved: Vec<Checkpoint>,
}

/// One compaction or checkpoint of the engine.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row<E> {
    /// After how many entries.
    pub at: usize,
    /// Its numbers.
    #[serde(flatten)]
    pub event: E,
}

/// One compaction of the recording agent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NativeRow {
    /// The entry.
    pub entry: EntryId,
    /// Tokens before, as recorded.
    pub tokens_before: Option<u64>,
    /// The size of its summary in characters.
    pub summary_chars: usize,
    /// Files changed until then that its summary names, of all.
    pub modified_files_named: Option<(usize, usize)>,
    #[serde(skip)]
    pub(super) summary: String,
}

impl NativeRow {
    pub(super) fn new(entry: &Entry, compaction: &Compaction) -> NativeRow {
        NativeRow {
            entry: entry.id.clone(),
            tokens_before: compaction.tokens_before,
            summary_chars: compaction.summary.chars().count(),
            modified_files_named: None,
            summary: compaction.summary.clone(),
        }
    }
}

/// The context at one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// After how many entries.
    pub at: usize,
    /// With the engine.
    pub longhaul: Tokens,
    /// Without anything being removed.
    pub unmanaged: Tokens,
    /// As recorded, if the answer says so.
    pub recorded: Option<u64>,
}

/// The sums of a replay.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Entries replayed.
    pub entries: usize,
    /// Turns.
    pub turns: usize,
    /// Requests.
    pub requests: u64,
    /// The largest context that was sent.
    pub largest_context: Tokens,
    /// Requests that would have been above the hard threshold.
    pub over_hard: usize,
    /// Tokens of a request that are not in the transcript.
    pub overhead: Tokens,
    /// What the input costs, in tokens of fresh input: with the engine.
    pub cost_longhaul: f64,
    /// With everything ever said sent again.
    pub cost_nothing: f64,
    /// With old tool results masked.
    pub cost_masking: f64,
    /// As recorded.
    pub cost_native: Option<f64>,
    /// The same for the engine in US dollars, where the prices are known.
    pub dollars_longhaul: Option<f64>,
    /// Facts that are nowhere any more; always none.
    pub nowhere: usize,
    /// Changed files that the engine's own context names at the end, of all.
    pub modified_files_named: (usize, usize),
    /// Milliseconds spent in compactions.
    pub milliseconds: f64,
}

/// More points than a picture can show are thinned out.
const MAX_POINTS: usize = 4000;

impl ReplayReport {
    pub(super) fn new(session: &Session, window: &Window) -> ReplayReport {
        ReplayReport {
            session: session.header().id.clone(),
            agent: session.format().agent(),
            path: session.path().to_owned(),
            window: window.size(),
            compactions: Vec::new(),
            prunings: Vec::new(),
            checkpoints: Vec::new(),
            troubles: Vec::new(),
            native: Vec::new(),
            timeline: Vec::new(),
            totals: Totals::default(),
            saved: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, event: &Event, at: usize) {
        match event {
            Event::Compacted(compacted) => {
                let event = (**compacted).clone();
                self.compactions.push(Row { at, event });
            }
            Event::Pruned { .. } => self.prunings.push(event.clone()),
            Event::CheckpointWritten(written) => {
                let event = (**written).clone();
                self.checkpoints.push(Row { at, event });
            }
            Event::Blocked { .. } | Event::Failed { .. } | Event::BreakerOpened { .. } => {
                self.troubles.push(event.clone());
            }
            // The others do not happen in a replay, or say nothing new.
            _ => {}
        }
    }

    pub(super) fn finish(
        &mut self,
        live: &Live,
        bills: &Bills,
        progress: Progress,
        window: &Window,
    ) {
        let modified: Vec<&str> = live
            .ledger()
            .files
            .values()
            .filter(|file| file.is_modified())
            .map(|file| file.path.as_str())
            .collect();
        if let Some(last) = self.native.last_mut() {
            let named = modified
                .iter()
                .filter(|path| {
                    let name = path.rsplit('/').next().unwrap_or(path);
                    last.summary.contains(*path) || last.summary.contains(name)
                })
                .count();
            last.modified_files_named = Some((named, modified.len()));
        }
        let text: String = live
            .messages()
            .iter()
            .map(|message| message_text(&message.view()))
            .collect();
        let names = PathNames::new(live.ledger());
        let named = modified
            .iter()
            .filter(|path| text.contains(**path) || text.contains(&names.show(path)))
            .count();
        let sent = self.timeline.iter().map(|point| point.longhaul);
        self.totals = Totals {
            largest_context: sent.clone().max().unwrap_or_default(),
            over_hard: sent.filter(|tokens| *tokens > window.hard()).count(),
            modified_files_named: (named, modified.len()),
            entries: progress.entries,
            turns: progress.turns,
            requests: bills.longhaul.requests,
            overhead: bills.overhead,
            cost_longhaul: bills.units(&bills.longhaul),
            cost_nothing: bills.units(&bills.nothing),
            cost_masking: bills.units(&bills.masking),
            cost_native: bills.native_units(),
            dollars_longhaul: bills.dollars(&bills.longhaul),
            nowhere: self
                .compactions
                .iter()
                .map(|row| row.event.fidelity.losses() as usize)
                .sum(),
            milliseconds: self
                .compactions
                .iter()
                .map(|row| row.event.milliseconds)
                // The sum of nothing would be -0.
                .fold(0.0, |sum, one| sum + one),
        };
        let every = self.timeline.len().div_ceil(MAX_POINTS).max(1);
        self.timeline = self.timeline.iter().copied().step_by(every).collect();
    }
}
