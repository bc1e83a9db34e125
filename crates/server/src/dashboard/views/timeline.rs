//! The timeline of a session, in columns: 100,000 requests are a few megabytes.

use longhaul_checkpoint::CheckpointStore;
use longhaul_engine::checkpoints::Whose;
use longhaul_engine::measure::Meter;
use longhaul_engine::timeline::{MarkKind, Timeline};
use longhaul_transcript::{Millis, Session};
use schemars::JsonSchema;
use serde::Serialize;

use super::Shown;
use super::context::{Threshold, thresholds};
use crate::desk::Desk;

/// What filled each request of a session. All columns have the same length.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineView {
    /// The session's id.
    pub session: String,
    /// The window.
    pub window: u32,
    /// Its thresholds.
    pub thresholds: Vec<Threshold>,
    /// When each request was answered, in milliseconds since 1970.
    pub time: Vec<Option<i64>>,
    /// System messages in the session's own file.
    pub system: Vec<u32>,
    /// What the provider counted beyond what the file has: the prompt and the tools
    /// that the agent did not record. Unknown where the provider said nothing.
    pub unrecorded: Vec<Option<u32>>,
    /// Summaries.
    pub summary: Vec<u32>,
    /// What stands in the user's place.
    pub user: Vec<u32>,
    /// What the agent said and asked of tools.
    pub agent: Vec<u32>,
    /// What tools brought.
    pub tools: Vec<u32>,
    /// What each cost in dollars, where it has a price.
    pub dollars: Vec<Option<f32>>,
    /// What was done between the requests.
    pub marks: Vec<MarkRow>,
    /// What all of them cost together.
    pub cost: f64,
    /// How many have no price.
    pub unpriced: usize,
}

/// Something that was done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkRow {
    /// How many requests came before.
    pub at: usize,
    /// `compaction`, `pruning` or `checkpoint`.
    pub kind: &'static str,
    /// Its entry, or the name of the checkpoint.
    pub name: String,
    /// When, as ISO 8601.
    pub time: Option<String>,
    /// Of compactions: its number among them, from 1.
    pub number: Option<usize>,
}

impl TimelineView {
    /// The timeline of a session as its file is now.
    pub fn of(desk: &Desk, name: &str) -> Shown<TimelineView> {
        let session = desk.shown(name)?;
        let id = longhaul_engine::catalog::id_of(session.reference());
        let meter = Meter::new(desk.config.tokens.estimator);
        let timeline = Timeline::of(&session, &desk.keep(&session), &meter)?;
        let measured = desk.measured(session)?;
        let (cost, unpriced) = timeline.cost();
        let requests = &timeline.requests;
        let mut view = TimelineView {
            session: id,
            window: measured.window.size().0,
            thresholds: thresholds(&measured.window),
            time: requests
                .iter()
                .map(|one| one.time.map(|time| time.0))
                .collect(),
            unrecorded: requests.iter().map(|one| one.unrecorded()).collect(),
            dollars: requests.iter().map(|one| one.dollars).collect(),
            cost,
            unpriced,
            ..TimelineView::default()
        };
        for request in requests {
            let filling = request.filling;
            view.system.push(filling.system);
            view.summary.push(filling.summary);
            view.user.push(filling.user);
            view.agent.push(filling.agent);
            view.tools.push(filling.tools);
        }
        let mut compactions = 0;
        for mark in &timeline.marks {
            let kind = match mark.kind {
                MarkKind::Compaction => "compaction",
                MarkKind::Pruning => "pruning",
            };
            let is_compaction = mark.kind == MarkKind::Compaction;
            compactions += usize::from(is_compaction);
            view.marks.push(MarkRow {
                at: mark.at,
                kind,
                name: mark.entry.to_string(),
                time: mark.time.map(|time| time.to_iso()),
                number: is_compaction.then_some(compactions),
            });
        }
        view.marks
            .extend(checkpoints(desk, &measured.session, &view.time));
        view.marks.sort_by_key(|mark| mark.at);
        Ok(view)
    }
}

/// The checkpoints that are kept, by when they were written.
fn checkpoints(desk: &Desk, session: &Session, times: &[Option<i64>]) -> Vec<MarkRow> {
    let store = desk.store();
    let key = Whose::of(session).key;
    let listed = store.list(&key).unwrap_or_default().into_iter();
    let read = listed.filter_map(|one| store.get(&key, one.id).ok());
    read.map(|checkpoint| {
        let time = checkpoint.meta.created_at.clone();
        let at = Millis::parse_iso(&time).map_or(times.len(), |written| {
            let is_before = |time: &Option<i64>| time.is_none_or(|time| time <= written.0);
            times.partition_point(is_before)
        });
        MarkRow {
            at,
            kind: "checkpoint",
            name: checkpoint.meta.checkpoint_id.to_string(),
            time: Some(time),
            number: None,
        }
    })
    .collect()
}
