//! A session with a model: one turn from start to end, for days.
//!
//! [`Engine`] holds what is the same for all sessions, [`Session`] one of them.
//! A turn goes the way that every entry goes:
//!
//! 1. **ingest**: the user's message is on the disk before anything else happens;
//! 2. **maintain**: tool output is pruned, the context counted, the ladder asked,
//!    its steps carried out: flush, checkpoint, compaction, restore;
//! 3. **assemble**: the context is laid out within its budget and sent; an
//!    overflow leads back to 2, and at the end to `context_overflow`;
//! 4. **commit**: the turn is durable, its state saved, its cost known.
//!
//! | question | answer |
//! |---|---|
//! | what does an engine need? | a [`Setup`] |
//! | how is a session begun, gone on with? | [`Engine::create`], [`Engine::open`] |
//! | the user says something | [`Session::turn`] |
//! | a person asks for a compaction | [`Session::compact`], [`Session::undo`] |
//! | a host runs the model itself | [`Session::ingest`], [`Session::maintain`], [`Session::assemble`], [`Session::commit`] |
//! | what happened? | [`Event`]s, to a [`Listener`] |
//! | how full, how worn, how dear? | [`Session::status`] |
//! | how large is the window, and who says so? | [`resolve_window`], [`window_source`], [`learnt_windows`] |

mod carry;
mod compact;
mod engine;
mod error;
mod flush;
mod host;
mod keep;
mod layout;
mod maintain;
mod overflow;
mod prices;
mod setup;
mod size;
mod status;
mod turn;
mod windows;
mod wire;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use longhaul_assembly::{FileCache, PartCounts, SystemPrompt, Workspace};
use longhaul_checkpoint::FileStore;
use longhaul_model::ModelInfo;
use longhaul_tokens::{Fragment, ResolvedWindow, Tokens, Window};
use longhaul_transcript::{EntryId, Millis, Writer};

pub use crate::measure::Size;
pub use crate::spending::{Spending, spent_on, spent_on_failure};
pub(crate) use carry::carried;
pub use engine::Engine;
pub use error::{Error, Result};
pub(crate) use keep::is_closing;
pub(crate) use layout::restore_limits;
pub use longhaul_tokens::Spent;
pub use maintain::Due;
pub use prices::cache_prices;
pub use setup::{Clock, Departures, Listener, Setup};
pub use status::Status;
pub use turn::Turn;
pub use windows::{LearntWindow, forget_windows, learnt_windows, resolve_window, window_source};

use crate::checkpoints::{FileNotebook, Whose};
use crate::compactor::Course;
use crate::event::Event;
use crate::live::Live;
use crate::measure::Meter;
use crate::prewarm::Warm;
use crate::state::SessionState;

/// One session at work.
pub struct Session {
    setup: Arc<Setup>,
    writer: Writer,
    /// The file's size after our last write: another one's shows by it.
    known_size: u64,
    live: Live,
    meter: Meter,
    window: Window,
    resolved: ResolvedWindow,
    state: SessionState,
    whose: Whose,
    store: FileStore,
    notebook: FileNotebook,
    workspace: Workspace,
    prompt: SystemPrompt,
    /// The day the prompt names.
    prompt_day: jiff::civil::Date,
    files: FileCache,
    /// What was read ahead.
    warm: Warm,
    counts: PartCounts,
    /// What is put back in this epoch.
    restored: Vec<Fragment>,
    /// Every entry of the file and when it was written; read when it is first
    /// needed, since that takes the whole file.
    entries: Option<HashMap<EntryId, Option<Millis>>>,
    /// What the provider reported for the context, and our count of what
    /// followed.
    anchor: Option<Anchor>,
    last_request: Option<Millis>,
    /// What compaction remembers between two looks.
    course: Course,
    /// What was told and need not be told with every request.
    told: HashSet<Told>,
    /// Our count of the request that was just answered.
    anchored_at: Option<Tokens>,
    /// What the last request said about the context itself.
    noted: Tokens,
    /// The newest message that a flush has seen.
    flushed_up_to: Option<EntryId>,
    /// What this turn took so far.
    turn_spent: Spent,
    /// Whether a host has the system prompt and runs the model: then only the
    /// messages are counted, against what the host gives for them.
    hosted: bool,
}

/// A context's size as a provider reported it, or a compaction left it.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    reported: Tokens,
    following: Tokens,
    /// What of the report were notes about the context itself.
    notes: Tokens,
    /// Whether a provider reported it.
    by_provider: bool,
}

/// Something that is said once in an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Told {
    Gauge,
    NoFlush,
}

impl Session {
    /// The session's file.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// What the session goes by.
    pub fn key(&self) -> &str {
        &self.state.session_key
    }

    /// The session in memory.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// The window and its thresholds.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The model that answers.
    pub fn model(&self) -> Option<&ModelInfo> {
        self.setup.model.as_deref().map(|model| model.info())
    }

    fn model_name(&self) -> String {
        self.model()
            .map(|info| info.name.clone())
            .unwrap_or_default()
    }

    fn now(&self) -> Millis {
        Millis(self.setup.clock.now().timestamp().as_millisecond())
    }
}

fn tell(listener: &mut dyn Listener, event: Event) {
    listener.event(&event);
}
