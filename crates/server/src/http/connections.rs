//! The connections of a server: how many at once, for how long, and who has to
//! leave when there are too many.
//!
//! A client that opens connections and says nothing costs a place each. So when
//! all places are taken, one that waits is closed for the next: first of those that
//! have never sent a whole request with the token, the oldest first, then of those
//! that are between two requests. One whose request is being answered keeps its
//! place, and a new one has a moment in which to send a request. Until somebody can
//! leave, the next connection waits with the system.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The moment that a new connection has before another may take its place.
const MOMENT: Duration = Duration::from_secs(2);
/// How long is waited after the system had no room for a connection.
const BREATHER: Duration = Duration::from_millis(50);
/// How long answers that are under way may take once the server closes.
const FAREWELL: Duration = Duration::from_secs(5);

/// What one client may take from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Connections at once.
    pub connections: usize,
    /// From the beginning of a connection, or the last answer on it, to the end of
    /// a request's header.
    pub header: Duration,
    /// From the end of the header to the end of the body.
    pub body: Duration,
    /// The bytes of a body. No argument of a tool comes near the default.
    pub body_bytes: usize,
}

impl Default for HttpLimits {
    fn default() -> HttpLimits {
        HttpLimits {
            // Half of the files that a process may usually open.
            connections: 512,
            header: Duration::from_secs(20),
            body: Duration::from_secs(20),
            body_bytes: 1 << 20,
        }
    }
}

/// One connection, as the others see it.
#[derive(Debug)]
pub(crate) struct Connection {
    since: Instant,
    /// Whether a whole request with the token ever came.
    is_known: AtomicBool,
    /// Requests that are being answered.
    answering: AtomicUsize,
    closed: CancellationToken,
}

impl Connection {
    /// A whole request has come, and is answered while this is held.
    pub(crate) fn answering(self: Arc<Self>) -> Answering {
        self.is_known.store(true, Ordering::Relaxed);
        self.answering.fetch_add(1, Ordering::Relaxed);
        Answering(self)
    }
}

/// A request that is being answered.
pub(crate) struct Answering(Arc<Connection>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All connections of a server, the oldest first.
#[derive(Debug, Default)]
struct Connections {
    open: Mutex<Vec<Arc<Connection>>>,
    left: Notify,
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        // Nothing that holds the lock can leave the list half changed.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are fewer connections than `most`.
    async fn place(&self, most: usize) {
        while let Err(patience) = self.make_room(most, Instant::now()) {
            tokio::select! {
                () = tokio::time::sleep(patience) => {}
                () = self.left.notified() => {}
            }
        }
    }

    /// Closes the connection that is missed least where there are too many; fails
    /// with the time to wait where none can be closed.
    fn make_room(&self, most: usize, now: Instant) -> Result<(), Duration> {
        let mut open = self.open();
        if open.len() < most {
            return Ok(());
        }
        let waiting = |one: &Connection| one.answering.load(Ordering::Relaxed) == 0;
        let stranger = |one: &Connection| !one.is_known.load(Ordering::Relaxed);
        let stranger = open.iter().position(|one| waiting(one) && stranger(one));
        let at = match stranger {
            Some(at) => {
                let age = now.saturating_duration_since(open[at].since);
                if age < MOMENT {
                    return Err(MOMENT - age);
                }
                at
            }
            None => {
                let known = open.iter().position(|one| waiting(one));
                known.ok_or(MOMENT)?
            }
        };
        open.remove(at).closed.cancel();
        Ok(())
    }

    fn enter(&self, now: Instant) -> Arc<Connection> {
        let connection = Arc::new(Connection {
            since: now,
            is_known: AtomicBool::new(false),
            answering: AtomicUsize::new(0),
            closed: CancellationToken::new(),
        });
        self.open().push(Arc::clone(&connection));
        connection
    }

    fn leave(&self, connection: &Arc<Connection>) {
        self.open().retain(|one| !Arc::ptr_eq(one, connection));
        self.left.notify_one();
    }
}

/// Answers requests on a listener until `cancel` is called, and then those that are
/// under way. What a request belongs to stands in its extensions.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    cancel: CancellationToken,
) {
    let connections = Arc::new(Connections::default());
    let mut tasks = JoinSet::new();
    let mut most = limits.connections;
    loop {
        let accept = async {
            connections.place(most).await;
            listener.accept().await
        };
        let accepted = tokio::select! {
            () = cancel.cancelled() => break,
            Some(_) = tasks.join_next() => continue,
            accepted = accept => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_gone(&error) => continue,
            // The system has no more room: somebody has to leave first.
            Err(_) => {
                most = connections.open().len().max(1);
                tokio::time::sleep(BREATHER).await;
                continue;
            }
        };
        most = limits.connections;
        let connection = connections.enter(Instant::now());
        let (router, cancel) = (router.clone(), cancel.clone());
        let connections = Arc::clone(&connections);
        tasks.spawn(async move {
            answer(stream, router, &connection, limits, cancel).await;
            connections.leave(&connection);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(FAREWELL, async {
        while tasks.join_next().await.is_some() {}
    })
    .await;
}

/// Whether the client left before it was let in.
fn is_gone(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

async fn answer(
    stream: TcpStream,
    router: Router,
    connection: &Arc<Connection>,
    limits: HttpLimits,
    cancel: CancellationToken,
) {
    let router = router.layer(Extension(Arc::clone(connection)));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = std::pin::pin!(served);
    tokio::select! {
        // How a connection ends is the client's business.
        _ = served.as_mut() => {}
        () = connection.closed.cancelled() => {}
        () = cancel.cancelled() => {
            if connection.is_known.load(Ordering::Relaxed) {
                served.as_mut().graceful_shutdown();
                let _ = served.await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_closed(connection: &Connection) -> bool {
        connection.closed.is_cancelled()
    }

    #[test]
    fn who_never_sent_a_request_leaves_first_and_who_is_answered_stays() {
        let connections = Connections::default();
        let begun = Instant::now();
        let later = begun + MOMENT;
        let enter = || connections.enter(begun);
        let (answered, known, old, new) = (enter(), enter(), enter(), enter());
        let answering = Arc::clone(&answered).answering();
        drop(Arc::clone(&known).answering());
        // A new connection has its moment.
        assert_eq!(connections.make_room(5, begun), Ok(()));
        assert_eq!(connections.make_room(4, begun), Err(MOMENT));
        for (leaving, staying) in [(&old, &new), (&new, &known), (&known, &answered)] {
            let most = connections.open().len();
            assert_eq!(connections.make_room(most, later), Ok(()));
            assert!(is_closed(leaving) && !is_closed(staying));
        }
        assert_eq!(connections.make_room(1, later), Err(MOMENT));
        drop(answering);
        assert_eq!(connections.make_room(1, later), Ok(()));
        assert!(is_closed(&answered));
    }

    #[test]
    fn a_place_is_free_again_once_a_connection_ends() {
        let connections = Connections::default();
        let one = connections.enter(Instant::now());
        let _answering = Arc::clone(&one).answering();
        assert!(connections.make_room(1, Instant::now()).is_err());
        connections.leave(&one);
        assert_eq!(connections.make_room(1, Instant::now()), Ok(()));
        assert!(!is_closed(&one));
    }
}
