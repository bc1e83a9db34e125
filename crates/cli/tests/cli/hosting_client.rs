//! A host for one test: it starts `longhaul rpc` and talks to it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::machine::Machine;

/// Long enough for a busy machine; what takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    /// Answers that came while another was waited for.
    early: Vec<Value>,
    /// What was told without being asked for.
    pub(crate) told: Vec<Value>,
    /// What the host's model says; without one it fails.
    pub(crate) model: Option<String>,
    /// Answers the model's calls with this line, its id put in, instead.
    pub(crate) odd: Option<Value>,
    /// What it was asked.
    pub(crate) asked: Vec<Value>,
}

impl Client {
    pub(crate) fn start(machine: &Machine) -> Client {
        let mut child = machine
            .command()
            .args(["rpc", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                let value = serde_json::from_str(&line).unwrap_or_else(|error| {
                    panic!("{error}: {line}");
                });
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Client {
            input: child.stdin.take(),
            child,
            lines,
            next: 0,
            early: Vec::new(),
            told: Vec::new(),
            model: None,
            odd: None,
            asked: Vec::new(),
        }
    }

    /// Started and introduced.
    pub(crate) fn ready(machine: &Machine) -> Client {
        Client::ready_with(machine, json!({}))
    }

    pub(crate) fn ready_with(machine: &Machine, more: Value) -> Client {
        let mut client = Client::start(machine);
        client.introduce(more);
        client
    }

    pub(crate) fn introduce(&mut self, more: Value) -> Value {
        let mut params = json!({
            "protocol": 1,
            "host": { "name": "test", "version": "1" },
        });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.ask("initialize", params)
    }

    pub(crate) fn line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Sends a request; its id.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.line(&call.to_string());
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let call = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.line(&call.to_string());
    }

    /// The next line, calls of the engine's answered on the way.
    pub(crate) fn hear(&mut self) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("no answer");
            match (line.get("method").is_some(), line.get("id")) {
                (true, Some(id)) => {
                    let id = id.clone();
                    self.asked.push(line);
                    if let Some(mut odd) = self.odd.clone() {
                        odd["id"] = id;
                        self.line(&odd.to_string());
                    } else if let Some(text) = self.model.clone() {
                        let result = json!({ "text": text, "usage": { "input": 7, "output": 3 } });
                        self.line(&json!({ "id": id, "result": result }).to_string());
                    } else {
                        let error = json!({ "code": 1, "message": "no model today" });
                        self.line(&json!({ "id": id, "error": error }).to_string());
                    }
                }
                (true, None) => self.told.push(line),
                _ => return line,
            }
        }
    }

    /// Waits until the engine asks the host's model something, and leaves it
    /// unanswered.
    pub(crate) fn hear_call(&mut self) -> Value {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("no call");
            match (line.get("method").is_some(), line.get("id").is_some()) {
                (true, true) => return line,
                (true, false) => self.told.push(line),
                _ => self.early.push(line),
            }
        }
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        let early = self.early.iter().position(|line| line["id"] == json!(id));
        if let Some(at) = early {
            return self.early.remove(at);
        }
        loop {
            let line = self.hear();
            if line["id"] == json!(id) {
                return line;
            }
            self.early.push(line);
        }
    }

    /// Asks, and wants a result.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer(id);
        match answer.get("result") {
            Some(result) => result.clone(),
            None => panic!("{method}: {answer}"),
        }
    }

    /// Asks, and wants an error.
    pub(crate) fn fail(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.send(method, params);
        let answer = self.answer(id);
        let error = &answer["error"];
        let code = error["code"].as_i64();
        let code = code.unwrap_or_else(|| panic!("{method}: {answer}"));
        (code, error["message"].as_str().unwrap().to_owned())
    }

    /// Closes its input and waits; whether it ended well.
    pub(crate) fn end(mut self) -> bool {
        drop(self.input.take());
        self.child.wait().unwrap().success()
    }

    /// Kills it, as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A turn with a tool, whose output is long.
pub(crate) fn long_turn(number: u64, words: usize) -> Vec<Value> {
    let call = format!("call-{number}");
    let output = format!("line of output number {number} ").repeat(words);
    vec![
        json!({ "role": "user", "content": format!("please do step {number}"), "timestamp": number * 10 }),
        json!({
            "role": "assistant",
            "content": [
                { "type": "text", "text": format!("I look at step {number}.") },
                { "type": "toolCall", "id": call, "name": "bash", "arguments": { "command": format!("step {number}") } },
            ],
            "stopReason": "toolUse",
            "timestamp": number * 10 + 1,
        }),
        json!({
            "role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": false,
            "content": [{ "type": "text", "text": output }],
            "timestamp": number * 10 + 2,
        }),
        json!({
            "role": "assistant",
            "content": [{ "type": "text", "text": format!("Step {number} is done: {}", "it went well. ".repeat(words / 4)) }],
            "stopReason": "stop",
            "timestamp": number * 10 + 3,
        }),
    ]
}
