//! An OpenClaw with a home of its own, and its gateway.

use std::cell::Cell;
use std::env;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http;
use super::model::{Model, WINDOW};
use super::trail::Trail;
use crate::Result;
use crate::{paths, shell};

/// The token of a gateway that only this machine can reach.
const TOKEN: &str = "e2e";
/// A gateway starts in ten seconds, and on a busy machine in a minute.
const START: Duration = Duration::from_secs(240);
/// And a turn takes two.
const TURN: Duration = Duration::from_secs(240);
/// How long it may take to end when asked to.
const END: Duration = Duration::from_secs(60);

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Longhaul,
    Legacy,
}

/// The tools that an agent may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tools {
    /// These.
    Allowed(&'static [&'static str]),
    /// Those of one of OpenClaw's profiles.
    Profile(&'static str),
}

/// Those of the conversation.
pub(super) const TOOLS: Tools =
    Tools::Allowed(&["read", "recall", "note", "memory_search", "memory_get"]);

impl Tools {
    fn settings(self) -> Value {
        match self {
            Tools::Allowed(names) => json!({"toolSearch": false, "allow": names}),
            Tools::Profile(name) => json!({"profile": name}),
        }
    }
}

/// The files of an OpenClaw.
pub(super) struct Home {
    folder: PathBuf,
    node: PathBuf,
    package: PathBuf,
    /// The program that is built here.
    program: PathBuf,
    port: u16,
    /// How many gateways were started.
    started: Cell<u32>,
}

/// A running gateway. It ends when this is dropped.
pub(super) struct Gateway<'a> {
    home: &'a Home,
    child: Child,
    pub(super) trail: Trail,
}

impl Home {
    pub(super) fn new(
        folder: &Path,
        node: &Path,
        package: &Path,
        program: &Path,
        model: &Model,
    ) -> Result<Home> {
        let home = Home {
            folder: folder.to_owned(),
            node: node.to_owned(),
            package: package.to_owned(),
            program: program.to_owned(),
            port: TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port(),
            started: Cell::new(0),
        };
        for name in ["home/.openclaw", "workspace", "tmp", "state"] {
            fs::create_dir_all(folder.join(name))?;
        }
        home.write(&home.settings(model))?;
        Ok(home)
    }

    fn settings(&self, model: &Model) -> Value {
        json!({
            "gateway": {
                "mode": "local",
                "port": self.port,
                "bind": "loopback",
                "auth": {"mode": "token", "token": TOKEN},
                "http": {"endpoints": {"chatCompletions": {"enabled": true}}},
            },
            "logging": {
                "level": "debug",
                "consoleLevel": "debug",
                "file": self.folder.join("openclaw.log"),
            },
            "models": {
                "mode": "replace",
                "providers": {"loopback": {
                    "baseUrl": model.url(),
                    "apiKey": "none",
                    "api": "openai-completions",
                    "models": [{
                        "id": "small",
                        "name": "small",
                        "reasoning": false,
                        "input": ["text"],
                        "contextWindow": WINDOW,
                        "maxTokens": 2000,
                        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                    }],
                }},
            },
            "agents": {"defaults": {
                "workspace": self.workspace(),
                "skipBootstrap": true,
                "model": {"primary": "loopback/small"},
                // The model's summaries would not pass OpenClaw's own check of them.
                "compaction": {"mode": "default"},
            }},
            "tools": TOOLS.settings(),
            // Nothing else is to be loaded: it would only cost time.
            "plugins": {"enabled": true, "allow": ["longhaul"], "slots": {"memory": "none"}},
            "update": {"checkOnStart": false},
            "discovery": {"mdns": {"mode": "off"}},
        })
    }

    /// Where the agent's files are.
    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    /// Where our program keeps its own files.
    pub(super) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// The program that is built here.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// A place for a program that is not there yet.
    pub(super) fn elsewhere(&self) -> PathBuf {
        self.folder.join("bin/longhaul")
    }

    /// Keeps something to look at, unless something of that name was kept.
    pub(super) fn keep(&self, name: &str, text: &str) {
        let file = self.folder.join(name);
        if !file.exists() {
            // It is for people; the finding counts without it.
            let _ = fs::write(file, text);
        }
    }

    fn config(&self) -> PathBuf {
        self.folder.join("home/.openclaw/openclaw.json")
    }

    /// What the latest gateway prints.
    fn log(&self) -> PathBuf {
        self.folder
            .join(format!("gateway-{}.log", self.started.get()))
    }

    fn write(&self, settings: &Value) -> Result<()> {
        Ok(fs::write(
            self.config(),
            serde_json::to_string_pretty(settings)?,
        )?)
    }

    /// An `openclaw` command.
    fn command(&self) -> Result<Command> {
        let mut command = Command::new(&self.node);
        command
            .arg(self.package.join("openclaw.mjs"))
            .current_dir(&self.folder)
            .env_clear()
            .env("HOME", self.folder.join("home"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("NO_COLOR", "1");
        let mut folders: Vec<PathBuf> =
            self.node.parent().map(Path::to_owned).into_iter().collect();
        let path = env::var_os("PATH").unwrap_or_default();
        folders.extend(env::split_paths(&path));
        command.env("PATH", env::join_paths(folders)?);
        Ok(command)
    }

    /// Installs the plugin with OpenClaw's own command.
    pub(super) fn install_plugin(&self) -> Result<()> {
        let folder = paths::root().join("integrations/openclaw");
        let folder = folder.to_string_lossy();
        self.plugins(&["install", "--force", "--accept-capabilities", &folder])?;
        // The command selects an engine where none was selected.
        match self.is_selected()? {
            true => Ok(()),
            false => Err("the installation did not select the engine".into()),
        }
    }

    /// Takes it away and installs it again as a person does. OpenClaw keeps it
    /// switched off until it is told otherwise.
    pub(super) fn reinstall_plugin(&self) -> Result<()> {
        self.plugins(&["uninstall", "--force", "longhaul"])?;
        if self.is_selected()? {
            return Err("the engine is selected after it was taken away".into());
        }
        let folder = paths::root().join("integrations/openclaw");
        let folder = folder.to_string_lossy();
        self.plugins(&["install", "--force", "--accept-capabilities", &folder])?;
        self.plugins(&["enable", "longhaul"])?;
        match self.is_selected()? {
            true => Ok(()),
            false => Err("the engine is not selected when it is there again".into()),
        }
    }

    fn plugins(&self, args: &[&str]) -> Result<()> {
        println!("openclaw plugins {}", args.join(" "));
        shell::output(self.command()?.arg("plugins").args(args)).map(drop)
    }

    fn is_selected(&self) -> Result<bool> {
        Ok(self.read()?["plugins"]["slots"]["contextEngine"] == "longhaul")
    }

    fn read(&self) -> Result<Value> {
        Ok(serde_json::from_str(&fs::read_to_string(self.config())?)?)
    }

    /// Says who serves the turns, and with which program.
    pub(super) fn select(&self, slot: Slot, program: &Path) -> Result<()> {
        let mut settings = self.read()?;
        settings["plugins"]["slots"]["contextEngine"] = match slot {
            Slot::Longhaul => json!("longhaul"),
            Slot::Legacy => json!("legacy"),
        };
        settings["plugins"]["entries"]["longhaul"]["config"] = json!({
            "binary": program,
            "stateDir": self.state(),
        });
        self.write(&settings)
    }

    /// Says which tools the agent may have.
    pub(super) fn offer(&self, tools: Tools) -> Result<()> {
        let mut settings = self.read()?;
        settings["tools"] = tools.settings();
        self.write(&settings)
    }

    /// Starts the gateway and waits until it answers.
    pub(super) fn start(&self) -> Result<Gateway<'_>> {
        self.started.set(self.started.get() + 1);
        let log = fs::File::create(self.log())?;
        let child = self
            .command()?
            .args(["gateway", "run"])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut gateway = Gateway {
            home: self,
            child,
            trail: Trail::of(&self.log()),
        };
        let until = Instant::now() + START;
        while Instant::now() < until {
            if let Some(status) = gateway.child.try_wait()? {
                return Err(format!("the gateway ended ({status})").into());
            }
            let health = http::ask(self.port, "GET /health HTTP/1.1", "", TURN);
            if health.is_ok_and(|answer| answer.status == 200) {
                return Ok(gateway);
            }
            thread::sleep(Duration::from_millis(250));
        }
        Err("the gateway does not answer".into())
    }

    /// One turn without a gateway, in a command that ends with it.
    pub(super) fn once(&self, session: &str, words: &str) -> Result<String> {
        let output = self.folder.join("once.txt");
        let file = fs::File::create(&output)?;
        let mut child = self
            .command()?
            .args(["agent", "--local", "--session-key", session])
            .args(["--message", words])
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()?;
        let until = Instant::now() + TURN;
        let status = loop {
            match child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() > until => {
                    child.kill()?;
                    child.wait()?;
                    return Err("the command does not end".into());
                }
                None => thread::sleep(Duration::from_millis(100)),
            }
        };
        let said = fs::read_to_string(output)?;
        if status.success() {
            Ok(said)
        } else {
            Err(format!("the command ended with {status}: {said}").into())
        }
    }

    /// The end of the gateway's log.
    pub(super) fn last_words(&self) -> String {
        let said = fs::read(self.log()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.trim_end().lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Gateway<'_> {
    /// One turn: what the user says, and what comes back.
    pub(super) fn say(&self, session: &str, words: &str) -> Result<String> {
        let body = json!({
            "model": "openclaw",
            "messages": [{"role": "user", "content": words}],
        });
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {TOKEN}\r\nx-openclaw-session-key: {session}"
        );
        let answer = http::ask(self.home.port, &head, &body.to_string(), TURN)?;
        if answer.status != 200 {
            return Err(format!("the gateway answers {}: {}", answer.status, answer.body).into());
        }
        let answer: Value = serde_json::from_str(&answer.body)?;
        let text = answer["choices"][0]["message"]["content"].as_str();
        Ok(text.unwrap_or_default().to_owned())
    }

    /// A message as a person types it in a chat window, commands included.
    pub(super) fn type_in(&self, session: &str, words: &str, key: &str) -> Result<()> {
        let params = json!({"sessionKey": session, "message": words, "idempotencyKey": key});
        shell::output(
            self.home
                .command()?
                .args([
                    "gateway",
                    "call",
                    "chat.send",
                    "--json",
                    "--timeout",
                    "60000",
                ])
                .args(["--params", &params.to_string()]),
        )?;
        Ok(())
    }

    /// Ends it as a service manager would.
    pub(super) fn stop(mut self) -> Result<()> {
        self.ask_to_end();
        if self.child.try_wait()?.is_none() {
            return Err(format!("the gateway did not end within {} s", END.as_secs()).into());
        }
        Ok(())
    }

    fn ask_to_end(&mut self) {
        let _ = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let until = Instant::now() + END;
        while Instant::now() < until && self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Gateway<'_> {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.ask_to_end();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
