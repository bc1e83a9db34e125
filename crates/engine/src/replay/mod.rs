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
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_checkpoint::{CheckpointId, Policy, Trigger as CheckpointTrigger};
use longhaul_compaction::cost::{Prices, Since, decide};
use longhaul_compaction::ladder::{self, Layers, Limits, Occasion, State, Step};
use longhaul_compaction::prune::PruneSettings;
use longhaul_compaction::summary::Limits as SummaryLimits;
use longhaul_compaction::{Breaker, BreakerRules, BreakerState, Layer, Trigger};
use longhaul_tokens::{Estimator, Gauge, Sample, Tokens, Window};
use longhaul_transcript::{Body, Draft, Entry, EntryId, Millis, Result, Role, Session, Stamp};

pub use report::{CheckpointRow, CompactionRow, NativeRow, Point, ReplayReport, Totals};

use self::bills::Bills;
use self::kept::Kept;
use crate::checkpoints::{Occasion as Saving, Whose, turn, with_checkpoint};
use crate::event::{CompactedEvent, Event};
use crate::live::{
    CacheTerms, CompactionFailure, CompactionRequest, CompactionRules, Live, Pruned, allowance,
};
use crate::measure::{Meter, usage};

/// How to replay.
pub struct Options<'a> {
    /// The window.
    pub window: &'a Window,
    /// What counts tokens.
    pub estimator: Estimator,
    /// Limits of pruning for this window.
    pub prune: PruneSettings,
    /// Tokens that stay verbatim, by layer, for this window.
    pub protect: &'a dyn Fn(Layer) -> Tokens,
    /// Compactions that happen by themselves at most. A replay wants to see
    /// them all, so this is usually large.
    pub max_auto: u32,
    /// The layers in use.
    pub layers: Layers,
    /// How large the parts of a compaction may be.
    pub rules: CompactionRules,
    /// When failures stop compaction.
    pub breaker: BreakerRules,
    /// What the model's tokens cost.
    pub prices: Prices,
    /// Requests to come that a rewrite may be paid back in.
    pub expected_turns: u32,
    /// Which checkpoints repeat the one before; they are kept in memory only.
    pub checkpoints: Policy,
    /// Milliseconds of a clock, for saying how long compactions take.
    pub clock: &'a dyn Fn() -> f64,
}

/// Replays a session. `stamp` names the entries the engine writes.
pub fn replay(
    session: &Session,
    options: &Options<'_>,
    stamp: &mut dyn FnMut(Option<Millis>) -> Stamp,
    on_event: &mut dyn FnMut(&Event, &Progress),
) -> Result<(ReplayReport, Vec<Entry>)> {
    let tree = session.tree()?;
    let path: std::collections::HashMap<_, _> = tree
        .path()
        .into_iter()
        .enumerate()
        .map(|(at, node)| (tree.nodes()[node].id.clone(), at))
        .collect();
    let mut run = Run {
        options,
        live: Live::new_with(session.header().clone(), options.checkpoints.capture),
        meter: Meter::new(options.estimator),
        breaker: Breaker::default(),
        bills: Bills::new(options.prices),
        report: ReplayReport::new(session, options.window),
        written: Vec::new(),
        stored: HashSet::new(),
        model: String::new(),
        counted: 0,
        overhead: Tokens::ZERO,
        shared: None,
        last_request: None,
        last_total: Tokens::ZERO,
        checkpointed: None,
        kept: Kept::new(Whose::of(session), options.checkpoints),
        gauged: false,
        looked_at: Tokens::ZERO,
        known_output: None,
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
    session.each(&mut |entry| {
        if path.contains_key(&entry.id) {
            run.take(entry);
        }
        ControlFlow::Continue(())
    })?;
    let written = std::mem::take(&mut run.written);
    Ok((run.finish(), written))
}

/// Growth of the context after which its cost is looked at again, for a window
/// of 200,000.
const LOOK_EVERY: Tokens = Tokens(10_000);

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
    live: Live,
    meter: Meter,
    breaker: Breaker,
    bills: Bills,
    report: ReplayReport,
    written: Vec<Entry>,
    stored: HashSet<EntryId>,
    /// The model that answered last.
    model: String,
    /// Our count of the context's messages.
    counted: u64,
    /// What a request has beside them, learnt from the first answer.
    overhead: Tokens,
    /// Tokens at the start of the context that the last request had too, if
    /// something was rewritten since.
    shared: Option<Tokens>,
    last_request: Option<Millis>,
    last_total: Tokens,
    /// The context's size at the last checkpoint.
    checkpointed: Option<Tokens>,
    kept: Kept,
    gauged: bool,
    /// The context's size when its cost was last looked at.
    looked_at: Tokens,
    known_output: Option<Output>,
    progress: Progress,
    stamp: &'a mut dyn FnMut(Option<Millis>) -> Stamp,
    on_event: &'a mut dyn FnMut(&Event, &Progress),
}

/// The tool output of a context.
#[derive(Clone, Copy)]
struct Output {
    /// The context's size when it was looked at.
    at: Tokens,
    tokens: Tokens,
    /// What durable pruning would free, and what it would rewrite.
    freed: Tokens,
    suffix: Tokens,
}

impl Run<'_, '_> {
    fn take(&mut self, entry: Entry) {
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
                return;
            }
            Body::ContextEdit(_) => return,
            _ => {}
        }
        if entry.role() == Some(&Role::Assistant) {
            self.before_request(&entry);
        }
        self.progress.turns += usize::from(crate::catalog::is_prompt(&entry));
        self.push(entry);
    }

    fn emit(&mut self, event: Event) {
        self.progress.tokens = self.tokens();
        (self.on_event)(&event, &self.progress);
        self.report.note(&event, self.progress.entries);
    }

    fn push(&mut self, entry: Entry) {
        let before = self.live.messages().len();
        self.keep(entry);
        for message in &self.live.messages()[before..] {
            self.counted += u64::from(self.meter.message(message).0);
            self.bills.unmanaged(message, &mut self.meter);
        }
    }

    /// What is written can be recalled.
    fn keep(&mut self, entry: Entry) {
        self.stored.insert(entry.id.clone());
        self.written.push(entry.clone());
        self.live.push(entry);
    }

    /// Our count of the context's messages.
    fn messages(&self) -> Tokens {
        Tokens::saturating(usize::try_from(self.counted).unwrap_or(usize::MAX))
    }

    /// Our context now.
    fn tokens(&self) -> Tokens {
        self.overhead + self.messages()
    }

    /// The context as large as it may be in truth: what providers were seen to
    /// find more than we count, and what a count may be short of without that.
    fn at_most(&self) -> Tokens {
        let estimator = self.options.estimator;
        let factor = self.meter.calibration().factor(&self.model, estimator);
        let messages = self.messages().scale(factor.max(1.0));
        self.overhead + messages + allowance(self.options.window, estimator, messages)
    }

    /// A request is about to leave: the engine decides, then it is paid for.
    fn before_request(&mut self, answer: &Entry) {
        self.learn_overhead(answer);
        let since = match (self.last_request, answer.time) {
            (Some(last), Some(now)) => Since::Seconds((now.0 - last.0) as f64 / 1000.0),
            _ => Since::Never,
        };
        self.decide(answer.time, since);
        self.economise(answer.time, since);
        let total = self.tokens();
        let shared = self.shared.take().unwrap_or(self.last_total);
        self.last_total = total;
        let sample =
            self.bills
                .request(answer, shared - self.overhead, total - self.overhead, since);
        self.learn(answer, sample);
        self.report.point(
            self.progress.entries,
            total,
            self.bills.unmanaged_tokens(),
            answer,
        );
        self.last_request = answer.time.or(self.last_request);
    }

    fn learn(&mut self, answer: &Entry, sample: Option<Sample>) {
        if let Some(model) = answer.message().and_then(|message| message.model())
            && model != self.model
        {
            self.model = model.into_owned();
        }
        if let Some(sample) = sample {
            self.meter.observe(&self.model, sample);
        }
    }

    /// The first reported usage shows how much a request has that the
    /// transcript does not: system prompt and tools.
    fn learn_overhead(&mut self, answer: &Entry) {
        if self.overhead > Tokens::ZERO || self.live.epoch() > 0 {
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

    fn decide(&mut self, time: Option<Millis>, since: Since) {
        let window = self.options.window;
        let mut tried: Vec<Layer> = Vec::new();
        loop {
            let context = self.tokens();
            let at_most = self.at_most();
            let state = self.state(at_most, &tried, since);
            if at_most < window.gauge() {
                self.gauged = false;
                if !state.cold {
                    return;
                }
            }
            let steps = ladder::plan(window, &state);
            let before = tried.len();
            for step in steps {
                match step {
                    Step::Gauge => self.gauge(context),
                    Step::Checkpoint => {
                        self.checkpointed = Some(context);
                        self.checkpoint(CheckpointTrigger::Threshold, context, time, false);
                    }
                    Step::Flush | Step::Notify => {}
                    Step::Blocked(block) => self.emit(Event::Blocked {
                        block,
                        tokens: context,
                    }),
                    Step::Compact(Layer::Prune) => {
                        tried.push(Layer::Prune);
                        self.prune(context, time);
                    }
                    Step::Compact(layer) => {
                        tried.push(layer);
                        self.compact(layer, context, time);
                    }
                }
            }
            // Nothing left to try; what succeeded is counted anew first.
            if tried.len() == before {
                return;
            }
        }
    }

    fn state(&mut self, context: Tokens, tried: &[Layer], since: Since) -> State {
        let explain = self.options.layers.prune
            && context >= self.options.window.checkpoint()
            && !tried.contains(&Layer::Prune);
        let (tool_output, prunable) = if explain {
            self.tool_output(context, since)
        } else {
            (Tokens::ZERO, Tokens::ZERO)
        };
        let moved = self.checkpointed.is_none_or(|at| {
            let moved = context.0.abs_diff(at.0);
            f64::from(moved) >= 0.05 * f64::from(self.options.window.size().0)
        });
        State {
            occasion: Occasion::Threshold,
            context,
            tool_output,
            prunable,
            prune_minimum: self.options.prune.minimum,
            epoch: self.live.epoch(),
            flushed_epoch: None,
            checkpointed: !moved,
            cold: self.is_cold(since) && self.expects_compaction(context),
            tried: tried.to_vec(),
            limits: Limits {
                auto_enabled: true,
                read_only: false,
                subagent: false,
                breaker_open: self.breaker.is_open(self.options.breaker),
                max_auto: self.options.max_auto,
                layers: self.options.layers,
            },
        }
    }

    /// Whether the provider has forgotten the last prompt.
    fn is_cold(&self, since: Since) -> bool {
        self.last_request.is_some() && !self.options.prices.is_warm(since)
    }

    /// Whether the context will have to be compacted, as far as anyone can tell:
    /// a session goes on for about as long as it has gone on already, at its own
    /// pace. And whether that would free what makes a rewrite worth while.
    fn expects_compaction(&self, context: Tokens) -> bool {
        let Options {
            window,
            protect,
            rules,
            ..
        } = self.options;
        let grows_to = context + self.bills.said();
        let protect = protect(Layer::Summarize);
        let kept = protect + Tokens(protect.0 / 2);
        let summary = SummaryLimits::new(window, Layer::Summarize, &rules.summary).total;
        let after = self.overhead + kept + summary;
        grows_to >= window.activation() && context >= after + self.options.prune.minimum
    }

    /// Tool output in the context, and how much of it is worth hiding. Looked
    /// at again only when the context has grown by a good piece.
    fn tool_output(&mut self, context: Tokens, since: Since) -> (Tokens, Tokens) {
        let step = self.options.window.scaled(LOOK_EVERY);
        let known = self
            .known_output
            .filter(|known| context >= known.at && context - known.at < step);
        let output = match known {
            Some(output) => output,
            None => {
                let pruned = self
                    .live
                    .prune(&mut self.meter, &self.options.prune, self.overhead);
                let (freed, suffix) = pruned.map_or((Tokens::ZERO, Tokens::ZERO), |pruned| {
                    (pruned.freed, pruned.suffix)
                });
                let mut tokens = Tokens::ZERO;
                for message in self.live.messages() {
                    if matches!(message.role, Role::ToolResult | Role::BashExecution) {
                        tokens += self.meter.message(message);
                    }
                }
                Output {
                    at: context,
                    tokens,
                    freed,
                    suffix,
                }
            }
        };
        self.known_output = Some(output);
        // A rewrite that frees too little for its price only puts off the
        // summary, which is the cheaper one of the two.
        let Options {
            prices,
            expected_turns,
            ..
        } = self.options;
        let verdict = decide(output.freed, output.suffix, prices, since, *expected_turns);
        let prunable = if verdict.now {
            output.freed
        } else {
            Tokens::ZERO
        };
        (output.tokens, prunable)
    }

    fn gauge(&mut self, context: Tokens) {
        if self.gauged {
            return;
        }
        self.gauged = true;
        let line = Gauge {
            used: context,
            window: self.options.window,
            checkpoint: self.kept.note(self.live.epoch()),
        }
        .line();
        if let Some(line) = line {
            self.emit(Event::Gauge {
                tokens: context,
                line,
            });
        }
    }

    /// Looks whether hiding tool output now saves money. A look costs as much
    /// as the context is long, so it is taken only when the cache is cold or
    /// the context has grown by a good piece.
    fn economise(&mut self, time: Option<Millis>, since: Since) {
        if !self.options.layers.prune {
            return;
        }
        let context = self.tokens();
        let step = self.options.window.scaled(LOOK_EVERY);
        let cold = self.is_cold(since);
        if context < self.looked_at + step
            && !(cold && context > self.looked_at + Tokens(step.0 / 4))
        {
            self.looked_at = self.looked_at.min(context);
            return;
        }
        self.looked_at = context;
        let terms = CacheTerms {
            prices: &self.options.prices,
            since,
            expected_turns: self.options.expected_turns,
        };
        let Some((pruned, verdict)) =
            self.live
                .prune_if_cheaper(&mut self.meter, &self.options.prune, &terms, self.overhead)
        else {
            return;
        };
        self.hide(pruned, context, time, verdict.to_string());
        self.looked_at = self.tokens();
    }

    fn prune(&mut self, context: Tokens, time: Option<Millis>) {
        let Some(pruned) = self
            .live
            .prune(&mut self.meter, &self.options.prune, self.overhead)
        else {
            return;
        };
        self.hide(
            pruned,
            context,
            time,
            "tool output above its threshold".into(),
        );
    }

    fn hide(&mut self, pruned: Pruned, context: Tokens, time: Option<Millis>, reason: String) {
        let shared = self.shared;
        for draft in &pruned.drafts {
            self.append(draft, time);
        }
        self.recount();
        let after = self.tokens();
        let unchanged = after - pruned.suffix;
        self.shared = Some(shared.map_or(unchanged, |shared| shared.min(unchanged)));
        self.emit(Event::Pruned {
            results: pruned.results,
            tokens_before: context,
            tokens_after: after,
            reason,
        });
    }

    fn compact(&mut self, layer: Layer, context: Tokens, time: Option<Millis>) {
        let begun = (self.options.clock)();
        let request = CompactionRequest {
            layer,
            trigger: Trigger::Auto,
            focus: None,
            window: self.options.window,
            protect: (self.options.protect)(layer),
            overhead: self.overhead,
            tokens_before: context,
            rules: self.options.rules,
            is_stored: &|id| self.stored.contains(id),
        };
        let compacted = match self.live.compact(&mut self.meter, &request) {
            Ok(compacted) => compacted,
            Err(CompactionFailure::NothingToDo) => return,
            Err(failure) => {
                self.failed(failure.to_string());
                return;
            }
        };
        let saving = CheckpointTrigger::Compaction;
        let checkpoint = self.checkpoint(saving, context, time, compacted.splits_turn);
        let draft = with_checkpoint(compacted.draft, Some(checkpoint));
        let written = self.entry(&draft, time);
        let entry = written.id.clone();
        self.stored.insert(entry.clone());
        self.written.push(written.clone());
        self.live.push_compaction(written, compacted.base);
        let milliseconds = (self.options.clock)() - begun;
        self.recount();
        self.shared = Some(self.overhead);
        let after = self.tokens();
        let rules = self.options.breaker;
        if self.breaker.finished(context, after, rules) == BreakerState::Open {
            let reasons = self.breaker.reasons.clone();
            self.emit(Event::BreakerOpened { reasons });
        }
        self.emit(Event::Compacted(Box::new(CompactedEvent {
            entry,
            epoch: self.live.epoch(),
            layer,
            trigger: Trigger::Auto,
            checkpoint: checkpoint.to_string(),
            tokens_before: context,
            tokens_after: after,
            messages_compacted: compacted.removed.messages,
            messages_kept: compacted.kept_messages,
            summarizer: compacted.summarizer,
            milliseconds,
            splits_turn: compacted.splits_turn,
            fidelity: compacted.fidelity,
            notes: compacted.notes,
        })));
    }

    /// Saves the work as it is before something is done to the context.
    fn checkpoint(
        &mut self,
        trigger: CheckpointTrigger,
        tokens: Tokens,
        time: Option<Millis>,
        splits_turn: bool,
    ) -> CheckpointId {
        let saving = Saving {
            at: time.unwrap_or_default(),
            trigger,
            tokens,
            window: self.options.window.size(),
            turn: turn(&self.live, splits_turn),
        };
        let (id, event) = self.kept.write(&self.live, &saving);
        self.emit(event);
        id
    }

    fn failed(&mut self, reason: String) {
        let opened = self.breaker.failed(reason.clone(), self.options.breaker);
        self.emit(Event::Failed { reason });
        if opened == BreakerState::Open {
            let reasons = self.breaker.reasons.clone();
            self.emit(Event::BreakerOpened { reasons });
        }
    }

    /// Appends what the engine itself writes.
    fn append(&mut self, draft: &Draft, time: Option<Millis>) {
        let entry = self.entry(draft, time);
        self.keep(entry);
    }

    fn entry(&mut self, draft: &Draft, time: Option<Millis>) -> Entry {
        let stamp = (self.stamp)(time);
        let parent = self.written.last().map(|entry| entry.id.clone());
        draft.to_entry(&stamp, parent.as_ref())
    }

    /// Counts the context anew after something in it was rewritten.
    fn recount(&mut self) {
        self.known_output = None;
        self.counted = self
            .live
            .messages()
            .iter()
            .map(|message| u64::from(self.meter.message(message).0))
            .sum();
    }

    fn finish(self) -> ReplayReport {
        let mut report = self.report;
        report.saved = self.kept.into_list();
        report.finish(&self.live, &self.bills, self.progress);
        report
    }
}
