//! One session at one window: replayed, then compacted again and again.

use std::path::Path;

use longhaul_engine::replay::ReplayReport;
use longhaul_testkit::plants::says;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Body, ContextMessage, Entry, Millis, Role};

use super::chats::TIMES;
use super::drive::{Counters, Outcome, Played, Running, Setup, Store};
use super::kept::Kept;
use super::measures::{self, After, Budget};
use super::pairing;
use super::sample::Lines;
use super::score::{Row, Scores, Sheet};
use super::source::{self, Kind, Source};
use crate::Result;

/// After so many forced compactions the context is looked at.
const ROUNDS: [u32; 5] = [1, 2, 5, 10, 30];

/// How thorough a run is.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Entries looked up by a quote, per session and window.
    pub(super) quotes: usize,
    /// Forced compactions.
    pub(super) rounds: u32,
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
    let setup = Setup::new(size)?;
    let mut counters = setup.counters();
    let mut scores = Scores::default();
    let mut sheet = Sheet {
        scores: &mut scores,
        window: size,
        case: source.name.clone(),
    };
    let folder = scratch.join(format!("{}-{size}", source.name));
    std::fs::create_dir_all(&folder)?;
    truth_file(&mut sheet, source);

    let path = folder.join("source.jsonl");
    let mut note = |report: &ReplayReport| with_overhead(&mut sheet, report, &setup);
    let (entries, played) = played(source, &setup, &path, &mut note)?;
    let again = setup.play(&source.header, &entries, &path)?;
    let same = again.written.len() == played.written.len()
        && again
            .written
            .iter()
            .zip(&played.written)
            .all(|(a, b)| a.raw() == b.raw());
    sheet.note(Row::Deterministic, same, || "two replays differ".into());
    if source.kind == Kind::Agent {
        // What is planted was never paid for.
        let unplanted = setup.play(&source.header, &source.recorded, &path)?;
        costs(&mut sheet, source, &unplanted.report, size);
        let path = folder.join("unpruned.jsonl");
        let setup = setup.unpruned();
        let unpruned = setup.play(&source.header, &source.recorded, &path)?;
        pruning(&mut sheet, &unplanted.report, &unpruned.report);
    }

    let budget = budget(source, &setup, &mut counters);
    let mut session = follow(&mut sheet, source, &played, &setup, &mut counters);
    every_cut(&mut sheet, source);
    let store = session.store(&folder.join("replayed.jsonl"))?;
    let reopened = session.is_same_after_opening(&store)?;
    sheet.note(Row::Reopened, reopened, || {
        "the context differs after writing and opening".into()
    });
    sheet.case = format!("{} N=0", source.name);
    measures::state(&mut sheet, source, &session, &store, After::Replay, budget)?;
    rounds(
        &mut sheet,
        source,
        &setup,
        &mut counters,
        &mut session,
        effort,
        &folder,
        budget,
    )?;
    let last = Store::open(folder.join("round.jsonl"))?;
    measures::recoverable(&mut sheet, source, &session, &last, effort.quotes)?;
    if !effort.keep {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(scores)
}

/// A replay of a session, and the entries it took.
fn played(
    source: &Source,
    setup: &Setup,
    path: &Path,
    first: &mut dyn FnMut(&ReplayReport),
) -> Result<(Vec<Entry>, Played)> {
    let played = setup.play(&source.header, &source.entries, path)?;
    first(&played.report);
    if played.report.totals.overhead <= Tokens(setup.size / 4) {
        return Ok((source.entries.clone(), played));
    }
    // A system prompt larger than a quarter of the window leaves no room for
    // anything; the rest is measured without it.
    let entries = source::without_usage(&source.entries);
    let played = setup.play(&source.header, &entries, path)?;
    Ok((entries, played))
}

/// The lines of a summary of all of a session, for a reader.
pub(super) fn lines(source: &Source, size: u32, scratch: &Path) -> Result<Lines> {
    let setup = Setup::new(size)?;
    let path = scratch.join(format!("{}-{size}.jsonl", source.name));
    let (_, played) = played(source, &setup, &path, &mut |_| {})?;
    let mut session = Running::new(&source.header, played.report.totals.overhead);
    for entry in played.written {
        session.push(entry);
    }
    setup.force(&mut session, &mut setup.counters(), 1);
    Ok(Lines::of(source, &session, &Kept::of(&session)))
}

fn truth_file(sheet: &mut Sheet<'_>, source: &Source) {
    for at in 0..source.listed {
        let unread = source.unread.get(at);
        sheet.note(Row::SaidTruth, unread.is_none(), || {
            unread.cloned().unwrap_or_default()
        });
    }
}

/// Whether the user's words fit what a summary may give them.
fn budget(source: &Source, setup: &Setup, counters: &mut Counters) -> Budget {
    let said = source.truth.said.iter();
    let tokens: u32 = said.map(|text| counters.item(&text.said.text)).sum();
    match setup.words_budget() {
        budget if tokens <= budget => Budget::Fits,
        budget if tokens <= budget * TIMES => Budget::Past,
        _ => Budget::FarPast,
    }
}

/// Forces compactions with a short exchange between them.
#[allow(clippy::too_many_arguments)]
fn rounds(
    sheet: &mut Sheet<'_>,
    source: &Source,
    setup: &Setup,
    counters: &mut Counters,
    session: &mut Running,
    effort: Effort,
    folder: &Path,
    budget: Budget,
) -> Result<()> {
    let mut sizes: Vec<u32> = Vec::new();
    let mut compacted: Vec<u32> = Vec::new();
    for round in 1..=effort.rounds {
        if round > 1 {
            let time = Millis(session.time.0 + 20_000);
            let (asked, answered) = measures::round_words(round);
            session.push(says(
                &format!("round-{round:02}-user"),
                time,
                "user",
                &asked,
            ));
            session.push(says(
                &format!("round-{round:02}-answer"),
                time,
                "assistant",
                &answered,
            ));
        }
        sheet.case = format!("{} N={round}", source.name);
        // The first is what later ones are held against, so it has to come about.
        let outcome = match round {
            1 => setup.force(session, counters, round),
            _ => setup.ask(session, counters, round),
        };
        if outcome == Outcome::Failed {
            sheet.note(Row::Again, false, || "the forced compaction failed".into());
        }
        let tokens = counters.engine(&session.messages());
        sizes.push(tokens);
        if outcome == Outcome::Compacted {
            compacted.push(tokens);
            tail(sheet, session);
            again(sheet, setup, counters, session, round);
        }
        size(
            sheet,
            &session.messages(),
            session.overhead,
            setup,
            counters,
        );
        if ROUNDS.contains(&round) || round == effort.rounds {
            let store = session.store(&folder.join("round.jsonl"))?;
            measures::state(sheet, source, session, &store, After::Forced(round), budget)?;
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
    let steady = sizes.get(1..).unwrap_or_default();
    let least = steady.iter().min().copied().unwrap_or(0);
    let spread = f64::from(most(steady) - least);
    sheet.note(
        Row::Spread,
        spread <= 0.05 * f64::from(most(steady)),
        || format!("{least} to {} tokens: {sizes:?}", most(steady)),
    );
    Ok(())
}

/// Compacting again with nothing new changes nothing.
fn again(
    sheet: &mut Sheet<'_>,
    setup: &Setup,
    counters: &mut Counters,
    session: &Running,
    round: u32,
) {
    let before = session.context().to_json();
    let mut once_more = session.clone();
    let outcome = setup.force(&mut once_more, counters, 900 + round);
    let same = outcome == Outcome::NothingToDo
        || (outcome == Outcome::Compacted && same_text(&before, &once_more.context().to_json()));
    sheet.note(Row::Again, same, || {
        format!("compacting again with nothing new changes the context ({outcome:?})")
    });
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

/// C17. A session that never outgrows its window is sent whole either way, and
/// recordings ran in a window of 200,000.
fn costs(sheet: &mut Sheet<'_>, source: &Source, report: &ReplayReport, size: u32) {
    let totals = &report.totals;
    let ours = totals.cost_longhaul;
    if !report.compactions.is_empty() || !report.prunings.is_empty() {
        sheet.saved(Row::SavedNothing, ours, totals.cost_nothing);
        sheet.saved(Row::SavedMasking, ours, totals.cost_masking);
    }
    if size == 200_000
        && source.recorded_by_an_agent
        && let Some(native) = totals.cost_native
    {
        sheet.saved(Row::SavedNative, ours, native);
    }
}

/// C17. What hiding tool output comes to, for all sessions and for each.
fn pruning(sheet: &mut Sheet<'_>, pruned: &ReplayReport, unpruned: &ReplayReport) {
    if pruned.prunings.is_empty() {
        return;
    }
    let (ours, other) = (pruned.totals.cost_longhaul, unpruned.totals.cost_longhaul);
    sheet.saved(Row::SavedPruning, ours, other);
    sheet.note(Row::Dearer, ours <= other * 1.05, || {
        format!("{ours:.0} with pruning, {other:.0} without")
    });
}

/// Walks through what the replay wrote, looking at every context it sent.
fn follow(
    sheet: &mut Sheet<'_>,
    source: &Source,
    played: &Played,
    setup: &Setup,
    counters: &mut Counters,
) -> Running {
    let mut session = Running::new(&source.header, played.report.totals.overhead);
    let mut last: Vec<ContextMessage> = Vec::new();
    let mut rewritten = true;
    let mut pruning: Option<u32> = None;
    // Tokens before the first rewrite since the last request.
    let mut ladder = 0;
    for entry in &played.written {
        if entry.role() == Some(&Role::Assistant) {
            let messages = session.messages();
            let sent = pairing::sent(&session.context());
            let faults = pairing::faults(&sent);
            sheet.note(Row::PairingSent, faults.is_empty(), || {
                format!("before {}: {}", entry.id, faults.join("; "))
            });
            let empty = pairing::empty(&sent);
            sheet.note(Row::Filled, empty.is_empty(), || {
                format!("before {}: {}", entry.id, empty.join(" "))
            });
            size(sheet, &messages, session.overhead, setup, counters);
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
        let edit = matches!(entry.body, Body::ContextEdit(_));
        let rewrites = edit || matches!(entry.body, Body::Compaction(_));
        if rewrites && !rewritten {
            ladder = counters.independent(&session.messages());
        }
        if edit && pruning.is_none() {
            pruning = Some(counters.independent(&session.messages()));
        } else if !edit && let Some(before) = pruning.take() {
            let after = counters.independent(&session.messages());
            sheet.compressed(Row::CompressionPrune, before, after);
        }
        rewritten |= rewrites;
        let Body::Compaction(compaction) = &entry.body else {
            session.push(entry.clone());
            continue;
        };
        let before = counters.independent(&session.messages());
        session.push(entry.clone());
        let after = counters.independent(&session.messages());
        if source.kind == Kind::Chat {
            sheet.compressed(Row::CompressionChat, ladder.max(before), after);
        } else {
            let row = match compaction.layer.as_deref() {
                Some("full") => Row::CompressionFull,
                _ => Row::CompressionSummarize,
            };
            sheet.compressed(row, before, after);
            sheet.compressed(Row::Compression, ladder.max(before), after);
            // S4 27.9 asks how much smaller the summary is than what it stands for.
            let messages = session.messages();
            let summary = counters.independent(&messages[..messages.len().min(1)]);
            let out = (before + summary).saturating_sub(after);
            sheet.compressed(Row::CompressionSummary, out, summary);
        }
        tail(sheet, &session);
    }
    session
}

/// T: recent messages stay, whole or shortened.
fn tail(sheet: &mut Sheet<'_>, session: &Running) {
    sheet.note(Row::Tail, session.kept() > 0, || {
        let last = session.file.last().map(|entry| entry.id.to_string());
        format!("{} keeps no message", last.unwrap_or_default())
    });
}

fn with_overhead(sheet: &mut Sheet<'_>, report: &ReplayReport, setup: &Setup) {
    let hard = setup.window.hard();
    let above = report
        .timeline
        .iter()
        .filter(|point| point.longhaul > hard)
        .count();
    sheet.note(Row::SizeWithOverhead, above == 0, || {
        format!(
            "{above} of {} requests above {hard} (overhead {})",
            report.timeline.len(),
            report.totals.overhead
        )
    });
}

fn size(
    sheet: &mut Sheet<'_>,
    messages: &[ContextMessage],
    overhead: Tokens,
    setup: &Setup,
    counters: &mut Counters,
) {
    let hard = setup.window.hard();
    let ours = overhead + Tokens(counters.engine(messages));
    sheet.note(Row::Size, ours <= hard, || {
        format!("{ours} tokens, {hard} allowed")
    });
    let real = overhead + Tokens(counters.independent(messages));
    sheet.note(Row::TrueSize, real <= hard, || {
        format!("{real} tokens (ours {ours}), {hard} allowed")
    });
}

/// Cuts the whole session between any two messages.
fn every_cut(sheet: &mut Sheet<'_>, source: &Source) {
    for (cut, faults) in pairing::cuts(&source.entries).into_iter().enumerate() {
        sheet.note(Row::PairingCuts, faults.is_empty(), || {
            format!("cut at message {cut}: {}", faults.join("; "))
        });
    }
}
