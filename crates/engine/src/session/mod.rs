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
mod flush;
mod host;
mod keep;
mod layout;
mod overflow;
mod prices;
mod setup;
mod size;
mod status;
mod turn;
mod windows;
mod wire;

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use longhaul_assembly::{FileCache, PartCounts, SystemPrompt, Workspace};
use longhaul_model::{CancellationToken, ModelInfo};
use longhaul_tokens::{Fragment, ResolvedWindow, Tokens, Window};
use longhaul_transcript::{EntryId, Millis, Writer};

pub use crate::error::{Error, Result};
pub use crate::library::Departures;
pub use crate::measure::Size;
pub use crate::spending::{Spending, spent_on, spent_on_failure};
pub(crate) use carry::carried;
pub use carry::newest_of;
pub use compact::Due;
pub use engine::Engine;
pub(crate) use keep::is_closing;
pub use longhaul_tokens::Spent;
pub use prices::cache_prices;
pub use setup::{Clock, Listener, Setup};
pub use status::Status;
pub use turn::Turn;
pub use windows::{LearntWindow, forget_windows, learnt_windows, resolve_window, window_source};
pub(crate) use wire::cut;

use crate::compactor::Bench;
use crate::event::Event;
use crate::live::Live;
use crate::prewarm::Warm;

/// One session at work.
pub struct Session {
    setup: Arc<Setup>,
    writer: Writer,
    /// The file's size after our last write: another one's shows by it.
    known_size: u64,
    bench: Bench,
    resolved: ResolvedWindow,
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
    /// What the provider reported for the context, and our count of what
    /// followed.
    anchor: Option<Anchor>,
    last_request: Option<Millis>,
    /// Whether the gauge was told, which need not be told with every request.
    gauged: bool,
    /// Whether it was told that memory cannot be written.
    told_unwritten: bool,
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

impl Session {
    /// The session's file.
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// What the session goes by.
    pub fn key(&self) -> &str {
        &self.bench.state.session_key
    }

    /// The session in memory.
    pub fn live(&self) -> &Live {
        &self.bench.live
    }

    /// The window and its thresholds.
    pub fn window(&self) -> &Window {
        &self.bench.window
    }

    /// The model that answers.
    pub fn model(&self) -> Option<&ModelInfo> {
        self.setup.model.as_deref().map(|model| model.info())
    }

    fn model_name(&self) -> String {
        let info = self.model();
        info.map(|info| info.name.clone()).unwrap_or_default()
    }

    fn read_only(&self) -> bool {
        self.setup.config.sandbox.read_only
    }

    /// The session with somebody who listens, and who may stop it.
    fn at_work<'a>(
        &'a mut self,
        cancel: &CancellationToken,
        listener: &'a mut dyn Listener,
    ) -> AtWork<'a> {
        AtWork {
            session: self,
            cancel: cancel.clone(),
            listener,
        }
    }

    /// The same for what is over in no time.
    fn heard<'a>(&'a mut self, listener: &'a mut dyn Listener) -> AtWork<'a> {
        self.at_work(&CancellationToken::new(), listener)
    }
}

/// A session while something is done with it: what happens is heard, and it may
/// be stopped.
struct AtWork<'a> {
    session: &'a mut Session,
    cancel: CancellationToken,
    listener: &'a mut dyn Listener,
}

impl Deref for AtWork<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        self.session
    }
}

impl DerefMut for AtWork<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        self.session
    }
}

impl AtWork<'_> {
    fn tell(&mut self, event: Event) {
        self.listener.event(&event);
    }

    /// What went wrong beside the work is told, and gone without.
    fn trouble<T>(&mut self, done: Result<T, impl std::fmt::Display>) -> Option<T> {
        done.map_err(|error| self.tell(Event::trouble(error.to_string())))
            .ok()
    }
}
