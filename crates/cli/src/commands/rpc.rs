//! `rpc`: the engine for a host that has the messages and runs the model itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longhaul_engine::assembled::Surroundings as Around;
use longhaul_engine::compactor::{SummaryChoice, summary_model};
use longhaul_engine::config::Flag;
use longhaul_engine::library::{Library, Scope};
use longhaul_engine::session::{Departures, Setup};
use longhaul_engine::tools::{
    NoTools, NobodyToAsk, Permissions, Toolbox, WorkspaceSettings, WorkspaceTools,
};
use longhaul_model::Model;
use longhaul_server::rpc::{Guest, Place, Surroundings, serve};

use super::{memory, models};
use crate::app::{App, absolute};
use crate::args::{Global, Needs, RpcArgs};
use crate::failure::Failure;

/// How long the end waits for the index.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(app: App, global: &Global, args: &RpcArgs) -> Result<(), Failure> {
    // The flag is there for hosts that say how they talk.
    let RpcArgs { stdio: _ } = args;
    let machine = Arc::new(Machine {
        global: global.clone(),
        here: app.workspace.clone(),
    });
    let runtime = models::runtime(4)?;
    let served = runtime.block_on(serve(
        tokio::io::stdin(),
        tokio::io::stdout(),
        Arc::clone(&machine) as Arc<dyn Surroundings>,
    ));
    // After `shutdown` somebody may still wait for input that never comes.
    runtime.shutdown_background();
    served.map_err(|error| Failure::new(format!("the connection broke: {error}")))
}

/// This machine and its user.
struct Machine {
    global: Global,
    /// The folder we were started in.
    here: PathBuf,
}

impl Surroundings for Machine {
    fn place(&self, guest: &Guest) -> Result<Arc<dyn Place>, String> {
        let mut global = self.global.clone();
        // The host knows which agent it speaks for; whoever started it may not.
        if let Some(workspace) = &guest.workspace {
            global.workspace = Some(absolute(&self.here, workspace));
        }
        if let Some(state_dir) = &guest.state_dir {
            global.state_dir = Some(absolute(&self.here, state_dir));
        }
        let settings = guest.settings.iter().map(|(key, value)| Flag {
            name: "initialize".to_owned(),
            key: key.clone(),
            value: value.clone(),
        });
        let app = App::with_settings(&global, Needs::Config, settings.collect())
            .map_err(|failure| in_one_line(&failure))?;
        Ok(Arc::new(Lodging::new(app, guest)))
    }
}

fn in_one_line(failure: &Failure) -> String {
    let details = failure.details.iter().map(String::as_str);
    let parts = std::iter::once(failure.message.as_str()).chain(details);
    let parts: Vec<&str> = parts.chain(failure.help.as_deref()).collect();
    parts.join("; ")
}

/// Where a host's sessions live.
struct Lodging {
    app: App,
    around: Around,
    library: Library,
    host: String,
}

impl Lodging {
    fn new(app: App, guest: &Guest) -> Lodging {
        let library = memory::library(&app);
        memory::watch(&app, &library);
        Lodging {
            library,
            around: app.surroundings("", Some(&guest.name)),
            host: guest.name.clone(),
            app,
        }
    }

    /// Who writes summaries: what is configured, else the host's model.
    fn summaries(&self, of_host: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>> {
        let app = &self.app;
        let config = &app.config.config;
        let session = of_host
            .as_ref()
            .map(|_| (self.host.as_str(), "llm.complete"));
        // A key in the environment is no leave to send a host's conversations
        // somewhere else.
        match summary_model(config, false, session) {
            SummaryChoice::Session => of_host,
            SummaryChoice::Extractive => None,
            SummaryChoice::Other { provider, model } => {
                models::summarizer(app, &provider, &model, config.request_limits())
            }
        }
    }
}

impl Drop for Lodging {
    fn drop(&mut self) {
        self.library.settle(PATIENCE);
        for trouble in self.library.troubles() {
            self.app.note(&trouble);
        }
    }
}

impl Place for Lodging {
    fn state_dir(&self) -> &Path {
        &self.app.state_dir
    }

    fn setup(&self, summaries: Option<Arc<dyn Model>>) -> Setup {
        Setup {
            config: self.app.config.config.clone(),
            state_dir: self.app.state_dir.clone(),
            workspace: self.app.workspace.clone(),
            environment: self.around.environment.clone(),
            clock: self.app.clock(),
            model: None,
            summaries: self.summaries(summaries),
            tools: Arc::new(NoTools),
            departures: memory::takes_sessions(&self.app)
                .then(|| Arc::new(self.library.clone()) as Arc<dyn Departures>),
            subagent: None,
            max_rounds: Setup::MAX_ROUNDS,
        }
    }

    fn tools(&self, mirror: &Path) -> Arc<dyn Toolbox> {
        let is_searched = memory::is_searched(&self.app);
        let others = memory::sessions_of(&self.app);
        let past = memory::past(&self.library, mirror, Scope::Family, is_searched, others);
        let tools = WorkspaceTools::new(WorkspaceSettings {
            workspace: self.app.workspace.clone(),
            readable: Vec::new(),
            permissions: Permissions::default(),
            approver: Arc::new(NobodyToAsk),
            bash: None,
            notebook: memory::notebook(&self.app, &self.library),
            recall: Some(Arc::new(past)),
        });
        match tools {
            Ok(tools) => Arc::new(tools),
            Err(error) => {
                self.app.note_once(&error.to_string());
                Arc::new(NoTools)
            }
        }
    }
}
