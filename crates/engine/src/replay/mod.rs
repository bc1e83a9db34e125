//! Replay: a recorded session run through the engine at a chosen window.
//!
//! Every recorded answer was a request once. Before each of them the engine is
//! asked what it would do, with its own context instead of the recorded one;
//! what it does is an event. At the end a report says what it would have cost,
//! kept and lost, beside doing nothing and beside what the recording agent did.
//! The source is only read.

mod bills;
mod kept;
mod report;
mod site;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use futures::executor::block_on;
use longhaul_compaction::cost::{Prices, Since};
use longhaul_model::{CancellationToken, Model};
use longhaul_tokens::{Sample, Tokens, Window};
use longhaul_transcript::{Body, Entry, Millis, Role, Session, Stamp};

pub use report::{NativeRow, Point, ReplayReport, Row, Totals};

use self::bills::Bills;
use self::kept::Kept;
use crate::checkpoints::{Untouched, Whose};
use crate::compactor::{Bench, Compactor, Course, Site};
use crate::config::Config;
use crate::error::Result;
use crate::event::Event;
use crate::live::Live;
use crate::measure::{Meter, tokens, usage};
use crate::state::SessionState;

/// How to replay.
pub struct Options<'a> {
    /// The window.
    pub window: &'a Window,
    /// Everything that is set. Whether compactions happen by themselves and how
    /// many may does not matter: a replay wants to see them all.
    pub config: &'a Config,
    /// What the model's tokens cost.
    pub prices: Prices,
    /// Who writes the summaries; without one they are extracted, so that the same
    /// session gives the same report and nobody is asked.
    pub summaries: Option<Summaries>,
    /// Milliseconds of a clock, for saying how long compactions take.
    pub clock: &'a dyn Fn() -> f64,
}

/// Who writes the summaries of a replay.
#[derive(Clone)]
pub struct Summaries {
    /// The model. It is asked while the caller waits, so whoever has one calls
    /// from inside the runtime that serves it.
    pub model: Arc<dyn Model>,
    /// Stops it.
    pub cancel: CancellationToken,
}

/// Replays a session. `stamp` names the entries the engine writes.
pub fn replay(
    session: &Session,
    options: &Options<'_>,
    stamp: &mut dyn FnMut(Option<Millis>) -> Stamp,
    on_event: &mut dyn FnMut(&Event, &Progress),
) -> Result<(ReplayReport, Vec<Entry>)> {
    let config = options.config;
    let tree = session.tree()?;
    let path: HashMap<_, _> = tree
        .path()
        .into_iter()
        .enumerate()
        .map(|(at, node)| (tree.nodes()[node].id.clone(), at))
        .collect();
    let kept = Arc::new(Kept::new(config.checkpoint_policy()));
    let mut run = Run {
        options,
        bench: Bench {
            live: Live::new_with(session.header().clone(), config.state_capture()),
            meter: Meter::new(config.tokens.estimator),
            window: *options.window,
            state: SessionState::default(),
            course: Course::default(),
            whose: Whose::of(session),
            store: Arc::clone(&kept) as _,
            notebook: Box::new(Untouched(None)),
            stored: Some(HashMap::new()),
        },
        bills: Bills::new(options.prices),
        report: ReplayReport::new(session, options.window),
        written: Vec::new(),
        model: String::new(),
        counted: 0,
        overhead: Tokens::ZERO,
        shared: None,
        last_request: None,
        since: Since::Never,
        time: None,
        last_counted: Tokens::ZERO,
        kept,
        gauged: false,
        progress: Progress {
            entries: 0,
            of: path.len(),
            tokens: Tokens::ZERO,
            window: options.window.size(),
            turns: 0,
        },
        stamp,
        on_event,
    };
    let mut ended = Ok(());
    session.each(&mut |entry| {
        if path.contains_key(&entry.id) {
            ended = run.take(entry);
        }
        match ended {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    ended?;
    let written = std::mem::take(&mut run.written);
    Ok((run.finish(), written))
}

/// How far a replay is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Entries replayed.
    pub entries: usize,
    /// Entries in all.
    pub of: usize,
    /// Tokens in the context.
    pub tokens: Tokens,
    /// The window.
    pub window: Tokens,
    /// Turns so far.
    pub turns: usize,
}

struct Run<'a, 'o> {
    options: &'o Options<'o>,
    bench: Bench,
    bills: Bills,
    report: ReplayReport,
    written: Vec<Entry>,
    /// The model that answered last.
    model: String,
    /// Our count of the context's messages.
    counted: u64,
    /// What a request has beside them, learnt from the first answer.
    overhead: Tokens,
    /// Our count of the messages at the start of the context that the last
    /// request had too, if something was rewritten since.
    shared: Option<Tokens>,
    last_request: Option<Millis>,
    since: Since,
    /// When the request leaves that is looked at.
    time: Option<Millis>,
    /// Our count of the last request's messages.
    last_counted: Tokens,
    kept: Arc<Kept>,
    gauged: bool,
    progress: Progress,
    stamp: &'a mut dyn FnMut(Option<Millis>) -> Stamp,
    on_event: &'a mut dyn FnMut(&Event, &Progress),
}

impl Run<'_, '_> {
    fn take(&mut self, entry: Entry) -> Result<()> {
        self.progress.entries += 1;
        match &entry.body {
            // The recording agent's own compactions are only compared with.
            Body::Compaction(compaction) => {
                let event = Event::NativeCompaction {
                    entry: entry.id.clone(),
                    tokens_before: compaction.tokens_before,
                };
                self.report.native.push(NativeRow::new(&entry, compaction));
                self.emit(event);
                return Ok(());
            }
            Body::ContextEdit(_) => return Ok(()),
            _ => {}
        }
        if entry.role() == Some(&Role::Assistant) {
            self.before_request(&entry)?;
        }
        self.progress.turns += usize::from(crate::catalog::is_prompt(&entry));
        self.push(entry);
        Ok(())
    }

    fn emit(&mut self, event: Event) {
        self.progress.tokens = self.tokens();
        (self.on_event)(&event, &self.progress);
        self.report.note(&event, self.progress.entries);
    }

    fn push(&mut self, entry: Entry) {
        let before = self.bench.live.messages().len();
        self.keep(entry);
        for message in &self.bench.live.messages()[before..] {
            self.counted += u64::from(self.bench.meter.message(message).0);
            self.bills.unmanaged(message, &mut self.bench.meter);
        }
    }

    /// What is written can be recalled.
    fn keep(&mut self, entry: Entry) {
        self.bench
            .stored
            .get_or_insert_default()
            .insert(entry.id.clone(), entry.time);
        self.written.push(entry.clone());
        self.bench.live.push(entry);
    }

    /// Our count of the context's messages.
    fn messages(&self) -> Tokens {
        tokens(self.counted)
    }

    /// Our context now, as providers count it.
    fn tokens(&self) -> Tokens {
        self.overhead + self.messages().scale(self.factor())
    }

    fn factor(&self) -> f64 {
        self.bench.meter.factor(&self.model).value
    }

    /// A request is about to leave: the engine decides, then it is paid for.
    fn before_request(&mut self, answer: &Entry) -> Result<()> {
        self.learn_overhead(answer);
        let since = match (self.last_request, answer.time) {
            (Some(last), Some(now)) => Since::Seconds((now.0 - last.0) as f64 / 1000.0),
            _ => Since::Never,
        };
        (self.time, self.since) = (answer.time, since);
        let window = self.options.window;
        self.gauged &= self.size().at_most >= window.gauge();
        let mut compactor = Compactor::at(self);
        // Nobody is waited for but a model, and that one is asked elsewhere.
        block_on(compactor.climb())?;
        compactor.economise()?;
        let counted = self.messages();
        let shared = self.shared.take().unwrap_or(self.last_counted);
        self.last_counted = counted;
        let sample = self.bills.request(answer, shared, counted, since);
        let usage = answer.message().and_then(|message| message.usage());
        self.report.timeline.push(Point {
            at: self.progress.entries,
            longhaul: self.tokens(),
            unmanaged: self.bills.unmanaged_tokens(),
            recorded: usage.map(|usage| usage.input + usage.cache_read + usage.cache_write),
        });
        self.learn(answer, sample);
        self.last_request = answer.time.or(self.last_request);
        Ok(())
    }

    fn learn(&mut self, answer: &Entry, sample: Option<Sample>) {
        if let Some(model) = answer.message().and_then(|message| message.model())
            && model != self.model
        {
            self.model = model.into_owned();
        }
        if let Some(sample) = sample {
            self.bench.meter.observe(&self.model, sample);
        }
    }

    /// The first reported usage shows how much a request has that the
    /// transcript does not: system prompt and tools.
    fn learn_overhead(&mut self, answer: &Entry) {
        if self.overhead > Tokens::ZERO || self.bench.live.epoch() > 0 {
            return;
        }
        let reported = answer
            .message()
            .and_then(|message| message.usage())
            .map(usage);
        if let Some(reported) = reported {
            let counted = self.messages();
            // At a smaller window the recorded system prompt would not fit; an
            // agent with such a window has a smaller one.
            let largest = Tokens(self.options.window.size().0 / 5);
            self.overhead = (reported.prompt_tokens() - counted).min(largest);
            self.bills.overhead = self.overhead;
        }
    }

    /// Counts the context anew after something in it was rewritten.
    fn recount(&mut self) {
        self.counted = self
            .bench
            .live
            .messages()
            .iter()
            .map(|message| u64::from(self.bench.meter.message(message).0))
            .sum();
    }

    fn finish(self) -> ReplayReport {
        let mut report = self.report;
        report.saved = self.kept.take();
        let window = self.options.window;
        report.finish(&self.bench.live, &self.bills, self.progress, window);
        report
    }
}
