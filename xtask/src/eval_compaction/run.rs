//! One session at one window: replayed, then compacted again and again.

use std::path::Path;

use longhaul_compaction::cost::Prices;
use longhaul_compaction::prune::{ArrivalTrim, PruneSettings};
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::config::{Config, Layer as Configured};
use longhaul_engine::live::{CompactionFailure, CompactionRequest, Live};
use longhaul_engine::measure::Meter;
use longhaul_engine::replay::{Options, ReplayReport, replay};
use longhaul_tokens::{Estimator, Tokens, Window};
use longhaul_transcript::{
    Body, ContextMessage, Entry, EntryId, Millis, Role, Session, Stamp, write_path,
};

use super::checks::{self, After, View};
use super::pairing;
use super::score::{Row, Scores, Sheet};
use super::source::{self, Source};
use crate::Result;

/// After so many forced compactions the context is looked at.
const ROUNDS: [u32; 5] = [1, 2, 5, 10, 30];
/// o200k finds so many of a Claude token.
const O200K_SHARE: f64 = 0.83;

/// How thorough a run is.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Entries looked up by a quote, per session and window.
    pub(super) quotes: usize,
    /// Whether the files stay.
    pub(super) keep: bool,
}

/// Measures one session at one window.
pub(super) fn measure(
    source: &Source,
    size: u32,
    effort: Effort,
    scratch: &Path,
) -> Result<Scores> {
    let config = Config::default();
    let window =
        Window::new(&config.window_settings(Tokens(size))).map_err(|error| error.to_string())?;
    let mut scores = Scores::default();
    let mut sheet = Sheet {
        scores: &mut scores,
        window: size,
        case: source.name.clone(),
    };
    let setup = Setup {
        config: &config,
        window: &window,
    };
    let folder = scratch.join(format!("{}-{size}", source.name));
    std::fs::create_dir_all(&folder)?;

    let mut entries = source.entries.clone();
    let mut played = setup.play(source, &entries, &folder.join("source.jsonl"))?;
    let large = Tokens(size / 4);
    let recorded = &played.report;
    let over = |report: &ReplayReport| {
        let over = report
            .timeline
            .iter()
            .filter(|point| point.longhaul > window.hard());
        (over.count(), report.timeline.len())
    };
    let (above, of) = over(recorded);
    sheet.note(Row::SizeWithOverhead, above == 0, || {
        format!(
            "{above} of {of} requests above {} (overhead {} of {size})",
            window.hard(),
            recorded.totals.overhead
        )
    });
    if recorded.totals.overhead > large {
        // A system prompt larger than a quarter of the window leaves no room
        // for anything; the rest is measured without it.
        entries = source::without_usage(&entries);
        played = setup.play(source, &entries, &folder.join("source-without.jsonl"))?;
    }

    let again = setup.play(source, &entries, &folder.join("source-again.jsonl"))?;
    let same = again.written.len() == played.written.len()
        && again
            .written
            .iter()
            .zip(&played.written)
            .all(|(a, b)| a.raw() == b.raw());
    sheet.note(Row::Deterministic, same, || "two replays differ".into());
    // What is planted was never paid for.
    let unplanted = setup.play(
        source,
        &source.recorded,
        &folder.join("source-recorded.jsonl"),
    )?;
    costs(&mut sheet, source, &unplanted.report, size);

    let view = View::new(source, &entries);
    let mut meter = Meter::new(config.tokens.estimator);
    // What o200k makes of generated text says little about real tokens.
    let mut bpe = (!source.knows_shell).then(|| Meter::new(Estimator::O200k));
    let mut live = follow(&mut sheet, source, &played, &window, &mut meter, &mut bpe);
    every_cut(&mut sheet, &entries);

    let mut file = Written {
        path: folder.join("replayed.jsonl"),
        entries: played.written.clone(),
    };
    let session = file.store(source)?;
    reopened(&mut sheet, &session, &live)?;
    sheet.case = format!("{} N=0", source.name);
    checks::state(&mut sheet, &view, &live, &session, After::Replay)?;

    let overhead = played.report.totals.overhead;
    let mut sizes: Vec<u32> = Vec::new();
    let mut compacted: Vec<u32> = Vec::new();
    let mut last_time = file
        .entries
        .last()
        .and_then(|entry| entry.time)
        .unwrap_or(Millis(0));
    for round in 1..=*ROUNDS.last().unwrap_or(&1) {
        if round > 1 {
            last_time = Millis(last_time.0 + 20_000);
            let say = |role: &str, text: String| {
                source::message(format!("round-{round:02}-{role}"), last_time, role, &text)
            };
            for entry in [
                say("user", format!("Round {round}: how is it going?")),
                say("assistant", format!("Round {round}: nothing new to tell.")),
            ] {
                file.entries.push(entry.clone());
                live.push(entry);
            }
        }
        sheet.case = format!("{} N={round}", source.name);
        let outcome = setup.force(
            &mut live,
            &mut meter,
            overhead,
            round,
            last_time,
            &mut file.entries,
        );
        if outcome == Outcome::Failed {
            sheet.note(Row::Again, false, || "the forced compaction failed".into());
        }
        if outcome == Outcome::Compacted {
            let before = context_json(&live);
            let mut once_more = live.clone();
            let mut unused = Vec::new();
            let outcome = setup.force(
                &mut once_more,
                &mut meter,
                overhead,
                900 + round,
                last_time,
                &mut unused,
            );
            let same = outcome == Outcome::NothingToDo
                || (outcome == Outcome::Compacted && same_text(&before, &context_json(&once_more)));
            sheet.note(Row::Again, same, || {
                format!("compacting again with nothing new changes the context ({outcome:?})")
            });
        }
        let tokens: u32 = live
            .context()
            .messages
            .iter()
            .map(|message| meter.message(message).0)
            .sum();
        sizes.push(tokens);
        if outcome == Outcome::Compacted {
            compacted.push(tokens);
        }
        check_size(
            &mut sheet,
            &live.context().messages,
            overhead,
            &window,
            &mut meter,
            &mut bpe,
        );
        if ROUNDS.contains(&round) {
            file.path = folder.join(format!("round-{round}.jsonl"));
            let session = file.store(source)?;
            checks::state(&mut sheet, &view, &live, &session, After::Forced(round))?;
        }
    }
    // No compaction may leave more than the first one did: neither the summary
    // nor the tail grows. Between two that find something to do the context
    // grows by what is said, which is not theirs.
    let most = |sizes: &[u32]| sizes.iter().max().copied().unwrap_or(0);
    let first = compacted.first().copied().unwrap_or(0);
    let grown = f64::from(most(&compacted)) > 1.05 * f64::from(first);
    sheet.case = source.name.clone();
    sheet.note(Row::Growth, !grown, || {
        format!("sizes after compactions grow: {compacted:?}")
    });
    let steady = &sizes[1..];
    let least = steady.iter().min().copied().unwrap_or(0);
    let spread = most(steady) - least;
    sheet.note(
        Row::Spread,
        f64::from(spread) <= 0.05 * f64::from(most(steady)),
        || {
            format!(
                "{least} to {} tokens from the second compaction on: {sizes:?}",
                most(steady)
            )
        },
    );
    let session = Session::open(&file.path)?;
    checks::recoverable(&mut sheet, &view, &live, &session, effort.quotes)?;
    if !effort.keep {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(scores)
}

struct Setup<'c> {
    config: &'c Config,
    window: &'c Window,
}

struct Played {
    report: ReplayReport,
    written: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Compacted,
    NothingToDo,
    Failed,
}

impl Setup<'_> {
    fn protect(&self, layer: Layer) -> Tokens {
        let configured = match layer {
            Layer::Prune => Configured::Prune,
            Layer::Summarize | Layer::Emergency => Configured::Summarize,
            Layer::Full => Configured::Full,
        };
        self.window.scaled(self.config.protected_tail(configured))
    }

    fn play(&self, source: &Source, entries: &[Entry], path: &Path) -> Result<Played> {
        write_path(path, &source.header, entries)?;
        let session = Session::open(path)?;
        let prune = &self.config.compaction.prune;
        let arrival = &prune.on_arrival;
        let chars = |count: u32| count as usize;
        let protect = |layer: Layer| self.protect(layer);
        let model = entries
            .iter()
            .filter_map(|entry| entry.message()?.model().map(|model| model.into_owned()))
            .next()
            .unwrap_or_default();
        let options = Options {
            window: self.window,
            estimator: self.config.tokens.estimator,
            prune: PruneSettings {
                protect_tail: self.window.scaled(prune.protect_recent_tokens),
                after_rounds: self.config.prune_after_rounds(),
                whole_records: chars(arrival.whole_records),
                minimum: self.window.scaled(prune.prune_minimum_tokens),
                arrival: arrival.enabled.then(|| ArrivalTrim {
                    result_chars: chars(arrival.result_chars),
                    result_tail_chars: chars(arrival.result_tail_chars),
                    file_chars: chars(arrival.file_chars),
                }),
            },
            protect: &protect,
            layers: self.config.layers(),
            breaker: self.config.breaker_rules(),
            rules: self.config.compaction_rules(),
            max_auto: u32::MAX,
            prices: Prices::of_model(&model),
            expected_turns: 20,
            checkpoints: self.config.checkpoint_policy(),
            clock: &|| 0.0,
        };
        let mut count = 0u64;
        let (report, written) = replay(
            &session,
            &options,
            &mut |time| {
                count += 1;
                Stamp {
                    id: EntryId::new(format!("longhaul-{count:06}")),
                    time: time.unwrap_or(Millis(0)),
                }
            },
            &mut |_, _| {},
        )?;
        Ok(Played { report, written })
    }

    fn force(
        &self,
        live: &mut Live,
        meter: &mut Meter,
        overhead: Tokens,
        round: u32,
        time: Millis,
        written: &mut Vec<Entry>,
    ) -> Outcome {
        let tokens: u32 = live
            .context()
            .messages
            .iter()
            .map(|message| meter.message(message).0)
            .sum();
        let request = CompactionRequest {
            layer: Layer::Summarize,
            trigger: Trigger::Manual,
            focus: None,
            window: self.window,
            protect: self.protect(Layer::Summarize),
            overhead,
            tokens_before: overhead + Tokens(tokens),
            rules: self.config.compaction_rules(),
            is_stored: &|id| written.iter().any(|entry| entry.id == *id),
        };
        match live.compact(meter, &request) {
            Ok(compacted) => {
                let stamp = Stamp {
                    id: EntryId::new(format!("forced-{round:04}")),
                    time,
                };
                let parent = live.entries().last().map(|entry| entry.id.clone());
                let entry = compacted.draft.to_entry(&stamp, parent.as_ref());
                written.push(entry.clone());
                live.push(entry);
                Outcome::Compacted
            }
            Err(CompactionFailure::NothingToDo) => Outcome::NothingToDo,
            Err(_) => Outcome::Failed,
        }
    }
}

/// The file as it grows.
struct Written {
    path: std::path::PathBuf,
    entries: Vec<Entry>,
}

impl Written {
    fn store(&self, source: &Source) -> Result<Session> {
        write_path(&self.path, &source.header, &self.entries)?;
        Ok(Session::open(&self.path)?)
    }
}

fn context_json(live: &Live) -> String {
    live.context().to_json()
}

/// Whether two contexts say the same; the epoch and the times may differ.
fn same_text(a: &str, b: &str) -> bool {
    let plain = |text: &str| -> String {
        let mut plain = String::with_capacity(text.len());
        for (at, part) in text.split("[longhaul summary, epoch ").enumerate() {
            plain.push_str(match at {
                0 => part,
                _ => part.trim_start_matches(|c: char| c.is_ascii_digit()),
            });
        }
        plain
    };
    plain(a) == plain(b)
}

fn costs(sheet: &mut Sheet<'_>, source: &Source, report: &ReplayReport, size: u32) {
    let totals = &report.totals;
    let ours = totals.cost_longhaul;
    let mut cheaper = |row: Row, saved: Row, other: f64, name: &str| {
        sheet.saved(saved, ours, other);
        sheet.note(row, ours < other, || {
            format!(
                "{ours:.0} against {other:.0} {name} ({:+.1} %)",
                (ours / other - 1.0) * 100.0
            )
        });
    };
    // A session that never outgrows its window is sent whole either way.
    if !report.compactions.is_empty() || !report.prunings.is_empty() {
        cheaper(
            Row::CostNothing,
            Row::SavedNothing,
            totals.cost_nothing,
            "with nothing removed",
        );
        cheaper(
            Row::CostMasking,
            Row::SavedMasking,
            totals.cost_masking,
            "with old output masked",
        );
    }
    // The recording ran in a window of 200,000; a generator compacts nothing.
    if size == 200_000
        && !source.knows_shell
        && let Some(native) = totals.cost_native
    {
        cheaper(Row::CostNative, Row::SavedNative, native, "as recorded");
    }
}

/// Walks through what the replay wrote, looking at every context it sent.
fn follow(
    sheet: &mut Sheet<'_>,
    source: &Source,
    played: &Played,
    window: &Window,
    meter: &mut Meter,
    bpe: &mut Option<Meter>,
) -> Live {
    let overhead = played.report.totals.overhead;
    let mut live = Live::new(source.header.clone());
    let mut last: Vec<ContextMessage> = Vec::new();
    let mut rewritten = true;
    let mut compactions = 0;
    let mut said: Vec<String> = Vec::new();
    for entry in &played.written {
        if entry.role() == Some(&Role::Assistant) {
            let messages = live.context().messages;
            let sent = pairing::sent(&live.context());
            let faults = pairing::faults(&sent);
            sheet.note(Row::PairingSent, faults.is_empty(), || {
                format!("before {}: {}", entry.id, faults.join("; "))
            });
            let empty = pairing::empty(&sent);
            sheet.note(Row::Filled, empty.is_empty(), || {
                format!("before {}: {}", entry.id, empty.join(" "))
            });
            check_size(sheet, &messages, overhead, window, meter, bpe);
            if !rewritten {
                let kept = last.len() <= messages.len()
                    && last
                        .iter()
                        .zip(&messages)
                        .all(|(a, b)| a.json() == b.json());
                sheet.note(Row::Prefix, kept, || {
                    format!("rewritten before {}", entry.id)
                });
            }
            last = messages;
            rewritten = false;
        }
        if longhaul_engine::catalog::is_prompt(entry)
            && let Some(message) = entry.message()
        {
            said.push(message.text());
        }
        rewritten |= matches!(entry.body, Body::Compaction(_) | Body::ContextEdit(_));
        live.push(entry.clone());
        if matches!(entry.body, Body::Compaction(_)) {
            compactions += 1;
            if compactions == 1 && window.size() == Tokens(200_000) {
                checks::verbatim(sheet, source, &said, &live);
            }
        }
    }
    live
}

fn check_size(
    sheet: &mut Sheet<'_>,
    messages: &[ContextMessage],
    overhead: Tokens,
    window: &Window,
    meter: &mut Meter,
    bpe: &mut Option<Meter>,
) {
    let counted: u32 = messages
        .iter()
        .map(|message| meter.message(message).0)
        .sum();
    let ours = overhead + Tokens(counted);
    sheet.note(Row::Size, ours <= window.hard(), || {
        format!("{ours} tokens, {} allowed", window.hard())
    });
    let Some(bpe) = bpe else { return };
    let exact: u32 = messages.iter().map(|message| bpe.message(message).0).sum();
    let real = overhead + Tokens((f64::from(exact) / O200K_SHARE) as u32);
    sheet.note(Row::TrueSize, real <= window.hard(), || {
        format!("{real} tokens (ours {ours}), {} allowed", window.hard())
    });
}

/// Cuts the whole session between any two messages.
fn every_cut(sheet: &mut Sheet<'_>, entries: &[Entry]) {
    for (cut, faults) in pairing::cuts(entries).into_iter().enumerate() {
        sheet.note(Row::PairingCuts, faults.is_empty(), || {
            format!("cut at message {cut}: {}", faults.join("; "))
        });
    }
}

fn reopened(sheet: &mut Sheet<'_>, session: &Session, live: &Live) -> Result<()> {
    let opened = Live::open(session)?;
    let same = opened.context().to_json() == live.context().to_json();
    sheet.note(Row::Reopened, same, || {
        "the context differs after writing and opening".into()
    });
    let same = serde_json::to_string(opened.ledger())? == serde_json::to_string(live.ledger())?;
    sheet.note(Row::Reopened, same, || {
        "the ledger differs after writing and opening".into()
    });
    Ok(())
}
