//! What an engine is given: settings, folders, the clock, models, tools.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Zoned;
use longhaul_assembly::Subagent;
use longhaul_model::{Delta, Model};
use longhaul_transcript::{EntryId, Millis, Stamp};

use crate::config::Config;
use crate::event::Event;
use crate::library::Departures;
use crate::prompt::Environment;
use crate::tools::Toolbox;

/// Where time and new names come from. The engine has no clock of its own, so
/// that the same session gives the same contexts.
pub trait Clock: Send + Sync {
    /// The time, where the user is.
    fn now(&self) -> Zoned;

    /// A name that nothing else has, such as a UUID.
    fn new_id(&self) -> String;
}

/// Hears what the engine does, as it does it.
pub trait Listener: Send {
    /// A decision, with its numbers.
    fn event(&mut self, event: &Event);

    /// A piece of an answer that is still arriving. Silent turns have none.
    fn delta(&mut self, delta: &Delta) {
        let _ = delta;
    }
}

/// Nobody listens.
impl Listener for () {
    fn event(&mut self, _: &Event) {}
}

/// What happened is kept, to be told later.
impl Listener for Vec<Event> {
    fn event(&mut self, event: &Event) {
        self.push(event.clone());
    }
}

/// Everything a session works with.
#[derive(Clone)]
pub struct Setup {
    /// Every number.
    pub config: Config,
    /// Our own files.
    pub state_dir: PathBuf,
    /// The folder the agent works in.
    pub workspace: PathBuf,
    /// What the agent finds where it runs.
    pub environment: Environment,
    /// Time and new names.
    pub clock: Arc<dyn Clock>,
    /// The model that answers; without one, sessions can be kept but not asked.
    pub model: Option<Arc<dyn Model>>,
    /// The model that writes summaries; without one they are extracted.
    pub summaries: Option<Arc<dyn Model>>,
    /// What the model may call.
    pub tools: Arc<dyn Toolbox>,
    /// Is told what left the context.
    pub departures: Option<Arc<dyn Departures>>,
    /// What the agent is for, where it does a part of another one's work: it has
    /// the minimal prompt, and no memory to flush.
    pub subagent: Option<Subagent>,
    /// Model requests of one turn at most.
    pub max_rounds: u32,
}

impl Setup {
    /// A limit that no honest turn reaches, and that ends one that goes round
    /// in circles.
    pub const MAX_ROUNDS: u32 = 200;

    pub(crate) fn now(&self) -> Millis {
        Millis(self.clock.now().timestamp().as_millisecond())
    }

    /// A new name and the time.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            id: EntryId::new(self.clock.new_id()),
            time: self.now(),
        }
    }
}
