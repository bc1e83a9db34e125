//! The dashboard as a browser and a program ask it, over real connections.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use longhaul_engine::catalog::Places;
use longhaul_engine::config::Config;
use longhaul_server::dashboard::{Access, Dashboard, Writes, serve};
use longhaul_server::desk::Desk;
use longhaul_tokens::{ResolvedWindow, Tokens, Window, WindowOrigin, WindowSettings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "a token of many letters and digits 0123";
const SCRIPT: &str = "<script>alert('x')</script><img src=x onerror=alert(1)>";

struct Server {
    address: SocketAddr,
    cancel: CancellationToken,
    folder: tempfile::TempDir,
}

/// What came back: status, header and body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Server {
    async fn start(writes: Writes) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join(".pi/agent/sessions/--work--");
        std::fs::create_dir_all(&sessions).unwrap();
        std::fs::write(sessions.join("one.jsonl"), session()).unwrap();
        let desk = Desk {
            places: Places::below(folder.path()),
            workspace: folder.path().into(),
            state_dir: folder.path().join("state"),
            config: Config::default(),
            library: None,
            notebook: None,
            log: Box::new(|| Err("no log here".into())),
            window: Box::new(|_, _| {
                let window = Tokens(200_000);
                let settings = WindowSettings::of(window);
                let resolved = ResolvedWindow {
                    window,
                    origin: WindowOrigin::Default,
                };
                Ok((Window::new(&settings).unwrap(), resolved))
            }),
            clock: Box::new(|| "2026-03-01T12:00:00+00:00[UTC]".parse().unwrap()),
            version: "0".into(),
        };
        let dashboard = Dashboard {
            desk: Arc::new(desk),
            writes,
            access: Arc::new(Access::new(TOKEN.into(), "once".into(), Vec::new())),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cancel = CancellationToken::new();
        tokio::spawn(serve(listener, dashboard, cancel.clone()));
        Server {
            address,
            cancel,
            folder,
        }
    }

    fn file(&self) -> std::path::PathBuf {
        let below = Path::new(".pi/agent/sessions/--work--/one.jsonl");
        self.folder.path().join(below)
    }

    async fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: unchunked(head, body),
        }
    }

    /// With these header lines, and no token unless they have one.
    async fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        let host = self.address;
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n{headers}\r\n"
        ))
        .await
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &format!("Authorization: Bearer {TOKEN}\r\n"))
            .await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn unchunked(head: &str, body: &str) -> String {
    if !head.to_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let (mut text, mut rest) = (String::new(), body);
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text.push_str(&more[..size]);
        rest = more[size..].trim_start_matches("\r\n");
    }
    text
}

fn message(id: u32, message: &Value) -> String {
    let parent = (id > 1).then(|| format!("e{:03}", id - 1));
    json!({
        "type": "message", "id": format!("e{id:03}"), "parentId": parent,
        "timestamp": format!("2026-03-01T10:{id:02}:00.000Z"), "message": message,
    })
    .to_string()
        + "\n"
}

/// A session of four requests, one compaction and texts that would like to be more
/// than text.
fn session() -> String {
    let user = |text: &str| json!({"role": "user", "content": text, "timestamp": 1});
    let said = |text: &str, prompt: u64| {
        json!({"role": "assistant", "content": [{"type": "text", "text": text}],
            "model": "claude-opus-4-5", "provider": "anthropic", "stopReason": "stop", "timestamp": 1,
            "usage": {"input": 10, "output": 20, "cacheRead": prompt, "cacheWrite": 0, "totalTokens": prompt + 30}})
    };
    let mut lines =
        json!({"type": "session", "version": 3, "id": "0195aaaa-1111-7000-8000-000000000001",
        "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/work"})
        .to_string()
            + "\n";
    lines += &message(1, &user("Never push without asking."));
    lines += &message(2, &said("Understood.", 12_000));
    lines += &message(
        3,
        &user(&format!(
            "{SCRIPT} [go](javascript:alert(1)) \u{202e}gnp.exe\u{1b}[2J"
        )),
    );
    lines += &message(4, &said("That is text.", 12_100));
    lines += &(json!({"type": "compaction", "id": "e005", "parentId": "e004",
        "timestamp": "2026-03-01T10:05:00.000Z", "summary": "The user: Never push without asking.",
        "firstKeptEntryId": "e003", "tokensBefore": 12_130})
    .to_string()
        + "\n");
    lines += &message(6, &user("Go on."));
    lines += &message(7, &said("Going on.", 12_060));
    lines
}

const ID: &str = "0195aaaa-1111-7000-8000-000000000001";

#[tokio::test]
async fn without_the_token_nothing_is_shown() {
    let server = Server::start(Writes::Never).await;
    for path in [
        "/",
        "/assets/style.css",
        "/api/sessions",
        "/events",
        "/nowhere",
    ] {
        for headers in [
            "",
            "Authorization: Bearer wrong\r\n",
            "Cookie: longhaul=x\r\n",
        ] {
            let answer = server.ask("GET", path, headers).await;
            assert_eq!(answer.status, 401, "{path} {headers}");
            assert!(!answer.body.contains("Never push"));
        }
    }
}

#[tokio::test]
async fn other_hosts_and_pages_of_other_sites_are_refused() {
    let server = Server::start(Writes::Never).await;
    let auth = format!("Authorization: Bearer {TOKEN}\r\n");
    let foreign = server
        .send(&format!(
            "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n{auth}\r\n"
        ))
        .await;
    assert_eq!(foreign.status, 421);
    for header in ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"] {
        let answer = server.ask("GET", "/", &format!("{auth}{header}\r\n")).await;
        assert_eq!(answer.status, 403, "{header}");
    }
    let own = format!("{auth}Origin: http://{}\r\n", server.address);
    assert_eq!(server.ask("GET", "/", &own).await.status, 200);
}

#[tokio::test]
async fn the_printed_address_opens_once_and_leaves_a_cookie_that_scripts_cannot_read() {
    let server = Server::start(Writes::Never).await;
    let opened = server.ask("GET", "/open?token=once&to=/search", "").await;
    assert_eq!(
        (opened.status, opened.header("location")),
        (303, Some("/search"))
    );
    let cookie = opened.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert!(!cookie.contains(TOKEN));
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(server.ask("GET", "/", &cookie).await.status, 200);
    assert_eq!(server.ask("GET", "/open?token=once", "").await.status, 401);
    // A page elsewhere cannot be the way in.
    let away = server
        .ask("GET", "/open?token=once&to=//evil.example", &cookie)
        .await;
    assert_eq!(away.header("location"), Some("/"));
}

#[tokio::test]
async fn every_answer_forbids_what_is_not_ours() {
    let server = Server::start(Writes::Never).await;
    for path in ["/", "/api/sessions", "/assets/page.js", "/nowhere"] {
        let answer = server.get(path).await;
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
}

#[tokio::test]
async fn what_a_session_says_is_shown_as_text_and_nothing_else() {
    let server = Server::start(Writes::Never).await;
    for path in [
        "/".to_owned(),
        format!("/sessions/{ID}"),
        format!("/sessions/{ID}/context"),
        format!("/sessions/{ID}/compactions/1"),
        format!("/sessions/{ID}/entries/e003"),
        "/search?q=text".to_owned(),
    ] {
        let page = server.get(&path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(!page.body.contains("<script>alert"), "{path}");
        assert!(!page.body.contains("<img"), "{path}");
        assert!(!page.body.contains("href=\"javascript"), "{path}");
        assert!(
            !page.body.contains('\u{202e}') && !page.body.contains('\u{1b}'),
            "{path}"
        );
        assert!(
            !page.body.contains(" style="),
            "{path}: the policy forbids inline styles"
        );
    }
    let entry = server.get(&format!("/sessions/{ID}/entries/e003")).await;
    assert!(entry.body.contains("&lt;script&gt;") && entry.body.contains("⟨U+202E⟩"));
}

#[tokio::test]
async fn the_page_of_a_compaction_has_every_line_of_its_json() {
    let server = Server::start(Writes::Never).await;
    let answer = server
        .get(&format!("/api/sessions/{ID}/compactions/1"))
        .await;
    let view = answer.json();
    let page = server
        .get(&format!("/sessions/{ID}/compactions/1"))
        .await
        .body;
    let said = view["said"].as_array().unwrap();
    assert_eq!(said[0]["text"], "Never push without asking.");
    assert_eq!(said[0]["standing"], "whole");
    assert_eq!(view["left"][0]["entry"], "e001");
    assert_eq!(view["compaction"]["layer"], Value::Null);
    let left = view["left"].as_array().unwrap();
    let stayed = view["stayed"].as_array().unwrap();
    for line in said.iter().chain(left).chain(stayed) {
        let entry = line["entry"].as_str().unwrap();
        assert!(page.contains(&format!("data-entry=\"{entry}\"")), "{entry}");
    }
}

#[tokio::test]
async fn the_timeline_has_every_request_with_what_filled_it() {
    let server = Server::start(Writes::Never).await;
    let view = server
        .get(&format!("/api/sessions/{ID}/timeline"))
        .await
        .json();
    for column in [
        "time",
        "system",
        "unrecorded",
        "summary",
        "user",
        "agent",
        "tools",
        "dollars",
    ] {
        assert_eq!(view[column].as_array().unwrap().len(), 3, "{column}");
    }
    // What was summarised is no longer among the user's words, but the summary is.
    let user = |at: usize| view["user"][at].as_u64().unwrap();
    assert!(user(0) > 0 && user(1) > user(0));
    assert_eq!(view["summary"][1], 0);
    assert!(view["summary"][2].as_u64().unwrap() > 0);
    // The provider counted a prompt and tools that pi does not record.
    assert!(view["unrecorded"][0].as_u64().unwrap() > 11_000);
    assert_eq!(view["marks"][0]["kind"], "compaction");
    assert_eq!(view["marks"][0]["at"], 2);
    // A second look reads only what was appended, and says the same and more.
    let mut grown = std::fs::read_to_string(server.file()).unwrap();
    grown += &message(
        8,
        &json!({"role": "user", "content": "And now?", "timestamp": 1}),
    );
    grown += &message(
        9,
        &json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}], "timestamp": 1}),
    );
    std::fs::write(server.file(), grown).unwrap();
    let later = server
        .get(&format!("/api/sessions/{ID}/timeline"))
        .await
        .json();
    assert_eq!(
        later["user"].as_array().unwrap()[..3],
        view["user"].as_array().unwrap()[..]
    );
    assert_eq!(later["time"].as_array().unwrap().len(), 4);
    assert_eq!(later["unrecorded"][3], Value::Null);
}

#[tokio::test]
async fn a_request_leads_to_the_context_that_it_was() {
    let server = Server::start(Writes::Never).await;
    let answer = server.get(&format!("/sessions/{ID}/requests/1")).await;
    assert_eq!(answer.status, 303);
    let at = answer.header("location").unwrap().to_owned();
    assert_eq!(at, format!("/sessions/{ID}/context?at=e003"));
    let view = server.get(&format!("/api{at}")).await.json();
    let entries: Vec<&str> = view["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["entry"].as_str().unwrap())
        .collect();
    assert_eq!(entries, ["e001", "e002", "e003"]);
    assert_eq!(view["status"], Value::Null);
}

#[tokio::test]
async fn what_does_not_exist_is_told_with_a_remedy() {
    let server = Server::start(Writes::Never).await;
    for path in [
        "/sessions/none".to_owned(),
        format!("/sessions/{ID}/compactions/7"),
        format!("/sessions/{ID}/entries/nothing"),
        format!("/sessions/{ID}/requests/99"),
        "/nowhere".to_owned(),
    ] {
        let answer = server.get(&path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("role=\"alert\""), "{path}");
    }
    let refusal = server.get("/api/sessions/none").await;
    assert_eq!(refusal.status, 404);
    assert!(refusal.json()["error"].as_str().unwrap().contains("none"));
}

#[tokio::test]
async fn every_path_of_the_document_answers_in_the_shape_it_states() {
    let server = Server::start(Writes::Never).await;
    let document = server.get("/api/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() >= 20);
    for (path, way) in paths {
        if !way["post"].is_null() {
            // What changes something is described, and refused here.
            let path = path.replace("{session}", ID).replace("{number}", "1");
            let auth = format!(
                "Authorization: Bearer {TOKEN}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            );
            let answer = server.ask("POST", &path, &auth).await;
            assert_eq!(answer.status, 403, "{path}: {}", answer.body);
            continue;
        }
        let path = path
            .replace("{session}", ID)
            .replace("{number}", "1")
            .replace("{entry}", "e003");
        let answer = server.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let schema = &way["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        let name = schema["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        let stated = &document["components"]["schemas"][name]["properties"];
        for field in answer.json().as_object().unwrap().keys() {
            assert!(!stated[field].is_null(), "{path}: {field} is not described");
        }
    }
}

#[tokio::test]
async fn a_page_hears_of_a_session_that_grows() {
    let server = Server::start(Writes::Never).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let request = format!(
        "GET /events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut heard = String::new();
    let mut grown = false;
    while !heard.contains("event: changed") {
        let mut part = vec![0; 4096];
        let read = tokio::time::timeout(std::time::Duration::from_secs(60), stream.read(&mut part));
        let read = match read.await {
            Ok(read) => read.unwrap(),
            Err(_) => panic!("nothing was heard: {heard}"),
        };
        assert!(read > 0, "the server hung up: {heard}");
        heard.push_str(&String::from_utf8_lossy(&part[..read]));
        if !grown {
            grown = true;
            // It has to have looked once before something can have changed.
            tokio::time::sleep(std::time::Duration::from_secs(3)).await;
            let mut text = std::fs::read_to_string(server.file()).unwrap();
            text += &message(
                8,
                &json!({"role": "user", "content": "And now?", "timestamp": 1}),
            );
            std::fs::write(server.file(), text).unwrap();
        }
    }
    assert!(heard.contains(r#"{"sessions":["one"]}"#), "{heard}");
}

#[tokio::test]
async fn a_pin_is_written_where_that_is_allowed_and_only_by_our_own_pages() {
    let path = format!("/api/sessions/{ID}/entries/e006/pin");
    let auth = format!("Authorization: Bearer {TOKEN}\r\n");
    let server = Server::start(Writes::Never).await;
    assert_eq!(server.ask("POST", &path, &auth).await.status, 403);
    let server = Server::start(Writes::WhereAsked).await;
    let before = std::fs::read_to_string(server.file()).unwrap();
    // Written a moment ago, as by an agent that runs it.
    assert_eq!(server.ask("POST", &path, &auth).await.status, 422);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = std::fs::File::options()
        .append(true)
        .open(server.file())
        .unwrap();
    file.set_modified(long_ago).unwrap();
    drop(file);
    // A browser has to say that it is our page which asks.
    let opened = server.ask("GET", "/open?token=once", "").await;
    let cookie = opened.header("set-cookie").unwrap();
    let cookie = format!("Cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(server.ask("POST", &path, &cookie).await.status, 403);
    assert_eq!(std::fs::read_to_string(server.file()).unwrap(), before);
    let page = server
        .ask("GET", &format!("/sessions/{ID}/context"), &cookie)
        .await
        .body;
    let csrf = page
        .split("data-csrf=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let asked = format!("{cookie}X-Longhaul-Csrf: {csrf}\r\n");
    assert_eq!(server.ask("POST", &path, &asked).await.status, 200);
    let view = server
        .get(&format!("/api/sessions/{ID}/context"))
        .await
        .json();
    let pinned = |view: &Value| {
        let all = view["messages"].as_array().unwrap().iter();
        all.filter(|one| one["pinned"] == true)
            .map(|one| one["entry"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(pinned(&view), ["e006"]);
    // Our own write does not look like another program's.
    let unpin = path.replace("/pin", "/unpin");
    assert_eq!(server.ask("POST", &unpin, &asked).await.status, 200);
    let view = server
        .get(&format!("/api/sessions/{ID}/context"))
        .await
        .json();
    assert!(pinned(&view).is_empty());
    let after = std::fs::read_to_string(server.file()).unwrap();
    assert!(after.starts_with(&before));
}
