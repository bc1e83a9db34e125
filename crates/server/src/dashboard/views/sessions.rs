//! The sessions of every agent on the machine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_engine::catalog::{self, Problem, id_of};
use longhaul_engine::measure::Meter;
use longhaul_engine::standing::percent;
use longhaul_engine::timeline;
use longhaul_transcript::import::Listed;
use longhaul_transcript::{Millis, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Count, Shown};
use crate::desk::Desk;

/// What goes by more than the name of a file is known after a look into it; so many
/// of the newest are looked into.
const LOOKED_INTO: usize = 500;
const PAGE: usize = 50;

/// One session in the list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// Its key, of agents that have one.
    pub key: Option<String>,
    /// Whose session it is.
    pub agent: String,
    /// The file.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was last written to.
    pub modified: Option<String>,
    /// The folder it works in.
    pub workspace: Option<String>,
    /// Its name, or what was asked first of what was looked at.
    pub title: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// Compactions on its path.
    pub compactions: Option<Count>,
    /// Tokens in its context.
    pub tokens: Option<u32>,
    /// The window.
    pub window: Option<u32>,
    /// The share of the window, in percent.
    pub percent: Option<f64>,
    /// Where compaction is due, in percent of the window.
    pub activation: Option<f64>,
    /// What all its requests cost in dollars, where its timeline was drawn before.
    pub dollars: Option<f64>,
    /// Why it cannot be read.
    pub error: Option<String>,
}

/// A page of the list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sessions {
    /// The rows of this page.
    pub sessions: Vec<SessionRow>,
    /// How many fit.
    pub total: usize,
    /// How many there are.
    pub all: usize,
    /// The number of this page, from 1.
    pub page: usize,
    /// How many pages there are.
    pub pages: usize,
    /// The agents that have sessions here.
    pub agents: Vec<String>,
    /// What the order or the words go by is known of so many of the newest only.
    pub looked_into: Option<usize>,
    /// Folders and stores that could not be read, each with the reason.
    pub problems: Vec<String>,
}

/// Which sessions are wanted.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Wanted {
    /// Words in the id, key, path or title.
    pub q: String,
    /// Only this agent's.
    pub agent: String,
    /// The order.
    pub order: Order,
    /// The page, from 1.
    pub page: usize,
}

/// The order of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Order {
    /// The newest first.
    #[default]
    Activity,
    /// The fullest first.
    Fill,
    /// The most often compacted first.
    Compactions,
    /// The dearest first.
    Cost,
    /// By size of the file.
    Size,
}

/// What was seen of sessions that did not change since.
#[derive(Debug, Default)]
pub struct Glances(Mutex<HashMap<Place, (State, Arc<SessionRow>)>>);

type Place = (PathBuf, Option<String>);
type State = (u64, Option<Millis>);

impl Glances {
    /// A row for a session, looked at again only where its file changed.
    pub fn row(&self, desk: &Desk, found: &Listed) -> Arc<SessionRow> {
        let reference = &found.reference;
        let place = (reference.path.clone(), reference.session.clone());
        let state = (found.bytes, found.modified);
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, row)) = lock().get(&place)
            && *seen == state
        {
            let mut row = SessionRow::clone(row);
            // A timeline may have been drawn since.
            row.dollars = row.dollars.or_else(|| cost(desk, found));
            return Arc::new(row);
        }
        let row = Arc::new(look(desk, found));
        lock().insert(place, (state, Arc::clone(&row)));
        row
    }
}

fn look(desk: &Desk, found: &Listed) -> SessionRow {
    let reference = &found.reference;
    let mut row = SessionRow {
        id: id_of(reference),
        key: reference.key.clone(),
        agent: reference.format.agent().to_owned(),
        path: reference.path.to_string_lossy().into_owned(),
        bytes: found.bytes,
        modified: found.modified.map(|time| time.to_iso()),
        workspace: None,
        title: None,
        model: None,
        compactions: None,
        tokens: None,
        window: None,
        percent: None,
        activation: None,
        dollars: None,
        error: None,
    };
    let mut meter = Meter::new(desk.config.tokens.estimator);
    let glance = match catalog::glance(reference, &mut meter) {
        Ok(glance) => glance,
        Err(error) => {
            row.error = Some(error.to_string());
            return row;
        }
    };
    row.agent = glance.format.agent().to_owned();
    row.workspace = glance
        .header
        .cwd
        .as_deref()
        .map(|folder| folder.to_string_lossy().into_owned());
    row.title = glance.title.clone();
    row.model = glance.model.clone().filter(|model| !model.is_empty());
    row.compactions = Some(glance.compactions.into());
    row.dollars = cost(desk, found);
    let Some(measurement) = glance.measurement else {
        return row;
    };
    row.tokens = Some(measurement.tokens.0);
    if let Ok(session) = Session::open_ref(reference)
        && let Ok((window, _)) = (desk.window)(&session, &glance.reading)
    {
        row.window = Some(window.size().0);
        row.percent = Some(percent(&window, measurement.tokens));
        row.activation = Some(percent(&window, window.activation()));
    }
    row
}

fn cost(desk: &Desk, found: &Listed) -> Option<f64> {
    let session = Session::open_ref(&found.reference).ok()?;
    timeline::known_cost(&session, &desk.keep(&session))
}

impl Sessions {
    /// The sessions that are wanted.
    pub fn of(desk: &Desk, glances: &Glances, wanted: &Wanted) -> Shown<Sessions> {
        let catalog = desk.catalog();
        let mut agents: Vec<String> = Vec::new();
        for found in &catalog.sessions {
            let agent = found.reference.format.agent();
            if !agents.iter().any(|known| known == agent) {
                agents.push(agent.to_owned());
            }
        }
        agents.sort();
        let all = catalog.sessions.len();
        let is_its = |found: &&Listed| {
            wanted.agent.is_empty() || found.reference.format.agent() == wanted.agent
        };
        let mut fitting: Vec<&Listed> = catalog.sessions.iter().filter(is_its).collect();
        let words: Vec<String> = wanted.q.split_whitespace().map(str::to_lowercase).collect();
        let looks = !words.is_empty() || !matches!(wanted.order, Order::Activity | Order::Size);
        let looked_into = (looks && fitting.len() > LOOKED_INTO).then_some(LOOKED_INTO);
        if wanted.order == Order::Size {
            fitting.sort_by_key(|found| std::cmp::Reverse(found.bytes));
        }
        let page = wanted.page.max(1);
        let (rows, total) = if looks {
            fitting.truncate(LOOKED_INTO);
            let rows = fitting.iter().map(|found| glances.row(desk, found));
            let mut rows: Vec<Arc<SessionRow>> = rows.filter(|row| has(row, &words)).collect();
            sort(&mut rows, wanted.order);
            let total = rows.len();
            let shown = rows.into_iter().skip((page - 1) * PAGE).take(PAGE);
            (shown.collect::<Vec<_>>(), total)
        } else {
            let shown = fitting.iter().skip((page - 1) * PAGE).take(PAGE);
            let rows = shown.map(|found| glances.row(desk, found)).collect();
            (rows, fitting.len())
        };
        Ok(Sessions {
            sessions: rows.into_iter().map(Arc::unwrap_or_clone).collect(),
            total,
            all,
            page,
            pages: total.div_ceil(PAGE).max(1),
            agents,
            looked_into,
            problems: catalog.problems.iter().map(problem).collect(),
        })
    }
}

fn problem(problem: &Problem) -> String {
    format!("{}: {}", problem.path.display(), problem.reason)
}

fn has(row: &SessionRow, words: &[String]) -> bool {
    let fields = [
        Some(&row.id),
        row.key.as_ref(),
        Some(&row.path),
        row.workspace.as_ref(),
        row.title.as_ref(),
    ];
    let all: String = fields
        .into_iter()
        .flatten()
        .flat_map(|field| [field.as_str(), "\n"])
        .collect();
    let all = all.to_lowercase();
    words.iter().all(|word| all.contains(word.as_str()))
}

fn sort(rows: &mut [Arc<SessionRow>], order: Order) {
    // Stable: what is equal stays in the order of activity.
    match order {
        Order::Activity => {}
        Order::Size => rows.sort_by_key(|row| std::cmp::Reverse(row.bytes)),
        Order::Fill => rows.sort_by(|a, b| {
            b.percent
                .partial_cmp(&a.percent)
                .unwrap_or(std::cmp::Ordering::Equal)
        }),
        Order::Compactions => rows.sort_by_key(|row| {
            std::cmp::Reverse(row.compactions.map_or(0, |compactions| compactions.count))
        }),
        Order::Cost => rows.sort_by(|a, b| {
            b.dollars
                .partial_cmp(&a.dollars)
                .unwrap_or(std::cmp::Ordering::Equal)
        }),
    }
}
