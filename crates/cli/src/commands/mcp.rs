//! `mcp`: the Model Context Protocol, for any client.

use std::net::SocketAddr;
use std::sync::Arc;

use longhaul_engine::tools::Notebook;
use longhaul_model::CancellationToken;
use longhaul_server::desk::Desk;
use longhaul_server::http::HttpLimits;
use longhaul_server::mcp::{Error, Gate, serve_http, serve_stdio};

use super::{memory, memory_folder, models};
use crate::args::McpArgs;
use crate::out::remark;
use crate::prelude::*;

pub(crate) fn run(app: App, args: &McpArgs) -> Result {
    let app = Arc::new(app);
    let gate = match args.http {
        Some(address) => Some((address, gate(&app, args, address)?)),
        None => None,
    };
    let desk = Arc::new(desk(&app)?);
    let runtime = models::runtime(2)?;
    let cancel = CancellationToken::new();
    {
        let _within = runtime.enter();
        runtime.spawn(ended(cancel.clone()));
    }
    let served = runtime.block_on(async {
        match gate {
            None => serve_stdio(desk, cancel).await.map_err(Failure::from),
            Some((address, (gate, is_new))) => listen(desk, address, gate, is_new, cancel).await,
        }
    });
    // A read of standard input cannot be called off, and nobody waits for it.
    runtime.shutdown_background();
    served
}

/// What is served: everything below gets values.
pub(super) fn desk(app: &Arc<App>) -> Result<Desk> {
    let config = app.config.clone();
    let mut library = None;
    let mut notebook: Option<Arc<dyn Notebook>> = None;
    if memory::is_searched(app) {
        let chosen = memory::chosen_and_told(app)?;
        let opened = memory::library_with(app, Some(chosen));
        notebook = memory::notebook(app, &opened);
        memory::watch(app, &opened);
        library = Some(opened);
    }
    let (window, clock, log) = (Arc::clone(app), Arc::clone(app), Arc::clone(app));
    Ok(Desk {
        places: app.places(),
        workspace: app.workspace.clone(),
        state_dir: app.state_dir.clone(),
        config,
        library,
        notebook,
        log: Box::new(move || memory_folder::writing(&log).map_err(in_words)),
        window: Box::new(move |session, reading| {
            window.window_in(session, reading).map_err(in_words)
        }),
        clock: Box::new(move || clock.zoned()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

fn in_words(failure: Failure) -> String {
    match &failure.help {
        Some(help) => format!("{failure}; {help}"),
        None => failure.to_string(),
    }
}

/// An address that others can reach needs a name under which they may.
pub(super) fn refuse_strangers(address: SocketAddr, hosts: &[String]) -> Result {
    if address.ip().is_loopback() || !hosts.is_empty() {
        return Ok(());
    }
    Err(
        usage!("{address} can be reached from other machines, which could read every session here")
            .help(
                "use 127.0.0.1, or name the host under which it may be reached with --allow-host, \
         behind something that speaks TLS",
            ),
    )
}

/// The token in an environment variable.
pub(super) fn token_of(app: &App, name: &str) -> Result<String> {
    const SHORTEST: usize = 16;
    match app.variable(name).map(|token| token.trim().to_owned()) {
        Some(token) if token.len() >= SHORTEST => Ok(token),
        found => {
            let what = match found {
                Some(_) => format!("the token in {name} is shorter than {SHORTEST} characters"),
                None => format!("there is no token in the environment variable {name}"),
            };
            let help = "set it to a long random text, or leave --token-env out for a new one";
            Err(Failure::usage(what).help(help))
        }
    }
}

/// Who may come in, and whether the token is a new one.
fn gate(app: &App, args: &McpArgs, address: SocketAddr) -> Result<(Gate, bool)> {
    refuse_strangers(address, &args.allow_host)?;
    let (token, is_new) = match &args.token_env {
        None => (new_token(), true),
        Some(name) => (token_of(app, name)?, false),
    };
    let gate = Gate {
        token,
        hosts: args.allow_host.clone(),
        origins: args.allow_origin.clone(),
        limits: HttpLimits::default(),
    };
    Ok((gate, is_new))
}

/// A token nobody can guess. Each of these ids has 32 random bits of its own.
pub(super) fn new_token() -> String {
    let mut hasher = blake3::Hasher::new();
    for _ in 0..8 {
        hasher.update(uuid::Uuid::now_v7().as_bytes());
    }
    hasher.finalize().to_hex()[..48].to_owned()
}

async fn listen(
    desk: Arc<Desk>,
    address: SocketAddr,
    gate: Gate,
    is_new: bool,
    cancel: CancellationToken,
) -> Result {
    let listener = tokio::net::TcpListener::bind(address).await;
    let listener = listener.map_err(|source| Failure::from(Error::Http { address, source }))?;
    let bound = listener.local_addr().unwrap_or(address);
    // Without these two lines nobody could come in, so --quiet does not hide them.
    remark(format_args!("serving MCP at http://{bound}/mcp"));
    if is_new {
        remark(format_args!("token: {}", gate.token));
    }
    out::note("send it as Authorization: Bearer TOKEN; Ctrl-C ends the server");
    serve_http(listener, desk, gate, cancel).await;
    Ok(())
}

/// Waits for a signal that asks the program to end, and lets it end in order. One
/// that comes before anybody waits counts as well.
pub(super) fn ended(cancel: CancellationToken) -> impl Future<Output = ()> + Send {
    let asked = {
        use tokio::signal::unix::{SignalKind, signal};
        let terminated = signal(SignalKind::terminate());
        terminated.and_then(|one| Ok((one, signal(SignalKind::interrupt())?)))
    };
    async move {
        if let Ok((mut terminated, mut interrupted)) = asked {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
            return cancel.cancel();
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
        }
    }
}
