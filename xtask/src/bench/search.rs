//! `cargo xtask bench search`: what a question takes through a long-lived MCP server
//! whose index has 50,000 chunks.
//!
//! The clock runs from the line that asks to the line that answers, with everything
//! the server does in between. What its processor worked tells more on a machine that
//! others use as well.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;
use crate::table::{Table, grouped};
use crate::{paths, shell};

#[derive(clap::Args)]
pub(crate) struct SearchArgs {
    /// How many chunks the index has
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    chunks: usize,
    /// How many questions are asked
    #[arg(long, value_name = "N", default_value_t = 300)]
    questions: usize,
    /// A program to measure, in place of one that is built first
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// What p95 by the clock must stay below, in milliseconds.
const REQUIRED: f64 = 15.0;

/// Chunks a file.
const SECTIONS: usize = 1_000;
/// Words a chunk: more than half of what one has room for, so that none has two.
const WORDS: usize = 110;

pub(super) fn search(args: &SearchArgs) -> Result<()> {
    let program = match &args.program {
        Some(program) => program.clone(),
        None => super::built()?,
    };
    let mut words = Words(7);
    let home = paths::scratch("bench-search")?;
    let work = home.join("work");
    fs::create_dir_all(work.join("memory"))?;
    for file in 0..args.chunks.div_ceil(SECTIONS) {
        let left = args.chunks - file * SECTIONS;
        let sections = (0..left.min(SECTIONS))
            .map(|number| format!("## Part {number}\n\n{}\n\n", words.some(WORDS)));
        let text: String = sections.collect();
        fs::write(work.join(format!("memory/notes-{file:03}.md")), text)?;
    }
    println!("indexing");
    let mut index = ours(&program, &home, &work);
    shell::run(index.args(["memory", "index", "--quiet"]))?;
    let mut server = Server::start(&program, &home, &work)?;
    let (mut clock, mut worked) = (Vec::new(), Vec::new());
    // The first question finds nothing in memory, which the others do.
    server.ask(&words.some(6))?;
    for _ in 0..args.questions {
        let question = words.some(6);
        let before = server.worked();
        let start = Instant::now();
        server.ask(&question)?;
        clock.push(start.elapsed());
        worked.extend(server.worked().zip(before).map(|(now, then)| now - then));
    }
    drop(server);
    let mut table = Table::new(["time", "p50 ms", "p95 ms"]);
    for (name, times) in [("by the clock", &mut clock), ("processor", &mut worked)] {
        times.sort_unstable();
        let cell = |part| format!("{:.2}", percentile(times, part));
        table.row([name.to_owned(), cell(0.5), cell(0.95)]);
    }
    println!(
        "{} questions to {} chunks",
        args.questions,
        grouped(args.chunks as u64)
    );
    print!("{table}");
    let p95 = percentile(&clock, 0.95);
    match p95 < REQUIRED {
        true => Ok(()),
        false => Err(format!("p95 is {p95:.1} ms; less than {REQUIRED} is required").into()),
    }
}

fn percentile(sorted: &[Duration], part: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1) as f64 * part) as usize;
    let time = sorted.get(at).map_or(f64::NAN, Duration::as_secs_f64);
    time * 1_000.0
}

/// Our program in a home of its own.
fn ours(program: &Path, home: &Path, work: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--workspace".as_ref(), work])
        .args(["--state-dir".as_ref(), home.join("state").as_path()])
        .env("HOME", home)
        .current_dir(work);
    command
}

/// A server that is asked over its standard input.
struct Server {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(program: &Path, home: &Path, work: &Path) -> Result<Server> {
        let mut process = ours(program, home, work)
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let to = process.stdin.take().ok_or("no standard input")?;
        let from = process.stdout.take().ok_or("no standard output")?;
        let mut server = Server {
            process,
            to,
            from: BufReader::new(from),
            asked: 0,
        };
        let client = json!({ "name": "bench", "version": "0" });
        let hello =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        server.call("initialize", &hello)?;
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        writeln!(server.to, "{begun}")?;
        Ok(server)
    }

    fn ask(&mut self, question: &str) -> Result<()> {
        let arguments = json!({ "name": "memory_search", "arguments": { "query": question } });
        let answer = self.call("tools/call", &arguments)?;
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        // What is quick because it finds nothing is no measurement.
        match answer["isError"] != true && text.contains("Part ") {
            true => Ok(()),
            false => Err(format!("{question:?} was answered with {text:?}").into()),
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        writeln!(self.to, "{request}")?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.from.read_line(&mut line)? == 0 {
                return Err("the server ended".into());
            }
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.asked {
                return match answer.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(format!("{method} failed: {}", answer["error"]).into()),
                };
            }
        }
    }

    /// What the processor has worked on the threads there are; none where the system
    /// does not tell.
    fn worked(&self) -> Option<Duration> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.process.id())).ok()?;
        let mut all = 0u64;
        for thread in threads.flatten() {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            all += text.split_whitespace().next()?.parse::<u64>().ok()?;
        }
        Some(Duration::from_nanos(all))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Words as unevenly frequent as in a language, the same on every machine: the square
/// of a uniform number favours the first ones.
struct Words(u64);

impl Words {
    fn some(&mut self, count: usize) -> String {
        let word = |_| {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let uniform = (self.0 >> 33) % 30_000;
            let mut rank = uniform * uniform / 30_000;
            let mut word = String::new();
            loop {
                word.push_str(SYLLABLES[(rank % 24) as usize]);
                rank /= 24;
                if rank == 0 {
                    return word;
                }
            }
        };
        let words: Vec<String> = (0..count).map(word).collect();
        words.join(" ")
    }
}

const SYLLABLES: [&str; 24] = [
    "ta", "ren", "mo", "li", "dar", "ves", "ko", "ni", "sha", "bel", "or", "uth", "pra", "gim",
    "se", "lo", "fen", "cra", "wi", "ja", "hus", "ter", "mal", "qui",
];
