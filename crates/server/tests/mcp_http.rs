//! MCP over HTTP among clients that are slow, or never come to the point.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use longhaul_engine::catalog::Places;
use longhaul_engine::config::Config;
use longhaul_server::desk::Desk;
use longhaul_server::http::HttpLimits;
use longhaul_server::mcp::{Gate, serve_http};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "a token of many letters";
/// Far beyond what anything here takes: a test that hangs is to fail.
const HANG: Duration = Duration::from_secs(120);

struct Server {
    address: SocketAddr,
    cancel: CancellationToken,
    served: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Server {
    async fn start(limits: HttpLimits) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let desk = Desk {
            places: Places::below(folder.path()),
            workspace: folder.path().into(),
            state_dir: folder.path().into(),
            config: Config::default(),
            library: None,
            notebook: None,
            log: Box::new(|| Err("no log here".into())),
            window: Box::new(|_, _| Err("no window here".into())),
            clock: Box::new(|| "1970-01-01T00:00:00+00:00[UTC]".parse().unwrap()),
            version: "0".into(),
        };
        let gate = Gate {
            token: TOKEN.into(),
            hosts: Vec::new(),
            origins: Vec::new(),
            limits,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cancel = CancellationToken::new();
        let served = tokio::spawn(serve_http(listener, Arc::new(desk), gate, cancel.clone()));
        Server {
            address,
            cancel,
            served,
            _folder: folder,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A connection on which so much was sent and no more.
    async fn half_open(&self, sent: &str) -> TcpStream {
        let mut stream = self.connect().await;
        // A server that closed it already does not want it.
        let _ = stream.write_all(sent.as_bytes()).await;
        stream
    }

    async fn stop(self) {
        self.cancel.cancel();
        tokio::time::timeout(HANG, self.served)
            .await
            .unwrap()
            .unwrap();
    }
}

fn header(body_bytes: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {body_bytes}\r\n\r\n"
    )
}

/// Asks on an open connection; the status line of the answer, which is read whole.
async fn ask(stream: &mut TcpStream) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
    let request = header(body.len()) + body;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    loop {
        let read = stream.read_buf(&mut answer).await.unwrap();
        let text = String::from_utf8_lossy(&answer);
        let length = text.lines().find_map(|line| {
            let value = line.to_ascii_lowercase();
            value
                .strip_prefix("content-length: ")?
                .parse::<usize>()
                .ok()
        });
        let whole = text.split_once("\r\n\r\n").zip(length);
        if read == 0 || whole.is_some_and(|((_, body), length)| body.len() >= length) {
            return text.lines().next().unwrap_or_default().to_owned();
        }
    }
}

/// What comes until the server closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    // A connection that is reset is closed as well.
    let _ = tokio::time::timeout(HANG, stream.read_to_end(&mut answer))
        .await
        .expect("the server lets go of a client that is slow");
    String::from_utf8_lossy(&answer).into_owned()
}

#[cfg(unix)]
fn allow_files(wanted: u64) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(limit.maximum.map_or(wanted, |most| wanted.min(most)));
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// Opens so many connections and finishes a request on none of them.
fn flood(address: SocketAddr, count: usize) -> JoinHandle<Vec<std::net::TcpStream>> {
    let openings = [
        String::new(),
        "POST /mcp HTTP/1.1\r\nHost: loc".to_owned(),
        header(100),
    ];
    tokio::task::spawn_blocking(move || {
        let opened = openings.iter().cycle().take(count).map(|sent| {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            // A server that closed it already does not want it.
            let _ = stream.write_all(sent.as_bytes());
            stream
        });
        opened.collect()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_clients_work_beside_two_thousand_that_are_half_open() {
    #[cfg(unix)]
    allow_files(8_192);
    // So long that none of the half-open ones leaves by itself.
    let server = Server::start(HttpLimits {
        header: 10 * HANG,
        body: 10 * HANG,
        ..HttpLimits::default()
    })
    .await;
    let flood: Vec<_> = (0..4).map(|_| flood(server.address, 500)).collect();
    let clients = (0..100).map(|_| async {
        let mut stream = server.connect().await;
        for _ in 0..10 {
            assert_eq!(ask(&mut stream).await, "HTTP/1.1 200 OK");
        }
    });
    tokio::time::timeout(HANG, join_all(clients)).await.unwrap();
    let half_open = tokio::time::timeout(HANG, join_all(flood)).await.unwrap();
    let half_open: Vec<_> = half_open.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(half_open.len(), 2_000);
    // They are all still there, and a newcomer is answered all the same.
    let mut newcomer = server.connect().await;
    let answered = tokio::time::timeout(HANG, ask(&mut newcomer));
    assert_eq!(answered.await.unwrap(), "HTTP/1.1 200 OK");
    drop(half_open);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_come_to_the_point_is_let_go() {
    let server = Server::start(HttpLimits {
        header: Duration::from_millis(200),
        body: Duration::from_millis(200),
        ..HttpLimits::default()
    })
    .await;
    for silent in ["", "POST /mcp HTTP/1.1\r\nHost: loc"] {
        let answer = rest(server.half_open(silent).await).await;
        assert!(!answer.contains("200 OK"), "{answer}");
    }
    let answer = rest(server.half_open(&(header(100) + "{")).await).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_beyond_the_limit_is_refused() {
    let server = Server::start(HttpLimits {
        body_bytes: 1_000,
        ..HttpLimits::default()
    })
    .await;
    let large = header(1_001) + &"x".repeat(1_001);
    let mut stream = server.half_open(&large).await;
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 413");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_does_not_wait_for_clients_that_say_nothing() {
    let server = Server::start(HttpLimits::default()).await;
    let _silent = server.half_open("").await;
    let _unfinished = server.half_open("POST /mcp HTTP/1.1\r\n").await;
    server.stop().await;
}
