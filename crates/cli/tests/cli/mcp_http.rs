//! `mcp --http`: the same over HTTP, for who has the token.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::machine::Machine;
use crate::mcp::{Client, hello, machine};

/// The server over HTTP.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(machine: &Machine, more: &[&str]) -> Server {
        let mut command = machine.command();
        command.args(["mcp", "--http", "127.0.0.1:0"]).args(more);
        command.env("MY_TOKEN", "a-token-of-the-user");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.strip_prefix("serving MCP at http://").unwrap();
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        let second = lines.next().unwrap().unwrap();
        let token = second
            .strip_prefix("token: ")
            .unwrap_or("a-token-of-the-user");
        Server {
            child,
            address,
            token: token.to_owned(),
        }
    }

    /// Asks with these headers; the status and the body.
    fn ask(&self, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        let usual = [
            ("Host", self.address.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        for (name, value) in usual {
            if !headers.iter().any(|(other, _)| *other == name) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let _ = stream.write_all(format!("{head}\r\n").as_bytes());
        // A server that refuses the request does not read all of it.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.unwrap_or(0), body.to_owned())
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

fn request(method: &str, params: Value) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
        .to_string()
        .into_bytes()
}

#[test]
fn over_http_the_same_tools_answer_who_has_the_token() {
    let machine = machine();
    let server = Server::start(&machine, &[]);
    assert!(server.token.len() >= 32, "{}", server.token);
    let bearer = server.bearer();
    let allowed = [("Authorization", bearer.as_str())];
    let (status, body) = server.ask(&allowed, &request("initialize", hello()));
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("\"longhaul\""), "{body}");
    let call = request(
        "tools/call",
        json!({ "name": "recall", "arguments": { "text": "missing header" } }),
    );
    let headers = [allowed[0], ("MCP-Protocol-Version", "2025-06-18")];
    let (status, body) = server.ask(&headers, &call);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("error: missing header"), "{body}");
    // Not even whether something is there is told without the token.
    for headers in [
        &[][..],
        &[("Authorization", "Bearer wrong")],
        &[("Authorization", "Basic x")],
    ] {
        let (status, body) = server.ask(headers, &call);
        assert_eq!(status, 401, "{headers:?}: {body}");
        assert!(!body.contains("missing header"), "{body}");
    }
}

#[test]
fn a_page_in_a_browser_cannot_reach_the_sessions() {
    let machine = machine();
    let server = Server::start(&machine, &["--allow-origin", "https://app.example:443"]);
    let bearer = server.bearer();
    let token = ("Authorization", bearer.as_str());
    let call = request("tools/list", json!({}));
    for headers in [
        [token, ("Host", "evil.example")],
        [token, ("Host", "127.0.0.1.evil.example")],
        [token, ("Origin", "https://evil.example")],
        [token, ("Origin", "null")],
    ] {
        let (status, body) = server.ask(&headers, &call);
        assert_eq!(status, 403, "{headers:?}: {body}");
        assert!(!body.contains("recall"), "{body}");
    }
    let (status, body) = server.ask(&[token, ("Origin", "https://app.example")], &call);
    assert_eq!(status, 200, "{body}");
}

#[test]
fn a_request_that_is_too_large_or_no_json_is_refused() {
    let machine = machine();
    let server = Server::start(&machine, &["--token-env", "MY_TOKEN"]);
    let bearer = server.bearer();
    let token = [("Authorization", bearer.as_str())];
    let large = request("tools/list", json!({ "x": "y".repeat(2 << 20) }));
    assert_eq!(server.ask(&token, &large).0, 413);
    for body in [&b"not json"[..], b"{\"jsonrpc\":\"2.0\",\"id\":1", b"[7]"] {
        let (status, answer) = server.ask(&token, body);
        assert_eq!(status, 400, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
    }
    let text = [token[0], ("Content-Type", "text/plain")];
    assert_eq!(server.ask(&text, b"not json").0, 415);
    assert_eq!(server.ask(&token, &request("tools/list", json!({}))).0, 200);
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let machine = machine();
    let ran = machine.run_line("mcp --http 0.0.0.0:0");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("can be reached from other machines"),
        "{ran:?}"
    );
    let ran = machine.run_line("mcp --http 127.0.0.1:0 --token-env NOT_SET");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("NOT_SET"), "{ran:?}");
    let mut command = machine.command();
    command
        .env("SHORT", "abc")
        .args(["mcp", "--http", "127.0.0.1:0", "--token-env", "SHORT"]);
    assert_eq!(machine.finish(&mut command).code, 2);
}

#[test]
fn a_signal_ends_the_server_in_order() {
    let machine = machine();
    let mut client = Client::start(&machine);
    terminate(&client.child);
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    let mut server = Server::start(&machine, &[]);
    terminate(&server.child);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
fn terminate(child: &Child) {
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
}
