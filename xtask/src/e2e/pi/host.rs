//! The real pi: in RPC mode for a conversation, in print mode for one answer.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::peers::Peers;
use crate::{Result, paths, shell};

/// What an answer may take; a machine under load included.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home of its own for pi, and a folder to work in.
pub(super) struct Home {
    pub(super) folder: PathBuf,
    pub(super) work: PathBuf,
    pub(super) state: PathBuf,
    agent: PathBuf,
}

impl Home {
    /// Sets pi up with a model at this address.
    pub(super) fn new(folder: PathBuf, url: &str, window: u32) -> Result<Home> {
        let home = Home {
            work: folder.join("work"),
            state: folder.join("state"),
            agent: folder.join("agent"),
            folder,
        };
        for folder in [&home.work, &home.agent] {
            fs::create_dir_all(folder)?;
        }
        let models = json!({"providers": {"loopback": {
            "baseUrl": url,
            "apiKey": "none",
            "api": "openai-completions",
            "models": [{"id": "paper", "contextWindow": window, "maxTokens": 1000}],
        }}});
        fs::write(home.agent.join("models.json"), models.to_string())?;
        let settings = json!({
            "compaction": {"reserveTokens": window / 6, "keepRecentTokens": window / 6},
            "packages": [paths::root().join("integrations/pi")],
        });
        fs::write(home.agent.join("settings.json"), settings.to_string())?;
        let ours = json!({"stateDir": home.state});
        fs::write(home.agent.join("longhaul.json"), ours.to_string())?;
        Ok(home)
    }

    /// pi's session file; there is one.
    pub(super) fn session(&self) -> Result<PathBuf> {
        let sessions = self.agent.join("sessions");
        let mut found = Vec::new();
        for folder in fs::read_dir(&sessions)? {
            found.extend(paths::files(&folder?.path(), |name| {
                name.ends_with(".jsonl")
            })?);
        }
        match found.as_slice() {
            [one] => Ok(one.clone()),
            others => Err(format!("{} session files, not one", others.len()).into()),
        }
    }

    fn command(&self, peers: &Peers, program: &Path) -> Result<Command> {
        let mut command = peers.pi_program()?;
        command
            .args(["--model", "loopback/paper"])
            .current_dir(&self.work)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &self.folder)
            .env("PI_CODING_AGENT_DIR", &self.agent)
            .env("PI_OFFLINE", "1")
            .env("PI_TELEMETRY", "0")
            .env("LONGHAUL_BINARY", program);
        Ok(command)
    }

    /// One answer in a pi of its own that goes on with the session.
    pub(super) fn print(&self, peers: &Peers, program: &Path, prompt: &str) -> Result<Output> {
        let mut command = self.command(peers, program)?;
        command.args(["--continue", "--print", prompt]);
        Ok(command.stdin(Stdio::null()).output()?)
    }
}

/// A running pi.
pub(super) struct Pi {
    child: Child,
    input: Option<ChildStdin>,
    heard: Receiver<Value>,
    /// What its user was told.
    pub(super) notices: Vec<String>,
    /// What extensions did wrong.
    pub(super) errors: Vec<String>,
}

impl Pi {
    pub(super) fn start(home: &Home, peers: &Peers, program: &Path) -> Result<Pi> {
        let log = fs::File::create(home.folder.join("pi.log"))?;
        let mut child = home
            .command(peers, program)?
            .args(["--continue", "--mode", "rpc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let output = child.stdout.take().ok_or("pi's output is piped")?;
        let (said, heard) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(|line| line.ok()) {
                let message = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if said.send(message).is_err() {
                    break;
                }
            }
        });
        Ok(Pi {
            input: child.stdin.take(),
            child,
            heard,
            notices: Vec::new(),
            errors: Vec::new(),
        })
    }

    /// Says something and waits until pi has nothing more to do.
    pub(super) fn prompt(&mut self, text: &str) -> Result<()> {
        self.send(&json!({"id": "prompt", "type": "prompt", "message": text}))?;
        self.until(|message| {
            message["type"] == "agent_settled"
                || message["type"] == "response" && message["data"]["disposition"] == "handled"
        })
        .map(drop)
    }

    /// Says something, and more of it while a tool runs: what the agent is to hear at
    /// once, and what it is to hear when it is done.
    pub(super) fn interrupt(&mut self, text: &str, steer: &str, follow_up: &str) -> Result<()> {
        self.send(&json!({"id": "prompt", "type": "prompt", "message": text}))?;
        self.until(|message| message["type"] == "tool_execution_start")?;
        self.send(&json!({"id": "steer", "type": "steer", "message": steer}))?;
        self.send(&json!({"id": "follow", "type": "follow_up", "message": follow_up}))?;
        self.until(|message| message["type"] == "agent_settled")
            .map(drop)
    }

    /// Asks pi to compact; says whether it found anything to leave out.
    pub(super) fn compact(&mut self) -> Result<bool> {
        self.send(&json!({"id": "compact", "type": "compact"}))?;
        let answer = self.until(|it| it["type"] == "response" && it["id"] == "compact");
        match answer {
            Ok(_) => Ok(true),
            Err(error) if error.to_string().contains("Nothing to compact") => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, command: &Value) -> Result<()> {
        let input = self.input.as_mut().ok_or("pi's input is open")?;
        writeln!(input, "{command}")?;
        Ok(input.flush()?)
    }

    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        loop {
            let message = self
                .heard
                .recv_timeout(PATIENCE)
                .map_err(|error| match error {
                    RecvTimeoutError::Timeout => format!("pi said nothing for {PATIENCE:?}"),
                    RecvTimeoutError::Disconnected => "pi has ended".to_owned(),
                })?;
            let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
            if message["type"] == "extension_ui_request" && message["method"] == "notify" {
                self.notices.push(text("message"));
            }
            if message["type"] == "extension_error" {
                self.errors.push(text("error"));
            }
            if message["type"] == "response" && message["success"] == false {
                return Err(format!("pi refused: {}", text("error")).into());
            }
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    /// The longhaul process beside it.
    pub(super) fn sidecar(&self) -> Result<Option<u32>> {
        let listed = shell::output(Command::new("ps").args(["-A", "-o", "pid=,ppid=,args="]))?;
        let parent = self.child.id().to_string();
        let found = listed.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let (pid, of) = (words.next()?, words.next()?);
            let ours = of == parent && words.any(|word| word == "rpc");
            ours.then(|| pid.parse().ok())?
        });
        Ok(found)
    }

    /// Ends it as a host does; says whether it ended by itself.
    pub(super) fn end(mut self) -> Result<bool> {
        drop(self.input.take());
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_secs(15) {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.success());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(false)
    }
}

impl Drop for Pi {
    fn drop(&mut self) {
        // Its own end was waited for, or it failed: then it must not stay.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
