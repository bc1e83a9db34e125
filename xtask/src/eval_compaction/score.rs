//! Figures: how many of how many, and where it is worst.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// What is measured. The name is the row's, the number what it must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Row {
    ModifiedRecall,
    ModifiedPrecision,
    ReadOnly,
    ReadOnlyListed,
    PromptsFound,
    PromptsPointed,
    PromptsVerbatim,
    Constraints,
    DecisionsInContext,
    FactsInContext,
    PlantedFound,
    OpenItems,
    StaleItems,
    LastError,
    PairingSent,
    PairingCuts,
    Filled,
    Size,
    TrueSize,
    SizeWithOverhead,
    BytesById,
    Quotes,
    QuotesPassage,
    QuotesTelling,
    Again,
    Growth,
    Spread,
    Fabrication,
    FabricationJoined,
    InFlight,
    Supersession,
    Deterministic,
    Reopened,
    Prefix,
    SavedNothing,
    SavedMasking,
    SavedNative,
    CostNothing,
    CostMasking,
    CostNative,
}

/// A bill must be lower by something that is not rounding.
const SOMETHING: f64 = 0.001;

/// Share that a row must reach; `None` only informs.
fn rule(row: Row) -> (&'static str, Option<f64>) {
    match row {
        Row::ModifiedRecall => ("C1 modified files", Some(1.0)),
        Row::ModifiedPrecision => ("C1 precision", Some(1.0)),
        Row::ReadOnly => ("C2 read files, list or pointer", Some(0.95)),
        Row::ReadOnlyListed => ("C2 read files, listed", None),
        Row::PromptsFound => ("C3 prompts in K or S", Some(1.0)),
        Row::PromptsPointed => ("C3 prompts in K, or gist and id", Some(1.0)),
        Row::PromptsVerbatim => ("C3 verbatim, first compaction", Some(0.9)),
        Row::Constraints => ("C4 standing constraints", Some(1.0)),
        Row::DecisionsInContext => ("C5 decisions, open items in K", Some(0.9)),
        Row::FactsInContext => ("C5 exact facts in K", None),
        Row::PlantedFound => ("C5 planted in K or one search", Some(1.0)),
        Row::OpenItems => ("C6 open items", Some(1.0)),
        Row::StaleItems => ("C6 finished not open", Some(1.0)),
        Row::LastError => ("C7 last unresolved error", Some(1.0)),
        Row::PairingSent => ("C8 pairing, contexts sent", Some(1.0)),
        Row::PairingCuts => ("C8 pairing, every cut", Some(1.0)),
        Row::Filled => ("C8 no empty content", Some(1.0)),
        Row::Size => ("C9 size, engine's count", Some(1.0)),
        Row::TrueSize => ("C9 size, o200k / 0.83", Some(1.0)),
        Row::SizeWithOverhead => ("C9 size, recorded overhead", None),
        Row::BytesById => ("C10 bytes by id", Some(1.0)),
        Row::Quotes => ("C10 named by 5 hits, five words", Some(0.99)),
        Row::QuotesPassage => ("C10 same, its passage shown", None),
        Row::Again => ("C11 again changes nothing", Some(1.0)),
        Row::QuotesTelling => ("C10 same, quotes of ≤ 5 entries", None),
        Row::Growth => ("C11 size constant over N", Some(1.0)),
        Row::Spread => ("C11 spread with what was said since", None),
        Row::Fabrication => ("C12 from the source", Some(1.0)),
        Row::FabricationJoined => ("C12 or folder and name joined", None),
        Row::InFlight => ("C13 re-entry", Some(0.95)),
        Row::Supersession => ("C14 supersession", Some(1.0)),
        Row::Deterministic => ("C15 determinism", Some(1.0)),
        Row::Reopened => ("C15 same after reopening", Some(1.0)),
        Row::Prefix => ("C16 prefix", Some(1.0)),
        Row::SavedNothing => ("C17 saved against nothing", Some(SOMETHING)),
        Row::SavedMasking => ("C17 saved against masking", Some(SOMETHING)),
        Row::SavedNative => ("C17 saved against recorded", Some(SOMETHING)),
        Row::CostNothing => ("C17 sessions cheaper, nothing", None),
        Row::CostMasking => ("C17 sessions cheaper, masking", None),
        Row::CostNative => ("C17 sessions cheaper, recorded", None),
    }
}

impl Row {
    pub(super) fn name(self) -> &'static str {
        rule(self).0
    }

    pub(super) fn must(self) -> Option<f64> {
        rule(self).1
    }
}

/// How many of how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) good: i64,
    pub(super) all: i64,
}

impl Share {
    pub(super) fn value(self) -> f64 {
        if self.all == 0 {
            1.0
        } else {
            self.good as f64 / self.all as f64
        }
    }
}

/// One row of one window.
#[derive(Debug, Clone, Default)]
pub(super) struct Figure {
    pub(super) sum: Share,
    cases: BTreeMap<String, Share>,
    /// What was missed, once each, with the case.
    pub(super) misses: Vec<(String, String)>,
}

const MISSES: usize = 400;

impl Figure {
    /// The case with the smallest share.
    pub(super) fn worst(&self) -> Option<(&str, Share)> {
        self.cases
            .iter()
            .filter(|(_, share)| share.good < share.all)
            .min_by(|a, b| a.1.value().total_cmp(&b.1.value()))
            .map(|(name, share)| (name.as_str(), *share))
    }
}

/// All figures, by window.
#[derive(Debug, Clone, Default)]
pub(super) struct Scores {
    figures: BTreeMap<(u32, Row), Figure>,
}

/// Where figures of one state of one session go.
pub(super) struct Sheet<'s> {
    pub(super) scores: &'s mut Scores,
    pub(super) window: u32,
    pub(super) case: String,
}

impl Sheet<'_> {
    /// Notes one check.
    pub(super) fn note(&mut self, row: Row, good: bool, what: impl FnOnce() -> String) {
        let figure = self.scores.figures.entry((self.window, row)).or_default();
        let case = figure.cases.entry(self.case.clone()).or_default();
        for share in [&mut figure.sum, case] {
            share.all += 1;
            share.good += i64::from(good);
        }
        if !good && figure.misses.len() < MISSES {
            figure.misses.push((self.case.clone(), what()));
        }
    }
}

impl Sheet<'_> {
    /// Notes what was saved of a bill; the sum over all sessions counts.
    pub(super) fn saved(&mut self, row: Row, ours: f64, other: f64) {
        let figure = self.scores.figures.entry((self.window, row)).or_default();
        let case = figure.cases.entry(self.case.clone()).or_default();
        for share in [&mut figure.sum, case] {
            share.all += other as i64;
            share.good += (other - ours) as i64;
        }
    }
}

impl Scores {
    pub(super) fn windows(&self) -> Vec<u32> {
        let mut windows: Vec<u32> = self.figures.keys().map(|(window, _)| *window).collect();
        windows.dedup();
        windows.reverse();
        windows
    }

    pub(super) fn rows(&self, window: u32) -> impl Iterator<Item = (Row, &Figure)> {
        self.figures
            .iter()
            .filter(move |((of, _), _)| *of == window)
            .map(|((_, row), figure)| (*row, figure))
    }

    pub(super) fn add(&mut self, other: Scores) {
        for (key, figure) in other.figures {
            let mine = self.figures.entry(key).or_default();
            mine.sum.good += figure.sum.good;
            mine.sum.all += figure.sum.all;
            mine.misses.extend(figure.misses);
            mine.cases.extend(figure.cases);
        }
    }

    /// Rows below what they must reach.
    pub(super) fn failed(&self) -> Vec<(u32, Row, Share)> {
        self.figures
            .iter()
            .filter(|((_, row), figure)| row.must().is_some_and(|must| figure.sum.value() < must))
            .map(|((window, row), figure)| (*window, *row, figure.sum))
            .collect()
    }

    pub(super) fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .figures
            .iter()
            .map(|((window, row), figure)| {
                json!({
                    "window": window,
                    "measure": row.name(),
                    "good": figure.sum.good,
                    "all": figure.sum.all,
                    "value": figure.sum.value(),
                    "mustReach": row.must(),
                    "pass": row.must().map(|must| figure.sum.value() >= must),
                    "cases": figure.cases.iter().map(|(case, share)| json!({
                        "case": case, "good": share.good, "all": share.all,
                    })).collect::<Vec<_>>(),
                    "misses": figure.misses.iter().map(|(case, what)| json!({
                        "case": case, "what": what,
                    })).collect::<Vec<_>>(),
                })
            })
            .collect();
        Value::Array(rows)
    }
}
