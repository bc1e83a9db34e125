//! `longhaul rpc`: a host that has the messages and runs the model itself talks
//! to the engine over its standard input and output, one JSON-RPC object a line.
//!
//! [`serve`] reads requests until its input ends. Each session has a worker of
//! its own: what is asked of one session is answered in order, and no session
//! waits for another. The host may cancel a request, and is asked in turn for
//! its model (`llm.complete`). The protocol is described in the book.
//!
//! | question | answer |
//! |---|---|
//! | what does the program around it give? | [`Surroundings`], and for a [`Guest`] a [`Place`] |
//! | how does it run? | [`serve`] |

mod connection;
mod frame;
mod life;
mod line;
mod model;
mod params;
mod peer;
mod pi;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_engine::session::Setup;
use longhaul_engine::tools::Toolbox;
use longhaul_model::Model;

pub use connection::serve;

/// The version of the protocol that is spoken here.
pub const PROTOCOL: u64 = 1;

/// Who has come in: what a host says of itself with `initialize`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guest {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The folder its agents work in.
    pub workspace: Option<PathBuf>,
    /// Where it keeps an agent's own files.
    pub agent_dir: Option<PathBuf>,
    /// The agent it speaks for.
    pub agent: Option<String>,
    /// Where our own files are to be.
    pub state_dir: Option<PathBuf>,
    /// Settings that count above the configured ones, by their keys, as JSON.
    pub settings: Vec<(String, String)>,
}

/// What the program around knows: folders, the clock, the configuration.
pub trait Surroundings: Send + Sync {
    /// Makes ready for a host; why that cannot be, for its user to read.
    fn place(&self, guest: &Guest) -> Result<Arc<dyn Place>, String>;
}

/// Where the sessions of one host live.
pub trait Place: Send + Sync {
    /// Where our own files are.
    fn state_dir(&self) -> &Path;

    /// What a session works with. `summaries` is the host's model, where it has
    /// one to offer.
    fn setup(&self, summaries: Option<Arc<dyn Model>>) -> Setup;

    /// What an agent may call about the session in this file.
    fn tools(&self, mirror: &Path) -> Arc<dyn Toolbox>;
}
