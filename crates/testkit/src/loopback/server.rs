//! The server: one thread, HTTP/1.1, one request a connection.
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use longhaul_model::Protocol;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Which request it was, from 0.
    pub number: usize,
    /// `POST`, as a rule.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Recorded {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The format that the path belongs to.
    pub fn protocol(&self) -> Option<Protocol> {
        let path = self.path.split('?').next().unwrap_or_default();
        Protocol::ALL
            .into_iter()
            .find(|protocol| path.ends_with(protocol.path()))
    }

    /// Whether a stream was asked for.
    pub fn streams(&self) -> bool {
        self.json()
            .get("stream")
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// The model that was asked for.
    pub fn model(&self) -> String {
        self.json()
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }
}

/// A part of an answer's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Written and flushed at once.
    Bytes(Vec<u8>),
    /// Nothing, for so long.
    Pause(Duration),
}

/// What happens after the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The answer ends as it should.
    Proper,
    /// The connection is cut in the middle of the body.
    Cut,
    /// Nothing ever comes again, until the client gives up.
    Hang,
}

/// What the server answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status; 0 answers nothing at all, not even that.
    pub status: u16,
    /// Besides those that the server must send.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub pieces: Vec<Piece>,
    /// What comes then.
    pub ending: Ending,
}

impl Reply {
    /// A body of one piece.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), content_type.into())],
            pieces: vec![Piece::Bytes(body.into())],
            ending: Ending::Proper,
        }
    }

    /// JSON.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// A stream of events, as they are written on the wire.
    pub fn events(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream; charset=utf-8", body)
    }

    /// No answer at all: the request is read, and that is that.
    pub fn silence() -> Self {
        Self {
            status: 0,
            headers: Vec::new(),
            pieces: Vec::new(),
            ending: Ending::Hang,
        }
    }

    /// With a header more.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// With another ending.
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The bytes of the body, without pauses.
    pub fn bytes(&self) -> Vec<u8> {
        self.pieces
            .iter()
            .flat_map(|piece| match piece {
                Piece::Bytes(bytes) => bytes.as_slice(),
                Piece::Pause(_) => &[],
            })
            .copied()
            .collect()
    }

    /// The same body in pieces of so many bytes.
    pub fn in_pieces_of(mut self, size: usize) -> Self {
        let bytes = self.bytes();
        self.pieces = bytes
            .chunks(size.max(1))
            .map(|piece| Piece::Bytes(piece.to_vec()))
            .collect();
        self
    }

    /// The same body in two pieces.
    pub fn split_at(mut self, at: usize) -> Self {
        let bytes = self.bytes();
        let (before, after) = bytes.split_at(at.min(bytes.len()));
        self.pieces = vec![Piece::Bytes(before.to_vec()), Piece::Bytes(after.to_vec())];
        self
    }

    /// With a pause before every piece.
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pieces = self
            .pieces
            .into_iter()
            .flat_map(|piece| [Piece::Pause(pause), piece])
            .collect();
        self
    }

    /// Only the first bytes of the body, and then the given ending.
    pub fn only(mut self, bytes: usize, ending: Ending) -> Self {
        let mut all = self.bytes();
        all.truncate(bytes);
        self.pieces = vec![Piece::Bytes(all)];
        self.ending = ending;
        self
    }

    /// Only the body up to the end of where the text first stands, and then the
    /// given ending. The whole body if it stands nowhere.
    pub fn only_to(self, text: &str, ending: Ending) -> Self {
        let bytes = self.bytes();
        let at = bytes
            .windows(text.len().max(1))
            .position(|window| window == text.as_bytes());
        let end = at.map_or(bytes.len(), |at| at + text.len());
        self.only(end, ending)
    }
}

type Script = dyn Fn(&Recorded) -> Reply + Send + Sync;

/// The running server. It stops when it is dropped.
pub struct Loopback {
    address: SocketAddr,
    recorded: Arc<Mutex<Vec<Recorded>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Loopback {
    /// Starts a server that answers as the script says. It has a thread of its
    /// own, so that tests need no runtime for it.
    pub fn start(script: impl Fn(&Recorded) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let log = Arc::clone(&recorded);
        let script: Arc<Script> = Arc::new(script);
        let thread = std::thread::Builder::new()
            .name("loopback".into())
            .spawn(move || {
                runtime.block_on(async {
                    let Ok(listener) = TcpListener::from_std(listener) else {
                        return;
                    };
                    let serving = tokio::spawn(serve(listener, script, log));
                    // An error means that the server was dropped: the same thing.
                    let _ = stopped.await;
                    serving.abort();
                });
            })?;
        Ok(Self {
            address,
            recorded,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Starts a server that answers one request after the other with these, and
    /// every further one with an error that says so.
    pub fn queue(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let queue = Mutex::new(replies.into_iter().collect::<VecDeque<_>>());
        Self::start(move |_| {
            let next = queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front();
            next.unwrap_or_else(|| Reply::new(410, "text/plain", "the queue of replies is empty"))
        })
    }

    /// Its address, as the base URL of a provider.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.recorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It only ends; a panic in a script has shown itself in the test.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Loopback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loopback")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

async fn serve(listener: TcpListener, script: Arc<Script>, log: Arc<Mutex<Vec<Recorded>>>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let (script, log) = (Arc::clone(&script), Arc::clone(&log));
        tokio::spawn(async move {
            // A client that goes away is an everyday event here.
            let _ = converse(stream, &*script, &log).await;
        });
    }
}

async fn converse(
    mut stream: TcpStream,
    script: &Script,
    log: &Mutex<Vec<Recorded>>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let Some(mut request) = read_request(&mut stream).await? else {
        return Ok(());
    };
    {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        request.number = log.len();
        log.push(request.clone());
    }
    let reply = script(&request);
    if reply.status != 0 {
        let mut head = format!("HTTP/1.1 {} Status\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
    }
    for piece in &reply.pieces {
        match piece {
            Piece::Pause(pause) => tokio::time::sleep(*pause).await,
            Piece::Bytes(bytes) if bytes.is_empty() => {}
            Piece::Bytes(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(bytes);
                chunk.extend_from_slice(b"\r\n");
                stream.write_all(&chunk).await?;
                stream.flush().await?;
                // Lets the client see the piece by itself.
                tokio::task::yield_now().await;
            }
        }
    }
    match reply.ending {
        Ending::Proper => {
            stream.write_all(b"0\r\n\r\n").await?;
            stream.shutdown().await
        }
        Ending::Cut => stream.shutdown().await,
        Ending::Hang => {
            // Until the client closes its side.
            let mut rest = [0; 256];
            while stream.read(&mut rest).await? > 0 {}
            Ok(())
        }
    }
}

/// More than any request of a test.
const MAX_REQUEST: usize = 64 << 20;

async fn read_request(stream: &mut TcpStream) -> io::Result<Option<Recorded>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 << 10];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        let count = stream.read(&mut piece).await?;
        if count == 0 || bytes.len() > MAX_REQUEST {
            return Ok(None);
        }
        bytes.extend_from_slice(&piece[..count]);
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let method = first.next().unwrap_or_default().to_owned();
    let path = first.next().unwrap_or_default().to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse::<usize>().ok())
        .unwrap_or(0)
        .min(MAX_REQUEST);
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            return Ok(None);
        }
        body.extend_from_slice(&piece[..count]);
    }
    Ok(Some(Recorded {
        number: 0,
        method,
        path,
        headers,
        body,
    }))
}
