//! `serve`: the dashboard, in a browser.

use std::sync::Arc;

use longhaul_engine::catalog::id_of;
use longhaul_model::CancellationToken;
use longhaul_server::dashboard::{Access, Dashboard, Writes, serve};

use super::mcp::{desk, ended, new_token, refuse_strangers, token_of};
use crate::args::ServeArgs;
use crate::out::remark;
use crate::prelude::*;

pub(crate) fn run(app: App, args: &ServeArgs) -> Result {
    let app = Arc::new(app);
    refuse_strangers(args.listen, &args.allow_host)?;
    let target = match &args.session {
        None => "/".to_owned(),
        Some(name) => {
            let session = resolve::session(&app, Some(name.as_ref()))?;
            format!("/sessions/{}", id_of(session.reference()))
        }
    };
    let token = match &args.token_env {
        Some(name) => token_of(&app, name)?,
        None => new_token(),
    };
    let once = new_token();
    let writes = match args.write && !app.config.sandbox.read_only {
        true => Writes::WhereAsked,
        false => Writes::Never,
    };
    if args.write && writes == Writes::Never {
        out::note("note: `sandbox.readOnly` is set, so nothing can be changed here");
    }
    let dashboard = Dashboard {
        desk: Arc::new(desk(&app)?),
        writes,
        access: Arc::new(Access::new(token, once.clone(), args.allow_host.clone())),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| fail!("cannot start: {error}"))?;
    let cancel = CancellationToken::new();
    {
        let _within = runtime.enter();
        runtime.spawn(ended(cancel.clone()));
    }
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(args.listen).await;
        let listener = listener.map_err(|error| {
            fail!("cannot serve on {}: {error}", args.listen)
                .help("another program may have that port; --listen 127.0.0.1:0 takes a free one")
        })?;
        let bound = listener.local_addr().unwrap_or(args.listen);
        let address = format!("http://{bound}/open?token={once}&to={target}");
        // Without this line nobody could come in, so --quiet does not hide it.
        remark(&address);
        out::note("the address opens once; Ctrl-C ends the server");
        if args.open && !opened(&address) {
            out::note("note: no browser could be started; open the address yourself");
        }
        serve(listener, dashboard, cancel).await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

/// Hands an address to the system's own opener.
fn opened(address: &str) -> bool {
    let program = match cfg!(target_os = "macos") {
        true => "open",
        false => "xdg-open",
    };
    std::process::Command::new(program)
        .arg(address)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .is_ok()
}
