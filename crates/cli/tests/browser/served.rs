//! A machine of its own for a test, and the dashboard that is served on it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

const TOKEN: &str = "a-token-of-many-letters-0123456789";

pub(crate) struct Machine(tempfile::TempDir);

impl Machine {
    pub(crate) fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Machine(folder)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("longhaul"));
        command
            .args(line.split_whitespace())
            .env_clear()
            .env("HOME", self.home())
            .env("LONGHAUL_NOW", "2026-03-10T12:00:00Z")
            .env("DASHBOARD_TOKEN", TOKEN)
            .current_dir(self.work());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    pub(crate) fn json(&self, line: &str) -> Value {
        let ran = self.run(line);
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    pub(crate) fn serve(&self, more: &[&str]) -> Served {
        let mut command = self.command("serve --token-env DASHBOARD_TOKEN");
        let mut child = command.args(more).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.next().unwrap().unwrap();
        let host = address.strip_prefix("http://").unwrap();
        let host = host.split('/').next().unwrap().to_owned();
        Served {
            child,
            host,
            address,
        }
    }

    /// A session that would like to be more than text.
    pub(crate) fn put_traps(&self) {
        let traps = "<script>window.pwned = 1</script><img src=x onerror=\"window.pwned = 2\">\
            <svg onload=\"window.pwned = 3\"></svg><style>* { display: none }</style>\
            <iframe src=\"http://evil.example\"></iframe> [go](javascript:window.pwned=4) \
            \u{202e}gnp.exe \u{2066}x\u{2069} \u{1b}[2J \u{0} </script></title><b>\u{feff}";
        let user = |text: &str| json!({ "role": "user", "content": text, "timestamp": 1 });
        let call = json!({ "type": "toolCall", "id": "c1", "name": traps,
            "arguments": { "path": traps, "command": traps } });
        let agent = json!({ "role": "assistant", "content": [{ "type": "text", "text": traps }, call],
            "model": traps, "provider": "anthropic", "stopReason": "toolUse", "timestamp": 1 });
        let result = json!({ "role": "toolResult", "toolCallId": "c1", "toolName": traps,
            "content": [{ "type": "text", "text": traps }], "isError": false, "timestamp": 1 });
        let mut lines = vec![json!({ "type": "session", "version": 3, "id": "traps",
            "timestamp": "2026-03-01T10:00:00.000Z", "cwd": traps })];
        let mut parent = Value::Null;
        let messages = [user(traps), agent, result, user(&format!("Again: {traps}"))];
        for (at, message) in (1..).zip(messages) {
            let id = format!("e{at:03}");
            lines.push(json!({ "type": "message", "id": id, "parentId": parent,
                "timestamp": "2026-03-01T10:00:00.000Z", "message": message }));
            parent = json!(id);
        }
        lines.push(
            json!({ "type": "compaction", "id": "e005", "parentId": parent,
            "timestamp": "2026-03-01T10:05:00.000Z", "summary": traps,
            "firstKeptEntryId": "e004", "tokensBefore": 100 }),
        );
        lines.push(
            json!({ "type": "session_info", "id": "e006", "parentId": "e005",
            "timestamp": "2026-03-01T10:06:00.000Z", "name": traps }),
        );
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        let folder = self.home().join(".pi/agent/sessions/--work--");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("traps.jsonl"), lines.concat()).unwrap();
    }
}

pub(crate) struct Served {
    child: Child,
    host: String,
    /// The address that was printed; it opens once.
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {TOKEN}")
    }

    pub(crate) fn status(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        self.ask("GET", path, headers)
    }

    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)]) -> u16 {
        self.ask("POST", path, headers)
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.host));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
