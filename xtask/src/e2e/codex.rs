//! `cargo xtask e2e codex`: the real Codex, and what is typed while it works.
//!
//! Codex is driven by its own app server, as its editors drive it; only the model
//! is played. What it wrote is read by the real program.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use longhaul_testkit::loopback::{Loopback, Said};
use serde_json::{Value, json};

use crate::peers::Peers;
use crate::{Result, paths, shell};

const PROMPT: &str = "Sleep a little.";
/// What is typed while a command runs.
const STEERED: &str = "While you are at it: the port is 8443, not 8080.";
/// What an answer may take; a machine under load included.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The longhaul program to use [default: one is built]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let program = match &args.program {
        Some(program) => program.canonicalize()?,
        None => shell::program()?,
    };
    let folder = paths::scratch("e2e-codex")?;
    let model = Loopback::start(|request| {
        let said = match request.number {
            0 => Said::call("call-1", "exec_command", r#"{"cmd":"sleep 3; echo slept"}"#),
            _ => Said::text("Noted."),
        };
        said.reply(request)
    })?;
    let mut codex = Codex::start(&Peers::install()?, &folder, &model.url())?;
    codex.types_meanwhile(&folder)?;
    drop(codex);
    let heard = model.requests();
    let reached = heard
        .last()
        .is_some_and(|request| request.json()["input"].to_string().contains(STEERED));
    if heard.len() != 2 || !reached {
        return Err("what was typed did not reach the model within the turn".into());
    }
    let rollout = rollout(&folder.join("codex"))?.ok_or("Codex wrote no rollout")?;
    let ours = |command: &[&str]| {
        let mut run = Command::new(&program);
        run.args(command).arg(&rollout);
        run.env("LONGHAUL_STATE_DIR", folder.join("state"));
        run.env("HOME", &folder);
        shell::output(&mut run)
    };
    ours(&["session", "verify", "--session"])?;
    let shown: Value = serde_json::from_str(&ours(&["context", "show", "--json", "--session"])?)?;
    let messages = shown["messages"].as_array().into_iter().flatten();
    let typed: Vec<(&str, &str)> = messages
        .filter(|message| message["role"] == "user" && message["isMeta"] != true)
        .flat_map(|message| match message["userText"].as_array() {
            Some(texts) => texts.iter().map(channel).collect(),
            None => vec![("prompt", said(message))],
        })
        .collect();
    if typed != [("prompt", PROMPT), ("queued", STEERED)] {
        return Err(format!("the user's words in the rollout are {typed:?}").into());
    }
    println!("a prompt and what was typed during its turn are the user's, each once");
    Ok(())
}

fn channel(text: &Value) -> (&str, &str) {
    let field = |name: &str| text[name].as_str().unwrap_or_default();
    (field("channel"), field("text"))
}

fn said(message: &Value) -> &str {
    message["content"][0]["text"].as_str().unwrap_or_default()
}

/// The only session file below a folder.
fn rollout(folder: &Path) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = match path.is_dir() {
            true => rollout(&path)?,
            false => paths::name(&path).starts_with("rollout-").then_some(path),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// A running app server.
struct Codex {
    child: Child,
    heard: Receiver<Value>,
}

impl Codex {
    fn start(peers: &Peers, folder: &Path, url: &str) -> Result<Codex> {
        let home = folder.join("codex");
        for folder in [&home, &folder.join("work")] {
            fs::create_dir_all(folder)?;
        }
        let settings = format!(
            "model = \"paper\"\nmodel_provider = \"loopback\"\napproval_policy = \"never\"\n\
             sandbox_mode = \"danger-full-access\"\n[model_providers.loopback]\n\
             name = \"loopback\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n"
        );
        fs::write(home.join("config.toml"), settings)?;
        let mut child = Command::new(peers.node())
            .arg(peers.codex()?)
            .arg("app-server")
            .current_dir(folder.join("work"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", folder)
            .env("CODEX_HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.join("codex.log"))?)
            .spawn()?;
        let output = child.stdout.take().ok_or("its output is piped")?;
        let (say, heard) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(|line| line.ok()) {
                let message = serde_json::from_str(&line).unwrap_or(Value::Null);
                if say.send(message).is_err() {
                    break;
                }
            }
        });
        Ok(Codex { child, heard })
    }

    /// A turn with a command, and a text that is typed while it runs.
    fn types_meanwhile(&mut self, folder: &Path) -> Result<()> {
        let client = json!({"clientInfo": {"name": "e2e", "version": "1"}});
        self.ask("initialize", &client)?;
        let thread = self.ask("thread/start", &json!({ "cwd": folder.join("work") }))?;
        let thread = &thread["thread"]["id"];
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let turn = json!({"threadId": thread, "input": text(PROMPT)});
        let turn = self.ask("turn/start", &turn)?["turn"]["id"].take();
        self.until(|message| {
            message["method"] == "item/started"
                && message["params"]["item"]["type"] == "commandExecution"
        })?;
        let steer = json!({"threadId": thread, "expectedTurnId": turn, "input": text(STEERED)});
        self.ask("turn/steer", &steer)?;
        self.until(|message| message["method"] == "turn/completed")?;
        Ok(())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        let input = self.child.stdin.as_mut().ok_or("its input is open")?;
        let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        writeln!(input, "{request}")?;
        let mut answer = self.until(|message| message["id"] == method)?;
        match answer["error"].is_null() {
            true => Ok(answer["result"].take()),
            false => Err(format!("{method}: {}", answer["error"]).into()),
        }
    }

    fn until(&self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        loop {
            let message = self.heard.recv_timeout(PATIENCE);
            let message = message.map_err(|error| format!("Codex: {error}"))?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }
}

impl Drop for Codex {
    fn drop(&mut self) {
        // It ends when nobody speaks to it any more.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
