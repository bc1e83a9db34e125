//! Figures: how many of how many, and where it is worst.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event::Channel;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Row {
    ModifiedRecall,
    ModifiedPrecision,
    ReadOnly,
    ReadOnlyListed,
    Said(Channel),
    SaidPast,
    SaidFarPast,
    SaidFound,
    SaidTruth,
    WishesAgent,
    WishesChat,
    WishesFar,
    FactsAgent,
    FactsChat,
    FactsFar,
    FactsFound,
    OpenItems,
    StaleItems,
    FalseOpen,
    Failing,
    FalseFailing,
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
    InFlight,
    CorrectionsAgent,
    CorrectionsChat,
    CorrectionsLonger,
    Deterministic,
    Reopened,
    Prefix,
    SavedNothing,
    SavedMasking,
    SavedNative,
    SavedPruning,
    Dearer,
    Agreed,
    AgreedListed,
    Compression,
    CompressionSummary,
    CompressionSummarize,
    CompressionFull,
    CompressionPrune,
    CompressionChat,
    PreciseSaid,
    PreciseAgreed,
    PreciseRead,
    Tail,
}

/// A bill must be lower by something that is not rounding.
const SOMETHING: f64 = 0.001;

/// What a row must reach at a window; `None` only informs.
fn rule(row: Row, window: u32) -> (&'static str, Option<f64>) {
    let chat = match window {
        0..60_000 => 0.7,
        60_000..200_000 => 0.9,
        _ => 0.95,
    };
    let ratio = (window >= 200_000).then_some(5.0);
    match row {
        Row::ModifiedRecall => ("C1 modified files", Some(1.0)),
        Row::ModifiedPrecision => ("C1 precision", Some(1.0)),
        Row::ReadOnly => ("C2 read files, list or pointer", Some(0.95)),
        Row::ReadOnlyListed => ("C2 read files, listed", None),
        Row::Said(Channel::Prompt) => ("C3 prompts, whole in K", Some(1.0)),
        Row::Said(Channel::Queued) => ("C3 queued, whole in K", Some(1.0)),
        Row::Said(Channel::Rejection) => ("C3 rejections, whole in K", Some(1.0)),
        Row::Said(Channel::Answer) => ("C3 answers, whole in K", Some(1.0)),
        Row::Said(Channel::Plan) => ("C3 remarks on plans, whole in K", Some(1.0)),
        Row::SaidPast => ("C3 past the budget, whole in K", None),
        Row::SaidFarPast => ("C3 past three budgets, whole in K", None),
        Row::SaidFound => ("C3 in S", Some(1.0)),
        Row::SaidTruth => ("C3 truth file found in the source", Some(1.0)),
        Row::WishesAgent => ("C4 wishes, agent sessions", Some(1.0)),
        Row::WishesChat => ("C4 wishes, chats", Some(chat)),
        Row::WishesFar => ("C4 wishes, past three budgets", None),
        Row::FactsAgent => ("C5 user's facts, agent sessions", Some(1.0)),
        Row::FactsChat => ("C5 user's facts, chats", Some(chat)),
        Row::FactsFar => ("C5 user's facts, past three budgets", None),
        Row::FactsFound => ("C5 other facts, one search", Some(1.0)),
        Row::OpenItems => ("C6 open items", Some(1.0)),
        Row::StaleItems => ("C6 finished not open", Some(1.0)),
        Row::FalseOpen => ("C6 nothing else open", Some(1.0)),
        Row::Failing => ("C7 failing now, with its line", Some(1.0)),
        Row::FalseFailing => ("C7 nothing else failing", Some(1.0)),
        Row::PairingSent => ("C8 pairing, contexts sent", Some(1.0)),
        Row::PairingCuts => ("C8 pairing, every cut", Some(1.0)),
        Row::Filled => ("C8 no empty content", Some(1.0)),
        Row::Size => ("C9 size, engine's count", Some(1.0)),
        Row::TrueSize => ("C9 size, o200k / 0.83", Some(1.0)),
        Row::SizeWithOverhead => ("C9 size, recorded overhead", None),
        Row::BytesById => ("C10 bytes by id", Some(1.0)),
        Row::Quotes => ("C10 named by 5 hits, five words", Some(0.99)),
        Row::QuotesPassage => ("C10 same, its passage shown", None),
        Row::QuotesTelling => ("C10 same, quotes of ≤ 5 entries", None),
        Row::Again => ("C11 again changes nothing", Some(1.0)),
        Row::Growth => ("C11 size constant over N", Some(1.0)),
        Row::Spread => ("C11 spread with what was said since", None),
        Row::Fabrication => ("C12 from the source", Some(1.0)),
        Row::InFlight => ("C13 re-entry", Some(0.95)),
        Row::CorrectionsAgent => ("C14 new below old, agent sessions", Some(1.0)),
        Row::CorrectionsChat => ("C14 new below old, chats", Some(1.0)),
        Row::CorrectionsLonger => ("C14 same, the new one longer", None),
        Row::Deterministic => ("C15 determinism", Some(1.0)),
        Row::Reopened => ("C15 same after reopening", Some(1.0)),
        Row::Prefix => ("C16 prefix", Some(1.0)),
        Row::SavedNothing => ("C17 saved against nothing", Some(SOMETHING)),
        Row::SavedMasking => ("C17 saved against masking", Some(SOMETHING)),
        Row::SavedNative => ("C17 saved against recorded", Some(SOMETHING)),
        Row::SavedPruning => ("C17 saved by pruning", Some(SOMETHING)),
        Row::Dearer => ("C17 at most 5 % dearer for pruning", Some(1.0)),
        Row::Agreed => ("C18 notes, answers, plans in K", Some(1.0)),
        Row::AgreedListed => ("C18 same, in their section", None),
        Row::Compression => ("C19 whole ladder, agent sessions", None),
        Row::CompressionSummary => ("C19 taken out to its summary (S4)", ratio),
        Row::CompressionSummarize => ("C19 summarize, agent sessions", None),
        Row::CompressionFull => ("C19 full, agent sessions", None),
        Row::CompressionPrune => ("C19 prune", None),
        Row::CompressionChat => ("C19 whole ladder, chats", None),
        Row::PreciseSaid => ("P user's words are the user's", Some(0.95)),
        Row::PreciseAgreed => ("P agreed was agreed", Some(0.95)),
        Row::PreciseRead => ("P read files were read", Some(0.95)),
        Row::Tail => ("T recent messages kept", Some(1.0)),
    }
}

impl Row {
    pub(super) fn name(self) -> &'static str {
        rule(self, 0).0
    }

    pub(super) fn must(self, window: u32) -> Option<f64> {
        rule(self, window).1
    }

    /// Before to after, not a share.
    pub(super) fn is_ratio(self) -> bool {
        matches!(
            self,
            Row::Compression
                | Row::CompressionSummary
                | Row::CompressionSummarize
                | Row::CompressionFull
                | Row::CompressionPrune
                | Row::CompressionChat
        )
    }

    /// A figure of this row, for people.
    pub(super) fn show(self, value: f64) -> String {
        match self.is_ratio() {
            true => format!("{value:.1} : 1"),
            false => format!("{:.2} %", value * 100.0),
        }
    }

    /// What it must reach, for people.
    pub(super) fn show_must(self, window: u32) -> String {
        match self.must(window) {
            None => String::new(),
            Some(must) if self.is_ratio() => format!("{must:.0} : 1"),
            Some(must) if must < 0.01 => "> 0 %".to_owned(),
            Some(must) => format!("{:.0} %", must * 100.0),
        }
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
    /// What was missed, with the case.
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
    fn figure(&mut self, row: Row, good: i64, all: i64) -> &mut Figure {
        let figure = self.scores.figures.entry((self.window, row)).or_default();
        let case = figure.cases.entry(self.case.clone()).or_default();
        for share in [&mut figure.sum, case] {
            share.all += all;
            share.good += good;
        }
        figure
    }

    /// Notes one check.
    pub(super) fn note(&mut self, row: Row, good: bool, what: impl FnOnce() -> String) {
        let case = self.case.clone();
        let figure = self.figure(row, i64::from(good), 1);
        if !good && figure.misses.len() < MISSES {
            figure.misses.push((case, what()));
        }
    }

    /// Notes what was saved of a bill; the sum over all sessions counts.
    pub(super) fn saved(&mut self, row: Row, ours: f64, other: f64) {
        self.figure(row, (other - ours) as i64, other as i64);
    }

    /// Notes tokens before and after.
    pub(super) fn compressed(&mut self, row: Row, before: u32, after: u32) {
        self.figure(row, before.into(), after.into());
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
            .filter(|((window, row), figure)| {
                row.must(*window)
                    .is_some_and(|must| figure.sum.value() < must)
            })
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
                    "mustReach": row.must(*window),
                    "pass": row.must(*window).map(|must| figure.sum.value() >= must),
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
