//! The sweep: a long session replayed whole, at growing lengths.
//!
//! A recorded session is repeated, each time under new ids and later times,
//! until it has so many messages; then the engine does all of its work on it:
//! every entry is folded and counted, tool output is pruned and the context is
//! compacted whenever that is due, and the final context is built. Linear means
//! that a message costs the same in a session of any length.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use longhaul_compaction::cost::Prices;
use longhaul_engine::config::Config;
use longhaul_engine::replay::{Options, ReplayReport, replay};
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_transcript::{Entry, EntryId, Millis, Session, Stamp};
use serde_json::Value;

const MESSAGES: [usize; 5] = [1_000, 2_000, 5_000, 10_000, 20_000];
/// The best of so many runs is told: the others had company on the machine.
const RUNS: usize = 3;

/// Prints what the sweep costs at every length.
pub(super) fn print() {
    let recorded = recorded();
    let source = match &recorded {
        Some(path) => path.file_name().unwrap_or_default().to_string_lossy(),
        None => "a generated session".into(),
    };
    println!("\nsweep of {source}, repeated, at a window of 200,000; time on the processor");
    println!("messages  compactions  prunings        ms  ns per message  growth");
    let mut first = None;
    for wanted in MESSAGES {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sweep-{wanted}.jsonl"));
        let messages = match &recorded {
            Some(recorded) => repeat(recorded, wanted, &path),
            None => generated(wanted, &path),
        };
        let session = Session::open(&path).expect("a repeated session opens");
        let mut best = f64::INFINITY;
        let mut done = (0, 0);
        for _ in 0..RUNS {
            let begun = Clock::now();
            let (report, written) = sweep(&session);
            std::hint::black_box(written);
            best = best.min(begun.seconds());
            done = (report.compactions.len(), report.prunings.len());
        }
        let each = best * 1e9 / messages as f64;
        let growth = each / *first.get_or_insert(each);
        println!(
            "{messages:>8}  {:>11}  {:>8}  {:>8.1}  {each:>14.0}  {growth:>5.2}x",
            done.0,
            done.1,
            best * 1e3,
        );
    }
}

/// Time on the processor where the system tells it, so that a busy machine does
/// not count; else the time of day.
enum Clock {
    Processor(u64),
    Wall(Instant),
}

impl Clock {
    fn now() -> Clock {
        match nanoseconds_on_processor() {
            Some(begun) => Clock::Processor(begun),
            None => Clock::Wall(Instant::now()),
        }
    }

    fn seconds(&self) -> f64 {
        match self {
            Clock::Processor(begun) => {
                let now = nanoseconds_on_processor().unwrap_or(*begun);
                (now - begun) as f64 / 1e9
            }
            Clock::Wall(begun) => begun.elapsed().as_secs_f64(),
        }
    }
}

fn nanoseconds_on_processor() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// All of the engine's work on a session, and the last context.
fn sweep(session: &Session) -> (ReplayReport, Vec<Entry>) {
    let window = super::window();
    let options = Options {
        window: &window,
        config: &Config::default(),
        prices: Prices::RATIO,
        summaries: None,
        clock: &|| 0.0,
    };
    let mut n = 0u64;
    replay(
        session,
        &options,
        &mut |time| {
            n += 1;
            Stamp {
                id: EntryId::new(format!("b{n:07}")),
                time: time.unwrap_or(Millis(0)),
            }
        },
        &mut |_, _| {},
    )
    .expect("a repeated session can be read")
}

/// The recorded session, if the recordings lie beside the workspace.
fn recorded() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus/pi/pi-mono_large-session.migrated-v3-by-pi1.5.0.jsonl");
    path.is_file().then_some(path)
}

/// A session without a recording: about fifteen messages a turn.
fn generated(messages: usize, path: &Path) -> usize {
    let plan = Plan {
        size: Size::Turns(u32::try_from(messages / 15).expect("a few thousand")),
        ..Plan::default()
    };
    let mut file = std::fs::File::create(path).expect("the target folder can be written");
    generate(&plan, &mut file).expect("the target folder can be written");
    messages
}

/// Repeats a recorded session until it has so many messages. Ids of entries and
/// of tool calls are new in every repetition, and time goes on.
fn repeat(recorded: &Path, wanted: usize, path: &Path) -> usize {
    let text = std::fs::read_to_string(recorded).expect("the recording can be read");
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let entries: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("the recording is JSON"))
        .filter(|entry: &Value| entry["type"] != "compaction")
        .collect();
    let mut file =
        std::io::BufWriter::new(std::fs::File::create(path).expect("the target can be written"));
    writeln!(file, "{header}").expect("the target can be written");
    let mut parent = Value::Null;
    let mut messages = 0;
    for round in 0.. {
        for entry in &entries {
            if messages == wanted {
                file.flush().expect("the target can be written");
                return messages;
            }
            let mut entry = entry.clone();
            messages += usize::from(entry["type"] == "message");
            let id = Value::from(format!("{}-{round}", entry["id"].as_str().unwrap_or("?")));
            entry["parentId"] = std::mem::replace(&mut parent, id.clone());
            entry["id"] = id;
            entry["timestamp"] = later(&entry["timestamp"], round);
            renew_calls(&mut entry["message"], round);
            writeln!(file, "{entry}").expect("the target can be written");
        }
    }
    messages
}

fn renew_calls(message: &mut Value, round: u32) {
    let renew = |id: &mut Value| {
        if let Some(known) = id.as_str() {
            *id = Value::from(format!("{known}-{round}"));
        }
    };
    if let Some(id) = message.get_mut("toolCallId") {
        renew(id);
    }
    let blocks = message.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        if block["type"] == "toolCall"
            && let Some(id) = block.get_mut("id")
        {
            renew(id);
        }
    }
}

/// The same moment, a year later in every repetition.
fn later(time: &Value, round: u32) -> Value {
    let text = time.as_str().unwrap_or_default();
    match text.get(..4).and_then(|year| year.parse::<u32>().ok()) {
        Some(year) => Value::from(format!("{}{}", year + round, &text[4..])),
        None => time.clone(),
    }
}
