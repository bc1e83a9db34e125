//! What the dashboard takes on a large machine: the first page over 10,000 sessions
//! (a second of processor time, 50 MB), and the timeline of a long session of 100,000
//! requests, the first time and from what is kept, in columns for a screen.
//!
//! `LONGHAUL_BENCH_SESSIONS` and `LONGHAUL_BENCH_MB` make it smaller or larger.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use longhaul_engine::catalog::Places;
use longhaul_engine::config::Config;
use longhaul_server::dashboard::{Access, Dashboard, Writes, serve};
use longhaul_server::desk::Desk;
use longhaul_tokens::{ResolvedWindow, Tokens, Window, WindowOrigin, WindowSettings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "a-token-of-many-letters-0123456789";
const REQUESTS: usize = 100_000;
/// A compaction every so many requests.
const EPOCH: usize = 2_000;

fn wanted(name: &str, usual: usize) -> usize {
    let given = std::env::var(name).ok().and_then(|text| text.parse().ok());
    given.unwrap_or(usual)
}

/// What the process has used so far.
struct Used {
    begun: Instant,
    processor: f64,
    read: u64,
}

fn field(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let digits = line.and_then(|rest| rest.split_whitespace().next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

impl Used {
    fn now() -> Used {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split(' ').collect();
        let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok());
        Used {
            begun: Instant::now(),
            processor: (ticks(12).unwrap_or(0.0) + ticks(13).unwrap_or(0.0)) / 100.0,
            read: field("/proc/self/io", "rchar:"),
        }
    }

    /// Prints what it took since; the processor's seconds come back.
    fn tell(&self, what: &str, bytes: usize) -> f64 {
        let now = Used::now();
        let processor = now.processor - self.processor;
        println!(
            "{what:<44} {:>7.0} ms  {:>7.0} ms processor  {:>8.1} MB read  {:>8.1} MB answer  {:>6} MB peak",
            self.begun.elapsed().as_secs_f64() * 1e3,
            processor * 1e3,
            (now.read - self.read) as f64 / 1e6,
            bytes as f64 / 1e6,
            field("/proc/self/status", "VmHWM:") / 1024,
        );
        processor
    }
}

fn message(id: usize, message: &Value) -> String {
    let parent = (id > 1).then(|| format!("{:08x}", id - 1));
    let entry = json!({
        "type": "message", "id": format!("{id:08x}"), "parentId": parent,
        "timestamp": "2026-03-01T10:00:00.000Z", "message": message,
    });
    format!("{entry}\n")
}

fn answer(prompt: usize) -> Value {
    json!({ "role": "assistant", "content": [{ "type": "text", "text": "Done; the next one." }],
        "model": "claude-opus-4-5", "provider": "anthropic", "stopReason": "stop", "timestamp": 1,
        "usage": { "input": 10, "output": 20, "cacheRead": prompt, "cacheWrite": 0,
            "totalTokens": prompt + 30 } })
}

fn header(id: &str) -> String {
    let header = json!({ "type": "session", "version": 3, "id": id,
        "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/work" });
    format!("{header}\n")
}

fn many(folder: &Path, count: usize) {
    for at in 0..count {
        let below = folder.join(format!("--work-{}--", at % 100));
        fs::create_dir_all(&below).unwrap();
        let id = format!("0195aaaa-{at:04x}-7000-8000-{at:012x}");
        let mut text = header(&id);
        for turn in 0..4 {
            let said = json!({ "role": "user", "content": format!("Task {at}, step {turn}."), "timestamp": 1 });
            text += &message(2 * turn + 1, &said);
            text += &message(2 * turn + 2, &answer(20_000 + 100 * turn));
        }
        fs::write(below.join(format!("{id}.jsonl")), text).unwrap();
    }
}

fn long(file: &Path, megabytes: usize) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut out = BufWriter::new(File::create(file).unwrap());
    write!(out, "{}", header("long")).unwrap();
    let result = "x ".repeat((megabytes * 1_000_000 / REQUESTS).saturating_sub(800) / 2);
    let mut id = 0;
    let mut next = || {
        id += 1;
        id
    };
    for request in 0..REQUESTS {
        let said = json!({ "role": "user", "content": format!("Step {request}. {result}"), "timestamp": 1 });
        write!(out, "{}", message(next(), &said)).unwrap();
        let prompt = 20_000 + request % EPOCH * 70;
        let last = next();
        write!(out, "{}", message(last, &answer(prompt))).unwrap();
        if request % EPOCH == EPOCH - 1 {
            let own = next();
            let entry = json!({ "type": "compaction", "id": format!("{own:08x}"),
                "parentId": format!("{last:08x}"), "timestamp": "2026-03-01T10:00:00.000Z",
                "summary": "All went well.", "firstKeptEntryId": format!("{last:08x}"),
                "tokensBefore": prompt });
            writeln!(out, "{entry}").unwrap();
        }
    }
    out.flush().unwrap();
}

async fn start(home: &Path) -> SocketAddr {
    let desk = Desk {
        places: Places::below(home),
        workspace: home.into(),
        state_dir: home.join("state"),
        config: Config::default(),
        library: None,
        notebook: None,
        log: Box::new(|| Err("no log here".into())),
        window: Box::new(|_, _| {
            let window = Tokens(200_000);
            let origin = WindowOrigin::Default;
            let resolved = ResolvedWindow { window, origin };
            Ok((Window::new(&WindowSettings::of(window)).unwrap(), resolved))
        }),
        clock: Box::new(jiff::Zoned::now),
        version: "0".into(),
    };
    let dashboard = Dashboard {
        desk: Arc::new(desk),
        writes: Writes::Never,
        access: Arc::new(Access::new(TOKEN.into(), "once".into(), Vec::new())),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, dashboard, CancellationToken::new()));
    address
}

async fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let head = &answer[..answer.len().min(12)];
    assert_eq!(head, b"HTTP/1.1 200", "{path}");
    answer
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join(".pi/agent/sessions");
    let count = wanted("LONGHAUL_BENCH_SESSIONS", 10_000);
    many(&sessions, count);
    let address = start(home.path()).await;
    let used = Used::now();
    let page = get(address, "/").await;
    let processor = used.tell(&format!("first page, {count} sessions"), page.len());
    let peak = field("/proc/self/status", "VmHWM:") / 1024;
    let used = Used::now();
    let again = get(address, "/").await;
    used.tell("the same again", again.len());

    let file = sessions.join("--work-0--/long.jsonl");
    let megabytes = wanted("LONGHAUL_BENCH_MB", 200);
    long(&file, megabytes);
    let timeline = "/api/sessions/long/timeline?columns=1200";
    let what = format!("timeline, {REQUESTS} requests, {megabytes} MB");
    let used = Used::now();
    let drawn = get(address, timeline).await;
    used.tell(&what, drawn.len());
    let used = Used::now();
    let kept = get(address, timeline).await;
    used.tell("the same from what is kept", kept.len());
    let read = field("/proc/self/io", "rchar:") - used.read;
    let used = Used::now();
    let near = get(address, &format!("{timeline}&from=40000&to=44000")).await;
    used.tell("a stretch of it", near.len());

    assert!(
        processor < 1.0,
        "the first page takes {processor:.2} s of the processor"
    );
    assert!(peak < 50, "the first page takes {peak} MB");
    let most = megabytes as u64 * 1_000_000 / 4;
    assert!(read < most.max(50_000_000), "{read} bytes were read again");
    assert!(
        kept.len() < 400_000,
        "{} bytes for 1,200 columns",
        kept.len()
    );
}
