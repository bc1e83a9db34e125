//! What `longhaul rpc` adds to a turn: a session of 50 MB, warm, over thousands
//! of turns, with everything between two pipes: reading and writing lines,
//! JSON, alignment, assembly, the file.
//!
//! First, that a turn late in a session is no dearer than an early one: two
//! windows of turns of a session that grows from nothing, side by side, with the
//! library and the flush on and the threads beside the turn included. Bytes that
//! the process read and its processor time may be 1.2 times as much, else it fails.
//!
//! A turn is one `assemble` (the list as a change of the one before, the answer
//! with references) and one `commitTurn`. `maintain` runs after it, as a host
//! does in the background, and is printed by itself. The first pass leaves the
//! writing to the operating system; the second waits for the disk, as the
//! durability `turn` does.
//!
//! `LONGHAUL_BENCH_TURNS` and `LONGHAUL_BENCH_MB` make it shorter, and
//! `LONGHAUL_BENCH_GROWN` says how many turns the late window ends with.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::Zoned;
use longhaul_engine::config::Config;
use longhaul_engine::library::{Library, index_path};
use longhaul_engine::prompt::Environment;
use longhaul_engine::session::{Clock, Departures, Setup};
use longhaul_engine::survey::Surveys;
use longhaul_engine::tools::{NoTools, Toolbox};
use longhaul_model::Model;
use longhaul_server::rpc::{Guest, Place, Surroundings, serve};
use longhaul_transcript::Durability;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Zoned {
        Zoned::now()
    }

    fn new_id(&self) -> String {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        let start = self as *const Ticking as usize;
        format!("{start:012x}-{count:023x}")
    }
}

#[derive(Clone)]
struct Here {
    folder: PathBuf,
    durability: Durability,
    clock: Arc<Ticking>,
    /// Where what leaves the context goes, and the memory files.
    library: Option<Library>,
}

impl Surroundings for Here {
    fn place(&self, _: &Guest) -> Result<Arc<dyn Place>, String> {
        Ok(Arc::new(self.clone()))
    }
}

impl Place for Here {
    fn state_dir(&self) -> &Path {
        &self.folder
    }

    fn setup(&self, summaries: Option<Arc<dyn Model>>) -> Setup {
        let mut config = Config::default();
        config.transcript.durability = self.durability;
        config.compaction.memory_flush.enabled = self.library.is_some();
        // The session wears out long before the bench does.
        config.compaction.max_auto_compactions = u32::MAX;
        Setup {
            config,
            state_dir: self.folder.clone(),
            workspace: work(&self.folder),
            environment: Environment::default(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            model: None,
            summaries,
            tools: Arc::new(NoTools),
            departures: self
                .library
                .clone()
                .map(|library| Arc::new(library) as Arc<dyn Departures>),
            subagent: None,
            max_rounds: Setup::MAX_ROUNDS,
        }
    }

    fn tools(&self, _: &Path) -> Arc<dyn Toolbox> {
        Arc::new(NoTools)
    }
}

/// The folder that the host works in.
fn work(folder: &Path) -> PathBuf {
    let work = folder.join("work");
    std::fs::create_dir_all(&work).expect("there is room");
    work
}

struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: WriteHalf<DuplexStream>,
    next: u64,
}

impl Client {
    async fn start(folder: &Path, durability: Durability, library: Option<Library>) -> Client {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (from, to) = tokio::io::split(theirs);
        let here = Arc::new(Here {
            folder: folder.to_owned(),
            durability,
            clock: Arc::new(Ticking(AtomicU64::new(0))),
            library,
        });
        tokio::spawn(serve(from, to, here));
        let (from, to) = tokio::io::split(ours);
        let mut client = Client {
            lines: BufReader::with_capacity(1 << 20, from).lines(),
            input: to,
            next: 0,
        };
        client
            .ask(
                "initialize",
                &json!({ "protocol": 1, "host": { "name": "bench" } }),
            )
            .await;
        client
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut line = call.to_string();
        line.push('\n');
        self.input
            .write_all(line.as_bytes())
            .await
            .expect("it listens");
        loop {
            let line = self.lines.next_line().await.expect("it answers");
            let line = line.expect("it goes on");
            let answer: Value = serde_json::from_str(&line).expect("it is JSON");
            if answer["id"] == json!(id) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

/// A turn of an agent at work: a request, two rounds of tools, an answer.
fn turn(number: u64) -> Vec<Value> {
    let mut time = number * 100;
    let mut stamp = || {
        time += 1;
        time
    };
    let text = |words: usize| -> String {
        let mut out = String::new();
        for at in 0..words {
            out.push_str(&format!("w{} ", (number * 31 + at as u64 * 7) % 9_973));
        }
        out
    };
    let mut messages = vec![json!({
        "role": "user", "content": format!("Step {number}: {}", text(30)), "timestamp": stamp(),
    })];
    for round in 0..2 {
        let id = format!("call_{number}_{round}");
        messages.push(json!({
            "role": "assistant", "stopReason": "toolUse", "timestamp": stamp(),
            "content": [
                { "type": "text", "text": text(20) },
                { "type": "toolCall", "id": id, "name": "bash",
                  "arguments": { "command": format!("cargo test step_{number}_{round}") } },
            ],
        }));
        messages.push(json!({
            "role": "toolResult", "toolCallId": id, "toolName": "bash", "isError": false,
            "content": [{ "type": "text", "text": text(250) }], "timestamp": stamp(),
        }));
    }
    messages.push(json!({
        "role": "assistant", "stopReason": "stop", "timestamp": stamp(),
        "content": [{ "type": "text", "text": text(120) }],
    }));
    messages
}

#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn at(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = ((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len().max(1)) - 1;
        sorted
            .get(at)
            .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    }

    fn print(&self, name: &str) {
        println!(
            "  {name:<26} {:>8.2} {:>8.2} {:>8.2} {:>8.2}",
            self.at(0.50),
            self.at(0.95),
            self.at(0.99),
            self.at(1.0)
        );
    }
}

fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

/// Processor time of this process so far, both sides of the pipe together: on a
/// busy machine it says more than the clock.
fn processor() -> Duration {
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let ticks = ticks(11).unwrap_or(0) + ticks(12).unwrap_or(0);
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok().and_then(|text| text.parse().ok());
    value.unwrap_or(default)
}

/// Bytes that this process had from its reading system calls so far.
fn read_bytes() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

const SESSION: &str = "bench";
const BUDGET: u64 = 200_000;
/// A smaller one is compacted every few turns.
const NARROW: u64 = 60_000;
/// How much more a late turn may read and take than an early one.
const GROWTH: f64 = 1.2;

/// Where the host stands.
struct Run {
    client: Client,
    base: String,
    /// Messages in the list.
    count: usize,
    number: u64,
    budget: u64,
}

impl Run {
    /// The first call of a session.
    async fn begin(client: Client, budget: u64) -> Run {
        let mut run = Run {
            client,
            base: String::new(),
            count: 0,
            number: 0,
            budget,
        };
        let params = json!({
            "sessionId": SESSION, "refs": true, "tokenBudget": budget, "messages": [],
        });
        let answer = run.client.ask("assemble", &params).await;
        run.base = answer["base"].as_str().expect("it has a token").to_owned();
        run
    }

    /// A turn with `tail` new since the one before; what it took, and what is new.
    async fn turn(&mut self, tail: &[Value]) -> ([Duration; 3], Vec<Value>) {
        let one = self.assemble(tail, self.count).await;
        self.count += tail.len();
        let tail = turn(self.number);
        self.number += 1;
        let params = json!({
            "sessionId": SESSION, "messages": tail,
            "advancementKey": format!("key-{}", self.number),
        });
        let begun = Instant::now();
        self.client.ask("commitTurn", &params).await;
        let two = begun.elapsed();
        let begun = Instant::now();
        let params = json!({ "sessionId": SESSION, "tokenBudget": self.budget });
        self.client.ask("maintain", &params).await;
        ([one, two, begun.elapsed()], tail)
    }

    async fn assemble(&mut self, tail: &[Value], keep: usize) -> Duration {
        let params = json!({
            "sessionId": SESSION, "refs": true, "tokenBudget": self.budget,
            "history": { "base": self.base, "keep": keep, "tail": tail },
        });
        let begun = Instant::now();
        let answer = self.client.ask("assemble", &params).await;
        let took = begun.elapsed();
        assert!(answer.get("degraded").is_none(), "{}", answer["degraded"]);
        self.base = answer["base"].as_str().expect("it has a token").to_owned();
        took
    }

    async fn turns(&mut self, turns: u64, name: &str) {
        println!("{name}: ms                    p50      p95      p99      max");
        let parts = (turns / 1_000).max(1);
        let mut tail: Vec<Value> = Vec::new();
        for part in 0..parts {
            let (mut all, mut first, mut second, mut third) = (
                Times::default(),
                Times::default(),
                Times::default(),
                Times::default(),
            );
            let used = processor();
            for _ in 0..turns / parts {
                let ([one, two, background], next) = self.turn(&tail).await;
                tail = next;
                third.0.push(background);
                all.0.push(one + two);
                first.0.push(one);
                second.0.push(two);
            }
            if part == 0 || part + 1 == parts {
                let from = part * (turns / parts);
                println!(" turns {from} to {}", from + turns / parts);
                all.print("assemble and commitTurn");
                first.print("assemble");
                second.print("commitTurn");
                third.print("maintain (background)");
                let used = (processor() - used).as_secs_f64() * 1000.0;
                println!(
                    "  processor time a turn, all of it: {:.2} ms; resident {} MB",
                    used / (turns / parts) as f64,
                    resident_mb()
                );
            }
        }
        // What was committed is in the next list.
        self.assemble(&tail, self.count).await;
        self.count += tail.len();
    }
}

/// Bytes read and processor time of a turn around turn `turns / 10` and up to turn
/// `turns`.
async fn growth(turns: u64) {
    let folder = tempfile::tempdir().expect("there is room");
    let config = Config::default();
    let work = work(folder.path());
    let index = index_path(folder.path(), "main", &work);
    let library = Library::new(index, config.index_settings(), None);
    library.use_surveys(Surveys::below(folder.path(), &config));
    library
        .watch(&config.workspace_files(&work))
        .expect("it can be watched");
    let client = Client::start(folder.path(), Durability::Os, Some(library.clone())).await;
    let mut run = Run::begin(client, NARROW).await;
    let width = turns / 25;
    let windows = [turns / 10 - width / 2, turns - width];
    let settled = || {
        let all = library.settle(Duration::from_secs(60));
        assert!(all, "the library does not keep up");
        (read_bytes(), processor())
    };
    let mut taken = Vec::new();
    let mut before = (0, Duration::ZERO);
    let mut tail = Vec::new();
    for number in 0..turns {
        if windows.contains(&number) {
            before = settled();
        }
        (_, tail) = run.turn(&tail).await;
        let from = (number + 1).checked_sub(width);
        if let Some(from) = from.filter(|from| windows.contains(from)) {
            let after = settled();
            let kilobytes = (after.0 - before.0) as f64 / 1_000.0 / width as f64;
            let used = (after.1 - before.1).as_secs_f64() * 1_000.0 / width as f64;
            println!(
                "turns {from} to {}: {kilobytes:.0} kB read a turn, {used:.2} ms of the processor",
                number + 1
            );
            taken.push([kilobytes, used]);
        }
    }
    let [early, late] = taken.as_slice() else {
        panic!("two windows are measured");
    };
    for (what, (early, late)) in ["bytes", "processor time"]
        .iter()
        .zip(early.iter().zip(late))
    {
        let ratio = late / early;
        println!("  {what}: {ratio:.2} times as much (at most {GROWTH})");
        assert!(ratio <= GROWTH, "{what} grow with the session");
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime starts");
    runtime.block_on(growth(number("LONGHAUL_BENCH_GROWN", 5_000)));
    runtime.block_on(async {
        let folder = tempfile::tempdir().expect("there is room");
        let bytes = number("LONGHAUL_BENCH_MB", 50) << 20;
        let turns = number("LONGHAUL_BENCH_TURNS", 10_000);
        let client = Client::start(folder.path(), Durability::Os, None).await;
        let mut run = Run::begin(client, BUDGET).await;
        let begun = Instant::now();
        let mut written = 0;
        while written < bytes {
            let mut tail = Vec::new();
            while tail.len() < 600 {
                tail.extend(turn(run.number));
                run.number += 1;
            }
            written += tail.iter().map(|m| m.to_string().len() as u64).sum::<u64>();
            run.assemble(&tail, run.count).await;
            run.count += tail.len();
        }
        println!(
            "session of {} MB, {} messages, made in {:.1} s; resident {} MB",
            written >> 20,
            run.count,
            begun.elapsed().as_secs_f64(),
            resident_mb()
        );
        run.turns(turns, "without fsync (durability os)").await;
        drop(run);

        let mut client = Client::start(folder.path(), Durability::Turn, None).await;
        let begun = Instant::now();
        client
            .ask("bootstrap", &json!({ "sessionId": SESSION }))
            .await;
        println!("opened again in {:.2} s", begun.elapsed().as_secs_f64());
        // A new process is given the list whole, once; a short one will do here,
        // since the host may limit its history.
        let last = turn(9_999_999);
        let params = json!({
            "sessionId": SESSION, "messages": last, "advancementKey": "again",
        });
        client.ask("commitTurn", &params).await;
        let params = json!({
            "sessionId": SESSION, "refs": true, "tokenBudget": BUDGET, "messages": last,
        });
        let answer = client.ask("assemble", &params).await;
        let mut run = Run {
            client,
            base: answer["base"].as_str().expect("it has a token").to_owned(),
            count: last.len(),
            number: 10_000_000,
            budget: BUDGET,
        };
        run.turns(turns.min(1_000), "with fsync (durability turn)")
            .await;
    });
}
