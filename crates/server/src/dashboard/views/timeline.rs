//! The timeline of a session, in columns: of any length, no more of it than a picture
//! has room for.

use std::collections::BTreeMap;
use std::ops::Range;

use longhaul_checkpoint::CheckpointStore;
use longhaul_engine::checkpoints::Whose;
use longhaul_engine::measure::Meter;
use longhaul_engine::standing::{About, Thresholds};
use longhaul_engine::timeline::{Mark, MarkKind, Request, Timeline};
use longhaul_tokens::Window;
use longhaul_transcript::{Millis, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Shown;
use crate::desk::Desk;

/// What filled the requests of a session. All columns have the same length.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineView {
    /// The session.
    pub session: About,
    /// The window.
    pub window: u32,
    /// Its thresholds.
    #[schemars(with = "BTreeMap<String, u32>")]
    pub thresholds: Thresholds,
    /// How many requests the session has.
    pub requests: usize,
    /// The first of those that are shown, from 0.
    pub from: usize,
    /// The first behind them.
    pub to: usize,
    /// Which request each column is, from 0: where there are more than were asked
    /// for, the largest of several.
    pub at: Vec<usize>,
    /// When each was answered, in milliseconds since 1970.
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
    /// What each cost in dollars, where it has a price, with those that it stands for.
    pub dollars: Vec<Option<f32>>,
    /// What was done between the requests.
    pub marks: Vec<MarkRow>,
    /// What all requests cost together.
    pub cost: f64,
    /// How many have no price.
    pub unpriced: usize,
    /// Other sizes to hold it against, by what they are.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<&'static str, Vec<Option<u32>>>,
}

/// Something that was done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkRow {
    /// How many requests came before.
    pub at: usize,
    /// `compaction`, `pruning`, `flush` or `checkpoint`.
    pub kind: &'static str,
    /// Its entry, or the name of the checkpoint.
    pub name: String,
    /// When, as ISO 8601.
    pub time: Option<String>,
    /// Of compactions: its number among them, from 1.
    pub number: Option<usize>,
}

/// Which part of a timeline is wanted.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub struct Stretch {
    /// From this request on.
    pub from: usize,
    /// Up to this one, which is not among them.
    pub to: Option<usize>,
    /// In no more columns than this.
    pub columns: Option<usize>,
}

impl TimelineView {
    /// The timeline of a session as its file is now.
    pub fn of(desk: &Desk, name: &str, wanted: Stretch) -> Shown<TimelineView> {
        let session = desk.shown(name)?;
        let about = About::of(&session, &desk.state_dir);
        let meter = Meter::new(desk.config.tokens.estimator);
        let timeline = Timeline::of(&session, &desk.keep(&session), &meter)?;
        let measured = desk.measured(session)?;
        let mut view = TimelineView::drawn(about, &timeline, &measured.window, wanted);
        let times = timeline.requests.iter().map(|one| one.time);
        let times: Vec<Option<Millis>> = times.collect();
        let written = checkpoints(desk, &measured.session, &times);
        view.marks
            .extend(written.filter(|mark| (view.from..=view.to).contains(&mark.at)));
        view.marks.sort_by_key(|mark| mark.at);
        Ok(view)
    }

    /// The same of a timeline that is there.
    pub fn drawn(
        session: About,
        timeline: &Timeline,
        window: &Window,
        wanted: Stretch,
    ) -> TimelineView {
        let all = timeline.requests.len();
        let to = wanted.to.unwrap_or(all).min(all);
        let from = wanted.from.min(to);
        let (cost, unpriced) = timeline.cost();
        let mut view = TimelineView {
            session,
            window: window.size().0,
            thresholds: Thresholds::of(window),
            requests: all,
            from,
            to,
            at: Vec::new(),
            time: Vec::new(),
            system: Vec::new(),
            unrecorded: Vec::new(),
            summary: Vec::new(),
            user: Vec::new(),
            agent: Vec::new(),
            tools: Vec::new(),
            dollars: Vec::new(),
            marks: Vec::new(),
            cost,
            unpriced,
            beside: BTreeMap::new(),
        };
        let each = (to - from).div_ceil(wanted.columns.unwrap_or(usize::MAX).max(1));
        for first in (from..to).step_by(each.max(1)) {
            let last = (first + each).min(to);
            view.column(&timeline.requests, first..last);
        }
        view.mark(&timeline.marks, each);
        view
    }

    /// A column for requests: what is largest of them, and what they cost together.
    fn column(&mut self, requests: &[Request], stretch: Range<usize>) {
        let size = |at: &usize| {
            let one = &requests[*at];
            one.filling.total().max(one.reported.unwrap_or_default())
        };
        let Some(at) = stretch.clone().max_by_key(size) else {
            return;
        };
        let request = &requests[at];
        let dollars = requests[stretch].iter().filter_map(|one| one.dollars);
        self.at.push(at);
        self.time.push(request.time.map(|time| time.0));
        self.system.push(request.filling.system);
        self.unrecorded.push(request.unrecorded());
        self.summary.push(request.filling.summary);
        self.user.push(request.filling.user);
        self.agent.push(request.filling.agent);
        self.tools.push(request.filling.tools);
        self.dollars.push(dollars.reduce(|sum, one| sum + one));
    }

    /// What was done in the stretch: every compaction, and of others one a column.
    fn mark(&mut self, marks: &[Mark], each: usize) {
        let (mut compactions, mut before) = (0, None);
        for mark in marks {
            let is_compaction = mark.kind == MarkKind::Compaction;
            compactions += usize::from(is_compaction);
            let column = (mark.kind, mark.at / each.max(1));
            let is_shown = is_compaction || before != Some(column);
            if !is_shown || !(self.from..=self.to).contains(&mark.at) {
                continue;
            }
            before = Some(column);
            self.marks.push(MarkRow {
                at: mark.at,
                kind: mark.kind.as_str(),
                name: mark.entry.to_string(),
                time: mark.time.map(|time| time.to_iso()),
                number: is_compaction.then_some(compactions),
            });
        }
    }
}

/// The checkpoints that are kept, by when they were written.
fn checkpoints(
    desk: &Desk,
    session: &Session,
    times: &[Option<Millis>],
) -> impl Iterator<Item = MarkRow> {
    let store = desk.store();
    let key = Whose::of(session).key;
    let listed = store.list(&key).unwrap_or_default().into_iter();
    listed.filter_map(move |one| {
        let checkpoint = store.get(&key, one.id).ok()?;
        let time = checkpoint.meta.created_at.clone();
        let at = Millis::parse_iso(&time).map_or(times.len(), |written| {
            let is_before = |time: &Option<Millis>| time.is_none_or(|time| time.0 <= written.0);
            times.partition_point(is_before)
        });
        Some(MarkRow {
            at,
            kind: "checkpoint",
            name: checkpoint.meta.checkpoint_id.to_string(),
            time: Some(time),
            number: None,
        })
    })
}
