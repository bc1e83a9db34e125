//! pi over the protocol: what it asks, what it is told, and what happens when its
//! file is not what it was.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{Timestamp, Zoned, tz::TimeZone};
use longhaul_engine::config::Config;
use longhaul_engine::library::{Recollection, Scope};
use longhaul_engine::prompt::Environment;
use longhaul_engine::session::{Clock, Setup};
use longhaul_engine::tools::{
    NoTools, NobodyToAsk, Permissions, Toolbox, WorkspaceSettings, WorkspaceTools,
};
use longhaul_model::Model;
use longhaul_server::rpc::{Guest, Place, Surroundings, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

#[derive(Default)]
struct Stopped(AtomicU64);

impl Clock for Stopped {
    fn now(&self) -> Zoned {
        Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)
    }

    fn new_id(&self) -> String {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        format!("00000000-0000-7000-8000-{number:012}")
    }
}

#[derive(Clone)]
struct Machine {
    folder: PathBuf,
    clock: Arc<Stopped>,
}

impl Surroundings for Machine {
    fn place(&self, _: &Guest) -> Result<Arc<dyn Place>, String> {
        Ok(Arc::new(self.clone()))
    }
}

impl Place for Machine {
    fn state_dir(&self) -> &Path {
        &self.folder
    }

    fn setup(&self, summaries: Option<Arc<dyn Model>>) -> Setup {
        Setup {
            config: Config::default(),
            state_dir: self.folder.join("state"),
            workspace: self.folder.clone(),
            environment: Environment::default(),
            clock: Arc::<Stopped>::clone(&self.clock),
            model: None,
            summaries,
            tools: Arc::new(NoTools),
            departures: None,
            subagent: None,
            max_rounds: Setup::MAX_ROUNDS,
        }
    }

    fn tools(&self, mirror: &Path) -> Arc<dyn Toolbox> {
        let tools = WorkspaceTools::new(WorkspaceSettings {
            workspace: self.folder.clone(),
            readable: Vec::new(),
            permissions: Permissions::default(),
            approver: Arc::new(NobodyToAsk),
            bash: None,
            notebook: None,
            recall: Some(Arc::new(Recollection::plain(mirror, Scope::Session))),
        });
        Arc::new(tools.unwrap())
    }
}

/// The extension's end of the connection.
struct Extension {
    folder: tempfile::TempDir,
    to: DuplexStream,
    from: BufReader<DuplexStream>,
    asked: u64,
    /// Names of events that were told.
    events: Vec<String>,
}

impl Extension {
    async fn connect() -> Extension {
        let folder = tempfile::tempdir().unwrap();
        let (to, input) = tokio::io::duplex(1 << 20);
        let (output, from) = tokio::io::duplex(1 << 20);
        let machine = Machine {
            folder: folder.path().to_owned(),
            clock: Arc::default(),
        };
        tokio::spawn(serve(input, output, Arc::new(machine)));
        let mut made = Extension {
            folder,
            to,
            from: BufReader::new(from),
            asked: 0,
            events: Vec::new(),
        };
        let host = json!({"name": "pi", "version": "1.5.0"});
        let params = json!({"protocol": 1, "host": host, "llm": false});
        let answer = made.ask("initialize", params).await.unwrap();
        let methods = answer["methods"].as_array().unwrap();
        assert!(methods.contains(&json!("pi/turnEnd")), "{methods:?}");
        made
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.asked += 1;
        let id = self.asked;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.to
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).await.unwrap(), 0);
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "event" {
                let name = message["params"]["event"]["event"].as_str().unwrap();
                self.events.push(name.to_owned());
            }
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    /// Writes a session of so many rounds; the last entry's id.
    fn write(&self, session: &str, rounds: u32) -> String {
        let header = json!({"type": "session", "version": 3, "id": session,
            "timestamp": "2026-11-15T12:00:00.000Z", "cwd": self.folder.path()});
        let mut text = format!("{header}\n");
        let mut leaf: Option<String> = None;
        let mut add = |message: Value| {
            let id = format!("{session}{:06x}", text.lines().count());
            let entry = json!({"type": "message", "id": id, "parentId": leaf,
                "timestamp": "2026-11-15T12:00:00.000Z", "message": message});
            text.push_str(&format!("{entry}\n"));
            leaf = Some(id);
        };
        add(json!({"role": "user", "content": "Read all parts.", "timestamp": 0}));
        for round in 0..rounds {
            let call = format!("call-{round}");
            add(
                json!({"role": "assistant", "stopReason": "toolUse", "timestamp": 0,
                "content": [{"type": "toolCall", "id": call, "name": "read",
                    "arguments": {"path": format!("part-{round}.rs")}}]}),
            );
            let lines: String = (0..60)
                .map(|line| format!("let part_{round}_{line} = {line};\n"))
                .collect();
            add(
                json!({"role": "toolResult", "toolCallId": call, "toolName": "read",
                "content": [{"type": "text", "text": lines}], "isError": false,
                "timestamp": 0}),
            );
        }
        fs::write(self.file(), text).unwrap();
        leaf.unwrap()
    }

    fn at(&self, leaf: &str) -> Value {
        json!({"sessionFile": self.file(), "leafId": leaf, "contextWindow": 24_000,
            "reserveTokens": 4_000})
    }
}

#[tokio::test]
async fn pi_is_told_what_to_append_and_its_file_is_not_touched() {
    let mut pi = Extension::connect().await;
    let leaf = pi.write("a", 40);
    let before = fs::read(pi.file()).unwrap();
    let end = pi.ask("pi/turnEnd", pi.at(&leaf)).await.unwrap();
    let entries = end["entries"].as_array().unwrap();
    let kinds: Vec<&str> = entries
        .iter()
        .map(|entry| entry["type"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"compaction"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"custom_message"), "{kinds:?}");
    assert!(entries.iter().all(|entry| entry.get("id").is_none()));
    assert!(!end["notices"].as_array().unwrap().is_empty());
    assert!(
        pi.events.contains(&"compacted".to_owned()),
        "{:?}",
        pi.events
    );
    assert_eq!(fs::read(pi.file()).unwrap(), before);
}

#[tokio::test]
async fn pi_asks_for_a_compaction_of_its_own_and_for_the_tail_of_a_request() {
    let mut pi = Extension::connect().await;
    let leaf = pi.write("a", 30);
    let mut params = pi.at(&leaf);
    params["reason"] = json!("manual");
    params["customInstructions"] = json!("what part_3 does");
    let made = pi.ask("pi/beforeCompact", params).await.unwrap();
    let details = &made["compaction"]["details"];
    assert_eq!(details["trigger"], "manual");
    assert_eq!(details["customInstruction"], "what part_3 does");
    let kept = made["compaction"]["firstKeptEntryId"].as_str().unwrap();
    let text = fs::read_to_string(pi.file()).unwrap();
    assert!(text.contains(&format!("\"id\":\"{kept}\"")), "{kept}");
    // A context this full ends with the gauge.
    let tail = pi.ask("pi/context", pi.at(&leaf)).await.unwrap();
    let tail = tail["append"].as_str().unwrap();
    assert!(
        tail.trim_end().ends_with(']') && tail.contains("[Context: "),
        "{tail}"
    );
}

#[tokio::test]
async fn a_file_that_is_gone_or_replaced_is_told_and_then_read_anew() {
    let mut pi = Extension::connect().await;
    let leaf = pi.write("a", 3);
    assert_eq!(
        pi.ask("pi/turnEnd", pi.at(&leaf)).await.unwrap()["entries"],
        json!([])
    );
    fs::remove_file(pi.file()).unwrap();
    for method in [
        "pi/turnEnd",
        "pi/beforeCompact",
        "pi/beforeRun",
        "pi/context",
        "pi/status",
    ] {
        let answer = pi.ask(method, pi.at(&leaf)).await.unwrap();
        let said = answer["degraded"].as_str().unwrap_or_default();
        assert!(said.contains("session.jsonl"), "{method}: {answer}");
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    }
    // Another session under the name; pi's leaf is still of the old one.
    let new = pi.write("b", 2);
    let answer = pi.ask("pi/turnEnd", pi.at(&leaf)).await.unwrap();
    assert!(answer["degraded"].is_string(), "{answer}");
    let status = pi.ask("pi/status", pi.at(&new)).await.unwrap();
    assert_eq!(status["session"], "b");
    // And a file that is none of pi's.
    fs::write(pi.file(), "not a session\n").unwrap();
    let answer = pi.ask("pi/turnEnd", pi.at(&new)).await.unwrap();
    assert!(answer["degraded"].is_string(), "{answer}");
}

#[tokio::test]
async fn parameters_that_cannot_be_read_are_errors_and_odd_ones_are_not() {
    let mut pi = Extension::connect().await;
    let leaf = pi.write("a", 3);
    for (method, params) in [
        ("pi/turnEnd", json!({})),
        ("pi/turnEnd", json!({"sessionFile": 7})),
        (
            "pi/toolResult",
            json!({"sessionFile": pi.file(), "content": "text"}),
        ),
        (
            "pi/beforeCompact",
            json!({"sessionFile": pi.file(), "reason": "whim"}),
        ),
        ("pi/tool", json!({"name": "recall"})),
    ] {
        let error = pi.ask(method, params).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{method}: {error}");
    }
    for window in [
        json!(null),
        json!(0),
        json!(-5),
        json!("large"),
        json!(1e30),
    ] {
        let mut params = pi.at(&leaf);
        params["contextWindow"] = window.clone();
        let answer = pi.ask("pi/status", params).await.unwrap();
        assert_eq!(answer["window"]["size"], 200_000, "{window}: {answer}");
    }
    // A window in which nothing has room.
    let mut params = pi.at(&leaf);
    params["contextWindow"] = json!(3);
    let answer = pi.ask("pi/turnEnd", params).await.unwrap();
    assert!(
        answer["degraded"].as_str().unwrap().contains("models.json"),
        "{answer}"
    );
}

#[tokio::test]
async fn recall_finds_what_is_in_the_file_and_what_is_shown_in_part() {
    let mut pi = Extension::connect().await;
    let leaf = pi.write("a", 3);
    let text: String = (0..900)
        .map(|line| format!("a line, number {line}\n"))
        .collect();
    let mut params = pi.at(&leaf);
    params["toolCallId"] = json!("call-x");
    params["toolName"] = json!("bash");
    params["content"] = json!([{"type": "text", "text": text.repeat(3)}]);
    let shown = pi.ask("pi/toolResult", params).await.unwrap();
    let id = shown["entry"].as_str().unwrap().to_owned();
    let at = pi.at(&leaf);
    let recall = |arguments: Value| {
        let mut params = at.clone();
        params["name"] = json!("recall");
        params["arguments"] = arguments;
        params
    };
    for (arguments, wanted) in [
        (json!({"text": "let part_1_59 = 59"}), "let part_1_59 = 59"),
        (json!({"id": id}), "a line, number 450\n"),
        (json!({"text": "a line, number 450"}), "a line, number 450"),
    ] {
        let params = recall(arguments.clone());
        let answer = pi.ask("pi/tool", params).await.unwrap();
        assert_eq!(answer["isError"], false, "{answer}");
        let text = answer["text"].as_str().unwrap();
        assert!(text.contains(wanted), "{arguments}: {text}");
    }
    let nothing = pi
        .ask("pi/tool", recall(json!({"text": "no such words"})))
        .await;
    let nothing = nothing.unwrap();
    assert!(
        nothing["text"].as_str().unwrap().starts_with("Nothing"),
        "{nothing}"
    );
}
